/* view_json_sim_test.c - JSON answers about simulated programs against what else is known of them:
 * `orca report --json` of the same part, the tables, every arrow. */
#include "base/util.h"
#include "cases.h"
#include "conclude/resource.h"
#include "export/report_json.h"
#include "view/arrows.h"
#include "view_ask.h"
#include "view_read.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRAMS = 60 };

static const char *const state_names[] = {WAIT_STATE_NAMES};

/* A part of the recording as a question; *sel is the same. */
static void some_part(struct sim *s, const struct analysis *a, bool *threads, struct buf *question,
                      struct selection *sel)
{
    uint64_t length = a->window.to - a->window.from;
    *sel = selection_all();
    if (sim_one_in(s, 2)) {
        uint64_t from = sim_below(s, length), to = from + 1 + sim_below(s, length);
        sel->from = BUILDER_START + from;
        sel->to = BUILDER_START + to;
        buf_printf(question, "&from=%" PRIu64 "&to=%" PRIu64, from, to);
    }
    if (sim_one_in(s, 2)) {
        uint64_t one = 1 + sim_below(s, a->threads.n - 1);
        memset(threads, 0, a->threads.n);
        for (uint64_t i = one; i < a->threads.n; i++)
            threads[i] = true;
        sel->threads = threads;
        sel->n_threads = a->threads.n;
        buf_printf(question, "&threads=%" PRIu64 "-%zu", one, a->threads.n - 1);
    }
}

static const char *of(struct buf *question)
{
    return question->len ? buf_str(question) + 1 : "";
}

/* --- report ----------------------------------------------------------------------------------- */

/* As cmd_report.c makes it, of an analysis of its own. */
static struct buf report_of(struct trace *t, const struct report_part *part)
{
    struct err err = {""};
    struct buf out = {0};
    struct report r = {.trace = t, .path = "sim", .sections = REPORT_ALL, .ending = ENDED_CUT};
    cr_assert_eq(conclude_run(&r.a, t, &err), 0, "%s", err.msg);
    cr_assert_eq(report_select(&r, part, &err), 0, "%s", err.msg);
    cr_assert_eq(report_init(&r, NULL, &err), 0, "%s", err.msg);
    cr_assert_eq(report_json_buf(&r, &out, &err), 0, "%s", err.msg);
    analysis_free(r.a);
    return out;
}

static void check_report(struct viewed *w, const struct report_part *part, const char *question)
{
    struct err err = {""};
    struct buf got = {0}, want = report_of(w->a->trace, part);
    cr_assert_eq(ask_text(w->v, "report", question, &got, &err), 0, "%s", err.msg);
    const char *g = strstr(buf_str(&got), "\"recording\""); /* the names of the files differ */
    const char *h = strstr(buf_str(&want), "\"recording\"");
    cr_assert(g && h && strcmp(g, h) == 0, "%s: %s: another report", check_name, question);
    buf_fini(&got);
    buf_fini(&want);
}

static void check_reports(struct viewed *w)
{
    uint64_t length = w->a->window.to - w->a->window.from;
    char question[80];
    struct report_part part = {.to = UINT64_MAX};
    check_report(w, &part, "");
    part.from = sim_below(&w->s, length);
    part.to = part.from + 1 + sim_below(&w->s, length);
    snprintf(question, sizeof question, "from=%" PRIu64 "&to=%" PRIu64, part.from, part.to);
    check_report(w, &part, question);
    part = (struct report_part){.to = UINT64_MAX, .lock = 1};
    check_report(w, &part, "lock=1");
    check_report(w, &(struct report_part){.to = UINT64_MAX},
                 ""); /* what was asked leaves no trace */
}

/* --- flame, locks ----------------------------------------------------------------------------- */

static void check_flame(struct viewed *w, const char *by)
{
    bool *threads = calloc(w->a->threads.n, 1);
    struct buf question = {0};
    struct selection sel;
    struct stats stats;
    uint64_t ns = 0, count = 0, sum_ns = 0, sum_count = 0;
    some_part(&w->s, w->a, threads, &question, &sel);
    unsigned states = 1 + (unsigned)sim_below(&w->s, (1 << WAIT_STATES) - 1);
    buf_printf(&question, "&by=%s&states=", by);
    cr_assert_eq(analysis_stats(w->a, &sel, &stats), 0);
    for (unsigned i = 0, n = 0; i < WAIT_STATES; i++) {
        if (!(states >> i & 1))
            continue;
        buf_printf(&question, "%s%s", n++ ? "," : "", state_names[i]);
        ns += stats.total[i].ns;
        count += stats.total[i].count;
    }
    json_t *j = ask(w->v, "flame", of(&question));
    size_t n = json_array_size(at_path(j, "ns"));
    for (size_t i = 0; i < n; i++) {
        sum_ns += (uint64_t)json_integer_value(json_array_get(at_path(j, "ns"), i));
        sum_count += (uint64_t)json_integer_value(json_array_get(at_path(j, "count"), i));
        CHECK(json_integer_value(json_array_get(at_path(j, "parent"), i)) < (json_int_t)i,
              "%s: a node before its parent", of(&question));
    }
    if (strcmp(by, "owner") == 0) {
        ns -= (uint64_t)number_at(j, "not_asked_ns");
        count -= (uint64_t)number_at(j, "not_asked_count");
    }
    CHECK_EQ((uint64_t)number_at(j, "total_ns"), ns, "%s", of(&question));
    CHECK_EQ((uint64_t)number_at(j, "total_count"), count, "%s", of(&question));
    CHECK_EQ(sum_ns, ns, "%s", of(&question));
    CHECK_EQ(sum_count, count, "%s", of(&question));
    json_decref(j);
    stats_fini(&stats);
    buf_fini(&question);
    free(threads);
}

static void check_locks(struct viewed *w)
{
    bool *threads = calloc(w->a->threads.n, 1);
    struct buf question = {0};
    struct selection sel;
    struct stats stats;
    some_part(&w->s, w->a, threads, &question, &sel);
    cr_assert_eq(analysis_stats(w->a, &sel, &stats), 0);
    json_t *j = ask(w->v, "locks", of(&question));
    size_t n = json_array_size(at_path(j, "locks"));
    CHECK_EQ((size_t)number_at(j, "n"), n, "locks");
    for (size_t i = 0; i < n; i++) {
        const json_t *l = json_array_get(at_path(j, "locks"), i);
        const struct lock_stats *s = &stats.locks[number_at(l, "id")];
        CHECK_EQ((uint64_t)number_at(l, "blocked_ns"), s->state[STATE_BLOCKED].ns, "lock %zu", i);
        CHECK_EQ((uint64_t)number_at(l, "held_up_ns"), s->state[HELD_UP].ns, "lock %zu", i);
        CHECK_EQ((uint64_t)number_at(l, "reacquired_count"), s->state[STATE_REACQUIRING].count,
                 "lock %zu", i);
        CHECK_EQ((uint64_t)number_at(l, "held_ns"), s->held_ns, "lock %zu", i);
    }
    json_decref(j);
    stats_fini(&stats);
    buf_fini(&question);
    free(threads);
}

/* --- waits ------------------------------------------------------------------------------------ */

struct count {
    uint32_t thread;
    uint64_t from, to, n;
};

static int count_arrow(void *self, const struct arrow *x)
{
    struct count *c = self;
    c->n += x->from == c->thread && x->from_time >= c->from && x->from_time <= c->to;
    return 0;
}

static void check_chain(const json_t *wait)
{
    const json_t *chain = at_path(wait, "chain");
    int64_t from = number_at(wait, "start"), to = number_at(wait, "end");
    size_t n = json_array_size(chain);
    CHECK(n >= 1 && n <= 32, "a chain of %zu links", n);
    for (size_t i = 0; i < n; i++) {
        const json_t *l = json_array_get(chain, i);
        bool last = i + 1 == n;
        CHECK(number_at(l, "from") >= from && number_at(l, "to") <= to, "link %zu is not inside",
              i);
        from = number_at(l, "from");
        to = number_at(l, "to");
        CHECK(last || json_is_integer(json_object_get(l, "index")), "link %zu ends the chain", i);
        CHECK(*text_at(l, "text"), "link %zu says nothing", i);
        CHECK_EQ(strcmp(text_at(l, "state"), "unknown") == 0, number_at(l, "thread") == 0, "link");
    }
}

static void check_wait(struct viewed *w, uint32_t thread, uint32_t index)
{
    const struct timeline *t = &w->a->timeline;
    const struct line *l = &t->lines[thread];
    const struct span *s = line_span(l, index);
    char question[80];
    snprintf(question, sizeof question, "thread=%u&index=%u", thread, index);
    json_t *j = ask(w->v, "wait", question);
    CHECK_EQ(number_at(j, "start"), (int64_t)(s->start - BUILDER_START), "wait");
    CHECK_EQ(number_at(j, "end"), (int64_t)(span_end(t, s) - BUILDER_START), "wait");
    CHECK_EQ(json_is_null(at_path(j, "ended_by")), s->waker == 0, "wait");
    if (s->waker)
        CHECK_EQ(number_at(j, "ended_by.thread"), s->waker, "wait");
    struct count c = {.thread = thread, .from = span_end(t, s), .to = w->a->threads.v[thread].to};
    if (index + 1 < l->spans.n)
        c.to = line_span(l, index + 1)->start;
    arrows_visit(w->v, 0, UINT64_MAX, count_arrow, &c);
    CHECK_EQ((uint64_t)number_at(j, "n_effects"), c.n, "effects of thread %u, wait %u", thread,
             index);
    check_chain(j);
    if (span_len(t, s) > 0) {
        snprintf(question, sizeof question, "row=t%u&time=%" PRIu64, thread,
                 s->start - BUILDER_START);
        json_t *here = ask(w->v, "at", question);
        CHECK_EQ(number_at(here, "index"), (int64_t)index, "at");
        json_decref(here);
    }
    json_decref(j);
}

static void check_waits(struct viewed *w)
{
    for (uint32_t i = 1; i < w->a->timeline.n_lines; i++)
        for (uint32_t k = 0; k < w->a->timeline.lines[i].spans.n; k++)
            if (sim_one_in(&w->s, 4))
                check_wait(w, i, k);
}

/* --- by several at once ----------------------------------------------------------------------- */

static const char *const questions[][2] = {
    {"report", ""},
    {"report", "from=100"},
    {"meta", ""},
    {"report", "sections=pools,queues,orders"},
    {"report", "lock=1&sections=sites"},
    {"locks", "from=50"},
    {"flame", "by=waker"},
    {"wait", "thread=1&index=0"},
    {"at", "row=l1&time=1000"},
    {"search", "q=o"},
    {"overview", "n=9"},
};

enum { ASKERS = 4, ROUNDS = 6 };

struct asker {
    struct view *v;
    unsigned number;
    struct buf answers[ARRAY_LEN(questions)]; /* of each question one by one */
    unsigned n_different;
};

static void *ask_all(void *self)
{
    struct asker *x = self;
    for (unsigned i = 0; i < ROUNDS * ARRAY_LEN(questions); i++) {
        size_t k = (i + x->number * 3) % ARRAY_LEN(questions);
        struct buf out = {0};
        struct err err = {""};
        if (ask_text(x->v, questions[k][0], questions[k][1], &out, &err) < 0)
            buf_puts(&out, err.msg);
        if (!x->answers[k].len)
            buf_put(&x->answers[k], out.p, out.len);
        x->n_different += strcmp(buf_str(&x->answers[k]), buf_str(&out)) != 0;
        buf_fini(&out);
    }
    return NULL;
}

Test(view_json_sim, several_ask_at_once)
{
    static struct viewed w;
    static struct asker askers[ASKERS];
    pthread_t threads[ASKERS];
    const struct sim_shape shape = sim_shape_of(3);
    viewed_begin(&w, &shape);
    for (unsigned i = 0; i < ASKERS; i++) {
        askers[i] = (struct asker){.v = w.v, .number = i};
        cr_assert_eq(pthread_create(&threads[i], NULL, ask_all, &askers[i]), 0);
    }
    for (unsigned i = 0; i < ASKERS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < ASKERS; i++) {
        CHECK_EQ(askers[i].n_different, 0, "asker %u", i);
        for (size_t k = 0; k < ARRAY_LEN(questions); k++)
            CHECK(strcmp(buf_str(&askers[i].answers[k]), buf_str(&askers[0].answers[k])) == 0,
                  "%s?%s", questions[k][0], questions[k][1]);
    }
    for (unsigned i = 0; i < ASKERS; i++)
        for (size_t k = 0; k < ARRAY_LEN(questions); k++)
            buf_fini(&askers[i].answers[k]);
    viewed_end(&w);
}

/* --- all of it -------------------------------------------------------------------------------- */

static void check_program(const struct sim_shape *shape)
{
    static struct viewed w;
    static const char *const by[] = {"waiter", "owner", "waker"};
    viewed_begin(&w, shape);
    check_reports(&w);
    for (size_t i = 0; i < ARRAY_LEN(by); i++)
        check_flame(&w, by[i]);
    check_locks(&w);
    check_waits(&w);
    json_decref(ask(w.v, "meta", ""));
    json_decref(ask(w.v, "overview", "n=7"));
    json_decref(ask(w.v, "search", "q=o"));
    viewed_end(&w);
}

Test(view_json_sim, small_programs)
{
    for (uint64_t seed = 1; seed <= (uint64_t)cases(PROGRAMS); seed++) {
        const struct sim_shape shape = sim_shape_of(seed);
        check_program(&shape);
    }
}

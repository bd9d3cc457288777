/* tptp_bindings_test.c - simulated programs through TPTP's XML and back: who woke whom is the same.
 *
 * What the format has no form for (parks, holds) is not compared. */
#include "analyze/analysis.h"
#include "base/util.h"
#include "cases.h"
#include "checks.h"
#include "conclude/resource.h"
#include "orca_files.h"
#include "tptp_lines.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAIN_ "<threadStart threadId='1' time='1' objIdRef='3' threadName='main'/>"

/* --- comparing -------------------------------------------------------------------------------- */

/* The times of an import are dates. */
struct side {
    const struct analysis *a;
    uint64_t start; /* what its times count from here */
};

struct counts {
    uint64_t waits, notified;
};

static bool is_held(const struct side *s, const struct span *span)
{
    switch (timeline_context(&s->a->timeline, span->context)->what) {
    case STATE_WAITING:
    case STATE_SLEEPING:
        return true;
    default:
        return false;
    }
}

/* The i-th span from *at on that both formats hold; NULL: there is none. */
static const struct span *next_span(const struct side *s, uint32_t thread, uint32_t *at)
{
    const struct line *l = &s->a->timeline.lines[thread];
    while (*at < l->spans.n) {
        const struct span *span = line_span(l, (*at)++);
        if (is_held(s, span))
            return span;
    }
    return NULL;
}

static bool is_notify(const struct side *s, uint32_t thread, const struct span *span)
{
    enum interaction kind = span_interaction(&s->a->timeline, thread, span);
    return kind == INTERACTION_NOTIFY || kind == INTERACTION_NOTIFY_ALL;
}

static void compare_span(const struct side *x, const struct span *xs, const struct side *y,
                         const struct span *ys, uint32_t thread, struct counts *n)
{
    const struct timeline *xt = &x->a->timeline, *yt = &y->a->timeline;
    CHECK_EQ(ys->start - y->start, xs->start - x->start, "thread %u", thread);
    CHECK_EQ(timeline_context(yt, ys->context)->what, timeline_context(xt, xs->context)->what,
             "thread %u", thread);
    bool notified = is_notify(x, thread, xs);
    n->waits++;
    n->notified += notified;
    CHECK_EQ(is_notify(y, thread, ys), notified, "thread %u at %" PRIu64, thread,
             xs->start - x->start);
    if (!notified)
        return;
    CHECK_EQ(ys->waker, xs->waker, "thread %u at %" PRIu64, thread, xs->start - x->start);
    CHECK_EQ(span_wake_time(yt, ys) - y->start, span_wake_time(xt, xs) - x->start,
             "thread %u at %" PRIu64, thread, xs->start - x->start);
}

/* The span of a thread that began then; a join that was made up with the stack of a wait is one
 * more there. */
static const struct span *same_span(const struct side *s, uint32_t thread, uint64_t start,
                                    uint32_t *at)
{
    const struct span *span = NULL;
    if (thread < s->a->timeline.n_lines)
        while ((span = next_span(s, thread, at)) && span->start - s->start < start) {
        }
    return span;
}

static void compare(const struct side *x, const struct side *y, uint32_t threads, struct counts *n)
{
    for (uint32_t i = 1; i <= threads; i++) {
        uint32_t at = 0, bt = 0;
        for (const struct span *a; (a = next_span(x, i, &at));) {
            const struct span *b = same_span(y, i, a->start - x->start, &bt);
            cr_assert(b, "%s: thread %u: a wait is missing", check_name, i);
            compare_span(x, a, y, b, i, n);
        }
    }
}

static void there_and_back(const struct sim_shape *shape, struct counts *n)
{
    static struct sim s;
    struct err err = {""};
    struct side before = {.start = 0}, after = {.start = 0};
    struct analysis *a, *b;
    snprintf(check_name, sizeof check_name, "seed %" PRIu64, shape->seed);
    sim_run(&s, shape);
    struct trace *t = sim_trace(&s);
    struct orca_files f = files_export(tptp(), t);
    struct trace *u = files_import_xml_again(&f);
    cr_assert_eq(conclude_run(&a, t, &err), 0, "%s", err.msg);
    cr_assert_eq(conclude_run(&b, u, &err), 0, "%s", err.msg);
    before = (struct side){a, t->header.start_mono};
    after = (struct side){b, t->header.start_real ? t->header.start_real : t->header.start_mono};
    compare(&before, &after, s.n_ids, n);
    analysis_free(a);
    analysis_free(b);
    trace_close(t);
    trace_close(u);
    files_free(&f);
    sim_fini(&s);
}

Test(tptp_bindings, small_programs)
{
    struct counts n = {0, 0};
    for (uint64_t seed = 1; seed <= (uint64_t)CASES(400); seed++) {
        struct sim_shape shape = sim_shape_of(seed);
        shape.holds = false;
        there_and_back(&shape, &n);
    }
    cr_assert_gt(n.notified, 100);
}

Test(tptp_bindings, large_programs)
{
    struct counts n = {0, 0};
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct sim_shape shape = sim_shape_of(seed);
        shape.threads = seed % 2 ? 8 : SIM_THREADS;
        shape.steps = 25000;
        shape.ordered = true;
        shape.holds = false;
        there_and_back(&shape, &n);
    }
    cr_assert_gt(n.notified, 150, "%" PRIu64 " of %" PRIu64, n.notified, n.waits);
}

/* --- whose rule ------------------------------------------------------------------------------- */

#define ORDER(value) "<option key='orca.order' value='" value "'/>"

Test(tptp_bindings, the_order_is_the_jvms_only_where_the_file_says_so)
{
    static const struct {
        const char *xml;
        bool in_order;
    } files[] = {
        {MAIN_, false},
        {"<option key='orca.events' value='waits'/>" MAIN_, false},
        {ORDER("recorded") MAIN_, true},
        {ORDER("other") MAIN_, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        struct err err = {""};
        struct trace *t = files_import_xml(files[i].xml, &err);
        cr_assert_not_null(t, "%s", err.msg);
        cr_assert_eq(trace_is_in_order(t), files[i].in_order, "%zu", i);
        struct orca_files f = files_export(tptp(), t);
        bool says = strstr(f.text[0], "\"orca.order\" value=\"recorded\"") != NULL;
        cr_assert_eq(says, files[i].in_order, "%zu: what is imported says no more", i);
        files_free(&f);
        trace_close(t);
    }
}

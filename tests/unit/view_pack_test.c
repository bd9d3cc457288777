/* view_pack_test.c - the pack of a page, taken apart again, against the analysis. */
#include "base/util.h"
#include "cases.h"
#include "format/codec.h"
#include "view/arrows.h"
#include "view_read.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct viewed one;

struct pack {
    struct buf all;
    uint32_t n;
};

/* --- sections --------------------------------------------------------------------------------- */

struct section {
    const uint8_t *p;
    size_t len, at;
};

static bool find(const struct pack *p, const char *name, struct section *out)
{
    for (uint32_t i = 0; i < p->n; i++) {
        const uint8_t *head = p->all.p + 16 + (size_t)i * 32;
        uint64_t place[2];
        memcpy(place, head + 16, sizeof place);
        CHECK(place[0] % 8 == 0 && place[0] <= p->all.len && place[1] <= p->all.len - place[0],
              "section %.16s", (const char *)head);
        *out = (struct section){p->all.p + place[0], place[1], 0};
        if (strncmp((const char *)head, name, 16) == 0)
            return true;
    }
    return false;
}

static struct section section(const struct pack *p, const char *name)
{
    struct section s;
    CHECK(find(p, name, &s), "section %s is missing", name);
    return s;
}

static const void *column(struct section *s, size_t n, size_t size)
{
    s->at = ALIGN_UP(s->at, 8);
    CHECK(n <= (s->len - s->at) / size, "a section is cut");
    const void *p = s->p + s->at;
    s->at += n * size;
    return p;
}

static uint32_t count(struct section *s)
{
    const uint32_t *head = column(s, 2, 4);
    CHECK_EQ(head[1], 0, "head");
    return head[0];
}

static void over(const struct section *s)
{
    CHECK_EQ(ALIGN_UP(s->at, 8), ALIGN_UP(s->len, 8), "bytes are left over");
}

/* A column of numbers, read from the first to the last. */
struct numbers {
    const uint8_t *planes[8];
    const uint32_t *place;
    const double *value;
    uint32_t bytes, others, next;
    size_t n, at;
};

static struct numbers numbers(struct section *s, size_t n)
{
    const uint32_t *head = column(s, 2, 4);
    struct numbers x = {.bytes = head[0], .others = head[1], .n = n};
    CHECK(x.bytes <= 7 && x.others <= n, "%u bytes, %u others", x.bytes, x.others);
    x.place = column(s, x.others, 4);
    x.value = column(s, x.others, 8);
    for (uint32_t i = 0; i < x.bytes; i++)
        x.planes[i] = column(s, n, 1);
    return x;
}

static uint64_t next(struct numbers *x)
{
    uint64_t v = 0;
    CHECK(x->at < x->n, "a column is cut");
    for (uint32_t i = 0; i < x->bytes; i++)
        v |= (uint64_t)x->planes[i][x->at] << (8 * i);
    if (x->next < x->others && x->place[x->next] == x->at) {
        CHECK_EQ(v, 0, "number %zu", x->at);
        v = (uint64_t)x->value[x->next++];
    }
    x->at++;
    return v;
}

static int64_t next_signed(struct numbers *x)
{
    return unzigzag(next(x));
}

/* --- exact ------------------------------------------------------------------------------------ */

struct waits {
    struct numbers gap, length, context, waker, how, wake;
};

static void check_wait(struct waits *w, uint32_t thread, uint32_t i, uint64_t *time)
{
    const struct timeline *t = &one.a->timeline;
    const struct span *s = line_span(&t->lines[thread], i);
    *time += (uint64_t)next_signed(&w->gap);
    CHECK_EQ(*time, s->start, "wait %u of thread %u", i, thread);
    *time += next(&w->length);
    CHECK_EQ(*time, span_end(t, s), "wait %u of thread %u", i, thread);
    CHECK_EQ(next(&w->context), s->context, "wait %u of thread %u", i, thread);
    CHECK_EQ(next(&w->waker), s->waker, "wait %u of thread %u", i, thread);
    if (!s->waker)
        return;
    CHECK_EQ(next(&w->how) - 1, span_interaction(t, thread, s), "wait %u of thread %u", i, thread);
    CHECK_EQ(*time - (uint64_t)next_signed(&w->wake), span_wake_time(t, s), "wait %u of thread %u",
             i, thread);
}

static size_t count_woken(void)
{
    size_t n = 0;
    for (uint32_t i = 0; i < one.a->threads.n; i++)
        for (uint32_t k = 0; k < one.a->timeline.lines[i].spans.n; k++)
            n += line_span(&one.a->timeline.lines[i], k)->waker != 0;
    return n;
}

static void check_waits(const struct pack *p)
{
    struct section s = section(p, "waits");
    uint32_t n = count(&s);
    const uint32_t *of = column(&s, one.a->threads.n, 4);
    struct waits w = {numbers(&s, n), numbers(&s, n), numbers(&s, n),
                      numbers(&s, n), {.n = 0},       {.n = 0}};
    w.how = numbers(&s, count_woken());
    w.wake = numbers(&s, count_woken());
    over(&s);
    for (uint32_t i = 0; i < one.a->threads.n; i++) {
        uint64_t time = one.a->threads.v[i].from;
        CHECK_EQ(of[i], one.a->timeline.lines[i].spans.n, "thread %u", i);
        for (uint32_t k = 0; k < of[i]; k++)
            check_wait(&w, i, k, &time);
    }
    CHECK_EQ(w.gap.at, n, "waits");
    CHECK_EQ(n, one.a->timeline.n_spans, "waits");
}

static void check_contexts(const struct pack *p)
{
    struct section s = section(p, "contexts");
    uint32_t n = count(&s);
    CHECK_EQ(n, one.a->timeline.contexts.n, "contexts");
    const uint32_t *lock = column(&s, n, 4), *other = column(&s, n, 4), *stack = column(&s, n, 4);
    column(&s, n, 4);
    const uint32_t *site = column(&s, n, 4);
    column(&s, n, 4);
    const uint8_t *state = column(&s, n, 1), *flags = column(&s, n, 1), *owned = column(&s, n, 1);
    over(&s);
    for (uint32_t i = 1; i < n; i++) {
        const struct context *x = timeline_context(&one.a->timeline, i);
        if (x->what >= STATE_LIMIT) {
            CHECK(lock[i] + other[i] + stack[i] + state[i] + flags[i] == 0, "context %u", i);
            CHECK_EQ(site[i], NO_SITE, "context %u", i);
            continue;
        }
        CHECK(lock[i] == x->lock.v && other[i] == x->other && stack[i] == x->stack.v, "context %u",
              i);
        CHECK(state[i] == x->what && flags[i] == x->flags, "context %u", i);
        CHECK_EQ(site[i], one.a->sites.of_context[i], "context %u", i);
        CHECK_EQ(owned[i],
                 purposes_held_up(&one.a->purposes, i, x->what) && x->what == STATE_PARKED,
                 "context %u", i);
    }
}

static void check_stacks(const struct pack *p)
{
    const struct trace *t = one.a->trace;
    struct section s = section(p, "stacks");
    uint32_t n = count(&s);
    CHECK_EQ(n, t->n_stacks, "stacks");
    const uint32_t *first = column(&s, n + 1, 4);
    column(&s, n, 1);
    const uint32_t *method = column(&s, first[n], 4);
    const int32_t *line = column(&s, first[n], 4);
    over(&s);
    for (uint32_t i = 0; i < n; i++) {
        const struct trace_stack *x = trace_stack(t, (stack_id){i});
        CHECK_EQ(first[i + 1] - first[i], x->n_frames, "stack %u", i);
        for (uint32_t k = 0; k < x->n_frames; k++) {
            CHECK_EQ(method[first[i] + k], x->frames[k].method.v, "stack %u", i);
            CHECK_EQ(line[first[i] + k], trace_line(t, x->frames[k]), "stack %u", i);
        }
    }
}

static uint64_t seen_wakes, seen_regains, seen_holds, seen_acts;

static void check_wakes(struct section *s, uint32_t n)
{
    struct numbers place = numbers(s, n), stack = numbers(s, n);
    uint64_t at = 0, first = 0;
    uint32_t thread = 0;
    for (uint32_t i = 0; i < n; i++) {
        at += next(&place);
        for (; at - first >= one.a->timeline.lines[thread].spans.n; thread++)
            first += one.a->timeline.lines[thread].spans.n;
        const struct span *w = line_span(&one.a->timeline.lines[thread], (uint32_t)(at - first));
        CHECK_EQ(span_wake_stack(&one.a->timeline, w).v, next(&stack), "wake %u", i);
    }
}

/* Each that has an owner is there, in the order of the waits. */
static void check_regains(struct section *s, uint32_t n)
{
    struct numbers place = numbers(s, n), owner = numbers(s, n), how = numbers(s, n);
    struct numbers wake = numbers(s, n), stack = numbers(s, n);
    const struct timeline *t = &one.a->timeline;
    uint64_t at = 0, first = 0, seen = 0;
    for (uint32_t thread = 0; thread < one.a->threads.n && thread < t->n_lines; thread++) {
        const struct line *l = &t->lines[thread];
        for (uint32_t k = 0; k < l->spans.n; k++) {
            const struct regain *r = line_regain(l, k);
            if (!r || !r->owner)
                continue;
            struct span by = *line_span(l, k);
            by.waker = r->owner;
            by.cause = r->cause;
            CHECK_EQ(at += next(&place), first + k, "regain %u", (unsigned)seen);
            CHECK_EQ(next(&owner), r->owner, "regain %u", (unsigned)seen);
            CHECK_EQ(next(&how), span_interaction(t, thread, &by) + 1, "regain %u", (unsigned)seen);
            CHECK_EQ(span_end(t, &by) - (uint64_t)next_signed(&wake), span_wake_time(t, &by),
                     "regain %u", (unsigned)seen);
            CHECK_EQ(next(&stack), span_wake_stack(t, &by).v, "regain %u", (unsigned)seen);
            seen++;
        }
        first += l->spans.n;
    }
    CHECK_EQ(seen, n, "regains");
}

static void check_holds(struct section *s, uint32_t n)
{
    struct numbers from = numbers(s, n), length = numbers(s, n);
    const uint32_t *thread = column(s, n, 4);
    column(s, n, 4), column(s, n, 1);
    uint64_t time = one.v->base;
    for (uint32_t i = 0, k = 0; i < n; i++, k++) {
        k = i && thread[i] != thread[i - 1] ? 0 : k;
        const struct span *h = line_hold(&one.a->timeline.lines[thread[i]], k);
        time += (uint64_t)next_signed(&from);
        CHECK_EQ(time, h->start, "hold %u", i);
        CHECK_EQ(next(&length), span_len(&one.a->timeline, h), "hold %u", i);
    }
}

static void check_lists(const struct pack *p)
{
    struct section wakes = section(p, "wakes"), holds = section(p, "holds");
    struct section acts = section(p, "acts"), path = section(p, "path");
    const struct interaction_sum *sums = one.a->bindings.sums;
    uint32_t n = count(&wakes);
    check_wakes(&wakes, n);
    over(&wakes);
    seen_wakes += n;
    struct section regains = section(p, "regains");
    n = count(&regains);
    check_regains(&regains, n);
    over(&regains);
    seen_regains += n;
    n = count(&holds);
    CHECK_EQ(n, one.a->timeline.n_holds, "holds");
    seen_holds += n;
    check_holds(&holds, n);
    over(&holds);
    n = count(&acts);
    CHECK_EQ(n, sums[INTERACTION_STARTS_THREAD].count + sums[INTERACTION_SUBMIT].count, "acts");
    seen_acts += n;
    column(&acts, n, 8), column(&acts, n, 8), column(&acts, n, 4), column(&acts, n, 4);
    column(&acts, n, 1);
    over(&acts);
    struct buf answer = {0};
    struct read_path segments;
    buf_put(&answer, path.p, path.len);
    read_path(&segments, &answer);
    CHECK_EQ(segments.n, one.a->path.n, "path");
    buf_fini(&answer);
}

static json_t *check_json(const struct pack *p, const char *name)
{
    struct section s = section(p, name);
    json_error_t e;
    json_t *j = json_loadb((const char *)s.p, s.len, 0, &e);
    CHECK(j, "%s: %s", name, e.text);
    return j;
}

static void check_meta(const struct pack *p, const char *packed)
{
    json_t *meta = check_json(p, "meta");
    CHECK(json_is_object(json_object_get(meta, "report")), "report");
    CHECK(json_is_array(json_object_get(meta, "lock_rows")), "lock_rows");
    json_t *parts = json_object_get(json_object_get(meta, "overview"), "running");
    CHECK_EQ(json_array_size(parts), 1024, "overview");
    cr_assert_str_eq(json_string_value(json_object_get(meta, "packed")), packed);
    CHECK_EQ(json_array_size(json_object_get(json_object_get(meta, "threads"), "id")),
             one.a->threads.n, "threads");
    json_decref(meta);
}

static void check_names(const struct pack *p)
{
    json_t *names = check_json(p, "names");
    CHECK_EQ(json_array_size(json_object_get(names, "classes")), one.a->locks.n_groups, "classes");
    CHECK_EQ(json_array_size(json_object_get(names, "methods")), one.a->trace->n_methods,
             "methods");
    json_decref(names);
}

/* --- tiles ------------------------------------------------------------------------------------ */

typedef int tile_asker(struct view *v, unsigned level, int64_t i, struct buf *out);

static int ask_arrows(struct view *v, unsigned level, int64_t i, struct buf *out)
{
    return view_arrows(v, level, i, out);
}

static int ask_tile(struct view *v, unsigned level, int64_t i, struct buf *out)
{
    struct view_row rows[VIEW_ROWS_MAX];
    size_t n = 0;
    for (uint32_t k = 0; k < v->a->threads.n; k++)
        rows[n++] = (struct view_row){'t', k};
    for (uint32_t k = 0; k < v->pools.n; k++)
        rows[n++] = (struct view_row){'p', k};
    for (uint32_t k = 0; k < v->groups.n; k++)
        rows[n++] = (struct view_row){'g', k};
    return view_tile(v, level, i, rows, n, out);
}

static void check_shelf(const struct pack *p, const char *name, tile_asker *ask)
{
    struct section s = section(p, name);
    uint32_t n = count(&s);
    const uint8_t *table = column(&s, n, 16);
    CHECK(n > 0 && n <= 40, "%s: %u", name, n);
    for (uint32_t k = 0; k < n; k++) {
        struct buf want = {0};
        int64_t i;
        uint32_t place[2];
        memcpy(&i, table + (size_t)k * 16, sizeof i);
        memcpy(place, table + (size_t)k * 16 + 8, sizeof place);
        const void *got = column(&s, place[1], 1);
        cr_assert_eq(ask(one.v, place[0], i, &want), 0);
        CHECK_EQ(place[1], want.len, "%s, level %u, %" PRId64, name, place[0], i);
        CHECK(memcmp(got, want.p, want.len) == 0, "%s, level %u", name, place[0]);
        buf_fini(&want);
    }
    over(&s);
}

/* --- programs --------------------------------------------------------------------------------- */

static struct pack make(uint64_t exact_max)
{
    struct pack p = {.n = 0};
    struct err err = {""};
    const struct pack_options o = {.exact_max = exact_max};
    uint32_t head[4];
    cr_assert_eq(view_pack(one.v, &o, &p.all, &err), 0, "%s", err.msg);
    memcpy(head, p.all.p, sizeof head);
    CHECK_EQ(head[0], 0x314b504f, "magic");
    CHECK_EQ(head[1], 2, "version");
    p.n = head[2];
    return p;
}

static void check_exact(void)
{
    struct pack p = make(0);
    check_waits(&p);
    check_contexts(&p);
    check_stacks(&p);
    check_lists(&p);
    check_meta(&p, "exact");
    check_names(&p);
    buf_fini(&p.all);
}

static void check_tiles(void)
{
    struct section none;
    struct pack p = make(1);
    CHECK(!find(&p, "waits", &none), "there are waits");
    check_meta(&p, "tiles");
    check_shelf(&p, "tiles", ask_tile);
    check_shelf(&p, "arrows", ask_arrows);
    struct section path = section(&p, "path");
    CHECK_EQ(path.len > 16, one.a->path.n > 0, "path");
    buf_fini(&p.all);
}

Test(view_pack, simulated_programs)
{
    for (uint64_t seed = 1; seed <= (uint64_t)cases(60); seed++) {
        const struct sim_shape shape = sim_shape_of(seed);
        viewed_begin(&one, &shape);
        check_exact();
        if (one.a->timeline.n_spans > 1)
            check_tiles();
        viewed_end(&one);
    }
    cr_assert(seen_wakes && seen_regains && seen_holds && seen_acts, "the test has lost its point");
}

Test(view_pack, many)
{
    for (uint64_t seed = 1; seed <= 2; seed++) {
        viewed_relay(&one, seed, 3000);
        check_exact();
        check_tiles();
        viewed_end(&one);
    }
}

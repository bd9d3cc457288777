/* view_tile_test.c - rows of tiles of threads, pools and groups against the spans of the analysis,
 * looked at one by one, in simulated programs. */
#include "base/util.h"
#include "cases.h"
#include "view_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- brute force ------------------------------------------------------------------------------ */

/* What is true of one bucket; the last is the life. */
struct bucket {
    uint64_t ns[STATE_LIMIT + 1], waits, locked; /* of the parks, those blocked by others */
    uint64_t halted[HALTED_KINDS];
};

static bool touches(uint64_t start, uint64_t stop, uint64_t from, uint64_t to)
{
    return start == stop ? start >= from && start < to : start < to && stop > from;
}

static uint64_t common(uint64_t start, uint64_t stop, uint64_t from, uint64_t to)
{
    start = max_u64(start, from);
    stop = min_u64(stop, to);
    return start < stop ? stop - start : 0;
}

static void add_thread(struct bucket *b, const struct analysis *x, uint32_t thread, uint64_t from,
                       uint64_t to)
{
    const struct timeline *tl = &x->timeline;
    const struct line *l = &tl->lines[thread];
    b->ns[STATE_LIMIT] += common(x->threads.v[thread].from, x->threads.v[thread].to, from, to);
    for (uint32_t i = 0; i < l->spans.n; i++) {
        const struct span *s = line_span(l, i);
        uint64_t stop = span_end(tl, s), until = stop;
        uint8_t what = timeline_context(tl, s->context)->what;
        if (what == STATE_WAITING && s->waker)
            until = span_waited_until(tl, s);
        b->ns[what] += common(s->start, until, from, to);
        if (what == STATE_PARKED && purposes_held_up(&x->purposes, s->context, what))
            b->locked += common(s->start, until, from, to);
        b->ns[STATE_REACQUIRING] += common(until, stop, from, to);
        b->waits += touches(s->start, stop, from, to);
    }
    const struct still_line *halts = stills_of(&x->halts, thread);
    for (uint32_t i = 0; i < halts->n; i++)
        b->halted[halt_of(&halts->v[i])] += common(halts->v[i].from, halts->v[i].to, from, to);
}

static void check_cell(const struct read_cell *c, const struct bucket *b, uint64_t whole,
                       unsigned at)
{
    unsigned sum = 0, parts = b->locked > 0 && b->locked < b->ns[STATE_PARKED];
    uint64_t running = b->ns[STATE_LIMIT];
    for (unsigned i = 0; i < WAIT_STATES; i++) {
        double share = 255.0 * (double)b->ns[i] / (double)whole;
        running -= b->ns[i];
        sum += c->v[i];
        parts += b->ns[i] > 0;
        CHECK((c->v[i] > 0) == (b->ns[i] > 0), "cell %u, state %u", at, i);
        unsigned least = i == STATE_PARKED ? 2 : 1; /* two parts of a cell, each rounded */
        CHECK(fabs(share - c->v[i]) <= (share > 32 ? 7 : least), "cell %u, state %u: %u, not %f",
              at, i, c->v[i], share);
    }
    double lived = 255.0 * (double)b->ns[STATE_LIMIT] / (double)whole;
    double unknown = 255.0 * (double)b->ns[STATE_UNKNOWN] / (double)whole;
    running -= b->ns[STATE_UNKNOWN];
    sum += c->v[9];
    parts += b->ns[STATE_UNKNOWN] > 0;
    CHECK((c->v[9] > 0) == (b->ns[STATE_UNKNOWN] > 0), "cell %u, not known", at);
    CHECK(fabs(unknown - c->v[9]) <= (unknown > 32 ? 7 : 1), "cell %u, not known: %u, not %f", at,
          c->v[9], unknown);
    for (unsigned i = 0; i < HALTED_KINDS; i++) {
        double share = 255.0 * (double)b->halted[i] / (double)whole;
        running -= b->halted[i];
        sum += c->v[10 + i];
        parts += b->halted[i] > 0;
        CHECK((c->v[10 + i] > 0) == (b->halted[i] > 0), "cell %u, %s", at, halted_names[i]);
        CHECK(fabs(share - c->v[10 + i]) <= (share > 32 ? 7 : 1), "cell %u, %s: %u, not %f", at,
              halted_names[i], c->v[10 + i], share);
    }
    CHECK(c->v[6] >= sum, "cell %u adds up to more than its life", at);
    CHECK((c->v[6] > sum) == (running > 0), "cell %u, running", at);
    CHECK(fabs(lived - c->v[6]) <= 0.5 || (c->v[6] > lived && c->v[6] <= lived + parts + 1),
          "cell %u, life: %u, not %f", at, c->v[6], lived);
    CHECK_EQ(c->v[7], min_u64(b->waits, 255), "cell %u, waits", at);
    double locked = 255.0 * (double)b->locked / (double)whole;
    CHECK((c->v[8] > 0) == (b->locked > 0), "cell %u, locked", at);
    CHECK(fabs(locked - c->v[8]) <= (locked > 32 ? 7 : 1), "cell %u, locked: %u, not %f", at,
          c->v[8], locked);
    CHECK(c->v[8] <= c->v[STATE_PARKED], "cell %u, locked is a part of parked", at);
}

static void check_cells(const struct viewed *w, const struct read_row *row,
                        const struct some_tile *tile, const uint32_t *threads, size_t n,
                        uint32_t peak)
{
    for (unsigned k = 0; k < VIEW_BUCKETS; k++) {
        struct bucket b = {.waits = 0};
        for (size_t i = 0; i < n; i++)
            add_thread(&b, w->a, threads[i], tile->from + k * tile->width,
                       tile->from + (k + 1) * tile->width);
        check_cell(&row->cells[k], &b, tile->width * peak, k);
    }
}

static uint64_t coarse; /* answers that were sums */

/* --- threads ---------------------------------------------------------------------------------- */

static void check_wait(const struct viewed *w, const struct read_row *row, uint32_t k,
                       uint32_t thread, uint32_t index)
{
    const struct timeline *tl = &w->a->timeline;
    const struct span *s = line_span(&tl->lines[thread], index);
    const struct context *x = timeline_context(tl, s->context);
    enum interaction how = span_interaction(tl, thread, s);
    CHECK_EQ(row->index[k], index, "thread %u", thread);
    CHECK_EQ(row->context[k], s->context, "thread %u", thread);
    CHECK_EQ(row->waker[k], s->waker, "thread %u", thread);
    CHECK_EQ(row->state[k], x->what, "thread %u", thread);
    bool locked = x->what == STATE_PARKED && purposes_held_up(&w->a->purposes, s->context, x->what);
    CHECK_EQ(row->flags[k], x->flags | (locked ? 64 : 0), "thread %u", thread);
    CHECK_EQ(row->how[k], s->waker ? (unsigned)how : 255, "thread %u", thread);
    CHECK(row->start[k] == after(w->v, s->start), "thread %u", thread);
    CHECK(row->end[k] == after(w->v, span_end(tl, s)), "thread %u", thread);
    if (s->waker && cause_type(s->cause) != CAUSE_NONE)
        CHECK(row->wake[k] == after(w->v, span_wake_time(tl, s)), "thread %u", thread);
    else
        CHECK(isnan(row->wake[k]), "thread %u", thread);
}

static void check_io(const struct viewed *w, const struct read_row *row, uint32_t k,
                     const struct still *s)
{
    CHECK(row->from[k] == after(w->v, s->from), "input and output %u", k);
    CHECK(row->to[k] == after(w->v, s->to), "input and output %u", k);
    CHECK_EQ(row->peer[k], s->peer.v, "input and output %u", k);
    CHECK_EQ(row->what[k], s->what, "input and output %u", k);
}

static uint64_t calls; /* of input and output, in rows */

static void check_thread(const struct viewed *w, const struct read_row *row,
                         const struct some_tile *tile, uint32_t thread)
{
    const struct line *l = &w->a->timeline.lines[thread];
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->spans.n; i++) {
        const struct span *s = line_span(l, i);
        if (!touches(s->start, span_end(&w->a->timeline, s), tile->from, tile->to))
            continue;
        if (row->kind == 0 && n < row->n)
            check_wait(w, row, n, thread, i);
        n++;
    }
    const struct still_line *io = stills_of(&w->a->halts, thread);
    uint32_t m = 0;
    for (uint32_t i = 0; i < io->n; i++) {
        if (io->v[i].from >= tile->to || io->v[i].to <= tile->from)
            continue;
        if (row->kind == 0 && m < row->m)
            check_io(w, row, m, &io->v[i]);
        m++;
    }
    CHECK_EQ(row->kind,
             n + m == 0                ? 4
             : n + m <= VIEW_EXACT_MAX ? 0
                                       : 1,
             "%u waits and %u calls of thread %u", n, m, thread);
    coarse += row->kind == 1;
    calls += m;
    if (row->kind == 0) {
        CHECK_EQ(row->n, n, "waits of thread %u", thread);
        CHECK_EQ(row->m, m, "input and output of thread %u", thread);
    } else if (row->kind == 1) {
        check_cells(w, row, tile, &thread, 1, 1);
    }
}

/* --- sets ------------------------------------------------------------------------------------- */

static void check_set(const struct viewed *w, const struct read_row *row,
                      const struct some_tile *tile, const struct view_set *set, uint32_t i)
{
    const uint32_t *threads = &set->members[set->first[i]];
    size_t n = view_set_size(set, i);
    bool any = false;
    for (size_t k = 0; k < n; k++) {
        struct bucket b = {.waits = 0};
        add_thread(&b, w->a, threads[k], tile->from, tile->to);
        any |= b.ns[STATE_LIMIT] || b.waits;
    }
    CHECK_EQ(row->kind, any ? 1 : 4, "set %u", i);
    if (!any)
        return;
    CHECK_EQ(row->m, set->peak[i], "set %u", i);
    check_cells(w, row, tile, threads, n, set->peak[i]);
}

static void check_members(const struct viewed *w, const struct view_set *set)
{
    CHECK_EQ(set->first[set->n], w->a->threads.n - 1, "members");
    for (uint32_t k = 0; k < set->n; k++) {
        CHECK(set->first[k] < set->first[k + 1], "set %u is empty", k);
        for (uint32_t i = set->first[k]; i < set->first[k + 1]; i++) {
            CHECK_EQ(set->of[set->members[i]], k, "member %u", i);
            CHECK(i == set->first[k] || set->members[i] > set->members[i - 1], "order of set %u",
                  k);
        }
    }
}

/* --- programs --------------------------------------------------------------------------------- */

static void ask(struct viewed *w, const struct some_tile *tile, const struct view_row *rows,
                size_t n, struct buf *answer, struct read_tile *out)
{
    buf_clear(answer);
    cr_assert_eq(view_tile(w->v, tile->level, tile->i, rows, n, answer), 0);
    read_tile(out, answer);
    CHECK_EQ(out->n, n, "rows");
}

/* All threads, a set, and rows that do not exist. */
static void check_tile(struct viewed *w, bool sets)
{
    struct some_tile tile = viewed_tile(w);
    struct view_row rows[VIEW_ROWS_MAX];
    static struct read_tile got;
    struct buf answer = {0};
    size_t n = 0;
    for (uint32_t i = 0; i <= w->s.n_ids + 1; i++)
        rows[n++] = (struct view_row){'t', i};
    uint32_t pool = (uint32_t)sim_below(&w->s, w->v->pools.n + 1);
    uint32_t group = (uint32_t)sim_below(&w->s, w->v->groups.n + 1);
    rows[n++] = (struct view_row){'p', pool};
    rows[n++] = (struct view_row){'g', group};
    ask(w, &tile, rows, n, &answer, &got);
    CHECK_EQ(got.rows[0].kind, 4, "thread 0");
    CHECK_EQ(got.rows[w->s.n_ids + 1].kind, 4, "a thread that does not exist");
    for (uint32_t i = 1; i <= w->s.n_ids; i++)
        check_thread(w, &got.rows[i], &tile, i);
    if (pool == w->v->pools.n)
        CHECK_EQ(got.rows[n - 2].kind, 4, "a pool that does not exist");
    else if (sets)
        check_set(w, &got.rows[n - 2], &tile, &w->v->pools, pool);
    if (group == w->v->groups.n)
        CHECK_EQ(got.rows[n - 1].kind, 4, "a group that does not exist");
    else if (sets)
        check_set(w, &got.rows[n - 1], &tile, &w->v->groups, group);
    buf_fini(&answer);
}

static void check_tables_of(struct viewed *w)
{
    struct selection sel = selection_all();
    struct stats want;
    uint64_t length = w->s.end - w->s.begin + 20;
    sel.from = w->s.begin - 10 + sim_below(&w->s, length);
    sel.to = sim_one_in(&w->s, 5) ? UINT64_MAX : sel.from + sim_below(&w->s, length);
    cr_assert_eq(analysis_stats(w->a, &sel, &want), 0);
    for (uint32_t i = 1; i < w->a->threads.n; i++) {
        uint64_t ns[STATE_LIMIT];
        cr_assert_eq(occupancy_between(&w->v->occupancy, i, sel.from, sel.to, ns), 0);
        for (unsigned k = 0; k < STATE_LIMIT; k++)
            CHECK_EQ(ns[k], want.threads[i].state[k].ns, "thread %u, state %u", i, k);
    }
    stats_fini(&want);
}

/* And ends it. */
static void check_view(struct viewed *w, int tiles, bool sets)
{
    check_members(w, &w->v->pools);
    check_members(w, &w->v->groups);
    for (int i = 0; i < tiles; i++) {
        check_tile(w, sets);
        check_tables_of(w);
    }
    viewed_end(w);
}

static void check_program(const struct sim_shape *shape, int tiles, bool sets)
{
    static struct viewed w;
    viewed_begin(&w, shape);
    check_view(&w, tiles, sets);
}

Test(view_tile, small_programs)
{
    for (uint64_t seed = 1; seed <= (uint64_t)cases(300); seed++) {
        const struct sim_shape shape = sim_shape_of(seed);
        check_program(&shape, 6, seed % 4 == 0);
    }
}

Test(view_tile, large_programs)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct sim_shape shape = sim_shape_of(seed);
        shape.threads = seed % 2 ? 2 : 12;
        shape.steps = 25000;
        shape.ordered = true;
        check_program(&shape, 6, false);
    }
    cr_assert_gt(coarse, 0, "the test has lost its point");
}

/* In some of these the threads read something, so often that rows are sums of that. */
Test(view_tile, relays)
{
    static struct viewed w;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        viewed_relay(&w, seed, 1500 * (uint32_t)seed);
        check_view(&w, 12, true);
    }
    cr_assert_gt(coarse, 0, "the test has lost its point");
    cr_assert_gt(calls, 0, "no thread reads anything");
}

/* view_lock_test.c - rows of locks against every wait of the analysis, and against who truly held
 * them, in simulated programs. */
#include "base/util.h"
#include "cases.h"
#include "view/tile.h"
#include "view_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- brute force ------------------------------------------------------------------------------ */

struct part {
    uint64_t from, to;
    uint32_t thread, index, context;
    unsigned state, flags;
};

struct parts {
    struct part *v;
    size_t n;
};

static void add_span(struct parts *p, const struct analysis *x, uint32_t thread, uint32_t index,
                     uint32_t lock)
{
    const struct timeline *tl = &x->timeline;
    const struct span *s = line_span(&tl->lines[thread], index);
    const struct context *c = timeline_context(tl, s->context);
    uint64_t end = span_end(tl, s), until = s->waker ? span_waited_until(tl, s) : end;
    struct part part = {s->start, until, thread, index, s->context, c->what, c->flags};
    if (c->lock.v != lock)
        return;
    if (until < end)
        part.flags &= ~(unsigned)INTERVAL_OPEN;
    p->v[p->n++] = part;
    if (until < end)
        p->v[p->n++] =
            (struct part){until, end, thread, index, s->context, STATE_REACQUIRING, c->flags};
}

static struct parts list(const struct analysis *x, uint32_t lock)
{
    struct parts p = {calloc(2 * x->timeline.n_spans + 1, sizeof *p.v), 0};
    for (uint32_t i = 1; i < x->timeline.n_lines; i++)
        for (uint32_t k = 0; k < x->timeline.lines[i].spans.n; k++)
            add_span(&p, x, i, k, lock);
    return p;
}

static bool touches(const struct part *p, uint64_t from, uint64_t to)
{
    return p->from == p->to ? p->from >= from && p->from < to : p->from < to && p->to > from;
}

static struct viewed one;

static bool is_queued(const struct part *p)
{
    return p->state == STATE_BLOCKED || p->state == STATE_REACQUIRING ||
           (p->state == STATE_PARKED && purposes_held_up(&one.a->purposes, p->context, p->state));
}

/* --- one by one ------------------------------------------------------------------------------- */

static void check_waits(const struct viewed *w, const struct read_row *row, const struct parts *p,
                        const struct some_tile *tile)
{
    uint32_t n = 0;
    for (size_t i = 0; i < p->n; i++) {
        const struct part *x = &p->v[i];
        if (!touches(x, tile->from, tile->to))
            continue;
        uint32_t k = 0;
        while (k < row->n && (row->thread[k] != x->thread || row->index[k] != x->index ||
                              row->start[k] != after(w->v, x->from)))
            k++;
        CHECK(k < row->n, "wait %u of thread %u is missing", x->index, x->thread);
        CHECK(row->end[k] == after(w->v, x->to), "wait %u", k);
        CHECK_EQ(row->state[k], x->state, "wait %u", k);
        bool monitor = x->state == STATE_BLOCKED || x->state == STATE_REACQUIRING;
        CHECK_EQ(row->flags[k] & ~(unsigned)TILE_HELD_UP, x->flags, "wait %u", k);
        CHECK(x->state == STATE_PARKED || !(row->flags[k] & TILE_HELD_UP) == !monitor, "wait %u",
              k);
        n++;
    }
    CHECK_EQ(row->n, n, "waits");
    for (uint32_t k = 1; k < row->n; k++)
        CHECK(row->start[k - 1] <= row->start[k], "order of wait %u", k);
}

/* Nobody else truly had it then, where monitors are handed on first in, first out; until who got it
 * next says so, some time later, it counts as the owner's. */
static void check_owner(const struct viewed *w, uint32_t lock, uint32_t owner, double from,
                        double to, bool sure)
{
    const struct true_hold *h = (const void *)w->s.tenures.p;
    bool held = false, monitor = false; /* tenures are of monitors only */
    for (size_t i = 0; i < w->s.tenures.len / sizeof *h; i++) {
        monitor |= h[i].lock == lock;
        double start = after(w->v, h[i].start), end = after(w->v, h[i].end);
        if (h[i].lock != lock || end <= from || start >= to)
            continue;
        bool next = start > from && end >= to;
        if (h[i].thread == owner)
            held = true;
        else
            CHECK(next || !w->s.shape.fair,
                  "lock %u: thread %u held it from %f to %f, not %u from %f to %f", lock,
                  h[i].thread, start, end, owner, from, to);
    }
    CHECK(held || !sure || !monitor, "lock %u: thread %u from %f to %f", lock, owner, from, to);
}

static uint64_t concluded, recorded;

static void check_holds(const struct viewed *w, const struct read_row *row, uint32_t lock)
{
    for (uint32_t k = 0; k < row->m; k++) {
        CHECK(row->from[k] < row->to[k], "hold %u", k);
        CHECK(k == 0 || row->from[k - 1] <= row->from[k], "order of hold %u", k);
        CHECK(!row->sure[k] || w->s.shape.holds, "hold %u", k);
        recorded += row->sure[k];
        concluded += !row->sure[k];
        check_owner(w, lock, row->owner[k], row->from[k], row->to[k], row->sure[k]);
    }
}

/* --- cells ------------------------------------------------------------------------------------ */

struct bucket {
    uint64_t busy, area, queued_most, others_busy, others_most, waits;
};

static int ascending(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The moments at which something changes, in a bucket. */
static size_t moments(const struct parts *p, uint64_t from, uint64_t to, uint64_t *v)
{
    size_t n = 0;
    v[n++] = from;
    v[n++] = to;
    for (size_t i = 0; i < p->n; i++) {
        if (p->v[i].from > from && p->v[i].from < to)
            v[n++] = p->v[i].from;
        if (p->v[i].to > from && p->v[i].to < to)
            v[n++] = p->v[i].to;
    }
    qsort(v, n, sizeof *v, ascending);
    return n;
}

static struct bucket bucket_of(const struct parts *p, uint64_t from, uint64_t to, uint64_t *v)
{
    struct bucket b = {0, 0, 0, 0, 0, 0};
    size_t n = moments(p, from, to, v);
    for (size_t k = 0; k + 1 < n; k++) {
        uint64_t queued = 0, others = 0, ns = v[k + 1] - v[k];
        for (size_t i = 0; i < p->n && ns; i++) {
            bool in = p->v[i].from <= v[k] && p->v[i].to > v[k];
            queued += in && is_queued(&p->v[i]);
            others += in && !is_queued(&p->v[i]);
        }
        b.busy += queued ? ns : 0;
        b.area += queued * ns;
        b.others_busy += others ? ns : 0;
        b.queued_most = max_u64(b.queued_most, queued);
        b.others_most = max_u64(b.others_most, others);
    }
    for (size_t i = 0; i < p->n; i++)
        b.waits += touches(&p->v[i], from, to);
    return b;
}

static bool near(unsigned got, double want)
{
    return fabs(got - fmin(want, 255)) <= 0.5 || (got == 1 && want > 0 && want < 1);
}

/* ns of a bucket in which somebody held it; they are by their beginnings. */
static uint64_t held_in(const struct lock_items *holds, uint64_t from, uint64_t to)
{
    uint64_t ns = 0;
    for (uint32_t i = 0; i < holds->n && holds->v[i].from < to; i++) {
        uint64_t end = min_u64(holds->v[i].to, to);
        from = max_u64(from, holds->v[i].from);
        ns += end > from ? end - from : 0;
        from = max_u64(from, end);
    }
    return ns;
}

static void check_cells(const struct read_row *row, const struct parts *p,
                        const struct some_tile *tile, uint32_t lock)
{
    struct lock_line *line;
    cr_assert_eq(lock_lines_get(&one.v->locks, one.v->a, &lock, 1, &line), 0);
    uint64_t *v = calloc(2 * p->n + 2, sizeof *v);
    for (unsigned k = 0; k < VIEW_BUCKETS; k += 3) {
        uint64_t from = tile->from + k * tile->width;
        struct bucket b = bucket_of(p, from, from + tile->width, v);
        const uint8_t *c = row->lock_cells[k].v;
        double width = (double)tile->width;
        CHECK(near(c[1], 255 * (double)b.busy / width), "cell %u", k);
        CHECK(near(c[2], 16 * log2(1 + (double)b.area / width)), "cell %u", k);
        CHECK(near(c[3], 16 * log2(1 + (double)b.queued_most)), "cell %u", k);
        CHECK(near(c[4], 255 * (double)b.others_busy / width), "cell %u", k);
        CHECK(near(c[5], 16 * log2(1 + (double)b.others_most)), "cell %u", k);
        CHECK_EQ(c[6], 0, "cell %u", k);
        CHECK_EQ(c[7], min_u64(b.waits, 255), "cell %u", k);
        uint64_t held = held_in(&line->holds, from, from + tile->width);
        CHECK(near(c[0], 255 * (double)held / width), "cell %u", k);
    }
    lock_lines_release(&one.v->locks, &line, 1);
    free(v);
}

/* --- programs --------------------------------------------------------------------------------- */

static uint64_t coarse;

static void check_lock(const struct read_row *row, const struct some_tile *tile, uint32_t lock)
{
    struct parts p = list(one.a, lock);
    uint64_t n = 0;
    for (size_t i = 0; i < p.n; i++)
        n += touches(&p.v[i], tile->from, tile->to);
    coarse += row->kind == 3;
    if (row->kind == 2) {
        check_waits(&one, row, &p, tile);
        check_holds(&one, row, lock);
    } else if (row->kind == 3) {
        check_cells(row, &p, tile, lock);
    } else {
        CHECK_EQ(n, 0, "lock %u", lock);
    }
    CHECK(row->kind != 2 || n <= VIEW_EXACT_MAX, "lock %u", lock);
    free(p.v);
}

static void check_tile(struct some_tile tile)
{
    static struct read_tile got;
    struct view_row rows[8];
    struct buf answer = {0};
    for (int i = 0; i < 8; i++)
        rows[i] = (struct view_row){
            'l', 1 + (uint32_t)sim_below(&one.s, one.a->locks.n_objects + (i == 0))};
    rows[6] = (struct view_row){'l', 0};
    rows[7] = (struct view_row){'l', UINT32_MAX};
    cr_assert_eq(view_tile(one.v, tile.level, tile.i, rows, 8, &answer), 0);
    read_tile(&got, &answer);
    for (int i = 0; i < 6; i++)
        check_lock(&got.rows[i], &tile, rows[i].number);
    CHECK_EQ(got.rows[6].kind, 4, "lock 0");
    CHECK_EQ(got.rows[7].kind, 4, "a lock that does not exist");
    buf_fini(&answer);
}

Test(view_lock, small_programs)
{
    for (uint64_t seed = 1; seed <= (uint64_t)cases(500); seed++) {
        const struct sim_shape shape = sim_shape_of(seed);
        viewed_begin(&one, &shape);
        for (int i = 0; i < 6; i++)
            check_tile(viewed_tile(&one));
        viewed_end(&one);
    }
    cr_assert_gt(recorded, 0, "the test has lost its point");
    cr_assert_gt(concluded, 0, "the test has lost its point");
}

Test(view_lock, large_programs)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct sim_shape shape = sim_shape_of(seed);
        shape.threads = seed % 2 ? 8 : SIM_THREADS;
        shape.steps = 25000;
        shape.ordered = shape.monitors_only = true;
        viewed_begin(&one, &shape);
        unsigned level = 0; /* of the tile in which all of it lies */
        while ((UINT64_C(512) << level) < one.s.end - one.s.begin)
            level++;
        for (int i = 0; i < 12; i++)
            check_tile(i % 4 ? viewed_tile(&one) : tile_at(one.v, level, one.s.begin));
        viewed_end(&one);
    }
}

Test(view_lock, many)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        viewed_relay(&one, seed, 700 * (uint32_t)seed);
        for (int i = 0; i < 8; i++)
            check_tile(viewed_tile(&one));
        viewed_end(&one);
    }
    cr_assert_gt(coarse, 0, "the test has lost its point");
}

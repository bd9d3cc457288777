/* Reading a lock's history: what touches a stretch, and sums of it. */
#include "analyze/lock_line.h"
#include "base/util.h"

#include <stdlib.h>

/* --- items ------------------------------------------------------------------------------------ */

/* How many begin before a time. */
static uint32_t begun_before(const struct lock_items *s, uint64_t time)
{
    uint32_t i = 0;
    BISECT(i, s->n, s->v[i].from < time);
    return i;
}

/* How many are over by a time. */
static uint32_t over_by(const struct lock_items *s, uint64_t time)
{
    uint32_t i = 0;
    BISECT(i, s->n, s->ends[i] <= time);
    return i;
}

uint32_t lock_items_touching(const struct lock_items *s, uint64_t from, uint64_t to)
{
    return from < to ? begun_before(s, to) - over_by(s, from) : 0;
}

uint32_t lock_items_copy(const struct lock_items *s, uint64_t from, uint64_t to,
                         struct lock_item *out, uint32_t max)
{
    uint32_t end = begun_before(s, to), n = 0;
    for (uint32_t block = 0; block * LOCK_BLOCK < end; block++) {
        if (s->last[block] <= from)
            continue;
        uint32_t stop = (uint32_t)min_u64((uint64_t)(block + 1) * LOCK_BLOCK, end);
        for (uint32_t i = block * LOCK_BLOCK; i < stop && n < max; i++)
            if (lock_item_over(&s->v[i]) > from)
                out[n++] = s->v[i];
    }
    return n;
}

static int by_from(const void *a, const void *b)
{
    const struct lock_item *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

void lock_items_sort(struct lock_item *v, size_t n)
{
    if (n)
        qsort(v, n, sizeof *v, by_from);
}

/* --- steps ------------------------------------------------------------------------------------ */

/* How many steps are at a time or before. */
static uint32_t steps_until(const struct lock_line *l, uint64_t time)
{
    uint32_t i = 0;
    BISECT(i, l->n_steps, l->steps[i].time <= time);
    return i;
}

static void add_step(struct lock_sums *m, const struct lock_step *s, uint64_t from, uint64_t to)
{
    uint64_t ns = to - from;
    m->busy += s->queued ? ns : 0;
    m->area += ns * s->queued;
    m->others_busy += s->others ? ns : 0;
}

/* Add the steps from the first-th to before the n-th between two times. */
static void go_through(const struct lock_line *l, uint32_t first, uint32_t n, uint64_t from,
                       uint64_t to, struct lock_sums *out)
{
    for (uint32_t i = first; i < n; i++) {
        const struct lock_step *s = &l->steps[i];
        uint64_t end = i + 1 < n ? s[1].time : to;
        add_step(out, s, max_u64(s->time, from), end);
        out->queued_most = out->queued_most > s->queued ? out->queued_most : s->queued;
        out->others_most = out->others_most > s->others ? out->others_most : s->others;
    }
}

/* The sums from the very beginning to a time before which there are n steps. */
static void sum_until(const struct lock_line *l, uint32_t n, uint64_t time, struct lock_sums *out)
{
    uint32_t block = n ? (n - 1) / LOCK_BLOCK : 0;
    const struct lock_mark *m = &l->marks[block];
    *out = (struct lock_sums){0, m->busy, m->area, m->others_busy, 0, 0};
    go_through(l, block * LOCK_BLOCK, n, 0, time, out);
}

static void find_most(const struct lock_line *l, uint32_t first, uint32_t n, struct lock_sums *out)
{
    for (uint32_t i = first; i < n;) {
        if (i % LOCK_BLOCK == 0 && n - i >= LOCK_BLOCK) {
            const struct lock_mark *m = &l->marks[i / LOCK_BLOCK];
            out->queued_most =
                out->queued_most > m->queued_most ? out->queued_most : m->queued_most;
            out->others_most =
                out->others_most > m->others_most ? out->others_most : m->others_most;
            i += LOCK_BLOCK;
            continue;
        }
        const struct lock_step *s = &l->steps[i++];
        out->queued_most = out->queued_most > s->queued ? out->queued_most : s->queued;
        out->others_most = out->others_most > s->others ? out->others_most : s->others;
    }
}

/* ns before a time in which it was held. */
static uint64_t held_until(const struct lock_line *l, uint64_t time)
{
    uint32_t i = 0;
    BISECT(i, l->n_held, l->held[i].from < time);
    if (!i)
        return 0;
    const struct lock_held *h = &l->held[i - 1];
    return h->before + min_u64(h->to, time) - h->from;
}

void lock_line_sums(const struct lock_line *l, uint64_t from, uint64_t to, struct lock_sums *out)
{
    *out = (struct lock_sums){0, 0, 0, 0, 0, 0};
    if (from >= to)
        return;
    uint32_t begun = steps_until(l, from), n = steps_until(l, to - 1);
    uint32_t first = begun - (begun > 0); /* the stretch that contains `from` */
    if (n - first <= 2 * LOCK_BLOCK) {
        go_through(l, first, n, from, to, out);
    } else {
        struct lock_sums before;
        sum_until(l, begun, from, &before);
        sum_until(l, n, to, out);
        out->busy -= before.busy;
        out->area -= before.area;
        out->others_busy -= before.others_busy;
        out->queued_most = out->others_most = 0;
        find_most(l, first, n, out);
    }
    out->held = held_until(l, to) - held_until(l, from);
}

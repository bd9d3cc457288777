#include "analyze/alloc_survivors.h"

#include "base/err.h"
#include "base/util.h"

void alloc_points_choose(struct alloc_points *p, const struct analysis *a, uint64_t from,
                         uint64_t to)
{
    const struct allocs *s = &a->allocs;
    const uint64_t *ends = (const void *)s->pause_ends.p;
    uint64_t first = allocs_pauses_before(s, from), last = allocs_pauses_before(s, to);
    uint64_t n = last - first;
    p->n = n < ALLOC_POINTS ? n : ALLOC_POINTS;
    for (size_t i = 0; i < p->n; i++) {
        uint64_t at = first + (i + 1) * n / p->n - 1;
        p->pause[i] = at;
        p->end[i] = ends[at];
        p->until[i] = at + 1 < last ? ends[at + 1] : to;
    }
}

/* The first point whose pause an object of an epoch outlives; n: none. */
static size_t point_of_epoch(const struct alloc_points *p, uint64_t epoch)
{
    size_t i = 0;
    while (i < p->n && p->pause[i] < epoch)
        i++;
    return i;
}

/* The first point without an object that was freed at a time. */
static size_t point_of_end(const struct alloc_points *p, uint64_t time)
{
    size_t i = 0;
    while (i < p->n && p->until[i] <= time)
        i++;
    return i;
}

static size_t begin_of(const struct analysis *a, const struct alloc_points *p, uint64_t since)
{
    return point_of_epoch(p, allocs_epoch(&a->allocs, since));
}

int alloc_survivors_add(const struct analysis *a, const struct alloc_points *p, uint32_t thread,
                        alloc_change *change, void *ctx)
{
    const struct allocs *s = &a->allocs;
    enum alloc_source source = allocs_ends_source(s);
    const struct run *r = &s->lines[thread].allocs[source];
    const struct run *f = &s->lines[thread].frees[source];
    for (uint32_t i = 0; i < r->n; i++) {
        const struct alloc *x = alloc_at(r, i);
        size_t at = begin_of(a, p, x->time);
        if (at < p->n)
            TRY(change(ctx, thread, x->context, at, (int64_t)alloc_context(s, x->context)->bytes));
    }
    for (uint32_t i = 0; i < f->n; i++) {
        const struct alloc_free *x = alloc_free_at(f, i);
        size_t at = max_u64(begin_of(a, p, x->since), point_of_end(p, x->time));
        if (x->since >= a->window.from && at < p->n)
            TRY(change(ctx, thread, x->context, at, -(int64_t)alloc_context(s, x->context)->bytes));
    }
    return 0;
}

void alloc_survivors_sum(const struct alloc_points *p, const int64_t *changes, uint64_t *out)
{
    int64_t now = 0;
    for (size_t i = 0; i < p->n; i++) {
        now += changes[i];
        out[i] = now > 0 ? (uint64_t)now : 0;
    }
}

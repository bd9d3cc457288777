#include "analyze/alloc_visit.h"

#include "base/util.h"

#include <math.h>

struct visit {
    const struct analysis *a;
    const struct selection *s;
    alloc_visitor *tell;
    void *ctx;
    uint64_t *unmatched;
    struct alloc_cells cells;
};

/* n objects of the part's context. */
static int tell_objects(const struct visit *v, struct alloc_part p, uint64_t n)
{
    const struct alloc_context *x = alloc_context(&v->a->allocs, p.context);
    p.amount = (struct alloc_amount){n * x->bytes, n * x->thousandths, n};
    return n ? v->tell(v->ctx, &p) : 0;
}

static int tell_allocs(const struct visit *v, uint32_t thread, const struct run *r)
{
    for (uint32_t i = allocs_before(r, v->s->from); i < r->n; i++) {
        const struct alloc *x = alloc_at(r, i);
        if (x->time >= v->s->to)
            break;
        const struct alloc_part p = {.thread = thread,
                                     .context = x->context,
                                     .what = ALLOC_ALLOCATED,
                                     .since = x->time,
                                     .until = x->time};
        TRY(tell_objects(v, p, 1));
    }
    return 0;
}

static int tell_batches(const struct visit *v, uint32_t thread, const struct alloc_line *l)
{
    const struct selection *s = v->s;
    for (uint32_t i = allocs_batch_from(l, s->from); i < l->batches.n; i++) {
        const struct alloc_batch *b = alloc_batch_at(&l->batches, i);
        if (b->time >= s->to && b->time - s->to > l->longest_batch)
            break;
        uint64_t n = b->count * 1000;
        const struct alloc_part p = {.thread = thread,
                                     .context = b->context,
                                     .what = ALLOC_ALLOCATED,
                                     .amount = {.bytes = alloc_batch_share(b, b->bytes, s->to) -
                                                         alloc_batch_share(b, b->bytes, s->from),
                                                .thousandths = alloc_batch_share(b, n, s->to) -
                                                               alloc_batch_share(b, n, s->from)},
                                     .since = max_u64(b->since, s->from),
                                     .until = min_u64(b->time, s->to)};
        if (p.amount.bytes || p.amount.thousandths)
            TRY(v->tell(v->ctx, &p));
    }
    return 0;
}

static int tell_frees(const struct visit *v, uint32_t thread, const struct run *r)
{
    for (uint32_t i = 0; i < r->n; i++) {
        const struct alloc_free *f = alloc_free_at(r, i);
        bool earlier = f->since < v->a->window.from;
        if (f->time < v->s->from || f->time >= v->s->to)
            continue;
        const struct alloc_part p = {.thread = thread,
                                     .context = f->context,
                                     .what = earlier ? ALLOC_EARLIER : ALLOC_FREED,
                                     .value = f->time - f->since};
        TRY(tell_objects(v, p, 1));
    }
    return 0;
}

static int tell_kept(struct visit *v, uint32_t thread)
{
    uint64_t pauses = allocs_pauses_before(&v->a->allocs, v->s->to);
    TRY(alloc_cells_make(&v->cells, v->a, thread, v->s->from, v->s->to));
    for (size_t i = 0; i < alloc_cells_count(&v->cells); i++) {
        const struct alloc_cell *c = alloc_cell_at(&v->cells, i);
        struct alloc_part p = {.thread = thread,
                               .context = c->context,
                               .what = c->in_range ? ALLOC_KEPT : ALLOC_OLD,
                               .value = pauses - min_u64(c->epoch, pauses)};
        TRY(tell_objects(v, p, alloc_cell_kept(c)));
        if (c->in_range && c->found) {
            p.what = ALLOC_LIVE;
            TRY(tell_objects(v, p, alloc_cell_kept(c)));
        }
        p.what = ALLOC_BEFORE;
        TRY(tell_objects(v, p, alloc_cell_was_kept(c)));
        if (c->freed_by_to > c->allocated)
            *v->unmatched += c->freed_by_to - c->allocated;
    }
    return 0;
}

static int tell_thread(struct visit *v, uint32_t thread)
{
    const struct allocs *s = &v->a->allocs;
    const struct alloc_line *l = &s->lines[thread];
    TRY(tell_allocs(v, thread, &l->allocs[allocs_source(s)]));
    if (allocs_source(s) == ALLOC_EXACT)
        TRY(tell_batches(v, thread, l));
    if (!allocs_have_ends(s))
        return 0;
    TRY(tell_frees(v, thread, &l->frees[allocs_ends_source(s)]));
    return tell_kept(v, thread);
}

int alloc_visit(const struct analysis *a, const struct selection *s, alloc_visitor *visit,
                void *ctx, uint64_t *unmatched)
{
    struct visit v = {.a = a, .s = s, .tell = visit, .ctx = ctx, .unmatched = unmatched};
    int rc = 0;
    *unmatched = 0;
    alloc_cells_init(&v.cells);
    for (uint32_t i = 0; i < a->allocs.n_lines && rc >= 0; i++)
        if (selection_has(s, i))
            rc = tell_thread(&v, i);
    alloc_cells_fini(&v.cells);
    return rc;
}

unsigned alloc_error(const struct alloc_amount *x)
{
    return x->records ? (unsigned)(1000 / sqrt((double)x->records) + 0.5) : 1000;
}

#include "analyze/alloc_sums.h"

#include "base/hash.h"
#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct alloc_adder {
    struct alloc_sums *to;
    const struct analysis *a;
    const struct alloc_query *q;
    struct alloc_cells cells;
};

/* --- sums ------------------------------------------------------------------------------------- */

static int append(struct alloc_sums *s, const struct alloc_sum_key *k, uint64_t *place)
{
    if (s->n == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 256;
        struct alloc_sum *v = realloc(s->v, cap * sizeof *v);
        if (!v)
            return -ENOMEM;
        s->v = v;
        s->cap = cap;
    }
    s->v[s->n] = (struct alloc_sum){.key = *k};
    *place = ++s->n;
    return 0;
}

/* A stack without frames is none. */
static struct alloc_sum_key key_of(const struct analysis *a, const struct alloc_query *q,
                                   uint32_t thread, uint32_t context)
{
    const struct alloc_context *x = alloc_context(&a->allocs, context);
    const struct trace_stack *stack = trace_stack(a->trace, x->stack);
    return (struct alloc_sum_key){.thread = q->by_thread ? thread : 0,
                                  .class_ = trace_class(a->trace, x->class_)->id,
                                  .stack = {stack->n_frames ? x->stack.v : 0}};
}

int64_t alloc_sums_index(struct alloc_sums *s, const struct analysis *a,
                         const struct alloc_query *q, uint32_t thread, uint32_t context)
{
    const struct alloc_sum_key k = key_of(a, q, thread, context);
    for (uint64_t hash = hash_bytes(&k, sizeof k, 0);; hash++) {
        uint64_t *place = map_put(&s->places, hash);
        if (!place || (!*place && append(s, &k, place) < 0))
            return -ENOMEM;
        if (memcmp(&s->v[*place - 1].key, &k, sizeof k) == 0)
            return (int64_t)*place - 1;
    }
}

static int add(struct alloc_adder *d, uint32_t thread, uint32_t context, enum alloc_what what,
               const struct alloc_amount *x)
{
    int64_t i = alloc_sums_index(d->to, d->a, d->q, thread, context);
    if (i < 0)
        return (int)i;
    alloc_amount_add(&d->to->v[i].of[what], x);
    alloc_amount_add(&d->to->total[what], x);
    return 0;
}

/* n objects of a context. */
static int add_objects(struct alloc_adder *d, uint32_t thread, uint32_t context,
                       enum alloc_what what, uint64_t n)
{
    const struct alloc_context *x = alloc_context(&d->a->allocs, context);
    const struct alloc_amount amount = {n * x->bytes, n * x->thousandths, n};
    return n ? add(d, thread, context, what, &amount) : 0;
}

unsigned alloc_error(const struct alloc_amount *x)
{
    return x->records ? (unsigned)(1000 / sqrt((double)x->records) + 0.5) : 1000;
}

/* --- one thread ------------------------------------------------------------------------------- */

static int add_allocs(struct alloc_adder *d, uint32_t thread, const struct run *r)
{
    const struct selection *s = &d->q->selection;
    for (uint32_t i = allocs_before(r, s->from); i < r->n && alloc_at(r, i)->time < s->to; i++)
        TRY(add_objects(d, thread, alloc_at(r, i)->context, ALLOC_ALLOCATED, 1));
    return 0;
}

static int add_batches(struct alloc_adder *d, uint32_t thread, const struct alloc_line *l)
{
    const struct selection *s = &d->q->selection;
    for (uint32_t i = allocs_batch_from(l, s->from); i < l->batches.n; i++) {
        const struct alloc_batch *b = alloc_batch_at(&l->batches, i);
        if (b->time >= s->to && b->time - s->to > l->longest_batch)
            break;
        uint64_t n = b->count * 1000;
        const struct alloc_amount x = {
            .bytes =
                alloc_batch_share(b, b->bytes, s->to) - alloc_batch_share(b, b->bytes, s->from),
            .thousandths = alloc_batch_share(b, n, s->to) - alloc_batch_share(b, n, s->from)};
        if (x.bytes || x.thousandths)
            TRY(add(d, thread, b->context, ALLOC_ALLOCATED, &x));
    }
    return 0;
}

static int add_frees(struct alloc_adder *d, uint32_t thread, const struct run *r)
{
    const struct selection *s = &d->q->selection;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct alloc_free *f = alloc_free_at(r, i);
        if (f->time < s->from || f->time >= s->to)
            continue;
        TRY(add_objects(d, thread, f->context,
                        f->since < d->a->window.from ? ALLOC_EARLIER : ALLOC_FREED, 1));
    }
    return 0;
}

static int add_live(struct alloc_adder *d, uint32_t thread)
{
    const struct selection *s = &d->q->selection;
    TRY(alloc_cells_make(&d->cells, d->a, thread, s->from, s->to));
    for (size_t i = 0; i < alloc_cells_count(&d->cells); i++) {
        const struct alloc_cell *c = alloc_cell_at(&d->cells, i);
        TRY(add_objects(d, thread, c->context, c->in_range ? ALLOC_LIVE : ALLOC_OLD,
                        alloc_cell_alive(c)));
        TRY(add_objects(d, thread, c->context, ALLOC_BEFORE, alloc_cell_was_alive(c)));
        if (c->freed_by_to > c->allocated)
            d->to->unmatched += c->freed_by_to - c->allocated;
    }
    return 0;
}

static int add_thread(struct alloc_adder *d, uint32_t thread)
{
    const struct allocs *s = &d->a->allocs;
    const struct alloc_line *l = &s->lines[thread];
    TRY(add_allocs(d, thread, &l->allocs[allocs_source(s)]));
    if (allocs_source(s) == ALLOC_EXACT)
        TRY(add_batches(d, thread, l));
    if (!allocs_have_ends(s))
        return 0;
    TRY(add_frees(d, thread, &l->frees[allocs_ends_source(s)]));
    return add_live(d, thread);
}

int alloc_sums_make(struct alloc_sums *out, const struct analysis *a, const struct alloc_query *q)
{
    struct alloc_adder d = {.to = out, .a = a, .q = q};
    memset(out, 0, sizeof *out);
    map_init(&out->places);
    alloc_cells_init(&d.cells);
    int rc = 0;
    for (uint32_t i = 0; i < a->allocs.n_lines && rc == 0; i++)
        if (selection_has(&q->selection, i))
            rc = add_thread(&d, i);
    alloc_cells_fini(&d.cells);
    if (rc < 0)
        alloc_sums_fini(out);
    return rc;
}

void alloc_sums_fini(struct alloc_sums *s)
{
    free(s->v);
    map_fini(&s->places);
    memset(s, 0, sizeof *s);
}

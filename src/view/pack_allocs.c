/* The allocations of a pack, and their ends. */
#include "base/util.h"
#include "format/codec.h"
#include "view/json_parts.h"
#include "view/pack_parts.h"

/* What is kept of each list. */
enum { ALLOC_LIST, FREE_LIST, BATCH_LIST, LISTS };
enum { TIME_COLUMN, CONTEXT_COLUMN, LENGTH_COLUMN, BYTES_COLUMN, COUNT_COLUMN };

#define NUMBER_MAX ((UINT64_C(1) << 53) - 1) /* of a pack */

static const struct run *list_of(const struct allocs *s, uint32_t thread, unsigned list)
{
    static const struct run none;
    if (thread >= s->n_lines)
        return &none;
    const struct alloc_line *l = &s->lines[thread];
    enum alloc_source ends = allocs_ends_source(s);
    if (list == BATCH_LIST)
        return &l->batches;
    return list == ALLOC_LIST ? &l->allocs[ends] : &l->frees[ends];
}

struct entry {
    uint64_t time, since, bytes, count;
    uint32_t context;
};

static struct entry entry_at(const struct run *r, unsigned list, uint32_t i)
{
    if (list == ALLOC_LIST) {
        const struct alloc *x = alloc_at(r, i);
        return (struct entry){.time = x->time, .context = x->context};
    }
    if (list == FREE_LIST) {
        const struct alloc_free *x = alloc_free_at(r, i);
        return (struct entry){.time = x->time, .since = x->since, .context = x->context};
    }
    const struct alloc_batch *x = alloc_batch_at(r, i);
    return (struct entry){x->time, x->since, x->bytes, x->count, x->context};
}

static int put_column(const struct packer *p, unsigned list, unsigned column, size_t begin,
                      struct buf *out)
{
    const struct analysis *a = p->v->a;
    struct buf numbers = {0};
    for (uint32_t i = 0; i < a->threads.n && !numbers.oom; i++) {
        const struct run *r = list_of(&a->allocs, i, list);
        uint64_t before = p->v->base;
        for (uint32_t k = 0; k < r->n; k++) {
            const struct entry e = entry_at(r, list, k);
            const uint64_t v[] = {[TIME_COLUMN] = zigzag((int64_t)(e.time - before)),
                                  [CONTEXT_COLUMN] = e.context,
                                  [LENGTH_COLUMN] = min_u64(e.time - e.since, NUMBER_MAX),
                                  [BYTES_COLUMN] = e.bytes,
                                  [COUNT_COLUMN] = e.count};
            buf_put(&numbers, &v[column], sizeof *v);
            before = e.time;
        }
    }
    int rc = pack_numbers(&numbers, begin, out);
    buf_fini(&numbers);
    return rc;
}

static int put_contexts(const struct packer *p, size_t begin, struct buf *out)
{
    const struct analysis *a = p->v->a;
    const struct allocs *s = &a->allocs;
    uint32_t n = (uint32_t)allocs_contexts(s);
    struct buf bytes = {0}, thousandths = {0};
    PUT_COLUMN(out, begin, uint32_t, n, trace_class(a->trace, alloc_context(s, k)->class_)->id.v);
    PUT_COLUMN(out, begin, uint32_t, n, trace_stack(a->trace, alloc_context(s, k)->stack)->id.v);
    for (uint32_t i = 0; i < n; i++) {
        buf_put(&bytes, &alloc_context(s, i)->bytes, sizeof(uint64_t));
        buf_put(&thousandths, &alloc_context(s, i)->thousandths, sizeof(uint64_t));
    }
    int rc = pack_numbers(&bytes, begin, out);
    rc = rc ? rc : pack_numbers(&thousandths, begin, out);
    buf_fini(&bytes);
    buf_fini(&thousandths);
    return rc;
}

int pack_allocs(const struct packer *p, struct buf *out)
{
    static const unsigned columns[LISTS] = {CONTEXT_COLUMN, LENGTH_COLUMN, COUNT_COLUMN};
    const struct analysis *a = p->v->a;
    const struct allocs *s = &a->allocs;
    size_t begin = out->len;
    uint32_t n = (uint32_t)a->threads.n;
    bool beside = allocs_source(s) != allocs_ends_source(s);
    if (!p->allocs || !allocs_any(s)) {
        pack_head(0, out);
        return 0;
    }
    pack_head((uint32_t)allocs_contexts(s), out);
    PUT_COLUMN(out, begin, uint32_t, 2, k ? allocs_ends_source(s) == ALLOC_SAMPLED : beside);
    TRY(put_contexts(p, begin, out));
    for (unsigned list = 0; list < LISTS; list++) {
        PUT_COLUMN(out, begin, uint32_t, n, list_of(s, k, list)->n);
        for (unsigned column = 0; column <= columns[list]; column++)
            TRY(put_column(p, list, column, begin, out));
    }
    return 0;
}

/* trace_beginning.c - forget all of a trace but its beginning, or but a part.
 *
 * The directories tell when each block begins.  With the blocks in the order of their beginnings,
 *     what was before a moment  =  the blocks that begin before it, up to the events at it
 * so that every stream is whole up to the moment, however late its ring was written. */
#include "base/util.h"
#include "format/trace_parts.h"

#include <stdlib.h>

/* A beginning that is a smaller part of the recording shows nothing. */
enum { LEAST_PART = 10000 };

static int by_first(const void *a, const void *b)
{
    const struct block *x = *(const struct block *const *)a, *y = *(const struct block *const *)b;
    return (x->first > y->first) - (x->first < y->first);
}

/* The beginning of the first block that is too much; 0: none is. */
static uint64_t moment_of(const struct block **order, size_t n, uint64_t events)
{
    uint64_t sum = 0;
    qsort(order, n, sizeof *order, by_first);
    for (size_t i = 0; i < n; i++) {
        sum += order[i]->events;
        if (sum > events)
            return order[i]->first;
    }
    return 0;
}

static uint64_t find_moment(const struct trace *t, uint64_t events)
{
    const struct block **order = malloc((t->n_blocks + 1) * sizeof *order);
    if (!order)
        return 0;
    for (size_t i = 0; i < t->n_blocks; i++)
        order[i] = &t->blocks[i].b;
    uint64_t moment = t->n_blocks ? moment_of(order, t->n_blocks, events) : 0;
    free(order);
    return moment;
}

bool trace_keep_beginning(struct trace *t, uint64_t events)
{
    uint64_t moment = find_moment(t, events);
    if (moment <= t->first || moment - t->first < (t->last - t->first) / LEAST_PART)
        return false;
    trace_keep_part(t, 0, moment);
    return true;
}

void trace_keep_part(struct trace *t, uint64_t since, uint64_t until)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->n_blocks; i++)
        if (t->blocks[i].b.first < until && t->blocks[i].b.last >= since)
            t->blocks[kept++] = t->blocks[i];
    t->n_blocks = kept;
    trace_count_blocks(t);
    t->since = since;
    t->until = until;
    t->first = max_u64(t->first, since);
    t->last = until; /* until then it is known what happened, and that nothing else did */
    t->header.end_mono = t->header.flushed_mono = 0;
    t->complete = false;
}

static int by_last(const void *a, const void *b)
{
    const struct trace_block *const *x = a, *const *y = b;
    return ((*x)->b.last < (*y)->b.last) - ((*x)->b.last > (*y)->b.last);
}

uint64_t trace_tail(const struct trace *t, uint64_t events)
{
    const struct trace_block **order =
        t->n_events > events ? malloc(t->n_blocks * sizeof *order) : NULL;
    uint64_t sum = 0, moment = 0;
    for (size_t i = 0; order && i < t->n_blocks; i++)
        order[i] = &t->blocks[i];
    if (order)
        qsort(order, t->n_blocks, sizeof *order, by_last);
    for (size_t i = 0; order && i < t->n_blocks && !moment; i++) {
        sum += order[i]->b.events;
        if (sum > events)
            moment = order[i]->b.last;
    }
    free(order);
    return moment;
}

#include "analyze/gaps.h"

#include "base/util.h"

#include <stdlib.h>

static struct gap *list(const struct gaps *g)
{
    return (void *)g->v.p;
}

void gaps_fini(struct gaps *g)
{
    buf_fini(&g->v);
}

void gaps_add(struct gaps *g, uint64_t from, uint64_t to)
{
    size_t n = gaps_count(g);
    buf_put(&g->v, &(struct gap){from, to}, sizeof(struct gap));
    g->unsorted |= n && from < list(g)[n - 1].from;
}

static int by_start(const void *a, const void *b)
{
    const struct gap *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static void sort(struct gaps *g)
{
    if (g->unsorted)
        qsort(list(g), gaps_count(g), sizeof(struct gap), by_start);
    g->unsorted = false;
}

/* The first gap for which `from` (or `to`) is not below `time`. */
static size_t first_not_below(const struct gaps *g, uint64_t time, bool to)
{
    size_t i = 0;
    BISECT(i, gaps_count(g), (to ? list(g)[i].to : list(g)[i].from) < time);
    return i;
}

bool gaps_between(struct gaps *g, uint64_t start, uint64_t end)
{
    sort(g);
    size_t i = first_not_below(g, start, false);
    return i < gaps_count(g) && list(g)[i].to <= end;
}

void gaps_merge(struct gaps *g)
{
    sort(g);
    size_t kept = 0;
    for (size_t i = 0; i < gaps_count(g); i++) {
        struct gap *last = kept ? &list(g)[kept - 1] : NULL;
        if (last && list(g)[i].from <= last->to)
            last->to = max_u64(last->to, list(g)[i].to);
        else
            list(g)[kept++] = list(g)[i];
    }
    g->v.len = kept * sizeof(struct gap);
}

bool gaps_overlap(struct gaps *g, uint64_t start, uint64_t end)
{
    size_t i = first_not_below(g, start + 1, true);
    return i < gaps_count(g) && list(g)[i].from < end;
}

void gaps_find(struct gaps *g, const struct trace *t, size_t stream)
{
    const struct trace_stream *s = &t->streams[stream];
    for (uint32_t i = s->first + 1; i < s->first + s->count; i++) {
        const struct block *before = &t->blocks[i - 1].b, *b = &t->blocks[i].b;
        if (b->pos != before->pos_end)
            gaps_add(g, before->last, b->first);
    }
}

void gaps_add_chunk(struct gaps *g, const struct trace *t, size_t stream, uint64_t offset)
{
    const struct trace_stream *s = &t->streams[stream];
    for (uint32_t i = s->first; i < s->first + s->count; i++) {
        const struct trace_block *b = &t->blocks[i];
        if (t->chunks[b->chunk].offset == offset)
            gaps_add(g, b->b.first, b->b.last);
    }
}

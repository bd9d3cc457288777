#include "analyze/whole_gc.h"

#include "base/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A cycle is recorded to the millisecond, give or take three. */
enum { CYCLE_NS = 5000000 };

static const char *name_of(const struct collection_source *gc, gc_name_id id)
{
    return trace_gc_name(gc->trace, id)->text;
}

static void put(struct buf *out, uint64_t since, uint64_t end)
{
    const struct whole_gc w = {since, end, end + WHOLE_GC_SILENT_NS};
    if (since < end)
        buf_put(out, &w, sizeof w);
}

/* G1's marking pauses twice, and frees old objects in the first of these (remark).  It began after
 * the two of the marking before, so after the last but one of such pauses, whichever this is. */
static void put_pauses(struct buf *out, const struct collection_source *gc)
{
    uint64_t last = 0, last_but_one = 0;
    for (size_t i = 0; i < gc->n_pauses; i++) {
        const struct pause *p = &gc->pauses[i];
        const char *kind = name_of(gc, p->gc.collector);
        if (strstr(kind, " full collection"))
            put(out, p->start, p->end);
        if (strcmp(kind, "G1 concurrent cycle") != 0)
            continue;
        if (last_but_one)
            put(out, last_but_one, p->end);
        last_but_one = last;
        last = p->end;
    }
}

static void put_cycles(struct buf *out, const struct collection_source *gc)
{
    static const char *const whole[] = {"ZGC Cycles", "ZGC Major Cycles"};
    for (size_t i = 0; i < gc->n_cycles; i++)
        for (size_t k = 0; k < ARRAY_LEN(whole); k++)
            if (strcmp(name_of(gc, gc->cycles[i].gc.collector), whole[k]) == 0)
                put(out, gc->cycles[i].start - min_u64(CYCLE_NS, gc->cycles[i].start),
                    gc->cycles[i].end);
}

static int by_end(const void *a, const void *b)
{
    const struct whole_gc *x = a, *y = b;
    return (x->end > y->end) - (x->end < y->end);
}

int whole_gc_find(struct buf *out, const struct collection_source *gc)
{
    put_pauses(out, gc);
    put_cycles(out, gc);
    if (out->oom)
        return -ENOMEM;
    if (out->len)
        qsort(out->p, out->len / sizeof(struct whole_gc), sizeof(struct whole_gc), by_end);
    return 0;
}

void whole_gc_hear(struct buf *wholes, uint64_t time)
{
    struct whole_gc *v = (void *)wholes->p;
    size_t i = 0, n = wholes->len / sizeof *v;
    BISECT(i, n, v[i].end <= time); /* the last collection before it, and earlier ones */
    while (i-- && v[i].told > time + WHOLE_GC_TOLD_NS)
        v[i].told = time + WHOLE_GC_TOLD_NS;
}

uint64_t whole_gc_before(const struct buf *wholes, uint64_t time)
{
    const struct whole_gc *v = (const void *)wholes->p;
    uint64_t since = 0;
    for (size_t i = 0; i < wholes->len / sizeof *v && v[i].told <= time; i++)
        since = max_u64(since, v[i].since);
    return since;
}

bool whole_gc_within(const struct buf *wholes, uint64_t from, uint64_t to)
{
    const struct whole_gc *v = (const void *)wholes->p;
    for (size_t i = 0; i < wholes->len / sizeof *v; i++)
        if (v[i].end >= from && v[i].end <= to)
            return true;
    return false;
}

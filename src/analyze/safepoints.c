#include "analyze/safepoints.h"

#include "base/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SUMS_MAX = 128 };

static int by_time(const void *a, const void *b)
{
    const struct safepoint *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

/* A JVM that was killed leaves events twice. */
static size_t set_apart(struct safepoint *v, size_t n)
{
    size_t kept = 0;
    uint64_t end = 0;
    for (size_t i = 0; i < n; i++) {
        struct safepoint s = v[i];
        if (s.to <= end)
            continue;
        s.from = max_u64(s.from, end);
        s.reached = max_u64(s.reached, s.from);
        end = s.to;
        v[kept++] = s;
    }
    return kept;
}

static void find_collections(struct safepoint *v, size_t n, const struct collection_source *from)
{
    size_t pause = 0;
    for (size_t i = 0; i < n; i++) {
        while (pause < from->n_pauses && from->pauses[pause].end <= v[i].from)
            pause++;
        v[i].collects = pause < from->n_pauses && from->pauses[pause].start < v[i].to;
    }
}

static struct safepoint_sum *sum_of(struct safepoints *out, const char *operation, bool collects)
{
    for (size_t i = 0; i < out->n_sums; i++)
        if (out->sum[i].collects == collects && strcmp(out->sum[i].operation, operation) == 0)
            return &out->sum[i];
    if (out->n_sums == SUMS_MAX) /* only a damaged trace has that many */
        return &out->sum[SUMS_MAX - 1];
    struct safepoint_sum *s = &out->sum[out->n_sums++];
    *s = (struct safepoint_sum){.operation = operation, .collects = collects};
    return s;
}

static void add(struct safepoints *out, const struct trace *t, const struct safepoint *p)
{
    struct safepoint_sum *s = sum_of(out, trace_gc_name(t, p->operation)->text, p->collects);
    uint64_t ns = p->to - p->from, reach = p->reached - p->from;
    s->count++;
    s->ns += ns;
    s->ns_max = max_u64(s->ns_max, ns);
    s->reach += reach;
    s->reach_max = max_u64(s->reach_max, reach);
    out->reach += reach;
    out->others += !p->collects;
    out->ns_of_others += p->collects ? 0 : ns;
}

static int most_first(const void *a, const void *b)
{
    const struct safepoint_sum *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    int order = strcmp(x->operation, y->operation);
    return order ? order : x->collects - y->collects;
}

/* Finds the stops of all threads; stops that overlap are one. */
static int find_stops(struct safepoints *out, const struct collection_source *from,
                      struct arena *arena)
{
    size_t n = out->n + from->n_pauses, kept = 0;
    struct safepoint *v = n ? arena_alloc(arena, n * sizeof *v) : NULL;
    if (n && !v)
        return -ENOMEM;
    for (size_t i = 0; i < from->n_pauses; i++) {
        uint64_t start = from->pauses[i].start;
        v[i] = (struct safepoint){start, start, max_u64(from->pauses[i].end, start), {0}, true};
    }
    if (out->n)
        memcpy(v + from->n_pauses, out->v, out->n * sizeof *v);
    if (n)
        qsort(v, n, sizeof *v, by_time);
    for (size_t i = 0; i < n; i++) {
        struct safepoint *last = kept ? &v[kept - 1] : NULL;
        if (last && v[i].from < last->to)
            last->to = max_u64(last->to, v[i].to);
        else if (v[i].from < v[i].to)
            v[kept++] = v[i];
    }
    out->stops = v;
    out->n_stops = kept;
    return 0;
}

int safepoints_make(struct safepoints *out, struct safepoint *v, size_t n,
                    const struct collection_source *from, struct arena *arena)
{
    if (n)
        qsort(v, n, sizeof *v, by_time);
    *out = (struct safepoints){.v = v, .n = set_apart(v, n)};
    find_collections(v, out->n, from);
    out->sum = arena_alloc(arena, SUMS_MAX * sizeof *out->sum);
    if (!out->sum)
        return -ENOMEM;
    for (size_t i = 0; i < out->n; i++)
        add(out, from->trace, &v[i]);
    if (out->n_sums)
        qsort(out->sum, out->n_sums, sizeof *out->sum, most_first);
    return find_stops(out, from, arena);
}

#include "analyze/roaming.h"

#include <stdlib.h>
#include <string.h>

void roaming_fini(struct roaming *r)
{
    buf_fini(&r->ops);
    gaps_fini(&r->gaps);
    free(r->order);
    free(r->first);
    memset(r, 0, sizeof *r);
}

static const struct op *op_at(const struct roaming *r, size_t i)
{
    return (const struct op *)(const void *)r->ops.p + i;
}

/* Ops of one time stay in the order in which their stream had them. */
static int by_time(const void *a, const void *b, void *ops)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint64_t tx = ((const struct op *)ops)[x].time, ty = ((const struct op *)ops)[y].time;
    if (tx != ty)
        return tx < ty ? -1 : 1;
    return (x > y) - (x < y);
}

static bool in_order(const struct roaming *r, const uint32_t *v, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (op_at(r, v[i])->time < op_at(r, v[i - 1])->time)
            return false;
    return true;
}

int roaming_sort(struct roaming *r, size_t n_threads, struct err *err)
{
    size_t n = r->ops.len / sizeof(struct op);
    r->n_threads = n_threads;
    r->order = malloc((n ? n : 1) * sizeof *r->order);
    r->first = calloc(n_threads + 2, sizeof *r->first);
    if (!r->order || !r->first || r->ops.oom || n > UINT32_MAX)
        return err_set(err, -ENOMEM, "out of memory: %zu events of virtual threads", n);
    /* first[t + 2] counts, then becomes the place of t + 1's next op, and so ends as its first
     * one's. */
    for (size_t i = 0; i < n; i++)
        r->first[op_at(r, i)->thread + 2]++;
    for (size_t t = 2; t < n_threads + 2; t++)
        r->first[t] += r->first[t - 1];
    for (size_t i = 0; i < n; i++)
        r->order[r->first[op_at(r, i)->thread + 1]++] = (uint32_t)i;
    gaps_merge(&r->gaps);
    return 0;
}

bool roaming_replay(struct roaming *r, uint32_t thread, struct track *tr,
                    const struct track_env *env)
{
    uint32_t *v = r->order + r->first[thread];
    size_t n = r->first[thread + 1] - r->first[thread];
    track_init(tr, thread, true);
    if (n == 0)
        return false;
    if (!in_order(r, v, n))
        qsort_r(v, n, sizeof *v, by_time, r->ops.p);
    for (size_t i = 0; i < n; i++)
        track_apply(tr, op_at(r, v[i]), env);
    return true;
}

#include "analyze/percentile.h"

#include "base/err.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

enum {
    SUB_BITS = 7, /* 128 buckets to each power of two */
    SUB = 1 << SUB_BITS,
    LINEAR = 2 * SUB, /* below, each value has its bucket */
    BUCKETS = LINEAR + (64 - SUB_BITS - 1) * SUB,
};

static size_t bucket_of(uint64_t v)
{
    if (v < LINEAR)
        return (size_t)v;
    unsigned shift = 63 - (unsigned)__builtin_clzll(v) - SUB_BITS;
    return LINEAR + (shift - 1) * SUB + (size_t)((v >> shift) - SUB);
}

static uint64_t middle_of(size_t bucket)
{
    if (bucket < LINEAR)
        return bucket;
    unsigned shift = (unsigned)((bucket - LINEAR) / SUB) + 1;
    uint64_t low = (uint64_t)(SUB + (bucket - LINEAR) % SUB) << shift;
    return low + ((UINT64_C(1) << shift) - 1) / 2;
}

static int to_buckets(struct percentile *p, struct arena *a)
{
    p->buckets = arena_alloc(a, BUCKETS * sizeof *p->buckets);
    if (!p->buckets)
        return -ENOMEM;
    for (uint64_t i = 0; i < p->n; i++)
        p->buckets[bucket_of(p->values[i])]++;
    return 0;
}

/* Room for one more kept value, or the buckets. */
static int make_room(struct percentile *p, struct arena *a)
{
    if (p->n == PERCENTILE_EXACT)
        return to_buckets(p, a);
    uint32_t cap = p->cap ? p->cap * 4 : 4;
    uint64_t *values = arena_alloc(a, cap * sizeof *values);
    if (!values)
        return -ENOMEM;
    if (p->n)
        memcpy(values, p->values, p->n * sizeof *values);
    p->values = values;
    p->cap = cap;
    return 0;
}

int percentile_add(struct percentile *p, uint64_t value, uint64_t times, struct arena *a)
{
    if (!p->buckets && times > 1 && (times > PERCENTILE_EXACT || p->n + times > PERCENTILE_EXACT))
        TRY(to_buckets(p, a));
    for (; !p->buckets && times; times--) {
        if (p->n == p->cap)
            TRY(make_room(p, a));
        if (p->buckets)
            break;
        p->values[p->n++] = value;
    }
    if (times) {
        uint32_t *bucket = &p->buckets[bucket_of(value)];
        *bucket = (uint32_t)min_u64(*bucket + min_u64(times, UINT32_MAX), UINT32_MAX);
        p->n += times;
    }
    return 0;
}

int percentile_merge(struct percentile *p, const struct percentile *from, struct arena *a)
{
    if (!from->buckets) {
        for (uint64_t i = 0; i < from->n; i++)
            TRY(percentile_add(p, from->values[i], 1, a));
        return 0;
    }
    if (!p->buckets)
        TRY(to_buckets(p, a));
    for (size_t i = 0; i < BUCKETS; i++) {
        uint64_t sum = (uint64_t)p->buckets[i] + from->buckets[i];
        p->buckets[i] = (uint32_t)min_u64(sum, UINT32_MAX);
    }
    p->n += from->n;
    return 0;
}

void percentile_log2(const struct percentile *p, uint64_t counts[64])
{
    memset(counts, 0, 64 * sizeof *counts);
    if (!p->buckets) {
        for (uint64_t i = 0; i < p->n; i++)
            counts[63 - __builtin_clzll(p->values[i] | 1)]++;
        return;
    }
    for (size_t i = 0; i < BUCKETS; i++)
        counts[63 - __builtin_clzll(middle_of(i) | 1)] += p->buckets[i];
}

static int ascending(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

uint64_t percentile_get(struct percentile *p, unsigned permille)
{
    if (p->n == 0)
        return 0;
    /* ceil(n * permille / 1000), at least 1; without overflow for any n that was counted one by
     * one */
    uint64_t rank = p->n / 1000 * permille + (p->n % 1000 * permille + 999) / 1000;
    rank = max_u64(rank, 1);
    if (!p->buckets) {
        qsort(p->values, p->n, sizeof *p->values, ascending);
        return p->values[rank - 1];
    }
    size_t i = 0;
    for (uint64_t seen = p->buckets[0]; seen < rank && i + 1 < BUCKETS; seen += p->buckets[i])
        i++;
    return middle_of(i);
}

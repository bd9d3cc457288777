/* percentile.h - percentiles of durations in little memory.
 *
 * The first PERCENTILE_EXACT values are kept, and the answer is exact.  Beyond that a log-linear
 * histogram (after Gil Tene's HdrHistogram) takes over: 128 buckets to each power of two, values
 * below 256 ns each in their own, so that an answer - the middle of its bucket - is off by at most
 * 1/256 (0.4 %).  minimum and maximum are kept apart by the callers. */
#ifndef ORCA_ANALYZE_PERCENTILE_H
#define ORCA_ANALYZE_PERCENTILE_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

enum { PERCENTILE_EXACT = 1024 };

struct percentile {
    uint64_t n;
    uint64_t *values;  /* [cap], while n <= PERCENTILE_EXACT */
    uint32_t *buckets; /* afterwards; a full one stays full */
    uint32_t cap;
};

/* So many values of this length.  Memory is the arena's.  0 or -ENOMEM. */
int percentile_add(struct percentile *p, uint64_t value, uint64_t times, struct arena *a);

/* Add all values of another one, which may keep more of them exactly than their sum does. */
int percentile_merge(struct percentile *p, const struct percentile *from, struct arena *a);

/* How many values lie in each power of two: [0] those of 0 and 1, [k] those from 2^k on. */
void percentile_log2(const struct percentile *p, uint64_t counts[64]);

/* The smallest value that at least `permille` of 1000 values do not exceed (nearest rank); 0 when
 * there is none.  Sorts the kept values. */
uint64_t percentile_get(struct percentile *p, unsigned permille);

#endif

/* alloc_survivors.h - how much had outlived the collector's pauses, over time.
 *
 * At a point stands what had been alive in a pause that ended before it, and was not found freed
 * until the next pause ended: a collector reports the ends of objects a while after its pause. */
#ifndef ORCA_ANALYZE_ALLOC_SURVIVORS_H
#define ORCA_ANALYZE_ALLOC_SURVIVORS_H

#include "analyze/analysis.h"

enum { ALLOC_POINTS = 24 };

struct alloc_points {
    size_t n;
    uint64_t pause[ALLOC_POINTS]; /* its number in the recording, from 0; the last is the last */
    uint64_t end[ALLOC_POINTS];   /* when it ended */
    uint64_t until[ALLOC_POINTS]; /* when the next one ended, or the range */
};

/* Points among the pauses that ended in a range: all of them, or evenly chosen. */
void alloc_points_choose(struct alloc_points *p, const struct analysis *a, uint64_t from,
                         uint64_t to);

/* What changes at a point, for alloc_survivors_sum; bytes.  -ENOMEM. */
typedef int alloc_change(void *ctx, uint32_t thread, uint32_t context, size_t point, int64_t bytes);

/* Tell the changes of the objects of a thread.  What `change` returned when it was less than 0. */
int alloc_survivors_add(const struct analysis *a, const struct alloc_points *p, uint32_t thread,
                        alloc_change *change, void *ctx);

/* From changes to what there was at each point: never less than nothing. */
void alloc_survivors_sum(const struct alloc_points *p, const int64_t *changes, uint64_t *out);

#endif

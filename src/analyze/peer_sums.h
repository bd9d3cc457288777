/* peer_sums.h - recorded input and output by what was at the other end: how often, how long.
 *
 * Calls of the group io, and the parks of virtual threads until a socket is ready.
 *     sum of ns over the calls of a thread = its recorded stretches in still.h */
#ifndef ORCA_ANALYZE_PEER_SUMS_H
#define ORCA_ANALYZE_PEER_SUMS_H

#include "analyze/analysis.h"

struct peer_sum {
    uint32_t peer, what; /* a lock's id, 0: unknown, or several; enum io_kind */
    /* the key ends here */
    uint64_t calls, ns, max;
    uint32_t threads, last; /* last: the latest of these */
};

struct peer_sums {
    struct peer_sum *v; /* most time first; the arena's */
    size_t n;
};

/* Of the threads and the range that the analysis' tables are of.  -ENOMEM. */
int peer_sums_make(struct peer_sums *out, const struct analysis *a, struct arena *arena);

/* "10.0.0.7:5432"; "unknown" for 0. */
void peer_name(const struct trace *t, lock_id peer, char *out, size_t n);

#endif

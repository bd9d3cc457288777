/* safepoints.h - when the JVM stopped all threads that run Java, and for which of its operations
 * (group safepoints).
 *
 * Safepoints are in the order of time, and apart.  One that collects has a pause of the collector
 * inside (collections.h): it is that collection, and no sum here counts it twice. */
#ifndef ORCA_ANALYZE_SAFEPOINTS_H
#define ORCA_ANALYZE_SAFEPOINTS_H

#include "analyze/collections.h"

struct safepoint {
    uint64_t from, reached, to; /* from <= reached <= to */
    gc_name_id operation;
    bool collects;
};

/* Of one operation. */
struct safepoint_sum {
    const char *operation; /* "?": unknown */
    bool collects;
    uint64_t count;
    uint64_t ns, ns_max;       /* from the first thread's stop on until all went on */
    uint64_t reach, reach_max; /* of it, until all had stopped */
};

struct safepoints {
    const struct safepoint *v;
    size_t n;
    struct safepoint_sum *sum; /* most time first */
    size_t n_sums;
    uint64_t reach;                /* of all */
    uint64_t others, ns_of_others; /* of those that do not collect */
    const struct safepoint *stops; /* them, and pauses of the collector for which none is recorded:
                                    * stops of threads of Java, by time, without overlaps */
    size_t n_stops;
};

/* Sorts the list and takes it; pauses: by start.  -ENOMEM. */
int safepoints_make(struct safepoints *out, struct safepoint *v, size_t n,
                    const struct collection_source *from, struct arena *arena);

#endif

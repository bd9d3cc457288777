/* path_sums.h - what a critical path consists of: by thread, by lock, by place in the program. */
#ifndef ORCA_ANALYZE_PATH_SUMS_H
#define ORCA_ANALYZE_PATH_SUMS_H

#include "analyze/path.h"
#include "analyze/sites.h"

struct path_sum {
    uint32_t id;          /* thread index, lock id, or index into path_sums.places */
    uint64_t ns, run;     /* on the path; of it, running, */
    uint64_t seen;        /* and in segments that are `seen` */
    uint64_t count;       /* segments */
    uint64_t first, last; /* beginning of the first one, end of the last one */
};

struct path_sums {
    struct path_sum *threads, *locks, *by_place; /* most time first */
    size_t n_threads, n_locks, n_places;
    struct place *places; /* innermost frames outside the JDK */
};

/* A lock's time is that in which its owner ran while the path's next thread waited for it, and that
 * of handing it over.  A place's is that of the runs that ended there and of the waits.  Memory is
 * the arena's.  -ENOMEM. */
int path_sum_up(struct path_sums *out, const struct path *p, const struct trace *t,
                struct arena *a);

#endif

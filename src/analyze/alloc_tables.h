/* alloc_tables.h - allocations by class, by place and by thread, with the ages of what is not freed
 * and the lifetimes of what was freed.
 *
 *     over the rows of each table  of = those of the selection
 *
 * A place is the innermost frame, and the innermost one of the program's own code (sites.h). */
#ifndef ORCA_ANALYZE_ALLOC_TABLES_H
#define ORCA_ANALYZE_ALLOC_TABLES_H

#include "analyze/alloc_survivors.h"
#include "analyze/alloc_visit.h"

/* How values are spread over objects. */
struct alloc_spread {
    uint64_t thousandths;        /* objects */
    uint64_t p50, p90, p99, max; /* nearest rank */
    /* By size of the value, thousandths of objects: log2[i] of bucket log2_from + i.  Bucket 0 is
     * of value 0, k from 2^(k-1) on; outside of these [log2_n] all are empty. */
    const uint64_t *log2;
    uint8_t log2_from, log2_n;
};

struct alloc_row {
    uint32_t thread;       /* of a table by thread */
    class_id class_;       /* by class, by place: one of that name; 0: unknown */
    stack_id stack;        /* by place: one of its stacks; 0: not recorded */
    struct place top, app; /* likewise */
    struct alloc_amount of[ALLOC_WHATS];
    struct alloc_spread ages;  /* of ALLOC_KEPT: pauses of the collector outlived */
    struct alloc_spread lives; /* of ALLOC_FREED and ALLOC_EARLIER: ns */
    const uint64_t *survivors; /* [points.n]: bytes; NULL: there are no points */
};

enum alloc_table { ALLOC_BY_CLASS, ALLOC_BY_PLACE, ALLOC_BY_THREAD, ALLOC_TABLES };

struct alloc_list {
    const struct alloc_row *v;
    size_t n;
};

struct alloc_tables {
    enum alloc_source source, ends; /* of what was allocated; of what was freed and is not */
    bool has_ends;
    uint64_t
        whole; /* what was allocated before it, and is live, is known (whole_gc.h); 0: nothing is */
    struct alloc_row all;
    struct alloc_list of[ALLOC_TABLES]; /* most bytes first */
    struct alloc_points points;
    uint64_t unmatched;
    size_t pauses; /* of the collector that ended in the range */
};

/* by_kept: most bytes first of what is not freed, else most allocated ones.  The lists are the
 * arena's.  -ENOMEM. */
int alloc_tables_make(struct alloc_tables *out, const struct analysis *a,
                      const struct selection *selection, bool by_kept, struct arena *arena);

/* Those of the whole recording, most allocated bytes first: made once, they live as long as the
 * analysis.  NULL: no allocations, or out of memory. */
const struct alloc_tables *alloc_tables_whole(struct analysis *a);

#endif

/* lengthened.h - whether waits for a resource become longer by what fills the heap.
 *
 * Evidence is one of these, in the time in which the heap grows, or is full:
 *
 *     tasks    those who wait compute longer for each task in each third of that time than in the
 *              third before it, and do not get more tasks
 *     holds    the same of how long one holder has it while others queue
 *     pauses   most of the time waited lies in pauses of the collector, and per time at least
 *              twice as much as outside of them
 *
 * The first two only where the heap grows and holders mostly compute, or are stopped. */
#ifndef ORCA_CONCLUDE_LENGTHENED_H
#define ORCA_CONCLUDE_LENGTHENED_H

#include "conclude/resource.h"

enum lengthened_by { LENGTHENED_NOT, LENGTHENED_TASKS, LENGTHENED_HOLDS, LENGTHENED_PAUSES };

struct lengthened {
    enum lengthened_by by;
    uint64_t first, last; /* ns of a task, or of a hold, on average in the first and last third */
    unsigned permille;    /* of the time waited, in pauses */
};

/* From when to when, and whether the heap grew in that time. */
struct heap_stretch {
    uint64_t from, to;
    bool grows;
};

/* r: one whose holders were looked for.  -ENOMEM. */
int lengthened_find(struct resource *r, const struct analysis *a, const struct heap_stretch *s,
                    struct lengthened *out);

#endif

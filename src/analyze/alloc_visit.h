/* alloc_visit.h - what became of allocations in a part of a recording, amount by amount.
 *
 *     allocated - freed = kept                 over a whole recording that lost nothing
 *     grown = kept + old - before              between the ends of a range
 *
 * Where only samples were recorded, every amount is an estimate: a sum of n samples is off by
 * 1 / sqrt(n) of itself or less two times out of three (its relative standard error). */
#ifndef ORCA_ANALYZE_ALLOC_VISIT_H
#define ORCA_ANALYZE_ALLOC_VISIT_H

#include "analyze/alloc_cells.h"

enum alloc_what {
    ALLOC_ALLOCATED, /* in the range */
    ALLOC_FREED,     /* found freed in the range; allocated in this file */
    ALLOC_EARLIER,   /* the same; allocated before this file of the recording began */
    ALLOC_KEPT,      /* allocated in the range, and not found freed at its end */
    ALLOC_BEFORE,    /* allocated before it, and not found freed when it began */
    ALLOC_OLD,       /* of those: still not at its end */
    ALLOC_LIVE,      /* of ALLOC_KEPT: found live (whole_gc.h) */
    ALLOC_WHATS
};

struct alloc_amount {
    uint64_t bytes;
    uint64_t thousandths; /* of an object */
    uint64_t records;     /* objects or samples recorded one by one */
};

/* An amount of one context of one thread. */
struct alloc_part {
    uint32_t thread, context;
    enum alloc_what what;
    struct alloc_amount amount;
    uint64_t since, until; /* ALLOC_ALLOCATED: when */
    uint64_t value;        /* ALLOC_KEPT: pauses of the collector outlived; ALLOC_FREED,
                            * ALLOC_EARLIER: ns that the object lived */
};

typedef int alloc_visitor(void *ctx, const struct alloc_part *part);

/* Tell all amounts of a selection, whose threads are those that allocated: thread by thread.
 * *unmatched: ends whose allocation is missing, because events were lost.  -ENOMEM, or what the
 * visitor returned when it was less than 0. */
int alloc_visit(const struct analysis *a, const struct selection *s, alloc_visitor *visit,
                void *ctx, uint64_t *unmatched);

/* Objects, rounded. */
static inline uint64_t alloc_objects(const struct alloc_amount *x)
{
    return (x->thousandths + 500) / 1000;
}

/* Its relative standard error, of samples: permille; 1000 of none. */
unsigned alloc_error(const struct alloc_amount *x);

static inline void alloc_amount_add(struct alloc_amount *to, const struct alloc_amount *x)
{
    to->bytes += x->bytes;
    to->thousandths += x->thousandths;
    to->records += x->records;
}

/* Bytes of all that is not freed at the range's end, less those when it began. */
static inline int64_t alloc_grown(const struct alloc_amount of[ALLOC_WHATS])
{
    return (int64_t)(of[ALLOC_KEPT].bytes + of[ALLOC_OLD].bytes - of[ALLOC_BEFORE].bytes);
}

#endif

/* alloc_sums.h - allocations added up by class and stack: what reports, exports and flame graphs
 * show.
 *
 *     allocated - freed = live                 over a whole recording that lost nothing
 *     grown = live + old - before              between the ends of a range
 *
 * Where only samples were recorded, every amount is an estimate: a sum of n samples is off by
 * 1 / sqrt(n) of itself or less two times out of three (its relative standard error). */
#ifndef ORCA_ANALYZE_ALLOC_SUMS_H
#define ORCA_ANALYZE_ALLOC_SUMS_H

#include "analyze/alloc_cells.h"

enum alloc_what {
    ALLOC_ALLOCATED, /* in the range */
    ALLOC_FREED,     /* found freed in the range; allocated in this file */
    ALLOC_EARLIER,   /* the same; allocated before this file of the recording began */
    ALLOC_LIVE,      /* allocated in the range, and alive at its end */
    ALLOC_BEFORE,    /* alive when it began */
    ALLOC_OLD,       /* of those: still alive at its end */
    ALLOC_WHATS
};

struct alloc_amount {
    uint64_t bytes;
    uint64_t thousandths; /* of an object */
    uint64_t records;     /* objects or samples told one by one */
};

struct alloc_query {
    struct selection selection; /* its threads are those that allocated */
    bool by_thread;
};

struct alloc_sum_key {
    uint32_t thread; /* index; 0: all together, or unknown */
    class_id class_;
    stack_id stack;
};

struct alloc_sum {
    struct alloc_sum_key key;
    struct alloc_amount of[ALLOC_WHATS];
};

struct alloc_sums {
    struct alloc_sum *v; /* [n], in the order of the threads, and of their first allocations */
    size_t n, cap;
    struct map places; /* hash of a key -> 1 + index */
    struct alloc_amount total[ALLOC_WHATS];
    uint64_t unmatched; /* ends whose allocation is missing: events were lost */
};

/* -ENOMEM. */
int alloc_sums_make(struct alloc_sums *out, const struct analysis *a, const struct alloc_query *q);
void alloc_sums_fini(struct alloc_sums *s);

/* The sum that a context of a thread belongs to, made when it is new: its index, or -ENOMEM. */
int64_t alloc_sums_index(struct alloc_sums *s, const struct analysis *a,
                         const struct alloc_query *q, uint32_t thread, uint32_t context);

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

/* Bytes of all that is alive at the range's end, less those when it began. */
static inline int64_t alloc_grown(const struct alloc_amount of[ALLOC_WHATS])
{
    return (int64_t)(of[ALLOC_LIVE].bytes + of[ALLOC_OLD].bytes - of[ALLOC_BEFORE].bytes);
}

#endif

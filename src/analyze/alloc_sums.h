/* alloc_sums.h - allocations added up by class and stack: what exports and flame graphs show. */
#ifndef ORCA_ANALYZE_ALLOC_SUMS_H
#define ORCA_ANALYZE_ALLOC_SUMS_H

#include "analyze/alloc_visit.h"

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
    size_t n;
    struct buf list; /* v */
    struct alloc_amount total[ALLOC_WHATS];
    uint64_t unmatched; /* ends whose allocation is missing: events were lost */
};

/* -ENOMEM. */
int alloc_sums_make(struct alloc_sums *out, const struct analysis *a, const struct alloc_query *q);
void alloc_sums_fini(struct alloc_sums *s);

#endif

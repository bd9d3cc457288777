/* alloc_pairs.h - numbers for what contexts of allocations agree in: class and stack.
 *
 * Dense, from 0 on, in the order of the contexts, so that what is kept of them is a list and no
 * search: contexts differ in sizes, too, and there may be millions.  A stack without frames is
 * none. */
#ifndef ORCA_ANALYZE_ALLOC_PAIRS_H
#define ORCA_ANALYZE_ALLOC_PAIRS_H

#include "analyze/analysis.h"

struct alloc_pair {
    class_id class_; /* 0: unknown */
    stack_id stack;  /* 0: not recorded */
};

struct alloc_pairs {
    struct alloc_pair *v; /* [n] */
    size_t n;
    uint32_t *of; /* [contexts]: index into v */
};

/* Of all contexts.  -ENOMEM; then there is nothing to release. */
int alloc_pairs_init(struct alloc_pairs *p, const struct analysis *a);
void alloc_pairs_fini(struct alloc_pairs *p);

#endif

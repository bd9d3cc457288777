/* dominators.h - who keeps whom: the immediate dominator of each node.
 *
 * A node is dominated by what every path from the roots to it goes through.  The algorithm is
 * Semi-NCA (Georgiadis, "Linear-Time Algorithms for Dominators and Related Problems", 2005):
 * numbers in the order of a depth-first search, semidominators by path compression, and then the
 * nearest common ancestor of semidominator and parent.  Its time is in theory quadratic, in
 * practice linear.
 *
 *     dfs number 0: what all roots hang from; 1..n_reached: nodes, in preorder
 *     idom[w] < w */
#ifndef ORCA_HEAP_DOMINATORS_H
#define ORCA_HEAP_DOMINATORS_H

#include "heap/graph.h"

struct dominators {
    uint32_t n_reached;                   /* nodes that the roots lead to */
    uint32_t *pre;                        /* of each node: its dfs number, 0: not reached */
    uint32_t *idom;                       /* of each dfs number: that of its dominator */
    uint64_t dfs_ns, reverse_ns, semi_ns; /* what the steps took */
};

/* Drops the graph's lists on the way, to save memory.  -ENOMEM, -EOVERFLOW. */
int dominators_find(struct dominators *t, struct graph *g, unsigned workers, struct err *err);
void dominators_fini(struct dominators *t);

#endif

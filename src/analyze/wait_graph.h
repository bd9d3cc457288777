/* wait_graph.h - which pools of threads wait for which, and the knots in that: for programs without
 * an end, to which no critical path leads.
 *
 * After Zhou, Gan, Ma, Wang, "wPerf: generic off-CPU analysis to identify bottleneck waiting
 * events" (OSDI 2018): an edge A -> B weighs the time that threads of A waited until one of B woke
 * them; and where B itself waited for C during that, the time is also charged to C (cascaded).  A
 * knot is a set of pools that wait only for each other, or a single one: nothing outside can make
 * it faster, so each knot holds a bottleneck.
 *
 * A pool are the threads whose names agree up to their numbers.  Light edges are left out before
 * knots are looked for.  A weight is not what would be saved. */
#ifndef ORCA_ANALYZE_WAIT_GRAPH_H
#define ORCA_ANALYZE_WAIT_GRAPH_H

#include "analyze/bottle.h"
#include "base/arena.h"

enum {
    POOLS_MAX = 200,       /* distinguished; the others are one */
    WAIT_GRAPH_DEPTH = 16, /* waits behind waits that are followed, */
    WAIT_GRAPH_LIGHT = 10, /* thousandths of the recording's length that an edge must weigh */
};

#define WAIT_GRAPH_STEPS UINT64_C(100000000) /* and in all */

struct pool {
    const char *name;               /* "worker-#"; "" of threads without a name */
    uint32_t threads, first;        /* how many; one of them (thread index) */
    uint64_t life, running, waited; /* ns over its threads; waited: for another thread */
    uint64_t still;                 /* in input or output: for what is outside of the program */
    uint32_t knot;                  /* 1 + index; 0: none */
};

struct pool_edge {
    uint32_t from, to;  /* pools: from waits for to */
    uint64_t ns, count; /* weight; waits that began it, without those cascaded */
};

struct wait_graph {
    struct pool *pools;
    size_t n_pools;
    uint32_t *pool_of;       /* [n_threads]: 1 + index into pools; 0: not one of the program's */
    struct pool_edge *edges; /* heaviest first */
    size_t n_edges, n_heavy; /* those before n_heavy are not light */
    uint64_t charged, charged_seen; /* ns of the waits that somebody ended, whole, without those
                                     * cascaded; those of which only the last owner seen is known */
    uint32_t n_knots;
    bool whole; /* false: there were more waits than WAIT_GRAPH_STEPS; the rest is left out */
};

/* Whether the names of two threads are those of one pool: they agree up to the number at their end,
 * or, where neither ends with one, up to all numbers. */
bool pool_is_same(const char *name, const char *other);

/* The name of a thread's pool: its own, with '#' for those numbers. */
void pool_name(const char *name, char *out, size_t n);

/* Memory is the arena's.  -ENOMEM. */
int wait_graph_make(struct wait_graph *out, const struct trace *t, const struct timeline *tl,
                    const struct thread_set *threads, uint64_t length, struct arena *a);

#endif

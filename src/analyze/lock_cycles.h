/* lock_cycles.h - the cycles of the lock-order graph that different threads may close, and why the
 * others are none.
 *
 * Cycles of two edges come first, then those of three and four.  A longer one is looked for only
 * where it has an edge of a kind that is in no shorter cycle: a bank that moves money between any
 * two of a thousand accounts has one mistake, not a million. */
#ifndef ORCA_ANALYZE_LOCK_CYCLES_H
#define ORCA_ANALYZE_LOCK_CYCLES_H

#include "analyze/dependencies.h"

enum {
    LOCK_CYCLES_MAX = 1 << 18,
    CYCLE_STEPS = 10000000,    /* edges looked at for each length: half a second */
    CYCLE_STEPS_ALL = 1 << 21, /* the same for edges that exclude each other, to count them */
    CYCLE_TRIES = 4096,        /* of one cycle: choices of threads */
    CYCLE_PAIRS = 1 << 21,     /* of users whose order is remembered */
};

struct lock_cycle {
    uint32_t n;
    uint32_t edges[LOCK_ORDER_LONGEST]; /* each wants what the next one holds; into
                                         * dependencies.edges */
};

struct lock_cycles {
    const struct dependencies *d;
    struct thread_order *order;
    struct buf v;           /* struct lock_cycle [] */
    struct buf gated;       /* those that have a gate, as far as they were counted */
    struct map ordered;     /* two users -> 1: unordered, 2: ordered */
    struct lock_order *out; /* counts go to its `suppressed` and `passed_over` */
};

/* -ENOMEM. */
int lock_cycles_find(struct lock_cycles *c, const struct dependencies *d,
                     struct thread_order *order, struct lock_order *out);
void lock_cycles_fini(struct lock_cycles *c);

/* Whether two users may have their dependencies at the same time: different threads, neither
 * always before the other.  1, 0, -EAGAIN, -ENOMEM. */
int lock_cycles_meet(struct lock_cycles *c, uint32_t user, uint32_t other);

static inline const struct lock_cycle *lock_cycle_at(const struct buf *cycles, size_t i)
{
    return (const struct lock_cycle *)(const void *)cycles->p + i;
}

#endif

/* thread_order.h - which moments of two threads no schedule can put in another order.
 *
 * What a thread did before it started another one comes before all that the other does; all of a
 * thread's life comes before what another does after it joined it; the submission of a task comes
 * before its run; and so on along any chain of these.  Nothing else counts here: that a lock was
 * given back first, or a notify sent first, may be otherwise next time.
 *
 * A thread's life is cut at its points, where such an arc leaves or arrives.  Within an epoch,
 * between two points, all moments are alike: so orders are asked for by epoch. */
#ifndef ORCA_ANALYZE_THREAD_ORDER_H
#define ORCA_ANALYZE_THREAD_ORDER_H

#include "analyze/bind.h"

struct order_point {
    uint64_t time;
    uint32_t thread, point; /* the arc's other end: a thread, and the index of the point there */
    bool arrives;
};

struct order_reach;

struct thread_order {
    struct order_point *points; /* by thread, then by time */
    uint32_t *first;            /* [n_threads + 1]: where each thread's begin */
    size_t n_threads;
    struct order_reach *reach; /* [n_reach]: what was searched last */
    size_t n_reach;
    struct buf stack;
    uint64_t steps; /* left for searches */
};

/* -ENOMEM. */
int thread_order_init(struct thread_order *o, const struct timeline *t,
                      const struct bindings *bindings);
void thread_order_fini(struct thread_order *o);

/* The number of a thread's points before `time`. */
uint32_t thread_order_epoch(const struct thread_order *o, uint32_t thread, uint64_t time);

/* Whether epoch `from_epoch` of thread `from` always comes before `to_epoch` of another one: 1, 0,
 * -EAGAIN when the steps for searches are used up, -ENOMEM. */
int thread_order_before(struct thread_order *o, uint32_t from, uint32_t from_epoch, uint32_t to,
                        uint32_t to_epoch);

static inline uint32_t thread_order_points(const struct thread_order *o, uint32_t thread)
{
    return thread < o->n_threads ? o->first[thread + 1] - o->first[thread] : 0;
}

#endif

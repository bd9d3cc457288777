/* sweep.h - the whole recording once, in the order of time, over all threads.
 *
 * What needs to know the state of the world at a moment - who owns a lock, who waits for a notify,
 * how many threads run - is a sink of the sweep.  Time is cut into windows of some ten thousand
 * items, each window is collected thread by thread and sorted by radix while it is in the cache:
 * several times as fast as merging the threads (docs/quality/benchmarks.md).
 *
 * Items of one time: those of one thread keep their order, an act at which a span begins comes
 * before it, one at which a span ends behind it.  Threads have no order then. */
#ifndef ORCA_ANALYZE_SWEEP_H
#define ORCA_ANALYZE_SWEEP_H

#include "analyze/timeline.h"

enum sweep_type {
    SWEEP_BORN,  /* its life begins; the index has no meaning */
    SWEEP_ACT,   /* of line.acts */
    SWEEP_HOLD,  /* a hold of line.holds ends */
    SWEEP_BEGIN, /* a span of line.spans begins */
    SWEEP_END,   /* it ends */
    SWEEP_DIED,
};

enum { SWEEP_TYPE_SHIFT = 29, SWEEP_INDEX_MAX = (1 << SWEEP_TYPE_SHIFT) - 1 };

struct sweep_item {
    uint64_t time;
    uint32_t thread;
    uint32_t what; /* type << SWEEP_TYPE_SHIFT | index */
};

static inline enum sweep_type sweep_type(const struct sweep_item *i)
{
    return i->what >> SWEEP_TYPE_SHIFT;
}

static inline uint32_t sweep_index(const struct sweep_item *i)
{
    return i->what & SWEEP_INDEX_MAX;
}

struct sweep_sink {
    void (*take)(void *self, const struct sweep_item *v, size_t n);
    void *self;
    unsigned passes_over; /* 1 << SWEEP_ACT, 1 << SWEEP_HOLD: need not be handed to it */
};

/* Hand everything to each sink, in batches.  The lives are those of `threads` (thread_set_finish
 * was called).  -ENOMEM; more than 2^29 entries of one thread are refused with -EOVERFLOW. */
int sweep(const struct timeline *t, const struct thread_set *threads,
          const struct sweep_sink *sinks, size_t n_sinks, struct err *err);

/* The same from the end to the beginning, in exactly the opposite order within each thread:
 * SWEEP_END comes before SWEEP_BEGIN, SWEEP_DIED before SWEEP_BORN. */
int sweep_back(const struct timeline *t, const struct thread_set *threads,
               const struct sweep_sink *sinks, size_t n_sinks, struct err *err);

#endif

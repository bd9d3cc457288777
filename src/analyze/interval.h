/* interval.h - what the decoder makes of a thread's events: stretches of time in which it did not
 * run.
 *
 * The intervals of one thread are handed out in the order of their ends.  Where one lies inside
 * another (a monitor re-acquired inside Object.wait) the outer one's `ns` is without it:
 *     sum of ns over a thread's intervals <= last event of the thread - first event of it
 * Sinks get them in batches, so that each sink is one short loop over memory that is in the
 * cache. */
#ifndef ORCA_ANALYZE_INTERVAL_H
#define ORCA_ANALYZE_INTERVAL_H

#include "format/event.h"

#include <stddef.h>
#include <stdint.h>

enum wait_state {
    STATE_BLOCKED,     /* on a monitor that another thread owns */
    STATE_WAITING,     /* in Object.wait */
    STATE_PARKED,      /* in LockSupport.park */
    STATE_JOINING,     /* in Thread.join, whatever that does inside */
    STATE_SLEEPING,    /* in Thread.sleep */
    STATE_REACQUIRING, /* in Object.wait, which is over, on the monitor: made by timeline.h */
    STATE_UNKNOWN,     /* no wait: what it did is not known; made by unknown.h */
    STATE_LIMIT,
    WAIT_STATES = STATE_UNKNOWN /* those before it are waits */
};

/* What the waits are called, in their order. */
#define WAIT_STATE_NAMES "blocked", "waiting", "parked", "joining", "sleeping", "reacquiring"

/* The name of one, "unknown" for STATE_UNKNOWN; "running" for STATE_LIMIT. */
const char *wait_state_name(unsigned state);

enum {
    INTERVAL_OPEN = 1,      /* still going on when the recording ended, which is its `end` */
    INTERVAL_UNKNOWN = 2,   /* one of its ends is missing: it happened, start == end, ns == 0 */
    INTERVAL_TIMED_OUT = 4, /* Object.wait: nobody notified */
    INTERVAL_REACQUIRED =
        8,               /* a virtual thread reacquired a monitor after a wait, which JDK 25 says
                          * without saying since when it was blocked: start == end, ns == 0 */
    INTERVAL_TIMED = 16, /* it had a time-out */
    INTERVAL_INTERRUPTED = 32,    /* it ended in an InterruptedException; set by timeline.h */
    INTERVAL_LIMIT_UNKNOWN = 128, /* whether it had a time-out is not known; 64: view/tile.h */
};

struct interval {
    uint64_t start, end; /* ns of CLOCK_MONOTONIC */
    uint64_t ns;         /* end - start without what was nested inside */
    uint32_t thread;     /* index into struct thread_set */
    uint32_t other; /* the same; BLOCKED: the owner, JOINING: the thread waited for; 0: unknown */
    lock_id lock;   /* BLOCKED, WAITING, PARKED; 0: unknown */
    stack_id stack;
    stack_id owner_stack; /* BLOCKED, PARKED: what the owner executed, 0: it was not asked */
    uint32_t nested;      /* number of the thread's latest intervals that lie inside this one */
    uint8_t state, flags;
};

struct interval_sink {
    /* 0 or a negative errno. */
    int (*take)(void *self, const struct interval *v, size_t n);
    void *self;
};

struct interval_sinks {
    const struct interval_sink *v;
    size_t n;
};

enum { INTERVAL_BATCH = 512 };

struct intervals {
    struct interval_sinks sinks;
    size_t n;
    int rc; /* the first failure of a sink */
    struct interval v[INTERVAL_BATCH];
};

void intervals_init(struct intervals *out, struct interval_sinks sinks);

/* Hand what is there to the sinks. */
void intervals_flush(struct intervals *out);

/* The place of the next interval, which the caller fills. */
static inline struct interval *intervals_push(struct intervals *out)
{
    if (out->n == INTERVAL_BATCH)
        intervals_flush(out);
    return &out->v[out->n++];
}

#endif

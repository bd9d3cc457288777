/* signals.h - what came of notifies: per object, how many woke somebody, and how often who was
 * woken had nothing to do.
 *
 * A wake-up is futile when the thread waits on the same object again within FUTILE_NS, without
 * having acted on any other thread in between: it found its condition not true - or did very
 * little.
 *
 * A signal is lost when a thread is in an untimed wait at the end of the recording, the object was
 * notified before it began to wait, with nobody there to wake, and never since. */
#ifndef ORCA_ANALYZE_SIGNALS_H
#define ORCA_ANALYZE_SIGNALS_H

#include "analyze/bind.h"
#include "base/arena.h"

enum { FUTILE_NS = 10000 };

struct signals {
    lock_id lock;
    uint64_t notify, notify_all;   /* calls */
    uint64_t alone;                /* of them: no thread was waiting */
    uint64_t woken[2];             /* waits that they ended: [0] notify, [1] notifyAll */
    uint64_t futile[2], futile_ns; /* of them futile; ns from the wake to the next wait */
    uint64_t waits, timed_out;     /* waits that ended; of them by their time limit */
    uint64_t first, last;          /* of the calls */
};

struct lost_signal {
    lock_id lock;
    uint32_t waiter, notifier; /* thread indices */
    uint64_t notified, since;  /* the last notify before the wait; when the wait began */
    stack_id waits_at, notified_at;
};

struct signal_set {
    struct signals *v;
    size_t n;
    struct lost_signal *lost;
    size_t n_lost;
};

/* After the causes are bound.  Memory is the arena's.  -ENOMEM. */
int signals_find(struct signal_set *out, const struct timeline *t, size_t n_locks, struct arena *a);

#endif

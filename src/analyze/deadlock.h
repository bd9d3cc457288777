/* deadlock.h - threads that wait for each other in a circle, and waits at the end of the recording
 * that no thread can end.
 *
 * A thread waits for the owner of the monitor, or of the lock of java.util.concurrent, as the
 * waiting thread saw it or as is known since (bind.h: bindings.owners), or for the thread that it
 * joins.  A circle of waits without a time limit that had not ended when the recording ended is a
 * deadlock (TRCThreadDeadLockEvent): none of its owners can have released its lock since it began
 * to wait itself.  Before that one could have: to a thread that had to wait, which is known; to one
 * that took it without having to wait, which is not (with holds the release is known); or to the
 * waiting thread, which would have noticed within microseconds: so a circle younger than
 * DEADLOCK_SURE_NS is called likely.
 *
 * A thread that joins itself is in one only where others wait for it: many a server's main thread does
 * so to stay. */
#ifndef ORCA_ANALYZE_DEADLOCK_H
#define ORCA_ANALYZE_DEADLOCK_H

#include "analyze/bottle.h"
#include "analyze/decode.h"
#include "analyze/stop.h"

enum {
    DEADLOCK_SURE_NS = 100000000,
    EXIT_NS = 10000000, /* who ends so shortly before the recording may have called System.exit */
    /* Any moment may find all threads waiting, as long as one of them has no processor, too. */
    STUCK_LEAST_NS = 100000000,
};

/* A thread in an open wait. */
struct stuck_thread {
    uint32_t thread, on; /* indices; on: the thread it waits for, 0: unknown or none */
    uint8_t state;
    bool timed; /* its wait has a time limit, or may have one */
    lock_id lock;
    stack_id stack;       /* where it waits */
    stack_id owner_stack; /* what `on` executed then; 0: it was not asked */
    uint64_t since;
};

struct deadlock {
    const struct stuck_thread *members; /* each waits for the next, the last for the first */
    uint32_t n_members;
    const struct stuck_thread *behind; /* who waits for one of them, or for such a thread, ...,
                                        * without a time limit */
    uint32_t n_behind;
    uint64_t formed; /* when the last of them began to wait */
    bool sure;
};

struct deadlocks {
    struct deadlock *v;
    size_t n;
    const bool *of_lock; /* [n_locks]: whether the members, or who is behind them, wait for it */
    size_t n_locks;
    /* When every thread of the program that lives is in an untimed wait that no thread has ended
     * yet: all of them, those of the deadlocks too, longest first.  No recorded thread can end
     * them. Not where a thread of the program lived to the end: a thread that calls System.exit or
     * Runtime.halt ends with the JVM.  Of a program that was stopped: when it was, so that what its
     * threads do while it ends says nothing. */
    struct stuck_thread *stuck;
    size_t n_stuck;
    uint64_t stuck_since; /* since when that was so of all of them */
    /* Threads that have waited for a monitor for DEADLOCK_SURE_NS and more, without its owner being
     * known: a deadlock that they are in is not found. */
    size_t n_unknown;
};

/* Whether a lock is what threads of a deadlock, or behind one, wait for. */
static inline bool deadlocks_have(const struct deadlocks *d, lock_id lock)
{
    return lock.v && lock.v < d->n_locks && d->of_lock[lock.v];
}

/* Whether every thread waits, and has waited too long for this to be chance. */
static inline bool deadlocks_stuck(const struct deadlocks *d, uint64_t end)
{
    return d->n_stuck && end - d->stuck_since >= STUCK_LEAST_NS;
}

/* What it is found out from. */
struct deadlock_source {
    const struct trace *trace;
    const struct timeline *timeline;
    const struct thread_set *threads;
    const uint32_t *owners; /* [threads->n]: bindings.owners */
    const struct stop *stop;
    const struct open_wait *open; /* [n_open], by thread: when they began */
    size_t n_open;
};

/* Of the waits that are open at the end.  Memory is the arena's.  -ENOMEM. */
int deadlocks_find(struct deadlocks *out, const struct deadlock_source *from, uint64_t end,
                   struct arena *a);

#endif

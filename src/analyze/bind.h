/* bind.h - who ended each wait: a sink of the sweep that fills in span.waker and span.act.
 *
 *     WAITING      the notify that took it out of the object's wait set.  HotSpot's wait set is
 *                  first in, first out (ObjectMonitor::DequeueWaiter), so that this is exact as
 *                  long as it is certain who was in it: see wait_sets.h.
 *
 *     REACQUIRING, BLOCKED
 *                  the thread that owned the monitor last before: who entered it, was seen to own
 *                  it, notified, or waited in it, whichever is latest.  That it gave the monitor
 *                  to the waiter is certain (INTERACTION_HANDOFF_LOCK) when the release is
 *                  recorded, with every other one, or when no other thread ran in between
 *                  (alibi.h).  Else it is the last owner seen (INTERACTION_LAST_OWNER, CAUSE_SEEN):
 *                  a thread that takes a monitor without having to wait is seen by nobody.  It is
 *                  not said while another thread, whose Object.wait is over, may or may not have
 *                  had it in between.
 *
 *     PARKED       the first unpark or interrupt inside it, or the unpark before it that left a
 *                  permit: the park ended within a millisecond, or nobody else ended it.
 *
 *     JOINING      the thread that ended inside it.
 *
 *     any of them that ended in an InterruptedException, and had no other end
 *                  the first interrupt inside it, else the latest one before it.
 *
 * Of a text that does not say who timed out or was interrupted the notify is not said where one of
 * several may have left by itself just before it: the first of a wait set left it, and no notify
 * was for it.
 *
 * A trace that was imported has no such order, unless it says so (trace_is_in_order): there the
 * rule of TPTP 4.5's thread profiling holds: a wait's end takes the first notify of the object that
 * has nobody yet, else the latest notifyAll, else it waits for one to come.
 *
 * A wait whose cause is not found stays without a waker and is counted, never guessed. */
#ifndef ORCA_ANALYZE_BIND_H
#define ORCA_ANALYZE_BIND_H

#include "analyze/decode.h"
#include "analyze/sweep.h"
#include "format/trace.h"

/* After a wait has ended its thread reacquires the monitor: until then no other thread counts as
 * having handed it off. */
#define BIND_CLAIM_NS UINT64_C(1000000)

/* A thread that leaves a wait set by itself, or by a notify, ends its wait within this time. Used
 * where a text format does not say which of the two it was. */
#define BIND_LEAVE_NS UINT64_C(100000000)

/* The interactions of TPTP 4.5's thread profiling, and those that the JVM has had since. */
enum interaction {
    INTERACTION_STARTS_THREAD, /* TRCThreadStartsThreadEvent */
    INTERACTION_HANDOFF_LOCK,  /* TRCThreadHandoffLockEvent */
    INTERACTION_INTERRUPT,     /* TRCThreadInterruptThreadEvent */
    INTERACTION_NOTIFY,        /* TRCThreadNotifyEvent */
    INTERACTION_NOTIFY_ALL,    /* TRCThreadNotifyAllEvent: one of the woken */
    INTERACTION_JOINED,        /* TRCThreadDeadAndNotifyJoinedEvent */
    INTERACTION_UNPARK,
    INTERACTION_SEMAPHORE,  /* release -> acquire; the unpark is part of it */
    INTERACTION_SUBMIT,     /* a task submitted -> its run */
    INTERACTION_LAST_OWNER, /* as HANDOFF_LOCK, of the last owner that was seen */
    INTERACTION_LIMIT,
    INTERACTION_NONE = INTERACTION_LIMIT,
};

/* "starts-thread", "handoff-lock", ...  The viewer knows them by number: new ones come last. */
const char *interaction_name(enum interaction i);

struct interaction_sum {
    uint64_t count; /* bound: from a thread to a wait or run of another one */
    uint64_t ns;    /* of the waits that they ended, whole */
    uint64_t
        alone; /* acts that ended no wait and began no run: a notify without a waiter, a permit or
                     * an interrupt not used, a task that no other thread ran */
};

/* A task from one thread to another. */
struct handover {
    uint64_t from_time, to_time;
    uint32_t from, from_act, to, to_act;
};

struct bindings {
    struct interaction_sum sums[INTERACTION_LIMIT];
    uint64_t unbound_sums;           /* of `unbound`: in sums */
    uint64_t unbound[STATE_LIMIT];   /* waits that ended without a cause that is known; not the
                                      * joins of threads that had ended before */
    uint64_t timed_out[STATE_LIMIT]; /* TRCThreadWaitTimeoutExceedEvent; parks, joins: had a time
                                      * limit, and no thread woke them */
    struct buf handovers;            /* struct handover [], by to_time */
    uint32_t *owners; /* [thread_set.n]: of a thread that blocked, reacquired a monitor or parked at
                       * the end: who owned what it waited for, as far as known then; 0: unknown,
                       * none, or the thread was in no such wait */
};

struct binder;

/* Errors: -ENOMEM. */
int binder_new(struct binder **out, const struct trace *t, struct timeline *tl,
               const struct thread_set *threads);
void binder_free(struct binder *b);

/* Owners that were asked for later; borrowed until binder_free.  Before the sweep. */
void binder_asked(struct binder *b, const struct asked_owner *v, size_t n);

/* Recorded calls of input and output.  Before the sweep. */
struct io_wait;
void binder_calls(struct binder *b, const struct io_wait *v, size_t n);

/* When short waits were summed; likewise. */
struct summed;
void binder_summed(struct binder *b, const struct summed *s);

struct sweep_sink binder_sink(struct binder *b);

/* After the sweep; what *out owns is freed by bindings_fini.  -ENOMEM. */
int binder_finish(struct binder *b, struct bindings *out);
void bindings_fini(struct bindings *b);

/* What kind of interaction ended a span; INTERACTION_NONE when it has no waker. */
enum interaction span_interaction(const struct timeline *t, uint32_t thread, const struct span *s);

#endif

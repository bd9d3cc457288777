/* reorder.h - whether a recording can be reordered so that its threads meet in a deadlock.
 *
 * The check of sync-preserving deadlocks (Tunc, Mathur, Pavlogiannis, Viswanathan: "Sound Dynamic
 * Deadlock Prediction in Linear Time", PLDI 2023), without the values of memory, which are not
 * recorded.  Each thread of the cycle stands before its second lock.  What must have happened by
 * then is added until nothing is missing:
 *
 *     of a thread that is in, what it did before, and what caused that: its start, the end of a
 *     thread that it joined, the notify, unpark or interrupt that ended a wait, the task's
 *     submission
 *     of a lock that two threads in it took, the giving back by the one that had it first
 *
 * When that needs no thread of the cycle beyond its place, every lock can be taken in the order in
 * which it was recorded, up to the deadlock.  When it does, another order may still lead there. */
#ifndef ORCA_ANALYZE_REORDER_H
#define ORCA_ANALYZE_REORDER_H

#include "analyze/lock_order.h"
#include "analyze/thread_order.h"

enum {
    REORDER_STEPS = 30000000, /* of all checks: about a second */
    REORDER_STEPS_EACH = 3000000,
    REORDER_HOLDS_MAX = 1 << 26, /* 0.5 GB of index */
};

struct reorder;

/* Borrows the timeline and the order.  n_locks: above every lock's id that counts.  -ENOMEM;
 * -EFBIG: more than REORDER_HOLDS_MAX holds. */
int reorder_new(struct reorder **out, const struct timeline *t, const struct thread_order *order,
                size_t n_locks);
void reorder_free(struct reorder *r);

/* 1: it can; 0: not with each lock's order kept; -EAGAIN: the steps are used up; -ENOMEM. */
int reorder_check(struct reorder *r, const struct lock_order_side *sides, uint32_t n);

#endif

/* owned.h - when a lock was wanted while it is known who owned it.
 *
 * A lock is wanted while a selected thread is in its queue: blocked, reacquiring, parked for a lock
 * that has an owner.  Its owner is known where a hold is recorded or can be concluded
 * (lock_line.h). */
#ifndef ORCA_ANALYZE_OWNED_H
#define ORCA_ANALYZE_OWNED_H

#include "analyze/analysis.h"

struct owned_lock {
    lock_id lock;
    uint64_t waited; /* ns in which it was wanted, however many wanted it */
    uint64_t known;  /* of it: the owner is known */
};

struct owned_visitor {
    /* A stretch in which it was wanted and `owner` had it; those of one owner do not overlap.
     * -ENOMEM. */
    int (*stretch)(void *self, lock_id lock, uint32_t owner, uint64_t from, uint64_t to);
    /* After the last stretch of a lock that was wanted.  -ENOMEM. */
    int (*end)(void *self, const struct owned_lock *l);
    void *self;
};

/* The same of these locks only, all of the recording.  -ENOMEM. */
int owned_visit_locks(const struct analysis *a, const uint32_t *locks, size_t n,
                      const struct owned_visitor *visitor);

/* All stretches of the selection, lock by lock.  The selection's threads are those that waited.
 * -ENOMEM. */
int owned_visit(const struct analysis *a, const struct selection *selection,
                const struct owned_visitor *visitor);

#endif

/* wait_sets.h - the binder's wait sets: whom a notify takes out of which.
 *
 * First in, first out.  While it is uncertain which threads were in the set, and in which order, no
 * waker is named: until that is clear, or the set is empty. */
#ifndef ORCA_ANALYZE_WAIT_SETS_H
#define ORCA_ANALYZE_WAIT_SETS_H

#include "analyze/bind_parts.h"

/* Before the sweep: contexts that it may need, since others count on their number.  -ENOMEM. */
int wait_sets_foresee(struct binder *b);

/* A thread begins to wait on an object. */
void wait_set_enter(struct binder *b, uint32_t thread, uint32_t lock, const struct span *s);

void wait_set_notify(struct binder *b, struct lock_now *k, struct deed by, uint64_t time, bool all);

/* Its wait (span `index`) ends; it may only now be known who notified it. */
void wait_set_end(struct binder *b, uint32_t thread, uint32_t index, struct lock_now *k,
                  uint64_t time);

/* The same, of a wait that goes on when the recording ends. */
void wait_set_leave(struct binder *b, uint32_t thread);

/* Behind wait_set_end, when it is known what ended the wait if that is known. */
void wait_set_ended(struct binder *b, uint32_t thread, uint32_t index, struct lock_now *k);

/* After the sweep. */
void wait_sets_finish(struct binder *b);

#endif

/* live_parts.h - what live.c (threads and time), live_locks.c (locks, owners) and live_look.c
 * (sums, deadlocks) share; nothing else includes it. */
#ifndef ORCA_ANALYZE_LIVE_PARTS_H
#define ORCA_ANALYZE_LIVE_PARTS_H

#include "analyze/live.h"

/* The lock of an id, made when it is new; NULL: id 0, or no room. */
struct live_lock *live_lock_get(struct live *l, lock_id id);

/* A thread goes into a wait for a lock (or out of it): the queue is counted. */
void live_lock_join(struct live_lock *k, enum live_state s);
void live_lock_leave(struct live_lock *k, enum live_state s);

/* What an event says about who owns a lock. */
void live_lock_event(struct live *l, const struct event *e);

/* A thread has ended: it owns nothing. */
void live_locks_forget(struct live *l, thread_id owner);

/* Close the bucket of each lock; locks that are not needed any more go. */
void live_locks_close(struct live *l, size_t bucket);

/* Make the map of a table of pointers again, after entries were taken out. */
void live_index(struct map *ids, void *const *all, size_t n, uint32_t (*id)(const void *),
                bool *oom);

#endif

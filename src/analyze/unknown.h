/* unknown.h - stretches of a thread's life in which its state is unknown.
 *
 * A thread without a recorded wait counts as running; but only where a wait would have been
 * recorded.  The state is unknown
 *     - from a wait of which one end is missing to the event that shows that it was over;
 *     - in a hole: events lost, a chunk damaged or missing, after the end of a truncated file;
 *     - of a thread of a JVM that was running already, before the recording has found it;
 *     - before the first event of a virtual thread, and behind the last, when starts and ends of
 *       those are not recorded;
 *     - outside of waits, in threads of the JVM's own: they wait in native code;
 *     - of a thread of which a text without parks has only the start.
 * These stretches become spans of the state STATE_UNKNOWN, which is not a wait. */
#ifndef ORCA_ANALYZE_UNKNOWN_H
#define ORCA_ANALYZE_UNKNOWN_H

#include "analyze/timeline.h"

struct unknown_stretch {
    uint64_t from, to; /* ns of CLOCK_MONOTONIC */
    uint32_t thread;
};

struct unknowns {
    struct buf
        v; /* struct unknown_stretch [], in any order; they may overlap each other and waits */
};

void unknowns_fini(struct unknowns *u);

/* u: NULL for who does not want to know. */
static inline void unknowns_add(struct unknowns *u, uint32_t thread, uint64_t from, uint64_t to)
{
    if (u && from < to)
        buf_put(&u->v, &(struct unknown_stretch){from, to, thread}, sizeof(struct unknown_stretch));
}

/* Put them into the timeline, cut to the threads' lives and to what lies between their waits; with
 * them what is not known for other reasons than missing events.  After thread_set_finish, before
 * anything refers to a span by its index.  -ENOMEM. */
int unknowns_put(struct unknowns *u, struct timeline *tl, const struct trace *t,
                 const struct thread_set *threads);

#endif

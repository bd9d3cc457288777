/* slack.h - how much later each lock could be released without delaying the end.
 *
 * The latest-time pass of the critical-path method, over the same causes as path.h: at the end of
 * the path its thread has no slack, every other thread has any; going back in time, a thread that
 * woke another one has at most the slack of the thread that it woke, and a thread that waited had
 * more slack before, by the length of the wait.  A lock's slack is the least with which a thread
 * got it; 0: the lock is on the critical path, or on one as long.  Where it is large, making the
 * lock cheaper gains nothing.
 *
 * A sink of sweep_back. */
#ifndef ORCA_ANALYZE_SLACK_H
#define ORCA_ANALYZE_SLACK_H

#include "analyze/sweep.h"

#define SLACK_ANY UINT64_MAX /* nothing that leads to the end comes after it */

struct slacker;

/* `thread` ends the path at `time`.  -ENOMEM. */
int slacker_new(struct slacker **out, const struct timeline *t, size_t n_threads, size_t n_locks,
                uint32_t thread, uint64_t time);
void slacker_free(struct slacker *s);
struct sweep_sink slacker_sink(struct slacker *s);

/* After the sweep: slack by lock id, ns; the caller frees it. */
uint64_t *slacker_take(struct slacker *s);

#endif

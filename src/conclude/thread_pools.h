/* thread_pools.h - the threads of the program by pool, and what they did with their time.
 *
 *     life = running + blocked + waiting + idle + ready + stopped + no carrier + other
 *
 *     blocked   on a monitor, a lock, a pool or a limit (purpose.h)
 *     waiting   for an answer, a thread, input or output, or for time to pass
 *     idle      without work: in a wait that no task asked for, or still in a select or an accept,
 *               or in a call that none of the program's code made
 *     running   the rest; where turns on processors were recorded (processors.h): on one
 *     ready     only then: waiting for a processor
 *     stopped   by the JVM, for a collection or another safepoint (halts.h)
 *     no carrier   virtual threads: unparked, and no carrier took them yet (pins.h)
 *     other     only then: on none, for an unknown cause; of virtual threads all that is
 *               not a wait, since their carriers have the turns
 *
 * without the time in which the state of a thread is unknown.  Threads in input or output outside
 * recorded waits: still.h. */
#ifndef ORCA_CONCLUDE_THREAD_POOLS_H
#define ORCA_CONCLUDE_THREAD_POOLS_H

#include "analyze/labels.h"
#include "conclude/resource.h"

enum thread_time {
    TIME_RUNNING,
    TIME_BLOCKED,
    TIME_WAITING,
    TIME_IDLE,
    TIME_READY,
    TIME_STOPPED,
    TIME_CARRIER,
    TIME_OTHER,
    THREAD_TIMES
};

struct thread_pool {
    char name[LABEL_MAX];            /* "" of threads without a name */
    uint32_t threads, first;         /* how many; one of them */
    uint64_t life, ns[THREAD_TIMES]; /* life 0: nothing is known */
};

/* What the pool of a thread is called: virtual threads have no name, as a rule. */
const char *thread_pool_label(const struct analysis *a, const char *name, uint32_t thread);

/* The entry of a thread's pool among at most `cap` of them, made if it is new; the last one takes the
 * threads of all pools beyond. */
struct thread_pool *thread_pool_of(struct thread_pool *v, size_t cap, size_t *n,
                                   const struct analysis *a, uint32_t thread);

/* What a wait, or a part of one, is. */
enum thread_time thread_time_of(const struct analysis *a, uint32_t context,
                                const struct wait_part *w);

/* What a thread did with its time; the sum. */
uint64_t thread_times(const struct resources *all, const struct analysis *a, uint32_t thread,
                      uint64_t ns[THREAD_TIMES]);

/* How long a thread was likely in input or output, in total (still.h), and how much of that looks
 * have seen. */
uint64_t thread_still(const struct analysis *a, uint32_t thread, uint64_t *seen);

/* Most blocked first, then by the time that was not idle. */
int thread_times_by_harm(const uint64_t *x, uint64_t x_life, const uint64_t *y, uint64_t y_life);

/* ns for which a pool's threads run; 0 of carriers: the virtual threads that they carry do. */
uint64_t thread_pool_runs(const struct thread_pool *p, const struct analysis *a);

/* Whether threads that count as running may have waited for a processor, since as many did at a time
 * as there are processors, on average, and no turns on processors were recorded.  running: ns of all
 * threads. */
bool thread_pools_lack_processors(const struct analysis *a, uint64_t running);

/* Most blocked first, then by the time that was not idle.  Memory is the arena's.  -ENOMEM. */
int thread_pools_make(struct thread_pool **out, size_t *n, const struct resources *all,
                      struct analysis *a);

#endif

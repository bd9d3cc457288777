/* threads_now.h - the threads of the program that live at the end of what was analysed: what each
 * is in then, and what it did with its time.  Of a recording that goes on that is now.
 *
 *     life = running + blocked + waiting + idle + unknown */
#ifndef ORCA_CONCLUDE_THREADS_NOW_H
#define ORCA_CONCLUDE_THREADS_NOW_H

#include "conclude/thread_pools.h"

/* The times of thread_pools.h by their number; then: */
enum {
    NOW_ASLEEP = THREAD_TIMES, /* slept when the recording found it, and has told nothing since */
    NOW_PARKED,                /* likewise */
    NOW_UNKNOWN,
    NOW_LIMIT
};

/* "running", "blocked", "waiting", "idle", "asleep when Orca attached", ... */
extern const char *const now_names[NOW_LIMIT];

/* The wait in which the recording found a thread of which no event has told since: it may be over.
 * NULL: none. */
const struct carried *threads_found(const struct analysis *a, uint32_t thread);

/* What such a thread is in now; found: as above. */
uint8_t threads_found_in(const struct analysis *a, uint32_t thread, const struct carried *found);

struct thread_now {
    uint32_t thread, other;    /* indices; other: who owns what it waits for, or whom it joins */
    uint8_t now, wait;         /* wait: enum wait_state; STATE_LIMIT: in none */
    uint64_t since;            /* of a wait */
    const struct resource *of; /* what it waits for; NULL: unknown */
    lock_id lock;
    stack_id stack;
    uint64_t life, ns[THREAD_TIMES]; /* without what is unknown */
};

/* In the order of thread_pools.h.  Memory is the arena's.  -ENOMEM. */
int threads_now_make(struct thread_now **out, size_t *n, const struct resources *all,
                     struct analysis *a);

#endif

/* thread_set.h - the threads of a trace and what each spent its life with.
 *
 *     from <= to;  sum of state[].ns <= to - from;  running = to - from - that sum
 *
 * Indexed by thread id.  Threads that events name and no definition does (a damaged file) follow
 * behind the trace's own; entry 0 is the unknown thread. */
#ifndef ORCA_ANALYZE_THREAD_SET_H
#define ORCA_ANALYZE_THREAD_SET_H

#include "analyze/interval.h"
#include "base/err.h"
#include "base/map.h"
#include "format/trace.h"

#include <stdbool.h>

struct state_stats {
    uint64_t count, ns;
};

struct thread_stats {
    thread_id id;
    bool defined, is_virtual;
    bool shares_name;            /* another thread has the same */
    bool has_started, has_ended; /* seen to start, seen to end */
    bool incomplete;             /* events are missing: counts and times are lower bounds */
    uint64_t started, ended;
    uint64_t from, to; /* its life, as far as it lies in the recording */
    struct state_stats state[STATE_LIMIT];
    uint64_t unknown;    /* of the counts: waits of which one end is missing */
    uint64_t reacquired; /* INTERVAL_REACQUIRED */
    uint64_t lost;       /* events that the recorder says it lost */
    uint32_t open;       /* waits going on at the end */
};

struct thread_set {
    struct thread_stats *v;
    size_t n, cap;
    size_t n_defined; /* length of the trace's own table */
    struct map extra; /* id beyond that -> index */
};

int thread_set_init(struct thread_set *ts, const struct trace *t, struct err *err);
void thread_set_fini(struct thread_set *ts);

/* The index of a thread id from an event; makes an entry for one that was never defined.  0:
 * unknown. */
uint32_t thread_set_add(struct thread_set *ts, thread_id id);

static inline uint32_t thread_set_index(struct thread_set *ts, thread_id id)
{
    return id.v < ts->n_defined ? id.v : thread_set_add(ts, id);
}

/* The sink; self is a struct thread_set. */
int thread_set_take(void *self, const struct interval *v, size_t n);

/* Fix each thread's life, after the last interval: a start or end that was not seen is the
 * window's. */
void thread_set_finish(struct thread_set *ts, uint64_t window_from, uint64_t window_to);

uint64_t thread_life(const struct thread_stats *s);
uint64_t thread_running(const struct thread_stats *s);

#endif

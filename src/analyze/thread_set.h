/* thread_set.h - the threads of a trace: who they are, and when they lived.
 *
 * Indexed by thread id.  Threads that events name and no definition does (a damaged file) follow
 * behind the trace's own; entry 0 is the unknown thread. */
#ifndef ORCA_ANALYZE_THREAD_SET_H
#define ORCA_ANALYZE_THREAD_SET_H

#include "base/err.h"
#include "base/map.h"
#include "format/trace.h"

#include <stdbool.h>

struct thread_stats {
    thread_id id;
    bool defined, is_virtual;
    bool gone;                   /* had ended before this file of the recording began */
    bool shares_name;            /* another thread has the same */
    uint32_t number;             /* of those without a name, from 1 on; 0: it has one */
    bool has_started, has_ended; /* seen to start, seen to end */
    bool ends_jvm;               /* the recording ended with it: of exit, halt; or its own end */
    bool incomplete;             /* events are missing: counts and times are lower bounds */
    uint64_t started, ended;
    uint64_t called;   /* when its start was; 0: not seen */
    uint64_t found;    /* when it was found in a wait that began before the recording; 0: in none */
    uint32_t notifier; /* who had notified that wait by then; 0: nobody */
    uint64_t notified; /* when */
    uint64_t from, to; /* its life, as far as it lies in the recording; from <= to */
    uint64_t lost;     /* events that the recorder says it lost */
    bool named;        /* it has events */
    bool seen;         /* it has waits */
};

struct thread_set {
    struct thread_stats *v;
    size_t n, cap;
    size_t n_defined; /* length of the trace's own table */
    bool cut;         /* only the beginning of the trace is read: there may be threads of later */
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

/* The thread was in a wait then: it lived. */
static inline void thread_set_lived(struct thread_set *ts, uint32_t thread, uint64_t from,
                                    uint64_t to)
{
    struct thread_stats *s = &ts->v[thread];
    s->from = from < s->from ? from : s->from;
    s->to = to > s->to ? to : s->to;
    s->seen = true;
}

/* Fix each thread's life, after the last thread_set_lived: a start or end that was not seen is the
 * window's.  Of a trace that was cut, threads without events are not known to have lived. */
void thread_set_finish(struct thread_set *ts, uint64_t window_from, uint64_t window_to);

uint64_t thread_life(const struct thread_stats *s);

/* Whether it is the thread that the JVM runs the program's main method in, by its name. */
bool thread_is_main(const struct trace *t, const struct thread_stats *s);

/* Whether a thread carries virtual threads. */
bool thread_is_carrier(const struct trace *t, const struct thread_stats *s);

#endif

/* alibi.h - who can have taken a monitor without having to wait for it, which the JVM does not
 * report.
 *
 * Of a hand-off without a recorded release it is known who owned the monitor at a moment, and who
 * has it at a later one.  That the first gave it to the second is certain when every other thread
 * was in one recorded wait, in one recorded call of input or output, or did not live, from the one
 * moment to the other: in native code a thread takes no monitor and gives none back.
 *
 *     running      threads that are in none of these at the moment of the sweep
 *     stopped      the three threads that were the last ones to stop running, newest first: of
 *                  them one is neither the giver nor the taker
 *
 * Calls of virtual threads do not count: they run Java between two looks at their socket.  Nor do
 * those that have not returned: until when a thread was in one is not exact.
 *
 * Threads of the JVM's own that were in no recorded wait are left out: they run nothing but the
 * JDK's code.  So are the carriers of virtual threads, where each of those is recorded. */
#ifndef ORCA_ANALYZE_ALIBI_H
#define ORCA_ANALYZE_ALIBI_H

#include "analyze/sweep.h"
#include "analyze/time_sort.h"
#include "format/trace.h"

enum { ALIBI_STOPPED = 3 };

struct io_wait; /* analyze/decode.h */

struct alibi {
    uint8_t *state;  /* [threads]: see alibi.c */
    uint32_t *calls; /* [threads]: in how many recorded calls it is; NULL: none is known */
    struct time_sort sorted;
    const struct time_key *edges; /* where calls begin and end, in the order of time */
    size_t edge, n_edges;         /* the next one */
    uint32_t running;
    struct {
        uint32_t thread;
        uint64_t time;
    } stopped[ALIBI_STOPPED];
    bool all_known; /* each thread that can take a monitor is in the trace, from its beginning on */
};

/* -ENOMEM. */
int alibi_init(struct alibi *a, const struct trace *t, const struct timeline *tl,
               const struct thread_set *threads);
void alibi_fini(struct alibi *a);

/* The recorded calls of input and output; before the sweep.  -ENOMEM. */
int alibi_calls(struct alibi *a, const struct thread_set *threads, const struct io_wait *v,
                size_t n);

/* The sweep has come to this time. */
void alibi_reach(struct alibi *a, uint64_t time);

/* A thread begins or ceases to run: it was born or a wait of it ended, it waits or died. */
void alibi_runs(struct alibi *a, uint32_t thread);
void alibi_stops(struct alibi *a, uint32_t thread, uint64_t time);

/* Whether no thread but these two runs at present, and since when. */
bool alibi_of_others(const struct alibi *a, uint32_t giver, uint32_t taker, uint64_t *since);

#endif

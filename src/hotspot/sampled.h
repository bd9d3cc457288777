/* sampled.h - the threads that are sampled: found by their kernel id in a signal handler, each with
 * a timer of its own processor time.
 *
 * A place belongs to one thread of the kernel at a time.  The table is indexed by the kernel's id,
 * so a handler needs one load to find who it is; a signal to a thread that is not, or no longer, in
 * it does nothing.  Adding, removing and going through the places: under one mutex. */
#ifndef ORCA_HOTSPOT_SAMPLED_H
#define ORCA_HOTSPOT_SAMPLED_H

#include "hotspot/perf_clock.h"
#include "hotspot/samples.h"

#include <time.h>

/* What is known of a place when its thread is sampled by the wall clock; the collector's own. */
struct sampled_wall {
    uint64_t cpu;       /* its processor time when it was last looked at */
    uint64_t idle, due; /* ns that it did not run since a sample was written; when to look next */
    bool known;         /* that sample: */
    uint32_t thread, stack, flags, error;
    uint64_t since, told; /* when it was taken; when its open call was written last */
    uint32_t what, peer;  /* that call, */
    bool asked;           /* once it was asked for */
};

struct sampled {
    struct sample_subject who;
    bool has_timer;
    int timer; /* the kernel's number of it */
    struct perf_clock perf;
    struct sampled_wall wall;
};

/* How processor time is counted: by the kernel's ticks (a few ms, however short the interval is:
 * then a sample stands for several), or by perf events, where the system allows it. */
enum sampled_clock { SAMPLED_AUTO, SAMPLED_TIMER, SAMPLED_PERF };

/* Make the table, once for the process.  -ENOMEM. */
int sampled_open(struct err *err);

/* From now on each thread, also those that are there, gets a sample for every `interval` ns of its
 * processor time.  0: none does.  Where perf events are not allowed, or take too many descriptors,
 * timers are used, unless it is to be perf events only. */
void sampled_cpu(uint64_t interval, enum sampled_clock clock);

/* A thread is there.  One that is there already is replaced.  java_thread, id: 0 for a thread of
 * the JVM's own. */
void sampled_add(const struct sample_subject *who);

/* It is about to end.  When this returns, no sample of it is under way but its own. */
void sampled_remove(uint32_t os_tid);
void sampled_remove_all(void);

/* The same, unless it is there already. */
void sampled_add_new(const struct sample_subject *who);

bool sampled_has(uint32_t os_tid);

/* Do something with one of them, with the mutex held; nothing when it is not there. */
void sampled_with(uint32_t os_tid, void (*use)(void *ctx, struct sampled *t), void *ctx);

/* Each of them, a few at a time with the mutex held: a thread that starts or ends waits for no more
 * than these. */
void sampled_each(void (*visit)(void *ctx, struct sampled *t), void *ctx);

/* Ask a running thread for a wall-clock sample of this weight. */
int sampled_ask(const struct sampled *t, uint64_t weight);

/* Its processor time, ns; false: it is gone. */
bool sampled_cpu_ns(uint32_t os_tid, uint64_t *ns);

/* What became of the threads' clocks since sampled_cpu was called with an interval. */
struct sampled_counts {
    uint64_t perf, timers;
    uint64_t perf_now, timers_now; /* of these, those that are there */
    uint64_t refused;              /* too many signals pending, or no perf event */
    int perf_error;                /* why there was a timer and not a perf event: an errno, or 0 */
};
struct sampled_counts sampled_counts(void);

#endif

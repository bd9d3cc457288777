/* sched.h - the group sched: when each thread was on a processor, and when it waited for one.
 *
 * The kernel reports each switch (record/switches.h); one thread of ours, "orca sched", makes turns
 * of them (record/turns.h) and events of these, in its own stream.  The program's threads do
 * nothing for it.  If the kernel does not allow it, the same thread regularly reads from /proc how
 * long each thread ran and was ready: shares instead of turns. */
#ifndef ORCA_AGENT_SCHED_H
#define ORCA_AGENT_SCHED_H

#include "record/recorder.h"

/* What it needs of the recording. */
struct sched_setup {
    struct recorder *rec;
    uint64_t started;
    thread_id (*native)(uint32_t os_tid); /* the id of a thread that is none of Java's */
    void (*native_ended)(uint32_t os_tid);
    void (*add_all)(void); /* sched_add of those of Java that are there; others say so themselves */
};

/* The library is loaded, and the JVM has few threads yet: all others will be theirs. */
void sched_prepare(void);

/* A recording begins, or the group is switched on. */
void sched_start(const struct sched_setup *setup);

/* The recording ends: every turn until now is an event when this returns.  Before the recorder is
 * closed and the tables of threads are freed. */
void sched_stop(void);

bool sched_runs(void);

/* A platform thread of Java is there: its number in the kernel, and the trace's. */
void sched_add(uint32_t os_tid, uint32_t id);

#endif

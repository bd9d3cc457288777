/* sampling.h - the groups cpu, wall and looks: what threads execute, sampled.
 *
 * Each thread takes its own stack, in a signal handler (hotspot/samples.h).  For `cpu` the signal
 * comes from a timer of the thread's processor time.  For `wall` one thread of ours, the collector,
 * goes through all threads of Java: one that has not used processor time since it was last looked
 * at is where it was; one that is not running now is looked at from outside, its processor time
 * before and after showing that it did not run; only one that runs gets a signal.  So nobody is
 * woken.  The collector turns what was taken into events. */
#ifndef ORCA_AGENT_SAMPLING_H
#define ORCA_AGENT_SAMPLING_H

#include "base/err.h"

#include <jvmti.h>
#include <stdint.h>

/* The agent was loaded, its events have their callbacks: before the first compilation, where it can
 * be. */
void sampling_loaded(void);

/* JVMTI's CompiledMethodLoad. */
void JNICALL sampling_on_compiled(jvmtiEnv *ti, jmethodID method, jint size, const void *code,
                                  jint places, const jvmtiAddrLocationMap *map, const void *info);

/* A recording begins, or the groups were switched: start, change or stop what is sampled.  Where it
 * cannot be done on this JVM, one line says so.  On a Java thread. */
void sampling_update(void);

/* The recording ends: every sample taken is an event when this returns, and no further one is
 * taken. Before the recorder is closed and the tables of methods and stacks are freed. */
void sampling_stop(void);

/* The calling thread, a platform thread of Java, starts or ends. */
void sampling_thread_started(uintptr_t java_thread, uint32_t id);
void sampling_thread_ended(void);

#endif

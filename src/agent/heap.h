/* heap.h - the groups alloc, sampled_alloc and frees: the heap profiler's begin and end.
 *
 * It has a JVMTI environment of its own: its tags and its ObjectFree events are of the objects that
 * it follows, and not of the locks, and what it needs is given back when it is over (the JVM lets
 * one agent only sample allocations).
 *
 *   sampled_alloc   JVMTI's SampledObjectAlloc, an object of samplebytes= on average: on_alloc.c
 *   alloc           each object: by calls that are put behind every allocation in the program's
 *                   code (alloc_probes.c), or, with allocby=jvm, by SampledObjectAlloc of every one
 *   frees           a number for each of them (objects.c), and its end
 *
 * The heap thread makes events of what threads count (alloc_counts.c, alloc_rows.c) and of objects
 * that ended. */
#ifndef ORCA_AGENT_HEAP_H
#define ORCA_AGENT_HEAP_H

#include "agent/agent.h"

/* A recording begins, or the groups were switched.  What cannot be had on this JVM costs one line
 * and its events.  On a Java thread, before the probes.  initialising: the JVM is, in VMInit. */
void heap_update(JNIEnv *jni, bool initialising);

/* The profiler's environment, for questions and walks: made when it is not there yet, also where
 * nothing is recorded.  On a Java thread. */
int heap_environment(JNIEnv *jni, jvmtiEnv **jvmti, struct err *err);

/* Whether each object that is counted has a stack. */
bool heap_wants_stacks(void);

/* Whether objects have numbers now. */
bool heap_follows(void);

/* The recording ends.  heap_quiet: the JVM no longer reports objects; after the probes.
 * heap_finish: then, once no thread is inside the guard, the last events are written; before the
 * recorder is closed.  heap_free: what was kept for them. */
void heap_quiet(void);
void heap_finish(void);
void heap_free(JNIEnv *jni);

#endif

/* stacks.h - the current thread's Java stack as an id.
 *
 * The one place that walks a stack: a faster walker replaces GetStackTrace in stacks.c and nowhere
 * else. */
#ifndef ORCA_AGENT_STACKS_H
#define ORCA_AGENT_STACKS_H

#include "agent/agent.h"

int stacks_init(struct err *err);

/* The current Java thread's stack, at most depth= frames, innermost first; 0 when there is none, or
 * when it could not be kept (counted).  Equal stacks have one id. A known stack costs the walk, one
 * hash and one lookup; a new one is defined first. */
stack_id stacks_current(JNIEnv *jni);

/* The same from a native method of orca.probe.Probe, which does not belong to the program. */
stack_id stacks_of_caller(JNIEnv *jni);

#endif

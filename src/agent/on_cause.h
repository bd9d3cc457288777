/* on_cause.h - events of what the current thread does to another one, whether it was seen by a
 * wrapped native (platform threads) or by a probe (virtual ones).
 *
 * `now` is the time before it was done; `stack` of the current frame or of its caller
 * (stacks_current, stacks_of_caller).  No exception may be pending. */
#ifndef ORCA_AGENT_ON_CAUSE_H
#define ORCA_AGENT_ON_CAUSE_H

#include "agent/agent.h"

typedef stack_id (*stack_of)(JNIEnv *jni);

void note_start(JNIEnv *jni, jobject thread, stack_of stack, uint64_t now);
void note_unpark(JNIEnv *jni, jobject thread, stack_of stack, uint64_t now);

/* Before a thread is unparked while short waits are summed (sums.h): whether that is left out. */
bool leave_unpark(JNIEnv *jni, jobject thread, uint64_t now);

/* in: what began the wait that the thread was in (wait_of). */
void note_interrupt(JNIEnv *jni, jobject thread, enum event_kind in, stack_of stack, uint64_t now);

#endif

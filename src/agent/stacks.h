/* stacks.h - the current thread's Java stack as an id.
 *
 * Taken by the walker (hotspot/walker.h) from the thread's own frames; by JVMTI's GetStackTrace
 * without a walker, or where the walker is not certain of the whole stack.  Method and bci of every
 * frame are the same either way, and so is the id. */
#ifndef ORCA_AGENT_STACKS_H
#define ORCA_AGENT_STACKS_H

#include "agent/agent.h"
#include "hotspot/walker.h"

/* Number of comparisons of a walk with JVMTI's stack before the two are reported to differ. */
enum { STACKS_LOOKS = 4 };

int stacks_init(struct err *err);
void stacks_fini(void);

/* A recording begins: opens the walker, the first time.  After stacks_init, before events are
 * enabled; in VMInit or later. */
void stacks_start(JNIEnv *jni);

/* Why there is no walker (agent.walker is NULL). */
const char *stacks_not_walked(void);

/* The recording ends: say in the trace how stacks were taken.  The same text as of now. */
void stacks_report(void);
void stacks_put_counts(struct buf *b);

/* What the taking of stacks has cost the program's threads so far, ns: one of 32 is timed. */
uint64_t stacks_cost(void);

/* The id of a stack that JVMTI has given: n frames, of which the ones beyond depth= are cut off. */
stack_id stacks_of_frames(JNIEnv *jni, const jvmtiFrameInfo *frames, jint n);

/* Classes were rewritten: a place in the code that JVMTI names is another one from now on. */
void stacks_code_changed(void);

/* The id of a stack of methods that have ids; cut: there were more frames. */
struct stack_frame {
    method_id method;
    int32_t bci;
};
stack_id stacks_of_methods(const struct stack_frame *frames, uint32_t n, bool cut);

/* The same with a byte for each frame, as DEF stack's kinds has them. */
stack_id stacks_of_kinds(const struct stack_frame *frames, const uint8_t *kinds, uint32_t n,
                         bool cut);

/* The current Java thread's stack, at most depth= frames, innermost first; 0 when there is none, or
 * when it could not be kept (counted).  Equal stacks have one id.  A stack that this thread had
 * here lately costs a look whether it still has; a known one the walk, one hash and one lookup, and
 * no call of the JVM; a new one is defined first. */
stack_id stacks_current(JNIEnv *jni);

/* The same where an object of the class is allocated, as a probe reports it (OrcaHeap): without the
 * frames of OrcaHeap and of the object's own constructors. */
stack_id stacks_of_allocation(JNIEnv *jni, class_id object);

/* The same without the innermost frames, at most 8, which are the agent's own. */
stack_id stacks_skipping(JNIEnv *jni, int frames);

/* From a native method of java.lang.OrcaProbe; from one that its method for kept code calls. */
static inline stack_id stacks_of_caller(JNIEnv *jni)
{
    return stacks_skipping(jni, 1);
}

static inline stack_id stacks_of_kept_caller(JNIEnv *jni)
{
    return stacks_skipping(jni, 2);
}

/* The calling thread's innermost frames, as the walker has them, with stamps; negative: it has none
 * of which it is certain. */
int32_t stacks_walk(JNIEnv *jni, struct walk_frame *frames, int32_t max);

#endif

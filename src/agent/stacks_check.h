/* stacks_check.h - a debug build's proof that a stack that was walked is the one JVMTI gives.
 *
 * With ORCA_CHECK_STACKS in the environment each stack is taken both ways: method and bci of every
 * frame, and whether it was cut, must be the same, and so must be the id.  What differs is shown on
 * stderr, the first ones, and counted in the trace (orca.stacks.check).  With
 * ORCA_CHECK_STACKS=wrong walks are made wrong, to see that this is noticed.  Nothing of it is in a
 * release build. */
#ifndef ORCA_AGENT_STACKS_CHECK_H
#define ORCA_AGENT_STACKS_CHECK_H

#include "agent/agent.h"
#include "hotspot/walker.h"

/* n walked frames of the calling thread, without `skip` of the agent's; cut: there are more.
 * myself: as JVMTI is to be asked about it. */
struct stacks_taken {
    jthread myself;
    jint skip;
    const struct walk_frame *walked;
    uint32_t n;
    bool cut;
};

#ifdef ORCA_DEBUG

void stacks_check_start(void);
void stacks_check_report(void);

/* They have this id. */
void stacks_check(JNIEnv *jni, const struct stacks_taken *t, stack_id id);

/* Whether it is on. */
bool stacks_checked(void);

/* The stack by a trail, and by a walk at that time. */
void stacks_check_trail(stack_id by_trail, stack_id walked);

/* Make a walk wrong, if that is wanted. */
void stacks_check_spoil(struct walk_frame *walked, uint32_t n);

/* These two are not the same. */
void stacks_check_show(const struct walk_frame *walked, uint32_t n, const jvmtiFrameInfo *theirs,
                       jint n_theirs);

#else

static inline void stacks_check_start(void) {}
static inline void stacks_check_report(void) {}

static inline bool stacks_checked(void)
{
    return false;
}

static inline void stacks_check_trail(stack_id by_trail, stack_id walked)
{
    (void)by_trail, (void)walked;
}

static inline void stacks_check_spoil(struct walk_frame *walked, uint32_t n)
{
    (void)walked, (void)n;
}

static inline void stacks_check(JNIEnv *jni, const struct stacks_taken *t, stack_id id)
{
    (void)jni, (void)t, (void)id;
}

static inline void stacks_check_show(const struct walk_frame *walked, uint32_t n,
                                     const jvmtiFrameInfo *theirs, jint n_theirs)
{
    (void)walked, (void)n, (void)theirs, (void)n_theirs;
}

#endif
#endif

/* on_park.h - what a parking thread waits for. */
#ifndef ORCA_AGENT_ON_PARK_H
#define ORCA_AGENT_ON_PARK_H

#include "agent/owner_stacks.h"

struct park_info {
    lock_id lock;    /* of Thread.parkBlocker; 0: the thread does not say */
    thread_id owner; /* of that lock; 0: none, or not known */
    bool wanted;     /* by include= and exclude= */
};

/* Up to JDK 23 who has locked a monitor keeps its carrier. */
static inline bool monitors_pin(void)
{
    enum { MONITORS_PIN_FROM = 21, MONITORS_PIN_UNTIL = 23 };
    return agent.java_version >= MONITORS_PIN_FROM && agent.java_version <= MONITORS_PIN_UNTIL;
}

/* Look up the fields.  Where a JDK has them not, blockers and owners are unknown. */
void park_init(JNIEnv *jni);

/* The thread to ask what it executes; blocker: a local reference to be released, NULL: none. */
struct park_owner {
    jobject blocker;
    struct ownable lock;
    struct owner_place place;
};

/* thread: the current one.  No exception may be pending.  owner (NULL: not asked for): filled in
 * when its stack is due.  park_lock: without the owner. */
struct park_info park_info(JNIEnv *jni, jthread thread, struct park_owner *owner);
struct park_info park_lock(JNIEnv *jni, jthread thread);

/* Keep what the mounted virtual thread is about to park for (NULL: it was not asked), and find it
 * again, without the owner, when the park ends.  False: another thread's note stands there. */
void park_note(const struct os_thread *self, const struct park_info *p);
bool park_noted(const struct os_thread *self, struct park_info *p);

/* The end of a park that was only timed (sums.h): when that is due it says what for and where.
 * thread: the current one; NULL: it is asked for.  False: it was not such a park. */
bool park_end_light(JNIEnv *jni, jthread thread, struct os_thread *self, thread_id id, uint64_t now,
                    stack_id (*stack_of)(JNIEnv *));

/* Ask it, when the park's beginning is recorded; releases the reference. */
void park_ask_owner(JNIEnv *jni, struct os_thread *self, thread_id id, const struct park_info *p,
                    const struct park_owner *owner);

#endif

/* on_park.h - what a parking thread waits for. */
#ifndef ORCA_AGENT_ON_PARK_H
#define ORCA_AGENT_ON_PARK_H

#include "agent/agent.h"

struct park_info {
    lock_id lock;    /* of Thread.parkBlocker; 0: the thread does not say */
    thread_id owner; /* of that lock; 0: none, or not known */
    bool wanted;     /* by include= and exclude= */
};

/* Look up the fields.  Where a JDK has them not, blockers and owners are unknown. */
void park_init(JNIEnv *jni);

/* thread: the current one.  No exception may be pending.  park_lock: without the owner. */
struct park_info park_info(JNIEnv *jni, jthread thread);
struct park_info park_lock(JNIEnv *jni, jthread thread);

#endif

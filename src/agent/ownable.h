/* ownable.h - the owner of a lock of java.util.concurrent, as it is in memory.
 *
 * AbstractOwnableSynchronizer.exclusiveOwnerThread is a field; a signal handler cannot ask JNI for
 * it, but can check whether it still has the value that it had when JNI named the owner.  Only with
 * collectors that move objects while all threads are paused: then a reference and its target move
 * together. */
#ifndef ORCA_AGENT_OWNABLE_H
#define ORCA_AGENT_OWNABLE_H

#include "agent/agent.h"

struct ownable {
    const uintptr_t *handle; /* where the JVM keeps the lock's address */
    uintptr_t object;
    uint64_t owner; /* the field, as it is in memory */
};

/* Find out where the field is, with a lock of our own; from: the JVM.  On a Java thread. */
void ownable_init(const struct agent *from, JNIEnv *jni);

/* Look at a lock (an AbstractOwnableSynchronizer); false: it has no owner, or this JVM's memory is
 * not understood.  Valid as long as the reference. */
bool ownable_look(jobject lock, struct ownable *o);

/* Whether it has the same owner now.  Async-signal-safe. */
bool ownable_is_same(const struct ownable *o);

#endif

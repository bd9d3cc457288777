/* blocked_on.h - on whose monitor a virtual thread that is mounted is blocked, or waits to be
 * notified, and who owns it (JDK 21 to 23). */
#ifndef ORCA_AGENT_BLOCKED_ON_H
#define ORCA_AGENT_BLOCKED_ON_H

#include "agent/agent.h"

/* A local reference to the object; NULL: none, or not known.  *owner: Thread.getId() of who owns
 * the monitor, -1: nobody, or not known.  The thread may go on at any moment: whoever asks compares
 * its stack before and after.  Not with -Xcheck:jni, which ends at references of the JVM's own.
 * Inside the guard; may take 20 ms. */
jobject blocked_on(JNIEnv *jni, const struct vm_layout *l, struct thread_table *t,
                   uint64_t java_tid, jlong *owner);

#endif

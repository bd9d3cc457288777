/* thrown.h - whether the exception that a constructor is making is thrown by the thread that makes
 * it.  JVMTI would report each exception that is thrown, but a JVM that can do so is slower with
 * all of them, and cannot be attached to; so the code behind the constructor's call is looked
 * at. */
#ifndef ORCA_AGENT_THROWN_H
#define ORCA_AGENT_THROWN_H

#include "agent/agent.h"

/* Called by a probe that is kept of a constructor of the class (internal form).  True: the JVM or
 * native code makes it, or what follows in Java throws it for certain: at once, out of a local
 * variable, with a cause, or after it was returned.  False: it is kept, passed on, or this is
 * unknown. */
bool thrown_when_made(JNIEnv *jni, const char *class);

#endif

/* methods.h - methods as ids, defined while they are certainly alive: on the stack that names them.
 *
 * jmethodIDs are never reused by the JVMs that Orca runs on, and resolving one whose class may be
 * unloading is not safe on JDK 17; so the definition is made at first sight, on the thread whose
 * stack holds the method, and stays in the trace when the class goes. */
#ifndef ORCA_AGENT_METHODS_H
#define ORCA_AGENT_METHODS_H

#include "agent/agent.h"

int methods_init(struct err *err);

/* The method's id, defined when it is new; 0 when that failed (the frame is then unknown). */
method_id methods_id(JNIEnv *jni, jmethodID method);

#endif

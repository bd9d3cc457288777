/* query_refs.h - who refers to an object and whom it refers to, as far as some steps, and the way
 * from a root of the collector to it (orca query PID refs).
 *
 * The JVM does not record who refers to an object: each step backwards is a walk through the whole
 * heap, during which the program is paused; between two walks it runs.  So memory stays small for
 * any heap: some hundred objects are kept, more are only counted. */
#ifndef ORCA_AGENT_QUERY_REFS_H
#define ORCA_AGENT_QUERY_REFS_H

#include "agent/agent.h"
#include "base/buf.h"

/* The answer as JSON.  Inside of the guard, on a Java thread; objects are followed. */
int query_refs_put(JNIEnv *jni, jobject object, uint32_t depth, struct buf *b, struct err *err);

#endif

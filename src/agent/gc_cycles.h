/* gc_cycles.h - cycles of concurrent collectors, as the JVM's management reports them after their
 * end (orca.probe.GcCycles): JVMTI knows only their pauses.
 *
 * Only for collectors that have such cycles, and only after their first pause: the management's
 * classes are not loaded for others.  Without java.management or jdk.management only pauses are
 * recorded. */
#ifndef ORCA_AGENT_GC_CYCLES_H
#define ORCA_AGENT_GC_CYCLES_H

#include "agent/agent.h"

/* Whether to begin to listen.  Cheap; the control thread. */
bool gc_cycles_due(void);

/* Begin to listen; once in a recording.  On a Java thread. */
void gc_cycles_start(JNIEnv *jni);

/* Stop listening. */
void gc_cycles_stop(JNIEnv *jni);

#endif

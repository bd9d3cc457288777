/* on_gc.h - collections: the pauses that JVMTI reports, with the JVM's own data about them
 * (hotspot/heap_use.h, gc_counters.h). */
#ifndef ORCA_AGENT_ON_GC_H
#define ORCA_AGENT_ON_GC_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

/* A recording begins; before the events are enabled. */
void gc_init(JNIEnv *jni);

/* Whether this JVM's collector works in cycles while the threads run, and has paused since then. */
bool gc_has_cycles(void);

/* When the last pause that has ended began; 0: none has been seen. */
uint64_t gc_last_pause(void);

#endif

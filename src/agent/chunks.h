/* chunks.h - where the frames of virtual threads are that are in the heap: found out when one is
 * first met, by comparing what JNI says of its objects with what stands in memory. */
#ifndef ORCA_AGENT_CHUNKS_H
#define ORCA_AGENT_CHUNKS_H

#include "hotspot/walker.h"

#include <jvmti.h>

struct chunks_of {
    jvmtiEnv *jvmti;
    JNIEnv *jni;
    struct walker *walker;
    const struct vmstructs *vs;
    uintptr_t java_thread; /* the caller's */
};

/* The calling virtual thread has such frames: from the next walk on the walker finds them, if this
 * JVM's objects are understood.  Costs a few JNI calls, some ten times at most.  Where an exception
 * is pending nothing is done. */
void chunks_learn(const struct chunks_of *of);

/* They differed from JVMTI's: stop using them. */
void chunks_give_up(struct walker *walker);

#endif

/* on_alloc.h - an object was allocated: from the JVM's callback or the probes to an event or a
 * count. */
#ifndef ORCA_AGENT_ON_ALLOC_H
#define ORCA_AGENT_ON_ALLOC_H

#include "agent/agent.h"

/* What is done with objects; set while no callback comes. */
struct alloc_mode {
    bool each;      /* the callback is called for every object, and is group alloc's */
    bool numbered;  /* group frees: an event for each object */
    bool stacks;    /* allocstacks= */
    uint64_t bytes; /* group sampled_alloc: one sample for this many bytes, on average */
};
void on_alloc_mode(const struct alloc_mode *mode);

/* JVMTI's SampledObjectAlloc. */
void JNICALL on_alloc_sampled(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                              jclass class_, jlong size);

/* A probe reports an object of the current thread; object: to be followed, NULL: to be counted.
 * Inside of the guard. */
void alloc_told(JNIEnv *jni, jobject object, class_id class_, uint64_t size);

/* The same of one to be counted, by OrcaHeap: the next one it may count itself (alloc_rows.h). */
void alloc_told_by_code(JNIEnv *jni, class_id class_, uint64_t size);

/* From begin to end the current thread allocates for Orca: that is not recorded.  False: it does so
 * already.  Inside of the guard. */
bool alloc_own_begin(JNIEnv *jni);
void alloc_own_end(JNIEnv *jni);

/* JVMTI's VMObjectAlloc: objects that the JVM's own code allocates, and that no probe reports. */
void JNICALL on_alloc_by_vm(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                            jclass class_, jlong size);

/* Find the methods whose allocations the probes report; before the above come. */
void on_alloc_init(JNIEnv *jni);

#endif

/* current_thread.h - the JavaThread of the calling thread, in any context, signal handlers
 * included.
 *
 * HotSpot keeps each thread's Thread in a pthread key in addition to its thread-local variable,
 * because its own signal handlers need it: reading a key allocates nothing, where the first access
 * to a thread-local variable of a library that was loaded late does.  The key is not published; it
 * is the one that holds the JavaThread of the thread that opens this.  It is empty for threads that
 * the JVM does not know, and emptied before a Thread is freed.  Only JavaThreads have a JNIEnv;
 * that distinguishes them from the JVM's other threads.  No JNI. */
#ifndef ORCA_HOTSPOT_CURRENT_THREAD_H
#define ORCA_HOTSPOT_CURRENT_THREAD_H

#include "hotspot/vmstructs.h"

#include <pthread.h>

struct current_thread {
    pthread_key_t key;
    uintptr_t env_offset;    /* from a JavaThread to its JNIEnv */
    uintptr_t env_functions; /* what every JNIEnv points to */
};

/* On a Java thread, whose JNIEnv this is; after guarded_open. */
int current_thread_open(struct current_thread *out, const struct vmstructs *vs, const void *env,
                        struct err *err);

/* 0: not, or no longer, a Java thread.  Async-signal-safe. */
uintptr_t current_thread(const struct current_thread *t);

#endif

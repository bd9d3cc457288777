/* open_waits.h - waits that the recording does not see whole: those under way when it begins in a
 * running JVM, and those still under way when it ends. */
#ifndef ORCA_AGENT_OPEN_WAITS_H
#define ORCA_AGENT_OPEN_WAITS_H

#include "agent/threads.h"
#include "base/map.h"

/* At the beginning, before anything else is recorded: n threads with their states and stacks at one
 * safepoint, under the ids that they have got (0: left out).  Written by the thread `self`. */
void open_waits_found(JNIEnv *jni, struct os_thread *self, const jvmtiStackInfo *all,
                      const uint32_t *ids, jint n);

/* Called by Java during that (orca.probe.Query): this virtual thread waits for that object, blocked
 * on it (how 0), parked (1), in Object.wait (2) or asleep (3; as 1 maybe for NULL), and the thread
 * of that Thread.getId() owns it (-1: none, or not known). */
void open_waits_virtual(JNIEnv *jni, jthread thread, jint how, jobject blocker, jlong owner);

/* At the end: what the parking thread `id` waits for, if its wait was only timed until now. */
void open_waits_place(JNIEnv *jni, jthread thread, thread_id id);

/* It is called at the end, outside of the guard. */
bool open_waits_are_over(void);

/* Likewise: a virtual thread owns what the platform thread `tid` is blocked on. */
void open_waits_owner(uint64_t tid, uint64_t owner);

/* When everything is recorded: a wait_open for those that go on, whose end the trace will show,
 * unlike their beginning. */
void open_waits_again(JNIEnv *jni, struct os_thread *self);

/* Append a wait_open for each wait that a platform thread has noted and not ended: for the file
 * that ends now, and without the JVM, so not for waits that were found at the beginning. */
void open_waits_now(void *ctx, struct buf *events);

/* At the end, written by the thread `self` for all others.  waiting: the ids of threads that the
 * JVM says wait, with the kind of event that begins such a wait. */
void open_waits_end(JNIEnv *jni, struct os_thread *self, const struct map *waiting);

/* Groups were switched off: what was found is not known to go on. */
void open_waits_forget(const bool *off);

/* Once no thread is inside the guard. */
void open_waits_free(void);

#endif

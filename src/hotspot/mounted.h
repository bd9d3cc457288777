/* mounted.h - whom a platform thread runs: itself, or the virtual thread that is mounted on it.
 *
 * JDK 24 and later keep the number of that thread in the JavaThread.  JDK 21 to 23 have its object:
 * the number is read from the heap (oops.h), where it may be unknown for a moment.
 * Async-signal-safe. */
#ifndef ORCA_HOTSPOT_MOUNTED_H
#define ORCA_HOTSPOT_MOUNTED_H

#include "hotspot/vmstructs.h"

/* Find in which place of a Thread object its number is; `thread` is the calling thread's object and
 * java_thread its JavaThread, java_tid its number, `at` where the field may be.  Nothing is
 * known from then on if it is not there. */
void mounted_open(struct vm_layout *l, const struct vmstructs *vs, uintptr_t java_thread,
                  uint64_t java_tid, long at);

/* Whether mounted_tid ever knows. */
bool mounted_known(const struct vm_layout *l);

/* Thread.getId() of the Java thread that a live thread (its JavaThread) runs, the mounted virtual
 * one if there is one; 0: not known. */
uint64_t mounted_tid(const struct vm_layout *l, uintptr_t java_thread);

/* JDK 21 to 23: it acts as itself, by its own account, and by all that the JVM has of it.  False is
 * "not known", too. */
bool mounted_itself(const struct vm_layout *l, uintptr_t java_thread);
bool mounted_nobody(const struct vm_layout *l, uintptr_t java_thread);

/* Whose frames the calling thread has on its stack, as a walk says (WALK_VIRTUAL). */
enum mounted_frames { FRAMES_UNKNOWN, FRAMES_PLATFORM, FRAMES_VIRTUAL };

/* JDK 21 to 23: a JNI reference to the thread of which these are the frames; 0: it is not known,
 * and where virtual threads are ended and begun JVMTI would wait for the caller itself.  It is the
 * JVM's own, and good as long as the caller is in what it is in.  *needed false: another JDK. */
uintptr_t mounted_reference(const struct vm_layout *l, uintptr_t java_thread,
                            enum mounted_frames frames, bool *needed);

#endif

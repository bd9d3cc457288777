/* blocked.h - on which object's monitor another thread is blocked, or waits to be notified.
 *
 * A JavaThread has the address of the ObjectMonitor, which refers to its object; the object's
 * header names the monitor.  JDK 21 to 23, for virtual threads on their carriers: JVMTI does not
 * tell an agent that was not there at the start (can_get_current_contended_monitor), and management
 * knows platform threads.  Since JDK 25 the JVM tells it of each thread.
 *
 * All is read with guarded loads, while the threads run.  Any thread; no lock, no JNI. */
#ifndef ORCA_HOTSPOT_BLOCKED_H
#define ORCA_HOTSPOT_BLOCKED_H

#include "hotspot/vmstructs.h"

/* The monitor that the thread (its JavaThread) wants to enter, or waits in, also while it wants it
 * again; 0: none, or not known. */
uintptr_t blocked_monitor(const struct vm_layout *l, uintptr_t java_thread);

/* A weak JNI reference to a monitor's object, which is the JVM's own; 0: not known.  The collector
 * may have left it as it was before objects moved, so who wants the object asks JNI. */
uintptr_t blocked_reference(const struct vm_layout *l, uintptr_t monitor);

/* Whether the object, at whose address this local reference is, is the monitor's.  False where the
 * monitor was taken away, where a field is not where the JVM says, or while a collector moves the
 * object. */
bool blocked_is(uintptr_t monitor, const uintptr_t *local);

/* The monitor of an object that this thread has entered by JNI; 0: not known. */
uintptr_t blocked_of(const uintptr_t *local);

#endif

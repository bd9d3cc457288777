/* unmounts.h - who owns a monitor that an unmounted virtual thread has locked (JDK 24 and later).
 *
 * A fast lock's owner is found by the lock stacks of threads; that of a virtual thread goes into
 * the heap with its frames.  Just before - contended enter, Object.wait, and the probes around
 * VirtualThread's park, parkNanos (a sleep, too) and tryYield - the thread itself reads its lock
 * stack and says what it holds (hotspot/unmounted.h); what ends it takes that back.  Threads:
 * those of the callbacks, inside the guard. */
#ifndef ORCA_AGENT_UNMOUNTS_H
#define ORCA_AGENT_UNMOUNTS_H

#include "agent/threads.h"

/* Before any callback is enabled: -ENOMEM.  On a JVM where it cannot be known nothing is known. */
int unmounts_init(void);
void unmounts_free(void);

/* The current thread, if it is virtual, may leave its carrier before the event that ends this one;
 * after threads_current. */
void unmounts_leave(struct os_thread *self);

/* That event has come. */
void unmounts_return(struct os_thread *self);

/* The virtual thread has ended. */
void unmounts_ended(uint64_t java_tid);

/* Events are switched on or off: who is away may come back unseen. */
void unmounts_forget(void);

/* Thread.getId() of the unmounted thread that owns the object on whose monitor the calling thread
 * is about to block, if its owner is anonymous; 0: not known. */
uint64_t unmounts_owner(struct os_thread *self, jobject object);

/* The same of any object, for who knows that no platform thread owns it: its thread has said so and
 * is mounted nowhere.  0: not known. */
uint64_t unmounts_holder(jobject object);

#endif

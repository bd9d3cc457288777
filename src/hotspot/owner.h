/* owner.h - which thread owns a monitor that another thread is about to block on.
 *
 * Read from the ObjectMonitor itself.  The blocking thread is counted among the monitor's
 * contenders while JVMTI posts the event, so the monitor cannot be deflated under us; the objects'
 * header is never read. What the owner field holds: JDK 17-23 the owner's JavaThread, or the
 * address of a lock record on its stack; JDK 24+ its Thread.getId(); since JDK 21 also "anonymous":
 * somebody holds it as a fast lock, and the owner is the thread whose lock stack names the object.
 *
 * The table of live threads is Orca's own.  A thread is taken out before its JavaThread is freed,
 * and thread_table_remove waits for searches under way, so a search never reads freed memory.  No
 * JNI. */
#ifndef ORCA_HOTSPOT_OWNER_H
#define ORCA_HOTSPOT_OWNER_H

#include "hotspot/mounted.h"

#include <stddef.h>

struct thread_table;

/* `owners` false: the JVM's layout is not known well enough, owner_find always answers
 * "unknown". */
int thread_table_new(struct thread_table **out, const struct vm_layout *layout, bool owners);

/* No thread may use it any longer. */
void thread_table_free(struct thread_table *t);

/* A live thread.  java_thread: its JavaThread, 0 for a virtual thread; carrier: it runs others.
 * False when memory is out (its owner will be unknown).  Any thread; takes a mutex. */
bool thread_table_add(struct thread_table *t, uintptr_t java_thread, uint64_t java_tid, uint32_t id,
                      bool carrier);

/* Take a thread out; nothing happens when it is not there.  Waits for searches (microseconds). */
void thread_table_remove(struct thread_table *t, uint64_t java_tid);

/* The id under which a Thread.getId() was added, 0 when it was not.  Any thread; takes no lock. */
uint32_t thread_table_find(struct thread_table *t, uint64_t java_tid);

/* Each platform thread in the table, with the mutex held: none is freed during the walk. */
void thread_table_each(struct thread_table *t,
                       void (*visit)(void *ctx, uintptr_t java_thread, uint32_t id), void *ctx);

struct owner {
    uint32_t id;       /* as added to the table; 0: not known */
    uint64_t java_tid; /* may be known although the thread is not in the table; 0: not known */
    bool gone;         /* the monitor is free again */
    bool anonymous;    /* owned as a fast lock; by whom: by the address of the object */
};

/* The platform thread that runs the owner: the owner itself, or a virtual thread's carrier. */
struct owner_place {
    uintptr_t monitor, java_thread; /* java_thread 0: not known, or it is not mounted */
    uintptr_t stack_low, stack_high;
    uint32_t os_tid;
    uint32_t id;       /* of that thread in the table */
    bool in_native;    /* it was in a native method of the program or the JDK */
    bool carries;      /* the owner is a virtual thread, */
    uint64_t java_tid; /* of this Thread.getId() */
};

/* The owner of the monitor that the calling thread (its JavaThread) is about to block on.  `oop`:
 * where the JVM keeps the object's address, to find an anonymous owner; NULL: do not look.
 * *place (NULL: not asked for): who runs it; that thread may be gone when this returns.  Threads:
 * the blocking thread itself, inside MonitorContendedEnter.  No allocation, no lock. */
struct owner owner_find(struct thread_table *t, uintptr_t java_thread, const uintptr_t *oop,
                        struct owner_place *place);

/* The same of a monitor for which another thread waits; that thread must wait for the same monitor
 * after the answer, too (blocked.h). */
struct owner owner_of_monitor(struct thread_table *t, uintptr_t monitor, const uintptr_t *oop,
                              struct owner_place *place);

/* Whether no thread has said yet that it owns that monitor.  As owner_find. */
bool owner_is_anonymous(const struct thread_table *t, uintptr_t java_thread);

/* Where the calling thread (its JavaThread) has the addresses of the objects that it has locked and
 * that have no ObjectMonitor that knows; returns how many. */
enum { OWNER_LOCKS = 8 };
size_t owner_own_locks(const struct vm_layout *l, uintptr_t java_thread,
                       uintptr_t slots[OWNER_LOCKS]);

/* The carrier of the live thread of this Thread.getId(); false when that is not known or not
 * mounted. */
bool owner_locate(struct thread_table *t, uint64_t java_tid, struct owner_place *place);

/* Whether the calling thread, which is the one at `place`, owns the monitor now; it does until the
 * caller returns to what it was doing.  The monitor must be alive: a thread is in its
 * MonitorContendedEnter.  Async-signal-safe. */
bool owner_is(const struct vm_layout *l, const struct owner_place *place, const uintptr_t *oop);

/* The kernel's id of a live thread, 0 when the layout does not show it. */
uint32_t os_thread_id(const struct vm_layout *l, uintptr_t java_thread);

#endif

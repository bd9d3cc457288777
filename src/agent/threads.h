/* threads.h - who the threads are: dense ids, definitions, and each OS thread's ring.
 *
 * An id belongs to the Java thread, platform or virtual, and is found by its Thread.getId(), so a
 * virtual thread has the same id on every carrier.  The ring belongs to the OS thread. */
#ifndef ORCA_AGENT_THREADS_H
#define ORCA_AGENT_THREADS_H

#include "agent/agent.h"
#include "hotspot/stack_room.h"

/* Of the calling OS thread.  Only its owner writes to it; `open_*` is also read when the recording
 * ends. */
struct os_thread {
    struct ring *ring;
    thread_id id;         /* of the platform thread, or of the JVM's own thread */
    uint64_t java_tid;    /* the platform thread's Thread.getId(), once id is known; else 0 */
    uint64_t mounted_tid; /* of the virtual thread that it last recorded an event of; 0: none */
    thread_id mounted;
    lock_id acquires;      /* the semaphore that the platform thread acquires; 0: none, or another
                           * thread's */
    uintptr_t java_thread; /* HotSpot's JavaThread, 0 for the JVM's own threads */
    uintptr_t stack_end;   /* of a Java thread: below are HotSpot's guard pages; 0: not known */
    bool from_start;       /* its ThreadStart was seen: no wait of it can be older */
    bool in_user_probe;    /* it records the call of a method of methods= */
    bool in_alloc;         /* it records an allocation: what is allocated for that does not count */
    struct alloc_counts *counts; /* what it has allocated; NULL: nothing yet */
    struct alloc_row *row;       /* and what its Java code has counted itself */
    bool carrier_known, carrier; /* whether it is a virtual thread's carrier (on_cause.c) */
    bool row_asked, trails_asked;
    struct trails *trails;   /* of its latest stacks; NULL: none yet, or no room */
    struct sums_table *sums; /* of short waits that ended here (sums.h); NULL: none yet */
    /* The wait that the platform thread is in: the kind of the event that began it, 0 for none. */
    _Atomic uint32_t open_kind, open_lock, open_limit; /* as of wait_open */
    _Atomic uint64_t open_since;
    struct os_thread *next, *prev; /* all of them, under the registry's mutex */
};

/* Before any callback is enabled.  -ENOTSUP when this JVM's threads cannot be identified. */
int threads_init(JNIEnv *jni, jthread current, struct err *err);

/* Define the threads that are alive now, note each as thread_alive and those that wait with what
 * they wait for.  ThreadStart and ThreadEnd are enabled, nothing else is; after park_init. */
void threads_enumerate(JNIEnv *jni);

/* Once no thread is inside the guard. */
void threads_free(void);

/* The calling OS thread; made on first use.  NULL when memory is out or recording is off.
 * jni: of the caller, NULL on a thread of the JVM that has none. */
struct os_thread *os_thread_self(JNIEnv *jni);

/* Bytes that are left of the stack that it, the calling thread, runs on.  NULL: the least there can
 * be. */
static inline size_t os_thread_room(const struct os_thread *self)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (self && !self->java_thread)
        return SIZE_MAX; /* of the JVM's own threads no Java code uses up the stack */
    if (!self || !self->stack_end)
        return STACK_ROOM_LEAST;
    return here > self->stack_end ? here - self->stack_end : 0;
}

/* The id of the current Java thread, which a callback got as `thread`; 0 when it cannot be had. */
thread_id threads_current(JNIEnv *jni, jthread thread, struct os_thread *self);

/* The same without a `thread`: a wrapped native method.  May run with a Java exception pending when
 * the thread has an id already. */
thread_id threads_self(JNIEnv *jni, struct os_thread *self);

/* The calling thread, as JVMTI is to be asked about its frames; false: it is not to be asked.  NULL
 * would do, but on JDK 21 to 23 it lets no virtual thread come or go until it has answered: a
 * carrier that is ending one would wait for itself. */
bool threads_myself(JNIEnv *jni, enum mounted_frames frames, jthread *myself);

/* The id of any thread that was started; 0 when it ended long ago.  No exception may be pending. */
thread_id threads_of(JNIEnv *jni, jthread thread);

/* The same of the virtual thread that the calling thread leaves.  If it has ended, the carrier may
 * have waited for a processor since, while others took its place among those that ended lately. */
thread_id threads_mounted(JNIEnv *jni, jthread thread, const struct os_thread *self);

/* Thread.getId() of any thread. */
uint64_t threads_java_tid(JNIEnv *jni, jthread thread);

/* A probe, not JVMTI, reports the ends of virtual threads. */
bool threads_ends_probed(void);

bool threads_is_virtual(JNIEnv *jni, jthread thread);

/* What a virtual thread waits for: the kind of the event that began it, 0: for nothing.  Asks JVMTI
 * of those only that are mounted. */
enum event_kind threads_virtual_wait(JNIEnv *jni, jthread thread);
bool threads_is_carrier(JNIEnv *jni, jthread thread); /* of virtual threads */

/* The id of a thread that is none of Java's, by its number in the kernel; given and defined when it
 * is new.  No JVM call; any thread. */
thread_id threads_native(uint32_t os_tid);

/* It has ended: the kernel may give its number to another one. */
void threads_native_ended(uint32_t os_tid);

/* Each live platform thread of Java: no thread is added or removed during the walk.  `visit` makes
 * no JVM call. */
void threads_each_java(void (*visit)(void *ctx, uintptr_t java_thread, uint32_t id), void *ctx);

/* For how long a platform thread has been in the wait that it is in, ns; -1: it is in none, or that
 * was not recorded. */
int64_t threads_waiting_for(uint64_t java_tid);

/* The id of a thread of which only Thread.getId() is known: the owner of a monitor. */
thread_id threads_by_tid(JNIEnv *jni, uint64_t java_tid);

/* The current thread starts or ends. */
void threads_started(JNIEnv *jni, jthread thread);
void threads_ended(JNIEnv *jni, jthread thread);
void threads_virtual_started(JNIEnv *jni, jthread thread);
void threads_virtual_ended(JNIEnv *jni, jthread thread);

/* It is a virtual thread and has ended: a join returns at once. */
bool threads_virtual_is_over(JNIEnv *jni, jthread thread);

/* Each OS thread that has recorded something and lives; `visit` makes no JVM call. */
void threads_each(void (*visit)(void *ctx, const struct os_thread *t), void *ctx);

/* The same on the drain thread: false when the list was not to be had within 100 ms.  Who holds it
 * may be waiting for room in a ring (full=block), which only the drain thread makes. */
bool threads_each_soon(void (*visit)(void *ctx, const struct os_thread *t), void *ctx);

/* Groups were switched off: their open waits are forgotten. */
void threads_forget_waits(const bool *off);

/* At the end of the recording: note renamed threads and waits that are still open. */
void threads_finish(JNIEnv *jni);

/* Remember the wait that the calling platform thread begins (kind 0: that it is over). */
static inline void threads_note_wait(struct os_thread *self, uint32_t kind, lock_id lock,
                                     enum wait_limit limit, uint64_t since)
{
    /* relaxed: read once, when the recording ends, where a torn view costs a stale line at most */
    atomic_store_explicit(&self->open_lock, lock.v, memory_order_relaxed);
    atomic_store_explicit(&self->open_limit, limit, memory_order_relaxed);
    atomic_store_explicit(&self->open_since, since, memory_order_relaxed);
    atomic_store_explicit(&self->open_kind, kind, memory_order_relaxed);
}

/* The wait that began with an event of this kind is over; false when there is none. */
static inline bool threads_end_wait(struct os_thread *self, uint32_t kind)
{
    if (atomic_load_explicit(&self->open_kind, memory_order_relaxed) != kind)
        return false;
    threads_note_wait(self, 0, (lock_id){0}, WAIT_LIMIT_UNKNOWN, 0);
    return true;
}

#endif

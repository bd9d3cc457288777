/* threads.h - who the threads are: dense ids, definitions, and each OS thread's ring.
 *
 * An id belongs to the Java thread, platform or virtual, and is found by its Thread.getId(), so a
 * virtual thread has the same id on every carrier.  The ring belongs to the OS thread. */
#ifndef ORCA_AGENT_THREADS_H
#define ORCA_AGENT_THREADS_H

#include "agent/agent.h"

/* Of the calling OS thread.  Only its owner writes to it; `open_*` is also read when the recording
 * ends. */
struct os_thread {
    struct ring *ring;
    thread_id id;          /* of the platform thread, or of the JVM's own thread */
    uint64_t java_tid;     /* the platform thread's Thread.getId(), once id is known; else 0 */
    uintptr_t java_thread; /* HotSpot's JavaThread, 0 for the JVM's own threads */
    bool from_start;       /* its ThreadStart was seen: no wait of it can be older */
    /* The wait that the platform thread is in: the kind of the event that began it, 0 for none. */
    _Atomic uint32_t open_kind, open_lock;
    _Atomic uint64_t open_since;
    struct os_thread *next, *prev; /* all of them, under the registry's mutex */
};

/* Before any callback is enabled.  -ENOTSUP when this JVM's threads cannot be told apart. */
int threads_init(JNIEnv *jni, jthread current, struct err *err);

/* Define the threads that are alive now and note each as thread_alive. */
void threads_enumerate(JNIEnv *jni);

/* The calling OS thread; made on first use.  NULL when memory is out or recording is off.
 * jni: of the caller, NULL on a thread of the JVM that has none. */
struct os_thread *os_thread_self(JNIEnv *jni);

/* The id of the current Java thread, which a callback got as `thread`; 0 when it cannot be had. */
thread_id threads_current(JNIEnv *jni, jthread thread, struct os_thread *self);

/* The same where there is no `thread`: a wrapped native method.  May run with a Java exception
 * pending when the thread has an id already. */
thread_id threads_self(JNIEnv *jni, struct os_thread *self);

/* The id of any thread that was started; 0 when it ended long ago.  No exception may be pending. */
thread_id threads_of(JNIEnv *jni, jthread thread);

bool threads_is_virtual(JNIEnv *jni, jthread thread);

/* The id of a thread of which only Thread.getId() is known: the owner of a monitor. */
thread_id threads_by_tid(uint64_t java_tid);

/* The current thread starts or ends. */
void threads_started(JNIEnv *jni, jthread thread);
void threads_ended(JNIEnv *jni, jthread thread);
void threads_virtual_started(JNIEnv *jni, jthread thread);
void threads_virtual_ended(JNIEnv *jni, jthread thread);

/* At the end of the recording: note renamed threads and waits that are still open. */
void threads_finish(JNIEnv *jni);

/* Remember the wait that the calling platform thread begins (kind 0: that it is over). */
static inline void threads_note_wait(struct os_thread *self, uint32_t kind, lock_id lock,
                                     uint64_t since)
{
    /* relaxed: read once, when the recording ends, where a torn view costs a stale line at most */
    atomic_store_explicit(&self->open_lock, lock.v, memory_order_relaxed);
    atomic_store_explicit(&self->open_since, since, memory_order_relaxed);
    atomic_store_explicit(&self->open_kind, kind, memory_order_relaxed);
}

/* The wait that began with an event of this kind is over; false when there is none. */
static inline bool threads_end_wait(struct os_thread *self, uint32_t kind)
{
    if (atomic_load_explicit(&self->open_kind, memory_order_relaxed) != kind)
        return false;
    threads_note_wait(self, 0, (lock_id){0}, 0);
    return true;
}

#endif

/* on_io.h - waits in input and output: the calls of the C library that native methods make, with a
 * function of ours in front (base/imports.h).
 *
 * So one row serves every JDK and every library with natives of its own (Netty's transports), the
 * descriptor and the number of bytes are at hand, and no class is changed.  A call that is over
 * within io= costs two readings of the clock and nothing else; one that has blocked is an event at
 * its end, and only such a call may ask the kernel who is at the other end (peers.h).  A call that
 * has not ended when the recording ends has no event: looks show it, as they show calls that began
 * before an attach.
 *
 * A virtual thread does not block there: it registers its descriptor with the JDK's Poller and
 * parks; an event records the purpose of that park. */
#ifndef ORCA_AGENT_ON_IO_H
#define ORCA_AGENT_ON_IO_H

#include "agent/threads.h"

/* The group is switched on or off; also when the recording begins. */
void io_update(void);

/* The recording ends: everything is as it was. */
void io_end(void);

/* Libraries may have been loaded: before a native method's first call. */
void JNICALL on_native_bind(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jmethodID method,
                            void *address, void **new_address);

/* What the calling thread has last asked a Poller to watch, taken: at each park of a virtual
 * one. */
struct io_polled {
    int fd; /* + 1; 0: nothing */
    uint32_t events;
};
struct io_polled io_take_polled(void);

/* Called before an event says that id wakes a thread: an event says what the calling thread has
 * read before, if it has since the last such event.  May ask the kernel, once for a descriptor. */
void io_note_read(struct os_thread *self, thread_id id, uint64_t now);

/* The park that id, a virtual thread, has just begun is for that: an event says so. */
void io_note_park(struct os_thread *self, thread_id id, uint64_t now, struct io_polled p);

#endif

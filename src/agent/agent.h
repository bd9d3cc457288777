/* agent.h - the agent's one state, and the way from a JVMTI event to the ring.
 *
 *   onload.c          entry points, options, capabilities
 *   lifecycle.c       a recording begins and ends; groups are switched; the text formats
 *   settings.c        the option table; program_name.c, lacks.c: what is recorded of the program's
 *                     command, and what this JVM cannot give
 *   files.c           the files of a recording: names, and who is notified of them
 *   control.c request.c verbs.c   the control socket: clients, their lines, what they may ask
 *   query.c query_files.c json_text.c   what goes on in the JVM now, as JSON
 *   threads.c         who the threads are: ids, names, rings
 *   stacks.c          the current call stack as an id, by the walker or GetStackTrace; chunks.c:
 *                     frames of virtual threads in the heap
 *   walk_proof.c            stacks that were read, compared with JVMTI's
 *   methods.c moves.c   methods and classes as ids; where their instructions stood before
 *   origins.c         which fields hold what threads wait for
 *   locks.c           monitor objects as ids
 *   unmounts.c asked_owners.c ownable.c owner_stacks.c   owners of locks: unmounted ones, those
 *                     that were unknown, those of java.util.concurrent, what they execute
 *   open_waits.c      waits under way when a recording begins and when it ends; blocked_on.c: on
 *                     whose monitor a virtual thread waits
 *   sums.c            short waits as sums
 *   on_monitor.c on_thread.c on_gc.c     JVMTI's callbacks
 *   gc_cycles.c gc_names.c   cycles of concurrent collectors; the words about collections
 *   natives.c         native methods of the JDK with a wrapper in front: on_cause.c, on_park.c
 *   on_io.c peers.c   the C library's calls of input and output, and who is at the other end;
 *                     open_calls.c (those that have not returned)
 *   probes.c          methods rewritten to call probes: tracked.c (the table), on_call.c;
 *                     user_methods.c (those that the user names); retransform.c, kept.c (classes
 *                     that are loaded already, and those that stay rewritten)
 *   thrown.c          whether an exception that is made is thrown
 *   holds.c           how long locks are held
 *   heap.c            what the heap profiler records: on_alloc.c, alloc_*.c, objects.c (numbers);
 *                     heap_walk.c, heap_classes.c (walks of the heap), heap_xml.c, heap_live.c,
 *                     query_object.c, query_refs.c (questions about it)
 *   sampling.c        what threads execute, sampled: sample_events.c makes events of it,
 *                     modules.c names the files of native code
 *   sched.c           when threads were on a processor
 *   safepoints.c      when the JVM stopped them
 *
 * In the JVM: nothing here exits, aborts, throws, or leaves an exception or a local reference
 * behind.  Callbacks keep errno. */
#ifndef ORCA_AGENT_AGENT_H
#define ORCA_AGENT_AGENT_H

#include "agent/cost.h"
#include "agent/settings.h"
#include "base/guard.h"
#include "hotspot/owner.h"
#include "record/recorder.h"

#include <jvmti.h>

/* The state of this library in this JVM.  What belongs to a recording is set up before the guard is
 * opened, and only to be looked at inside of it (agent_enter). */
struct agent {
    JavaVM *vm;
    struct vmstructs *vmstructs;
    struct vm_layout layout;
    struct walker *walker; /* NULL: not on this JVM, or not wanted */
    int java_version;      /* 17, 25 */

    /* of the recording */
    uint32_t session; /* which one: they are counted from 1 */
    jvmtiEnv *jvmti;
    struct settings settings;
    struct recorder *rec;
    struct thread_table *table;
    bool virtual_threads; /* the JVM has them and posts their events to us */
    bool attached;        /* to a running JVM */
    bool all_places;      /* the compilers have described every place from the start (sampling.c) */
    uint64_t started;
    char path[1024]; /* of the trace, the first one when there are several (files.h) */
};

extern struct agent agent;

/* Whether it is worth to look closer.  Any thread. */
static inline bool agent_on(void)
{
    return atomic_load_explicit(&guard_is_open, memory_order_relaxed);
}

/* The same for a group that can be switched while it goes on. */
static inline bool agent_wants(enum event_group g)
{
    return agent_on() && agent.settings.groups[g];
}

/* The same for an event of it for which a method of the JDK is changed. */
static inline bool agent_wants_cause(enum event_group g)
{
    return agent_wants(g) && agent.settings.contanalysis;
}

/* Whether events are recorded; then the recording stays until agent_leave.  Any thread. */
static inline bool agent_enter(void)
{
    if (!guard_enter())
        return false;
    if (recorder_on(agent.rec))
        return true;
    guard_leave();
    return false;
}

static inline void agent_leave(void)
{
    guard_leave();
}

/* Run `body` if events are recorded.  Keeps errno: the interrupted code may be about to read it. */
#define RECORDING(body)                                                                            \
    do {                                                                                           \
        if (agent_enter()) {                                                                       \
            int saved_errno_ = errno;                                                              \
            uint64_t cost_ = cost_call_begin();                                                    \
            body;                                                                                  \
            cost_call_end(cost_);                                                                  \
            errno = saved_errno_;                                                                  \
            agent_leave();                                                                         \
        }                                                                                          \
    } while (0)

/* "JVMTI_ERROR_..." in words for messages; static text. */
const char *jvmti_error_name(jvmtiError e);

/* A system property, malloc'ed by the caller's buffer rules: at most n bytes with the NUL; "" when
 * unset. */
void jvm_property(const char *key, char *out, size_t n);

/* Release what JVMTI allocated; NULL is allowed. */
void jvmti_free(void *p);

/* A local reference is the address of the place where the JVM keeps the object's address; the two
 * low bits mark other kinds of reference. */
static inline const uintptr_t *handle_of(jobject o)
{
    return (const uintptr_t *)((uintptr_t)o & ~(uintptr_t)3);
}

/* HotSpot's jfieldID of a field of an instance: its offset, above two bits.  -1: it is none. */
static inline int32_t jni_field_offset(jfieldID id)
{
    enum { OFFSET_SHIFT = 2, MOST = 1 << 12 };
    uintptr_t v = (uintptr_t)id >> OFFSET_SHIFT;
    return v < MOST ? (int32_t)v : -1;
}

/* JVMTI has just given out references, as many as there were, or called us where there are many:
 * -Xcheck:jni (17) would warn of them at the next JNI call.  HotSpot allocates nothing for it. */
static inline void refs_may_be_many(JNIEnv *jni)
{
    enum { MOST = 60000 }; /* it refuses 65,536 */
    if ((*jni)->EnsureLocalCapacity(jni, MOST) < 0)
        (*jni)->ExceptionClear(jni);
}

/* onload.c: read the options and get a JVMTI environment.  -EINVAL: an option is wrong;
 * -ENOTSUP. */
int agent_load(JavaVM *vm, const char *options, bool live, struct err *err);
void agent_unload(void);

/* lifecycle.c: a recording begins and ends; on a Java thread.  One at a time.
 * agent_attach: loads and starts, in a JVM that is running; -EALREADY.  agent_stop: everything is
 * as it was before; -ENODATA: nothing is recorded. */
int agent_attach(JNIEnv *jni, JavaVM *vm, const char *options, struct err *err);
int agent_stop(JNIEnv *jni, struct recorder_result *result, struct err *err);

/* What an answer says of the files that a recording leaves: a line "kept no" when the trace is only
 * on the way to the text files, and a line "text PATH" for each of these. */
void agent_put_texts(struct buf *reply);

/* Switch groups while it goes on: "+parks-waits", or "parks+waits" for just these.  The reply has a
 * line "left_out WHY" when not all of them can be; -ENOTSUP: none of them. */
int agent_switch(JNIEnv *jni, char *groups, struct buf *reply, struct err *err);
void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread);
void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni);
void agent_finish(JNIEnv *jni);

/* callbacks of the event groups */
void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread);
void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread);
void JNICALL on_virtual_thread_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread);
void JNICALL on_virtual_thread_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread);
void JNICALL on_contended_enter(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object);
void JNICALL on_contended_entered(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object);
void JNICALL on_wait(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object, jlong timeout);
void JNICALL on_waited(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                       jboolean timed_out);
void JNICALL on_gc_start(jvmtiEnv *jvmti);
void JNICALL on_gc_finish(jvmtiEnv *jvmti);

#endif

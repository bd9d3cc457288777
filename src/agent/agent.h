/* agent.h - the agent's one state, and the way from a JVMTI event to the ring.
 *
 *   onload.c          entry points, options, capabilities
 *   lifecycle.c       VMInit to VMDeath: opens the recorder, closes it, writes the text formats
 *   settings.c        the option table
 *   threads.c         who the threads are: ids, names, rings
 *   stacks.c          the current call stack as an id          (the only user of GetStackTrace)
 *   methods.c         methods and classes as ids
 *   locks.c           monitor objects as ids
 *   on_monitor.c, on_thread.c, on_gc.c   the callbacks
 *
 * In the JVM: nothing here exits, aborts, throws, or leaves an exception or a local reference
 * behind. Callbacks keep errno. */
#ifndef ORCA_AGENT_AGENT_H
#define ORCA_AGENT_AGENT_H

#include "agent/settings.h"
#include "hotspot/owner.h"
#include "record/recorder.h"

#include <jvmti.h>

/* The state of this library in this JVM.  Set up by Agent_OnLoad and VMInit before any other
 * callback is enabled; never freed, because a late callback may still look at it. */
struct agent {
    JavaVM *vm;
    jvmtiEnv *jvmti;
    struct settings settings;
    struct recorder *rec; /* NULL: not recording */
    struct vmstructs *vmstructs;
    struct vm_layout layout;
    struct thread_table *table;
    bool virtual_threads; /* the JVM has them and posts their events to us */
    bool loaded;
    int java_version; /* 17, 25 */
    char path[1024];  /* of the trace */
};

extern struct agent agent;

/* Whether an event should be looked at.  Any thread. */
static inline bool agent_on(void)
{
    return agent.rec && recorder_on(agent.rec);
}

/* Callbacks preserve errno: the interrupted code may be about to read it. */
#define KEEP_ERRNO(body)                                                                           \
    do {                                                                                           \
        int saved_errno_ = errno;                                                                  \
        body;                                                                                      \
        errno = saved_errno_;                                                                      \
    } while (0)

/* "JVMTI_ERROR_..." in words for messages; static text. */
const char *jvmti_error_name(jvmtiError e);

/* A system property, malloc'ed by the caller's buffer rules: at most n bytes with the NUL; "" when
 * unset. */
void jvm_property(const char *key, char *out, size_t n);

/* Release what JVMTI allocated; NULL is allowed. */
void jvmti_free(void *p);

/* lifecycle.c */
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

/* tracked.h - the table of methods whose calls are events, and what their probes do.
 *
 * probes.c rewrites the methods of the table so that they call orca.probe.Probe, whose native
 * methods are here.  All run on the thread that makes the call, in state "in native", with no
 * exception pending. */
#ifndef ORCA_AGENT_TRACKED_H
#define ORCA_AGENT_TRACKED_H

#include "agent/agent.h"

/* What a tracked method is about. */
enum tracked_object {
    OBJECT_NONE = -2,
    OBJECT_THIS = -1, /* else: the number of the parameter, from 0 */
};

struct tracked {
    const char *class, *name; /* class in internal form: java/lang/Thread */
    const char *signature;    /* NULL: every overload */
    enum event_group group;
    int8_t object; /* enum tracked_object, or the number of a parameter */
    int8_t time;   /* the number of the parameter (a long) that is the time-out; -1: none */
    bool result;   /* it returns a boolean that says whether it got what it wanted */
    bool early;    /* `call` comes before the method does its work */
    int from, to;  /* Java versions; 0: all */
    /* A method that may block has enter and exit; another one `call`, after it did its work. */
    void (*enter)(JNIEnv *jni, jobject object, int64_t time);
    void (*exit)(JNIEnv *jni, jobject object, bool got);
    void (*call)(JNIEnv *jni, jobject object);
};

extern const struct tracked tracked[];
extern const size_t n_tracked;

/* The natives of orca.probe.Probe: the table for RegisterNatives. */
extern const JNINativeMethod tracked_natives[];
enum { N_TRACKED_NATIVES = 6 };

/* on_call.c, on_park.c */
void join_enter(JNIEnv *jni, jobject thread, int64_t ms);
void join_exit(JNIEnv *jni, jobject thread, bool got);
void virtual_join_enter(JNIEnv *jni, jobject thread, int64_t ms);
void virtual_join_exit(JNIEnv *jni, jobject thread, bool got);
void virtual_sleep_enter(JNIEnv *jni, jobject thread, int64_t ns);
void virtual_sleep_exit(JNIEnv *jni, jobject thread, bool got);
void virtual_start(JNIEnv *jni, jobject thread);
void virtual_interrupt(JNIEnv *jni, jobject thread);
void interrupted(JNIEnv *jni, jobject exception);
void semaphore_acquire_enter(JNIEnv *jni, jobject semaphore, int64_t time);
void semaphore_acquire_exit(JNIEnv *jni, jobject semaphore, bool got);
void semaphore_release(JNIEnv *jni, jobject semaphore);
void virtual_park_enter(JNIEnv *jni, jobject thread, int64_t ns);
void virtual_park_exit(JNIEnv *jni, jobject thread, bool got);
void virtual_unpark(JNIEnv *jni, jobject thread);

#endif

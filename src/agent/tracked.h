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
    int from, to;  /* Java versions; 0: all */
    /* A method that may block has enter and exit; another one `call`, at its entry: a cause must
     * not be recorded after what it causes. */
    void (*enter)(JNIEnv *jni, const struct tracked *t, jobject object, int64_t time);
    void (*exit)(JNIEnv *jni, const struct tracked *t, jobject object, bool got);
    void (*call)(JNIEnv *jni, const struct tracked *t, jobject object);
};

extern const struct tracked tracked[];
extern const size_t n_tracked;

/* The id of a row in events, and the definitions of those that the settings switch on and that have
 * no event kind of their own. */
static inline call_id tracked_id(const struct tracked *t)
{
    return (call_id){(uint32_t)(t - tracked) + 1};
}
bool tracked_applies(const struct tracked *t);
void tracked_define(void);

/* The natives of orca.probe.Probe: the table for RegisterNatives. */
extern const JNINativeMethod tracked_natives[];
enum { N_TRACKED_NATIVES = 6 };

/* on_call.c, on_park.c */
void join_enter(JNIEnv *jni, const struct tracked *t, jobject thread, int64_t ms);
void join_exit(JNIEnv *jni, const struct tracked *t, jobject thread, bool got);
void virtual_join_enter(JNIEnv *jni, const struct tracked *t, jobject thread, int64_t ms);
void virtual_join_exit(JNIEnv *jni, const struct tracked *t, jobject thread, bool got);
void virtual_sleep_enter(JNIEnv *jni, const struct tracked *t, jobject thread, int64_t ns);
void virtual_sleep_exit(JNIEnv *jni, const struct tracked *t, jobject thread, bool got);
void virtual_start(JNIEnv *jni, const struct tracked *t, jobject thread);
void virtual_interrupt(JNIEnv *jni, const struct tracked *t, jobject thread);
void interrupted(JNIEnv *jni, const struct tracked *t, jobject exception);
void semaphore_acquire_enter(JNIEnv *jni, const struct tracked *t, jobject semaphore, int64_t time);
void semaphore_acquire_exit(JNIEnv *jni, const struct tracked *t, jobject semaphore, bool got);
void semaphore_release(JNIEnv *jni, const struct tracked *t, jobject semaphore);
void virtual_park_enter(JNIEnv *jni, const struct tracked *t, jobject thread, int64_t ns);
void virtual_park_exit(JNIEnv *jni, const struct tracked *t, jobject thread, bool got);
void virtual_unpark(JNIEnv *jni, const struct tracked *t, jobject thread);

/* Those without an event kind of their own. */
void call_enter(JNIEnv *jni, const struct tracked *t, jobject object, int64_t time);
void call_exit(JNIEnv *jni, const struct tracked *t, jobject object, bool got);
void call_made(JNIEnv *jni, const struct tracked *t, jobject object);

#endif

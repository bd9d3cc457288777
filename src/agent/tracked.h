/* tracked.h - the table of methods whose calls are events, and what their probes do.
 *
 * probes.c rewrites the methods of the table so that they call java.lang.OrcaProbe, whose native
 * methods are here.  All run on the thread that makes the call, in state "in native", with no
 * exception pending. */
#ifndef ORCA_AGENT_TRACKED_H
#define ORCA_AGENT_TRACKED_H

#include "agent/agent.h"
#include "format/call_table.h"

struct tracked {
    const char *class, *name; /* class in internal form: java/lang/Thread */
    const char *signature;    /* NULL: every overload */
    enum event_group group;
    int16_t object; /* CALL_THIS, CALL_NO_OBJECT, or the number of a parameter, from 0 */
    int16_t time;   /* the number of the parameter (a long) that is the time-out; -1: none */
    bool result;    /* it returns a boolean that says whether it got what it wanted */
    int from, to;   /* Java versions; 0: all */
    bool kept;      /* the class's code stays as it is made (kept.h) */
    bool holders;   /* also where group monitors is on: a virtual thread may leave its carrier
                     * there, and says what it holds (unmounts.h) */
    bool ends;      /* reported when it returns, and only while threads_ends_probed() */
    /* A method that may block has enter and exit; another one `call`, at its entry: a cause must
     * not be recorded after what it causes. */
    void (*enter)(JNIEnv *jni, const struct tracked *t, jobject object, int64_t time);
    void (*exit)(JNIEnv *jni, const struct tracked *t, jobject object, bool got);
    void (*call)(JNIEnv *jni, const struct tracked *t, jobject object);
    const struct call_row *user; /* its row of methods=; NULL: Orca's own */
};

/* Orca's own rows, then the user's. */
extern const struct tracked *tracked;
extern size_t n_tracked;

/* Read the user's rows: a file of them, or a list of them joined by '+'; NULL: none.  In
 * Agent_OnLoad. */
int tracked_read(const char *methods, struct err *err);
void tracked_forget(void);

/* A probe's view of its row. A method that was entered during another recording still calls the
 * probes of that recording: its number is not one of ours. */
int32_t tracked_number(size_t row);

/* The id of a row in events, and the definitions of those that the settings switch on and that have
 * no event kind of their own. */
static inline call_id tracked_id(const struct tracked *t)
{
    return (call_id){(uint32_t)(t - tracked) + 1};
}
bool tracked_is_here(const struct tracked *t); /* this Java has it */
bool tracked_applies(const struct tracked *t); /* it is here, and its calls are recorded */
void tracked_define(void);

/* The rows of classes whose code is kept: that of number i; NULL: no further one.  Whether a class
 * is one of those.  Without a recording, too. */
const struct tracked *tracked_kept(size_t i);
bool tracked_is_kept(const char *class_);

/* A bit for each that is recorded: OrcaProbe.on. */
uint64_t tracked_kept_wanted(void);

/* The natives of java.lang.OrcaProbe: the table for RegisterNatives. */
extern const JNINativeMethod tracked_natives[];
enum { N_TRACKED_NATIVES = 9 };

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
void virtual_yield_enter(JNIEnv *jni, const struct tracked *t, jobject thread, int64_t time);
void virtual_yield_exit(JNIEnv *jni, const struct tracked *t, jobject thread, bool got);
void virtual_ended(JNIEnv *jni, const struct tracked *t, jobject thread);
void virtual_park_exit(JNIEnv *jni, const struct tracked *t, jobject thread, bool got);
void virtual_unpark(JNIEnv *jni, const struct tracked *t, jobject thread);

/* Those without an event kind of their own. */
void call_enter(JNIEnv *jni, const struct tracked *t, jobject object, int64_t time);
void call_exit(JNIEnv *jni, const struct tracked *t, jobject object, bool got);
void call_made(JNIEnv *jni, const struct tracked *t, jobject object);

#endif

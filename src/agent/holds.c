#include "agent/holds.h"

#include "agent/lacks.h"
#include "agent/locks.h"
#include "agent/natives.h"
#include "agent/retransform.h"
#include "agent/stacks.h"
#include "agent/threads.h"
#include "base/clock.h"
#include "base/embed.h"
#include "base/log.h"
#include "base/util.h"

#include <string.h>

EMBED(java_lang_OrcaHolds);

#define HOLDS "java/lang/OrcaHolds"
#define JUC_LOCKS "java/util/concurrent/locks/"

enum { MONITOR_EDITS = 5, JUC_EDITS = HOLDS_EDITS - MONITOR_EDITS };

/* As in OrcaHolds and, the first three, in events.def. */
enum { MONITOR, EXCLUSIVE, SHARED, STAMPED_WRITE, STAMPED_READ, TO_WRITE, TO_READ };

/* Where java.util.concurrent takes a lock for good and gives it back: also what the time in
 * Condition.await is not part of, because await gives the lock back by the same methods.  `result`
 * says whether it happened; where there is none it did when the method returns. */
static const struct juc {
    const char *class, *method;
    int16_t kind;
    bool got, result;
} juc_rows[] = {
    {JUC_LOCKS "ReentrantLock$Sync", "tryLock", EXCLUSIVE, true, true},
    {JUC_LOCKS "ReentrantLock$Sync", "tryRelease", EXCLUSIVE, false, true},
    {JUC_LOCKS "ReentrantLock$NonfairSync", "initialTryLock", EXCLUSIVE, true, true},
    {JUC_LOCKS "ReentrantLock$NonfairSync", "tryAcquire", EXCLUSIVE, true, true},
    {JUC_LOCKS "ReentrantLock$FairSync", "initialTryLock", EXCLUSIVE, true, true},
    {JUC_LOCKS "ReentrantLock$FairSync", "tryAcquire", EXCLUSIVE, true, true},
    {JUC_LOCKS "ReentrantReadWriteLock$Sync", "tryAcquire", EXCLUSIVE, true, true},
    {JUC_LOCKS "ReentrantReadWriteLock$Sync", "tryWriteLock", EXCLUSIVE, true, true},
    {JUC_LOCKS "ReentrantReadWriteLock$Sync", "tryRelease", EXCLUSIVE, false, true},
    {JUC_LOCKS "ReentrantReadWriteLock$Sync", "tryAcquireShared", SHARED, true, true},
    {JUC_LOCKS "ReentrantReadWriteLock$Sync", "tryReadLock", SHARED, true, true},
    {JUC_LOCKS "ReentrantReadWriteLock$Sync", "tryReleaseShared", SHARED, false, false},
    {JUC_LOCKS "StampedLock", "writeLock", STAMPED_WRITE, true, true},
    {JUC_LOCKS "StampedLock", "writeLockInterruptibly", STAMPED_WRITE, true, true},
    {JUC_LOCKS "StampedLock", "tryWriteLock", STAMPED_WRITE, true, true},
    {JUC_LOCKS "StampedLock", "tryConvertToWriteLock", TO_WRITE, true, true},
    {JUC_LOCKS "StampedLock", "unlockWrite", STAMPED_WRITE, false, false},
    {JUC_LOCKS "StampedLock", "tryUnlockWrite", STAMPED_WRITE, false, true},
    {JUC_LOCKS "StampedLock", "unstampedUnlockWrite", STAMPED_WRITE, false, false},
    {JUC_LOCKS "StampedLock", "readLock", STAMPED_READ, true, true},
    {JUC_LOCKS "StampedLock", "readLockInterruptibly", STAMPED_READ, true, true},
    {JUC_LOCKS "StampedLock", "tryReadLock", STAMPED_READ, true, true},
    {JUC_LOCKS "StampedLock", "unlockRead", STAMPED_READ, false, false},
    {JUC_LOCKS "StampedLock", "tryUnlockRead", STAMPED_READ, false, true},
    {JUC_LOCKS "StampedLock", "unstampedUnlockRead", STAMPED_READ, false, false},
    {JUC_LOCKS "StampedLock", "tryConvertToReadLock", TO_READ, true, true},
    {JUC_LOCKS "StampedLock", "tryConvertToOptimisticRead", STAMPED_WRITE, false, true},
    {JUC_LOCKS "StampedLock", "tryConvertToOptimisticRead", STAMPED_READ, false, true},
};

/* The code that OrcaHolds itself uses, and the code that runs while a thread is starting or
 * ending. */
static const char *const never[] = {"java/lang/Orca",          "orca/probe/",    "java/lang/Thread",
                                    "java/lang/VirtualThread", "java/lang/ref/", "java/lang/Object",
                                    "java/lang/Class",         "jdk/internal/"};

/* --- which code ------------------------------------------------------------------------------- */

static bool is_never(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(never); i++)
        if (strncmp(name, never[i], strlen(never[i])) == 0)
            return true;
    return false;
}

static bool by_pattern(const char *name)
{
    char signature[1024];
    int n = snprintf(signature, sizeof signature, "L%s;", name);
    return n > 0 && (size_t)n < sizeof signature &&
           settings_wants_class(&agent.settings, signature);
}

static bool is_juc(const char *name)
{
    bool yes = false;
    for (size_t i = 0; i < ARRAY_LEN(juc_rows) && !yes; i++)
        yes = strcmp(juc_rows[i].class, name) == 0;
    return yes && by_pattern(name);
}

/* The JDK's own code only when it is named. */
static bool is_program(const char *name, bool boot)
{
    return !is_never(name) && (!boot || agent.settings.include) && by_pattern(name);
}

bool holds_wants_class(const char *name, bool boot)
{
    return (boot && is_juc(name)) || is_program(name, boot);
}

/* --- the edits -------------------------------------------------------------------------------- */

static struct cf_edit edit(enum cf_point at, const char *name, enum cf_source what)
{
    struct cf_edit e = {.at = at,
                        .probe = {.cls = HOLDS,
                                  .name = name,
                                  .desc = "(Ljava/lang/Object;)V",
                                  .n_args = 1,
                                  .args = {{what, 0}}}};
    return e;
}

static uint32_t monitor_edits(const struct cf_method *m, struct cf_edit *e)
{
    uint32_t n = 0;
    e[n++] = edit(CF_AFTER_ENTER, "enter", CF_ARG_OBJECT);
    e[n++] = edit(CF_BEFORE_LEAVE, "leave", CF_ARG_OBJECT);
    if (m->access & CF_ACC_SYNCHRONIZED) {
        e[n++] = edit(CF_AT_ENTRY, "enter", CF_ARG_LOCK);
        e[n++] = edit(CF_AT_RETURN, "leave", CF_ARG_LOCK);
        e[n++] = edit(CF_AT_THROW, "leave", CF_ARG_LOCK);
    }
    return n;
}

static struct cf_edit juc_edit(const struct juc *j, bool is_long)
{
    struct cf_edit e = edit(CF_AT_RETURN, j->got ? "got" : "gave", CF_ARG_NULL);
    e.probe.desc = j->result && is_long ? "(ILjava/lang/Object;J)V" : "(ILjava/lang/Object;I)V";
    e.probe.n_args = 3;
    e.probe.args[0] = (struct cf_arg){CF_ARG_INT, j->kind};
    e.probe.args[1] = (struct cf_arg){CF_ARG_THIS, 0};
    e.probe.args[2] =
        j->result ? (struct cf_arg){CF_ARG_RESULT, 0} : (struct cf_arg){CF_ARG_INT, 1};
    return e;
}

uint32_t holds_edits(const char *class, bool boot, const struct cf_method *m, struct cf_edit *e)
{
    uint32_t n = 0;
    bool is_long = m->desc.len && m->desc.p[m->desc.len - 1] == 'J';
    for (size_t i = 0; boot && i < ARRAY_LEN(juc_rows) && n < JUC_EDITS; i++)
        if (cf_text_is(m->name, juc_rows[i].method) && strcmp(juc_rows[i].class, class) == 0)
            e[n++] = juc_edit(&juc_rows[i], is_long);
    return is_program(class, boot) ? n + monitor_edits(m, e + n) : n;
}

/* --- a hold has ended ------------------------------------------------------------------------- */

/* Of OrcaHolds: ended, the method that found the hold, the one that the program calls. */
enum { OWN_FRAMES = 3 };

static uint64_t began; /* the group, this time: an older hold belongs to another recording */

static void hold(JNIEnv *jni, jobject object, uint64_t since, int kind, uint64_t now)
{
    struct os_thread *self = os_thread_self(jni);
    bool wanted;
    if (!self || since < began)
        return;
    lock_id lock = locks_id(jni, object, &wanted);
    if (!wanted)
        return;
    thread_id id = threads_self(jni, self);
    stack_id stack = stacks_skipping(jni, OWN_FRAMES);
    struct event *e = ring_begin(self->ring, EV_hold, id, now);
    if (!e)
        return;
    e->hold.lock = lock;
    e->hold.since = since;
    e->hold.mode = (uint32_t)kind;
    e->hold.stack = stack;
    ring_commit(self->ring, e);
}

static void JNICALL on_ended(JNIEnv *jni, jclass c, jobject object, jlong since, jint kind)
{
    (void)c;
    uint64_t now = clock_mono_ns(); /* first: the lock may still be held */
    if (agent_wants(GROUP_holds))
        RECORDING(hold(jni, object, (uint64_t)since, kind, now));
}

/* --- the class -------------------------------------------------------------------------------- */

static jclass holds_class; /* a global reference, for as long as the JVM lives */

bool holds_define(JNIEnv *jni)
{
    static const JNINativeMethod ended = {(char *)"ended", (char *)"(Ljava/lang/Object;JI)V",
                                          (void *)on_ended};
    if (holds_class)
        return true;
    jclass c =
        natives_define(jni, HOLDS, embed_java_lang_OrcaHolds, EMBED_BYTES(java_lang_OrcaHolds));
    if (c && (*jni)->RegisterNatives(jni, c, &ended, 1) == JNI_OK)
        holds_class = (*jni)->NewGlobalRef(jni, c);
    (*jni)->DeleteLocalRef(jni, c);
    return holds_class != NULL;
}

bool holds_start(JNIEnv *jni)
{
    jmethodID start = (*jni)->GetStaticMethodID(jni, holds_class, "start", "(I)J");
    natives_name_methods(holds_class);
    uint64_t before = clock_mono_ns();
    jlong told = start ? (*jni)->CallStaticLongMethod(jni, holds_class, start,
                                                      (jint)agent.settings.holdsample)
                       : 0;
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    began = clock_mono_ns();
    if ((uint64_t)told >= before && (uint64_t)told <= began)
        return true;
    lacks_note("this JVM's System.nanoTime is not the monotonic clock: holds are not recorded");
    return false;
}

void holds_stop(JNIEnv *jni)
{
    jmethodID stop = (*jni)->GetStaticMethodID(jni, holds_class, "stop", "()V");
    if (stop)
        (*jni)->CallStaticVoidMethod(jni, holds_class, stop);
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
}

/* --- classes that are there ------------------------------------------------------------------- */

static bool takes_monitor(jint access, const unsigned char *code, size_t n)
{
    enum { MONITORENTER = 0xc2 };
    /* An operand may look like one: then a class is rewritten in vain. */
    return (access & CF_ACC_SYNCHRONIZED) || (n && memchr(code, MONITORENTER, n));
}

static bool is_affected(const struct loaded_class *c)
{
    return (c->boot && is_juc(c->name)) ||
           (is_program(c->name, c->boot) && class_has_method(c->class_, takes_monitor));
}

void holds_rewrite_loaded(JNIEnv *jni)
{
    jvmtiError failed = retransform_those(jni, is_affected, 0);
    if (failed != JVMTI_ERROR_NONE)
        log_line("this JVM does not let Orca rewrite some classes (%s): not all holds are recorded",
                 jvmti_error_name(failed));
}

#include "agent/blocked_on.h"

#include "base/guarded.h"
#include "hotspot/blocked.h"
#include "hotspot/owner.h"

#include <pthread.h>
#include <time.h>

struct asked {
    JNIEnv *jni;
    const struct vm_layout *layout;
    struct thread_table *table;
};

/* A monitor of our own shows whether monitors refer to their objects where the JVM says: JNI gives
 * each object that it enters an ObjectMonitor. */
static bool try_own(JNIEnv *jni, const struct vm_layout *l)
{
    jclass c = (*jni)->FindClass(jni, "java/lang/Object");
    jobject o = c ? (*jni)->AllocObject(jni, c) : NULL;
    bool holds = false;
    if (o && (*jni)->MonitorEnter(jni, o) == JNI_OK) {
        uintptr_t monitor = blocked_of(handle_of(o));
        uintptr_t reference = blocked_reference(l, monitor);
        jobject same = reference ? (*jni)->NewLocalRef(jni, (jobject)reference) : NULL;
        holds = same && (*jni)->IsSameObject(jni, o, same);
        (*jni)->DeleteLocalRef(jni, same);
        (*jni)->MonitorExit(jni, o);
    }
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, o);
    (*jni)->DeleteLocalRef(jni, c);
    return holds;
}

static bool can_be_asked(JNIEnv *jni, const struct vm_layout *l)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool tried, can;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 3 && !can && !tried; i++) /* a collector may move it */
        can = try_own(jni, l);
    tried = true;
    bool answer = can;
    pthread_mutex_unlock(&lock);
    return answer;
}

/* After a collection of ZGC a reference has the old colour until somebody loads it; those of a
 * thread that stays where it is nobody does. */
static void load_references(void *ctx, uintptr_t java_thread, uint32_t id)
{
    enum { GLOBAL = 2 }; /* JNIHandles::TypeTag */
    const struct asked *a = ctx;
    const long at[] = {a->layout->thread_obj, a->layout->vthread, a->layout->jvmti_vthread};
    JNIEnv *jni = a->jni;
    uintptr_t handle;
    (void)id;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        if (at[i] >= 0 && guarded_word(java_thread + (uintptr_t)at[i], &handle) && handle)
            (*jni)->DeleteLocalRef(jni, (*jni)->NewLocalRef(jni, (jobject)(handle | GLOBAL)));
}

/* Nobody's monitor is taken away while a thread is blocked on it or in its wait, and the JVM empties
 * the monitor's reference before it gives it back: if the thread goes on between two lines here, the
 * object is NULL, or not the monitor's, or the monitor is not the thread's any longer. */
static jobject look(const struct asked *a, uint64_t java_tid, jlong *owner)
{
    const struct vm_layout *l = a->layout;
    JNIEnv *jni = a->jni;
    struct owner_place at;
    if (!owner_locate(a->table, java_tid, &at))
        return NULL;
    uintptr_t monitor = blocked_monitor(l, at.java_thread);
    uintptr_t reference = blocked_reference(l, monitor);
    jobject o = reference ? (*jni)->NewLocalRef(jni, (jobject)reference) : NULL;
    if (!o)
        return NULL;
    struct owner who = owner_of_monitor(a->table, monitor, handle_of(o), NULL);
    if (blocked_is(monitor, handle_of(o)) && blocked_monitor(l, at.java_thread) == monitor) {
        *owner = who.java_tid ? (jlong)who.java_tid : -1;
        return o;
    }
    (*jni)->DeleteLocalRef(jni, o);
    return NULL;
}

jobject blocked_on(JNIEnv *jni, const struct vm_layout *l, struct thread_table *t,
                   uint64_t java_tid, jlong *owner)
{
    /* While a collector moves objects it is not known who runs on a carrier. */
    enum { TRIES = 20, PAUSE_NS = 1000000 };
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    struct asked a = {jni, l, t};
    jobject o = NULL;
    *owner = -1;
    if (!can_be_asked(jni, l))
        return NULL;
    if (l->oops.z_bad) /* no thread of the table is freed in that */
        thread_table_each(t, load_references, &a);
    for (int i = 0; i < TRIES && !o; i++) {
        if (i)
            nanosleep(&pause, NULL);
        o = look(&a, java_tid, owner);
    }
    return o;
}

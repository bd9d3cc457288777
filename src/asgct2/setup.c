/* setup.c - AsyncGetCallTrace2Init: everything that must be there before a signal comes.
 *
 * Opens the walker when the JVM runs, and has the JVM make the jmethodIDs of every class: of those
 * that are loaded now, and of each later one when it is prepared, before any of its code has run.
 * The JVMTI environment is the library's own, needs no capability, and is never disposed of:
 * HotSpot frees parts of a disposed one while other threads look at them. */
#include "asgct2/prepared.h"
#include "asgct2/prove_ids.h"
#include "base/guarded.h"
#include "base/util.h"
#include "orca/asgct2.h"
#include "unwind/libraries.h"

#include <jvmti.h>
#include <stdio.h>

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static struct err last;
static jvmtiEnv *ti;
static struct vmstructs *structs;

static void set_phase(int phase)
{
    /* release: pairs with AsyncGetCallTrace2 */
    atomic_store_explicit(&prepared.phase, phase, memory_order_release);
}

/* --- method ids ------------------------------------------------------------------------------- */

/* A class that is not prepared yet is refused: its event follows. */
static void make_ids(jclass c)
{
    jint n;
    jmethodID *methods = NULL;
    if ((*ti)->GetClassMethods(ti, c, &n, &methods) == JVMTI_ERROR_NONE)
        (*ti)->Deallocate(ti, (unsigned char *)methods);
}

static void make_all_ids(JNIEnv *jni)
{
    enum { MANY = 65536 }; /* as many as -Xcheck:jni knows */
    jint n = 0;
    jclass *classes = NULL;
    bool framed = (*jni)->PushLocalFrame(jni, MANY) == 0;
    if (!framed)
        (*jni)->ExceptionClear(jni);
    if ((*ti)->GetLoadedClasses(ti, &n, &classes) == JVMTI_ERROR_NONE)
        for (jint i = 0; i < n; i++) {
            make_ids(classes[i]);
            (*jni)->DeleteLocalRef(jni, classes[i]);
        }
    (*ti)->Deallocate(ti, (unsigned char *)classes);
    if (framed)
        (*jni)->PopLocalFrame(jni, NULL);
}

/* --- in the running JVM ----------------------------------------------------------------------- */

static int find_gc_flag(uintptr_t *flag, struct err *err)
{
    static const char *const names[] = {"_is_stw_gc_active", "_is_gc_active"}; /* 25, 17 */
    long heap_at = vmstructs_offset(structs, "Universe", "_collectedHeap", NULL), at = -1;
    uintptr_t heap;
    for (size_t i = 0; i < ARRAY_LEN(names) && at < 0; i++)
        at = vmstructs_offset(structs, "CollectedHeap", names[i], NULL);
    if (heap_at == -1 || at < 0 || !guarded_word((uintptr_t)heap_at, &heap) || !heap)
        return err_set(err, -ENOTSUP, "this JVM does not describe CollectedHeap::_is_gc_active");
    *flag = heap + (uintptr_t)at;
    return 0;
}

static int open_all(JNIEnv *jni, struct err *err)
{
    struct prepared *p = &prepared;
    if (!p->walker)
        TRY(walker_open(&p->walker, structs, err));
    if (!p->ids)
        TRY(method_ids_open(&p->ids, p->walker, structs, err));
    TRY(current_thread_open(&p->thread, structs, jni, err));
    TRY(find_gc_flag(&p->gc_active, err));
    make_all_ids(jni);
    TRY(prove_ids(p->ids, ti, jni, err));
    set_phase(PHASE_READY);
    return 0;
}

/* --- libraries -------------------------------------------------------------------------------- */

/* So that their C can be unwound.  Not in a handler; `must`: also when no unknown code was met. */
static void look_for_libraries(bool must)
{
    struct err ignored; /* the table is as before */
    /* acquire: classes are prepared on other threads while open_all makes the walker */
    if (atomic_load_explicit(&prepared.phase, memory_order_acquire) != PHASE_READY)
        return;
    struct libraries *l = walker_libraries(prepared.walker);
    if (libraries_missing(l) || must)
        libraries_refresh(l, &ignored);
}

/* --- events ----------------------------------------------------------------------------------- */

static void JNICALL on_class_prepare(jvmtiEnv *env, JNIEnv *jni, jthread thread, jclass c)
{
    UNUSED(env), UNUSED(jni), UNUSED(thread);
    int saved = errno;
    make_ids(c);
    look_for_libraries(false);
    errno = saved;
}

static void JNICALL on_vm_init(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
    UNUSED(env), UNUSED(thread);
    int saved = errno;
    pthread_mutex_lock(&opening);
    if (open_all(jni, &last) < 0) {
        set_phase(PHASE_NONE);
        fprintf(stderr, "asgct2: %s; there will be no call traces\n", last.msg);
    }
    pthread_mutex_unlock(&opening);
    errno = saved;
}

static void JNICALL on_vm_death(jvmtiEnv *env, JNIEnv *jni)
{
    UNUSED(env), UNUSED(jni);
    set_phase(PHASE_ENDED);
}

static int listen_to(const jvmtiEvent *events, size_t n, struct err *err)
{
    const jvmtiEventCallbacks calls = {
        .VMInit = on_vm_init, .VMDeath = on_vm_death, .ClassPrepare = on_class_prepare};
    jvmtiError e = (*ti)->SetEventCallbacks(ti, &calls, sizeof calls);
    for (size_t i = 0; i < n && e == JVMTI_ERROR_NONE; i++)
        e = (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, events[i], NULL);
    return e == JVMTI_ERROR_NONE
               ? 0
               : err_set(err, -ENOTSUP, "the JVM refuses its events: error %d", e);
}

/* --- the call --------------------------------------------------------------------------------- */

static int open_now(JavaVM *vm, struct err *err)
{
    static const jvmtiEvent events[] = {JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_CLASS_PREPARE};
    JNIEnv *jni;
    if ((*vm)->GetEnv(vm, (void **)&jni, JNI_VERSION_1_8) != JNI_OK)
        return err_set(err, -EPERM, "this JVM has no JNI 1.8");
    TRY(listen_to(events, ARRAY_LEN(events), err));
    return open_all(jni, err);
}

static int open_later(struct err *err)
{
    static const jvmtiEvent events[] = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH,
                                        JVMTI_EVENT_CLASS_PREPARE};
    TRY(listen_to(events, ARRAY_LEN(events), err));
    set_phase(PHASE_WAITING);
    return 0;
}

/* Whether the JVM has started and does not know the calling thread: it dies when it is asked for
 * JVMTI there.  Until it has started GetEnv says so of every thread. */
static bool is_live_and_strange(JavaVM *vm)
{
    jint (*created)(JavaVM **, jsize, jsize *) = (jint(*)(JavaVM **, jsize, jsize *))(
        uintptr_t)vmstructs_symbol(structs, "JNI_GetCreatedJavaVMs");
    void *jni;
    JavaVM *started;
    jsize n = 0;
    return (*vm)->GetEnv(vm, &jni, JNI_VERSION_1_8) != JNI_OK &&
           (!created || created(&started, 1, &n) != JNI_OK || n != 0);
}

static int init(JavaVM *vm, struct err *err)
{
    jvmtiPhase phase;
    if (!vm)
        return err_set(err, -EINVAL, "AsyncGetCallTrace2Init was given no JavaVM");
    if (!structs)
        TRY(vmstructs_open(&structs, (const void *)(uintptr_t)(*vm)->GetEnv, err));
    if (is_live_and_strange(vm))
        return err_set(err, -EPERM,
                       "call AsyncGetCallTrace2Init on a thread that is attached to the JVM");
    if (!ti && (*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_11) != JNI_OK)
        return err_set(err, -ENOTSUP, "this JVM has no JVMTI 11: Java 17 or later is needed");
    if ((*ti)->GetPhase(ti, &phase) != JVMTI_ERROR_NONE || phase == JVMTI_PHASE_DEAD)
        return err_set(err, -ESHUTDOWN, "the JVM has ended");
    return phase == JVMTI_PHASE_LIVE ? open_now(vm, err) : open_later(err);
}

int AsyncGetCallTrace2Init(JavaVM *vm)
{
    int saved = errno, rc;
    pthread_mutex_lock(&opening);
    int phase = atomic_load_explicit(&prepared.phase, memory_order_relaxed);
    last.msg[0] = 0;
    if (phase == PHASE_ENDED)
        rc = err_set(&last, -ESHUTDOWN, "the JVM has ended");
    else
        rc = phase == PHASE_NONE ? init(vm, &last) : 0;
    if (rc == 0 && phase == PHASE_READY)
        look_for_libraries(true);
    pthread_mutex_unlock(&opening);
    errno = saved;
    return rc;
}

const char *AsyncGetCallTrace2Error(void)
{
    return last.msg;
}

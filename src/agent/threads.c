#include "agent/threads.h"

#include "agent/alloc_counts.h"
#include "agent/alloc_rows.h"
#include "agent/asked_owners.h"
#include "agent/jvm_text.h"
#include "agent/jvmti21.h"
#include "agent/kept.h"
#include "agent/lacks.h"
#include "agent/locks.h"
#include "agent/natives.h"
#include "agent/open_waits.h"
#include "agent/probes.h"
#include "agent/sampling.h"
#include "agent/sched.h"
#include "agent/sums.h"
#include "agent/trails.h"
#include "agent/unmounts.h"
#include "base/clock.h"
#include "base/guarded.h"
#include "base/map.h"
#include "base/tasks.h"
#include "base/util.h"
#include "hotspot/facts.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* initial-exec: no allocation on first use, one load afterwards; eight bytes of the static
 * reserve. */
static __thread struct os_thread *self_tls __attribute__((tls_model("initial-exec")));

/* The recording that self_tls is of: what an earlier one made is gone. */
static __thread uint32_t self_session __attribute__((tls_model("initial-exec")));

/* The Java thread has passed its ThreadEnd.  It may still block once, on its own Thread object when
 * somebody joins it: that comes too late to be recorded, and must not make a new record. */
static __thread bool self_ended __attribute__((tls_model("initial-exec")));
static __thread uint32_t ended_id __attribute__((tls_model("initial-exec")));

/* Threads that ended lately: somebody may still join or unpark one, and a platform thread may own a
 * monitor, its own Thread object's, while it leaves the JVM.  Likewise those that were met before
 * they were started.  By Thread.getId() modulo the table's
 * length; under reg.lock. */
enum { ENDED_KEPT = 1024 };
static struct {
    uint64_t java_tid;
    uint32_t id;
} ended_lately[ENDED_KEPT];

/* Virtual threads that were met as owners, by number only, and are named when they have an event or
 * end; in the same way. */
static _Atomic uint64_t nameless[ENDED_KEPT];

/* Threads that are none of Java's, by their number in the kernel: "VM Thread"; under list_lock. */
static struct map natives;

static uint32_t ended_under_lock(uint64_t java_tid)
{
    return ended_lately[java_tid % ENDED_KEPT].java_tid == java_tid
               ? ended_lately[java_tid % ENDED_KEPT].id
               : 0;
}

static void note_ended(uint64_t java_tid, uint32_t id)
{
    ended_lately[java_tid % ENDED_KEPT].java_tid = java_tid;
    ended_lately[java_tid % ENDED_KEPT].id = id;
}

/* States of VirtualThread by name (21 to 27; not each JDK has all), and what such a thread waits
 * for.  The first one is there always. */
static const struct virtual_state {
    const char *name;
    enum event_kind kind;
} virtual_states[] = {{"TERMINATED", 0},
                      {"PARKED", EV_park_enter},
                      {"TIMED_PARKED", EV_park_enter},
                      {"PINNED", EV_park_enter},
                      {"TIMED_PINNED", EV_park_enter},
                      {"BLOCKED", EV_monitor_contended_enter},
                      {"WAIT", EV_wait_enter},
                      {"TIMED_WAIT", EV_wait_enter}};
enum { VIRTUAL_STATES = sizeof virtual_states / sizeof virtual_states[0], NO_STATE = -1 };

static struct {
    /* Held while a thread is registered, also across JVM calls, which may wait for a safepoint to
     * end.  So a thread at a safepoint must not take it. */
    pthread_mutex_t lock;
    /* Of `all`.  Never held across a JVM call: collector callbacks take it at a safepoint. */
    pthread_mutex_t list_lock;
    struct os_thread *all;
    _Atomic uint32_t last_id;
    _Atomic bool virtual_seen; /* a virtual thread has an id */
    _Atomic bool ends_probed;
    jfieldID tid, eetop, name;
    _Atomic(jfieldID) state; /* of VirtualThread, and its values */
    _Atomic jint states[VIRTUAL_STATES];
    _Atomic bool no_state;
    uintptr_t env_offset; /* from a JavaThread to its JNIEnv */
    uint32_t not_exiting; /* JavaThread::_terminated of a thread that is alive */
} reg = {.lock = PTHREAD_MUTEX_INITIALIZER, .list_lock = PTHREAD_MUTEX_INITIALIZER};

/* The id of a live thread.  JVMTI's thread-local storage would be the obvious place for it, but
 * HotSpot reads it without stopping at safepoints: while another thread ends, or another
 * environment is disposed, what it reads is freed (crashes on 17 and 25). */
static uint32_t id_of(JNIEnv *jni, jthread thread)
{
    return thread_table_find(agent.table, threads_java_tid(jni, thread));
}

static uint32_t new_id(void)
{
    return atomic_fetch_add_explicit(&reg.last_id, 1, memory_order_relaxed) + 1;
}

/* --- definitions ------------------------------------------------------------------------------ */

struct thread_text {
    char name[1024], group[512], parent[512];
};

static void group_text(JNIEnv *jni, jthreadGroup group, struct thread_text *t)
{
    jvmtiThreadGroupInfo info, parent;
    if (!group || (*agent.jvmti)->GetThreadGroupInfo(agent.jvmti, group, &info) != JVMTI_ERROR_NONE)
        return;
    jvm_text(t->group, sizeof t->group, info.name);
    jvmti_free(info.name);
    if (!info.parent)
        return;
    if ((*agent.jvmti)->GetThreadGroupInfo(agent.jvmti, info.parent, &parent) == JVMTI_ERROR_NONE) {
        jvm_text(t->parent, sizeof t->parent, parent.name);
        jvmti_free(parent.name);
        (*jni)->DeleteLocalRef(jni, parent.parent);
    }
    (*jni)->DeleteLocalRef(jni, info.parent);
}

/* Of a virtual thread, without JVMTI, which on JDK 21 to 23 waits until the thread is neither
 * coming nor going: one that ends waits for itself. */
static uint32_t virtual_text(JNIEnv *jni, jthread thread, struct thread_text *t)
{
    jstring name =
        (*jni)->ExceptionCheck(jni) ? NULL : (*jni)->GetObjectField(jni, thread, reg.name);
    const char *text = name ? (*jni)->GetStringUTFChars(jni, name, NULL) : NULL;
    if (text) {
        jvm_text(t->name, sizeof t->name, text);
        snprintf(t->group, sizeof t->group, "VirtualThreads");
        snprintf(t->parent, sizeof t->parent, "system");
        (*jni)->ReleaseStringUTFChars(jni, name, text);
    }
    (*jni)->DeleteLocalRef(jni, name);
    return text ? THREAD_DAEMON : 0;
}

/* Name, groups and daemon flag; empty where the JVM does not tell (a thread that is ending). */
static uint32_t thread_text(JNIEnv *jni, jthread thread, struct thread_text *t)
{
    jvmtiThreadInfo info;
    t->name[0] = t->group[0] = t->parent[0] = 0;
    if (!agent.layout.owner_is_tid && threads_is_virtual(jni, thread))
        return virtual_text(jni, thread, t);
    if ((*agent.jvmti)->GetThreadInfo(agent.jvmti, thread, &info) != JVMTI_ERROR_NONE)
        return 0;
    jvm_text(t->name, sizeof t->name, info.name);
    jvmti_free(info.name);
    group_text(jni, info.thread_group, t);
    (*jni)->DeleteLocalRef(jni, info.thread_group);
    (*jni)->DeleteLocalRef(jni, info.context_class_loader);
    return info.is_daemon ? THREAD_DAEMON : 0;
}

static struct str str_of(const char *s)
{
    return (struct str){s, strlen(s)};
}

static void define(uint32_t id, uint64_t java_tid, uint32_t os_tid, uint32_t flags, uint32_t hash,
                   const struct thread_text *t)
{
    struct def d = {.kind = DEF_thread,
                    .thread = {.id = {id},
                               .java_tid = java_tid,
                               .os_tid = os_tid,
                               .flags = flags,
                               .hash = hash,
                               .name = str_of(t->name),
                               .group = str_of(t->group),
                               .parent_group = str_of(t->parent)}};
    recorder_define(agent.rec, &d);
}

bool threads_is_virtual(JNIEnv *jni, jthread thread)
{
    return agent.virtual_threads && jni_is_virtual_thread(jni, thread);
}

bool threads_is_carrier(JNIEnv *jni, jthread thread)
{
    char *signature = NULL;
    if (!agent.virtual_threads)
        return false;
    jclass c = (*jni)->GetObjectClass(jni, thread);
    bool yes =
        (*agent.jvmti)->GetClassSignature(agent.jvmti, c, &signature, NULL) == JVMTI_ERROR_NONE &&
        strcmp(signature, "Ljdk/internal/misc/CarrierThread;") == 0;
    jvmti_free(signature);
    (*jni)->DeleteLocalRef(jni, c);
    return yes;
}

bool threads_ends_probed(void)
{
    return atomic_load_explicit(&reg.ends_probed, memory_order_relaxed);
}

/* The ends of virtual threads are asked for once one has an id: a program that starts a million of
 * them and never blocks on a monitor pays nothing.  Not under a mutex.
 *
 * JVMTI's event has HotSpot make a JvmtiThreadState for each thread that ends, which is a fifth of
 * what a short one costs; a probe at the end of what it runs does as well, if there is one in each
 * that may be running. */
static void watch_virtual_ends(JNIEnv *jni)
{
    if (atomic_load_explicit(&reg.virtual_seen, memory_order_relaxed) ||
        atomic_exchange_explicit(&reg.virtual_seen, true, memory_order_relaxed))
        return;
    if (!agent.attached && agent.settings.contanalysis &&
        kept_parts("java/lang/VirtualThread") & KEPT_ROWS) {
        atomic_store_explicit(&reg.ends_probed, true, memory_order_relaxed);
        probes_switch(jni);
    } else {
        (*agent.jvmti)
            ->SetEventNotificationMode(agent.jvmti, JVMTI_ENABLE,
                                       (jvmtiEvent)EVENT_VIRTUAL_THREAD_END, NULL);
    }
}

static bool is_unstarted(jthread thread)
{
    jint state = 0;
    return (*agent.jvmti)->GetThreadState(agent.jvmti, thread, &state) == JVMTI_ERROR_NONE &&
           state == 0;
}

/* Give `thread` an id, or the id by which it was met as an owner or before it was started, and
 * define it.  `os_tid`: 0 when not known.  Returns 0 for a thread that has ended.
 *
 * Its JavaThread is read only under the mutex and before the thread has passed threads_ended, which
 * takes the mutex too and marks the Thread object: it cannot be freed under us. */
static uint32_t register_thread(JNIEnv *jni, jthread thread, uint32_t os_tid)
{
    struct thread_text text;
    jint hash = 0;
    uint64_t java_tid = threads_java_tid(jni, thread);
    bool virtual = threads_is_virtual(jni, thread);
    uint32_t flags = thread_text(jni, thread, &text) | (virtual ? THREAD_VIRTUAL : 0);
    (*agent.jvmti)->GetObjectHashCode(agent.jvmti, thread, &hash);
    bool unstarted = !virtual && is_unstarted(thread);
    bool carrier = !virtual && !agent.layout.owner_is_tid && threads_is_carrier(jni, thread);
    pthread_mutex_lock(&reg.lock);
    uint32_t id = thread_table_find(agent.table, java_tid), away = ended_under_lock(java_tid);
    if (virtual && !id)
        id = away;
    uintptr_t java_thread = virtual ? 0 : (uintptr_t)(*jni)->GetLongField(jni, thread, reg.eetop);
    if (id == 0 && (virtual || (java_thread && !locks_is_ended(thread)))) {
        id = away ? away : new_id();
        if (!os_tid)
            os_tid = os_thread_id(&agent.layout, java_thread);
        define(id, java_tid, os_tid, flags, (uint32_t)hash, &text);
        thread_table_add(agent.table, java_thread, java_tid, id, carrier);
    } else if (id == 0 && unstarted && !away) { /* it was joined, interrupted, unparked */
        id = new_id();
        define(id, java_tid, 0, flags, (uint32_t)hash, &text);
        note_ended(java_tid, id);
    }
    pthread_mutex_unlock(&reg.lock);
    if (virtual)
        watch_virtual_ends(jni);
    return id;
}

thread_id threads_by_tid(JNIEnv *jni, uint64_t java_tid)
{
    static const struct thread_text none;
    uint32_t id = java_tid ? thread_table_find(agent.table, java_tid) : 0;
    if (id || !java_tid || !agent.virtual_threads)
        return (thread_id){id};
    /* Every live platform thread is in the table, one that just ended is remembered: this is a
     * virtual one that had no event yet. */
    pthread_mutex_lock(&reg.lock);
    id = thread_table_find(agent.table, java_tid);
    if (!id)
        id = ended_under_lock(java_tid);
    if (!id) {
        id = new_id();
        define(id, java_tid, 0, THREAD_VIRTUAL, 0, &none);
        thread_table_add(agent.table, 0, java_tid, id, false);
        atomic_store_explicit(&nameless[java_tid % ENDED_KEPT], java_tid, memory_order_relaxed);
    }
    pthread_mutex_unlock(&reg.lock);
    watch_virtual_ends(jni);
    return (thread_id){id};
}

/* --- the calling OS thread -------------------------------------------------------------------- */

static void list_add(struct os_thread *t)
{
    pthread_mutex_lock(&reg.list_lock);
    t->next = reg.all;
    if (reg.all)
        reg.all->prev = t;
    reg.all = t;
    pthread_mutex_unlock(&reg.list_lock);
}

static void list_remove(struct os_thread *t)
{
    pthread_mutex_lock(&reg.list_lock);
    if (t->prev)
        t->prev->next = t->next;
    else
        reg.all = t->next;
    if (t->next)
        t->next->prev = t->prev;
    pthread_mutex_unlock(&reg.list_lock);
}

/* Under list_lock, which a thread at a safepoint may take. */
static uint32_t native_under_lock(uint32_t os_tid)
{
    struct thread_text text = {.name = ""};
    uint64_t *id = map_put(&natives, os_tid);
    if (id && *id)
        return (uint32_t)*id;
    uint32_t new = new_id();
    char name[TASK_NAME_BYTES];
    task_name(os_tid, name);
    jvm_text(text.name, sizeof text.name, name);
    define(new, 0, os_tid, THREAD_NATIVE, 0, &text);
    if (id)
        *id = new;
    return new;
}

thread_id threads_native(uint32_t os_tid)
{
    pthread_mutex_lock(&reg.list_lock);
    uint32_t id = native_under_lock(os_tid);
    pthread_mutex_unlock(&reg.list_lock);
    return (thread_id){id};
}

void threads_native_ended(uint32_t os_tid)
{
    pthread_mutex_lock(&reg.list_lock);
    map_remove(&natives, os_tid);
    pthread_mutex_unlock(&reg.list_lock);
}

void threads_each_java(void (*visit)(void *ctx, uintptr_t java_thread, uint32_t id), void *ctx)
{
    thread_table_each(agent.table, visit, ctx);
}

/* A thread that was past its ThreadEnd when the recording began may still block, as one that
 * self_ended marks may: its JavaThread is about to be freed, and nobody will tell us. */
static bool is_exiting(uintptr_t java_thread)
{
    uint32_t terminated;
    if (agent.layout.terminated < 0)
        return false;
    memcpy(&terminated, (const char *)java_thread + agent.layout.terminated, sizeof terminated);
    return terminated != reg.not_exiting;
}

static struct os_thread *new_os_thread(JNIEnv *jni)
{
    uintptr_t java_thread = jni ? (uintptr_t)jni - reg.env_offset : 0;
    if (self_session != agent.session) {
        self_session = agent.session;
        self_tls = NULL;
        self_ended = jni && is_exiting(java_thread);
        ended_id = 0;
    }
    if (self_ended)
        return NULL;
    struct os_thread *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->ring = ring_attach(agent.rec);
    if (!t->ring) {
        free(t);
        return NULL;
    }
    t->java_thread = java_thread;
    t->stack_end = java_thread ? stack_room_end(&agent.layout, java_thread) : 0;
    if (!jni)
        t->id = threads_native((uint32_t)syscall(SYS_gettid));
    self_tls = t;
    list_add(t);
    return t;
}

struct os_thread *os_thread_self(JNIEnv *jni)
{
    struct os_thread *t = self_tls;
    return t && self_session == agent.session ? t : new_os_thread(jni);
}

static void os_thread_end(void)
{
    struct os_thread *t = self_tls;
    if (!t || self_session != agent.session)
        return;
    self_tls = NULL;
    list_remove(t);
    alloc_counts_end(t->counts);
    alloc_row_leave(t->row);
    trails_free(t->trails);
    sums_leave(t);
    ring_detach(t->ring);
    free(t);
}

/* The name may have changed since the thread was defined: the last one is what people know. */
static void redefine(JNIEnv *jni, jthread thread, uint32_t id, uint32_t os_tid, uint32_t more_flags)
{
    struct thread_text text;
    jint hash = 0;
    uint32_t flags = thread_text(jni, thread, &text) | more_flags;
    if (!text.name[0])
        return;
    (*agent.jvmti)->GetObjectHashCode(agent.jvmti, thread, &hash);
    define(id, threads_java_tid(jni, thread), os_tid, flags, (uint32_t)hash, &text);
}

static bool is_nameless(uint64_t java_tid)
{
    /* relaxed: who sees it late is named later */
    return atomic_load_explicit(&nameless[java_tid % ENDED_KEPT], memory_order_relaxed) == java_tid;
}

/* Once: whoever comes first takes it on him. */
static void name_it(JNIEnv *jni, jthread thread, uint32_t id, uint64_t java_tid)
{
    uint64_t expected = java_tid;
    if (is_nameless(java_tid) &&
        atomic_compare_exchange_strong_explicit(&nameless[java_tid % ENDED_KEPT], &expected, 0,
                                                memory_order_relaxed, memory_order_relaxed))
        redefine(jni, thread, id, 0, THREAD_VIRTUAL);
}

/* One that has its id and its name keeps them. */
static void note_mounted(struct os_thread *self, uint64_t tid, uint32_t id)
{
    if (!id)
        return;
    self->mounted_tid = tid;
    self->mounted.v = id;
}

bool threads_myself(JNIEnv *jni, enum mounted_frames frames, jthread *myself)
{
    bool needed = false;
    const struct os_thread *self = agent.virtual_threads ? os_thread_self(jni) : NULL;
    *myself =
        self ? (jthread)mounted_reference(&agent.layout, self->java_thread, frames, &needed) : NULL;
    return *myself || !needed;
}

/* By JDK 23 this is asked first: JVMTI has the virtual thread still where its carrier has gone on
 * to end it, and who asks JVMTI about it then waits for himself. */
static bool is_itself(const struct os_thread *self)
{
    return self->id.v &&
           (!agent.virtual_threads || mounted_itself(&agent.layout, self->java_thread));
}

thread_id threads_current(JNIEnv *jni, jthread thread, struct os_thread *self)
{
    if (is_itself(self))
        return self->id;
    uint64_t tid = mounted_tid(&agent.layout, self->java_thread);
    if (!tid)
        tid = threads_java_tid(jni, thread);
    if (self->java_tid == tid)
        return self->id;
    if (self->mounted_tid == tid)
        return self->mounted;
    uint32_t id = thread_table_find(agent.table, tid);
    if (!id)
        id = register_thread(jni, thread, 0);
    name_it(jni, thread, id, tid);
    if (!self->id.v && !threads_is_virtual(jni, thread)) {
        self->id.v = id;
        self->java_tid = tid;
    } else {
        note_mounted(self, tid, id);
    }
    return (thread_id){id};
}

thread_id threads_self(JNIEnv *jni, struct os_thread *self)
{
    jthread thread;
    if (is_itself(self))
        return self->id;
    uint64_t tid = mounted_tid(&agent.layout, self->java_thread);
    if (tid && self->java_tid == tid)
        return self->id;
    if (tid && self->mounted_tid == tid)
        return self->mounted;
    uint32_t id = tid ? thread_table_find(agent.table, tid) : 0;
    /* A thread without a known id may be the platform thread itself, which the attach found. */
    bool known = id && self->id.v && !is_nameless(tid);
    if (known)
        note_mounted(self, tid, id);
    if (known || (id && (*jni)->ExceptionCheck(jni)) ||
        (*agent.jvmti)->GetCurrentThread(agent.jvmti, &thread) != JVMTI_ERROR_NONE)
        return (thread_id){id};
    thread_id found = threads_current(jni, thread, self);
    (*jni)->DeleteLocalRef(jni, thread);
    return found;
}

uint64_t threads_java_tid(JNIEnv *jni, jthread thread)
{
    return (uint64_t)(*jni)->GetLongField(jni, thread, reg.tid);
}

int64_t threads_waiting_for(uint64_t java_tid)
{
    int64_t ns = -1;
    pthread_mutex_lock(&reg.list_lock);
    for (struct os_thread *t = reg.all; t && ns < 0; t = t->next)
        if (t->java_tid == java_tid && atomic_load_explicit(&t->open_kind, memory_order_relaxed)) {
            uint64_t since = atomic_load_explicit(&t->open_since, memory_order_relaxed);
            uint64_t now = clock_mono_ns();
            ns = now > since ? (int64_t)(now - since) : 0;
        }
    pthread_mutex_unlock(&reg.list_lock);
    return ns;
}

static void each_and_unlock(void (*visit)(void *ctx, const struct os_thread *t), void *ctx)
{
    for (const struct os_thread *t = reg.all; t; t = t->next)
        visit(ctx, t);
    pthread_mutex_unlock(&reg.list_lock);
}

void threads_each(void (*visit)(void *ctx, const struct os_thread *t), void *ctx)
{
    pthread_mutex_lock(&reg.list_lock);
    each_and_unlock(visit, ctx);
}

bool threads_each_soon(void (*visit)(void *ctx, const struct os_thread *t), void *ctx)
{
    enum { PATIENCE_NS = 100000000, SECOND_NS = 1000000000 };
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until); /* the clock of pthread_mutex_timedlock */
    until.tv_nsec += PATIENCE_NS;
    until.tv_sec += until.tv_nsec / SECOND_NS;
    until.tv_nsec %= SECOND_NS;
    if (pthread_mutex_timedlock(&reg.list_lock, &until) != 0)
        return false;
    each_and_unlock(visit, ctx);
    return true;
}

/* NO_STATE: the JDK has none of that name. */
static jint state_value(JNIEnv *jni, jclass of, const char *name)
{
    jfieldID id = (*jni)->GetStaticFieldID(jni, of, name, "I");
    if (!id)
        (*jni)->ExceptionClear(jni);
    return id ? (*jni)->GetStaticIntField(jni, of, id) : NO_STATE;
}

/* Asked when there is a virtual thread: before, it would initialize the class, which starts
 * threads.  Several threads may do so at once. */
static jfieldID find_state(JNIEnv *jni, jclass of)
{
    jfieldID state = NULL;
    jint values[VIRTUAL_STATES];
    for (size_t i = 0; i < VIRTUAL_STATES && (i == 0 || values[0] != NO_STATE); i++)
        values[i] = state_value(jni, of, virtual_states[i].name);
    if (values[0] != NO_STATE)
        state = (*jni)->GetFieldID(jni, of, "state", "I");
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    if (!state) {
        atomic_store_explicit(&reg.no_state, true, memory_order_relaxed);
        return NULL;
    }
    /* relaxed: every thread writes the same */
    for (size_t i = 0; i < VIRTUAL_STATES; i++)
        atomic_store_explicit(&reg.states[i], values[i], memory_order_relaxed);
    /* release: pairs with virtual_state; the values are there */
    atomic_store_explicit(&reg.state, state, memory_order_release);
    return state;
}

/* JVMTI's GetThreadState waits while a virtual thread is being mounted, and keeps all from being
 * mounted while it looks: it took a quarter of a program that joins short tasks.  VirtualThread has
 * it in a field; where the JVM has no continuations, virtual threads are of another class.  NULL:
 * none of these, it runs, comes or goes.  False: it is not known. */
static bool virtual_state(JNIEnv *jni, jthread thread, const struct virtual_state **state)
{
    enum { SUSPENDED = 1 << 8 };
    jfieldID field = atomic_load_explicit(&reg.state, memory_order_acquire);
    if (!field && !atomic_load_explicit(&reg.no_state, memory_order_relaxed)) {
        jclass of = (*jni)->GetObjectClass(jni, thread);
        field = find_state(jni, of);
        (*jni)->DeleteLocalRef(jni, of);
    }
    jint now = field ? (*jni)->GetIntField(jni, thread, field) & ~SUSPENDED : NO_STATE;
    *state = NULL;
    for (size_t i = 0; i < VIRTUAL_STATES && field && !*state; i++)
        if (atomic_load_explicit(&reg.states[i], memory_order_relaxed) == now)
            *state = &virtual_states[i];
    return field != NULL;
}

static bool has_ended(JNIEnv *jni, jthread thread)
{
    jint state = 0;
    const struct virtual_state *now;
    if (virtual_state(jni, thread, &now))
        return now == &virtual_states[0];
    return (*agent.jvmti)->GetThreadState(agent.jvmti, thread, &state) == JVMTI_ERROR_NONE &&
           (state & JVMTI_THREAD_STATE_TERMINATED);
}

bool threads_virtual_is_over(JNIEnv *jni, jthread thread)
{
    return threads_is_virtual(jni, thread) && has_ended(jni, thread);
}

enum event_kind threads_virtual_wait(JNIEnv *jni, jthread thread)
{
    const struct virtual_state *now;
    bool known = virtual_state(jni, thread, &now);
    return known && now ? now->kind : wait_of(thread);
}

static uint32_t recently_ended(uint64_t java_tid)
{
    pthread_mutex_lock(&reg.lock);
    uint32_t id = ended_under_lock(java_tid);
    pthread_mutex_unlock(&reg.lock);
    return id;
}

thread_id threads_of(JNIEnv *jni, jthread thread)
{
    uint64_t java_tid = threads_java_tid(jni, thread);
    uint32_t id = thread_table_find(agent.table, java_tid);
    if (id)
        name_it(jni, thread, id, java_tid); /* it was met as an owner only */
    if (!id)
        id = recently_ended(java_tid);
    if (!id && !(threads_is_virtual(jni, thread) && has_ended(jni, thread)))
        id = register_thread(jni, thread, 0);
    if (!id) /* it has started and ended since the first look */
        id = recently_ended(java_tid);
    return (thread_id){id};
}

thread_id threads_mounted(JNIEnv *jni, jthread thread, const struct os_thread *self)
{
    return self->mounted_tid == threads_java_tid(jni, thread) ? self->mounted
                                                              : threads_of(jni, thread);
}

/* --- starts and ends -------------------------------------------------------------------------- */

static void put_simple(struct os_thread *self, enum event_kind kind, uint32_t id)
{
    struct event *e = ring_begin(self->ring, kind, (thread_id){id}, clock_mono_ns());
    if (e)
        ring_commit(self->ring, e);
}

void threads_started(JNIEnv *jni, jthread thread)
{
    self_ended = false; /* a native thread may attach again, as a new Java thread */
    struct os_thread *self = os_thread_self(jni);
    if (!self)
        return;
    uint32_t os_tid = (uint32_t)syscall(SYS_gettid);
    uint32_t id = id_of(jni, thread); /* not 0: the enumeration met it while it started */
    if (!id)
        id = register_thread(jni, thread, os_tid);
    self->id.v = id;
    self->java_tid = threads_java_tid(jni, thread);
    self->from_start = true;
    if (agent.settings.groups[GROUP_threads])
        put_simple(self, EV_thread_start, id);
    sampling_thread_started(self->java_thread, id);
    sched_add(os_tid, id);
}

void threads_ended(JNIEnv *jni, jthread thread)
{
    uint64_t java_tid = threads_java_tid(jni, thread);
    if (recorder_on(agent.rec)) {
        struct os_thread *self = os_thread_self(jni);
        uint32_t known = id_of(jni, thread);
        if (self && known) {
            redefine(jni, thread, known, (uint32_t)syscall(SYS_gettid), 0);
            if (agent.settings.groups[GROUP_threads])
                put_simple(self, EV_thread_end, known);
        }
    }
    /* Before the JavaThread is freed, on or off: see register_thread and owner.h. */
    pthread_mutex_lock(&reg.lock);
    uint32_t id = id_of(jni, thread);
    if (id) {
        note_ended(java_tid, id);
        ended_id = id;
    }
    locks_set_ended(thread);
    pthread_mutex_unlock(&reg.lock);
    thread_table_remove(agent.table, java_tid);
    sampling_thread_ended();
    os_thread_end();
    self_ended = true;
}

void threads_virtual_started(JNIEnv *jni, jthread thread)
{
    struct os_thread *self = os_thread_self(jni);
    if (self)
        put_simple(self, EV_thread_start, threads_of(jni, thread).v);
}

void threads_virtual_ended(JNIEnv *jni, jthread thread)
{
    uint64_t java_tid = threads_java_tid(jni, thread);
    unmounts_ended(java_tid);
    uint32_t id = thread_table_find(agent.table, java_tid);
    if (!id)
        return;
    pthread_mutex_lock(&reg.lock);
    note_ended(java_tid, id);
    pthread_mutex_unlock(&reg.lock);
    struct os_thread *self = os_thread_self(jni);
    if (self)
        note_mounted(self, java_tid, id); /* its unmount follows */
    thread_table_remove(agent.table, java_tid);
    name_it(jni, thread, id, java_tid);
    /* Without the group, too, for those that were met: so it is known how long they lived. */
    if (self && (agent.settings.groups[GROUP_virtual] || agent.settings.groups[GROUP_threads]))
        put_simple(self, EV_thread_end, id);
}

void threads_forget_waits(const bool *off)
{
    pthread_mutex_lock(&reg.list_lock);
    for (struct os_thread *t = reg.all; t; t = t->next) {
        uint32_t kind = atomic_load_explicit(&t->open_kind, memory_order_relaxed);
        if (kind && off[event_kinds[kind].group])
            atomic_store_explicit(&t->open_kind, 0, memory_order_relaxed);
    }
    pthread_mutex_unlock(&reg.list_lock);
    open_waits_forget(off);
    sums_forget(off);
    asked_owners_forget();
}

/* --- set-up and end of the recording ---------------------------------------------------------- */

static void note_refuted(const struct fact *f)
{
    lacks_note("%s::%s of this JVM is not as Orca knows it: %s", f->type, f->field, f->lost);
}

/* Before anything else reads the JVM's memory. */
static void prove_facts(jthread current, uintptr_t java_thread, uint64_t java_tid)
{
    struct err ignored;
    const struct fact_self self = {
        .java_thread = java_thread,
        .java_tid = java_tid,
        .itself = handle_of(current),
        .version = agent.java_version,
        /* it would print that another handler stands before the JVM's own */
        .guarded = !vmstructs_flag(agent.vmstructs, "CheckJNICalls", false) &&
                   guarded_open(&ignored) == 0};
    facts_prove(agent.vmstructs, &self, note_refuted);
    vmstructs_layout(agent.vmstructs, &agent.layout);
}

int threads_init(JNIEnv *jni, jthread current, struct err *err)
{
    jclass c = (*jni)->FindClass(jni, "java/lang/Thread");
    if (c) {
        reg.tid = (*jni)->GetFieldID(jni, c, "tid", "J");
        if (reg.tid)
            reg.eetop = (*jni)->GetFieldID(jni, c, "eetop", "J");
        if (reg.eetop)
            reg.name = (*jni)->GetFieldID(jni, c, "name", "Ljava/lang/String;");
        (*jni)->DeleteLocalRef(jni, c);
    }
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    if (!reg.tid || !reg.eetop || !reg.name)
        return err_set(err, -ENOTSUP,
                       "java.lang.Thread of this JVM has no fields tid, eetop and name");
    uintptr_t java_thread = (uintptr_t)(*jni)->GetLongField(jni, current, reg.eetop);
    reg.env_offset = (uintptr_t)jni - java_thread;
    prove_facts(current, java_thread, threads_java_tid(jni, current));
    if (agent.virtual_threads)
        mounted_open(&agent.layout, agent.vmstructs, java_thread, threads_java_tid(jni, current),
                     jni_field_offset(reg.tid));
    if (agent.layout.terminated >= 0)
        memcpy(&reg.not_exiting, (const char *)java_thread + agent.layout.terminated,
               sizeof reg.not_exiting);
    reg.all = NULL;
    atomic_store_explicit(&reg.last_id, 0, memory_order_relaxed); /* no other thread is there yet */
    atomic_store_explicit(&reg.virtual_seen, false, memory_order_relaxed);
    atomic_store_explicit(&reg.ends_probed, false, memory_order_relaxed);
    map_init(&natives);
    memset(ended_lately, 0, sizeof ended_lately);
    memset((void *)nameless, 0, sizeof nameless); /* no other thread is there yet */
    return 0;
}

/* Returns the thread's id if it is news. */
static uint32_t enumerate(JNIEnv *jni, struct os_thread *self, const jvmtiStackInfo *info)
{
    if (id_of(jni, info->thread))
        return 0; /* this thread, or one that has just started and reported itself */
    uint32_t id = register_thread(jni, info->thread, 0);
    if (id && agent.settings.groups[GROUP_threads])
        put_simple(self, EV_thread_alive, id);
    return id;
}

/* At a safepoint the JVM takes all stacks.  ThreadEnd was enabled before, and a thread passes no
 * safepoint between the point where it would post it and the one from where on it is not listed
 * (JavaThread::exit, 17 to 25): of each thread that is listed we will get the ThreadEnd. */
void threads_enumerate(JNIEnv *jni)
{
    jint n = 0;
    jvmtiStackInfo *all = NULL;
    struct os_thread *self = os_thread_self(jni);
    if (!self ||
        (*agent.jvmti)->GetAllStackTraces(agent.jvmti, (jint)agent.settings.depth + 1, &all, &n) !=
            JVMTI_ERROR_NONE)
        return;
    refs_may_be_many(jni);
    uint32_t *ids = calloc((size_t)n + 1, sizeof *ids);
    for (jint i = 0; ids && i < n; i++)
        ids[i] = enumerate(jni, self, &all[i]);
    /* Then, because the owner of a wait's lock is one of them. */
    if (ids)
        open_waits_found(jni, self, all, ids, n);
    for (jint i = 0; i < n; i++)
        (*jni)->DeleteLocalRef(jni, all[i].thread);
    free(ids);
    jvmti_free(all);
}

/* Note the names that live threads have now; collect the ids of those that block or wait, with the
 * kind of event that would begin such a wait. */
static void look_at_threads(JNIEnv *jni, struct map *waiting)
{
    jint n = 0, state;
    jthread *threads = NULL;
    if ((*agent.jvmti)->GetAllThreads(agent.jvmti, &n, &threads) != JVMTI_ERROR_NONE)
        return;
    refs_may_be_many(jni);
    for (jint i = 0; i < n; i++) {
        uint32_t id = id_of(jni, threads[i]);
        if (id) {
            redefine(jni, threads[i], id, 0, 0);
            if ((*agent.jvmti)->GetThreadState(agent.jvmti, threads[i], &state) ==
                    JVMTI_ERROR_NONE &&
                wait_of_state(state)) {
                uint64_t *kind = map_put(waiting, id);
                if (kind)
                    *kind = wait_of_state(state);
                if (wait_of_state(state) == EV_park_enter)
                    open_waits_place(jni, threads[i], (thread_id){id});
            }
        }
        (*jni)->DeleteLocalRef(jni, threads[i]);
    }
    jvmti_free(threads);
}

void threads_finish(JNIEnv *jni)
{
    /* The thread that ends the JVM has had its ThreadEnd by now; this is still its. */
    self_ended = false;
    struct os_thread *self = os_thread_self(jni);
    if (!self)
        return;
    if (!self->id.v)
        self->id.v = ended_id;
    struct map waiting;
    map_init(&waiting);
    look_at_threads(jni, &waiting);
    open_waits_end(jni, self, &waiting);
    asked_owners_ask(jni, true);
    map_fini(&waiting);
    put_simple(self, EV_recording_end, self->id.v);
    recorder_ends_here(agent.rec);
}

void threads_free(void)
{
    for (struct os_thread *t = reg.all, *next; t; t = next) {
        next = t->next;
        free(t->ring);
        trails_free(t->trails);
        free(t);
    }
    reg.all = NULL;
    map_fini(&natives);
    open_waits_free();
}

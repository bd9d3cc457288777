#include "agent/threads.h"

#include "agent/jvm_text.h"
#include "agent/jvmti21.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/util.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* initial-exec: no allocation on first use, one load afterwards; eight bytes of the static reserve.
 */
static __thread struct os_thread *self_tls __attribute__((tls_model("initial-exec")));

/* The Java thread has passed its ThreadEnd.  It may still block once, on its own Thread object when
 * somebody joins it: that comes too late to be recorded, and must not make a new record. */
static __thread bool self_ended __attribute__((tls_model("initial-exec")));
static __thread uint32_t ended_id __attribute__((tls_model("initial-exec")));

/* Threads that ended lately: somebody may still join or unpark one, and a platform thread may own a
 * monitor, its own Thread object's, while it leaves the JVM.  By Thread.getId() modulo the table's
 * length; under reg.lock. */
enum { ENDED_KEPT = 1024 };
static struct {
    uint64_t java_tid;
    uint32_t id;
} ended_lately[ENDED_KEPT];

/* Virtual threads that were met as owners, by number only, and are named when they end; in the same
 * way. */
static uint64_t nameless[ENDED_KEPT];

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

/* Stored instead of an id once a platform thread has passed its ThreadEnd. */
#define ENDED UINT32_MAX

static struct {
    /* Held while a thread is registered, also across JVM calls, which may wait for a safepoint to
     * end. So a thread at a safepoint must not take it. */
    pthread_mutex_t lock;
    /* Of `all`.  Never held across a JVM call: collector callbacks take it at a safepoint. */
    pthread_mutex_t list_lock;
    struct os_thread *all;
    _Atomic uint32_t last_id;
    _Atomic bool virtual_seen; /* a virtual thread has an id */
    jfieldID tid, eetop;
    uintptr_t env_offset; /* from a JavaThread to its JNIEnv */
} reg = {.lock = PTHREAD_MUTEX_INITIALIZER, .list_lock = PTHREAD_MUTEX_INITIALIZER};

/* --- JVMTI's thread-local storage marks platform threads that are registered --------------------
 *
 * And those that have passed their ThreadEnd, while their JavaThread is still there.  Virtual
 * threads have none of it: JVMTI would make a state for each of them, and GetThreadLocalStorage has
 * crashed on JDK 25 where they come and go fast. */

static uint32_t stored_id(jthread thread)
{
    void *p = NULL;
    if ((*agent.jvmti)->GetThreadLocalStorage(agent.jvmti, thread, &p) != JVMTI_ERROR_NONE)
        return 0;
    return (uint32_t)(uintptr_t)p;
}

static void store_id(jthread thread, uint32_t id)
{
    /* A thread that is just ending refuses; it will not be asked again. */
    (*agent.jvmti)->SetThreadLocalStorage(agent.jvmti, thread, (void *)(uintptr_t)id);
}

static uint32_t new_id(void)
{
    return atomic_fetch_add_explicit(&reg.last_id, 1, memory_order_relaxed) + 1;
}

/* --- definitions --------------------------------------------------------------------------------
 */

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

/* Name, groups and daemon flag; empty where the JVM does not tell (a thread that is ending). */
static uint32_t thread_text(JNIEnv *jni, jthread thread, struct thread_text *t)
{
    jvmtiThreadInfo info;
    t->name[0] = t->group[0] = t->parent[0] = 0;
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

/* The ends of virtual threads are asked for once one has an id: a program that starts a million of
 * them and never blocks on a monitor pays nothing.  Not under a mutex. */
static void watch_virtual_ends(void)
{
    if (!atomic_load_explicit(&reg.virtual_seen, memory_order_relaxed) &&
        !atomic_exchange_explicit(&reg.virtual_seen, true, memory_order_relaxed))
        (*agent.jvmti)
            ->SetEventNotificationMode(agent.jvmti, JVMTI_ENABLE,
                                       (jvmtiEvent)EVENT_VIRTUAL_THREAD_END, NULL);
}

/* Give `thread` an id, or the id by which it was met as an owner, and define it.  `os_tid`: 0 when
 * not known.  Returns 0 for a thread that has ended.
 *
 * Its JavaThread is read only under the mutex and before the thread has passed threads_ended, which
 * takes the mutex too and leaves the mark ENDED: it cannot be freed under us. */
static uint32_t register_thread(JNIEnv *jni, jthread thread, uint32_t os_tid)
{
    struct thread_text text;
    jint hash = 0;
    uint64_t java_tid = (uint64_t)(*jni)->GetLongField(jni, thread, reg.tid);
    bool virtual = threads_is_virtual(jni, thread);
    uint32_t flags = thread_text(jni, thread, &text) | (virtual ? THREAD_VIRTUAL : 0);
    (*agent.jvmti)->GetObjectHashCode(agent.jvmti, thread, &hash);
    pthread_mutex_lock(&reg.lock);
    uint32_t id = virtual ? thread_table_find(agent.table, java_tid) : stored_id(thread);
    if (virtual && !id)
        id = ended_under_lock(java_tid);
    uintptr_t java_thread = virtual ? 0 : (uintptr_t)(*jni)->GetLongField(jni, thread, reg.eetop);
    if (id == 0 && (virtual || java_thread)) {
        id = thread_table_find(agent.table, java_tid);
        bool known = id != 0;
        if (!known)
            id = new_id();
        if (!os_tid)
            os_tid = os_thread_id(&agent.layout, java_thread);
        define(id, java_tid, os_tid, flags, (uint32_t)hash, &text);
        if (!known)
            thread_table_add(agent.table, java_thread, java_tid, id);
        if (!virtual)
            store_id(thread, id);
    }
    pthread_mutex_unlock(&reg.lock);
    if (virtual)
        watch_virtual_ends();
    return id == ENDED ? 0 : id;
}

thread_id threads_by_tid(uint64_t java_tid)
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
        thread_table_add(agent.table, 0, java_tid, id);
        nameless[java_tid % ENDED_KEPT] = java_tid;
    }
    pthread_mutex_unlock(&reg.lock);
    watch_virtual_ends();
    return (thread_id){id};
}

/* --- the calling OS thread ----------------------------------------------------------------------
 */

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

/* A thread of the JVM itself ("VM Thread"): its only name is the kernel's. */
static uint32_t register_native(void)
{
    struct thread_text text = {.name = ""};
    char comm[17] = "";
    prctl(PR_GET_NAME, comm);
    jvm_text(text.name, sizeof text.name, comm);
    uint32_t id = new_id();
    define(id, 0, (uint32_t)syscall(SYS_gettid), THREAD_NATIVE, 0, &text);
    return id;
}

struct os_thread *os_thread_self(JNIEnv *jni)
{
    struct os_thread *t = self_tls;
    if (t)
        return t;
    if (self_ended || !agent_on())
        return NULL;
    t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->ring = ring_attach(agent.rec);
    if (!t->ring) {
        free(t);
        return NULL;
    }
    if (jni)
        t->java_thread = (uintptr_t)jni - reg.env_offset;
    else
        t->id.v = register_native();
    self_tls = t;
    list_add(t);
    return t;
}

static void os_thread_end(void)
{
    struct os_thread *t = self_tls;
    if (!t)
        return;
    self_tls = NULL;
    list_remove(t);
    ring_detach(t->ring);
    free(t);
}

thread_id threads_current(JNIEnv *jni, jthread thread, struct os_thread *self)
{
    if (!agent.virtual_threads && self->id.v)
        return self->id;
    uint64_t tid = mounted_tid(&agent.layout, self->java_thread);
    if (!tid)
        tid = (uint64_t)(*jni)->GetLongField(jni, thread, reg.tid);
    if (self->java_tid == tid)
        return self->id;
    uint32_t id = thread_table_find(agent.table, tid);
    if (!id)
        id = register_thread(jni, thread, 0);
    if (!self->id.v && !threads_is_virtual(jni, thread)) {
        self->id.v = id;
        self->java_tid = tid;
    }
    return (thread_id){id};
}

thread_id threads_self(JNIEnv *jni, struct os_thread *self)
{
    jthread thread;
    if (!agent.virtual_threads && self->id.v)
        return self->id;
    uint64_t tid = mounted_tid(&agent.layout, self->java_thread);
    if (tid && self->java_tid == tid)
        return self->id;
    uint32_t id = tid ? thread_table_find(agent.table, tid) : 0;
    if (id || (*agent.jvmti)->GetCurrentThread(agent.jvmti, &thread) != JVMTI_ERROR_NONE)
        return (thread_id){id};
    thread_id found = threads_current(jni, thread, self);
    (*jni)->DeleteLocalRef(jni, thread);
    return found;
}

static bool has_ended(jthread thread)
{
    jint state = 0;
    return (*agent.jvmti)->GetThreadState(agent.jvmti, thread, &state) == JVMTI_ERROR_NONE &&
           (state & JVMTI_THREAD_STATE_TERMINATED);
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
    uint64_t java_tid = (uint64_t)(*jni)->GetLongField(jni, thread, reg.tid);
    uint32_t id = thread_table_find(agent.table, java_tid);
    if (!id)
        id = recently_ended(java_tid);
    if (!id && !(threads_is_virtual(jni, thread) && has_ended(thread)))
        id = register_thread(jni, thread, 0);
    if (!id) /* it has started and ended since the first look */
        id = recently_ended(java_tid);
    return (thread_id){id};
}

/* --- starts and ends ----------------------------------------------------------------------------
 */

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
    uint32_t id = stored_id(thread); /* not 0: the enumeration met it while it started */
    if (!id)
        id = register_thread(jni, thread, (uint32_t)syscall(SYS_gettid));
    self->id.v = id;
    self->java_tid = (uint64_t)(*jni)->GetLongField(jni, thread, reg.tid);
    self->from_start = true;
    if (agent.settings.groups[GROUP_threads])
        put_simple(self, EV_thread_start, id);
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
    define(id, (uint64_t)(*jni)->GetLongField(jni, thread, reg.tid), os_tid, flags, (uint32_t)hash,
           &text);
}

void threads_ended(JNIEnv *jni, jthread thread)
{
    uint64_t java_tid = (uint64_t)(*jni)->GetLongField(jni, thread, reg.tid);
    if (agent_on()) {
        struct os_thread *self = os_thread_self(jni);
        uint32_t known = stored_id(thread);
        if (self && known && known != ENDED) {
            redefine(jni, thread, known, (uint32_t)syscall(SYS_gettid), 0);
            if (agent.settings.groups[GROUP_threads])
                put_simple(self, EV_thread_end, known);
        }
    }
    /* Before the JavaThread is freed, on or off: see register_thread and owner.h. */
    pthread_mutex_lock(&reg.lock);
    uint32_t id = stored_id(thread);
    if (id && id != ENDED) {
        note_ended(java_tid, id);
        ended_id = id;
    }
    store_id(thread, ENDED);
    pthread_mutex_unlock(&reg.lock);
    thread_table_remove(agent.table, java_tid);
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
    uint64_t java_tid = (uint64_t)(*jni)->GetLongField(jni, thread, reg.tid);
    uint32_t id = thread_table_find(agent.table, java_tid);
    if (!id)
        return;
    pthread_mutex_lock(&reg.lock);
    note_ended(java_tid, id);
    bool name_it = nameless[java_tid % ENDED_KEPT] == java_tid;
    pthread_mutex_unlock(&reg.lock);
    thread_table_remove(agent.table, java_tid);
    struct os_thread *self = os_thread_self(jni);
    if (name_it) /* now it can be asked for its name */
        redefine(jni, thread, id, 0, THREAD_VIRTUAL);
    /* Without the group, too, for those that were met: so it is known how long they lived. */
    if (self && (agent.settings.groups[GROUP_virtual] || agent.settings.groups[GROUP_threads]))
        put_simple(self, EV_thread_end, id);
}

/* --- set-up and end of the recording ------------------------------------------------------------
 */

int threads_init(JNIEnv *jni, jthread current, struct err *err)
{
    jclass c = (*jni)->FindClass(jni, "java/lang/Thread");
    if (c) {
        reg.tid = (*jni)->GetFieldID(jni, c, "tid", "J");
        if (reg.tid)
            reg.eetop = (*jni)->GetFieldID(jni, c, "eetop", "J");
        (*jni)->DeleteLocalRef(jni, c);
    }
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    if (!reg.tid || !reg.eetop)
        return err_set(err, -ENOTSUP, "java.lang.Thread of this JVM has no fields tid and eetop");
    reg.env_offset = (uintptr_t)jni - (uintptr_t)(*jni)->GetLongField(jni, current, reg.eetop);
    return 0;
}

void threads_enumerate(JNIEnv *jni)
{
    jint n = 0;
    jthread *threads = NULL;
    struct os_thread *self = os_thread_self(jni);
    if (!self || (*agent.jvmti)->GetAllThreads(agent.jvmti, &n, &threads) != JVMTI_ERROR_NONE)
        return;
    for (jint i = 0; i < n; i++) {
        if (!stored_id(threads[i])) { /* else it started meanwhile and said so itself */
            uint32_t id = register_thread(jni, threads[i], 0);
            if (id && agent.settings.groups[GROUP_threads])
                put_simple(self, EV_thread_alive, id);
        }
        (*jni)->DeleteLocalRef(jni, threads[i]);
    }
    jvmti_free(threads);
}

/* Waits that are still open: written by the thread that ends the recording, for all others.
 * `waiting`: the ids of threads that the JVM says are in one; Object.wait by a thread that does not
 * own the monitor is announced on JDK 17, throws, and has no end. */
static void note_open_waits(struct os_thread *self, const struct map *waiting)
{
    pthread_mutex_lock(&reg.list_lock);
    for (struct os_thread *t = reg.all; t; t = t->next) {
        uint32_t kind = atomic_load_explicit(&t->open_kind, memory_order_relaxed);
        if (!kind || !map_find(waiting, t->id.v))
            continue;
        struct event *e = ring_begin(self->ring, EV_wait_open, t->id, clock_mono_ns());
        if (!e)
            continue;
        e->wait_open.kind = kind;
        e->wait_open.lock.v = atomic_load_explicit(&t->open_lock, memory_order_relaxed);
        e->wait_open.since = atomic_load_explicit(&t->open_since, memory_order_relaxed);
        ring_commit(self->ring, e);
    }
    pthread_mutex_unlock(&reg.list_lock);
}

/* Note the names that live threads have now; collect the ids of those that block or wait. */
static void look_at_threads(JNIEnv *jni, struct map *waiting)
{
    const jint in_wait = JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER |
                         JVMTI_THREAD_STATE_IN_OBJECT_WAIT | JVMTI_THREAD_STATE_PARKED |
                         JVMTI_THREAD_STATE_SLEEPING;
    jint n = 0, state;
    jthread *threads = NULL;
    if ((*agent.jvmti)->GetAllThreads(agent.jvmti, &n, &threads) != JVMTI_ERROR_NONE)
        return;
    for (jint i = 0; i < n; i++) {
        uint32_t id = stored_id(threads[i]);
        if (id && id != ENDED) {
            redefine(jni, threads[i], id, 0, 0);
            if ((*agent.jvmti)->GetThreadState(agent.jvmti, threads[i], &state) ==
                    JVMTI_ERROR_NONE &&
                (state & in_wait))
                map_put(waiting, id);
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
    note_open_waits(self, &waiting);
    map_fini(&waiting);
    put_simple(self, EV_recording_end, self->id.v);
}

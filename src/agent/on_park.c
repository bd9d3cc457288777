/* on_park.c - LockSupport.park of platform threads: its wrapper of natives.c.
 *
 * What a thread waits for is what it says itself, Thread.parkBlocker; when that is a lock of
 * java.util.concurrent with an owner (AbstractOwnableSynchronizer), the owner is what the lock
 * says. Enter does the work, as its thread is about to wait; exit is on a path that another thread
 * may wait for, and makes no JNI call. */
#include "agent/on_park.h"
#include "agent/locks.h"
#include "agent/natives.h"
#include "agent/stacks.h"
#include "agent/sums.h"
#include "agent/threads.h"
#include "base/clock.h"

enum { MS_NS = 1000000 };

static struct {
    jfieldID blocker, owner;
    jclass ownable; /* a global reference, for as long as the JVM lives */
} fields;

/* --- what virtual threads park for --------------------------------------------------------------
 *
 * So that they need not ask again when they come back, on whatever carrier: by Thread.getId()
 * modulo the table's length; who was overwritten asks. */

enum { NOTES = 1 << 15, NOT_WANTED = UINT32_MAX };
static _Atomic uint64_t notes[NOTES]; /* the id's low half << 32 | what for */

void park_note(const struct os_thread *self, const struct park_info *p)
{
    uint64_t tid = mounted_tid(&agent.layout, self->java_thread);
    uint64_t note = p ? tid << 32 | (p->wanted ? p->lock.v : NOT_WANTED) : 0;
    if (tid) /* relaxed: the thread itself reads it */
        atomic_store_explicit(&notes[tid % NOTES], note, memory_order_relaxed);
}

bool park_noted(const struct os_thread *self, struct park_info *p)
{
    uint64_t tid = mounted_tid(&agent.layout, self->java_thread);
    uint64_t note = atomic_load_explicit(&notes[tid % NOTES], memory_order_relaxed);
    *p = (struct park_info){.wanted = (uint32_t)note != NOT_WANTED, .lock = {(uint32_t)note}};
    return tid && note >> 32 == (uint32_t)tid;
}

static void forget_notes(void)
{
    for (size_t i = 0; i < NOTES; i++) /* no other thread is there yet */
        atomic_store_explicit(&notes[i], 0, memory_order_relaxed);
}

/* --- virtual threads that park on their carrier --------------------------------------------------
 *
 * The only way into Unsafe.park that a virtual thread has is VirtualThread.parkOnCarrierThread,
 * when a frame of its stack pins it.  A native method or a static initialiser is seen in the stack
 * by whoever reads the trace.  Up to JDK 23 a monitor pins, too: JVMTI is asked for it the first
 * time that a thread parks so at a stack, since the same place holds the same frames' monitors each
 * time.  Who is overwritten asks again. */

enum { PINNED_STACKS = 1024 };

/* the stack's id << 32 | 1 + the frame that pins; in the low half 0: none does by a monitor */
static _Atomic uint64_t pins_known[PINNED_STACKS];

static void forget_pins(void)
{
    for (size_t i = 0; i < PINNED_STACKS; i++) /* no other thread is there yet */
        atomic_store_explicit(&pins_known[i], 0, memory_order_relaxed);
}

/* 1 + the innermost frame that holds a monitor, and that; 0: none does.  JVMTI tells only agents
 * that were there at the start. */
static uint32_t ask_monitor(JNIEnv *jni, jthread thread, lock_id *lock)
{
    jvmtiMonitorStackDepthInfo *v = NULL;
    jint n = 0, in = 0;
    bool wanted = false;
    if ((*agent.jvmti)->GetOwnedMonitorStackDepthInfo(agent.jvmti, thread, &n, &v) !=
        JVMTI_ERROR_NONE)
        return PINNED_FRAME_UNKNOWN;
    for (jint i = 1; i < n; i++) /* -1: by JNI, in no frame */
        if (v[i].stack_depth >= 0 &&
            (v[in].stack_depth < 0 || v[i].stack_depth < v[in].stack_depth))
            in = i;
    uint32_t frame = n ? (uint32_t)v[in].stack_depth + 1 : 0;
    if (n)
        *lock = locks_id(jni, v[in].monitor, &wanted);
    for (jint i = 0; i < n; i++)
        (*jni)->DeleteLocalRef(jni, v[i].monitor);
    jvmti_free(v);
    return frame;
}

static void note_pinned(JNIEnv *jni, jthread thread, struct os_thread *self, thread_id id)
{
    uint64_t now = clock_mono_ns();
    stack_id stack = stacks_current(jni);
    _Atomic uint64_t *place = &pins_known[stack.v % PINNED_STACKS];
    uint64_t word = atomic_load_explicit(place, memory_order_relaxed); /* a hint, whole by itself */
    bool met = stack.v && word >> 32 == stack.v;
    lock_id lock = {0};
    uint32_t frame = (uint32_t)word;
    if (!met) {
        frame = monitors_pin() ? ask_monitor(jni, thread, &lock) : 0;
        atomic_store_explicit(place, (uint64_t)stack.v << 32 | frame, memory_order_relaxed);
    }
    struct event *e = ring_begin(self->ring, EV_pinned, id, now);
    if (!e)
        return;
    e->pinned.stack = stack;
    e->pinned.lock = lock;
    e->pinned.frame = frame;
    e->pinned.carrier = self->id;
    ring_commit(self->ring, e);
}

void park_init(JNIEnv *jni)
{
    forget_notes();
    forget_pins();
    if (fields.blocker)
        return; /* by an earlier recording */
    jclass thread = (*jni)->FindClass(jni, "java/lang/Thread");
    if (thread)
        fields.blocker = (*jni)->GetFieldID(jni, thread, "parkBlocker", "Ljava/lang/Object;");
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, thread);
    jclass ownable =
        (*jni)->FindClass(jni, "java/util/concurrent/locks/AbstractOwnableSynchronizer");
    if (ownable)
        fields.owner =
            (*jni)->GetFieldID(jni, ownable, "exclusiveOwnerThread", "Ljava/lang/Thread;");
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    if (fields.owner)
        fields.ownable = (*jni)->NewGlobalRef(jni, ownable);
    (*jni)->DeleteLocalRef(jni, ownable);
}

/* `ask`, when there is one: the field is looked at before JNI says whose it is, and again after. */
static thread_id owner_of(JNIEnv *jni, jobject blocker, struct park_owner *ask)
{
    if (!fields.ownable || !(*jni)->IsInstanceOf(jni, blocker, fields.ownable))
        return (thread_id){0};
    bool look = ask && owner_stacks_due() && ownable_look(blocker, &ask->lock);
    jobject owner = (*jni)->GetObjectField(jni, blocker, fields.owner);
    thread_id id = owner ? threads_of(jni, owner) : (thread_id){0};
    if (look && id.v && ownable_is_same(&ask->lock) &&
        owner_locate(agent.table, threads_java_tid(jni, owner), &ask->place))
        ask->blocker = blocker;
    (*jni)->DeleteLocalRef(jni, owner);
    return id;
}

static struct park_info look(JNIEnv *jni, jthread thread, bool with_owner, struct park_owner *ask)
{
    struct park_info p = {.wanted = true};
    jobject blocker = fields.blocker ? (*jni)->GetObjectField(jni, thread, fields.blocker) : NULL;
    if (!blocker)
        return p;
    p.lock = locks_id(jni, blocker, &p.wanted);
    if (p.wanted && with_owner)
        p.owner = owner_of(jni, blocker, ask);
    if (!ask || !ask->blocker)
        (*jni)->DeleteLocalRef(jni, blocker);
    return p;
}

struct park_info park_info(JNIEnv *jni, jthread thread, struct park_owner *owner)
{
    if (owner)
        owner->blocker = NULL;
    return look(jni, thread, true, owner);
}

struct park_info park_lock(JNIEnv *jni, jthread thread)
{
    return look(jni, thread, false, NULL);
}

void park_ask_owner(JNIEnv *jni, struct os_thread *self, thread_id id, const struct park_info *p,
                    const struct park_owner *owner)
{
    if (!owner->blocker)
        return;
    const struct owner_stack_job job = {self, id, p->owner, p->lock, &owner->place};
    owner_stacks_take_ownable(&job, &owner->lock);
    (*jni)->DeleteLocalRef(jni, owner->blocker);
}

static int64_t timeout_ns(bool absolute, int64_t time)
{
    if (!absolute)
        return time;
    int64_t now = (int64_t)(clock_real_ns() / MS_NS);
    if (time <= now)
        return 1; /* over at once; 0 would say "for ever" */
    return time - now > INT64_MAX / MS_NS ? INT64_MAX : (time - now) * MS_NS;
}

static bool put_enter(struct os_thread *self, thread_id id, const struct park_info *p,
                      int64_t timeout, stack_id stack, uint64_t now)
{
    const enum wait_limit limit = timeout ? WAIT_LIMITED : WAIT_UNLIMITED;
    const struct sums_wait w = {EV_park_enter, id, p->owner, p->lock, stack, limit, now};
    threads_note_wait(self, EV_park_enter, p->lock, limit, now);
    if (sums_begin(self, &w))
        return true;
    struct event *e = ring_begin(self->ring, EV_park_enter, id, now);
    if (!e)
        return false;
    e->park_enter.lock = p->lock;
    e->park_enter.owner = p->owner;
    e->park_enter.timeout_ns = timeout;
    e->park_enter.stack = stack;
    ring_commit(self->ring, e);
    return true;
}

bool park_end_light(JNIEnv *jni, jthread thread, struct os_thread *self, thread_id id, uint64_t now,
                    stack_id (*stack_of)(JNIEnv *))
{
    struct sums_timed timed;
    enum sums_timing t = sums_end_light(id, now, &timed);
    if (t != TIMED_ASKS)
        return t == TIMED;
    jthread found = NULL;
    if (!thread && (*agent.jvmti)->GetCurrentThread(agent.jvmti, &found) != JVMTI_ERROR_NONE)
        found = NULL;
    thread = thread ? thread : found;
    lock_id lock = thread ? park_lock(jni, thread).lock : (lock_id){0};
    sums_put_timed(self, id, &timed, lock, stack_of(jni));
    (*jni)->DeleteLocalRef(jni, found);
    return true;
}

/* A platform thread's own; a virtual thread that keeps its carrier is looked at. */
static bool begin_light(JNIEnv *jni, struct os_thread *self, int64_t timeout)
{
    const enum wait_limit limit = timeout ? WAIT_LIMITED : WAIT_UNLIMITED;
    if (!sums_are_light())
        return false;
    thread_id id = threads_self(jni, self);
    uint64_t now = clock_mono_ns();
    if (id.v != self->id.v || !sums_begin_light(self, id, limit, now))
        return false;
    threads_note_wait(self, EV_park_enter, (lock_id){0}, limit, now);
    return true;
}

static void park_enter(JNIEnv *jni, int64_t timeout)
{
    struct os_thread *self = os_thread_self(jni);
    jthread thread;
    if (!self || begin_light(jni, self, timeout) ||
        (*agent.jvmti)->GetCurrentThread(agent.jvmti, &thread) != JVMTI_ERROR_NONE)
        return;
    uint64_t now = clock_mono_ns();
    thread_id id = threads_current(jni, thread, self);
    struct park_info p = {.wanted = false};
    struct park_owner owner = {.blocker = NULL};
    if (id.v == self->id.v)
        p = park_info(jni, thread, &owner);
    else if (id.v) /* VirtualThread.park has reported the park itself */
        note_pinned(jni, thread, self, id);
    (*jni)->DeleteLocalRef(jni, thread);
    if (p.wanted && put_enter(self, id, &p, timeout, stacks_current(jni), now))
        park_ask_owner(jni, self, id, &p, &owner);
    else
        (*jni)->DeleteLocalRef(jni, owner.blocker);
}

static void park_exit(JNIEnv *jni)
{
    struct os_thread *self = os_thread_self(jni);
    if (!self)
        return;
    lock_id lock = {atomic_load_explicit(&self->open_lock, memory_order_relaxed)};
    if (!threads_end_wait(self, EV_park_enter))
        return;
    uint64_t now = clock_mono_ns();
    thread_id id = threads_self(jni, self);
    if (park_end_light(jni, NULL, self, id, now, stacks_current) ||
        sums_end(self, EV_park_enter, id, now))
        return;
    struct event *e = ring_begin(self->ring, EV_park_exit, id, now);
    if (!e)
        return;
    e->park_exit.lock = lock;
    ring_commit(self->ring, e);
}

void JNICALL on_park(JNIEnv *jni, jobject unsafe, jboolean absolute, jlong time)
{
    bool on = agent_wants_cause(GROUP_parks);
    if (on)
        RECORDING(park_enter(jni, timeout_ns(absolute, time)));
    originals.park(jni, unsafe, absolute, time);
    if (on)
        RECORDING(park_exit(jni));
}

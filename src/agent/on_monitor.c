/* on_monitor.c - monitors and Object.wait.
 *
 * Enter does the work (owner, lock id, stack): its thread is about to block anyway.  Entered and
 * Waited take the time and little else, because their thread holds the user's lock. */
#include "agent/asked_owners.h"
#include "agent/locks.h"
#include "agent/owner_stacks.h"
#include "agent/stacks.h"
#include "agent/sums.h"
#include "agent/threads.h"
#include "agent/unmounts.h"
#include "base/clock.h"

static thread_id owner_of_pending(JNIEnv *jni, struct os_thread *self, jobject object, bool *gone,
                                  struct owner_place *place)
{
    struct owner o = owner_find(agent.table, self->java_thread, handle_of(object), place);
    *gone = o.gone;
    /* A thread that says that it owns the monitor is right, also when the address belongs to a
     * thread that is not up to date. */
    bool ask = o.anonymous && ((!o.id && !o.java_tid) || agent.layout.moving);
    uint64_t tid = ask ? unmounts_owner(self, object) : 0;
    if (tid && place)
        *place = (struct owner_place){0};
    if (tid)
        return threads_by_tid(jni, tid);
    return o.id ? (thread_id){o.id} : threads_by_tid(jni, o.java_tid);
}

static void contended_enter(JNIEnv *jni, jthread thread, jobject object, uint64_t now)
{
    struct os_thread *self = os_thread_self(jni);
    bool wanted, gone, ask = owner_stacks_due();
    struct owner_place place;
    if (!self)
        return;
    /* first: it may change any moment */
    thread_id owner = owner_of_pending(jni, self, object, &gone, ask ? &place : NULL);
    thread_id id = threads_current(jni, thread, self);
    unmounts_leave(self);
    lock_id lock = locks_id(jni, object, &wanted);
    if (!wanted)
        return;
    stack_id stack = stacks_current(jni);
    if (!owner.v) /* another thread was faster, or its owner has left or reached its carrier */
        owner = owner_of_pending(jni, self, object, &gone, ask ? &place : NULL);
    if (id.v == self->id.v)
        threads_note_wait(self, EV_monitor_contended_enter, lock, WAIT_UNLIMITED, now);
    if (!owner.v)
        asked_owners_note(id, lock, now);
    const struct sums_wait w = {
        EV_monitor_contended_enter, id, owner, lock, stack, WAIT_UNLIMITED, now};
    if (sums_begin(self, &w))
        return;
    struct event *e = ring_begin(self->ring, EV_monitor_contended_enter, id, now);
    if (!e)
        return;
    e->monitor_contended_enter.lock = lock;
    e->monitor_contended_enter.owner = owner;
    e->monitor_contended_enter.stack = stack;
    e->monitor_contended_enter.owner_gone = gone;
    ring_commit(self->ring, e);
    if (ask && owner.v && place.java_thread) {
        const struct owner_stack_job job = {self, id, owner, lock, &place};
        owner_stacks_take_monitor(&job, handle_of(object));
    }
}

/* The lock of the wait that ends now.  A platform thread remembers it from the wait's begin, which
 * saves the JVM's tag table (and its mutex) while the user's lock is held. */
static lock_id ending_lock(JNIEnv *jni, struct os_thread *self, thread_id id, uint32_t kind,
                           jobject object, bool *wanted)
{
    if (id.v == self->id.v &&
        atomic_load_explicit(&self->open_kind, memory_order_relaxed) == kind) {
        lock_id lock = {atomic_load_explicit(&self->open_lock, memory_order_relaxed)};
        threads_note_wait(self, 0, (lock_id){0}, WAIT_LIMIT_UNKNOWN, 0);
        *wanted = true;
        return lock;
    }
    return locks_id(jni, object, wanted);
}

static void contended_entered(JNIEnv *jni, jthread thread, jobject object, uint64_t now)
{
    struct os_thread *self = os_thread_self(jni);
    bool wanted;
    if (!self)
        return;
    thread_id id = threads_current(jni, thread, self);
    unmounts_return(self);
    asked_owners_over(id);
    lock_id lock = ending_lock(jni, self, id, EV_monitor_contended_enter, object, &wanted);
    if (!wanted || sums_end(self, EV_monitor_contended_enter, id, now))
        return;
    struct event *e = ring_begin(self->ring, EV_monitor_contended_entered, id, now);
    if (!e)
        return;
    e->monitor_contended_entered.lock = lock;
    ring_commit(self->ring, e);
}

static void wait_enter(JNIEnv *jni, jthread thread, jobject object, jlong timeout, uint64_t now)
{
    struct os_thread *self = os_thread_self(jni);
    bool wanted;
    if (!self || timeout < 0) /* throws IllegalArgumentException; only JDK 17 announces it */
        return;
    thread_id id = threads_current(jni, thread, self);
    unmounts_leave(self);
    lock_id lock = locks_id(jni, object, &wanted);
    if (!wanted)
        return;
    stack_id stack = stacks_current(jni);
    if (id.v == self->id.v)
        threads_note_wait(self, EV_wait_enter, lock, timeout ? WAIT_LIMITED : WAIT_UNLIMITED, now);
    sums_inside(id);
    struct event *e = ring_begin(self->ring, EV_wait_enter, id, now);
    if (!e)
        return;
    e->wait_enter.lock = lock;
    e->wait_enter.timeout_ms = timeout;
    e->wait_enter.stack = stack;
    ring_commit(self->ring, e);
}

/* JVMTI reports a timeout when the time had passed before the JVM woke the thread; it may have been
 * notified since, before it left the wait set, and the notify is spent on it (ObjectMonitor:: wait,
 * JDK 8 to 25).  notify makes the state that of a thread which is blocked on the monitor. */
static bool was_notified(jthread thread)
{
    jint state = 0;
    return (*agent.jvmti)->GetThreadState(agent.jvmti, thread, &state) == JVMTI_ERROR_NONE &&
           state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER;
}

static void wait_exit(JNIEnv *jni, jthread thread, jobject object, bool timed_out, uint64_t now)
{
    struct os_thread *self = os_thread_self(jni);
    bool wanted;
    if (!self)
        return;
    thread_id id = threads_current(jni, thread, self);
    unmounts_return(self); /* a wait that timed out may have no other end (25) */
    /* A thread that waits for another one to initialize a class waits on an int[] of the JVM's:
     * JVMTI posts its end but not its begin (JDK 17 and 25).  That is not Object.wait. */
    if (id.v == self->id.v && self->from_start &&
        atomic_load_explicit(&self->open_kind, memory_order_relaxed) != EV_wait_enter)
        return;
    lock_id lock = ending_lock(jni, self, id, EV_wait_enter, object, &wanted);
    if (!wanted)
        return;
    sums_outside(id);
    timed_out = timed_out && !was_notified(thread);
    struct event *e = ring_begin(self->ring, EV_wait_exit, id, now);
    if (!e)
        return;
    e->wait_exit.lock = lock;
    e->wait_exit.timed_out = timed_out;
    ring_commit(self->ring, e);
}

void JNICALL on_contended_enter(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object)
{
    (void)jvmti;
    RECORDING(contended_enter(jni, thread, object, clock_mono_ns()));
}

void JNICALL on_contended_entered(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object)
{
    (void)jvmti;
    RECORDING(contended_entered(jni, thread, object, clock_mono_ns()));
}

void JNICALL on_wait(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object, jlong timeout)
{
    (void)jvmti;
    RECORDING(wait_enter(jni, thread, object, timeout, clock_mono_ns()));
}

void JNICALL on_waited(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                       jboolean timed_out)
{
    (void)jvmti;
    RECORDING(wait_exit(jni, thread, object, timed_out, clock_mono_ns()));
}

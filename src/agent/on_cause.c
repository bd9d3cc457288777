/* on_cause.c - what one thread does to another, and sleep: most of the wrappers of natives.c.
 *
 * A cause is recorded after the call, with the time before it: a call that threw had no effect, and
 * our work does not delay the other thread. */
#include "agent/on_cause.h"
#include "agent/locks.h"
#include "agent/natives.h"
#include "agent/on_io.h"
#include "agent/stacks.h"
#include "agent/sums.h"
#include "agent/threads.h"
#include "base/clock.h"

#include <string.h>

enum { MS_NS = 1000000 };

static void note_notify(JNIEnv *jni, jobject object, enum event_kind kind, uint64_t now)
{
    struct os_thread *self = os_thread_self(jni);
    bool wanted;
    if (!self || now < agent.started || (*jni)->ExceptionCheck(jni)) /* not the owner */
        return;
    lock_id lock = locks_id(jni, object, &wanted);
    if (!wanted)
        return;
    stack_id stack = stacks_current(jni);
    thread_id id = threads_self(jni, self);
    io_note_read(self, id, now);
    struct event *e = ring_begin(self->ring, kind, id, now);
    if (!e)
        return;
    e->notify.lock = lock; /* notify_all has the same fields */
    e->notify.stack = stack;
    ring_commit(self->ring, e);
}

_Static_assert(sizeof(struct ev_notify) == sizeof(struct ev_notify_all), "written as one");

void JNICALL on_notify(JNIEnv *jni, jobject object)
{
    uint64_t now = agent_wants_cause(GROUP_waits) ? clock_mono_ns() : 0;
    originals.notify(jni, object);
    if (now)
        RECORDING(note_notify(jni, object, EV_notify, now));
}

void JNICALL on_notify_all(JNIEnv *jni, jobject object)
{
    uint64_t now = agent_wants_cause(GROUP_waits) ? clock_mono_ns() : 0;
    originals.notify_all(jni, object);
    if (now)
        RECORDING(note_notify(jni, object, EV_notify_all, now));
}

/* The wait was announced (MonitorWait) but not ended (MonitorWaited): it threw, because the thread
 * does not own the monitor or was interrupted before.  JDK 17 and 18.  Makes no JNI call. */
static void end_wait_that_threw(JNIEnv *jni)
{
    struct os_thread *self = os_thread_self(jni);
    if (!self)
        return;
    lock_id lock = {atomic_load_explicit(&self->open_lock, memory_order_relaxed)};
    if (!threads_end_wait(self, EV_wait_enter))
        return;
    thread_id id = threads_self(jni, self);
    sums_outside(id);
    struct event *e = ring_begin(self->ring, EV_wait_exit, id, clock_mono_ns());
    if (!e)
        return;
    e->wait_exit.lock = lock;
    e->wait_exit.timed_out = 0;
    ring_commit(self->ring, e);
}

void JNICALL on_native_wait(JNIEnv *jni, jobject object, jlong ms)
{
    originals.wait(jni, object, ms);
    RECORDING(end_wait_that_threw(jni));
}

/* An event about another thread, begun: its target and stack are set.  NULL: it is not recorded. */
static struct event *begin(JNIEnv *jni, enum event_kind kind, jobject thread, stack_of stack,
                           uint64_t now, struct os_thread **self)
{
    *self = os_thread_self(jni);
    if (!*self || now < agent.started) /* begun under an earlier recording */
        return NULL;
    thread_id target = threads_of(jni, thread);
    stack_id at = stack(jni);
    thread_id id = threads_self(jni, *self);
    io_note_read(*self, id, now);
    struct event *e = ring_begin((*self)->ring, kind, id, now);
    if (!e)
        return NULL;
    e->unpark.target = target;
    e->unpark.stack = at;
    return e;
}

_Static_assert(sizeof(struct ev_unpark) == sizeof(struct ev_thread_start_called), "written as one");

void note_start(JNIEnv *jni, jobject thread, stack_of stack, uint64_t now)
{
    struct os_thread *self;
    struct event *e = begin(jni, EV_thread_start_called, thread, stack, now, &self);
    if (e)
        ring_commit(self->ring, e);
}

void note_unpark(JNIEnv *jni, jobject thread, stack_of stack, uint64_t now)
{
    struct os_thread *self;
    struct event *e = begin(jni, EV_unpark, thread, stack, now, &self);
    if (e)
        ring_commit(self->ring, e);
}

bool leave_unpark(JNIEnv *jni, jobject thread, uint64_t now)
{
    struct os_thread *self = os_thread_self(jni);
    thread_id by = {0};
    if (self && !sums_are_light())
        by = threads_self(jni, self);
    return self && sums_end_short(threads_of(jni, thread), by, now);
}

/* Calls to leave out are known before: behind the call the thread may be in its next wait. */
void JNICALL on_unpark(JNIEnv *jni, jobject unsafe, jobject thread)
{
    uint64_t now = agent_wants_cause(GROUP_parks) ? clock_mono_ns() : 0;
    bool left = false;
    if (now && thread && sums_going_on())
        RECORDING(left = leave_unpark(jni, thread, now));
    originals.unpark(jni, unsafe, thread);
    if (now && thread && !left)
        RECORDING(note_unpark(jni, thread, stacks_current, now));
}

void JNICALL on_start(JNIEnv *jni, jobject thread)
{
    uint64_t now = agent_wants_cause(GROUP_threads) ? clock_mono_ns() : 0;
    originals.start(jni, thread);
    if (now && !(*jni)->ExceptionCheck(jni)) /* no memory for its stack */
        RECORDING(note_start(jni, thread, stacks_current, now));
}

enum event_kind wait_of_state(jint state)
{
    static const struct {
        jint state;
        enum event_kind kind;
    } waits[] = {{JVMTI_THREAD_STATE_SLEEPING, EV_sleep_enter},
                 {JVMTI_THREAD_STATE_IN_OBJECT_WAIT, EV_wait_enter},
                 {JVMTI_THREAD_STATE_PARKED, EV_park_enter},
                 {JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER, EV_monitor_contended_enter}};
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++)
        if (state & waits[i].state)
            return waits[i].kind;
    return 0;
}

enum wait_limit limit_of_state(jint state)
{
    if (state & JVMTI_THREAD_STATE_WAITING_WITH_TIMEOUT)
        return WAIT_LIMITED;
    bool none = state & (JVMTI_THREAD_STATE_WAITING_INDEFINITELY |
                         JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER);
    return none ? WAIT_UNLIMITED : WAIT_LIMIT_UNKNOWN;
}

enum event_kind wait_of(jthread thread)
{
    jint state = 0;
    if ((*agent.jvmti)->GetThreadState(agent.jvmti, thread, &state) != JVMTI_ERROR_NONE)
        return 0;
    return wait_of_state(state);
}

void note_interrupt(JNIEnv *jni, jobject thread, enum event_kind in, stack_of stack, uint64_t now)
{
    struct os_thread *self = os_thread_self(jni);
    if (!self || now < agent.started)
        return;
    thread_id target = threads_of(jni, thread);
    stack_id at = stack(jni);
    struct event *e = ring_begin(self->ring, EV_interrupt, threads_self(jni, self), now);
    if (!e)
        return;
    e->interrupt.target = target;
    e->interrupt.target_in = in;
    e->interrupt.stack = at;
    ring_commit(self->ring, e);
}

/* VirtualThread.interrupt, which has a probe, passes the interrupt on to the carrier: whether that
 * is the calling thread is asked once. */
static bool self_is_carrier(JNIEnv *jni, jobject thread, struct os_thread *self)
{
    if (!self->carrier_known)
        self->carrier = threads_is_carrier(jni, thread);
    self->carrier_known = true;
    return self->carrier;
}

/* A thread that interrupts itself does not wait. */
static void before_interrupt(JNIEnv *jni, jobject thread, enum event_kind *in, uint64_t *now)
{
    struct os_thread *self = os_thread_self(jni);
    bool own = self && self->java_tid && threads_java_tid(jni, thread) == self->java_tid;
    if (own ? self_is_carrier(jni, thread, self) : threads_is_carrier(jni, thread))
        return;
    *now = clock_mono_ns();
    *in = own ? 0 : wait_of(thread);
}

void JNICALL on_interrupt(JNIEnv *jni, jobject thread)
{
    uint64_t now = 0;
    enum event_kind in = 0;
    if (agent_wants_cause(GROUP_interrupts))
        RECORDING(before_interrupt(jni, thread, &in, &now));
    originals.interrupt(jni, thread);
    if (now)
        RECORDING(note_interrupt(jni, thread, in, stacks_current, now));
}

/* --- sleep ------------------------------------------------------------------------------------ */

static void sleep_enter(JNIEnv *jni, jlong ns)
{
    struct os_thread *self = os_thread_self(jni);
    if (!self)
        return;
    uint64_t now = clock_mono_ns();
    stack_id stack = stacks_current(jni);
    thread_id id = threads_self(jni, self);
    threads_note_wait(self, EV_sleep_enter, (lock_id){0}, WAIT_LIMITED, now);
    struct event *e = ring_begin(self->ring, EV_sleep_enter, id, now);
    if (!e)
        return;
    e->sleep_enter.timeout_ns = ns;
    e->sleep_enter.stack = stack;
    ring_commit(self->ring, e);
}

/* May run with InterruptedException pending: makes no JNI call. */
static void sleep_exit(JNIEnv *jni)
{
    struct os_thread *self = os_thread_self(jni);
    if (!self || !threads_end_wait(self, EV_sleep_enter))
        return;
    struct event *e =
        ring_begin(self->ring, EV_sleep_exit, threads_self(jni, self), clock_mono_ns());
    if (!e)
        return;
    e->sleep_exit.stack.v = 0; /* that of its enter */
    ring_commit(self->ring, e);
}

void JNICALL on_sleep_ms(JNIEnv *jni, jclass c, jlong ms)
{
    bool on = agent_wants_cause(GROUP_sleeps) && ms >= 0;
    if (on)
        RECORDING(sleep_enter(jni, ms > INT64_MAX / MS_NS ? INT64_MAX : ms * MS_NS));
    originals.sleep_ms(jni, c, ms);
    if (on)
        RECORDING(sleep_exit(jni));
}

void JNICALL on_sleep_ns(JNIEnv *jni, jclass c, jlong ns)
{
    bool on = agent_wants_cause(GROUP_sleeps) && ns >= 0;
    if (on)
        RECORDING(sleep_enter(jni, ns));
    originals.sleep_ns(jni, c, ns);
    if (on)
        RECORDING(sleep_exit(jni));
}

/* on_call.c - tracked methods whose calls have an event kind of their own: join, semaphores, what
 * virtual threads do (tracked.h). */
#include "agent/locks.h"
#include "agent/natives.h"
#include "agent/on_cause.h"
#include "agent/on_io.h"
#include "agent/on_park.h"
#include "agent/stacks.h"
#include "agent/sums.h"
#include "agent/threads.h"
#include "agent/thrown.h"
#include "agent/tracked.h"
#include "agent/unmounts.h"
#include "base/clock.h"

enum { MS_NS = 1000000 };

/* An event of the current thread, begun; NULL: it is not recorded. */
static struct event *begin(JNIEnv *jni, enum event_kind kind, struct os_thread **self)
{
    *self = os_thread_self(jni);
    return *self ? ring_begin((*self)->ring, kind, threads_self(jni, *self), clock_mono_ns())
                 : NULL;
}

/* --- join ------------------------------------------------------------------------------------- */

/* A virtual thread that has ended is not waited for: a program that starts many and joins each has
 * more such joins than waits.  In a stretch they are summed; they are what a stretch would save, if
 * there is none. */
static bool sum_join(JNIEnv *jni, int64_t timeout, stack_id stack)
{
    struct os_thread *self = os_thread_self(jni);
    uint64_t now = clock_mono_ns();
    struct sums_wait w = {.kind = EV_join_enter, .stack = stack, .since = now};
    if (!self)
        return false;
    w.thread = threads_self(jni, self);
    w.limit = timeout ? WAIT_LIMITED : WAIT_UNLIMITED;
    if (sums_begin(self, &w))
        return true;
    if (sums_watches())
        sums_count(w.thread, now);
    return false;
}

static void put_join_enter(JNIEnv *jni, jobject thread, int64_t timeout)
{
    struct os_thread *self;
    stack_id stack = stacks_of_kept_caller(jni);
    if ((sums_going_on() || sums_watches()) && threads_virtual_is_over(jni, thread) &&
        sum_join(jni, timeout, stack))
        return;
    thread_id target = threads_of(jni, thread);
    struct event *e = begin(jni, EV_join_enter, &self);
    if (!e)
        return;
    sums_inside(e->thread);
    e->join_enter.target = target;
    e->join_enter.stack = stack;
    e->join_enter.timeout_ns = timeout;
    ring_commit(self->ring, e);
}

static void put_join_exit(JNIEnv *jni, jobject thread)
{
    struct os_thread *self = os_thread_self(jni);
    if (self && sums_were_made() &&
        sums_add(self, EV_join_enter, threads_self(jni, self), clock_mono_ns()))
        return;
    thread_id target = threads_of(jni, thread);
    struct event *e = begin(jni, EV_join_exit, &self);
    if (!e)
        return;
    sums_outside(e->thread);
    e->join_exit.target = target;
    e->join_exit.stack.v = 0; /* that of its enter */
    ring_commit(self->ring, e);
}

static int64_t ms_to_ns(int64_t ms)
{
    return ms > INT64_MAX / MS_NS ? INT64_MAX : ms < INT64_MIN / MS_NS ? INT64_MIN : ms * MS_NS;
}

/* A negative time-out, which throws, is recorded as it is. */
void join_enter(JNIEnv *jni, const struct tracked *t, jobject thread, int64_t ms)
{
    (void)t;
    put_join_enter(jni, thread, ms_to_ns(ms));
}

void join_exit(JNIEnv *jni, const struct tracked *t, jobject thread, bool got)
{
    (void)t;
    (void)got;
    put_join_exit(jni, thread);
}

/* The overloads that end in the one above where the target is a platform thread. */
void virtual_join_enter(JNIEnv *jni, const struct tracked *t, jobject thread, int64_t ms)
{
    (void)t;
    if (threads_is_virtual(jni, thread))
        put_join_enter(jni, thread, ms_to_ns(ms));
}

void virtual_join_exit(JNIEnv *jni, const struct tracked *t, jobject thread, bool got)
{
    (void)t;
    (void)got;
    if (threads_is_virtual(jni, thread))
        put_join_exit(jni, thread);
}

/* --- virtual threads -------------------------------------------------------------------------- */

/* Around each yield; no event: see unmounts.h.  What parks does it with its event. */
void virtual_yield_enter(JNIEnv *jni, const struct tracked *t, jobject thread, int64_t time)
{
    struct os_thread *self = os_thread_self(jni);
    (void)t, (void)thread, (void)time;
    if (self)
        unmounts_leave(self);
}

void virtual_yield_exit(JNIEnv *jni, const struct tracked *t, jobject thread, bool got)
{
    struct os_thread *self = os_thread_self(jni);
    (void)t, (void)thread, (void)got;
    if (self)
        unmounts_return(self);
}

/* Of each virtual thread, also of those that have not been met. */
void virtual_ended(JNIEnv *jni, const struct tracked *t, jobject thread)
{
    (void)t;
    threads_virtual_ended(jni, thread);
}

void virtual_sleep_enter(JNIEnv *jni, const struct tracked *t, jobject thread, int64_t ns)
{
    (void)t;
    struct os_thread *self;
    (void)thread;
    stack_id stack = stacks_of_kept_caller(jni);
    struct event *e = begin(jni, EV_sleep_enter, &self);
    if (!e)
        return;
    sums_inside(e->thread);
    e->sleep_enter.timeout_ns = ns;
    e->sleep_enter.stack = stack;
    ring_commit(self->ring, e);
}

void virtual_sleep_exit(JNIEnv *jni, const struct tracked *t, jobject thread, bool got)
{
    (void)t;
    struct os_thread *self;
    (void)thread;
    (void)got;
    struct event *e = begin(jni, EV_sleep_exit, &self);
    if (!e)
        return;
    sums_outside(e->thread);
    e->sleep_exit.stack.v = 0;
    ring_commit(self->ring, e);
}

void virtual_start(JNIEnv *jni, const struct tracked *t, jobject thread)
{
    (void)t;
    note_start(jni, thread, stacks_of_kept_caller, clock_mono_ns());
}

void virtual_park_enter(JNIEnv *jni, const struct tracked *t, jobject thread, int64_t ns)
{
    (void)t;
    struct os_thread *self = os_thread_self(jni);
    struct park_owner owner;
    if (!self)
        return;
    bool on = agent.settings.groups[GROUP_parks];
    struct park_info p;
    const struct io_polled polled = io_take_polled();
    unmounts_leave(self);
    if (on && !polled.fd && sums_are_light() &&
        sums_begin_light(self, threads_self(jni, self), ns ? WAIT_LIMITED : WAIT_UNLIMITED,
                         clock_mono_ns()))
        return;
    if (on)
        p = park_info(jni, thread, &owner);
    park_note(self, on ? &p : NULL);
    if (!on)
        return;
    stack_id stack = p.wanted ? stacks_of_kept_caller(jni) : (stack_id){0};
    uint64_t now = clock_mono_ns();
    thread_id id = p.wanted ? threads_self(jni, self) : (thread_id){0};
    const struct sums_wait w = {
        EV_park_enter, id, p.owner, p.lock, stack, ns ? WAIT_LIMITED : WAIT_UNLIMITED, now};
    struct event *e =
        p.wanted && !sums_begin(self, &w) ? ring_begin(self->ring, EV_park_enter, id, now) : NULL;
    if (!e) {
        (*jni)->DeleteLocalRef(jni, owner.blocker);
        return;
    }
    e->park_enter.lock = p.lock;
    e->park_enter.owner = p.owner;
    e->park_enter.timeout_ns = ns;
    e->park_enter.stack = stack;
    ring_commit(self->ring, e);
    if (!p.lock.v)
        io_note_park(self, id, now, polled);
    park_ask_owner(jni, self, id, &p, &owner);
}

/* LockSupport clears Thread.parkBlocker only after this. */
void virtual_park_exit(JNIEnv *jni, const struct tracked *t, jobject thread, bool got)
{
    (void)t;
    struct os_thread *self = os_thread_self(jni);
    struct park_info p;
    (void)got;
    if (!self)
        return;
    unmounts_return(self);
    if (!agent.settings.groups[GROUP_parks])
        return;
    uint64_t now = clock_mono_ns();
    bool noted = park_noted(self, &p);
    if (noted && !p.wanted)
        return; /* and no sum has it */
    thread_id id = threads_self(jni, self);
    if (park_end_light(jni, thread, self, id, now, stacks_of_kept_caller) ||
        sums_end(self, EV_park_enter, id, now))
        return;
    if (!noted)
        p = park_lock(jni, thread);
    struct event *e = p.wanted ? ring_begin(self->ring, EV_park_exit, id, now) : NULL;
    if (!e)
        return;
    e->park_exit.lock = p.lock;
    ring_commit(self->ring, e);
}

void virtual_unpark(JNIEnv *jni, const struct tracked *t, jobject thread)
{
    (void)t;
    uint64_t now = clock_mono_ns();
    if (!sums_going_on() || !leave_unpark(jni, thread, now))
        note_unpark(jni, thread, stacks_of_kept_caller, now);
}

/* --- the rest --------------------------------------------------------------------------------- */

void virtual_interrupt(JNIEnv *jni, const struct tracked *t, jobject thread)
{
    (void)t;
    note_interrupt(jni, thread, threads_virtual_wait(jni, thread), stacks_of_kept_caller,
                   clock_mono_ns());
}

void interrupted(JNIEnv *jni, const struct tracked *t, jobject exception)
{
    struct os_thread *self;
    (void)exception;
    if (!thrown_when_made(jni, t->class))
        return;
    stack_id stack = stacks_of_kept_caller(jni);
    struct event *e = begin(jni, EV_interrupted, &self);
    if (!e)
        return;
    e->interrupted.stack = stack;
    ring_commit(self->ring, e);
}

/* The three semaphore events begin with the lock. */
static void put_semaphore(JNIEnv *jni, jobject semaphore, enum event_kind kind, bool with_stack)
{
    struct os_thread *self;
    bool wanted;
    lock_id lock = locks_id(jni, semaphore, &wanted);
    if (!wanted)
        return;
    stack_id stack = with_stack ? stacks_of_kept_caller(jni) : (stack_id){0};
    struct event *e = begin(jni, kind, &self);
    if (!e)
        return;
    if (kind == EV_semaphore_acquire_enter && e->thread.v == self->id.v)
        self->acquires = lock;
    e->semaphore_acquire_enter.lock = lock;
    e->semaphore_acquire_enter.stack = stack;
    ring_commit(self->ring, e);
}

_Static_assert(sizeof(struct ev_semaphore_acquire_enter) == sizeof(struct ev_semaphore_release) &&
                   offsetof(struct ev_semaphore_release, stack) ==
                       offsetof(struct ev_semaphore_acquire_enter, stack),
               "written as one");

void semaphore_acquire_enter(JNIEnv *jni, const struct tracked *t, jobject semaphore, int64_t time)
{
    (void)t;
    (void)time;
    put_semaphore(jni, semaphore, EV_semaphore_acquire_enter, true);
}

void semaphore_acquire_exit(JNIEnv *jni, const struct tracked *t, jobject semaphore, bool got)
{
    (void)t;
    struct os_thread *self = os_thread_self(jni);
    if (!self)
        return;
    /* A platform thread remembers it from the beginning: JVMTI's tag costs as much as the event. */
    thread_id id = threads_self(jni, self);
    lock_id lock = id.v == self->id.v ? self->acquires : (lock_id){0};
    bool wanted = true;
    self->acquires = (lock_id){0};
    if (!lock.v)
        lock = locks_id(jni, semaphore, &wanted);
    struct event *e =
        wanted ? ring_begin(self->ring, EV_semaphore_acquire_exit, id, clock_mono_ns()) : NULL;
    if (!e)
        return;
    e->semaphore_acquire_exit.lock = lock;
    e->semaphore_acquire_exit.stack.v = 0;
    e->semaphore_acquire_exit.failed = !got;
    ring_commit(self->ring, e);
}

void semaphore_release(JNIEnv *jni, const struct tracked *t, jobject semaphore)
{
    (void)t;
    put_semaphore(jni, semaphore, EV_semaphore_release, true);
}

/* --- methods without a kind of their own ------------------------------------------------------ */

void call_enter(JNIEnv *jni, const struct tracked *t, jobject object, int64_t time)
{
    struct os_thread *self;
    bool wanted = true;
    (void)time;
    lock_id lock = object ? locks_id(jni, object, &wanted) : (lock_id){0};
    if (!wanted)
        return;
    stack_id stack = stacks_of_caller(jni);
    struct event *e = begin(jni, EV_call_enter, &self);
    if (!e)
        return;
    e->call_enter.call = tracked_id(t);
    e->call_enter.lock = lock;
    e->call_enter.stack = stack;
    ring_commit(self->ring, e);
}

void call_exit(JNIEnv *jni, const struct tracked *t, jobject object, bool got)
{
    struct os_thread *self;
    bool wanted = true;
    lock_id lock = object ? locks_id(jni, object, &wanted) : (lock_id){0};
    struct event *e = wanted ? begin(jni, EV_call_exit, &self) : NULL;
    if (!e)
        return;
    e->call_exit.call = tracked_id(t);
    e->call_exit.lock = lock;
    e->call_exit.failed = !got;
    ring_commit(self->ring, e);
}

void call_made(JNIEnv *jni, const struct tracked *t, jobject object)
{
    struct os_thread *self;
    bool wanted = true;
    lock_id lock = object ? locks_id(jni, object, &wanted) : (lock_id){0};
    if (!wanted)
        return;
    stack_id stack = stacks_of_caller(jni);
    struct event *e = begin(jni, EV_call, &self);
    if (!e)
        return;
    e->call.call = tracked_id(t);
    e->call.lock = lock;
    e->call.stack = stack;
    ring_commit(self->ring, e);
}

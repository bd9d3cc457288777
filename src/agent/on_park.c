/* on_park.c - LockSupport.park of platform threads: its wrapper of natives.c.
 *
 * What a thread waits for is what it says itself, Thread.parkBlocker; when that is a lock of
 * java.util.concurrent with an owner (AbstractOwnableSynchronizer), the owner is what the lock
 * says. Enter does the work, as its thread is about to wait; exit is on the way that somebody waits
 * for, and makes no JNI call. */
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
    for (size_t i = 0; i < NOTES; i++) /* nobody else is there yet */
        atomic_store_explicit(&notes[i], 0, memory_order_relaxed);
}

void park_init(JNIEnv *jni)
{
    forget_notes();
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

static void park_enter(JNIEnv *jni, int64_t timeout)
{
    struct os_thread *self = os_thread_self(jni);
    jthread thread;
    if (!self || (*agent.jvmti)->GetCurrentThread(agent.jvmti, &thread) != JVMTI_ERROR_NONE)
        return;
    uint64_t now = clock_mono_ns();
    thread_id id = threads_current(jni, thread, self);
    /* A virtual thread that parks its carrier has said so in VirtualThread.park. */
    struct park_info p = {.wanted = false};
    struct park_owner owner = {.blocker = NULL};
    if (id.v == self->id.v)
        p = park_info(jni, thread, &owner);
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
    if (sums_end(self, EV_park_enter, id, now))
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

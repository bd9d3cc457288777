/* on_park.c - LockSupport.park and unpark of platform threads: the wrappers of natives.c.
 *
 * What a thread waits for is what it says itself, Thread.parkBlocker; when that is a lock of
 * java.util.concurrent with an owner (AbstractOwnableSynchronizer), the owner is what the lock
 * says. Enter does the work, as its thread is about to wait; exit is on the way that somebody waits
 * for, and makes no JNI call. */
#include "agent/on_park.h"
#include "agent/locks.h"
#include "agent/natives.h"
#include "agent/stacks.h"
#include "agent/threads.h"
#include "base/clock.h"

enum { MS_NS = 1000000 };

static struct {
    jfieldID blocker, owner;
    jclass ownable; /* a global reference, for as long as the JVM lives */
} fields;

void park_init(JNIEnv *jni)
{
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

static thread_id owner_of(JNIEnv *jni, jobject blocker)
{
    if (!fields.ownable || !(*jni)->IsInstanceOf(jni, blocker, fields.ownable))
        return (thread_id){0};
    jobject owner = (*jni)->GetObjectField(jni, blocker, fields.owner);
    thread_id id = owner ? threads_of(jni, owner) : (thread_id){0};
    (*jni)->DeleteLocalRef(jni, owner);
    return id;
}

static struct park_info look(JNIEnv *jni, jthread thread, bool with_owner)
{
    struct park_info p = {.wanted = true};
    jobject blocker = fields.blocker ? (*jni)->GetObjectField(jni, thread, fields.blocker) : NULL;
    if (!blocker)
        return p;
    p.lock = locks_id(jni, blocker, &p.wanted);
    if (p.wanted && with_owner)
        p.owner = owner_of(jni, blocker);
    (*jni)->DeleteLocalRef(jni, blocker);
    return p;
}

struct park_info park_info(JNIEnv *jni, jthread thread)
{
    return look(jni, thread, true);
}

struct park_info park_lock(JNIEnv *jni, jthread thread)
{
    return look(jni, thread, false);
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
    if (id.v == self->id.v)
        p = park_info(jni, thread);
    (*jni)->DeleteLocalRef(jni, thread);
    if (!p.wanted)
        return;
    stack_id stack = stacks_current(jni);
    threads_note_wait(self, EV_park_enter, p.lock, now);
    struct event *e = ring_begin(self->ring, EV_park_enter, id, now);
    if (!e)
        return;
    e->park_enter.lock = p.lock;
    e->park_enter.owner = p.owner;
    e->park_enter.timeout_ns = timeout;
    e->park_enter.stack = stack;
    ring_commit(self->ring, e);
}

static void park_exit(JNIEnv *jni)
{
    struct os_thread *self = os_thread_self(jni);
    if (!self)
        return;
    lock_id lock = {atomic_load_explicit(&self->open_lock, memory_order_relaxed)};
    if (!threads_end_wait(self, EV_park_enter))
        return;
    struct event *e =
        ring_begin(self->ring, EV_park_exit, threads_self(jni, self), clock_mono_ns());
    if (!e)
        return;
    e->park_exit.lock = lock;
    ring_commit(self->ring, e);
}

void JNICALL on_park(JNIEnv *jni, jobject unsafe, jboolean absolute, jlong time)
{
    bool on = agent_on();
    if (on)
        KEEP_ERRNO(park_enter(jni, timeout_ns(absolute, time)));
    originals.park(jni, unsafe, absolute, time);
    if (on)
        KEEP_ERRNO(park_exit(jni));
}

static void note_unpark(JNIEnv *jni, jobject thread, uint64_t now)
{
    struct os_thread *self = os_thread_self(jni);
    if (!self)
        return;
    thread_id target = threads_of(jni, thread);
    stack_id stack = stacks_current(jni);
    struct event *e = ring_begin(self->ring, EV_unpark, threads_self(jni, self), now);
    if (!e)
        return;
    e->unpark.target = target;
    e->unpark.stack = stack;
    ring_commit(self->ring, e);
}

void JNICALL on_unpark(JNIEnv *jni, jobject unsafe, jobject thread)
{
    uint64_t now = agent_on() ? clock_mono_ns() : 0;
    originals.unpark(jni, unsafe, thread);
    if (now && thread)
        KEEP_ERRNO(note_unpark(jni, thread, now));
}

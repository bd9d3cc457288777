#include "agent/tracked.h"

#include "base/util.h"

#include <stdio.h>
#include <string.h>

#define THREAD "java/lang/Thread"
#define VIRTUAL "java/lang/VirtualThread"
#define SEMAPHORE "java/util/concurrent/Semaphore"
#define BLOCKING(enter_, exit_) .enter = (enter_), .exit = (exit_)

#define JUC "java/util/concurrent/"
#define LOCKS JUC "locks/"
#define REENTRANT LOCKS "ReentrantLock"
#define READ_WRITE LOCKS "ReentrantReadWriteLock"
#define TIMED "(JLjava/util/concurrent/TimeUnit;)Z"

/* Methods on `this` without an event kind of their own. */
#define BLOCKS(class, name, signature)                                                             \
    {                                                                                              \
        class, name, signature, GROUP_locks, OBJECT_THIS, -1, BLOCKING(call_enter, call_exit)      \
    }
#define TRIES(class, name, signature)                                                              \
    {                                                                                              \
        class, name, signature, GROUP_locks, OBJECT_THIS, -1, .result = true,                      \
                                                              BLOCKING(call_enter, call_exit)      \
    }
#define CALLS(class, name)                                                                         \
    {                                                                                              \
        class, name, NULL, GROUP_locks, OBJECT_THIS, -1, .call = call_made                         \
    }
#define LOCK(class)                                                                                \
    BLOCKS(class, "lock", NULL), BLOCKS(class, "lockInterruptibly", NULL),                         \
        TRIES(class, "tryLock", "()Z"), TRIES(class, "tryLock", TIMED), CALLS(class, "unlock")
#define CONDITION(class)                                                                           \
    BLOCKS(class, "await", "()V"), TRIES(class, "await", TIMED),                                   \
        BLOCKS(class, "awaitNanos", NULL), TRIES(class, "awaitUntil", "(Ljava/util/Date;)Z"),      \
        BLOCKS(class, "awaitUninterruptibly", NULL), CALLS(class, "signal"),                       \
        CALLS(class, "signalAll")
#define QUEUE(class)                                                                               \
    BLOCKS(class, "put", NULL), BLOCKS(class, "take", NULL),                                       \
        TRIES(class, "offer", "(Ljava/lang/Object;)Z"),                                            \
        TRIES(class, "offer", "(Ljava/lang/Object;JLjava/util/concurrent/TimeUnit;)Z"),            \
        BLOCKS(class, "poll", NULL)

/* Every join of a platform thread ends up in join(J); for a virtual one each overload does its own
 * waiting. */
const struct tracked tracked[] = {
    {THREAD, "join", "(J)V", GROUP_joins, OBJECT_THIS, 0, BLOCKING(join_enter, join_exit)},
    {THREAD, "join", "(JI)V", GROUP_joins, OBJECT_THIS, 0, .from = 21,
     BLOCKING(virtual_join_enter, virtual_join_exit)},
    {THREAD, "join", "(Ljava/time/Duration;)Z", GROUP_joins, OBJECT_THIS, -1, .from = 21,
     BLOCKING(virtual_join_enter, virtual_join_exit)},
    {VIRTUAL, "sleepNanos", "(J)V", GROUP_sleeps, OBJECT_THIS, 0, .from = 21,
     BLOCKING(virtual_sleep_enter, virtual_sleep_exit)},
    {VIRTUAL, "park", "()V", GROUP_parks, OBJECT_THIS, -1, .from = 21,
     BLOCKING(virtual_park_enter, virtual_park_exit)},
    {VIRTUAL, "parkNanos", "(J)V", GROUP_parks, OBJECT_THIS, 0, .from = 21,
     BLOCKING(virtual_park_enter, virtual_park_exit)},
    {VIRTUAL, "unpark", "()V", GROUP_parks, OBJECT_THIS, -1, .from = 21, .call = virtual_unpark},
    {VIRTUAL, "start", "(Ljdk/internal/vm/ThreadContainer;)V", GROUP_virtual, OBJECT_THIS, -1,
     .from = 21, .call = virtual_start},
    {VIRTUAL, "interrupt", "()V", GROUP_interrupts, OBJECT_THIS, -1, .from = 21,
     .call = virtual_interrupt},
    {"java/lang/InterruptedException", "<init>", NULL, GROUP_interrupts, OBJECT_NONE, -1,
     .call = interrupted},
    {SEMAPHORE, "acquire", NULL, GROUP_semaphores, OBJECT_THIS, -1,
     BLOCKING(semaphore_acquire_enter, semaphore_acquire_exit)},
    {SEMAPHORE, "acquireUninterruptibly", NULL, GROUP_semaphores, OBJECT_THIS, -1,
     BLOCKING(semaphore_acquire_enter, semaphore_acquire_exit)},
    {SEMAPHORE, "tryAcquire", NULL, GROUP_semaphores, OBJECT_THIS, -1, .result = true,
     BLOCKING(semaphore_acquire_enter, semaphore_acquire_exit)},
    {SEMAPHORE, "release", NULL, GROUP_semaphores, OBJECT_THIS, -1, .call = semaphore_release},

    /* signature NULL: every overload that returns no boolean */
    LOCK(REENTRANT),
    LOCK(READ_WRITE "$ReadLock"),
    LOCK(READ_WRITE "$WriteLock"),
    BLOCKS(LOCKS "StampedLock", "writeLock", NULL),
    BLOCKS(LOCKS "StampedLock", "writeLockInterruptibly", NULL),
    BLOCKS(LOCKS "StampedLock", "readLock", NULL),
    BLOCKS(LOCKS "StampedLock", "readLockInterruptibly", NULL),
    CALLS(LOCKS "StampedLock", "unlockWrite"),
    CALLS(LOCKS "StampedLock", "unlockRead"),
    CALLS(LOCKS "StampedLock", "unlock"),
    CONDITION(LOCKS "AbstractQueuedSynchronizer$ConditionObject"),
    CONDITION(LOCKS "AbstractQueuedLongSynchronizer$ConditionObject"),

    BLOCKS(JUC "CountDownLatch", "await", "()V"),
    TRIES(JUC "CountDownLatch", "await", TIMED),
    CALLS(JUC "CountDownLatch", "countDown"),
    BLOCKS(JUC "CyclicBarrier", "await", NULL),
    BLOCKS(JUC "Phaser", "arriveAndAwaitAdvance", NULL),
    BLOCKS(JUC "Phaser", "awaitAdvance", NULL),
    BLOCKS(JUC "Phaser", "awaitAdvanceInterruptibly", NULL),
    CALLS(JUC "Phaser", "arrive"),
    CALLS(JUC "Phaser", "arriveAndDeregister"),
    BLOCKS(JUC "Exchanger", "exchange", NULL),

    QUEUE(JUC "ArrayBlockingQueue"),
    QUEUE(JUC "LinkedBlockingQueue"),
    QUEUE(JUC "LinkedBlockingDeque"),
    QUEUE(JUC "SynchronousQueue"),
    QUEUE(JUC "LinkedTransferQueue"),
    QUEUE(JUC "PriorityBlockingQueue"),
    QUEUE(JUC "DelayQueue"),

    BLOCKS(JUC "FutureTask", "get", NULL),
    BLOCKS(JUC "CompletableFuture", "get", NULL),
    BLOCKS(JUC "CompletableFuture", "join", NULL),
    TRIES(JUC "CompletableFuture", "complete", "(Ljava/lang/Object;)Z"),
    TRIES(JUC "CompletableFuture", "completeExceptionally", "(Ljava/lang/Throwable;)Z"),
    BLOCKS(JUC "ForkJoinTask", "get", NULL),
    BLOCKS(JUC "ForkJoinTask", "join", NULL),
    BLOCKS(JUC "ForkJoinTask", "invoke", NULL),

    /* A task on its way from who submits it to who runs it: the object is the task. */
    {JUC "ThreadPoolExecutor", "execute", NULL, GROUP_locks, 0, -1, .call = call_made},
    {JUC "ThreadPoolExecutor", "beforeExecute", NULL, GROUP_locks, 1, -1, .call = call_made},
    {JUC "ForkJoinPool", "execute", "(Ljava/lang/Runnable;)V", GROUP_locks, 0, -1,
     .call = call_made},
    BLOCKS(JUC "FutureTask", "run", NULL),
};
const size_t n_tracked = ARRAY_LEN(tracked);

bool tracked_applies(const struct tracked *t)
{
    return agent.settings.groups[t->group] && (!t->from || agent.java_version >= t->from) &&
           (!t->to || agent.java_version <= t->to);
}

/* "java/util/concurrent/locks/ReentrantLock" "lock" -> "ReentrantLock.lock" */
static void define(const struct tracked *t)
{
    char name[128], signature[128];
    const char *slash = strrchr(t->class, '/');
    snprintf(name, sizeof name, "%s.%s", slash ? slash + 1 : t->class, t->name);
    snprintf(signature, sizeof signature, "L%s;", t->class);
    struct def d = {.kind = DEF_call,
                    .call = {.id = tracked_id(t),
                             .name = {name, strlen(name)},
                             .class_name = {signature, strlen(signature)},
                             .method = {t->name, strlen(t->name)}}};
    recorder_define(agent.rec, &d);
}

void tracked_define(void)
{
    for (size_t i = 0; i < n_tracked; i++)
        if (tracked[i].group == GROUP_locks && tracked_applies(&tracked[i]))
            define(&tracked[i]);
}

static void JNICALL probe_enter_timed(JNIEnv *jni, jclass c, jint what, jobject object, jlong time)
{
    (void)c;
    if (agent_on())
        KEEP_ERRNO(tracked[what].enter(jni, &tracked[what], object, time));
}

static void JNICALL probe_enter(JNIEnv *jni, jclass c, jint what, jobject object)
{
    probe_enter_timed(jni, c, what, object, 0);
}

static void JNICALL probe_exit_result(JNIEnv *jni, jclass c, jint what, jobject object, jint result)
{
    (void)c;
    if (agent_on())
        KEEP_ERRNO(tracked[what].exit(jni, &tracked[what], object, result != 0));
}

static void JNICALL probe_exit(JNIEnv *jni, jclass c, jint what, jobject object)
{
    probe_exit_result(jni, c, what, object, 1);
}

static void JNICALL probe_threw(JNIEnv *jni, jclass c, jint what, jobject object)
{
    probe_exit_result(jni, c, what, object, 0);
}

static void JNICALL probe_call(JNIEnv *jni, jclass c, jint what, jobject object)
{
    (void)c;
    if (agent_on())
        KEEP_ERRNO(tracked[what].call(jni, &tracked[what], object));
}

#define NATIVE(name, signature, fn)                                                                \
    {                                                                                              \
        (char *)(name), (char *)(signature), (void *)(fn)                                          \
    }
const JNINativeMethod tracked_natives[N_TRACKED_NATIVES] = {
    NATIVE("enter", "(ILjava/lang/Object;)V", probe_enter),
    NATIVE("enter", "(ILjava/lang/Object;J)V", probe_enter_timed),
    NATIVE("exit", "(ILjava/lang/Object;)V", probe_exit),
    NATIVE("exit", "(ILjava/lang/Object;I)V", probe_exit_result),
    NATIVE("threw", "(ILjava/lang/Object;)V", probe_threw),
    NATIVE("call", "(ILjava/lang/Object;)V", probe_call),
};

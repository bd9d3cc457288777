#include "agent/tracked.h"

#include "agent/threads.h"
#include "agent/user_methods.h"
#include "base/hash.h"
#include "base/util.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREAD "java/lang/Thread"
#define VIRTUAL "java/lang/VirtualThread"
#define SEMAPHORE "java/util/concurrent/Semaphore"
/* A probe's number: its row, and above it the recording's number, or the mark of what is kept. */
enum { ROW_BITS = 12, SESSION_BITS = 15 - ROW_BITS };

#define BLOCKING(enter_, exit_) .enter = (enter_), .exit = (exit_)

#define JUC "java/util/concurrent/"
#define LOCKS JUC "locks/"
#define REENTRANT LOCKS "ReentrantLock"
#define READ_WRITE LOCKS "ReentrantReadWriteLock"
#define TIMED "(JLjava/util/concurrent/TimeUnit;)Z"

/* Methods on `this` without an event kind of their own. */
#define BLOCKS(class, name, signature)                                                             \
    {                                                                                              \
        class, name, signature, GROUP_locks, CALL_THIS, -1, BLOCKING(call_enter, call_exit)        \
    }
#define TRIES(class, name, signature)                                                              \
    {                                                                                              \
        class, name, signature, GROUP_locks, CALL_THIS, -1, .result = true,                        \
                                                            BLOCKING(call_enter, call_exit)        \
    }
#define CALLS(class, name)                                                                         \
    {                                                                                              \
        class, name, NULL, GROUP_locks, CALL_THIS, -1, .call = call_made                           \
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

/* Those of classes that are kept come first, 64 at most: OrcaProbe.on has a bit for each.
 * Every join of a platform thread ends up in join(J); for a virtual one each overload does its own
 * waiting. */
static const struct tracked built_in[] = {
    {THREAD, "join", "(J)V", GROUP_joins, CALL_THIS, 0, .kept = true,
     BLOCKING(join_enter, join_exit)},
    {THREAD, "join", "(JI)V", GROUP_joins, CALL_THIS, 0, .from = 21, .kept = true,
     BLOCKING(virtual_join_enter, virtual_join_exit)},
    {THREAD, "join", "(Ljava/time/Duration;)Z", GROUP_joins, CALL_THIS, -1, .from = 21,
     .kept = true, BLOCKING(virtual_join_enter, virtual_join_exit)},
    {VIRTUAL, "sleepNanos", "(J)V", GROUP_sleeps, CALL_THIS, 0, .from = 21, .kept = true,
     BLOCKING(virtual_sleep_enter, virtual_sleep_exit)},
    /* sleepNanos parks, too */
    {VIRTUAL, "park", "()V", GROUP_parks, CALL_THIS, -1, .from = 21, .kept = true, .holders = true,
     BLOCKING(virtual_park_enter, virtual_park_exit)},
    {VIRTUAL, "parkNanos", "(J)V", GROUP_parks, CALL_THIS, 0, .from = 21, .kept = true,
     .holders = true, BLOCKING(virtual_park_enter, virtual_park_exit)},
    {VIRTUAL, "tryYield", "()V", GROUP_monitors, CALL_THIS, -1, .from = 24, .kept = true,
     BLOCKING(virtual_yield_enter, virtual_yield_exit)},
    {VIRTUAL, "run", "(Ljava/lang/Runnable;)V", GROUP_threads, CALL_THIS, -1, .from = 21,
     .kept = true, .ends = true, .call = virtual_ended},
    {VIRTUAL, "unpark", "()V", GROUP_parks, CALL_THIS, -1, .from = 21, .kept = true,
     .call = virtual_unpark},
    {VIRTUAL, "start", "(Ljdk/internal/vm/ThreadContainer;)V", GROUP_virtual, CALL_THIS, -1,
     .from = 21, .kept = true, .call = virtual_start},
    {VIRTUAL, "interrupt", "()V", GROUP_interrupts, CALL_THIS, -1, .from = 21, .kept = true,
     .call = virtual_interrupt},
    {SEMAPHORE, "acquire", NULL, GROUP_semaphores, CALL_THIS, -1, .kept = true,
     BLOCKING(semaphore_acquire_enter, semaphore_acquire_exit)},
    {SEMAPHORE, "acquireUninterruptibly", NULL, GROUP_semaphores, CALL_THIS, -1, .kept = true,
     BLOCKING(semaphore_acquire_enter, semaphore_acquire_exit)},
    {SEMAPHORE, "tryAcquire", NULL, GROUP_semaphores, CALL_THIS, -1, .kept = true, .result = true,
     BLOCKING(semaphore_acquire_enter, semaphore_acquire_exit)},
    {SEMAPHORE, "release", NULL, GROUP_semaphores, CALL_THIS, -1, .kept = true,
     .call = semaphore_release},
    {"java/lang/InterruptedException", "<init>", NULL, GROUP_interrupts, CALL_NO_OBJECT, -1,
     .kept = true, .call = interrupted},

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
const struct tracked *tracked = built_in;
size_t n_tracked = ARRAY_LEN(built_in);

bool tracked_is_here(const struct tracked *t)
{
    return (!t->from || agent.java_version >= t->from) && (!t->to || agent.java_version <= t->to);
}

bool tracked_applies(const struct tracked *t)
{
    bool on =
        agent.settings.groups[t->group] || (t->holders && agent.settings.groups[GROUP_monitors]);
    return on && (t->user || agent.settings.contanalysis) && tracked_is_here(t);
}

/* --- rows of classes that are kept ------------------------------------------------------------ */

const struct tracked *tracked_kept(size_t i)
{
    return i < ARRAY_LEN(built_in) && built_in[i].kept ? &built_in[i] : NULL;
}

bool tracked_is_kept(const char *class)
{
    const struct tracked *t;
    for (size_t i = 0; (t = tracked_kept(i)); i++)
        if (strcmp(t->class, class) == 0)
            return true;
    return false;
}

uint64_t tracked_kept_wanted(void)
{
    const struct tracked *t;
    uint64_t bits = 0;
    for (size_t i = 0; (t = tracked_kept(i)); i++)
        bits |= (uint64_t)(t->ends ? threads_ends_probed() : tracked_applies(t)) << i;
    return bits;
}

/* Another build of the agent may come into the JVM later, and have other rows. */
static uint32_t kept_mark(void)
{
    static _Atomic uint32_t mark;
    /* relaxed: every thread computes the same */
    uint32_t known = atomic_load_explicit(&mark, memory_order_relaxed);
    if (known)
        return known;
    const struct tracked *t;
    uint64_t h = 1;
    for (size_t i = 0; (t = tracked_kept(i)); i++) {
        const char *texts[] = {t->class, t->name, t->signature ? t->signature : ""};
        for (size_t k = 0; k < ARRAY_LEN(texts); k++)
            h = hash_bytes(texts[k], strlen(texts[k]), h);
    }
    known = (uint32_t)h << ROW_BITS & INT32_MAX;
    known = known ? known : 1u << ROW_BITS;
    atomic_store_explicit(&mark, known, memory_order_relaxed);
    return known;
}

/* --- the user's rows -------------------------------------------------------------------------- */

static struct call_table user_table;

int tracked_read(const char *methods, struct err *err)
{
    if (!methods)
        return 0;
    TRY(call_table_open(&user_table, methods, err));
    struct tracked *rows = calloc(ARRAY_LEN(built_in) + user_table.n, sizeof *rows);
    if (!rows)
        return err_set(err, -ENOMEM, "out of memory");
    memcpy(rows, built_in, sizeof built_in);
    for (size_t i = 0; i < user_table.n; i++) {
        const struct call_row *u = &user_table.rows[i];
        struct tracked *t = &rows[ARRAY_LEN(built_in) + i];
        *t = (struct tracked){.class = u->class,
                              .name = u->method,
                              .group = GROUP_methods,
                              .object = (int16_t)u->object,
                              .time = -1,
                              .result = u->kind == CALL_TRIES,
                              .user = u};
        if (u->kind == CALL_CALLS)
            t->call = call_made;
        else
            t->enter = call_enter, t->exit = call_exit;
    }
    tracked = rows;
    n_tracked = ARRAY_LEN(built_in) + user_table.n;
    return 0;
}

void tracked_forget(void)
{
    if (tracked != built_in)
        free((void *)tracked);
    tracked = built_in;
    n_tracked = ARRAY_LEN(built_in);
    call_table_fini(&user_table);
}

/* --- definitions ------------------------------------------------------------------------------ */

/* A row of our own in the form of the user's, without its name and that of its end. */
static struct call_row own_row(const struct tracked *t)
{
    return (struct call_row){.class = t->class,
                             .method = t->name,
                             .params = t->signature ? t->signature : "",
                             .kind = t->call     ? CALL_CALLS
                                     : t->result ? CALL_TRIES
                                                 : CALL_BLOCKS,
                             .object = t->object};
}

static void define(const struct tracked *t)
{
    struct call_texts texts;
    struct buf event, ended;
    struct def d;
    buf_init(&event);
    buf_init(&ended);
    call_default_name(&event, t->class, t->name);
    buf_printf(&ended, "%sEnded", buf_str(&event));
    struct call_row row = t->user ? *t->user : own_row(t);
    if (!t->user) {
        row.event = buf_str(&event);
        row.ended = t->call ? "" : buf_str(&ended);
    }
    if (call_define(&row, tracked_id(t), &texts, &d) == 0 && !event.oom && !ended.oom)
        recorder_define(agent.rec, &d);
    call_texts_fini(&texts);
    buf_fini(&event);
    buf_fini(&ended);
}

void tracked_define(void)
{
    for (size_t i = 0; i < n_tracked; i++)
        if ((tracked[i].user || tracked[i].group == GROUP_locks) && tracked_applies(&tracked[i]))
            define(&tracked[i]);
}

/* --- the probes ------------------------------------------------------------------------------- */

/* The user may track what recording an event calls (Thread.getId): such calls are not events. */
static struct os_thread *begin_user(JNIEnv *jni, const struct tracked *t)
{
    struct os_thread *self = t->user ? os_thread_self(jni) : NULL;
    if (self)
        self->in_user_probe = true;
    return self;
}

static void end_user(struct os_thread *self)
{
    if (self)
        self->in_user_probe = false;
}

static bool inside(JNIEnv *jni, const struct tracked *t)
{
    const struct os_thread *self = t->user ? os_thread_self(jni) : NULL;
    return self && self->in_user_probe;
}

/* As much as fits an instruction: a number that needs a constant, another one in each recording,
 * would make the class's constant pool grow with every attach, and HotSpot could never reuse what
 * it freed of the one before.  What is kept is of no recording, and may need one. */
int32_t tracked_number(size_t row)
{
    if (tracked_kept(row))
        return (int32_t)(kept_mark() | (uint32_t)row);
    return (int32_t)((agent.session & ((1u << SESSION_BITS) - 1)) << ROW_BITS | (uint32_t)row);
}

/* The row of a probe's number, NULL when it is of another recording.  Inside the guard. */
static const struct tracked *row_of(jint number)
{
    size_t row = (size_t)number & ((1u << ROW_BITS) - 1);
    return row < n_tracked && tracked_number(row) == number ? &tracked[row] : NULL;
}

/* `what` with t, the row; `of`: further conditions on it. */
#define PROBE(number, of, what)                                                                    \
    do {                                                                                           \
        if (agent_enter()) {                                                                       \
            int errno_ = errno;                                                                    \
            const struct tracked *t = row_of(number);                                              \
            if (t && !inside(jni, t) && (of)) {                                                    \
                uint64_t cost_ = cost_call_begin();                                                \
                struct os_thread *user_ = begin_user(jni, t);                                      \
                what;                                                                              \
                end_user(user_);                                                                   \
                cost_call_end(cost_);                                                              \
            }                                                                                      \
            errno = errno_;                                                                        \
            agent_leave();                                                                         \
        }                                                                                          \
    } while (0)

#define OF_ITS_CLASS user_methods_mean(jni, (size_t)(t - tracked), self)

static void JNICALL probe_enter_timed(JNIEnv *jni, jclass c, jint what, jobject object, jlong time)
{
    (void)c;
    PROBE(what, t->enter, t->enter(jni, t, object, time));
}

static void JNICALL probe_enter(JNIEnv *jni, jclass c, jint what, jobject object)
{
    probe_enter_timed(jni, c, what, object, 0);
}

static void JNICALL probe_exit_result(JNIEnv *jni, jclass c, jint what, jobject object, jint result)
{
    (void)c;
    PROBE(what, t->exit, t->exit(jni, t, object, result != 0));
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
    PROBE(what, t->call, t->call(jni, t, object));
}

static void JNICALL probe_enter_if(JNIEnv *jni, jclass c, jint what, jobject object, jobject self)
{
    (void)c;
    PROBE(what, t->enter && OF_ITS_CLASS, t->enter(jni, t, object, 0));
}

static void JNICALL probe_exit_if(JNIEnv *jni, jclass c, jint what, jobject object, jobject self,
                                  jint result)
{
    (void)c;
    PROBE(what, t->exit && OF_ITS_CLASS, t->exit(jni, t, object, result != 0));
}

static void JNICALL probe_call_if(JNIEnv *jni, jclass c, jint what, jobject object, jobject self)
{
    (void)c;
    PROBE(what, t->call && OF_ITS_CLASS, t->call(jni, t, object));
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
    NATIVE("enterIf", "(ILjava/lang/Object;Ljava/lang/Object;)V", probe_enter_if),
    NATIVE("exitIf", "(ILjava/lang/Object;Ljava/lang/Object;I)V", probe_exit_if),
    NATIVE("callIf", "(ILjava/lang/Object;Ljava/lang/Object;)V", probe_call_if),
};

#include "agent/tracked.h"

#include "base/util.h"

#define THREAD "java/lang/Thread"
#define VIRTUAL "java/lang/VirtualThread"
#define SEMAPHORE "java/util/concurrent/Semaphore"
#define BLOCKING(enter_, exit_) .enter = (enter_), .exit = (exit_)

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
    {VIRTUAL, "interrupt", "()V", GROUP_interrupts, OBJECT_THIS, -1, .from = 21, .early = true,
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
};
const size_t n_tracked = ARRAY_LEN(tracked);

static void JNICALL probe_enter_timed(JNIEnv *jni, jclass c, jint what, jobject object, jlong time)
{
    (void)c;
    if (agent_on())
        KEEP_ERRNO(tracked[what].enter(jni, object, time));
}

static void JNICALL probe_enter(JNIEnv *jni, jclass c, jint what, jobject object)
{
    probe_enter_timed(jni, c, what, object, 0);
}

static void JNICALL probe_exit_result(JNIEnv *jni, jclass c, jint what, jobject object, jint result)
{
    (void)c;
    if (agent_on())
        KEEP_ERRNO(tracked[what].exit(jni, object, result != 0));
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
        KEEP_ERRNO(tracked[what].call(jni, object));
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

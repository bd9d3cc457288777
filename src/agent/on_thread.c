/* on_thread.c - threads start and end. */
#include "agent/threads.h"

void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void)jvmti;
    if (agent_on())
        KEEP_ERRNO(threads_started(jni, thread));
}

void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void)jvmti;
    if (agent.rec) /* on or off: the thread's JavaThread must not be looked at any more */
        KEEP_ERRNO(threads_ended(jni, thread));
}

void JNICALL on_virtual_thread_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void)jvmti;
    if (agent_on())
        KEEP_ERRNO(threads_virtual_ended(jni, thread));
}

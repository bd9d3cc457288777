/* trace_cost.c - the native half of TraceCost.java: one stack by AsyncGetCallTrace2, by HotSpot's
 * own AsyncGetCallTrace, and by GetStackTrace, each on the calling thread. */
#include "orca/asgct2.h"

#include "../../jvm/agct.h"

#include <dlfcn.h>
#include <jvmti.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

enum { DEPTH = 256, WAYS = 3 };

static jvmtiEnv *ti;
static agct_function agct;
static double least[WAYS];

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* How many frames it got; HotSpot's reads nothing of the context of a thread that left Java. */
static jint take(JNIEnv *jni, int way, jint depth)
{
    static ucontext_t nothing;
    CallFrame ours[DEPTH];
    agct_frame theirs[DEPTH];
    jvmtiFrameInfo jvmtis[DEPTH];
    CallTrace t = {.frames = ours};
    agct_trace a = {.env = jni, .frames = theirs};
    jint n = 0;
    if (way == 0)
        AsyncGetCallTrace2(&t, depth, NULL, 0);
    else if (way == 1)
        agct(&a, depth, &nothing);
    else
        (*ti)->GetStackTrace(ti, NULL, 0, depth, jvmtis, &n);
    return way == 0 ? t.num_frames : way == 1 ? a.n : n;
}

JNIEXPORT void JNICALL Java_TraceCost_measure(JNIEnv *jni, jclass c, jint depth, jint times)
{
    (void)c;
    for (int way = 0; way < WAYS; way++) {
        double began = now_ns();
        for (int i = 0; i < times; i++)
            if (take(jni, way, depth) != depth)
                return; /* no figure rather than a wrong one */
        double each = (now_ns() - began) / times;
        if (least[way] == 0 || each < least[way])
            least[way] = each;
    }
}

JNIEXPORT jstring JNICALL Java_TraceCost_figures(JNIEnv *jni, jclass c)
{
    char text[200];
    (void)c;
    snprintf(text, sizeof text, "agct2 %.0f agct %.0f getstacktrace %.0f", least[0], least[1],
             least[2]);
    return (*jni)->NewStringUTF(jni, text);
}

static void JNICALL on_class_load(jvmtiEnv *t, JNIEnv *jni, jthread thread, jclass c)
{
    (void)t, (void)jni, (void)thread, (void)c; /* AsyncGetCallTrace wants it */
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
    (void)reserved;
    jvmtiEventCallbacks calls = {.ClassLoad = on_class_load};
    agct = (agct_function)dlsym(RTLD_DEFAULT, "AsyncGetCallTrace");
    if (!agct || AsyncGetCallTrace2Init(vm) != 0 ||
        (*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_11) != JNI_OK)
        return JNI_ERR;
    (*ti)->SetEventCallbacks(ti, &calls, sizeof calls);
    (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_LOAD, NULL);
    return JNI_VERSION_1_8;
}

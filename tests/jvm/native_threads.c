/* Threads that the JVM did not make: each attaches itself under a name of its own, calls
 * NativeThreads.pass(), detaches, and does so again and again; odd ones attach as daemons. */
#include <jni.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static JavaVM *vm;
static jclass class;
static jmethodID pass;
static int rounds;

static void *native_thread(void *arg)
{
    int n = (int)(size_t)arg;
    for (int i = 0; i < rounds; i++) {
        char name[32];
        snprintf(name, sizeof name, "native-%d-%d", n, i);
        JavaVMAttachArgs args = {JNI_VERSION_1_8, name, NULL};
        JNIEnv *env;
        jint rc = n % 2 ? (*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&env, &args)
                        : (*vm)->AttachCurrentThread(vm, (void **)&env, &args);
        if (rc != JNI_OK)
            return "cannot attach";
        (*env)->CallStaticVoidMethod(env, class, pass);
        if ((*vm)->DetachCurrentThread(vm) != JNI_OK)
            return "cannot detach";
    }
    return NULL;
}

JNIEXPORT jint JNICALL Java_NativeThreads_run(JNIEnv *env, jclass c, jint n_threads, jint n_rounds)
{
    pthread_t threads[64];
    jint failed = 0;
    (*env)->GetJavaVM(env, &vm);
    class = (*env)->NewGlobalRef(env, c);
    pass = (*env)->GetStaticMethodID(env, c, "pass", "()V");
    rounds = n_rounds;
    for (jint i = 0; i < n_threads && i < 64; i++)
        pthread_create(&threads[i], NULL, native_thread, (void *)(size_t)i);
    for (jint i = 0; i < n_threads && i < 64; i++) {
        void *why;
        pthread_join(threads[i], &why);
        failed += why != NULL;
    }
    return failed;
}

/* How a program ends that does not ask the JVM. */
JNIEXPORT void JNICALL Java_NativeThreads_die(JNIEnv *env, jclass c, jstring how)
{
    const char *s = (*env)->GetStringUTFChars(env, how, NULL);
    (void)c;
    if (strcmp(s, "abort") == 0)
        abort();
    if (strcmp(s, "_exit") == 0)
        _exit(7);
    if (strcmp(s, "segv") == 0)
        *(volatile int *)16 = 1;
    (*env)->FatalError(env, "as asked");
}

/* Enters a monitor with an exception on its way, which must still be there afterwards; returns
 * whether. */
JNIEXPORT jboolean JNICALL Java_NativeThreads_enterThrowing(JNIEnv *env, jclass c, jobject lock,
                                                            jthrowable thrown)
{
    (void)c;
    (*env)->Throw(env, thrown);
    jint entered = (*env)->MonitorEnter(env, lock);
    jthrowable there = (*env)->ExceptionOccurred(env);
    jboolean same = there && (*env)->IsSameObject(env, there, thrown);
    (*env)->ExceptionClear(env);
    if (entered == JNI_OK)
        (*env)->MonitorExit(env, lock);
    return entered == JNI_OK && same;
}

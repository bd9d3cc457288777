#include "agent/query_files.h"

#include <pthread.h>
#include <string.h>

enum { FRAMES = 256 }; /* as many as Query asks management for */

/* Without a recording no environment exists: then one for such questions. It is never disposed:
 * what is left of a disposed one has crashed JDK 17. */
static jvmtiEnv *make_env(JNIEnv *jni)
{
    jvmtiCapabilities want;
    jvmtiEnv *ti = NULL;
    JavaVM *vm;
    memset(&want, 0, sizeof want);
    want.can_get_source_file_name = 1;
    if ((*jni)->GetJavaVM(jni, &vm) != JNI_OK ||
        (*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_11) != JNI_OK)
        return NULL;
    if ((*ti)->AddCapabilities(ti, &want) == JVMTI_ERROR_NONE)
        return ti;
    (*ti)->DisposeEnvironment(ti);
    return NULL;
}

static jvmtiEnv *own_env(JNIEnv *jni)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static jvmtiEnv *own;
    pthread_mutex_lock(&lock);
    own = own ? own : make_env(jni);
    jvmtiEnv *ti = own;
    pthread_mutex_unlock(&lock);
    return ti;
}

static void set(JNIEnv *jni, jobjectArray to, jint at, const char *text)
{
    jstring s = (*jni)->NewStringUTF(jni, text);
    if (s)
        (*jni)->SetObjectArrayElement(jni, to, at, s);
    (*jni)->DeleteLocalRef(jni, s);
}

/* "Lshop/Order;" -> "shop.Order" */
static const char *class_of(char *signature)
{
    size_t n = strlen(signature);
    if (n < 3 || signature[0] != 'L')
        return signature;
    signature[n - 1] = 0;
    for (char *p = signature; *p; p++)
        *p = *p == '/' ? '.' : *p;
    return signature + 1;
}

static void put(JNIEnv *jni, jvmtiEnv *ti, jmethodID method, jobjectArray to, jint at)
{
    char *signature = NULL, *file = NULL;
    jclass c = NULL;
    if ((*ti)->GetMethodDeclaringClass(ti, method, &c) != JVMTI_ERROR_NONE)
        return;
    if ((*ti)->GetClassSignature(ti, c, &signature, NULL) == JVMTI_ERROR_NONE &&
        (*ti)->GetSourceFileName(ti, c, &file) == JVMTI_ERROR_NONE) {
        set(jni, to, at, class_of(signature));
        if (!(*jni)->ExceptionCheck(jni))
            set(jni, to, at + 1, file);
    }
    (*ti)->Deallocate(ti, (unsigned char *)signature);
    (*ti)->Deallocate(ti, (unsigned char *)file);
    (*jni)->DeleteLocalRef(jni, c);
}

jobjectArray query_files_of(JNIEnv *jni, jvmtiEnv *ti, jthread thread)
{
    jvmtiFrameInfo frames[FRAMES];
    jint n = 0;
    jobjectArray to = NULL;
    ti = ti ? ti : own_env(jni);
    if (!ti)
        return NULL;
    if ((*ti)->GetStackTrace(ti, thread, 0, FRAMES, frames, &n) == JVMTI_ERROR_NONE) {
        jclass string = (*jni)->FindClass(jni, "java/lang/String");
        to = string ? (*jni)->NewObjectArray(jni, 2 * n, string, NULL) : NULL;
        (*jni)->DeleteLocalRef(jni, string);
    }
    for (jint i = 0; to && i < n && !(*jni)->ExceptionCheck(jni); i++)
        put(jni, ti, frames[i].method, to, 2 * i);
    return to;
}

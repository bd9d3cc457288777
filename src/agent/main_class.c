#include "agent/main_class.h"

#include "agent/jvm_text.h"

#include <stdatomic.h>
#include <string.h>

enum { NAME_MAX_BYTES = 512 };

static _Atomic bool defined;

/* The result of a call without parameters, or with one; NULL: it threw, or there is no receiver. */
static jobject call(JNIEnv *jni, jobject self, const char *name, const char *signature, jobject arg)
{
    jclass c = self ? (*jni)->GetObjectClass(jni, self) : NULL;
    jmethodID m = c ? (*jni)->GetMethodID(jni, c, name, signature) : NULL;
    jvalue v = {.l = arg};
    jobject result = m ? (*jni)->CallObjectMethodA(jni, self, m, &v) : NULL;
    if ((*jni)->ExceptionCheck(jni)) {
        (*jni)->ExceptionClear(jni);
        return NULL;
    }
    return result;
}

static void close_file(JNIEnv *jni, jobject jar)
{
    jclass c = (*jni)->GetObjectClass(jni, jar);
    jmethodID m = (*jni)->GetMethodID(jni, c, "close", "()V");
    if (m)
        (*jni)->CallVoidMethod(jni, jar, m);
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
}

static jobject open_jar(JNIEnv *jni, const char *path)
{
    jclass c = (*jni)->FindClass(jni, "java/util/jar/JarFile");
    jmethodID m = c ? (*jni)->GetMethodID(jni, c, "<init>", "(Ljava/lang/String;)V") : NULL;
    jstring name = m ? (*jni)->NewStringUTF(jni, path) : NULL;
    jobject jar = name ? (*jni)->NewObject(jni, c, m, name) : NULL;
    if ((*jni)->ExceptionCheck(jni)) {
        (*jni)->ExceptionClear(jni);
        return NULL;
    }
    return jar;
}

/* What the manifest of the jar that was started says of the program's own main class. */
static void define_start_class(JNIEnv *jni, jvmtiEnv *ti, struct recorder *rec)
{
    char *path = NULL;
    if ((*ti)->GetSystemProperty(ti, "java.class.path", &path) != JVMTI_ERROR_NONE)
        return;
    jobject jar = open_jar(jni, path);
    (*ti)->Deallocate(ti, (unsigned char *)path);
    if (!jar)
        return;
    jobject manifest = call(jni, jar, "getManifest", "()Ljava/util/jar/Manifest;", NULL);
    jobject all = call(jni, manifest, "getMainAttributes", "()Ljava/util/jar/Attributes;", NULL);
    jstring key = all ? (*jni)->NewStringUTF(jni, "Start-Class") : NULL;
    jstring value =
        key ? call(jni, all, "getValue", "(Ljava/lang/String;)Ljava/lang/String;", key) : NULL;
    const char *text = value ? (*jni)->GetStringUTFChars(jni, value, NULL) : NULL;
    if (text) {
        char name[NAME_MAX_BYTES];
        recorder_put_info(rec, "start.class", jvm_text(name, sizeof name, text));
        (*jni)->ReleaseStringUTFChars(jni, value, text);
    }
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    close_file(jni, jar);
}

/* The java command's own note of what it has started; NULL before that, and of other launchers. */
static jobject started_class(JNIEnv *jni)
{
    jclass c = (*jni)->FindClass(jni, "sun/launcher/LauncherHelper");
    jfieldID f = c ? (*jni)->GetStaticFieldID(jni, c, "appClass", "Ljava/lang/Class;") : NULL;
    jobject started = f ? (*jni)->GetStaticObjectField(jni, c, f) : NULL;
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    return started;
}

static void define(JNIEnv *jni, jvmtiEnv *ti, struct recorder *rec, jobject started)
{
    static const char spring[] = "Lorg/springframework/boot/loader/";
    char *signature;
    if ((*ti)->GetClassSignature(ti, started, &signature, NULL) != JVMTI_ERROR_NONE)
        return;
    size_t n = strlen(signature);
    char name[NAME_MAX_BYTES];
    if (n > 2 && n < sizeof name) {
        signature[n - 1] = 0;
        jvm_text(name, sizeof name, signature + 1);
        for (char *p = name; *p; p++)
            *p = *p == '/' ? '.' : *p;
        recorder_put_info(rec, "main.class", name);
    }
    if (strncmp(signature, spring, sizeof spring - 1) == 0)
        define_start_class(jni, ti, rec);
    (*ti)->Deallocate(ti, (unsigned char *)signature);
}

void main_class_define(JNIEnv *jni, jvmtiEnv *ti, struct recorder *rec)
{
    if (atomic_load_explicit(&defined, memory_order_relaxed) || (*jni)->PushLocalFrame(jni, 16) < 0)
        return;
    jobject started = started_class(jni);
    if (started) {
        atomic_store_explicit(&defined, true, memory_order_relaxed);
        define(jni, ti, rec, started);
    }
    (*jni)->PopLocalFrame(jni, NULL);
}

void main_class_reset(void)
{
    atomic_store_explicit(&defined, false, memory_order_relaxed);
}

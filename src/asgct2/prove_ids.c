#include "asgct2/prove_ids.h"

#include "base/util.h"

#include <string.h>

enum verdict { PROVED, REFUTED, UNKNOWN_NOW };

/* The text of a symbol that is longer is not compared (methods.h). */
enum { LONGEST = 64 };

static bool is_long(const char *text)
{
    return strlen(text) > LONGEST;
}

static enum verdict look_at(struct method_ids *ids, jvmtiEnv *ti, uintptr_t method, jmethodID id)
{
    char *name = NULL, *signature = NULL;
    if ((*ti)->GetMethodName(ti, id, &name, &signature, NULL) != JVMTI_ERROR_NONE)
        return REFUTED;
    bool right = is_long(name) || is_long(signature) ||
                 method_ids_agree(ids, method, (uintptr_t)id, name, signature);
    (*ti)->Deallocate(ti, (unsigned char *)name);
    (*ti)->Deallocate(ti, (unsigned char *)signature);
    return right ? PROVED : REFUTED;
}

/* A local reference is the address of the place where the JVM keeps the object's address. */
static enum verdict prove_methods(struct method_ids *ids, jvmtiEnv *ti, jclass c, uint64_t count)
{
    enum verdict v = PROVED;
    jint n = 0;
    jmethodID *methods = NULL;
    if ((*ti)->GetClassMethods(ti, c, &n, &methods) != JVMTI_ERROR_NONE)
        return UNKNOWN_NOW;
    for (jint i = 0; i < n && v == PROVED; i++) {
        uint64_t now;
        const struct class_methods *classes = method_ids_classes(ids);
        uintptr_t at = (uintptr_t)c & ~(uintptr_t)3, id = (uintptr_t)methods[i];
        uintptr_t method = class_methods_find(classes, at, count, id);
        if (method)
            v = look_at(ids, ti, method, methods[i]);
        else
            v = oops_count(&classes->oops, false, &now) && now == count ? REFUTED : UNKNOWN_NOW;
    }
    (*ti)->Deallocate(ti, (unsigned char *)methods);
    return n ? v : UNKNOWN_NOW;
}

static enum verdict prove_class(struct method_ids *ids, jvmtiEnv *ti, JNIEnv *jni, const char *name)
{
    enum { TRIES = 100 }; /* a collector may be at work */
    enum verdict v = UNKNOWN_NOW;
    for (int i = 0; i < TRIES && v == UNKNOWN_NOW; i++) {
        uint64_t count;
        if (!oops_count(&method_ids_classes(ids)->oops, true, &count))
            continue;
        jclass c = (*jni)->FindClass(jni, name);
        if (!c) {
            (*jni)->ExceptionClear(jni);
            break;
        }
        v = prove_methods(ids, ti, c, count);
        (*jni)->DeleteLocalRef(jni, c);
    }
    return v;
}

int prove_ids(struct method_ids *ids, jvmtiEnv *ti, JNIEnv *jni, struct err *err)
{
    static const char *const names[] = {"java/lang/Object", "java/lang/Thread"};
    for (size_t i = 0; method_ids_classes(ids) && i < ARRAY_LEN(names); i++)
        if (prove_class(ids, ti, jni, names[i]) != PROVED)
            return err_set(err, -ENOTSUP, "method ids are not as Orca knows them on this JVM");
    return 0;
}

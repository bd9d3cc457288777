#include "agent/retransform.h"

#include "agent/kept.h"
#include "agent/stacks.h"
#include "base/log.h"

#include <string.h>

enum { BATCH = 64, REFERENCES = 4096 };

static bool method_is(jmethodID m, bool (*like)(jint access, const unsigned char *code, size_t n))
{
    jint access = 0, n = 0;
    unsigned char *code = NULL;
    if ((*agent.jvmti)->GetMethodModifiers(agent.jvmti, m, &access) != JVMTI_ERROR_NONE)
        return false;
    if ((*agent.jvmti)->GetBytecodes(agent.jvmti, m, &n, &code) != JVMTI_ERROR_NONE)
        n = 0;
    bool is = like(access, code, n > 0 ? (size_t)n : 0);
    jvmti_free(code);
    return is;
}

bool class_has_method(jclass c, bool (*like)(jint access, const unsigned char *code, size_t n))
{
    jint n = 0;
    jmethodID *methods = NULL;
    bool found = false;
    jvmtiError e = (*agent.jvmti)->GetClassMethods(agent.jvmti, c, &n, &methods);
    if (e != JVMTI_ERROR_NONE)
        return e == JVMTI_ERROR_CLASS_NOT_PREPARED;
    for (jint i = 0; i < n && !found; i++)
        found = method_is(methods[i], like);
    jvmti_free(methods);
    return found;
}

bool class_has_room(jclass c)
{
    enum { CONSTANTS = 30000 };
    jint n = 0, len = 0;
    unsigned char *pool = NULL;
    if ((*agent.jvmti)->GetConstantPool(agent.jvmti, c, &n, &len, &pool) != JVMTI_ERROR_NONE)
        return true;
    jvmti_free(pool);
    if (n > CONSTANTS)
        log_line("a class with %d constants is too large to be rewritten: what it does is not "
                 "recorded",
                 n);
    return n <= CONSTANTS;
}

static bool is_chosen(JNIEnv *jni, jclass c, bool (*affected)(const struct loaded_class *c),
                      unsigned part)
{
    char *signature = NULL;
    jobject loader = NULL;
    jboolean modifiable = JNI_FALSE;
    bool yes = false;
    if ((*agent.jvmti)->GetClassSignature(agent.jvmti, c, &signature, NULL) != JVMTI_ERROR_NONE)
        return false;
    if (signature[0] == 'L' &&
        (*agent.jvmti)->GetClassLoader(agent.jvmti, c, &loader) == JVMTI_ERROR_NONE) {
        char *name = signature + 1;
        name[strlen(name) - 1] = 0;
        yes = affected(&(struct loaded_class){c, name, !loader}) &&
              !(part && !loader && kept_settled(name, part));
    }
    (*jni)->DeleteLocalRef(jni, loader);
    jvmti_free(signature);
    return yes &&
           (*agent.jvmti)->IsModifiableClass(agent.jvmti, c, &modifiable) == JVMTI_ERROR_NONE &&
           modifiable && class_has_room(c);
}

/* HotSpot asks the hook in the thread that retransforms. */
static __thread bool ours __attribute__((tls_model("initial-exec")));

bool retransform_is_ours(void)
{
    return ours;
}

jvmtiError retransform_classes(jint n, const jclass *classes)
{
    ours = true;
    jvmtiError e =
        n ? (*agent.jvmti)->RetransformClasses(agent.jvmti, n, classes) : JVMTI_ERROR_NONE;
    ours = false;
    return e;
}

static void retransform(JNIEnv *jni, jclass *classes, jint n, jvmtiError *failed)
{
    jvmtiError e = retransform_classes(n, classes);
    /* One that cannot be linked keeps all from it: then each for itself. */
    for (jint i = 0; i < n && e != JVMTI_ERROR_NONE; i++) {
        jvmtiError one = retransform_classes(1, &classes[i]);
        *failed = one != JVMTI_ERROR_NONE ? one : *failed;
    }
    for (jint i = 0; i < n; i++)
        (*jni)->DeleteLocalRef(jni, classes[i]);
}

jvmtiError retransform_those(JNIEnv *jni, bool (*affected)(const struct loaded_class *c),
                             unsigned part)
{
    jint n = 0, found = 0;
    jclass *all = NULL, batch[BATCH];
    jvmtiError failed = JVMTI_ERROR_NONE;
    /* GetLoadedClasses makes a reference to each of several hundred classes. */
    if ((*jni)->PushLocalFrame(jni, REFERENCES) < 0)
        return JVMTI_ERROR_OUT_OF_MEMORY;
    if ((*agent.jvmti)->GetLoadedClasses(agent.jvmti, &n, &all) != JVMTI_ERROR_NONE)
        n = 0;
    refs_may_be_many(jni);
    for (jint i = 0; i < n; i++) {
        if (!is_chosen(jni, all[i], affected, part)) {
            (*jni)->DeleteLocalRef(jni, all[i]);
            continue;
        }
        batch[found++] = all[i];
        if (found == BATCH) {
            retransform(jni, batch, found, &failed);
            found = 0;
        }
    }
    retransform(jni, batch, found, &failed);
    if (failed != JVMTI_ERROR_NONE)
        kept_forget();
    stacks_code_changed();
    jvmti_free(all);
    (*jni)->PopLocalFrame(jni, NULL);
    return failed;
}

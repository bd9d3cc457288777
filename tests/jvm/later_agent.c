/* later_agent.c - an agent that has the JVM say that it is a later one: JVMTI's GetSystemProperty
 * answers its options for java.vm.specification.version, to whoever is loaded behind it. */
#include <jvmti.h>

#include <string.h>

static char version[16];
static jvmtiError(JNICALL *real)(jvmtiEnv *env, const char *key, char **value);

static jvmtiError JNICALL say(jvmtiEnv *env, const char *key, char **value)
{
    jvmtiError e = real(env, key, value);
    if (e == JVMTI_ERROR_NONE && strcmp(key, "java.vm.specification.version") == 0) {
        (*env)->Deallocate(env, (unsigned char *)*value);
        e = (*env)->Allocate(env, sizeof version, (unsigned char **)value);
        if (e == JVMTI_ERROR_NONE)
            memcpy(*value, version, sizeof version);
    }
    return e;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    jvmtiEnv *env;
    (void)reserved;
    if ((*vm)->GetEnv(vm, (void **)&env, JVMTI_VERSION_11) != JNI_OK)
        return JNI_ERR;
    strncpy(version, options, sizeof version - 1);
    struct jvmtiInterface_1_ *table = (struct jvmtiInterface_1_ *)*env; /* of all environments */
    real = table->GetSystemProperty;
    table->GetSystemProperty = say;
    return JNI_OK;
}

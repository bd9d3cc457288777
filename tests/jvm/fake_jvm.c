/* A host that is not a HotSpot JVM: loads the agent as a JVM does, shows it a JVMTI environment of
 * another make, and ends with what Agent_OnLoad returned.
 *
 *   fake_jvm AGENT OPTIONS jvmti     GetEnv gives an environment that knows system properties and
 *                                    nothing else
 *   fake_jvm AGENT OPTIONS none      GetEnv knows no JVMTI
 *
 * Calls that the agent must not make here end with status 99. */
#include <dlfcn.h>
#include <jvmti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void forbidden(void)
{
    fprintf(stderr, "fake_jvm: a call of a function that this JVM does not have\n");
    exit(99);
}

static jvmtiError JNICALL get_property(jvmtiEnv *env, const char *key, char **value)
{
    (void)env;
    const char *v = strcmp(key, "java.vm.name") == 0                    ? "Another VM"
                    : strcmp(key, "java.vm.specification.version") == 0 ? "21"
                                                                        : NULL;
    *value = v ? strdup(v) : NULL;
    return v ? JVMTI_ERROR_NONE : JVMTI_ERROR_NOT_AVAILABLE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *env, unsigned char *p)
{
    (void)env;
    free(p);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL dispose(jvmtiEnv *env)
{
    (void)env;
    return JVMTI_ERROR_NONE;
}

static union {
    struct jvmtiInterface_1_ named;
    void (*all[256])(void);
} table;
static const struct jvmtiInterface_1_ *environment = &table.named;
static int has_jvmti;

static jint JNICALL get_env(JavaVM *vm, void **env, jint version)
{
    (void)vm;
    *env = NULL;
    if (!has_jvmti || (version & 0x30000000) != 0x30000000)
        return JNI_EVERSION;
    *env = &environment;
    return JNI_OK;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 98;
    has_jvmti = strcmp(argv[3], "jvmti") == 0;
    for (size_t i = 0; i < sizeof table.all / sizeof table.all[0]; i++)
        table.all[i] = forbidden;
    table.named.GetSystemProperty = get_property;
    table.named.Deallocate = deallocate;
    table.named.DisposeEnvironment = dispose;
    static struct JNIInvokeInterface_ functions = {.GetEnv = get_env};
    static JavaVM vm = &functions;
    void *agent = dlopen(argv[1], RTLD_NOW);
    if (!agent) {
        fprintf(stderr, "fake_jvm: %s\n", dlerror());
        return 98;
    }
    jint(JNICALL * onload)(JavaVM *, char *, void *);
    void(JNICALL * onunload)(JavaVM *);
    *(void **)&onload = dlsym(agent, "Agent_OnLoad");
    *(void **)&onunload = dlsym(agent, "Agent_OnUnload");
    jint rc = onload(&vm, argv[2], NULL);
    if (onunload)
        onunload(&vm);
    return rc;
}

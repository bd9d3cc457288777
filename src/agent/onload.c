/* onload.c - the entry points: check the JVM, read the options, ask for capabilities.
 *
 * Whatever is wrong costs one line on stderr; the JVM starts all the same, unprofiled. */
#include "agent/agent.h"
#include "agent/jvmti21.h"
#include "agent/probes.h"
#include "base/log.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct agent agent;

const char *jvmti_error_name(jvmtiError e)
{
    static const struct {
        jvmtiError code;
        const char *text;
    } names[] = {{JVMTI_ERROR_NOT_AVAILABLE, "not available"},
                 {JVMTI_ERROR_MUST_POSSESS_CAPABILITY, "a capability is missing"},
                 {JVMTI_ERROR_OUT_OF_MEMORY, "out of memory"},
                 {JVMTI_ERROR_WRONG_PHASE, "wrong phase"},
                 {JVMTI_ERROR_INVALID_EVENT_TYPE, "unknown event"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].code == e)
            return names[i].text;
    return "internal error";
}

void jvmti_free(void *p)
{
    if (p)
        (*agent.jvmti)->Deallocate(agent.jvmti, p);
}

void jvm_property(const char *key, char *out, size_t n)
{
    char *value = NULL;
    out[0] = 0;
    if ((*agent.jvmti)->GetSystemProperty(agent.jvmti, key, &value) == JVMTI_ERROR_NONE && value)
        snprintf(out, n, "%s", value);
    jvmti_free(value);
}

/* --- checks -------------------------------------------------------------------------------------
 */

static int check_jvm(struct err *err)
{
    char name[256], version[64];
    jvm_property("java.vm.name", name, sizeof name);
    jvm_property("java.vm.specification.version", version, sizeof version);
    agent.java_version = atoi(strncmp(version, "1.", 2) == 0 ? version + 2 : version);
    const void *inside;
    memcpy(&inside, &(*agent.vm)->GetEnv, sizeof inside);
    int rc = vmstructs_open(&agent.vmstructs, inside, err);
    if (rc < 0)
        return err_prefix(err, rc, "%s %s: Orca needs a HotSpot JVM, 17 or later",
                          name[0] ? name : "this JVM", version);
    if (agent.java_version < 17)
        return err_set(err, -ENOTSUP, "Java %s: Orca needs 17 or later", version);
    vmstructs_layout(agent.vmstructs, &agent.layout);
    return 0;
}

/* Another copy of Orca, from another file, has its own state: an environment variable with this
 * process's pid tells of it (JVMTI cannot add a system property; a child JVM has another pid). */
static int check_alone(struct err *err)
{
    char mark[1100];
    Dl_info self;
    const char *path = dladdr((void *)&agent, &self) && self.dli_fname ? self.dli_fname : "?";
    const char *other = getenv("ORCA_AGENT_LOADED");
    int n = snprintf(mark, sizeof mark, "%d ", (int)getpid());
    if (other && strncmp(other, mark, (size_t)n) == 0)
        return err_set(err, -EALREADY,
                       "the agent is already loaded (%s): this second one is ignored", other + n);
    snprintf(mark + n, sizeof mark - (size_t)n, "%s", path);
    setenv("ORCA_AGENT_LOADED", mark, 1);
    return 0;
}

/* --- JVMTI --------------------------------------------------------------------------------------
 */

static int add_capabilities(struct err *err)
{
    jvmtiCapabilities want, have;
    memset(&want, 0, sizeof want);
    memset(&have, 0, sizeof have);
    (*agent.jvmti)->GetPotentialCapabilities(agent.jvmti, &have);
    want.can_tag_objects = 1;
    want.can_generate_monitor_events = 1;
    want.can_get_line_numbers = 1;
    want.can_get_source_file_name = 1;
    want.can_get_bytecodes = 1;
    probes_want(&want);
    want.can_generate_garbage_collection_events = agent.settings.groups[GROUP_gc];
    agent.virtual_threads = agent.java_version >= 21 && capability_has_virtual_threads(&have);
    if (agent.virtual_threads)
        capability_add_virtual_threads(&want);
    jvmtiError e = (*agent.jvmti)->AddCapabilities(agent.jvmti, &want);
    return e == JVMTI_ERROR_NONE ? 0
                                 : err_set(err, -ENOTSUP, "the JVM refuses the capabilities: %s",
                                           jvmti_error_name(e));
}

static int set_callbacks(struct err *err)
{
    union callback_table t;
    memset(&t, 0, sizeof t);
    t.named.VMInit = on_vm_init;
    t.named.VMDeath = on_vm_death;
    t.named.ThreadStart = on_thread_start;
    t.named.ThreadEnd = on_thread_end;
    t.named.MonitorContendedEnter = on_contended_enter;
    t.named.MonitorContendedEntered = on_contended_entered;
    t.named.MonitorWait = on_wait;
    t.named.MonitorWaited = on_waited;
    t.named.GarbageCollectionStart = on_gc_start;
    t.named.GarbageCollectionFinish = on_gc_finish;
    t.named.ClassFileLoadHook = on_class_file;
    callback_set(&t, EVENT_VIRTUAL_THREAD_START, (void (*)(void))on_virtual_thread_start);
    callback_set(&t, EVENT_VIRTUAL_THREAD_END, (void (*)(void))on_virtual_thread_end);
    jvmtiEnv *ti = agent.jvmti;
    jvmtiError e = (*ti)->SetEventCallbacks(ti, &t.named, sizeof t);
    if (e == JVMTI_ERROR_NONE)
        e = (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
    if (e == JVMTI_ERROR_NONE)
        e = (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL);
    return e == JVMTI_ERROR_NONE
               ? 0
               : err_set(err, -ENOTSUP, "the JVM refuses the events: %s", jvmti_error_name(e));
}

/* --- entry points -------------------------------------------------------------------------------
 */

/* Whether this file was loaded by its spec-2 name, libOrcaAgent.so. */
static bool spec2_name(void)
{
    Dl_info self;
    if (!dladdr((void *)&agent, &self) || !self.dli_fname)
        return false;
    const char *slash = strrchr(self.dli_fname, '/');
    return strncmp(slash ? slash + 1 : self.dli_fname, "libOrcaAgent", 12) == 0;
}

static int load(JavaVM *vm, const char *options, struct err *err)
{
    TRY(settings_parse(&agent.settings, options, spec2_name(), err));
    agent.vm = vm;
    if ((*vm)->GetEnv(vm, (void **)&agent.jvmti, JVMTI_VERSION_11) != JNI_OK)
        return err_set(err, -ENOTSUP, "this JVM has no JVMTI 11: Orca needs Java 17 or later");
    TRY(check_jvm(err));
    TRY(check_alone(err));
    TRY(add_capabilities(err));
    return set_callbacks(err);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void)reserved;
    struct err err = {""};
    if (agent.loaded) {
        log_line("the agent is already loaded: a second -agentpath is ignored");
        return JNI_OK;
    }
    agent.loaded = true;
    if (load(vm, options, &err) < 0)
        log_line("%s; the program runs without recording", err.msg);
    return JNI_OK; /* anything else would stop the JVM */
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
    (void)vm;
    (void)options;
    (void)reserved;
    log_line("this version records only from the JVM's start: use orca record, or -agentpath");
    return JNI_OK;
}

JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm)
{
    (void)vm;
    agent_finish(NULL); /* a JVM that ends without VMDeath */
}

/* onload.c - the entry points: check the JVM, read the options, ask for capabilities.
 *
 * Whatever is wrong costs one line on stderr; the JVM starts all the same, unprofiled. */
#include "agent/agent.h"
#include "agent/control.h"
#include "agent/jvmti21.h"
#include "agent/on_io.h"
#include "agent/on_park.h"
#include "agent/probes.h"
#include "agent/sampling.h"
#include "agent/sched.h"
#include "agent/tracked.h"
#include "agent/user_methods.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/util.h"
#include "hotspot/archives.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

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

/* --- checks ----------------------------------------------------------------------------------- */

/* HotSpot's data were examined in these versions. A later one is refused: it may keep something
 * that cannot be verified in another way. */
enum { JAVA_FIRST = 17, JAVA_LAST = 28 };

static int check_jvm(struct err *err)
{
    char name[256], version[64];
    jvm_property("java.vm.name", name, sizeof name);
    jvm_property("java.vm.specification.version", version, sizeof version);
    agent.java_version = atoi(strncmp(version, "1.", 2) == 0 ? version + 2 : version);
    const void *inside;
    memcpy(&inside, &(*agent.vm)->GetEnv, sizeof inside);
    int rc = agent.vmstructs ? 0 : vmstructs_open(&agent.vmstructs, inside, err);
    if (rc < 0)
        return err_prefix(err, rc, "%s %s: Orca needs a HotSpot JVM, 17 or later",
                          name[0] ? name : "this JVM", version);
    if (agent.java_version < JAVA_FIRST || agent.java_version > JAVA_LAST)
        return err_set(err, -ENOTSUP, "Java %s: Orca records Java %d to %d", version, JAVA_FIRST,
                       JAVA_LAST);
    return 0;
}

/* Another copy of Orca, from another file, has its own state; this word shows it whether this one
 * is in use.  (An environment variable would: but setenv in a running JVM is not safe.) */
__attribute__((visibility("default"))) volatile int orca_agent_active;

struct search {
    const char *own; /* this library's file */
    char found[1024];
};

static int look_at_library(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct search *s = arg;
    (void)size;
    if (!info->dlpi_name || !*info->dlpi_name || strcmp(info->dlpi_name, s->own) == 0)
        return 0;
    void *lib = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    volatile int *active = lib ? dlsym(lib, "orca_agent_active") : NULL;
    if (active && active != &orca_agent_active && *active)
        snprintf(s->found, sizeof s->found, "%s", info->dlpi_name);
    if (lib)
        dlclose(lib);
    return s->found[0] != 0;
}

static int check_alone(struct err *err)
{
    Dl_info self;
    struct search s = {.own = "?"};
    if (dladdr((void *)&agent, &self) && self.dli_fname)
        s.own = self.dli_fname;
    dl_iterate_phdr(look_at_library, &s);
    if (s.found[0])
        return err_set(err, -EALREADY,
                       "the agent is already loaded (%s): this second one is ignored", s.found);
    return 0;
}

/* --- JVMTI ------------------------------------------------------------------------------------ */

static int add_capabilities(struct err *err)
{
    jvmtiCapabilities want, have;
    memset(&want, 0, sizeof want);
    memset(&have, 0, sizeof have);
    if ((*agent.jvmti)->GetPotentialCapabilities(agent.jvmti, &have) != JVMTI_ERROR_NONE)
        return err_set(err, -ENOTSUP, "the JVM does not report its capabilities");
    want.can_tag_objects = 1;
    want.can_generate_monitor_events = 1;
    want.can_get_line_numbers = 1;
    want.can_get_source_file_name = 1;
    want.can_get_bytecodes = 1;
    want.can_get_constant_pool = have.can_get_constant_pool; /* which classes call what */
    want.can_get_monitor_info = have.can_get_monitor_info;   /* for orca query */
    want.can_get_owned_monitor_stack_depth_info =
        monitors_pin() && have.can_get_owned_monitor_stack_depth_info;
    want.can_generate_native_method_bind_events = have.can_generate_native_method_bind_events;
    probes_want(&want);
    want.can_generate_compiled_method_load_events = have.can_generate_compiled_method_load_events;
    want.can_generate_garbage_collection_events = 1;
    agent.virtual_threads = agent.java_version >= 21 && capability_has_virtual_threads(&have);
    if (agent.virtual_threads)
        capability_add_virtual_threads(&want);
    jvmtiError e = (*agent.jvmti)->AddCapabilities(agent.jvmti, &want);
    return e == JVMTI_ERROR_NONE ? 0
                                 : err_set(err, -ENOTSUP, "the JVM refuses the capabilities: %s",
                                           jvmti_error_name(e));
}

static int set_callbacks(bool live, struct err *err)
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
    t.named.ClassPrepare = on_class_prepare;
    t.named.CompiledMethodLoad = sampling_on_compiled;
    t.named.NativeMethodBind = on_native_bind;
    callback_set(&t, EVENT_VIRTUAL_THREAD_START, (void (*)(void))on_virtual_thread_start);
    callback_set(&t, EVENT_VIRTUAL_THREAD_END, (void (*)(void))on_virtual_thread_end);
    jvmtiEnv *ti = agent.jvmti;
    jvmtiError e = (*ti)->SetEventCallbacks(ti, &t.named, sizeof t);
    if (e == JVMTI_ERROR_NONE && !live)
        e = (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
    if (e == JVMTI_ERROR_NONE)
        e = (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL);
    return e == JVMTI_ERROR_NONE
               ? 0
               : err_set(err, -ENOTSUP, "the JVM refuses the events: %s", jvmti_error_name(e));
}

/* --- entry points ----------------------------------------------------------------------------- */

/* Whether this file was loaded by its spec-2 name, libOrcaAgent.so. */
static bool spec2_name(void)
{
    Dl_info self;
    if (!dladdr((void *)&agent, &self) || !self.dli_fname)
        return false;
    const char *slash = strrchr(self.dli_fname, '/');
    return strncmp(slash ? slash + 1 : self.dli_fname, "libOrcaAgent", 12) == 0;
}

static bool archives(const struct archive_option *o)
{
    if (o->is_switch)
        return vmstructs_flag(agent.vmstructs, o->flag, false);
    const char *value = vmstructs_text(agent.vmstructs, o->flag);
    return value && (!o->value || strcmp(value, o->value) == 0);
}

/* HotSpot archives the classes that it has, and dies where one was retransformed (JDK 25, any
 * change of Thread). */
static void leave_archived_classes(void)
{
    struct buf why;
    const struct archive_option *o = archive_options;
    while (o->flag && !archives(o))
        o++;
    if (!o->flag)
        return;
    settings_leave_classes(&agent.settings, o->flag);
    buf_init(&why);
    if (settings_put_left_out(&agent.settings, agent.settings.asked, &why))
        log_line("%s", buf_str(&why));
    buf_fini(&why);
}

static bool in_use; /* the environment: events of it may be under way */

static int load(const char *options, bool live, struct err *err)
{
    JavaVM *vm = agent.vm;
    TRY(settings_parse(&agent.settings, options, spec2_name(), err));
    TRY(tracked_read(agent.settings.methods, err));
    if (!agent.jvmti && (*vm)->GetEnv(vm, (void **)&agent.jvmti, JVMTI_VERSION_11) != JNI_OK)
        return err_set(err, -ENOTSUP, "this JVM has no JVMTI 11: Orca needs Java 17 or later");
    TRY(check_jvm(err));
    TRY(check_alone(err));
    leave_archived_classes();
    TRY(add_capabilities(err));
    agent.attached = live;
    in_use = true;
    TRY(set_callbacks(live, err));
    sampling_loaded();
    return 0;
}

int agent_load(JavaVM *vm, const char *options, bool live, struct err *err)
{
    agent.vm = vm;
    int rc = load(options, live, err);
    if (rc < 0)
        agent_unload();
    else
        orca_agent_active = 1;
    return rc;
}

/* The environment stays, with nothing enabled, for the next recording: HotSpot frees parts of a
 * disposed one while threads that start and end still look at them (17 crashes within seconds of
 * attaching and detaching under such a load). */
static void silence(void)
{
    enum { FIRST_EXTENSION = 40 }; /* HotSpot numbers its own events below JVMTI's */
    for (int event = FIRST_EXTENSION; agent.jvmti && event <= EVENT_VIRTUAL_THREAD_END; event++)
        (*agent.jvmti)
            ->SetEventNotificationMode(agent.jvmti, JVMTI_DISABLE, (jvmtiEvent)event, NULL);
}

void agent_unload(void)
{
    if (in_use) {
        silence();
    } else if (agent.jvmti) { /* no other thread has seen it yet */
        (*agent.jvmti)->DisposeEnvironment(agent.jvmti);
        agent.jvmti = NULL;
    }
    tracked_forget();
    free(agent.settings.text);
    agent.settings = (struct settings){.text = NULL};
    orca_agent_active = 0;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void)reserved;
    struct err err = {""};
    if (orca_agent_active)
        log_line("the agent is already loaded: a second -agentpath is ignored");
    else if (agent_load(vm, options, false, &err) < 0)
        log_line("%s; the program runs without recording", err.msg);
    else if (settings_wants_sched(&agent.settings))
        sched_prepare();
    return JNI_OK; /* anything else would stop the JVM */
}

/* "control": only the control socket, over which orca attach says the rest and gets its answer.
 * Options: as -agentpath's, for those who load the agent by other means. */
JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
    (void)reserved;
    struct err err = {""};
    int saved = errno;
    int rc = control_start(vm, &err);
    if (rc == 0 && !(options && strcmp(options, "control") == 0))
        rc = control_attach(vm, options, &err);
    if (rc < 0)
        log_line("%s", err.msg);
    errno = saved;
    return rc < 0 ? JNI_ERR : JNI_OK;
}

JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm)
{
    (void)vm;
    agent_finish(NULL); /* a JVM that ends without VMDeath */
}

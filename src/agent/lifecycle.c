/* lifecycle.c - from VMInit to VMDeath.
 *
 * The recorder is opened in VMInit: a JVM that does not come that far leaves no file.  Events are
 * enabled after everything they need is there.  VMDeath ends the recording; threads that still run
 * then find it off.  When the JVM is killed instead, recover.h has the rest. */
#include "agent/agent.h"
#include "agent/jvm_text.h"
#include "agent/jvmti21.h"
#include "agent/methods.h"
#include "agent/natives.h"
#include "agent/on_park.h"
#include "agent/on_thread.h"
#include "agent/probes.h"
#include "agent/stacks.h"
#include "agent/threads.h"
#include "base/clock.h"
#include "base/human.h"
#include "base/log.h"
#include "base/util.h"
#include "base/version.h"
#include "export/export.h"
#include "record/place.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* --- facts about the JVM ------------------------------------------------------------------------
 */

static void put_info(const char *key, const char *value)
{
    struct def d = {.kind = DEF_info, .info = {{key, strlen(key)}, {value, strlen(value)}}};
    recorder_define(agent.rec, &d);
}

static void put_infos(void)
{
    static const char *const properties[] = {"java.version",   "java.vm.name", "java.vm.version",
                                             "java.vm.vendor", "java.home",    "sun.java.command"};
    char value[4096], host[256] = "";
    for (size_t i = 0; i < ARRAY_LEN(properties); i++) {
        jvm_property(properties[i], value, sizeof value);
        mutf8_to_utf8(value);
        put_info(properties[i], value);
    }
    gethostname(host, sizeof host - 1);
    put_info("host", host);
    struct utsname os;
    if (uname(&os) == 0) {
        snprintf(value, sizeof value, "%s %s", os.sysname, os.release);
        put_info("os", value);
        put_info("arch", os.machine);
    }
    put_info("orca.version", ORCA_VERSION);
    snprintf(value, sizeof value, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    put_info("cpus", value);
    value[0] = 0;
    for (int g = 0; g < GROUP_LIMIT; g++)
        if (agent.settings.groups[g] && g != GROUP_meta)
            snprintf(value + strlen(value), sizeof value - strlen(value), "%s%s",
                     value[0] ? "+" : "", event_groups[g].name);
    put_info("orca.events", value);
    if (agent.settings.include)
        put_info("orca.include", agent.settings.include);
    if (agent.settings.exclude)
        put_info("orca.exclude", agent.settings.exclude);
    snprintf(value, sizeof value, "%" PRIu64, agent.settings.depth);
    put_info("orca.depth", value);
    put_info("orca.owners", agent.layout.monitor_owner >= 0 ? "yes" : "no");
}

/* --- owners -------------------------------------------------------------------------------------
 */

/* Whether monitors' owners can be read on this JVM; when not, says why, once. */
static bool owners_known(void)
{
    const struct vm_layout *l = &agent.layout;
    bool table = vmstructs_flag(agent.vmstructs, "UseObjectMonitorTable", false);
    if (table && agent.java_version >= 26)
        return true; /* the pending monitor is read from the thread, the table does not matter */
    if (l->pending_monitor >= 0 && l->monitor_owner >= 0 &&
        (!l->owner_is_tid || l->lock_stack >= 0))
        return true;
    log_line("this JVM's monitors are laid out in an unknown way: owners are recorded as unknown");
    agent.layout.monitor_owner = -1;
    return false;
}

/* --- start --------------------------------------------------------------------------------------
 */

static int open_recorder(struct err *err)
{
    const struct settings *s = &agent.settings;
    int rc = 0;
    struct recorder_opts o = {.path = agent.path,
                              .ringdir = s->ringdir,
                              .ring_max = s->ring,
                              .ring_mem = s->ringmem,
                              .maxsize = s->maxsize,
                              .duration = s->duration,
                              .block = s->full == 1};
    /* Another JVM may take the name between the look and the creation: then look again. */
    for (int i = 0; i < 5; i++) {
        TRY(settings_path(s, agent.path, sizeof agent.path, err));
        int changed = place_trace(agent.path, sizeof agent.path, s->session != NULL, err);
        TRY(changed);
        if (changed && !s->quiet)
            log_line("%s", err->msg);
        rc = recorder_open(&agent.rec, &o, err);
        if (rc != -EEXIST)
            break;
    }
    return rc;
}

/* `orca record` wants to know which traces there are. */
static void tell_session(void)
{
    char line[1100];
    if (!agent.settings.session)
        return;
    int fd = open(agent.settings.session, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    int n = snprintf(line, sizeof line, "%d\t%s\n", (int)getpid(), agent.path);
    if (fd < 0 || write(fd, line, (size_t)n) != n)
        log_line("%s: cannot be written: orca record will not find %s", agent.settings.session,
                 agent.path);
    if (fd >= 0)
        close(fd);
}

static void enable(bool wanted, int event)
{
    if (!wanted)
        return;
    jvmtiError e =
        (*agent.jvmti)
            ->SetEventNotificationMode(agent.jvmti, JVMTI_ENABLE, (jvmtiEvent)event, NULL);
    if (e != JVMTI_ERROR_NONE)
        log_line("event %d is not available on this JVM: %s", event, jvmti_error_name(e));
}

static void enable_events(void)
{
    const bool *g = agent.settings.groups;
    /* Thread events always: owners and ids stand on them. */
    enable(true, JVMTI_EVENT_THREAD_START);
    enable(true, JVMTI_EVENT_THREAD_END);
    enable(g[GROUP_monitors], JVMTI_EVENT_MONITOR_CONTENDED_ENTER);
    enable(g[GROUP_monitors], JVMTI_EVENT_MONITOR_CONTENDED_ENTERED);
    enable(g[GROUP_waits], JVMTI_EVENT_MONITOR_WAIT);
    enable(g[GROUP_waits], JVMTI_EVENT_MONITOR_WAITED);
    enable(g[GROUP_virtual] && agent.virtual_threads, EVENT_VIRTUAL_THREAD_START);
    if (g[GROUP_mounts] && agent.virtual_threads)
        mounts_enable();
    enable(g[GROUP_gc], JVMTI_EVENT_GARBAGE_COLLECTION_START);
    enable(g[GROUP_gc], JVMTI_EVENT_GARBAGE_COLLECTION_FINISH);
}

static int start(JNIEnv *jni, jthread thread, struct err *err)
{
    TRY(threads_init(jni, thread, err));
    TRY(methods_init(err));
    TRY(stacks_init(err));
    if (thread_table_new(&agent.table, &agent.layout, owners_known()) < 0)
        return err_set(err, -ENOMEM, "out of memory");
    TRY(open_recorder(err));
    put_infos();
    tell_session();
    struct os_thread *self = os_thread_self(jni);
    struct event *e = self ? ring_begin(self->ring, EV_recording_start,
                                        threads_current(jni, thread, self), clock_mono_ns())
                           : NULL;
    if (e)
        ring_commit(self->ring, e);
    enable_events();
    threads_enumerate(jni);
    park_init(jni);
    natives_install(jni);
    probes_install(jni);
    return 0;
}

void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void)jvmti;
    struct err err;
    int saved = errno;
    if (start(jni, thread, &err) < 0)
        log_line("%s; the program runs without recording", err.msg);
    errno = saved;
}

/* --- end ----------------------------------------------------------------------------------------
 */

static void write_texts(void)
{
    const char *failed = exporter_names[0];
    struct err err = {""};
    struct trace *t;
    char prefix[sizeof agent.path];
    if (!(agent.settings.formats & ~(uint64_t)FORMAT_OTRACE))
        return;
    snprintf(prefix, sizeof prefix, "%s", agent.path);
    char *suffix = strrchr(prefix, '.');
    if (suffix && strcmp(suffix, ".otrace") == 0)
        *suffix = 0;
    int rc = trace_open(&t, agent.path, &err);
    for (size_t i = 0; exporters[i] && rc >= 0; i++)
        if (agent.settings.formats & FORMAT_OF(i)) {
            failed = exporters[i]->name;
            rc = export_run(exporters[i], t, prefix, &err);
        }
    if (rc < 0)
        log_line("%s; the recording is in %s: orca export %s --to %s", err.msg, agent.path,
                 agent.path, failed);
    else if (!(agent.settings.formats & FORMAT_OTRACE))
        unlink(agent.path);
    trace_close(t);
}

static void say_result(const struct recorder_result *r)
{
    if (agent.settings.quiet)
        return;
    if (!(agent.settings.formats & FORMAT_OTRACE))
        log_line("%s events in %s, %s lost", human_count(r->events).text,
                 human_time(r->duration_ns).text, r->lost ? human_count(r->lost).text : "none");
    else
        log_line("%s: %s events in %s, %s lost; look at it: orca report %s", agent.path,
                 human_count(r->events).text, human_time(r->duration_ns).text,
                 r->lost ? human_count(r->lost).text : "none", agent.path);
}

void agent_finish(JNIEnv *jni)
{
    static _Atomic bool finished;
    struct recorder_result r;
    if (!agent.rec || atomic_exchange(&finished, true))
        return;
    if (agent_on() && jni)
        threads_finish(jni);
    recorder_close(agent.rec, &r);
    if (r.state == TRACE_CLOSED)
        write_texts();
    say_result(&r);
}

void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
    (void)jvmti;
    KEEP_ERRNO(agent_finish(jni));
}

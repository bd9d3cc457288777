/* lifecycle.c - how a recording begins (VMInit, attach) and ends (VMDeath, detach).
 *
 * The recorder is opened in VMInit: a JVM that does not come that far leaves no file.  Events are
 * enabled after everything they need is there.  VMDeath ends the recording; threads that still run
 * then find it off.  When the JVM is killed instead, recover.h has the rest.  Detaching takes
 * everything away again: events, probes, wrappers; then it waits until no thread is inside the
 * guard, and frees. */
#include "agent/agent.h"
#include "agent/asked_owners.h"
#include "agent/control.h"
#include "agent/files.h"
#include "agent/gc_cycles.h"
#include "agent/gc_names.h"
#include "agent/heap.h"
#include "agent/jvm_text.h"
#include "agent/jvmti21.h"
#include "agent/lacks.h"
#include "agent/locks.h"
#include "agent/main_class.h"
#include "agent/methods.h"
#include "agent/modules.h"
#include "agent/moves.h"
#include "agent/natives.h"
#include "agent/on_alloc.h"
#include "agent/on_gc.h"
#include "agent/on_io.h"
#include "agent/on_park.h"
#include "agent/on_thread.h"
#include "agent/open_waits.h"
#include "agent/origins.h"
#include "agent/owner_stacks.h"
#include "agent/peers.h"
#include "agent/probes.h"
#include "agent/program_name.h"
#include "agent/request.h"
#include "agent/safepoints.h"
#include "agent/sampling.h"
#include "agent/sched.h"
#include "agent/stacks.h"
#include "agent/sums.h"
#include "agent/threads.h"
#include "agent/tracked.h"
#include "agent/unmounts.h"
#include "agent/user_methods.h"
#include "base/clock.h"
#include "base/human.h"
#include "base/log.h"
#include "base/util.h"
#include "base/version.h"
#include "export/export.h"
#include "record/place.h"

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* --- facts about the JVM ---------------------------------------------------------------------- */

static void put_info(const char *key, const char *value)
{
    recorder_put_info(agent.rec, key, value);
}

/* The text formats that are made at the end, joined by '+', or the first of them. */
static const char *text_names(bool all)
{
    static char names[64];
    names[0] = 0;
    for (size_t i = 0; exporters[i] && (all || !names[0]); i++)
        if (agent.settings.formats & FORMAT_OF(i))
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
                     names[0] ? "+" : "", exporters[i]->name);
    return names;
}

static void put_program(void)
{
    char command[4096], class_path[4096];
    jvm_property("sun.java.command", command, sizeof command);
    jvm_property("java.class.path", class_path, sizeof class_path);
    if (!agent.settings.arguments)
        program_name_cut(command, class_path);
    mutf8_to_utf8(command);
    put_info("sun.java.command", command);
}

/* That the program may use. */
static long processors(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    return n ? n : sysconf(_SC_NPROCESSORS_ONLN);
}

/* Of the process, or of its container where that has fewer. */
static uint64_t processors_of_jvm(void)
{
    jint n = 0;
    if ((*agent.jvmti)->GetAvailableProcessors(agent.jvmti, &n) != JVMTI_ERROR_NONE || n < 1)
        return 1;
    return (uint64_t)n;
}

/* How many carriers the JDK's scheduler of virtual threads makes. */
static uint64_t carriers(void)
{
    char value[32];
    jvm_property("jdk.virtualThreadScheduler.parallelism", value, sizeof value);
    uint64_t set = strtoul(value, NULL, 10);
    return set ? set : processors_of_jvm();
}

static void put_infos(void)
{
    static const char *const properties[] = {"java.version", "java.vm.name", "java.vm.version",
                                             "java.vm.vendor", "java.home"};
    char value[4096], host[256] = "";
    for (size_t i = 0; i < ARRAY_LEN(properties); i++) {
        jvm_property(properties[i], value, sizeof value);
        mutf8_to_utf8(value);
        put_info(properties[i], value);
    }
    put_program();
    gethostname(host, sizeof host - 1);
    put_info("host", host);
    struct utsname os;
    if (uname(&os) == 0) {
        snprintf(value, sizeof value, "%s %s", os.sysname, os.release);
        put_info("os", value);
        put_info("arch", os.machine);
    }
    put_info("orca.version", ORCA_VERSION);
    snprintf(value, sizeof value, "%ld", processors());
    put_info("cpus", value);
    if (agent.virtual_threads) {
        snprintf(value, sizeof value, "%" PRIu64, carriers());
        put_info("orca.carriers", value);
    }
    value[0] = 0;
    for (int g = 0; g < GROUP_LIMIT; g++)
        if (agent.settings.groups[g] && g != GROUP_meta)
            snprintf(value + strlen(value), sizeof value - strlen(value), "%s%s",
                     value[0] ? "+" : "", event_groups[g].name);
    put_info("orca.events", value);
    if (!agent.settings.contanalysis)
        put_info("orca.contanalysis", "off: only events that the JVM reports by itself");
    if (settings_has_texts(&agent.settings))
        put_info("orca.texts", text_names(true));
    if (agent.attached)
        put_info("orca.attached", "the JVM was running already");
    if (agent.settings.include)
        put_info("orca.include", agent.settings.include);
    if (agent.settings.exclude)
        put_info("orca.exclude", agent.settings.exclude);
    if (agent.settings.methods)
        put_info("orca.methods", agent.settings.methods);
    if (agent.settings.holdsample > 1) {
        snprintf(value, sizeof value, "%" PRIu64, agent.settings.holdsample);
        put_info("orca.holdsample", value);
    }
    snprintf(value, sizeof value, "%" PRIu64, agent.settings.depth);
    put_info("orca.depth", value);
    put_info("orca.owners", agent.layout.monitor_owner >= 0 ? "yes" : "no");
    lacks_trace(agent.rec);
}

/* --- owners ----------------------------------------------------------------------------------- */

/* Whether monitors' owners can be read on this JVM; when not, says why, once. */
static bool owners_known(void)
{
    const struct vm_layout *l = &agent.layout;
    if (l->pending_monitor >= 0 && l->monitor_owner >= 0 &&
        (l->owner_is_tid ? l->lock_stack >= 0 : l->stack_base >= 0 && l->stack_size >= 0)) {
        if (agent.virtual_threads && !mounted_known(l))
            lacks_note("with this JVM's collector, Orca cannot read which virtual thread a carrier "
                       "runs: owners of monitors that may be virtual threads are unknown");
        return true;
    }
    lacks_note("owners of monitors cannot be read on this JVM: they are recorded as unknown");
    agent.layout.monitor_owner = -1;
    return false;
}

/* --- start ------------------------------------------------------------------------------------ */

static void tick(uint64_t now, uint64_t events)
{
    sums_tick(now, events);
    safepoints_tick(now);
}

static int open_recorder(struct err *err)
{
    const struct settings *s = &agent.settings;
    int rc = 0;
    struct recorder_opts o = {.path = agent.path,
                              .ringdir = s->ringdir,
                              .ring_max = s->ring,
                              .ring_mem = s->ringmem,
                              .maxsize = s->maxsize,
                              /* the control thread ends it in good order, however late */
                              .duration = s->control ? 0 : s->duration,
                              .block = s->full == 1,
                              .every = s->every,
                              .keep = s->keep,
                              .files = files_of_recording(),
                              .tick = tick};
    /* Another JVM may take the name between the look and the creation: then look again. */
    for (int i = 0; i < 5; i++) {
        TRY(settings_path(s, agent.path, sizeof agent.path, err));
        if (!(s->formats & FORMAT_OTRACE) && place_aside(agent.path, text_names(false), err) &&
            !s->quiet)
            log_line("%s", err->msg);
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

static void set_event(int event, bool on)
{
    jvmtiError e = (*agent.jvmti)
                       ->SetEventNotificationMode(agent.jvmti, on ? JVMTI_ENABLE : JVMTI_DISABLE,
                                                  (jvmtiEvent)event, NULL);
    if (e != JVMTI_ERROR_NONE)
        lacks_note("event %d is not available on this JVM: %s", event, jvmti_error_name(e));
}

/* Thread events always: owners and ids stand on them. */
static void enable_thread_events(void)
{
    set_event(JVMTI_EVENT_THREAD_START, true);
    set_event(JVMTI_EVENT_THREAD_END, true);
}

/* What the groups in `on` and `off` need of JVMTI. */
static void switch_events(const bool *on, const bool *off)
{
    static const struct {
        enum event_group group;
        int event;
    } events[] = {{GROUP_monitors, JVMTI_EVENT_MONITOR_CONTENDED_ENTER},
                  {GROUP_monitors, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED},
                  {GROUP_waits, JVMTI_EVENT_MONITOR_WAIT},
                  {GROUP_waits, JVMTI_EVENT_MONITOR_WAITED},
                  {GROUP_virtual, EVENT_VIRTUAL_THREAD_START},
                  {GROUP_gc, JVMTI_EVENT_GARBAGE_COLLECTION_START},
                  {GROUP_gc, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH},
                  {GROUP_io, JVMTI_EVENT_NATIVE_METHOD_BIND}};
    for (size_t i = 0; i < ARRAY_LEN(events); i++)
        if ((on[events[i].group] || off[events[i].group]) &&
            (events[i].group != GROUP_virtual || agent.virtual_threads))
            set_event(events[i].event, on[events[i].group]);
    if ((on[GROUP_mounts] || off[GROUP_mounts]) && agent.virtual_threads)
        mounts_switch(on[GROUP_mounts]);
}

static int init_sums(void)
{
    const struct settings *s = &agent.settings;
    return sums_init(s->cost, s->costflip, s->costlight, !s->include && !s->exclude);
}

static int make_tables(JNIEnv *jni, jthread thread, struct err *err)
{
    lacks_begin();
    TRY(threads_init(jni, thread, err));
    TRY(methods_init(err));
    TRY(stacks_init(err));
    TRY(origins_init(&(struct origins_jvm){agent.jvmti, methods_newest, natives_method}, err));
    locks_init();
    asked_owners_init();
    modules_reset();
    if (thread_table_new(&agent.table, &agent.layout, owners_known()) < 0)
        return err_set(err, -ENOMEM, "out of memory");
    if (unmounts_init() < 0 || peers_init(agent.settings.iodetails, locks_of_peer) < 0 ||
        init_sums() < 0)
        return err_set(err, -ENOMEM, "out of memory");
    return open_recorder(err);
}

static void free_tables(JNIEnv *jni)
{
    methods_fini();
    moves_forget();
    stacks_fini();
    origins_fini(jni);
    threads_free();
    thread_table_free(agent.table);
    agent.table = NULL;
    unmounts_free();
    peers_free();
    sums_free();
}

static void add_to_sched(void *ctx, uintptr_t java_thread, uint32_t id)
{
    (void)ctx;
    sched_add(os_thread_id(&agent.layout, java_thread), id);
}

static void add_all_to_sched(void)
{
    threads_each_java(add_to_sched, NULL);
}

static void update_sched(void)
{
    const struct sched_setup setup = {agent.rec, agent.started, threads_native,
                                      threads_native_ended, add_all_to_sched};
    bool wanted = settings_wants_sched(&agent.settings);
    if (sched_runs() && !wanted)
        sched_stop();
    if (!sched_runs() && wanted)
        sched_start(&setup);
}

/* Not with control=off: without the control thread a recording may end by itself, and no thread
 * would read what the JVM goes on to write. */
static void update_safepoints(JNIEnv *jni)
{
    bool asked = agent.settings.groups[GROUP_safepoints];
    bool wanted = asked && agent.settings.control;
    if (asked && !wanted)
        lacks_note("safepoints are not recorded: with control=off, nothing would switch the JVM's "
                   "log off again");
    if (wanted && !safepoints_run()) {
        char home[PATH_MAX - 64];
        jvm_property("java.home", home, sizeof home);
        safepoints_start(jni, &(struct safepoints_setup){agent.vm, agent.rec, agent.started,
                                                         agent.java_version, home, gc_names_id});
    }
    if (!wanted)
        safepoints_stop(jni);
}

static void begin(JNIEnv *jni, jthread thread)
{
    /* At a second attach other threads record from the opened guard on: native methods and probes
     * of the first one stay.  The analyser finds the stream of the beginning by the earliest
     * time. */
    struct os_thread *self = os_thread_self(jni);
    struct event *e = self ? ring_begin(self->ring, EV_recording_start,
                                        threads_current(jni, thread, self), agent.started)
                           : NULL;
    if (e)
        ring_commit(self->ring, e);
    enable_thread_events();
    park_init(jni);
    stacks_start(jni);
    threads_enumerate(jni);
    locks_told_all();
    static const bool none[GROUP_LIMIT];
    owner_stacks_start(jni);
    gc_init(jni);
    bool own = alloc_own_begin(jni);
    switch_events(agent.settings.groups, none);
    natives_install(jni);
    io_update();
    heap_update(jni, !agent.attached);
    probes_install(jni);
    if (self)
        open_waits_again(jni, self);
    sampling_update();
    update_sched();
    update_safepoints(jni);
    if (own)
        alloc_own_end(jni);
}

/* The phase of the JVM; also separates the end of the JVM and a detach. */
static pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER;

static int start(JNIEnv *jni, jthread thread, struct err *err)
{
    agent.session++;
    int rc = make_tables(jni, thread, err);
    if (rc < 0) {
        free_tables(jni);
        return rc;
    }
    agent.started = clock_mono_ns();
    put_infos();
    main_class_reset();
    if (agent.attached)
        main_class_define(jni, agent.jvmti, agent.rec);
    files_begin(agent.path);
    sums_start(agent.rec, processors_of_jvm());
    guard_open();
    if (agent_enter()) {
        begin(jni, thread);
        agent_leave();
    }
    return 0;
}

static int attach(JNIEnv *jni, JavaVM *vm, const char *options, struct err *err)
{
    jthread self = NULL;
    if (agent.rec) {
        struct recorder_status now;
        recorder_status(agent.rec, &now);
        return err_set(err, -EALREADY, "this JVM is being recorded already, into %s", now.path);
    }
    TRY(agent_load(vm, options, true, err));
    int rc = -EAGAIN;
    if ((*agent.jvmti)->GetCurrentThread(agent.jvmti, &self) == JVMTI_ERROR_NONE)
        rc = start(jni, self, err);
    else
        err_set(err, rc, "the JVM does not say which thread this is");
    (*jni)->DeleteLocalRef(jni, self);
    if (rc < 0)
        agent_unload();
    return rc;
}

int agent_attach(JNIEnv *jni, JavaVM *vm, const char *options, struct err *err)
{
    pthread_mutex_lock(&life);
    int rc = attach(jni, vm, options, err);
    pthread_mutex_unlock(&life);
    return rc;
}

void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void)jvmti;
    struct err err;
    int saved = errno;
    pthread_mutex_lock(&life);
    int rc = start(jni, thread, &err);
    if (rc < 0)
        agent_unload();
    pthread_mutex_unlock(&life);
    if (rc < 0)
        log_line("%s; the program runs without recording", err.msg);
    else if (agent.settings.control && control_start(agent.vm, &err) < 0) {
        recorder_end_after(agent.rec, agent.settings.duration);
        log_line("%s; the JVM is recorded, but orca status, dump and detach cannot reach it",
                 err.msg);
    }
    errno = saved;
}

/* --- end -------------------------------------------------------------------------------------- */

/* What the text files' names begin with. */
static void texts_prefix(char prefix[sizeof agent.path])
{
    snprintf(prefix, sizeof agent.path, "%s", agent.path);
    char *suffix = strrchr(prefix, '.');
    if (suffix && strcmp(suffix, ".otrace") == 0)
        *suffix = 0;
}

void agent_put_texts(struct buf *reply)
{
    char prefix[sizeof agent.path];
    if (!settings_has_texts(&agent.settings))
        return;
    texts_prefix(prefix);
    if (!(agent.settings.formats & FORMAT_OTRACE))
        buf_puts(reply, "kept no\n");
    for (size_t i = 0; exporters[i]; i++)
        for (size_t k = 0; (agent.settings.formats & FORMAT_OF(i)) && exporters[i]->suffixes[k];
             k++)
            buf_printf(reply, "text %s%s\n", prefix, exporters[i]->suffixes[k]);
}

static void tell_texts(const struct exporter *x, const struct export_job *job)
{
    char path[sizeof agent.path + 32];
    for (size_t i = 0; x->suffixes[i]; i++) {
        snprintf(path, sizeof path, "%s%s", job->prefix, x->suffixes[i]);
        if (export_has_file(x, job, i))
            files_text(path);
    }
}

/* left_out: gets what the formats have no lines for, for the last line. */
static void write_texts(struct buf *left_out)
{
    const char *failed = exporter_names[0];
    struct err err = {""};
    struct trace *t;
    char prefix[sizeof agent.path];
    if (!settings_has_texts(&agent.settings))
        return;
    texts_prefix(prefix);
    int rc = trace_open(&t, agent.path, &err);
    for (size_t i = 0; exporters[i] && rc >= 0; i++)
        if (agent.settings.formats & FORMAT_OF(i)) {
            struct export_job job = {.trace = t, .prefix = prefix, .fast_ns = agent.settings.fast};
            failed = exporters[i]->name;
            rc = export_job_run(exporters[i], &job, &err);
            if (rc >= 0)
                tell_texts(exporters[i], &job);
            if (rc >= 0 && export_left_out(&job))
                buf_printf(left_out, "; %s not in the format %s",
                           human_count(export_left_out(&job)).text, failed);
        }
    if (rc < 0)
        log_line("%s; the recording is in %s: orca export %s --to %s", err.msg, agent.path,
                 agent.path, failed);
    else if (!(agent.settings.formats & FORMAT_OTRACE) && unlink(agent.path) == 0)
        files_replaced(agent.path);
    trace_close(t);
}

static void say_result(const struct recorder_result *r, const char *left_out)
{
    struct buf line;
    bool kept = agent.settings.formats & FORMAT_OTRACE;
    if (agent.settings.quiet)
        return;
    buf_init(&line);
    if (kept)
        buf_printf(&line, "%s%s: ", r->parts > 1 ? "several files, the last one " : "", r->path);
    buf_printf(&line, "%s events in %s, %s lost", human_count(r->events).text,
               human_time(r->duration_ns).text, r->lost ? human_count(r->lost).text : "none");
    human_put_full_disk(&line, r->unwritten.times, r->unwritten.ns);
    buf_puts(&line, left_out);
    if (kept)
        buf_printf(&line, "; look at it: orca report %s", r->path);
    log_line("%s", buf_str(&line));
    buf_fini(&line);
}

/* jni: NULL when this is not a Java thread. */
static void end_recording(JNIEnv *jni, struct recorder_result *r)
{
    if (jni && recorder_on(agent.rec)) {
        threads_finish(jni);
        main_class_define(jni, agent.jvmti, agent.rec);
        origins_define(jni, agent.rec);
    }
    io_end();
    user_methods_report();
    stacks_report();
    owner_stacks_report();
    gc_names_define();
    lacks_trace(NULL);
    recorder_close(agent.rec, r);
    struct buf left_out;
    buf_init(&left_out);
    if (r->state == TRACE_CLOSED)
        write_texts(&left_out);
    say_result(r, buf_str(&left_out));
    buf_fini(&left_out);
}

/* --- groups ----------------------------------------------------------------------------------- */

/* So that a reader does not take events that were not asked for, for events that did not happen. */
static void note_switch(const bool *on, const bool *off)
{
    static struct buf changes;
    static uint32_t session;
    if (session != agent.session)
        buf_clear(&changes);
    session = agent.session;
    buf_printf(&changes, "%s%.3f s:", changes.len ? "; " : "",
               (double)(clock_mono_ns() - agent.started) / 1e9);
    for (int g = 1; g < GROUP_LIMIT; g++)
        if (on[g] || off[g])
            buf_printf(&changes, " %c%s", on[g] ? '+' : '-', event_groups[g].name);
    put_info("orca.events.changes", buf_str(&changes));
}

static void switch_groups(JNIEnv *jni, bool *wanted)
{
    bool on[GROUP_LIMIT] = {false}, off[GROUP_LIMIT] = {false}, any = false;
    settings_complete_groups(&agent.settings, wanted);
    for (int g = 1; g < GROUP_LIMIT; g++) {
        on[g] = wanted[g] && !agent.settings.groups[g];
        off[g] = !wanted[g] && agent.settings.groups[g];
        any |= on[g] || off[g];
    }
    if (!any)
        return;
    memcpy(agent.settings.groups, wanted, sizeof agent.settings.groups);
    note_switch(on, off);
    switch_events(on, off);
    unmounts_forget();
    threads_forget_waits(off);
    bool own = alloc_own_begin(jni);
    natives_install(jni);
    io_update();
    heap_update(jni, false);
    probes_update(jni);
    unmounts_forget();
    sampling_update();
    update_sched();
    update_safepoints(jni);
    if (own)
        alloc_own_end(jni);
}

/* The groups that are asked for now. Those that are left out are reported, which is an error only
 * when none remain. */
static int check_left_out(bool asked[GROUP_LIMIT], const bool wanted[GROUP_LIMIT],
                          struct buf *reply, struct err *err)
{
    bool left[GROUP_LIMIT];
    struct buf why;
    int more = 0;
    buf_init(&why);
    memcpy(left, asked, sizeof left);
    settings_complete_groups(&agent.settings, left);
    for (int g = 1; g < GROUP_LIMIT; g++)
        more += left[g] || (agent.settings.groups[g] && !wanted[g]);
    bool any = settings_put_left_out(&agent.settings, asked, &why);
    int rc = any && !more ? err_set(err, -ENOTSUP, "%s", buf_str(&why)) : 0;
    if (any && more)
        buf_printf(reply, "left_out %s\n", buf_str(&why));
    buf_fini(&why);
    return rc;
}

int agent_switch(JNIEnv *jni, char *groups, struct buf *reply, struct err *err)
{
    bool wanted[GROUP_LIMIT], asked[GROUP_LIMIT];
    pthread_mutex_lock(&life);
    memcpy(wanted, agent.settings.groups, sizeof wanted);
    int rc = agent.rec ? request_groups(groups, wanted, err)
                       : err_set(err, -ENODATA, "nothing is recorded in this JVM");
    if (rc == 0)
        rc = settings_check_groups(wanted, err);
    for (int g = 0; g < GROUP_LIMIT && rc == 0; g++)
        asked[g] = wanted[g] && !agent.settings.groups[g];
    if (rc == 0)
        rc = check_left_out(asked, wanted, reply, err);
    if (rc == 0)
        RECORDING(switch_groups(jni, wanted));
    pthread_mutex_unlock(&life);
    return rc;
}

/* --- the end, again --------------------------------------------------------------------------- */

/* The JVM ends: threads may still run, so nothing is taken away. */
void agent_finish(JNIEnv *jni)
{
    static const uint64_t patience = UINT64_C(1000000000);
    static bool finished;
    struct recorder_result r;
    control_end();
    pthread_mutex_lock(&life);
    if (agent.rec && !finished) {
        finished = true;
        sampling_stop();
        sched_stop();
        heap_quiet();
        safepoints_stop(jni);
        guard_shut(patience); /* nothing is to be recorded behind recording_end */
        heap_finish();
        end_recording(jni, &r);
    }
    pthread_mutex_unlock(&life);
}

static int stop(JNIEnv *jni, struct recorder_result *r, struct err *err)
{
    enum { SECONDS = 10 };
    static const uint64_t timeout = SECONDS * UINT64_C(1000000000);
    if (guard_enter()) {
        bool own = alloc_own_begin(jni);
        safepoints_stop(jni); /* those of detaching are not the program's */
        probes_remove(jni);
        gc_cycles_stop(jni);
        if (own)
            alloc_own_end(jni);
        guard_leave();
    }
    sampling_stop();
    sched_stop();
    heap_quiet();
    bool out = guard_close(timeout);
    heap_finish();
    end_recording(jni, r);
    if (!out) /* what a thread may still look at stays: memory, but no harm */
        return err_set(
            err, -ETIMEDOUT,
            "a thread did not leave the agent within %d s (is a debugger attached?): the "
            "recording is complete, but its memory is not freed, and the JVM cannot be "
            "attached to again",
            SECONDS);
    user_methods_free(jni);
    tracked_forget();
    heap_free(jni);
    free_tables(jni);
    recorder_free(agent.rec);
    agent.rec = NULL;
    agent_unload();
    return 0;
}

int agent_stop(JNIEnv *jni, struct recorder_result *result, struct err *err)
{
    pthread_mutex_lock(&life);
    int rc = agent.rec ? stop(jni, result, err) : err_set(err, -ENODATA, "nothing is recorded");
    pthread_mutex_unlock(&life);
    return rc;
}

void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
    (void)jvmti;
    int saved = errno;
    agent_finish(jni);
    errno = saved;
}

#include "agent/verbs.h"

#include "agent/agent.h"
#include "agent/asked_owners.h"
#include "agent/control.h"
#include "agent/gc_cycles.h"
#include "agent/gc_names.h"
#include "agent/heap_live.h"
#include "agent/heap_xml.h"
#include "agent/lacks.h"
#include "agent/main_class.h"
#include "agent/on_alloc.h"
#include "agent/origins.h"
#include "agent/owner_stacks.h"
#include "agent/query.h"
#include "agent/request.h"
#include "agent/stacks.h"
#include "agent/sums.h"
#include "base/clock.h"
#include "base/human.h"
#include "base/log.h"
#include "base/util.h"
#include "base/version.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* An event without its stack, docs/quality/benchmarks.md. */
enum { EVENT_NS = 100 };

/* How long the socket waits for the first word of who asked for it. */
enum { PATIENCE_SECONDS = 30 };

static _Atomic uint64_t wanted_until;

void verb_expect_attach(void)
{
    atomic_store(&wanted_until, clock_mono_ns() + PATIENCE_SECONDS * UINT64_C(1000000000));
}

int verb_pause_ms(void)
{
    enum { SELDOM_MS = 500, OFTEN_MS = 20 };
    return agent.rec && agent.settings.duration ? OFTEN_MS : SELDOM_MS;
}

bool verb_wants_end(void)
{
    return !agent.rec && clock_mono_ns() > atomic_load(&wanted_until);
}

/* --- on a Java thread ------------------------------------------------------------------------- */

static jobject system_group; /* a global reference for as long as the JVM lives; NULL: not known */

void verbs_init(JavaVM *vm)
{
    JNIEnv *jni;
    jvmtiEnv *jvmti;
    jthreadGroup *top = NULL;
    jint n = 0;
    if (system_group || (*vm)->GetEnv(vm, (void **)&jni, JNI_VERSION_10) != JNI_OK ||
        (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK)
        return;
    if ((*jvmti)->GetTopThreadGroups(jvmti, &n, &top) == JVMTI_ERROR_NONE && n > 0)
        system_group = (*jni)->NewGlobalRef(jni, top[0]);
    for (jint i = 0; i < n; i++)
        (*jni)->DeleteLocalRef(jni, top[i]);
    (*jvmti)->Deallocate(jvmti, (void *)top);
    (*jvmti)->DisposeEnvironment(jvmti);
}

typedef int (*java_fn)(JNIEnv *jni, char *argument, struct buf *reply, struct err *err);

static int run_in_java(JavaVM *vm, java_fn fn, char *argument, struct buf *reply, struct err *err)
{
    JNIEnv *jni = NULL;
    /* Among the JVM's own threads: it is none of the program's, which may list its own. */
    JavaVMAttachArgs args = {JNI_VERSION_10, (char *)"orca control", system_group};
    if ((*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&jni, &args) != JNI_OK)
        return err_set(err, -EAGAIN, "the JVM does not take the agent's thread: it is ending");
    bool own = false;
    RECORDING(own = alloc_own_begin(jni));
    int rc = fn(jni, argument, reply, err);
    if (own) /* it may be of another recording now */
        RECORDING(alloc_own_end(jni));
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    (*vm)->DetachCurrentThread(vm);
    return rc;
}

int control_attach(JavaVM *vm, const char *options, struct err *err)
{
    JNIEnv *jni = NULL;
    if ((*vm)->GetEnv(vm, (void **)&jni, JNI_VERSION_10) != JNI_OK)
        return err_set(err, -EINVAL, "not on a Java thread");
    return agent_attach(jni, vm, options, err);
}

/* --- verbs ------------------------------------------------------------------------------------ */

static int verb_start(JNIEnv *jni, char *argument, struct buf *reply, struct err *err)
{
    JavaVM *vm;
    if ((*jni)->GetJavaVM(jni, &vm) != JNI_OK)
        return err_set(err, -EINVAL, "no JVM");
    TRY(agent_attach(jni, vm, argument, err));
    struct buf why;
    buf_init(&why);
    buf_printf(reply, "path %s\n", agent.path);
    agent_put_texts(reply);
    if (agent.settings.archive &&
        settings_put_left_out(&agent.settings, agent.settings.asked, &why))
        buf_printf(reply, "left_out %s\n", buf_str(&why));
    buf_fini(&why);
    return 0;
}

/* part: the number of the file at `path`; the figures are of all files when it is the last one. */
static void put_result(struct buf *reply, const struct recorder_result *r)
{
    buf_printf(reply,
               "path %s\npart %u\nevents %" PRIu64 "\nlost %" PRIu64 "\nduration_ns %" PRIu64 "\n",
               r->path, r->parts, r->events, r->lost, r->duration_ns);
}

static int verb_stop(JNIEnv *jni, char *argument, struct buf *reply, struct err *err)
{
    (void)argument;
    struct recorder_result r;
    struct buf texts;
    buf_init(&texts);
    agent_put_texts(&texts); /* the settings end with the recording */
    int rc = agent_stop(jni, &r, err);
    if (rc == 0) {
        put_result(reply, &r);
        buf_put(reply, texts.p, texts.len);
        atomic_store(&wanted_until, 0);
    }
    buf_fini(&texts);
    return rc;
}

static int verb_groups(JNIEnv *jni, char *argument, struct buf *reply, struct err *err)
{
    TRY(agent_switch(jni, argument, reply, err));
    for (int g = 1; g < GROUP_LIMIT; g++)
        if (agent.settings.groups[g])
            buf_printf(reply, "group %s\n", event_groups[g].name);
    return 0;
}

static int verb_query(JNIEnv *jni, char *argument, struct buf *reply, struct err *err)
{
    return query_run(jni, argument, reply, err);
}

static int verb_heap(JNIEnv *jni, char *argument, struct buf *reply, struct err *err)
{
    enum { REFERENCES = 256 };
    struct request_heap h;
    TRY(request_heap(&h, argument, err));
    if ((*jni)->PushLocalFrame(jni, REFERENCES) < 0)
        return err_set(err, -ENOMEM, "the JVM has no memory for references");
    int rc = h.dump ? heap_xml_write(jni, h.path, h.objects, reply, err)
                    : heap_live_put(jni, h.full, reply, err);
    (*jni)->PopLocalFrame(jni, NULL);
    return rc;
}

/* A client that asked for the socket only for one question has asked it. */
static int verb_leave(JNIEnv *jni, char *argument, struct buf *reply, struct err *err)
{
    (void)jni, (void)argument, (void)reply, (void)err;
    atomic_store(&wanted_until, 0);
    return 0;
}

static int need_recording(struct err *err)
{
    return agent.rec ? 0 : err_set(err, -ENODATA, "nothing is recorded in this JVM");
}

/* Why what is recorded is not in the file now. */
static int say_unwritten(int rc, struct err *err)
{
    struct recorder_status s;
    recorder_status(agent.rec, &s);
    return err_set(err, rc, "%s has not been written for %s: %s: make room on its disk", s.path,
                   human_time(s.unwritten.ns).text, s.unwritten.why);
}

static int verb_flush(JNIEnv *jni, char *argument, struct buf *reply, struct err *err)
{
    (void)jni, (void)argument, (void)reply;
    TRY(need_recording(err));
    sums_flush(false);
    int rc = recorder_flush(agent.rec);
    if (rc == -ESHUTDOWN)
        return err_set(err, rc, "the recording has ended");
    return rc < 0 ? say_unwritten(rc, err) : 0;
}

static int verb_dump(JNIEnv *jni, char *argument, struct buf *reply, struct err *err)
{
    (void)jni;
    TRY(need_recording(err));
    TRY(request_path(argument, err));
    sums_flush(false);
    struct recorder_result r;
    TRY(recorder_snapshot(agent.rec, argument, &r, err));
    buf_printf(reply, "path %s\nevents %" PRIu64 "\nlost %" PRIu64 "\n", argument, r.events,
               r.lost);
    return 0;
}

static int verb_rotate(JNIEnv *jni, char *argument, struct buf *reply, struct err *err)
{
    (void)jni, (void)argument;
    TRY(need_recording(err));
    if (settings_has_texts(&agent.settings))
        return err_set(err, -EINVAL,
                       "the text formats are made of the whole recording at its end: it cannot go "
                       "on in another file; orca dump %d -o FILE copies what there is",
                       (int)getpid());
    if (agent.settings.cost_text && agent.settings.cost != COST_OFF)
        return err_set(err, -EINVAL,
                       "with cost= the recording stays in one file; orca dump %d -o FILE copies "
                       "what there is",
                       (int)getpid());
    struct recorder_result r;
    sums_no_more();
    TRY(recorder_rotate(agent.rec, &r, err));
    put_result(reply, &r);
    return 0;
}

static int verb_status(JNIEnv *jni, char *argument, struct buf *reply, struct err *err)
{
    (void)jni, (void)argument, (void)err;
    buf_printf(reply, "version %s\npid %d\n", ORCA_VERSION, (int)getpid());
    if (!agent.rec) {
        buf_puts(reply, "state idle\n");
        return 0;
    }
    struct recorder_status s;
    recorder_flush(agent.rec);
    recorder_status(agent.rec, &s);
    buf_printf(reply, "state %s\npath %s\npart %u\nattached %d\nsince_ns %" PRIu64 "\n",
               recorder_on(agent.rec) ? "recording" : "ended", s.path, s.part, agent.attached,
               clock_mono_ns() - agent.started);
    agent_put_texts(reply);
    buf_printf(reply, "events %" PRIu64 "\nbytes %" PRIu64 "\ndrain_cpu_ns %" PRIu64 "\n", s.events,
               s.bytes, s.cpu_ns);
    if (s.unwritten.times)
        buf_printf(reply, "unwritten_times %" PRIu64 "\nunwritten_ns %" PRIu64 "\n",
                   s.unwritten.times, s.unwritten.ns);
    if (s.unwritten.now)
        buf_printf(reply, "unwritten_now %s\n", s.unwritten.why);
    uint64_t cost;
    if (!sums_cost(&cost)) /* what is known of it */
        cost = stacks_cost() + owner_stacks_cost() + s.events * EVENT_NS;
    buf_printf(reply, "record_cpu_ns %" PRIu64 "\n", cost);
    sums_put_status(reply);
    lacks_put(reply, "lacks");
    buf_puts(reply, "stacks ");
    stacks_put_counts(reply);
    buf_putc(reply, '\n');
    for (int i = 0; i < LOSS_LIMIT; i++)
        if (s.loss[i])
            buf_printf(reply, "loss %s %" PRIu64 "\n", loss_causes[i].name, s.loss[i]);
    for (int g = 1; g < GROUP_LIMIT; g++)
        if (agent.settings.groups[g])
            buf_printf(reply, "group %s\n", event_groups[g].name);
    return 0;
}

/* --- the list --------------------------------------------------------------------------------- */

static const struct verb {
    java_fn run;
    bool java; /* on a Java thread */
} verbs[VERB_LIMIT] = {
    [VERB_status] = {verb_status, false}, [VERB_start] = {verb_start, true},
    [VERB_stop] = {verb_stop, true},      [VERB_groups] = {verb_groups, true},
    [VERB_flush] = {verb_flush, false},   [VERB_dump] = {verb_dump, false},
    [VERB_rotate] = {verb_rotate, false}, [VERB_query] = {verb_query, true},
    [VERB_heap] = {verb_heap, true},      [VERB_leave] = {verb_leave, false},
};

static int define_origins(JNIEnv *jni, char *argument, struct buf *reply, struct err *err)
{
    (void)argument, (void)reply, (void)err;
    RECORDING(main_class_define(jni, agent.jvmti, agent.rec); origins_define(jni, agent.rec));
    return 0;
}

/* What is named a while after it was met. */
static void define_names(JavaVM *vm)
{
    struct err err;
    RECORDING(gc_names_define());
    if (origins_due())
        run_in_java(vm, define_origins, NULL, NULL, &err);
}

int verb_run(JavaVM *vm, char *line, struct buf *reply, struct err *err)
{
    struct request r;
    define_names(vm); /* so that they are in what is looked at now */
    TRY(request_parse(&r, line, err));
    const struct verb *v = &verbs[r.verb];
    return v->java ? run_in_java(vm, v->run, r.argument, reply, err)
                   : v->run(NULL, r.argument, reply, err);
}

static int listen_to_cycles(JNIEnv *jni, char *argument, struct buf *reply, struct err *err)
{
    (void)argument, (void)reply, (void)err;
    RECORDING(gc_cycles_start(jni));
    return 0;
}

static int ask_owners(JNIEnv *jni, char *argument, struct buf *reply, struct err *err)
{
    enum { REFERENCES = 64 };
    (void)argument, (void)reply;
    if ((*jni)->PushLocalFrame(jni, REFERENCES) < 0)
        return err_set(err, -ENOMEM, "the JVM has no memory for references");
    RECORDING(asked_owners_ask(jni, false));
    (*jni)->PopLocalFrame(jni, NULL);
    return 0;
}

/* What the recording has to do now and then. */
static void look_after(JavaVM *vm)
{
    struct err err;
    define_names(vm);
    if (gc_cycles_due())
        run_in_java(vm, listen_to_cycles, NULL, NULL, &err);
    bool due = false;
    RECORDING(due = asked_owners_due());
    if (due)
        run_in_java(vm, ask_owners, NULL, NULL, &err);
}

/* The time that was asked for is over, or the recorder has given up. */
static bool is_over(void)
{
    uint64_t duration = agent.settings.duration;
    return !recorder_on(agent.rec) || (duration && clock_mono_ns() - agent.started >= duration);
}

void verb_tick(JavaVM *vm)
{
    static uint32_t failed;
    struct err err = {""};
    struct buf ignored;
    char none[] = "";
    look_after(vm);
    if (!agent.rec || agent.session == failed || !is_over())
        return;
    buf_init(&ignored);
    int rc = run_in_java(vm, verb_stop, none, &ignored, &err);
    if (rc < 0 && rc != -EAGAIN) { /* a JVM that is ending: agent_finish ends the recording */
        log_line("%s", err.msg);
        failed = agent.session; /* not again */
    }
    buf_fini(&ignored);
}

#include "cli/view_jvms.h"

#include "attach/client.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/options.h"
#include "base/util.h"
#include "cli/agent_options.h"
#include "cli/load_agent.h"
#include "cli/side_by_side.h"
#include "cli/target.h"
#include "cli/view_file.h"
#include "cli/view_recent.h"
#include "serve/answer.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

/* A JVM that does not answer does not delay a list. */
#define LIST_NS (SECOND / 3)

int view_jvms_init(struct view_jvms *j)
{
    j->n = 0;
    atomic_init(&j->changes, 0);
    return -pthread_mutex_init(&j->lock, NULL);
}

/* --- the list --------------------------------------------------------------------------------- */

static void put_recording(const struct jvm *jvm, const char *reply, struct buf *out)
{
    char path[PATH_MAX], here[PATH_MAX];
    target_text(reply, "path", path, sizeof path);
    target_path(jvm, path, here, sizeof here);
    buf_puts(out, "{\"file\":");
    answer_put_text(out, here);
    buf_printf(
        out, ",\"since_s\":%.1f,\"events\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"bytes\":%" PRIu64 "}",
        (double)client_number(reply, "since_ns") / 1e9, client_number(reply, "events"),
        target_losses(reply), client_number(reply, "bytes"));
}

static double uptime_s(const struct jvm *jvm)
{
    double now = (double)clock_ns_(CLOCK_BOOTTIME) / 1e9;
    double start = (double)jvm->start_time / (double)sysconf(_SC_CLK_TCK);
    return now > start ? now - start : 0;
}

static bool is_stopped(const struct jvm *jvm)
{
    return proc_stopped(jvm->pid);
}

/* NULL: it can be attached to. */
static const char *why_not(const struct jvm *jvm)
{
    struct jvm_switches s;
    if (proc_stopped(jvm->pid) == PROC_FROZEN)
        return "its container or cgroup is frozen: resume it";
    if (is_stopped(jvm))
        return "it is stopped: resume it (kill -CONT)";
    if (!jvm_is_live(jvm))
        return "it is still starting";
    jvm_switches(jvm, &s);
    return s.no_attach ? "it runs with -XX:+DisableAttachMechanism: restart it without" : NULL;
}

/* One JVM of the list, and its agent's answer. */
struct listed {
    struct jvm jvm;
    bool stopped, recorded;
    struct buf status;
};

struct listing {
    struct listed *all;
    size_t n;
};

static int add_jvm(void *ctx, const struct jvm *jvm)
{
    struct listing *l = ctx;
    struct listed *all = realloc(l->all, (l->n + 1) * sizeof *all);
    if (!all)
        return -ENOMEM;
    l->all = all;
    l->all[l->n++] = (struct listed){.jvm = *jvm};
    return 0;
}

static void ask_jvm(void *ctx, size_t i)
{
    struct listed *j = &((struct listing *)ctx)->all[i];
    struct err ignored;
    char state[32];
    buf_init(&j->status);
    j->stopped = is_stopped(&j->jvm);
    int rc = j->stopped ? -EBUSY : client_ask(&j->jvm, "status", LIST_NS, &j->status, &ignored);
    target_text(buf_str(&j->status), "state", state, sizeof state);
    j->recorded = rc == 0 && strcmp(state, "recording") == 0;
}

static void put_jvm(struct listed *j, struct buf *out)
{
    const struct jvm *jvm = &j->jvm;
    const char *why = why_not(jvm);
    buf_printf(out, "{\"pid\":%d,\"name\":", (int)jvm->pid);
    answer_put_text(out, jvm->name);
    buf_puts(out, ",\"java\":");
    answer_put_text(out, jvm->java);
    buf_printf(out, ",\"uptime_s\":%.0f,\"state\":\"%s\",\"recording\":", uptime_s(jvm),
               j->stopped    ? "stopped"
               : j->recorded ? "recording"
                             : "running");
    if (j->recorded)
        put_recording(jvm, buf_str(&j->status), out);
    else
        buf_puts(out, "null");
    buf_printf(out, ",\"can_attach\":%s,\"why\":", why ? "false" : "true");
    answer_put_text(out, why ? why : "");
    buf_putc(out, '}');
}

int view_jvms_put(struct buf *out, struct err *err)
{
    struct listing l = {NULL, 0};
    int rc = jvm_list(add_jvm, &l, err);
    if (rc == 0)
        side_by_side(l.n, ask_jvm, &l);
    buf_putc(out, '[');
    for (size_t i = 0; rc == 0 && i < l.n; i++) {
        buf_puts(out, i ? "," : "");
        put_jvm(&l.all[i], out);
        buf_fini(&l.all[i].status);
    }
    buf_putc(out, ']');
    free(l.all);
    return rc;
}

static int add_stamp(void *ctx, const struct jvm *jvm)
{
    uint64_t *stamp = ctx;
    *stamp = hash_u64(*stamp ^ ((uint64_t)jvm->pid << 40) ^ (jvm->start_time << 8) ^
                      (uint64_t)(unsigned char)is_stopped(jvm));
    return 0;
}

uint64_t view_jvms_stamp(struct view_jvms *j)
{
    /* relaxed: a number that differs is all that is asked for. */
    uint64_t stamp = atomic_load_explicit(&j->changes, memory_order_relaxed) + 1;
    struct err ignored;
    jvm_list(add_stamp, &stamp, &ignored);
    return stamp;
}

void view_jvms_put_choices(struct buf *out)
{
    char cwd[PATH_MAX];
    buf_puts(out, "\"groups\":[");
    for (size_t i = 1; i < GROUP_LIMIT; i++) {
        buf_printf(out, "%s{\"name\":\"%s\",\"summary\":", i > 1 ? "," : "", event_groups[i].name);
        answer_put_text(out, event_groups[i].doc);
        buf_printf(out, ",\"default\":%s}", event_groups[i].on ? "true" : "false");
    }
    buf_puts(out, "],\"defaults\":{\"output\":");
    answer_put_text(out, AGENT_FILE_DEFAULT);
    buf_puts(out, ",\"folder\":");
    answer_put_text(out, getcwd(cwd, sizeof cwd) ? cwd : "");
    buf_puts(out, ",\"depth\":null,\"seconds\":0,\"include\":null,\"exclude\":null,"
                  "\"methods\":null,\"ownerstacks\":null}");
}

/* --- attach ----------------------------------------------------------------------------------- */

int view_jvms_recording(const struct jvm *jvm, uint64_t timeout_ns, char *path, struct err *err)
{
    struct buf status;
    char state[32], there[PATH_MAX];
    buf_init(&status);
    int rc = client_ask(jvm, "status", timeout_ns, &status, err);
    target_text(buf_str(&status), "state", state, sizeof state);
    target_text(buf_str(&status), "path", there, sizeof there);
    buf_fini(&status);
    if (client_is_silent(rc))
        return rc;
    if (rc < 0 || strcmp(state, "recording") != 0)
        return 0;
    target_path(jvm, there, path, PATH_MAX);
    return 1;
}

int view_jvms_check(const struct jvm *jvm, struct err *err)
{
    return jvm_check_running(jvm, err);
}

/* The agent's own options, as orca attach has them after --options. */
static void put_more(const struct serve_attach *a, struct buf *b)
{
    const struct {
        const char *key, *value;
    } texts[] = {{"include", a->include}, {"exclude", a->exclude}, {"ownerstacks", a->ownerstacks}};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (texts[i].value) {
            buf_printf(b, "%s%s=", b->len ? "," : "", texts[i].key);
            opt_escape(b, texts[i].value);
        }
    if (a->has_depth)
        buf_printf(b, "%sdepth=%" PRIu64, b->len ? "," : "", a->depth);
}

/* Which field a sentence about an option is about. */
static const char *field_of(const char *text)
{
    static const struct {
        const char *option, *field;
    } known[] = {{"include", "include"}, {"exclude", "exclude"},         {"depth", "depth"},
                 {"methods", "methods"}, {"ownerstacks", "ownerstacks"}, {"events", "events"},
                 {"duration", "seconds"}};
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strstr(text, known[i].option))
            return known[i].field;
    return NULL;
}

static int check(const struct serve_attach *a, struct agent_options *o, struct serve_why *why)
{
    static const struct opt rows[] = {AGENT_OPTIONS(0)};
    if (a->events) {
        why->field = "events";
        TRY(opt_parse_value(opt_find(OPT_TABLE(rows), "events", 6), a->events, o, &why->err));
    }
    why->field = "methods";
    if (agent_options_check(o, &why->err) < 0)
        return -EINVAL; /* whatever is wrong with the file, the field is */
    why->field = "output";
    if (a->output && !strchr(a->output, '%') && access(a->output, F_OK) == 0)
        return err_set(&why->err, -EEXIST, "%s: already exists: name another file", a->output);
    why->field = NULL;
    return 0;
}

/* path: what the JVM says that it writes (PATH_MAX). */
static int begin(const struct jvm *jvm, const struct serve_attach *a, char *path,
                 struct serve_why *why)
{
    struct agent_options o = {.file = a->output ? a->output : AGENT_FILE_DEFAULT,
                              .methods = a->methods};
    struct buf more, request, reply;
    char duration[64];
    bool foreign = false;
    TRY(check(a, &o, why));
    TRY(load_agent(jvm, &foreign, &why->err));
    buf_init(&more);
    buf_init(&request);
    buf_init(&reply);
    put_more(a, &more);
    o.more = more.len ? buf_str(&more) : NULL;
    snprintf(duration, sizeof duration, "duration=%" PRIu64 "ms", a->duration / 1000000);
    buf_puts(&request, "start ");
    int rc = agent_options_put(&o, a->duration ? duration : NULL, foreign ? "/tmp" : NULL, &request,
                               &why->err);
    if (rc == 0)
        rc = client_ask(jvm, buf_str(&request), TARGET_TIMEOUT_NS, &reply, &why->err);
    if (rc < 0)
        why->field = field_of(why->err.msg);
    target_text(buf_str(&reply), "path", path, PATH_MAX);
    buf_fini(&more);
    buf_fini(&request);
    buf_fini(&reply);
    return rc;
}

static bool says_nothing(const struct serve_attach *a)
{
    return !a->events && !a->include && !a->exclude && !a->methods && !a->output &&
           !a->ownerstacks && !a->duration && !a->has_depth;
}

/* With the lock. */
static int attach(struct view_jvms *j, const struct jvm *jvm, const struct serve_attach *a,
                  char *here, struct serve_why *why)
{
    char path[PATH_MAX];
    int rc = view_jvms_recording(jvm, TARGET_TIMEOUT_NS / 10, here, &why->err);
    TRY(rc);
    if (rc) {
        if (says_nothing(a))
            return 0;
        return err_set(
            &why->err, -EALREADY,
            "JVM %d (%s) is being recorded already, into %s: open that, or stop it first",
            (int)jvm->pid, jvm->name, here);
    }
    if (j->n == VIEW_ATTACHED_MAX)
        return err_set(&why->err, -EMFILE, "%d JVMs were attached to: stop one of them first",
                       VIEW_ATTACHED_MAX);
    TRY(begin(jvm, a, path, why));
    j->attached[j->n].jvm = *jvm;
    snprintf(j->attached[j->n++].path, PATH_MAX, "%s", path);
    target_path(jvm, path, here, PATH_MAX);
    return 0;
}

static int find_jvm(uint32_t pid, struct jvm *jvm, struct serve_why *why)
{
    why->field = "pid";
    TRY(jvm_find((pid_t)pid, jvm, &why->err));
    TRY(view_jvms_check(jvm, &why->err));
    why->field = NULL;
    return 0;
}

int view_jvms_attach(struct view_jvms *j, const struct serve_attach *a, const char *app,
                     struct serve_source **out, struct serve_why *why)
{
    struct jvm jvm;
    char here[PATH_MAX];
    TRY(find_jvm(a->pid, &jvm, why));
    pthread_mutex_lock(&j->lock);
    int rc = attach(j, &jvm, a, here, why);
    pthread_mutex_unlock(&j->lock);
    TRY(rc);
    /* relaxed: see view_jvms_stamp. */
    atomic_fetch_add_explicit(&j->changes, 1, memory_order_relaxed);
    TRY(view_file_open(out, here, &jvm, NULL, app, &why->err));
    recent_note((*out)->path);
    return 0;
}

/* --- stop ------------------------------------------------------------------------------------- */

/* With the lock. */
static void forget(struct view_jvms *j, pid_t pid)
{
    for (size_t i = j->n; i-- > 0;)
        if (j->attached[i].jvm.pid == pid)
            j->attached[i] = j->attached[--j->n];
}

int view_jvms_stop(struct view_jvms *j, uint32_t pid, struct buf *file, struct serve_why *why)
{
    struct jvm jvm;
    struct buf reply;
    char path[PATH_MAX], here[PATH_MAX];
    TRY(find_jvm(pid, &jvm, why));
    buf_init(&reply);
    int rc = client_ask(&jvm, "stop", TARGET_TIMEOUT_NS, &reply, &why->err);
    target_text(buf_str(&reply), "path", path, sizeof path);
    buf_fini(&reply);
    if (rc < 0)
        return rc;
    target_path(&jvm, path, here, sizeof here);
    buf_puts(file, here);
    pthread_mutex_lock(&j->lock);
    forget(j, jvm.pid);
    pthread_mutex_unlock(&j->lock);
    /* relaxed: see view_jvms_stamp. */
    atomic_fetch_add_explicit(&j->changes, 1, memory_order_relaxed);
    return 0;
}

void view_jvms_fini(struct view_jvms *j)
{
    pthread_mutex_lock(&j->lock); /* an attach that is under way is ended as well */
    for (size_t i = 0; i < j->n; i++) {
        const struct jvm *jvm = &j->attached[i].jvm;
        char now[PATH_MAX], ours[PATH_MAX];
        struct err err = {""};
        target_path(jvm, j->attached[i].path, ours, sizeof ours);
        if (view_jvms_recording(jvm, 2 * SECOND, now, NULL) != 1 || strcmp(now, ours) != 0)
            continue;
        if (client_ask(jvm, "stop", TARGET_TIMEOUT_NS, NULL, &err) < 0)
            log_line("%s", err.msg);
        else
            log_line("JVM %d (%s): the recording has ended; its trace is %s", (int)jvm->pid,
                     jvm->name, ours);
    }
    j->n = 0;
    pthread_mutex_unlock(&j->lock);
}

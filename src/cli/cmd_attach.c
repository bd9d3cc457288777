/* cmd_attach.c - begins to record a JVM that is running, or joins the recording that goes on.
 *
 * The agent is loaded with no more than its control socket; over that the options go, and the
 * answer comes back.  With --for the agent ends by itself, also when this command is killed. */
#include "attach/metaspace.h"
#include "base/clock.h"
#include "base/human.h"
#include "base/log.h"
#include "base/util.h"
#include "cli/agent_options.h"
#include "cli/cmd.h"
#include "cli/load_agent.h"
#include "cli/target.h"
#include "format/event.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)

struct attach {
    struct agent_options agent;
    uint64_t on, off; /* bits, as in event_group_names */
    uint64_t duration, timeout;
};

static const struct opt opts[] = {
    {"for", 0, OPT_TIME, offsetof(struct attach, duration), "TIME",
     "end after this time, and wait for it (default: record until orca detach)", NULL, 0, 0},
    {"output", 'o', OPT_STR, offsetof(struct attach, agent.file), "FILE",
     "the trace; %p becomes the process id, %t the time (default: orca-%p.otrace)", NULL, 0, 0},
    AGENT_OPTIONS(offsetof(struct attach, agent)),
    {"on", 0, OPT_SET, offsetof(struct attach, on), "GROUPS",
     "switch these groups on in the present recording", event_group_names, EVENT_GROUPS_NAMED, 0},
    {"off", 0, OPT_SET, offsetof(struct attach, off), "GROUPS",
     "switch these groups off in the present recording", event_group_names, 0, 0},
    TARGET_TIMEOUT(offsetof(struct attach, timeout), "30s; 10m if classes are changed or restored"),
};

/* --- asking ----------------------------------------------------------------------------------- */

/* 1, 0, or why that cannot be known. */
static int look_recorded(const struct jvm *jvm, struct buf *status, struct err *err)
{
    char state[32];
    buf_clear(status);
    int rc = client_ask(jvm, "status", TARGET_TIMEOUT_NS, status, err);
    if (rc < 0)
        return client_is_silent(rc) ? rc : 0;
    target_text(buf_str(status), "state", state, sizeof state);
    return strcmp(state, "recording") == 0;
}

static bool is_recorded(const struct jvm *jvm, struct buf *status)
{
    struct err ignored;
    return look_recorded(jvm, status, &ignored) == 1;
}

static void put_groups(struct buf *b, uint64_t bits, char sign)
{
    for (size_t i = 0; event_group_names[i]; i++)
        if (bits >> i & 1)
            buf_printf(b, "%c%s", sign, event_group_names[i]);
}

/* Groups that were asked for, and that this JVM or its recording's options keep out. */
static void say_left_out(const struct jvm *jvm, const char *reply)
{
    char why[512];
    target_text(reply, "left_out", why, sizeof why);
    if (*why)
        log_line("JVM %d (%s): %s", (int)jvm->pid, jvm->name, why);
}

static int switch_groups(const struct jvm *jvm, uint64_t on, uint64_t off, struct err *err)
{
    struct buf request, reply;
    buf_init(&request);
    buf_init(&reply);
    buf_puts(&request, "groups ");
    put_groups(&request, on, '+');
    put_groups(&request, off, '-');
    int rc = client_ask(jvm, buf_str(&request), TARGET_REWRITE_NS, &reply, err);
    if (rc == 0)
        say_left_out(jvm, buf_str(&reply));
    buf_fini(&request);
    buf_fini(&reply);
    return rc;
}

/* --- waiting ---------------------------------------------------------------------------------- */

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
    interrupted = sig;
}

static void catch_signals(void)
{
    struct sigaction a = {.sa_handler = on_signal};
    sigaction(SIGINT, &a, NULL);
    sigaction(SIGTERM, &a, NULL);
    sigaction(SIGHUP, &a, NULL);
}

/* The file that is being written now. */
static void see_path(const struct jvm *jvm, char *path)
{
    struct buf status;
    buf_init(&status);
    if (is_recorded(jvm, &status))
        target_text(buf_str(&status), "path", path, PATH_MAX);
    buf_fini(&status);
}

/* Until the time is over, the JVM has ended or a signal came; then whether the JVM is still there.
 * path: of the recording's file, followed while there are several (PATH_MAX); or NULL. */
static bool wait_for_end(const struct jvm *jvm, uint64_t ns, char *path)
{
    uint64_t until = clock_mono_ns() + ns, look_at = 0;
    struct proc_status now;
    struct err gone;
    while (!interrupted && jvm_check(jvm, &now, &gone) == 0) {
        uint64_t at = clock_mono_ns();
        if (at >= until)
            return true;
        if (path && at >= look_at) {
            see_path(jvm, path);
            look_at = at + SECOND;
        }
        clock_sleep_ns(min_u64(until - at, SECOND / 5));
    }
    return jvm_check(jvm, &now, &gone) == 0;
}

/* The recording ends by itself; asking for it is for the case that we are in a hurry. */
static int end_and_say(const struct jvm *jvm, char *path, const char *began, struct err *err)
{
    struct buf status;
    struct err ignored;
    buf_init(&status);
    if (is_recorded(jvm, &status))
        client_ask(jvm, "stop", TARGET_REWRITE_NS, NULL, &ignored);
    for (int i = 0; i < 100 && is_recorded(jvm, &status); i++)
        clock_sleep_ns(SECOND / 20);
    buf_fini(&status);
    target_last_file(jvm, path, PATH_MAX);
    return target_say_ended(jvm, path, began, err);
}

/* --- joining a recording that goes on --------------------------------------------------------- */

static uint64_t groups_of(const char *status)
{
    uint64_t bits = 0;
    const char *at = NULL, *name;
    for (int len; (len = client_value(status, "group", &at, &name)) >= 0;)
        for (size_t i = 0; event_group_names[i]; i++)
            if (strlen(event_group_names[i]) == (size_t)len &&
                memcmp(event_group_names[i], name, (size_t)len) == 0)
                bits |= (uint64_t)1 << i;
    return bits;
}

/* What classes that are changed take of the metaspace, at least twice what was measured: 0.4 MB;
 * where classes of the program are changed 2.7 MB, for each object 8.5 MB
 * (docs/quality/benchmarks.md). */
static uint64_t metaspace_needed(uint64_t events, bool methods)
{
    enum { MB = 1 << 20, SOME = 1, HOLDS = 6, ALLOC = 18 };
    uint64_t bit = 1;
    if (events & bit << (GROUP_alloc - 1)) /* as event_group_names has them */
        return ALLOC * MB;
    return (methods || (events & bit << (GROUP_holds - 1)) ? HOLDS : SOME) * (uint64_t)MB;
}

/* The classes that a recording adds must find room. */
static int check_metaspace(const struct jvm *jvm, uint64_t events, bool methods, struct err *err)
{
    struct metaspace m;
    uint64_t needed = metaspace_needed(events, methods);
    int rc = metaspace_ask(jvm, TARGET_TIMEOUT_NS, &m, err);
    if (rc < 0 || m.most == UINT64_MAX)
        return rc == -ENOTSUP ? 0 : rc;
    uint64_t room = m.most - min_u64(m.committed, m.most);
    if (room >= needed)
        return 0;
    return err_set(err, -ENOSPC,
                   "JVM %d (%s) has %s left of its MaxMetaspaceSize of %s, and %s may need %s, "
                   "without which classes of the program would not load: nothing was done; restart "
                   "it with a larger -XX:MaxMetaspaceSize",
                   (int)jvm->pid, jvm->name, human_bytes(room).text, human_bytes(m.most).text,
                   needed > metaspace_needed(0, false) ? "a recording of these groups"
                                                       : "a recording",
                   human_bytes(needed).text);
}

static int join(const struct jvm *jvm, const struct attach *o, const char *status, struct err *err)
{
    char path[PATH_MAX];
    target_text(status, "path", path, sizeof path);
    if (o->agent.file || o->agent.methods || o->agent.more)
        return err_set(err, -EALREADY,
                       "JVM %d (%s) is being recorded already, into %s: orca dump %d -o FILE "
                       "copies what there is, orca detach %d ends it",
                       (int)jvm->pid, jvm->name, path, (int)jvm->pid, (int)jvm->pid);
    if (o->agent.every || o->agent.keep)
        return err_set(
            err, -EALREADY,
            "JVM %d (%s) is being recorded already, into %s: --every and --keep are set "
            "when a recording begins; orca dump %d --rotate ends this file now and continues "
            "in a new one",
            (int)jvm->pid, jvm->name, path, (int)jvm->pid);
    if (o->agent.cpu || o->agent.wall)
        return err_set(
            err, -EALREADY,
            "JVM %d (%s) is being recorded already, into %s: --cpu and --wall are set "
            "when a recording begins; --on cpu and --on wall sample as set then, by default every 10 ms and 20 ms",
            (int)jvm->pid, jvm->name, path);
    uint64_t time = o->agent.time ? UINT64_C(1) << (GROUP_sched - 1) : 0;
    uint64_t had = groups_of(status), on = (o->agent.events | o->on | time) & ~had,
             off = o->off & had;
    if (on)
        TRY(check_metaspace(jvm, on, false, err));
    if (on | off)
        TRY(switch_groups(jvm, on, off, err));
    log_line("JVM %d (%s) is being recorded since %s, into %s: joined", (int)jvm->pid, jvm->name,
             human_time(client_number(status, "since_ns")).text, path);
    if (!o->duration)
        return 0;
    catch_signals();
    if (!wait_for_end(jvm, o->duration, path))
        return target_say_ended(jvm, path, status, err);
    if (on | off) /* as it was found */
        TRY(switch_groups(jvm, off, on, err));
    TRY(client_ask(jvm, "flush", TARGET_TIMEOUT_NS, NULL, err));
    return target_say_trace(jvm, path, err);
}

/* --- beginning one ---------------------------------------------------------------------------- */

static int put_start(const struct attach *o, const char *folder, struct buf *b, struct err *err)
{
    struct agent_options agent = o->agent;
    char duration[64];
    if (!agent.file)
        agent.file = AGENT_FILE_DEFAULT;
    snprintf(duration, sizeof duration, "duration=%" PRIu64 "ms", o->duration / 1000000);
    buf_puts(b, "start ");
    return agent_options_put(&agent, o->duration ? duration : NULL, folder, b, err);
}

/* Wait for the end of a recording with a duration; `began`: the agent's answer. */
static int follow(const struct jvm *jvm, const struct attach *o, const char *began, struct err *err)
{
    char path[PATH_MAX];
    target_text(began, "path", path, sizeof path);
    catch_signals();
    if (wait_for_end(jvm, o->duration, o->agent.every ? path : NULL))
        return end_and_say(jvm, path, began, err);
    target_last_file(jvm, path, sizeof path);
    return target_say_ended(jvm, path, began, err);
}

static int say_begun(const struct jvm *jvm, const struct attach *o, const char *began,
                     struct err *err)
{
    struct buf files;
    buf_init(&files);
    target_files(began, &files);
    say_left_out(jvm, began);
    if (o->duration)
        log_line("JVM %d (%s) is being recorded into %s for %s", (int)jvm->pid, jvm->name,
                 buf_str(&files), human_time(o->duration).text);
    else
        log_line("JVM %d (%s) is being recorded into %s; orca detach %d ends it", (int)jvm->pid,
                 jvm->name, buf_str(&files), (int)jvm->pid);
    buf_fini(&files);
    return o->duration ? follow(jvm, o, began, err) : 0;
}

static int begin(const struct jvm *jvm, const struct attach *o, struct err *err)
{
    struct buf request, reply;
    bool foreign = false;
    TRY(agent_options_check(&o->agent, err));
    TRY(check_metaspace(jvm, o->agent.events, o->agent.methods != NULL, err));
    TRY(load_agent(jvm, &foreign, err));
    buf_init(&request);
    buf_init(&reply);
    int rc = put_start(o, foreign ? "/tmp" : NULL, &request, err);
    if (rc == 0)
        rc = client_ask(jvm, buf_str(&request), TARGET_REWRITE_NS, &reply, err);
    if (rc == 0)
        rc = say_begun(jvm, o, buf_str(&reply), err);
    buf_fini(&request);
    buf_fini(&reply);
    return rc;
}

static int run(int argc, char **argv, struct err *err)
{
    struct attach o = {0};
    struct jvm jvm;
    struct buf status;
    int n = cmd_parse(&cmd_attach, argc, argv, &o, err);
    if (n < 0)
        return n;
    TRY(target_find(n, argv, o.timeout, &jvm, err));
    buf_init(&status);
    int rc = look_recorded(&jvm, &status, err);
    if (rc > 0)
        rc = join(&jvm, &o, buf_str(&status), err);
    else if (rc == 0 && (o.on | o.off))
        rc = err_set(err, -ENOENT,
                     "JVM %d (%s) is not recorded: %s; -e GROUPS records these from the start",
                     (int)jvm.pid, jvm.name,
                     o.on ? "--on has nothing to add to" : "--off has nothing to switch off");
    else if (rc == 0)
        rc = begin(&jvm, &o, err);
    buf_fini(&status);
    return rc < 0 ? rc : 0;
}

const struct cmd cmd_attach = {
    .name = "attach",
    .summary = "record a running JVM",
    .args = "PID",
    .description =
        "Records a running JVM of the same user (as root: of any user). The trace has all "
        "live threads, and the waits that they are in already. Without --for, the recording "
        "lasts until orca detach or the end of the JVM. With --for, the command waits; ^C "
        "ends the recording early.\n"
        "\n"
        "Afterwards the program's code is as it was. A few inactive probes stay in JDK "
        "classes (Thread, Semaphore; with the group alloc, each JDK class that allocates): "
        "removing them would leak metaspace on every attach. Orca refuses a JVM whose "
        "-XX:MaxMetaspaceSize leaves less than 1 MB, or 6 MB with the group holds or "
        "--methods, or 18 MB with the group alloc.\n"
        "\n"
        "A JVM that is being recorded is joined: -e and --on switch groups on, --off switches "
        "groups off, and after --for the groups are as before.\n"
        "\n"
        "With --every, the recording continues in a new file after each TIME; --keep removes "
        "the oldest of these files (orca record --help).\n"
        "\n"
        "JDK 21 and later print a warning when an agent is loaded; "
        "-XX:+EnableDynamicAgentLoading on the JVM's command line prevents it. To record a "
        "JVM in a container, use its process id outside; the trace is written in the "
        "container.",
    .examples = "orca attach 4711 --for 30s -o app.otrace    # half a minute, then the summary\n"
                "orca attach 4711 -e all                     # until orca detach 4711\n"
                "orca attach 4711 --every 10m --keep 6       # always the last hour\n"
                "orca attach 4711 --on locks --for 10s       # more of a JVM that is recorded",
    .opts = OPT_TABLE(opts),
    .run = run,
};

#include "cli/top_own.h"

#include "attach/client.h"
#include "attach/root.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "cli/agent_options.h"
#include "cli/load_agent.h"
#include "cli/target.h"
#include "record/recover.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_NAME "top.otrace"
#define MAXSIZE "maxsize=64m"
#define DURATION "duration=1h"
#define ANSWER_NS (UINT64_C(2) * 1000000000)
#define DURATION_NS (UINT64_C(3600) * 1000000000)
#define RENEW_AFTER_NS (UINT64_C(3000) * 1000000000) /* 50 minutes */

/* --- the folder ------------------------------------------------------------------------------- */

/* TMPDIR where it is the same folder for the JVM and made for its user, too; else its /tmp. */
static const char *temporary(const struct jvm *jvm)
{
    const char *tmp = getenv("TMPDIR");
    char there[PATH_MAX];
    struct stat a, b;
    if (!tmp || geteuid() != jvm->uid || tmp[0] != '/' || strchr(tmp, '%') ||
        strlen(tmp) > PATH_MAX / 2)
        return "/tmp";
    snprintf(there, sizeof there, "/proc/%d/root%s", (int)jvm->pid, tmp);
    return stat(tmp, &a) == 0 && stat(there, &b) == 0 && a.st_dev == b.st_dev &&
                   a.st_ino == b.st_ino
               ? tmp
               : "/tmp";
}

/* Through the JVM's root, which may be another one; by descriptors, because /proc/PID goes with the
 * JVM.  The JVM must be able to write there, though root asks. */
static int make_folder(struct top_own *o, struct err *err)
{
    const char *tmp = temporary(o->jvm);
    char path[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%d/root%s", (int)o->jvm->pid, tmp);
    snprintf(o->folder_name, sizeof o->folder_name, "orca-top-XXXXXX");
    o->parent = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    o->folder = o->parent < 0
                    ? -errno
                    : root_make_folder(o->parent, o->folder_name, o->jvm->uid, o->jvm->gid);
    if (o->folder < 0) {
        int rc = err_set(err, o->folder, "%s: no folder can be made in it for the trace: %s", tmp,
                         strerror(-o->folder));
        if (o->parent >= 0)
            close(o->parent);
        return rc;
    }
    snprintf(o->path, sizeof o->path, "%s/%s/%s", tmp, o->folder_name, FILE_NAME);
    return 0;
}

static void remove_folder(struct top_own *o)
{
    if (o->folder >= 0) {
        unlinkat(o->folder, FILE_NAME, 0);
        close(o->folder);
    }
    unlinkat(o->parent, o->folder_name, AT_REMOVEDIR);
    close(o->parent);
}

/* --- the recording ---------------------------------------------------------------------------- */

enum answer { ANSWER_OURS, ANSWER_NOT_OURS, ANSWER_NONE };

static enum answer ask(const struct top_own *o)
{
    char state[32], path[PATH_MAX];
    struct buf status;
    struct proc_status now;
    struct err ignored;
    struct jvm jvm = *o->jvm;
    jvm.asker = (struct jvm_asker){0}; /* who calls says so itself, and has its own patience */
    buf_init(&status);
    int rc = client_ask(&jvm, "status", ANSWER_NS, &status, &ignored);
    target_text(buf_str(&status), "state", state, sizeof state);
    target_text(buf_str(&status), "path", path, sizeof path);
    buf_fini(&status);
    if (rc < 0 && rc != -ENOENT && jvm_check(o->jvm, &now, &ignored) == 0)
        return ANSWER_NONE;
    return rc == 0 && strcmp(state, "idle") != 0 && strcmp(path, o->path) == 0 ? ANSWER_OURS
                                                                               : ANSWER_NOT_OURS;
}

/* False: the JVM does not answer, as when it is stopped. */
static bool end_recording(const struct top_own *o, uint64_t patience)
{
    uint64_t until = clock_mono_ns() + patience;
    struct err ignored;
    enum answer a;
    while ((a = ask(o)) == ANSWER_NONE && clock_mono_ns() < until)
        clock_sleep_ns(ANSWER_NS / 4);
    if (a == ANSWER_OURS)
        client_ask(o->jvm, "stop", TARGET_TIMEOUT_NS, NULL, &ignored);
    return a != ANSWER_NONE;
}

/* End it and remove everything; of a JVM that was killed, the rings as well. */
static bool clean_up(struct top_own *o, uint64_t patience)
{
    char path[64];
    struct err ignored;
    if (!end_recording(o, patience))
        return false;
    snprintf(path, sizeof path, "/proc/self/fd/%d/" FILE_NAME, o->folder);
    /* A process that was killed is gone a moment before its files are closed. */
    for (int i = 0; i < 50 && recover_trace(path, &ignored) == RECOVER_LIVE; i++)
        clock_sleep_ns(ANSWER_NS / 50);
    remove_folder(o);
    return true;
}

static int start(struct top_own *o, struct err *err)
{
    struct agent_options agent = {.file = o->path, .more = MAXSIZE};
    struct buf request;
    buf_init(&request);
    buf_puts(&request, "start ");
    int rc = agent_options_put(&agent, DURATION, NULL, &request, err);
    if (rc == 0)
        rc = client_ask(o->jvm, buf_str(&request), TARGET_TIMEOUT_NS, NULL, err);
    buf_fini(&request);
    o->started = clock_mono_ns();
    return rc;
}

/* --- the guardian ----------------------------------------------------------------------------- */

static void be_guardian(struct top_own *o, int leash)
{
    char word;
    ssize_t n;
    int null = open("/dev/null", O_RDWR);
    setsid(); /* what the terminal sends is not for us */
    for (int fd = 0; fd < 3 && null >= 0; fd++)
        dup2(null, fd);
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    while ((n = read(leash, &word, 1)) < 0 && errno == EINTR)
        ;
    if (n == 0)
        clean_up(o, DURATION_NS); /* by then it has ended by itself */
    _exit(0);
}

static int start_guardian(struct top_own *o, struct err *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_set(err, -errno, "no pipe: %s", strerror(errno));
    o->leash = ends[1];
    o->guardian = fork();
    if (o->guardian < 0) {
        int rc = err_set(err, -errno, "no process can be started: %s", strerror(errno));
        close(ends[0]);
        close(ends[1]);
        return rc;
    }
    if (o->guardian == 0) {
        close(ends[1]);
        be_guardian(o, ends[0]);
    }
    close(ends[0]);
    return 0;
}

static void dismiss_guardian(struct top_own *o)
{
    ssize_t n = write(o->leash, "q", 1);
    UNUSED(n); /* it has ended before us */
    close(o->leash);
    while (waitpid(o->guardian, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* ---------------------------------------------------------------------------------------------- */

int top_own_begin(struct top_own *o, const struct jvm *jvm, struct err *err)
{
    *o = (struct top_own){.jvm = jvm, .parent = -1, .folder = -1};
    TRY(load_agent(jvm, NULL, err));
    TRY(make_folder(o, err));
    int rc = start_guardian(o, err);
    if (rc < 0) {
        remove_folder(o);
        return rc;
    }
    rc = start(o, err);
    o->active = true;
    if (rc < 0)
        top_own_end(o);
    return rc;
}

bool top_own_is_old(const struct top_own *o)
{
    return o->active && clock_mono_ns() - o->started > RENEW_AFTER_NS;
}

void top_own_end(struct top_own *o)
{
    if (!o->active)
        return;
    o->active = false;
    if (clean_up(o, ANSWER_NS)) {
        dismiss_guardian(o);
        return;
    }
    log_line("JVM %d (%s) does not answer: its recording will be removed as soon as it does",
             (int)o->jvm->pid, o->jvm->name);
    close(o->leash); /* the guardian sees to it */
}

#include "attach/jvm.h"

#include "attach/command_line.h"
#include "attach/perfdata.h"
#include "attach/root.h"
#include "base/clock.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS_MOST = 1 << 20, PERFDATA_MOST = 1 << 20, RELEASE_MOST = 16 << 10 };
static const uint64_t START_PAUSE = 20000000;    /* 20 ms */
static const uint64_t STOPPED_PAUSE = 100000000; /* 0.1 s */

/* --- messages --------------------------------------------------------------------------------- */

void jvm_user_name(uid_t uid, char *out, size_t room)
{
    struct passwd p, *found = NULL;
    char text[4096];
    if (getpwuid_r(uid, &p, text, sizeof text, &found) == 0 && found)
        snprintf(out, room, "%s", p.pw_name);
    else
        snprintf(out, room, "#%u", (unsigned)uid);
}

/* What a shell takes as it is. */
static bool is_plain(const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    return *name && *name != '-' && name[strspn(name, plain)] == 0;
}

void jvm_remedy(uid_t uid, const gid_t *gid, pid_t pid, char out[JVM_REMEDY_MAX])
{
    char user[64], group[32] = "";
    jvm_user_name(uid, user, sizeof user);
    bool plain = is_plain(user);
    if (gid)
        snprintf(group, sizeof group, " -g '#%u'", (unsigned)*gid);
    if (!plain)
        snprintf(user, sizeof user, "'#%u'", (unsigned)uid);
    snprintf(out, JVM_REMEDY_MAX, "sudo -u %s%s orca attach %d", user, group, (int)pid);
}

static int say_gone(pid_t pid, struct err *err)
{
    return err_set(err, -ESRCH, "process %d has ended", (int)pid);
}

static int say_absent(pid_t pid, struct err *err)
{
    if (kill(pid, 0) == 0 || errno == EPERM)
        return err_set(err, -EPERM,
                       "process %d is hidden from this user (/proc is mounted with hidepid): run "
                       "orca as its user or as root",
                       (int)pid);
    return err_set(err, -ESRCH, "there is no process %d: orca status lists the JVMs", (int)pid);
}

static int say_forbidden(const struct proc_status *s, struct err *err)
{
    char user[64], remedy[JVM_REMEDY_MAX];
    bool other = s->uid != geteuid();
    jvm_user_name(s->uid, user, sizeof user);
    jvm_remedy(s->uid, other ? NULL : &s->gid, s->pid, remedy);
    if (other)
        return err_set(err, -EPERM, "process %d (%s) belongs to user %s; run: %s", (int)s->pid,
                       s->comm, user, remedy);
    if (s->gid != getegid() && geteuid() != 0)
        return err_set(err, -EPERM,
                       "process %d (%s) runs with group %u, not with this command's; run: %s",
                       (int)s->pid, s->comm, (unsigned)s->gid, remedy);
    return err_set(err, -EPERM, "process %d (%s) cannot be inspected: %s", (int)s->pid, s->comm,
                   root_remedy());
}

static bool runs_java(pid_t pid)
{
    char link[64], path[1024];
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0)
        return false;
    path[n] = 0;
    const char *slash = strrchr(path, '/');
    return slash && (strcmp(slash, "/java") == 0 || strcmp(slash, "/java (deleted)") == 0);
}

static int say_other(const struct proc_status *s, const struct proc_maps *m, struct err *err)
{
    int pid = (int)s->pid;
    if (m->vm == PROC_VM_OPENJ9)
        return err_set(err, -ENOTSUP,
                       "process %d (%s) is an OpenJ9 JVM: Orca works with HotSpot JVMs only", pid,
                       s->comm);
    if (m->vm == PROC_VM_LAUNCHER || runs_java(s->pid))
        return err_set(err, -EAGAIN,
                       "process %d (%s) is a java command that has not loaded its JVM yet: try "
                       "again in a second",
                       pid, s->comm);
    if (!s->memory)
        return err_set(err, -ENOEXEC, "process %d (%s) is a kernel thread, not a JVM", pid,
                       s->comm);
    if (proc_is_native_image(s->pid))
        return err_set(err, -ENOTSUP,
                       "process %d (%s) is a native image, without a JVM that could load an agent: "
                       "run the program with a HotSpot JVM",
                       pid, s->comm);
    return err_set(err, -ENOEXEC, "process %d (%s) is not a JVM: orca status lists the JVMs", pid,
                   s->comm);
}

/* --- who may ask ------------------------------------------------------------------------------ */

/* Whether a user's number is root's in the name space of the process. */
static bool is_root_there(pid_t pid, uid_t uid)
{
    enum { MAP_MOST = 64 << 10 };
    struct buf map;
    int64_t inside = uid;
    buf_init(&map);
    if (proc_read(pid, "uid_map", MAP_MOST, &map) == 0)
        inside = proc_parse_id_map(buf_str(&map), map.len, uid);
    buf_fini(&map);
    return inside == 0;
}

int jvm_check_rights(const struct jvm *jvm, enum jvm_asked whom, struct err *err)
{
    char user[64], remedy[JVM_REMEDY_MAX];
    bool own = geteuid() == jvm->uid, group = whom == JVM_HOTSPOT && getegid() != jvm->gid;
    if ((own && !group) || (geteuid() == 0 && is_root_there(jvm->pid, 0)))
        return 0;
    jvm_user_name(jvm->uid, user, sizeof user);
    jvm_remedy(jvm->uid, own || geteuid() == 0 ? &jvm->gid : NULL, jvm->pid, remedy);
    if (geteuid() == 0)
        return err_set(
            err, -EPERM,
            "JVM %d (%s) is in a user name space in which root of this one has no rights; "
            "run: %s",
            (int)jvm->pid, jvm->name, remedy);
    if (!own)
        return err_set(err, -EPERM, "JVM %d (%s) belongs to user %s; run: %s", (int)jvm->pid,
                       jvm->name, user, remedy);
    return err_set(err, -EPERM,
                   "JVM %d (%s) runs with group %u and takes commands from that group only; run: "
                   "%s",
                   (int)jvm->pid, jvm->name, (unsigned)jvm->gid, remedy);
}

/* --- what it is ------------------------------------------------------------------------------- */

/* The launcher reads argument files relative to its folder. */
struct words_of {
    pid_t pid;
    int root;
};

static int read_argument_file(void *ctx, const char *path, struct buf *out)
{
    const struct words_of *w = ctx;
    if (path[0] == '/')
        return root_read_file(w->root, path, WORDS_MOST, out);
    char cwd[64];
    snprintf(cwd, sizeof cwd, "/proc/%d/cwd", (int)w->pid);
    int dir = open(cwd, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return -errno;
    int rc = root_read_file(dir, path, WORDS_MOST, out);
    close(dir);
    return rc;
}

static void read_words(pid_t pid, int root, struct command_line *c)
{
    struct words_of w = {pid, root};
    struct buf words, variables;
    buf_init(&words);
    buf_init(&variables);
    if (proc_read(pid, "environ", WORDS_MOST, &variables) < 0)
        buf_clear(&variables);
    const char *env = buf_str(&variables);
    memset(c, 0, sizeof *c);
    c->read_file = root < 0 ? NULL : read_argument_file;
    c->ctx = &w;
    command_line_take_environ(c, env, variables.len, "JAVA_TOOL_OPTIONS");
    command_line_take_environ(c, env, variables.len, "JDK_JAVA_OPTIONS");
    if (proc_read(pid, "cmdline", WORDS_MOST, &words) == 0)
        command_line_take_command(c, buf_str(&words), words.len);
    command_line_take_environ(c, env, variables.len, "_JAVA_OPTIONS");
    buf_fini(&words);
    buf_fini(&variables);
}

static int read_perfdata(int root, const char *file, struct buf *out)
{
    return root < 0 || !file[0] ? -ENOENT : root_read_file(root, file, PERFDATA_MOST, out);
}

static int read_counter(int root, const char *file, const char *name, char *out, size_t room)
{
    struct buf b;
    buf_init(&b);
    int rc = read_perfdata(root, file, &b);
    if (rc == 0)
        rc = perfdata_find_string(b.p, b.len, name, out, room);
    buf_fini(&b);
    return rc;
}

/* From the command when it is java's, else what the launcher gave the JVM (jshell, javac, a program
 * that makes its own JVM), else the command's own name. */
static void find_name(struct jvm *jvm, const struct proc_maps *m, int root, const char *comm)
{
    struct command_line c;
    read_words(jvm->pid, root, &c);
    if (runs_java(jvm->pid) && c.program[0]) {
        memcpy(jvm->name, c.program, sizeof jvm->name);
        return;
    }
    if (read_counter(root, m->perfdata, "sun.rt.javaCommand", jvm->name, sizeof jvm->name) > 0 &&
        strcmp(jvm->name, "Unknown") != 0) {
        jvm->name[strcspn(jvm->name, " ")] = 0;
        return;
    }
    snprintf(jvm->name, sizeof jvm->name, "%s", comm);
}

/* JAVA_VERSION="17.0.15" in the file `release` of the JDK: two folders above the JVM's (JDK 8: up
 * to four). */
static void find_version(struct jvm *jvm, int root)
{
    static const char key[] = "JAVA_VERSION=\"";
    char path[sizeof jvm->libjvm + 16];
    snprintf(path, sizeof path, "%s", jvm->libjvm);
    struct buf text;
    buf_init(&text);
    for (int up = 0; up < 6 && text.len == 0; up++) {
        char *slash = strrchr(path, '/');
        if (!slash)
            break;
        snprintf(slash, sizeof path - (size_t)(slash - path), "/release");
        if (up >= 2)
            root_read_file(root, path, RELEASE_MOST, &text);
        *slash = 0;
    }
    const char *found = strstr(buf_str(&text), key);
    if (found) {
        found += sizeof key - 1;
        proc_copy_text(jvm->java, sizeof jvm->java, found, strcspn(found, "\"\n"));
    }
    buf_fini(&text);
}

static void describe(struct jvm *jvm, const struct proc_maps *m, const char *comm)
{
    memcpy(jvm->libjvm, m->libjvm, sizeof jvm->libjvm);
    int root = root_open(jvm->pid, NULL);
    find_name(jvm, m, root, comm);
    if (root < 0)
        return;
    if (!m->deleted) /* else another JDK is there by now */
        find_version(jvm, root);
    close(root);
}

/* --- finding ---------------------------------------------------------------------------------- */

/* The process's status, when it is a living process and not one of its threads. */
static int take_status(pid_t pid, struct proc_status *s, struct err *err)
{
    int rc = pid > 0 ? proc_read_status(pid, s) : -ESRCH;
    if (rc == -ESRCH)
        return pid > 0 ? say_absent(pid, err)
                       : err_set(err, -ESRCH, "%d is not a process id", (int)pid);
    if (rc < 0)
        return err_set(err, rc, "process %d: /proc/%d/status cannot be read: %s", (int)pid,
                       (int)pid, strerror(-rc));
    if (s->tgid != s->pid)
        return err_set(err, -EINVAL, "%d is a thread (%s) of process %d: run 'orca attach %d'",
                       (int)pid, s->comm, (int)s->tgid, (int)s->tgid);
    if (s->state == 'Z' || s->state == 'X')
        return err_set(err, -ESRCH,
                       "process %d (%s) has ended; it is listed until its parent, process %d, "
                       "reaps it",
                       (int)pid, s->comm, (int)s->parent);
    return 0;
}

int jvm_find(pid_t pid, struct jvm *jvm, struct err *err)
{
    struct proc_status s;
    struct proc_maps m = {.vm = PROC_VM_NONE};
    memset(jvm, 0, sizeof *jvm);
    TRY(take_status(pid, &s, err));
    int rc = proc_read_start(pid, &jvm->start_time);
    if (rc == 0)
        rc = proc_read_maps(pid, s.ns_pid, &m);
    if (rc == -EACCES || rc == -EPERM)
        return say_forbidden(&s, err);
    if (rc < 0)
        return say_gone(pid, err);
    if (m.vm != PROC_VM_HOTSPOT)
        return say_other(&s, &m, err);
    jvm->pid = pid;
    jvm->ns_pid = s.ns_pid;
    jvm->uid = s.uid;
    jvm->gid = s.gid;
    jvm->state = s.state;
    describe(jvm, &m, s.comm);
    return jvm_check(jvm, &s, err);
}

int jvm_find_wait(pid_t pid, uint64_t timeout_ns, struct jvm *jvm, struct err *err)
{
    uint64_t deadline = clock_mono_ns() + timeout_ns;
    int rc;
    while ((rc = jvm_find(pid, jvm, err)) == -EAGAIN && clock_mono_ns() < deadline)
        clock_sleep_ns(START_PAUSE);
    return rc;
}

int jvm_list(int (*each)(void *ctx, const struct jvm *jvm), void *ctx, struct err *err)
{
    DIR *d = opendir("/proc");
    if (!d)
        return err_set(err, -errno, "/proc cannot be read: %s", strerror(errno));
    int rc = 0;
    for (struct dirent *e; rc == 0 && (e = readdir(d));) {
        struct proc_status s;
        struct jvm jvm;
        pid_t pid = isdigit((unsigned char)e->d_name[0]) ? (pid_t)strtol(e->d_name, NULL, 10) : 0;
        if (pid <= 0 || proc_read_status(pid, &s) < 0 || !s.memory)
            continue;
        if (geteuid() != 0 && s.uid != geteuid())
            continue;
        if (jvm_find(pid, &jvm, NULL) == 0)
            rc = each(ctx, &jvm);
    }
    closedir(d);
    return rc;
}

int jvm_check(const struct jvm *jvm, struct proc_status *now, struct err *err)
{
    uint64_t start;
    if (proc_read_status(jvm->pid, now) < 0 || proc_read_start(jvm->pid, &start) < 0 ||
        start != jvm->start_time || proc_has_ended(now))
        return say_gone(jvm->pid, err);
    return 0;
}

int jvm_check_running(const struct jvm *jvm, struct err *err)
{
    char state = proc_stopped(jvm->pid);
    if (!state)
        return 0;
    clock_sleep_ns(STOPPED_PAUSE); /* a debugger that only passes by */
    if (!proc_stopped(jvm->pid))
        return 0;
    if (state == 'T')
        return err_set(err, -EBUSY, "JVM %d (%s) is stopped: resume it with 'kill -CONT %d'",
                       (int)jvm->pid, jvm->name, (int)jvm->pid);
    if (state == PROC_FROZEN)
        return err_set(err, -EBUSY,
                       "JVM %d (%s) is frozen with its container or cgroup: resume it with "
                       "'docker unpause', or the way it was frozen",
                       (int)jvm->pid, jvm->name);
    return err_set(err, -EBUSY,
                   "JVM %d (%s) is stopped by a debugger: resume it there, or detach the debugger",
                   (int)jvm->pid, jvm->name);
}

void jvm_switches(const struct jvm *jvm, struct jvm_switches *out)
{
    struct command_line c;
    struct proc_maps m;
    char capabilities[80] = "";
    int root = root_open(jvm->pid, NULL);
    read_words(jvm->pid, root, &c);
    *out = (struct jvm_switches){c.no_attach, c.few_signals};
    /* The JVM's own word, once it has written it, counts more: flags have other sources, too.
     * jcmd goes by this counter (AbstractMonitoredVm, MonitoredVmUtil.isAttachable). */
    if (proc_read_maps(jvm->pid, jvm->ns_pid, &m) == 0 &&
        read_counter(root, m.perfdata, "sun.rt.jvmCapabilities", capabilities,
                     sizeof capabilities) > 0)
        out->no_attach = capabilities[0] != '1';
    if (root >= 0)
        close(root);
}

static bool is_old(const struct jvm *jvm)
{
    struct timespec up;
    clock_gettime(CLOCK_BOOTTIME, &up);
    uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);
    uint64_t now_ms = (uint64_t)up.tv_sec * 1000 + (uint64_t)up.tv_nsec / 1000000;
    return now_ms >= jvm->start_time * 1000 / hz + JVM_START_MS;
}

bool jvm_is_live(const struct jvm *jvm)
{
    struct proc_maps m;
    struct buf b;
    buf_init(&b);
    int root = root_open(jvm->pid, NULL);
    int rc = proc_read_maps(jvm->pid, jvm->ns_pid, &m);
    if (rc == 0)
        rc = read_perfdata(root, m.perfdata, &b);
    if (rc == 0)
        rc = perfdata_accessible(b.p, b.len);
    if (root >= 0)
        close(root);
    buf_fini(&b);
    return rc < 0 ? is_old(jvm) : rc == 1;
}

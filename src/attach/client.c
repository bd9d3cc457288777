#include "attach/client.h"

#include "attach/listener.h"
#include "attach/patience.h"
#include "attach/root.h"
#include "base/clock.h"
#include "base/control_socket.h"
#include "base/human.h"
#include "base/util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* An answer is a few lines; to a question about threads and objects it may be long. */
enum { LINES_MOST = 256 << 10, LONG_MOST = 64 << 20 };

/* --- agents of earlier versions ----------------------------------------------------------------
 *
 * They listen at /tmp/.orca-UID/PID.sock, as the JVM sees it; what is recorded by one must be able
 * to end. */

static bool is_folder_of(const struct jvm *jvm, int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == jvm->uid &&
           !(st.st_mode & 077);
}

/* The listening process, and no other that took its name, must be the JVM. */
static bool is_peer(const struct jvm *jvm, int fd)
{
    struct ucred who;
    socklen_t n = sizeof who;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0 && who.pid == jvm->pid;
}

static int connect_named(const struct jvm *jvm, int folder)
{
    char name[32];
    snprintf(name, sizeof name, "%d.sock", (int)jvm->ns_pid);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    int rc = listener_connect_in(fd, folder, name);
    if (rc == 0 && !is_peer(jvm, fd))
        rc = -ENOENT;
    if (rc == 0)
        return fd;
    close(fd);
    return rc;
}

/* The user may have another number in a container than here, so every folder of ours in /tmp is
 * looked into. */
static int connect_earlier(const struct jvm *jvm)
{
    int root = root_open(jvm->pid, NULL), tmp = -1;
    if (root >= 0) {
        tmp = root_open_in(root, "/tmp", O_RDONLY | O_DIRECTORY);
        close(root);
    }
    DIR *d = tmp < 0 ? NULL : fdopendir(tmp);
    int fd = -ENOENT;
    if (!d)
        return fd;
    for (struct dirent *e; fd < 0 && (e = readdir(d));) {
        if (strncmp(e->d_name, ".orca-", 6) != 0)
            continue;
        int folder = openat(dirfd(d), e->d_name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder >= 0 && is_folder_of(jvm, folder))
            fd = connect_named(jvm, folder);
        if (folder >= 0)
            close(folder);
    }
    closedir(d);
    return fd;
}

/* --- asking ----------------------------------------------------------------------------------- */

static int connect_agent(const struct jvm *jvm, struct err *err)
{
    char path[32];
    struct proc_status now;
    snprintf(path, sizeof path, "/proc/%d", (int)jvm->pid);
    int proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int rc = jvm_check(jvm, &now, err); /* so the folder is that process's, and stays so */
    if (rc < 0) {
        if (proc >= 0)
            close(proc);
        return rc;
    }
    int fd = proc < 0 ? -errno : control_socket_connect(proc, jvm->pid);
    if (proc >= 0)
        close(proc);
    if (fd == -ENOENT)
        fd = connect_earlier(jvm);
    if (fd < 0)
        err_set(err, fd, "JVM %d (%s): the agent cannot be reached: %s%s%s", (int)jvm->pid,
                jvm->name, strerror(-fd), fd == -EACCES ? ": " : "",
                fd == -EACCES ? root_remedy() : "");
    return fd;
}

static int say_not_recorded(const struct jvm *jvm, struct err *err)
{
    return err_set(err, -ENOENT,
                   "JVM %d (%s) is not recorded by Orca; to record it: orca attach %d",
                   (int)jvm->pid, jvm->name, (int)jvm->pid);
}

static int open_agent(const struct jvm *jvm, struct err *err)
{
    TRY(jvm_check_rights(jvm, JVM_AGENT, err));
    int fd = connect_agent(jvm, err);
    return fd == -ENOENT ? say_not_recorded(jvm, err) : fd;
}

int client_parse(const char *raw, const char **text, struct err *err)
{
    *text = raw;
    if (strncmp(raw, "ok\n", 3) == 0) {
        *text = raw + 3;
        return 0;
    }
    char *end = NULL;
    long code = strncmp(raw, "error ", 6) == 0 ? strtol(raw + 6, &end, 10) : 0;
    if (code <= 0 || code > 4095 || !end || *end != ' ')
        return err_set(err, -EPROTO, "the agent's answer is not understood: \"%.40s\"", raw);
    return err_set(err, -(int)code, "%.*s", (int)strcspn(end + 1, "\n"), end + 1);
}

static size_t most_of(const char *request)
{
    bool is_long = strncmp(request, "query ", 6) == 0 || strncmp(request, "heap ", 5) == 0;
    return is_long ? LONG_MOST : LINES_MOST;
}

/* When as many clients as there may be wait in line, one waits for a place in it. */
static int open_patiently(struct patience *p, struct err *err)
{
    int fd;
    while ((fd = open_agent(p->jvm, err)) == -EAGAIN) {
        clock_sleep_ns(PATIENCE_STEP_NS / 4);
        int rc = patience_look(p, err);
        if (rc == -ETIMEDOUT)
            return err_set(err, rc,
                           "JVM %d (%s): the agent accepted no connection within %s, and its queue "
                           "is full: it does not answer, or is busy with a long question",
                           (int)p->jvm->pid, p->jvm->name, human_time(p->limit).text);
        TRY(rc);
    }
    return fd;
}

/* *failed: set when it says more than the code does. */
static int talk(int fd, const char *request, struct patience *p, struct buf *raw,
                struct err *failed)
{
    size_t most = most_of(request);
    TRY(listener_send(fd, request, strlen(request), p->until));
    TRY(listener_send(fd, "\n", 1, p->until));
    for (;;) {
        int rc = listener_receive(fd, most + 1, patience_step(p), raw);
        if (rc == 0 && raw->len > most)
            return err_set(failed, -EMSGSIZE, "the agent's answer has more than %s",
                           human_bytes(most).text);
        if (rc != -ETIMEDOUT)
            return rc;
        TRY(patience_look(p, failed));
    }
}

static int say_unanswered(const struct patience *p, int rc, const struct err *failed,
                          struct err *err)
{
    int pid = (int)p->jvm->pid;
    if (rc == -EBUSY)
        return err_set(err, rc, "%s; it received the request just before, and may still follow it",
                       failed->msg);
    if (rc == -ESRCH)
        return err_set(err, rc, "%s", failed->msg);
    if (rc == -ETIMEDOUT)
        return err_set(err, rc,
                       "JVM %d (%s): the agent has not answered within %s, and may still follow "
                       "the request%s",
                       pid, p->jvm->name, human_time(p->limit).text,
                       p->jvm->asker.waits ? "; --timeout=TIME waits longer" : "");
    if (failed->msg[0])
        return err_set(err, rc, "JVM %d (%s): %s", pid, p->jvm->name, failed->msg);
    return err_set(err, rc, "JVM %d (%s): the agent does not answer: %s", pid, p->jvm->name,
                   strerror(-rc));
}

bool client_is_silent(int rc)
{
    return rc == -ETIMEDOUT || rc == -EBUSY || rc == -EMSGSIZE;
}

int client_ask(const struct jvm *jvm, const char *request, uint64_t timeout_ns, struct buf *reply,
               struct err *err)
{
    struct buf raw;
    struct err failed = {""};
    struct patience p;
    const char *text;
    TRY(patience_begin(&p, jvm, patience_limit(jvm, timeout_ns), err));
    int fd = open_patiently(&p, err);
    TRY(fd);
    buf_init(&raw);
    int rc = talk(fd, request, &p, &raw, &failed);
    close(fd);
    if (rc < 0)
        say_unanswered(&p, rc, &failed, err);
    else if ((rc = client_parse(buf_str(&raw), &text, err)) == -ENODATA)
        rc = say_not_recorded(jvm, err);
    else if (rc < 0)
        err_prefix(err, rc, "JVM %d (%s)", (int)jvm->pid, jvm->name);
    else if (reply)
        buf_puts(reply, text);
    buf_fini(&raw);
    return rc;
}

int client_value(const char *text, const char *key, const char **at, const char **value)
{
    size_t len = strlen(key);
    for (const char *p = *at ? *at : text; *p;) {
        size_t n = strcspn(p, "\n");
        *at = p + n + (p[n] == '\n');
        if (n > len && strncmp(p, key, len) == 0 && p[len] == ' ') {
            *value = p + len + 1;
            return (int)(n - len - 1);
        }
        p = *at;
    }
    return -1;
}

uint64_t client_number(const char *text, const char *key)
{
    const char *at = NULL, *value;
    return client_value(text, key, &at, &value) > 0 ? strtoull(value, NULL, 10) : 0;
}

#include "attach/attach.h"

#include "attach/listener.h"
#include "attach/patience.h"
#include "attach/root.h"
#include "attach/trigger.h"
#include "base/clock.h"
#include "base/util.h"

#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { COMMAND_MOST = 16, ENDING_LOOKS = 20 };
static const uint64_t PAUSE_FIRST = 5000000, PAUSE_MOST = 200000000;
static const uint64_t OTHERS_TURN = 1000000000; /* for whom the trigger file already is */
/* A signal that finds the trigger file gone makes the JVM print a thread dump: it is given this
 * time, though the caller's be over. */
static const uint64_t QUIT_TURN = 5000000000;

/* --- the answer ------------------------------------------------------------------------------- */

void attach_reply_init(struct attach_reply *r)
{
    memset(r, 0, sizeof *r);
    buf_init(&r->text);
}

void attach_reply_fini(struct attach_reply *r)
{
    buf_fini(&r->text);
}

/* A decimal number that fills the text. */
static bool whole_number(const char *p, size_t n, int *out)
{
    bool minus = n > 0 && *p == '-';
    int64_t v = 0;
    if (n <= minus || n > 11)
        return false;
    for (size_t i = minus; i < n; i++) {
        if (p[i] < '0' || p[i] > '9')
            return false;
        v = v * 10 + (p[i] - '0');
    }
    v = minus ? -v : v;
    *out = (int)v;
    return v >= INT32_MIN && v <= INT32_MAX;
}

int attach_parse_reply(const char *raw, size_t n, struct attach_reply *reply)
{
    const char *end = n ? memchr(raw, '\n', n) : NULL;
    size_t line = end ? (size_t)(end - raw) : n;
    if (n == 0 || !whole_number(raw, line, &reply->status))
        return -EPROTO;
    buf_clear(&reply->text);
    if (end)
        buf_put(&reply->text, end + 1, n - line - 1);
    return reply->text.oom ? -ENOMEM : 0;
}

/* The text on one line, without blanks at its end. */
static void one_line(const struct buf *text, char *out, size_t room)
{
    size_t n = text->len;
    while (n > 0 && text->p[n - 1] <= ' ')
        n--;
    proc_copy_text(out, room, n ? (const char *)text->p : "", n);
    for (char *c = out; (c = strchr(c, '?')); c++)
        if (text->p[c - out] == '\n')
            *c = ' ';
}

int attach_parse_load(const struct attach_reply *reply, pid_t pid, struct err *err)
{
    static const char prefix[] = "return code: ";
    enum { PREFIX = sizeof prefix - 1 };
    char text[360];
    one_line(&reply->text, text, sizeof text);
    /* JDK 17 to 25 answer status 0 and "return code: N" when Agent_OnAttach was called; a library
     * that cannot be loaded is an error text, with status 0 or -1 by version. */
    const char *at = strncmp(text, prefix, PREFIX) == 0 ? text + PREFIX : NULL;
    int code;
    if (reply->status == 0 && at && whole_number(at, strlen(at), &code)) {
        if (code == 0)
            return 0;
        return err_set(err, -ECANCELED,
                       "the agent did not start in JVM %d: its Agent_OnAttach returned %d; its "
                       "reason is in the output of that process",
                       (int)pid, code);
    }
    if (!text[0])
        return err_set(err, -ELIBBAD, "JVM %d cannot load the library and gives no reason (%d)",
                       (int)pid, reply->status);
    return err_set(err, -ELIBBAD, "JVM %d cannot load the library: %s", (int)pid, text);
}

/* --- opening ---------------------------------------------------------------------------------- */

struct opening {
    const struct jvm *jvm;
    int tmp, pidfd; /* pidfd: -1 where the kernel has none */
    struct patience wait;
    uint64_t deadline; /* may be behind wait.until */
    uint64_t quit_at;  /* when the next SIGQUIT may be sent */
    int quits;
    struct trigger trigger;
    struct proc_status now;
};

static int check_switches(const struct opening *o, struct err *err)
{
    struct jvm_switches s;
    int pid = (int)o->jvm->pid;
    jvm_switches(o->jvm, &s);
    if (s.no_attach)
        return err_set(err, -ENOTSUP,
                       "JVM %d (%s) runs with -XX:+DisableAttachMechanism: restart it without, or "
                       "record it from its start with 'orca record'",
                       pid, o->jvm->name);
    /* With -Xrs it listens from its start on, and cannot be asked by a signal. */
    if (s.few_signals && !o->now.catches_quit && proc_has_thread(o->jvm->pid, "Attach Listener"))
        return err_set(err, -ENOTSUP,
                       "JVM %d (%s) runs with -Xrs, so it cannot be "
                       "asked to create its removed socket /tmp/.java_pid%d again: restart it, or "
                       "record it from its start with 'orca record'",
                       pid, o->jvm->name, (int)o->jvm->ns_pid);
    return 0;
}

static int say_late(const struct opening *o, int why, struct err *err)
{
    int pid = (int)o->jvm->pid;
    double seconds = (double)o->wait.limit / 1e9;
    if (why == -EAGAIN)
        return err_set(
            err, -ETIMEDOUT,
            "JVM %d (%s) accepted no connection within %g s, and its queue is full: it is "
            "stuck, or busy with another tool's command; try again later",
            pid, o->jvm->name, seconds);
    if (o->quits == 0 && !o->now.catches_quit)
        return err_set(
            err, -EAGAIN,
            "JVM %d (%s) is still starting after %g s, or runs with -Xrs: try again in a "
            "second",
            pid, o->jvm->name, seconds);
    return err_set(
        err, -ETIMEDOUT,
        "JVM %d (%s) did not answer within %g s: it may be in a long garbage collection, "
        "swapped out or without processor time, or unable to write its /tmp; try again "
        "later",
        pid, o->jvm->name, seconds);
}

/* To the very process that was looked at, where the kernel can promise that. */
static int send_quit(struct opening *o, struct err *err)
{
#ifdef SYS_pidfd_send_signal
    long rc = o->pidfd < 0 ? kill(o->jvm->pid, SIGQUIT)
                           : syscall(SYS_pidfd_send_signal, o->pidfd, SIGQUIT, NULL, 0);
#else
    long rc = kill(o->jvm->pid, SIGQUIT);
#endif
    if (rc < 0)
        return err_set(err, -errno, "JVM %d (%s) cannot be sent a signal: %s", (int)o->jvm->pid,
                       o->jvm->name, strerror(errno));
    /* Once more at half time, as jcmd does: a JVM that was just starting may have removed the
     * socket that the first signal made (AttachListener::vm_start). */
    uint64_t now = clock_mono_ns();
    o->quits++;
    o->deadline = max_u64(o->deadline, now + QUIT_TURN);
    o->quit_at = o->quits > 1 ? UINT64_MAX : now + (o->deadline - now) / 2;
    return 0;
}

/* The JVM does not listen: go one step towards it.  Returns 1 when to look again at once. */
static int ask(struct opening *o, struct err *err)
{
    if (o->trigger.dir < 0) {
        TRY(check_switches(o, err));
        if (!o->now.catches_quit)
            return 0;
        TRY(trigger_make(&o->trigger, o->jvm, o->tmp, err));
        o->quit_at = o->trigger.was_there ? clock_mono_ns() + OTHERS_TURN : 0;
        return 1;
    }
    if (!o->now.catches_quit || clock_mono_ns() < o->quit_at)
        return 0;
    return send_quit(o, err);
}

static int open_loop(struct opening *o, struct err *err)
{
    uint64_t pause = PAUSE_FIRST;
    for (;;) {
        TRY(jvm_check(o->jvm, &o->now, err));
        TRY(jvm_check_running(o->jvm, err));
        patience_tell(&o->wait);
        int rc = listener_connect(o->jvm, o->tmp, err);
        if (rc != -ENOENT && rc != -EAGAIN)
            return rc;
        if (clock_mono_ns() >= o->deadline)
            return say_late(o, rc, err);
        int again = rc == -ENOENT ? ask(o, err) : 0;
        TRY(again);
        if (again)
            continue;
        clock_sleep_ns(pause);
        pause = min_u64(pause * 2, PAUSE_MOST);
    }
}

static int pidfd_of(pid_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0); /* close-on-exec by itself */
#else
    UNUSED(pid);
    return -1;
#endif
}

static int open_tmp(const struct jvm *jvm, struct err *err)
{
    int root = root_open(jvm->pid, err);
    TRY(root);
    int tmp = root_open_in(root, "/tmp", O_PATH | O_DIRECTORY);
    close(root);
    if (tmp < 0)
        return err_set(err, tmp,
                       "the folder /tmp of JVM %d (%s), where its socket must be, cannot "
                       "be entered: %s",
                       (int)jvm->pid, jvm->name, strerror(-tmp));
    return tmp;
}

static int open_within(const struct jvm *jvm, uint64_t limit_ns, struct err *err)
{
    struct opening o = {.jvm = jvm};
    TRY(patience_begin(&o.wait, jvm, limit_ns, err));
    o.deadline = o.wait.until;
    TRY(jvm_check_rights(jvm, JVM_HOTSPOT, err));
    o.tmp = open_tmp(jvm, err);
    TRY(o.tmp);
    o.pidfd = pidfd_of(jvm->pid);
    trigger_init(&o.trigger);
    int rc = open_loop(&o, err);
    trigger_fini(&o.trigger);
    if (o.pidfd >= 0)
        close(o.pidfd);
    close(o.tmp);
    return rc;
}

int attach_open(const struct jvm *jvm, uint64_t timeout_ns, struct err *err)
{
    return open_within(jvm, patience_limit(jvm, timeout_ns), err);
}

/* --- commands --------------------------------------------------------------------------------- */

static int put_request(struct buf *b, const char *const words[], struct err *err)
{
    buf_put(b, "1", 2);
    bool more = true;
    for (size_t i = 0; i <= ATTACH_ARGUMENTS; i++) {
        more = more && words[i];
        const char *word = more ? words[i] : "";
        size_t n = strlen(word), most = i == 0 ? COMMAND_MOST : ATTACH_WORD_MOST;
        if (n > most)
            return err_set(err, -E2BIG,
                           "'%.60s...' has %zu bytes, and a JVM takes at most %zu in one argument: "
                           "shorten it",
                           word, n, most);
        buf_put(b, word, n + 1);
    }
    return b->oom ? err_set(err, -ENOMEM, "no memory") : 0;
}

/* Why a connection that was open did not bring an answer. */
static int say_unanswered(const struct jvm *jvm, int code, uint64_t timeout_ns, struct err *err)
{
    struct proc_status now;
    bool closed = code == -ECONNRESET || code == -EPIPE || code == 0;
    /* A process that ends closes its sockets some time before it is seen to have ended. */
    for (int i = 0; i < (closed ? ENDING_LOOKS : 1); i++) {
        TRY(jvm_check(jvm, &now, err));
        if (closed)
            clock_sleep_ns(PAUSE_MOST / 4);
    }
    TRY(jvm_check_running(jvm, err));
    if (code == -ETIMEDOUT)
        return err_set(
            err, code,
            "JVM %d (%s) did not answer within %g s; it may still carry the command out: "
            "it may be in a long garbage collection, swapped out or without processor "
            "time",
            (int)jvm->pid, jvm->name, (double)timeout_ns / 1e9);
    if (closed) {
        char remedy[JVM_REMEDY_MAX];
        jvm_remedy(jvm->uid, &jvm->gid, jvm->pid, remedy);
        return err_set(err, -ECONNRESET,
                       "JVM %d (%s) closed the connection without an answer: it takes commands "
                       "from user #%u with group #%u only; run: %s",
                       (int)jvm->pid, jvm->name, (unsigned)jvm->uid, (unsigned)jvm->gid, remedy);
    }
    return err_set(err, code, "JVM %d (%s): %s", (int)jvm->pid, jvm->name, strerror(-code));
}

/* The JVM's answer until it closes; when watched, without a limit of time. */
static int receive(int fd, struct patience *wait, const struct attach_watch *watch, struct buf *raw,
                   struct err *err)
{
    for (;;) {
        uint64_t step = watch ? clock_mono_ns() + PATIENCE_STEP_NS : patience_step(wait);
        int rc = listener_receive(fd, ATTACH_REPLY_MOST, step, raw);
        if (rc != -ETIMEDOUT)
            return rc;
        TRY(watch ? watch->look(watch->ctx, err) : patience_look(wait, err));
    }
}

static int exchange(int fd, const struct buf *request, struct patience *wait,
                    const struct attach_watch *watch, struct buf *raw, struct err *err)
{
    int rc = listener_send(fd, request->p, request->len, wait->until);
    /* A JVM that refuses closes before it has read all; its answer counts all the same. */
    if (rc < 0 && rc != -EPIPE && rc != -ECONNRESET)
        return rc;
    rc = receive(fd, wait, watch, raw, err);
    return rc == -ECONNRESET && raw->len > 0 ? 0 : rc;
}

static int execute(const struct jvm *jvm, const struct buf *request, uint64_t limit_ns,
                   const struct attach_watch *watch, struct attach_reply *reply, struct err *err)
{
    struct patience wait;
    TRY(patience_begin(&wait, jvm, limit_ns, err));
    int fd = open_within(jvm, limit_ns, err);
    TRY(fd);
    struct buf raw;
    struct err given_up = {""};
    buf_init(&raw);
    int rc = exchange(fd, request, &wait, watch, &raw, &given_up);
    close(fd);
    reply->cut = raw.len >= ATTACH_REPLY_MOST;
    if (given_up.msg[0])
        err_set(err, rc, "%s", given_up.msg);
    else if (rc < 0 || raw.len == 0)
        rc = say_unanswered(jvm, rc, limit_ns, err);
    else if ((rc = attach_parse_reply((const char *)raw.p, raw.len, reply)) < 0)
        err_set(err, rc, "JVM %d (%s): its answer is not one of HotSpot's attach protocol",
                (int)jvm->pid, jvm->name);
    buf_fini(&raw);
    return rc;
}

static int command_within(const struct jvm *jvm, const char *const words[1 + ATTACH_ARGUMENTS],
                          uint64_t limit_ns, const struct attach_watch *watch,
                          struct attach_reply *reply, struct err *err)
{
    struct buf request;
    buf_init(&request);
    int rc = put_request(&request, words, err);
    if (rc == 0)
        rc = execute(jvm, &request, limit_ns, watch, reply, err);
    buf_fini(&request);
    return rc;
}

int attach_command_watched(const struct jvm *jvm, const char *const words[1 + ATTACH_ARGUMENTS],
                           uint64_t timeout_ns, const struct attach_watch *watch,
                           struct attach_reply *reply, struct err *err)
{
    return command_within(jvm, words, patience_limit(jvm, timeout_ns), watch, reply, err);
}

int attach_command(const struct jvm *jvm, const char *const words[1 + ATTACH_ARGUMENTS],
                   uint64_t timeout_ns, struct attach_reply *reply, struct err *err)
{
    return attach_command_watched(jvm, words, timeout_ns, NULL, reply, err);
}

/* --- loading ---------------------------------------------------------------------------------- */

/* JDK 17 calls Agent_OnAttach before JVMTI can be used when it is asked too early. */
static int wait_live(struct patience *wait, struct err *err)
{
    const struct jvm *jvm = wait->jvm;
    while (!jvm_is_live(jvm)) {
        int rc = patience_look(wait, err);
        if (rc == -ETIMEDOUT)
            return err_set(err, -EAGAIN, "JVM %d (%s) is still starting: try again in a second",
                           (int)jvm->pid, jvm->name);
        TRY(rc);
        clock_sleep_ns(PAUSE_FIRST * 4);
    }
    return 0;
}

/* JDK 23 and later say so themselves: "Dynamic agent loading is only permitted in the live
 * phase". */
static bool is_too_early(const struct attach_reply *r)
{
    static const char words[] = "live phase";
    return r->text.len && memmem(r->text.p, r->text.len, words, sizeof words - 1);
}

int attach_load(const struct jvm *jvm, const char *library, const char *options,
                uint64_t timeout_ns, struct err *err)
{
    const char *const words[] = {"load", library, "true", options ? options : ""};
    uint64_t now;
    struct patience wait;
    struct attach_reply reply;
    attach_reply_init(&reply);
    TRY(jvm_check_rights(jvm, JVM_HOTSPOT, err));
    TRY(patience_begin(&wait, jvm, patience_limit(jvm, timeout_ns), err));
    TRY(wait_live(&wait, err));
    int rc;
    for (;;) {
        now = clock_mono_ns();
        rc = command_within(jvm, words, wait.until - min_u64(now, wait.until), NULL, &reply, err);
        if (rc < 0 || !is_too_early(&reply) || now >= wait.until)
            break;
        clock_sleep_ns(PAUSE_FIRST * 4);
    }
    if (rc == 0)
        rc = attach_parse_load(&reply, jvm->pid, err);
    attach_reply_fini(&reply);
    return rc;
}

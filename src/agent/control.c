#include "agent/control.h"

#include "agent/request.h"
#include "agent/verbs.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/util.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 8, THREAD_STACK = 4 << 20 /* what it runs of the JVM needs more than a drain */ };

struct client {
    int fd; /* -1: free */
    uint64_t until;
    struct request_line line;
    struct buf reply;
    size_t sent;
    bool answering;
};

static struct {
    pthread_mutex_t lock;
    bool running, ended;
    int fd;
    struct sockaddr_un address;
    JavaVM *vm;
    struct client clients[CONTROL_CLIENTS];
} server = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

/* --- the socket ---------------------------------------------------------------------------------
 */

/* Ours alone, or not to be used: /tmp belongs to everybody. */
static int make_folder(const char *path, struct err *err)
{
    struct stat st;
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return err_set(err, -errno, "%s: cannot be made: %s", path, strerror(errno));
    if (lstat(path, &st) < 0)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
        return err_set(err, -EPERM,
                       "%s: not a folder of this user with mode 0700: remove it, or record with "
                       "control=off",
                       path);
    return 0;
}

/* Whether somebody listens; a JVM that was killed leaves its socket behind. */
static bool is_dead(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool dead =
        fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a) < 0 && errno == ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    return dead;
}

static void sweep(const char *folder)
{
    char path[sizeof server.address.sun_path];
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        size_t n = strlen(e->d_name);
        if (n > 5 && strcmp(e->d_name + n - 5, ".sock") == 0 &&
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name) < (int)sizeof path &&
            is_dead(path))
            unlink(path);
    }
    if (d)
        closedir(d);
}

/* Bound under a name of its own, renamed when it listens: nobody meets one that does not. */
static int listen_at(const char *folder, struct err *err)
{
    struct sockaddr_un *a = &server.address, temp = {.sun_family = AF_UNIX};
    a->sun_family = AF_UNIX;
    snprintf(a->sun_path, sizeof a->sun_path, "%s/%d.sock", folder, (int)getpid());
    snprintf(temp.sun_path, sizeof temp.sun_path, "%s/%d.new", folder, (int)getpid());
    unlink(temp.sun_path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_set(err, -errno, "no socket: %s", strerror(errno));
    if (bind(fd, (struct sockaddr *)&temp, sizeof temp) < 0 || chmod(temp.sun_path, 0600) < 0 ||
        listen(fd, BACKLOG) < 0 || rename(temp.sun_path, a->sun_path) < 0) {
        int rc = err_set(err, -errno, "%s: cannot listen: %s", a->sun_path, strerror(errno));
        unlink(temp.sun_path);
        close(fd);
        return rc;
    }
    return fd;
}

static bool same_user(int fd)
{
    struct ucred who;
    socklen_t n = sizeof who;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0 && who.uid == geteuid();
}

/* --- clients ------------------------------------------------------------------------------------
 */

static void drop(struct client *c)
{
    close(c->fd);
    c->fd = -1;
    buf_fini(&c->reply);
}

static void accept_client(void)
{
    int fd = accept4(server.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    for (size_t i = 0; i < CONTROL_CLIENTS && same_user(fd); i++)
        if (server.clients[i].fd < 0) {
            struct client *c = &server.clients[i];
            memset(c, 0, sizeof *c);
            c->fd = fd;
            c->until = clock_mono_ns() + CONTROL_SECONDS * UINT64_C(1000000000);
            return;
        }
    close(fd);
}

static void answer(struct client *c)
{
    struct err err = {""};
    struct buf text;
    buf_init(&text);
    int rc = verb_run(server.vm, c->line.text, &text, &err);
    if (rc < 0)
        buf_printf(&c->reply, "error %d %s\n", -rc, err.msg);
    else
        buf_puts(&c->reply, "ok\n");
    if (rc >= 0)
        buf_put(&c->reply, text.p, text.len);
    buf_fini(&text);
    c->answering = true;
    c->until = clock_mono_ns() + CONTROL_SECONDS * UINT64_C(1000000000);
}

static void read_client(struct client *c)
{
    ssize_t n = recv(c->fd, request_line_end(&c->line), request_line_room(&c->line), 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        drop(c);
        return;
    }
    switch (request_line_grow(&c->line, (size_t)n)) {
    case REQUEST_WHOLE:
        answer(c);
        break;
    case REQUEST_TOO_LONG:
        buf_printf(&c->reply, "error %d a request has at most %d bytes\n", E2BIG, REQUEST_LINE_MAX);
        c->answering = true;
        break;
    case REQUEST_UNFINISHED:
        break;
    }
}

static void write_client(struct client *c)
{
    ssize_t n = send(c->fd, c->reply.p + c->sent, c->reply.len - c->sent, MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    c->sent += n > 0 ? (size_t)n : 0;
    if (n < 0 || c->sent == c->reply.len)
        drop(c);
}

static void serve(const struct pollfd *polled)
{
    uint64_t now = clock_mono_ns();
    for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
        struct client *c = &server.clients[i];
        int events = c->fd >= 0 && polled[i].fd == c->fd ? polled[i].revents : 0;
        if (events && c->answering)
            write_client(c);
        else if (events)
            read_client(c);
        if (c->fd >= 0 && now > c->until)
            drop(c);
    }
}

static bool idle(void)
{
    for (size_t i = 0; i < CONTROL_CLIENTS; i++)
        if (server.clients[i].fd >= 0)
            return false;
    return true;
}

/* --- the thread ---------------------------------------------------------------------------------
 */

/* Whether the agent has nothing to do any more: then the JVM is left as it was. */
static bool is_over(void)
{
    bool over;
    pthread_mutex_lock(&server.lock);
    bool ended = server.ended;
    pthread_mutex_unlock(&server.lock);
    if (!ended) /* else agent_finish ends the recording */
        verb_tick(server.vm);
    if (!verb_wants_end() || !idle())
        return false;
    pthread_mutex_lock(&server.lock);
    over = verb_wants_end(); /* an attach may just have asked us to stay */
    if (over) {
        unlink(server.address.sun_path);
        close(server.fd);
        server.running = false;
    }
    pthread_mutex_unlock(&server.lock);
    return over;
}

static void *control_main(void *arg)
{
    (void)arg;
    prctl(PR_SET_NAME, "orca control");
    while (!is_over()) {
        struct pollfd p[CONTROL_CLIENTS + 1];
        for (size_t i = 0; i < CONTROL_CLIENTS; i++)
            p[i] = (struct pollfd){.fd = server.clients[i].fd,
                                   .events = server.clients[i].answering ? POLLOUT : POLLIN};
        p[CONTROL_CLIENTS] = (struct pollfd){.fd = server.fd, .events = POLLIN};
        if (poll(p, CONTROL_CLIENTS + 1, verb_pause_ms()) < 0 && errno != EINTR)
            break;
        serve(p);
        if (p[CONTROL_CLIENTS].revents)
            accept_client();
    }
    return NULL;
}

static int start_thread(struct err *err)
{
    sigset_t all, old;
    pthread_attr_t attr;
    pthread_t thread;
    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, THREAD_STACK);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(&thread, &attr, control_main, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return rc ? err_set(err, -rc, "no thread for the control socket: %s", strerror(rc)) : 0;
}

static int start(JavaVM *vm, struct err *err)
{
    char folder[64];
    snprintf(folder, sizeof folder, "/tmp/.orca-%u", (unsigned)geteuid());
    TRY(make_folder(folder, err));
    sweep(folder);
    server.vm = vm;
    server.fd = listen_at(folder, err);
    TRY(server.fd);
    for (size_t i = 0; i < CONTROL_CLIENTS; i++)
        server.clients[i].fd = -1;
    int rc = start_thread(err);
    if (rc < 0) {
        unlink(server.address.sun_path);
        close(server.fd);
    }
    server.running = rc == 0;
    return rc;
}

int control_start(JavaVM *vm, struct err *err)
{
    pthread_mutex_lock(&server.lock);
    verbs_init(vm);
    verb_expect_attach();
    int rc = server.ended     ? err_set(err, -ESHUTDOWN, "the JVM is ending")
             : server.running ? 0
                              : start(vm, err);
    pthread_mutex_unlock(&server.lock);
    return rc;
}

void control_end(void)
{
    pthread_mutex_lock(&server.lock);
    if (server.running && !server.ended)
        unlink(server.address.sun_path);
    server.ended = true;
    pthread_mutex_unlock(&server.lock);
}

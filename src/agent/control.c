#include "agent/control.h"

#include "agent/request.h"
#include "agent/verbs.h"
#include "base/clock.h"
#include "base/control_socket.h"
#include "base/own_thread.h"

#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 8, THREAD_STACK = 4 << 20 /* what it runs of the JVM needs more than a drain */ };

struct client {
    int fd; /* -1: free */
    uint64_t until;
    struct request_line line;
    struct buf reply;
    size_t sent;
    bool answering, stranger;
};

static struct {
    pthread_mutex_t lock;
    bool running, ended;
    struct control_socket socket;
    JavaVM *vm;
    struct client clients[CONTROL_CLIENTS];
} server = {.lock = PTHREAD_MUTEX_INITIALIZER, .socket = {-1, -1}};

/* --- clients ---------------------------------------------------------------------------------- */

static void drop(struct client *c)
{
    close(c->fd);
    c->fd = -1;
    buf_fini(&c->reply);
}

static void accept_client(void)
{
    int fd = accept4(server.socket.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    for (size_t i = 0; i < CONTROL_CLIENTS; i++)
        if (server.clients[i].fd < 0) {
            struct client *c = &server.clients[i];
            memset(c, 0, sizeof *c);
            c->fd = fd;
            c->until = clock_mono_ns() + CONTROL_SECONDS * UINT64_C(1000000000);
            c->stranger = !control_socket_lets_in(fd);
            return;
        }
    close(fd);
}

/* A client without permission gets an answer; silence would look like a broken agent. */
static int refuse(struct err *err)
{
    return err_set(err, -EPERM,
                   "it takes requests from its own user, #%u, and from root only, as the JVM sees "
                   "them",
                   (unsigned)geteuid());
}

static void answer(struct client *c)
{
    struct err err = {""};
    struct buf text;
    buf_init(&text);
    int rc = c->stranger ? refuse(&err) : verb_run(server.vm, c->line.text, &text, &err);
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

/* --- the thread ------------------------------------------------------------------------------- */

/* Whether the agent has nothing left to do: then the JVM is left as it was. */
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
        control_socket_close(&server.socket);
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
        p[CONTROL_CLIENTS] = (struct pollfd){.fd = server.socket.fd, .events = POLLIN};
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
    pthread_t thread;
    int rc = own_thread_start(&thread, THREAD_STACK, control_main, NULL);
    if (rc < 0)
        return err_set(err, rc, "no thread for the control socket: %s", strerror(-rc));
    pthread_detach(thread);
    return 0;
}

static int start(JavaVM *vm, struct err *err)
{
    server.vm = vm;
    TRY(control_socket_open(&server.socket, BACKLOG, err));
    for (size_t i = 0; i < CONTROL_CLIENTS; i++)
        server.clients[i].fd = -1;
    int rc = start_thread(err);
    if (rc < 0)
        control_socket_close(&server.socket);
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
        control_socket_hide(&server.socket);
    server.ended = true;
    pthread_mutex_unlock(&server.lock);
}

#include "serve/lobby.h"

#include "base/clock.h"
#include "base/util.h"
#include "serve/greeting.h"

#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

enum { EVENTS = 64, PAUSE_MS = 10 };

/* --- who has to go ---------------------------------------------------------------------------- */

static void turn_out_arriving(struct lobby *l, int fd)
{
    crowd_remove(&l->arriving, fd, NULL);
    close(fd);
}

/* libmicrohttpd closes it when it finds that out.  One that it has not begun with yet is shut down
 * when it does.  With the lock. */
static void turn_out_stranger(struct lobby *l, int fd)
{
    struct guest g;
    if (crowd_remove(&l->strangers, fd, &g) && g.taken)
        shutdown(fd, SHUT_RDWR);
}

static void turn_out_late(struct lobby *l)
{
    uint64_t now = clock_mono_ns();
    const struct guest *g;
    while ((g = crowd_before(&l->arriving, now - LOBBY_ARRIVING_S * SECOND)))
        turn_out_arriving(l, g->fd);
    pthread_mutex_lock(&l->lock);
    while ((g = crowd_before(&l->strangers, now - LOBBY_STRANGERS_S * SECOND)))
        turn_out_stranger(l, g->fd);
    pthread_mutex_unlock(&l->lock);
}

/* Until a client may be late. */
static int wait_ms(struct lobby *l)
{
    bool any = l->arriving.n > 0;
    pthread_mutex_lock(&l->lock);
    any |= l->strangers.n > 0;
    pthread_mutex_unlock(&l->lock);
    return any ? 1000 : -1;
}

/* --- who has said what he wants --------------------------------------------------------------- */

/* With the lock. */
static void forget(struct lobby *l, int fd)
{
    if (!crowd_remove(&l->sessions, fd, NULL))
        crowd_remove(&l->strangers, fd, NULL);
}

/* For a stranger another stranger makes room; for a known client none does. */
static bool add(struct lobby *l, const struct guest *g, bool known)
{
    pthread_mutex_lock(&l->lock);
    forget(l, g->fd); /* of one that libmicrohttpd had no memory for */
    if (!known && l->strangers.n == l->strangers.max)
        turn_out_stranger(l, crowd_last_choice(&l->strangers)->fd);
    bool added = crowd_add(known ? &l->sessions : &l->strangers, g);
    pthread_mutex_unlock(&l->lock);
    return added;
}

static void let_in(struct lobby *l, int fd, bool known)
{
    struct guest g;
    if (!crowd_remove(&l->arriving, fd, &g))
        return;
    epoll_ctl(l->epoll, EPOLL_CTL_DEL, fd, NULL);
    g.since = clock_mono_ns();
    if (!add(l, &g, known))
        close(fd);
    else if (!l->take(l->ctx, fd))
        lobby_left(l, fd);
}

/* What has been sent is taken first: else the answer might be lost with the connection. */
static void refuse_long(struct lobby *l, int fd)
{
    static const char answer[] =
        "HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n"
        "Content-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\n\r\n"
        "The request's headers are longer than 16 kB. Cookies of other servers on 127.0.0.1 may be "
        "why: delete them in the browser.\n";
    recv(fd, NULL, 1 << 20, MSG_TRUNC | MSG_DONTWAIT);
    send(fd, answer, sizeof answer - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    shutdown(fd, SHUT_WR);
    turn_out_arriving(l, fd);
}

/* What has come is all there will be. */
static bool has_ended(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLRDHUP};
    return poll(&p, 1, 0) > 0;
}

static void look_at(struct lobby *l, int fd)
{
    char text[GREETING_MAX];
    bool known;
    ssize_t n = recv(fd, text, sizeof text, MSG_PEEK | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    enum greeting said =
        n > 0 ? greeting_read(l->gate, text, (size_t)n, &known) : GREETING_NONSENSE;
    if (said == GREETING_WHOLE)
        let_in(l, fd, known);
    else if (said == GREETING_LONG)
        refuse_long(l, fd);
    else if (said == GREETING_NONSENSE || has_ended(fd))
        turn_out_arriving(l, fd);
}

/* --- who comes -------------------------------------------------------------------------------- */

static void welcome(struct lobby *l, int fd, const struct sockaddr_in *from)
{
    struct epoll_event wanted = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.fd = fd};
    const struct guest g = {.fd = fd, .uid = peers_uid(&l->peers, from), .since = clock_mono_ns()};
    if (l->arriving.n == l->arriving.max)
        turn_out_arriving(l, crowd_last_choice(&l->arriving)->fd);
    crowd_add(&l->arriving, &g);
    if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &wanted) < 0)
        turn_out_arriving(l, fd);
    else
        look_at(l, fd); /* mostly it is all there */
}

/* Descriptors are used up: close one of a client, or else wait a moment for new ones. */
static void make_room(struct lobby *l)
{
    if (l->arriving.n > 0)
        turn_out_arriving(l, crowd_last_choice(&l->arriving)->fd);
    else
        clock_sleep_ns(PAUSE_MS * UINT64_C(1000000));
}

static void accept_some(struct lobby *l)
{
    for (int i = 0; i < EVENTS; i++) {
        struct sockaddr_in from;
        socklen_t len = sizeof from;
        int fd =
            accept4(l->listening, (struct sockaddr *)&from, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            welcome(l, fd, &from);
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
            make_room(l);
        if (errno == EAGAIN)
            return;
    }
}

static void *run(void *ctx)
{
    struct lobby *l = ctx;
    struct epoll_event events[EVENTS];
    for (bool ended = false; !ended;) {
        int n = epoll_wait(l->epoll, events, EVENTS, wait_ms(l));
        for (int i = 0; i < n; i++) {
            int fd = events[i].data.fd;
            ended |= fd == l->ending;
            if (fd == l->listening)
                accept_some(l);
            else if (crowd_find(&l->arriving, fd))
                look_at(l, fd);
        }
        turn_out_late(l);
    }
    return NULL;
}

/* --- begin and end ---------------------------------------------------------------------------- */

static int watch(struct lobby *l, int fd)
{
    struct epoll_event wanted = {.events = EPOLLIN, .data.fd = fd};
    return epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &wanted);
}

static int begin(struct lobby *l, struct err *err)
{
    struct sockaddr_in here;
    socklen_t len = sizeof here;
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    l->ending = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (l->epoll < 0 || l->ending < 0 || watch(l, l->listening) < 0 || watch(l, l->ending) < 0 ||
        getsockname(l->listening, (struct sockaddr *)&here, &len) < 0)
        return err_set(err, -errno, "cannot wait for connections: %s", strerror(errno));
    peers_open(&l->peers, &here);
    int rc = pthread_create(&l->thread, NULL, run, l);
    return rc ? err_set(err, -rc, "no thread can be started: %s", strerror(rc)) : 0;
}

static void close_all(struct lobby *l)
{
    const int fds[] = {l->listening, l->epoll, l->ending};
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    for (size_t i = 0; i < l->arriving.n; i++)
        close(l->arriving.v[i].fd);
    l->arriving.n = 0;
    peers_close(&l->peers);
}

int lobby_open(struct lobby *l, int listening, const struct gate *gate,
               bool (*take)(void *ctx, int fd), void *ctx, struct err *err)
{
    *l = (struct lobby){.gate = gate,
                        .peers.fd = -1,
                        .listening = listening,
                        .epoll = -1,
                        .ending = -1,
                        .take = take,
                        .ctx = ctx};
    l->arriving.max = LOBBY_ARRIVING;
    l->strangers.max = LOBBY_STRANGERS;
    l->sessions.max = LOBBY_SESSIONS;
    int rc = pthread_mutex_init(&l->lock, NULL);
    if (rc)
        rc = err_set(err, -rc, "no lock can be made: %s", strerror(rc));
    else if ((rc = begin(l, err)) < 0)
        pthread_mutex_destroy(&l->lock);
    if (rc < 0)
        close_all(l);
    return rc;
}

void lobby_close(struct lobby *l)
{
    const uint64_t one = 1;
    if (write(l->ending, &one, sizeof one) == (ssize_t)sizeof one)
        pthread_join(l->thread, NULL);
    close_all(l);
}

void lobby_fini(struct lobby *l)
{
    pthread_mutex_destroy(&l->lock);
}

/* --- who has been taken ----------------------------------------------------------------------- */

/* With the lock. */
static struct guest *find_taken(struct lobby *l, int fd)
{
    struct guest *g = crowd_find(&l->sessions, fd);
    return g ? g : crowd_find(&l->strangers, fd);
}

void lobby_taken(struct lobby *l, int fd)
{
    pthread_mutex_lock(&l->lock);
    struct guest *g = find_taken(l, fd);
    if (g)
        g->taken = true;
    else
        shutdown(fd, SHUT_RDWR); /* turned out before it began */
    pthread_mutex_unlock(&l->lock);
}

void lobby_left(struct lobby *l, int fd)
{
    pthread_mutex_lock(&l->lock);
    forget(l, fd);
    pthread_mutex_unlock(&l->lock);
}

bool lobby_may_stay(struct lobby *l, int fd)
{
    pthread_mutex_lock(&l->lock);
    bool may = crowd_find(&l->sessions, fd) && l->sessions.n <= LOBBY_CROWDED;
    pthread_mutex_unlock(&l->lock);
    return may;
}

bool lobby_is_friend(struct lobby *l, int fd)
{
    pthread_mutex_lock(&l->lock);
    const struct guest *g = find_taken(l, fd);
    bool is = g && peers_is_friend(&l->peers, g->uid);
    pthread_mutex_unlock(&l->lock);
    return is;
}

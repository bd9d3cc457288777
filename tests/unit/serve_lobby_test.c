#include "../patience.h"
#include "serve/lobby.h"

#include "base/clock.h"
#include "serve/greeting.h"

#include <criterion/criterion.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MANY = 1000, OTHER = 65534 };

static struct gate gate;
static struct lobby lobby;
static struct sockaddr_in here;

/* What libmicrohttpd would do: it has what it is given, until it is shut down or we say so. */
static int taken[8192];
static size_t n_taken;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool take(void *ctx, int fd)
{
    (void)ctx;
    lobby_taken(&lobby, fd);
    pthread_mutex_lock(&lock);
    cr_assert_lt(n_taken, sizeof taken / sizeof taken[0]);
    taken[n_taken++] = fd;
    pthread_mutex_unlock(&lock);
    return true;
}

static size_t count_taken(void)
{
    pthread_mutex_lock(&lock);
    size_t n = n_taken;
    pthread_mutex_unlock(&lock);
    return n;
}

static bool is_over(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN | POLLRDHUP};
    return poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLRDHUP | POLLERR));
}

static void begin(void)
{
    socklen_t len = sizeof here;
    struct err err;
    n_taken = 0;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    here = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    cr_assert_eq(bind(fd, (struct sockaddr *)&here, sizeof here), 0);
    cr_assert_eq(listen(fd, SOMAXCONN), 0);
    cr_assert_eq(getsockname(fd, (struct sockaddr *)&here, &len), 0);
    cr_assert_eq(gate_init(&gate, ntohs(here.sin_port), NULL), 0);
    cr_assert_eq(lobby_open(&lobby, fd, &gate, take, NULL, &err), 0, "%s", err.msg);
}

static void end(void)
{
    lobby_close(&lobby);
    lobby_fini(&lobby);
}

TestSuite(lobby, .init = begin, .fini = end);

static int come_of(int family, const char *text)
{
    struct sockaddr_in6 mapped = {.sin6_family = AF_INET6, .sin6_port = here.sin_port};
    mapped.sin6_addr.s6_addr[10] = mapped.sin6_addr.s6_addr[11] = 0xff;
    memcpy(&mapped.sin6_addr.s6_addr[12], &here.sin_addr, 4);
    bool v4 = family == AF_INET;
    int fd = socket(family, SOCK_STREAM, 0);
    cr_assert_geq(fd, 0);
    int rc = connect(fd, v4 ? (void *)&here : (void *)&mapped, v4 ? sizeof here : sizeof mapped);
    cr_assert_eq(rc, 0, "%s", strerror(errno));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    send(fd, text, strlen(text), MSG_NOSIGNAL);
    return fd;
}

static int come(const char *text)
{
    return come_of(AF_INET, text);
}

static int come_with_key(void)
{
    char text[128];
    snprintf(text, sizeof text, "GET / HTTP/1.1\r\nOrca-Key: %s\r\n\r\n", gate.key);
    return come(text);
}

static in_port_t port_of(int fd, int (*of)(int, struct sockaddr *, socklen_t *))
{
    struct sockaddr_in6 at;
    socklen_t len = sizeof at;
    return of(fd, (struct sockaddr *)&at, &len) == 0 ? at.sin6_port : 0;
}

/* The other end of our connection when it has been taken, else -1. */
static int taken_of(int fd)
{
    int found = -1;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < n_taken; i++)
        if (port_of(taken[i], getpeername) == port_of(fd, getsockname))
            found = taken[i];
    pthread_mutex_unlock(&lock);
    return found;
}

/* What was sent before has been looked at: epoll tells of connections in the order in which
 * something comes.  half: one that has come already and has sent the half of a request. */
static void all_heard(int half)
{
    char text[64];
    snprintf(text, sizeof text, "Orca-Key: %s\r\n\r\n", gate.key);
    send(half, text, strlen(text), 0);
    cr_assert_happens(taken_of(half) >= 0);
}

/* Our thread has looked at everybody who came before. */
static void all_seen(void)
{
    int fd = come_with_key();
    cr_assert_happens(taken_of(fd) >= 0);
    lobby_left(&lobby, taken_of(fd));
    close(taken_of(fd));
    close(fd);
}

Test(lobby, the_slow_keep_nobody_out)
{
    static int slow[MANY];
    for (int i = 0; i < MANY; i++)
        slow[i] = come(i % 2 ? "GET / HTTP/1.1\r\nHost:" : "");
    int known = come_with_key();
    cr_assert_happens(count_taken() == 1);
    int stranger = come("GET / HTTP/1.1\r\n\r\n");
    cr_assert_happens(count_taken() == 2);
    size_t over = 0;
    for (int i = 0; i < MANY; i++)
        over += is_over(slow[i]);
    cr_assert_eq(over, MANY - LOBBY_ARRIVING + 1, "%zu had to go", over); /* one made room last */
    cr_assert_not(is_over(known));
    cr_assert_not(is_over(stranger));
}

Test(lobby, strangers_have_their_room_and_no_more)
{
    int known = come_with_key();
    cr_assert_happens(count_taken() == 1);
    static int strangers[MANY];
    for (int i = 0; i < MANY; i++)
        strangers[i] = come("GET / HTTP/1.1\r\n\r\n");
    cr_assert_happens(count_taken() == 1 + MANY);
    size_t over = 0;
    for (int i = 0; i < MANY; i++)
        over += is_over(strangers[i]);
    cr_assert_eq(over, MANY - LOBBY_STRANGERS);
    cr_assert_not(is_over(known));
    cr_assert_not(is_over(strangers[MANY - 1]));
    cr_assert(lobby_may_stay(&lobby, taken[0]));
    cr_assert_not(lobby_may_stay(&lobby, taken[MANY]));
}

Test(lobby, so_many_sessions_and_each_gives_its_place_back)
{
    static int known[LOBBY_SESSIONS + 1];
    for (int i = 0; i <= LOBBY_SESSIONS; i++)
        known[i] = come_with_key();
    cr_assert_happens(is_over(known[LOBBY_SESSIONS]));
    cr_assert_eq(count_taken(), LOBBY_SESSIONS);
    cr_assert_not(lobby_may_stay(&lobby, taken[0])); /* it is crowded */
    lobby_left(&lobby, taken[0]);
    close(taken[0]);
    int more = come_with_key();
    cr_assert_happens(count_taken() == LOBBY_SESSIONS + 1);
    cr_assert_not(is_over(more));
}

Test(lobby, in_parts)
{
    static const char head[] = "POST /enter HTTP/1.1\r\nContent-Length: 7\r\n";
    int fd = come(""), half[2] = {come("GET / HTTP/1.1\r\n"), come("GET / HTTP/1.1\r\n")};
    all_seen();
    send(fd, head, 9, 0); /* few parts: more than ten wait for an acknowledgement */
    send(fd, head + 9, sizeof head - 10, 0);
    all_heard(half[0]);
    cr_assert_lt(taken_of(fd), 0);
    send(fd, "\r\ntoken=", 8, 0);
    all_heard(half[1]);
    cr_assert_lt(taken_of(fd), 0);
    send(fd, "1", 1, 0);
    cr_assert_happens(taken_of(fd) >= 0);
    char text[256];
    ssize_t n = recv(taken_of(fd), text, sizeof text - 1, 0);
    cr_assert_eq(n, (ssize_t)sizeof head - 1 + 9, "nothing of it has been read before");
    text[n] = 0;
    cr_assert_str_eq(text, "POST /enter HTTP/1.1\r\nContent-Length: 7\r\n\r\ntoken=1");
}

Test(lobby, what_is_no_http_is_ended)
{
    int tls = come("\x16\x03\x01"), empty = come("\r\n\r\n");
    cr_assert_happens(is_over(tls) && is_over(empty));
    cr_assert_eq(count_taken(), 0);
}

Test(lobby, who_has_gone_is_forgotten)
{
    for (int i = 0; i < MANY; i++)
        close(come("GET / HT"));
    static int slow[LOBBY_ARRIVING];
    for (int i = 0; i < LOBBY_ARRIVING - 1; i++)
        slow[i] = come("GET / HT");
    all_seen();
    for (int i = 0; i < LOBBY_ARRIVING - 1; i++)
        cr_assert_not(is_over(slow[i]));
}

Test(lobby, the_slow_have_an_end)
{
    int fd = come("GET / HTTP/1.1\r\n");
    cr_assert_happens(is_over(fd));
    cr_assert_eq(count_taken(), 0);
}

Test(lobby, too_much_is_said_to_be)
{
    static char text[GREETING_MAX + 1];
    memset(text, 'A', GREETING_MAX);
    int fd = come(text);
    char said[512];
    ssize_t n = recv(fd, said, sizeof said - 1, 0);
    cr_assert_gt(n, 0);
    said[n] = 0;
    cr_assert(strstr(said, "HTTP/1.1 431 "), "%s", said);
    cr_assert(strstr(said, "delete them"), "%s", said);
}

/* --- other users ------------------------------------------------------------------------------ */

static void need_uids(void)
{
    if (lobby.peers.fd < 0)
        cr_skip_test("the kernel does not say whose a connection is");
}

static uint32_t uid_of(int fd)
{
    struct sockaddr_in6 at;
    socklen_t len = sizeof at;
    getsockname(fd, (struct sockaddr *)&at, &len);
    return peers_uid(&lobby.peers,
                     &(struct sockaddr_in){.sin_family = AF_INET,
                                           .sin_port = at.sin6_port,
                                           .sin_addr.s_addr = htonl(INADDR_LOOPBACK)});
}

Test(lobby, the_user_at_the_other_end)
{
    need_uids();
    int fd = come(""), six = come_of(AF_INET6, "");
    cr_assert_eq(uid_of(fd), geteuid());
    cr_assert_eq(uid_of(six), geteuid());
    /* Of no user any longer, which is not root's. */
    struct sockaddr_in at;
    socklen_t len = sizeof at;
    getsockname(fd, (struct sockaddr *)&at, &len);
    close(fd);
    cr_assert_eq(peers_uid(&lobby.peers, &at), PEERS_GONE);
}

/* Connections of another user, whole or slow, as long as this process lives. */
static void another_user(int n, const char *text)
{
    int done[2];
    char c;
    cr_assert_eq(pipe(done), 0);
    if (fork() == 0) {
        if (setgid(OTHER) < 0 || setuid(OTHER) < 0)
            _exit(1);
        close(done[0]);
        for (int i = 0; i < n; i++)
            come(text);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* which setuid has undone */
        (void)!write(done[1], "x", 1);
        for (;;)
            pause();
    }
    close(done[1]);
    cr_assert_eq(read(done[0], &c, 1), 1);
}

Test(lobby, another_user_takes_the_place_of_his_own)
{
    need_uids();
    if (geteuid() != 0)
        cr_skip_test("only root can be somebody else");
    int mine[8];
    for (int i = 0; i < 8; i++)
        mine[i] = come("GET / HTTP/1.1\r\n");
    int stranger = come("GET / HTTP/1.1\r\n\r\n");
    cr_assert_happens(count_taken() == 1);
    another_user(MANY, "GET / HTTP/1.1\r\n");
    another_user(MANY, "GET / HTTP/1.1\r\n\r\n");
    cr_assert_happens(count_taken() == 1 + MANY);
    for (int i = 0; i < 8; i++)
        cr_assert_not(is_over(mine[i]));
    cr_assert_not(is_over(stranger));
    for (int i = 0; i < 8; i++)
        send(mine[i], "\r\n", 2, 0);
    cr_assert_happens(count_taken() == 1 + MANY + 8);
}

Test(peers, another_user_opens_no_link)
{
    if (geteuid() != 0)
        cr_skip_test("only root can be somebody else");
    setenv("SUDO_UID", "1", 1);
    begin();
    need_uids();
    another_user(1, "GET / HTTP/1.1\r\n\r\n");
    come("GET / HTTP/1.1\r\n\r\n");
    cr_assert_happens(count_taken() == 2);
    cr_assert_not(lobby_is_friend(&lobby, taken[0]));
    cr_assert(lobby_is_friend(&lobby, taken[1]));
    cr_assert_not(lobby_is_friend(&lobby, 4000));
    end();
}

Test(peers, friends)
{
    struct peers p = {.fd = -1};
    cr_assert(peers_is_friend(&p, 1000), "nobody has logged in: it is not known who is one");
    p.friends[p.n_friends++] = 1000;
    cr_assert(peers_is_friend(&p, 1000));
    cr_assert(peers_is_friend(&p, 0));
    cr_assert(peers_is_friend(&p, PEERS_UNKNOWN));
    cr_assert_not(peers_is_friend(&p, 1001));
    cr_assert_not(peers_is_friend(&p, PEERS_GONE));
}

Test(peers, who_has_become_somebody_by_sudo)
{
    setenv("SUDO_UID", "77", 1);
    peers_open(&(struct peers){0}, &here); /* without a server: it is not found */
    struct peers p;
    peers_open(&p, &here);
    cr_assert_eq(p.fd, -1);
    cr_assert_eq(peers_uid(&p, &here), PEERS_UNKNOWN);
    cr_assert(peers_is_friend(&p, 77));
    cr_assert(peers_is_friend(&p, geteuid()));
    cr_assert_not(peers_is_friend(&p, 78));
    setenv("SUDO_UID", "77x", 1);
    peers_open(&p, &here);
    cr_assert_eq(peers_is_friend(&p, 77), p.n_friends == 0);
}

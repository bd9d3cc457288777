#include "serve/peers.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- the kernel's sockets --------------------------------------------------------------------- */

struct question {
    struct nlmsghdr head;
    struct inet_diag_req_v2 of;
};

union said {
    struct {
        struct nlmsghdr head;
        union {
            struct inet_diag_msg about;
            struct nlmsgerr error;
        } what;
    } m;
    char room[4096]; /* attributes follow */
};

/* The socket at `one`, which is connected to `other`; of no port: which listens. */
static bool ask(int fd, const struct sockaddr_in *one, const struct sockaddr_in *other)
{
    struct question q = {
        .head = {.nlmsg_len = sizeof q,
                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                 .nlmsg_flags = NLM_F_REQUEST},
        .of = {.sdiag_family = AF_INET,
               .sdiag_protocol = IPPROTO_TCP,
               .idiag_states = UINT32_MAX,
               .id = {.idiag_sport = one->sin_port,
                      .idiag_src = {one->sin_addr.s_addr},
                      .idiag_dport = other->sin_port,
                      .idiag_dst = {other->sin_addr.s_addr},
                      .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}},
    };
    return send(fd, &q, sizeof q, 0) == (ssize_t)sizeof q;
}

/* The answer is there when the question has been sent. */
static uint32_t uid_of(int fd, const struct sockaddr_in *one, const struct sockaddr_in *other,
                       unsigned state)
{
    union said said;
    if (!ask(fd, one, other))
        return PEERS_UNKNOWN;
    ssize_t n = recv(fd, &said, sizeof said, MSG_DONTWAIT);
    if (n < (ssize_t)(sizeof said.m.head + sizeof said.m.what.error.error))
        return PEERS_UNKNOWN;
    if (said.m.head.nlmsg_type == NLMSG_ERROR)
        return said.m.what.error.error == -ENOENT ? PEERS_GONE : PEERS_UNKNOWN;
    if (said.m.head.nlmsg_type != SOCK_DIAG_BY_FAMILY || n < (ssize_t)sizeof said.m)
        return PEERS_UNKNOWN;
    /* A closed socket has no user, which the kernel calls 0. */
    return said.m.what.about.idiag_state == state ? said.m.what.about.idiag_uid : PEERS_GONE;
}

/* --- friends ---------------------------------------------------------------------------------- */

static bool read_number(const char *text, uint32_t *out)
{
    char *end;
    errno = 0;
    unsigned long long v = text ? strtoull(text, &end, 10) : 0;
    if (!text || end == text || (*end && *end != '\n') || errno || v >= PEERS_GONE)
        return false;
    *out = (uint32_t)v;
    return true;
}

/* The user who has logged in, whatever the current user is. Unset without a login. */
static bool read_login(uint32_t *out)
{
    char text[32] = "";
    int fd = open("/proc/self/loginuid", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    return n > 0 && read_number(text, out);
}

static void find_friends(struct peers *p)
{
    uint32_t uid;
    if (read_number(getenv("SUDO_UID"), &uid))
        p->friends[p->n_friends++] = uid;
    if (read_login(&uid))
        p->friends[p->n_friends++] = uid;
    if (p->n_friends > 0)
        p->friends[p->n_friends++] = geteuid();
}

bool peers_is_friend(const struct peers *p, uint32_t uid)
{
    bool is = p->n_friends == 0 || uid == 0 || uid == PEERS_UNKNOWN;
    for (unsigned i = 0; i < p->n_friends; i++)
        is |= p->friends[i] == uid;
    return is;
}

/* ---------------------------------------------------------------------------------------------- */

void peers_open(struct peers *p, const struct sockaddr_in *here)
{
    static const struct sockaddr_in nobody = {.sin_family = AF_INET};
    *p = (struct peers){.here = *here};
    find_friends(p);
    p->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    /* A kernel without the module, and what only looks like Linux, does not even find our own. */
    if (p->fd >= 0 && uid_of(p->fd, here, &nobody, TCP_LISTEN) != geteuid())
        peers_close(p);
}

void peers_close(struct peers *p)
{
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
}

uint32_t peers_uid(const struct peers *p, const struct sockaddr_in *there)
{
    return p->fd < 0 ? PEERS_UNKNOWN : uid_of(p->fd, there, &p->here, TCP_ESTABLISHED);
}

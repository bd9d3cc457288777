#include "agent/peers.h"

#include "base/clock.h"
#include "base/hash.h"
#include "record/intern.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    FDS = 1 << 16,    /* descriptors beyond are asked about each time */
    PEERS = 1 << 14,  /* further ones are not distinguished */
    EPHEMERAL = 32768 /* Linux' first port for who does not ask for one */
};
enum { FLAG_SHIFT = 32, USE_SHIFT = 40 };

static struct {
    _Atomic uint64_t fds[FDS]; /* address space until it is used */
    struct intern names;
    uint32_t *locks; /* [PEERS + 1], by the id of a name */
    lock_id (*define)(const char *name);
    enum iodetails details;
    uint64_t salt; /* of hashed names: there are few addresses to try */
} peers;

/* Who connects, on this thread: initial-exec as the thread's own record (threads.c). */
static __thread struct {
    int fd; /* -1: none, +1: so that 0 also is none */
    struct sockaddr_in6 to;
} connecting __attribute__((tls_model("initial-exec")));

int peers_init(enum iodetails details, lock_id (*define_)(const char *name))
{
    static bool again; /* descriptors have ids of an earlier recording */
    peers.details = details;
    peers.define = define_;
    for (int i = 0; i < FDS && again; i++)
        if (atomic_load_explicit(&peers.fds[i], memory_order_relaxed))
            peers_renew(i, 0);
    again = true;
    if (getrandom(&peers.salt, sizeof peers.salt, GRND_NONBLOCK) < 0)
        peers.salt = clock_mono_ns();
    peers.locks = calloc(PEERS + 1, sizeof *peers.locks);
    return peers.locks ? intern_init(&peers.names, PEERS) : -ENOMEM;
}

void peers_free(void)
{
    if (peers.locks)
        intern_fini(&peers.names);
    free(peers.locks);
    peers.locks = NULL;
}

uint64_t peers_now(int fd)
{
    /* relaxed: the number of uses shows later whether it is still the same */
    return fd >= 0 && fd < FDS ? atomic_load_explicit(&peers.fds[fd], memory_order_relaxed) : 0;
}

void peers_renew(int fd, unsigned flags)
{
    uint64_t use = (peers_now(fd) >> USE_SHIFT) + 1;
    if (fd >= 0 && fd < FDS)
        atomic_store_explicit(&peers.fds[fd], use << USE_SHIFT | (uint64_t)flags << FLAG_SHIFT,
                              memory_order_relaxed);
}

/* --- names ------------------------------------------------------------------------------------ */

static bool define(void *arg, uint32_t id)
{
    return (peers.locks[id] = peers.define(arg).v) != 0;
}

static lock_id named(const char *text)
{
    char name[1024];
    struct hash128 h = hash_bytes128(text, strlen(text));
    if (peers.details == IODETAILS_NONE)
        return (lock_id){0};
    const char *blank = text[0] == '/' ? NULL : strchr(text, ' '); /* "client 10.0.0.9" */
    const char *secret = blank ? blank + 1 : text;
    if (peers.details == IODETAILS_HASHED)
        snprintf(name, sizeof name, "=%.*s#%08x", (int)(secret - text), text,
                 (unsigned)hash_bytes(secret, strlen(secret), peers.salt));
    else
        snprintf(name, sizeof name, "=%s", text);
    uint32_t id = intern_find(&peers.names, h);
    id = id ? id : intern_get(&peers.names, h, define, name);
    return (lock_id){id ? peers.locks[id] : 0};
}

lock_id peers_named(const char *name)
{
    return name ? named(name) : (lock_id){0};
}

/* "10.0.0.7:5432", "[fe80::1]:80", "/run/x.sock"; with_port: else only the host. */
static bool put_address(const struct sockaddr *a, bool with_port, char *out, size_t n)
{
    const struct sockaddr_in6 *v6 = (const void *)a;
    const struct sockaddr_in *v4 = (const void *)a;
    const struct sockaddr_un *un = (const void *)a;
    char host[INET6_ADDRSTRLEN] = "";
    bool mapped = a->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr);
    out[0] = 0;
    if (a->sa_family == AF_INET)
        inet_ntop(AF_INET, &v4->sin_addr, host, sizeof host);
    else if (mapped)
        inet_ntop(AF_INET, v6->sin6_addr.s6_addr + 12, host, sizeof host);
    else if (a->sa_family == AF_INET6)
        inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof host);
    unsigned port = ntohs(a->sa_family == AF_INET ? v4->sin_port : v6->sin6_port);
    if (a->sa_family == AF_UNIX)
        snprintf(out, n, "%.100s", un->sun_path[0] ? un->sun_path : un->sun_path + 1);
    else if (host[0])
        snprintf(out, n,
                 a->sa_family == AF_INET || mapped ? with_port ? "%s:%u" : "%s"
                 : with_port                       ? "[%s]:%u"
                                                   : "%s",
                 host, port);
    return out[0] != 0;
}

static unsigned port_of(const struct sockaddr_storage *a)
{
    return a->ss_family == AF_INET || a->ss_family == AF_INET6
               ? ntohs(((const struct sockaddr_in *)(const void *)a)->sin_port)
               : 0;
}

/* Connections to this process come from many clients, whose ports the kernel has chosen. */
static bool is_client(const struct sockaddr_storage *own, const struct sockaddr_storage *peer,
                      bool accepted)
{
    unsigned here = port_of(own), there = port_of(peer);
    return accepted || (here && here < EPHEMERAL && there >= EPHEMERAL);
}

static bool option(int fd, int name)
{
    int value = 0;
    socklen_t len = sizeof value;
    return getsockopt(fd, SOL_SOCKET, name, &value, &len) == 0 &&
           value == (name == SO_TYPE ? SOCK_DGRAM : 1);
}

union address {
    struct sockaddr any;
    struct sockaddr_storage all;
    char bytes[sizeof(struct sockaddr_storage) + 1];
};

static bool ask(int fd, int (*call)(int, struct sockaddr *, socklen_t *), union address *a)
{
    socklen_t len = sizeof a->all;
    memset(a, 0, sizeof *a);
    return call(fd, &a->any, &len) == 0;
}

/* The prefix of a socket's name; false: it is not a socket. */
static bool describe_socket(int fd, unsigned *flags, char *out, size_t n)
{
    *flags |= PEER_LOCAL;
    static const char client[] = "client ", listening[] = "listening ", local[] = "local ";
    union address own, peer;
    if (!ask(fd, getsockname, &own))
        return false;
    const char *before = "";
    const struct sockaddr *named_by = &peer.any;
    bool host_only = false;
    if (option(fd, SO_ACCEPTCONN)) {
        *flags |= PEER_LISTENS;
        before = listening;
        named_by = &own.any;
    } else if (ask(fd, getpeername, &peer)) {
        host_only = is_client(&own.all, &peer.all, *flags & PEER_ACCEPTED);
        *flags &= ~(unsigned)(host_only ? 0 : PEER_LOCAL);
        before = host_only ? client : "";
        if (host_only && own.any.sa_family == AF_UNIX)
            named_by = &own.any;
    } else if (peers_connects(fd)) {
        named_by = (const struct sockaddr *)&connecting.to;
    } else if (option(fd, SO_TYPE)) {
        before = local;
        named_by = &own.any;
    } else {
        return true;
    }
    char address[128];
    if (put_address(named_by, !host_only, address, sizeof address))
        snprintf(out, n, "%s%s", before, address);
    return true;
}

static void describe_file(int fd, char *out, size_t n)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, out, n - 1);
    out[len > 0 ? len : 0] = 0;
    if (strncmp(out, "pipe:", 5) == 0)
        snprintf(out, n, "pipe");
    else if (out[0] != '/')
        out[0] = 0; /* an eventpoll */
}

lock_id peers_of(int fd, uint64_t was, bool *listens)
{
    char text[1000] = "";
    uint64_t now = peers_now(fd);
    unsigned flags = (unsigned)(was >> FLAG_SHIFT & 0xff);
    *listens = flags & PEER_LISTENS;
    if (flags & PEER_ASKED)
        return (lock_id){(uint32_t)was};
    if (fd < 0 || now >> USE_SHIFT != was >> USE_SHIFT)
        return (lock_id){0}; /* it was closed: another one may have its number by now */
    if (now >> FLAG_SHIFT & PEER_ASKED)
        return (lock_id){(uint32_t)now};
    if (!describe_socket(fd, &flags, text, sizeof text))
        describe_file(fd, text, sizeof text);
    *listens = flags & PEER_LISTENS;
    flags |= text[0] ? 0 : PEER_LOCAL;
    lock_id id = text[0] ? named(text) : (lock_id){0};
    if (fd < FDS && !peers_connects(fd)) /* it may have been renewed: that stays */
        atomic_compare_exchange_strong_explicit(
            &peers.fds[fd], &now,
            (now >> USE_SHIFT) << USE_SHIFT | (uint64_t)(flags | PEER_ASKED) << FLAG_SHIFT | id.v,
            memory_order_relaxed, memory_order_relaxed);
    return id;
}

void peers_find_listening(void)
{
    DIR *d = opendir("/proc/self/fd");
    const struct dirent *e;
    while (d && peers.details != IODETAILS_NONE && (e = readdir(d))) {
        int fd = *e->d_name == '.' ? -1 : atoi(e->d_name);
        bool listens;
        if (fd >= 0 && fd != dirfd(d) && option(fd, SO_ACCEPTCONN))
            peers_of(fd, peers_now(fd), &listens);
    }
    if (d)
        closedir(d);
}

bool peers_is_known(uint64_t was)
{
    return was >> FLAG_SHIFT & PEER_ASKED;
}

lock_id peers_connected(int fd, uint64_t was)
{
    bool listens;
    enum { NOT = PEER_ACCEPTED | PEER_LOCAL };
    if (was >> FLAG_SHIFT & NOT)
        return (lock_id){0};
    lock_id id = peers_of(fd, was, &listens);
    return peers_now(fd) >> FLAG_SHIFT & NOT ? (lock_id){0} : id;
}

void peers_connect(int fd, const void *address, size_t bytes)
{
    connecting.fd = address && bytes <= sizeof connecting.to ? fd + 1 : 0;
    if (connecting.fd)
        memcpy(&connecting.to, address, bytes);
}

bool peers_connects(int fd)
{
    return connecting.fd == fd + 1;
}

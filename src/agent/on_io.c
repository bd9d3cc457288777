#include "agent/on_io.h"

#include "agent/peers.h"
#include "agent/stacks.h"
#include "base/clock.h"
#include "base/guarded.h"
#include "base/imports.h"
#include "base/util.h"
#include "hotspot/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static _Atomic bool wanted;
static uint64_t threshold;
static pid_t ours; /* a child that was forked runs its library's code, and has no rings */

/* The descriptor, + 1, that the calling thread has last asked a Poller to watch, and for what. */
static __thread struct io_polled polled __attribute__((tls_model("initial-exec")));

/* Until JDK 21 a thread of the Poller's own registers the descriptor: then the descriptor is the one
 * of the call just before, which would have blocked.  A park elsewhere may follow such a call as
 * well: who reads the trace looks at the stack (analyze/decode.c). */
enum { DIRECT_SINCE = 22 };

/* The connection, + 1, that the calling thread has last read from. */
static __thread struct {
    int fd;
    uint64_t was, since;
} last_read __attribute__((tls_model("initial-exec")));

/* --- events ----------------------------------------------------------------------------------- */

struct call {
    uint64_t since, was; /* 0: it is not timed; the descriptor (peers_now) */
};

static inline struct call begin(int fd)
{
    /* relaxed: what comes a little late, or goes on a little longer */
    if (!atomic_load_explicit(&wanted, memory_order_relaxed))
        return (struct call){0, 0};
    return (struct call){clock_mono_ns(), peers_now(fd)};
}

/* Only what is called as a native method is: HotSpot calls some of these libraries itself. */
static bool in_native(const struct os_thread *self)
{
    if (!self->java_thread || !agent.walker)
        return false;
    const struct layout *l = walker_layout(agent.walker);
    uint32_t state;
    return guarded_u32(self->java_thread + (uintptr_t)l->thread_state, &state) &&
           thread_state_is(&l->states, THREAD_IN_NATIVE, state);
}

static JNIEnv *env(void)
{
    void *jni = NULL;
    return (*agent.vm)->GetEnv(agent.vm, &jni, JNI_VERSION_10) == JNI_OK ? jni : NULL;
}

struct told {
    enum io_kind what;
    int fd; /* -1: `name` says */
    const char *name;
    int64_t bytes;
};

/* What it turns out to be when the descriptor is known. */
static enum io_kind kind_of(const struct told *t, bool listens)
{
    if (t->what == IO_KIND_input && listens)
        return IO_KIND_accept;
    return t->what == IO_KIND_output && t->bytes < 0 && peers_connects(t->fd) ? IO_KIND_connect
                                                                              : t->what;
}

static void put(const struct call *c, const struct told *told, uint64_t now)
{
    JNIEnv *jni = getpid() == ours ? env() : NULL;
    struct os_thread *self = jni ? os_thread_self(jni) : NULL;
    bool listens = false;
    if (!self || c->since < agent.started || !in_native(self) || (*jni)->ExceptionCheck(jni))
        return;
    lock_id peer = told->what == IO_KIND_select ? (lock_id){0}
                   : told->name                 ? peers_named(told->name)
                                                : peers_of(told->fd, c->was, &listens);
    stack_id stack = stacks_current(jni);
    struct event *e = ring_begin(self->ring, EV_io, threads_self(jni, self), now);
    if (!e)
        return;
    e->io.what = kind_of(told, listens);
    e->io.peer = peer;
    e->io.bytes = told->bytes;
    e->io.since = c->since;
    e->io.stack = stack;
    ring_commit(self->ring, e);
}

/* bytes: the kernel has copied them, on a processor, at 4 GB/s or faster. */
static inline bool is_long(const struct call *c, int64_t bytes, uint64_t *now)
{
    enum { BYTES_PER_NS = 4 };
    if (!c->since)
        return false;
    *now = clock_mono_ns();
    return *now - c->since >= threshold + (bytes > 0 ? (uint64_t)bytes / BYTES_PER_NS : 0);
}

static inline void end(const struct call *c, enum io_kind what, int fd, int64_t bytes)
{
    uint64_t now;
    if (is_long(c, bytes, &now))
        RECORDING(put(c, &(struct told){what, fd, NULL, bytes}, now));
}

static void end_named(const struct call *c, enum io_kind what, const char *name)
{
    uint64_t now;
    if (is_long(c, 0, &now))
        RECORDING(put(c, &(struct told){what, -1, name, -1}, now));
}

struct io_polled io_take_polled(void)
{
    struct io_polled p = polled;
    polled.fd = 0;
    return p;
}

void io_note_park(struct os_thread *self, thread_id id, uint64_t now, struct io_polled p)
{
    int fd = p.fd - 1;
    bool listens;
    if (fd < 0 || !agent_wants(GROUP_io))
        return;
    lock_id peer = peers_of(fd, peers_now(fd), &listens);
    const struct told told = {p.events & EPOLLOUT ? IO_KIND_output : IO_KIND_input, fd, NULL, -1};
    struct event *e = ring_begin(self->ring, EV_park_io, id, now);
    if (!e)
        return;
    e->park_io.what = kind_of(&told, listens);
    e->park_io.peer = peer;
    ring_commit(self->ring, e);
}

void io_note_read(struct os_thread *self, thread_id id, uint64_t now)
{
    int fd = last_read.fd - 1;
    if (fd < 0)
        return;
    last_read.fd = 0;
    if (last_read.since < agent.started || !agent_wants(GROUP_io))
        return;
    lock_id peer = peers_connected(fd, last_read.was);
    struct event *e = peer.v ? ring_begin(self->ring, EV_io_read, id, now) : NULL;
    if (!e)
        return;
    e->io_read.peer = peer;
    e->io_read.since = last_read.since;
    ring_commit(self->ring, e);
}

static inline void note_read(const struct call *c, int fd, ssize_t n)
{
    if (!c->since || n <= 0)
        return;
    last_read.fd = fd + 1;
    last_read.was = c->was;
    last_read.since = c->since;
}

static inline void note_again(const struct call *c, int fd, bool failed, uint32_t events)
{
    if (failed && c->since && (errno == EAGAIN || errno == EINPROGRESS) && agent.virtual_threads &&
        agent.java_version < DIRECT_SINCE)
        polled = (struct io_polled){fd + 1, events};
}

/* --- the functions ------------------------------------------------------------------------------
 * As the C library declares them, but for the names. */

#define MOVES(name, what, params, ...)                                                             \
    static ssize_t io_##name params                                                                \
    {                                                                                              \
        struct call c = begin(fd);                                                                 \
        ssize_t n = name(__VA_ARGS__);                                                             \
        note_again(&c, fd, n < 0, IO_KIND_##what == IO_KIND_output ? EPOLLOUT : EPOLLIN);          \
        end(&c, IO_KIND_##what, fd, n);                                                            \
        return n;                                                                                  \
    }

#define READS(name, params, ...)                                                                   \
    static ssize_t io_##name params                                                                \
    {                                                                                              \
        struct call c = begin(fd);                                                                 \
        ssize_t n = name(__VA_ARGS__);                                                             \
        note_read(&c, fd, n);                                                                      \
        note_again(&c, fd, n < 0, EPOLLIN);                                                        \
        end(&c, IO_KIND_input, fd, n);                                                             \
        return n;                                                                                  \
    }

READS(read, (int fd, void *to, size_t n_), fd, to, n_)
READS(readv, (int fd, const struct iovec *v, int n_), fd, v, n_)
MOVES(pread64, input, (int fd, void *to, size_t n_, off64_t at), fd, to, n_, at)
READS(recv, (int fd, void *to, size_t n_, int flags), fd, to, n_, flags)
READS(recvmsg, (int fd, struct msghdr *m, int flags), fd, m, flags)
READS(recvfrom, (int fd, void *to, size_t n_, int flags, struct sockaddr *a, socklen_t *len), fd,
      to, n_, flags, a, len)
MOVES(write, output, (int fd, const void *from, size_t n_), fd, from, n_)
MOVES(writev, output, (int fd, const struct iovec *v, int n_), fd, v, n_)
MOVES(pwrite64, output, (int fd, const void *from, size_t n_, off64_t at), fd, from, n_, at)
MOVES(send, output, (int fd, const void *from, size_t n_, int flags), fd, from, n_, flags)
MOVES(sendmsg, output, (int fd, const struct msghdr *m, int flags), fd, m, flags)
MOVES(sendto, output,
      (int fd, const void *from, size_t n_, int flags, const struct sockaddr *a, socklen_t len), fd,
      from, n_, flags, a, len)
MOVES(sendfile64, output, (int fd, int in, off64_t *at, size_t n_), fd, in, at, n_)

#define SYNCS(name)                                                                                \
    static int io_##name(int fd)                                                                   \
    {                                                                                              \
        struct call c = begin(fd);                                                                 \
        int rc = name(fd);                                                                         \
        end(&c, IO_KIND_sync, fd, -1);                                                             \
        return rc;                                                                                 \
    }

SYNCS(fsync)
SYNCS(fdatasync)

static int io_msync(void *at, size_t n, int flags)
{
    struct call c = begin(-1);
    int rc = msync(at, n, flags);
    end(&c, IO_KIND_sync, -1, -1);
    return rc;
}

static int io_connect(int fd, const struct sockaddr *to, socklen_t n)
{
    struct call c = begin(fd);
    peers_connect(fd, to, n);
    int rc = connect(fd, to, n);
    int error = errno;
    note_again(&c, fd, rc < 0, EPOLLOUT);
    end(&c, IO_KIND_connect, fd, -1);
    if (rc == 0 || error != EINPROGRESS)
        peers_connect(-1, NULL, 0);
    return rc;
}

/* The first connection that a socket accepts is an event in any case: it says who listens where. */
static void end_accept(const struct call *c, int fd, int made)
{
    uint64_t now;
    note_again(c, fd, made < 0, EPOLLIN);
    if (made >= 0 && c->since && !peers_is_known(c->was))
        RECORDING(put(c, &(struct told){IO_KIND_accept, fd, NULL, -1}, clock_mono_ns()));
    else if (is_long(c, -1, &now))
        RECORDING(put(c, &(struct told){IO_KIND_accept, fd, NULL, -1}, now));
}

static int io_accept(int fd, struct sockaddr *from, socklen_t *n)
{
    struct call c = begin(fd);
    int made = accept(fd, from, n);
    end_accept(&c, fd, made);
    peers_renew(made, PEER_ACCEPTED);
    return made;
}

static int io_accept4(int fd, struct sockaddr *from, socklen_t *n, int flags)
{
    struct call c = begin(fd);
    int made = accept4(fd, from, n, flags);
    end_accept(&c, fd, made);
    peers_renew(made, PEER_ACCEPTED);
    return made;
}

/* Of no descriptor: a pause. */
static int io_poll(struct pollfd *v, nfds_t n, int ms)
{
    struct call c = ms && n ? begin(v->fd) : (struct call){0, 0};
    int rc = poll(v, n, ms);
    enum io_kind one = v && v->events & POLLOUT ? IO_KIND_output : IO_KIND_input;
    if (n)
        end(&c, n == 1 ? one : IO_KIND_select, v->fd, -1);
    if (n == 1 && rc > 0 && one == IO_KIND_output && peers_connects(v->fd))
        peers_connect(-1, NULL, 0);
    return rc;
}

static int io_epoll_pwait(int fd, struct epoll_event *v, int n, int ms, const sigset_t *mask)
{
    struct call c = ms ? begin(fd) : (struct call){0, 0};
    int rc = epoll_pwait(fd, v, n, ms, mask);
    end(&c, IO_KIND_select, fd, -1);
    return rc;
}

static int io_epoll_wait(int fd, struct epoll_event *v, int n, int ms)
{
    struct call c = ms ? begin(fd) : (struct call){0, 0};
    int rc = epoll_wait(fd, v, n, ms);
    end(&c, IO_KIND_select, fd, -1);
    return rc;
}

/* By its number: older C libraries, whose programs do not import it, lack the function. */
static int io_epoll_pwait2(int fd, struct epoll_event *v, int n, const struct timespec *limit,
                           const sigset_t *mask)
{
    bool looks = limit && !limit->tv_sec && !limit->tv_nsec;
    struct call c = looks ? (struct call){0, 0} : begin(fd);
    int rc = (int)syscall(SYS_epoll_pwait2, fd, v, n, limit, mask, (size_t)(_NSIG / 8));
    end(&c, IO_KIND_select, fd, -1);
    return rc;
}

/* A Poller wants to hear of a descriptor once, and the thread that asks parks then. */
static int io_epoll_ctl(int fd, int op, int of, struct epoll_event *e)
{
    if (op != EPOLL_CTL_DEL && e && e->events & EPOLLONESHOT)
        polled.fd = of + 1, polled.events = e->events;
    return epoll_ctl(fd, op, of, e);
}

/* The third argument is there or not looked at. */
static int io_open64(const char *path, int flags, mode_t mode)
{
    struct call c = begin(-1);
    int fd = open64(path, flags, mode);
    end_named(&c, IO_KIND_open, path);
    peers_renew(fd, PEER_LOCAL);
    return fd;
}

static int io_fcntl(int fd, int cmd, long arg)
{
    struct call c = cmd == F_SETLKW ? begin(fd) : (struct call){0, 0};
    int rc = fcntl(fd, cmd, arg);
    end(&c, IO_KIND_lock, fd, -1);
    return rc;
}

static int io_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                          struct addrinfo **out)
{
    struct call c = begin(-1);
    int rc = getaddrinfo(host, service, hints, out);
    end_named(&c, IO_KIND_lookup, host);
    return rc;
}

static int io_getnameinfo(const struct sockaddr *a, socklen_t n, char *host, socklen_t host_n,
                          char *service, socklen_t service_n, int flags)
{
    struct call c = begin(-1);
    int rc = getnameinfo(a, n, host, host_n, service, service_n, flags);
    end_named(&c, IO_KIND_lookup, rc == 0 ? host : "an address");
    return rc;
}

/* What a child executes, while it can be asked: "process sleep".  Not may_block: no event. */
static void name_child(const struct call *c, bool may_block, int pid, char *out, size_t n)
{
    char path[40], command[17] = "";
    int error = errno;
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    int fd = c->since && may_block ? open64(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t len = fd < 0 ? 0 : read(fd, command, sizeof command - 1);
    if (fd >= 0)
        close(fd);
    command[len > 0 ? len : 0] = 0;
    command[strcspn(command, "\n")] = 0;
    if (*command)
        snprintf(out, n, "process %s", command);
    else
        snprintf(out, n, "process %d", pid);
    errno = error;
}

static pid_t io_waitpid(pid_t pid, int *status, int flags)
{
    char name[32];
    struct call c = begin(-1);
    name_child(&c, !(flags & WNOHANG), (int)pid, name, sizeof name);
    pid_t rc = waitpid(pid, status, flags);
    end_named(&c, IO_KIND_process, name);
    return rc;
}

static int io_waitid(idtype_t type, id_t id, siginfo_t *info, int flags)
{
    char name[32];
    struct call c = begin(-1);
    name_child(&c, !(flags & WNOHANG), (int)id, name, sizeof name);
    int rc = waitid(type, id, info, flags);
    end_named(&c, IO_KIND_process, name);
    return rc;
}

static int io_socket(int family, int type, int protocol)
{
    int fd = socket(family, type, protocol);
    peers_renew(fd, 0);
    return fd;
}

static int io_dup2(int from, int to)
{
    peers_renew(to, 0);
    return dup2(from, to);
}

static int io_close(int fd)
{
    peers_renew(fd, 0);
    return close(fd);
}

#define ROW(name)                                                                                  \
    {                                                                                              \
#name, (void *)io_##name, NULL                                                             \
    }
static struct import rows[] = {
    ROW(read),
    ROW(readv),
    ROW(pread64),
    ROW(recv),
    ROW(recvmsg),
    ROW(recvfrom),
    ROW(write),
    ROW(writev),
    ROW(pwrite64),
    ROW(send),
    ROW(sendmsg),
    ROW(sendto),
    ROW(sendfile64),
    ROW(fsync),
    ROW(fdatasync),
    ROW(msync),
    ROW(connect),
    ROW(accept),
    ROW(accept4),
    ROW(poll),
    ROW(epoll_wait),
    ROW(epoll_pwait),
    ROW(epoll_pwait2),
    ROW(epoll_ctl),
    ROW(open64),
    ROW(fcntl),
    ROW(getaddrinfo),
    ROW(getnameinfo),
    ROW(waitpid),
    ROW(waitid),
    ROW(socket),
    ROW(dup2),
    ROW(close),
    {"pread", (void *)io_pread64, NULL},
    {"pwrite", (void *)io_pwrite64, NULL},
    {"sendfile", (void *)io_sendfile64, NULL},
    {"open", (void *)io_open64, NULL},
};
#undef ROW

/* --- on and off ------------------------------------------------------------------------------- */

static _Atomic uint64_t seen; /* imports_change */
static _Atomic bool changed;  /* something was */

/* Two threads at once do the same twice. */
static void change(void)
{
    uint64_t was = atomic_load_explicit(&seen, memory_order_relaxed);
    if (imports_change(rows, ARRAY_LEN(rows), &was))
        atomic_store_explicit(&changed, true, memory_order_relaxed);
    atomic_store_explicit(&seen, was, memory_order_relaxed);
}

void io_update(void)
{
    bool on = agent.settings.groups[GROUP_io] && agent.walker;
    if (on) {
        threshold = agent.settings.io;
        ours = getpid();
        imports_find(rows, ARRAY_LEN(rows));
        change();
        if (!atomic_load_explicit(&wanted, memory_order_relaxed))
            peers_find_listening();
    }
    /* relaxed: see begin */
    atomic_store_explicit(&wanted, on, memory_order_relaxed);
}

void io_end(void)
{
    atomic_store_explicit(&wanted, false, memory_order_relaxed);
    if (atomic_exchange_explicit(&changed, false, memory_order_relaxed))
        imports_restore(rows, ARRAY_LEN(rows));
    atomic_store_explicit(&seen, 0, memory_order_relaxed);
}

/* NOLINTNEXTLINE(readability-function-size): the parameters are JVMTI's */
void JNICALL on_native_bind(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jmethodID method,
                            void *address, void **new_address)
{
    (void)jvmti, (void)jni, (void)thread, (void)method, (void)address, (void)new_address;
    if (atomic_load_explicit(&wanted, memory_order_relaxed))
        RECORDING(change());
}

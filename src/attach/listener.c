#include "attach/listener.h"

#include "base/clock.h"
#include "base/util.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* --- connecting ------------------------------------------------------------------------------- */

/* The file is a socket that only the JVM's user may use; jcmd checks the same. */
static int check_file(const struct jvm *jvm, int tmp, const char *name, struct err *err)
{
    struct stat st;
    if (fstatat(tmp, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    if (st.st_uid != jvm->uid) {
        char user[64];
        jvm_user_name(st.st_uid, user, sizeof user);
        return err_set(
            err, -EPERM,
            "/tmp/%s belongs to user %s, not to the user of JVM %d, which cannot replace "
            "it: remove it",
            name, user, (int)jvm->pid);
    }
    if (!S_ISSOCK(st.st_mode))
        return -ENOENT; /* the JVM puts its socket in its place */
    if (st.st_mode & (S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH))
        return err_set(
            err, -EPERM,
            "/tmp/%s can be written by other users than that of JVM %d, so Orca does not "
            "trust it: remove it and try again",
            name, (int)jvm->pid);
    return 0;
}

/* Two containers that share /tmp have the same file for the same pid. */
static int check_peer(const struct jvm *jvm, int fd, const char *name, struct err *err)
{
    struct ucred peer;
    socklen_t n = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) < 0)
        return err_set(err, -errno, "JVM %d: %s", (int)jvm->pid, strerror(errno));
    if (peer.pid == jvm->pid)
        return 0;
    if (peer.pid == 0)
        return err_set(err, -EPERM,
                       "/tmp/%s is not the socket of JVM %d but of a process in another container "
                       "with the same /tmp: give each container its own /tmp",
                       name, (int)jvm->pid);
    return err_set(err, -EPERM,
                   "/tmp/%s is the socket of process %d, not of JVM %d: two JVMs with the same pid "
                   "in different containers share /tmp; give each its own /tmp",
                   name, (int)peer.pid, (int)jvm->pid);
}

/* Through the folder's descriptor: the path is short, and the folder is the one checked. */
int listener_connect_in(int fd, int folder, const char *name)
{
    struct sockaddr_un to;
    memset(&to, 0, sizeof to);
    to.sun_family = AF_UNIX;
    snprintf(to.sun_path, sizeof to.sun_path, "/proc/self/fd/%d/%s", folder, name);
    if (connect(fd, (const struct sockaddr *)&to, sizeof to) == 0)
        return 0;
    return errno == ECONNREFUSED ? -ENOENT : -errno;
}

int listener_connect(const struct jvm *jvm, int tmp, struct err *err)
{
    char name[32];
    snprintf(name, sizeof name, ".java_pid%d", (int)jvm->ns_pid);
    TRY(check_file(jvm, tmp, name, err));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_set(err, -errno, "no socket can be made: %s", strerror(errno));
    int rc = listener_connect_in(fd, tmp, name);
    if (rc < 0 && rc != -ENOENT && rc != -EAGAIN)
        err_set(err, rc, "JVM %d: its socket /tmp/%s cannot be connected to: %s", (int)jvm->pid,
                name, strerror(-rc));
    if (rc == 0)
        rc = check_peer(jvm, fd, name, err);
    if (rc == 0)
        return fd;
    close(fd);
    return rc;
}

/* --- sending and receiving -------------------------------------------------------------------- */

/* Wait until the socket is ready or the deadline is over. */
static int wait_ready(int fd, short events, uint64_t deadline)
{
    for (;;) {
        uint64_t now = clock_mono_ns();
        if (now >= deadline)
            return -ETIMEDOUT;
        uint64_t ms = min_u64((deadline - now + 999999) / 1000000, INT_MAX);
        struct pollfd p = {fd, events, 0};
        int n = poll(&p, 1, (int)ms);
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return -errno;
    }
}

int listener_send(int fd, const void *p, size_t n, uint64_t deadline)
{
    const char *at = p;
    while (n > 0) {
        ssize_t sent = send(fd, at, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EAGAIN) {
            TRY(wait_ready(fd, POLLOUT, deadline));
            continue;
        }
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return -errno;
        at += sent;
        n -= (size_t)sent;
    }
    return 0;
}

int listener_receive(int fd, size_t most, uint64_t deadline, struct buf *out)
{
    enum { STEP = 64 << 10 };
    while (out->len < most) {
        size_t step = most - out->len < STEP ? most - out->len : STEP;
        uint8_t *to = buf_reserve(out, step);
        if (!to)
            return -ENOMEM;
        ssize_t n = recv(fd, to, step, MSG_DONTWAIT);
        if (n == 0)
            return 0;
        if (n > 0)
            out->len += (size_t)n;
        else if (errno == EAGAIN)
            TRY(wait_ready(fd, POLLIN, deadline));
        else if (errno != EINTR)
            return -errno;
    }
    return 0;
}

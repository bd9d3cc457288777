#include "base/control_socket.h"

#include "base/util.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define NAME "orca-control"

/* --- making it -------------------------------------------------------------------------------- */

/* A folder that no other user may look into; not through a link, which others may have made. */
static int check_private(const char *folder)
{
    struct stat st;
    if (folder[0] != '/')
        return -EINVAL;
    if (lstat(folder, &st) < 0)
        return -errno;
    if (!S_ISDIR(st.st_mode))
        return -ENOTDIR;
    return st.st_uid == geteuid() && (st.st_mode & 0777) == 0700 ? 0 : -EPERM;
}

/* What is at the name is a socket of ours that only we may connect to; then its name goes. */
static int take_place(struct control_socket *s, const char *path)
{
    struct stat st;
    s->place = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (s->place < 0 || unlink(path) < 0 || fstat(s->place, &st) < 0)
        return -errno;
    /* A second name would mean that another user could enter the folder. */
    bool ours = S_ISSOCK(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 077);
    return ours && st.st_nlink == 0 ? 0 : -EPERM;
}

static int make_socket(struct control_socket *s, const struct sockaddr_un *at, int backlog)
{
    s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* Linux gives the file the socket's own mode, less the umask: so it never has another one. */
    if (s->fd < 0 || fchmod(s->fd, 0600) < 0 ||
        bind(s->fd, (const struct sockaddr *)at, sizeof *at) < 0)
        return -errno;
    int rc = take_place(s, at->sun_path);
    if (rc < 0)
        unlink(at->sun_path);
    return rc < 0 ? rc : listen(s->fd, backlog) < 0 ? -errno : 0;
}

static int make_in(struct control_socket *s, const char *parent, int backlog)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    char folder[sizeof at.sun_path];
    int n = snprintf(folder, sizeof folder, "%s/" CONTROL_SOCKET_FOLDER, parent);
    if (n < 0 || (size_t)n + sizeof "/" NAME > sizeof at.sun_path)
        return -ENAMETOOLONG;
    if (!mkdtemp(folder))
        return -errno;
    snprintf(at.sun_path, sizeof at.sun_path, "%.*s/" NAME, n, folder);
    int rc = make_socket(s, &at, backlog);
    rmdir(folder);
    if (rc < 0)
        control_socket_close(s);
    return rc;
}

int control_socket_places(char places[CONTROL_SOCKET_PLACES][CONTROL_SOCKET_PLACE_MAX])
{
    int n = 0;
    const char *session = getenv("XDG_RUNTIME_DIR");
    if (session && *session && strlen(session) < CONTROL_SOCKET_PLACE_MAX)
        snprintf(places[n++], CONTROL_SOCKET_PLACE_MAX, "%s", session);
    snprintf(places[n++], CONTROL_SOCKET_PLACE_MAX, "/run/user/%u", (unsigned)geteuid());
    snprintf(places[n++], CONTROL_SOCKET_PLACE_MAX, "/tmp"); /* the last: everybody's */
    return n;
}

int control_socket_open(struct control_socket *s, int backlog, struct err *err)
{
    char places[CONTROL_SOCKET_PLACES][CONTROL_SOCKET_PLACE_MAX], tried[400] = "";
    int n = control_socket_places(places), rc = -ENOENT;
    *s = (struct control_socket){-1, -1};
    for (int i = 0; i < n; i++) {
        bool private = i < n - 1;
        rc = private ? check_private(places[i]) : 0;
        rc = rc < 0 ? rc : make_in(s, places[i], backlog);
        if (rc == 0)
            return 0;
        size_t used = strlen(tried);
        if (rc != -ENOENT || !private)
            snprintf(tried + used, sizeof tried - used, "%s%s: %s", used ? "; " : "", places[i],
                     strerror(-rc));
    }
    return err_set(err, rc,
                   "nowhere to put the control socket (%s): make /tmp writable for this user, or "
                   "record with control=off",
                   tried);
}

void control_socket_hide(struct control_socket *s)
{
    if (s->place >= 0)
        close(s->place);
    s->place = -1;
}

void control_socket_close(struct control_socket *s)
{
    control_socket_hide(s);
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

bool control_socket_lets_in(int connection)
{
    struct ucred who;
    socklen_t n = sizeof who;
    return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0 &&
           (who.uid == geteuid() || who.uid == 0);
}

/* --- finding it ------------------------------------------------------------------------------- */

/* Whether a descriptor of the process leads to such a socket. */
static bool is_place(int fds, const char *number)
{
    static const char end[] = "/" NAME " (deleted)";
    char link[4096];
    ssize_t n = readlinkat(fds, number, link, sizeof link);
    return n >= (ssize_t)sizeof end &&
           memcmp(link + n - (sizeof end - 1), end, sizeof end - 1) == 0;
}

/* It may belong to another process that passed it on: the listening one is meant. */
static int connect_place(int fds, const char *number, pid_t pid)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    struct ucred who;
    socklen_t n = sizeof who;
    snprintf(to.sun_path, sizeof to.sun_path, "/proc/self/fd/%d/%.20s", fds, number);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    int rc = connect(fd, (const struct sockaddr *)&to, sizeof to) < 0 ? -errno : 0;
    if (rc == -ECONNREFUSED)
        rc = -ENOENT;
    if (rc == 0 && (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) < 0 || who.pid != pid))
        rc = -ENOENT;
    if (rc == 0)
        return fd;
    close(fd);
    return rc;
}

int control_socket_connect(int proc, pid_t pid)
{
    int fds = openat(proc, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -ENOENT;
    DIR *d = fds < 0 ? NULL : fdopendir(fds);
    if (!d) {
        fd = errno == ESRCH ? -ENOENT : -errno;
        if (fds >= 0)
            close(fds);
        return fd;
    }
    for (struct dirent *e; fd == -ENOENT && (e = readdir(d));)
        if (is_place(fds, e->d_name))
            fd = connect_place(fds, e->d_name, pid);
    closedir(d);
    return fd;
}

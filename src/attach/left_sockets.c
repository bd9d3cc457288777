#include "attach/left_sockets.h"

#include "attach/listener.h"
#include "base/control_socket.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FRESH_S = 10 }; /* a JVM that is making its socket takes microseconds */

struct search {
    bool remove;
    void (*each)(void *ctx, const char *path);
    void *ctx;
    char path[CONTROL_SOCKET_PLACE_MAX + 2 * NAME_MAX];
};

static bool is_dead(int folder, const char *name)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool dead = fd >= 0 && listener_connect_in(fd, folder, name) == -ENOENT;
    if (fd >= 0)
        close(fd);
    return dead;
}

/* False: it stays. */
static bool look_at_file(struct search *s, int folder, const char *name)
{
    struct stat st;
    size_t at = strlen(s->path);
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISSOCK(st.st_mode) ||
        !is_dead(folder, name) || (s->remove && unlinkat(folder, name, 0) < 0))
        return false;
    snprintf(s->path + at, sizeof s->path - at, "/%s", name);
    s->each(s->ctx, s->path);
    s->path[at] = 0;
    return true;
}

static bool is_old_and_private(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
           !(st.st_mode & 077) && time(NULL) - st.st_mtime >= FRESH_S;
}

static void look_into(struct search *s, int place, const char *name)
{
    int fd = openat(place, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd >= 0 && is_old_and_private(fd) ? fdopendir(fd) : NULL;
    bool all = true;
    for (struct dirent *e; d && (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            all &= look_at_file(s, fd, e->d_name);
    if (d && all && (!s->remove || unlinkat(place, name, AT_REMOVEDIR) == 0))
        s->each(s->ctx, s->path);
    if (d)
        closedir(d);
    else if (fd >= 0)
        close(fd);
}

void left_sockets(bool remove, void (*each)(void *ctx, const char *path), void *ctx)
{
    static const char pattern[] = CONTROL_SOCKET_FOLDER;
    char places[CONTROL_SOCKET_PLACES][CONTROL_SOCKET_PLACE_MAX];
    int n = control_socket_places(places);
    for (int i = 0; i < n; i++) {
        struct search s = {.remove = remove, .each = each, .ctx = ctx};
        DIR *d = opendir(places[i]);
        for (struct dirent *e; d && (e = readdir(d));)
            if (strncmp(e->d_name, pattern, strcspn(pattern, "X")) == 0) {
                snprintf(s.path, sizeof s.path, "%s/%s", places[i], e->d_name);
                look_into(&s, dirfd(d), e->d_name);
            }
        if (d)
            closedir(d);
    }
}

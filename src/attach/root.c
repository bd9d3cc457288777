#include "attach/root.h"

#include "base/fdio.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *root_remedy(void)
{
    return geteuid() ? "it has more rights than this command, or a security module (Yama, "
                       "AppArmor, SELinux) or the container forbids it; run orca as root, or "
                       "inside the container"
                     : "a security module (Yama, AppArmor, SELinux) or the container forbids it; "
                       "run orca outside of the container, or with the capability SYS_PTRACE";
}

int root_open(pid_t pid, struct err *err)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/root", (int)pid);
    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        return fd;
    int code = -errno;
    if (code == -ENOENT || code == -ESRCH)
        return err_set(err, -ESRCH, "process %d has ended", (int)pid);
    return err_set(err, code, "%s cannot be entered (%s): %s", path, strerror(-code),
                   root_remedy());
}

int root_open_in(int root, const char *path, int flags)
{
    struct open_how how;
    memset(&how, 0, sizeof how);
    how.flags = (uint64_t)flags | O_CLOEXEC;
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
    for (int tries = 0; tries < 16; tries++) {
        long fd = syscall(SYS_openat2, root, path, &how, sizeof how);
        if (fd >= 0)
            return (int)fd;
        if (errno != EAGAIN && errno != EINTR) /* EAGAIN: a folder was moved during that */
            break;
    }
    /* EPERM: what older container engines answer to a system call that they do not know. */
    if (errno != ENOSYS && errno != EPERM)
        return -errno;
    path += strspn(path, "/");
    int fd = openat(root, *path ? path : ".", flags | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int root_make_folder(int parent, char *name, uid_t uid, gid_t gid)
{
    char path[128];
    struct stat st;
    int prefix = snprintf(path, sizeof path, "/proc/self/fd/%d/", parent);
    if (snprintf(path + prefix, sizeof path - (size_t)prefix, "%s", name) >=
            (int)sizeof path - prefix ||
        !mkdtemp(path))
        return -errno;
    memcpy(name, path + prefix, strlen(name));
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int rc = fd < 0 || fstat(fd, &st) < 0 ? -errno : st.st_uid == geteuid() ? 0 : -EPERM;
    if (rc == 0 && uid != geteuid() && fchown(fd, uid, gid) < 0)
        rc = -errno;
    if (rc == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    unlinkat(parent, name, AT_REMOVEDIR);
    return rc;
}

int root_read_file(int root, const char *path, size_t most, struct buf *out)
{
    int fd = root_open_in(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return fd;
    struct stat st;
    uint8_t *to = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? buf_reserve(out, most) : NULL;
    ssize_t n = to ? fdio_read_some(fd, to, most) : -EINVAL;
    close(fd);
    if (n < 0)
        return (int)n;
    out->len += (size_t)n;
    return 0;
}

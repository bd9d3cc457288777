#include "attach/library.h"

#include "attach/root.h"
#include "base/fdio.h"
#include "base/hash.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { LIBRARY_MOST = 256 << 20 };
#define FOLDER ".orca-XXXXXX"

struct copy {
    const struct jvm *jvm;
    struct buf bytes;
    int dir;
    char folder[32], name[64]; /* the folder's name in /tmp; the copy's in it */
};

/* Whether the JVM finds the same file at this path. */
static bool seen_alike(int root, const char *path)
{
    struct stat ours, theirs;
    int fd = root_open_in(root, path, O_PATH);
    bool same = fd >= 0 && fstat(fd, &theirs) == 0 && stat(path, &ours) == 0 &&
                ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
    if (fd >= 0)
        close(fd);
    return same;
}

static int read_library(const char *path, struct buf *out, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    int64_t size = fdio_size(fd);
    uint8_t *to = size > 0 && size <= LIBRARY_MOST ? buf_reserve(out, (size_t)size) : NULL;
    ssize_t n = to ? fdio_read_some(fd, to, (size_t)size) : -EINVAL;
    close(fd);
    if (n != size)
        return err_set(err, -EINVAL, "%s cannot be read as a library", path);
    out->len = (size_t)n;
    return 0;
}

static int say_no_copy(const struct copy *c, int code, struct err *err)
{
    return err_set(err, code,
                   "the agent cannot be copied to /tmp of JVM %d (%s), which does not see it here: "
                   "%s; put liborca.so into that container, at its path here",
                   (int)c->jvm->pid, c->jvm->name, strerror(-code));
}

static bool has_equal(const struct copy *c)
{
    int fd = openat(c->dir, c->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    struct buf there;
    buf_init(&there);
    bool equal = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
                 st.st_uid == c->jvm->uid && !(st.st_mode & 022) &&
                 (uint64_t)st.st_size == c->bytes.len && buf_reserve(&there, c->bytes.len) &&
                 fdio_read_some(fd, there.p, c->bytes.len) == (ssize_t)c->bytes.len &&
                 memcmp(there.p, c->bytes.p, c->bytes.len) == 0;
    if (fd >= 0)
        close(fd);
    buf_fini(&there);
    return equal;
}

/* Under another name first, so that a JVM never meets half of it. */
static int write_copy(const struct copy *c)
{
    char temporary[sizeof c->name + 16];
    snprintf(temporary, sizeof temporary, "%s.%d", c->name, (int)getpid());
    unlinkat(c->dir, temporary, 0);
    int fd = openat(c->dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    int rc = fdio_write_all(fd, c->bytes.p, c->bytes.len);
    if (rc == 0 && c->jvm->uid != geteuid() && fchown(fd, c->jvm->uid, c->jvm->gid) < 0)
        rc = -errno;
    if (rc == 0 && fchmod(fd, 0500) < 0)
        rc = -errno;
    close(fd);
    if (rc == 0 && renameat(c->dir, temporary, c->dir, c->name) < 0)
        rc = -errno;
    if (rc < 0)
        unlinkat(c->dir, temporary, 0);
    return rc;
}

/* A folder that is the JVM's user's alone. */
static bool is_private(const struct copy *c)
{
    struct stat st;
    return fstat(c->dir, &st) == 0 && st.st_uid == c->jvm->uid && !(st.st_mode & 077);
}

/* Leaves the folder in c->dir where an equal copy is in one. */
static bool find_equal(struct copy *c, int root)
{
    int tmp = root_open_in(root, "/tmp", O_RDONLY | O_DIRECTORY);
    DIR *d = tmp < 0 ? NULL : fdopendir(tmp);
    for (struct dirent *e; d && c->dir < 0 && (e = readdir(d));) {
        if (strncmp(e->d_name, FOLDER, strcspn(FOLDER, "X")) != 0 ||
            strlen(e->d_name) >= sizeof c->folder)
            continue;
        c->dir = openat(tmp, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        snprintf(c->folder, sizeof c->folder, "%s", e->d_name);
        if (c->dir >= 0 && !(is_private(c) && has_equal(c))) {
            close(c->dir);
            c->dir = -1;
        }
    }
    if (d)
        closedir(d);
    return c->dir >= 0;
}

static int copy_into(struct copy *c, int root, struct err *err)
{
    if (find_equal(c, root))
        return 0;
    int tmp = root_open_in(root, "/tmp", O_PATH | O_DIRECTORY);
    if (tmp < 0)
        return say_no_copy(c, tmp, err);
    struct statvfs v;
    int rc = 0;
    if (fstatvfs(tmp, &v) == 0 && (v.f_flag & ST_NOEXEC))
        rc = err_set(err, -EACCES,
                     "JVM %d (%s) does not see liborca.so, and its /tmp, where a copy would go, is "
                     "mounted noexec: put liborca.so into that container, at its path here",
                     (int)c->jvm->pid, c->jvm->name);
    if (rc == 0) {
        snprintf(c->folder, sizeof c->folder, FOLDER);
        c->dir = root_make_folder(tmp, c->folder, c->jvm->uid, c->jvm->gid);
        rc = c->dir < 0 ? c->dir : write_copy(c);
        if (rc < 0 && c->dir >= 0)
            unlinkat(tmp, c->folder, AT_REMOVEDIR);
        if (rc < 0)
            say_no_copy(c, rc, err);
    }
    close(tmp);
    return rc;
}

static int place_copy(const struct jvm *jvm, int root, const char *path, char *seen, size_t room,
                      struct err *err)
{
    struct copy c = {.jvm = jvm, .dir = -1};
    buf_init(&c.bytes);
    int rc = read_library(path, &c.bytes, err);
    if (rc == 0) {
        snprintf(c.name, sizeof c.name, "liborca-%016" PRIx64 ".so",
                 hash_bytes(c.bytes.p, c.bytes.len, 0));
        rc = copy_into(&c, root, err);
    }
    if (c.dir >= 0)
        close(c.dir);
    buf_fini(&c.bytes);
    TRY(rc);
    if ((size_t)snprintf(seen, room, "/tmp/%s/%s", c.folder, c.name) >= room)
        return err_set(err, -ENAMETOOLONG, "%s: the path is too long", path);
    return 0;
}

int library_place(const struct jvm *jvm, const char *path, char *seen, size_t room, struct err *err)
{
    char *real = realpath(path, NULL);
    if (!real)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    int root = root_open(jvm->pid, err);
    int rc = root;
    if (root >= 0 && seen_alike(root, real))
        rc = (size_t)snprintf(seen, room, "%s", real) < room
                 ? 0
                 : err_set(err, -ENAMETOOLONG, "%s: the path is too long", real);
    else if (root >= 0)
        rc = place_copy(jvm, root, real, seen, room, err);
    if (root >= 0)
        close(root);
    free(real);
    return rc;
}

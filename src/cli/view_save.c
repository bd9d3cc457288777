#include "cli/view_save.h"

#include "attach/client.h"
#include "base/fdio.h"
#include "cli/target.h"
#include "import/import.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 1 << 16 };

static int wrong_to(struct serve_why *why, int rc, const char *path, const char *what)
{
    why->field = "to";
    return err_set(&why->err, rc, "%s: %s", path, what);
}

/* The folder must be there, the file must not. */
static int full_path(const char *to, char *out, struct serve_why *why)
{
    char folder[PATH_MAX], real[PATH_MAX];
    const char *last = strrchr(to, '/');
    size_t n = last ? (size_t)(last - to) : 0;
    const char *name = last ? last + 1 : to;
    struct stat there;
    if (n >= sizeof folder || !*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return wrong_to(why, -EINVAL, to, "name a file");
    snprintf(folder, sizeof folder, "%.*s", last ? (int)(n ? n : 1) : 1, last ? to : ".");
    if (!realpath(folder, real))
        return wrong_to(why, -EINVAL, folder, strerror(errno));
    if (snprintf(out, PATH_MAX, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name) >= PATH_MAX)
        return wrong_to(why, -EINVAL, to, "the path is too long");
    if (lstat(out, &there) == 0)
        return wrong_to(why, -EEXIST, out, "already exists: name another file");
    return 0;
}

static int copy_bytes(int from, int to)
{
    char block[BLOCK];
    uint64_t at = 0;
    for (ssize_t n; (n = fdio_pread_some(from, block, sizeof block, at)) != 0; at += (uint64_t)n) {
        if (n < 0)
            return (int)n;
        TRY(fdio_write_all(to, block, (size_t)n));
    }
    return 0;
}

static int copy(const char *path, const char *to, struct serve_why *why)
{
    int from = open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return err_set(&why->err, -errno, "%s: %s", path, strerror(errno));
    int fd = fdio_open_private(to, O_CREAT | O_EXCL, &why->err);
    int rc = fd < 0 ? fd : copy_bytes(from, fd);
    if (fd >= 0 && close(fd) < 0 && rc == 0)
        rc = -errno;
    if (fd < 0)
        why->field = "to";
    else if (rc < 0)
        unlink(to);
    close(from);
    return rc < 0 && fd >= 0 ? wrong_to(why, rc, to, strerror(-rc)) : rc;
}

/* The agent writes a copy that is whole in itself; it sees our files when its root is ours. */
static int dump(const struct jvm *jvm, const char *to, struct serve_why *why)
{
    char root[64];
    struct stat here, there;
    struct buf request;
    snprintf(root, sizeof root, "/proc/%d/root", (int)jvm->pid);
    if (stat(root, &there) < 0 || stat("/", &here) < 0 || here.st_ino != there.st_ino ||
        here.st_dev != there.st_dev)
        return err_set(&why->err, -ENOTSUP,
                       "JVM %d (%s) sees other files than this command: orca dump %d -o FILE makes "
                       "the copy there",
                       (int)jvm->pid, jvm->name, (int)jvm->pid);
    buf_init(&request);
    buf_printf(&request, "dump %s", to);
    int rc = client_ask(jvm, buf_str(&request), TARGET_TIMEOUT_NS, NULL, &why->err);
    buf_fini(&request);
    return rc;
}

int view_save(const char *path, const struct jvm *jvm, const char *to, struct buf *file,
              struct serve_why *why)
{
    char full[PATH_MAX];
    TRY(full_path(to, full, why));
    if (import_wants(path))
        return err_set(&why->err, -EINVAL,
                       "%s: is not an .otrace: copy it yourself, with the files beside it", path);
    TRY(jvm ? dump(jvm, full, why) : copy(path, full, why));
    buf_puts(file, full);
    return 0;
}

#include "cli/heap_file.h"

#include "attach/root.h"
#include "base/util.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { RENAME_KEEPS = 1 /* RENAME_NOREPLACE */ };

/* --- where ------------------------------------------------------------------------------------ */

static bool is_same(int dir, const char *path)
{
    struct stat a, b;
    return fstat(dir, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* The folder of a path, and the name in it. */
static int split(const char *path, char folder[PATH_MAX], char *name, size_t room, struct err *err)
{
    const char *slash = strrchr(path, '/');
    const char *last = slash ? slash + 1 : path;
    size_t n = slash ? (size_t)(slash - path) : 0;
    if (!*last || strcmp(last, ".") == 0 || strcmp(last, "..") == 0)
        return err_set(err, -EISDIR, "%s is a folder: name a file in it", path);
    if (n >= PATH_MAX || (size_t)snprintf(name, room, "%s", last) >= room)
        return err_set(err, -ENAMETOOLONG, "%.200s...: the path is too long", path);
    snprintf(folder, PATH_MAX, "%.*s", slash ? (int)(n ? n : 1) : 1, slash ? path : ".");
    return 0;
}

static int say_no_folder(const struct jvm *jvm, const char *folder, int code, struct err *err)
{
    if (code == -ENOENT)
        return err_set(err, code, "%s: there is no such folder: make it, or name another file",
                       folder);
    return err_set(err, code, "%s cannot be entered in the root of JVM %d (%s): %s", folder,
                   (int)jvm->pid, jvm->name, strerror(-code));
}

/* The folder as the JVM sees it, when that is the same as here; else what the path means there. */
static int open_folder(struct heap_file *f, const struct jvm *jvm, int root, const char *folder,
                       char seen[PATH_MAX], struct err *err)
{
    char *real = realpath(folder, NULL);
    snprintf(seen, PATH_MAX, "%s", real ? real : folder);
    free(real);
    f->dir = *seen == '/' ? root_open_in(root, seen, O_PATH | O_DIRECTORY) : -ENOENT;
    if (f->dir >= 0 && is_same(f->dir, seen)) {
        snprintf(f->here, sizeof f->here, "%s%s", folder, strcmp(folder, "/") ? "/" : "");
        return 0;
    }
    if (folder[0] != '/' && access(folder, F_OK) == 0)
        return err_set(err, -ENOENT,
                       "JVM %d (%s) does not see the folder %s, it has a root of its own: name a "
                       "file by its whole path there, as -o /tmp/heap.hprof",
                       (int)jvm->pid, jvm->name, seen);
    if (f->dir < 0)
        return say_no_folder(jvm, folder, f->dir, err);
    snprintf(seen, PATH_MAX, "%s", folder);
    snprintf(f->here, sizeof f->here, "/proc/%d/root%s/", (int)jvm->pid, folder);
    return 0;
}

static int check_free(const struct heap_file *f, struct err *err)
{
    struct stat st;
    if (fstatat(f->dir, f->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    if (S_ISDIR(st.st_mode))
        return err_set(err, -EISDIR, "%s is a folder: name a file in it", f->here);
    if (f->replace)
        return 0;
    return err_set(err, -EEXIST, "%s already exists: name another file, or --force replaces it",
                   f->here);
}

/* For another user, only its own attempt shows it. */
static int check_writable(const struct heap_file *f, const struct jvm *jvm, struct err *err)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", f->dir);
    if (geteuid() != jvm->uid || access(path, W_OK | X_OK) == 0)
        return 0;
    return err_set(err, -errno, "%s: no file can be made in its folder: %s; name another file",
                   f->here, strerror(errno));
}

static int place(struct heap_file *f, const struct jvm *jvm, int root, const char *path,
                 struct err *err)
{
    char folder[PATH_MAX] = "", seen[PATH_MAX];
    TRY(split(path, folder, f->name, sizeof f->name, err));
    if (strlen(f->name) + strlen(folder) > PATH_MAX - 64)
        return err_set(err, -ENAMETOOLONG, "%.200s...: the path is too long", path);
    TRY(open_folder(f, jvm, root, folder, seen, err));
    size_t n = strlen(f->here);
    snprintf(f->here + n, sizeof f->here - n, "%s", f->name);
    if (strncmp(f->here, "./", 2) == 0 && path[0] != '.')
        memmove(f->here, f->here + 2, strlen(f->here + 2) + 1);
    if ((size_t)snprintf(f->temp, sizeof f->temp, "%.200s.%d.part", f->name, (int)getpid()) >=
        sizeof f->temp)
        return err_set(err, -ENAMETOOLONG, "%.200s...: the name is too long", f->name);
    if ((size_t)snprintf(f->path, sizeof f->path, "%s%s%s", seen, strcmp(seen, "/") ? "/" : "",
                         f->temp) >= sizeof f->path)
        return err_set(err, -ENAMETOOLONG, "%.200s...: the path is too long", path);
    if (strpbrk(f->path, "\n\r"))
        return err_set(err, -EINVAL, "a file's name with a line break cannot be passed to a JVM");
    TRY(check_free(f, err));
    return check_writable(f, jvm, err);
}

int heap_file_open(struct heap_file *f, const struct jvm *jvm, const char *path, bool replace,
                   struct err *err)
{
    memset(f, 0, sizeof *f);
    f->dir = -1;
    f->replace = replace;
    int root = root_open(jvm->pid, err);
    TRY(root);
    int rc = place(f, jvm, root, path, err);
    close(root);
    if (rc < 0 && f->dir >= 0)
        close(f->dir);
    if (rc < 0)
        f->dir = -1;
    return rc;
}

/* --- while it is written ---------------------------------------------------------------------- */

/* What HotSpot 22 and later write first, several at a time: FILE.p0, FILE.p1, ... */
static bool is_part(const struct heap_file *f, const char *name)
{
    size_t n = strlen(f->temp);
    return strncmp(name, f->temp, n) == 0 &&
           (!name[n] || (name[n] == '.' && name[n + 1] == 'p' &&
                         name[n + 2 + strspn(name + n + 2, "0123456789")] == 0));
}

static void each_part(const struct heap_file *f,
                      void (*visit)(int dir, const char *name, void *ctx), void *ctx)
{
    int fd = openat(f->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) { /* a folder that may not be listed: the one name that is known */
        if (fd >= 0)
            close(fd);
        visit(f->dir, f->temp, ctx);
        return;
    }
    for (struct dirent *e; (e = readdir(d));)
        if (is_part(f, e->d_name))
            visit(f->dir, e->d_name, ctx);
    closedir(d);
}

static void add_size(int dir, const char *name, void *ctx)
{
    struct stat st;
    uint64_t *bytes = ctx;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        *bytes += (uint64_t)st.st_size;
}

uint64_t heap_file_size(const struct heap_file *f)
{
    uint64_t bytes = 0;
    each_part(f, add_size, &bytes);
    return bytes;
}

static void remove_part(int dir, const char *name, void *ctx)
{
    UNUSED(ctx);
    unlinkat(dir, name, 0);
}

/* --- the end ---------------------------------------------------------------------------------- */

static int rename_it(const struct heap_file *f)
{
    if (f->replace)
        return renameat(f->dir, f->temp, f->dir, f->name) < 0 ? -errno : 0;
    if (syscall(SYS_renameat2, f->dir, f->temp, f->dir, f->name, RENAME_KEEPS) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -errno;
    /* A file system that cannot refuse: a link does. */
    if (linkat(f->dir, f->temp, f->dir, f->name, 0) < 0)
        return -errno;
    unlinkat(f->dir, f->temp, 0);
    return 0;
}

int heap_file_publish(struct heap_file *f, struct err *err)
{
    int rc = rename_it(f);
    if (rc == -ENOENT)
        err_set(err, rc,
                "%s: the JVM reports that the dump is written, but the file does not exist",
                f->here);
    else if (rc == -EEXIST)
        err_set(err, rc, "%s was created by another program during the dump: name another file",
                f->here);
    else if (rc < 0)
        err_set(err, rc, "%s: the finished dump cannot be renamed: %s", f->here, strerror(-rc));
    if (rc == 0) {
        close(f->dir);
        f->dir = -1;
    }
    return rc;
}

void heap_file_discard(struct heap_file *f)
{
    if (f->dir < 0)
        return;
    each_part(f, remove_part, NULL);
    close(f->dir);
    f->dir = -1;
}

/* --- a signal --------------------------------------------------------------------------------- */

static const struct heap_file *volatile guarded;

static void on_signal(int signal)
{
    enum { BY_SIGNAL = 128 };
    const struct heap_file *f = guarded;
    if (f)
        unlinkat(f->dir, f->temp, 0);
    _exit(BY_SIGNAL + signal);
}

void heap_file_guard(const struct heap_file *f)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    guarded = f;
    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        struct sigaction a;
        memset(&a, 0, sizeof a);
        a.sa_handler = f ? on_signal : SIG_DFL;
        sigaction(signals[i], &a, NULL);
    }
}

#include "attach/trigger.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void trigger_init(struct trigger *t)
{
    memset(t, 0, sizeof *t);
    t->dir = -1;
}

void trigger_fini(struct trigger *t)
{
    if (t->dir < 0)
        return;
    unlinkat(t->dir, t->name, 0);
    close(t->dir);
    t->dir = -1;
}

static bool believed(const struct jvm *jvm, const struct stat *st)
{
    return st->st_uid == jvm->uid || st->st_uid == 0;
}

/* A new file.  Root gives it to the JVM's user, who may not know root by that number (user
 * namespaces).  -EPERM when the file system gave it to another user (NFS). */
static int make(struct trigger *t, const struct jvm *jvm, int dir)
{
    int fd = openat(dir, t->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    struct stat st;
    if (jvm->uid != geteuid() && fchown(fd, jvm->uid, jvm->gid) < 0)
        t->was_there = false; /* root's own file is believed, too, where root is root */
    bool good = fstat(fd, &st) == 0 && believed(jvm, &st);
    close(fd);
    if (good)
        return 0;
    unlinkat(dir, t->name, 0);
    return -EPERM;
}

/* Make or find the file in one folder. */
static int make_in(struct trigger *t, const struct jvm *jvm, int dir)
{
    t->was_there = false;
    int rc = make(t, jvm, dir);
    if (rc != -EEXIST)
        return rc;
    struct stat st;
    if (fstatat(dir, t->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && believed(jvm, &st)) {
        t->was_there = true;
        return 0;
    }
    /* Gone by now, or one that the JVM would not believe: it would print a thread dump. */
    if (unlinkat(dir, t->name, 0) < 0 && errno != ENOENT)
        return -EEXIST;
    return make(t, jvm, dir);
}

/* A file of another user in the JVM's folder comes first, and keeps it from looking in /tmp. */
static int clear_folder(const struct trigger *t, const struct jvm *jvm, int cwd, struct err *err)
{
    struct stat st;
    if (fstatat(cwd, t->name, &st, 0) < 0 || believed(jvm, &st) || unlinkat(cwd, t->name, 0) == 0)
        return 0;
    return err_set(
        err, -EPERM,
        "the file %s in the folder of JVM %d belongs to another user and prevents attaching: "
        "remove it",
        t->name, (int)jvm->pid);
}

/* In /tmp, or else in the JVM's folder. */
static int make_somewhere(struct trigger *t, const struct jvm *jvm, int tmp, int cwd)
{
    int dir = tmp, rc = make_in(t, jvm, tmp);
    if (rc < 0 && cwd >= 0 && make_in(t, jvm, cwd) == 0) {
        dir = cwd;
        rc = 0;
    }
    if (rc < 0)
        return rc;
    t->dir = openat(dir, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (t->dir >= 0)
        return 0;
    rc = -errno;
    unlinkat(dir, t->name, 0);
    return rc;
}

int trigger_make(struct trigger *t, const struct jvm *jvm, int tmp, struct err *err)
{
    char path[64];
    snprintf(t->name, sizeof t->name, ".attach_pid%d", (int)jvm->ns_pid);
    snprintf(path, sizeof path, "/proc/%d/cwd", (int)jvm->pid);
    int cwd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int rc = cwd < 0 ? 0 : clear_folder(t, jvm, cwd, err);
    if (rc == 0 && (rc = make_somewhere(t, jvm, tmp, cwd)) < 0)
        err_set(err, rc,
                "%s can be made neither in /tmp nor in the folder of JVM %d (%s): make /tmp "
                "writable for its user",
                t->name, (int)jvm->pid, strerror(-rc));
    if (cwd >= 0)
        close(cwd);
    return rc;
}

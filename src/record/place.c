#include "record/place.h"

#include "base/fdio.h"
#include "format/chunk.h"
#include "record/recover.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A trace is empty for the instant between its creation and its header, and its rings have no name
 * for another one. */
enum { FRESH_S = 5 };

static bool fresh(const struct stat *st)
{
    return time(NULL) - st->st_mtime < FRESH_S;
}

/* 1: an Orca trace, 2: an empty file that may become one, 0: nothing, -EEXIST: something else. */
static int look(const char *path, struct err *err)
{
    uint8_t magic[8];
    struct stat st;
    if (lstat(path, &st) < 0)
        return errno == ENOENT ? 0 : 1; /* creating the file will say what is wrong */
    int fd = S_ISREG(st.st_mode) ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    ssize_t n = fd >= 0 ? fdio_pread_some(fd, magic, sizeof magic, 0) : -1;
    if (fd >= 0)
        close(fd);
    if (n == 0) /* made by another JVM a moment ago, or left over */
        return fresh(&st) ? 2 : 1;
    if (n == (ssize_t)sizeof magic && memcmp(magic, FILE_MAGIC, sizeof magic) == 0)
        return 1;
    return err_set(err, -EEXIST,
                   "%s exists and is not an Orca trace, and is kept; name another file "
                   "with file=",
                   path);
}

/* Remove a complete trace.  Two JVMs may want to at once, and the second must not remove what the
 * first has put there: only the holder of the old file's lock may unlink the name, and only while
 * it names that file. 1: removed; 0: another process is at it; or a negative errno. */
static int remove_old(const char *path)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat there, here;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT ? 1 : -errno;
    int rc = 0;
    if (fcntl(fd, F_OFD_SETLK, &lock) == 0 && fstat(fd, &here) == 0 && lstat(path, &there) == 0 &&
        here.st_ino == there.st_ino && here.st_dev == there.st_dev)
        rc = unlink(path) < 0 ? -errno : 1;
    close(fd);
    return rc;
}

/* "dir/app.otrace" -> "dir/app<what>.otrace" */
static int add_before_suffix(char *path, size_t n, const char *what)
{
    char copy[RING_PATH_MAX];
    if (strlen(path) >= sizeof copy)
        return -ENAMETOOLONG;
    snprintf(copy, sizeof copy, "%s", path);
    char *slash = strrchr(copy, '/'), *dot = strrchr(copy, '.');
    if (!dot || (slash && dot < slash))
        dot = copy + strlen(copy);
    int len = snprintf(path, n, "%.*s%s%s", (int)(dot - copy), copy, what, dot);
    return len < 0 || (size_t)len >= n ? -ENAMETOOLONG : 0;
}

static int add_pid(char *path, size_t n, uint32_t pid)
{
    char text[16];
    snprintf(text, sizeof text, "-%u", pid);
    return add_before_suffix(path, n, text);
}

/* enum recover_state of the trace that is there, without touching it. */
static int state_of(const char *path)
{
    struct stat st;
    int state = recover_probe(path, NULL);
    if (state == RECOVER_GONE && lstat(path, &st) == 0 && fresh(&st))
        return RECOVER_LIVE;
    return state;
}

int place_trace(char *path, size_t n, int keep, struct err *err)
{
    char asked[RING_PATH_MAX];
    snprintf(asked, sizeof asked, "%s", path);
    int there = look(path, err);
    if (there <= 0)
        return there;
    int state = there == 2 ? RECOVER_LIVE : state_of(path);
    if (state == RECOVER_NOTHING && !keep) {
        int gone = remove_old(path);
        if (gone < 0)
            return err_set(err, gone, "%s: cannot replace it: %s", path, strerror(-gone));
        if (gone)
            return 0;
        state = RECOVER_LIVE;
    }
    int rc = add_pid(path, n, (uint32_t)getpid());
    if (rc < 0)
        return err_set(err, rc, "%s: %s", asked, strerror(-rc));
    there = look(path, err);
    if (there < 0)
        return there;
    if (there && recover_probe(path, NULL) == RECOVER_NOTHING)
        unlink(path); /* of an earlier process with this pid */
    err_set(err, 0, "%s %s: recording to %s", asked,
            state == RECOVER_LIVE ? "is being recorded by another JVM"
            : keep                ? "belongs to another JVM of this run"
                                  : "is the unfinished trace of a killed JVM",
            path);
    return 1;
}

/* Give the trace that `fd` is its own name: the process id in it.  Only who holds the file's lock
 * may, and only while the name is that file's (remove_old). */
static int rename_old(int fd, const char *path, char *aside, size_t n, uint32_t *pid)
{
    uint8_t page[FILE_HEADER_SIZE];
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat there, here;
    struct file_header h;
    ssize_t len = fdio_pread_some(fd, page, sizeof page, 0);
    if (len < 0 || file_header_unpack(&h, page, (size_t)len, NULL) < 0)
        return 0;
    *pid = h.pid;
    snprintf(aside, n, "%s", path);
    if (add_pid(aside, n, h.pid) < 0 || fcntl(fd, F_OFD_SETLK, &lock) < 0 || fstat(fd, &here) < 0 ||
        lstat(path, &there) < 0 || here.st_ino != there.st_ino || here.st_dev != there.st_dev)
        return 0;
    int state = recover_probe(path, NULL);
    bool idle = state != RECOVER_LIVE && !(state == RECOVER_GONE && fresh(&here));
    return idle && access(aside, F_OK) < 0 && rename(path, aside) == 0;
}

int place_aside(const char *path, const char *format, struct err *err)
{
    char aside[RING_PATH_MAX];
    uint32_t pid = 0;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return 0;
    int moved = rename_old(fd, path, aside, sizeof aside, &pid);
    close(fd);
    if (moved)
        err_set(err, 0,
                "%s was left by JVM %u before its text files were written: it is now %s, and orca "
                "export %s --to %s writes them",
                path, pid, aside, aside, format);
    return moved;
}

/* Whether a complete trace is of an earlier recording, by when it ended. */
static bool is_older(const char *path, uint64_t since)
{
    uint8_t page[FILE_HEADER_SIZE];
    struct file_header h;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    ssize_t n = fdio_pread_some(fd, page, sizeof page, 0);
    close(fd);
    if (n < 0 || file_header_unpack(&h, page, (size_t)n, NULL) < 0)
        return false;
    uint64_t lasted = h.end_mono > h.start_mono ? h.end_mono - h.start_mono : 0;
    return h.start_real + lasted < since;
}

int place_next(char *path, size_t n, uint32_t part, uint64_t since, struct err *err)
{
    char number[16];
    snprintf(number, sizeof number, ".%03u", part);
    int rc = add_before_suffix(path, n, number);
    if (rc < 0)
        return err_set(err, rc, "%s: %s", path, strerror(-rc));
    rc = place_trace(path, n, !is_older(path, since), err);
    return rc < 0 ? rc : 0;
}

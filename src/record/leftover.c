#include "record/leftover.h"

#include "base/fdio.h"
#include "base/util.h"
#include "record/region.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOOKS_MAX = 100000 }; /* files of a folder that are looked at for a trace */

/* --- the trace -------------------------------------------------------------------------------- */

/* Whether a file is the trace of these rings, and no copy that was made complete by itself; then
 * whether it needs them. */
static bool is_trace(int dir, const char *name, const struct region_left *left, const char *rings,
                     bool *needs)
{
    uint8_t page[FILE_HEADER_SIZE];
    struct file_header h;
    uint64_t id_file, id_recording;
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return false;
    ssize_t n = fdio_pread_some(fd, page, sizeof page, 0);
    close(fd);
    if (n < 0 || file_header_unpack(&h, page, (size_t)n, NULL) < 0)
        return false;
    region_id_halves(h.id, &id_file, &id_recording);
    const char *slash = strrchr(h.ring_path, '/'), *own = strrchr(rings, '/');
    if (strcmp(slash ? slash + 1 : h.ring_path, own ? own + 1 : rings) != 0)
        return false;
    *needs = h.state == TRACE_RECORDING || h.state == TRACE_TURNING;
    return id_file == left->id_file && id_recording == left->id_recording;
}

static void take(struct leftover *l, const char *folder, const char *name, bool needs)
{
    l->kind = needs ? LEFTOVER_NEEDED : LEFTOVER_COMPLETE;
    snprintf(l->trace, sizeof l->trace, "%.700s/%.300s", folder, name);
}

static bool search(struct leftover *l, const struct region_left *left, const char *folder)
{
    DIR *d = opendir(folder);
    bool found = false, needs = false;
    int looks = 0;
    for (struct dirent *e; d && !needs && looks < LOOKS_MAX && (e = readdir(d)); looks++)
        if ((e->d_type == DT_REG || e->d_type == DT_UNKNOWN || e->d_type == DT_LNK) &&
            is_trace(dirfd(d), e->d_name, left, l->path, &needs)) {
            take(l, folder, e->d_name, needs);
            found = true;
        }
    if (d)
        closedir(d);
    if (!found && looks == LOOKS_MAX)
        l->why = "there are too many files in a folder where their trace may be";
    return found;
}

/* The folder of a path, or where that is gone what is left of the way to it. */
static bool nearest_folder(char *path, struct stat *st)
{
    for (char *slash; (slash = strrchr(path, '/'));) {
        *slash = 0;
        if (stat(*path ? path : "/", st) == 0)
            return true;
    }
    return false;
}

static void find_trace(struct leftover *l, const struct region_left *left,
                       const struct leftover_search *s)
{
    char folder[RING_PATH_MAX];
    bool needs;
    struct stat st;
    const char *slash = strrchr(left->trace.path, '/');
    if (slash && is_trace(AT_FDCWD, left->trace.path, left, l->path, &needs)) {
        snprintf(l->trace, sizeof l->trace, "%s", left->trace.path);
        l->kind = needs ? LEFTOVER_NEEDED : LEFTOVER_COMPLETE;
        return;
    }
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - left->trace.path) : 0,
             left->trace.path);
    if (slash && search(l, left, *folder ? folder : "/"))
        return;
    for (size_t i = 0; i < s->n; i++)
        if (search(l, left, s->folders[i]))
            return;
    snprintf(l->trace, sizeof l->trace, "%s", left->trace.path);
    snprintf(folder, sizeof folder, "%s", left->trace.path);
    l->kind = LEFTOVER_UNKNOWN;
    if (l->why)
        return;
    if (!slash)
        l->why = "an earlier Orca made them, without the path of their trace";
    else if (access(left->trace.path, R_OK) < 0 && errno != ENOENT && errno != ENOTDIR)
        l->why = "their trace cannot be searched for";
    else if (!nearest_folder(folder, &st) || st.st_dev != left->trace.folder)
        l->why = "their trace was on a disk, or in a container, that is not here";
    else
        l->kind = LEFTOVER_DELETED;
}

/* --- the rings -------------------------------------------------------------------------------- */

static int look(struct leftover *l, struct region *r, int dir, const char *folder, const char *name,
                const struct leftover_search *s)
{
    struct region_left left;
    struct stat st;
    memset(l, 0, sizeof *l);
    TRY(region_open_left(r, dir, folder, name, &left));
    snprintf(l->path, sizeof l->path, "%s", r->path);
    l->bytes = fstat(r->fd, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
    find_trace(l, &left, s);
    return 0;
}

int leftover_list(const char *folder, const struct leftover_search *s,
                  void (*each)(void *ctx, const struct leftover *l), void *ctx, struct err *err)
{
    struct leftover l;
    struct region r;
    DIR *d = opendir(folder);
    if (!d)
        return err_set(err, -errno, "%s: %s", folder, strerror(errno));
    for (struct dirent *e; (e = readdir(d));)
        if (look(&l, &r, dirfd(d), folder, e->d_name, s) == 0) {
            region_close(&r); /* and others may take it while it is talked about */
            each(ctx, &l);
        }
    closedir(d);
    return 0;
}

static int open_one(struct leftover *l, struct region *r, const char *path,
                    const struct leftover_search *s, struct err *err)
{
    char folder[RING_PATH_MAX];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    int dir = open(*folder ? folder : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = dir < 0 ? -errno : look(l, r, dir, folder, name, s);
    if (dir >= 0)
        close(dir);
    if (rc == -EBUSY)
        return err_set(err, rc, "%s: a JVM records into it: the file stays", path);
    if (rc == -EINVAL)
        return err_set(err, rc, "%s: not the rings of a recording: the file stays", path);
    if (rc == -EPERM)
        return err_set(err, rc, "%s: other users can write to it: it stays", path);
    return rc < 0 ? err_set(err, rc, "%s: %s", path, strerror(-rc)) : 0;
}

int leftover_find(struct leftover *l, const char *path, const struct leftover_search *s,
                  struct err *err)
{
    struct region r;
    TRY(open_one(l, &r, path, s, err));
    region_close(&r);
    return 0;
}

int leftover_remove(const struct leftover *l, const struct leftover_search *s, struct err *err)
{
    struct leftover now = {.kind = LEFTOVER_NEEDED};
    struct region r;
    TRY(open_one(&now, &r, l->path, s, err));
    bool same = now.kind == l->kind && now.kind != LEFTOVER_NEEDED;
    if (same)
        region_unlink(&r); /* with its lock: no process can begin to complete a trace with it */
    region_close(&r);
    return same ? 0 : err_set(err, -EBUSY, "%s: its trace has appeared: the file stays", l->path);
}

#include "record/region.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/util.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEP_CTL = 64 * 1024, STEP_DATA = 256 * 1024, PAGE = 4096 };

/* Where the controls began before there were notes. */
#define NOTES_OFFSET ALIGN_UP(sizeof(struct region_header), (uint64_t)PAGE)
_Static_assert(sizeof(struct region_notes) <= PAGE, "region_notes");

static int lock_whole(int fd)
{
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_SETLK, &l) < 0 ? -errno : 0;
}

/* fallocate where the file system has it; elsewhere write zeros, so that the pages are there. */
static int reserve(int fd, uint64_t offset, uint64_t len)
{
    while (fallocate(fd, 0, (off_t)offset, (off_t)len) < 0) {
        if (errno == EINTR)
            continue;
        if (errno != EOPNOTSUPP && errno != ENOSYS)
            return -errno;
        static const char zeros[PAGE];
        for (uint64_t done = 0; done < len; done += sizeof zeros)
            TRY(fdio_pwrite_all(fd, zeros, min_u64(sizeof zeros, len - done), offset + done));
        break;
    }
    return 0;
}

static int map(struct region *r)
{
    void *p = mmap(NULL, r->size, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
    if (p == MAP_FAILED)
        return -errno;
    /* A forked child that is not yet a new program must not be able to write events. */
    madvise(p, r->size, MADV_DONTFORK);
    madvise(p, r->size, MADV_DONTDUMP);
    r->h = p;
    return 0;
}

/* "<dir>/orca-<pid>-<8 hex digits of the trace id>.rings" */
static int name_in(char *out, size_t n, const char *dir, const uint8_t *id)
{
    int len = snprintf(out, n, "%s/orca-%d-%02x%02x%02x%02x.rings", dir, (int)getpid(), id[0],
                       id[1], id[2], id[3]);
    return len < 0 || (size_t)len >= n ? -ENAMETOOLONG : 0;
}

/* A file without a name in `dir`; where that cannot be, or could not be named later, one at
 * r->path. */
static int open_new(struct region *r, const char *dir)
{
    if (access("/proc/self/fd", X_OK) == 0) {
        r->fd = open(dir, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
        if (r->fd >= 0)
            return 0;
    }
    r->fd = open(r->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    r->named = r->fd >= 0;
    return r->fd < 0 ? -errno : 0;
}

static int create_in(struct region *r, const char *dir, const uint8_t *id, uint64_t size,
                     uint64_t fixed)
{
    TRY(name_in(r->path, sizeof r->path, dir, id));
    TRY(open_new(r, dir));
    r->size = size;
    int rc = ftruncate(r->fd, (off_t)size) < 0 ? -errno : 0;
    if (rc == 0)
        rc = reserve(r->fd, 0, fixed);
    if (rc == 0)
        rc = lock_whole(r->fd);
    if (rc == 0)
        rc = map(r);
    if (rc < 0) {
        region_unlink(r);
        region_close(r);
    }
    return rc;
}

static void dir_of(char *out, size_t n, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        snprintf(out, n, ".");
    else
        snprintf(out, n, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

int region_create(struct region *r, const char *dir, const char *trace_path, uint64_t mem,
                  const uint8_t trace_id[TRACE_ID_SIZE], struct err *err)
{
    memset(r, 0, sizeof *r);
    r->fd = r->dir = -1;
    uint64_t max_rings = mem / RING_SIZE_MIN;
    uint64_t ctl_offset = NOTES_OFFSET + PAGE;
    uint64_t data_offset = ALIGN_UP(ctl_offset + max_rings * RING_CTL_SIZE, (uint64_t)PAGE);
    char beside[RING_PATH_MAX];
    dir_of(beside, sizeof beside, trace_path);
    const char *const dirs[] = {dir ? dir : "/dev/shm", dir ? NULL : beside};
    int rc = create_in(r, dirs[0], trace_id, data_offset + mem, ctl_offset), first_rc = rc;
    if (rc < 0 && dirs[1])
        rc = create_in(r, dirs[1], trace_id, data_offset + mem, ctl_offset);
    if (rc < 0)
        return dir ? err_set(err, rc, "%s: cannot make the rings' shared memory: %s", dir,
                             strerror(-rc))
                   : err_set(
                         err, rc,
                         "cannot make the rings' shared memory: %s: %s; %s: %s; free some space "
                         "or name another folder with ringdir=",
                         dirs[0], strerror(-first_rc), beside, strerror(-rc));
    struct region_header *h = r->h;
    h->size = r->size;
    uint64_t id_file;
    region_id_halves(trace_id, &id_file, &h->id_recording);
    atomic_store_explicit(&h->id_file, id_file, memory_order_relaxed);
    h->ctl_offset = ctl_offset;
    h->data_offset = data_offset;
    h->max_rings = (uint32_t)max_rings;
    region_note_trace(h, trace_id, trace_path);
    h->magic = REGION_MAGIC;
    return 0;
}

int region_publish(struct region *r, struct err *err)
{
    char self[64];
    if (r->named)
        return 0;
    snprintf(self, sizeof self, "/proc/self/fd/%d", r->fd);
    if (linkat(AT_FDCWD, self, AT_FDCWD, r->path, AT_SYMLINK_FOLLOW) < 0)
        return err_set(err, -errno, "%s: cannot make the rings' shared memory: %s", r->path,
                       strerror(errno));
    r->named = true;
    return 0;
}

struct region_notes *region_notes(struct region_header *h)
{
    return h->ctl_offset >= NOTES_OFFSET + PAGE ? (void *)((char *)h + NOTES_OFFSET) : NULL;
}

void region_note_alive(struct region_header *h, uint64_t now)
{
    /* relaxed: read when the JVM is dead */
    atomic_store_explicit(&region_notes(h)->alive, now, memory_order_relaxed);
}

uint64_t region_alive(struct region_header *h)
{
    struct region_notes *n = region_notes(h);
    uint64_t at = n ? atomic_load_explicit(&n->alive, memory_order_relaxed) : 0;
    return at <= clock_mono_ns() ? at : 0;
}

void region_note_trace(struct region_header *h, const uint8_t id[TRACE_ID_SIZE], const char *path)
{
    uint64_t now = atomic_load_explicit(&h->id_file, memory_order_relaxed), id_recording;
    struct region_notes *n = region_notes(h);
    struct region_trace *t = &n->trace[n->trace[0].id_file == now];
    char folder[RING_PATH_MAX];
    struct stat st;
    dir_of(folder, sizeof folder, path);
    region_id_halves(id, &t->id_file, &id_recording);
    t->folder = stat(folder, &st) == 0 ? (uint64_t)st.st_dev : 0;
    snprintf(t->path, sizeof t->path, "%s", path);
}

void region_id_halves(const uint8_t id[TRACE_ID_SIZE], uint64_t *file, uint64_t *recording)
{
    memcpy(file, id, sizeof *file);
    memcpy(recording, id + sizeof *file, sizeof *recording);
}

void region_note_lost(struct region_header *h, const uint8_t id[TRACE_ID_SIZE],
                      const uint64_t lost[LOSS_LIMIT])
{
    uint64_t now = atomic_load_explicit(&h->id_file, memory_order_relaxed), id_recording;
    struct region_part *p = &h->parts[h->parts[0].id_file == now];
    region_id_halves(id, &p->id_file, &id_recording);
    memcpy(p->lost, lost, sizeof p->lost);
}

void region_lost_before(const struct region_header *h, const uint8_t id[TRACE_ID_SIZE],
                        uint64_t lost[LOSS_LIMIT])
{
    uint64_t id_file, id_recording;
    region_id_halves(id, &id_file, &id_recording);
    memset(lost, 0, LOSS_LIMIT * sizeof *lost);
    for (int i = 0; i < 2; i++)
        if (h->parts[i].id_file == id_file)
            memcpy(lost, h->parts[i].lost, sizeof h->parts[i].lost);
}

static int check(const struct region *r, const uint8_t *trace_id)
{
    const struct region_header *h = r->h;
    uint64_t room = r->size, id_file, id_recording;
    region_id_halves(trace_id, &id_file, &id_recording);
    if (h->magic != REGION_MAGIC || h->size != room || h->id_recording != id_recording)
        return -EINVAL;
    if (atomic_load_explicit(&h->id_file, memory_order_acquire) != id_file)
        return -ESTALE;
    if (h->ctl_offset < sizeof *h || h->ctl_offset > room || h->data_offset > room ||
        h->data_offset < h->ctl_offset || h->ctl_offset % PAGE || h->data_offset % PAGE ||
        h->max_rings > (h->data_offset - h->ctl_offset) / RING_CTL_SIZE)
        return -EINVAL;
    return 0;
}

/* "orca-4711-0a1b2c3d.rings" */
static bool is_name(const char *name)
{
    unsigned pid, id;
    int end = 0;
    return sscanf(name, "orca-%9u-%8x.rings%n", &pid, &id, &end) == 2 && end > 0 && !name[end];
}

/* Open the folder that the path leads to, and keep the file's name: what is done to the file from
 * now on is done in that folder, whatever becomes of the path. */
static int open_folder(struct region *r, const struct region_of *of, const char **name)
{
    char folder[RING_PATH_MAX];
    const char *slash = strrchr(of->path, '/');
    *name = slash ? slash + 1 : of->path;
    if (!is_name(*name))
        return -EINVAL;
    dir_of(folder, sizeof folder, *of->path == '/' ? of->path : of->trace);
    int n = snprintf(r->path, sizeof r->path, "%s/%s", folder, *name);
    if (n < 0 || (size_t)n >= sizeof r->path)
        return -ENAMETOOLONG;
    r->dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return r->dir < 0 ? -errno : 0;
}

static int open_file(struct region *r, const struct region_of *of, const char *name)
{
    struct stat st;
    r->fd = openat(r->dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
    if (r->fd < 0)
        return errno == ELOOP ? -EINVAL : -errno;
    if (fstat(r->fd, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size < sizeof(struct region_header))
        return -EINVAL;
    bool trusted = st.st_uid == of->owner || st.st_uid == geteuid();
    if (!trusted || st.st_mode & 077 || st.st_nlink > 1)
        return -EPERM;
    r->size = (uint64_t)st.st_size;
    r->named = true;
    int rc = lock_whole(r->fd);
    return rc == -EACCES || rc == -EAGAIN ? -EBUSY : rc;
}

static int push_extent(struct region *r, struct buf *b, uint64_t from, uint64_t upto)
{
    const struct region_extent e = {from, upto};
    buf_put(b, &e, sizeof e);
    r->extents = (void *)b->p;
    r->n_extents = b->len / sizeof e;
    return b->oom ? -ENOMEM : 0;
}

static int read_extent(const struct region *r, uint8_t *to, uint64_t at, uint64_t upto)
{
    while (at < upto) {
        ssize_t n = fdio_pread_some(r->fd, to + at, upto - at, at);
        if (n < 0)
            return (int)n;
        if (n == 0)
            return -EINVAL; /* it was made shorter */
        at += (uint64_t)n;
    }
    return 0;
}

/* What has pages: holes are zeros in the copy, too. */
static int read_extents(struct region *r, uint8_t *to)
{
    struct buf extents; /* it goes on as r->extents */
    uint64_t at = 0, end;
    buf_init(&extents);
    for (; (at = fdio_next_data(r->fd, at, r->size, &end)) < r->size; at = end) {
        TRY(push_extent(r, &extents, at, end));
        TRY(read_extent(r, to, at, end));
    }
    return 0;
}

uint64_t region_ring_bytes(const struct region *r)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < r->n_extents; i++) {
        const struct region_extent *e = &r->extents[i];
        if (e->upto > r->h->data_offset)
            sum += e->upto - max_u64(e->from, r->h->data_offset);
    }
    return sum;
}

uint32_t region_next_ctl(const struct region *r, uint32_t i, uint32_t n)
{
    uint64_t at = r->h->ctl_offset + (uint64_t)i * RING_CTL_SIZE;
    size_t k = 0;
    BISECT(k, r->n_extents, r->extents[k].upto <= at);
    if (i >= n || k == r->n_extents)
        return n;
    if (r->extents[k].from <= at)
        return i;
    uint64_t next = (r->extents[k].from - r->h->ctl_offset) / RING_CTL_SIZE;
    return next < n ? (uint32_t)next : n;
}

static int copy(struct region *r)
{
    void *p = mmap(NULL, r->size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return -errno;
    r->h = p;
    return read_extents(r, p);
}

static const char *why(int rc)
{
    switch (rc) {
    case -EINVAL:
        return "not the rings of this trace";
    case -EPERM:
        return "other users may have written to it, so its content is left out; if you trust it, "
               "'chmod 600' it and read the trace again";
    case -ESTALE:
        return "the rings of a later file of this recording: this copy is older than that file";
    case -EBUSY:
        return "in use by a live JVM";
    default:
        return strerror(-rc);
    }
}

int region_open_dead(struct region *r, const struct region_of *of, struct err *err)
{
    const char *name;
    memset(r, 0, sizeof *r);
    r->fd = r->dir = -1;
    int rc = open_folder(r, of, &name);
    rc = rc ? rc : open_file(r, of, name);
    rc = rc ? rc : copy(r);
    rc = rc ? rc : check(r, of->id);
    if (rc == 0)
        return 0;
    region_close(r);
    return err_set(err, rc, "%s: %s", of->path, why(rc));
}

static int read_left(const struct region *r, struct region_left *left)
{
    union { /* what stands before the definition ring */
        struct region_header h;
        char bytes[offsetof(struct region_header, defs)];
    } *head = calloc(1, sizeof *head);
    struct region_notes notes;
    int rc = head ? 0 : -ENOMEM;
    if (rc == 0 &&
        fdio_pread_some(r->fd, head->bytes, sizeof head->bytes, 0) != (ssize_t)sizeof head->bytes)
        rc = -EINVAL;
    if (rc == 0 && (head->h.magic != REGION_MAGIC || head->h.size != r->size))
        rc = -EINVAL;
    memset(left, 0, sizeof *left);
    if (rc == 0) {
        left->id_file = atomic_load_explicit(&head->h.id_file, memory_order_relaxed);
        left->id_recording = head->h.id_recording;
        if (head->h.ctl_offset >= NOTES_OFFSET + PAGE &&
            fdio_pread_some(r->fd, &notes, sizeof notes, NOTES_OFFSET) == (ssize_t)sizeof notes)
            for (int i = 0; i < 2; i++)
                if (notes.trace[i].id_file == left->id_file)
                    left->trace = notes.trace[i];
        left->trace.path[sizeof left->trace.path - 1] = 0;
    }
    free(head);
    return rc;
}

int region_open_left(struct region *r, int dir, const char *folder, const char *name,
                     struct region_left *left)
{
    memset(r, 0, sizeof *r);
    r->fd = r->dir = -1;
    const struct region_of of = {.owner = geteuid()};
    int n = snprintf(r->path, sizeof r->path, "%s/%s", folder, name);
    if (n < 0 || (size_t)n >= sizeof r->path || !is_name(name))
        return -EINVAL;
    r->dir = fcntl(dir, F_DUPFD_CLOEXEC, 0);
    int rc = r->dir < 0 ? -errno : open_file(r, &of, name);
    rc = rc ? rc : read_left(r, left);
    if (rc < 0)
        region_close(r);
    return rc;
}

static int reserve_more(struct region *r, uint64_t offset, uint64_t *have, uint64_t want,
                        uint64_t step, uint64_t limit)
{
    if (want <= *have)
        return 0;
    if (want > limit)
        return -ENOSPC;
    uint64_t upto = min_u64(ALIGN_UP(want, step), limit);
    int rc = reserve(r->fd, offset + *have, upto - *have);
    if (rc < 0 && upto > ALIGN_UP(want, (uint64_t)PAGE)) {
        upto = min_u64(ALIGN_UP(want, (uint64_t)PAGE), limit);
        rc = reserve(r->fd, offset + *have, upto - *have);
    }
    if (rc == 0)
        *have = upto;
    return rc;
}

int region_reserve_ctl(struct region *r, uint64_t len)
{
    return reserve_more(r, r->h->ctl_offset, &r->reserved_ctl, len, STEP_CTL,
                        r->h->data_offset - r->h->ctl_offset);
}

int region_reserve_data(struct region *r, uint64_t len)
{
    return reserve_more(r, r->h->data_offset, &r->reserved_data, len, STEP_DATA,
                        r->size - r->h->data_offset);
}

/* Whether the name still is that of the file that was opened. */
static bool is_still_there(const struct region *r, const char *name)
{
    struct stat opened, there;
    return fstat(r->fd, &opened) == 0 && fstatat(r->dir, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           opened.st_dev == there.st_dev && opened.st_ino == there.st_ino;
}

void region_unlink(struct region *r)
{
    const char *slash = strrchr(r->path, '/'), *name = slash ? slash + 1 : r->path;
    if (r->named && r->dir < 0)
        unlink(r->path);
    else if (r->named && is_still_there(r, name))
        unlinkat(r->dir, name, 0);
    r->named = false;
}

void region_close(struct region *r)
{
    if (r->h)
        munmap(r->h, r->size);
    free(r->extents);
    if (r->fd >= 0)
        close(r->fd);
    if (r->dir >= 0)
        close(r->dir);
    r->h = NULL;
    r->extents = NULL;
    r->n_extents = 0;
    r->fd = r->dir = -1;
}

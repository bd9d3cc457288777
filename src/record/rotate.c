/* rotate.c - the change from one file of a recording to the next, on the drain thread.
 *
 * A recording killed at any instant has each event in exactly one of its files, because one store
 * decides which of them the rings belong to:
 *
 *     1  everything staged is in the old file, and what it names; what comes now, definitions too,
 *        waits in the rings
 *     2  the new file is made, with the definitions of the old one; state TURNING
 *     3  the old file gets the name of the new one, and becomes TURNING
 *     4  the id in the region's header becomes the new file's: one store of eight bytes
 *     5  the old file is closed, the new one's state is RECORDING
 *
 * TURNING means: complete, unless the rings are this file's.  So a new file that was never begun
 * is an empty trace, and an old one that nobody closed a complete one, also when the rings are gone
 * because the other one has been recovered (recover.c). */
#include "base/clock.h"
#include "base/fdio.h"
#include "base/testpoint.h"
#include "base/util.h"
#include "format/trace.h"
#include "record/place.h"
#include "record/recorder_parts.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file to come, until it is the recording's. */
struct next {
    struct writer w;
    int fd;
    char path[RING_PATH_MAX];
};

/* --- the new file ----------------------------------------------------------------------------- */

/* The old one's, but for its own half of the id: chunks of one are none of the other. */
static void next_header(const struct recorder *rec, uint64_t at, struct file_header *h)
{
    uint64_t id_file, id_recording, id_new;
    *h = rec->writer.header;
    region_id_halves(h->id, &id_file, &id_recording);
    if (getrandom(&id_new, sizeof id_new, GRND_NONBLOCK) != (ssize_t)sizeof id_new ||
        id_new == id_file)
        id_new = id_file + 1;
    memcpy(h->id, &id_new, sizeof id_new);
    h->state = TRACE_TURNING;
    h->start_mono = at;
    h->start_real = clock_real_ns() - (clock_mono_ns() - at);
    h->capacity = rec->maxsize;
    h->index_offset = h->evicted_events = 0;
}

/* What a file says of itself, and what was lost in it, is not true of the next one. */
static bool take_def(void *ctx, struct def *d)
{
    static const char *const of_file[] = {"orca.next", TRACE_UNWRITTEN_INFO};
    const struct recorder *rec = ctx;
    if (d->kind == DEF_loss)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(of_file) && d->kind == DEF_info; i++)
        if (d->info.key.len == strlen(of_file[i]) &&
            memcmp(d->info.key.p, of_file[i], d->info.key.len) == 0)
            return false;
    if (d->kind == DEF_thread && stage_has_ended(&rec->stager, d->thread.id))
        d->thread.flags |= THREAD_ENDED;
    return true;
}

static void add_info(struct buf *b, const char *key, const char *value)
{
    struct def d = {.kind = DEF_info, .info = {{key, strlen(key)}, {value, strlen(value)}}};
    codec_put_def(b, &d);
}

/* Which file of the recording this is, and the name of the one before or behind it. */
static int put_place(struct writer *w, uint32_t part, const char *key, const char *neighbour,
                     struct err *err)
{
    char number[16];
    struct buf b = {0};
    snprintf(number, sizeof number, "%u", part);
    add_info(&b, "orca.part", number);
    add_info(&b, key, neighbour);
    int rc = b.oom ? err_set(err, -ENOMEM, "out of memory")
                   : writer_put_defs(w, b.p, b.len, 2, (struct defs_span){0, 0}, err);
    buf_fini(&b);
    return rc;
}

static int fill_next(struct recorder *rec, struct next *n, struct err *err)
{
    TEST_POINT("rotate:created");
    TRY(writer_take_defs(&n->w, &rec->writer, take_def, rec, err));
    TEST_POINT("rotate:copied");
    return put_place(&n->w, rec->part + 1, "orca.previous", rec->path, err);
}

static int name_next(struct recorder *rec, struct next *n, struct err *err)
{
    const struct recorder_files *f = &rec->files;
    snprintf(n->path, sizeof n->path, "%s", rec->first_path);
    return f->next_path
               ? f->next_path(f->ctx, rec->part + 1, n->path, sizeof n->path, err)
               : place_next(n->path, sizeof n->path, rec->part + 1, rec->started_real, err);
}

static int make_next(struct recorder *rec, uint64_t at, struct next *n, struct err *err)
{
    struct file_header header;
    TRY(name_next(rec, n, err));
    n->fd = fdio_open_private(n->path, O_EXCL, err);
    TRY(n->fd);
    next_header(rec, at, &header);
    int rc = writer_init(&n->w, n->fd, &header, err);
    if (rc == 0) {
        rc = fill_next(rec, n, err);
        if (rc < 0)
            writer_fini(&n->w);
    }
    if (rc < 0) {
        err_prefix(err, rc, "%s", n->path);
        unlink(n->path);
        close(n->fd);
    }
    return rc;
}

static void drop_next(struct next *n)
{
    writer_fini(&n->w);
    unlink(n->path);
    close(n->fd);
}

/* --- the old file ----------------------------------------------------------------------------- */

/* The waits that began before the turn, and so in this file or an earlier one. */
int rotate_note_waits(struct recorder *rec, uint64_t at, struct err *err)
{
    struct buf all = {0};
    if (!rec->files.open_waits)
        return 0;
    rec->files.open_waits(rec->files.ctx, &all);
    struct event *e = (void *)all.p;
    size_t n = 0;
    for (size_t i = 0; i < all.len / sizeof *e; i++)
        if (e[i].wait_open.since < at) {
            e[n] = e[i];
            e[n++].time = at;
        }
    if (n && !rec->own_stream)
        rec->own_stream = pool_new_stream(rec);
    int rc = stage_note(&rec->stager, &rec->writer, rec->own_stream, e, n, err);
    rec->result.events += rc == 0 ? n : 0;
    buf_fini(&all);
    return rc;
}

/* Everything that stands between the old file and its end. */
static int turn_old(struct recorder *rec, uint64_t at, const struct next *n, struct err *err)
{
    struct writer *w = &rec->writer;
    TRY(put_place(w, rec->part, "orca.next", n->path, err));
    TRY(rotate_note_waits(rec, at, err));
    TEST_POINT("rotate:noted");
    w->header.state = TRACE_TURNING;
    int rc = writer_put_header(w, err);
    if (rc < 0) {
        struct err ignored;
        w->header.state = TRACE_RECORDING;
        writer_put_header(w, &ignored);
    }
    return rc;
}

/* --- keep= ------------------------------------------------------------------------------------ */

/* Whether this name is still that file, and not another one. */
static bool is_ours(const struct finished_file *f)
{
    struct file_header h;
    struct stat st;
    uint8_t page[FILE_HEADER_SIZE];
    int fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    bool ours = fstat(fd, &st) == 0 && st.st_dev == f->dev && st.st_ino == f->ino &&
                fdio_pread_some(fd, page, sizeof page, 0) == (ssize_t)sizeof page &&
                file_header_unpack(&h, page, sizeof page, NULL) == 0 &&
                memcmp(h.id, f->id, sizeof h.id) == 0;
    close(fd);
    return ours;
}

static void remove_oldest(struct recorder *rec)
{
    struct finished_file *f = (void *)rec->finished_files.p;
    if (is_ours(f) && unlink(f->path) == 0 && rec->files.removed)
        rec->files.removed(rec->files.ctx, f->path);
    rec->finished_files.len -= sizeof *f;
    memmove(f, f + 1, rec->finished_files.len);
}

/* A finished file; with the one that is being written there are at most keep= of them. */
static void keep_file(struct recorder *rec, const struct writer *w, const char *path)
{
    struct finished_file f;
    struct stat st;
    if (!rec->keep || fstat(w->fd, &st) < 0)
        return;
    memset(&f, 0, sizeof f);
    f.dev = st.st_dev;
    f.ino = st.st_ino;
    memcpy(f.id, w->header.id, sizeof f.id);
    snprintf(f.path, sizeof f.path, "%s", path);
    buf_put(&rec->finished_files, &f, sizeof f);
    while (rec->finished_files.len / sizeof f >= rec->keep)
        remove_oldest(rec);
}

/* --- the change ------------------------------------------------------------------------------- */

/* From here on what the rings hold belongs to the new file, whatever happens. */
static void switch_rings(struct recorder *rec, const struct next *n)
{
    uint64_t id_file, id_recording;
    region_note_lost(rec->region.h, n->w.header.id, rec->lost_total);
    region_note_trace(rec->region.h, n->w.header.id, n->path);
    region_id_halves(n->w.header.id, &id_file, &id_recording);
    /* release: pairs with region_open_dead; the losses before it are noted */
    atomic_store_explicit(&rec->region.h->id_file, id_file, memory_order_release);
}

static void finished_result(const struct recorder *rec, struct recorder_result *r)
{
    *r = (struct recorder_result){.events = rec->result.events - rec->events_before,
                                  .lost = losses_of_file(rec),
                                  .bytes = rec->writer.size,
                                  .duration_ns =
                                      rec->writer.header.end_mono - rec->writer.header.start_mono,
                                  .state = TRACE_CLOSED,
                                  .parts = rec->part};
    snprintf(r->path, sizeof r->path, "%s", rec->path);
}

/* The new file is the recording's. */
static void take_over(struct recorder *rec, struct next *n)
{
    rec->bytes_before += rec->writer.size;
    rec->events_before = rec->result.events;
    memcpy(rec->losses.before, rec->lost_total, sizeof rec->losses.before);
    memset(rec->losses.written, 0, sizeof rec->losses.written);
    region_notes(rec->region.h)->times = region_notes(rec->region.h)->ns = 0;
    rec->writer = n->w;
    rec->fd = n->fd;
    pthread_mutex_lock(&rec->ctl_lock);
    rec->part++;
    snprintf(rec->path, sizeof rec->path, "%s", n->path);
    pthread_mutex_unlock(&rec->ctl_lock);
}

int rotate(struct recorder *rec, uint64_t at, struct recorder_result *finished, struct err *err)
{
    struct next n;
    struct err ignored;
    char old_path[RING_PATH_MAX];
    TRY(make_next(rec, at, &n, err));
    int rc = turn_old(rec, at, &n, err);
    if (rc < 0) {
        drop_next(&n);
        return err_prefix(err, rc, "%s", rec->path);
    }
    if (rec->files.begins) /* before it can hold anything that a reader might look for */
        rec->files.begins(rec->files.ctx, n.path);
    TEST_POINT("rotate:turning");
    switch_rings(rec, &n);
    TEST_POINT("rotate:switched");
    /* Without its index, or this header, the old file is complete all the same. */
    writer_close(&rec->writer, TRACE_CLOSED, at, &ignored);
    struct writer old = rec->writer;
    TEST_POINT("rotate:closed");
    finished_result(rec, finished);
    snprintf(old_path, sizeof old_path, "%s", rec->path);
    n.w.header.state = TRACE_RECORDING;
    writer_put_header(&n.w, &ignored);
    take_over(rec, &n);
    TEST_POINT("rotate:begun");
    keep_file(rec, &old, old_path);
    close(old.fd);
    writer_fini(&old);
    return 0;
}

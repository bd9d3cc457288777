#include "record/recover.h"

#include "base/fdio.h"
#include "base/testpoint.h"
#include "base/util.h"
#include "format/trace.h"
#include "record/stage.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct recovery {
    struct region region;
    struct trace *t; /* as the file stands */
    struct writer w;
    struct stager s;
    uint64_t steps; /* from block to block that are left: a file in which blocks lie over each other
                     * would take us round for long */
    uint64_t room;  /* bytes of rings that are left: rings that lie over each other have more */
};

/* A trace as its header says, who owns it, and which file that was. */
struct named {
    const char *path;
    struct file_header h;
    uid_t owner;
    dev_t dev;
    ino_t ino;
};

static bool read_header(const char *path, struct named *t)
{
    uint8_t page[FILE_HEADER_SIZE];
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return false;
    ssize_t n = fstat(fd, &st) == 0 ? fdio_pread_some(fd, page, sizeof page, 0) : -1;
    close(fd);
    t->path = path;
    t->owner = st.st_uid;
    t->dev = st.st_dev;
    t->ino = st.st_ino;
    return n >= 0 && file_header_unpack(&t->h, page, (size_t)n, NULL) == 0;
}

static int open_rings(struct region *r, const struct named *t, struct err *err)
{
    const struct region_of of = {t->path, t->h.ring_path, t->h.id, t->owner};
    return region_open_dead(r, &of, err);
}

/* What the header asks for. */
static int look(const struct file_header *h)
{
    if (h->state != TRACE_RECORDING && h->state != TRACE_TURNING)
        return RECOVER_NOTHING;
    return h->ring_path[0] ? RECOVER_DONE : RECOVER_GONE;
}

/* Of a finished trace, whose writer was killed between its last write and the removal. */
static void remove_left_rings(const struct named *t)
{
    struct region r;
    if (!t->h.ring_path[0] || open_rings(&r, t, NULL) < 0)
        return;
    region_unlink(&r);
    region_close(&r);
}

/* Take the dead JVM's region, or say why there is none. */
static int take_region(struct region *r, const struct named *t, struct err *err)
{
    int rc = open_rings(r, t, err);
    if (rc == -EBUSY)
        return RECOVER_LIVE;
    if (t->h.state == TRACE_TURNING && (rc == -ENOENT || rc == -ESTALE))
        return RECOVER_CLOSED; /* the rings are another file's, or were */
    if (rc == -ENOENT)
        return RECOVER_GONE;
    return rc < 0 ? rc : RECOVER_DONE;
}

/* --- what the file already holds -------------------------------------------------------------- */

static bool is_at_or_before(const struct block *b, uint32_t stream, uint64_t pos)
{
    return b->stream < stream || (b->stream == stream && b->pos <= pos);
}

/* If a block of `stream` in the file covers position `pos`, the position behind that block; else
 * pos. */
static uint64_t skip_covered(const struct trace *t, uint32_t stream, uint64_t pos)
{
    size_t i = 0;
    BISECT(i, t->n_blocks, is_at_or_before(&t->blocks[i].b, stream, pos));
    const struct block *b = i ? &t->blocks[i - 1].b : NULL;
    return b && b->stream == stream && pos < b->pos_end ? b->pos_end : pos;
}

/* Take out of the stage what was written just before the JVM died: of its memory, and of what the
 * stager counts in it. */
static void drop_written_blocks(struct recovery *r)
{
    struct stage *st = &r->region.h->stage;
    uint32_t n = atomic_load_explicit(&st->n_blocks, memory_order_relaxed), kept = 0;
    uint32_t from = 0, to = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct block b = st->blocks[i];
        if (skip_covered(r->t, b.stream, b.pos) == b.pos) {
            memmove(st->raw + to, st->raw + from, b.len);
            st->blocks[kept++] = b;
            to += b.len;
        } else {
            r->s.raw_len -= b.len;
            r->s.events -= b.events;
        }
        from += b.len;
    }
    atomic_store_explicit(&st->n_blocks, kept, memory_order_relaxed);
}

/* Behind all blocks of the file that follow on each other. */
static uint64_t skip_file(struct recovery *r, uint32_t stream, uint64_t pos)
{
    for (uint64_t next; r->steps > 0 && (next = skip_covered(r->t, stream, pos)) != pos; r->steps--)
        pos = next;
    return pos;
}

/* The same of the blocks still in the stage, which are in the order of their positions. */
static uint64_t skip_staged(const struct stage *st, uint32_t n, uint32_t stream, uint64_t pos)
{
    for (uint32_t i = 0; i < n; i++)
        if (st->blocks[i].stream == stream && st->blocks[i].pos <= pos &&
            pos < st->blocks[i].pos_end)
            pos = st->blocks[i].pos_end;
    return pos;
}

static void skip_known(struct recovery *r, struct ring_ctl *c, uint32_t staged)
{
    uint64_t pos = atomic_load_explicit(&c->tail, memory_order_relaxed);
    pos = skip_file(r, c->stream, pos);
    pos = skip_staged(&r->region.h->stage, staged, c->stream, pos);
    pos = skip_file(r, c->stream, pos);
    uint64_t head = atomic_load_explicit(&c->head, memory_order_relaxed);
    if (pos > head)
        pos = head;
    atomic_store_explicit(&c->tail, pos, memory_order_relaxed);
}

/* --- writing on ------------------------------------------------------------------------------- */

/* Continue the file behind its newest chunk. */
static int resume_writer(struct recovery *r, int fd, struct err *err)
{
    const struct trace *t = r->t;
    uint64_t at = FILE_HEADER_SIZE, seq = 0;
    for (size_t i = 0; i < t->n_chunks; i++) { /* in the order of seq: the last one is the newest */
        at = t->chunks[i].offset + t->chunks[i].h.total_len;
        seq = t->chunks[i].h.seq + 1;
    }
    if (!t->header.capacity && ftruncate(fd, (off_t)at) < 0) /* the torn chunk, if there is one */
        return err_set(err, -errno, "%s", strerror(errno));
    TRY(writer_resume(&r->w, fd, &t->header, at, seq, err));
    r->w.events = t->n_put;
    for (size_t i = 0; i < t->n_chunks; i++) {
        const struct trace_chunk *c = &t->chunks[i];
        struct writer_ref ref = {c->offset, c->h.seq, c->h.total_len, c->h.events, c->h.type};
        if (writer_add_ref(&r->w, &ref) < 0)
            return err_set(err, -ENOMEM, "out of memory");
    }
    return 0;
}

/* What is in rings was written, so all of them together have no more than the file. */
static bool has_room(struct recovery *r, struct ring_ctl *c)
{
    uint64_t tail = atomic_load_explicit(&c->tail, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&c->head, memory_order_relaxed);
    if (head - tail > r->room) {
        stage_give_up(&r->s, c, head);
        return false;
    }
    r->room -= head - tail;
    return true;
}

static int drain_dead_rings(struct recovery *r, uint64_t *events, struct err *err)
{
    struct region_header *h = r->region.h;
    uint32_t used = atomic_load_explicit(&h->used_rings, memory_order_relaxed);
    uint32_t staged = atomic_load_explicit(&h->stage.n_blocks, memory_order_relaxed);
    if (used > h->max_rings)
        return err_set(err, -EINVAL, "%s: damaged", r->region.path);
    r->room = region_ring_bytes(&r->region);
    r->steps = r->t->n_blocks;
    for (uint32_t i = 0; (i = region_next_ctl(&r->region, i, used)) < used; i++) {
        struct ring_ctl *c = region_ctl(h, i);
        r->steps++;
        if (atomic_load_explicit(&c->state, memory_order_relaxed) != RING_FREE)
            skip_known(r, c, staged);
    }
    for (uint32_t i = 0; (i = region_next_ctl(&r->region, i, used)) < used; i++) {
        struct ring_ctl *c = region_ctl(h, i);
        if (atomic_load_explicit(&c->state, memory_order_relaxed) == RING_FREE || !has_room(r, c))
            continue;
        while (stage_ring(&r->s, c, events) == STAGE_FULL)
            TRY(stage_flush(&r->s, &r->w, err));
    }
    return stage_flush(&r->s, &r->w, err);
}

/* When the dead JVM was last heard of: its latest event, or the drain thread's last look. */
static uint64_t last_time(const struct recovery *r)
{
    uint64_t last = max_u64(trace_end(r->t), region_alive(r->region.h));
    const struct stage *st = &r->region.h->stage;
    /* The blocks of the final flush are still in the stage's memory. */
    for (uint32_t i = 0; i < REGION_STAGE_BLOCKS && st->blocks[i].events; i++)
        last = max_u64(last, st->blocks[i].last);
    return last;
}

/* It was killed while the file could not be written.  In a stream of its own, behind those that
 * there are. */
static int note_unwritten(struct recovery *r, struct err *err)
{
    struct region_header *h = r->region.h;
    const struct region_notes *n = region_notes(h);
    uint32_t stream = 0, used = atomic_load_explicit(&h->used_rings, memory_order_relaxed);
    if (!n || !atomic_load_explicit(&n->unwritten_since, memory_order_relaxed))
        return 0;
    for (uint32_t i = 0; (i = region_next_ctl(&r->region, i, used)) < used; i++)
        stream = max_u32(stream, region_ctl(h, i)->stream);
    for (size_t i = 0; i < r->t->n_blocks; i++)
        stream = max_u32(stream, r->t->blocks[i].b.stream);
    /* The last losses are also known. */
    uint64_t first_lost = atomic_load_explicit(&n->first_lost, memory_order_relaxed);
    uint64_t at = max_u64(last_time(r), first_lost + (first_lost != 0));
    const struct event e = unwritten_event(h, max_u64(at, n->unwritten_since));
    if (stream == UINT32_MAX)
        return 0;
    TRY(stage_write_unwritten(&r->w, n->times + 1, n->ns + (e.time - e.unwritten.since), err));
    return stage_note(&r->s, &r->w, stream + 1, &e, 1, err);
}

static int recover_into(struct recovery *r, int fd, struct err *err)
{
    uint64_t events = 0;
    struct loss_sums losses = {{0}, {0}};
    region_lost_before(r->region.h, r->t->header.id, losses.before);
    int rc = stager_init(&r->s, r->region.h); /* its blocks lie in it */
    if (rc < 0)
        return err_set(err, rc, "%s: damaged", r->region.path);
    TRY(resume_writer(r, fd, err));
    drop_written_blocks(r);
    TRY(drain_dead_rings(r, &events, err));
    TRY(note_unwritten(r, err));
    TRY(stage_write_losses(&r->s, &r->w, &losses, err));
    TRY(writer_close(&r->w, TRACE_RECOVERED, last_time(r), err));
    TEST_POINT("recover:closed");
    region_unlink(&r->region);
    return 0;
}

/* A file of a recording that needs nothing but its end.  No region exists whose lock would separate
 * two readers. */
static int close_file(struct recovery *r, int fd, struct err *err)
{
    if (r->t->header.state != TRACE_TURNING) /* another process was faster */
        return 0;
    TRY(resume_writer(r, fd, err));
    return writer_close(&r->w, TRACE_CLOSED, trace_end(r->t), err);
}

static int complete(struct recovery *r, const char *path, int fd, int what, struct err *err)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (what == RECOVER_CLOSED && fcntl(fd, F_OFD_SETLKW, &lock) < 0)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    int same = fcntl(fd, F_DUPFD_CLOEXEC, 0); /* what is read is the file that is written */
    if (same < 0)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    TRY(trace_open_fd(&r->t, same, path, err));
    int rc = what == RECOVER_DONE ? recover_into(r, fd, err) : close_file(r, fd, err);
    return rc < 0 ? err_prefix(err, rc, "%s: completing the trace of a killed JVM", path) : 0;
}

/* The file whose header was read, to be written, and not a file that was put in its place: in a
 * folder of another user that may be any file of ours. */
static int open_same(const struct named *t, struct err *err)
{
    struct stat st;
    int fd = open(t->path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return err_set(err, -errno, "%s: cannot complete the trace of a killed JVM: %s", t->path,
                       strerror(errno));
    if (fstat(fd, &st) == 0 && st.st_dev == t->dev && st.st_ino == t->ino)
        return fd;
    close(fd);
    return err_set(err, -ESTALE, "%s was replaced while it was read: try again", t->path);
}

int recover_trace(const char *path, struct err *err)
{
    struct named t;
    int rc = read_header(path, &t) ? look(&t.h) : -EINVAL;
    if (rc == RECOVER_NOTHING)
        remove_left_rings(&t);
    if (rc != RECOVER_DONE)
        return rc < 0 ? RECOVER_NOTHING : rc;
    struct recovery r = {.region = {.fd = -1, .dir = -1}};
    int what = take_region(&r.region, &t, err);
    if (what != RECOVER_DONE && what != RECOVER_CLOSED)
        return what < 0 ? err_prefix(err, what, "%s", path) : what;
    TEST_POINT("recover:taken");
    int fd = open_same(&t, err);
    rc = fd < 0 ? fd : complete(&r, path, fd, what, err);
    stager_fini(&r.s);
    if (r.w.zstd)
        writer_fini(&r.w);
    trace_close(r.t);
    if (fd >= 0)
        close(fd);
    region_close(&r.region);
    return rc < 0 ? rc : what;
}

int recover_probe(const char *path, struct err *err)
{
    struct named t;
    struct region r;
    int rc = read_header(path, &t) ? look(&t.h) : RECOVER_NOTHING;
    if (rc != RECOVER_DONE)
        return rc;
    rc = take_region(&r, &t, err);
    if (rc == RECOVER_DONE)
        region_close(&r);
    return rc == RECOVER_CLOSED ? RECOVER_NOTHING : rc;
}

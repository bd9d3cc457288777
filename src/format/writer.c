#include "format/writer.h"

#include "base/clock.h"
#include "base/fdio.h"
#include "base/testpoint.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include <zstd.h>

/* How far ahead of the write position definitions are copied forward: more than two of the longest
 * chunks, so that neither a chunk nor the copies it causes ever reach one that was not copied. */
enum { GUARD = 1 << 20, ZSTD_LEVEL = 1 };

/* What a circle leaves free at its end for the index. */
enum { INDEX_ROOM = 128 * 1024 };

/* Field 22 of /proc/self/stat; 0 when it cannot be read.  With the pid it names a process for
 * good. */
static uint64_t own_start_ticks(void)
{
    char text[1024];
    FILE *f = fopen("/proc/self/stat", "re");
    if (!f)
        return 0;
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = 0;
    char *p = strrchr(text, ')'); /* the name in field 2 may hold anything */
    for (int field = 2; p && field < 22; field++)
        p = strchr(p + 1, ' ');
    return p ? strtoull(p + 1, NULL, 10) : 0;
}

void writer_header_init(struct file_header *h)
{
    memset(h, 0, sizeof *h);
    h->start_mono = clock_mono_ns();
    h->start_real = clock_real_ns();
    h->pid = (uint32_t)getpid();
    h->pid_start = own_start_ticks();
    if (getrandom(h->id, sizeof h->id, GRND_NONBLOCK) != (ssize_t)sizeof h->id) {
        /* Early boot: unique enough together with the pid. */
        memcpy(h->id, &h->start_real, 8);
        memcpy(h->id + 8, &h->pid, 4);
    }
    codec_schema_own(&h->schema);
}

int writer_put_header(struct writer *w, struct err *err)
{
    uint8_t page[FILE_HEADER_SIZE];
    file_header_pack(&w->header, page);
    int rc = fdio_pwrite_all(w->fd, page, sizeof page, 0);
    return rc < 0 ? err_set(err, rc, "writing the file header: %s", strerror(-rc)) : 0;
}

static int common_init(struct writer *w, int fd, const struct file_header *header, struct err *err)
{
    memset(w, 0, sizeof *w);
    w->fd = fd;
    w->header = *header;
    w->zstd = ZSTD_createCCtx();
    if (!w->zstd)
        return err_set(err, -ENOMEM, "out of memory");
    ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
    return 0;
}

int writer_init(struct writer *w, int fd, const struct file_header *header, struct err *err)
{
    TRY(common_init(w, fd, header, err));
    if (w->header.capacity && w->header.capacity < WRITER_CAPACITY_MIN)
        w->header.capacity = WRITER_CAPACITY_MIN;
    w->at = w->size = FILE_HEADER_SIZE;
    int rc = writer_put_header(w, err);
    if (rc < 0)
        writer_fini(w);
    return rc;
}

int writer_resume(struct writer *w, int fd, const struct file_header *header, uint64_t at,
                  uint64_t seq, struct err *err)
{
    TRY(common_init(w, fd, header, err));
    int64_t size = fdio_size(fd);
    w->at = at;
    w->size = size < 0 ? at : (uint64_t)size;
    w->seq = seq;
    return 0;
}

void writer_fini(struct writer *w)
{
    ZSTD_freeCCtx(w->zstd);
    free(w->refs);
    buf_fini(&w->scratch);
    memset(w, 0, sizeof *w);
    w->fd = -1;
}

int writer_add_ref(struct writer *w, const struct writer_ref *ref)
{
    if (w->n_refs == w->cap_refs) {
        if (w->head > w->n_refs / 2) { /* mostly dead entries: reuse their room */
            memmove(w->refs, w->refs + w->head, (w->n_refs - w->head) * sizeof *w->refs);
            w->n_refs -= w->head;
            w->head = 0;
        } else {
            size_t cap = w->cap_refs ? w->cap_refs * 2 : 256;
            struct writer_ref *refs = realloc(w->refs, cap * sizeof *refs);
            if (!refs)
                return -ENOMEM;
            w->refs = refs;
            w->cap_refs = cap;
        }
    }
    w->refs[w->n_refs++] = *ref;
    return 0;
}

/* --- the circle ------------------------------------------------------------------------------- */

static uint64_t circle_end(const struct writer *w)
{
    return w->header.capacity - INDEX_ROOM;
}

/* Bytes between the write position and a live chunk, going forward around the circle. */
static uint64_t distance(const struct writer *w, const struct writer_ref *r)
{
    if (r->offset >= w->at)
        return r->offset - w->at;
    uint64_t to_end = circle_end(w) > w->at ? circle_end(w) - w->at : 0;
    return to_end + (r->offset - FILE_HEADER_SIZE);
}

/* Forget the chunks that [from, to) covers.  They are the oldest ones. */
static void evict(struct writer *w, uint64_t from, uint64_t to)
{
    while (w->head < w->n_refs) {
        struct writer_ref *r = &w->refs[w->head];
        if (r->offset < from || r->offset >= to)
            break;
        INVARIANT(r->type != CHUNK_DEFS);
        if (r->type == CHUNK_EVENTS)
            w->header.evicted_events += r->events;
        w->head++;
    }
}

/* Choose the place of a chunk of `total` bytes; returns how far it must reach (>= total), and
 * leaves in *fill the length of a filler behind it (0: none). */
static int place(struct writer *w, uint64_t total, uint64_t *reach, uint64_t *fill)
{
    *reach = total;
    *fill = 0;
    if (!w->header.capacity)
        return 0;
    if (w->at + total > circle_end(w) && w->at > FILE_HEADER_SIZE) {
        evict(w, w->at, UINT64_MAX);
        if (w->size > w->at && ftruncate(w->fd, (off_t)w->at) < 0)
            return -errno;
        w->size = w->at;
        w->at = FILE_HEADER_SIZE;
    }
    if (w->at >= w->size)
        return 0;
    evict(w, w->at, w->at + total);
    uint64_t next = w->size;
    if (w->head < w->n_refs && w->refs[w->head].offset >= w->at)
        next = w->refs[w->head].offset;
    uint64_t gap = next > w->at + total ? next - w->at - total : 0;
    if (gap >= CHUNK_HEADER_SIZE)
        *fill = gap;
    else
        *reach = total + gap;
    return 0;
}

/* --- one chunk -------------------------------------------------------------------------------- */

/* Write `body` (directory and payload as stored, in w->scratch behind room for the header) as a
 * chunk. */
static int put_chunk(struct writer *w, struct chunk_header *h, struct err *err)
{
    uint64_t total = ALIGN_UP(w->scratch.len, (size_t)8), reach, fill;
    int rc = place(w, total, &reach, &fill);
    if (rc == 0 && writer_add_ref(w, &(struct writer_ref){0}) < 0)
        rc = -ENOMEM;
    if (rc < 0)
        return err_set(err, rc, "%s", strerror(-rc));
    w->n_refs--; /* room for the ref is now certain */
    size_t pad = (size_t)(reach - w->scratch.len) + (fill ? CHUNK_HEADER_SIZE : 0);
    uint8_t *tail = buf_reserve(&w->scratch, pad);
    if (!tail)
        return err_set(err, -ENOMEM, "out of memory");
    memset(tail, 0, pad);
    h->seq = w->seq;
    h->total_len = (uint32_t)reach;
    chunk_header_pack(h, w->header.id, w->at, w->scratch.p);
    if (fill) {
        struct chunk_header f = {.type = CHUNK_FILL, .total_len = (uint32_t)fill, .seq = w->seq};
        chunk_header_pack(&f, w->header.id, w->at + reach, tail + pad - CHUNK_HEADER_SIZE);
    }
    TEST_POINT("writer:before");
#ifdef ORCA_TEST_POINTS /* a kill in the middle of a write */
    if (test_point_hook && w->scratch.len > 100) {
        fdio_pwrite_all(w->fd, w->scratch.p, w->scratch.len / 2, w->at);
        TEST_POINT("writer:torn");
    }
#endif
    rc = fdio_pwrite_all(w->fd, w->scratch.p, w->scratch.len + pad, w->at);
    if (rc < 0) {
        if (w->at >= w->size && ftruncate(w->fd, (off_t)w->size) < 0)
            rc = -errno; /* the reader copes with the torn chunk */
        return err_set(err, rc, "writing at offset 0x%llx: %s", (unsigned long long)w->at,
                       strerror(-rc));
    }
    struct writer_ref ref = {w->at, w->seq, (uint32_t)reach, h->events, h->type};
    w->refs[w->n_refs++] = ref;
    w->defs_bytes += h->type == CHUNK_DEFS ? reach : 0;
    w->seq++;
    w->chunks++;
    w->bytes += reach;
    w->at += reach;
    if (w->at > w->size)
        w->size = w->at;
    return 0;
}

/* Put directory and payload into w->scratch, the payload compressed when that makes it smaller, but
 * by no more than readers accept. */
static int fill_scratch(struct writer *w, struct chunk_header *h, const struct buf *dir,
                        const void *raw, size_t len, struct err *err)
{
    size_t bound = ZSTD_compressBound(len);
    buf_clear(&w->scratch);
    uint8_t *p = buf_reserve(&w->scratch, CHUNK_HEADER_SIZE + dir->len + bound);
    if (!p || dir->oom)
        return err_set(err, -ENOMEM, "out of memory");
    if (dir->len)
        memcpy(p + CHUNK_HEADER_SIZE, dir->p, dir->len);
    uint8_t *payload = p + CHUNK_HEADER_SIZE + dir->len;
    size_t n = ZSTD_compress2(w->zstd, payload, bound, raw, len);
    h->flags = CHUNK_ZSTD;
    if (ZSTD_isError(n) || n >= len || n * CHUNK_RATIO_MAX < len) {
        if (len)
            memcpy(payload, raw, len);
        n = len;
        h->flags = 0;
    }
    h->dir_len = (uint32_t)dir->len;
    h->stored_len = (uint32_t)n;
    h->raw_len = (uint32_t)len;
    h->dir_hash = chunk_body_hash(dir->p, dir->len);
    h->payload_hash = chunk_body_hash(payload, n);
    w->scratch.len = CHUNK_HEADER_SIZE + dir->len + n;
    return 0;
}

/* Write the definitions of an old chunk again at the write position. */
static int copy_forward(struct writer *w, size_t ref, struct err *err)
{
    struct writer_ref r = w->refs[ref];
    buf_clear(&w->scratch);
    uint8_t *p = buf_reserve(&w->scratch, r.len);
    if (!p)
        return err_set(err, -ENOMEM, "out of memory");
    struct chunk_header h;
    ssize_t n = fdio_pread_some(w->fd, p, r.len, r.offset);
    if (n < (ssize_t)r.len || chunk_header_unpack(&h, w->header.id, r.offset, p) < 0)
        return err_set(err, -EIO, "definitions at 0x%llx cannot be read back",
                       (unsigned long long)r.offset);
    w->scratch.len = CHUNK_HEADER_SIZE + h.dir_len + h.stored_len;
    w->refs[ref].type = CHUNK_FILL; /* from here on its place may be overwritten */
    w->defs_bytes -= r.len;
    int rc = put_chunk(w, &h, err);
    for (size_t i = w->head; rc < 0 && i < w->n_refs; i++) /* it may have moved in the list */
        if (w->refs[i].offset == r.offset && w->refs[i].seq == r.seq) {
            w->refs[i].type = CHUNK_DEFS;
            w->defs_bytes += r.len;
        }
    return rc;
}

/* The next chunk of definitions within GUARD ahead of the write position, or SIZE_MAX. */
static size_t endangered(const struct writer *w)
{
    for (size_t i = w->head; i < w->n_refs && distance(w, &w->refs[i]) < GUARD; i++)
        if (w->refs[i].type == CHUNK_DEFS)
            return i;
    return SIZE_MAX;
}

/* Keep the circle's promise: no definitions within GUARD ahead of the write position. */
static int keep_definitions(struct writer *w, struct err *err)
{
    if (!w->header.capacity)
        return 0;
    uint64_t old = w->header.capacity;
    if (w->defs_bytes * 2 + 2 * (uint64_t)GUARD > old) {
        /* Definitions alone would fill the circle: a larger file beats stacks without names. */
        w->header.capacity = w->defs_bytes * 4 + 4 * (uint64_t)GUARD;
        int rc = writer_put_header(w, err);
        if (rc < 0)
            w->header.capacity = old;
        TRY(rc);
    }
    size_t i;
    while ((i = endangered(w)) != SIZE_MAX)
        TRY(copy_forward(w, i, err));
    return 0;
}

int writer_put_defs(struct writer *w, const void *raw, size_t len, uint32_t count,
                    struct defs_span span, struct err *err)
{
    struct buf dir = {0};
    TRY(keep_definitions(w, err)); /* what the last call could not */
    defs_dir_put(&dir, span.pos, span.pos_end);
    struct chunk_header h = {.type = CHUNK_DEFS, .events = count};
    int rc = fill_scratch(w, &h, &dir, raw, len, err);
    buf_fini(&dir);
    TRY(rc);
    TRY(put_chunk(w, &h, err));
    keep_definitions(w, NULL); /* the chunk is written: what fails here is for the next call */
    return 0;
}

int writer_put_events(struct writer *w, const struct block *blocks, size_t n, const void *raw,
                      size_t len, struct err *err)
{
    struct chunk_header h = {.type = CHUNK_EVENTS, .first = UINT64_MAX};
    TRY(keep_definitions(w, err));
    for (size_t i = 0; i < n; i++) {
        h.first = min_u64(h.first, blocks[i].first);
        h.last = max_u64(h.last, blocks[i].last);
        h.events += blocks[i].events;
    }
    struct buf dir = {0};
    varint_append(&dir, w->events);
    for (size_t i = 0; i < n; i++)
        block_put(&dir, &blocks[i], h.first);
    int rc = fill_scratch(w, &h, &dir, raw, len, err);
    buf_fini(&dir);
    TRY(rc);
    TRY(put_chunk(w, &h, err));
    w->events += h.events;
    keep_definitions(w, NULL);
    return 0;
}

/* The index is a list of (offset, seq, type) of every live chunk; it has no directory. */
static int put_index(struct writer *w, struct err *err)
{
    struct buf raw = {0}, dir = {0};
    uint32_t n = 0;
    for (size_t i = w->head; i < w->n_refs; i++) {
        const struct writer_ref *r = &w->refs[i];
        if (r->type == CHUNK_FILL)
            continue;
        varint_append(&raw, r->offset);
        varint_append(&raw, r->seq);
        varint_append(&raw, r->type);
        n++;
    }
    struct chunk_header h = {.type = CHUNK_INDEX, .events = n};
    int rc = 0;
    bool fits = raw.len <= INDEX_ROOM - 4096; /* with more chunks than that, readers scan */
    if (raw.oom)
        rc = err_set(err, -ENOMEM, "out of memory");
    else if (fits)
        rc = fill_scratch(w, &h, &dir, raw.p, raw.len, err);
    buf_fini(&raw);
    if (rc < 0 || !fits)
        return rc;
    /* At the end of the file, even of a circle: it must not evict what it lists. */
    uint64_t capacity = w->header.capacity;
    w->header.capacity = 0;
    w->at = w->size;
    rc = put_chunk(w, &h, err);
    w->header.capacity = capacity;
    if (rc == 0)
        w->header.index_offset = w->refs[w->n_refs - 1].offset;
    return rc;
}

/* In place, and only data that a reader may miss: a failure is not an error. */
void writer_note_flushed(struct writer *w, uint64_t now)
{
    uint8_t part[FLUSHED_SIZE];
    w->header.flushed_mono = now;
    w->header.flushed_seq = w->seq;
    file_header_pack_flushed(&w->header, part);
    fdio_pwrite_all(w->fd, part, sizeof part, FLUSHED_OFFSET);
}

int writer_close(struct writer *w, enum trace_state state, uint64_t end_mono, struct err *err)
{
    struct err ignored;
    int rc = put_index(w, err);
    TEST_POINT("close:indexed");
    w->header.state = state;
    w->header.end_mono = end_mono;
    int rc2 = writer_put_header(w, rc < 0 ? &ignored : err);
    return rc < 0 ? rc : rc2;
}

/* trace_scan.c - find the chunks of a trace file, by its index or from header to header, and past
 * damage by searching for the next header that carries this trace's checksum. */
#include "base/fdio.h"
#include "base/testpoint.h"
#include "base/util.h"
#include "format/trace_parts.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { SEARCH_WINDOW = 1 << 20, CHUNKS_MAX = 1 << 26 };

/* A part of the file in which chunks are searched for: a search that ends in it does not read it
 * again for the next one. */
struct window {
    uint8_t *bytes; /* [SEARCH_WINDOW], or as long as the file */
    uint64_t at, len;
};

/* --- growing arrays, kept on the heap until the scan is over ---------------------------------- */

static int push_chunk(struct trace *t, size_t *cap, uint64_t offset, const struct chunk_header *h)
{
    if (t->n_chunks == *cap) {
        size_t bigger = *cap ? *cap * 2 : 256;
        void *p = realloc(t->chunks, bigger * sizeof *t->chunks);
        if (!p || bigger > CHUNKS_MAX)
            return -ENOMEM;
        t->chunks = p;
        *cap = bigger;
    }
    t->chunks[t->n_chunks++] = (struct trace_chunk){offset, *h};
    return 0;
}

static bool read_header(const struct trace *t, uint64_t offset, struct chunk_header *h)
{
    uint8_t bytes[CHUNK_HEADER_SIZE];
    return fdio_pread_some(t->fd, bytes, sizeof bytes, offset) == (ssize_t)sizeof bytes &&
           chunk_header_unpack(h, t->header.id, offset, bytes) == 0;
}

/* --- from header to header -------------------------------------------------------------------- */

/* Have the header at *at in the window, or the first one behind it that is not in a hole; false:
 * the file ends before. */
static bool move_window(const struct trace *t, struct window *w, uint64_t *at, uint64_t size)
{
    uint64_t end;
    if (*at >= w->at && *at + CHUNK_HEADER_SIZE <= w->at + w->len)
        return true;
    uint64_t data = fdio_next_data(t->fd, *at, size, &end);
    /* A header may have its last bytes in the hole, or its first. */
    if (data > *at + CHUNK_HEADER_SIZE)
        *at = (data - CHUNK_HEADER_SIZE) & ~(uint64_t)7;
    size_t len = (size_t)min_u64(min_u64(size, SEARCH_WINDOW), end + CHUNK_HEADER_SIZE - *at);
    ssize_t n = data < size ? fdio_pread_some(t->fd, w->bytes, len, *at) : 0;
    w->at = *at;
    w->len = n < 0 ? 0 : (uint64_t)n;
    TEST_WORK(w->len);
    return w->len >= CHUNK_HEADER_SIZE;
}

/* The next offset at or after `from` with a valid chunk header, or `size`. */
static uint64_t search(const struct trace *t, uint64_t from, uint64_t size, struct window *w)
{
    for (uint64_t at = ALIGN_UP(from, (uint64_t)8); move_window(t, w, &at, size); at += 8) {
        struct chunk_header h;
        if (chunk_header_unpack(&h, t->header.id, at, w->bytes + (at - w->at)) == 0)
            return at;
    }
    return size;
}

/* What lies between `from` and `to` is not a chunk: is that a loss, or how such a file looks? */
static void note_gap(struct trace *t, uint64_t from, uint64_t to, uint64_t size)
{
    bool tail = to == size;
    if (t->header.capacity && !t->complete)
        return; /* the leftovers behind the write position of a circle */
    if (tail && !t->complete)
        trace_note(t, from, false, "chunk %zu at 0x%llx is unfinished (%llu bytes)", t->n_chunks,
                   (unsigned long long)from, (unsigned long long)(to - from));
    else
        trace_note(t, from, true, "chunk %zu at 0x%llx: not a chunk, %llu bytes skipped",
                   t->n_chunks, (unsigned long long)from, (unsigned long long)(to - from));
}

static int scan_headers(struct trace *t, uint64_t size, struct err *err)
{
    size_t cap = 0;
    struct window window = {malloc(min_u64(size, SEARCH_WINDOW)), 0, 0};
    if (!window.bytes)
        return err_set(err, -ENOMEM, "out of memory");
    int rc = 0;
    uint64_t at = FILE_HEADER_SIZE;
    while (rc == 0 && at < size) {
        struct chunk_header h;
        if (!read_header(t, at, &h)) {
            uint64_t next = search(t, at + 8, size, &window);
            note_gap(t, at, next, size);
            at = next;
            continue;
        }
        if (h.type != CHUNK_FILL && at + h.total_len > size) {
            trace_note(t, at, t->complete, "chunk %zu at 0x%llx ends behind the end of the file%s",
                       t->n_chunks, (unsigned long long)at,
                       t->complete ? ": the file was truncated" : "");
            at = search(t, at + 8, size, &window);
            continue;
        }
        if (h.type != CHUNK_FILL)
            rc = push_chunk(t, &cap, at, &h);
        at += h.total_len;
    }
    free(window.bytes);
    return rc < 0 ? err_set(err, rc, "out of memory") : 0;
}

/* --- by the index ----------------------------------------------------------------------------- */

/* Read the chunks that the index lists.  False when anything does not fit: then the scan
 * decides. */
static bool by_index(struct trace *t, uint64_t size)
{
    struct chunk_header h;
    size_t cap = 0;
    if (!t->header.index_offset || t->header.index_offset >= size ||
        !read_header(t, t->header.index_offset, &h) || h.type != CHUNK_INDEX ||
        push_chunk(t, &cap, t->header.index_offset, &h) < 0)
        return false;
    uint8_t *raw = calloc(1, (size_t)h.raw_len + 1);
    bool ok = raw && trace_read_payload(t, &t->chunks[0], raw, NULL) == 0;
    const uint8_t *p = raw, *end = raw + h.raw_len;
    /* An index that lists a chunk again and again has us read it as often. */
    uint64_t room = ok ? fdio_data_bytes(t->fd, size) : 0;
    for (uint32_t i = 0; ok && i < h.events; i++) {
        uint64_t offset, seq, type;
        struct chunk_header c;
        ok = (p = varint_get(p, end, &offset)) && (p = varint_get(p, end, &seq)) &&
             (p = varint_get(p, end, &type)) && read_header(t, offset, &c) && c.seq == seq &&
             c.type == type && offset + c.total_len <= size && c.total_len <= room &&
             push_chunk(t, &cap, offset, &c) == 0;
        room -= ok ? c.total_len : 0;
    }
    free(raw);
    return ok;
}

/* --- order and blocks ------------------------------------------------------------------------- */

static int by_seq(const void *a, const void *b)
{
    const struct trace_chunk *x = a, *y = b;
    return (x->h.seq > y->h.seq) - (x->h.seq < y->h.seq);
}

static int by_stream(const void *a, const void *b)
{
    const struct block *x = &((const struct trace_block *)a)->b;
    const struct block *y = &((const struct trace_block *)b)->b;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return (x->pos > y->pos) - (x->pos < y->pos);
}

/* qsort, which must not see the NULL of an empty array. */
static void sort(void *p, size_t n, size_t size, int (*compare)(const void *, const void *))
{
    if (n)
        qsort(p, n, size, compare);
}

/* A chunk's directory into out, which has room for h.dir_len.  False when it is damaged. */
static bool read_dir(const struct trace *t, const struct trace_chunk *c, uint8_t *out)
{
    return fdio_pread_some(t->fd, out, c->h.dir_len, c->offset + CHUNK_HEADER_SIZE) ==
               (ssize_t)c->h.dir_len &&
           chunk_body_hash(out, c->h.dir_len) == c->h.dir_hash;
}

/* Append a chunk's blocks.  The directory is read and checked here, the payload when it is
 * decoded. */
static int add_blocks(struct trace *t, size_t chunk, size_t *cap)
{
    const struct trace_chunk *c = &t->chunks[chunk];
    uint8_t *dir = malloc(c->h.dir_len ? c->h.dir_len : 1);
    if (!dir)
        return -ENOMEM;
    const uint8_t *p = dir, *end = dir + c->h.dir_len;
    uint64_t raw = 0, before = 0;
    bool ok = read_dir(t, c, dir) && (p = varint_get(p, end, &before));
    int rc = 0;
    if (ok)
        t->n_put = max_u64(t->n_put, before + c->h.events);
    while (ok && p < end && rc == 0) {
        struct trace_block b = {.chunk = (uint32_t)chunk, .raw_from = (uint32_t)raw};
        ok = (p = block_get(p, end, &b.b, c->h.first)) && (raw += b.b.len) <= c->h.raw_len;
        if (!ok)
            break;
        if (t->n_blocks == *cap) {
            size_t bigger = *cap ? *cap * 2 : 1024;
            void *q = realloc(t->blocks, bigger * sizeof *t->blocks);
            if (!q) {
                rc = -ENOMEM;
                break;
            }
            t->blocks = q;
            *cap = bigger;
        }
        t->blocks[t->n_blocks++] = b;
    }
    free(dir);
    if (!ok)
        trace_note_chunk(t, chunk, "bad directory");
    return rc;
}

/* Drop blocks whose ring bytes an earlier block already holds: a recovery may have written them
 * twice. */
static void drop_repeated(struct trace *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->n_blocks; i++) {
        const struct block *b = &t->blocks[i].b;
        const struct block *prev = kept ? &t->blocks[kept - 1].b : NULL;
        if (prev && prev->stream == b->stream && b->pos < prev->pos_end)
            continue;
        t->blocks[kept++] = t->blocks[i];
    }
    t->n_blocks = kept;
}

static void add_block(struct trace *t, size_t i)
{
    const struct block *b = &t->blocks[i].b;
    if (i == 0 || b->stream != t->blocks[i - 1].b.stream)
        t->streams[t->n_streams++] = (struct trace_stream){.id = b->stream, .first = (uint32_t)i};
    t->streams[t->n_streams - 1].count++;
    t->n_events += b->events;
    t->first = t->first ? min_u64(t->first, b->first) : b->first;
    t->last = max_u64(t->last, b->last);
}

void trace_count_blocks(struct trace *t)
{
    t->n_streams = 0;
    t->n_events = t->first = t->last = 0;
    for (size_t i = 0; i < t->n_blocks; i++)
        add_block(t, i);
}

static int make_streams(struct trace *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n_blocks; i++)
        n += i == 0 || t->blocks[i].b.stream != t->blocks[i - 1].b.stream;
    t->streams = arena_alloc(&t->arena, n * sizeof *t->streams);
    if (!t->streams)
        return -ENOMEM;
    trace_count_blocks(t);
    return 0;
}

static bool is_whole(struct trace *t, size_t chunk)
{
    const struct trace_chunk *c = &t->chunks[chunk];
    uint8_t *dir = malloc(c->h.dir_len ? c->h.dir_len : 1), *raw = malloc((size_t)c->h.raw_len + 1);
    bool ok = dir && raw && read_dir(t, c, dir) && trace_read_payload(t, c, raw, NULL) == 0;
    free(dir);
    free(raw);
    return ok;
}

/* The newest chunk of an unfinished trace may be half written, behind a header that is whole: it
 * does not count.  What it was to hold is still in the rings. */
static void drop_torn(struct trace *t)
{
    size_t last = t->n_chunks - 1;
    if (t->complete || t->n_chunks == 0 || is_whole(t, last))
        return;
    const struct trace_chunk *c = &t->chunks[last];
    trace_note(t, c->offset, false, "chunk %llu at 0x%llx is unfinished",
               (unsigned long long)c->h.seq, (unsigned long long)c->offset);
    t->n_chunks--;
}

/* How many events an unclosed circle has overwritten. */
static uint64_t count_evicted(const struct trace *t)
{
    uint64_t there = 0;
    for (size_t i = 0; i < t->n_chunks; i++)
        there += t->chunks[i].h.type == CHUNK_EVENTS ? t->chunks[i].h.events : 0;
    return t->n_put > there ? t->n_put - there : 0;
}

/* An unfinished trace once held what its header says. */
static void find_cut(struct trace *t, uint64_t size)
{
    uint64_t next = t->n_chunks ? t->chunks[t->n_chunks - 1].h.seq + 1 : 0;
    if (!t->complete && !t->header.capacity && next < t->header.flushed_seq)
        trace_note(t, size, true, "the file ends before chunk %llu of %llu: it was truncated",
                   (unsigned long long)next, (unsigned long long)t->header.flushed_seq);
}

static int find_chunks(struct trace *t, struct err *err)
{
    int64_t size = fdio_size(t->fd);
    if (size < 0)
        return err_set(err, (int)size, "%s", strerror((int)-size));
    if (!by_index(t, (uint64_t)size)) {
        if (t->header.index_offset)
            trace_note(t, t->header.index_offset, true,
                       "index at 0x%llx does not fit the file: searching for chunks",
                       (unsigned long long)t->header.index_offset);
        free(t->chunks);
        t->chunks = NULL;
        t->n_chunks = 0;
        TRY(scan_headers(t, (uint64_t)size, err));
    }
    sort(t->chunks, t->n_chunks, sizeof *t->chunks, by_seq);
    drop_torn(t);
    find_cut(t, (uint64_t)size);
    return 0;
}

int trace_scan(struct trace *t, struct err *err)
{
    size_t cap = 0;
    int rc = 0;
    TRY(find_chunks(t, err));
    for (size_t i = 0; i < t->n_chunks && rc == 0; i++)
        if (t->chunks[i].h.type == CHUNK_EVENTS)
            rc = add_blocks(t, i, &cap);
    if (t->header.capacity && !t->complete)
        t->header.evicted_events = count_evicted(t);
    if (rc == 0) {
        sort(t->blocks, t->n_blocks, sizeof *t->blocks, by_stream);
        drop_repeated(t);
        rc = make_streams(t);
    }
    return rc < 0 ? err_set(err, rc, "out of memory") : 0;
}

int trace_read_payload(const struct trace *t, const struct trace_chunk *c, uint8_t *out,
                       struct err *err)
{
    uint64_t from = c->offset + CHUNK_HEADER_SIZE + c->h.dir_len;
    TEST_WORK(c->h.raw_len);
    uint8_t *stored = malloc(c->h.stored_len ? c->h.stored_len : 1);
    if (!stored)
        return err_set(err, -ENOMEM, "out of memory");
    int rc = 0;
    ssize_t n = fdio_pread_some(t->fd, stored, c->h.stored_len, from);
    if (n < 0)
        rc = err_set(err, (int)n, "%s", strerror((int)-n));
    else if ((size_t)n < c->h.stored_len)
        rc = err_set(err, -EBADMSG, "the file was truncated");
    else if (chunk_body_hash(stored, (size_t)n) != c->h.payload_hash)
        rc = err_set(err, -EBADMSG, "bad checksum");
    else if (!(c->h.flags & CHUNK_ZSTD) && c->h.raw_len != c->h.stored_len)
        rc = err_set(err, -EBADMSG, "bad length");
    else if (!(c->h.flags & CHUNK_ZSTD))
        memcpy(out, stored, (size_t)n);
    else if (ZSTD_decompress(out, c->h.raw_len, stored, (size_t)n) != c->h.raw_len)
        rc = err_set(err, -EBADMSG, "bad compressed data");
    free(stored);
    return rc;
}

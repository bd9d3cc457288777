/* trace_follow.c - see trace_follow.h.
 *
 * There are two ways from chunk to chunk.  At the beginning, and when the way is lost, the whole
 * file's chunks are looked up (trace_find_chunks) and read as a backlog; after that the next chunk
 * is where the last one ended, or, in a circle, behind the file header, and it has the next seq. */
#include "format/trace_follow.h"

#include "base/fdio.h"
#include "base/util.h"
#include "format/trace_parts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    POLL_BYTES = 8 << 20, /* a poll reads no more than about this */
    RESYNCS_MAX = 3,      /* times that a poll looks for the way again */
};

/* A stream's events are in the file this long after they happened, at the latest (record/drain.c
 * empties every ring each two seconds). */
#define LATENESS_NS (4 * UINT64_C(1000000000))

struct trace_follow {
    struct trace *t; /* chunks: the backlog */
    struct def_loader defs;
    struct map spans; /* where in the definition ring the chunks read began: a circle copies them */
    struct merge merge;
    uint64_t tail;
    size_t backlog;    /* next of t->chunks; n_chunks: it is done */
    uint64_t at, seq;  /* where the next chunk is expected, and its seq */
    uint64_t stuck_at; /* at this offset something is that was no chunk at the last look */
    uint64_t position; /* events ever written to the file before the next chunk */
    bool position_known;
    bool more; /* the last poll stopped in the middle */
    struct trace_follow_state state;
};

/* --- opening ------------------------------------------------------------------------------------
 */

static int read_header(struct trace *t, struct err *err)
{
    uint8_t page[FILE_HEADER_SIZE];
    ssize_t n = fdio_pread_some(t->fd, page, sizeof page, 0);
    if (n < 0)
        return err_set(err, (int)n, "cannot read: %s", strerror((int)-n));
    if (n == 0)
        return err_set(err, -EINVAL, "the file is empty: nothing was recorded");
    TRY(file_header_unpack(&t->header, page, (size_t)n, err));
    t->complete = t->header.state != TRACE_RECORDING;
    return 0;
}

static int find_backlog(struct trace_follow *f, struct err *err)
{
    struct trace *t = f->t;
    free(t->chunks);
    t->chunks = NULL;
    t->n_chunks = 0;
    f->backlog = 0;
    return trace_find_chunks(t, err);
}

/* The chunks of definitions come first: whatever an event names is known then.  They are in the
 * order in which they were made, which is not that of seq where a circle has copied some. */
struct defs_chunk {
    uint64_t pos, seq;
    size_t chunk;
};

static int by_position(const void *a, const void *b)
{
    const struct defs_chunk *x = a, *y = b;
    if (x->pos != y->pos)
        return x->pos < y->pos ? -1 : 1;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

/* Where in the definition ring a chunk begins; false when it is damaged. */
static bool defs_position(const struct trace_follow *f, const struct trace_chunk *c, uint64_t *pos)
{
    uint64_t end;
    uint8_t *dir = malloc(c->h.dir_len + 1);
    bool ok = dir && trace_read_dir(f->t, c, dir) &&
              defs_dir_get(dir, dir + c->h.dir_len, pos, &end) != NULL;
    if (ok && *pos == end)
        *pos = UINT64_MAX; /* written by the drain thread itself */
    free(dir);
    return ok;
}

enum outcome {
    READ_DONE,    /* or nothing in it for us */
    READ_NOT_YET, /* it may become whole */
    READ_BAD,     /* damaged for good, or overwritten */
};

static int read_defs(struct trace_follow *f, const struct trace_chunk *c, struct err *err)
{
    uint64_t pos;
    if (!defs_position(f, c, &pos))
        return READ_NOT_YET;
    if (pos != UINT64_MAX && map_find(&f->spans, pos))
        return READ_DONE;
    uint8_t *raw = malloc((size_t)c->h.raw_len + 1);
    if (!raw)
        return err_set(err, -ENOMEM, "out of memory");
    int rc = READ_NOT_YET;
    if (trace_read_payload(f->t, c, raw, NULL) == 0) {
        rc = trace_add_defs(&f->defs, raw, c, err);
        if (rc == 0 && pos != UINT64_MAX && !map_put(&f->spans, pos))
            rc = err_set(err, -ENOMEM, "out of memory");
    }
    free(raw);
    return rc;
}

static int read_backlog_defs(struct trace_follow *f, struct err *err)
{
    struct trace *t = f->t;
    struct defs_chunk *v = calloc(t->n_chunks + 1, sizeof *v);
    size_t n = 0;
    int rc = 0;
    if (!v)
        return err_set(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < t->n_chunks; i++) {
        if (t->chunks[i].h.type != CHUNK_DEFS || !defs_position(f, &t->chunks[i], &v[n].pos))
            continue;
        v[n].seq = t->chunks[i].h.seq;
        v[n++].chunk = i;
    }
    if (n)
        qsort(v, n, sizeof *v, by_position);
    for (size_t i = 0; i < n && rc >= 0; i++)
        rc = read_defs(f, &t->chunks[v[i].chunk], err);
    free(v);
    return rc < 0 ? rc : 0;
}

/* Leave out the chunks of events that lie before the last `tail` bytes. */
static void skip_to_tail(struct trace_follow *f)
{
    const struct trace *t = f->t;
    uint64_t bytes = 0;
    size_t i = t->n_chunks;
    while (f->tail && i > 0 && bytes < f->tail)
        bytes += t->chunks[--i].h.total_len;
    f->backlog = f->tail ? i : 0;
}

static void go_behind(struct trace_follow *f, const struct trace_chunk *c)
{
    f->at = c->offset + c->h.total_len;
    f->seq = c->h.seq + 1;
    f->stuck_at = 0;
}

static int begin_file(struct trace_follow *f, struct err *err)
{
    TRY(find_backlog(f, err));
    TRY(read_backlog_defs(f, err));
    skip_to_tail(f);
    f->at = FILE_HEADER_SIZE;
    f->seq = 0;
    f->stuck_at = 0;
    f->position_known = false;
    return 0;
}

static int begin(struct trace_follow *f, const char *name, struct err *err)
{
    struct trace *t = f->t;
    t->path = arena_strndup(&t->arena, name, strlen(name));
    t->problems = arena_alloc(&t->arena, TRACE_PROBLEMS_MAX * sizeof *t->problems);
    if (!t->path || !t->problems)
        return err_set(err, -ENOMEM, "out of memory");
    TRY(read_header(t, err));
    merge_init(&f->merge, &t->header.schema);
    return begin_file(f, err);
}

int trace_follow_open_fd(struct trace_follow **out, int fd, const char *name, uint64_t tail,
                         struct err *err)
{
    *out = NULL;
    struct trace_follow *f = calloc(1, sizeof *f);
    struct trace *t = calloc(1, sizeof *t);
    if (!f || !t) {
        free(f);
        free(t);
        close(fd);
        return err_set(err, -ENOMEM, "%s: out of memory", name);
    }
    *f = (struct trace_follow){.t = t, .defs = {.t = t}, .tail = tail};
    t->fd = fd;
    arena_init(&t->arena, 0);
    map_init(&f->spans);
    int rc = begin(f, name, err);
    if (rc < 0) {
        trace_follow_close(f);
        return err_prefix(err, rc, "%s", name);
    }
    *out = f;
    return 0;
}

int trace_follow_open(struct trace_follow **out, const char *path, uint64_t tail, struct err *err)
{
    *out = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    return trace_follow_open_fd(out, fd, path, tail, err);
}

void trace_follow_close(struct trace_follow *f)
{
    if (!f)
        return;
    merge_fini(&f->merge);
    map_fini(&f->spans);
    def_loader_fini(&f->defs);
    trace_close(f->t);
    free(f);
}

/* Streams and the definition ring may count from the beginning again. */
static int enter_file(struct trace_follow *f, struct err *err)
{
    struct event e;
    uint32_t stream;
    uint64_t waiting = 0;
    /* Whoever switches has taken what it wants; the rest would mix with another numbering. */
    while (merge_next(&f->merge, UINT64_MAX, &e, &stream) != MERGE_NONE)
        waiting++;
    f->state.missed += waiting;
    merge_fini(&f->merge);
    merge_init(&f->merge, &f->t->header.schema);
    map_fini(&f->spans);
    map_init(&f->spans);
    return begin_file(f, err);
}

int trace_follow_switch(struct trace_follow *f, const char *path, struct err *err)
{
    struct trace *t = f->t;
    struct file_header old_header = t->header;
    int old = t->fd, fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    t->fd = fd;
    int rc = read_header(t, err);
    const char *name = rc == 0 ? arena_strndup(&t->arena, path, strlen(path)) : NULL;
    if (rc == 0 && !name)
        rc = err_set(err, -ENOMEM, "out of memory");
    if (rc < 0) {
        t->fd = old;
        t->header = old_header;
        t->complete = old_header.state != TRACE_RECORDING;
        close(fd);
        return err_prefix(err, rc, "%s", path);
    }
    close(old);
    t->path = name;
    return enter_file(f, err);
}

/* --- chunks of events ---------------------------------------------------------------------------
 */

static int put_blocks(struct trace_follow *f, const struct trace_chunk *c, const uint8_t *p,
                      const uint8_t *end, const uint8_t *raw)
{
    uint64_t from = 0;
    while (p < end) {
        struct block b;
        p = block_get(p, end, &b, c->h.first);
        if (!p || from + b.len > c->h.raw_len)
            return READ_BAD;
        if (merge_put(&f->merge, &b, raw + from) < 0)
            return -ENOMEM;
        from += b.len;
        f->state.read += b.events;
        f->state.first = f->state.first ? min_u64(f->state.first, b.first) : b.first;
        f->state.latest = max_u64(f->state.latest, b.last);
    }
    return READ_DONE;
}

/* The events before this chunk that we have not read are gone. */
static void count_missed(struct trace_follow *f, const struct trace_chunk *c, uint64_t before)
{
    if (f->position_known && before > f->position)
        f->state.missed += before - f->position;
    if (f->state.read == 0 && !f->position_known)
        f->state.skipped = before;
    f->position = before + c->h.events;
    f->position_known = true;
}

static int read_events(struct trace_follow *f, const struct trace_chunk *c, struct err *err)
{
    uint8_t *dir = malloc((size_t)c->h.dir_len + 1), *raw = malloc((size_t)c->h.raw_len + 1);
    uint64_t before;
    int rc = READ_NOT_YET;
    if (!dir || !raw) {
        rc = err_set(err, -ENOMEM, "out of memory");
    } else if (trace_read_dir(f->t, c, dir) && trace_read_payload(f->t, c, raw, NULL) == 0) {
        const uint8_t *end = dir + c->h.dir_len, *p = varint_get(dir, end, &before);
        if (p)
            count_missed(f, c, before);
        rc = p ? put_blocks(f, c, p, end, raw) : READ_BAD;
        if (rc < 0)
            err_set(err, rc, "out of memory");
    }
    free(dir);
    free(raw);
    return rc;
}

static int read_chunk(struct trace_follow *f, const struct trace_chunk *c, struct err *err)
{
    switch (c->h.type) {
    case CHUNK_DEFS:
        return read_defs(f, c, err);
    case CHUNK_EVENTS:
        return read_events(f, c, err);
    default:
        return READ_DONE;
    }
}

/* --- the way ------------------------------------------------------------------------------------
 */

static void note_bad(struct trace_follow *f, const struct trace_chunk *c)
{
    trace_note(f->t, c->offset, true, "chunk %llu at 0x%llx cannot be read",
               (unsigned long long)c->h.seq, (unsigned long long)c->offset);
}

/* One chunk of the backlog.  What cannot be read any more is skipped: the next chunk of events says
 * how many those were.  Returns the bytes read. */
static int64_t read_backlog(struct trace_follow *f, struct err *err)
{
    const struct trace_chunk *c = &f->t->chunks[f->backlog++];
    if (c->h.seq < f->seq)
        return 0;
    int rc = c->h.type == CHUNK_DEFS ? READ_DONE : read_chunk(f, c, err); /* those were first */
    TRY(rc);
    if (rc != READ_DONE && (!f->t->header.capacity || f->t->complete))
        note_bad(f, c);
    go_behind(f, c);
    return c->h.total_len;
}

enum place {
    PLACE_NOTHING, /* nothing new */
    PLACE_NEXT,    /* the next chunk */
    PLACE_LOST,    /* the recording was faster, or the place is damaged */
};

static enum place look_at(const struct trace_follow *f, uint64_t offset, struct trace_chunk *c)
{
    c->offset = offset;
    if (!trace_read_header(f->t, offset, &c->h) || c->h.seq < f->seq)
        return PLACE_NOTHING;
    return c->h.seq == f->seq && c->h.type != CHUNK_FILL ? PLACE_NEXT : PLACE_LOST;
}

static enum place find_next(struct trace_follow *f, struct trace_chunk *c)
{
    enum place p = look_at(f, f->at, c);
    if (p == PLACE_NOTHING && f->t->header.capacity)
        p = look_at(f, FILE_HEADER_SIZE, c);
    if (p != PLACE_NOTHING)
        return p;
    /* What is no chunk twice in a row, with the file going on behind it, is damage. */
    int64_t size = fdio_size(f->t->fd);
    bool bytes = size > 0 && (uint64_t)size > f->at + CHUNK_HEADER_SIZE;
    if (f->t->header.capacity || !bytes || trace_read_header(f->t, f->at, &c->h))
        return PLACE_NOTHING;
    p = f->stuck_at == f->at || f->t->complete ? PLACE_LOST : PLACE_NOTHING;
    f->stuck_at = f->at;
    return p;
}

/* Whether a chunk that cannot be read now can be read later: it is still the one that we found, and
 * nothing was written behind it. */
static bool may_become_whole(const struct trace_follow *f, const struct trace_chunk *c)
{
    struct chunk_header now, next;
    return !f->t->complete && trace_read_header(f->t, c->offset, &now) && now.seq == c->h.seq &&
           !(trace_read_header(f->t, c->offset + c->h.total_len, &next) && next.seq > c->h.seq);
}

/* One new chunk.  *bytes: how much that was; 0: there is none. */
static int read_next(struct trace_follow *f, int64_t *bytes, struct err *err)
{
    struct trace_chunk c;
    enum place p = find_next(f, &c);
    *bytes = 0;
    if (p != PLACE_NEXT)
        return p;
    int rc = read_chunk(f, &c, err);
    TRY(rc);
    if (rc == READ_NOT_YET && may_become_whole(f, &c))
        return PLACE_NOTHING;
    if (rc != READ_DONE && f->t->header.capacity)
        return PLACE_LOST;
    if (rc != READ_DONE)
        note_bad(f, &c);
    go_behind(f, &c);
    *bytes = c.h.total_len;
    return PLACE_NEXT;
}

/* Find the way again; chunks that were read are not read a second time. */
static int resync(struct trace_follow *f, struct err *err)
{
    TRY(find_backlog(f, err));
    TRY(read_backlog_defs(f, err));
    size_t n = f->t->n_chunks;
    if (n == 0 || f->t->chunks[n - 1].h.seq < f->seq)
        f->backlog = n; /* nothing new: the place may be filled later */
    return 0;
}

/* The header may be torn while it is rewritten: then the next look sees it. */
static void refresh_header(struct trace_follow *f)
{
    struct file_header before = f->t->header;
    if (f->t->complete)
        return;
    if (read_header(f->t, NULL) < 0 || memcmp(before.id, f->t->header.id, sizeof before.id) != 0)
        f->t->header = before;
    f->t->complete = f->t->header.state != TRACE_RECORDING;
}

static int read_new(struct trace_follow *f, struct err *err)
{
    int64_t read = 0, bytes;
    int resyncs = 0;
    while (read < POLL_BYTES) {
        int rc = PLACE_NEXT;
        if (f->backlog < f->t->n_chunks) {
            bytes = read_backlog(f, err);
            TRY((int)(bytes < 0 ? bytes : 0));
        } else {
            rc = read_next(f, &bytes, err);
            TRY(rc);
        }
        if (rc == PLACE_NOTHING || (rc == PLACE_LOST && resyncs++ == RESYNCS_MAX))
            return 0;
        if (rc == PLACE_LOST)
            TRY(resync(f, err));
        read += bytes;
    }
    return 1;
}

int trace_follow_poll(struct trace_follow *f, struct err *err)
{
    refresh_header(f); /* first: when it says that nothing more comes, everything is there */
    int rc = read_new(f, err);
    f->more = rc > 0;
    f->state.ended = rc == 0 && f->t->complete;
    return rc < 0 ? err_prefix(err, rc, "%s", f->t->path) : rc;
}

enum merge_what trace_follow_next(struct trace_follow *f, uint64_t until, struct event *e,
                                  uint32_t *stream)
{
    if (f->more) {
        uint64_t sure = f->state.latest > LATENESS_NS ? f->state.latest - LATENESS_NS : 0;
        until = min_u64(until, sure);
    }
    return merge_next(&f->merge, until, e, stream);
}

const struct trace *trace_follow_trace(const struct trace_follow *f)
{
    return f->t;
}

struct trace_follow_state trace_follow_state(const struct trace_follow *f)
{
    return f->state;
}

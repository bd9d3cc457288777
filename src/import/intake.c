#include "import/intake.h"

#include "base/fdio.h"
#include "base/util.h"
#include "import/jvm_threads.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct intake_stream {
    uint64_t pos; /* bytes of it in chunks */
    struct codec codec;
    struct block block;
    struct buf raw;
};

static int out_of_memory(struct intake *in, struct err *err)
{
    return err_set(err, -ENOMEM, "%s: out of memory", in->name);
}

/* --- the file --------------------------------------------------------------------------------- */

/* On disk where that is possible: a long import need not fit into memory. */
static int nameless_file(void)
{
    const char *folder = getenv("TMPDIR");
    int fd = open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return fd >= 0 ? fd : memfd_create("orca-import", MFD_CLOEXEC);
}

int intake_init(struct intake *in, const char *name, struct err *err)
{
    memset(in, 0, sizeof *in);
    in->name = name;
    in->state = TRACE_CLOSED;
    id_space_init(&in->thread_ids);
    id_space_init(&in->lock_ids);
    arena_init(&in->names, 0);
    in->streams = calloc(INTAKE_STREAMS, sizeof *in->streams);
    in->problems = calloc(INTAKE_PROBLEMS, sizeof *in->problems);
    if ((in->fd = nameless_file()) < 0) {
        int rc =
            err_set(err, -errno, "%s: no room for a temporary file: %s", name, strerror(errno));
        intake_fini(in);
        return rc;
    }
    struct file_header h;
    writer_header_init(&h);
    h.pid = 0; /* not a process of this machine */
    h.pid_start = h.start_mono = h.start_real = 0;
    int rc = in->streams && in->problems ? 0 : out_of_memory(in, err);
    if (rc == 0)
        rc = writer_init(&in->writer, in->fd, &h, err);
    if (rc < 0)
        intake_fini(in);
    return rc;
}

void intake_fini(struct intake *in)
{
    for (size_t i = 0; in->streams && i < INTAKE_STREAMS; i++)
        buf_fini(&in->streams[i].raw);
    free(in->streams);
    free(in->problems);
    free(in->threads);
    buf_fini(&in->defs);
    buf_fini(&in->packed);
    map_fini(&in->threads_by_hash);
    map_fini(&in->locks_by_hash);
    id_space_fini(&in->thread_ids);
    id_space_fini(&in->lock_ids);
    digest_fini(&in->stacks);
    arena_fini(&in->names);
    if (in->writer.zstd)
        writer_fini(&in->writer);
    if (in->fd >= 0)
        close(in->fd);
    memset(in, 0, sizeof *in);
    in->fd = -1;
}

static int write_failed(struct intake *in, int rc, struct err *err)
{
    return err_prefix(err, rc, "%s: temporary file", in->name);
}

/* --- definitions ------------------------------------------------------------------------------ */

static int flush_defs(struct intake *in, struct err *err)
{
    if (in->n_defs == 0)
        return 0;
    int rc = writer_put_defs(&in->writer, in->defs.p, in->defs.len, in->n_defs,
                             (struct defs_span){0, 0}, err);
    buf_clear(&in->defs);
    in->n_defs = 0;
    return rc < 0 ? write_failed(in, rc, err) : 0;
}

int intake_def(struct intake *in, const struct def *d, struct err *err)
{
    size_t before = in->defs.len;
    codec_put_def(&in->defs, d);
    if (in->defs.oom)
        return out_of_memory(in, err);
    size_t len = in->defs.len - before;
    if (len > WRITER_DEF_MAX)
        return err_set(err, -EINVAL, "a definition of %zu bytes; at most %d are possible", len,
                       WRITER_DEF_MAX);
    in->n_defs++;
    /* One definition may be as long as a chunk: it starts a new one when it does not fit. */
    if (before && in->defs.len > WRITER_CHUNK_RAW) {
        in->defs.len = before;
        in->n_defs--;
        TRY(flush_defs(in, err));
        codec_put_def(&in->defs, d);
        in->n_defs = 1;
    }
    return 0;
}

static bool reserve_threads(struct intake *in, size_t n)
{
    if (n <= in->cap_threads)
        return true;
    size_t cap = in->cap_threads ? in->cap_threads : 64;
    while (cap < n)
        cap *= 2;
    struct intake_thread *threads = realloc(in->threads, cap * sizeof *threads);
    if (!threads)
        return false;
    in->threads = threads;
    in->cap_threads = cap;
    return true;
}

int intake_new_thread(struct intake *in, uint64_t want, thread_id *id, struct err *err)
{
    id->v = id_space_take(&in->thread_ids, want);
    if (id->v == 0 || !reserve_threads(in, (size_t)id->v + 1))
        return out_of_memory(in, err);
    for (; in->n_threads <= id->v; in->n_threads++)
        in->threads[in->n_threads] = (struct intake_thread){.used = false};
    in->threads[id->v].used = true;
    return 0;
}

struct intake_thread *intake_get_thread(struct intake *in, thread_id id)
{
    return id.v < in->n_threads && in->threads[id.v].used ? &in->threads[id.v] : NULL;
}

int intake_thread(struct intake *in, uint32_t hash, thread_id *id, struct err *err)
{
    id->v = 0;
    if (hash == 0)
        return 0;
    uint64_t *slot = map_put(&in->threads_by_hash, hash);
    if (!slot)
        return out_of_memory(in, err);
    if (*slot == 0) {
        TRY(intake_new_thread(in, 0, id, err));
        in->threads[id->v].hash = hash;
        *slot = id->v;
    }
    id->v = (uint32_t)*slot;
    return 0;
}

int intake_keep(struct intake *in, struct text text, struct text *kept, struct err *err)
{
    char *p = arena_strndup(&in->names, text.p, text.len);
    if (!p)
        return out_of_memory(in, err);
    *kept = (struct text){p, text.len};
    return 0;
}

int intake_name_thread(struct intake *in, thread_id id, struct text name, struct err *err)
{
    struct intake_thread *t = intake_get_thread(in, id);
    if (!t ||
        (t->name.len == name.len && (name.len == 0 || memcmp(t->name.p, name.p, name.len) == 0)))
        return 0;
    return intake_keep(in, name, &t->name, err);
}

int intake_new_lock(struct intake *in, uint64_t want, lock_id *id, struct err *err)
{
    id->v = id_space_take(&in->lock_ids, want);
    return id->v ? 0 : out_of_memory(in, err);
}

int intake_lock(struct intake *in, uint32_t hash, lock_id *id, struct err *err)
{
    id->v = 0;
    if (hash == 0)
        return 0;
    uint64_t *slot = map_put(&in->locks_by_hash, hash);
    if (!slot)
        return out_of_memory(in, err);
    if (*slot) {
        id->v = (uint32_t)*slot;
        return 0;
    }
    TRY(intake_new_lock(in, 0, id, err));
    *slot = id->v;
    struct def d = {.kind = DEF_lock, .lock = {.id = *id, .hash = hash}};
    return intake_def(in, &d, err);
}

/* The number of a stack.  Its flags follow the frames: no pair of varints can be such a rest. */
static uint32_t number_stack(struct intake *in, const struct packed *frames, uint32_t flags,
                             bool *fresh)
{
    if (flags == 0)
        return digest_get(&in->stacks, frames->p, frames->len, fresh);
    buf_clear(&in->packed);
    buf_put(&in->packed, frames->p, frames->len);
    varint_append(&in->packed, flags);
    return in->packed.oom ? 0 : digest_get(&in->stacks, in->packed.p, in->packed.len, fresh);
}

int intake_stack(struct intake *in, const struct packed *frames, uint32_t flags, stack_id *id,
                 struct err *err)
{
    id->v = 0;
    if (frames->count == 0)
        return 0;
    bool fresh;
    id->v = number_stack(in, frames, flags, &fresh);
    if (id->v == 0)
        return out_of_memory(in, err);
    struct def d = {.kind = DEF_stack, .stack = {.id = *id, .flags = flags, .frames = *frames}};
    return fresh ? intake_def(in, &d, err) : 0;
}

static struct str str_of(struct text t)
{
    return (struct str){t.p, t.len};
}

/* What the file did not say of a thread of the JVM. */
static void complete_thread(struct intake_thread *t)
{
    const char *group =
        t->flags == 0 && t->group.len == 0 ? jvm_threads_group(t->name, t->called) : NULL;
    if (!group)
        return;
    t->flags = THREAD_DAEMON;
    t->group = (struct text){group, strlen(group)};
}

/* When the thread that ends the JVM went on: all threads of the program but daemons had ended.  It
 * waits for that, and then starts the hooks or ends; after System.exit it does neither.  0:
 * never. */
static uint64_t destroyed_at(const struct intake *in)
{
    static const char name[] = "DestroyJavaVM";
    for (size_t i = 0; i < in->n_threads; i++) {
        const struct intake_thread *t = &in->threads[i];
        if (t->acted && !t->called && t->name.len == strlen(name) &&
            memcmp(t->name.p, name, t->name.len) == 0)
            return t->acted;
    }
    return 0;
}

static void find_daemons(struct intake *in)
{
    uint64_t time = in->daemons_unsaid ? destroyed_at(in) : 0;
    for (size_t i = 0; time && i < in->n_threads; i++) {
        struct intake_thread *t = &in->threads[i];
        if (t->first && t->first < time && (!t->ended || t->ended > time))
            t->flags |= THREAD_DAEMON;
    }
}

static int put_threads(struct intake *in, struct err *err)
{
    for (size_t i = 0; i < in->n_threads; i++)
        complete_thread(&in->threads[i]);
    find_daemons(in);
    for (size_t i = 0; i < in->n_threads; i++) {
        struct intake_thread *t = &in->threads[i];
        struct def d = {.kind = DEF_thread,
                        .thread = {.id = {(uint32_t)i},
                                   .flags = t->flags,
                                   .hash = t->hash,
                                   .name = str_of(t->name),
                                   .group = str_of(t->group),
                                   .parent_group = str_of(t->parent_group)}};
        if (t->used && !t->undefined)
            TRY(intake_def(in, &d, err));
    }
    return 0;
}

/* --- events ----------------------------------------------------------------------------------- */

/* The block of a stream is closed: hand its description over and begin the next. */
static struct block take_block(struct intake_stream *s, size_t stream)
{
    struct block b = s->block;
    b.stream = (uint32_t)stream + 1;
    b.len = (uint32_t)s->raw.len;
    b.pos = s->pos;
    b.pos_end = s->pos += s->raw.len;
    b.last = s->codec.time;
    s->block.events = 0;
    return b;
}

/* Write the blocks of all streams as one chunk. */
static int flush_events(struct intake *in, struct err *err)
{
    struct block blocks[INTAKE_STREAMS];
    struct buf all = {0};
    size_t n = 0;
    for (size_t i = 0; i < in->n_streams; i++) {
        struct intake_stream *s = &in->streams[i];
        if (s->raw.len == 0)
            continue;
        if (in->n_streams > 1)
            buf_put(&all, s->raw.p, s->raw.len);
        blocks[n++] = take_block(s, i);
    }
    const struct buf *raw = in->n_streams > 1 ? &all : &in->streams[0].raw;
    int rc = all.oom ? out_of_memory(in, err) : 0;
    if (rc == 0 && n > 0) {
        rc = writer_put_events(&in->writer, blocks, n, raw->p, raw->len, err);
        rc = rc < 0 ? write_failed(in, rc, err) : 0;
    }
    for (size_t i = 0; i < in->n_streams; i++)
        buf_clear(&in->streams[i].raw);
    in->waiting = 0;
    buf_fini(&all);
    return rc;
}

static struct intake_stream *stream_for(struct intake *in, uint64_t time)
{
    for (size_t i = 0; i < in->n_streams; i++)
        if (in->streams[i].codec.time <= time)
            return &in->streams[i];
    return in->n_streams < INTAKE_STREAMS ? &in->streams[in->n_streams++] : NULL;
}

static void note_life(struct intake *in, const struct event *e)
{
    struct intake_thread *t = intake_get_thread(in, e->thread);
    if (!t)
        return;
    t->first = t->first ? min_u64(t->first, e->time) : e->time;
    if (e->kind == EV_thread_end)
        t->ended = e->time;
    if (e->kind == EV_thread_end || e->kind == EV_thread_start_called)
        t->acted = t->acted ? min_u64(t->acted, e->time) : e->time;
}

static void note_called(struct intake *in, const struct event *e)
{
    struct intake_thread *t = e->kind == EV_thread_start_called
                                  ? intake_get_thread(in, e->thread_start_called.target)
                                  : NULL;
    if (t)
        t->called = true;
}

int intake_event(struct intake *in, const struct event *e, struct err *err)
{
    note_called(in, e);
    note_life(in, e);
    struct intake_stream *s = stream_for(in, e->time);
    if (!s)
        return err_set(err, -EINVAL, "the events are too far out of the order of time");
    if (in->waiting + EVENT_ENCODED_MAX > WRITER_CHUNK_RAW)
        TRY(flush_events(in, err));
    uint8_t *p = buf_reserve(&s->raw, EVENT_ENCODED_MAX);
    if (!p)
        return out_of_memory(in, err);
    if (s->block.events == 0) {
        s->codec = (struct codec){.time = e->time, .thread = e->thread.v};
        s->block = (struct block){.thread = e->thread.v, .first = e->time};
    }
    size_t len = (size_t)(codec_put_event(&s->codec, p, e) - p);
    s->raw.len += len;
    in->waiting += len;
    s->block.events++;
    in->first = in->n_events == 0 ? e->time : min_u64(in->first, e->time);
    in->last = max_u64(in->last, e->time);
    in->n_events++;
    return 0;
}

/* --- the end ---------------------------------------------------------------------------------- */

void intake_note(struct intake *in, uint64_t offset, bool damage, const char *fmt, ...)
{
    in->n_damaged += damage;
    if (in->n_problems == INTAKE_PROBLEMS)
        return;
    struct trace_problem *p = &in->problems[in->n_problems++];
    p->offset = offset;
    p->damage = damage;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(p->text, sizeof p->text, fmt, ap);
    va_end(ap);
}

static int close_file(struct intake *in, struct err *err)
{
    TRY(put_threads(in, err));
    TRY(flush_defs(in, err));
    if (in->n_events)
        TRY(flush_events(in, err));
    struct file_header *h = &in->writer.header;
    h->start_mono = in->start ? in->start : in->first;
    h->start_real = in->dated ? h->start_mono : 0;
    int rc = writer_close(&in->writer, in->state, max_u64(in->end, in->last), err);
    return rc < 0 ? write_failed(in, rc, err) : 0;
}

int intake_open(struct intake *in, struct trace **out, struct err *err)
{
    *out = NULL;
    TRY(close_file(in, err));
    int fd = in->fd;
    in->fd = -1;
    TRY(trace_open_fd(out, fd, in->name, err));
    size_t damaged = (*out)->n_damaged + in->n_damaged; /* more than are kept */
    for (size_t i = 0; i < in->n_problems; i++)
        trace_note(*out, in->problems[i].offset, in->problems[i].damage, "%s",
                   in->problems[i].text);
    (*out)->n_damaged = damaged;
    return 0;
}

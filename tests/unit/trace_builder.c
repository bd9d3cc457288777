#include "trace_builder.h"

#include "base/util.h"
#include "format/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HEADER_STATE_DEFAULT = TRACE_CLOSED };

/* One stream's finished blocks and the one that is being filled. */
struct builder_stream {
    uint32_t id;
    struct buf bytes;  /* of all blocks */
    struct buf blocks; /* struct block [] */
    struct block open; /* events: 0 when there is none */
    size_t open_from;  /* in bytes */
    struct codec codec;
    uint64_t pos, last;
    size_t written, written_bytes; /* by builder_write */
};

static void require(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "trace_builder: %s\n", what);
    abort();
}

void builder_init(struct trace_builder *b)
{
    memset(b, 0, sizeof *b);
    writer_header_init(&b->header);
    b->header.start_mono = BUILDER_START;
    b->header.start_real = UINT64_C(1763700000000000000); /* 2025-11-21 04:40:00 UTC */
    b->header.pid = 4711;
    b->header.pid_start = 0;
    b->header.state = HEADER_STATE_DEFAULT;
    b->block_events = 4096;
    b->round_blocks = 1;
}

/* --- definitions ------------------------------------------------------------------------------ */

static struct str str(const char *s)
{
    return (struct str){s, strlen(s)};
}

void builder_def(struct trace_builder *b, const struct def *d)
{
    codec_put_def(&b->defs, d);
    b->n_defs++;
}

void builder_info(struct trace_builder *b, const char *key, const char *value)
{
    builder_def(b, &(struct def){.kind = DEF_info, .info = {.key = str(key), .value = str(value)}});
}

void builder_loss(struct trace_builder *b, uint32_t cause, uint64_t count)
{
    builder_def(b, &(struct def){.kind = DEF_loss, .loss = {.cause = cause, .count = count}});
}

thread_id builder_thread_flags(struct trace_builder *b, const char *name, uint32_t flags)
{
    thread_id id = {++b->n_threads};
    builder_def(b, &(struct def){.kind = DEF_thread,
                                 .thread = {.id = id,
                                            .java_tid = id.v + 10,
                                            .os_tid = id.v + 1000,
                                            .flags = flags,
                                            .hash = id.v,
                                            .name = str(name),
                                            .group = str("main"),
                                            .parent_group = str("system")}});
    return id;
}

thread_id builder_thread(struct trace_builder *b, const char *name)
{
    return builder_thread_flags(b, name, 0);
}

/* "Lshop/Order$Line;" was compiled from Order.java. */
static size_t source_name(const char *signature, char *out, size_t n)
{
    const char *slash = strrchr(signature, '/');
    const char *simple = slash ? slash + 1 : signature + (*signature == 'L');
    return (size_t)snprintf(out, n, "%.*s.java", (int)strcspn(simple, "$;"), simple);
}

class_id builder_class(struct trace_builder *b, const char *signature)
{
    class_id id = {++b->n_classes};
    char source[200];
    size_t len = source_name(signature, source, sizeof source);
    builder_def(b, &(struct def){.kind = DEF_class,
                                 .class = {.id = id,
                                           .hash = id.v,
                                           .signature = str(signature),
                                           .source = {source, len}}});
    return id;
}

gc_name_id builder_gc_name(struct trace_builder *b, const char *name)
{
    gc_name_id id = {++b->n_gc_names};
    builder_def(b, &(struct def){.kind = DEF_gc_name, .gc_name = {id, str(name)}});
    return id;
}

lock_id builder_lock(struct trace_builder *b, class_id of)
{
    lock_id id = {++b->n_locks};
    builder_def(
        b, &(struct def){.kind = DEF_lock, .lock = {.id = id, .class_ = of, .hash = 0x100 + id.v}});
    return id;
}

enum { LINES = 2000 };

method_id builder_method(struct trace_builder *b, class_id of, const char *name, uint32_t flags)
{
    method_id id = {++b->n_methods};
    struct buf lines = {0};
    bool native = flags & METHOD_NATIVE;
    size_t len = strcspn(name, "(");
    for (uint32_t i = 1; i < LINES && !native; i++)
        packed_put_line(&lines, i, i, i - 1, i - 1);
    builder_def(b,
                &(struct def){.kind = DEF_method,
                              .method = {.id = id,
                                         .class_ = of,
                                         .name = {name, (uint32_t)len},
                                         .signature = str(name[len] ? name + len : "()V"),
                                         .flags = flags,
                                         .lines = {lines.p, lines.len, native ? 0 : LINES - 1}}});
    buf_fini(&lines);
    return id;
}

/* What a stack's text has named so far: lines "C shop.Order id" and "M shop.Order.submit id". */
static uint32_t known(struct trace_builder *b, char what, const char *name, size_t len)
{
    const char *p = buf_str(&b->texts);
    for (; *p; p += strcspn(p, "\n") + 1)
        if (*p == what && strncmp(p + 2, name, len) == 0 && p[2 + len] == ' ')
            return (uint32_t)strtoul(p + 3 + len, NULL, 10);
    return 0;
}

static class_id class_of_name(struct trace_builder *b, const char *name, size_t len)
{
    class_id id = {known(b, 'C', name, len)};
    if (id.v)
        return id;
    char signature[300];
    require(len < sizeof signature - 3, "class name too long");
    snprintf(signature, sizeof signature, "L%.*s;", (int)len, name);
    for (char *p = signature; *p; p++)
        *p = *p == '.' ? '/' : *p;
    id = builder_class(b, signature);
    buf_printf(&b->texts, "C %.*s %u\n", (int)len, name, id.v);
    return id;
}

/* `name`: "shop.Order.submit" of `len` bytes. */
static method_id method_of_name(struct trace_builder *b, const char *name, size_t len,
                                uint32_t flags)
{
    method_id id = {known(b, 'M', name, len)};
    if (id.v)
        return id;
    const char *dot = memrchr(name, '.', len);
    require(dot, "a frame is CLASS.METHOD:LINE");
    char method[200];
    snprintf(method, sizeof method, "%.*s", (int)(name + len - dot - 1), dot + 1);
    class_id of = class_of_name(b, name, (size_t)(dot - name));
    id = builder_method(b, of, method, flags);
    buf_printf(&b->texts, "M %.*s %u\n", (int)len, name, id.v);
    return id;
}

enum { PRIVATE = 0x2, SYNCHRONIZED = 0x20 };

stack_id builder_stack(struct trace_builder *b, const char *frames)
{
    struct buf packed = {0};
    uint32_t n = 0;
    for (const char *p = frames; *p; n++) {
        size_t word = strcspn(p, " ");
        const char *colon = memrchr(p, ':', word);
        require(colon, "a frame is CLASS.METHOD:LINE");
        uint32_t flags = colon[1] == 'n'   ? METHOD_NATIVE
                         : colon[1] == 's' ? METHOD_STUB
                         : colon[1] == '~' ? PRIVATE
                         : colon[1] == '=' ? SYNCHRONIZED
                                           : 0;
        method_id m = method_of_name(b, p, (size_t)(colon - p), flags);
        packed_put_frame(&packed, m,
                         flags & ~(PRIVATE | SYNCHRONIZED) ? -1 : atoi(colon + (flags ? 2 : 1)));
        p += word + (p[word] == ' ');
    }
    stack_id id = {++b->n_stacks};
    builder_def(b, &(struct def){.kind = DEF_stack,
                                 .stack = {.id = id, .frames = {packed.p, packed.len, n}}});
    buf_fini(&packed);
    return id;
}

void builder_site(struct trace_builder *b, method_id method, uint32_t bci, const char *from)
{
    builder_def(b,
                &(struct def){
                    .kind = DEF_site,
                    .site = {.id = ++b->n_sites, .method = method, .bci = bci, .from = str(from)}});
}

/* --- events ----------------------------------------------------------------------------------- */

static struct builder_stream *stream_of(struct trace_builder *b, uint32_t id)
{
    for (size_t i = 0; i < b->n_streams; i++)
        if (b->streams[i].id == id)
            return &b->streams[i];
    b->streams = realloc(b->streams, (b->n_streams + 1) * sizeof *b->streams);
    require(b->streams, "out of memory");
    struct builder_stream *s = &b->streams[b->n_streams++];
    *s = (struct builder_stream){.id = id};
    return s;
}

static void finish_block(struct builder_stream *s)
{
    if (!s->open.events)
        return;
    s->open.last = s->last;
    s->open.pos_end = s->pos;
    s->open.len = (uint32_t)(s->bytes.len - s->open_from);
    buf_put(&s->blocks, &s->open, sizeof s->open);
    s->open.events = 0;
}

void builder_event(struct trace_builder *b, uint32_t stream, const struct event *e)
{
    struct builder_stream *s = stream_of(b, stream);
    require(e->time >= s->last, "events of one stream must be in the order of time");
    if (!s->open.events) {
        s->open = (struct block){
            .stream = stream, .thread = e->thread.v, .pos = s->pos, .first = e->time};
        s->open_from = s->bytes.len;
        s->codec = (struct codec){.time = e->time, .thread = e->thread.v};
    }
    uint8_t *p = buf_reserve(&s->bytes, EVENT_ENCODED_MAX);
    require(p, "out of memory");
    s->bytes.len += (size_t)(codec_put_event(&s->codec, p, e) - p);
    s->open.events++;
    s->pos += event_kinds[e->kind].size;
    s->last = e->time;
    if (s->open.events == b->block_events)
        finish_block(s);
}

void builder_gap(struct trace_builder *b, uint32_t stream, uint64_t bytes)
{
    struct builder_stream *s = stream_of(b, stream);
    finish_block(s);
    s->pos += bytes;
}

/* --- the trace -------------------------------------------------------------------------------- */

static void write_defs(struct trace_builder *b, struct writer *w)
{
    struct err err;
    const uint8_t *p = b->defs.p, *end = p + b->defs.len, *from = p;
    uint32_t n = 0;
    while (p < end) {
        struct def d;
        const uint8_t *next = codec_get_def(p, end, &d);
        require(next, "a definition does not decode");
        if (n && next - from > WRITER_CHUNK_RAW) {
            require(writer_put_defs(w, from, (size_t)(p - from), n, (struct defs_span){0, 0},
                                    &err) == 0,
                    "put_defs");
            from = p;
            n = 0;
        }
        p = next;
        n++;
    }
    if (n)
        require(writer_put_defs(w, from, (size_t)(p - from), n, (struct defs_span){0, 0}, &err) ==
                    0,
                "put_defs");
}

/* One chunk: the next blocks of every stream, as a drain thread would find them. */
static bool write_round(struct trace_builder *b, struct writer *w)
{
    struct buf blocks = {0}, raw = {0};
    for (size_t i = 0; i < b->n_streams; i++) {
        struct builder_stream *s = &b->streams[i];
        const struct block *all = (const void *)s->blocks.p;
        size_t n = s->blocks.len / sizeof *all;
        for (uint32_t k = 0; k < b->round_blocks && s->written < n; k++) {
            const struct block *one = &all[s->written];
            if (raw.len + one->len > WRITER_CHUNK_RAW)
                break;
            buf_put(&blocks, one, sizeof *one);
            buf_put(&raw, s->bytes.p + s->written_bytes, one->len);
            s->written_bytes += one->len;
            s->written++;
        }
    }
    struct err err;
    size_t n = blocks.len / sizeof(struct block);
    if (n)
        require(writer_put_events(w, (const void *)blocks.p, n, raw.p, raw.len, &err) == 0,
                "put_events");
    buf_fini(&blocks);
    buf_fini(&raw);
    return n > 0;
}

static void builder_fini(struct trace_builder *b)
{
    for (size_t i = 0; i < b->n_streams; i++) {
        buf_fini(&b->streams[i].bytes);
        buf_fini(&b->streams[i].blocks);
    }
    free(b->streams);
    buf_fini(&b->defs);
    buf_fini(&b->texts);
    memset(b, 0, sizeof *b);
}

void builder_write(struct trace_builder *b, int fd, uint64_t end)
{
    struct writer w;
    struct err err;
    struct file_header header = b->header;
    header.state = TRACE_RECORDING;
    require(!b->defs.oom && !b->texts.oom, "out of memory");
    require(writer_init(&w, fd, &header, &err) == 0, "writer_init");
    write_defs(b, &w);
    for (size_t i = 0; i < b->n_streams; i++)
        finish_block(&b->streams[i]);
    while (write_round(b, &w))
        ;
    if (b->header.state != TRACE_RECORDING)
        require(writer_close(&w, b->header.state, BUILDER_START + end, &err) == 0, "writer_close");
    writer_fini(&w);
    builder_fini(b);
}

struct trace *builder_open(struct trace_builder *b, uint64_t end)
{
    struct err err;
    struct trace *t;
    int fd = memfd_create("trace", MFD_CLOEXEC);
    require(fd >= 0, "memfd_create");
    builder_write(b, fd, end);
    if (trace_open_fd(&t, fd, "built.otrace", &err) == 0)
        return t;
    fprintf(stderr, "trace_builder: %s\n", err.msg);
    abort();
}

/* trace_fuzz.c - the trace readers over arbitrary files: open, every definition, every event,
 * merged; and a part of it.
 *
 * Checksums would keep a fuzzer out, so the first byte chooses: 0, the rest is the file as it is;
 * else the rest describes chunks, and a file with right checksums is made from it: chunk =
 * type|flags (1), seq (1), events (1), raw_len (2), dir_len (1), stored_len (2), bytes... */
#include "base/buf.h"
#include "format/trace.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t take(const uint8_t **p, const uint8_t *end, int bytes)
{
    size_t v = 0;
    for (int i = 0; i < bytes && *p < end; i++)
        v = v << 8 | *(*p)++;
    return v;
}

static void put_chunk(struct buf *file, const uint8_t *id, const uint8_t **p, const uint8_t *end)
{
    uint8_t head[CHUNK_HEADER_SIZE];
    size_t kind = take(p, end, 1);
    struct chunk_header h = {.type = (uint8_t)(1 + kind % 4), .flags = (uint8_t)(kind >> 7)};
    h.seq = take(p, end, 1);
    h.events = (uint32_t)take(p, end, 1);
    h.raw_len = (uint32_t)take(p, end, 2) * 16;
    h.dir_len = (uint32_t)take(p, end, 1);
    h.stored_len = (uint32_t)take(p, end, 2);
    size_t left = (size_t)(end - *p);
    h.dir_len = h.dir_len > left ? (uint32_t)left : h.dir_len;
    left -= h.dir_len;
    h.stored_len = h.stored_len > left ? (uint32_t)left : h.stored_len;
    if (!h.flags && kind & 0x40)
        h.raw_len = h.stored_len;
    h.dir_hash = chunk_body_hash(*p, h.dir_len);
    h.payload_hash = chunk_body_hash(*p + h.dir_len, h.stored_len);
    h.first = 1000;
    h.last = 2000;
    h.total_len = (CHUNK_HEADER_SIZE + h.dir_len + h.stored_len + 7) & ~7u;
    chunk_header_pack(&h, id, file->len, head);
    buf_put(file, head, sizeof head);
    buf_put(file, *p, h.dir_len + h.stored_len);
    *p += h.dir_len + h.stored_len;
    while (file->len % 8)
        buf_putc(file, 0);
}

static void make_file(struct buf *file, const uint8_t *p, const uint8_t *end)
{
    uint8_t page[FILE_HEADER_SIZE];
    struct file_header h = {.state = (uint32_t)take(&p, end, 1) % 4, .start_mono = 500};
    size_t shape = take(&p, end, 1);
    h.capacity = shape & 1 ? 4 << 20 : 0;
    codec_schema_own(&h.schema);
    if (shape & 2)
        for (int i = 0; i < EV_LIMIT; i++)
            h.schema.n_fields[i] = (uint8_t)(h.schema.n_fields[i] + (shape >> 4));
    if (shape & 4)
        h.index_offset = FILE_HEADER_SIZE;
    file_header_pack(&h, page);
    buf_put(file, page, sizeof page);
    while (p < end)
        put_chunk(file, h.id, &p, end);
}

static void read_everything(int fd)
{
    struct trace *t;
    struct err err;
    struct event e;
    struct trace_iter *it;
    char name[64];
    if (trace_open_fd(&t, fd, "fuzz", &err) < 0)
        return;
    for (size_t i = 0; i < t->n_stacks; i++)
        for (uint32_t f = 0; f < t->stacks[i].n_frames; f++)
            trace_line(t, t->stacks[i].frames[f]);
    for (size_t i = 0; i < t->n_classes; i++)
        trace_class_name(t->classes[i].signature, name, sizeof name);
    if (trace_iter_open_blocks(&it, t, &err) == 0) {
        while (trace_iter_next(it, &e, NULL, &err) > 0)
            ;
        trace_iter_close(it);
    }
    if (trace_iter_open(&it, t, &err) == 0) {
        while (trace_iter_next(it, &e, NULL, &err) > 0)
            trace_stack(t, e.monitor_contended_enter.stack);
        trace_iter_close(it);
    }
    for (size_t s = 0; s < t->n_streams; s++)
        if (trace_iter_open_stream(&it, t, s, &err) == 0) {
            while (trace_iter_next(it, &e, NULL, &err) > 0)
                ;
            trace_iter_close(it);
        }
    trace_close(t);
}

static void look_up(const struct trace *t)
{
    char name[64];
    for (size_t i = 0; i < t->n_stacks; i++)
        for (uint32_t k = 0; k < t->stacks[i].n_frames; k++)
            trace_line(t, t->stacks[i].frames[k]);
    for (size_t i = 0; i < t->n_classes; i++)
        trace_class_name(t->classes[i].signature, name, sizeof name);
}

/* A part of it, as of a recording that goes on. */
static void read_part(int fd)
{
    struct trace *t;
    struct trace_iter *it;
    struct event e;
    struct err err;
    if (fd < 0 || trace_open_fd(&t, fd, "fuzz", &err) < 0)
        return;
    uint64_t since = trace_tail(t, t->n_events / 2);
    trace_keep_part(t, since, t->last);
    if (trace_iter_open(&it, t, &err) == 0) {
        while (trace_iter_next(it, &e, NULL, &err) > 0)
            if (e.time < since)
                __builtin_trap();
        trace_iter_close(it);
    }
    look_up(t);
    trace_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf file = {0};
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || size == 0)
        return close(fd), 0;
    if (data[0])
        make_file(&file, data + 1, data + size);
    else
        buf_put(&file, data + 1, size - 1);
    if (!file.oom && write(fd, file.p, file.len) == (ssize_t)file.len) {
        read_part(dup(fd));
        read_everything(fd);
    } else
        close(fd);
    buf_fini(&file);
    return 0;
}

/* second_reader_test.c - a reader written from docs/reference/trace-format.md alone, to see that
 * the page is enough.
 *
 * It uses none of src/format's structures: numbers here are the page's numbers.  Its events must be
 * those that the real reader gives. */
#include "trace_builder.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

struct seen {
    uint64_t time;
    uint32_t kind, thread;
    int64_t field[8];
};

static uint64_t le(const uint8_t *p, int n)
{
    uint64_t v = 0;
    for (int i = n - 1; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

static uint64_t leb(const uint8_t **p)
{
    uint64_t v = 0;
    int shift = 0;
    do
        v |= (uint64_t)(**p & 0x7f) << shift;
    while (shift += 7, *(*p)++ & 0x80);
    return v;
}

static int64_t zz(uint64_t v)
{
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

/* Kinds 20 (lock, thread, stack, u32), 21 (lock), 30 (lock, i64, stack), 31 (lock, u32): the page's
 * tables. */
static const char *const types[64] = {[20] = "ltsu", [21] = "l", [30] = "lis", [31] = "lu"};

static void read_block(const uint8_t *p, uint64_t n, uint64_t time, uint32_t thread,
                       const uint8_t *schema, struct seen *out)
{
    int64_t lock = 0, stack = 0;
    while (n--) {
        uint8_t head = *p++;
        struct seen e = {.kind = head & 63};
        if (head & 64)
            thread = (uint32_t)leb(&p);
        time += leb(&p);
        e.time = time;
        e.thread = thread;
        for (int i = 0; i < schema[e.kind]; i++) {
            uint64_t v = leb(&p);
            switch (types[e.kind] ? types[e.kind][i] : 'u') {
            case 'l':
                e.field[i] = lock += zz(v);
                break;
            case 's':
                e.field[i] = stack += zz(v);
                break;
            case 'i':
                e.field[i] = zz(v);
                break;
            default:
                e.field[i] = (int64_t)v;
            }
        }
        *out++ = e;
    }
}

/* All events of a file, in file order: the builder writes its chunks in the order of time per
 * stream. */
static size_t read_file(const uint8_t *d, size_t len, struct seen *out)
{
    static uint8_t raw[1 << 20];
    size_t n = 0;
    cr_assert_eq(memcmp(d, "ORCATRC\n", 8), 0);
    for (size_t at = le(d + 12, 4); at < len; at += le(d + at + 20, 4)) {
        const uint8_t *h = d + at, *dir = h + 64, *dir_end = dir + le(h + 8, 4);
        cr_assert_eq(memcmp(h, "OCHK", 4), 0);
        if (h[4] != 2)
            continue;
        const uint8_t *payload = dir_end;
        if (h[5] & 1) {
            size_t got = ZSTD_decompress(raw, sizeof raw, payload, le(h + 12, 4));
            cr_assert_eq(got, le(h + 16, 4));
            payload = raw;
        }
        cr_assert_eq(leb(&dir), n); /* written before this chunk */
        while (dir < dir_end) {
            uint64_t v[8];
            for (int i = 0; i < 8; i++)
                v[i] = leb(&dir);
            read_block(payload, v[6], le(h + 36, 8) + v[4], (uint32_t)v[1], d + 104, out + n);
            payload += v[7];
            n += v[6];
        }
    }
    return n;
}

static int by_time(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

Test(second_reader, reads_the_same_events)
{
    enum { N = 3000 };
    struct trace_builder b;
    builder_init(&b);
    b.block_events = 70;
    thread_id t[2] = {builder_thread(&b, "a"), builder_thread(&b, "b")};
    class_id c = builder_class(&b, "Lx/Y;");
    lock_id locks[3] = {builder_lock(&b, c), builder_lock(&b, c), builder_lock(&b, c)};
    stack_id s[2] = {builder_stack(&b, "x.Y.a:1"), builder_stack(&b, "x.Y.b:2 x.Y.a:1")};
    for (uint64_t i = 0; i < N / 4; i++) {
        lock_id l = locks[i * i % 3];
        thread_id me = t[i % 2];
        uint32_t stream = 1 + (uint32_t)i % 2;
        ADD(&b, stream, me, i * 1000, monitor_contended_enter, .lock = l, .owner = t[(i + 1) % 2],
            .stack = s[i % 2]);
        ADD(&b, stream, me, i * 1000 + 300, monitor_contended_entered, .lock = l);
        ADD(&b, stream, me, i * 1000 + 400, wait_enter, .lock = l, .timeout_ms = (int64_t)i - 7,
            .stack = s[i / 2 % 2]);
        ADD(&b, stream, me, i * 1000 + 500, wait_exit, .lock = l, .timed_out = i % 2);
    }
    int fd = memfd_create("second", 0);
    builder_write(&b, fd, 10000000);
    size_t len = (size_t)lseek(fd, 0, SEEK_END);
    uint8_t *bytes = malloc(len);
    cr_assert_eq(pread(fd, bytes, len, 0), (ssize_t)len);
    static struct seen mine[N];
    cr_assert_eq(read_file(bytes, len, mine), N);
    qsort(mine, N, sizeof mine[0], by_time);

    struct err err = {""};
    struct trace *tr;
    struct trace_iter *it;
    struct event e;
    cr_assert_eq(trace_open_fd(&tr, fd, "second", &err), 0, "%s", err.msg);
    cr_assert_eq(trace_iter_open(&it, tr, &err), 0);
    for (int i = 0; i < N; i++) {
        cr_assert_eq(trace_iter_next(it, &e, NULL, &err), 1);
        cr_assert(e.time == mine[i].time && e.kind == mine[i].kind && e.thread.v == mine[i].thread,
                  "event %d", i);
        const struct field *f = event_kinds[e.kind].fields();
        for (unsigned k = 0; k < event_kinds[e.kind].n_fields; k++)
            cr_assert_eq((int64_t)field_get(&f[k], (const char *)&e + EVENT_HEAD), mine[i].field[k],
                         "event %d field %u", i, k);
    }
    cr_assert_eq(trace_iter_next(it, &e, NULL, &err), 0);
    trace_iter_close(it);
    trace_close(tr);
    free(bytes);
}

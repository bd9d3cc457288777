/* What reading a hostile file costs stays in proportion to its length: base/testpoint.h counts the
 * work, for a file and for one that is made in the same way and four times as long.  ORCA_WORK=1
 * prints what was counted. */
#include "base/testpoint.h"
#include "base/util.h"
#include "cases.h"
#include "cli/cmd.h"
#include "format/trace.h"
#include "printed.h"
#include "trace_builder.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#ifdef ORCA_COUNT_WORK

enum { TIMES = 4 };

/* A way to make a file, and what it may cost. */
struct shape {
    const char *name;
    void (*make)(struct buf *file, uint32_t n);
    uint32_t n;
    uint64_t per_byte; /* basic blocks */
};

static uint32_t drawn(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33);
}

/* --- files, chunk by chunk -------------------------------------------------------------------- */

static const uint8_t id[TRACE_ID_SIZE] = {1, 2, 3};

static void begin_file(struct buf *file, bool indexed)
{
    struct file_header h = {.state = TRACE_CLOSED, .start_mono = 500};
    memcpy(h.id, id, sizeof h.id);
    h.index_offset = indexed ? FILE_HEADER_SIZE : 0;
    codec_schema_own(&h.schema);
    file_header_pack(&h, buf_reserve(file, FILE_HEADER_SIZE));
    file->len += FILE_HEADER_SIZE;
}

/* A chunk at the end of the file: `raw` is compressed. */
static void put_chunk(struct buf *file, struct chunk_header h, const struct buf *dir,
                      const struct buf *raw)
{
    uint8_t head[CHUNK_HEADER_SIZE];
    size_t bound = ZSTD_compressBound(raw->len);
    uint8_t *stored = malloc(bound);
    h.stored_len = (uint32_t)ZSTD_compress(stored, bound, raw->p, raw->len, 19);
    h.flags = CHUNK_ZSTD;
    h.raw_len = (uint32_t)raw->len;
    h.dir_len = (uint32_t)dir->len;
    h.dir_hash = chunk_body_hash(dir->p, dir->len);
    h.payload_hash = chunk_body_hash(stored, h.stored_len);
    if (!h.total_len)
        h.total_len = ALIGN_UP(CHUNK_HEADER_SIZE + h.dir_len + h.stored_len, 8u);
    chunk_header_pack(&h, id, file->len, head);
    buf_put(file, head, sizeof head);
    buf_put(file, dir->p, dir->len);
    buf_put(file, stored, h.stored_len);
    while (file->len % 8)
        buf_putc(file, 0);
    free(stored);
}

static void zeros(struct buf *b, size_t n)
{
    memset(buf_reserve(b, n), 0, n);
    b->len += n;
}

/* A block of `each` events of each of that number of streams, and bytes that no block uses.  A
 * stream's time goes from chunk to chunk, and all of it is before the next stream's. */
static void put_blocks(struct buf *file, uint32_t seq, uint32_t streams, size_t each, size_t unused)
{
    struct buf dir = {0}, raw = {0};
    varint_append(&dir, 0);
    for (uint32_t s = 0; s < streams; s++) {
        uint64_t at = 1000 + s * UINT64_C(1000000) + seq * 1000;
        const struct block b = {.stream = s + 1,
                                .thread = 1,
                                .pos = seq * 64,
                                .pos_end = seq * 64 + 64,
                                .first = at,
                                .last = at,
                                .events = (uint32_t)each,
                                .len = (uint32_t)each * 2};
        block_put(&dir, &b, 1000);
    }
    zeros(&raw, streams * each * 2 + unused);
    put_chunk(
        file,
        (struct chunk_header){
            .type = CHUNK_EVENTS, .seq = seq, .events = streams * (uint32_t)each, .first = 1000},
        &dir, &raw);
    buf_fini(&dir);
    buf_fini(&raw);
}

/* The index names one chunk again and again. */
static void one_chunk_often(struct buf *file, uint32_t n)
{
    struct buf chunk = {0}, index = {0}, none = {0};
    begin_file(file, true);
    size_t at = file->len;
    for (uint64_t behind = 0, before = 1;
         behind != before;) { /* the length of the index changes it */
        before = behind;
        buf_clear(&index);
        for (uint32_t i = 0; i < n; i++) {
            varint_append(&index, at + behind);
            varint_append(&index, 7);
            varint_append(&index, CHUNK_EVENTS);
        }
        file->len = at;
        put_chunk(file, (struct chunk_header){.type = CHUNK_INDEX, .seq = 8, .events = n}, &none,
                  &index);
        behind = file->len - at;
    }
    put_blocks(file, 7, 1, 2000, 0);
    buf_fini(&chunk);
    buf_fini(&index);
}

/* Headers with right checksums whose chunks would end behind the file. */
static void torn_headers(struct buf *file, uint32_t n)
{
    struct buf none = {0}, little = {0};
    begin_file(file, false);
    zeros(&little, 1);
    for (uint32_t i = 0; i < n; i++)
        put_chunk(
            file,
            (struct chunk_header){.type = CHUNK_EVENTS, .seq = i, .total_len = CHUNK_TOTAL_MAX},
            &none, &little);
    buf_fini(&little);
}

/* As much as a chunk may hold, of a few bytes. */
static void bombs(struct buf *file, uint32_t n)
{
    begin_file(file, false);
    for (uint32_t i = 0; i < n; i++)
        put_blocks(file, i, 1, CHUNK_RAW_MAX / 2, 0);
}

/* In the order of time each block is in another chunk than the one before it. */
static void back_and_forth(struct buf *file, uint32_t n)
{
    begin_file(file, false);
    for (uint32_t i = 0; i < n; i++)
        put_blocks(file, i, n, 2, n * 200);
}

static void take_file(struct trace_builder *b, struct buf *file)
{
    struct trace *t = builder_open(b, 10);
    size_t size = (size_t)lseek(t->fd, 0, SEEK_END);
    cr_assert_eq(pread(t->fd, buf_reserve(file, size), size, 0), (ssize_t)size);
    file->len += size;
    trace_close(t);
}

static void infos(struct buf *file, uint32_t n)
{
    struct trace_builder b;
    builder_init(&b);
    for (uint32_t i = 0; i < n; i++) {
        char key[20];
        snprintf(key, sizeof key, "k%u", i * 2654435761u);
        builder_info(&b, key, "");
    }
    take_file(&b, file);
}

/* One method with a long line table, and many stacks whose frames are at its end. */
static void long_line_table(struct buf *file, uint32_t n)
{
    struct trace_builder b;
    struct buf lines = {0}, frames = {0};
    uint64_t seed = 7;
    builder_init(&b);
    for (uint32_t i = 0; i < n; i++)
        packed_put_line(&lines, i, i, i ? i - 1 : 0, i ? i - 1 : 0);
    method_id m = builder_method(&b, builder_class(&b, "La/B;"), "c", METHOD_NATIVE);
    builder_def(&b, &(struct def){.kind = DEF_method,
                                  .method = {.id = m,
                                             .name = {"c", 1},
                                             .signature = {"()V", 3},
                                             .lines = {lines.p, lines.len, n}}});
    for (uint32_t i = 0; i < n / 20; i++) {
        buf_clear(&frames);
        for (int k = 0; k < 50; k++)
            packed_put_frame(&frames, m, (int32_t)(n / 2 + drawn(&seed) % (n / 2)));
        builder_def(&b,
                    &(struct def){.kind = DEF_stack,
                                  .stack = {.id = {i + 1}, .frames = {frames.p, frames.len, 50}}});
    }
    take_file(&b, file);
    buf_fini(&lines);
    buf_fini(&frames);
}

/* --- what reads them -------------------------------------------------------------------------- */

static void read_all(int fd)
{
    struct trace *t;
    struct err err;
    struct event e;
    struct trace_iter *it;
    if (trace_open_fd(&t, fd, "hostile", &err) < 0)
        return;
    for (size_t i = 0; i < t->n_stacks; i++)
        for (uint32_t k = 0; k < t->stacks[i].n_frames; k++) {
            trace_line(t, t->stacks[i].frames[k]);
            trace_class_file_bci(trace_method(t, t->stacks[i].frames[k].method), 7);
        }
    for (int merged = 0; merged < 2; merged++) {
        if ((merged ? trace_iter_open(&it, t, &err) : trace_iter_open_blocks(&it, t, &err)) < 0)
            continue;
        while (trace_iter_next(it, &e, NULL, &err) > 0)
            ;
        trace_iter_close(it);
    }
    trace_close(t);
}

static uint64_t work_of(const struct shape *s, uint32_t n, size_t *len)
{
    struct buf file = {0};
    s->make(&file, n);
    int fd = memfd_create("work", MFD_CLOEXEC);
    cr_assert_eq(write(fd, file.p, file.len), (ssize_t)file.len);
    *len = file.len;
    buf_fini(&file);
    test_work = 0;
    read_all(fd);
    return test_work;
}

static void check(const struct shape *s)
{
    size_t len, longer;
    uint64_t work = work_of(s, s->n, &len), more = work_of(s, s->n * TIMES, &longer);
    if (getenv("ORCA_WORK"))
        printf("%s: %lu / %zu = %.1f, %lu / %zu = %.1f\n", s->name, (unsigned long)work, len,
               (double)work / (double)len, (unsigned long)more, longer,
               (double)more / (double)longer);
    cr_assert_gt(work, 100, "%s: nothing was counted", s->name);
    cr_assert_leq(more, longer * s->per_byte, "%s: %lu of %zu bytes", s->name, (unsigned long)more,
                  longer);
    cr_assert_leq((double)more / (double)longer, (double)work / (double)len * 1.5 + 100,
                  "%s: %lu of %zu bytes, %lu of %zu", s->name, (unsigned long)work, len,
                  (unsigned long)more, longer);
}

/* --- any events ------------------------------------------------------------------------------- */

/* Of how many threads, locks, stacks: one, or enough that each has only a few events. */
struct spread {
    const char *name;
    bool threads, locks, stacks;
};

static const char *const texts[] = {"java.lang.Object.wait0:native a.B.c:3", "a.B.c:4",
                                    "java.lang.Thread.sleep:7 a.B.d:9 a.B.c:4"};

static void define(struct trace_builder *b, const struct spread *s, uint32_t n, uint32_t of[3])
{
    static const char *const calls[][2] = {{"Ljava/util/concurrent/ThreadPoolExecutor;", "execute"},
                                           {"Ljava/util/concurrent/FutureTask;", "run"},
                                           {"La/B;", "c"}};
    char name[40];
    of[0] = s->threads ? n / 4 : 3;
    of[1] = s->locks ? n / 4 : 3;
    of[2] = s->stacks ? n / 4 : 3;
    for (uint32_t i = 0; i < of[0]; i++) {
        snprintf(name, sizeof name, "worker-%u", i);
        builder_thread_flags(b, name, i % 5 ? 0 : THREAD_VIRTUAL);
    }
    class_id class = builder_class(b, "La/B;");
    for (uint32_t i = 0; i < of[1]; i++)
        builder_lock(b, class);
    for (uint32_t i = 0; i < of[2]; i++) {
        snprintf(name, sizeof name, "a.B.c:%u", i + 1);
        builder_stack(b, i < ARRAY_LEN(texts) ? texts[i] : name);
    }
    for (uint32_t i = 0; i < ARRAY_LEN(calls); i++)
        builder_def(b, &(struct def){.kind = DEF_call,
                                     .call = {.id = {i + 1},
                                              .name = {"call", 4},
                                              .class_name = {calls[i][0], strlen(calls[i][0])},
                                              .method = {calls[i][1], strlen(calls[i][1])}}});
}

static void fill(struct event *e, const uint32_t of[3], uint64_t *seed)
{
    const struct kind_info *k = &event_kinds[e->kind];
    const struct field *f = k->fields();
    for (unsigned i = 0; i < k->n_fields; i++) {
        char *at = (char *)e + EVENT_HEAD + f[i].offset;
        uint32_t any = drawn(seed), v = any % 4;
        v = f[i].type == FIELD_thread ? 1 + any % of[0] : v;
        v = f[i].type == FIELD_lock ? 1 + any % of[1] : v;
        v = f[i].type == FIELD_stack ? 1 + any % of[2] : v;
        uint64_t wide = f[i].type == FIELD_time ? e->time - any % 5000 : v;
        if (f[i].type == FIELD_time || f[i].type == FIELD_u64 || f[i].type == FIELD_i64)
            memcpy(at, &wide, sizeof wide);
        else
            memcpy(at, &v, sizeof v);
    }
}

/* Events of which kinds; before one in N of them some are missing. */
struct mix {
    const char *name;
    uint32_t holes;
    uint8_t kinds[EV_LIMIT]; /* up to the first 0 */
};

/* n of them, each thread's in a stream of its own. */
static void put_events(struct trace_builder *b, const struct mix *m, uint32_t n,
                       const uint32_t of[3])
{
    uint64_t seed = 7, now = BUILDER_START;
    size_t n_kinds = strlen((const char *)m->kinds);
    for (uint32_t i = 0; i < n; i++) {
        struct event e = {.kind = m->kinds[drawn(&seed) % n_kinds],
                          .thread = {1 + drawn(&seed) % of[0]},
                          .time = now += drawn(&seed) % 200};
        fill(&e, of, &seed);
        if (drawn(&seed) % m->holes == 0)
            builder_gap(b, e.thread.v, 64);
        builder_event(b, e.thread.v, &e);
    }
}

/* What all tables of a trace cost. */
static uint64_t work_of_report(const struct spread *s, const struct mix *m, uint32_t n)
{
    struct trace_builder b;
    uint32_t of[3];
    struct err err = {""};
    builder_init(&b);
    define(&b, s, n, of);
    put_events(&b, m, n, of);
    struct trace *t = builder_open(&b, (uint64_t)n * 200);
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", t->fd);
    char *argv[] = {(char[]){"report"}, (char[]){"--json"}, path, NULL};
    test_work = 0;
    struct printed p = printed_begin(false);
    int rc = cmd_report.run(3, argv, &err);
    uint64_t work = test_work;
    free(printed_end(&p));
    cr_assert_geq(rc, 0, "%s: %s", s->name, err.msg);
    trace_close(t);
    return work;
}

static void check_report(const struct spread *s, const struct mix *m)
{
    enum { N = 3000 };
    uint64_t work = work_of_report(s, m, N), more = work_of_report(s, m, N * TIMES);
    if (getenv("ORCA_WORK"))
        printf("%s, %s: %lu, %lu: %.1f times, %.0f an event\n", m->name, s->name,
               (unsigned long)work, (unsigned long)more, (double)more / (double)work,
               (double)more / N / TIMES);
    cr_assert_leq((double)more, (double)work * TIMES * 1.2, "%s, %s: %lu, %lu", m->name, s->name,
                  (unsigned long)work, (unsigned long)more);
}

/* Every kind beside every other one; and each pair that begins and ends something, alone. */
Test(work, of_a_report, .timeout = 600)
{
    static const struct spread spreads[] = {{"few of each", false, false, false},
                                            {"many threads", true, false, false},
                                            {"many locks", false, true, false},
                                            {"many threads and locks", true, true, true}};
    static const struct mix some[] = {
        {"monitors", 50, {EV_monitor_contended_enter, EV_monitor_contended_entered}},
        {"waits", 50, {EV_wait_enter, EV_wait_exit, EV_notify}},
        {"notify all", 50, {EV_wait_enter, EV_wait_exit, EV_notify_all}},
        {"parks", 50, {EV_park_enter, EV_park_exit, EV_unpark}},
        {"joins", 50, {EV_join_enter, EV_join_exit, EV_thread_end}},
        {"semaphores",
         50,
         {EV_semaphore_acquire_enter, EV_semaphore_acquire_exit, EV_semaphore_release}},
        {"calls", 50, {EV_call_enter, EV_call_exit, EV_lost}},
        {"calls that never end", 50, {EV_call_enter, EV_park_enter, EV_park_exit}},
        {"calls across holes", 2, {EV_call_enter}},
        {"holds", 50, {EV_hold, EV_hold, EV_monitor_contended_enter}},
        {"owner stacks", 50, {EV_monitor_contended_enter, EV_owner_stack}},
        {"interrupts", 50, {EV_wait_enter, EV_interrupt, EV_interrupted}},
        {"starts", 50, {EV_thread_start_called, EV_thread_start, EV_thread_end}}};
    struct mix all = {.name = "all", .holes = 50};
    for (uint8_t i = 1, n = 0; i < EV_LIMIT; i++)
        if (event_kinds[i].name)
            all.kinds[n++] = i;
    for (size_t s = 0; s < ARRAY_LEN(spreads); s += (size_t)cases_step()) {
        check_report(&spreads[s], &all);
        for (size_t i = 0; i < ARRAY_LEN(some); i++)
            check_report(&spreads[s], &some[i]);
    }
}

/* A trace that was not ended, a terabyte long, with a page of anything now and then. */
Test(work, of_holes)
{
    enum { PAGES = 500 };
    const uint64_t size = UINT64_C(1) << 40;
    static const char page[4096] = "anything";
    struct buf file = {0};
    begin_file(&file, false);
    put_blocks(&file, 7, 1, 2000, 0);
    int fd = memfd_create("work", MFD_CLOEXEC);
    cr_assert(write(fd, file.p, file.len) == (ssize_t)file.len && ftruncate(fd, (off_t)size) == 0);
    for (uint64_t i = 1; i <= PAGES; i++)
        cr_assert_eq(pwrite(fd, page, sizeof page, (off_t)(i * (size / PAGES / 2))), sizeof page);
    uint64_t there = file.len + PAGES * sizeof page;
    buf_fini(&file);
    test_work = 0;
    read_all(fd);
    cr_assert_gt(test_work, there / 100);
    cr_assert_lt(test_work, there * 100, "%lu of %lu bytes", (unsigned long)test_work,
                 (unsigned long)there);
}

Test(work, of_reading)
{
    static const struct shape shapes[] = {{"one chunk often", one_chunk_often, 20000, 3000},
                                          {"torn headers", torn_headers, 2000, 3000},
                                          {"bombs", bombs, 4, 3000},
                                          {"back and forth", back_and_forth, 40, 3000},
                                          {"infos", infos, 3000, 3000},
                                          {"long line table", long_line_table, 3000, 3000}};
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
        check(&shapes[i]);
}

#endif

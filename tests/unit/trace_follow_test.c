/* trace_follow_test.c - a file that a writer writes while the follower reads it. */
#include "format/trace_follow.h"
#include "format/writer.h"
#include "trace_builder.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct writer w;
static int fd;
static struct trace_follow *f;
static uint64_t pos[8]; /* by stream */
static int gaps;
static struct err err;

static void begin_file(uint64_t capacity)
{
    struct file_header h;
    fd = memfd_create("followed", MFD_CLOEXEC);
    writer_header_init(&h);
    h.capacity = capacity;
    cr_assert_eq(writer_init(&w, fd, &h, &err), 0);
    memset(pos, 0, sizeof pos);
    gaps = 0;
}

static void follow(uint64_t tail)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    cr_assert_eq(trace_follow_open(&f, path, tail, &err), 0, "%s", err.msg);
}

static void end(void)
{
    trace_follow_close(f);
    f = NULL;
    writer_fini(&w);
    close(fd);
}

/* A chunk with one block of a stream: sleep_enter events of thread `stream`, at these times. */
static void put(uint32_t stream, uint64_t first, uint64_t step, uint32_t n)
{
    struct buf raw = {0};
    struct codec codec = {.time = first, .thread = stream};
    struct block b = {.stream = stream,
                      .thread = stream,
                      .pos = pos[stream],
                      .pos_end = pos[stream] + n * 8,
                      .first = first,
                      .last = first + step * (n - 1),
                      .events = n};
    for (uint32_t i = 0; i < n; i++) {
        struct event e = {.kind = EV_sleep_enter, .thread = {stream}, .time = first + step * i};
        e.sleep_enter.timeout_ns = rand();
        uint8_t *p = buf_reserve(&raw, EVENT_ENCODED_MAX);
        raw.len += (size_t)(codec_put_event(&codec, p, &e) - p);
    }
    b.len = (uint32_t)raw.len;
    pos[stream] = b.pos_end;
    cr_assert_eq(writer_put_events(&w, &b, 1, raw.p, raw.len, &err), 0, "%s", err.msg);
    buf_fini(&raw);
}

static void define(uint32_t id, const char *name, uint64_t at)
{
    struct buf raw = {0};
    struct def d = {.kind = DEF_thread, .thread = {.id = {id}, .name = {name, strlen(name)}}};
    codec_put_def(&raw, &d);
    struct defs_span span = {at, at + raw.len};
    cr_assert_eq(writer_put_defs(&w, raw.p, raw.len, 1, span, &err), 0);
    buf_fini(&raw);
}

/* Everything up to `until`: how many events; gaps are counted apart. */
static int take(uint64_t until)
{
    struct event e;
    uint32_t stream;
    uint64_t last = 0;
    int n = 0, more;
    enum merge_what what;
    do {
        more = trace_follow_poll(f, &err);
        cr_assert_geq(more, 0, "%s", err.msg);
        while ((what = trace_follow_next(f, until, &e, &stream)) != MERGE_NONE) {
            cr_assert_leq(e.time, until);
            gaps += what == MERGE_GAP;
            if (what == MERGE_GAP)
                continue;
            cr_assert_geq(e.time, last);
            cr_assert_eq(e.thread.v, stream);
            last = e.time;
            n++;
        }
    } while (more);
    return n;
}

static const char *name_of(uint32_t id)
{
    return trace_thread(trace_follow_trace(f), (thread_id){id})->name;
}

Test(trace_follow, a_file_that_grows, .fini = end)
{
    begin_file(0);
    follow(0);
    cr_assert_eq(take(UINT64_MAX), 0);
    define(1, "one", 0);
    put(1, 1000, 10, 5);
    cr_assert_eq(take(UINT64_MAX), 5);
    cr_assert_eq(take(UINT64_MAX), 0);
    cr_assert_str_eq(name_of(1), "one");
    define(1, "renamed", 100);
    define(70000, "far", 200);
    put(2, 2000, 10, 7);
    cr_assert_eq(take(UINT64_MAX), 7);
    cr_assert_str_eq(name_of(1), "renamed");
    cr_assert_str_eq(name_of(2), "?");
    struct trace_follow_state s = trace_follow_state(f);
    cr_assert_eq(s.read, 12);
    cr_assert_eq(s.missed, 0);
    cr_assert(!s.ended);
    cr_assert_eq(s.first, 1000);
    cr_assert_eq(s.latest, 2060);
}

Test(trace_follow, streams_are_merged_and_the_future_waits, .fini = end)
{
    begin_file(0);
    put(1, 1000, 100, 10); /* 1000 .. 1900 */
    put(2, 1050, 100, 10); /* 1050 .. 1950 */
    follow(0);
    cr_assert_eq(take(1500), 11);
    put(3, 1400, 10, 3); /* what a thread was late with comes all the same */
    cr_assert_eq(take(1600), 5);
    cr_assert_eq(take(UINT64_MAX), 7);
    cr_assert_eq(gaps, 0);
}

Test(trace_follow, blocks_of_a_stream_out_of_order_and_twice, .fini = end)
{
    begin_file(0);
    follow(0);
    pos[1] = 40;
    put(1, 2000, 1, 5);
    pos[1] = 0;
    put(1, 1000, 1, 5);
    cr_assert_eq(take(UINT64_MAX), 10);
    pos[1] = 40;
    put(1, 2000, 1, 5); /* as a recovery writes it again */
    cr_assert_eq(take(UINT64_MAX), 0);
    cr_assert_eq(gaps, 0);
    pos[1] = 800;
    put(1, 3000, 1, 5);
    cr_assert_eq(take(UINT64_MAX), 5);
    cr_assert_eq(gaps, 1);
}

Test(trace_follow, the_end_is_told_once_everything_is_read, .fini = end)
{
    begin_file(0);
    put(1, 1000, 1, 5);
    follow(0);
    cr_assert_eq(take(UINT64_MAX), 5);
    put(1, 2000, 1, 5);
    cr_assert(!trace_follow_state(f).ended);
    writer_close(&w, TRACE_CLOSED, 5000, &err);
    cr_assert_eq(take(UINT64_MAX), 5);
    cr_assert(trace_follow_state(f).ended);
    cr_assert_eq(take(UINT64_MAX), 0);
}

Test(trace_follow, a_chunk_that_is_not_whole_yet_is_read_later, .fini = end)
{
    begin_file(0);
    follow(0);
    put(1, 1000, 1, 500);
    uint64_t whole = w.size;
    uint8_t bytes[8192];
    size_t n = (size_t)(whole - FILE_HEADER_SIZE);
    cr_assert_lt(n, sizeof bytes);
    cr_assert_eq(pread(fd, bytes, n, FILE_HEADER_SIZE), (ssize_t)n);
    for (size_t cut = 0; cut < n; cut += 7) {
        cr_assert_eq(ftruncate(fd, FILE_HEADER_SIZE + (off_t)cut), 0);
        cr_assert_eq(take(UINT64_MAX), 0, "%zu", cut);
    }
    cr_assert_eq(pwrite(fd, bytes, n, FILE_HEADER_SIZE), (ssize_t)n);
    cr_assert_eq(take(UINT64_MAX), 500);
    cr_assert_eq(trace_follow_state(f).missed, 0);
}

Test(trace_follow, damage_in_the_middle_is_counted, .fini = end)
{
    begin_file(0);
    follow(0);
    put(1, 1000, 1, 50);
    uint64_t second = w.at;
    put(1, 2000, 1, 30);
    uint64_t third = w.at;
    put(1, 3000, 1, 50);
    cr_assert_eq(pwrite(fd, "xxxx", 4, (off_t)(third - 20)), 4); /* payload */
    cr_assert_eq(take(UINT64_MAX), 100);
    cr_assert_eq(trace_follow_state(f).missed, 30);
    cr_assert_eq(gaps, 1);
    put(1, 4000, 1, 30);
    put(1, 5000, 1, 50);
    cr_assert_eq(pwrite(fd, "xxxx", 4, (off_t)second), 4); /* long ago read */
    cr_assert_eq(take(UINT64_MAX), 80);
    second = w.at;
    put(1, 6000, 1, 30);
    put(1, 7000, 1, 50);
    cr_assert_eq(pwrite(fd, "xxxx", 4, (off_t)second), 4); /* a header */
    cr_assert_eq(take(UINT64_MAX), 0);                     /* it may become one */
    cr_assert_eq(take(UINT64_MAX), 50);
    cr_assert_eq(trace_follow_state(f).missed, 60);
}

Test(trace_follow, a_circle_is_followed_around, .fini = end)
{
    uint64_t now = 1000, all = 0, written = 0;
    begin_file(WRITER_CAPACITY_MIN);
    define(1, "old", 0);
    define(1, "new", 1000);
    follow(0);
    for (int round = 0; round < 600; round++) {
        put(1, now, 1, 10000);
        now += 10000;
        written += 10000;
        all += (uint64_t)take(UINT64_MAX);
        cr_assert_str_eq(name_of(1), "new");
    }
    cr_assert_gt(w.header.evicted_events, 0);
    cr_assert_eq(trace_follow_state(f).skipped, 0);
    cr_assert_gt(w.bytes, WRITER_CAPACITY_MIN * 3);
    cr_assert_eq(all, written);
    cr_assert_eq(gaps, 0);
    cr_assert_eq(trace_follow_state(f).missed, 0);
}

Test(trace_follow, a_circle_that_overtakes_says_so, .fini = end)
{
    uint64_t now = 1000, all = 0, written = 0;
    begin_file(WRITER_CAPACITY_MIN);
    define(1, "one", 0);
    follow(0);
    srand(5);
    for (int look = 0; look < 30; look++) {
        for (int k = rand() % 200; k >= 0; k--) {
            put(1, now, 1, 5000);
            now += 5000;
            written += 5000;
        }
        all += (uint64_t)take(UINT64_MAX);
        cr_assert_eq(all + trace_follow_state(f).missed, written);
    }
    cr_assert_gt(trace_follow_state(f).missed, 0);
    cr_assert_gt(gaps, 0);
    cr_assert_lt(gaps, 31);
    cr_assert_str_eq(name_of(1), "one");
    writer_close(&w, TRACE_CLOSED, now, &err);
    cr_assert_eq(take(UINT64_MAX), 0);
    cr_assert(trace_follow_state(f).ended);
}

Test(trace_follow, a_circle_that_has_gone_around_before, .fini = end)
{
    begin_file(WRITER_CAPACITY_MIN);
    define(1, "one", 0);
    for (uint64_t i = 0; i < 1000; i++)
        put(1, i * 5000 + 1000, 1, 5000);
    follow(0);
    int n = take(UINT64_MAX);
    cr_assert_eq(trace_follow_state(f).skipped + (uint64_t)n, 1000 * 5000);
    cr_assert_eq(trace_follow_state(f).missed, 0);
    cr_assert_eq(gaps, 0);
    cr_assert_str_eq(name_of(1), "one");
}

Test(trace_follow, only_the_tail_of_a_long_file, .fini = end)
{
    begin_file(0);
    define(1, "one", 0);
    for (int i = 0; i < 100; i++)
        put(1, (uint64_t)i * 10000 + 1000, 1, 5000);
    follow(w.size / 10);
    int n = take(UINT64_MAX);
    cr_assert(n >= 5 * 5000 && n <= 15 * 5000, "%d", n);
    cr_assert_eq(trace_follow_state(f).skipped + (uint64_t)n, 100 * 5000);
    cr_assert_eq(trace_follow_state(f).missed, 0);
    cr_assert_eq(gaps, 0);
    cr_assert_str_eq(name_of(1), "one");
}

Test(trace_follow, another_file_of_the_same_recording, .fini = end)
{
    begin_file(0);
    define(1, "one", 0);
    put(1, 1000, 1, 5);
    follow(0);
    cr_assert_eq(take(UINT64_MAX), 5);
    writer_close(&w, TRACE_CLOSED, 5000, &err);
    writer_fini(&w);
    int first = fd;
    cr_assert_lt(trace_follow_switch(f, "/proc/self/fd/999", &err), 0);
    cr_assert_eq(take(UINT64_MAX), 0);
    begin_file(0);
    define(2, "two", 0);
    put(1, 2000, 1, 5);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    cr_assert_eq(trace_follow_switch(f, path, &err), 0, "%s", err.msg);
    cr_assert_eq(take(UINT64_MAX), 5);
    cr_assert(!trace_follow_state(f).ended);
    cr_assert_str_eq(name_of(1), "one");
    cr_assert_str_eq(name_of(2), "two");
    cr_assert_eq(gaps, 0);
    put(1, 3000, 1, 5);
    cr_assert_eq(take(UINT64_MAX), 5);
    close(first);
}

Test(trace_follow, what_is_no_trace_is_refused)
{
    int other = memfd_create("other", MFD_CLOEXEC);
    cr_assert_eq(trace_follow_open_fd(&f, other, "other", 0, &err), -EINVAL);
    cr_assert_null(f);
    cr_assert(strstr(err.msg, "other: the file is empty"), "%s", err.msg);
    cr_assert_eq(trace_follow_open(&f, "/no/such/file", 0, &err), -ENOENT);
}

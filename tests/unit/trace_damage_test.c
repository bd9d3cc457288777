/* trace_damage_test.c - files that are cut, flipped, foreign or lying: a clear error or what can be
 * read, never a crash, never memory out of proportion. */
#include "trace_builder.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static uint8_t *good;
static size_t good_len;
static uint64_t good_events;

/* Several chunks of definitions and events, so that damage has something to hit. */
static void set_up(void)
{
    struct trace_builder b;
    builder_init(&b);
    b.block_events = 100;
    thread_id a = builder_thread(&b, "a"), c = builder_thread(&b, "c");
    lock_id lock = builder_lock(&b, builder_class(&b, "Lx/Y;"));
    stack_id stack = builder_stack(&b, "x.Y.z:1 x.Y.main:2");
    for (uint64_t i = 0; i < 1000; i++) {
        ADD(&b, 1, a, i * 100, monitor_contended_enter, .lock = lock, .owner = c, .stack = stack);
        ADD(&b, 2, c, i * 100 + 50, monitor_contended_entered, .lock = lock);
    }
    int fd = memfd_create("good", 0);
    builder_write(&b, fd, 1000000);
    good_len = (size_t)lseek(fd, 0, SEEK_END);
    good = malloc(good_len);
    good_events = 2000;
    cr_assert_eq(pread(fd, good, good_len, 0), (ssize_t)good_len);
    close(fd);
}

struct outcome {
    int rc;
    uint64_t events;
    size_t damaged;
    char msg[512];
};

static struct outcome read_bytes(const uint8_t *p, size_t n)
{
    struct outcome o = {0};
    struct err err = {""};
    struct trace *t;
    struct event e;
    struct trace_iter *it;
    int fd = memfd_create("bad", 0);
    cr_assert_eq(write(fd, p, n), (ssize_t)n);
    o.rc = trace_open_fd(&t, fd, "bad.otrace", &err);
    strcpy(o.msg, err.msg);
    if (o.rc < 0)
        return o;
    cr_assert_eq(trace_iter_open(&it, t, &err), 0);
    while (trace_iter_next(it, &e, NULL, &err) > 0)
        o.events++;
    trace_iter_close(it);
    o.damaged = t->n_damaged;
    if (t->n_problems)
        strcpy(o.msg, t->problems[0].text);
    trace_close(t);
    return o;
}

Test(damage, the_good_file_is_good, .init = set_up)
{
    struct outcome o = read_bytes(good, good_len);
    cr_assert_eq(o.rc, 0);
    cr_assert_eq(o.events, good_events);
    cr_assert_eq(o.damaged, 0);
}

Test(damage, cut_anywhere, .init = set_up)
{
    uint64_t before = 0;
    for (size_t n = 0; n < good_len; n += n < 5000 ? 97 : 13) {
        struct outcome o = read_bytes(good, n);
        if (n < FILE_HEADER_SIZE) {
            cr_assert(o.rc < 0 && strncmp(o.msg, "bad.otrace: ", 12) == 0, "%zu: %s", n, o.msg);
            continue;
        }
        cr_assert_eq(o.rc, 0, "%zu: %s", n, o.msg);
        cr_assert(o.damaged > 0, "%zu: a closed file that is cut is damaged", n);
        cr_assert(o.events >= before, "%zu: more bytes, fewer events", n);
        before = o.events;
    }
    cr_assert(before > 0);
}

Test(damage, one_flipped_bit_costs_at_most_its_chunk, .init = set_up)
{
    size_t hurt = 0;
    for (size_t at = 0; at < good_len; at += 7) {
        good[at] ^= 1u << (at % 8);
        struct outcome o = read_bytes(good, good_len);
        good[at] ^= 1u << (at % 8);
        bool of_flushed = at >= FLUSHED_OFFSET && at < FLUSHED_OFFSET + FLUSHED_SIZE;
        if (at < FILE_HEADER_SIZE && !of_flushed) {
            cr_assert(o.rc < 0, "byte %zu of the header", at);
            continue;
        }
        cr_assert_eq(o.rc, 0, "byte %zu: %s", at, o.msg);
        cr_assert(!of_flushed || (o.events == good_events && !o.damaged));
        cr_assert(o.events <= good_events);
        if (o.events < good_events) {
            cr_assert(o.damaged > 0, "byte %zu: events vanish in silence", at);
            cr_assert(strstr(o.msg, "0x"), "byte %zu: %s", at, o.msg);
            hurt++;
        }
    }
    cr_assert(hurt > 100, "the test has lost its point");
}

Test(damage, foreign_and_empty_files)
{
    struct outcome o = read_bytes((const uint8_t *)"", 0);
    cr_assert(o.rc < 0 && strstr(o.msg, "empty"), "%s", o.msg);
    uint8_t elf[5000] = "\177ELF";
    o = read_bytes(elf, sizeof elf);
    cr_assert(o.rc < 0 && strstr(o.msg, "not an Orca trace"), "%s", o.msg);
    uint8_t newer[FILE_HEADER_SIZE] = FILE_MAGIC;
    newer[8] = 2;
    newer[13] = 16;
    o = read_bytes(newer, sizeof newer);
    cr_assert(o.rc == -ENOTSUP && strstr(o.msg, "version 2"), "%s", o.msg);
}

/* Headers with right checksums that claim too much. */
Test(damage, large_claims_cost_no_memory, .init = set_up)
{
    struct rlimit old, small = {(rlim_t)1 << 30, RLIM_INFINITY};
    struct file_header fh;
    cr_assert_eq(file_header_unpack(&fh, good, good_len, NULL), 0);
    struct chunk_header h;
    cr_assert_eq(chunk_header_unpack(&h, fh.id, FILE_HEADER_SIZE, good + FILE_HEADER_SIZE), 0);
    getrlimit(RLIMIT_AS, &old);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    setrlimit(RLIMIT_AS, &small);
#else
    (void)small;
#endif
    const struct {
        uint32_t *field;
        uint32_t value;
    } claims[] = {{&h.raw_len, UINT32_MAX}, {&h.raw_len, CHUNK_RAW_MAX}, {&h.total_len, 0xfffffff8},
                  {&h.dir_len, UINT32_MAX}, {&h.stored_len, UINT32_MAX}, {&h.events, UINT32_MAX}};
    for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
        uint32_t before = *claims[i].field;
        *claims[i].field = claims[i].value;
        chunk_header_pack(&h, fh.id, FILE_HEADER_SIZE, good + FILE_HEADER_SIZE);
        *claims[i].field = before;
        struct outcome o = read_bytes(good, good_len);
        cr_assert_eq(o.rc, 0, "claim %zu: %s", i, o.msg);
    }
    setrlimit(RLIMIT_AS, &old);
}

Test(damage, impossible_ids_are_refused)
{
    struct trace_builder b;
    builder_init(&b);
    struct def d = {.kind = DEF_thread, .thread = {.id = {4000000000u}, .name = {"far", 3}}};
    builder_def(&b, &d);
    struct trace *t = builder_open(&b, 10);
    cr_assert(t->n_damaged > 0);
    cr_assert(t->n_threads < 100000);
    cr_assert_str_eq(trace_thread(t, (thread_id){4000000000u})->name, "?");
    trace_close(t);
}

/* What the header says of a file that grows: what is there once is not cut off. */
Test(damage, a_growing_file_that_was_cut, .init = set_up)
{
    struct file_header h;
    struct chunk_header c = {0};
    size_t n = FILE_HEADER_SIZE;
    cr_assert_eq(file_header_unpack(&h, good, good_len, NULL), 0);
    while (h.index_offset > n) {
        cr_assert_eq(chunk_header_unpack(&c, h.id, n, good + n), 0);
        n += c.total_len;
    }
    h.state = TRACE_RECORDING;
    h.index_offset = h.end_mono = 0;
    h.flushed_mono = h.start_mono + 5000000000u;
    h.flushed_seq = c.seq + 1;
    file_header_pack(&h, good);
    struct outcome o = read_bytes(good, n);
    cr_assert_eq(o.rc, 0);
    cr_assert_eq(o.events, good_events);
    cr_assert_eq(o.damaged, 0, "%s", o.msg);
    o = read_bytes(good, n - c.total_len);
    cr_assert_eq(o.damaged, 1);
    cr_assert(strstr(o.msg, "it was truncated"), "%s", o.msg);
    good[FLUSHED_OFFSET] ^= 1; /* it is being written */
    o = read_bytes(good, n - c.total_len);
    cr_assert_eq(o.rc, 0);
    cr_assert_eq(o.damaged, 0);
}

Test(damage, a_growing_file_is_no_damage, .init = set_up)
{
    struct file_header h;
    cr_assert_eq(file_header_unpack(&h, good, good_len, NULL), 0);
    h.state = TRACE_RECORDING;
    h.index_offset = h.flushed_mono = 0;
    file_header_pack(&h, good);
    for (size_t n = FILE_HEADER_SIZE; n < good_len; n += 31) {
        struct outcome o = read_bytes(good, n);
        cr_assert_eq(o.rc, 0);
        cr_assert_eq(o.damaged, 0, "%zu: %s", n, o.msg);
    }
}

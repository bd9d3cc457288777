/* What OrcaHeap counts in rows is what the reader hears: here C does what its Java code does, in
 * threads that come and go beside the reader, with more threads and more classes than there are
 * rows and places. */
#include "agent/alloc_rows.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { WORKERS = 4, CLASSES = 50, LIVES = 40, OBJECTS = 20000, ARRAY = 0 };

struct sums {
    uint64_t count[WORKERS * LIVES + 1][CLASSES + 1], bytes[WORKERS * LIVES + 1][CLASSES + 1];
    uint64_t all;
};

static void add_news(void *ctx, const struct alloc_news *n)
{
    struct sums *s = ctx;
    cr_assert_gt(n->count, 0);
    cr_assert_eq(n->key.stack.v, 0);
    s->all += n->count;
    if (n->key.thread.v > WORKERS * LIVES || n->key.class_.v > CLASSES)
        return;
    s->count[n->key.thread.v][n->key.class_.v] += n->count;
    s->bytes[n->key.thread.v][n->key.class_.v] += n->bytes;
}

/* As OrcaHeap.row; 0: none. */
static uint64_t row(uintptr_t directory, uint64_t java_thread)
{
    const _Atomic uint64_t *entry =
        (const _Atomic uint64_t *)(directory +
                                   (java_thread * UINT64_C(0x9e3779b97f4a7c15) >> 52) * 16);
    for (int i = 0; i < 4; i++, entry += 2)
        if (atomic_load_explicit(entry, memory_order_relaxed) == java_thread)
            return atomic_load_explicit(entry + 1, memory_order_relaxed);
    return 0;
}

static void add(_Atomic uint64_t *p, uint64_t n, memory_order order)
{
    atomic_store_explicit(p, atomic_load_explicit(p, memory_order_relaxed) + n, order);
}

/* As OrcaHeap.count. */
static void count(uint64_t cell, uint64_t bytes)
{
    _Atomic uint64_t *p = (_Atomic uint64_t *)(uintptr_t)cell;
    if (bytes)
        add(p + 1, bytes, memory_order_relaxed);
    add(p, 1, memory_order_release);
}

/* Every third class is one of arrays. */
static uint64_t size_of(uint32_t class_)
{
    return class_ % 3 ? 16 + class_ * 8 : ARRAY;
}

static uint64_t bytes_of(uint32_t class_, uint32_t i)
{
    return size_of(class_) ? size_of(class_) : 16 + i % 7 * 8;
}

static uintptr_t directory;
static int32_t places[CLASSES + 1];

static uintptr_t address(uint32_t worker)
{
    return UINT64_C(0x7f0000000000) + worker * 0x640;
}

static void live_once(uint32_t worker, uint32_t thread)
{
    struct alloc_row *r = alloc_rows_join(address(worker), (thread_id){thread});
    cr_assert(r);
    for (uint32_t i = 0; i < OBJECTS; i++) {
        uint32_t class_ = 1 + i * 31 % CLASSES;
        uint64_t at = row(directory, address(worker));
        cr_assert(at);
        count(at + (uint64_t)places[class_], size_of(class_) ? 0 : bytes_of(class_, i));
    }
    alloc_row_hide(r);
    cr_assert_eq(row(directory, address(worker)), 0);
    alloc_row_show(r);
    cr_assert_neq(row(directory, address(worker)), 0);
    alloc_row_leave(r);
    cr_assert_eq(row(directory, address(worker)), 0);
}

static void *work(void *arg)
{
    uint32_t worker = *(const uint32_t *)arg;
    for (uint32_t life = 0; life < LIVES; life++)
        live_once(worker, worker * LIVES + life + 1);
    return NULL;
}

static void open_rows(void)
{
    directory = alloc_rows_open();
    cr_assert(directory);
    for (uint32_t c = 1; c <= CLASSES; c++) {
        places[c] = alloc_rows_place((class_id){c}, size_of(c));
        cr_assert_geq(places[c], 0);
    }
}

static void compare(const struct sums *got)
{
    static struct sums want;
    memset(&want, 0, sizeof want);
    for (uint32_t t = 1; t <= WORKERS * LIVES; t++)
        for (uint32_t i = 0; i < OBJECTS; i++) {
            uint32_t class_ = 1 + i * 31 % CLASSES;
            want.count[t][class_]++;
            want.bytes[t][class_] += bytes_of(class_, i);
        }
    cr_assert_eq(memcmp(got->count, want.count, sizeof want.count), 0);
    cr_assert_eq(memcmp(got->bytes, want.bytes, sizeof want.bytes), 0);
}

/* Two recordings: nothing of the first is left in the second, and the directory stays where it
 * is. */
Test(alloc_rows, threads_count_and_the_reader_hears_all)
{
    static struct sums got;
    uintptr_t first = 0;
    for (int recording = 0; recording < 2; recording++) {
        pthread_t threads[WORKERS];
        uint32_t workers[WORKERS];
        memset(&got, 0, sizeof got);
        open_rows();
        cr_assert(!first || first == directory);
        first = directory;
        for (uint32_t i = 0; i < WORKERS; i++) {
            workers[i] = i;
            cr_assert_eq(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
        }
        for (int i = 0; i < 200; i++)
            alloc_rows_news(add_news, &got);
        for (uint32_t i = 0; i < WORKERS; i++)
            pthread_join(threads[i], NULL);
        alloc_rows_news(add_news, &got);
        compare(&got);
        uint64_t all = got.all;
        alloc_rows_news(add_news, &got);
        cr_assert_eq(got.all, all);
        alloc_rows_close();
    }
}

Test(alloc_rows, a_recording_that_ends_takes_its_rows_away)
{
    open_rows();
    struct alloc_row *r = alloc_rows_join(address(1), (thread_id){1});
    count(row(directory, address(1)) + (uint64_t)places[1], 0);
    alloc_rows_close();
    cr_assert_eq(row(directory, address(1)), 0);
    cr_assert(!alloc_rows_join(address(1), (thread_id){1}));
    cr_assert_eq(alloc_rows_place((class_id){1}, size_of(1)), -1);
    struct sums *got = calloc(1, sizeof *got);
    open_rows();
    alloc_rows_news(add_news, got);
    cr_assert_eq(got->all, 0);
    cr_assert_eq(alloc_rows_join(address(1), (thread_id){2}), r);
    alloc_rows_news(add_news, got);
    cr_assert_eq(got->all, 0, "what the last recording counted is told in this one");
    alloc_rows_close();
    free(got);
}

/* As some servers do with all that is mapped. */
Test(alloc_rows, locked_memory_is_emptied_too)
{
    struct sums *got = calloc(1, sizeof *got);
    open_rows();
    struct alloc_row *r = alloc_rows_join(address(1), (thread_id){1});
    uint64_t at = row(directory, address(1));
    if (mlock((void *)(uintptr_t)at, 4096) != 0)
        cr_skip_test("no memory can be locked here");
    count(at, 0);
    alloc_rows_close();
    open_rows();
    cr_assert_eq(alloc_rows_join(address(1), (thread_id){2}), r);
    alloc_rows_news(add_news, got);
    cr_assert_eq(got->all, 0, "what the last recording counted is told in this one");
    munlock((void *)(uintptr_t)at, 4096);
    alloc_rows_close();
    free(got);
}

Test(alloc_rows, too_many_threads_and_classes_have_none)
{
    enum { MANY = 5000 };
    uint32_t joined = 0, placed = 0;
    open_rows();
    for (uint32_t i = 0; i < MANY; i++) {
        if (alloc_rows_join(address(i), (thread_id){i + 1}))
            joined++;
        else
            cr_assert_eq(row(directory, address(i)), 0);
        placed += alloc_rows_place((class_id){i + 1}, size_of(i + 1)) >= 0;
    }
    cr_assert_geq(joined, 500);
    cr_assert_lt(joined, MANY);
    cr_assert_geq(placed, 1000);
    cr_assert_lt(placed, MANY);
    /* a virtual thread's JavaThread is 0, and so are entries without a row */
    cr_assert_eq(row(directory, 0), 0);
    cr_assert(!alloc_rows_join(0, (thread_id){1}));
    alloc_rows_close();
}

/* Class 0 is "not known": of several, whose objects have several sizes. */
Test(alloc_rows, a_class_has_one_size)
{
    open_rows();
    cr_assert_eq(alloc_rows_place((class_id){0}, 24), -1);
    cr_assert_eq(alloc_rows_place((class_id){1}, size_of(1)), places[1]);
    cr_assert_eq(alloc_rows_place((class_id){1}, size_of(1) + 8), -1);
    alloc_rows_close();
}

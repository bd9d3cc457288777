/* What threads count is what the reader hears: against a plain table, with threads that come and go
 * beside it, and when a table is full. */
#include "agent/alloc_counts.h"
#include "agent/alloc_weight.h"

#include <criterion/criterion.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { THREADS = 3, CLASSES = 7, STACKS = 40, ROUNDS = 200000 };

struct sums {
    uint64_t count[THREADS + 1][CLASSES][STACKS], bytes[THREADS + 1][CLASSES][STACKS];
    uint64_t others;
};

static void add_news(void *ctx, const struct alloc_news *n)
{
    struct sums *s = ctx;
    cr_assert_gt(n->count, 0);
    if (n->key.thread.v > THREADS || n->key.class_.v >= CLASSES || n->key.stack.v >= STACKS) {
        s->others += n->count;
        return;
    }
    s->count[n->key.thread.v][n->key.class_.v][n->key.stack.v] += n->count;
    s->bytes[n->key.thread.v][n->key.class_.v][n->key.stack.v] += n->bytes;
}

static struct alloc_key key_of(uint32_t thread, uint32_t i)
{
    return (struct alloc_key){{thread}, {i * 31 % CLASSES}, {i * 17 % STACKS}};
}

static uint64_t bytes_of(uint32_t i)
{
    return 16 + i % 5 * 8;
}

struct worker {
    uint32_t thread;
    bool ends;
};

static void *count(void *arg)
{
    const struct worker *w = arg;
    struct alloc_counts *t = alloc_counts_new();
    for (uint32_t i = 0; i < ROUNDS; i++) {
        cr_assert(alloc_counts_add(t, key_of(w->thread, i), bytes_of(i)));
        if (w->ends && i % 5000 == 4999) {
            alloc_counts_end(t);
            t = alloc_counts_new();
        }
    }
    alloc_counts_end(t);
    return NULL;
}

Test(alloc_counts, threads_count_and_the_reader_hears_all)
{
    static struct sums got, want;
    pthread_t threads[THREADS];
    struct worker workers[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){i + 1, i == 1};
        cr_assert_eq(pthread_create(&threads[i], NULL, count, &workers[i]), 0);
    }
    for (int i = 0; i < 200; i++)
        alloc_counts_news(add_news, &got);
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    alloc_counts_news(add_news, &got);
    alloc_counts_news(add_news, &got); /* nothing more */
    for (uint32_t t = 1; t <= THREADS; t++)
        for (uint32_t i = 0; i < ROUNDS; i++) {
            struct alloc_key k = key_of(t, i);
            want.count[t][k.class_.v][k.stack.v]++;
            want.bytes[t][k.class_.v][k.stack.v] += bytes_of(i);
        }
    cr_assert_eq(memcmp(&got, &want, sizeof got), 0);
    alloc_counts_free();
}

/* Virtual threads that come by a carrier. */
Test(alloc_counts, a_full_table_says_so_and_keeps_what_it_has)
{
    static struct sums got;
    uint64_t added = 0;
    struct alloc_counts *t = alloc_counts_new();
    while (alloc_counts_add(t, (struct alloc_key){{1000 + (uint32_t)added}, {3}, {5}}, 16))
        added++;
    cr_assert_gt(added, 10000);
    cr_assert_lt(added, 1000000);
    alloc_counts_end(t);
    alloc_counts_news(add_news, &got);
    cr_assert_eq(got.others, added);
    alloc_counts_free();
}

Test(alloc_weight, is_what_the_formula_says)
{
    static const uint64_t intervals[] = {1, 16, 1024, 512 * 1024, 1 << 30};
    for (size_t i = 0; i < sizeof intervals / sizeof *intervals; i++)
        for (uint64_t size = 16; size < UINT64_C(1) << 36; size = size * 3 + 8) {
            double want = (double)size / -expm1(-(double)size / (double)intervals[i]);
            double got = (double)alloc_weight(size, intervals[i]);
            cr_assert(fabs(got - want) <= 1 + want * 1e-9, "%lu of %lu: %f instead of %f",
                      (unsigned long)size, (unsigned long)intervals[i], got, want);
        }
    cr_assert_eq(alloc_weight(48, 0), 48);
}

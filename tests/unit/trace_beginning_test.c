/* trace_beginning_test.c - the beginning of a trace: nothing of what was before its end is missing,
 * whatever the order in which rings were written. */
#include "analyze/analysis.h"
#include "base/util.h"
#include "conclude/resource.h"
#include "trace_builder.h"

#include <criterion/criterion.h>

static struct trace_builder b;
static thread_id threads[8];

enum { BLOCK = 8, PAIRS = 64 };

static void begin(unsigned n_threads)
{
    builder_init(&b);
    b.block_events = BLOCK;
    for (unsigned i = 0; i < n_threads; i++)
        threads[i] = builder_thread(&b, "worker");
}

/* Sleeps of a thread: one from each multiple of `step` on, half as long. */
static void sleeps(unsigned thread, uint64_t from, uint64_t step, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        ADD(&b, thread + 1, threads[thread], from + i * step, sleep_enter, .timeout_ns = 1);
        ADD0(&b, thread + 1, threads[thread], from + i * step + step / 2, sleep_exit);
    }
}

/* The events there are, and that each stream's are all those of before `until`. */
static uint64_t read_all(struct trace *t, uint64_t step, const uint64_t *from)
{
    uint64_t n = 0, until = t->until - BUILDER_START;
    uint64_t count[9] = {0};
    struct trace_iter *it;
    struct event e;
    size_t stream;
    cr_assert_eq(trace_iter_open_blocks(&it, t, NULL), 0);
    while (trace_iter_next(it, &e, &stream, NULL) > 0) {
        cr_assert_lt(e.time, t->until);
        count[t->streams[stream].id]++;
        n++;
    }
    trace_iter_close(it);
    for (unsigned i = 0; from && i < 8 && threads[i].v; i++) {
        uint64_t all = until <= from[i] ? 0 : (until - from[i] + step / 2 - 1) / (step / 2);
        cr_assert_eq(count[i + 1], min_u64(all, 2 * PAIRS), "stream %u: %llu of %llu", i + 1,
                     (unsigned long long)count[i + 1], (unsigned long long)all);
    }
    return n;
}

static void end_of(struct trace *t)
{
    trace_close(t);
    memset(threads, 0, sizeof threads);
}

Test(trace_beginning, nothing_before_its_end_is_missing)
{
    const uint64_t from[8] = {10, 13};
    begin(2);
    sleeps(0, from[0], 100, PAIRS);
    sleeps(1, from[1], 100, PAIRS);
    struct trace *t = builder_open(&b, 100000);
    uint64_t all = t->n_events;
    cr_assert(trace_keep_beginning(t, 40));
    cr_assert_eq(all, 4 * PAIRS);
    cr_assert_leq(t->n_events, 40);
    uint64_t n = read_all(t, 100, from);
    cr_assert(n > 16 && n <= 40, "%llu", (unsigned long long)n);
    cr_assert_eq(t->last, t->until);
    cr_assert_not(t->complete);
    end_of(t);
}

/* All of the second ring stands behind all of the first one. */
Test(trace_beginning, a_ring_that_was_written_late_counts_from_its_own_beginning)
{
    const uint64_t from[8] = {10, 20};
    begin(2);
    b.round_blocks = 1000;
    sleeps(0, from[0], 100, PAIRS);
    sleeps(1, from[1], 1000, 4);
    struct trace *t = builder_open(&b, 100000);
    cr_assert(trace_keep_beginning(t, 48));
    uint64_t n = 0, until = t->until;
    struct trace_iter *it;
    struct event e;
    cr_assert_eq(trace_iter_open(&it, t, NULL), 0);
    while (trace_iter_next(it, &e, NULL, NULL) > 0)
        n += e.thread.v == threads[1].v;
    trace_iter_close(it);
    uint64_t span = until - BUILDER_START - from[1];
    cr_assert_eq(n, (span + 499) / 500);
    end_of(t);
}

Test(trace_beginning, what_fits_is_left_alone)
{
    begin(1);
    sleeps(0, 10, 100, 4);
    struct trace *t = builder_open(&b, 1000);
    cr_assert_not(trace_keep_beginning(t, 8));
    cr_assert_eq(t->n_events, 8);
    cr_assert_eq(t->until, 0);
    cr_assert(t->complete);
    end_of(t);
}

/* One block that holds more than may be read: no beginning can be shown. */
Test(trace_beginning, one_large_block_is_left_alone)
{
    begin(1);
    b.block_events = 4096;
    sleeps(0, 10, 100, PAIRS);
    struct trace *t = builder_open(&b, 10000);
    cr_assert_not(trace_keep_beginning(t, 100));
    cr_assert_eq(t->n_events, 2 * PAIRS);
    cr_assert_eq(t->until, 0);
    end_of(t);
}

Test(trace_beginning, an_empty_trace_is_left_alone)
{
    begin(1);
    struct trace *t = builder_open(&b, 1000);
    cr_assert_not(trace_keep_beginning(t, 1));
    end_of(t);
}

/* Many rings that begin at once: no more than an instant would be seen. */
Test(trace_beginning, next_to_nothing_is_left_alone)
{
    begin(8);
    for (unsigned i = 0; i < 8; i++)
        sleeps(i, 10 + i, 1000000, PAIRS);
    struct trace *t = builder_open(&b, 100000000);
    cr_assert_not(trace_keep_beginning(t, 4 * BLOCK));
    cr_assert_eq(t->n_events, 8 * 2 * PAIRS);
    end_of(t);
}

Test(trace_beginning, threads_of_later_have_no_life_yet)
{
    struct analysis *a;
    begin(3);
    sleeps(0, 10, 100, PAIRS);
    ADD0(&b, 2, threads[1], 5000, thread_start);
    ADD0(&b, 2, threads[1], 5100, thread_end);
    struct trace *t = builder_open(&b, 100000);
    cr_assert(trace_keep_beginning(t, 40));
    uint64_t until = t->until;
    cr_assert_eq(conclude_run(&a, t, NULL), 0);
    const struct thread_stats *s = a->threads.v;
    cr_assert_eq(a->window.to, until);
    cr_assert_eq(s[threads[0].v].from, a->window.from);
    cr_assert_eq(s[threads[0].v].to, until);
    cr_assert_eq(thread_life(&s[threads[1].v]), 0);
    cr_assert_eq(thread_life(&s[threads[2].v]), 0);
    analysis_free(a);
    end_of(t);
}

/* A wait that goes on at the end is open there. */
Test(trace_beginning, a_wait_over_its_end_is_open)
{
    struct analysis *a;
    begin(2);
    sleeps(0, 10, 100, PAIRS);
    ADD(&b, 2, threads[1], 20, sleep_enter, .timeout_ns = 1);
    ADD0(&b, 2, threads[1], 6000, sleep_exit);
    struct trace *t = builder_open(&b, 100000);
    cr_assert(trace_keep_beginning(t, 40));
    uint64_t until = t->until;
    cr_assert_eq(conclude_run(&a, t, NULL), 0);
    const struct line *l = &a->timeline.lines[threads[1].v];
    cr_assert_eq(l->spans.n, 1);
    cr_assert_eq(span_end(&a->timeline, line_span(l, 0)), until);
    analysis_free(a);
    end_of(t);
}

#include "trace_builder.h"

#include <criterion/criterion.h>
#include <string.h>

static struct trace *two_streams(uint32_t block_events)
{
    struct trace_builder b;
    builder_init(&b);
    b.block_events = block_events;
    thread_id one = builder_thread(&b, "one"), two = builder_thread_flags(&b, "two", THREAD_DAEMON);
    lock_id lock = builder_lock(&b, builder_class(&b, "Lshop/Order;"));
    stack_id stack =
        builder_stack(&b, "shop.Order.submit:88 shop.Main.main:12 java.lang.Object.wait0:native");
    for (uint64_t i = 0; i < 10; i++) {
        ADD(&b, 1, one, 100 * i, monitor_contended_enter, .lock = lock, .owner = two,
            .stack = stack);
        ADD0(&b, 7, two, 100 * i + 20, gc_start);
        ADD(&b, 1, one, 100 * i + 50, monitor_contended_entered, .lock = lock);
    }
    return builder_open(&b, 5000);
}

static void check_events(struct trace *t)
{
    struct trace_iter *it;
    struct event e;
    size_t n = 0, stream;
    static const int kinds[] = {EV_monitor_contended_enter, EV_gc_start,
                                EV_monitor_contended_entered};
    cr_assert_eq(trace_iter_open(&it, t, NULL), 0);
    for (; trace_iter_next(it, &e, &stream, NULL) > 0; n++) {
        cr_assert_eq(e.kind, kinds[n % 3]);
        cr_assert_eq(stream, n % 3 == 1);
        cr_assert_eq(e.time, BUILDER_START + n / 3 * 100 + (n % 3 == 0 ? 0 : n % 3 == 1 ? 20 : 50));
    }
    cr_assert_eq(n, 30);
    trace_iter_close(it);
}

/* The same events, each stream's in order, whatever the turns of the streams. */
static void check_blocks(struct trace *t)
{
    struct trace_iter *it;
    struct event e;
    size_t n[2] = {0}, stream;
    cr_assert_eq(trace_iter_open_blocks(&it, t, NULL), 0);
    while (trace_iter_next(it, &e, &stream, NULL) > 0) {
        size_t i = n[stream]++;
        uint64_t time = stream ? 100 * i + 20 : 100 * (i / 2) + (i % 2 ? 50 : 0);
        cr_assert_eq(e.time, BUILDER_START + time, "stream %zu, event %zu", stream, i);
        cr_assert_eq(e.kind, stream  ? EV_gc_start
                             : i % 2 ? EV_monitor_contended_entered
                                     : EV_monitor_contended_enter);
    }
    cr_assert(n[0] == 20 && n[1] == 10);
    trace_iter_close(it);
}

Test(trace_builder, what_is_put_in_comes_out)
{
    for (uint32_t block = 1; block < 40; block += 6) {
        struct trace *t = two_streams(block);
        cr_assert_eq(t->n_events, 30);
        cr_assert_eq(t->n_streams, 2);
        cr_assert_eq(t->n_problems, 0);
        cr_assert(t->complete);
        cr_assert_eq(t->header.end_mono, BUILDER_START + 5000);
        check_events(t);
        check_blocks(t);
        trace_close(t);
    }
}

Test(trace_builder, definitions)
{
    struct trace *t = two_streams(100);
    cr_assert_str_eq(trace_thread(t, (thread_id){2})->name, "two");
    cr_assert_eq(trace_thread(t, (thread_id){2})->flags, THREAD_DAEMON);
    const struct trace_stack *s = trace_stack(t, (stack_id){1});
    cr_assert_eq(s->n_frames, 3);
    cr_assert_str_eq(trace_method(t, s->frames[0].method)->name, "submit");
    cr_assert_eq(trace_line(t, s->frames[0]), 88);
    cr_assert_eq(trace_line(t, s->frames[1]), 12);
    cr_assert_eq(trace_line(t, s->frames[2]), -1);
    class_id c = trace_method(t, s->frames[1].method)->class_;
    cr_assert_str_eq(trace_class(t, c)->signature, "Lshop/Main;");
    cr_assert_str_eq(trace_class(t, c)->source, "Main.java");
    trace_close(t);
}

Test(trace_builder, an_unfinished_trace_opens)
{
    struct trace_builder b;
    builder_init(&b);
    b.header.state = TRACE_RECORDING;
    ADD0(&b, 1, builder_thread(&b, "one"), 10, thread_start);
    struct trace *t = builder_open(&b, 0);
    cr_assert(!t->complete);
    cr_assert_eq(t->n_events, 1);
    trace_close(t);
}

Test(trace_builder, an_empty_trace_opens)
{
    struct trace_builder b;
    builder_init(&b);
    struct trace *t = builder_open(&b, 1000);
    cr_assert_eq(t->n_events, 0);
    cr_assert_eq(t->n_streams, 0);
    trace_close(t);
}

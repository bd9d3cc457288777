/* path_shutdown_test.c - the critical path of a program whose end is that of a shutdown hook. */
#include "analyzed.h"

#include <criterion/criterion.h>

TestSuite(path_shutdown, .init = analyzed_begin, .fini = analyzed_end);

/* ann is main, dan the hook; cat is a thread that ann starts. */
static void shut_down(uint64_t cat_ends)
{
    thread_id destroyer = builder_thread(&b, "DestroyJavaVM");
    ADD0(&b, 1, ann, 0, thread_start);
    ADD(&b, 1, ann, 100, thread_start_called, .target = cat, .stack = stack);
    ADD0(&b, 3, cat, 110, thread_start);
    ADD0(&b, 3, cat, cat_ends, thread_end);
    ADD0(&b, 2, bob, 20, thread_end);
    ADD0(&b, 1, ann, 500, thread_end);
    ADD0(&b, 1, destroyer, 510, thread_start);
    ADD(&b, 1, destroyer, 800, thread_start_called, .target = dan, .stack = stack);
    ADD0(&b, 4, dan, 810, thread_start);
    ADD0(&b, 4, dan, 900, thread_end);
    ADD0(&b, 1, destroyer, 950, thread_end);
    analyzed_run(1000);
}

static void tiles(uint64_t from, uint64_t to)
{
    uint64_t sum = 0;
    cr_assert_eq(a->path.from, at(from));
    cr_assert_eq(a->path.to, at(to));
    for (size_t i = 0; i < a->path.n; i++) {
        cr_assert_eq(a->path.v[i].from, i ? a->path.v[i - 1].to : at(from));
        cr_assert_lt(a->path.v[i].from, a->path.v[i].to);
    }
    cr_assert_eq(a->path.v[a->path.n - 1].to, at(to));
    for (int k = 0; k < PATH_KINDS; k++)
        sum += a->path.kind_ns[k];
    cr_assert_eq(sum, to - from);
}

Test(path_shutdown, goes_on_in_main)
{
    shut_down(120);
    cr_assert_eq(a->path.thread, dan.v);
    tiles(0, 900);
    cr_assert_eq(a->path.v[0].thread, ann.v);
    cr_assert_eq(a->path.v[0].kind, PATH_RUN);
    cr_assert_eq(a->path.v[0].to, at(500));
    cr_assert_eq(a->path.v[1].kind, PATH_HANDOFF);
    cr_assert_eq(a->path.v[1].to, at(510));
}

/* DestroyJavaVM waits for it. */
Test(path_shutdown, goes_on_in_a_thread_that_outlives_main)
{
    shut_down(700);
    tiles(0, 900);
    bool ran = false;
    for (size_t i = 0; i < a->path.n; i++)
        ran |= a->path.v[i].thread == cat.v && a->path.v[i].to == at(700);
    cr_assert(ran);
    cr_assert_eq(a->path.v[0].thread, ann.v);
    cr_assert_eq(a->path.v[0].to, at(100));
}

/* A daemon is nobody that the end waits for. */
Test(path_shutdown, passes_a_daemon_over)
{
    thread_id daemon = builder_thread_flags(&b, "daemon", THREAD_DAEMON);
    ADD0(&b, 5, daemon, 10, thread_start);
    ADD0(&b, 5, daemon, 600, thread_end);
    shut_down(120);
    tiles(0, 900);
    cr_assert_eq(a->path.v[0].to, at(500));
}

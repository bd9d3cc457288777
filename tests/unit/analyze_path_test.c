/* analyze_path_test.c - critical paths that can be worked out by hand, segment by segment. */
#include "analyzed.h"

#include <criterion/criterion.h>

TestSuite(path, .init = analyzed_begin, .fini = analyzed_end);

struct part {
    uint64_t from, to;
    thread_id *thread;
    enum path_kind kind;
    unsigned state;
    lock_id *lock; /* NULL: none */
};

static void check_parts(const struct part *want, size_t n)
{
    for (size_t i = 0; i < n && i < a->path.n; i++) {
        const struct path_segment *g = &a->path.v[i];
        cr_assert_eq(since(g->from), want[i].from, "segment %zu: %lu", i, since(g->from));
        cr_assert_eq(since(g->to), want[i].to, "segment %zu: %lu", i, since(g->to));
        cr_assert_eq(g->thread, want[i].thread->v, "segment %zu: %u", i, g->thread);
        cr_assert_eq(g->kind, want[i].kind, "segment %zu: %u", i, g->kind);
        cr_assert_eq(g->state, want[i].state, "segment %zu: %u", i, g->state);
        cr_assert_eq(g->lock.v, want[i].lock ? want[i].lock->v : 0, "segment %zu: %u", i,
                     g->lock.v);
    }
    cr_assert_eq(a->path.n, n);
}

/* The path to a thread at a time, from `from` on. */
static void follow(thread_id thread, uint64_t to, uint64_t from)
{
    cr_assert_eq(analysis_follow(a, thread.v, at(to), at(from)), 0);
}

static void lives(thread_id who, uint64_t from, uint64_t to)
{
    ADD0(&b, who.v, who, from, thread_start);
    ADD0(&b, who.v, who, to, thread_end);
}

#define RUNS PATH_RUN, STATE_LIMIT
#define STARTS PATH_HANDOFF, STATE_LIMIT

/* --- whole programs --------------------------------------------------------------------------- */

/* ann starts bob and cat, and joins them; cat takes longer. */
Test(path, fork_and_join)
{
    ADD(&b, 1, ann, 100, thread_start_called, .target = bob);
    ADD(&b, 1, ann, 110, thread_start_called, .target = cat);
    does_join(ann, 200, 510, bob);
    does_join(ann, 520, 820, cat);
    ADD0(&b, 1, ann, 900, thread_end);
    lives(bob, 120, 500);
    lives(cat, 130, 800);
    ADD0(&b, 4, dan, 0, thread_start);
    ADD0(&b, 4, dan, 10, thread_end);
    analyzed_run(1000);
    static const struct part want[] = {{0, 110, &ann, RUNS, NULL},
                                       {110, 130, &cat, STARTS, NULL},
                                       {130, 800, &cat, RUNS, NULL},
                                       {800, 820, &ann, PATH_HANDOFF, STATE_JOINING, NULL},
                                       {820, 900, &ann, RUNS, NULL}};
    check_parts(want, ARRAY_LEN(want));
    cr_assert_eq(since(a->path.from), 0);
    cr_assert_eq(since(a->path.to), 900);
    cr_assert_eq(a->path.kind_ns[PATH_RUN], 110 + 670 + 80);
    cr_assert_eq(a->path.kind_ns[PATH_HANDOFF], 20 + 20);
    cr_assert_eq(a->path_sums.threads[0].id, cat.v);
    cr_assert_eq(a->path_sums.threads[0].ns, 690);
    cr_assert_eq(a->path_sums.threads[0].run, 670);
}

/* Three workers of unequal work: the longest is the path, and at the end it runs alone. */
Test(path, join_imbalance)
{
    thread_id *workers[] = {&bob, &cat, &dan};
    static const uint64_t ends[] = {300, 900, 400};
    for (uint64_t i = 0; i < 3; i++)
        ADD(&b, 1, ann, 10 + i, thread_start_called, .target = *workers[i]);
    for (int i = 0; i < 3; i++)
        lives(*workers[i], 20, ends[i]);
    does_join(ann, 30, 301, bob);
    does_join(ann, 302, 901, cat);
    does_join(ann, 902, 903, dan);
    ADD0(&b, 1, ann, 910, thread_end);
    analyzed_run(910);
    follow(ann, 901, 0);
    static const struct part want[] = {{0, 11, &ann, RUNS, NULL},
                                       {11, 20, &cat, STARTS, NULL},
                                       {20, 900, &cat, RUNS, NULL},
                                       {900, 901, &ann, PATH_HANDOFF, STATE_JOINING, NULL}};
    check_parts(want, ARRAY_LEN(want));
    cr_assert_eq(a->bottles.v[cat.v].alone, 900 - 400);
    cr_assert_eq(span_of(ann, 2)->waker, 0, "dan had ended");
}

/* cat waits for bob, who waits for ann: each has the monitor for 100. */
Test(path, convoy)
{
    does_block(bob, 50, 200, lock, ann);
    does_block(cat, 60, 300, lock, ann);
    does_block(dan, 70, 400, lock, ann);
    analyzed_run(1000);
    follow(dan, 500, 0);
    static const struct part want[] = {{0, 50, &ann, RUNS, NULL},
                                       {50, 200, &ann, RUNS, &lock},
                                       {200, 300, &bob, RUNS, &lock},
                                       {300, 400, &cat, RUNS, &lock},
                                       {400, 500, &dan, RUNS, NULL}};
    check_parts(want, ARRAY_LEN(want));
    cr_assert_eq(a->path_sums.n_locks, 1);
    cr_assert_eq(a->path_sums.locks[0].ns, 350);
}

Test(path, producer_and_consumer)
{
    does_wait(ann, 100, 320, lock);
    ADD(&b, 2, bob, 300, notify, .lock = lock);
    ADD(&b, 2, bob, 310, hold, .lock = lock, .since = at(250));
    does_wait(bob, 350, 620, other_lock);
    ADD(&b, 1, ann, 600, notify, .lock = other_lock);
    ADD(&b, 1, ann, 610, hold, .lock = other_lock, .since = at(590));
    analyzed_run(1000);
    follow(bob, 700, 0);
    static const struct part want[] = {
        {0, 300, &bob, RUNS, NULL},
        {300, 310, &bob, RUNS, &lock},
        {310, 320, &ann, PATH_HANDOFF, STATE_REACQUIRING, &lock},
        {320, 600, &ann, RUNS, NULL},
        {600, 610, &ann, RUNS, &other_lock},
        {610, 620, &bob, PATH_HANDOFF, STATE_REACQUIRING, &other_lock},
        {620, 700, &bob, RUNS, NULL}};
    check_parts(want, ARRAY_LEN(want));
}

/* ann waits for bob's monitor while bob waits for cat's. */
Test(path, an_owner_that_is_blocked_itself)
{
    does_block(ann, 100, 400, lock, bob);
    does_block(bob, 50, 300, other_lock, cat);
    analyzed_run(1000);
    follow(ann, 500, 0);
    static const struct part want[] = {{0, 50, &cat, RUNS, NULL},
                                       {50, 300, &cat, RUNS, &other_lock},
                                       {300, 400, &bob, RUNS, &lock},
                                       {400, 500, &ann, RUNS, NULL}};
    check_parts(want, ARRAY_LEN(want));
}

/* --- single steps ----------------------------------------------------------------------------- */

Test(path, the_owner_goes_on_to_wait)
{
    does_block(ann, 100, 400, lock, bob);
    does_sleep(bob, 300, 700);
    analyzed_run(1000);
    follow(ann, 500, 0);
    static const struct part want[] = {{0, 100, &bob, RUNS, NULL},
                                       {100, 300, &bob, RUNS, &lock},
                                       {300, 400, &ann, PATH_HANDOFF, STATE_BLOCKED, &lock},
                                       {400, 500, &ann, RUNS, NULL}};
    check_parts(want, ARRAY_LEN(want));
}

Test(path, the_owner_ends)
{
    does_block(ann, 100, 400, lock, bob);
    ADD0(&b, 2, bob, 350, thread_end);
    analyzed_run(1000);
    follow(ann, 500, 0);
    static const struct part want[] = {{0, 100, &bob, RUNS, NULL},
                                       {100, 350, &bob, RUNS, &lock},
                                       {350, 400, &ann, PATH_HANDOFF, STATE_BLOCKED, &lock},
                                       {400, 500, &ann, RUNS, NULL}};
    check_parts(want, ARRAY_LEN(want));
}

/* A lock's part of the path is that in which somebody on it waited for the lock. */
Test(path, a_lock_counts_while_the_path_waits_for_it)
{
    does_block(bob, 50, 100, lock, dan);
    does_block(ann, 300, 400, lock, bob);
    analyzed_run(1000);
    follow(ann, 500, 100);
    static const struct part want[] = {
        {100, 300, &bob, RUNS, NULL}, {300, 400, &bob, RUNS, &lock}, {400, 500, &ann, RUNS, NULL}};
    check_parts(want, ARRAY_LEN(want));
}

Test(path, who_waits_for_time)
{
    does_sleep(ann, 100, 200);
    ADD(&b, 1, ann, 300, wait_enter, .lock = lock, .timeout_ms = 1);
    ADD(&b, 1, ann, 400, wait_exit, .lock = lock, .timed_out = 1);
    ADD(&b, 1, ann, 500, park_enter, .timeout_ns = 90);
    ADD(&b, 1, ann, 600, park_exit, .lock = {0});
    ADD(&b, 1, ann, 700, park_enter, .lock = {0});
    ADD(&b, 1, ann, 800, park_exit, .lock = {0});
    analyzed_run(1000);
    follow(ann, 900, 0);
    static const struct part want[] = {
        {0, 100, &ann, RUNS, NULL},   {100, 200, &ann, PATH_TIMED, STATE_SLEEPING, NULL},
        {200, 300, &ann, RUNS, NULL}, {300, 400, &ann, PATH_TIMED, STATE_WAITING, &lock},
        {400, 500, &ann, RUNS, NULL}, {500, 600, &ann, PATH_TIMED, STATE_PARKED, NULL},
        {600, 700, &ann, RUNS, NULL}, {700, 800, &ann, PATH_WAIT, STATE_PARKED, NULL},
        {800, 900, &ann, RUNS, NULL}};
    check_parts(want, ARRAY_LEN(want));
}

Test(path, who_need_not_wait_stays_on_the_path)
{
    ADD(&b, 2, bob, 50, unpark, .target = ann);
    does_park(ann, 100, 110);
    ADD(&b, 2, bob, 200, interrupt, .target = ann);
    ADD(&b, 1, ann, 300, sleep_enter, .timeout_ns = 1000);
    ADD(&b, 1, ann, 301, interrupted, .stack = stack);
    ADD0(&b, 1, ann, 310, sleep_exit);
    analyzed_run(1000);
    follow(ann, 400, 0);
    static const struct part want[] = {{0, 100, &ann, RUNS, NULL},
                                       {100, 110, &ann, PATH_HANDOFF, STATE_PARKED, NULL},
                                       {110, 300, &ann, RUNS, NULL},
                                       {300, 310, &ann, PATH_HANDOFF, STATE_SLEEPING, NULL},
                                       {310, 400, &ann, RUNS, NULL}};
    check_parts(want, ARRAY_LEN(want));
}

Test(path, an_interrupt_in_a_wait)
{
    does_wait(ann, 100, 300, lock);
    ADD(&b, 2, bob, 250, interrupt, .target = ann);
    ADD(&b, 1, ann, 310, interrupted, .stack = stack);
    analyzed_run(1000);
    follow(ann, 400, 0);
    static const struct part want[] = {{0, 250, &bob, RUNS, NULL},
                                       {250, 300, &ann, PATH_HANDOFF, STATE_WAITING, &lock},
                                       {300, 400, &ann, RUNS, NULL}};
    check_parts(want, ARRAY_LEN(want));
}

/* Notified at 200; cat got the monitor in between, and gave it back when it waited itself. */
Test(path, a_notified_thread_waits_for_the_monitor)
{
    does_wait(ann, 100, 500, lock);
    ADD(&b, 2, bob, 200, notify, .lock = lock);
    does_block(cat, 210, 300, lock, bob);
    does_wait(cat, 450, 900, lock);
    analyzed_run(1000);
    follow(ann, 600, 0);
    static const struct part want[] = {{0, 210, &bob, RUNS, NULL},
                                       {210, 300, &bob, RUNS, &lock},
                                       {300, 450, &cat, RUNS, &lock},
                                       {450, 500, &ann, PATH_HANDOFF, STATE_REACQUIRING, &lock},
                                       {500, 600, &ann, RUNS, NULL}};
    check_parts(want, ARRAY_LEN(want));
}

/* JDK 25: what a virtual thread says inside its wait has no length and does not cut the wait. */
Test(path, a_virtual_thread_that_has_its_monitor_again)
{
    static thread_id v;
    v = builder_thread_flags(&b, "v", THREAD_VIRTUAL);
    ADD(&b, 9, v, 100, wait_enter, .lock = lock);
    ADD(&b, 2, bob, 200, notify, .lock = lock);
    ADD(&b, 2, bob, 250, hold, .lock = lock, .since = at(150));
    ADD(&b, 8, v, 300, monitor_contended_entered, .lock = lock);
    ADD(&b, 8, v, 350, wait_exit, .lock = lock);
    analyzed_run(1000);
    follow(v, 400, 0);
    static const struct part want[] = {{0, 200, &bob, RUNS, NULL},
                                       {200, 250, &bob, RUNS, &lock},
                                       {250, 350, &v, PATH_HANDOFF, STATE_REACQUIRING, &lock},
                                       {350, 400, &v, RUNS, NULL}};
    check_parts(want, ARRAY_LEN(want));
}

Test(path, into_the_middle_of_a_wait)
{
    ADD(&b, 1, ann, 100, park_enter, .timeout_ns = 9000);
    ADD(&b, 2, bob, 200, park_enter, .timeout_ns = 9000);
    ADD(&b, 2, bob, 700, park_exit, .lock = {0});
    analyzed_run(1000);
    follow(ann, 1000, 0); /* still parked */
    static const struct part want[] = {{0, 100, &ann, RUNS, NULL},
                                       {100, 1000, &ann, PATH_WAIT, STATE_PARKED, NULL}};
    check_parts(want, ARRAY_LEN(want));
    follow(bob, 500, 0);
    static const struct part other[] = {{0, 200, &bob, RUNS, NULL},
                                        {200, 500, &bob, PATH_WAIT, STATE_PARKED, NULL}};
    check_parts(other, ARRAY_LEN(other));
}

Test(path, no_farther_back_than_asked)
{
    does_join(ann, 100, 310, bob);
    lives(bob, 50, 300);
    analyzed_run(1000);
    follow(ann, 400, 305);
    static const struct part late[] = {{305, 310, &ann, PATH_HANDOFF, STATE_JOINING, NULL},
                                       {310, 400, &ann, RUNS, NULL}};
    check_parts(late, ARRAY_LEN(late));
    follow(ann, 400, 200);
    static const struct part more[] = {{200, 300, &bob, RUNS, NULL},
                                       {300, 310, &ann, PATH_HANDOFF, STATE_JOINING, NULL},
                                       {310, 400, &ann, RUNS, NULL}};
    check_parts(more, ARRAY_LEN(more));
    follow(ann, 400, 0); /* nobody is known to have started bob */
    cr_assert_eq(since(a->path.from), 50);
    cr_assert_eq(a->path.v[0].thread, bob.v);
}

Test(path, collections_are_cut_out_of_the_runs)
{
    does_sleep(ann, 100, 200);
    ADD0(&b, 6, (thread_id){0}, 50, gc_start);
    ADD0(&b, 6, (thread_id){0}, 60, gc_finish);
    ADD0(&b, 6, (thread_id){0}, 150, gc_start);
    ADD0(&b, 6, (thread_id){0}, 250, gc_finish);
    analyzed_run(1000);
    follow(ann, 300, 0);
    static const struct part want[] = {
        {0, 50, &ann, RUNS, NULL},
        {50, 60, &ann, PATH_GC, STATE_LIMIT, NULL},
        {60, 100, &ann, RUNS, NULL},
        {100, 200, &ann, PATH_TIMED, STATE_SLEEPING, NULL},
        {200, 250, &ann, PATH_GC, STATE_LIMIT, NULL},
        {250, 300, &ann, RUNS, NULL},
    };
    check_parts(want, ARRAY_LEN(want));
}

/* The owner had it before, gave it back, and took it again without having to wait. */
Test(path, with_holds_it_is_known_when_a_lock_was_taken)
{
    does_block(bob, 50, 100, lock, dan);
    ADD(&b, 2, bob, 150, hold, .lock = lock, .since = at(100));
    does_block(ann, 120, 400, lock, (thread_id){0});
    ADD(&b, 2, bob, 390, hold, .lock = lock, .since = at(300));
    analyzed_run(1000);
    follow(ann, 500, 200);
    static const struct part want[] = {{200, 300, &bob, RUNS, NULL},
                                       {300, 390, &bob, RUNS, &lock},
                                       {390, 400, &ann, PATH_HANDOFF, STATE_BLOCKED, &lock},
                                       {400, 500, &ann, RUNS, NULL}};
    check_parts(want, ARRAY_LEN(want));
}

/* Blocked until 900 by bob, who is asleep until 300. */
Test(path, in_the_middle_of_a_wait_for_who_will_end_it)
{
    does_block(ann, 100, 900, lock, bob);
    does_sleep(bob, 200, 300);
    analyzed_run(1000);
    follow(ann, 500, 0);
    static const struct part want[] = {{0, 200, &bob, RUNS, NULL},
                                       {200, 300, &bob, PATH_TIMED, STATE_SLEEPING, NULL},
                                       {300, 500, &bob, RUNS, &lock}};
    check_parts(want, ARRAY_LEN(want));
}

/* Notified at 200, it has the monitor again at 900: at 500 it waits for bob to give it back. */
Test(path, in_the_middle_of_a_wait_that_is_over_but_for_the_monitor)
{
    does_wait(ann, 100, 900, lock);
    ADD(&b, 2, bob, 200, notify, .lock = lock);
    ADD(&b, 2, bob, 400, hold, .lock = lock, .since = at(150));
    analyzed_run(1000);
    follow(ann, 500, 0);
    static const struct part want[] = {{0, 200, &bob, RUNS, NULL},
                                       {200, 400, &bob, RUNS, &lock},
                                       {400, 500, &ann, PATH_HANDOFF, STATE_REACQUIRING, &lock}};
    check_parts(want, ARRAY_LEN(want));
    follow(ann, 300, 0);
    static const struct part before[] = {{0, 200, &bob, RUNS, NULL}, {200, 300, &bob, RUNS, &lock}};
    check_parts(before, ARRAY_LEN(before));
}

Test(path, in_the_middle_of_a_wait_for_a_thread_that_does_not_live_yet)
{
    does_park(ann, 100, 900);
    ADD0(&b, 2, bob, 600, thread_start);
    ADD(&b, 2, bob, 800, unpark, .target = ann);
    analyzed_run(1000);
    follow(ann, 500, 0);
    static const struct part want[] = {{0, 100, &ann, RUNS, NULL},
                                       {100, 500, &ann, PATH_WAIT, STATE_PARKED, NULL}};
    check_parts(want, ARRAY_LEN(want));
    follow(ann, 850, 0);
    cr_assert_eq(since(a->path.from), 600, "nobody is known to have started bob");
}

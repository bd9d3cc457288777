/* analyze_stats_test.c - the tables of small traces. */
#include "analyzed.h"

#include <criterion/criterion.h>

TestSuite(stats, .init = analyzed_begin, .fini = analyzed_end);

/* One wait, of which only the re-acquisition goes on. */
Test(stats, notified_but_not_back_at_the_end)
{
    ADD(&b, 1, ann, 100, wait_enter, .lock = lock, .stack = stack);
    ADD(&b, 2, bob, 300, notify, .lock = lock);
    analyzed_run(1000);
    const struct thread_sums *s = sums_of(ann);
    cr_assert_eq(s->open, 1);
    cr_assert_eq(s->state[STATE_WAITING].ns, 200);
    cr_assert_eq(s->state[STATE_REACQUIRING].ns, 700);
    const struct class_stats *c = &a->stats.classes[lock_set_group(&a->locks, lock)];
    cr_assert_eq(c->state[STATE_WAITING].open, 0);
    cr_assert_eq(c->state[STATE_REACQUIRING].open, 1);
}

Test(stats, a_question_about_one_lock_leaves_out_the_holds_of_others)
{
    ADD(&b, 1, ann, 200, hold, .lock = lock, .since = at(100));
    ADD(&b, 1, ann, 400, hold, .lock = other_lock, .since = at(300));
    analyzed_run(1000);
    struct selection sel = selection_all();
    sel.lock = lock.v;
    cr_assert_eq(analysis_select(a, &sel), 0);
    cr_assert_eq(a->stats.locks[lock.v].holds, 1);
    cr_assert_eq(a->stats.locks[lock.v].held_ns, 100);
    cr_assert_eq(a->stats.locks[other_lock.v].holds, 0);
}

Test(stats, a_thread_that_was_started_and_does_not_run_yet_has_not_lived_since_the_beginning)
{
    ADD(&b, 2, bob, 400, thread_start_called, .target = ann);
    ADD(&b, 2, bob, 500, thread_start_called, .target = cat);
    ADD0(&b, 3, cat, 510, thread_start);
    analyzed_run(1000);
    cr_assert_eq(sums_of(ann)->life, 600);
    cr_assert_eq(sums_of(cat)->life, 490);
    cr_assert_eq(sums_of(bob)->life, 1000);
}

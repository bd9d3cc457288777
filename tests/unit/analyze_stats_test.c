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

/* --- taking a monitor again is contention like any other -------------------------------------- */

/* ann waits, bob notifies and keeps the monitor for 700 ns; cat is blocked by dan for 10. */
static void bob_keeps_it(void)
{
    ADD(&b, 1, ann, 100, wait_enter, .lock = lock, .stack = stack);
    ADD(&b, 2, bob, 300, notify, .lock = lock, .stack = other_stack);
    ADD(&b, 1, ann, 1000, wait_exit, .lock = lock);
    does_block(cat, 1100, 1110, lock, dan);
    analyzed_run(2000);
}

Test(stats, who_notified_owns_what_is_taken_again)
{
    const struct blame *v;
    size_t n;
    bob_keeps_it();
    cr_assert_eq(analysis_blames(a, EVERY_CLASS, BLAME_BY_GROUP | BLAME_BY_OWNER, &v, &n), 0);
    cr_assert_eq(n, 3);
    cr_assert_eq(v[0].owner, bob.v);
    cr_assert_eq(v[0].held_up.count, 1);
    cr_assert_eq(v[0].held_up.ns, 700);
    cr_assert_eq(v[0].reacquired.ns, 700);
    cr_assert_eq(v[1].owner, dan.v);
    cr_assert_eq(v[1].held_up.ns, 10);
    cr_assert_eq(v[2].owner, 0); /* ann's wait for the notify */
    cr_assert_eq(v[2].held_up.count, 0);
    cr_assert_eq(v[2].waited.ns, 200);
}

Test(stats, who_notified_holds_up_whom)
{
    const struct blame *v;
    size_t n;
    bob_keeps_it();
    cr_assert_eq(analysis_blames(a, EVERY_CLASS, BLAME_BY_WAITER | BLAME_BY_OWNER, &v, &n), 0);
    cr_assert_eq(v[0].waiter, ann.v);
    cr_assert_eq(v[0].owner, bob.v);
    cr_assert_eq(v[0].held_up.ns, 700);
}

/* Of all owners together as much as of all classes. */
Test(stats, owners_and_classes_have_the_same_sums)
{
    const struct blame *v;
    size_t n;
    uint64_t ns = 0, count = 0;
    bob_keeps_it();
    cr_assert_eq(analysis_blames(a, EVERY_CLASS, BLAME_BY_GROUP | BLAME_BY_OWNER, &v, &n), 0);
    for (size_t i = 0; i < n; i++) {
        ns += v[i].held_up.ns;
        count += v[i].held_up.count;
    }
    cr_assert_eq(ns, a->stats.total[HELD_UP].ns);
    cr_assert_eq(count, a->stats.total[HELD_UP].count);
}

Test(stats, the_queue_has_who_takes_the_monitor_again)
{
    bob_keeps_it();
    const struct queue *q = queues_of(&a->queues, lock);
    cr_assert_not_null(q);
    cr_assert_eq(q->area, 710);
    cr_assert_eq(q->busy, 710);
    cr_assert_eq(q->handovers, 2);
    cr_assert_eq(q->max, 1);
}

/* All that were woken queue, whoever came in between; one that times out does not. */
Test(stats, the_queue_after_a_notify_all)
{
    ADD(&b, 1, ann, 100, wait_enter, .lock = lock, .stack = stack);
    ADD(&b, 3, cat, 110, wait_enter, .lock = lock, .stack = stack, .timeout_ms = 1);
    ADD(&b, 4, dan, 120, wait_enter, .lock = lock, .stack = stack);
    ADD(&b, 3, cat, 200, wait_exit, .lock = lock, .timed_out = 1);
    ADD(&b, 2, bob, 300, notify_all, .lock = lock);
    ADD(&b, 1, ann, 500, wait_exit, .lock = lock);
    ADD(&b, 4, dan, 600, wait_exit, .lock = lock);
    analyzed_run(1000);
    const struct queue *q = queues_of(&a->queues, lock);
    cr_assert_not_null(q);
    cr_assert_eq(q->area, 200 + 300);
    cr_assert_eq(q->busy, 300);
    cr_assert_eq(q->max, 2);
    cr_assert_eq(q->handovers, 2);
}

/* ann waits on one monitor with another one in its hands; bob notifies and then wants the other
 * one. */
static void wait_in_a_circle(uint32_t timeout_ms)
{
    ADD(&b, 1, ann, 100, wait_enter, .lock = lock, .stack = stack, .timeout_ms = timeout_ms);
    ADD(&b, 2, bob, 300, notify, .lock = lock, .stack = other_stack);
    ADD(&b, 2, bob, 400, monitor_contended_enter, .lock = other_lock, .owner = ann);
    analyzed_run(400000000);
}

Test(stats, a_deadlock_with_a_monitor_that_is_taken_again)
{
    for (uint32_t timeout_ms = 0; timeout_ms <= 3600000; timeout_ms += 3600000) {
        wait_in_a_circle(timeout_ms);
        cr_assert_eq(a->deadlocks.n, 1);
        const struct deadlock *d = &a->deadlocks.v[0];
        cr_assert_eq(d->n_members, 2);
        cr_assert(d->sure);
        const struct stuck_thread *s = &d->members[d->members[0].thread == ann.v ? 0 : 1];
        cr_assert_eq(s->thread, ann.v);
        cr_assert_eq(s->state, STATE_REACQUIRING);
        cr_assert_eq(s->on, bob.v);
        cr_assert_eq(s->since, at(300));
        cr_assert_eq(s->owner_stack.v, other_stack.v); /* where it notified */
        analyzed_end();
        analyzed_begin();
    }
}

/* bob has given it back to wait itself: nobody is known to have it. */
Test(stats, no_deadlock_where_who_notified_gave_the_monitor_back)
{
    ADD(&b, 1, ann, 100, wait_enter, .lock = lock, .stack = stack);
    ADD(&b, 2, bob, 300, notify, .lock = lock, .stack = other_stack);
    ADD(&b, 2, bob, 350, hold, .lock = lock, .since = at(200));
    ADD(&b, 2, bob, 400, monitor_contended_enter, .lock = other_lock, .owner = ann);
    analyzed_run(400000000);
    cr_assert_eq(a->deadlocks.n, 0);
}

Test(stats, an_open_wait_that_was_notified_takes_its_monitor_again)
{
    wait_in_a_circle(0);
    const struct open_wait *w = (const void *)a->decoded.open.p;
    cr_assert_eq(a->decoded.open.len, 2 * sizeof *w);
    w = w[0].thread == ann.v ? w : w + 1;
    cr_assert_eq(w->state, STATE_REACQUIRING);
    cr_assert_eq(w->other, bob.v);
    cr_assert_eq(w->since, at(300));
}

/* analyze_bind_test.c - who ended a wait by what, case by case; the streams are those of real
 * JVMs. */
#include "analyzed.h"

#include <criterion/criterion.h>

TestSuite(bind, .init = analyzed_begin, .fini = analyzed_end);

/* --- which wait an InterruptedException ended ------------------------------------------------- */

static bool was_interrupted(thread_id thread, uint32_t i)
{
    return context_of(thread, i)->flags & INTERVAL_INTERRUPTED;
}

static void interrupted(thread_id who, uint64_t time)
{
    ADD(&b, who.v, who, time, interrupted, .stack = stack);
}

Test(bind, a_sleep_throws_before_it_returns)
{
    ADD(&b, 1, ann, 100, sleep_enter, .timeout_ns = 1000);
    interrupted(ann, 190);
    ADD0(&b, 1, ann, 200, sleep_exit);
    analyzed_run(1000);
    cr_assert(was_interrupted(ann, 0));
}

/* HotSpot says that the wait is over, takes the monitor as anybody does, and then throws. */
Test(bind, a_wait_throws_once_it_has_its_monitor_again)
{
    does_wait(ann, 100, 200, lock);
    does_block(ann, 210, 300, lock, bob);
    interrupted(ann, 310);
    analyzed_run(1000);
    cr_assert(was_interrupted(ann, 0));
    cr_assert(!was_interrupted(ann, 1));
}

Test(bind, a_wait_whose_monitor_was_taken_again_inside_it)
{
    ADD(&b, 1, ann, 100, wait_enter, .lock = lock);
    ADD(&b, 1, ann, 200, monitor_contended_enter, .lock = lock);
    ADD(&b, 1, ann, 300, monitor_contended_entered, .lock = lock);
    ADD(&b, 1, ann, 310, wait_exit, .lock = lock);
    interrupted(ann, 320);
    analyzed_run(1000);
    cr_assert(was_interrupted(ann, 0));
    cr_assert_eq(context_of(ann, 1)->what, STATE_REACQUIRING);
    cr_assert(!was_interrupted(ann, 1));
}

Test(bind, blocking_on_another_monitor_throws_nothing)
{
    does_wait(ann, 100, 200, lock);
    does_block(ann, 210, 300, other_lock, bob);
    interrupted(ann, 310);
    analyzed_run(1000);
    cr_assert(!was_interrupted(ann, 0));
    cr_assert(!was_interrupted(ann, 1));
}

/* Semaphore.acquire throws at once when the thread is interrupted already. */
Test(bind, an_exception_after_something_else_is_not_the_waits)
{
    does_sleep(ann, 100, 200);
    ADD(&b, 1, ann, 300, semaphore_acquire_enter, .lock = lock);
    interrupted(ann, 310);
    does_sleep(bob, 100, 200);
    ADD(&b, 2, bob, 300, hold, .lock = lock, .since = at(50));
    interrupted(bob, 310);
    analyzed_run(1000);
    cr_assert(!was_interrupted(ann, 0));
    cr_assert(!was_interrupted(bob, 0));
}

/* --- interrupts ------------------------------------------------------------------------------- */

static void interrupts(thread_id who, uint64_t time, thread_id target)
{
    ADD(&b, who.v, who, time, interrupt, .target = target, .stack = other_stack);
}

static void check_waker(thread_id thread, uint32_t i, thread_id waker, uint64_t time,
                        enum interaction kind)
{
    const struct span *s = span_of(thread, i);
    cr_assert_eq(s->waker, waker.v);
    cr_assert_eq(span_interaction(&a->timeline, thread.v, s), kind);
    cr_assert_eq(since(span_wake_time(&a->timeline, s)), time);
}

Test(bind, an_interrupt_ends_what_the_thread_is_in)
{
    ADD(&b, 1, ann, 100, sleep_enter, .timeout_ns = 1000);
    interrupts(dan, 150, ann);
    interrupted(ann, 190);
    ADD0(&b, 1, ann, 200, sleep_exit);
    does_wait(bob, 300, 400, lock);
    interrupts(dan, 350, bob);
    interrupted(bob, 410);
    ADD(&b, 3, cat, 500, join_enter, .target = dan);
    ADD(&b, 3, cat, 510, wait_enter, .lock = other_lock);
    interrupts(dan, 550, cat);
    ADD(&b, 3, cat, 560, wait_exit, .lock = other_lock);
    interrupted(cat, 570);
    ADD(&b, 3, cat, 580, join_exit, .target = dan);
    does_park(ann, 600, 700);
    interrupts(dan, 650, ann);
    analyzed_run(1000);
    check_waker(ann, 0, dan, 150, INTERACTION_INTERRUPT);
    check_waker(bob, 0, dan, 350, INTERACTION_INTERRUPT);
    check_waker(cat, 0, dan, 550, INTERACTION_INTERRUPT);
    check_waker(ann, 1, dan, 650, INTERACTION_INTERRUPT);
    cr_assert_eq(a->bindings.sums[INTERACTION_INTERRUPT].count, 4);
    cr_assert_eq(a->bindings.sums[INTERACTION_INTERRUPT].ns, 100 + 100 + 80 + 100);
    for (int i = 0; i < STATE_LIMIT; i++)
        cr_assert_eq(a->bindings.unbound[i] + a->bindings.timed_out[i], 0);
}

/* It is interrupted already when it begins to wait. */
Test(bind, an_interrupt_from_before_the_wait)
{
    interrupts(ann, 50, ann);
    does_wait(ann, 100, 101, lock);
    interrupted(ann, 110);
    interrupts(bob, 210, cat);
    ADD(&b, 3, cat, 300, sleep_enter, .timeout_ns = 1000);
    interrupted(cat, 310);
    ADD0(&b, 3, cat, 320, sleep_exit);
    analyzed_run(1000);
    check_waker(ann, 0, ann, 50, INTERACTION_INTERRUPT);
    check_waker(cat, 0, bob, 210, INTERACTION_INTERRUPT);
}

/* LockSupport.park returns, and leaves the thread interrupted until somebody asks. */
Test(bind, one_interrupt_ends_a_park_and_then_a_sleep)
{
    does_park(ann, 100, 200);
    interrupts(bob, 150, ann);
    ADD(&b, 1, ann, 300, sleep_enter, .timeout_ns = 1000);
    interrupted(ann, 310);
    ADD0(&b, 1, ann, 320, sleep_exit);
    ADD(&b, 1, ann, 400, sleep_enter, .timeout_ns = 1000);
    ADD0(&b, 1, ann, 500, sleep_exit);
    analyzed_run(1000);
    check_waker(ann, 0, bob, 150, INTERACTION_INTERRUPT);
    check_waker(ann, 1, bob, 150, INTERACTION_INTERRUPT);
    cr_assert_eq(span_of(ann, 2)->waker, 0);
    cr_assert_eq(a->bindings.timed_out[STATE_SLEEPING], 1);
}

Test(bind, the_first_interrupt_counts)
{
    ADD(&b, 1, ann, 100, sleep_enter, .timeout_ns = 1000);
    interrupts(bob, 120, ann);
    interrupts(cat, 130, ann);
    interrupted(ann, 140);
    ADD0(&b, 1, ann, 150, sleep_exit);
    analyzed_run(1000);
    check_waker(ann, 0, bob, 120, INTERACTION_INTERRUPT);
}

Test(bind, what_came_first_ended_the_park)
{
    does_park(ann, 100, 200);
    interrupts(bob, 120, ann);
    ADD(&b, 3, cat, 130, unpark, .target = ann);
    does_park(dan, 300, 400);
    ADD(&b, 3, cat, 320, unpark, .target = dan);
    interrupts(bob, 330, dan);
    interrupted(dan, 410);
    analyzed_run(1000);
    check_waker(ann, 0, bob, 120, INTERACTION_INTERRUPT);
    check_waker(dan, 0, cat, 320, INTERACTION_UNPARK);
}

/* Who was notified does not throw, though it was interrupted before it had the monitor again: it
 * throws from whatever it waits in next. */
Test(bind, interrupted_after_the_notify)
{
    does_wait(ann, 100, 300, lock);
    does_wait(bob, 110, 400, lock);
    ADD(&b, 3, cat, 200, notify, .lock = lock);
    interrupts(cat, 210, ann);
    interrupted(ann, 310); /* Lock.lockInterruptibly, say, of which nothing is recorded */
    ADD(&b, 3, cat, 350, notify, .lock = lock);
    analyzed_run(1000);
    check_waker(ann, 0, cat, 200, INTERACTION_NOTIFY);
    check_waker(bob, 0, cat, 350, INTERACTION_NOTIFY);
}

Test(bind, a_notify_passes_over_who_was_interrupted)
{
    does_wait(ann, 100, 300, lock);
    does_wait(bob, 110, 310, lock);
    interrupts(cat, 200, ann);
    ADD(&b, 3, cat, 210, notify, .lock = lock);
    interrupted(ann, 320);
    analyzed_run(1000);
    check_waker(ann, 0, cat, 200, INTERACTION_INTERRUPT);
    check_waker(bob, 0, cat, 210, INTERACTION_NOTIFY);
}

Test(bind, a_notify_passes_over_who_times_out)
{
    ADD(&b, 1, ann, 100, wait_enter, .lock = lock, .timeout_ms = 1);
    does_wait(bob, 110, 310, lock);
    ADD(&b, 3, cat, 210, notify, .lock = lock);
    ADD(&b, 1, ann, 220, wait_exit, .lock = lock, .timed_out = 1);
    analyzed_run(1000);
    cr_assert_eq(span_of(ann, 0)->waker, 0);
    check_waker(bob, 0, cat, 210, INTERACTION_NOTIFY);
    cr_assert_eq(a->bindings.timed_out[STATE_WAITING], 1);
}

/* Ann timed out in the moment of the first notify; the JVM says no more. */
static void raced(uint64_t bob_until, bool dan_is_back)
{
    ADD(&b, 1, ann, 100, wait_enter, .lock = lock, .timeout_ms = 1);
    does_wait(bob, 110, bob_until, lock);
    ADD(&b, 4, dan, 120, wait_enter, .lock = lock);
    if (dan_is_back)
        ADD(&b, 4, dan, 500, wait_exit, .lock = lock);
    ADD(&b, 3, cat, 210, notify, .lock = lock);
    ADD(&b, 1, ann, 220, wait_exit, .lock = lock, .timed_out = 1);
    ADD(&b, 3, cat, 400, notify, .lock = lock);
    analyzed_run(1000);
}

Test(bind, a_waiter_that_is_back_before_the_next_notify_had_this_one)
{
    raced(300, true);
    cr_assert_eq(span_of(ann, 0)->waker, 0);
    cr_assert_eq(a->bindings.timed_out[STATE_WAITING], 1);
    check_waker(bob, 0, cat, 210, INTERACTION_NOTIFY);
    check_waker(dan, 0, cat, 400, INTERACTION_NOTIFY);
}

Test(bind, the_second_waiter_is_back_first_so_both_were_notified)
{
    raced(600, true);
    cr_assert_eq(a->bindings.timed_out[STATE_WAITING], 1);
    check_waker(bob, 0, cat, 210, INTERACTION_NOTIFY);
    check_waker(dan, 0, cat, 400, INTERACTION_NOTIFY);
}

Test(bind, nothing_tells_whether_who_times_out_was_notified)
{
    raced(450, false);
    cr_assert_eq(span_of(ann, 0)->waker, 0);
    cr_assert_eq(span_of(bob, 0)->waker, 0);
    cr_assert_eq(span_of(dan, 0)->waker, 0);
    cr_assert_eq(a->bindings.timed_out[STATE_WAITING], 0);
    cr_assert_eq(a->bindings.unbound[STATE_WAITING], 2);
    cr_assert_eq(a->bindings.sums[INTERACTION_NOTIFY].alone, 0);
}

/* Either way nobody is left for a notify to have woken, and later ones are as certain as ever. */
Test(bind, a_doubt_about_who_was_notified_ends_with_the_wait_set)
{
    ADD(&b, 1, ann, 100, wait_enter, .lock = lock, .timeout_ms = 1);
    ADD(&b, 3, cat, 210, notify, .lock = lock);
    ADD(&b, 1, ann, 220, wait_exit, .lock = lock, .timed_out = 1);
    does_wait(bob, 300, 500, lock);
    ADD(&b, 3, cat, 400, notify, .lock = lock);
    analyzed_run(1000);
    cr_assert_eq(span_of(ann, 0)->waker, 0);
    cr_assert_eq(a->bindings.unbound[STATE_WAITING], 1);
    check_waker(bob, 0, cat, 400, INTERACTION_NOTIFY);
}

/* Of text files that keep neither time-outs nor interrupts. */
static void back_from_text(const char *format)
{
    does_wait(ann, 100, 220, lock);
    does_wait(bob, 110, 300, lock);
    ADD(&b, 3, cat, 210, notify, .lock = lock);
    does_wait(dan, 400, 600, lock);
    ADD(&b, 3, cat, 500, notify, .lock = lock);
    builder_info(&b, "import.format", format);
    builder_info(&b, TRACE_ORDER_INFO, TRACE_ORDER_RECORDED);
    analyzed_run(1000);
    check_waker(dan, 0, cat, 500, INTERACTION_NOTIFY);
}

Test(bind, one_of_two_had_the_only_notify_which_text_files_do_not_tell)
{
    back_from_text("orca");
    cr_assert_eq(span_of(ann, 0)->waker, 0);
    cr_assert_eq(span_of(bob, 0)->waker, 0);
    cr_assert_eq(a->bindings.unbound[STATE_WAITING], 2);
}

Test(bind, where_interrupts_and_time_outs_are_recorded_the_first_one_had_it)
{
    back_from_text("tptp");
    check_waker(ann, 0, cat, 210, INTERACTION_NOTIFY);
    cr_assert_eq(a->bindings.unbound[STATE_WAITING], 1);
}

Test(bind, without_interrupts_it_is_not_known_that_a_sleep_timed_out)
{
    builder_info(&b, "orca.events", "threads+sleeps");
    ADD(&b, 1, ann, 100, sleep_enter, .timeout_ns = 1000);
    ADD0(&b, 1, ann, 150, sleep_exit);
    analyzed_run(1000);
    cr_assert_eq(a->bindings.timed_out[STATE_SLEEPING], 0);
    cr_assert_eq(a->bindings.unbound[STATE_SLEEPING], 1);
}

Test(bind, nor_in_what_was_made_of_a_text_that_has_none)
{
    builder_info(&b, "import.format", "tptp");
    builder_info(&b, TRACE_ORDER_INFO, TRACE_ORDER_BARE);
    ADD(&b, 1, ann, 100, sleep_enter, .timeout_ns = 1000);
    ADD0(&b, 1, ann, 150, sleep_exit);
    analyzed_run(1000);
    cr_assert_eq(a->bindings.timed_out[STATE_SLEEPING], 0);
    cr_assert_eq(a->bindings.unbound[STATE_SLEEPING], 1);
}

/* --- waits that began before the recording ---------------------------------------------------- */

/* Ann, bob and dan wait already; who came first is not known.  Eve comes later. */
static void found_waiting(thread_id eve)
{
    const thread_id found[] = {ann, bob, dan};
    ADD0(&b, 9, cat, 0, recording_start);
    for (int i = 0; i < 3; i++)
        ADD(&b, 9, found[i], 1, wait_found, .kind = EV_wait_enter, .lock = lock);
    does_wait(eve, 100, 900, lock);
}

Test(bind, of_waiters_that_were_found_the_one_that_comes_back_was_notified)
{
    const thread_id eve = builder_thread(&b, "eve");
    found_waiting(eve);
    ADD(&b, 3, cat, 200, notify, .lock = lock);
    ADD(&b, 2, bob, 210, wait_exit, .lock = lock);
    ADD(&b, 3, cat, 300, notify, .lock = lock);
    ADD(&b, 4, dan, 310, wait_exit, .lock = lock);
    ADD(&b, 3, cat, 400, notify, .lock = lock);
    ADD(&b, 3, cat, 500, notify, .lock = lock);
    ADD(&b, 1, ann, 600, wait_exit, .lock = lock);
    analyzed_run(1000);
    check_waker(bob, 0, cat, 200, INTERACTION_NOTIFY);
    check_waker(dan, 0, cat, 300, INTERACTION_NOTIFY);
    check_waker(ann, 0, cat, 400, INTERACTION_NOTIFY);
    check_waker(eve, 0, cat, 500, INTERACTION_NOTIFY);
}

Test(bind, of_waiters_that_were_found_and_come_back_behind_two_notifies_it_is_not_known)
{
    const thread_id eve = builder_thread(&b, "eve");
    found_waiting(eve);
    ADD(&b, 3, cat, 200, notify, .lock = lock);
    ADD(&b, 3, cat, 210, notify, .lock = lock);
    ADD(&b, 2, bob, 220, wait_exit, .lock = lock);
    ADD(&b, 4, dan, 310, wait_exit, .lock = lock);
    ADD(&b, 3, cat, 400, notify, .lock = lock);
    ADD(&b, 1, ann, 410, wait_exit, .lock = lock);
    ADD(&b, 3, cat, 500, notify_all, .lock = lock);
    analyzed_run(1000);
    cr_assert_eq(span_of(bob, 0)->waker, 0);
    cr_assert_eq(span_of(dan, 0)->waker, 0);
    check_waker(ann, 0, cat, 400, INTERACTION_NOTIFY);
    check_waker(eve, 0, cat, 500, INTERACTION_NOTIFY_ALL);
    cr_assert_eq(a->bindings.sums[INTERACTION_NOTIFY].alone, 0);
}

/* --- who owned a monitor before --------------------------------------------------------------- */

static const thread_id nobody = {0};

static void check_owner(thread_id thread, uint32_t i, thread_id owner)
{
    cr_assert_eq(span_of(thread, i)->waker, owner.v);
    cr_assert_eq(span_interaction(&a->timeline, thread.v, span_of(thread, i)),
                 owner.v ? INTERACTION_LAST_OWNER : INTERACTION_NONE);
}

static const struct regain *regain_of(thread_id thread, uint32_t i)
{
    return line_regain(&a->timeline.lines[thread.v], i);
}

Test(bind, the_owner_that_was_seen)
{
    does_block(ann, 100, 200, lock, bob);
    analyzed_run(1000);
    check_owner(ann, 0, bob);
    cr_assert_eq(cause_type(span_of(ann, 0)->cause), CAUSE_NONE);
}

Test(bind, the_latest_owner_counts)
{
    does_block(bob, 110, 200, lock, cat);
    does_block(ann, 100, 300, lock, cat);
    analyzed_run(1000);
    check_owner(bob, 0, cat);
    check_owner(ann, 0, bob);
}

Test(bind, with_holds_the_release)
{
    ADD(&b, 2, bob, 190, hold, .lock = lock, .since = at(50), .stack = other_stack);
    does_block(ann, 100, 200, lock, cat);
    analyzed_run(1000);
    check_waker(ann, 0, bob, 190, INTERACTION_LAST_OWNER);
    cr_assert_eq(span_wake_stack(&a->timeline, span_of(ann, 0)).v, other_stack.v);
}

Test(bind, who_waits_gives_the_monitor_back)
{
    does_block(ann, 100, 200, lock, nobody);
    does_wait(bob, 150, 400, lock);
    analyzed_run(1000);
    check_waker(ann, 0, bob, 150, INTERACTION_LAST_OWNER);
}

/* Between taking a monitor and saying so there is time for others to see it. */
Test(bind, seen_to_own_it_before_it_says_so)
{
    does_block(ann, 100, 200, lock, bob);
    ADD(&b, 3, cat, 190, monitor_contended_enter, .lock = lock, .owner = ann);
    does_wait(dan, 110, 400, other_lock);
    ADD(&b, 2, bob, 300, notify, .lock = other_lock);
    ADD(&b, 3, cat, 310, monitor_contended_entered, .lock = lock);
    ADD(&b, 3, cat, 390, monitor_contended_enter, .lock = other_lock, .owner = dan);
    analyzed_run(1000);
    check_owner(ann, 0, bob);
    check_owner(cat, 0, ann);
    cr_assert_eq(regain_of(dan, 0)->owner, bob.v);
}

Test(bind, who_had_it_last_itself_and_waits_for_it_waits_for_somebody_unknown)
{
    ADD(&b, 1, ann, 50, notify, .lock = lock);
    does_block(ann, 100, 200, lock, nobody);
    analyzed_run(1000);
    check_owner(ann, 0, nobody);
    cr_assert_eq(a->bindings.unbound[STATE_BLOCKED], 1);
}

/* Nothing is guessed: a thread that gave it back before, was dead, or did not run at all, did not
 * hand it off now. */
Test(bind, who_cannot_have_given_it_back)
{
    does_wait(bob, 50, 400, lock);
    does_block(ann, 100, 200, lock, nobody);
    ADD(&b, 3, cat, 10, notify, .lock = other_lock);
    ADD0(&b, 3, cat, 20, thread_end);
    does_block(ann, 210, 300, other_lock, nobody);
    ADD(&b, 4, dan, 310, notify, .lock = third_lock);
    does_sleep(dan, 320, 500);
    does_block(ann, 330, 400, third_lock, nobody);
    analyzed_run(1000);
    check_owner(ann, 0, nobody);
    check_owner(ann, 1, nobody);
    check_owner(ann, 2, nobody);
    cr_assert_eq(a->bindings.unbound[STATE_BLOCKED], 3);
}

Test(bind, it_gave_it_back_before_it_ended_or_began_to_wait)
{
    ADD(&b, 3, cat, 150, notify, .lock = lock);
    ADD0(&b, 3, cat, 160, thread_end);
    does_block(ann, 100, 200, lock, nobody);
    ADD(&b, 4, dan, 220, notify, .lock = other_lock);
    does_sleep(dan, 250, 500);
    does_block(ann, 210, 300, other_lock, nobody);
    analyzed_run(1000);
    check_owner(ann, 0, cat);
    check_owner(ann, 1, dan);
}

Test(bind, a_re_acquisition_inside_a_wait_has_an_owner_before_it)
{
    ADD(&b, 1, ann, 100, wait_enter, .lock = lock);
    ADD(&b, 2, bob, 150, notify, .lock = lock);
    ADD(&b, 1, ann, 200, monitor_contended_enter, .lock = lock, .owner = cat);
    ADD(&b, 1, ann, 300, monitor_contended_entered, .lock = lock);
    ADD(&b, 1, ann, 310, wait_exit, .lock = lock);
    analyzed_run(1000);
    check_waker(ann, 0, bob, 150, INTERACTION_NOTIFY);
    check_owner(ann, 1, cat);
}

/* HotSpot says that a wait is over before it takes the monitor when nobody notified. */
Test(bind, who_timed_out_does_not_own_the_monitor_yet)
{
    ADD(&b, 4, dan, 10, notify, .lock = lock);
    ADD(&b, 2, bob, 50, monitor_contended_enter, .lock = lock);
    ADD(&b, 1, ann, 20, wait_enter, .lock = lock, .timeout_ms = 1);
    ADD(&b, 3, cat, 30, notify, .lock = lock);
    ADD(&b, 1, ann, 100, wait_exit, .lock = lock, .timed_out = 1);
    ADD(&b, 1, ann, 110, monitor_contended_enter, .lock = lock);
    ADD(&b, 2, bob, 200, monitor_contended_entered, .lock = lock);
    ADD(&b, 1, ann, 300, monitor_contended_entered, .lock = lock);
    analyzed_run(1000);
    check_owner(bob, 0, cat);
    check_owner(ann, 1, bob);
}

/* HotSpot says that the wait is over before the thread has its monitor again. */
Test(bind, who_was_notified_may_not_have_the_monitor_yet)
{
    does_wait(ann, 100, 200, lock);
    ADD(&b, 3, cat, 150, notify, .lock = lock);
    does_block(bob, 160, 300, lock, nobody);
    analyzed_run(1000);
    cr_assert_eq(span_of(bob, 0)->waker, 0);
    cr_assert_eq(regain_of(ann, 0)->owner, cat.v);
}

Test(bind, who_was_notified_and_went_on_has_had_the_monitor)
{
    does_wait(ann, 100, 200, lock);
    ADD(&b, 3, cat, 150, notify, .lock = lock);
    ADD(&b, 1, ann, 250, unpark, .target = cat);
    does_block(bob, 160, 300, lock, nobody);
    analyzed_run(1000);
    check_owner(bob, 0, ann);
    cr_assert_eq(regain_of(ann, 0)->owner, cat.v);
    cr_assert_eq(since(span_waited_until(&a->timeline, span_of(ann, 0))), 150);
}

/* JDK 25: a virtual thread says that it has the monitor, and later that its wait is over. */
Test(bind, a_virtual_thread_that_has_its_monitor_again)
{
    thread_id v = builder_thread_flags(&b, "v", THREAD_VIRTUAL);
    does_wait(v, 100, 300, lock);
    ADD(&b, 3, cat, 150, notify, .lock = lock);
    ADD(&b, 9, v, 200, monitor_contended_entered, .lock = lock);
    ADD(&b, 2, bob, 250, monitor_contended_enter, .lock = lock, .owner = v);
    ADD(&b, 2, bob, 400, monitor_contended_entered, .lock = lock);
    analyzed_run(1000);
    check_waker(v, 0, cat, 150, INTERACTION_NOTIFY);
    cr_assert_eq(regain_of(v, 0)->owner, cat.v);
    check_owner(bob, 0, v);
}

/* --- counts ----------------------------------------------------------------------------------- */

static const struct interaction_sum *sum(enum interaction kind)
{
    return &a->bindings.sums[kind];
}

Test(bind, acts_that_wake_nobody_are_counted)
{
    ADD(&b, 2, bob, 100, notify, .lock = lock);
    ADD(&b, 2, bob, 110, notify_all, .lock = lock);
    ADD(&b, 2, bob, 120, unpark, .target = ann);
    ADD(&b, 2, bob, 130, thread_start_called, .target = cat);
    interrupts(bob, 140, ann);
    analyzed_run(1000);
    static const enum interaction kinds[] = {INTERACTION_NOTIFY, INTERACTION_NOTIFY_ALL,
                                             INTERACTION_UNPARK, INTERACTION_STARTS_THREAD,
                                             INTERACTION_INTERRUPT};
    for (int i = 0; i < 5; i++) {
        cr_assert_eq(sum(kinds[i])->alone, 1);
        cr_assert_eq(sum(kinds[i])->count, 0);
    }
}

/* Thread.currentThread().interrupt() before a sleep, a permit of one's own. */
Test(bind, what_a_thread_does_to_itself_is_no_interaction)
{
    ADD(&b, 1, ann, 90, unpark, .target = ann);
    does_park(ann, 100, 101);
    interrupts(ann, 200, ann);
    ADD(&b, 1, ann, 300, sleep_enter, .timeout_ns = 1000);
    interrupted(ann, 310);
    ADD0(&b, 1, ann, 320, sleep_exit);
    analyzed_run(1000);
    check_waker(ann, 0, ann, 90, INTERACTION_UNPARK);
    check_waker(ann, 1, ann, 200, INTERACTION_INTERRUPT);
    cr_assert_eq(sum(INTERACTION_UNPARK)->count + sum(INTERACTION_UNPARK)->alone, 0);
    cr_assert_eq(sum(INTERACTION_INTERRUPT)->count + sum(INTERACTION_INTERRUPT)->alone, 0);
}

Test(bind, a_join_of_a_thread_that_had_ended_waits_for_nobody)
{
    ADD0(&b, 2, bob, 50, thread_end);
    does_join(ann, 100, 101, bob);
    ADD(&b, 3, cat, 200, join_enter, .target = bob, .timeout_ns = 5);
    ADD(&b, 3, cat, 201, join_exit, .target = bob);
    analyzed_run(1000);
    cr_assert_eq(span_of(ann, 0)->waker, 0);
    cr_assert_eq(sum(INTERACTION_JOINED)->count, 0);
    cr_assert_eq(a->bindings.unbound[STATE_JOINING], 0);
    cr_assert_eq(a->bindings.timed_out[STATE_JOINING], 0);
}

Test(bind, a_join_ends_with_its_thread)
{
    does_join(ann, 100, 300, bob);
    ADD0(&b, 2, bob, 250, thread_end);
    ADD(&b, 3, cat, 200, join_enter, .target = dan, .timeout_ns = 5);
    ADD(&b, 3, cat, 220, join_exit, .target = dan);
    ADD0(&b, 4, dan, 230, thread_end);
    analyzed_run(1000);
    check_waker(ann, 0, bob, 250, INTERACTION_JOINED);
    cr_assert_eq(sum(INTERACTION_JOINED)->ns, 200);
    cr_assert_eq(span_of(cat, 0)->waker, 0);
    cr_assert_eq(a->bindings.timed_out[STATE_JOINING], 1);
}

/* --- permits ---------------------------------------------------------------------------------- */

static void unparks(thread_id who, uint64_t time, thread_id target)
{
    ADD(&b, who.v, who, time, unpark, .target = target, .stack = other_stack);
}

Test(bind, a_permit_is_one)
{
    unparks(bob, 50, ann);
    unparks(cat, 60, ann);
    does_park(ann, 100, 101);
    does_park(ann, 200, 300);
    unparks(cat, 250, ann);
    unparks(dan, 260, ann);
    does_park(ann, 400, 500);
    analyzed_run(1000);
    check_waker(ann, 0, bob, 50, INTERACTION_UNPARK);
    check_waker(ann, 1, cat, 250, INTERACTION_UNPARK);
    cr_assert_eq(span_of(ann, 2)->waker, 0);
    cr_assert_eq(sum(INTERACTION_UNPARK)->count, 2);
    cr_assert_eq(sum(INTERACTION_UNPARK)->alone, 2);
    cr_assert_eq(a->bindings.unbound[STATE_PARKED], 1);
}

/* The wait that the first one ended is not recorded, as those that are under way at an attach. */
Test(bind, a_park_that_goes_on_had_no_permit)
{
    enum { MS = 1000000 };
    unparks(bob, 50, ann);
    does_park(ann, 100, 1000 * MS);
    unparks(cat, 999 * MS, ann);
    unparks(bob, 1500 * MS, ann);
    does_park(ann, 1501 * MS, 1510 * MS); /* on a busy machine: nobody else has ended it */
    unparks(dan, 1600 * MS, ann);
    ADD(&b, 1, ann, 1700 * MS, park_enter, .timeout_ns = 100 * MS);
    ADD(&b, 1, ann, 1801 * MS, park_exit, .lock = {0});
    analyzed_run(2000 * MS);
    check_waker(ann, 0, cat, 999 * MS, INTERACTION_UNPARK);
    check_waker(ann, 1, bob, 1500 * MS, INTERACTION_UNPARK);
    cr_assert_eq(span_of(ann, 2)->waker, 0);
    cr_assert_eq(a->bindings.timed_out[STATE_PARKED], 1);
}

Test(bind, a_platform_thread_that_has_not_started_gets_no_permit)
{
    thread_id v = builder_thread_flags(&b, "v", THREAD_VIRTUAL);
    unparks(bob, 50, ann);
    unparks(bob, 60, v);
    ADD0(&b, 1, ann, 70, thread_start);
    ADD0(&b, 9, v, 80, thread_start);
    does_park(ann, 100, 200);
    unparks(cat, 150, ann);
    ADD(&b, 9, v, 300, park_enter, .lock = {0});
    ADD(&b, 8, v, 301, park_exit, .lock = {0});
    analyzed_run(1000);
    check_waker(ann, 0, cat, 150, INTERACTION_UNPARK);
    check_waker(v, 0, bob, 60, INTERACTION_UNPARK);
}

Test(bind, a_park_with_a_time_limit_that_nobody_ends)
{
    ADD(&b, 1, ann, 100, park_enter, .timeout_ns = 50);
    ADD(&b, 1, ann, 150, park_exit, .lock = {0});
    analyzed_run(1000);
    cr_assert_eq(a->bindings.timed_out[STATE_PARKED], 1);
    cr_assert_eq(a->bindings.unbound[STATE_PARKED], 0);
}

Test(bind, a_release_hands_its_permit_on)
{
    ADD(&b, 1, ann, 90, semaphore_acquire_enter, .lock = lock);
    does_park(ann, 100, 200);
    ADD(&b, 1, ann, 210, semaphore_acquire_exit, .lock = lock);
    ADD(&b, 2, bob, 150, semaphore_release, .lock = lock);
    unparks(bob, 151, ann);
    does_park(ann, 300, 400);
    ADD(&b, 2, bob, 350, semaphore_release, .lock = lock);
    unparks(bob, 351, ann);
    analyzed_run(1000);
    check_waker(ann, 0, bob, 151, INTERACTION_SEMAPHORE);
    check_waker(ann, 1, bob, 351, INTERACTION_UNPARK);
}

Test(bind, an_unpark_from_before_the_acquire_is_not_the_semaphores)
{
    ADD(&b, 2, bob, 50, semaphore_release, .lock = lock);
    unparks(bob, 51, ann);
    ADD(&b, 1, ann, 90, semaphore_acquire_enter, .lock = lock);
    does_park(ann, 100, 101);
    analyzed_run(1000);
    check_waker(ann, 0, bob, 51, INTERACTION_UNPARK);
}

/* The sleep was over when the interrupt came; the next one throws. */
Test(bind, an_interrupt_that_comes_too_late)
{
    does_sleep(ann, 100, 200);
    interrupts(bob, 199, ann);
    ADD(&b, 1, ann, 300, sleep_enter, .timeout_ns = 1000);
    interrupted(ann, 310);
    ADD0(&b, 1, ann, 320, sleep_exit);
    analyzed_run(1000);
    cr_assert_eq(span_of(ann, 0)->waker, 0);
    check_waker(ann, 1, bob, 199, INTERACTION_INTERRUPT);
}

Test(bind, without_exceptions_the_interrupt_inside_counts)
{
    does_sleep(ann, 100, 200);
    interrupts(bob, 150, ann);
    does_wait(cat, 100, 200, lock);
    interrupts(bob, 160, cat);
    does_sleep(ann, 300, 400);
    analyzed_run(1000);
    check_waker(ann, 0, bob, 150, INTERACTION_INTERRUPT);
    check_waker(cat, 0, bob, 160, INTERACTION_INTERRUPT);
    cr_assert_eq(span_of(ann, 1)->waker, 0);
}

Test(bind, the_interrupt_until_the_exception_counts)
{
    interrupts(cat, 50, ann);
    ADD(&b, 1, ann, 100, join_enter, .target = dan);
    interrupted(ann, 110);
    interrupts(bob, 120, ann);
    ADD(&b, 1, ann, 130, join_exit, .target = dan);
    ADD(&b, 1, ann, 200, sleep_enter, .timeout_ns = 1000);
    interrupted(ann, 210);
    ADD0(&b, 1, ann, 220, sleep_exit);
    analyzed_run(1000);
    check_waker(ann, 0, cat, 50, INTERACTION_INTERRUPT);
    check_waker(ann, 1, bob, 120, INTERACTION_INTERRUPT);
}

/* The recording ends before the join does. */
Test(bind, a_join_whose_thread_has_ended_is_over_though_it_goes_on)
{
    ADD(&b, 1, ann, 100, join_enter, .target = bob);
    ADD0(&b, 2, bob, 300, thread_end);
    ADD(&b, 3, cat, 100, join_enter, .target = dan);
    analyzed_run(301);
    check_waker(ann, 0, bob, 300, INTERACTION_JOINED);
    cr_assert_eq(span_of(cat, 0)->waker, 0);
}

/* --- who certainly gave it -------------------------------------------------------------------- */

/* Ann got the lock from bob as far as is seen: cat and dan sleep from `from` on. */
static void ann_from_bob_while_others_sleep(uint64_t from)
{
    does_block(ann, 100, 200, lock, bob);
    does_sleep(cat, from, 500);
    does_sleep(dan, 50, 500);
    analyzed_run(1000);
}

static void check_certain(enum interaction kind)
{
    cr_assert_eq(span_of(ann, 0)->waker, bob.v);
    cr_assert_eq(span_interaction(&a->timeline, ann.v, span_of(ann, 0)), kind);
    cr_assert_eq(a->bindings.sums[kind].count, 1);
}

static void records(const char *groups)
{
    builder_info(&b, "orca.events", groups);
}

Test(bind, certain_when_nobody_else_ran)
{
    records("threads+monitors");
    ann_from_bob_while_others_sleep(100);
    check_certain(INTERACTION_HANDOFF_LOCK);
}

Test(bind, another_one_ran_and_may_have_taken_it_unseen)
{
    records("threads+monitors");
    ann_from_bob_while_others_sleep(101);
    check_certain(INTERACTION_LAST_OWNER);
}

Test(bind, another_one_woke_up_and_may_have_taken_it_unseen)
{
    records("threads+monitors");
    does_block(ann, 100, 200, lock, bob);
    does_sleep(cat, 50, 199);
    does_sleep(dan, 50, 500);
    analyzed_run(1000);
    check_certain(INTERACTION_LAST_OWNER);
}

/* Cat is in a call of input instead of a sleep. */
static void ann_from_bob_while_cat_reads(thread_id reader, uint64_t from, uint64_t to)
{
    records("threads+virtual+monitors+io");
    does_block(ann, 100, 200, lock, bob);
    does_sleep(dan, 50, 500);
    if (reader.v != cat.v)
        does_sleep(cat, 50, 500);
    ADD(&b, reader.v, reader, to, io, .what = IO_KIND_input, .stack = stack, .since = at(from));
    analyzed_run(1000);
}

Test(bind, certain_when_who_else_lives_is_in_a_call)
{
    ann_from_bob_while_cat_reads(cat, 99, 500);
    check_certain(INTERACTION_HANDOFF_LOCK);
}

Test(bind, who_has_returned_from_a_call_may_have_taken_it_unseen)
{
    ann_from_bob_while_cat_reads(cat, 99, 199);
    check_certain(INTERACTION_LAST_OWNER);
}

Test(bind, who_has_returned_at_that_moment_may_have_taken_it_unseen)
{
    ann_from_bob_while_cat_reads(cat, 99, 200);
    check_certain(INTERACTION_LAST_OWNER);
}

Test(bind, who_began_a_call_later_may_have_taken_it_unseen)
{
    ann_from_bob_while_cat_reads(cat, 100, 500);
    check_certain(INTERACTION_LAST_OWNER);
}

/* Cat reads, and reads again. */
Test(bind, between_two_calls_it_may_have_been_taken_unseen)
{
    ADD(&b, cat.v, cat, 150, io, .what = IO_KIND_input, .stack = stack, .since = at(60));
    ann_from_bob_while_cat_reads(cat, 151, 500);
    check_certain(INTERACTION_LAST_OWNER);
}

/* A virtual thread runs Java between its looks at a socket. */
Test(bind, calls_of_virtual_threads_are_no_alibi)
{
    ann_from_bob_while_cat_reads(builder_thread_flags(&b, "virtual", THREAD_VIRTUAL), 60, 500);
    check_certain(INTERACTION_LAST_OWNER);
}

/* When a look has found a thread in a call, it may have returned a moment later. */
Test(bind, a_call_that_has_not_returned_is_no_alibi)
{
    records("threads+monitors+io");
    ADD(&b, 30, cat, 500, io_open, .what = IO_KIND_input, .stack = stack, .since = at(60));
    does_block(ann, 100, 200, lock, bob);
    does_sleep(dan, 50, 500);
    analyzed_run(1000);
    check_certain(INTERACTION_LAST_OWNER);
}

/* Who gives it has been in a call before, and is in one afterwards. */
Test(bind, certain_when_its_owner_was_in_calls)
{
    ADD(&b, bob.v, bob, 140, io, .what = IO_KIND_output, .stack = stack, .since = at(110));
    ADD(&b, bob.v, bob, 300, io, .what = IO_KIND_output, .stack = stack, .since = at(190));
    ann_from_bob_while_cat_reads(cat, 60, 500);
    check_certain(INTERACTION_HANDOFF_LOCK);
}

/* Its owner is in a call when ann has it; cat runs. */
Test(bind, another_one_runs_while_its_owner_is_in_a_call)
{
    ADD(&b, bob.v, bob, 300, io, .what = IO_KIND_output, .stack = stack, .since = at(190));
    ann_from_bob_while_cat_reads(cat, 60, 199);
    check_certain(INTERACTION_LAST_OWNER);
}

/* It owned the lock when ann saw so, and could not give it back before it went on. */
Test(bind, certain_from_where_its_owner_went_on)
{
    records("threads+monitors");
    does_sleep(bob, 90, 150);
    ann_from_bob_while_others_sleep(150);
    check_certain(INTERACTION_HANDOFF_LOCK);
}

/* Its owner gives it back where it begins to wait on it. */
static void ann_from_bob_who_waits(uint64_t cats_sleep)
{
    records("threads+monitors+waits");
    does_block(ann, 100, 200, lock, bob);
    does_wait(bob, 110, 500, lock);
    does_sleep(cat, cats_sleep, 500);
    does_sleep(dan, 50, 500);
    analyzed_run(1000);
    cr_assert_eq(cause_type(span_of(ann, 0)->cause), CAUSE_WAIT);
}

Test(bind, certain_when_its_owner_waits_on_it)
{
    ann_from_bob_who_waits(110);
    check_certain(INTERACTION_HANDOFF_LOCK);
}

Test(bind, another_one_ran_after_its_owner_had_begun_to_wait_on_it)
{
    ann_from_bob_who_waits(111);
    check_certain(INTERACTION_LAST_OWNER);
}

Test(bind, not_where_threads_may_be_that_are_not_recorded)
{
    records("monitors");
    ann_from_bob_while_others_sleep(100);
    check_certain(INTERACTION_LAST_OWNER);
}

Test(bind, not_where_the_jvm_ran_already)
{
    records("threads+monitors");
    builder_info(&b, "orca.attached", "the JVM was running already");
    ann_from_bob_while_others_sleep(100);
    check_certain(INTERACTION_LAST_OWNER);
}

Test(bind, not_while_groups_are_switched)
{
    records("threads+monitors");
    builder_info(&b, "orca.events.changes", "1.0 s: +monitors");
    ann_from_bob_while_others_sleep(100);
    check_certain(INTERACTION_LAST_OWNER);
}

static void ann_from_bob_by_a_hold(void)
{
    ADD(&b, 2, bob, 190, hold, .lock = lock, .since = at(50), .stack = other_stack);
    does_block(ann, 100, 200, lock, cat);
    ADD(&b, 1, ann, 300, hold, .lock = lock, .since = at(201), .stack = stack);
    analyzed_run(1000);
}

Test(bind, certain_when_every_hold_is_recorded)
{
    records("threads+monitors+waits+holds");
    ann_from_bob_by_a_hold();
    check_waker(ann, 0, bob, 190, INTERACTION_HANDOFF_LOCK);
    cr_assert_eq(a->queues.v[0].seen, 0);
    cr_assert_eq(a->queues.v[0].latency.count, 1);
}

Test(bind, not_when_one_hold_of_many_is_recorded)
{
    records("threads+monitors+waits+holds");
    builder_info(&b, "orca.holdsample", "100");
    ann_from_bob_by_a_hold();
    check_waker(ann, 0, bob, 190, INTERACTION_LAST_OWNER);
    cr_assert_eq(a->queues.v[0].seen, 1);
    cr_assert_eq(a->queues.v[0].latency.count, 0);
}

Test(bind, not_when_holds_of_some_locks_are_recorded)
{
    records("threads+monitors+waits+holds");
    builder_info(&b, "orca.include", "shop.*");
    ann_from_bob_by_a_hold();
    check_waker(ann, 0, bob, 190, INTERACTION_LAST_OWNER);
}

/* The JDK's own code takes it, too, of which no hold is recorded. */
Test(bind, not_of_a_lock_that_is_taken_where_no_hold_is_recorded)
{
    records("threads+monitors+waits+holds");
    ADD(&b, 2, bob, 190, hold, .lock = lock, .since = at(50), .stack = other_stack);
    does_block(ann, 100, 200, lock, cat);
    does_sleep(ann, 300, 400);
    analyzed_run(1000);
    check_waker(ann, 0, bob, 190, INTERACTION_LAST_OWNER);
}

Test(bind, not_where_events_were_lost)
{
    records("threads+monitors+waits+holds");
    builder_loss(&b, LOSS_ring_full, 1);
    ann_from_bob_by_a_hold();
    check_waker(ann, 0, bob, 190, INTERACTION_LAST_OWNER);
}

/* Whom a notified thread has its monitor from is certain once it does something else. */
Test(bind, a_monitor_back_from_the_notifier)
{
    records("threads+monitors+waits");
    does_wait(ann, 100, 200, lock);
    ADD(&b, 2, bob, 150, notify, .lock = lock);
    does_sleep(cat, 140, 300);
    does_sleep(dan, 50, 500);
    does_sleep(ann, 250, 500);
    analyzed_run(1000);
    cr_assert_eq(regain_of(ann, 0)->owner, bob.v);
    cr_assert(!(regain_of(ann, 0)->cause & CAUSE_SEEN));
}

Test(bind, a_monitor_that_another_one_may_have_had_before_it_was_back)
{
    records("threads+monitors+waits");
    does_wait(ann, 100, 200, lock);
    ADD(&b, 2, bob, 150, notify, .lock = lock);
    does_sleep(cat, 140, 240);
    does_sleep(dan, 50, 500);
    does_sleep(ann, 250, 500);
    analyzed_run(1000);
    cr_assert_eq(regain_of(ann, 0)->owner, bob.v);
    cr_assert(regain_of(ann, 0)->cause & CAUSE_SEEN);
}

/* --- texts that do not say who left by itself ------------------------------------------------- */

#define MS UINT64_C(1000000)

static void is_bare(void)
{
    builder_info(&b, "import.format", "orca");
    builder_info(&b, "orca.order", "bare");
}

static void notify_at(thread_id who, uint64_t time)
{
    ADD(&b, 4, who, time, notify, .lock = lock);
}

Test(bind, a_bare_text_is_followed_in_order)
{
    is_bare();
    does_wait(ann, 100, 3000, lock);
    does_wait(bob, 200, 2000, lock);
    notify_at(dan, 1000);
    notify_at(cat, 1500);
    analyzed_run(4000);
    cr_assert_eq(span_of(ann, 0)->waker, dan.v, "the first of the wait set, however late it ended");
    cr_assert_eq(span_of(bob, 0)->waker, cat.v);
    cr_assert_eq(a->bindings.sums[INTERACTION_NOTIFY].count, 2);
}

Test(bind, in_a_bare_text_one_of_two_left_by_itself)
{
    is_bare();
    does_wait(ann, 100, 1010, lock);
    does_wait(bob, 200, 1500, lock);
    does_wait(cat, 300, 3000, lock);
    notify_at(dan, 1000);
    notify_at(dan, 2500);
    analyzed_run(4000);
    cr_assert_eq(span_of(ann, 0)->waker, 0, "its, or bob's");
    cr_assert_eq(span_of(bob, 0)->waker, 0);
    cr_assert_eq(span_of(cat, 0)->waker, dan.v, "nobody was before it");
    cr_assert_eq(a->bindings.sums[INTERACTION_NOTIFY].count, 1);
    cr_assert_eq(a->bindings.sums[INTERACTION_NOTIFY].alone, 0, "one of them had it");
    cr_assert_eq(a->bindings.unbound[STATE_WAITING], 2);
}

Test(bind, in_a_bare_text_who_left_long_after_a_notify_was_not_meant)
{
    is_bare();
    does_wait(ann, 100, 1010, lock);
    does_wait(bob, 200, 1000 + BIND_LEAVE_NS, lock);
    notify_at(dan, 1000);
    analyzed_run(4 * BIND_LEAVE_NS);
    cr_assert_eq(span_of(ann, 0)->waker, dan.v);
    cr_assert_eq(span_of(bob, 0)->waker, 0);
}

Test(bind, in_a_bare_text_who_was_alone_in_the_wait_set_was_meant)
{
    is_bare();
    does_wait(ann, 100, 1010, lock);
    notify_at(dan, 1000);
    does_wait(bob, 1100, 1500, lock);
    analyzed_run(4000);
    cr_assert_eq(span_of(ann, 0)->waker, dan.v);
    cr_assert_eq(span_of(bob, 0)->waker, 0);
}

/* ann times out after 40 ms, twice; then a notify comes just as she does. */
static void time_outs(const char *frames)
{
    stack_id at = builder_stack(&b, frames);
    is_bare();
    for (uint64_t i = 0; i < 3; i++) {
        ADD(&b, 1, ann, 100 * i * MS, wait_enter, .lock = lock, .stack = at);
        ADD(&b, 1, ann, (100 * i + 40) * MS + 80000, wait_exit, .lock = lock);
    }
    ADD(&b, 1, ann, 300 * MS, wait_enter, .lock = lock, .stack = at);
    ADD(&b, 1, ann, 310 * MS, wait_exit, .lock = lock);
    notify_at(dan, 240 * MS + 70000);
    notify_at(dan, 309 * MS);
    analyzed_run(1000 * MS);
}

Test(bind, in_a_bare_text_a_notify_as_late_as_a_time_out_is_not_said)
{
    time_outs("shop.Feed.take:49");
    cr_assert_eq(span_of(ann, 2)->waker, 0);
    cr_assert_eq(span_of(ann, 3)->waker, dan.v, "in time");
    cr_assert_eq(a->bindings.sums[INTERACTION_NOTIFY].count, 1);
    cr_assert_eq(a->bindings.unbound[STATE_WAITING], 3);
}

Test(bind, in_a_bare_text_what_called_wait_without_a_limit_has_no_time_out)
{
    time_outs("java.lang.Object.wait:7 shop.Feed.take:49");
    cr_assert_eq(span_of(ann, 2)->waker, dan.v);
    cr_assert_eq(a->bindings.sums[INTERACTION_NOTIFY].count, 2);
}

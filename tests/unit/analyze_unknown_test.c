/* What is not known is neither running nor waiting: unknown.h, holes.h. */
#include "analyzed.h"
#include "conclude/resource.h"

#include <criterion/criterion.h>
#include <sys/mman.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

TestSuite(unknown, .init = analyzed_begin, .fini = analyzed_end);

static void check_span(thread_id who, uint32_t i, unsigned state, uint64_t from, uint64_t to)
{
    const struct span *s = span_of(who, i);
    cr_assert_eq(timeline_context(&a->timeline, s->context)->what, state);
    cr_assert_eq(since(s->start), from);
    cr_assert_eq(since(span_end(&a->timeline, s)), to);
}

static uint64_t unknown_ns(thread_id who)
{
    return sums_of(who)->state[STATE_UNKNOWN].ns;
}

Test(unknown, a_thread_that_waits_and_runs_is_known)
{
    does_block(ann, 100, 200, lock, bob);
    analyzed_run(1000);
    cr_assert_eq(unknown_ns(ann), 0);
    cr_assert_eq(thread_sums_running(sums_of(ann)), 900);
    cr_assert_eq(unknown_ns(bob), 0);
    cr_assert_eq(a->timeline.n_unknown, 0);
}

/* It began to wait at 100 and was elsewhere at 500: it is not known when the wait ended. */
Test(unknown, from_a_wait_without_an_end_to_the_next_event)
{
    ADD(&b, 1, ann, 100, wait_enter, .lock = lock);
    does_block(ann, 500, 600, other_lock, bob);
    analyzed_run(1000);
    check_span(ann, 1, STATE_UNKNOWN, 100, 500);
    check_span(ann, 2, STATE_BLOCKED, 500, 600);
    cr_assert_eq(sums_of(ann)->state[STATE_WAITING].count, 1);
    cr_assert_eq(thread_sums_running(sums_of(ann)), 1000 - 400 - 100);
}

/* As after an attach: the thread was in Object.wait already. */
Test(unknown, before_an_end_without_a_beginning)
{
    does_block(ann, 100, 200, lock, bob);
    ADD(&b, 1, ann, 500, wait_exit, .lock = lock);
    ADD(&b, 2, bob, 300, wait_exit, .lock = lock);
    analyzed_run(1000);
    cr_assert_eq(unknown_ns(ann), 300);
    check_span(bob, 0, STATE_UNKNOWN, 0, 300);
    cr_assert_eq(thread_sums_running(sums_of(bob)), 700);
}

Test(unknown, in_a_hole_of_its_stream)
{
    does_block(ann, 100, 200, lock, bob);
    builder_gap(&b, 1, 64);
    does_block(ann, 700, 800, lock, bob);
    does_block(bob, 300, 400, other_lock, cat);
    analyzed_run(1000);
    check_span(ann, 1, STATE_UNKNOWN, 200, 700);
    cr_assert_eq(unknown_ns(ann), 500);
    cr_assert_eq(unknown_ns(bob), 0, "nothing of another stream is missing");
}

Test(unknown, where_events_were_lost)
{
    does_block(ann, 100, 200, lock, bob);
    ADD(&b, 1, ann, 600, lost, .count = 3, .cause = LOSS_ring_full);
    analyzed_run(1000);
    check_span(ann, 1, STATE_UNKNOWN, 200, 600);
}

/* What is known of the time counts: the stretch is cut where spans are. */
Test(unknown, around_a_wait_that_is_known)
{
    ADD(&b, 1, ann, 100, join_enter, .target = bob);
    does_park(ann, 200, 300);
    does_sleep(ann, 600, 700);
    analyzed_run(1000);
    uint64_t all = 0;
    for (uint32_t i = 0; i < a->timeline.lines[ann.v].spans.n; i++)
        all += span_len(&a->timeline, span_of(ann, i));
    cr_assert_eq(all, 600, "from 100 to 700, once each");
}

/* --- the end ---------------------------------------------------------------------------------- */

/* The JVM was killed: of each thread what follows its last event is not known, except that nothing
 * older than the recorder's passes is missing. */
Test(unknown, behind_the_last_event_of_a_killed_recording)
{
    b.header.state = TRACE_RECORDING;
    does_block(ann, 100, 200, lock, bob);
    ADD(&b, 1, ann, 4000 * MS, wait_enter, .lock = lock);
    ADD(&b, 2, bob, 200 * MS, wait_enter, .lock = other_lock);
    does_block(cat, 9000 * MS, 9001 * MS, other_lock, dan);
    analyzed_run(0);
    cr_assert_eq(since(a->window.to), 9001 * MS, "the last event");
    check_span(ann, 1, STATE_WAITING, 4000 * MS, 6501 * MS);
    check_span(ann, 2, STATE_UNKNOWN, 6501 * MS, 9001 * MS);
    check_span(bob, 0, STATE_WAITING, 200 * MS, 6501 * MS);
    cr_assert_eq(unknown_ns(cat), 0);
    cr_assert_eq(unknown_ns(dan), 2500 * MS, "it may have done something");
    cr_assert_eq(thread_sums_running(sums_of(dan)), 6501 * MS);
}

/* Two quiet blocks of one stream: between them the recorder has passed over all rings. */
Test(unknown, a_pass_over_all_rings_says_more)
{
    b.header.state = TRACE_RECORDING;
    b.block_events = 2;
    ADD(&b, 2, bob, 50 * MS, wait_enter, .lock = other_lock);
    does_block(ann, 100 * MS, 900 * MS, lock, bob);
    does_block(ann, 1000 * MS, 1100 * MS, lock, bob);
    analyzed_run(0);
    check_span(bob, 0, STATE_WAITING, 50 * MS, 900 * MS);
    check_span(bob, 1, STATE_UNKNOWN, 900 * MS, 1100 * MS);
}

/* The header says 9 s, the file ends after 1 s. */
Test(unknown, a_file_that_was_cut_ends_with_its_last_event)
{
    struct err err;
    int fd = memfd_create("cut", 0);
    b.block_events = 2;
    ADD(&b, 2, bob, 10 * MS, wait_enter, .lock = other_lock);
    for (uint64_t i = 1; i <= 1000; i++)
        does_block(ann, i * MS, i * MS + 500, lock, bob);
    builder_write(&b, fd, 9000 * MS);
    cr_assert_eq(ftruncate(fd, lseek(fd, 0, SEEK_END) / 2), 0);
    cr_assert_eq(trace_open_fd(&t, fd, "cut", &err), 0);
    cr_assert_eq(conclude_run(&a, t, &err), 0, "%s", err.msg);
    uint64_t end = since(a->window.to);
    cr_assert(end > 100 * MS && end < 900 * MS);
    cr_assert_lt(sums_of(bob)->state[STATE_WAITING].ns, end - 10 * MS);
    cr_assert_gt(unknown_ns(bob), 0);
}

/* --- a full disk ------------------------------------------------------------------------------ */

/* Each event in a chunk of its own; the fourth chunk tells of the disk, bob goes on behind it. */
static void full_disk(uint32_t lost)
{
    b.block_events = 1;
    for (uint64_t i = 0; i < 3; i++)
        ADD0(&b, 9, (thread_id){0}, i, recording_start);
    ADD(&b, 9, (thread_id){0}, 500, unwritten, .since = at(250), .first_lost = at(lost ? 300 : 500),
        .lost = lost);
    does_block(ann, 100, 200, lock, bob);
    for (uint64_t i = 1; i <= 7; i += 2)
        does_block(bob, i * 100, i * 100 + 100, other_lock, ann);
    ADD(&b, 3, cat, 150, wait_enter, .lock = lock);
    ADD(&b, 2, cat, 1000, wait_open, .kind = EV_wait_enter, .lock = lock, .since = at(150));
    analyzed_run(1000);
    const struct unwritten *u = (const void *)a->decoded.unwritten.p;
    cr_assert_eq(a->decoded.unwritten.len, sizeof *u);
    cr_assert_eq(since(u->from), 250);
    cr_assert_eq(since(u->to), 500);
    cr_assert_eq(u->lost, lost);
}

/* Whose events they were is not known: of who goes on behind it they would be noted. */
Test(unknown, of_who_is_not_seen_again_after_the_disk_was_full)
{
    full_disk(7);
    check_span(ann, 1, STATE_UNKNOWN, 300, 1000);
    cr_assert_eq(thread_sums_running(sums_of(ann)), 200);
    cr_assert_eq(unknown_ns(bob), 0);
    check_span(cat, 0, STATE_WAITING, 150, 1000);
    cr_assert_eq(unknown_ns(cat), 0, "it did nothing else, whatever is missing");
    check_span(dan, 0, STATE_UNKNOWN, 300, 500);
}

Test(unknown, nothing_when_a_full_disk_cost_nothing)
{
    full_disk(0);
    cr_assert_eq(unknown_ns(ann) + unknown_ns(bob) + unknown_ns(cat) + unknown_ns(dan), 0);
}

/* --- whose life is not recorded --------------------------------------------------------------- */

Test(unknown, a_virtual_thread_whose_start_is_not_recorded)
{
    thread_id v = builder_thread_flags(&b, "v", THREAD_VIRTUAL);
    builder_info(&b, "orca.events", "threads+monitors");
    does_block(v, 300, 400, lock, bob);
    analyzed_run(1000);
    check_span(v, 0, STATE_UNKNOWN, 0, 300);
    check_span(v, 2, STATE_UNKNOWN, 400, 1000);
    cr_assert_eq(thread_sums_running(sums_of(v)), 0);
}

Test(unknown, a_virtual_thread_whose_start_would_have_been_recorded)
{
    thread_id v = builder_thread_flags(&b, "v", THREAD_VIRTUAL);
    builder_info(&b, "orca.events", "threads+virtual+monitors");
    does_block(v, 300, 400, lock, bob);
    analyzed_run(1000);
    cr_assert_eq(unknown_ns(v), 0, "it was there, and did not wait");
    cr_assert_eq(thread_sums_running(sums_of(v)), 900);
}

Test(unknown, a_thread_of_the_jvms_own)
{
    thread_id own = builder_thread_flags(&b, "G1 Service", THREAD_NATIVE);
    does_block(own, 300, 400, lock, bob);
    analyzed_run(1000);
    cr_assert_eq(unknown_ns(own), 900);
    cr_assert_eq(thread_sums_running(sums_of(own)), 0);
    cr_assert_eq(sums_of(own)->state[STATE_BLOCKED].ns, 100);
}

/* --- waits that began before the recording ---------------------------------------------------- */

static void is_found(thread_id who, uint64_t time, enum event_kind kind)
{
    ADD(&b, 9, who, time, wait_found, .kind = kind, .lock = lock, .owner = dan, .stack = stack);
}

Test(unknown, a_wait_in_which_a_thread_was_found)
{
    ADD0(&b, 9, dan, 0, recording_start);
    is_found(ann, 1, EV_wait_enter);
    is_found(bob, 2, EV_monitor_contended_enter);
    ADD(&b, 1, ann, 300, wait_exit, .lock = lock);
    ADD(&b, 2, bob, 400, monitor_contended_entered, .lock = lock);
    analyzed_run(1000);
    check_span(ann, 0, STATE_WAITING, 1, 300);
    check_span(bob, 0, STATE_BLOCKED, 2, 400);
    cr_assert_eq(context_of(bob, 0)->other, dan.v);
    cr_assert_eq(context_of(bob, 0)->stack.v, stack.v);
    cr_assert_eq(unknown_ns(ann) + unknown_ns(bob), 0);
    cr_assert_eq(sums_of(ann)->unknown, 0);
}

/* It had gone on before its events came: when is not known. */
Test(unknown, a_thread_that_was_found_and_waits_elsewhere)
{
    ADD0(&b, 9, dan, 0, recording_start);
    is_found(ann, 1, EV_wait_enter);
    does_sleep(ann, 300, 400);
    analyzed_run(1000);
    check_span(ann, 1, STATE_UNKNOWN, 1, 300);
    check_span(ann, 2, STATE_SLEEPING, 300, 400);
    cr_assert_eq(sums_of(ann)->unknown, 1);
}

Test(unknown, a_thread_that_was_found_and_never_seen_again)
{
    thread_id v = builder_thread_flags(&b, "v", THREAD_VIRTUAL);
    ADD0(&b, 9, dan, 0, recording_start);
    is_found(ann, 1, EV_wait_enter);
    is_found(bob, 2, EV_wait_enter);
    is_found(v, 3, EV_wait_enter);
    ADD(&b, 9, bob, 900, wait_open, .kind = EV_wait_enter, .lock = lock, .since = at(2));
    ADD(&b, 9, v, 900, wait_open, .kind = EV_wait_enter, .lock = lock, .since = at(3));
    analyzed_run(1000);
    check_span(ann, 1, STATE_UNKNOWN, 1, 1000);
    check_span(bob, 0, STATE_WAITING, 2, 1000);
    check_span(v, 0, STATE_WAITING, 3, 1000);
    cr_assert_eq(sums_of(bob)->open, 1);
    cr_assert_eq(sums_of(v)->open, 1);
}

Test(unknown, a_thread_of_a_running_jvm_before_it_was_found)
{
    builder_info(&b, "orca.attached", "the JVM was running already");
    ADD0(&b, 9, dan, 0, recording_start);
    ADD0(&b, 9, ann, 100, thread_alive);
    ADD0(&b, 9, bob, 100, thread_alive);
    is_found(bob, 150, EV_wait_enter);
    does_sleep(ann, 300, 400);
    ADD(&b, 2, bob, 400, wait_exit, .lock = lock);
    analyzed_run(1000);
    check_span(ann, 0, STATE_UNKNOWN, 0, 100);
    check_span(ann, 1, STATE_SLEEPING, 300, 400);
    check_span(bob, 0, STATE_UNKNOWN, 0, 150);
    check_span(bob, 1, STATE_WAITING, 150, 400);
    cr_assert_eq(unknown_ns(ann), 100);
}

/* Said to go on when everything was recorded; nothing has been heard of it since. */
static void is_parked_since_before(thread_id who)
{
    ADD0(&b, 9, dan, 0, recording_start);
    ADD(&b, 9, who, 1, wait_found, .kind = EV_park_enter, .lock = lock, .owner = dan,
        .stack = stack, .limit = WAIT_UNLIMITED);
    ADD(&b, 9, who, 50, wait_open, .kind = EV_park_enter, .lock = lock, .since = at(1),
        .limit = WAIT_UNLIMITED);
}

Test(unknown, a_thread_that_was_found_parked_and_that_nobody_wakes)
{
    is_parked_since_before(ann);
    ADD(&b, 2, bob, 100, unpark, .target = dan);
    analyzed_run(1000);
    check_span(ann, 0, STATE_PARKED, 1, 1000);
    cr_assert(context_of(ann, 0)->flags & INTERVAL_OPEN);
    cr_assert_eq(unknown_ns(ann), 0);
}

Test(unknown, a_thread_that_was_found_parked_and_may_go_on)
{
    is_parked_since_before(ann);
    ADD(&b, 2, bob, 100, unpark, .target = ann);
    analyzed_run(1000);
    cr_assert_eq(unknown_ns(ann), 999);
}

Test(unknown, a_thread_that_was_found_parked_and_interrupted)
{
    is_parked_since_before(ann);
    ADD(&b, 2, bob, 100, interrupt, .target = ann);
    analyzed_run(1000);
    cr_assert_eq(unknown_ns(ann), 999);
}

Test(unknown, a_thread_that_was_found_parked_and_its_unpark_may_be_lost)
{
    is_parked_since_before(ann);
    ADD(&b, 2, bob, 100, lost, .cause = LOSS_none, .count = 1);
    analyzed_run(1000);
    cr_assert_eq(unknown_ns(ann), 999);
}

Test(unknown, a_thread_that_was_found_parked_and_is_so_in_the_end)
{
    is_parked_since_before(ann);
    ADD(&b, 2, bob, 100, unpark, .target = ann);
    ADD(&b, 2, bob, 200, lost, .cause = LOSS_none, .count = 1);
    ADD(&b, 9, ann, 900, wait_open, .kind = EV_park_enter, .lock = lock, .since = at(1),
        .limit = WAIT_UNLIMITED);
    analyzed_run(1000);
    check_span(ann, 0, STATE_PARKED, 1, 1000);
}

/* --- what is made of it ----------------------------------------------------------------------- */

Test(unknown, it_is_no_wait_in_any_table)
{
    ADD(&b, 1, ann, 500, wait_exit, .lock = lock);
    analyzed_run(1000);
    cr_assert_eq(timeline_waits(&a->timeline), 1, "the one that ended");
    cr_assert_eq(a->stats.total[STATE_WAITING].count, 1);
    cr_assert_eq(a->stats.total[STATE_UNKNOWN].count, 0);
    cr_assert_eq(a->bottles.v[ann.v].running, 500);
}

Test(unknown, the_critical_path_says_it)
{
    ADD0(&b, 1, ann, 0, thread_start);
    ADD(&b, 1, ann, 100, wait_enter, .lock = lock);
    does_sleep(ann, 500, 600);
    ADD0(&b, 1, ann, 900, thread_end);
    analyzed_run(1000);
    cr_assert_eq(analysis_follow(a, ann.v, at(900), at(0)), 0);
    cr_assert_eq(a->path.kind_ns[PATH_UNKNOWN], 400);
}

Test(unknown, of_a_text_without_parks_who_does_nothing_and_does_not_end)
{
    builder_info(&b, "import.format", "orca");
    builder_info(&b, "orca.order", "bare");
    ADD0(&b, 1, ann, 0, thread_start);
    ADD0(&b, 2, bob, 0, thread_start);
    does_sleep(bob, 500, 600);
    ADD0(&b, 3, cat, 0, thread_start);
    ADD0(&b, 3, cat, 900, thread_end);
    analyzed_run(1000);
    cr_assert_eq(unknown_ns(ann), 1000);
    cr_assert_eq(unknown_ns(bob), 0);
    cr_assert_eq(unknown_ns(cat), 0, "it ended, so it did something");
}

Test(unknown, of_a_trace_who_does_nothing_runs)
{
    ADD0(&b, 1, ann, 0, thread_start);
    analyzed_run(1000);
    cr_assert_eq(unknown_ns(ann), 0);
}

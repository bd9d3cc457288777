#include "analyze/track.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Everything a track hands out, as it comes. */
struct log {
    struct interval v[100];
    size_t n;
};

static int take(void *self, const struct interval *v, size_t n)
{
    struct log *l = self;
    memcpy(l->v + l->n, v, n * sizeof *v);
    l->n += n;
    return 0;
}

static struct log got;
static struct interval_sink sink = {take, &got};
static struct intervals out;
static struct gaps gaps;
static struct unknowns unknown;
static struct track_env env = {&out, &gaps, &unknown, false};
static struct track tr;

static void begin(void)
{
    got.n = 0;
    intervals_init(&out, (struct interval_sinks){&sink, 1});
    gaps = (struct gaps){0};
    env.ends_first = false;
    track_init(&tr, 7, false);
}

static void end(void)
{
    gaps_fini(&gaps);
    unknowns_fini(&unknown);
}

TestSuite(track, .init = begin, .fini = end);

static void apply(int action, int state, uint32_t object, uint64_t time)
{
    const struct op op = {.time = time,
                          .thread = 7,
                          .object = object,
                          .other = object + 100,
                          .stack = object + 200,
                          .action = (uint8_t)action,
                          .state = (uint8_t)state};
    track_apply(&tr, &op, &env);
}

static void finish(uint64_t end_time)
{
    track_finish(&tr, end_time, &env);
    intervals_flush(&out);
}

static void expect(size_t i, int state, unsigned flags, uint64_t start, uint64_t stop, uint64_t ns)
{
    cr_assert_lt(i, got.n, "interval %zu is missing", i);
    cr_assert_eq(got.v[i].state, state, "%zu: state %d", i, got.v[i].state);
    cr_assert_eq(got.v[i].flags, flags, "%zu: flags %d", i, got.v[i].flags);
    cr_assert_eq(got.v[i].start, start, "%zu: start %lu", i, got.v[i].start);
    cr_assert_eq(got.v[i].end, stop, "%zu: end %lu", i, got.v[i].end);
    cr_assert_eq(got.v[i].ns, ns, "%zu: ns %lu", i, got.v[i].ns);
}

Test(track, enter_and_entered_pair)
{
    apply(OP_OPEN, STATE_BLOCKED, 3, 100);
    apply(OP_CLOSE, STATE_BLOCKED, 3, 150);
    apply(OP_OPEN, STATE_WAITING, 4, 160);
    apply(OP_CLOSE, STATE_WAITING, 4, 190);
    finish(1000);
    cr_assert_eq(got.n, 2);
    expect(0, STATE_BLOCKED, 0, 100, 150, 50);
    expect(1, STATE_WAITING, 0, 160, 190, 30);
    cr_assert_eq(got.v[0].thread, 7);
    cr_assert_eq(got.v[0].lock.v, 3);
    cr_assert_eq(got.v[0].other, 103);
    cr_assert_eq(got.v[0].stack.v, 203);
    cr_assert(!tr.incomplete);
}

Test(track, an_open_wait_lasts_to_the_end)
{
    apply(OP_OPEN, STATE_BLOCKED, 3, 100);
    finish(1000);
    cr_assert_eq(got.n, 1);
    expect(0, STATE_BLOCKED, INTERVAL_OPEN, 100, 1000, 900);
    cr_assert(!tr.incomplete);
}

Test(track, what_the_owner_executed_belongs_to_the_wait_that_has_begun)
{
    apply(OP_OPEN, STATE_BLOCKED, 3, 100);
    apply(OP_OWNER, 0, 3, 110);
    apply(OP_CLOSE, STATE_BLOCKED, 3, 150);
    apply(OP_OPEN, STATE_PARKED, 4, 160);
    apply(OP_OWNER, 0, 3, 165); /* of another lock */
    apply(OP_CLOSE, STATE_PARKED, 4, 190);
    apply(OP_OPEN, STATE_WAITING, 4, 200);
    apply(OP_OWNER, 0, 4, 210); /* nobody owns what one waits for in Object.wait */
    apply(OP_CLOSE, STATE_WAITING, 4, 220);
    apply(OP_OWNER, 0, 4, 230);
    finish(1000);
    cr_assert_eq(got.n, 3);
    cr_assert_eq(got.v[0].owner_stack.v, 203);
    cr_assert_eq(got.v[1].owner_stack.v, 0);
    cr_assert_eq(got.v[2].owner_stack.v, 0);
    expect(0, STATE_BLOCKED, 0, 100, 150, 50);
}

/* Its ends stay what they are; a park for something else has that. */
Test(track, what_a_park_reads_from_is_in_place_of_its_object)
{
    apply(OP_OPEN, STATE_PARKED, 0, 100);
    apply(OP_PEER, 0, 7, 100);
    apply(OP_CLOSE, STATE_PARKED, 0, 150);
    apply(OP_PEER, 0, 7, 155); /* of nothing */
    apply(OP_OPEN, STATE_PARKED, 4, 160);
    apply(OP_PEER, 0, 7, 160);
    apply(OP_CLOSE, STATE_PARKED, 4, 190);
    apply(OP_OPEN, STATE_PARKED, 0, 200);
    apply(OP_CLOSE, STATE_PARKED, 0, 250);
    finish(1000);
    cr_assert_eq(got.n, 3);
    cr_assert_eq(got.v[0].lock.v, 7);
    cr_assert_eq(got.v[1].lock.v, 4);
    cr_assert_eq(got.v[2].lock.v, 0);
    expect(0, STATE_PARKED, 0, 100, 150, 50);
}

Test(track, a_second_enter_proves_that_an_entered_is_missing)
{
    apply(OP_OPEN, STATE_BLOCKED, 3, 100);
    apply(OP_OPEN, STATE_BLOCKED, 4, 200);
    apply(OP_CLOSE, STATE_BLOCKED, 4, 250);
    finish(1000);
    cr_assert_eq(got.n, 2);
    expect(0, STATE_BLOCKED, INTERVAL_UNKNOWN, 100, 100, 0);
    expect(1, STATE_BLOCKED, 0, 200, 250, 50);
    cr_assert(tr.incomplete);
}

Test(track, another_kind_of_end_does_not_close)
{
    apply(OP_OPEN, STATE_BLOCKED, 3, 100);
    apply(OP_CLOSE, STATE_WAITING, 3, 200);
    finish(1000);
    cr_assert_eq(got.n, 2);
    expect(0, STATE_BLOCKED, INTERVAL_UNKNOWN, 100, 100, 0);
    expect(1, STATE_WAITING, INTERVAL_UNKNOWN, 200, 200, 0);
    cr_assert(tr.incomplete);
}

Test(track, another_object_does_not_close)
{
    apply(OP_OPEN, STATE_BLOCKED, 3, 100);
    apply(OP_CLOSE, STATE_BLOCKED, 4, 200);
    finish(1000);
    cr_assert_eq(got.n, 2);
    expect(0, STATE_BLOCKED, INTERVAL_UNKNOWN, 100, 100, 0);
    expect(1, STATE_BLOCKED, INTERVAL_UNKNOWN, 200, 200, 0);
}

Test(track, a_wait_takes_no_other_monitor_on_the_way)
{
    apply(OP_OPEN, STATE_WAITING, 3, 100);
    apply(OP_OPEN, STATE_BLOCKED, 4, 150);
    apply(OP_CLOSE, STATE_BLOCKED, 4, 170);
    finish(1000);
    cr_assert_eq(got.n, 2);
    expect(0, STATE_WAITING, INTERVAL_UNKNOWN, 100, 100, 0);
    expect(1, STATE_BLOCKED, 0, 150, 170, 20);
    cr_assert(tr.incomplete);
}

Test(track, lost_events_make_a_thread_incomplete_whatever_is_open)
{
    apply(OP_BREAK, 0, 0, 150);
    finish(1000);
    cr_assert_eq(got.n, 0);
    cr_assert(tr.incomplete);
}

Test(track, lost_events_break_what_is_open)
{
    apply(OP_OPEN, STATE_WAITING, 3, 100);
    apply(OP_BREAK, 0, 0, 150);
    apply(OP_CLOSE, STATE_WAITING, 3, 200);
    finish(1000);
    cr_assert_eq(got.n, 2);
    expect(0, STATE_WAITING, INTERVAL_UNKNOWN, 100, 100, 0);
    expect(1, STATE_WAITING, INTERVAL_UNKNOWN, 200, 200, 0);
    cr_assert(tr.incomplete);
}

Test(track, reacquiring_inside_a_wait_is_not_counted_twice)
{
    apply(OP_OPEN, STATE_WAITING, 3, 100);
    apply(OP_OPEN, STATE_BLOCKED, 3, 150);
    apply(OP_CLOSE, STATE_BLOCKED, 3, 170);
    apply(OP_CLOSE, STATE_WAITING, 3, 200);
    finish(1000);
    cr_assert_eq(got.n, 2);
    expect(0, STATE_BLOCKED, 0, 150, 170, 20);
    expect(1, STATE_WAITING, 0, 100, 200, 80);
    cr_assert(!tr.incomplete);
}

/* As JDK 27 posts it: the wait is over, and the thread wants its monitor where it waited. */
Test(track, reacquiring_behind_a_wait)
{
    env.ends_first = true;
    apply(OP_OPEN, STATE_WAITING, 1, 100);
    apply(OP_CLOSE, STATE_WAITING, 1, 300);
    apply(OP_OPEN, STATE_BLOCKED, 1, 310);
    apply(OP_CLOSE, STATE_BLOCKED, 1, 400);
    apply(OP_OPEN, STATE_BLOCKED, 1, 500); /* something else has happened since */
    apply(OP_CLOSE, STATE_BLOCKED, 1, 600);
    apply(OP_OPEN, STATE_WAITING, 1, 700);
    apply(OP_CLOSE, STATE_WAITING, 1, 800);
    apply(OP_OPEN, STATE_BLOCKED, 2, 810); /* another one */
    finish(900);
    expect(0, STATE_WAITING, 0, 100, 300, 200);
    expect(1, STATE_REACQUIRING, 0, 300, 400, 100);
    cr_assert_eq(got.v[1].lock.v, 1);
    expect(2, STATE_BLOCKED, 0, 500, 600, 100);
    expect(3, STATE_WAITING, 0, 700, 800, 100);
    expect(4, STATE_BLOCKED, INTERVAL_OPEN, 810, 900, 90);
    cr_assert_not(tr.incomplete);
}

/* Of a virtual thread it does not post that it blocks. */
Test(track, reacquired_behind_a_wait)
{
    const struct op entered = {
        .time = 400, .thread = 7, .object = 1, .action = OP_CLOSE, .state = STATE_BLOCKED};
    track_init(&tr, 7, true);
    apply(OP_OPEN, STATE_WAITING, 1, 100);
    apply(OP_CLOSE, STATE_WAITING, 1, 300);
    env.ends_first = true;
    track_apply(&tr, &entered, &env);
    finish(900);
    expect(0, STATE_WAITING, 0, 100, 300, 200);
    expect(1, STATE_REACQUIRING, 0, 300, 400, 100);
    cr_assert_eq(got.v[1].lock.v, 1);
    cr_assert_eq(got.v[1].stack.v, 201);
}

/* A virtual thread of JDK 21 that is pinned loads a class before it waits. */
Test(track, a_park_in_which_the_thread_blocked_goes_on)
{
    track_init(&tr, 7, true);
    apply(OP_OPEN, STATE_PARKED, 0, 100);
    apply(OP_OPEN, STATE_BLOCKED, 3, 110);
    apply(OP_CLOSE, STATE_BLOCKED, 3, 130);
    apply(OP_OPEN, STATE_BLOCKED, 4, 140);
    apply(OP_CLOSE, STATE_BLOCKED, 4, 150);
    apply(OP_CLOSE, STATE_PARKED, 0, 500);
    finish(1000);
    cr_assert_eq(got.n, 3);
    expect(0, STATE_BLOCKED, 0, 110, 130, 20);
    expect(1, STATE_BLOCKED, 0, 140, 150, 10);
    expect(2, STATE_PARKED, 0, 150, 500, 350);
    cr_assert_eq(got.v[2].nested, 0);
    cr_assert_not(tr.incomplete);
}

/* It waits for another thread to initialise a class: of that the JVM posts the end alone. */
Test(track, a_sleep_in_whose_park_a_wait_ended_goes_on)
{
    track_init(&tr, 7, true);
    apply(OP_OPEN, STATE_SLEEPING, 0, 90);
    apply(OP_OPEN, STATE_PARKED, 0, 100);
    apply(OP_CLOSE, STATE_WAITING, 3, 130);
    apply(OP_CLOSE, STATE_PARKED, 0, 500);
    apply(OP_CLOSE, STATE_SLEEPING, 0, 510);
    finish(1000);
    cr_assert_eq(got.n, 2);
    expect(0, STATE_WAITING, INTERVAL_UNKNOWN, 130, 130, 0);
    expect(1, STATE_SLEEPING, 0, 90, 510, 420);
}

/* A virtual thread looks under its lock for interrupts whether one has woken it: one sleep. */
Test(track, a_sleep_that_blocks_before_it_ends_is_one)
{
    track_init(&tr, 7, true);
    apply(OP_OPEN, STATE_SLEEPING, 0, 90);
    apply(OP_OPEN, STATE_PARKED, 0, 100);
    apply(OP_CLOSE, STATE_PARKED, 0, 500);
    apply(OP_OPEN, STATE_BLOCKED, 3, 510);
    apply(OP_CLOSE, STATE_BLOCKED, 3, 530);
    apply(OP_CLOSE, STATE_SLEEPING, 0, 540);
    finish(1000);
    cr_assert_eq(got.n, 1);
    expect(0, STATE_SLEEPING, 0, 90, 540, 450);
    cr_assert_not(tr.incomplete);
}

/* Its end was not seen: it is not taken for going on. */
Test(track, a_park_in_which_the_thread_seems_to_block_is_over)
{
    apply(OP_OPEN, STATE_PARKED, 0, 100);
    apply(OP_OPEN, STATE_BLOCKED, 3, 110);
    apply(OP_CLOSE, STATE_BLOCKED, 3, 130);
    apply(OP_OPEN, STATE_WAITING, 4, 140);
    apply(OP_CLOSE, STATE_WAITING, 4, 150);
    apply(OP_OPEN, STATE_PARKED, 0, 200);
    apply(OP_OPEN, STATE_BLOCKED, 3, 210);
    finish(1000);
    cr_assert_eq(got.n, 5);
    expect(0, STATE_BLOCKED, 0, 110, 130, 20);
    expect(1, STATE_PARKED, INTERVAL_UNKNOWN, 100, 100, 0);
    cr_assert_eq(got.v[1].nested, 1);
    expect(2, STATE_WAITING, 0, 140, 150, 10);
    expect(3, STATE_BLOCKED, INTERVAL_OPEN, 210, 1000, 790);
    expect(4, STATE_PARKED, INTERVAL_UNKNOWN, 200, 200, 0);
    cr_assert(tr.incomplete);
}

Test(track, reacquired_without_an_enter_is_kept_apart)
{
    apply(OP_OPEN, STATE_WAITING, 3, 100);
    apply(OP_CLOSE, STATE_BLOCKED, 3, 170);
    apply(OP_CLOSE, STATE_WAITING, 3, 200);
    finish(1000);
    cr_assert_eq(got.n, 2);
    expect(0, STATE_BLOCKED, INTERVAL_REACQUIRED, 170, 170, 0);
    expect(1, STATE_WAITING, 0, 100, 200, 100);
    cr_assert(!tr.incomplete);
}

Test(track, a_virtual_thread_may_say_so_after_the_wait)
{
    track_init(&tr, 7, true);
    apply(OP_OPEN, STATE_WAITING, 3, 100);
    apply(OP_CLOSE, STATE_WAITING, 3, 200);
    apply(OP_CLOSE, STATE_BLOCKED, 3, 210);
    finish(1000);
    cr_assert_eq(got.n, 2);
    expect(1, STATE_BLOCKED, INTERVAL_REACQUIRED, 210, 210, 0);
    cr_assert(!tr.incomplete);
}

Test(track, a_platform_thread_that_says_so_has_lost_the_enter)
{
    apply(OP_CLOSE, STATE_BLOCKED, 3, 210);
    finish(1000);
    expect(0, STATE_BLOCKED, INTERVAL_UNKNOWN, 210, 210, 0);
    cr_assert(tr.incomplete);
}

Test(track, a_join_swallows_its_waits)
{
    apply(OP_OPEN, STATE_JOINING, 0, 100);
    apply(OP_OPEN, STATE_WAITING, 5, 110);
    apply(OP_OPEN, STATE_BLOCKED, 5, 120);
    apply(OP_CLOSE, STATE_BLOCKED, 5, 130);
    apply(OP_CLOSE, STATE_WAITING, 5, 140);
    apply(OP_CLOSE, STATE_JOINING, 0, 150);
    apply(OP_OPEN, STATE_WAITING, 5, 160);
    apply(OP_CLOSE, STATE_WAITING, 5, 170);
    finish(1000);
    cr_assert_eq(got.n, 2);
    expect(0, STATE_JOINING, 0, 100, 150, 50);
    cr_assert_eq(got.v[0].lock.v, 0);
    expect(1, STATE_WAITING, 0, 160, 170, 10);
    cr_assert(!tr.incomplete);
}

Test(track, an_open_wait_inside_an_open_join)
{
    apply(OP_OPEN, STATE_JOINING, 0, 100);
    apply(OP_OPEN, STATE_WAITING, 5, 110);
    finish(200);
    cr_assert_eq(got.n, 1);
    expect(0, STATE_JOINING, INTERVAL_OPEN, 100, 200, 100);
}

Test(track, nested_open_waits_do_not_add_up_to_more_than_the_time)
{
    apply(OP_OPEN, STATE_WAITING, 5, 100);
    apply(OP_OPEN, STATE_BLOCKED, 5, 150);
    finish(200);
    cr_assert_eq(got.n, 2);
    expect(0, STATE_BLOCKED, INTERVAL_OPEN, 150, 200, 50);
    expect(1, STATE_WAITING, INTERVAL_OPEN, 100, 200, 50);
}

Test(track, an_ended_thread_waits_for_nothing)
{
    apply(OP_OPEN, STATE_BLOCKED, 3, 100);
    apply(OP_END, 0, 0, 150);
    finish(1000);
    cr_assert_eq(got.n, 1);
    expect(0, STATE_BLOCKED, INTERVAL_UNKNOWN, 100, 100, 0);
}

Test(track, what_begins_after_the_end_is_not_open_for_ever)
{
    apply(OP_END, 0, 0, 150);
    apply(OP_OPEN, STATE_BLOCKED, 3, 160);
    finish(1000);
    cr_assert_eq(got.n, 1);
    expect(0, STATE_BLOCKED, INTERVAL_UNKNOWN, 160, 160, 0);
}

Test(track, a_gap_of_any_stream_may_hold_the_end_for_a_thread_that_roams)
{
    track_init(&tr, 7, true);
    gaps_add(&gaps, 500, 600);
    apply(OP_OPEN, STATE_BLOCKED, 3, 100);
    finish(1000);
    cr_assert_eq(got.n, 1);
    expect(0, STATE_BLOCKED, INTERVAL_UNKNOWN, 100, 100, 0);
}

static void still_open(int state, uint32_t object, uint64_t since)
{
    const struct op op = {
        .time = since, .thread = 7, .object = object, .action = OP_OPEN, .state = (uint8_t)state};
    track_still_open(&tr, &op, 1000, &env);
}

Test(track, a_wait_that_began_before_the_trace)
{
    still_open(STATE_WAITING, 3, 50);
    finish(1000);
    cr_assert_eq(got.n, 1);
    expect(0, STATE_WAITING, INTERVAL_OPEN, 50, 1000, 950);
    cr_assert(!tr.incomplete);
}

Test(track, what_the_recorder_says_is_open_and_is_known_already)
{
    apply(OP_OPEN, STATE_WAITING, 3, 100);
    still_open(STATE_WAITING, 3, 100);
    finish(1000);
    cr_assert_eq(got.n, 1);
    expect(0, STATE_WAITING, INTERVAL_OPEN, 100, 1000, 900);
}

Test(track, what_the_recorder_says_is_open_and_cannot_be)
{
    apply(OP_OPEN, STATE_WAITING, 3, 100);
    apply(OP_CLOSE, STATE_WAITING, 3, 150);
    still_open(STATE_BLOCKED, 4, 120);
    finish(1000);
    cr_assert_eq(got.n, 1);
    cr_assert(tr.incomplete);
}

Test(track, a_gap_of_the_stream_breaks)
{
    gaps_add(&gaps, 120, 130);
    apply(OP_OPEN, STATE_WAITING, 3, 100);
    apply(OP_CLOSE, STATE_WAITING, 3, 150);
    apply(OP_OPEN, STATE_WAITING, 3, 160);
    apply(OP_CLOSE, STATE_WAITING, 3, 170);
    finish(1000);
    cr_assert_eq(got.n, 2);
    expect(0, STATE_WAITING, INTERVAL_UNKNOWN, 100, 100, 0);
    expect(1, STATE_WAITING, 0, 160, 170, 10);
}

Test(track, a_gap_behind_the_last_event)
{
    apply(OP_OPEN, STATE_WAITING, 3, 100);
    track_gap(&tr, 100, &env);
    finish(1000);
    cr_assert_eq(got.n, 1);
    expect(0, STATE_WAITING, INTERVAL_UNKNOWN, 100, 100, 0);
}

Test(track, time_never_runs_backwards)
{
    apply(OP_OPEN, STATE_BLOCKED, 3, 100);
    apply(OP_CLOSE, STATE_BLOCKED, 3, 60);
    apply(OP_OPEN, STATE_BLOCKED, 3, 70);
    apply(OP_CLOSE, STATE_BLOCKED, 3, 120);
    finish(1000);
    expect(0, STATE_BLOCKED, 0, 100, 100, 0);
    expect(1, STATE_BLOCKED, 0, 100, 120, 20);
    cr_assert(tr.incomplete);
}

/* Whatever happens, a thread's own times do not overlap. */
Test(track, random_ops_keep_the_sum)
{
    srand(11);
    for (int round = 0; round < 5000; round++) {
        uint64_t now = 0, sum = 0;
        begin();
        track_init(&tr, 7, rand() % 2);
        for (int i = 0; i < 30; i++)
            apply(rand() % 12 ? rand() % 2 : rand() % 5, rand() % STATE_LIMIT,
                  (uint32_t)rand() % 2 + 1, now += (uint64_t)rand() % 5);
        finish(now + 3);
        for (size_t i = 0; i < got.n; i++) {
            sum += got.v[i].ns;
            cr_assert_leq(got.v[i].ns, got.v[i].end - got.v[i].start);
        }
        cr_assert_leq(sum, now + 3);
        cr_assert_eq(tr.depth, 0);
    }
}

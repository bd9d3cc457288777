/* The tiles of a thread's life: on a processor, ready, waiting, in input or output, stopped by the
 * JVM, off a processor, not known; and what path, bottle graph and sums make of them. */
#include "analyzed.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

TestSuite(processors, .init = analyzed_begin, .fini = analyzed_end);

enum { SCHED = 9, TURNS = 20, CALLS = 30 }; /* streams; the latter two one a thread */

static void turn(thread_id who, uint64_t from, uint64_t to, uint32_t end)
{
    ADD(&b, TURNS + who.v, who, to, turn, .since = at(from), .end = end);
}

static void known(uint64_t from, uint64_t to)
{
    ADD(&b, SCHED + 1, (thread_id){0}, to, turns_known, .since = at(from));
}

static struct cpu_tile got[64];
static size_t n_got;

static void keep(void *ctx, const struct cpu_tile *tile)
{
    UNUSED(ctx);
    cr_assert_lt(n_got, ARRAY_LEN(got));
    got[n_got++] = *tile;
}

static const char letters[CPU_STATES + 1] = "PRWISO?";

/* "P10-20 O20-30 ..." of all of a thread's life between two times. */
static const char *tiles_of(thread_id who, uint64_t from, uint64_t to)
{
    static char text[2048];
    size_t n = 0;
    n_got = 0;
    processors_tile(&a->processors, &a->timeline, who.v, at(from), at(to), keep, NULL);
    for (size_t i = 0; i < n_got; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%c%lu-%lu", i ? " " : "",
                              letters[got[i].kind], (unsigned long)since(got[i].from),
                              (unsigned long)since(got[i].to));
    return text;
}

/* Only what is before the turn that came out of it, and in no wait. */
Test(processors, page_faults)
{
    turn(ann, 100, 200, TURN_WAITS);
    turn(ann, 250, 300, TURN_PREEMPTED | TURN_FAULT);
    turn(ann, 400, 500, TURN_WAITS);
    known(0, 1000);
    analyzed_run(1000);
    cr_expect_str_eq(tiles_of(ann, 0, 1000),
                     "O0-100 P100-200 O200-250 P250-300 R300-400 P400-500 O500-1000");
    for (size_t i = 0; i < n_got; i++)
        cr_expect_eq(got[i].fault, i == 2, "%zu", i);
    const struct still_line *l = stills_of(&a->halts, ann.v);
    for (uint32_t i = 0; i < l->n; i++)
        cr_expect_eq(l->v[i].fault, since(l->v[i].from) == 200, "%u", i);
}

Test(processors, turns_and_what_is_between_them)
{
    turn(ann, 100, 200, TURN_PREEMPTED);
    turn(ann, 250, 300, TURN_WAITS);
    turn(ann, 400, 500, TURN_STAYS);
    turn(ann, 500, 600, TURN_WAITS);
    known(0, 1000);
    analyzed_run(1000);
    cr_expect_str_eq(tiles_of(ann, 0, 1000),
                     "O0-100 P100-200 R200-250 P250-300 O300-400 P400-500 P500-600 O600-1000");
    cr_expect_str_eq(tiles_of(ann, 220, 420), "R220-250 P250-300 O300-400 P400-420");
}

/* A thread's time on a processor around a wait is not a wait; after the wake-up it is ready. */
Test(processors, waits_are_what_is_left_of_them)
{
    turn(ann, 90, 120, TURN_WAITS);
    does_park(ann, 100, 440);
    turn(bob, 300, 350, TURN_WAITS);
    ADD(&b, bob.v, bob, 340, unpark, .target = ann);
    turn(ann, 430, 460, TURN_WAITS);
    known(0, 1000);
    analyzed_run(1000);
    cr_expect_str_eq(tiles_of(ann, 0, 500), "O0-90 P90-120 W120-340 R340-430 P430-460 O460-500");
}

Test(processors, nothing_is_said_of_what_is_not_known)
{
    turn(ann, 100, 200, TURN_WAITS);
    turn(ann, 300, 400, TURN_WAITS | TURN_GAP);
    known(50, 350);
    known(350, 450);
    does_sleep(ann, 500, 600);
    analyzed_run(1000);
    cr_expect_str_eq(tiles_of(ann, 0, 1000), "?0-50 O50-100 P100-200 ?200-300 P300-400 O400-450 "
                                             "?450-500 W500-600 ?600-1000");
}

static void call(thread_id who, uint64_t from, uint64_t to)
{
    struct event e = {.time = at(to), .thread = who, .kind = EV_io, .size = EVENT_HEAD};
    e.io.since = at(from);
    e.io.what = IO_KIND_input;
    builder_event(&b, CALLS + who.v, &e);
}

static void stop(uint64_t from, uint64_t reached, uint64_t to)
{
    ADD(&b, SCHED + 2, (thread_id){0}, to, safepoint, .since = at(from), .reached = at(reached));
}

static void pause(uint64_t from, uint64_t to)
{
    ADD(&b, SCHED + 3, (thread_id){0}, from, gc_start, .used = 1);
    ADD(&b, SCHED + 3, (thread_id){0}, to, gc_finish, .used = 1);
}

/* "R20-30 ..." of all that kept a thread from running outside of waits: I, R, S, O. */
static const char *halts_of(thread_id who)
{
    static char text[1024];
    const struct still_line *l = stills_of(&a->halts, who.v);
    size_t n = 0;
    *text = 0;
    for (uint32_t i = 0; i < l->n; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%c%lu-%lu", i ? " " : "",
                              "IRSO"[halt_of(&l->v[i])], (unsigned long)since(l->v[i].from),
                              (unsigned long)since(l->v[i].to));
    return text;
}

/* A call is input and output while the thread is off; it is in the halts whole. */
Test(processors, calls_of_input_and_output)
{
    turn(ann, 100, 210, TURN_WAITS);
    call(ann, 200, 300);
    turn(ann, 290, 400, TURN_WAITS);
    turn(ann, 450, 500, TURN_PREEMPTED);
    turn(ann, 520, 600, TURN_STAYS);
    known(0, 600);
    analyzed_run(600);
    cr_expect_str_eq(tiles_of(ann, 90, 600),
                     "O90-100 P100-210 I210-290 P290-400 O400-450 P450-500 R500-520 P520-600");
    cr_expect_str_eq(halts_of(ann), "O0-100 I200-300 O400-450 R500-520");
    cr_expect_eq(sums_of(ann)->halted[HALTED_IO], 100);
    cr_expect_eq(sums_of(ann)->halted[HALTED_READY], 20);
    cr_expect_eq(sums_of(ann)->halted[HALTED_OFF], 150);
    cr_expect_eq(thread_sums_running(sums_of(ann)), 330);
}

/* A thread is stopped from when it leaves the processor for it; after that it is ready.  Who was
 * off before is off again behind it, and who waits waits on. */
Test(processors, stops_by_the_jvm)
{
    stop(200, 230, 300);
    turn(ann, 100, 210, TURN_WAITS);
    turn(ann, 320, 400, TURN_WAITS);
    turn(bob, 100, 150, TURN_WAITS);
    turn(bob, 320, 400, TURN_WAITS);
    turn(cat, 50, 100, TURN_WAITS);
    does_park(cat, 90, 260);
    turn(cat, 310, 330, TURN_WAITS);
    turn(dan, 100, 500, TURN_STAYS);
    known(0, 600);
    analyzed_run(600);
    cr_expect_str_eq(tiles_of(ann, 100, 400), "P100-210 S210-300 R300-320 P320-400");
    cr_expect_str_eq(tiles_of(ann, 250, 400), "S250-300 R300-320 P320-400");
    cr_expect_str_eq(tiles_of(bob, 100, 400), "P100-150 O150-200 S200-300 O300-320 P320-400");
    cr_expect_str_eq(tiles_of(cat, 50, 330), "P50-100 W100-260 S260-300 R300-310 P310-330");
    cr_expect_str_eq(tiles_of(dan, 100, 500), "P100-500");
    cr_expect_eq(sums_of(ann)->halted[HALTED_STOPPED], 90);
}

/* Where no turns are recorded, a thread in no wait and no call stood from when all had stopped. */
Test(processors, stops_without_turns)
{
    stop(200, 230, 300);
    pause(250, 280);
    pause(500, 550);
    does_park(ann, 260, 270);
    call(ann, 520, 530);
    does_park(bob, 100, 600);
    analyzed_run(600);
    cr_expect_str_eq(halts_of(ann), "S230-260 S270-300 S500-520 I520-530 S530-550");
    cr_expect_str_eq(halts_of(bob), "");
    cr_expect_eq(sums_of(ann)->halted[HALTED_STOPPED], 100);
    cr_expect_eq(thread_sums_running(sums_of(ann)), 480);
}

/* What a wait is made of is the wait's, however often its thread is preempted in it. */
Test(processors, halts_are_outside_of_waits)
{
    does_park(ann, 100, 400);
    turn(ann, 50, 150, TURN_PREEMPTED);
    turn(ann, 170, 180, TURN_PREEMPTED);
    turn(ann, 200, 210, TURN_WAITS);
    turn(ann, 390, 420, TURN_PREEMPTED);
    turn(ann, 430, 500, TURN_STAYS);
    known(0, 500);
    analyzed_run(500);
    cr_expect_str_eq(halts_of(ann), "O0-50 R420-430");
}

/* Only a thread on a processor runs, in the bottle graph and on the path; who was woken and waits
 * for a processor is ready. */
Test(processors, the_path_and_who_ran)
{
    turn(ann, 0, 300, TURN_WAITS);
    does_park(bob, 100, 360);
    turn(bob, 0, 110, TURN_WAITS);
    ADD(&b, ann.v, ann, 290, unpark, .target = bob);
    turn(bob, 350, 500, TURN_PREEMPTED);
    turn(bob, 540, 600, TURN_WAITS);
    turn(bob, 700, 800, TURN_WAITS);
    ADD(&b, bob.v, bob, 800, thread_end);
    known(0, 800);
    analyzed_run(800);
    const struct path *p = &a->path;
    cr_assert_eq(analysis_follow(a, bob.v, at(800), at(0)), 0);
    cr_expect_eq(p->kind_ns[PATH_RUN], 290 + 140 + 60 + 100);
    cr_expect_eq(p->kind_ns[PATH_READY], 60 + 40);
    cr_expect_eq(p->kind_ns[PATH_OFF], 100);
    cr_expect_eq(p->kind_ns[PATH_HANDOFF], 10, "it looks around on its processor first");
    cr_expect_eq(a->bottles.v[ann.v].running, 300);
    cr_expect_eq(a->bottles.v[bob.v].running, 100 + 140 + 60 + 100);
}

Test(processors, shares_fill_what_waits_leave)
{
    uint64_t ns[CPU_STATES];
    does_sleep(ann, 100, 400);
    ADD(&b, SCHED, ann, 1000, processor_share, .since = at(0), .ran = 200, .ready = 50);
    analyzed_run(1000);
    processors_sum(&a->processors, &a->timeline, ann.v, at(0), at(1000), ns);
    cr_expect_eq(ns[CPU_ON], 200);
    cr_expect_eq(ns[CPU_READY], 50);
    cr_expect_eq(ns[CPU_WAITS], 300);
    cr_expect_eq(ns[CPU_OFF], 450);
    cr_expect_eq(ns[CPU_UNKNOWN], 0);
}

/* --- any events, against what is so at each single ns ----------------------------------------- */

enum { LENGTH = 2000 };

static uint64_t roll(uint64_t n)
{
    return (uint64_t)rand() % n;
}

/* What an event says of each ns. */
static char on[LENGTH], waits[LENGTH], calls[LENGTH], is_known[LENGTH], between[LENGTH];

static void make_any(void)
{
    memset(on, 0, sizeof on);
    memset(waits, 0, sizeof waits);
    memset(calls, 0, sizeof calls);
    memset(is_known, 0, sizeof is_known);
    memset(between, 'O', sizeof between);
    char state = 'O';
    for (uint64_t time = roll(50), was = 0; time < LENGTH - 200;) {
        uint64_t to = time + 1 + roll(60);
        uint32_t end = (uint32_t)roll(3), gap = roll(5) == 0 ? TURN_GAP : 0;
        memset(between + was, gap ? '?' : state, time - was);
        memset(on + time, 1, to - time);
        turn(ann, time, to, end | gap);
        state = end == TURN_PREEMPTED ? 'R' : 'O';
        memset(between + to, state, LENGTH - to);
        was = to;
        time = to + roll(80);
    }
    for (uint64_t time = roll(50); time < LENGTH - 200;) {
        uint64_t to = time + 1 + roll(100);
        does_sleep(ann, time, to);
        memset(waits + time, 1, to - time);
        time = to + 1 + roll(100);
    }
    for (uint64_t time = roll(50); time < LENGTH - 200;) {
        uint64_t to = time + 1 + roll(100);
        call(ann, time, to);
        memset(calls + time, 1, to - time);
        time = to + roll(200);
    }
    for (uint64_t time = roll(50); time < LENGTH - 500;) {
        uint64_t to = time + 1 + roll(500);
        ADD(&b, SCHED + 1, (thread_id){0}, to, turns_known, .since = at(time));
        memset(is_known + time, 1, to - time);
        time = to + roll(100);
    }
}

static char letter_at(uint64_t i)
{
    char c = is_known[i] ? between[i] : '?';
    return on[i] ? 'P' : c == 'R' ? 'R' : waits[i] ? 'W' : calls[i] ? 'I' : c;
}

static void compare(void *ctx, const struct cpu_tile *tile)
{
    uint64_t *told = ctx;
    cr_assert_eq(tile->from, *told, "a gap, or an overlap");
    for (uint64_t i = tile->from; i < tile->to; i++)
        cr_assert_eq(letters[tile->kind], letter_at(since(i)), "%lu: %c and not %c",
                     (unsigned long)since(i), letters[tile->kind], letter_at(since(i)));
    *told = tile->to;
}

Test(processors, any_turns_and_waits_tile_a_life)
{
    for (unsigned round = 0; round < 200; round++) {
        uint64_t from = roll(LENGTH / 2), to = from + 1 + roll(LENGTH / 2 - 1), told = at(from);
        srand(round);
        if (round) {
            analyzed_end();
            analyzed_begin();
        }
        make_any();
        analyzed_run(LENGTH);
        processors_tile(&a->processors, &a->timeline, ann.v, at(from), at(to), compare, &told);
        cr_assert_eq(told, at(to));
    }
}

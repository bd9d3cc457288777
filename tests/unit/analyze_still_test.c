/* Threads blocked in input or output, by looks: still.h; and such a thread never counts as
 * running. */
#include "analyzed.h"
#include "conclude/report.h"

#include <criterion/criterion.h>

#define MS UINT64_C(1000000)
enum { SELECT, COMPUTE, ZIP, STACKS };
static stack_id stacks[STACKS];

static void begin(void)
{
    static const char *const frames[STACKS] = {
        "sun.nio.ch.EPoll.wait:native sun.nio.ch.EPollSelectorImpl.doSelect:7 shop.Loop.run:12",
        "shop.Order.submit:88 shop.Main.main:12",
        "java.util.zip.Inflater.inflate:native shop.Order.submit:88"};
    analyzed_begin();
    for (int i = 0; i < STACKS; i++)
        stacks[i] = builder_stack(&b, frames[i]);
}

TestSuite(still, .init = begin, .fini = analyzed_end);

static void look(thread_id who, uint64_t time, uint64_t weight, int stands_in, uint32_t flags)
{
    struct event e = {.time = at(time), .thread = who, .kind = EV_wall_sample, .size = EVENT_HEAD};
    e.wall_sample = (struct ev_wall_sample){.stack = stacks[stands_in],
                                            .weight = weight,
                                            .flags = SAMPLE_LOOK | flags,
                                            .taken = at(time)};
    builder_event(&b, 90, &e);
}

static void lives(thread_id who, uint64_t to)
{
    ADD0(&b, 50 + who.v, who, 0, thread_start);
    ADD0(&b, 50 + who.v, who, to, thread_end);
}

static void check(thread_id who, uint64_t still, uint64_t looks, uint64_t running)
{
    cr_assert_eq(sums_of(who)->halted[HALTED_IO], still, "%lu", sums_of(who)->halted[HALTED_IO]);
    cr_assert_eq(sums_of(who)->looks, looks);
    cr_assert_eq(thread_sums_running(sums_of(who)), running);
    cr_assert_eq(a->bottles.v[who.v].running, running, "%lu", a->bottles.v[who.v].running);
}

/* A look stands for the time up to it; behind the last one the thread runs. */
Test(still, a_select)
{
    lives(ann, 400 * MS);
    look(ann, 100 * MS, 50 * MS, SELECT, SAMPLE_IDLE);
    look(ann, 200 * MS, 100 * MS, SELECT, SAMPLE_IDLE);
    analyzed_run(400 * MS);
    check(ann, 150 * MS, 2, 250 * MS);
    cr_assert_eq(stills_of(&a->stills, ann.v)->n, 1);
}

/* A call that has not returned counts until it was seen last, and once; one that has, from its own
 * begin on, in place of that. */
Test(still, a_call_that_is_open)
{
    lock_id peer = builder_lock(&b, builder_class(&b, "=10.0.0.7:5432"));
    const thread_id who[] = {ann, bob};
    for (int i = 0; i < 2; i++) {
        lives(who[i], 400 * MS);
        look(who[i], 100 * MS, 50 * MS, SELECT, SAMPLE_IDLE);
        for (uint64_t k = 2; k < 4; k++)
            ADD(&b, 30 + (uint32_t)i, who[i], (k * 100 + (uint64_t)i) * MS, io_open,
                .what = IO_KIND_input, .peer = peer, .stack = stack, .since = at(100 * MS));
    }
    ADD(&b, 32, bob, 350 * MS, io, .what = IO_KIND_input, .peer = peer, .stack = stack,
        .since = at(90 * MS));
    analyzed_run(400 * MS);
    const struct still_line *open = stills_of(&a->stills, ann.v),
                            *over = stills_of(&a->stills, bob.v);
    cr_assert_eq(open->n, 2);
    cr_expect_eq(open->v[0].looks, 1);
    cr_expect_eq(since(open->v[1].from), 100 * MS);
    cr_expect_eq(since(open->v[1].to), 300 * MS);
    cr_expect_eq(open->v[1].looks, 0);
    cr_expect_eq(open->v[1].peer.v, peer.v);
    cr_assert_eq(over->n, 1); /* the look was in it */
    cr_expect_eq(since(over->v[0].from), 90 * MS);
    cr_expect_eq(since(over->v[0].to), 350 * MS);
}

/* On a processor; ready to run, in Java or in native code that is neither input nor output. */
Test(still, who_computes_does_not)
{
    lives(ann, 400 * MS);
    look(ann, 100 * MS, 50 * MS, SELECT, 0);
    look(ann, 200 * MS, 50 * MS, COMPUTE, SAMPLE_IDLE);
    look(ann, 300 * MS, 50 * MS, ZIP, SAMPLE_IDLE);
    look(ann, 350 * MS, 50 * MS, ZIP, SAMPLE_IDLE);
    analyzed_run(400 * MS);
    check(ann, 0, 0, 400 * MS);
}

/* Native code that nobody knows, in which the thread does not move. */
Test(still, in_any_native_code_that_does_not_move)
{
    lives(ann, 400 * MS);
    look(ann, 100 * MS, 50 * MS, ZIP, SAMPLE_IDLE);
    look(ann, 200 * MS, 100 * MS, ZIP, SAMPLE_IDLE);
    analyzed_run(400 * MS);
    check(ann, 100 * MS, 1, 300 * MS);
}

/* Or sleeps there for less. */
Test(still, in_any_native_code_and_waits_for_no_processor)
{
    lives(ann, 400 * MS);
    look(ann, 100 * MS, 50 * MS, ZIP, SAMPLE_IDLE | SAMPLE_ASLEEP);
    look(ann, 200 * MS, 100 * MS, ZIP, SAMPLE_IDLE | SAMPLE_ASLEEP);
    look(ann, 300 * MS, 50 * MS, COMPUTE, SAMPLE_IDLE | SAMPLE_ASLEEP);
    analyzed_run(400 * MS);
    check(ann, 150 * MS, 2, 250 * MS);
}

/* A page fault is recorded: a look into it says nothing, and no look reaches back behind one. */
Test(still, not_in_a_page_fault_nor_before_it)
{
    const uint64_t turns[][3] = {{0, 100, 0}, {160, 170, TURN_FAULT}, {240, 400, TURN_FAULT}};
    lives(ann, 400 * MS);
    for (size_t i = 0; i < ARRAY_LEN(turns); i++)
        ADD(&b, 70, ann, turns[i][1] * MS, turn, .since = at(turns[i][0] * MS),
            .end = (uint32_t)turns[i][2]);
    look(ann, 150 * MS, 50 * MS, ZIP, SAMPLE_IDLE | SAMPLE_ASLEEP);
    look(ann, 165 * MS, 50 * MS, ZIP, SAMPLE_IDLE | SAMPLE_ASLEEP);
    look(ann, 200 * MS, 50 * MS, ZIP, SAMPLE_IDLE | SAMPLE_ASLEEP);
    look(ann, 260 * MS, 50 * MS, ZIP, SAMPLE_IDLE | SAMPLE_ASLEEP);
    analyzed_run(400 * MS);
    const struct still_line *l = stills_of(&a->stills, ann.v);
    cr_assert_eq(l->n, 2);
    cr_expect_eq(l->found, 100 * MS);
    cr_expect_eq(since(l->v[0].from), 160 * MS);
    cr_expect_eq(since(l->v[0].to), 165 * MS);
    cr_expect_eq(since(l->v[1].from), 240 * MS);
    cr_expect_eq(since(l->v[1].to), 260 * MS);
}

/* What is recorded is more than what a look stands for; and so is another look. */
Test(still, not_in_a_wait_nor_before_another_look)
{
    lives(ann, 400 * MS);
    does_block(ann, 60 * MS, 70 * MS, lock, bob);
    look(ann, 80 * MS, 50 * MS, SELECT, SAMPLE_IDLE);
    look(ann, 200 * MS, 50 * MS, COMPUTE, 0);
    look(ann, 210 * MS, 50 * MS, SELECT, SAMPLE_IDLE);
    analyzed_run(400 * MS);
    check(ann, 50 * MS - 10 * MS + 10 * MS, 2, 400 * MS - 10 * MS - 50 * MS);
    const struct still_line *l = stills_of(&a->stills, ann.v);
    cr_assert_eq(l->n, 3);
    cr_assert_eq(since(l->v[0].to), 60 * MS);
    cr_assert_eq(since(l->v[1].from), 70 * MS);
    cr_assert_eq(l->v[1].looks, 0);
}

/* Nobody ran, and the path to its end is not of its running. */
Test(still, the_path_and_who_ran_alone)
{
    lives(ann, 400 * MS);
    lives(bob, 300 * MS);
    lives(cat, 1);
    lives(dan, 1);
    does_sleep(bob, 50 * MS, 300 * MS);
    look(ann, 100 * MS, 50 * MS, SELECT, SAMPLE_IDLE);
    look(ann, 350 * MS, 250 * MS, SELECT, SAMPLE_IDLE);
    analyzed_run(400 * MS);
    cr_assert_eq(a->path.kind_ns[PATH_IO], 300 * MS);
    cr_assert_eq(a->path.kind_ns[PATH_RUN], 100 * MS);
    cr_assert_eq(a->bottles.v[ann.v].alone, 50 * MS);
    cr_assert_eq(a->bottles.idle + a->bottles.level[1] + a->bottles.level[2] + a->bottles.level[3] +
                     a->bottles.level[4],
                 400 * MS);
    const struct selection part = {.from = at(80 * MS), .to = at(90 * MS)};
    cr_assert_eq(analysis_select(a, &part), 0);
    cr_assert_eq(sums_of(ann)->halted[HALTED_IO], 10 * MS);
    cr_assert_eq(thread_sums_running(sums_of(ann)), 0);
}

/* A wait whose owner is not known is a pair of its own: the rows add up to all that was waited. */
Test(still, pairs_add_up)
{
    struct err err = {""};
    class_id sync = builder_class(&b, "Ljava/util/concurrent/locks/ReentrantLock$NonfairSync;");
    lock_id of = builder_lock(&b, sync);
    does_block(ann, 10, 20, lock, bob);
    ADD(&b, 2, bob, 30, park_enter, .lock = of, .stack = stack);
    ADD(&b, 2, bob, 70, park_exit, .lock = of);
    analyzed_run(1000);
    struct report r = {.trace = t, .a = a, .path = "x", .sections = REPORT_OWNERS};
    const struct report_part all = {.to = UINT64_MAX};
    cr_assert_eq(report_select(&r, &all, &err), 0);
    cr_assert_eq(report_init(&r, NULL, &err), 0);
    uint64_t sum = 0;
    for (size_t i = 0; i < r.n_pairs; i++)
        sum += r.pairs[i].held_up.ns;
    cr_assert_eq(sum, 50);
    cr_assert_eq(sum, a->stats.total[HELD_UP].ns);
}

/* --- recorded calls (group io) ---------------------------------------------------------------- */

static void called(thread_id who, uint64_t from, uint64_t to, lock_id peer, int stands_in)
{
    struct event e = {.time = at(to), .thread = who, .kind = EV_io, .size = EVENT_HEAD};
    e.io = (struct ev_io){.what = IO_KIND_input,
                          .peer = peer,
                          .bytes = -1,
                          .since = at(from),
                          .stack = stacks[stands_in]};
    builder_event(&b, 70 + who.v, &e);
}

/* Exact without any look; what a look says of the same call counts once, and reaches no farther. */
Test(still, recorded_and_looked_at)
{
    lives(ann, 400 * MS);
    called(ann, 100 * MS, 190 * MS, lock, SELECT);
    called(ann, 200 * MS, 300 * MS, (lock_id){0}, SELECT);
    look(ann, 150 * MS, 150 * MS, SELECT, SAMPLE_IDLE);
    look(ann, 195 * MS, 45 * MS, SELECT, SAMPLE_IDLE);
    look(ann, 310 * MS, 50 * MS, COMPUTE, 0);
    analyzed_run(400 * MS);
    check(ann, 90 * MS + 5 * MS + 100 * MS, 1, 400 * MS - 195 * MS);
    const struct still_line *l = stills_of(&a->stills, ann.v);
    cr_assert_eq(l->n, 3);
    cr_assert_eq(since(l->v[0].from), 100 * MS);
    cr_assert_eq(l->v[0].peer.v, lock.v);
    cr_assert_eq(l->v[0].looks, 0);
    cr_assert_eq(since(l->v[1].from), 190 * MS);
    cr_assert_eq(l->v[1].looks, 1);
    cr_assert_eq(l->v[2].peer.v, 0);
}

/* What began before the recording counts from its beginning on; calls overlap in no true trace. */
Test(still, recorded_at_odds)
{
    lives(ann, 400 * MS);
    called(ann, 10 * MS, 100 * MS, lock, SELECT);
    called(ann, 50 * MS, 150 * MS, lock, SELECT);
    called(ann, 390 * MS, 390 * MS, lock, SELECT);
    called(bob, 0, 50 * MS, lock, SELECT);
    analyzed_run(400 * MS);
    check(ann, 140 * MS, 0, 260 * MS);
    const struct still_line *l = stills_of(&a->stills, ann.v);
    cr_assert_eq(l->n, 2);
    cr_assert_eq(l->v[1].from, l->v[0].to);
}

/* The path through a recorded call tells its peer. */
Test(still, recorded_on_the_path)
{
    lives(ann, 400 * MS);
    lives(bob, 300 * MS);
    lives(cat, 1);
    lives(dan, 1);
    does_sleep(bob, 50 * MS, 300 * MS);
    called(ann, 100 * MS, 300 * MS, lock, SELECT);
    analyzed_run(400 * MS);
    cr_assert_eq(a->path.kind_ns[PATH_IO], 200 * MS);
    for (size_t i = 0; i < a->path.n; i++)
        cr_assert_eq(a->path.v[i].peer.v, a->path.v[i].kind == PATH_IO ? lock.v : 0);
}

/* Where an event already says what the thread did, that counts, once. */
Test(still, recorded_in_a_wait)
{
    lives(ann, 400 * MS);
    does_block(ann, 120 * MS, 150 * MS, lock, bob);
    called(ann, 100 * MS, 200 * MS, lock, SELECT);
    analyzed_run(400 * MS);
    check(ann, 70 * MS, 0, 300 * MS);
    cr_assert_eq(stills_of(&a->stills, ann.v)->n, 2);
}

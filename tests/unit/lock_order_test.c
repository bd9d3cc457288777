/* Recordings with known orders of locks: what is a finding, and what keeps it from being one. */
#include "analyze/analysis.h"
#include "analyze/lock_order.h"
#include "conclude/resource.h"
#include "trace_builder.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS_MAX = 20000, MONITOR = 0, LOCK = 1, READ = 2, MS = 1000000 };

static struct trace_builder b;
static thread_id ann, bob, eve, dan;
static class_id order, stock, bill;
static lock_id A, B, C, G;
static stack_id at_a, at_b, at_c;
static struct event events[EVENTS_MAX];
static size_t n_events;
static struct trace *t;
static struct analysis *a;
static struct arena arena;
static struct lock_order found;

static void begin(void)
{
    builder_init(&b);
    ann = builder_thread(&b, "ann");
    bob = builder_thread(&b, "bob");
    eve = builder_thread(&b, "eve");
    dan = builder_thread(&b, "dan");
    order = builder_class(&b, "Lshop/Order;");
    stock = builder_class(&b, "Lshop/Stock;");
    bill = builder_class(&b, "Lshop/Bill;");
    A = builder_lock(&b, order);
    B = builder_lock(&b, stock);
    C = builder_lock(&b, bill);
    G = builder_lock(&b, builder_class(&b, "Lshop/Gate;"));
    at_a = builder_stack(&b, "shop.Order.submit:88 shop.Main.main:12");
    at_b = builder_stack(&b, "shop.Stock.take:31 shop.Main.main:13");
    at_c = builder_stack(&b, "shop.Bill.print:7 shop.Main.main:14");
    n_events = 0;
    arena_init(&arena, 0);
    t = NULL;
    a = NULL;
}

static void end(void)
{
    analysis_free(a);
    trace_close(t);
    arena_fini(&arena);
}

TestSuite(lock_order, .init = begin, .fini = end);

/* Events may come in any order. */
#define TELL(thread_, time_, kind_, ...)                                                           \
    (events[n_events++] = (struct event){.time = (uint64_t)(time_),                                \
                                         .thread = (thread_),                                      \
                                         .kind = EV_##kind_,                                       \
                                         .size = EVENT_HEAD,                                       \
                                         .kind_ = {__VA_ARGS__}})
#define TELL0(thread_, time_, kind_)                                                               \
    (events[n_events++] = (struct event){                                                          \
         .time = (uint64_t)(time_), .thread = (thread_), .kind = EV_##kind_, .size = EVENT_HEAD})

static stack_id place_of(lock_id lock)
{
    return lock.v == A.v ? at_a : lock.v == B.v ? at_b : at_c;
}

static void hold_as(thread_id who, lock_id lock, uint64_t from, uint64_t to, uint32_t mode)
{
    TELL(who, to, hold, .lock = lock, .since = BUILDER_START + from, .stack = place_of(lock),
         .mode = mode);
}

static void hold(thread_id who, lock_id lock, uint64_t from, uint64_t to)
{
    hold_as(who, lock, from, to, MONITOR);
}

/* `outer` from `at`, 100 ns; within it `inner` from 40, 20 ns. */
static void nest(thread_id who, lock_id outer, lock_id inner, uint64_t at)
{
    hold(who, inner, at + 40, at + 60);
    hold(who, outer, at, at + 100);
}

static void block(thread_id who, lock_id lock, thread_id owner, uint64_t from, uint64_t to)
{
    TELL(who, from, monitor_contended_enter, .lock = lock, .owner = owner, .stack = place_of(lock));
    TELL(who, to, monitor_contended_entered, .lock = lock);
}

static int by_time(const void *x, const void *y)
{
    const struct event *const e = x, *const f = y;
    if (e->time != f->time)
        return e->time < f->time ? -1 : 1;
    return (e > f) - (e < f);
}

static void run(uint64_t until)
{
    struct err err = {""};
    cr_assert_leq(n_events, EVENTS_MAX);
    qsort(events, n_events, sizeof *events, by_time);
    for (size_t i = 0; i < n_events; i++) {
        events[i].time += BUILDER_START;
        builder_event(&b, events[i].thread.v, &events[i]);
    }
    t = builder_open(&b, until);
    cr_assert_eq(conclude_run(&a, t, &err), 0, "%s", err.msg);
    cr_assert_eq(lock_order_find(&found, a, &arena), 0);
}

static const struct lock_order_finding *only_finding(void)
{
    cr_assert_eq(found.n, 1, "%zu findings", found.n);
    return &found.v[0];
}

/* The side of a finding that a thread has. */
static const struct lock_order_side *side_of(const struct lock_order_finding *f, thread_id who)
{
    for (uint32_t i = 0; i < f->n_sides; i++)
        if (f->sides[i].thread == who.v)
            return &f->sides[i];
    cr_assert_fail("no side of thread %u", who.v);
    return NULL;
}

static void expect_silence(void)
{
    cr_assert_eq(found.n, 0, "%zu findings", found.n);
}

/* --- inversions ------------------------------------------------------------------------------- */

Test(lock_order, nothing_recorded)
{
    run(1000);
    expect_silence();
    cr_assert_eq(found.edges, 0);
}

Test(lock_order, an_inversion)
{
    nest(ann, A, B, 1000);
    nest(bob, B, A, 2000);
    run(5000);
    const struct lock_order_finding *f = only_finding();
    cr_assert_eq(f->n_sides, 2);
    cr_assert_eq(f->distance, 900);
    cr_assert_eq(f->cycles, 1);
    cr_assert_eq(f->count, 1);
    cr_assert(!f->partial);
    const struct lock_order_side *s = side_of(f, ann);
    cr_assert_eq(s->held.v, A.v);
    cr_assert_eq(s->wanted.v, B.v);
    cr_assert_eq(s->from, BUILDER_START + 1000);
    cr_assert_eq(s->to, BUILDER_START + 1100);
    cr_assert_eq(s->wanted_time, BUILDER_START + 1040);
    cr_assert_eq(s->held_at.stack.v, at_a.v);
    cr_assert_eq(s->held_at.what, LOCK_ORDER_GIVEN_BACK);
    cr_assert_eq(s->wanted_at.stack.v, at_b.v);
    cr_assert_eq(s->wanted_at.what, LOCK_ORDER_GIVEN_BACK);
    cr_assert(!s->seen && !s->open);
    cr_assert_eq(side_of(f, bob)->held.v, B.v);
    cr_assert_eq(found.edges, 2);
}

Test(lock_order, one_order_is_none)
{
    nest(ann, A, B, 1000);
    nest(bob, A, B, 2000);
    nest(eve, B, C, 3000);
    nest(dan, A, C, 4000);
    run(5000);
    expect_silence();
    cr_assert_eq(found.edges, 3);
}

Test(lock_order, hand_over_hand)
{
    hold(ann, A, 1000, 1100);
    hold(ann, B, 1050, 1200); /* A is given back first */
    nest(bob, B, A, 2000);
    run(5000);
    cr_assert_eq(only_finding()->distance, 900);
}

Test(lock_order, one_after_the_other_is_no_order)
{
    hold(ann, A, 1000, 1100);
    hold(ann, B, 1100, 1200);
    nest(bob, B, A, 2000);
    run(5000);
    expect_silence();
}

/* At one time: no order. */
Test(lock_order, taken_at_one_time)
{
    hold(ann, B, 1000, 1060);
    hold(ann, A, 1000, 1100);
    nest(bob, B, A, 2000);
    run(5000);
    expect_silence();
    cr_assert_eq(found.edges, 1);
}

/* The nearest of several, and how often each side ran. */
Test(lock_order, the_nearest_is_the_example)
{
    for (int i = 0; i < 10; i++)
        nest(ann, A, B, 10000 + 1000 * (uint64_t)i);
    nest(bob, B, A, 30000);
    nest(bob, B, A, 14100 + 250);
    run(50000);
    const struct lock_order_finding *f = only_finding();
    cr_assert_eq(f->distance, 250);
    cr_assert_eq(side_of(f, ann)->from, BUILDER_START + 14000);
    cr_assert_eq(side_of(f, bob)->from, BUILDER_START + 14350);
    cr_assert_eq(side_of(f, ann)->times, 10);
    cr_assert_eq(side_of(f, bob)->times, 2);
    cr_assert_eq(f->count, 2);
}

/* bob had to wait for the lock that ann had, while he had the one that she had had: they met. */
Test(lock_order, sections_that_overlap)
{
    nest(ann, A, B, 1000);
    hold(bob, B, 1065, 1300);
    block(bob, A, ann, 1080, 1101);
    hold(bob, A, 1102, 1200);
    run(5000);
    const struct lock_order_finding *f = only_finding();
    cr_assert_eq(f->distance, 0);
    const struct lock_order_side *s = side_of(f, bob);
    cr_assert_eq(s->wanted_time, BUILDER_START + 1080);
    cr_assert_eq(s->wanted_at.what, LOCK_ORDER_WANTED);
}

Test(lock_order, ranks_by_distance_then_count)
{
    lock_id D = builder_lock(&b, builder_class(&b, "Lshop/Door;"));
    nest(ann, A, B, 1000);
    nest(bob, B, A, 2000);
    nest(ann, A, C, 3000);
    nest(bob, C, A, 3200);
    nest(ann, B, D, 10000);
    nest(bob, D, B, 11000);
    nest(ann, B, D, 20000);
    nest(bob, D, B, 21000);
    run(50000);
    cr_assert_eq(found.n, 3);
    cr_assert_eq(found.v[0].distance, 100);
    cr_assert_eq(found.v[1].distance, 900);
    cr_assert_eq(found.v[1].count, 2);
    cr_assert_eq(found.v[2].distance, 900);
    cr_assert_eq(found.v[2].count, 1);
}

/* --- what is no finding ----------------------------------------------------------------------- */

Test(lock_order, a_gate_lock)
{
    hold(ann, G, 900, 1200);
    nest(ann, A, B, 1000);
    hold(bob, G, 1900, 2200);
    nest(bob, B, A, 2000);
    run(5000);
    expect_silence();
    cr_assert_eq(found.suppressed.gate, 1);
}

/* Both under a lock, but each under one of its own. */
Test(lock_order, two_gates_are_none)
{
    hold(ann, G, 900, 1200);
    nest(ann, A, B, 1000);
    hold(bob, C, 1900, 2200);
    nest(bob, B, A, 2000);
    run(5000);
    only_finding();
    cr_assert_eq(found.suppressed.gate, 0);
}

/* Now and then without the gate: that is one. */
Test(lock_order, a_gate_that_is_not_always_there)
{
    hold(ann, G, 900, 1200);
    nest(ann, A, B, 1000);
    hold(bob, G, 1900, 2200);
    nest(bob, B, A, 2000);
    nest(ann, A, B, 4000);
    run(5000);
    const struct lock_order_finding *f = only_finding();
    cr_assert_eq(f->distance, 1900);
    cr_assert_eq(side_of(f, ann)->from, BUILDER_START + 4000);
    cr_assert_eq(found.suppressed.gate, 1);
}

/* A lock that is held shared by both does not keep them apart. */
Test(lock_order, a_shared_gate_is_none)
{
    hold_as(ann, G, 900, 1200, READ);
    nest(ann, A, B, 1000);
    hold_as(bob, G, 1900, 2200, READ);
    nest(bob, B, A, 2000);
    run(5000);
    only_finding();
}

Test(lock_order, a_gate_that_one_holds_shared)
{
    hold_as(ann, G, 900, 1200, READ);
    nest(ann, A, B, 1000);
    hold_as(bob, G, 1900, 2200, LOCK);
    nest(bob, B, A, 2000);
    run(5000);
    expect_silence();
    cr_assert_eq(found.suppressed.gate, 1);
}

Test(lock_order, the_same_thread)
{
    nest(ann, A, B, 1000);
    nest(ann, B, A, 2000);
    run(5000);
    expect_silence();
    cr_assert_eq(found.suppressed.same_thread, 1);
}

/* ann takes A again within B: she has it already. */
Test(lock_order, taken_again)
{
    hold(ann, A, 1050, 1060); /* as if it were a hold of its own */
    nest(ann, A, B, 1000);
    nest(bob, A, B, 2000);
    run(5000);
    expect_silence();
    cr_assert_eq(found.edges, 1);
}

Test(lock_order, readers_only)
{
    hold_as(ann, B, 1040, 1060, READ);
    hold_as(ann, A, 1000, 1100, READ);
    hold_as(bob, A, 2040, 2060, READ);
    hold_as(bob, B, 2000, 2100, READ);
    run(5000);
    expect_silence();
    cr_assert_eq(found.suppressed.shared, 1);
}

/* At A a reader meets a reader: nobody waits there. */
Test(lock_order, readers_of_one_of_the_locks)
{
    hold_as(ann, B, 1040, 1060, LOCK);
    hold_as(ann, A, 1000, 1100, READ);
    hold_as(bob, A, 2040, 2060, READ);
    hold_as(bob, B, 2000, 2100, LOCK);
    run(5000);
    expect_silence();
    cr_assert_eq(found.suppressed.shared, 1);
}

Test(lock_order, a_writer_and_readers)
{
    hold_as(ann, B, 1040, 1060, READ);
    hold_as(ann, A, 1000, 1100, READ);
    hold_as(bob, A, 2040, 2060, LOCK);
    hold_as(bob, B, 2000, 2100, LOCK);
    run(5000);
    only_finding();
}

/* Of readers at the same time the one that ended last is nearer, not the one that began last. */
Test(lock_order, readers_that_overlap)
{
    hold_as(eve, A, 1000, 5000, READ);
    hold_as(eve, B, 1040, 1060, LOCK);
    hold_as(ann, A, 2000, 2100, READ);
    hold_as(ann, B, 2040, 2060, LOCK);
    nest(bob, B, A, 5500);
    run(9000);
    const struct lock_order_finding *f = only_finding();
    cr_assert_eq(f->distance, 500);
    cr_assert_eq(side_of(f, eve)->from, BUILDER_START + 1000);
}

/* Held in both ways it is held exclusively. */
Test(lock_order, held_shared_and_exclusively)
{
    hold_as(ann, A, 1000, 1100, READ);
    hold_as(ann, A, 1010, 1090, LOCK);
    hold_as(ann, B, 1040, 1060, LOCK);
    hold_as(bob, A, 2040, 2060, READ);
    hold_as(bob, B, 2000, 2100, LOCK);
    run(5000);
    cr_assert_eq(side_of(only_finding(), ann)->from, BUILDER_START + 1010);
}

/* A writer goes on as a reader: no second taking, and it holds the lock until the end. */
Test(lock_order, a_writer_that_becomes_a_reader)
{
    hold_as(ann, A, 1000, 1050, LOCK);
    hold_as(ann, A, 1040, 1200, READ);
    hold_as(ann, B, 1100, 1110, LOCK);
    hold_as(bob, A, 2040, 2060, LOCK);
    hold_as(bob, B, 2000, 2100, LOCK);
    run(5000);
    const struct lock_order_finding *f = only_finding();
    cr_assert_eq(side_of(f, ann)->from, BUILDER_START + 1040);
    cr_assert_eq(found.edges, 2);
}

static void start_thread(thread_id who, thread_id by, uint64_t time)
{
    TELL(by, time, thread_start_called, .target = who, .stack = at_a);
    TELL0(who, time + 5, thread_start);
}

static void join_thread(thread_id who, thread_id by, uint64_t from, uint64_t ended)
{
    TELL0(who, ended, thread_end);
    TELL(by, from, join_enter, .target = who, .stack = at_a);
    TELL(by, ended + 10, join_exit, .target = who);
}

Test(lock_order, before_the_start)
{
    nest(ann, A, B, 1000);
    start_thread(bob, ann, 1500);
    nest(bob, B, A, 2000);
    run(5000);
    expect_silence();
    cr_assert_eq(found.suppressed.start_join, 1);
}

/* The second lock was taken before bob was there; that ann still has both does not matter. */
Test(lock_order, started_inside)
{
    nest(ann, A, B, 1000);
    start_thread(bob, ann, 1080);
    nest(bob, B, A, 2000);
    run(5000);
    expect_silence();
}

Test(lock_order, after_the_start)
{
    start_thread(bob, ann, 500);
    nest(ann, A, B, 1000);
    nest(bob, B, A, 2000);
    run(5000);
    only_finding();
}

Test(lock_order, after_the_join)
{
    start_thread(bob, ann, 500);
    nest(bob, B, A, 1000);
    join_thread(bob, ann, 600, 1500);
    nest(ann, A, B, 2000);
    run(5000);
    expect_silence();
    cr_assert_eq(found.suppressed.start_join, 1);
}

/* bob's end comes just before ann begins to wait for it. */
Test(lock_order, joined_when_it_had_ended)
{
    start_thread(bob, ann, 500);
    nest(bob, B, A, 1000);
    TELL0(bob, 1500, thread_end);
    TELL(ann, 1520, join_enter, .target = bob, .stack = at_a);
    TELL(ann, 1530, join_exit, .target = bob);
    nest(ann, A, B, 2000);
    run(5000);
    expect_silence();
    cr_assert_eq(found.suppressed.start_join, 1);
}

Test(lock_order, joined_with_a_time_limit)
{
    start_thread(bob, ann, 500);
    TELL(ann, 600, join_enter, .target = bob, .timeout_ns = 300);
    TELL(ann, 900, join_exit, .target = bob);
    nest(ann, A, B, 1000);
    nest(bob, B, A, 2000);
    TELL0(bob, 3000, thread_end);
    run(5000);
    only_finding();
}

/* bob ends ann's join by an interrupt: he is not over. */
Test(lock_order, interrupted_by_the_one_that_is_joined)
{
    start_thread(bob, ann, 500);
    TELL(ann, 600, join_enter, .target = bob);
    TELL(bob, 700, interrupt, .target = ann);
    TELL0(ann, 710, interrupted);
    TELL(ann, 720, join_exit, .target = bob);
    nest(ann, A, B, 1000);
    nest(bob, B, A, 2000);
    run(5000);
    only_finding();
}

/* One thread, then another, both started and joined by a third. */
Test(lock_order, along_a_chain)
{
    start_thread(bob, ann, 500);
    nest(bob, B, A, 1000);
    join_thread(bob, ann, 600, 1500);
    start_thread(eve, ann, 1600);
    start_thread(dan, eve, 1700);
    nest(dan, A, B, 2000);
    run(5000);
    expect_silence();
    cr_assert_eq(found.suppressed.start_join, 1);
}

Test(lock_order, side_by_side)
{
    start_thread(bob, ann, 500);
    start_thread(eve, ann, 600);
    nest(bob, B, A, 1000);
    nest(eve, A, B, 2000);
    join_thread(bob, ann, 3000, 3100);
    join_thread(eve, ann, 3200, 3300);
    run(5000);
    only_finding();
}

/* A task comes after its submission. */
Test(lock_order, handed_over)
{
    const struct str class_name = {"Ljava/util/concurrent/ThreadPoolExecutor;", 41};
    const char *const methods[] = {"execute", "beforeExecute"};
    for (uint32_t i = 0; i < 2; i++)
        builder_def(&b, &(struct def){.kind = DEF_call,
                                      .call = {.id = {i + 1},
                                               .name = {methods[i], strlen(methods[i])},
                                               .class_name = class_name,
                                               .method = {methods[i], strlen(methods[i])}}});
    nest(ann, A, B, 1000);
    TELL(ann, 1200, call, .call = {1}, .lock = G);
    TELL(bob, 1300, call, .call = {2}, .lock = G);
    nest(bob, B, A, 2000);
    run(5000);
    expect_silence();
    cr_assert_eq(found.suppressed.start_join, 1);
}

/* Once before the start, and once after it: only that counts. */
Test(lock_order, not_always_before)
{
    nest(ann, A, B, 1000);
    start_thread(bob, ann, 1500);
    nest(bob, B, A, 1600);
    nest(ann, A, B, 9000);
    run(10000);
    const struct lock_order_finding *f = only_finding();
    cr_assert_eq(side_of(f, ann)->from, BUILDER_START + 9000);
    cr_assert_eq(f->distance, 7300);
}

/* --- longer cycles, many cycles --------------------------------------------------------------- */

Test(lock_order, three_locks)
{
    nest(ann, A, B, 1000);
    nest(bob, B, C, 2000);
    nest(eve, C, A, 3000);
    run(5000);
    const struct lock_order_finding *f = only_finding();
    cr_assert_eq(f->n_sides, 3);
    cr_assert_eq(f->distance, 1900);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(f->sides[i].wanted.v, f->sides[(i + 1) % 3].held.v);
}

Test(lock_order, four_locks)
{
    nest(ann, A, B, 1000);
    nest(bob, B, C, 1200);
    nest(eve, C, G, 1400);
    nest(dan, G, A, 1600);
    run(5000);
    const struct lock_order_finding *f = only_finding();
    cr_assert_eq(f->n_sides, 4);
    cr_assert_eq(f->distance, 500);
}

Test(lock_order, three_locks_two_threads)
{
    nest(ann, A, B, 1000);
    nest(bob, B, C, 2000);
    nest(ann, C, A, 3000);
    run(5000);
    expect_silence();
    cr_assert_eq(found.suppressed.same_thread, 1);
}

Test(lock_order, a_gate_of_two_of_three)
{
    nest(ann, A, B, 1000);
    hold(bob, G, 1900, 2200);
    nest(bob, B, C, 2000);
    hold(eve, G, 2900, 3200);
    nest(eve, C, A, 3000);
    run(5000);
    expect_silence();
    cr_assert_eq(found.suppressed.gate, 1);
}

Test(lock_order, many_objects_are_one_finding)
{
    enum { PAIRS = 1000 };
    for (uint64_t i = 0; i < PAIRS; i++) {
        lock_id x = builder_lock(&b, order), y = builder_lock(&b, stock);
        hold(ann, y, 10000 * i + 40, 10000 * i + 60);
        hold(ann, x, 10000 * i, 10000 * i + 100);
        uint64_t at = 10000 * i + 5000 - i;
        hold(bob, x, at + 40, at + 60);
        hold(bob, y, at, at + 100);
    }
    run(10000 * PAIRS);
    const struct lock_order_finding *f = only_finding();
    cr_assert_eq(f->cycles, PAIRS);
    cr_assert_eq(f->count, PAIRS);
    cr_assert_eq(f->distance, 5000 - 999 - 100);
}

/* The same classes at other places: another finding. */
Test(lock_order, other_places_are_another_finding)
{
    nest(ann, A, B, 1000);
    nest(bob, B, A, 2000);
    lock_id x = builder_lock(&b, order), y = builder_lock(&b, stock);
    hold(ann, y, 3040, 3060); /* at_c */
    hold(ann, x, 3000, 3100);
    hold(bob, x, 4040, 4060);
    hold(bob, y, 4000, 4100);
    run(5000);
    cr_assert_eq(found.n, 2);
}

Test(lock_order, more_findings_than_are_kept)
{
    enum { CLASSES = LOCK_ORDER_FINDINGS + 100 };
    for (uint64_t i = 0; i < CLASSES; i++) {
        char name[40];
        snprintf(name, sizeof name, "Lshop/Part%u;", (unsigned)i);
        lock_id x = builder_lock(&b, builder_class(&b, name));
        nest(ann, x, B, 10000 * i);
        nest(bob, B, x, 10000 * i + 2000 + i);
    }
    run(10000 * CLASSES);
    cr_assert_eq(found.n, LOCK_ORDER_FINDINGS);
    cr_assert_eq(found.passed_over.findings, 100);
    cr_assert_eq(found.v[0].distance, 1900);
    cr_assert_eq(found.v[found.n - 1].distance, 1900 + LOCK_ORDER_FINDINGS - 1);
}

/* Locks of one class, both sides at the same place: moving money between accounts. */
Test(lock_order, one_class_one_place)
{
    enum { ACCOUNTS = 10 };
    lock_id account[ACCOUNTS];
    uint64_t now = 1000;
    for (int i = 0; i < ACCOUNTS; i++)
        account[i] = builder_lock(&b, bill);
    for (int i = 0; i < ACCOUNTS; i++)
        for (int k = 0; k < ACCOUNTS; k++, now += 1000)
            if (i != k)
                nest(i < k ? ann : bob, account[i], account[k], now);
    run(now);
    const struct lock_order_finding *f = only_finding();
    cr_assert_eq(f->n_sides, 2);
    cr_assert_eq(f->cycles, ACCOUNTS * (ACCOUNTS - 1) / 2);
}

/* --- waits ------------------------------------------------------------------------------------ */

/* Without holds: eve and dan, who wait for them, see that ann and bob have a lock and want the
 * other. */
Test(lock_order, owners_seen)
{
    block(ann, B, bob, 1 * MS, 2 * MS);
    block(eve, A, ann, 1 * MS + 500000, 3 * MS);
    block(bob, A, ann, 11 * MS, 12 * MS);
    block(dan, B, bob, 11 * MS + 500000, 13 * MS);
    run(20 * MS);
    const struct lock_order_finding *f = only_finding();
    cr_assert_eq(f->n_sides, 2);
    cr_assert(f->partial);
    cr_assert(!f->checked);
    cr_assert_eq(f->reach, LOCK_ORDER_CANDIDATE);
    const struct lock_order_side *s = side_of(f, ann);
    cr_assert(s->seen);
    cr_assert_eq(s->held.v, A.v);
    cr_assert_eq(s->wanted.v, B.v);
    cr_assert_eq(s->from, BUILDER_START + 1 * MS);
    cr_assert_eq(s->to, BUILDER_START + 2 * MS);
    cr_assert_eq(s->wanted_at.stack.v, at_b.v);
    cr_assert_eq(s->wanted_at.what, LOCK_ORDER_WANTED);
    cr_assert_eq(s->held_at.what, LOCK_ORDER_UNKNOWN);
    cr_assert_eq(f->distance, 9 * MS);
}

/* Where ann took the lock the last time that she had to wait for it; what bob executed. */
Test(lock_order, stacks_of_owners_seen)
{
    block(ann, A, eve, 500000, 600000);
    block(ann, B, bob, 1 * MS, 2 * MS);
    block(eve, A, ann, 1 * MS + 500000, 3 * MS);
    block(bob, A, ann, 11 * MS, 12 * MS);
    block(dan, B, bob, 11 * MS + 500000, 13 * MS);
    TELL(dan, 11 * MS + 600000, owner_stack, .lock = B, .owner = bob, .stack = at_c);
    run(20 * MS);
    const struct lock_order_finding *f = only_finding();
    cr_assert_eq(side_of(f, ann)->held_at.what, LOCK_ORDER_EARLIER);
    cr_assert_eq(side_of(f, ann)->held_at.stack.v, at_a.v);
    cr_assert_eq(side_of(f, bob)->held_at.what, LOCK_ORDER_OWNING);
    cr_assert_eq(side_of(f, bob)->held_at.stack.v, at_c.v);
}

/* A sum is of several waits: between them ann ran, and may have taken A. */
Test(lock_order, an_owner_seen_in_a_sum_of_waits)
{
    TELL(ann, 2 * MS, wait_sum, .kind = EV_monitor_contended_enter, .lock = B, .owner = bob,
         .stack = at_b, .since = BUILDER_START + 1 * MS, .until = BUILDER_START + 2 * MS,
         .count = 5, .total = 800000, .longest = 300000);
    block(eve, A, ann, 1 * MS + 500000, 3 * MS);
    block(bob, A, ann, 11 * MS, 12 * MS);
    block(dan, B, bob, 11 * MS + 500000, 13 * MS);
    run(20 * MS);
    expect_silence();
    cr_assert_eq(found.edges, 1);
}

Test(lock_order, two_locks_seen_in_one_wait)
{
    block(ann, B, bob, 1 * MS, 2 * MS);
    block(eve, A, ann, 1 * MS + 200000, 3 * MS);
    block(dan, C, ann, 1 * MS + 400000, 3 * MS);
    run(20 * MS);
    cr_assert_eq(found.edges, 2);
}

/* eve reads the owner too near to the end of ann's wait: she may have taken A after it. */
Test(lock_order, seen_too_late)
{
    block(ann, B, bob, 1 * MS, 2 * MS);
    block(eve, A, ann, 2 * MS - 10000, 3 * MS);
    block(bob, A, ann, 11 * MS, 12 * MS);
    block(dan, B, bob, 11 * MS + 500000, 13 * MS);
    run(20 * MS);
    expect_silence();
    cr_assert_eq(found.edges, 1);
}

/* eve had A while ann was still waiting: ann cannot have had it. */
Test(lock_order, seen_and_contradicted)
{
    block(ann, B, bob, 1 * MS, 2 * MS);
    block(eve, A, ann, 1 * MS + 500000, 2 * MS - 200000);
    block(bob, A, ann, 11 * MS, 12 * MS);
    block(dan, B, bob, 11 * MS + 500000, 13 * MS);
    run(20 * MS);
    expect_silence();
}

/* What was seen and what was held, on one side each. */
Test(lock_order, seen_and_held)
{
    nest(ann, A, B, 1000);
    block(bob, A, ann, 11 * MS, 12 * MS);
    block(dan, B, bob, 11 * MS + 500000, 13 * MS);
    run(20 * MS);
    const struct lock_order_finding *f = only_finding();
    cr_assert(!side_of(f, ann)->seen);
    cr_assert(side_of(f, bob)->seen);
}

/* A reader may wait for a lock that bob holds shared: a park does not say what it is for. */
Test(lock_order, a_park_may_be_a_readers)
{
    TELL(ann, 1 * MS, park_enter, .lock = B, .stack = at_b);
    TELL(ann, 2 * MS, park_exit, .lock = B);
    hold(ann, A, 500000, 3 * MS);
    hold(bob, A, 11 * MS, 12 * MS);
    hold_as(bob, B, 10 * MS, 13 * MS, READ);
    run(20 * MS);
    expect_silence();
    cr_assert_eq(found.suppressed.shared, 1);
}

Test(lock_order, a_park_that_led_to_a_hold)
{
    TELL(ann, 1 * MS, park_enter, .lock = B, .stack = at_b);
    TELL(ann, 1 * MS + 500000, park_exit, .lock = B);
    TELL(ann, 1 * MS + 600000, park_enter, .lock = B, .stack = at_b);
    TELL(ann, 2 * MS, park_exit, .lock = B);
    hold_as(ann, B, 2 * MS + 100, 2 * MS + 200, LOCK);
    hold_as(ann, A, 500000, 3 * MS, LOCK);
    hold_as(bob, A, 11 * MS, 12 * MS, LOCK);
    hold_as(bob, B, 10 * MS, 13 * MS, READ);
    run(20 * MS);
    const struct lock_order_side *s = side_of(only_finding(), ann);
    cr_assert_eq(s->wanted_time, BUILDER_START + 1 * MS);
    cr_assert_eq(s->wanted_at.what, LOCK_ORDER_WANTED);
    cr_assert_eq(s->times, 1);
}

/* Between the wait and the hold she gave another lock back: the wait was for a hold before. */
Test(lock_order, a_wait_that_is_not_the_holds)
{
    block(ann, B, eve, 1 * MS, 2 * MS);
    hold(ann, C, 500000, 2 * MS + 50);
    hold(ann, B, 2 * MS + 100, 2 * MS + 200);
    hold(ann, A, 400000, 3 * MS);
    nest(bob, B, A, 4 * MS);
    run(20 * MS);
    cr_assert_eq(side_of(only_finding(), ann)->times, 2);
    cr_assert_eq(found.edges, 5); /* A -> C, too */
}

/* Nor is one that was long ago, though nothing is known of the time between. */
Test(lock_order, a_wait_long_before_the_hold)
{
    hold(ann, A, 500000, 900 * MS);
    block(ann, B, eve, 1 * MS, 2 * MS);
    hold(ann, B, 300 * MS, 301 * MS);
    nest(bob, B, A, UINT64_C(1000) * MS);
    run(UINT64_C(2000) * MS);
    cr_assert_eq(side_of(only_finding(), ann)->times, 2);
}

/* tryLock with a time limit gives up. */
Test(lock_order, a_time_limit_makes_no_edge)
{
    TELL(ann, 1 * MS, park_enter, .lock = B, .stack = at_b, .timeout_ns = 5 * MS);
    TELL(ann, 2 * MS, park_exit, .lock = B);
    hold_as(ann, B, 2 * MS + 100, 2 * MS + 200, LOCK);
    hold_as(ann, A, 500000, 3 * MS, LOCK);
    hold_as(bob, A, 11 * MS, 12 * MS, LOCK);
    hold_as(bob, B, 10 * MS, 13 * MS, LOCK);
    run(20 * MS);
    expect_silence();
    cr_assert_eq(found.timed, 1);
}

/* ann waits on B within A: to have B again she wants it with A held. */
Test(lock_order, taken_again_after_a_wait)
{
    TELL(ann, 1200, wait_enter, .lock = B, .stack = at_c);
    TELL(ann, 1500, wait_exit, .lock = B, .timed_out = 1);
    hold(ann, A, 1100, 1700);
    hold(ann, B, 1000, 1800);
    nest(bob, B, A, 3000);
    run(5000);
    const struct lock_order_finding *f = only_finding();
    const struct lock_order_side *s = side_of(f, ann);
    cr_assert_eq(s->held.v, A.v);
    cr_assert_eq(s->wanted.v, B.v);
    cr_assert_eq(s->wanted_at.stack.v, at_c.v);
    cr_assert_eq(s->wanted_at.what, LOCK_ORDER_WANTED);
}

/* While ann waits on A she does not have it: no order between A and what she takes after, and
 * none during the wait. */
Test(lock_order, a_wait_is_no_part_of_the_hold)
{
    TELL(ann, 1100, wait_enter, .lock = A, .stack = at_c);
    TELL(ann, 9000, wait_exit, .lock = A, .timed_out = 1);
    hold(ann, B, 9500, 9600);
    hold(ann, A, 1000, 9700);
    nest(bob, B, A, 2000);
    run(20000);
    const struct lock_order_finding *f = only_finding();
    cr_assert_eq(side_of(f, ann)->from, BUILDER_START + 9000);
    cr_assert_eq(f->distance, 9000 - 2100);
}

/* The deadlock itself is somebody else's finding. */
Test(lock_order, still_waiting_on_all_sides)
{
    TELL(ann, 1 * MS, monitor_contended_enter, .lock = B, .owner = bob, .stack = at_b);
    TELL(bob, 1 * MS + 100000, monitor_contended_enter, .lock = A, .owner = ann, .stack = at_a);
    TELL(eve, 2 * MS, monitor_contended_enter, .lock = B, .owner = bob, .stack = at_b);
    run(20 * MS);
    expect_silence();
    cr_assert_eq(found.suppressed.happened, 1);
}

/* --- what is known ---------------------------------------------------------------------------- */

Test(lock_order, sampled_holds_are_partial)
{
    builder_info(&b, "orca.holdsample", "10");
    nest(ann, A, B, 1000);
    nest(bob, B, A, 2000);
    run(5000);
    cr_assert(only_finding()->partial);
}

/* In a sampled recording a gate that was seen once counts always. */
Test(lock_order, a_gate_seen_once_in_samples)
{
    builder_info(&b, "orca.holdsample", "10");
    hold(ann, G, 900, 1200);
    nest(ann, A, B, 1000);
    hold(bob, G, 1900, 2200);
    nest(bob, B, A, 2000);
    nest(ann, A, B, 4000);
    run(5000);
    expect_silence();
    cr_assert_eq(found.suppressed.gate, 2);
}

Test(lock_order, joins_are_not_recorded)
{
    builder_info(&b, "orca.events", "threads+monitors+holds");
    nest(ann, A, B, 1000);
    nest(bob, B, A, 2000);
    run(5000);
    cr_assert(only_finding()->partial);
}

Test(lock_order, wake_ups_are_not_recorded)
{
    builder_info(&b, "orca.events", "threads+joins+holds+waits+interrupts");
    nest(ann, A, B, 1000);
    nest(bob, B, A, 2000);
    run(5000);
    cr_assert(!only_finding()->partial);
    cr_assert(!only_finding()->checked);
}

Test(lock_order, all_is_recorded)
{
    builder_info(&b, "orca.events", "parks+threads+joins+holds+interrupts+waits");
    nest(ann, A, B, 1000);
    nest(bob, B, A, 2000);
    run(5000);
    cr_assert(!only_finding()->partial);
    cr_assert(only_finding()->checked);
}

Test(lock_order, threads_that_ran_before)
{
    builder_info(&b, "orca.attached", "the JVM was running already");
    TELL0(ann, 10, thread_start);
    nest(ann, A, B, 1000);
    nest(bob, B, A, 2000);
    run(5000);
    cr_assert(only_finding()->partial);
}

Test(lock_order, more_locks_than_are_looked_at)
{
    for (uint64_t i = 0; i < 80; i++) {
        lock_id x = builder_lock(&b, bill);
        hold(ann, x, 1000 + i, 2000 - i);
    }
    run(5000);
    cr_assert_eq(found.passed_over.deep, 80 - 65);
}

/* --- whether it can be reordered -------------------------------------------------------------- */

static const struct lock_order_finding *checked(void)
{
    const struct lock_order_finding *f = only_finding();
    cr_assert(f->checked);
    return f;
}

Test(lock_order, can_be_reordered)
{
    nest(ann, A, B, 1000);
    nest(bob, B, A, 2000);
    run(5000);
    cr_assert_eq(checked()->reach, LOCK_ORDER_REORDERABLE);
}

/* Before he takes B, bob waits for what ann does after she had both. */
Test(lock_order, a_notify_orders_them)
{
    nest(ann, A, B, 1000);
    hold(ann, G, 1190, 1210);
    TELL(ann, 1200, notify, .lock = G, .stack = at_c);
    TELL(bob, 500, wait_enter, .lock = G, .stack = at_c);
    TELL(bob, 1300, wait_exit, .lock = G);
    hold(bob, G, 490, 1310);
    nest(bob, B, A, 2000);
    run(5000);
    cr_assert_eq(checked()->reach, LOCK_ORDER_CANDIDATE);
}

Test(lock_order, an_unpark_orders_them)
{
    nest(ann, A, B, 1000);
    TELL(ann, 1200, unpark, .target = bob, .stack = at_c);
    TELL(bob, 500, park_enter, .stack = at_c);
    TELL0(bob, 1300, park_exit);
    nest(bob, B, A, 2000);
    run(5000);
    cr_assert_eq(checked()->reach, LOCK_ORDER_CANDIDATE);
}

/* The notify before it does not. */
Test(lock_order, an_unpark_before_does_not)
{
    TELL(ann, 700, unpark, .target = bob, .stack = at_c);
    nest(ann, A, B, 1000);
    TELL(bob, 500, park_enter, .stack = at_c);
    TELL0(bob, 1300, park_exit);
    nest(bob, B, A, 2000);
    run(5000);
    cr_assert_eq(checked()->reach, LOCK_ORDER_REORDERABLE);
}

/* bob had A for himself after ann had both: with A's order kept she has to give it back before. */
Test(lock_order, the_order_of_a_lock_is_kept)
{
    nest(ann, A, B, 1000);
    hold(bob, A, 1500, 1600);
    nest(bob, B, A, 2000);
    run(5000);
    cr_assert_eq(checked()->reach, LOCK_ORDER_CANDIDATE);
}

/* Through a third thread: eve took G after ann had it around all, and woke bob in it. */
Test(lock_order, an_order_through_another_thread)
{
    hold(ann, G, 900, 1200);
    nest(ann, A, B, 1000);
    hold(eve, G, 1300, 1400);
    TELL(eve, 1350, unpark, .target = bob, .stack = at_c);
    TELL(bob, 500, park_enter, .stack = at_c);
    TELL0(bob, 1450, park_exit);
    nest(bob, B, A, 2000);
    run(5000);
    cr_assert_eq(checked()->reach, LOCK_ORDER_CANDIDATE);
}

/* ann wakes eve after she had both, eve wakes bob. */
Test(lock_order, an_order_along_a_chain)
{
    nest(ann, A, B, 1000);
    TELL(ann, 1200, unpark, .target = eve, .stack = at_c);
    TELL(eve, 500, park_enter, .stack = at_c);
    TELL0(eve, 1250, park_exit);
    TELL(eve, 1300, unpark, .target = bob, .stack = at_c);
    TELL(bob, 500, park_enter, .stack = at_c);
    TELL0(bob, 1350, park_exit);
    nest(bob, B, A, 2000);
    run(5000);
    cr_assert_eq(checked()->reach, LOCK_ORDER_CANDIDATE);
}

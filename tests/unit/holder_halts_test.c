/* A lock's owner that is off its processor while others wait: each cause is its own, and has its own
 * advice, never that of the code in the section.  And one that has it no longer. */
#include "analyzed.h"
#include "conclude/rules.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(holder_halts, .init = analyzed_begin, .fini = analyzed_end);

enum { MS = 1000000, SCHED = 9, TURNS = 20, ROUNDS = 20, ROUND = 20 * MS };

static void turn(uint64_t from, uint64_t to, uint32_t end)
{
    ADD(&b, TURNS, ann, to, turn, .since = at(from), .end = end);
}

/* ann has the lock for 18 of 20 ms, for which bob waits; from the second on to the last but one she
 * is on no processor: left by `end`, and come back by a turn with `flag`. */
static const struct rule_finding *held(uint32_t end, uint32_t flag, bool stops)
{
    struct rule_finding *f;
    size_t n;
    for (uint64_t i = 0, from = 0; i < ROUNDS; i++, from += ROUND) {
        does_block(bob, from, from + 18 * MS, lock, ann);
        turn(from - (i ? MS : 0), from + 2 * MS, end | (i ? flag : 0));
        turn(from + 17 * MS, from + 18 * MS, TURN_WAITS | flag);
        if (stops)
            ADD(&b, SCHED + 1, (thread_id){0}, from + 17 * MS, safepoint, .since = at(from + MS),
                .reached = at(from + 2 * MS));
    }
    ADD(&b, SCHED, (thread_id){0}, ROUNDS * ROUND, turns_known, .since = at(0));
    analyzed_run(ROUNDS * ROUND);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert(n && f[0].resource);
    return &f[0];
}

static void check(const struct rule_finding *f, enum holder_does does, const char *words,
                  const char *advice)
{
    const struct resource *r = f->resource;
    cr_expect_eq(r->doing[0].does, does, "%d", r->doing[0].does);
    cr_expect_eq(r->doing[0].ns, (uint64_t)ROUNDS * 15 * MS, "%lu", (unsigned long)r->doing[0].ns);
    cr_expect_eq(r->doing[0].samples, 0);
    cr_expect_not_null(strstr(f->text, words), "%s", f->text);
    cr_expect_not_null(strstr(f->text, advice), "%s", f->text);
    cr_expect_null(strstr(f->text, "outside the lock"), "%s", f->text);
}

Test(holder_halts, ready)
{
    check(held(TURN_PREEMPTED, 0, false), DOES_READY, "83 % of the time waiting for a processor",
          "run fewer threads at a time, or give the program more processors or a larger quota");
}

Test(holder_halts, stopped)
{
    check(held(TURN_WAITS, 0, true), DOES_STOPPED, "83 % of the time stopped by the JVM",
          "orca report --gc lists them");
}

Test(holder_halts, page_faults)
{
    check(held(TURN_WAITS, TURN_FAULT, false), DOES_FAULT, "83 % of the time in page faults",
          "read the mapped file before, or give the machine more memory");
}

Test(holder_halts, unknown_cause)
{
    check(held(TURN_WAITS, 0, false), DOES_OFF, "83 % of the time off the processor, cause unknown",
          "record with --time --wall 5ms: samples show where the holder is");
}

/* Two files are synced under a lock, one of them mostly; each call counts once, also one that nobody
 * waits for at its begin. */
Test(holder_halts, files_that_are_synced)
{
    lock_id journal = builder_lock(&b, builder_class(&b, "=/srv/app/journal.log")),
            index = builder_lock(&b, builder_class(&b, "=/srv/app/index.log"));
    stack_id at_force = builder_stack(&b, "sun.nio.ch.UnixFileDispatcherImpl.force0:native "
                                          "shop.Journal.append:12 shop.Main.main:2");
    struct rule_finding *f;
    size_t n;
    for (uint64_t i = 0, from = 0; i < ROUNDS; i++, from += ROUND) {
        does_block(bob, from + MS, from + 19 * MS, lock, ann);
        for (uint64_t k = 0; k < 3; k++)
            ADD(&b, 30, ann, from + (6 * k + 6) * MS, io, .what = IO_KIND_sync,
                .peer = k || i % 2 ? journal : index, .stack = at_force,
                .since = at(from + 6 * k * MS));
    }
    analyzed_run(ROUNDS * ROUND);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert(n && f[0].resource);
    const struct activity *x = f[0].resource->doing;
    cr_expect_eq(x->does, DOES_SYNC);
    cr_expect_eq(x->calls, 3 * ROUNDS, "%lu", (unsigned long)x->calls);
    cr_expect_eq(x->ns, (uint64_t)ROUNDS * 17 * MS);
    cr_expect_not_null(strstr(f[0].text, "94 % of the time syncing mostly /srv/app/journal.log (60 "
                                         "syncs, 360 ms)"),
                       "%s", f[0].text);
    cr_expect_not_null(strstr(f[0].text, "sync once for all threads that wait"), "%s", f[0].text);
    for (size_t i = 1; i < n; i++)
        cr_expect_null(strstr(f[i].text, "journal"), "%s", f[i].text);
}

/* Who reads a socket when another thread gets the lock gave it back before: in the call nobody gives
 * anything.  A thread that is not known had it then. */
Test(holder_halts, who_is_in_a_call_when_another_gets_it_has_released_it_before)
{
    stack_id reads = builder_stack(&b, "sun.nio.ch.SocketDispatcher.read0:native shop.Mail.send:7");
    struct rule_finding *f;
    size_t n;
    for (uint64_t i = 0, from = 0; i < ROUNDS; i++, from += ROUND) {
        does_block(bob, from, from + 18 * MS, lock, ann);
        ADD(&b, 30, ann, from + 19 * MS, io, .what = IO_KIND_input, .stack = reads,
            .since = at(from + 2 * MS));
    }
    analyzed_run(ROUNDS * ROUND);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert(n && f[0].resource);
    cr_expect_eq(f[0].resource->held, (uint64_t)ROUNDS * 2 * MS);
    cr_expect_null(strstr(f[0].text, "Mail.send"), "%s", f[0].text);
}

/* --- seen elsewhere --------------------------------------------------------------------------- */

#define INSIDE "shop.Calc.sum:31 shop.Order.submit:90 shop.Main.main:12"
#define OUTSIDE "shop.Page.show:7 shop.Main.main:12"

/* bob has it while ann waits, and has waited for it himself in submit if `waits`; one look finds him
 * in submit, one elsewhere. */
static const struct resource *seen_elsewhere(bool waits)
{
    static struct rule_finding *f;
    size_t n;
    for (uint64_t i = 0, from = 0; i < ROUNDS; i++, from += ROUND) {
        if (waits)
            does_block(bob, from + 11 * MS, from + 19 * MS, lock, ann);
        does_block(ann, from, from + 10 * MS, lock, bob);
        does_look(bob, from + 5 * MS, INSIDE, 0);
        does_look(bob, from + 10 * MS, OUTSIDE, 0);
    }
    analyzed_run(ROUNDS * ROUND);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert(n && f[0].resource);
    return f[0].resource;
}

static uint64_t done_in(const struct resource *r, const char *method)
{
    uint64_t ns = 0;
    for (size_t i = 0; i < r->n_doing; i++)
        if (strcmp(trace_method(t, r->doing[i].at.method)->name, method) == 0)
            ns += r->doing[i].ns;
    return ns;
}

/* What a method takes it gives back before it returns. */
Test(holder_halts, who_is_seen_where_nobody_takes_a_monitor_has_released_it)
{
    const struct resource *r = seen_elsewhere(true);
    cr_expect_eq(done_in(r, "show"), 0);
    cr_expect_gt(done_in(r, "sum"), (uint64_t)ROUNDS * 4 * MS);
}

Test(holder_halts, who_never_waits_for_a_monitor_may_take_it_elsewhere)
{
    const struct resource *r = seen_elsewhere(false);
    cr_expect_gt(done_in(r, "show"), (uint64_t)ROUNDS * 4 * MS);
}

/* Nor what it sleeps in, or waits for. */
Test(holder_halts, who_sleeps_where_nobody_takes_a_monitor_has_released_it)
{
    struct rule_finding *f;
    size_t n;
    for (uint64_t i = 0, from = 0; i < ROUNDS; i++, from += ROUND) {
        does_block(ann, from, from + 8 * MS, lock, bob);
        ADD(&b, bob.v, bob, from + 4 * MS, sleep_enter, .timeout_ns = 5,
            .stack = builder_stack(&b, "java.lang.Thread.sleep:5 " OUTSIDE));
        ADD0(&b, bob.v, bob, from + 7 * MS, sleep_exit);
        does_block(bob, from + 11 * MS, from + 19 * MS, lock, ann);
    }
    analyzed_run(ROUNDS * ROUND);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert(n && f[0].resource);
    cr_expect_eq(done_in(f[0].resource, "show"), 0);
    cr_expect_null(strstr(f[0].text, "sleep"), "%s", f[0].text);
}

/* A method that calls the one that waits may have taken it. */
Test(holder_halts, who_calls_what_waits_on_a_monitor_may_have_taken_it)
{
    ADD(&b, cat.v, cat, 1000, wait_enter, .lock = lock,
        .stack = builder_stack(&b, "java.lang.Object.wait:native shop.Page.next:3 " OUTSIDE));
    ADD(&b, cat.v, cat, ROUNDS * ROUND - 1000, wait_exit, .lock = lock);
    const struct resource *r = seen_elsewhere(true);
    cr_expect_gt(done_in(r, "show"), (uint64_t)ROUNDS * 4 * MS);
}

/* Of another class nothing calls it. */
Test(holder_halts, a_monitor_that_threads_wait_on_is_taken_where_they_wait)
{
    ADD(&b, cat.v, cat, 1000, wait_enter, .lock = lock,
        .stack = builder_stack(&b, "java.lang.Object.wait:native shop.Order.next:3 " OUTSIDE));
    ADD(&b, cat.v, cat, ROUNDS * ROUND - 1000, wait_exit, .lock = lock);
    cr_expect_eq(done_in(seen_elsewhere(true), "show"), 0);
}

/* Recorded holds are exact, wherever the thread is. */
Test(holder_halts, a_recorded_hold_lasts_where_nobody_waits_for_the_monitor)
{
    stack_id outside = builder_stack(&b, OUTSIDE);
    for (uint64_t i = 0, from = 0; i < ROUNDS; i++, from += ROUND)
        ADD(&b, 40, bob, from + 10 * MS, hold, .lock = lock, .since = at(from), .stack = outside);
    cr_expect_gt(done_in(seen_elsewhere(true), "show"), (uint64_t)ROUNDS * 4 * MS);
}

/* Looks into a call are not a record of it: between them it may have ended. */
Test(holder_halts, who_looks_find_in_input_may_have_released_it_between_them)
{
    static const char reads[] =
        "sun.nio.ch.SocketDispatcher.read0:native shop.Order.submit:7 shop.Main.main:12";
    struct rule_finding *f;
    size_t n;
    for (uint64_t i = 0, from = 0; i < ROUNDS; i++, from += ROUND) {
        does_block(bob, from, from + 18 * MS, lock, ann);
        for (uint64_t k = 1; k < 4; k++)
            does_look(ann, from + k * 5 * MS, reads, SAMPLE_IDLE);
        does_look(ann, from + 19 * MS, reads, SAMPLE_IDLE);
    }
    analyzed_run(ROUNDS * ROUND);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert(n && f[0].resource);
    cr_expect_eq(f[0].resource->held, (uint64_t)ROUNDS * 18 * MS);
}

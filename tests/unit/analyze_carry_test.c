/* analyze_carry_test.c - a part of a recording, with what was under way when it began: it says what
 * the whole says of that time. */
#include "analyzed.h"
#include "conclude/resource.h"

#include <criterion/criterion.h>

TestSuite(carry, .init = analyzed_begin, .fini = analyzed_end);

enum { SECOND = 1000000000, MS = 1000000 };

static struct carry carry;

static void fresh_builder(void (*add)(void))
{
    analyzed_end();
    analyzed_begin();
    add();
}

/* Look at the time up to `at`, then at what comes behind it only. */
static void run_behind(void (*add)(void), uint64_t at, uint64_t end)
{
    struct selection part = selection_all();
    uint64_t whole[5][STATE_LIMIT];
    add();
    analyzed_run(end);
    part.from = BUILDER_START + at;
    part.to = BUILDER_START + end;
    cr_assert_eq(analysis_select(a, &part), 0);
    for (uint32_t i = 1; i < 5; i++)
        for (int s = 0; s < STATE_LIMIT; s++)
            whole[i][s] = a->stats.threads[i].state[s].ns;
    fresh_builder(add);
    t = builder_open(&b, end);
    trace_keep_part(t, 0, BUILDER_START + at);
    cr_assert_eq(conclude_run_on(&a, t, NULL, NULL), 0);
    cr_assert_eq(analysis_carry(a, &carry), 0);
    fresh_builder(add);
    t = builder_open(&b, end);
    trace_keep_part(t, BUILDER_START + at, BUILDER_START + end);
    cr_assert_eq(conclude_run_on(&a, t, &carry, NULL), 0);
    carry_fini(&carry);
    cr_assert_eq(a->window.from, BUILDER_START + at);
    cr_assert_eq(a->window.to, BUILDER_START + end);
    for (uint32_t i = 1; i < 5; i++)
        for (int s = 0; s < STATE_LIMIT; s++)
            cr_assert_eq(a->stats.threads[i].state[s].ns, whole[i][s], "thread %u, %s", i,
                         wait_state_name(s));
}

static uint64_t waited(thread_id who, enum wait_state s)
{
    return a->stats.threads[who.v].state[s].ns;
}

static void add_deadlock(void)
{
    ADD(&b, 1, ann, 100, monitor_contended_enter, .lock = lock, .owner = bob, .stack = stack);
    ADD(&b, 2, bob, 200, monitor_contended_enter, .lock = other_lock, .owner = ann, .stack = stack);
    ADD(&b, 3, cat, 300, sleep_enter, .timeout_ns = 1);
    ADD0(&b, 3, cat, 2ull * SECOND, sleep_exit);
    ADD0(&b, 3, cat, 2ull * SECOND + 10, thread_end);
}

Test(carry, a_deadlock_of_before)
{
    run_behind(add_deadlock, SECOND, 3ull * SECOND);
    cr_assert_eq(a->deadlocks.n, 1);
    const struct deadlock *d = &a->deadlocks.v[0];
    cr_assert_eq(d->n_members, 2);
    cr_assert(d->sure);
    cr_assert_eq(d->formed, BUILDER_START + 200, "its true beginning");
    cr_assert_eq(d->members[0].stack.v, stack.v);
    cr_assert_eq(waited(ann, STATE_BLOCKED), 2ull * SECOND, "of the part");
    cr_assert_eq(waited(cat, STATE_SLEEPING), SECOND);
    cr_assert_eq(a->threads.v[cat.v].to, BUILDER_START + 2ull * SECOND + 10);
}

/* The moment lies inside an Object.wait that takes its monitor again. */
static void add_nested(void)
{
    ADD(&b, 1, ann, 100, wait_enter, .lock = lock, .stack = stack);
    ADD(&b, 1, ann, 500 * MS, monitor_contended_enter, .lock = lock, .owner = bob);
    ADD(&b, 1, ann, 1500 * MS, monitor_contended_entered, .lock = lock);
    ADD(&b, 1, ann, 1600 * MS, wait_exit, .lock = lock);
    ADD0(&b, 2, bob, 100, thread_start);
    ADD0(&b, 2, bob, 200, thread_end);
    ADD0(&b, 3, cat, 100, thread_start);
}

Test(carry, a_wait_in_a_wait)
{
    run_behind(add_nested, SECOND, 2ull * SECOND);
    cr_assert_eq(waited(ann, STATE_WAITING) + waited(ann, STATE_REACQUIRING), 600 * MS);
    cr_assert_eq(a->stats.threads[ann.v].unknown, 0);
    cr_assert_eq(thread_life(&a->threads.v[bob.v]), 0, "it had ended");
    cr_assert_eq(thread_life(&a->threads.v[cat.v]), SECOND, "it runs on, without an event");
}

/* Notified before the moment; who notifies keeps the monitor. */
static void add_notified(void)
{
    ADD(&b, 1, ann, 100, wait_enter, .lock = lock, .stack = stack);
    ADD(&b, 3, cat, 200, wait_enter, .lock = lock, .stack = stack);
    ADD(&b, 2, bob, 500 * MS, notify, .lock = lock);
    ADD(&b, 2, bob, 600 * MS, sleep_enter, .timeout_ns = 0);
}

static void add_notified_and_back(void)
{
    add_notified();
    ADD0(&b, 2, bob, 1400 * MS, sleep_exit);
    ADD(&b, 1, ann, 1500 * MS, wait_exit, .lock = lock);
}

static thread_id owner_of(thread_id who)
{
    return a->threads.v[a->bindings.owners[who.v]].id;
}

Test(carry, a_wait_that_was_notified)
{
    run_behind(add_notified, SECOND, 2ull * SECOND);
    cr_assert_eq(waited(ann, STATE_REACQUIRING), SECOND);
    cr_assert_eq(waited(cat, STATE_WAITING), SECOND);
    cr_assert_eq(owner_of(ann).v, bob.v);
    const struct open_wait *w = (const void *)a->decoded.open.p;
    for (size_t i = 0; i < a->decoded.open.len / sizeof *w; i++)
        if (w[i].thread == ann.v) {
            cr_assert_eq(w[i].state, STATE_REACQUIRING);
            cr_assert_eq(w[i].since, BUILDER_START + 500 * MS, "its notify");
        }
    cr_assert_eq(a->open[STATE_REACQUIRING], 1);
    /* and of the part after it */
    cr_assert_eq(analysis_carry(a, &carry), 0);
    const struct carried *c = (const void *)carry.waits.p;
    size_t n = carry.waits.len / sizeof *c;
    for (size_t i = 0; i < n; i++)
        cr_assert_eq(c[i].notifier.v, c[i].thread.v == ann.v ? bob.v : 0);
    cr_assert_eq(n, 3);
    carry_fini(&carry);
}

Test(carry, a_wait_that_was_notified_and_ends)
{
    run_behind(add_notified_and_back, SECOND, 2ull * SECOND);
    cr_assert_eq(waited(ann, STATE_REACQUIRING), 500 * MS);
    cr_assert_eq(a->bindings.unbound[STATE_WAITING], 0);
}

static thread_id v;

static void add_notified_virtual(void)
{
    v = builder_thread_flags(&b, "v", THREAD_VIRTUAL);
    thread_id w = builder_thread_flags(&b, "w", THREAD_VIRTUAL);
    ADD0(&b, 9, v, 50, thread_start);
    ADD(&b, 9, v, 100, wait_enter, .lock = lock, .stack = stack);
    ADD0(&b, 8, w, 400 * MS, thread_start);
    ADD(&b, 8, w, 500 * MS, notify, .lock = lock);
    ADD(&b, 8, w, 600 * MS, park_enter, .lock = other_lock);
}

Test(carry, a_virtual_thread_that_was_notified)
{
    run_behind(add_notified_virtual, SECOND, 2ull * SECOND);
    cr_assert_eq(waited(v, STATE_REACQUIRING), SECOND);
}

/* What was found at the beginning and has no end in the record stays unknown; what is parked for
 * ever stays so until somebody unparks it. */
static void add_found(void)
{
    builder_info(&b, "orca.attached", "yes");
    ADD(&b, 9, ann, 100, wait_found, .kind = EV_sleep_enter, .stack = stack);
    ADD(&b, 9, bob, 101, wait_found, .kind = EV_park_enter, .lock = lock, .limit = WAIT_UNLIMITED);
    ADD(&b, 9, cat, 102, wait_found, .kind = EV_park_enter, .lock = lock, .limit = WAIT_UNLIMITED);
    ADD(&b, 9, bob, 110, wait_open, .kind = EV_park_enter, .lock = lock,
        .since = BUILDER_START + 101);
    ADD(&b, 9, cat, 110, wait_open, .kind = EV_park_enter, .lock = lock,
        .since = BUILDER_START + 102);
    ADD(&b, 4, dan, 1500 * MS, unpark, .target = cat);
}

Test(carry, what_was_found)
{
    run_behind(add_found, SECOND, 2ull * SECOND);
    cr_assert_eq(waited(ann, STATE_SLEEPING), 0);
    cr_assert_eq(waited(ann, STATE_UNKNOWN), SECOND);
    cr_assert_eq(waited(bob, STATE_PARKED), SECOND);
    cr_assert_eq(waited(cat, STATE_PARKED), 0, "woken: not known");
    const struct carried *c = (const void *)a->decoded.carried.p;
    cr_assert_eq(a->decoded.carried.len / sizeof *c, 2);
    for (size_t i = 0; i < 2; i++) {
        cr_assert_eq(c[i].how, c[i].thread.v == ann.v ? CARRIED_FOUND : CARRIED_PARK);
        cr_assert_eq(c[i].since, BUILDER_START + (c[i].thread.v == ann.v ? 100 : 101));
    }
}

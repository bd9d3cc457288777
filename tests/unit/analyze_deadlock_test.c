/* analyze_deadlock_test.c - who waits for whom at the end: by hand, and random graphs of which all
 * circles are known. */
#include "analyzed.h"
#include "cases.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

TestSuite(deadlock, .init = analyzed_begin, .fini = analyzed_end);

enum { SECOND = 1000000000, MS = 1000000 };

static const struct deadlocks *found(void)
{
    return &a->deadlocks;
}

static void blocks(thread_id who, uint64_t time, lock_id on, thread_id owner)
{
    ADD(&b, who.v, who, time, monitor_contended_enter, .lock = on, .owner = owner, .stack = stack);
}

/* --- by hand ---------------------------------------------------------------------------------- */

Test(deadlock, five_philosophers)
{
    thread_id who[5];
    lock_id forks[5];
    for (int i = 0; i < 5; i++) {
        who[i] = builder_thread(&b, "philosopher");
        forks[i] = builder_lock(&b, (class_id){1});
    }
    for (uint64_t i = 0; i < 5; i++)
        blocks(who[i], 100 + i, forks[(i + 1) % 5], who[(i + 1) % 5]);
    blocks(ann, 200, forks[2], who[2]);
    blocks(bob, 300, lock, ann);
    ADD(&b, 3, cat, 400, wait_enter, .lock = other_lock);
    analyzed_run(SECOND);
    cr_assert_eq(found()->n, 1);
    const struct deadlock *d = &found()->v[0];
    cr_assert_eq(d->n_members, 5);
    for (uint32_t i = 0; i < 5; i++) {
        cr_assert_eq(d->members[i].on, d->members[(i + 1) % 5].thread);
        cr_assert_eq(d->members[i].stack.v, stack.v);
    }
    cr_assert_eq(since(d->formed), 104);
    cr_assert(d->sure);
    cr_assert_eq(d->n_behind, 2);
    cr_assert_eq(d->behind[0].thread, ann.v);
    cr_assert_eq(d->behind[1].thread, bob.v);
    cr_assert_eq(d->behind[1].on, ann.v);
    cr_assert_eq(found()->n_stuck, 0, "dan runs");
}

Test(deadlock, a_young_one_is_likely)
{
    blocks(ann, 100, lock, bob);
    blocks(bob, 50 * MS, other_lock, ann);
    analyzed_run(149 * MS);
    cr_assert_eq(found()->n, 1);
    cr_assert(!found()->v[0].sure);
}

Test(deadlock, of_a_monitor_a_lock_and_a_join)
{
    blocks(ann, 100, lock, bob);
    ADD(&b, 2, bob, 110, park_enter, .lock = other_lock, .owner = cat, .stack = other_stack);
    ADD(&b, 3, cat, 120, join_enter, .target = ann);
    analyzed_run(SECOND);
    cr_assert_eq(found()->n, 1);
    cr_assert_eq(found()->v[0].n_members, 3);
}

Test(deadlock, who_joins_itself)
{
    ADD(&b, 1, ann, 100, join_enter, .target = ann);
    blocks(bob, 200, lock, ann);
    analyzed_run(SECOND);
    cr_assert_eq(found()->n, 1);
    cr_assert_eq(found()->v[0].n_members, 1);
    cr_assert_eq(found()->v[0].n_behind, 1);
}

/* As a server's main thread does to stay. */
Test(deadlock, who_only_joins_itself_is_none)
{
    ADD(&b, 1, ann, 100, join_enter, .target = ann);
    blocks(bob, 200, lock, cat);
    blocks(cat, 300, other_lock, bob);
    analyzed_run(SECOND);
    cr_assert_eq(found()->n, 1);
    cr_assert_eq(found()->v[0].n_members, 2);
    cr_assert(deadlocks_have(found(), lock) && deadlocks_have(found(), other_lock));
}

Test(deadlock, a_time_limit_ends_it)
{
    blocks(ann, 100, lock, bob);
    ADD(&b, 2, bob, 110, park_enter, .lock = other_lock, .owner = ann, .timeout_ns = 1000);
    analyzed_run(SECOND);
    cr_assert_eq(found()->n, 0);
}

Test(deadlock, waits_that_ended_are_none)
{
    does_block(ann, 100, 300, lock, bob);
    does_block(bob, 110, 200, other_lock, ann);
    analyzed_run(SECOND);
    cr_assert_eq(found()->n, 0);
}

/* bob gave the monitor to cat, who sleeps, before it blocked. */
Test(deadlock, the_owner_that_was_seen_gave_it_to_somebody_else)
{
    blocks(ann, 100, lock, bob);
    does_block(cat, 110, 200, lock, bob);
    blocks(bob, 300, other_lock, ann);
    analyzed_run(SECOND);
    cr_assert_eq(found()->n, 0);
}

Test(deadlock, the_owner_that_was_seen_waited_in_it)
{
    blocks(ann, 100, lock, bob);
    does_wait(bob, 150, 200, lock);
    does_block(bob, 210, 220, lock, cat); /* it had timed out, say, and cat has the monitor now */
    ADD(&b, 2, bob, 230, hold, .lock = lock, .since = at(50));
    blocks(bob, 300, other_lock, ann);
    analyzed_run(SECOND);
    cr_assert_eq(found()->n, 0);
}

/* AbstractQueuedSynchronizer.release: the owner unparks the next one. */
Test(deadlock, a_lock_that_was_handed_on)
{
    ADD(&b, 3, cat, 90, park_enter, .lock = lock, .owner = bob);
    ADD(&b, 1, ann, 100, park_enter, .lock = lock, .owner = bob);
    ADD(&b, 2, bob, 200, unpark, .target = cat);
    ADD(&b, 3, cat, 210, park_exit, .lock = lock);
    ADD(&b, 2, bob, 300, park_enter, .lock = other_lock, .owner = ann);
    analyzed_run(SECOND);
    cr_assert_eq(found()->n, 0);
}

Test(deadlock, an_unpark_that_is_not_the_owners)
{
    ADD(&b, 1, ann, 100, park_enter, .lock = lock, .owner = bob);
    ADD(&b, 2, bob, 200, park_enter, .lock = other_lock, .owner = ann);
    ADD(&b, 3, cat, 300, unpark, .target = ann);
    analyzed_run(SECOND);
    cr_assert_eq(found()->n, 1);
}

/* bob was seen by others to own it. */
Test(deadlock, an_owner_that_the_waiting_thread_did_not_see)
{
    blocks(ann, 100, lock, (thread_id){0});
    blocks(cat, 110, lock, bob);
    blocks(bob, 200, other_lock, ann);
    analyzed_run(SECOND);
    cr_assert_eq(found()->n, 1);
    cr_assert_eq(found()->v[0].n_members, 2);
    cr_assert_eq(found()->v[0].n_behind, 1);
}

Test(deadlock, an_owner_of_a_lock_that_was_not_kept)
{
    blocks(ann, 100, (lock_id){0}, bob);
    blocks(bob, 110, (lock_id){0}, ann);
    analyzed_run(SECOND);
    cr_assert_eq(found()->n, 1);
}

/* A circle with an unknown owner does not count; the report says that there may be one. */
Test(deadlock, an_owner_that_nobody_knows)
{
    blocks(ann, 100, lock, bob);
    blocks(bob, 110, other_lock, (thread_id){0});
    blocks(cat, SECOND - 10, other_lock, (thread_id){0});
    analyzed_run(SECOND);
    cr_assert_eq(found()->n, 0);
    cr_assert_eq(found()->n_unknown, 1, "the young wait is no matter");
}

/* Of whom a wait did not know the owner, it is asked again later; what is known since counts
 * more. */
Test(deadlock, an_owner_that_was_asked_for_later)
{
    blocks(ann, 100, lock, (thread_id){0});
    blocks(bob, 200, other_lock, ann);
    ADD(&b, 1, ann, 200 * MS, wait_owner, .lock = lock, .owner = bob);
    analyzed_run(SECOND);
    cr_assert_eq(found()->n, 1);
    cr_assert_eq(found()->v[0].n_members, 2);
    cr_assert_eq(found()->n_unknown, 0);
    cr_assert_eq(sums_of(ann)->open, 1);
}

Test(deadlock, an_owner_that_was_asked_for_and_gave_it_back_since)
{
    blocks(ann, 100, lock, (thread_id){0});
    ADD(&b, 1, ann, 200 * MS, wait_owner, .lock = lock, .owner = bob);
    does_block(cat, 150 * MS, 300 * MS, lock, bob);
    blocks(bob, 400 * MS, other_lock, ann);
    analyzed_run(SECOND);
    cr_assert_eq(found()->n, 0);
}

/* An answer about an earlier wait says nothing of this one. */
Test(deadlock, an_owner_that_was_asked_for_before)
{
    ADD(&b, 1, ann, 100, monitor_contended_enter, .lock = lock);
    ADD(&b, 5, ann, 200, wait_owner, .lock = lock, .owner = bob);
    ADD(&b, 1, ann, 300, monitor_contended_entered, .lock = lock);
    ADD(&b, 1, ann, 400, monitor_contended_enter, .lock = lock);
    blocks(bob, 500, other_lock, ann);
    analyzed_run(SECOND);
    cr_assert_eq(found()->n, 0);
    cr_assert_eq(found()->n_unknown, 1);
}

/* --- nobody can go on ------------------------------------------------------------------------- */

Test(deadlock, everybody_waits)
{
    ADD(&b, 1, ann, 100, wait_enter, .lock = lock);
    ADD(&b, 2, bob, 50, park_enter, .lock = {0});
    blocks(cat, 200, other_lock, bob);
    ADD(&b, 4, dan, 10, join_enter, .target = ann);
    analyzed_run(SECOND);
    cr_assert_eq(found()->n, 0);
    cr_assert_eq(found()->n_stuck, 4);
    cr_assert_eq(found()->stuck[0].thread, dan.v, "the longest first");
    cr_assert_eq(found()->stuck[3].thread, cat.v);
}

static void all_but_dan_wait(void)
{
    ADD(&b, 1, ann, 100, wait_enter, .lock = lock);
    ADD(&b, 2, bob, 50, park_enter, .lock = {0});
    blocks(cat, 200, other_lock, bob);
}

Test(deadlock, one_has_a_time_limit)
{
    all_but_dan_wait();
    ADD(&b, 4, dan, 10, join_enter, .target = ann, .timeout_ns = 5);
    analyzed_run(SECOND);
    cr_assert_eq(found()->n_stuck, 0);
}

/* Of a wait that began before the recording, or in an earlier file, only the reported facts are
 * known. */
static size_t stuck_with(enum event_kind kind, bool is_found, enum wait_limit limit)
{
    all_but_dan_wait();
    if (is_found)
        ADD(&b, 4, dan, 10, wait_found, .kind = kind, .limit = limit);
    ADD(&b, 4, dan, SECOND, wait_open, .kind = kind, .since = BUILDER_START + 10, .limit = limit);
    analyzed_run(SECOND);
    return found()->n_stuck;
}

Test(deadlock, one_sleeps_since_an_earlier_file)
{
    cr_assert_eq(stuck_with(EV_sleep_enter, false, WAIT_LIMIT_UNKNOWN), 0);
}

Test(deadlock, one_waits_since_an_earlier_file)
{
    cr_assert_eq(stuck_with(EV_wait_enter, false, WAIT_UNLIMITED), 4);
}

Test(deadlock, one_waits_since_an_earlier_file_with_a_limit)
{
    cr_assert_eq(stuck_with(EV_wait_enter, false, WAIT_LIMITED), 0);
}

Test(deadlock, one_waits_since_an_earlier_file_perhaps_with_a_limit)
{
    cr_assert_eq(stuck_with(EV_wait_enter, false, WAIT_LIMIT_UNKNOWN), 0);
}

Test(deadlock, one_was_found_parked)
{
    cr_assert_eq(stuck_with(EV_park_enter, true, WAIT_UNLIMITED), 4);
}

Test(deadlock, one_was_found_parked_with_a_limit)
{
    cr_assert_eq(stuck_with(EV_park_enter, true, WAIT_LIMITED), 0);
}

Test(deadlock, one_was_found_parked_perhaps_with_a_limit)
{
    cr_assert_eq(stuck_with(EV_park_enter, true, WAIT_LIMIT_UNKNOWN), 0);
}

/* The recording began in it, and has no end: it goes on, or its JVM was killed. */
Test(deadlock, that_was_found)
{
    const struct {
        thread_id who;
        enum event_kind kind;
        lock_id on;
        thread_id owner;
    } v[] = {{ann, EV_monitor_contended_enter, lock, bob},
             {bob, EV_park_enter, other_lock, cat},
             {cat, EV_monitor_contended_enter, builder_lock(&b, (class_id){1}), ann}};
    for (int i = 0; i < 3; i++)
        ADD(&b, 4, v[i].who, 10, wait_found, .kind = v[i].kind, .lock = v[i].on,
            .owner = v[i].owner, .stack = stack, .limit = WAIT_UNLIMITED);
    for (int i = 0; i < 3; i++)
        ADD(&b, 4, v[i].who, 20, wait_open, .kind = v[i].kind, .lock = v[i].on,
            .since = BUILDER_START + 10, .limit = WAIT_UNLIMITED);
    analyzed_run(SECOND);
    cr_assert_eq(found()->n, 1);
    cr_assert_eq(found()->v[0].n_members, 3);
    cr_assert(found()->v[0].sure);
    cr_assert_eq(found()->v[0].members[0].stack.v, stack.v);
    cr_assert_eq(found()->n_unknown, 0);
}

Test(deadlock, one_was_unparked)
{
    all_but_dan_wait();
    ADD(&b, 4, dan, 10, park_enter, .lock = {0});
    thread_id gone = builder_thread(&b, "gone");
    ADD(&b, 5, gone, 300, unpark, .target = dan);
    ADD0(&b, 5, gone, 310, thread_end);
    analyzed_run(SECOND);
    cr_assert_eq(found()->n_stuck, 0);
}

Test(deadlock, one_joins_a_thread_that_has_ended)
{
    thread_id gone = builder_thread(&b, "gone");
    all_but_dan_wait();
    ADD(&b, 4, dan, 10, join_enter, .target = gone);
    ADD0(&b, 5, gone, 300, thread_end);
    analyzed_run(SECOND);
    cr_assert_eq(found()->n_stuck, 0);
}

Test(deadlock, those_who_ended_do_not_count)
{
    all_but_dan_wait();
    ADD0(&b, 4, dan, 10, thread_end);
    analyzed_run(SECOND);
    cr_assert_eq(found()->n_stuck, 3);
}

/* Whoever calls System.exit or Runtime.halt has had its ThreadEnd when the recording ends, and is
 * who ends it. */
Test(deadlock, one_ends_the_jvm)
{
    all_but_dan_wait();
    ADD0(&b, 4, dan, SECOND - 20, thread_end);
    ADD0(&b, 4, dan, SECOND - 10, recording_end);
    analyzed_run(SECOND);
    cr_assert_eq(found()->n_stuck, 0);
}

/* With a busy machine between the two. */
Test(deadlock, one_ends_the_jvm_slowly)
{
    all_but_dan_wait();
    ADD0(&b, 4, dan, SECOND / 2, thread_end);
    ADD0(&b, 4, dan, SECOND - 10, recording_end);
    analyzed_run(SECOND);
    cr_assert_eq(found()->n_stuck, 0);
}

/* A text has no recording_end. */
Test(deadlock, one_ends_at_the_end)
{
    all_but_dan_wait();
    ADD0(&b, 4, dan, SECOND - 20, thread_end);
    analyzed_run(SECOND);
    cr_assert_eq(found()->n_stuck, 0);
}

/* While another thread still lived, not every one waited. */
Test(deadlock, stuck_since_the_last_one_ended)
{
    all_but_dan_wait();
    ADD0(&b, 4, dan, SECOND / 2, thread_end);
    analyzed_run(SECOND);
    cr_assert_eq(found()->n_stuck, 3);
    cr_assert_eq(found()->stuck_since, BUILDER_START + SECOND / 2);
}

/* --- random graphs ---------------------------------------------------------------------------- */

enum { THREADS = 12, LOCKS = 8 };

/* Each thread waits for at most one; 0: for nobody. */
struct graph {
    uint32_t on[THREADS + 1];
    uint64_t since[THREADS + 1];
    bool timed[THREADS + 1], waits[THREADS + 1];
    uint64_t end;
};

/* In a stream of its own; the lock's owner is whom the lock table says. */
static void wait_somehow(struct graph *g, uint32_t i, const uint32_t *owner, const lock_id *locks)
{
    thread_id who = {i};
    uint32_t k = (uint32_t)rand() % LOCKS, target = 1 + (uint32_t)rand() % THREADS;
    uint64_t time = g->since[i] = 1 + (uint64_t)rand() % (200 * MS);
    bool timed = g->timed[i] = rand() % 6 == 0;
    g->waits[i] = true;
    if (rand() % 3 == 0) {
        ADD(&b, i, who, time, join_enter, .target = {target}, .timeout_ns = timed ? 5 : 0);
        g->on[i] = target;
    } else if (owner[k] == i) {
        g->timed[i] = false;
        ADD(&b, i, who, time, wait_enter, .lock = third_lock);
    } else if (k % 2) {
        ADD(&b, i, who, time, park_enter, .lock = locks[k], .owner = {owner[k]},
            .timeout_ns = timed ? 5 : 0);
        g->on[i] = owner[k];
    } else {
        g->timed[i] = false;
        blocks(who, time, locks[k], (thread_id){owner[k]});
        g->on[i] = owner[k];
    }
}

static void make_graph(struct graph *g, unsigned seed)
{
    lock_id locks[LOCKS];
    uint32_t owner[LOCKS];
    srand(seed);
    *g = (struct graph){.end = (200 + (uint64_t)rand() % 200) * MS};
    while (b.n_threads < THREADS)
        builder_thread_flags(&b, "t", rand() % 5 ? 0 : THREAD_DAEMON);
    for (int i = 0; i < LOCKS; i++) {
        locks[i] = builder_lock(&b, (class_id){1});
        owner[i] = 1 + (uint32_t)rand() % THREADS;
    }
    uint32_t running = rand() % 3 ? 1 + (uint32_t)rand() % 4 : 0;
    for (uint32_t i = 1; i <= THREADS; i++)
        if (!running || (uint32_t)rand() % THREADS >= running)
            wait_somehow(g, i, owner, locks);
}

static bool waits_for(const struct graph *g, uint32_t i, uint32_t on)
{
    return g->waits[i] && !g->timed[i] && g->on[i] == on;
}

/* Who joins itself, and for whom nobody waits, is in no deadlock. */
static uint32_t next_in(const struct graph *g, uint32_t i)
{
    bool wanted = g->on[i] != i;
    for (uint32_t k = 1; k <= THREADS && !wanted; k++)
        wanted = k != i && waits_for(g, k, i);
    return wanted && waits_for(g, i, g->on[i]) ? g->on[i] : 0;
}

/* Whether a thread comes back to itself; and whether it comes to any circle. */
static bool in_circle(const struct graph *g, uint32_t i)
{
    uint32_t k = next_in(g, i);
    for (int n = 0; k && k != i && n < THREADS; n++)
        k = next_in(g, k);
    return k == i;
}

static bool leads_to_circle(const struct graph *g, uint32_t i)
{
    for (int n = 0; i && n < THREADS; n++)
        i = next_in(g, i);
    return i != 0;
}

/* Where a thread was found: 1 + the deadlock of which it is a member, or behind it. */
static void find_thread(uint32_t thread, size_t *member, size_t *behind)
{
    *member = *behind = 0;
    for (size_t i = 0; i < found()->n; i++) {
        const struct deadlock *d = &found()->v[i];
        for (uint32_t k = 0; k < d->n_members; k++)
            if (d->members[k].thread == thread)
                *member = i + 1;
        for (uint32_t k = 0; k < d->n_behind; k++)
            if (d->behind[k].thread == thread)
                *behind = i + 1;
    }
}

static void check_circles(const struct graph *g, unsigned seed)
{
    for (size_t i = 0; i < found()->n; i++) {
        const struct deadlock *d = &found()->v[i];
        uint64_t formed = 0;
        for (uint32_t k = 0; k < d->n_members; k++) {
            uint32_t thread = d->members[k].thread;
            cr_assert_eq(g->on[thread], d->members[(k + 1) % d->n_members].thread, "seed %u", seed);
            formed = g->since[thread] > formed ? g->since[thread] : formed;
        }
        cr_assert_eq(since(d->formed), formed, "seed %u", seed);
        cr_assert_eq(d->sure, g->end - formed >= DEADLOCK_SURE_NS, "seed %u", seed);
    }
    for (uint32_t i = 1; i <= THREADS; i++) {
        size_t member, behind, next_member, next_behind;
        bool circle = in_circle(g, i), leads = leads_to_circle(g, i);
        find_thread(i, &member, &behind);
        cr_assert_eq(member != 0, circle, "seed %u, thread %u", seed, i);
        cr_assert_eq(behind != 0, leads && !circle, "seed %u, thread %u", seed, i);
        if (!leads)
            continue;
        find_thread(g->on[i], &next_member, &next_behind);
        cr_assert_eq(member + behind, next_member + next_behind, "seed %u, thread %u", seed, i);
    }
}

static void check_stuck(const struct graph *g, unsigned seed)
{
    bool all = true, keeps = false;
    for (uint32_t i = 1; i <= THREADS; i++) {
        all &= g->waits[i] && !g->timed[i];
        keeps |= !(trace_thread(t, (thread_id){i})->flags & THREAD_DAEMON);
    }
    cr_assert_eq(found()->n_stuck, all && keeps ? THREADS : 0, "seed %u", seed);
    for (size_t i = 1; i < found()->n_stuck; i++)
        cr_assert(found()->stuck[i].since >= found()->stuck[i - 1].since, "seed %u", seed);
}

/* ORCA_SEED=n: only that graph. */
Test(deadlock, random_graphs)
{
    const char *only = getenv("ORCA_SEED");
    unsigned from = only ? (unsigned)atoi(only) : 1;
    for (unsigned seed = from; seed < (only ? from + 1 : (unsigned)cases(1500)); seed++) {
        struct graph g;
        make_graph(&g, seed);
        analyzed_run(g.end);
        check_circles(&g, seed);
        check_stuck(&g, seed);
        analyzed_end();
        analyzed_begin();
    }
    analyzed_run(1); /* which gives the last one back */
}

/* analyze_summed_test.c - waits that were recorded as sums: every table says what it says of the
 * same waits recorded one by one. */
#include "analyze/lock_line.h"
#include "analyzed.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(summed, .init = analyzed_begin, .fini = analyzed_end);

enum { MS = 1000000 };

#define SUM(stream, who, at_, kind_, ...)                                                          \
    ADD(&b, stream, who, at_, wait_sum, .kind = EV_##kind_, __VA_ARGS__)

static uint64_t count_of(thread_id who, enum wait_state s)
{
    return sums_of(who)->state[s].count;
}

static uint64_t ns_of(thread_id who, enum wait_state s)
{
    return sums_of(who)->state[s].ns;
}

/* They do not overlap, and lie in the recording. */
static void check_line(thread_id who, uint64_t end)
{
    uint64_t told = at(0);
    const struct line *l = &a->timeline.lines[who.v];
    for (uint32_t i = 0; i < l->spans.n; i++) {
        cr_assert_geq(line_span(l, i)->start, told, "span %u of %u", i, who.v);
        told = span_end(&a->timeline, line_span(l, i));
    }
    cr_assert_leq(told, at(end));
}

Test(summed, lies_around_what_has_its_place)
{
    SUM(1, ann, 5 * MS, park_enter, .lock = lock, .owner = bob, .stack = stack, .waker = cat,
        .limit = WAIT_LIMITED, .since = at(1 * MS), .until = at(5 * MS), .count = 5,
        .total = 2 * MS, .longest = 700000);
    SUM(2, ann, 5 * MS, park_enter, .stack = other_stack, .since = at(2 * MS),
        .until = at(3 * MS + 500000), .count = 1, .total = 1500000, .longest = 1500000, .whole = 1);
    ADD0(&b, 1, ann, 6 * MS, thread_end);
    analyzed_run(10 * MS);
    check_line(ann, 10 * MS);
    cr_assert_eq(count_of(ann, STATE_PARKED), 6);
    cr_assert_eq(ns_of(ann, STATE_PARKED), 3500000);
    cr_assert_eq(a->stats.total[STATE_PARKED].count, 6);
    cr_assert_eq(a->stats.locks[lock.v].state[STATE_PARKED].count, 5);
    cr_assert_eq(a->stats.locks[lock.v].state[STATE_PARKED].ns, 2 * MS);
    cr_assert_eq(timeline_waits(&a->timeline), 6);
    cr_assert_eq(a->decoded.summed.waits, 5);
    cr_assert_eq(a->decoded.summed.ns, 2 * MS);
    /* [1, 2) the sum's first ms, [2, 3.5) what has its place, [3.5, 4.5) the rest */
    cr_assert_eq(span_of(ann, 0)->start, at(1 * MS));
    cr_assert_eq(span_of(ann, 1)->start, at(2 * MS));
    cr_assert_eq(context_of(ann, 1)->mode, CONTEXT_RECORDED);
    cr_assert_eq(span_of(ann, 0)->waker, cat.v);
    cr_assert_not(timeline_timed_out(&a->timeline, span_of(ann, 0)));
    cr_assert_eq(span_interaction(&a->timeline, ann.v, span_of(ann, 0)), INTERACTION_UNPARK);
    cr_assert_eq(a->bindings.sums[INTERACTION_UNPARK].count, 5);
    cr_assert_eq(a->bindings.unbound[STATE_PARKED], 1);
    cr_assert_eq(thread_sums_running(sums_of(ann)), 6 * MS - 3500000);
}

/* Of virtual threads that had ended: nothing ended them, and nothing is unknown about that. */
Test(summed, joins)
{
    SUM(1, ann, 5 * MS, join_enter, .stack = stack, .limit = WAIT_UNLIMITED, .since = at(1 * MS),
        .until = at(5 * MS), .count = 500, .total = 50000, .longest = 400);
    SUM(1, ann, 7 * MS, join_enter, .stack = stack, .limit = WAIT_UNLIMITED, .since = at(6 * MS),
        .until = at(6 * MS + 300), .count = 1, .total = 300, .longest = 300, .whole = 1);
    ADD0(&b, 1, ann, 8 * MS, thread_end);
    analyzed_run(10 * MS);
    check_line(ann, 10 * MS);
    cr_assert_eq(count_of(ann, STATE_JOINING), 501);
    cr_assert_eq(ns_of(ann, STATE_JOINING), 50300);
    cr_assert_eq(a->bindings.unbound[STATE_JOINING], 0);
}

Test(summed, what_goes_on_is_open_and_what_was_told_is_over)
{
    ADD(&b, 1, ann, 3 * MS, wait_open, .kind = EV_park_enter, .lock = lock, .owner = bob,
        .stack = stack, .since = at(1 * MS), .limit = WAIT_UNLIMITED);
    SUM(2, ann, 4 * MS, park_enter, .lock = lock, .owner = bob, .stack = stack, .since = at(1 * MS),
        .until = at(4 * MS), .count = 1, .total = 3 * MS, .longest = 3 * MS, .whole = 1);
    ADD(&b, 1, bob, 6 * MS, wait_open, .kind = EV_park_enter, .lock = lock, .owner = ann,
        .stack = other_stack, .since = at(2 * MS), .limit = WAIT_UNLIMITED);
    analyzed_run(7 * MS);
    cr_assert_eq(a->timeline.lines[ann.v].spans.n, 1);
    cr_assert_eq(ns_of(ann, STATE_PARKED), 3 * MS);
    cr_assert_eq(count_of(bob, STATE_PARKED), 1);
    cr_assert_eq(ns_of(bob, STATE_PARKED), 5 * MS);
    cr_assert(context_of(bob, 0)->flags & INTERVAL_OPEN);
    cr_assert_eq(context_of(bob, 0)->other, ann.v);
    cr_assert_eq(context_of(bob, 0)->stack.v, other_stack.v);
    cr_assert_not(a->threads.v[ann.v].incomplete);
}

/* Of a park that was only timed the end says what it is for, and the drain thread later less. */
Test(summed, what_was_told_of_a_wait_stays)
{
    ADD(&b, 1, bob, 3 * MS, wait_open, .kind = EV_park_enter, .since = at(2 * MS),
        .limit = WAIT_UNLIMITED);
    ADD(&b, 2, bob, 6 * MS, wait_open, .kind = EV_park_enter, .lock = lock, .owner = ann,
        .stack = other_stack, .since = at(2 * MS), .limit = WAIT_UNLIMITED);
    ADD(&b, 3, bob, 7 * MS, wait_open, .kind = EV_park_enter, .since = at(2 * MS),
        .limit = WAIT_UNLIMITED);
    analyzed_run(8 * MS);
    cr_assert_eq(a->timeline.lines[bob.v].spans.n, 1);
    cr_assert_eq(ns_of(bob, STATE_PARKED), 6 * MS);
    cr_assert_eq(context_of(bob, 0)->lock.v, lock.v);
    cr_assert_eq(context_of(bob, 0)->other, ann.v);
    cr_assert_eq(context_of(bob, 0)->stack.v, other_stack.v);
}

/* Stretches that say more of the same are one. */
Test(summed, stretches)
{
    ADD(&b, 1, ann, 2 * MS, summing, .since = at(1 * MS), .goes_on = 1);
    ADD(&b, 1, ann, 3 * MS, summing, .since = at(1 * MS), .goes_on = 1);
    ADD(&b, 1, ann, 4 * MS, summing, .since = at(1 * MS), .waits = 7, .unparks = 7);
    ADD(&b, 1, ann, 8 * MS, summing, .since = at(6 * MS), .goes_on = 1);
    analyzed_run(10 * MS);
    cr_assert_eq(a->decoded.summed.stretches.len / sizeof(struct summing), 2);
    cr_assert_eq(summed_time(&a->decoded.summed), 5 * MS);
    cr_assert(summed_is_cut(&a->decoded.summed));
}

/* What lies in a look has its place there: a sum lies elsewhere, as long as there is room. */
static void sum_beside_a_look(uint64_t total)
{
    ADD(&b, 3, bob, 5 * MS, summing, .since = at(1 * MS), .goes_on = 2, .below = 4 * MS);
    ADD(&b, 3, bob, 9 * MS, summing, .since = at(7 * MS));
    SUM(1, ann, 9 * MS, park_enter, .lock = lock, .stack = stack, .since = at(3 * MS),
        .until = at(9 * MS), .count = 9, .total = total, .longest = 1 * MS);
    analyzed_run(10 * MS);
    check_line(ann, 10 * MS);
    cr_assert_eq(ns_of(ann, STATE_PARKED), total);
    cr_assert_eq(count_of(ann, STATE_PARKED), 9);
}

Test(summed, leaves_looks_free)
{
    sum_beside_a_look(3500000);
    cr_assert_eq(span_of(ann, 0)->start, at(3 * MS));
    cr_assert_eq(span_end(&a->timeline, span_of(ann, 0)), at(5 * MS));
    cr_assert_eq(span_of(ann, 1)->start, at(7 * MS));
    cr_assert_not(summed_at(&a->decoded.summed, at(6 * MS)));
    cr_assert_not(summed_at(&a->decoded.summed, at(5 * MS)));
    cr_assert(summed_at(&a->decoded.summed, at(1 * MS)));
    cr_assert(summed_at(&a->decoded.summed, at(7 * MS)));
    cr_assert_not(summed_at(&a->decoded.summed, at(9 * MS)));
    cr_assert_eq(summed_below(&a->decoded.summed), 4 * MS);
    cr_assert_not(summed_is_cut(&a->decoded.summed));
}

/* Where a sum lies says nothing of who had the lock then. */
Test(summed, no_hold_is_concluded)
{
    uint32_t id = lock.v;
    struct lock_line *l;
    SUM(1, ann, 5 * MS, park_enter, .lock = lock, .owner = bob, .stack = stack, .since = at(1 * MS),
        .until = at(5 * MS), .count = 5, .total = 3 * MS, .longest = 1 * MS);
    SUM(2, cat, 6 * MS, park_enter, .lock = lock, .owner = bob, .stack = stack, .since = at(2 * MS),
        .until = at(6 * MS), .count = 5, .total = 3 * MS, .longest = 1 * MS);
    analyzed_run(10 * MS);
    cr_assert_eq(lock_lines_make(a, &id, 1, true, &l), 0);
    cr_assert_eq(l->waits.n, 2);
    cr_assert_eq(l->holds.n, 0);
    lock_line_free(l);
}

Test(summed, takes_looks_where_there_is_no_other_room)
{
    sum_beside_a_look(9500000);
}

/* --- the same waits, one by one and summed ---------------------------------------------------- */

enum { THREADS = 4, PERIOD = 100000, PERIODS = 12, KEYS = 4 };

struct wait {
    uint64_t from, to;
    unsigned key;
};

static struct wait waits[THREADS][10000];
static size_t n_waits[THREADS];

static void make_waits(unsigned seed)
{
    srand(seed);
    for (int i = 0; i < THREADS; i++) {
        uint64_t now = 1000;
        n_waits[i] = 0;
        while (now < (uint64_t)PERIOD * PERIODS) {
            struct wait *w = &waits[i][n_waits[i]++];
            w->from = now + (uint64_t)(rand() % 300);
            w->to = w->from + (uint64_t)(rand() % (rand() % 50 ? 400 : 30000));
            w->key = (unsigned)rand() % KEYS;
            now = w->to + 1;
        }
    }
}

static thread_id thread_of(int i)
{
    const thread_id all[] = {ann, bob, cat, dan};
    return all[i];
}

static lock_id lock_of(unsigned key)
{
    return key & 1 ? lock : other_lock;
}

static stack_id stack_of(unsigned key)
{
    return key & 2 ? stack : other_stack;
}

static void add_singly(void)
{
    for (int i = 0; i < THREADS; i++)
        for (size_t k = 0; k < n_waits[i]; k++) {
            const struct wait *w = &waits[i][k];
            ADD(&b, (uint32_t)i + 1, thread_of(i), w->from, park_enter, .lock = lock_of(w->key),
                .owner = thread_of((i + 1) % THREADS), .stack = stack_of(w->key));
            ADD(&b, (uint32_t)i + 1, thread_of(i), w->to, park_exit, .lock = lock_of(w->key));
        }
}

/* By periods, in which the longer ones have their place. */
static void add_summed(void)
{
    for (int i = 0; i < THREADS; i++) {
        struct ev_wait_sum sums[KEYS];
        size_t k = 0;
        for (uint64_t p = 1; p <= PERIODS + 1; p++) {
            memset(sums, 0, sizeof sums);
            uint64_t now = 0;
            for (; k < n_waits[i] && waits[i][k].to < p * PERIOD; k++) {
                const struct wait *w = &waits[i][k];
                struct ev_wait_sum *s = &sums[w->key];
                now = w->to;
                if (w->to - w->from > 10000) {
                    SUM((uint32_t)i + 1, thread_of(i), w->to, park_enter, .lock = lock_of(w->key),
                        .owner = thread_of((i + 1) % THREADS), .stack = stack_of(w->key),
                        .limit = WAIT_UNLIMITED, .since = at(w->from), .until = at(w->to),
                        .count = 1, .whole = 1);
                    continue;
                }
                s->since = s->count ? s->since : at(w->from);
                s->until = at(w->to);
                s->count++;
                s->total += w->to - w->from;
                s->longest = max_u64(s->longest, w->to - w->from);
            }
            for (unsigned key = 0; key < KEYS; key++)
                if (sums[key].count)
                    SUM((uint32_t)i + 1, thread_of(i), max_u64(now, since(sums[key].until)),
                        park_enter, .lock = lock_of(key), .owner = thread_of((i + 1) % THREADS),
                        .stack = stack_of(key), .limit = WAIT_UNLIMITED, .since = sums[key].since,
                        .until = sums[key].until, .count = sums[key].count,
                        .total = sums[key].total, .longest = sums[key].longest);
        }
    }
}

struct tables {
    struct state_stats threads[THREADS], locks[2];
    uint64_t sites[8][2], max[8], running[THREADS], owners[THREADS][2];
};

static void read_tables(struct tables *to)
{
    const struct blame *v;
    size_t n;
    memset(to, 0, sizeof *to);
    for (int i = 0; i < THREADS; i++) {
        to->threads[i] = sums_of(thread_of(i))->state[STATE_PARKED];
        to->running[i] = thread_sums_running(sums_of(thread_of(i)));
    }
    to->locks[0] = a->stats.locks[lock.v].state[STATE_PARKED];
    to->locks[1] = a->stats.locks[other_lock.v].state[STATE_PARKED];
    cr_assert_leq(a->sites.n, 8);
    for (uint32_t i = 0; i < a->sites.n; i++) {
        uint32_t at_ = a->sites.v[i].stack.v == stack.v ? 0 : 1;
        to->sites[at_][0] += a->stats.sites[i].state[STATE_PARKED].count;
        to->sites[at_][1] += a->stats.sites[i].state[STATE_PARKED].ns;
        to->max[at_] = max_u64(to->max[at_], a->stats.sites[i].state[STATE_PARKED].max);
    }
    cr_assert_eq(analysis_blames(a, EVERY_CLASS, BLAME_BY_OWNER, &v, &n), 0);
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < THREADS; k++)
            if (v[i].owner == thread_of(k).v) {
                to->owners[k][0] += v[i].parked.count;
                to->owners[k][1] += v[i].parked.ns;
            }
}

Test(summed, tables_say_the_same)
{
    static struct tables singly, summed;
    for (unsigned seed = 1; seed <= 20; seed++) {
        make_waits(seed);
        uint64_t end = (uint64_t)PERIOD * (PERIODS + 2);
        add_singly();
        analyzed_run(end);
        read_tables(&singly);
        cr_assert_gt(singly.threads[0].count, 100);
        analyzed_end();
        analyzed_begin();
        add_summed();
        analyzed_run(end);
        read_tables(&summed);
        for (int i = 0; i < THREADS; i++)
            check_line(thread_of(i), end);
        cr_assert_not(a->decoded.summed.misfit, "seed %u", seed);
        for (size_t i = 0; i < sizeof singly / sizeof(uint64_t); i++)
            cr_assert_eq(((const uint64_t *)(const void *)&singly)[i],
                         ((const uint64_t *)(const void *)&summed)[i],
                         "seed %u, figure %zu: %lu, %lu", seed, i,
                         ((const uint64_t *)(const void *)&singly)[i],
                         ((const uint64_t *)(const void *)&summed)[i]);
        analyzed_end();
        analyzed_begin();
    }
}

/* A damaged file may say anything: it stays in bounds, and costs no more for it. */
Test(summed, nonsense)
{
    for (int i = 0; i < 100; i++)
        SUM(1, ann, 1000 + i, park_enter, .lock = lock, .stack = stack, .since = 0,
            .until = UINT64_MAX, .count = UINT64_MAX / 2, .total = UINT64_MAX / 3,
            .longest = UINT64_MAX);
    for (int i = 0; i < 100; i++)
        SUM(1, ann, 2000 + i, monitor_contended_enter, .lock = lock, .since = at(10),
            .until = at(1500), .count = 1);
    SUM(1, ann, 3000, wait_enter, .lock = lock, .count = 3);
    analyzed_run(10000);
    check_line(ann, 10000);
    cr_assert(a->decoded.summed.misfit);
}

/* Of parks that were only timed one says where, for the time or the number of others: it is never a
 * wait from since to until. */
Test(summed, timed)
{
    SUM(1, ann, 8 * MS, park_enter, .lock = lock, .stack = stack, .since = at(1 * MS),
        .until = at(8 * MS), .count = 1, .total = 3 * MS, .longest = 1 * MS,
        .whole = WAIT_SUM_TIMED);
    SUM(1, ann, 9 * MS, park_enter, .since = at(2 * MS), .until = at(9 * MS), .count = 40,
        .total = 2 * MS, .longest = 50000, .whole = WAIT_SUM_TIMED);
    ADD(&b, 2, bob, 9 * MS, summing, .since = at(1 * MS), .goes_on = 1, .timed = 1);
    analyzed_run(10 * MS);
    check_line(ann, 10 * MS);
    cr_assert_eq(count_of(ann, STATE_PARKED), 41);
    cr_assert_eq(ns_of(ann, STATE_PARKED), 5 * MS);
    cr_assert_eq(a->decoded.summed.waits, 41);
    cr_assert_eq(a->bindings.unbound_sums, 41);
    cr_assert(summed_is_timed(&a->decoded.summed));
    cr_assert_eq(context_of(ann, 0)->mode, CONTEXT_SUMMED);
}

/* After a hold of 950, ten threads get the lock in turn, while the queue never empties. */
static void drain_a_queue(void)
{
    does_block(bob, 50, 1000, lock, ann);
    does_block(cat, 60, 1020, lock, ann);
    for (uint64_t i = 0; i < 4; i++) {
        does_block(bob, 1005 + 40 * i, 1040 + 40 * i, lock, cat);
        does_block(cat, 1025 + 40 * i, 1060 + 40 * i, lock, bob);
    }
}

Test(summed, convoys_are_known_where_no_wait_is_a_sum)
{
    drain_a_queue();
    analyzed_run(10000);
    cr_assert_eq(queues_of(&a->queues, lock)->convoys, 1);
    analyzed_end();
    analyzed_begin();
    drain_a_queue();
    SUM(4, dan, 1100, monitor_contended_enter, .lock = lock, .owner = bob, .since = at(990),
        .until = at(1090), .count = 3, .total = 60, .longest = 30);
    analyzed_run(10000);
    cr_assert_eq(queues_of(&a->queues, lock)->convoys, 0, "whose turn it was is not known");
    cr_assert_eq(queues_of(&a->queues, lock)->handovers, 10 + 3);
}

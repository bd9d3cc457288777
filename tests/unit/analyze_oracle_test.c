/* analyze_oracle_test.c - the analysis of simulated programs against what is true of them: hundreds
 * of small ones a second, and some large.
 *
 * ORCA_SEED=n or n-m: the small programs of these seeds only. */
#include "cases.h"
#include "checks.h"
#include "conclude/resource.h"

#include <stdio.h>
#include <stdlib.h>

/* --- parts of a recording --------------------------------------------------------------------- */

/* A moment: any, or one at which something happens. */
static uint64_t some_time(struct sim *s)
{
    if (sim_one_in(s, 2))
        return s->begin - 10 + sim_below(s, s->end - s->begin + 20);
    if (sim_n_events(s) == 0)
        return s->begin;
    return sim_event(s, sim_below(s, sim_n_events(s)))->time;
}

static void check_some_tables(struct sim *s, const struct oracle *o, const struct analysis *a)
{
    bool threads[SIM_THREADS + 2] = {false};
    struct selection sel = selection_all();
    sel.n_threads = s->n_ids + 1;
    if (sim_one_in(s, 2)) {
        uint64_t x = some_time(s), y = some_time(s);
        sel.from = x < y ? x : y;
        sel.to = x < y ? y : x;
    }
    if (sim_one_in(s, 3)) {
        for (uint32_t i = 0; i <= s->n_ids; i++)
            threads[i] = sim_one_in(s, 2);
        sel.threads = threads;
    }
    if (sim_one_in(s, 4))
        sel.lock = 1 + (uint32_t)sim_below(s, a->locks.n_objects);
    check_tables(o, a, &sel);
}

/* What every thread is in at one moment. */
static void check_moment(struct sim *s, const struct oracle *o, const struct analysis *a)
{
    struct selection sel = selection_all();
    struct stats got;
    sel.from = some_time(s);
    sel.to = sel.from + 1;
    cr_assert_eq(analysis_stats(a, &sel, &got), 0);
    for (uint32_t i = 1; i <= s->n_ids; i++) {
        unsigned state = oracle_state(o, i, sel.from);
        struct life life = oracle_life(s, i);
        bool lives = life.from <= sel.from && sel.from < life.to;
        if (check_unseen(o, a, i) && lives && state >= WAIT_STATES)
            state = STATE_UNKNOWN;
        for (unsigned k = 0; k < STATE_LIMIT; k++)
            CHECK_EQ(got.threads[i].state[k].ns, k == state, "thread %u at %" PRIu64, i,
                     sel.from - BUILDER_START);
    }
    stats_fini(&got);
}

/* --- paths ------------------------------------------------------------------------------------ */

/* To the ends of threads, to the end of the recording, and to any moment. */
static void check_some_paths(struct sim *s, const struct oracle *o, struct analysis *a)
{
    for (int i = 0; i < 4; i++) {
        uint32_t thread = 1 + (uint32_t)sim_below(s, s->n_ids);
        const struct life life = oracle_life(s, thread);
        uint64_t to = life.to, from = sim_one_in(s, 2) ? s->begin : some_time(s);
        if (sim_one_in(s, 2))
            to = life.from + sim_below(s, life.to - life.from + 1);
        if (from < s->begin)
            from = s->begin;
        if (from <= to)
            check_path(o, a, thread, to, from);
    }
}

/* --- programs --------------------------------------------------------------------------------- */

static void check_some(struct sim *s, const struct oracle *o, struct analysis *a)
{
    check_bindings(o, a);
    check_bottles(o, a);
    check_some_paths(s, o, a);
    check_deadlocks(o, a);
    for (int i = 0; i < 2; i++) {
        check_some_tables(s, o, a);
        check_moment(s, o, a);
    }
}

static void check_all(const struct sim_shape *shape)
{
    static struct sim s;
    struct oracle o;
    struct analysis *a;
    struct err err = {""};
    snprintf(check_name, sizeof check_name, "seed %" PRIu64, shape->seed);
    sim_run(&s, shape);
    struct trace *t = sim_trace(&s);
    cr_assert_eq(conclude_run(&a, t, &err), 0, "%s: %s", check_name, err.msg);
    oracle_init(&o, &s);
    check_forgive(&o, &s, a);
    check_model(&o, a);
    if (!s.undecided)
        check_some(&s, &o, a);
    oracle_fini(&o);
    analysis_free(a);
    trace_close(t);
    sim_fini(&s);
}

/* ORCA_SEED says which instead. */
static void rounds(uint64_t from, uint64_t to)
{
    const char *only = getenv("ORCA_SEED");
    if (only) {
        char *dash;
        from = strtoull(only, &dash, 10);
        to = (*dash == '-' ? strtoull(dash + 1, NULL, 10) : from) + 1;
    }
    for (uint64_t seed = from; seed < to; seed++) {
        const struct sim_shape shape = sim_shape_of(seed);
        check_all(&shape);
    }
}

Test(analyze_oracle, small_programs)
{
    rounds(1, (uint64_t)cases(CASES(5000)));
    if (getenv("ORCA_SEED"))
        return;
    cr_assert_gt(check_handoffs.certain[0], 0, "nothing was certain without holds");
    cr_assert_gt(check_handoffs.certain[1], 0, "nothing was certain with holds");
    cr_assert_gt(check_handoffs.wrong, 0, "the last owner seen was always the giver");
    cr_assert_gt(check_races.unknown, 0, "no time-out raced with a notify");
    cr_assert_gt(check_races.certain, check_races.unknown, "too little is known about races");
}

Test(analyze_oracle, large_programs)
{
    for (uint64_t seed = 1; seed <= (uint64_t)cases(6); seed++) {
        struct sim_shape shape = sim_shape_of(seed);
        shape.threads = seed % 2 ? 8 : SIM_THREADS;
        shape.steps = 25000;
        shape.ordered = true;
        check_all(&shape);
    }
}

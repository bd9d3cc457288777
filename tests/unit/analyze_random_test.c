/* analyze_random_test.c - random programs whose every wait is known, against what the analysis
 * finds.
 *
 * The simulator below writes down each wait as it happens (struct truth) and emits its events; the
 * expected sums are plain loops over that list.  It knows nothing of tracks, streams or batches. */
#include "analyze/analysis.h"
#include "conclude/resource.h"
#include "trace_builder.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREADS = 9,
    VIRTUAL_FROM = 6,
    LOCKS = 6,
    CLASSES = 3,
    STACKS = 4,
    WAITS_MAX = 5000,
    CARRIER = 50
};

struct truth {
    int thread, state, lock, owner, stack;
    uint64_t start, end; /* of a wait in which the monitor is taken again: end of the waiting */
    int again;           /* the latest re-acquisition inside; -1: none */
    bool enter_seen, exit_seen, over, timed_out;
};

struct sim {
    struct trace_builder b;
    uint64_t now, end;
    bool lossy;
    thread_id thread[THREADS];
    lock_id lock[LOCKS];
    stack_id stack[STACKS];
    struct truth waits[WAITS_MAX];
    int n;
    int open[THREADS][2], depth[THREADS]; /* indices into waits */
    uint64_t lost[THREADS], lost_in_all[THREADS], reacquired[THREADS];
    uint64_t started[THREADS], ended[THREADS];
};

static int class_of(int lock)
{
    return lock % CLASSES;
}

static void prepare(struct sim *s, bool lossy)
{
    memset(s, 0, sizeof *s);
    builder_init(&s->b);
    s->b.block_events = 1 + (uint32_t)rand() % 40;
    s->lossy = lossy;
    class_id classes[CLASSES];
    for (int i = 0; i < CLASSES; i++)
        classes[i] = builder_class(&s->b, (const char *[]){"La/A;", "Lb/B;", "Lc/C;"}[i]);
    for (int i = 0; i < THREADS; i++)
        s->thread[i] = builder_thread_flags(&s->b, "t", i >= VIRTUAL_FROM ? THREAD_VIRTUAL : 0);
    for (int i = 0; i < LOCKS; i++)
        s->lock[i] = builder_lock(&s->b, classes[class_of(i)]);
    for (int i = 0; i < STACKS; i++) {
        char text[40];
        snprintf(text, sizeof text, "a.A.m:%d", i + 1);
        s->stack[i] = builder_stack(&s->b, text);
    }
}

/* False when the event was lost. */
static bool emit(struct sim *s, int t, struct event e)
{
    bool virtual = t >= VIRTUAL_FROM;
    if (s->lossy && !virtual && rand() % 5 == 0) {
        s->lost[t]++;
        return false;
    }
    uint32_t stream = virtual ? CARRIER + (uint32_t)rand() % 3 : (uint32_t)t + 1;
    if (s->lost[t]) {
        ADD(&s->b, stream, s->thread[t], s->now, lost, .cause = LOSS_ring_full,
            .count = s->lost[t]);
        s->lost_in_all[t] += s->lost[t];
        s->lost[t] = 0;
    }
    e.time = BUILDER_START + s->now;
    e.thread = s->thread[t];
    builder_event(&s->b, stream, &e);
    return true;
}

/* A re-acquisition begins: what the wait did before, waiting or an earlier one, is over. */
static void begin_again(struct sim *s, struct truth *wait)
{
    struct truth *before = wait->again < 0 ? wait : &s->waits[wait->again];
    before->end = s->now;
    before->over = before->exit_seen = true;
    wait->again = s->n;
    s->waits[s->n].state = STATE_REACQUIRING;
}

static void begin_wait(struct sim *s, int t, int state, int lock)
{
    struct truth *w = &s->waits[s->n];
    *w = (struct truth){.thread = t,
                        .state = state,
                        .lock = lock,
                        .start = s->now,
                        .again = -1,
                        .owner = rand() % (THREADS + 1) - 1,
                        .stack = rand() % STACKS};
    struct event e = {.kind = EV_wait_enter,
                      .wait_enter = {.lock = s->lock[lock], .stack = s->stack[w->stack]}};
    if (state == STATE_BLOCKED) {
        thread_id owner = w->owner < 0 ? (thread_id){0} : s->thread[w->owner];
        e = (struct event){.kind = EV_monitor_contended_enter,
                           .monitor_contended_enter = {
                               .lock = s->lock[lock], .owner = owner, .stack = s->stack[w->stack]}};
    }
    w->enter_seen = emit(s, t, e);
    if (s->depth[t])
        begin_again(s, &s->waits[s->open[t][0]]);
    s->open[t][s->depth[t]++] = s->n++;
}

static void end_wait(struct sim *s, int t)
{
    struct truth *w = &s->waits[s->open[t][--s->depth[t]]];
    struct truth *last = w->again < 0 ? w : &s->waits[w->again];
    w->timed_out = w->state == STATE_WAITING && rand() % 3 == 0;
    struct event e = {.kind = EV_monitor_contended_entered,
                      .monitor_contended_entered = {.lock = s->lock[w->lock]}};
    if (w->state == STATE_WAITING)
        e = (struct event){.kind = EV_wait_exit,
                           .wait_exit = {.lock = s->lock[w->lock], .timed_out = w->timed_out}};
    bool seen = emit(s, t, e);
    if (s->depth[t])
        return; /* what follows until the end of the wait counts as its re-acquisition */
    last->end = s->now;
    last->over = true;
    last->exit_seen = w->exit_seen = seen;
}

static void step(struct sim *s)
{
    int t = rand() % THREADS;
    s->now += 1 + (uint64_t)rand() % 50; /* equal times in two streams have no order */
    if (s->depth[t] == 0) {
        begin_wait(s, t, rand() % 3 ? STATE_BLOCKED : STATE_WAITING, rand() % LOCKS);
        return;
    }
    const struct truth *w = &s->waits[s->open[t][s->depth[t] - 1]];
    bool can_nest = w->state == STATE_WAITING && (!s->lossy || t >= VIRTUAL_FROM);
    if (can_nest && rand() % 4 == 0) {
        begin_wait(s, t, STATE_BLOCKED, w->lock);
    } else if (can_nest && t >= VIRTUAL_FROM && rand() % 4 == 0) {
        emit(s, t,
             (struct event){.kind = EV_monitor_contended_entered,
                            .monitor_contended_entered = {.lock = s->lock[w->lock]}});
        s->reacquired[t]++;
    } else {
        end_wait(s, t);
    }
}

static struct analysis *simulate(struct sim *s, int steps)
{
    for (int i = 0; i < steps; i++)
        step(s);
    bool lossy = s->lossy;
    s->lossy = false;
    for (int t = 0; t < THREADS; t++)
        if (s->lost[t])
            emit(s, t, (struct event){.kind = EV_thread_alive});
    s->lossy = lossy;
    s->end = s->now + 100;
    struct analysis *a;
    struct err err;
    cr_assert_eq(conclude_run(&a, builder_open(&s->b, s->end), &err), 0);
    return a;
}

/* --- what must come out ----------------------------------------------------------------------- */

struct sums {
    uint64_t count, unknown, open, ns, max, timed_out;
    uint64_t objects; /* a bit per lock */
};

static void add(struct sums *to, const struct sim *s, const struct truth *w)
{
    uint64_t stop = w->over ? w->end : s->end, ns = stop - w->start;
    bool known = w->enter_seen && (w->exit_seen || !w->over);
    to->count += w->enter_seen || w->exit_seen;
    to->unknown += (w->enter_seen || w->exit_seen) && !known;
    to->timed_out += w->exit_seen && w->timed_out;
    to->objects |= (uint64_t)(w->enter_seen || w->exit_seen) << w->lock;
    if (!known)
        return;
    to->open += !w->over;
    to->ns += ns;
    to->max = ns > to->max ? ns : to->max;
}

/* Sums of the waits that agree in what is not -1. */
static struct sums expect(const struct sim *s, int thread, int state, int class_, int owner,
                          int stack)
{
    struct sums sum = {0};
    for (int i = 0; i < s->n; i++) {
        const struct truth *w = &s->waits[i];
        if ((thread < 0 || w->thread == thread) && w->state == state &&
            (class_ < 0 || class_of(w->lock) == class_) &&
            (owner < -1 || (w->enter_seen ? w->owner : -1) == owner) &&
            (stack < -1 || (w->enter_seen ? w->stack : -1) == stack))
            add(&sum, s, w);
    }
    return sum;
}

enum { ANY = -2 };

static void check_threads(const struct sim *s, const struct analysis *a)
{
    for (int t = 0; t < THREADS; t++) {
        const struct thread_stats *def = &a->threads.v[s->thread[t].v];
        const struct thread_sums *got = &a->stats.threads[s->thread[t].v];
        struct sums again = expect(s, t, STATE_REACQUIRING, -1, ANY, ANY);
        struct sums blocked = expect(s, t, STATE_BLOCKED, -1, ANY, ANY);
        struct sums waited = expect(s, t, STATE_WAITING, -1, ANY, ANY);
        cr_assert_eq(got->state[STATE_BLOCKED].count, blocked.count);
        cr_assert_eq(got->state[STATE_BLOCKED].ns, blocked.ns, "thread %d: %lu for %lu", t,
                     got->state[STATE_BLOCKED].ns, blocked.ns);
        cr_assert_eq(got->state[STATE_WAITING].count, waited.count);
        cr_assert_eq(got->state[STATE_WAITING].ns, waited.ns);
        cr_assert_eq(got->unknown, blocked.unknown + waited.unknown + again.unknown);
        cr_assert_eq(got->state[STATE_REACQUIRING].count, again.count);
        cr_assert_eq(got->state[STATE_REACQUIRING].ns, again.ns);
        cr_assert_eq(got->open, blocked.open + waited.open + again.open);
        cr_assert_eq(got->reacquired, s->reacquired[t]);
        cr_assert_eq(def->lost, s->lost_in_all[t]);
        cr_assert_eq(def->incomplete, s->lost_in_all[t] > 0);
        cr_assert_eq(got->life, s->end);
        uint64_t unknown = got->state[STATE_UNKNOWN].ns;
        cr_assert_eq(thread_sums_running(got) + blocked.ns + waited.ns + again.ns + unknown,
                     s->end);
        bool seen = a->timeline.lines[s->thread[t].v].spans.n > 1; /* else a virtual one unseen */
        cr_assert(unknown == 0 || got->unknown || def->lost || (def->is_virtual && !seen));
    }
}

static void check_wait_stats(const struct wait_stats *got, struct sums want)
{
    cr_assert_eq(got->count, want.count);
    cr_assert_eq(got->unknown, want.unknown);
    cr_assert_eq(got->open, want.open);
    cr_assert_eq(got->ns, want.ns);
    cr_assert_eq(got->max, want.max);
    cr_assert_eq(got->times.n, want.count - want.unknown);
    cr_assert_eq(got->objects, (uint64_t)__builtin_popcountll(want.objects));
}

static void check_classes(const struct sim *s, const struct analysis *a)
{
    static const char *const names[] = {"La/A;", "Lb/B;", "Lc/C;"};
    for (size_t i = 1; i < a->locks.n_groups; i++) {
        const struct class_stats *got = &a->stats.classes[i];
        int c = 0;
        while (strcmp(names[c], a->locks.groups[i].signature) != 0)
            c++;
        struct sums waited = expect(s, -1, STATE_WAITING, c, ANY, ANY);
        check_wait_stats(&got->state[STATE_BLOCKED], expect(s, -1, STATE_BLOCKED, c, ANY, ANY));
        check_wait_stats(&got->state[STATE_REACQUIRING],
                         expect(s, -1, STATE_REACQUIRING, c, ANY, ANY));
        check_wait_stats(&got->state[STATE_WAITING], waited);
        cr_assert_eq(got->timed_out, waited.timed_out);
    }
}

static void check_site_stats(struct blame_sum got, struct sums want)
{
    cr_assert_eq(got.count, want.count);
    cr_assert_eq(got.ns, want.ns);
    cr_assert_eq(got.max, want.max);
}

static void check_sites(const struct sim *s, const struct analysis *a)
{
    uint64_t count = 0;
    for (size_t i = 0; i < a->sites.n; i++) {
        const struct site *site = &a->sites.v[i];
        const struct wait_stats *got = a->stats.sites[i].state;
        int c = a->locks.groups[site->group].signature[1] - 'a', stack = site->app.line - 1;
        stack = site->app.line < 0 ? -1 : stack;
        for (int k = 0; k < WAIT_STATES; k++)
            check_wait_stats(&got[k], expect(s, -1, k, c, ANY, stack));
        count += got[STATE_BLOCKED].count + got[STATE_WAITING].count;
    }
    cr_assert_eq(count, a->stats.total[STATE_BLOCKED].count + a->stats.total[STATE_WAITING].count);
}

static void check_blames(const struct sim *s, struct analysis *a)
{
    const struct blame *list;
    size_t n;
    uint64_t count = 0;
    cr_assert_eq(analysis_blames(a, EVERY_CLASS, BLAME_BY_GROUP | BLAME_BY_OWNER | BLAME_BY_WAITER,
                                 &list, &n),
                 0);
    for (size_t i = 0; i < n; i++) {
        int c = a->locks.groups[list[i].group].signature[1] - 'a';
        int waiter = (int)list[i].waiter - 1, owner = (int)list[i].owner - 1;
        check_site_stats(list[i].blocked, expect(s, waiter, STATE_BLOCKED, c, owner, ANY));
        if (owner < 0)
            check_site_stats(list[i].waited, expect(s, waiter, STATE_WAITING, c, ANY, ANY));
        count += list[i].blocked.count;
    }
    cr_assert_eq(count, a->stats.total[STATE_BLOCKED].count);
}

static void rounds(int n, int steps, bool lossy)
{
    static struct sim s;
    for (int round = 0; round < n; round++) {
        srand((unsigned)round);
        prepare(&s, lossy);
        struct analysis *a = simulate(&s, rand() % steps);
        struct trace *t = a->trace;
        check_threads(&s, a);
        check_classes(&s, a);
        check_sites(&s, a);
        check_blames(&s, a);
        analysis_free(a);
        trace_close(t);
    }
}

Test(analyze_random, short_programs)
{
    rounds(300, 60, false);
}

Test(analyze_random, long_programs)
{
    rounds(20, 4000, false);
}

Test(analyze_random, short_programs_with_losses)
{
    rounds(300, 60, true);
}

Test(analyze_random, long_programs_with_losses)
{
    rounds(20, 4000, true);
}

/* What a running thread of a simulated program does next: anything, but the last one that runs
 * helps the others, so that the program goes on. */
#include "sim_parts.h"

static int some_thread(struct sim *s)
{
    return (int)sim_below(s, (uint64_t)s->n_threads);
}

static bool is_there(const struct sim *s, int t)
{
    return s->actors[t].doing > IS_STARTING && s->actors[t].doing != IS_DEAD;
}

/* --- helping ---------------------------------------------------------------------------------- */

/* Whether a thread goes on without anybody's help. */
static bool goes_on(const struct sim *s, int t)
{
    const struct actor *a = &s->actors[t];
    if (a->doing == IS_RUNNING || a->doing == IS_STARTING || a->doing == IS_SLEEPING)
        return true;
    return a->span != NOBODY && sim_span(s, (size_t)a->span)->flags & INTERVAL_TIMED;
}

static int others_that_go_on(const struct sim *s, int t)
{
    int n = 0;
    for (int i = 0; i < s->n_threads; i++)
        n += i != t && goes_on(s, i);
    return n;
}

/* Whether hardly anybody else goes on. */
static bool is_needed(struct sim *s, int t)
{
    int others = others_that_go_on(s, t), alive = 0;
    for (int i = 0; i < s->n_threads; i++)
        alive += is_there(s, i);
    return others == 0 || (4 * others < alive && sim_one_in(s, 2));
}

static bool release_for_somebody(struct sim *s, int t)
{
    for (int i = 0; i < SIM_SEMAPHORES; i++)
        if (s->semaphores[i].queue.n && !s->semaphores[i].permits) {
            semaphore_release(s, t, i);
            return true;
        }
    return false;
}

static bool unpark_somebody(struct sim *s, int t)
{
    int from = some_thread(s);
    for (int i = 0; i < s->n_threads; i++) {
        int x = (from + i) % s->n_threads;
        if (s->actors[x].doing == IS_PARKED &&
            sim_span(s, (size_t)s->actors[x].span)->wake.by == BY_NOBODY) {
            unpark(s, t, x, NOBODY);
            return true;
        }
    }
    return false;
}

/* Take a monitor in which somebody waits to be notified. */
static bool enter_for_somebody(struct sim *s, int t)
{
    int from = (int)sim_below(s, SIM_MONITORS);
    for (int i = 0; i < SIM_MONITORS; i++) {
        int m = (from + i) % SIM_MONITORS;
        if (s->monitors[m].waiting.n && s->monitors[m].owner == NOBODY && !s->monitors[m].entry.n) {
            monitor_enter(s, t, m);
            return true;
        }
    }
    return false;
}

/* False: nobody needs it. */
static bool help(struct sim *s, int t)
{
    const struct actor *a = &s->actors[t];
    int top = a->n_held ? a->held[a->n_held - 1] : NOBODY;
    if (top >= 0 && top < SIM_MONITORS && s->monitors[top].waiting.n)
        monitor_notify(s, t, top, sim_one_in(s, 3));
    else if (top >= 0)
        monitor_exit(s, t);
    else if (a->n_locks)
        lock_release(s, t);
    else
        return (sim_one_in(s, 2) && enter_for_somebody(s, t)) || release_for_somebody(s, t) ||
               unpark_somebody(s, t) || enter_for_somebody(s, t);
    return true;
}

/* What needs nobody. */
static void do_alone(struct sim *s, int t)
{
    int other = some_thread(s);
    uint64_t dice = sim_below(s, 4);
    if (s->actors[other].doing == IS_ABSENT)
        thread_start(s, t, other);
    else if (dice == 0)
        thread_sleep(s, t);
    else if (dice == 1)
        task_submit(s, t);
    else if (dice == 2)
        task_run(s, t);
    else
        unpark(s, t, other, NOBODY);
}

/* --- anything --------------------------------------------------------------------------------- */

static void enter_some(struct sim *s, int t)
{
    const struct actor *a = &s->actors[t];
    int m = (int)sim_below(s, SIM_MONITORS), high = -1;
    bool of_thread = sim_one_in(s, 12);
    if (of_thread)
        m = some_thread(s);
    of_thread &= is_there(s, m) || s->actors[m].doing == IS_STARTING;
    m = of_thread ? SIM_MONITORS + m : m % SIM_MONITORS;
    for (int i = 0; i < a->n_held; i++) {
        high = a->held[i] > high ? a->held[i] : high;
        if (a->held[i] == m)
            return;
    }
    if (a->n_held < HELD_MAX && (!s->shape.ordered || (m > high && a->n_locks == 0)))
        monitor_enter(s, t, m);
}

static void wait_or_notify(struct sim *s, int t, bool wait)
{
    const struct actor *a = &s->actors[t];
    if (!a->n_held)
        return;
    int m = a->held[sim_one_in(s, 4) ? sim_below(s, (uint64_t)a->n_held) : (uint64_t)a->n_held - 1];
    if (wait)
        monitor_wait(s, t, m, sim_one_in(s, 3));
    else if (m < SIM_MONITORS) /* the JVM notifies those who wait for a thread's end */
        monitor_notify(s, t, m, sim_one_in(s, 3));
}

static void act_on_monitors(struct sim *s, int t, uint64_t dice)
{
    if (dice < 26)
        enter_some(s, t);
    else if (dice < 42 && s->actors[t].n_held)
        monitor_exit(s, t);
    else if (dice < 51)
        wait_or_notify(s, t, true);
    else
        wait_or_notify(s, t, false);
}

static void act_on_permits(struct sim *s, int t, uint64_t dice)
{
    const struct actor *a = &s->actors[t];
    uint64_t k = sim_below(s, 6);
    if (dice < 64)
        park(s, t, k < SIM_LOCKS ? s->locks[k].id : 0, 0, sim_one_in(s, 3));
    else if (dice < 66)
        unpark(s, t, some_thread(s), NOBODY);
    else if (dice < 69)
        unpark_somebody(s, t);
    else if (dice < 73)
        semaphore_acquire(s, t, (int)(k % SIM_SEMAPHORES));
    else if (dice < 77)
        semaphore_release(s, t, (int)(k % SIM_SEMAPHORES));
    else if (dice < 82 && (!s->shape.ordered || a->n_held + a->n_locks == 0))
        lock_take(s, t, (int)(k % SIM_LOCKS));
    else if (a->n_locks)
        lock_release(s, t);
}

/* Notice an interrupt without a wait, by an exception or quietly. */
static void notice(struct sim *s, int t)
{
    struct actor *a = &s->actors[t];
    if (!a->interrupted)
        return;
    if (a->acted || a->last == NOBODY) /* else it would look as if the wait had thrown */
        sim_todo(s, t, DO_THROW, NOBODY);
    else
        a->interrupted = false;
}

static void act_on_lives(struct sim *s, int t, uint64_t dice)
{
    const struct actor *a = &s->actors[t];
    int other = some_thread(s);
    if (dice < 89)
        thread_sleep(s, t);
    else if (dice < 91 && other != t && s->ids[other] && a->n_held + a->n_locks == 0)
        thread_join(s, t, other, sim_one_in(s, 3));
    else if (dice < 93)
        thread_interrupt(s, t, other);
    else if (dice < 95 && s->actors[other].doing == IS_ABSENT)
        thread_start(s, t, other);
    else if (dice < 96)
        notice(s, t);
    else if (dice < 97)
        task_submit(s, t);
    else if (dice < 98)
        task_run(s, t);
    else if (t && a->n_held == 0 && a->n_locks == 0 && sim_one_in(s, 2))
        thread_end(s, t);
    else
        sim_tick(s);
}

void play_anything(struct sim *s, int t)
{
    uint64_t dice = sim_below(s, s->shape.monitors_only ? 60 : 100);
    if (is_needed(s, t)) {
        if (!help(s, t))
            do_alone(s, t);
    } else if (dice < 60) {
        act_on_monitors(s, t, dice);
    } else if (dice < 86) {
        act_on_permits(s, t, dice);
    } else {
        act_on_lives(s, t, dice);
    }
}

void play_end(struct sim *s, int t)
{
    const struct actor *a = &s->actors[t];
    bool busy = a->n_held || a->n_locks || others_that_go_on(s, t) == 0;
    if (!busy || !help(s, t))
        thread_end(s, t);
}

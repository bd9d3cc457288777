#include "base/human.h"
#include "base/util.h"
#include "conclude/rules_parts.h"

#include <stdlib.h>

#define LOST_LEAST_NS UINT64_C(2000000000) /* of a wait while the program goes on */

enum {
    STORM_CALLS = 10,      /* of notifyAll at least, */
    STORM_WOKEN = 2,       /* that woke this number on average, */
    STORM_PERMILLE = 100,  /* of the recording lost; */
    FUTILE_PERMILLE = 500, /* of the wake-ups futile */
    FUTILE_WAKEUPS = 50,   /* at least */
};

/* Waits of a thread on an object. */
static uint32_t waits_on(const struct timeline *t, uint32_t thread, lock_id lock)
{
    const struct line *l = &t->lines[thread];
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->spans.n; i++) {
        const struct context *x = timeline_context(t, line_span(l, i)->context);
        n += x->what == STATE_WAITING && x->lock.v == lock.v;
    }
    return n;
}

/* While the program runs, a thread may still notify, and an idle consumer looks the same.  It is
 * not idle if the program's code waits on the object for the first time, and each notify so far
 * came while no thread waited. */
static bool seems_lost(const struct evidence *ev, const struct lost_signal *l)
{
    const struct signal_set *all = &ev->a->signals;
    uint64_t woken = 0;
    for (size_t i = 0; i < all->n; i++)
        if (all->v[i].lock.v == l->lock.v)
            woken += all->v[i].woken[0] + all->v[i].woken[1] + all->v[i].timed_out;
    return !woken && ev->a->window.to - l->since >= LOST_LEAST_NS && !ev->a->deadlocks.n &&
           program_is_in(&ev->resources.program, l->waits_at) &&
           waits_on(&ev->a->timeline, l->waiter, l->lock) == 1;
}

void rule_lost_signal(struct evidence *ev)
{
    const struct analysis *a = ev->a;
    const struct signal_set *s = &a->signals;
    bool stuck = deadlocks_stuck(&a->deadlocks, a->window.to);
    for (size_t i = 0; i < s->n_lost; i++) {
        const struct lost_signal *l = &s->lost[i];
        if (!stuck && !seems_lost(ev, l))
            continue;
        /* The lost signal is the cause of stuck, so it comes first. */
        uint64_t since =
            a->deadlocks.n || !stuck ? l->since : min_u64(a->deadlocks.stuck_since, l->since);
        struct rule_finding *f =
            rule_find(ev, stuck ? SEVERITY_PROBLEM : SEVERITY_WARNING, a->window.to - since + 1);
        if (!f)
            return;
        f->from = l->notified;
        rule_add_thread(f, ev, l->waiter);
        rule_add_thread(f, ev, l->notifier);
        rule_add_lock(f, l->lock);
        rule_add_stack(f, l->waits_at);
        rule_add_stack(f, l->notified_at);
        rule_say_lock(f, ev, l->lock, l->waits_at);
        rule_say(f, ": ");
        rule_say_thread(f, ev, l->notifier);
        rule_say(f, " called notify");
        rule_say_place(f, ev, " in ", l->notified_at);
        rule_say(f, " while no thread waited");
        rule_say(f, "; %s later ", human_time(l->since - l->notified).text);
        rule_say_thread(f, ev, l->waiter);
        rule_say(f, " began to wait");
        rule_say_place(f, ev, " in ", l->waits_at);
        rule_say(f, ", without a timeout, and has not been notified since: if that signal was "
                    "meant for this wait, it is lost");
        if (stuck && !a->deadlocks.n)
            rule_say(f, "; every thread of the program (%s) waits without a timeout, for %s",
                     human_count(a->deadlocks.n_stuck).text,
                     human_time(a->window.to - a->deadlocks.stuck_since).text);
    }
}

static void add_ids(struct rule_finding *f, const struct evidence *ev, const struct signals *s)
{
    const struct analysis *a = ev->a;
    uint32_t group = lock_set_group(&a->locks, s->lock);
    f->from = s->first;
    f->to = s->last;
    rule_add_lock(f, s->lock);
    for (size_t i = 0; i < ev->n_waiters; i++)
        if (ev->waiters[i].group == group && ev->waiters[i].waited.count)
            rule_add_thread(f, ev, ev->waiters[i].waiter);
    for (size_t i = 0; i < ev->n_sites; i++)
        if (a->sites.v[ev->sites[i]].group == group &&
            a->stats.sites[ev->sites[i]].state[STATE_WAITING].count)
            rule_add_stack(f, a->sites.v[ev->sites[i]].stack);
}

static void say_where(struct rule_finding *f, const struct evidence *ev, const struct signals *s)
{
    const struct analysis *a = ev->a;
    for (size_t i = 0; i < ev->n_sites; i++) {
        const struct site *site = &a->sites.v[ev->sites[i]];
        if (site->group != lock_set_group(&a->locks, s->lock) ||
            !a->stats.sites[ev->sites[i]].state[STATE_WAITING].count)
            continue;
        rule_line(f, CARD_WAIT_IN);
        rule_say_place(f, ev, "", site->stack);
        return;
    }
}

/* Whether the finding about the lock covers this: the threads that are woken in vain queue for the
 * lock. */
static bool said_of_resource(struct evidence *ev, const struct signals *s)
{
    struct rule_finding *f = rule_of_lock(ev, s->lock);
    if (f)
        rule_say(f, "; %s of %s wake-ups by notifyAll() (%u %%) were wasted",
                 human_count(s->futile[1]).text, human_count(s->woken[1]).text,
                 rule_permille(s->futile[1], s->woken[1]) / 10);
    return f;
}

void rule_notify_storm(struct evidence *ev)
{
    const struct signal_set *all = &ev->a->signals;
    for (size_t i = 0; i < all->n; i++) {
        const struct signals *s = &all->v[i];
        if (s->notify_all < STORM_CALLS || s->woken[1] < STORM_WOKEN * s->notify_all ||
            rule_permille(s->futile[1], s->woken[1]) < FUTILE_PERMILLE || said_of_resource(ev, s) ||
            rule_permille(s->futile_ns, ev->length) < STORM_PERMILLE)
            continue;
        struct rule_finding *f = rule_find(ev, SEVERITY_WARNING, s->futile_ns);
        if (!f)
            return;
        add_ids(f, ev, s);
        rule_say_lock(f, ev, s->lock, (stack_id){0});
        rule_say(f, ": %s notifyAll() calls woke threads %s times; %s wake-ups (%u %%) were wasted",
                 human_count(s->notify_all).text, human_count(s->woken[1]).text,
                 human_count(s->futile[1]).text, rule_permille(s->futile[1], s->woken[1]) / 10);
        rule_say(f, "; the thread went back to waiting at once: %s lost between wake-up and wait",
                 human_time(s->futile_ns).text);
        say_where(f, ev, s);
    }
}

void rule_futile_wakeups(struct evidence *ev)
{
    const struct signal_set *all = &ev->a->signals;
    for (size_t i = 0; i < all->n; i++) {
        const struct signals *s = &all->v[i];
        if (s->futile[0] < FUTILE_WAKEUPS ||
            rule_permille(s->futile[0], s->woken[0]) < FUTILE_PERMILLE || !s->timed_out)
            continue;
        struct rule_finding *f = rule_find(ev, SEVERITY_WARNING, s->futile_ns);
        if (!f)
            return;
        add_ids(f, ev, s);
        rule_say_lock(f, ev, s->lock, (stack_id){0});
        rule_say(f,
                 ": %s of %s notify() wake-ups (%u %%) were wasted: the thread went back to "
                 "waiting within 10 µs",
                 human_count(s->futile[0]).text, human_count(s->woken[0]).text,
                 rule_permille(s->futile[0], s->woken[0]) / 10);
        rule_say(f, "; %s other wait%s timed out: notify() may be waking the wrong kind of waiter",
                 human_count(s->timed_out).text, s->timed_out == 1 ? "" : "s");
        say_where(f, ev, s);
    }
}

/* Monitors and Object.wait as HotSpot has them: the wait set is first in, first out; who is
 * notified goes to the threads that want the monitor and says that its wait is over when it owns
 * it; who times out or is interrupted says so first and then takes the monitor as anybody does. */
#include "sim_parts.h"

static bool is_free(const struct sim *s, int t, int m)
{
    const struct owned *o = &s->monitors[m];
    if (o->owner != NOBODY)
        return false;
    return !s->shape.fair || o->entry.n == 0 || o->entry.v[0] == t;
}

static void take(struct sim *s, int t, int m)
{
    struct actor *a = &s->actors[t];
    struct owned *o = &s->monitors[m];
    bool again = a->again == m;
    crowd_remove(&o->entry, t);
    o->owner = t;
    o->since = s->now;
    a->taken[a->n_held] = again ? a->again_taken : s->now;
    a->held[a->n_held++] = m;
    if (again)
        a->again = NOBODY;
}

/* Since when its hold lasts. */
static uint64_t give_up(struct sim *s, int t, int m)
{
    struct actor *a = &s->actors[t];
    struct owned *o = &s->monitors[m];
    const struct true_hold h = {o->since, s->now, s->ids[t], o->id};
    uint64_t taken = 0;
    int n = 0;
    buf_put(&s->tenures, &h, sizeof h);
    o->owner = NOBODY;
    o->last = s->ids[t];
    o->released = s->now;
    for (int i = 0; i < a->n_held; i++) {
        if (a->held[i] == m) {
            taken = a->taken[i];
            continue;
        }
        a->held[n] = a->held[i];
        a->taken[n++] = a->taken[i];
    }
    a->n_held = n;
    return taken;
}

/* It gets it from somebody else. */
static void receive(struct sim *s, int t, int m)
{
    struct true_span *x = sim_span(s, (size_t)s->actors[t].span);
    x->owner_before = s->monitors[m].last;
    x->released = s->monitors[m].released;
    take(s, t, m);
}

static void say_owner_stack(struct sim *s, int t, uint32_t lock, uint32_t owner)
{
    uint32_t stack = sim_stack(s);
    sim_emit(s, t,
             (struct event){.kind = EV_owner_stack,
                            .owner_stack = {.lock = {lock}, .owner = {owner}, .stack = {stack}}});
    sim_span(s, (size_t)s->actors[t].span)->owner_stack = stack;
}

static void block(struct sim *s, int t, int m)
{
    struct actor *a = &s->actors[t];
    struct owned *o = &s->monitors[m];
    bool seen = s->shape.owners && o->owner != NOBODY && !sim_one_in(s, 8);
    uint32_t owner = seen ? s->ids[o->owner] : 0, stack = sim_stack(s), state = STATE_BLOCKED;
    sim_emit(s, t,
             (struct event){.kind = EV_monitor_contended_enter,
                            .monitor_contended_enter = {.lock = {o->id},
                                                        .owner = {owner},
                                                        .stack = {stack},
                                                        .owner_gone = o->owner == NOBODY}});
    if (a->wait != NOBODY) {
        sim_span(s, (size_t)a->wait)->splits = true;
        sim_finish(s, t);
        state = STATE_REACQUIRING;
    }
    sim_begin(s, t, state, o->id, owner, stack);
    a->doing = IS_BLOCKED;
    a->wants = m;
    if (!crowd_has(&o->entry, t))
        crowd_put(&o->entry, t);
    if (owner && sim_one_in(s, 4))
        say_owner_stack(s, t, o->id, owner);
}

void monitor_enter(struct sim *s, int t, int m)
{
    if (!is_free(s, t, m)) {
        block(s, t, m);
        return;
    }
    sim_tick(s);
    take(s, t, m);
}

void monitor_exit(struct sim *s, int t)
{
    const struct actor *a = &s->actors[t];
    int m = a->held[a->n_held - 1];
    if (s->shape.holds)
        sim_emit(s, t,
                 (struct event){.kind = EV_hold,
                                .hold = {.lock = {s->monitors[m].id},
                                         .since = a->taken[a->n_held - 1],
                                         .stack = {sim_stack(s)}}});
    else
        sim_tick(s);
    give_up(s, t, m);
}

void monitor_wait(struct sim *s, int t, int m, bool timed)
{
    struct actor *a = &s->actors[t];
    struct owned *o = &s->monitors[m];
    uint32_t stack = sim_stack(s);
    sim_emit(s, t,
             (struct event){
                 .kind = EV_wait_enter,
                 .wait_enter = {.lock = {o->id}, .timeout_ms = timed ? 5 : 0, .stack = {stack}}});
    struct true_span *x = sim_begin(s, t, STATE_WAITING, o->id, 0, stack);
    a->wait = a->span;
    a->wants = m;
    x->flags = timed ? INTERVAL_TIMED : 0;
    if (a->interrupted) { /* before: it does not even give the monitor back */
        x->wake = a->interrupt;
        sim_todo(s, t, DO_WAITED, 0);
        sim_todo(s, t, DO_THROW, a->wait);
        return;
    }
    a->again_taken = give_up(s, t, m);
    a->again = m;
    a->notified = a->late = false;
    a->doing = IS_WAITING;
    crowd_put(&o->waiting, t);
}

/* It leaves the wait set by itself. */
static void leave(struct sim *s, int t, struct true_wake by)
{
    struct actor *a = &s->actors[t];
    struct owned *o = &s->monitors[a->wants];
    int wait = a->span;
    sim_span(s, (size_t)wait)->wake = by;
    crowd_remove(&o->waiting, t);
    a->doing = s->shape.inside ? IS_REENTERING : IS_RUNNING;
    if (s->shape.inside)
        crowd_put(&o->entry, t);
    sim_todo(s, t, s->shape.inside ? DO_WAITED : DO_REENTER, by.by == BY_TIME);
    if (by.by == BY_INTERRUPT)
        sim_todo(s, t, DO_THROW, wait);
}

bool monitor_interrupt(struct sim *s, int t, struct true_wake by)
{
    if (s->actors[t].doing != IS_WAITING)
        return false;
    leave(s, t, by);
    return true;
}

static void wake_first(struct sim *s, int m, struct true_wake by)
{
    struct owned *o = &s->monitors[m];
    int t = o->waiting.v[0];
    struct actor *a = &s->actors[t];
    crowd_remove(&o->waiting, t);
    crowd_put(&o->entry, t);
    sim_span(s, (size_t)a->span)->wake = by;
    a->doing = IS_REENTERING;
    a->notified = true;
    a->late =
        s->shape.races && sim_span(s, (size_t)a->span)->flags & INTERVAL_TIMED && sim_one_in(s, 4);
    if (s->shape.inside)
        sim_todo(s, t, DO_WAITED, a->late);
}

void monitor_notify(struct sim *s, int t, int m, bool all)
{
    struct owned *o = &s->monitors[m];
    struct event e = {.kind = all ? EV_notify_all : EV_notify,
                      .notify = {.lock = {o->id}, .stack = {sim_stack(s)}}};
    sim_emit(s, t, e);
    for (int n = all ? o->waiting.n : o->waiting.n > 0; n; n--)
        wake_first(s, m, sim_wake(s, all ? BY_NOTIFY_ALL : BY_NOTIFY, t));
}

/* The JVM notifies all who wait on the object of a thread that has ended. */
void monitor_died(struct sim *s, int t)
{
    while (s->monitors[SIM_MONITORS + t].waiting.n)
        wake_first(s, SIM_MONITORS + t, (struct true_wake){BY_NOBODY, 0, 0});
}

bool monitor_can_go_on(struct sim *s, int t)
{
    const struct actor *a = &s->actors[t];
    switch (a->doing) {
    case IS_BLOCKED:
        return is_free(s, t, a->wants);
    case IS_WAITING:
        return sim_span(s, (size_t)a->span)->flags & INTERVAL_TIMED;
    case IS_REENTERING:
        return s->shape.inside || is_free(s, t, a->wants);
    default:
        return false;
    }
}

static void do_first(struct sim *s, int t, enum chore what)
{
    struct actor *a = &s->actors[t];
    sim_todo(s, t, what, 0);
    for (int i = a->todo.n - 1; i > 0; i--)
        a->todo.v[i] = a->todo.v[i - 1];
    a->todo.v[0].what = what;
    a->todo.v[0].arg = 0;
}

static void unblock(struct sim *s, int t)
{
    struct actor *a = &s->actors[t];
    sim_tick(s);
    receive(s, t, a->wants);
    sim_span(s, (size_t)a->span)->wake =
        (struct true_wake){BY_RELEASE, s->monitors[a->wants].last, s->monitors[a->wants].released};
    a->doing = IS_RUNNING;
    do_first(s, t, DO_ENTERED);
}

static void reenter(struct sim *s, int t)
{
    struct actor *a = &s->actors[t];
    bool lone = a->notified && s->threads[s->ids[t]].is_virtual && sim_one_in(s, 2);
    int m = a->wants;
    if (!is_free(s, t, m)) {
        block(s, t, m);
        return;
    }
    sim_tick(s);
    receive(s, t, m);
    a->doing = IS_RUNNING;
    bool first = lone && sim_one_in(s, 2);
    if (first)
        do_first(s, t, DO_LONE);
    if (!s->shape.inside)
        sim_todo(s, t, DO_WAITED, a->late);
    if (lone && !first)
        sim_todo(s, t, DO_LONE, 0);
}

void monitor_go_on(struct sim *s, int t)
{
    struct actor *a = &s->actors[t];
    if (a->doing == IS_BLOCKED) {
        unblock(s, t);
    } else if (a->doing == IS_WAITING) {
        sim_tick(s);
        leave(s, t, (struct true_wake){BY_TIME, 0, s->now});
    } else if (a->doing == IS_REENTERING) {
        reenter(s, t);
    }
}

/* --- what it says ----------------------------------------------------------------------------- */

static void say_entered(struct sim *s, int t)
{
    const struct actor *a = &s->actors[t];
    sim_emit(s, t,
             (struct event){.kind = EV_monitor_contended_entered,
                            .monitor_contended_entered = {.lock = {s->monitors[a->wants].id}}});
    if (a->wait == NOBODY)
        sim_finish(s, t);
}

static void say_waited(struct sim *s, int t, bool timed_out)
{
    struct actor *a = &s->actors[t];
    struct event e = {.kind = EV_wait_exit,
                      .wait_exit = {.lock = {s->monitors[a->wants].id}, .timed_out = timed_out}};
    sim_emit(s, t, e);
    if (timed_out)
        sim_span(s, (size_t)a->wait)->flags |= INTERVAL_TIMED_OUT;
    sim_finish(s, t);
    a->wait = NOBODY;
}

static void say_lone(struct sim *s, int t)
{
    struct actor *a = &s->actors[t];
    int span = a->span;
    uint32_t lock = s->monitors[a->wants].id;
    sim_emit(s, t,
             (struct event){.kind = EV_monitor_contended_entered,
                            .monitor_contended_entered = {.lock = {lock}}});
    sim_begin(s, t, STATE_REACQUIRING, lock, 0, 0)->flags = INTERVAL_REACQUIRED;
    a->span = span;
}

bool monitor_chore(struct sim *s, int t, enum chore what, int arg)
{
    switch (what) {
    case DO_ENTERED:
        say_entered(s, t);
        return true;
    case DO_WAITED:
        say_waited(s, t, arg);
        return true;
    case DO_LONE:
        say_lone(s, t);
        return true;
    case DO_REENTER: /* within a microsecond, in which nobody else comes in between */
        say_waited(s, t, arg);
        monitor_enter(s, t, s->actors[t].wants);
        return true;
    default:
        return false;
    }
}

/* Threads that start, sleep, join, interrupt each other, hand tasks over, and end. */
#include "sim_parts.h"

static struct true_thread *truth(struct sim *s, int t)
{
    return &s->threads[s->ids[t]];
}

static void define(struct sim *s, int t)
{
    bool is_virtual = s->shape.virtual && t % 2;
    uint32_t flags = is_virtual ? THREAD_VIRTUAL : sim_one_in(s, 5) ? THREAD_DAEMON : 0;
    char name[] = {(char)(t < 26 ? 'A' + t : 'a' + t - 26), 0};
    s->ids[t] = builder_thread_flags(&s->b, name, flags).v;
    s->n_ids = s->ids[t];
    s->actor_of[s->ids[t]] = t;
    *truth(s, t) = (struct true_thread){.is_virtual = is_virtual, .daemon = flags & THREAD_DAEMON};
    s->monitors[SIM_MONITORS + t] =
        (struct owned){.id = builder_lock(&s->b, s->classes[2]).v, .owner = NOBODY};
    s->actors[t].doing = IS_STARTING;
}

void thread_exists(struct sim *s, int t)
{
    define(s, t);
    s->actors[t].doing = IS_RUNNING;
    if (sim_one_in(s, 2))
        sim_emit(s, t, (struct event){.kind = EV_thread_alive});
}

void thread_start(struct sim *s, int t, int target)
{
    define(s, target);
    if (sim_one_in(s, 6)) /* by native code: it just begins */
        return;
    sim_emit(s, t,
             (struct event){
                 .kind = EV_thread_start_called,
                 .thread_start_called = {.target = {s->ids[target]}, .stack = {sim_stack(s)}}});
    truth(s, target)->called = s->now;
    truth(s, target)->starter = s->ids[t];
}

void thread_begin(struct sim *s, int t)
{
    sim_emit(s, t, (struct event){.kind = EV_thread_start});
    s->actors[t].doing = IS_RUNNING;
    truth(s, t)->has_started = true;
    truth(s, t)->started = s->now;
}

void thread_end(struct sim *s, int t)
{
    sim_emit(s, t, (struct event){.kind = EV_thread_end});
    s->actors[t].doing = IS_DEAD;
    truth(s, t)->has_ended = true;
    truth(s, t)->ended = s->now;
    monitor_died(s, t);
}

/* --- sleep ------------------------------------------------------------------------------------ */

static void say_inner(struct sim *s, int t, uint32_t kind)
{
    uint32_t lock = kind == EV_wait_enter || kind == EV_wait_exit
                        ? s->monitors[SIM_MONITORS + s->actors[t].target].id
                        : 0;
    struct event e = {.kind = (uint16_t)kind};
    if (lock)
        e.wait_enter.lock = (lock_id){lock};
    sim_emit(s, t, e);
}

/* A wait inside the sleep or join is over, which then is over, too. */
static void come_back(struct sim *s, int t, uint32_t inner)
{
    struct actor *a = &s->actors[t];
    bool sleeps = a->doing == IS_SLEEPING;
    const struct true_span *x = sim_span(s, (size_t)a->span);
    if (a->nested)
        say_inner(s, t, inner);
    a->nested = false;
    a->doing = IS_RUNNING;
    if (x->wake.by == BY_INTERRUPT)
        sim_todo(s, t, DO_THROW, a->span);
    sim_todo(s, t, sleeps ? DO_SLEPT : DO_JOINED, 0);
}

void thread_sleep(struct sim *s, int t)
{
    struct actor *a = &s->actors[t];
    uint32_t stack = sim_stack(s);
    sim_emit(
        s, t,
        (struct event){.kind = EV_sleep_enter, .sleep_enter = {.timeout_ns = 7, .stack = {stack}}});
    struct true_span *x = sim_begin(s, t, STATE_SLEEPING, 0, 0, stack);
    x->flags = INTERVAL_TIMED;
    a->doing = IS_SLEEPING;
    if (a->interrupted) {
        x->wake = a->interrupt;
        come_back(s, t, 0);
    } else if (truth(s, t)->is_virtual) {
        a->nested = true;
        say_inner(s, t, EV_park_enter);
    }
}

/* --- join ------------------------------------------------------------------------------------- */

void thread_join(struct sim *s, int t, int target, bool timed)
{
    struct actor *a = &s->actors[t];
    uint32_t stack = sim_stack(s);
    bool over = s->actors[target].doing == IS_DEAD;
    a->target = target;
    sim_emit(s, t,
             (struct event){.kind = EV_join_enter,
                            .join_enter = {.target = {s->ids[target]},
                                           .stack = {stack},
                                           .timeout_ns = timed ? 5 : 0}});
    struct true_span *x = sim_begin(s, t, STATE_JOINING, 0, s->ids[target], stack);
    x->flags = timed ? INTERVAL_TIMED : 0;
    x->instant = over;
    a->doing = IS_JOINING;
    if (over) {
        come_back(s, t, 0);
    } else if (a->interrupted) {
        x->wake = a->interrupt;
        come_back(s, t, 0);
    } else if (!truth(s, t)->is_virtual && sim_one_in(s, 2)) {
        a->nested = true;
        say_inner(s, t, EV_wait_enter);
    }
}

bool life_can_go_on(struct sim *s, int t)
{
    const struct actor *a = &s->actors[t];
    if (a->doing == IS_STARTING || a->doing == IS_SLEEPING)
        return true;
    if (a->doing != IS_JOINING)
        return false;
    const struct true_span *x = sim_span(s, (size_t)a->span);
    return x->wake.by != BY_NOBODY || x->flags & INTERVAL_TIMED ||
           s->actors[a->target].doing == IS_DEAD;
}

void life_go_on(struct sim *s, int t)
{
    const struct actor *a = &s->actors[t];
    if (a->doing == IS_STARTING) {
        thread_begin(s, t);
        return;
    }
    if (a->doing != IS_SLEEPING && a->doing != IS_JOINING)
        return;
    struct true_span *x = sim_span(s, (size_t)a->span);
    bool sleeps = a->doing == IS_SLEEPING;
    if (x->wake.by == BY_NOBODY && !sleeps && s->actors[a->target].doing == IS_DEAD)
        x->wake = (struct true_wake){BY_END, s->ids[a->target], truth(s, a->target)->ended};
    else if (x->wake.by == BY_NOBODY)
        x->wake = (struct true_wake){BY_TIME, 0, s->now};
    come_back(s, t, sleeps ? EV_park_exit : EV_wait_exit);
}

/* --- interrupt -------------------------------------------------------------------------------- */

static enum event_kind kind_of(enum doing doing)
{
    switch (doing) {
    case IS_BLOCKED:
        return EV_monitor_contended_enter;
    case IS_WAITING:
        return EV_wait_enter;
    case IS_PARKED:
        return EV_park_enter;
    case IS_SLEEPING:
        return EV_sleep_enter;
    case IS_JOINING:
        return EV_join_enter;
    default:
        return 0;
    }
}

/* It comes back from a park to see whether it was interrupted: that takes no time. */
static bool is_about_to_see(const struct actor *x)
{
    return x->doing == IS_RUNNING && x->todo.n && x->todo.v[0].what == DO_ACQUIRE;
}

/* Whether another interrupt of a thread that was not asked yet whether it is would be seen to
 * change nothing. */
static bool is_void(const struct sim *s, const struct actor *x)
{
    if (!x->interrupted)
        return true;
    const struct true_span *p = x->span == NOBODY ? NULL : sim_span(s, (size_t)x->span);
    return p && p->state != STATE_PARKED && p->wake.by == BY_INTERRUPT && p->wake.time > p->start;
}

void thread_interrupt(struct sim *s, int t, int target)
{
    struct actor *x = &s->actors[target];
    if (x->doing <= IS_STARTING || x->doing == IS_DEAD || is_about_to_see(x) || !is_void(s, x))
        return;
    sim_emit(s, t,
             (struct event){.kind = EV_interrupt,
                            .interrupt = {.target = {s->ids[target]},
                                          .target_in = kind_of(x->doing),
                                          .stack = {sim_stack(s)}}});
    if (x->interrupted)
        return;
    x->interrupted = true;
    x->interrupt = sim_wake(s, BY_INTERRUPT, t);
    if (monitor_interrupt(s, target, x->interrupt))
        return;
    bool ends = x->doing == IS_PARKED || x->doing == IS_SLEEPING || x->doing == IS_JOINING;
    if (ends && sim_span(s, (size_t)x->span)->wake.by == BY_NOBODY)
        sim_span(s, (size_t)x->span)->wake = x->interrupt;
}

/* --- tasks ------------------------------------------------------------------------------------ */

static void call(struct sim *s, int t, enum event_kind kind, call_id id, uint32_t task)
{
    struct event e = {.kind = (uint16_t)kind};
    if (kind == EV_call_exit) {
        e.call_exit.call = id;
        e.call_exit.lock = (lock_id){task};
    } else { /* call_enter has the same fields */
        e.call.call = id;
        e.call.lock = (lock_id){task};
        e.call.stack = (stack_id){sim_stack(s)};
    }
    sim_emit(s, t, e);
}

void task_submit(struct sim *s, int t)
{
    if (s->n_tasks == SIM_TASKS)
        return;
    struct task *x = &s->tasks[s->n_tasks++];
    *x = (struct task){.id = builder_lock(&s->b, s->classes[0]).v, .from = t};
    call(s, t, EV_call, s->submit, x->id);
    x->time = s->now;
}

void task_run(struct sim *s, int t)
{
    int i = 0;
    while (i < s->n_tasks && s->tasks[i].from == NOBODY)
        i++;
    if (i == s->n_tasks)
        return;
    struct task *x = &s->tasks[i];
    bool before = sim_one_in(s, 2);
    call(s, t, before ? EV_call : EV_call_enter, before ? s->before : s->run, x->id);
    const struct true_handover h = {s->ids[x->from], s->ids[t], x->time, s->now};
    if (x->from != t)
        buf_put(&s->handovers, &h, sizeof h);
    x->from = NOBODY;
    call(s, t, before ? EV_call_enter : EV_call_exit, s->run, x->id);
}

bool life_chore(struct sim *s, int t, enum chore what, int arg)
{
    switch (what) {
    case DO_THROW:
        sim_emit(s, t, (struct event){.kind = EV_interrupted});
        s->actors[t].interrupted = false;
        if (arg != NOBODY)
            sim_span(s, (size_t)arg)->flags |= INTERVAL_INTERRUPTED;
        return true;
    case DO_SLEPT:
        sim_emit(s, t, (struct event){.kind = EV_sleep_exit});
        sim_finish(s, t);
        return true;
    case DO_JOINED:
        sim_emit(s, t,
                 (struct event){.kind = EV_join_exit,
                                .join_exit = {.target = {s->ids[s->actors[t].target]}}});
        sim_finish(s, t);
        return true;
    default:
        return false;
    }
}

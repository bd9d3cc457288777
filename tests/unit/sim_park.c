/* LockSupport.park and unpark, and what java.util.concurrent makes of them: semaphores and locks
 * with an owner.  A permit is one, however often it is given. */
#include "sim_parts.h"

/* Whether the wake of a span is known. */
static bool is_woken(const struct sim *s, const struct actor *a)
{
    return sim_span(s, (size_t)a->span)->wake.by != BY_NOBODY;
}

void park(struct sim *s, int t, uint32_t lock, uint32_t owner, bool timed)
{
    struct actor *a = &s->actors[t];
    uint32_t stack = sim_stack(s);
    struct event e = {
        .kind = EV_park_enter,
        .park_enter = {
            .lock = {lock}, .owner = {owner}, .timeout_ns = timed ? 1000 : 0, .stack = {stack}}};
    sim_emit(s, t, e);
    struct true_span *x = sim_begin(s, t, STATE_PARKED, lock, owner, stack);
    x->flags = timed ? INTERVAL_TIMED : 0;
    a->doing = IS_PARKED;
    if (a->has_permit) {
        x->wake = a->permit;
        if (a->permit_of != NOBODY)
            x->wake.by = BY_SEMAPHORE;
        a->has_permit = false;
        uint64_t tick = s->shape.tick;
        s->shape.tick = 1; /* at once, whoever else acts then */
        park_go_on(s, t);
        s->shape.tick = tick;
    } else if (a->interrupted) {
        x->wake = a->interrupt;
    }
}

void unpark(struct sim *s, int t, int target, int semaphore)
{
    struct actor *x = &s->actors[target];
    bool as_release = semaphore == NOBODY && s->actors[t].deed == EV_semaphore_release;
    if (!s->ids[target] || as_release) /* it would look as if the release had unparked */
        return;
    sim_emit(s, t,
             (struct event){.kind = EV_unpark,
                            .unpark = {.target = {s->ids[target]}, .stack = {sim_stack(s)}}});
    struct true_wake by = sim_wake(s, BY_UNPARK, t);
    bool no_thread = x->doing == IS_STARTING && !s->threads[s->ids[target]].is_virtual;
    if (x->doing == IS_DEAD || no_thread)
        return;
    if (x->doing != IS_PARKED) {
        if (!x->has_permit) {
            x->permit = by;
            x->permit_of = semaphore == x->acquires ? semaphore : NOBODY;
        }
        x->has_permit = true;
    } else if (!is_woken(s, x)) {
        if (semaphore != NOBODY && semaphore == x->acquires)
            by.by = BY_SEMAPHORE;
        sim_span(s, (size_t)x->span)->wake = by;
    }
}

bool park_can_go_on(struct sim *s, int t)
{
    const struct actor *a = &s->actors[t];
    if (a->doing != IS_PARKED)
        return false;
    bool timed = sim_span(s, (size_t)a->span)->flags & INTERVAL_TIMED;
    return is_woken(s, a) || timed || sim_one_in(s, 60); /* it may return for no reason */
}

void park_go_on(struct sim *s, int t)
{
    struct actor *a = &s->actors[t];
    if (a->doing != IS_PARKED)
        return;
    struct true_span *x = sim_span(s, (size_t)a->span);
    if (x->wake.by == BY_NOBODY && x->flags & INTERVAL_TIMED)
        x->wake = (struct true_wake){BY_TIME, 0, s->now};
    sim_emit(s, t, (struct event){.kind = EV_park_exit, .park_exit = {.lock = {x->lock}}});
    sim_finish(s, t);
    a->doing = IS_RUNNING;
    if (a->interrupted && a->todo.n == 0 && sim_one_in(s, 2))
        sim_todo(s, t, DO_THROW, a->last);
}

/* --- semaphores ------------------------------------------------------------------------------- */

static void try_acquire(struct sim *s, int t, int k, int parked)
{
    struct actor *a = &s->actors[t];
    struct semaphore *x = &s->semaphores[k];
    if (a->interrupted) {
        crowd_remove(&x->queue, t);
        sim_todo(s, t, DO_THROW, parked);
        sim_todo(s, t, DO_ACQUIRED, 1);
    } else if (x->permits) {
        x->permits--;
        crowd_remove(&x->queue, t);
        sim_todo(s, t, DO_ACQUIRED, 0);
    } else {
        if (!crowd_has(&x->queue, t))
            crowd_put(&x->queue, t);
        sim_todo(s, t, DO_ACQUIRE, k);
        park(s, t, x->id, 0, false);
    }
}

void semaphore_acquire(struct sim *s, int t, int k)
{
    sim_emit(s, t,
             (struct event){.kind = EV_semaphore_acquire_enter,
                            .semaphore_acquire_enter = {.lock = {s->semaphores[k].id},
                                                        .stack = {sim_stack(s)}}});
    s->actors[t].acquires = k;
    try_acquire(s, t, k, NOBODY);
}

void semaphore_release(struct sim *s, int t, int k)
{
    struct semaphore *x = &s->semaphores[k];
    sim_emit(s, t,
             (struct event){.kind = EV_semaphore_release,
                            .semaphore_release = {.lock = {x->id}, .stack = {sim_stack(s)}}});
    x->permits++;
    if (x->queue.n)
        sim_todo(s, t, DO_UNPARK, x->queue.v[0] + (k + 1) * SIM_THREADS);
}

static void say_acquired(struct sim *s, int t, bool failed)
{
    struct actor *a = &s->actors[t];
    sim_emit(s, t,
             (struct event){.kind = EV_semaphore_acquire_exit,
                            .semaphore_acquire_exit = {.lock = {s->semaphores[a->acquires].id},
                                                       .failed = failed}});
    a->acquires = a->permit_of = NOBODY;
}

/* --- locks ------------------------------------------------------------------------------------ */

void lock_take(struct sim *s, int t, int k)
{
    struct actor *a = &s->actors[t];
    struct owned *o = &s->locks[k];
    if (o->owner == t)
        return;
    a->must_interrupt |= a->interrupted && crowd_has(&o->entry, t);
    a->interrupted &= !crowd_has(&o->entry, t);
    bool barge = o->entry.n == 0 || o->entry.v[0] == t || sim_one_in(s, 3);
    if (o->owner != NOBODY || !barge) {
        bool seen = o->owner != NOBODY && !sim_one_in(s, 8);
        if (!crowd_has(&o->entry, t))
            crowd_put(&o->entry, t);
        sim_todo(s, t, DO_LOCK, k);
        park(s, t, o->id, seen ? s->ids[o->owner] : 0, false);
        return;
    }
    sim_tick(s);
    crowd_remove(&o->entry, t);
    o->owner = t;
    o->since = s->now;
    a->locks[a->n_locks++] = k;
    if (a->must_interrupt)
        thread_interrupt(s, t, t);
    a->must_interrupt = false;
}

void lock_release(struct sim *s, int t)
{
    struct actor *a = &s->actors[t];
    struct owned *o = &s->locks[a->locks[--a->n_locks]];
    if (s->shape.holds)
        sim_emit(
            s, t,
            (struct event){
                .kind = EV_hold,
                .hold = {.lock = {o->id}, .since = o->since, .stack = {sim_stack(s)}, .mode = 1}});
    else
        sim_tick(s);
    o->owner = NOBODY;
    if (o->entry.n)
        sim_todo(s, t, DO_UNPARK, o->entry.v[0]);
}

bool park_chore(struct sim *s, int t, enum chore what, int arg)
{
    switch (what) {
    case DO_UNPARK:
        unpark(s, t, arg % SIM_THREADS, arg / SIM_THREADS - 1);
        return true;
    case DO_ACQUIRE:
        try_acquire(s, t, arg, s->actors[t].last);
        return true;
    case DO_ACQUIRED:
        say_acquired(s, t, arg);
        return true;
    case DO_LOCK:
        lock_take(s, t, arg);
        return true;
    default:
        return false;
    }
}

#include "oracle.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

struct life oracle_life(const struct sim *s, uint32_t thread)
{
    const struct true_thread *t = &s->threads[thread];
    uint64_t unseen = t->called ? t->called : s->begin;
    return (struct life){t->has_started ? t->started : unseen, t->has_ended ? t->ended : s->end};
}

bool oracle_owned(const struct sim *s, uint32_t thread, uint32_t lock, uint64_t time)
{
    const struct true_hold *h = (const void *)s->tenures.p;
    for (size_t i = 0; i < s->tenures.len / sizeof *h; i++)
        if (h[i].thread == thread && h[i].lock == lock && h[i].start <= time && h[i].end >= time)
            return true;
    return false;
}

/* The span that a thread is in at a moment: it began before it and ends after it. */
static const struct true_span *span_around(const struct sim *s, uint32_t thread, uint64_t time)
{
    for (size_t i = 0; i < sim_n_spans(s); i++) {
        const struct true_span *x = sim_span(s, i);
        if (x->thread == thread && has_length(x) && x->start < time && x->end > time)
            return x;
    }
    return NULL;
}

/* --- evidence --------------------------------------------------------------------------------- */

static void see(struct oracle *o, struct evidence e)
{
    if (e.lock && e.thread)
        buf_put(&o->evidence, &e, sizeof e);
}

/* Whether a thread did anything that is recorded between two moments. */
static bool did_anything(const struct sim *s, uint32_t thread, uint64_t from, uint64_t to)
{
    for (size_t i = 0; i < sim_n_events(s); i++) {
        const struct event *e = sim_event(s, i);
        if (e->thread.v == thread && e->time > from && e->time < to)
            return true;
    }
    return false;
}

/* Whether the thread owned the monitor when Object.wait ended: not when its waiting part was
 * followed by a re-acquisition inside, or, when nobody had notified it, by a contended enter. */
static bool owns_after(const struct sim *s, size_t span)
{
    const struct true_span *x = sim_span(s, span);
    if (x->splits)
        return false;
    if (x->wake.by == BY_NOTIFY || x->wake.by == BY_NOTIFY_ALL)
        return true;
    for (size_t i = span + 1; i < sim_n_spans(s); i++) {
        const struct true_span *y = sim_span(s, i);
        if (y->thread == x->thread && y->start >= x->end)
            return y->state != STATE_BLOCKED || y->lock != x->lock ||
                   did_anything(s, x->thread, x->end, y->start);
    }
    return true;
}

static void see_span(struct oracle *o, size_t i)
{
    const struct true_span *x = sim_span(o->s, i);
    bool over = !(x->flags & INTERVAL_OPEN);
    struct evidence e = {.thread = x->thread, .lock = x->lock};
    if (x->state == STATE_WAITING) {
        e.time = x->start;
        e.gone = true;
        e.stack.v = x->stack;
        see(o, e);
        e.gone = false;
        e.stack.v = 0;
    }
    /* what a virtual thread says inside its wait counts when that is over */
    const struct true_span *around = has_length(x) ? NULL : span_around(o->s, x->thread, x->end);
    e.time = around ? around->end : x->end;
    if (over && (x->state == STATE_BLOCKED || x->state == STATE_REACQUIRING ||
                 (x->state == STATE_WAITING && owns_after(o->s, i)))) {
        e.claim = x->state == STATE_WAITING;
        see(o, e);
        e.claim = false;
    }
    e.thread = x->other;
    e.time = x->start;
    if (x->state == STATE_BLOCKED || (x->state == STATE_REACQUIRING && has_length(x)))
        see(o, e);
}

static void see_event(struct oracle *o, const struct event *e)
{
    struct evidence x = {.time = e->time, .thread = e->thread.v};
    if (e->kind == EV_hold) {
        x.lock = e->hold.lock.v;
        x.gone = true;
        x.stack = e->hold.stack;
    } else if (e->kind == EV_notify) {
        x.lock = e->notify.lock.v;
    } else if (e->kind == EV_notify_all) {
        x.lock = e->notify_all.lock.v;
    }
    see(o, x);
}

static int by_lock_and_time(const void *a, const void *b)
{
    const struct evidence *x = a, *y = b;
    if (x->lock != y->lock)
        return x->lock < y->lock ? -1 : 1;
    return (x->time > y->time) - (x->time < y->time);
}

static void see_all(struct oracle *o)
{
    for (size_t i = 0; i < sim_n_spans(o->s); i++)
        see_span(o, i);
    for (size_t i = 0; i < sim_n_events(o->s); i++)
        see_event(o, sim_event(o->s, i));
    if (o->evidence.len)
        qsort(o->evidence.p, o->evidence.len / sizeof(struct evidence), sizeof(struct evidence),
              by_lock_and_time);
}

/* --- who gave a monitor back ------------------------------------------------------------------ */

/* When somebody who is known to have owned a monitor gave it back, at the latest at `time`: it did
 * not do so after it had begun to wait, nor after its end.  0: not after `since`. */
static uint64_t released_at(const struct sim *s, const struct evidence *e, uint64_t since,
                            uint64_t time)
{
    if (e->gone)
        return e->time > since ? e->time : 0;
    uint64_t end = min_u64(time, oracle_life(s, e->thread).to);
    const struct true_span *x = span_around(s, e->thread, end);
    end = x ? x->start : end;
    return end > since ? end : 0;
}

/* Who owned a monitor last before `thread` got it at the end of span x, of which it waited for the
 * monitor from `since` on. */
static struct wake owner_before(const struct oracle *o, const struct true_span *x, uint64_t since)
{
    const struct evidence *v = (const void *)o->evidence.p;
    size_t n = o->evidence.len / sizeof *v, at = n;
    for (size_t i = 0; i < n; i++)
        if (v[i].lock == x->lock && v[i].time < x->end)
            at = i;
    /* that it has it, others may have seen before it said so itself */
    while (at < n && v[at].lock == x->lock && v[at].thread == x->thread && v[at].time > x->start)
        at = at ? at - 1 : n;
    if (at == n || v[at].lock != x->lock || v[at].thread == x->thread)
        return (struct wake){0};
    uint64_t time = released_at(o->s, &v[at], since, x->end);
    if (!time)
        return (struct wake){0};
    return (struct wake){v[at].thread, time, v[at].gone, v[at].stack, INTERACTION_HANDOFF_LOCK};
}

/* --- wakes ------------------------------------------------------------------------------------ */

static stack_id stack_of(const struct event *e)
{
    switch (e->kind) {
    case EV_notify:
        return e->notify.stack;
    case EV_notify_all:
        return e->notify_all.stack;
    case EV_unpark:
        return e->unpark.stack;
    case EV_interrupt:
        return e->interrupt.stack;
    case EV_thread_start_called:
        return e->thread_start_called.stack;
    default:
        return (stack_id){0};
    }
}

/* Where a thread was when it did something. */
static stack_id stack_at(const struct sim *s, uint32_t thread, uint64_t time)
{
    for (size_t i = 0; i < sim_n_events(s); i++)
        if (sim_event(s, i)->thread.v == thread && sim_event(s, i)->time == time)
            return stack_of(sim_event(s, i));
    return (stack_id){0};
}

/* The first unpark, or interrupt, of its thread inside a wait. */
static struct wake first_inside(const struct sim *s, const struct true_span *x, uint32_t kind)
{
    for (size_t i = 0; i < sim_n_events(s); i++) {
        const struct event *e = sim_event(s, i);
        bool its = (e->kind == EV_unpark && e->unpark.target.v == x->thread) ||
                   (e->kind == EV_interrupt && e->interrupt.target.v == x->thread);
        if (its && e->kind == kind && e->time > x->start && e->time < x->end)
            return (struct wake){e->thread.v, e->time, true, stack_of(e),
                                 kind == EV_unpark ? INTERACTION_UNPARK : INTERACTION_INTERRUPT};
    }
    return (struct wake){.kind = INTERACTION_NONE};
}

/* Whether the recording shows that an interrupt ended a wait: by the exception, or because it came
 * inside: a park, or where there are no exceptions.  What comes inside a park counts before an
 * interrupt that came before it, after which the thread may have asked whether it is
 * interrupted. */
static bool is_seen(const struct oracle *o, const struct true_span *x)
{
    if (x->wake.by != BY_INTERRUPT)
        return true;
    bool inside = x->wake.time > x->start, threw = x->flags & INTERVAL_INTERRUPTED;
    if (x->state == STATE_PARKED)
        return inside || (threw && !first_inside(o->s, x, EV_unpark).thread &&
                          !first_inside(o->s, x, EV_interrupt).thread);
    return threw || (inside && !o->exceptions && !(x->flags & INTERVAL_OPEN));
}

/* What comes inside a wait counts though it came too late to end it, because nothing shows it: the
 * end of a thread joined, an unpark of one that was interrupted before, an interrupt where there
 * are no exceptions. */
static struct wake late(const struct oracle *o, const struct true_span *x)
{
    const struct true_thread *joined = &o->s->threads[x->other];
    if (x->state == STATE_JOINING && joined->has_ended && joined->ended > x->start &&
        joined->ended < x->end)
        return (struct wake){x->other, joined->ended, true, {0}, INTERACTION_JOINED};
    if (x->state == STATE_PARKED)
        return first_inside(o->s, x, EV_unpark); /* there is no such interrupt */
    if (o->exceptions || x->flags & (INTERVAL_OPEN | INTERVAL_TIMED_OUT))
        return (struct wake){.kind = INTERACTION_NONE};
    return first_inside(o->s, x, EV_interrupt);
}

static bool has_holds(const struct sim *s)
{
    for (size_t i = 0; i < sim_n_events(s); i++)
        if (sim_event(s, i)->kind == EV_hold)
            return true;
    return false;
}

/* Whether a thread whose Object.wait ended last, without a trace of it since, may have had the
 * monitor before another one got it at the end of span x: it says so before it has it. */
static bool is_claimed(const struct oracle *o, const struct true_span *x)
{
    const struct evidence *v = (const void *)o->evidence.p, *claim = NULL, *last = NULL;
    for (size_t i = 0; i < o->evidence.len / sizeof *v; i++)
        if (v[i].lock == x->lock && v[i].time < x->end) {
            bool known = last && last->thread == v[i].thread && !last->gone;
            if (v[i].claim)
                claim = known ? NULL : &v[i];
            last = &v[i];
        }
    if (!claim || claim->thread == x->thread || has_holds(o->s) ||
        did_anything(o->s, claim->thread, claim->time, x->end))
        return false;
    for (size_t i = 0; i < sim_n_spans(o->s); i++) {
        const struct true_span *y = sim_span(o->s, i);
        if (y->thread == claim->thread && y->start > claim->time && y->start <= x->end)
            return false;
    }
    uint64_t from = last->thread == claim->thread ? claim->time : last->time;
    return x->end - from < BIND_CLAIM_NS;
}

static struct wake wake_of(const struct oracle *o, const struct true_span *x)
{
    static const enum interaction kinds[] = {
        [BY_NOBODY] = INTERACTION_NONE,         [BY_TIME] = INTERACTION_NONE,
        [BY_NOTIFY] = INTERACTION_NOTIFY,       [BY_NOTIFY_ALL] = INTERACTION_NOTIFY_ALL,
        [BY_UNPARK] = INTERACTION_UNPARK,       [BY_SEMAPHORE] = INTERACTION_SEMAPHORE,
        [BY_INTERRUPT] = INTERACTION_INTERRUPT, [BY_END] = INTERACTION_JOINED,
        [BY_RELEASE] = INTERACTION_HANDOFF_LOCK};
    const struct wake none = {.kind = INTERACTION_NONE};
    bool monitor = x->state == STATE_BLOCKED || x->state == STATE_REACQUIRING;
    if (monitor && (x->flags & INTERVAL_OPEN || !has_length(x)))
        return none;
    if (monitor) {
        struct wake w = owner_before(o, x, x->start);
        return w.thread && !is_claimed(o, x) ? w : none;
    }
    if (kinds[x->wake.by] == INTERACTION_NONE || !is_seen(o, x))
        return late(o, x);
    return (struct wake){x->wake.thread, x->wake.time, true,
                         stack_at(o->s, x->wake.thread, x->wake.time), kinds[x->wake.by]};
}

void oracle_init(struct oracle *o, const struct sim *s)
{
    *o = (struct oracle){.s = s, .exceptions = true};
    size_t n = sim_n_spans(s);
    o->wakes = calloc(n + 1, sizeof *o->wakes);
    o->regains = calloc(n + 1, sizeof *o->regains);
    see_all(o);
    for (size_t i = 0; i < n; i++) {
        const struct true_span *x = sim_span(s, i);
        o->wakes[i] = wake_of(o, x);
        bool notified = x->wake.by == BY_NOTIFY || x->wake.by == BY_NOTIFY_ALL;
        if (x->state == STATE_WAITING && notified && !(x->flags & INTERVAL_OPEN))
            o->regains[i] = owner_before(o, x, x->wake.time);
    }
}

void oracle_fini(struct oracle *o)
{
    free(o->wakes);
    free(o->regains);
    buf_fini(&o->evidence);
}

/* --- states ----------------------------------------------------------------------------------- */

uint64_t oracle_waited_until(const struct oracle *o, size_t span)
{
    const struct true_span *x = sim_span(o->s, span);
    enum interaction kind = o->wakes[span].kind;
    bool notified = kind == INTERACTION_NOTIFY || kind == INTERACTION_NOTIFY_ALL;
    return x->state == STATE_WAITING && notified ? o->wakes[span].time : x->end;
}

unsigned oracle_state(const struct oracle *o, uint32_t thread, uint64_t time)
{
    for (size_t i = 0; i < sim_n_spans(o->s); i++) {
        const struct true_span *x = sim_span(o->s, i);
        if (x->thread == thread && x->start <= time && x->end > time)
            return time < oracle_waited_until(o, i) ? x->state : STATE_REACQUIRING;
    }
    return STATE_LIMIT;
}

/* --- path ------------------------------------------------------------------------------------- */

struct walk {
    const struct oracle *o;
    struct buf *out;
    uint32_t thread;
    uint64_t time, floor;
    stack_id stack;
    lock_id lock; /* for which the path's next thread waited since `wanted` */
    uint64_t wanted;
    bool seen;
};

static void put(struct walk *w, uint64_t from, struct path_segment g)
{
    struct true_segment x = {g, w->wanted, w->seen};
    x.g.from = max_u64(from, w->floor);
    x.g.to = w->time;
    x.g.thread = w->thread;
    if (x.g.from < x.g.to)
        buf_put(w->out, &x, sizeof x);
    w->time = min_u64(from, w->time);
}

static void run(struct walk *w, uint64_t from)
{
    put(w, from,
        (struct path_segment){
            .kind = PATH_RUN, .state = STATE_LIMIT, .lock = w->lock, .stack = w->stack});
    w->lock = (lock_id){0};
}

/* The span up to which, or in which, a thread is at a moment; sim_n_spans: it runs. */
static size_t span_until(const struct walk *w)
{
    size_t n = sim_n_spans(w->o->s);
    for (size_t i = 0; i < n; i++) {
        const struct true_span *x = sim_span(w->o->s, i);
        if (x->thread == w->thread && x->start < w->time && x->end >= w->time && has_length(x))
            return i;
    }
    return n;
}

/* Since when a thread that runs has run. */
static uint64_t ran_since(const struct walk *w)
{
    uint64_t since = max_u64(oracle_life(w->o->s, w->thread).from, w->floor);
    for (size_t i = 0; i < sim_n_spans(w->o->s); i++) {
        const struct true_span *x = sim_span(w->o->s, i);
        if (x->thread == w->thread && x->end < w->time && has_length(x))
            since = max_u64(since, x->end);
    }
    return since;
}

static void follow(struct walk *w, const struct wake *by, struct path_segment g)
{
    put(w, by->time, g);
    w->thread = by->thread;
    w->stack = by->stack;
}

/* Go on in who ended a wait, or will: from what it did on, or now.  False: it did not live yet. */
static bool go_on_in(struct walk *w, const struct wake *by, struct path_segment g)
{
    bool done = by->time <= w->time;
    if (!by->thread || oracle_life(w->o->s, by->thread).from > min_u64(by->time, w->time))
        return false;
    if (done) {
        follow(w, by, g);
        return true;
    }
    w->thread = by->thread;
    w->stack.v = 0;
    return true;
}

/* From a wait of which it is known who ended it, or will.  False: that thread did not live yet. */
static bool to_waker(struct walk *w, size_t i, struct path_segment g)
{
    const struct true_span *x = sim_span(w->o->s, i);
    const struct wake *by = &w->o->wakes[i], *again = &w->o->regains[i];
    uint64_t until = oracle_waited_until(w->o, i);
    bool notified = until < w->time && until < x->end;
    g.state = notified ? STATE_REACQUIRING : g.state;
    if (!notified && by->time <= x->start) {
        put(w, x->start, g);
        return true;
    }
    bool of_lock = by->kind == INTERACTION_HANDOFF_LOCK || (x->state == STATE_PARKED && x->other);
    if (notified && go_on_in(w, again, g))
        of_lock = true;
    else if (!go_on_in(w, by, g))
        return false;
    if (of_lock) {
        w->lock.v = x->lock;
        w->wanted = notified ? until : x->start;
        /* who unparks need not have owned it in these programs */
        w->seen = x->other == w->thread && x->state != STATE_PARKED;
    }
    return true;
}

static void through_wait(struct walk *w, size_t i)
{
    const struct true_span *x = sim_span(w->o->s, i);
    struct path_segment g = {
        .kind = PATH_HANDOFF, .state = (uint8_t)x->state, .lock = {x->lock}, .stack = {x->stack}};
    bool woken = w->o->wakes[i].thread, over = x->end == w->time && !(x->flags & INTERVAL_OPEN);
    w->stack.v = x->stack;
    w->lock = (lock_id){0};
    if (woken && to_waker(w, i, g))
        return;
    bool timed = x->state == STATE_SLEEPING || x->flags & INTERVAL_TIMED_OUT ||
                 (x->state != STATE_WAITING && x->flags & INTERVAL_TIMED && over && !woken);
    g.kind = timed ? PATH_TIMED : PATH_WAIT;
    put(w, x->start, g);
}

/* False: nobody is known to have started it. */
static bool to_starter(struct walk *w)
{
    const struct true_thread *t = &w->o->s->threads[w->thread];
    if (!t->has_started || !t->starter)
        return false;
    const struct wake by = {
        .thread = t->starter, .time = t->called, .stack = stack_at(w->o->s, t->starter, t->called)};
    w->lock = (lock_id){0};
    follow(w, &by, (struct path_segment){.kind = PATH_HANDOFF, .state = STATE_LIMIT});
    return true;
}

void oracle_path(const struct oracle *o, uint32_t thread, uint64_t to, uint64_t from,
                 struct buf *segments, uint64_t *begin)
{
    struct walk w = {.o = o, .out = segments, .thread = thread, .time = to, .floor = from};
    while (w.time > from) {
        size_t i = span_until(&w);
        if (i < sim_n_spans(o->s)) {
            through_wait(&w, i);
        } else if (oracle_life(o->s, w.thread).from < w.time) {
            run(&w, ran_since(&w));
        } else if (!to_starter(&w)) {
            break;
        }
    }
    *begin = max_u64(w.time, from);
}

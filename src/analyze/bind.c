#include "analyze/bind.h"

#include "analyze/alibi.h"
#include "analyze/summed.h"
#include "analyze/wait_sets.h"
#include "base/err.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* --- owners of monitors ----------------------------------------------------------------------- */

static void owns(struct lock_now *k, uint32_t thread, uint32_t cause, uint64_t time)
{
    if (k->owner.thread != thread) {
        k->before = k->owner;
        k->before_latest = k->sure ? k->latest : 0;
        k->since = time;
    }
    k->owner = (struct deed){thread, cause};
    k->latest = time;
    k->sure = true;
}

/* Whether the thread can have released a monitor after a time: it is not known to have released it
 * before, it was alive, and it was not in a wait all the time. */
static bool gave_back_after(const struct binder *b, struct deed by, uint64_t time)
{
    const struct line *l = &b->tl->lines[by.thread];
    const struct span *s = current(b, by.thread);
    switch (cause_type(by.cause)) {
    case CAUSE_HOLD:
        return span_end(b->tl, line_hold(l, cause_index(by.cause))) > time;
    case CAUSE_WAIT:
        return line_span(l, cause_index(by.cause))->start > time;
    default:
        return b->threads->v[by.thread].to > time && (!s || s->start > time);
    }
}

/* Adds where the owner was when it released the monitor, if the release itself is unknown. */
static struct deed with_place(const struct binder *b, struct deed by)
{
    if (by.thread && cause_type(by.cause) == CAUSE_NONE)
        by.cause = cause_make(CAUSE_NONE, b->now[by.thread].begun);
    return by;
}

/* The thread that released the monitor for which `thread` waited from `time` on, and which `thread`
 * has at the end of span s; thread 0: unknown.  Others may have seen `thread` as the owner before
 * its own event. */
static struct deed owner_before(const struct binder *b, const struct lock_now *k, uint32_t thread,
                                const struct span *s, uint64_t time)
{
    const struct deed nobody = {0, 0};
    struct deed by = k->owner;
    if (by.thread == thread && k->since > s->start)
        by = k->before;
    if (!by.thread || by.thread == thread || !gave_back_after(b, by, time))
        return nobody;
    return with_place(b, by);
}

/* Up to when a thread certainly owned a monitor that it owned at a time: it gives nothing back
 * inside a wait, but in Object.wait of the monitor. */
static uint64_t owned_until(const struct binder *b, uint32_t owner, lock_id lock, uint64_t time)
{
    const struct line *l = &b->tl->lines[owner];
    uint32_t n = line_spans_near(l, time, b->now[owner].begun);
    const struct span *s = n ? line_span(l, n - 1) : NULL;
    const struct context *x = s ? context_of(b, s) : NULL;
    bool gives = x && (is_unknown(x) || x->what == STATE_UNKNOWN || x->lock.v == lock.v);
    return s && !gives ? max_u64(time, span_end(b->tl, s)) : time;
}

/* Whether the previous owner certainly gave the monitor to `thread`, which has it now.  owned_at:
 * when that owner is known to have owned it; 0: never. */
static bool is_certain(const struct binder *b, const struct lock_now *k, struct deed by,
                       uint32_t thread, lock_id lock, uint64_t owned_at)
{
    if (cause_type(by.cause) == CAUSE_HOLD)
        return b->all_holds && !k->odd;
    uint64_t since;
    return owned_at && !k->odd && alibi_of_others(&b->alibi, by.thread, thread, &since) &&
           (since <= owned_at || since <= owned_until(b, by.thread, lock, owned_at));
}

/* When owner_before's answer was known to own it last; 0: never for certain. */
static uint64_t owned_at(const struct lock_now *k, struct deed by)
{
    if (by.thread != k->owner.thread)
        return k->before_latest;
    return k->sure ? k->latest : 0;
}

/* The owner of what a thread waits for when the recording ends, as far as is known since the wait
 * began. For a park, the thread saw whether its blocker has an owner at all. */
static uint32_t owner_at_end(const struct lock_now *k, uint32_t thread, const struct wait_part *w)
{
    bool monitor = w->state == STATE_BLOCKED || w->state == STATE_REACQUIRING;
    if (!monitor && (w->state != STATE_PARKED || !w->owner))
        return 0;
    if (!k)
        return w->owner;
    bool gone = cause_type(k->owner.cause) != CAUSE_NONE;
    return k->latest < w->from || k->owner.thread == thread || gone ? 0 : k->owner.thread;
}

/* The same, when it was asked for while a thread waited, and nothing is known to have changed. */
static uint32_t asked_at_end(const struct binder *b, const struct lock_now *k,
                             const struct wait_part *w, lock_id lock, uint32_t known)
{
    uint64_t latest = max_u64(w->from, k ? k->latest : 0);
    if (w->state != STATE_BLOCKED && w->state != STATE_REACQUIRING)
        return known;
    const uint64_t *i = lock.v ? map_find(&b->asked_last, lock.v) : NULL;
    return i && b->asked[*i].time >= latest ? b->asked[*i].owner : known;
}

/* --- imported traces: TPTP 4.5's rule --------------------------------------------------------- */

/* A wait ended: the first notify since it began that has no waiter yet, else the latest
 * notifyAll. */
static bool take_loose(struct binder *b, struct loose_lists *q, uint32_t thread, struct span *s)
{
    uint32_t i;
    while ((i = q->notify) != 0) {
        struct deed by = loose_at(b, i)->deed;
        q->notify = loose_at(b, i)->next;
        if (line_act(&b->tl->lines[by.thread], cause_index(by.cause))->time < s->start)
            continue; /* no thread was there to wake */
        bind_cause(b, thread, s, by, INTERACTION_NOTIFY);
        return true;
    }
    if (!q->all.thread ||
        line_act(&b->tl->lines[q->all.thread], cause_index(q->all.cause))->time < s->start)
        return false;
    bind_cause(b, thread, s, q->all, INTERACTION_NOTIFY_ALL);
    return true;
}

/* Whether that wait's end is the latest thing its thread did. */
static bool is_fresh(const struct binder *b, struct deed wait)
{
    const struct line *l = &b->tl->lines[wait.thread];
    const struct thread_now *w = &b->now[wait.thread];
    if (w->span)
        return false;
    uint64_t end = span_end(b->tl, line_span(l, wait.cause));
    return w->last_act == 0 || line_act(l, w->last_act - 1)->time <= end;
}

static void loose_notify(struct binder *b, struct loose_lists *q, struct deed by, bool all)
{
    enum interaction kind = all ? INTERACTION_NOTIFY_ALL : INTERACTION_NOTIFY;
    bool used = false;
    while (q->woken && (all || !used)) {
        struct loose w = *loose_at(b, q->woken);
        q->woken = w.next;
        if (!is_fresh(b, w.deed))
            continue;
        struct span *s = span_of(b, w.deed.thread, w.deed.cause);
        b->out.unbound[STATE_WAITING]--;
        bind_cause(b, w.deed.thread, s, by, kind);
        used = true;
    }
    if (all) {
        q->all = by;
    } else if (!used) {
        append(b, &q->notify, &q->notify_last, by);
    }
}

/* --- spans ------------------------------------------------------------------------------------ */

/* It had been notified before the part began: it is in no wait set, and wants the monitor. */
static bool begin_notified(struct binder *b, uint32_t thread, struct span *s)
{
    const struct thread_stats *t = &b->threads->v[thread];
    if (!t->notifier || t->found != s->start)
        return false;
    s->waker = t->notifier;
    s->cause = cause_make(CAUSE_NONE, 0);
    return true;
}

static void on_begin(struct binder *b, uint32_t thread, uint32_t index, uint64_t time)
{
    struct thread_now *w = &b->now[thread];
    struct span *s = span_of(b, thread, index);
    const struct context *x = context_of(b, s);
    struct lock_now *k = lock_now(b, x->lock);
    w->span = w->begun = index + 1;
    if (is_unknown(x) || !k)
        return;
    if (x->what == STATE_WAITING && !begin_notified(b, thread, s)) {
        if (b->threads->v[thread].found != s->start) /* else it had the monitor before that */
            owns(k, thread, cause_make(CAUSE_WAIT, index), time);
        wait_set_enter(b, thread, x->lock.v, s);
    } else if (x->other && x->what != STATE_JOINING) { /* it saw who */
        owns(k, x->other, CAUSE_NONE, time);
    }
}

/* Binds the interrupt that ended a wait, if one did.  If the wait threw, it is the interrupt inside
 * the wait or before it; without recorded exceptions, the one inside it.  After a park the thread
 * stays interrupted until it throws. */
static bool end_interrupted(struct binder *b, uint32_t thread, struct span *s)
{
    struct thread_now *w = &b->now[thread];
    const struct context *x = context_of(b, s);
    bool threw = x->flags & INTERVAL_INTERRUPTED;
    if (!w->interrupt.thread || (!threw && (b->exceptions || w->interrupted_at < s->start)))
        return false;
    bind_cause(b, thread, s, w->interrupt, INTERACTION_INTERRUPT);
    if (x->what != STATE_PARKED)
        w->interrupt.thread = 0;
    return true;
}

/* HotSpot reports the end of Object.wait before the thread has reacquired its monitor, and others
 * may own the monitor in between.  Whether it is open if such a claimer owned it before `until`,
 * when `thread` got it.  It stays open until the claimer has done something else, for
 * BIND_CLAIM_NS at most. */
static bool is_claimed(const struct binder *b, struct lock_now *k, uint32_t thread, uint64_t until)
{
    if (!k->claimer || k->claimer == thread || b->holds)
        return false;
    uint64_t at = k->claimed_at;
    if (until - (k->owner.thread == k->claimer ? at : max_u64(at, k->latest)) >= BIND_CLAIM_NS)
        return false;
    const struct line *l = &b->tl->lines[k->claimer];
    uint32_t n = line_spans_near(l, until, b->now[k->claimer].begun);
    if ((!n || line_span(l, n - 1)->start <= at) && !did_anything(b, l, at, until))
        return true;
    k->claimer = 0; /* whatever comes later, it has gone on */
    return false;
}

static void end_monitor(struct binder *b, uint32_t thread, struct span *s, uint64_t time)
{
    const struct context *x = context_of(b, s);
    struct lock_now *k = lock_now(b, x->lock);
    struct deed by = k ? owner_before(b, k, thread, s, s->start) : (struct deed){0, 0};
    if (by.thread && !is_claimed(b, k, thread, time)) {
        bool sure = is_certain(b, k, by, thread, x->lock, owned_at(k, by));
        by.cause |= sure ? 0 : CAUSE_SEEN;
        bind_cause(b, thread, s, by, sure ? INTERACTION_HANDOFF_LOCK : INTERACTION_LAST_OWNER);
    } else {
        b->out.unbound[x->what]++;
    }
    if (k)
        owns(k, thread, CAUSE_NONE, time);
}

/* The thread has been notified, and another thread gives it the monitor: not before the end of its
 * Object.wait, and not later than it does something else. */
static void note_regain(struct binder *b, uint32_t thread, uint32_t index, struct deed owner,
                        const struct lock_now *k, uint64_t time)
{
    struct run *regains = &b->tl->lines[thread].regains;
    struct regain *r = run_push(regains, &b->tl->arena, sizeof *r);
    if (!r) {
        b->oom = true;
        return;
    }
    *r = (struct regain){index, owner.thread, owner.cause | CAUSE_SEEN};
    b->now[thread].regain = regains->n;
    b->now[thread].regain_at = time;
    b->now[thread].owned_at = owned_at(k, owner);
}

/* The thread does something after its Object.wait, so it has the monitor.  If no other thread owned
 * the monitor in between, the thread that released it is certain. */
static void settle_regain(struct binder *b, uint32_t thread)
{
    struct thread_now *w = &b->now[thread];
    const struct line *l = &b->tl->lines[thread];
    if (!w->regain)
        return;
    struct regain *r = run_at(&l->regains, sizeof *r, w->regain - 1);
    const struct deed by = {r->owner, r->cause & ~(uint32_t)CAUSE_SEEN};
    lock_id lock = context_of(b, line_span(l, r->span))->lock;
    const struct lock_now *k = lock_now(b, lock);
    w->regain = 0;
    if (k && k->owner.thread == thread && k->since <= w->regain_at &&
        is_certain(b, k, by, thread, lock, w->owned_at))
        r->cause = by.cause;
}

/* Whether the thread has the monitor when Object.wait ends.  A notified thread has; any other takes
 * it like any thread, which a contended enter after the wait shows. */
static bool has_monitor_after(const struct binder *b, const struct line *l, uint32_t index,
                              const struct span *s)
{
    if (index + 1 == l->spans.n)
        return true;
    const struct span *next = line_span(l, index + 1);
    const struct context *x = context_of(b, next);
    uint64_t end = span_end(b->tl, s);
    if (x->lock.v != context_of(b, s)->lock.v || is_unknown(x))
        return true;
    if (x->what == STATE_REACQUIRING)
        return next->start > end;
    return span_notifier(b->tl, s) || x->what != STATE_BLOCKED ||
           did_anything(b, l, end, next->start);
}

static void end_waiting_unnotified(struct binder *b, uint32_t thread, uint32_t index,
                                   struct span *s)
{
    const struct context *x = context_of(b, s);
    struct lock_now *k = lock_now(b, x->lock);
    if (x->flags & INTERVAL_TIMED_OUT) {
        b->out.timed_out[STATE_WAITING]++;
        return;
    }
    if (b->now[thread].unsure) {
        b->now[thread].unsure = false;
        b->out.unbound[STATE_WAITING]++;
        return;
    }
    struct loose_lists *q = b->lists && k ? &b->lists[x->lock.v] : NULL;
    if (x->flags & INTERVAL_INTERRUPTED && end_interrupted(b, thread, s))
        return;
    if ((q && take_loose(b, q, thread, s)) || end_interrupted(b, thread, s))
        return;
    b->out.unbound[STATE_WAITING]++;
    if (q)
        q->woken = loose_add(b, (struct deed){thread, index}, q->woken);
}

static void end_waiting(struct binder *b, uint32_t thread, uint32_t index, struct span *s,
                        uint64_t time)
{
    struct lock_now *k = lock_now(b, context_of(b, s)->lock);
    wait_set_end(b, thread, index, k, time);
    if (!s->waker)
        end_waiting_unnotified(b, thread, index, s);
    wait_set_ended(b, thread, index, k);
    if (k && span_notifier(b->tl, s)) {
        const struct deed by = owner_before(b, k, thread, s, span_waited_until(b->tl, s));
        if (by.thread)
            note_regain(b, thread, index, by, k, time);
    }
    if (k && has_monitor_after(b, &b->tl->lines[thread], index, s)) {
        bool known = k->owner.thread == thread && cause_type(k->owner.cause) == CAUSE_NONE;
        owns(k, thread, CAUSE_NONE, time);
        k->sure = known;
        k->claimer = b->lists || known ? 0 : thread;
        k->claimed_at = time;
    }
}

/* A join of a thread that had ended: there was nothing to wait for. */
static bool was_over(const struct binder *b, const struct span *s)
{
    uint32_t target = context_of(b, s)->other; /* 0: the agent no longer knew it */
    const struct thread_stats *st = &b->threads->v[target];
    return !target || (st->has_ended && st->ended < s->start);
}

/* The end of the thread that was waited for, when that is what ended it. */
static bool end_joined(struct binder *b, uint32_t thread, struct span *s)
{
    uint32_t target = context_of(b, s)->other;
    const struct thread_stats *st = &b->threads->v[target];
    if (!target || !st->has_ended || st->ended > span_end(b->tl, s) || st->ended < s->start ||
        target >= b->tl->n_lines)
        return false;
    const struct line *l = &b->tl->lines[target];
    for (uint32_t i = l->acts.n; i; i--) {
        if (timeline_context(b->tl, line_act(l, i - 1)->context)->what != EV_thread_end)
            continue;
        bind_cause(b, thread, s, (struct deed){target, cause_make(CAUSE_ACT, i - 1)},
                   INTERACTION_JOINED);
        return true;
    }
    return false;
}

/* A call that waited for an object: the last thing that another thread did to the object during the
 * call. */
static bool end_released(struct binder *b, uint32_t thread, struct span *s)
{
    const struct context *x = context_of(b, s);
    if (!b->released || x->mode != CONTEXT_OF_CALL || x->lock.v == 0 || x->lock.v >= b->n_locks)
        return false;
    const struct release *r = &b->released[x->lock.v];
    if (!r->by.thread || r->by.thread == thread || r->at < s->start)
        return false;
    const struct act *a = line_act(&b->tl->lines[r->by.thread], cause_index(r->by.cause));
    bool semaphore = timeline_context(b->tl, a->context)->what == EV_semaphore_release;
    bind_cause(b, thread, s, r->by, semaphore ? INTERACTION_SEMAPHORE : INTERACTION_UNPARK);
    return true;
}

static void note_release(struct binder *b, const struct context *x, struct deed by, uint64_t time)
{
    if (b->released && x->lock.v && x->lock.v < b->n_locks)
        b->released[x->lock.v] = (struct release){by, time};
}

/* Counts a wait without a waker: timed out, or of unknown cause. */
static void end_alone(struct binder *b, const struct span *s, const struct context *x)
{
    if (timeline_timed_out(b->tl, s))
        b->out.timed_out[x->what]++;
    else
        b->out.unbound[x->what]++;
}

static void bind_park(struct binder *b, uint32_t target, struct span *s, struct deed by)
{
    uint32_t last = b->now[target].last_act;
    const struct act *a = last ? line_act(&b->tl->lines[target], last - 1) : NULL;
    bind_cause(b, target, s, by,
               is_semaphore_handoff(b->tl, by, a) ? INTERACTION_SEMAPHORE : INTERACTION_UNPARK);
}

static void on_end(struct binder *b, uint32_t thread, uint32_t index, uint64_t time)
{
    struct thread_now *w = &b->now[thread];
    struct span *s = span_of(b, thread, index);
    const struct context *x = context_of(b, s);
    struct lock_now *k = lock_now(b, x->lock);
    w->span = 0;
    if (x->flags & INTERVAL_REACQUIRED && k)
        owns(k, thread, CAUSE_NONE, time);
    if (is_unknown(x))
        return;
    if (x->flags & INTERVAL_OPEN) {
        struct wait_part v[2];
        const struct wait_part *last = &v[span_parts(b->tl, s, v) - 1];
        wait_set_leave(b, thread);
        b->out.owners[thread] = asked_at_end(b, k, last, x->lock, owner_at_end(k, thread, last));
        if (x->what == STATE_JOINING && !s->waker)
            end_joined(b, thread, s);
        return;
    }
    switch (x->what) {
    case STATE_BLOCKED:
    case STATE_REACQUIRING:
        end_monitor(b, thread, s, time);
        break;
    case STATE_WAITING:
        end_waiting(b, thread, index, s, time);
        break;
    case STATE_JOINING:
        if (s->waker || (x->flags & INTERVAL_INTERRUPTED && end_interrupted(b, thread, s)))
            break;
        if (!end_joined(b, thread, s) && !end_interrupted(b, thread, s) && !was_over(b, s))
            end_alone(b, s, x);
        break;
    default: /* parked, sleeping */
        if (!s->waker && w->late.thread && !timeline_timed_out(b->tl, s))
            bind_park(b, thread, s, w->late);
        if (!s->waker && !end_released(b, thread, s) && !end_interrupted(b, thread, s))
            end_alone(b, s, x);
        break;
    }
}

/* --- acts ------------------------------------------------------------------------------------- */

static void on_unpark(struct binder *b, uint32_t target, struct deed by, uint64_t time)
{
    struct thread_now *w = &b->now[target];
    struct span *s = current(b, target);
    const struct context *x = s ? context_of(b, s) : NULL;
    struct lock_now *k = s ? lock_now(b, x->lock) : NULL;
    if (s && x->what == STATE_PARKED && !is_unknown(x)) {
        if (!s->waker)
            bind_park(b, target, s, by);
        if (k && x->other && k->owner.thread == by.thread) /* the lock's: it hands it on */
            owns(k, target, CAUSE_NONE, time);
        return; /* a second one is lost in the first */
    }
    if (!w->permit.thread)
        w->permit = by;
}

enum { PERMIT_NS = 1000000 };

/* A park that begins with a permit ends at once.  If the park lasts, an unrecorded wait has used
 * the permit; or, if no other thread ends the park, the thread waited for a processor. */
static void use_permit(struct binder *b, uint32_t thread, uint32_t index)
{
    struct thread_now *w = &b->now[thread];
    struct span *s = span_of(b, thread, index);
    w->late.thread = 0;
    if (!w->permit.thread || context_of(b, s)->what != STATE_PARKED || is_unknown(context_of(b, s)))
        return;
    if (span_end(b->tl, s) - s->start <= PERMIT_NS)
        bind_park(b, thread, s, w->permit);
    else
        w->late = w->permit;
    w->permit.thread = 0;
}

/* The first interrupt inside a wait ends it.  A park is bound at once, because no exception has to
 * follow. */
static void on_interrupt(struct binder *b, uint32_t target, struct deed by, uint64_t time)
{
    struct thread_now *w = &b->now[target];
    struct span *s = current(b, target);
    const struct context *x = s ? context_of(b, s) : NULL;
    if (s && w->interrupt.thread && w->interrupted_at >= s->start)
        return;
    w->interrupt = by;
    w->interrupted_at = time;
    if (s && x->what == STATE_PARKED && !is_unknown(x) && !s->waker)
        bind_cause(b, target, s, by, INTERACTION_INTERRUPT);
}

/* An exception inside a wait came of the interrupt until then. */
static void on_exception(struct binder *b, uint32_t thread)
{
    struct thread_now *w = &b->now[thread];
    struct span *s = current(b, thread);
    if (s && !s->waker && w->interrupt.thread && context_of(b, s)->flags & INTERVAL_INTERRUPTED)
        bind_cause(b, thread, s, w->interrupt, INTERACTION_INTERRUPT);
    w->interrupt.thread = 0;
}

static void on_start(struct binder *b, uint32_t thread)
{
    struct thread_now *w = &b->now[thread];
    struct line *l = &b->tl->lines[thread];
    if (!b->threads->v[thread].is_virtual) /* HotSpot: no thread yet to keep a permit */
        w->permit.thread = 0;
    if (!w->start.thread || l->starter)
        return;
    l->starter = w->start.thread;
    l->starter_act = cause_index(w->start.cause);
    line_act(&b->tl->lines[l->starter], l->starter_act)->woken++;
    b->out.sums[INTERACTION_STARTS_THREAD].count++;
}

static void on_call(struct binder *b, struct deed by, const struct context *x)
{
    struct lock_now *k = lock_now(b, x->lock);
    uint8_t role = x->call.v < b->trace->n_calls ? b->roles[x->call.v] : TASK_NO;
    if (!k || role == TASK_NO)
        return;
    if (role == TASK_SUBMITTED) {
        append(b, &k->task, &k->last_task, by);
        return;
    }
    if (!k->task)
        return;
    const struct loose task = *loose_at(b, k->task);
    k->task = task.next;
    if (task.deed.thread == by.thread)
        return;
    struct act *from = line_act(&b->tl->lines[task.deed.thread], cause_index(task.deed.cause));
    const struct act *to = line_act(&b->tl->lines[by.thread], cause_index(by.cause));
    struct handover h = {.from_time = from->time,
                         .to_time = to->time,
                         .from = task.deed.thread,
                         .from_act = cause_index(task.deed.cause),
                         .to = by.thread,
                         .to_act = cause_index(by.cause)};
    from->woken++;
    b->out.sums[INTERACTION_SUBMIT].count++;
    b->out.sums[INTERACTION_SUBMIT].ns += to->time - min_u64(from->time, to->time);
    buf_put(&b->out.handovers, &h, sizeof h);
}

static void on_act(struct binder *b, uint32_t thread, uint32_t index, uint64_t time)
{
    const struct act *a = line_act(&b->tl->lines[thread], index);
    const struct context *x = timeline_context(b->tl, a->context);
    struct lock_now *k = lock_now(b, x->lock);
    const struct deed by = {thread, cause_make(CAUSE_ACT, index)};
    b->now[thread].last_act = index + 1;
    switch (x->what) {
    case EV_notify:
    case EV_notify_all:
        if (!k)
            break;
        owns(k, thread, CAUSE_NONE, time);
        if (b->lists)
            loose_notify(b, &b->lists[x->lock.v], by, x->what == EV_notify_all);
        else
            wait_set_notify(b, k, by, time, x->what == EV_notify_all);
        break;
    case EV_unpark:
        if (x->other)
            on_unpark(b, x->other, by, time);
        break;
    case EV_interrupt:
        on_interrupt(b, x->other, by, time);
        break;
    case EV_interrupted:
        on_exception(b, thread);
        break;
    case EV_thread_start_called:
        b->now[x->other].start = by;
        break;
    case EV_thread_start:
        on_start(b, thread);
        break;
    case EV_semaphore_release:
        note_release(b, x, by, time);
        break;
    case EV_call:
        note_release(b, x, by, time);
        on_call(b, by, x);
        break;
    case EV_call_enter:
        on_call(b, by, x);
        break;
    default:
        break;
    }
}

static void on_hold(struct binder *b, uint32_t thread, uint32_t index, uint64_t time)
{
    const struct span *h = line_hold(&b->tl->lines[thread], index);
    struct lock_now *k = lock_now(b, timeline_context(b->tl, h->context)->lock);
    if (k)
        owns(k, thread, cause_make(CAUSE_HOLD, index), time);
}

/* A stretch in an unknown state: the thread may have done anything in it. */
static bool is_no_wait(const struct binder *b, const struct sweep_item *i)
{
    enum sweep_type type = sweep_type(i);
    return (type == SWEEP_BEGIN || type == SWEEP_END) &&
           context_of(b, span_of(b, i->thread, sweep_index(i)))->what == STATE_UNKNOWN;
}

/* Short waits that were summed.  Their waker is known already, or never will be; the lock's owners
 * in between are unknown, and a permit is used up.  The times of the waits are unknown, so they
 * prove nothing about where the thread was. */
static bool take_summed(struct binder *b, const struct sweep_item *i)
{
    enum sweep_type type = sweep_type(i);
    struct span *s =
        type == SWEEP_BEGIN || type == SWEEP_END ? span_of(b, i->thread, sweep_index(i)) : NULL;
    if (!s || !span_is_summed(b->tl, s))
        return false;
    const struct context *x = context_of(b, s);
    struct lock_now *k = lock_now(b, x->lock);
    if (k) {
        k->owner = k->before = (struct deed){0, 0};
        k->summed = true;
    }
    b->now[i->thread].permit.thread = 0;
    if (type == SWEEP_BEGIN)
        return true;
    if (x->what == STATE_JOINING) /* of threads that had ended: no thread had to end them */
        return true;
    if (!s->waker || s->waker == i->thread) {
        b->out.unbound[x->what] += span_count(b->tl, s);
        b->out.unbound_sums += span_count(b->tl, s);
        return true;
    }
    enum interaction kind = span_interaction(b->tl, i->thread, s);
    b->out.sums[kind].count += span_count(b->tl, s);
    b->out.sums[kind].ns += span_len(b->tl, s);
    return true;
}

/* The time of the sweep has come to this. */
static void pass_stretches(struct binder *b, uint64_t time)
{
    const struct summing *v = b->sums ? (const void *)b->sums->stretches.p : NULL;
    size_t n = v ? b->sums->stretches.len / sizeof *v : 0;
    for (; b->stretch < n && v[b->stretch].to <= time; b->stretch++)
        b->epoch = 2 * (uint32_t)(b->stretch + 1);
    if (b->stretch < n && v[b->stretch].from <= time)
        b->epoch = 2 * (uint32_t)b->stretch + 1;
}

static void take(void *self, const struct sweep_item *v, size_t n)
{
    struct binder *b = self;
    for (size_t i = 0; i < n; i++) {
        uint32_t index = sweep_index(&v[i]);
        pass_stretches(b, v[i].time);
        alibi_reach(&b->alibi, v[i].time);
        if (is_no_wait(b, &v[i]) || take_summed(b, &v[i]))
            continue;
        settle_regain(b, v[i].thread);
        switch (sweep_type(&v[i])) {
        case SWEEP_BORN:
            alibi_runs(&b->alibi, v[i].thread);
            break;
        case SWEEP_DIED:
            alibi_stops(&b->alibi, v[i].thread, v[i].time);
            break;
        case SWEEP_BEGIN:
            on_begin(b, v[i].thread, index, v[i].time);
            use_permit(b, v[i].thread, index);
            alibi_stops(&b->alibi, v[i].thread, v[i].time);
            break;
        case SWEEP_END:
            alibi_runs(&b->alibi, v[i].thread);
            on_end(b, v[i].thread, index, v[i].time);
            break;
        case SWEEP_ACT:
            on_act(b, v[i].thread, index, v[i].time);
            break;
        case SWEEP_HOLD:
            on_hold(b, v[i].thread, index, v[i].time);
            break;
        default:
            break;
        }
    }
}

/* --- life ------------------------------------------------------------------------------------- */

static enum task_role role_of(const struct trace_call *c)
{
    static const struct {
        const char *class_name, *method;
        enum task_role role;
    } roles[] = {
        {"Ljava/util/concurrent/ThreadPoolExecutor;", "execute", TASK_SUBMITTED},
        {"Ljava/util/concurrent/ForkJoinPool;", "execute", TASK_SUBMITTED},
        {"Ljava/util/concurrent/ThreadPoolExecutor;", "beforeExecute", TASK_RUN},
        {"Ljava/util/concurrent/FutureTask;", "run", TASK_RUN},
    };
    for (size_t i = 0; i < ARRAY_LEN(roles); i++)
        if (strcmp(c->class_signature, roles[i].class_name) == 0 &&
            strcmp(c->method, roles[i].method) == 0)
            return roles[i].role;
    return TASK_NO;
}

/* Whether each InterruptedException is there from the beginning to the end, if there was one. */
static bool records_exceptions(const struct trace *t)
{
    return event_groups_list(trace_info(t, "orca.events", ""), GROUP_interrupts) &&
           !*trace_info(t, "orca.events.changes", "");
}

/* Whether each hold is there, of the locks that the program's own code takes. */
static bool records_all_holds(const struct trace *t)
{
    static const char *const partial[] = {"orca.events.changes", "orca.holdsample", "orca.include",
                                          "orca.exclude"};
    for (size_t i = 0; i < ARRAY_LEN(partial); i++)
        if (*trace_info(t, partial[i], ""))
            return false;
    return event_groups_list(trace_info(t, "orca.events", ""), GROUP_holds) && !trace_lost(t);
}

/* Whether a thread gave a lock back that it got at a time, and no hold of it says so. */
static bool lacks_hold(const struct binder *b, const struct line *l, lock_id lock, uint64_t time)
{
    enum { LOOK_AHEAD = 64 };
    uint32_t first = line_holds_until(b->tl, l, time), i = first;
    for (; i < l->holds.n && i < first + LOOK_AHEAD; i++) {
        const struct span *h = line_hold(l, i);
        if (context_of(b, h)->lock.v == lock.v)
            return false;
    }
    return i < l->holds.n || line_spans_until(l, time) < l->spans.n ||
           line_acts_until(l, time) < l->acts.n;
}

static bool is_thread_object(const struct trace *t, lock_id lock)
{
    const char *signature = trace_class(t, trace_lock(t, lock)->class_)->signature;
    return strcmp(signature, "Ljava/lang/Thread;") == 0;
}

/* Marks locks that are also taken without a recorded hold: in code of the JDK or in native code,
 * and locks that the JVM itself takes when a thread ends. */
static void find_odd_locks(struct binder *b)
{
    for (uint32_t i = 1; i < b->n_locks && i < b->trace->n_locks; i++)
        b->locks[i].odd = is_thread_object(b->trace, (lock_id){i});
    for (size_t i = 0; b->all_holds && i < b->tl->n_lines; i++) {
        const struct line *l = &b->tl->lines[i];
        for (uint32_t n = 0; n < l->spans.n; n++) {
            const struct span *s = line_span(l, n);
            const struct context *x = context_of(b, s);
            struct lock_now *k = lock_now(b, x->lock);
            if (k && !k->odd && x->what == STATE_BLOCKED &&
                !(x->flags & (INTERVAL_OPEN | INTERVAL_UNKNOWN)))
                k->odd = lacks_hold(b, l, x->lock, span_end(b->tl, s));
        }
    }
}

void binder_summed(struct binder *b, const struct summed *s)
{
    b->sums = s;
}

int binder_new(struct binder **out, const struct trace *t, struct timeline *tl,
               const struct thread_set *threads)
{
    struct binder *b = *out = calloc(1, sizeof *b);
    if (!b)
        return -ENOMEM;
    b->trace = t;
    b->tl = tl;
    b->threads = threads;
    b->n_locks = t->n_locks ? t->n_locks : 1;
    b->locks = calloc(b->n_locks, sizeof *b->locks);
    b->now = calloc(threads->n + 1, sizeof *b->now);
    b->roles = calloc(t->n_calls + 1, 1);
    b->out.owners = calloc(threads->n + 1, sizeof *b->out.owners);
    bool imported = !trace_is_in_order(t);
    b->bare = trace_order_is_bare(t);
    b->exceptions = !imported && records_exceptions(t);
    b->holds = tl->n_holds > 0;
    b->all_holds = b->holds && records_all_holds(t);
    if (imported)
        b->lists = calloc(b->n_locks, sizeof *b->lists);
    int rc = alibi_init(&b->alibi, t, tl, threads);
    if (rc == 0 && b->locks && !imported)
        rc = wait_sets_foresee(b);
    if (rc < 0 || !b->locks || !b->now || !b->roles || !b->out.owners || (imported && !b->lists)) {
        binder_free(b);
        *out = NULL;
        return -ENOMEM;
    }
    bool of_calls = false;
    find_odd_locks(b);
    for (uint32_t i = 1; i < t->n_calls; i++)
        b->roles[i] = (uint8_t)role_of(trace_call(t, (call_id){i}));
    for (uint32_t i = 1; i < tl->contexts.n; i++) {
        const struct context *x = &tl->contexts.v[i];
        b->exceptions |= x->what == EV_interrupted;
        if (x->what == EV_interrupt)
            b->now[x->other].interruptible = true;
        of_calls |= x->what == STATE_PARKED && x->mode == CONTEXT_OF_CALL;
    }
    if (of_calls && !(b->released = calloc(b->n_locks, sizeof *b->released))) {
        binder_free(b);
        *out = NULL;
        return -ENOMEM;
    }
    return 0;
}

void binder_asked(struct binder *b, const struct asked_owner *v, size_t n)
{
    b->asked = v;
    for (size_t i = 0; i < n; i++) {
        const uint64_t *known = map_find(&b->asked_last, v[i].lock);
        if (known && v[*known].time > v[i].time)
            continue;
        uint64_t *last = map_put(&b->asked_last, v[i].lock);
        if (last)
            *last = i;
        else
            b->oom = true;
    }
}

void binder_calls(struct binder *b, const struct io_wait *v, size_t n)
{
    b->oom |= alibi_calls(&b->alibi, b->threads, v, n) < 0;
}

void binder_free(struct binder *b)
{
    if (!b)
        return;
    free(b->locks);
    free(b->now);
    free(b->roles);
    free(b->lists);
    alibi_fini(&b->alibi);
    free(b->released);
    map_fini(&b->asked_last);
    buf_fini(&b->loose);
    bindings_fini(&b->out);
    free(b);
}

struct sweep_sink binder_sink(struct binder *b)
{
    return (struct sweep_sink){take, b, 0};
}

/* The interaction that an act may be; INTERACTION_NONE: it wakes no thread. */
static enum interaction kind_of(const struct binder *b, const struct context *x)
{
    switch (x->what) {
    case EV_thread_start_called:
        return INTERACTION_STARTS_THREAD;
    case EV_interrupt:
        return INTERACTION_INTERRUPT;
    case EV_notify:
        return INTERACTION_NOTIFY;
    case EV_notify_all:
        return INTERACTION_NOTIFY_ALL;
    case EV_unpark:
        return INTERACTION_UNPARK;
    case EV_call:
    case EV_call_enter:
        if (x->lock.v && x->call.v < b->trace->n_calls && b->roles[x->call.v] == TASK_SUBMITTED)
            return INTERACTION_SUBMIT;
        return INTERACTION_NONE;
    default:
        return INTERACTION_NONE;
    }
}

static void count_alone(struct binder *b)
{
    for (size_t i = 0; i < b->tl->n_lines; i++) {
        const struct line *l = &b->tl->lines[i];
        for (uint32_t k = 0; k < l->acts.n; k++) {
            const struct act *act = line_act(l, k);
            enum interaction kind = kind_of(b, timeline_context(b->tl, act->context));
            if (kind != INTERACTION_NONE)
                b->out.sums[kind].alone += act->woken == 0;
        }
    }
}

int binder_finish(struct binder *b, struct bindings *out)
{
    wait_sets_finish(b);
    count_alone(b);
    if (b->oom || b->loose.oom || b->out.handovers.oom)
        return -ENOMEM;
    *out = b->out;
    memset(&b->out, 0, sizeof b->out);
    return 0;
}

void bindings_fini(struct bindings *b)
{
    buf_fini(&b->handovers);
    free(b->owners);
    b->owners = NULL;
}

#include "analyze/wait_sets.h"

#include "analyze/leavers.h"
#include "base/err.h"
#include "base/util.h"

#include <stdlib.h>

/* --- wait sets -------------------------------------------------------------------------------- */

void wait_set_leave(struct binder *b, uint32_t thread)
{
    struct thread_now *w = &b->now[thread];
    struct lock_now *k = &b->locks[w->waits_on];
    if (!w->waits_on)
        return;
    if (w->found && --k->found.n == 0)
        k->found = (struct found_waiters){0};
    w->found = false;
    if (w->prev)
        b->now[w->prev].next = w->next;
    else
        k->head = w->next;
    if (w->next)
        b->now[w->next].prev = w->prev;
    else
        k->tail = w->prev;
    w->waits_on = w->next = w->prev = 0;
}

/* Whether the recording ended before an exception could come of a wait, which has to take its
 * monitor again first. */
static bool is_cut_off(const struct binder *b, uint32_t thread, const struct span *s)
{
    const struct line *l = &b->tl->lines[thread];
    lock_id lock = context_of(b, s)->lock;
    for (uint32_t i = b->now[thread].span; i < l->spans.n; i++) { /* behind the one it is in */
        const struct context *x = context_of(b, line_span(l, i));
        bool again = x->what == STATE_BLOCKED || x->what == STATE_REACQUIRING;
        if (!again || x->lock.v != lock.v)
            return false;
    }
    return !did_anything(b, l, span_end(b->tl, s), UINT64_MAX);
}

/* Whether a thread is about to leave its Object.wait by itself: it times out, or was interrupted in
 * it.  Who is interrupted and then notified before it has left the wait set is notified: no
 * exception comes of the wait, unless the recording ends first.  An exception alone shows an
 * interrupt only when the interrupt is not recorded: one that comes after the notify ends another
 * wait. */
static bool leaves(const struct binder *b, uint32_t thread, const struct span *s)
{
    const struct thread_now *w = &b->now[thread];
    unsigned flags = context_of(b, s)->flags;
    bool threw = flags & INTERVAL_INTERRUPTED;
    if (flags & INTERVAL_TIMED_OUT)
        return true;
    if (w->interrupt.thread && w->interrupted_at >= s->start)
        return threw || !b->exceptions || is_cut_off(b, thread, s);
    return threw && !w->interruptible;
}

/* --- who was notified when another timed out at the same moment ------------------------------- */

/* It stays unknown what ended the waits that timed out, and which notify each waiter had. */
static void give_up_doubt(struct binder *b, struct lock_now *k)
{
    for (uint32_t i = k->doubt.times_up; i; i = loose_at(b, i)->next) {
        const struct deed wait = loose_at(b, i)->deed;
        if (timeline_clear(b->tl, span_of(b, wait.thread, wait.cause), INTERVAL_TIMED_OUT) < 0)
            b->oom = true;
        if (b->now[wait.thread].span == wait.cause + 1) {
            b->now[wait.thread].unsure = true; /* its end comes yet */
            continue;
        }
        b->out.timed_out[STATE_WAITING]--;
        b->out.unbound[STATE_WAITING]++;
    }
    k->doubt = (struct doubt){0};
}

/* A notify that woke a thread, but it is unknown which one. */
static void doubt_act(struct binder *b, struct lock_now *k, struct deed by)
{
    struct doubt *d = &k->doubt;
    line_act(&b->tl->lines[by.thread], cause_index(by.cause))->woken++;
    if (d->n == DOUBT_MOST)
        d->too_long = true;
    if (d->too_long)
        return;
    append(b, &d->acts, &d->last, by);
    d->n++;
}

static uint32_t next_waiter(const struct binder *b, uint32_t t)
{
    while (t && (!current(b, t) || leaves(b, t, current(b, t))))
        t = b->now[t].next;
    return t;
}

/* The first thread of the wait set that a notify can take.  Threads before it that timed out have
 * left the set by its end, and are noted: the notify may have been theirs. */
static uint32_t first_waiter(struct binder *b, struct lock_now *k)
{
    uint32_t first = next_waiter(b, k->head);
    for (uint32_t t = k->head, next; t != first; t = next) {
        const struct span *s = current(b, t);
        next = b->now[t].next;
        if (!s || !(context_of(b, s)->flags & INTERVAL_TIMED_OUT))
            continue;
        k->doubt.times_up = loose_add(b, (struct deed){t, b->now[t].span - 1}, k->doubt.times_up);
        wait_set_leave(b, t);
    }
    return first;
}

/* The waiters have the notifies in turn; a waiter that timed out was not notified. */
static void decide_doubt(struct binder *b, struct lock_now *k)
{
    uint32_t t = next_waiter(b, k->head);
    for (uint32_t i = k->doubt.acts; i && t; i = loose_at(b, i)->next) {
        const struct deed by = loose_at(b, i)->deed;
        uint32_t next = next_waiter(b, b->now[t].next);
        line_act(&b->tl->lines[by.thread], cause_index(by.cause))->woken--;
        wait_set_leave(b, t);
        bind_cause(b, t, current(b, t), by, INTERACTION_NOTIFY);
        t = next;
    }
    k->doubt = (struct doubt){0};
}

/* A waiter came back, and not by itself.  As many notifies as there are up to it in the wait set
 * were these waiters'; if there were no others, no other thread had one. */
static void on_back(struct binder *b, struct lock_now *k, uint32_t thread)
{
    struct doubt *d = &k->doubt;
    uint32_t t = next_waiter(b, k->head), *act = &d->acts, before = 0, n = 1;
    for (; t && t != thread && n < d->n; n++) {
        t = next_waiter(b, b->now[t].next);
        before = *act;
        act = &loose_at(b, *act)->next;
    }
    if (d->too_long || t != thread || !*act)
        return;
    if (n == d->n) {
        decide_doubt(b, k);
        return;
    }
    *act = loose_at(b, *act)->next;
    if (!*act)
        d->last = before;
    d->n--;
}

/* A notifyAll wakes all waiters.  Waiters that an earlier notify may have woken were woken by
 * either. */
static void notify_all_waiters(struct binder *b, struct lock_now *k, struct deed by)
{
    uint32_t unsure = k->doubt.n, t;
    bool had_notifies = k->found.n_acts > 0;
    while ((t = first_waiter(b, k)) != 0) {
        bool found = b->now[t].found;
        wait_set_leave(b, t);
        if (k->doubt.too_long || unsure || (found && had_notifies))
            unsure -= unsure > 0;
        else
            bind_cause(b, t, current(b, t), by, INTERACTION_NOTIFY_ALL);
    }
    if (!k->doubt.times_up)
        return;
    struct act *act = line_act(&b->tl->lines[by.thread], cause_index(by.cause));
    act->woken = act->woken ? act->woken : 1;
    give_up_doubt(b, k);
}

static uint32_t first_not_found(const struct binder *b, uint32_t t)
{
    while (t && b->now[t].found)
        t = next_waiter(b, b->now[t].next);
    return t;
}

/* A notify while the wait set has threads that were already waiting at the attach; `first` is the
 * first of them.  True: it woke one of them, unknown which.  False: there is only one such thread,
 * or earlier notifies have taken all of them. */
static bool notify_found(struct binder *b, struct lock_now *k, uint32_t first, struct deed by)
{
    struct found_waiters *f = &k->found;
    f->too_many |= f->n_acts == DOUBT_MOST;
    if (f->too_many)
        return true;
    uint32_t without = 0, notified = f->n_acts - f->n_back;
    for (uint32_t t = first; t && b->now[t].found && without <= notified + 1; without++)
        t = next_waiter(b, b->now[t].next);
    if (without <= notified || (without == 1 && !notified))
        return false;
    append(b, &f->acts, &f->last, by);
    f->n_acts++;
    line_act(&b->tl->lines[by.thread], cause_index(by.cause))->woken++; /* one of them */
    return true;
}

/* One of them comes back, and not by itself. */
static void found_is_back(struct binder *b, struct lock_now *k, uint32_t thread, struct span *s)
{
    struct found_waiters *f = &k->found;
    if (f->n_back == f->n_acts || f->too_many)
        return;
    if (f->n_acts == 1) {
        const struct deed by = loose_at(b, f->acts)->deed;
        line_act(&b->tl->lines[by.thread], cause_index(by.cause))->woken--;
        bind_cause(b, thread, s, by, INTERACTION_NOTIFY);
    }
    f->n_back++;
    if (f->n_back == f->n_acts)
        f->acts = f->last = f->n_acts = f->n_back = 0;
}

/* --- texts that do not say who left a wait set by itself -------------------------------------- */

/* Whether the waiter that a notify took last woke so long before `time` that it has left the wait
 * set. */
static bool is_long_ago(const struct binder *b, struct deed taken, uint64_t time)
{
    const struct span *s = span_of(b, taken.thread, taken.cause);
    return time - span_wake_time(b->tl, s) >= BIND_LEAVE_NS;
}

static void note_taken(struct binder *b, struct lock_now *k, uint32_t waiter, uint64_t time)
{
    if (k->taken && is_long_ago(b, loose_at(b, k->taken)->deed, time))
        k->taken = 0;
    k->taken = loose_add(b, (struct deed){waiter, b->now[waiter].span - 1}, k->taken);
}

/* The first of a wait set has left it though no notify took it: it left by itself; or a thread that
 * a notify counts as having taken did, shortly before, and each notify since took the next one. */
static void doubt_taken(struct binder *b, struct lock_now *k, uint32_t thread, uint64_t time)
{
    uint32_t i = k->head == thread ? k->taken : 0;
    if (!i || is_long_ago(b, loose_at(b, i)->deed, time))
        return;
    for (; i; i = loose_at(b, i)->next) {
        const struct deed wait = loose_at(b, i)->deed;
        bool ended = b->now[wait.thread].span != wait.cause + 1;
        leavers_unbind(b->tl, &b->out, wait.thread, wait.cause, ended);
    }
    k->taken = 0;
}

/* --- notifies --------------------------------------------------------------------------------- */

static void notify_one(struct binder *b, struct lock_now *k, struct deed by, uint64_t time)
{
    uint32_t waiter = first_waiter(b, k);
    bool found = waiter && b->now[waiter].found;
    if (!k->doubt.times_up && found) {
        if (notify_found(b, k, waiter, by))
            return;
        if (k->found.n_acts)
            waiter = first_not_found(b, waiter);
    }
    if (k->doubt.times_up) {
        k->doubt.too_long |= found; /* their order is also unknown */
        doubt_act(b, k, by);
        if (!waiter)
            give_up_doubt(b, k);
    } else if (waiter) {
        wait_set_leave(b, waiter);
        bind_cause(b, waiter, current(b, waiter), by, INTERACTION_NOTIFY);
        if (b->bare && k->head)
            note_taken(b, k, waiter, time);
    }
}

void wait_set_notify(struct binder *b, struct lock_now *k, struct deed by, uint64_t time, bool all)
{
    if (all)
        notify_all_waiters(b, k, by);
    else
        notify_one(b, k, by, time);
    if (!k->head)
        k->taken = 0;
}

/* --- waits that ended by themselves, unrecorded ----------------------------------------------- */

/* Not every interrupt is recorded, and text files have no timeouts.  So a wait that ended by itself
 * shows only by a missing notify.  Then each thread that waited with it may have been the one
 * without a notify, and it is unknown which notify woke which thread. */
static void settle(struct binder *b, struct lock_now *k)
{
    bool alone = false;
    for (uint32_t i = k->ended; i; i = loose_at(b, i)->next) {
        const struct deed wait = loose_at(b, i)->deed;
        const struct span *s = span_of(b, wait.thread, wait.cause);
        alone |= !s->waker && !(context_of(b, s)->flags & INTERVAL_TIMED_OUT);
    }
    for (uint32_t i = k->ended; i && alone; i = loose_at(b, i)->next) {
        const struct deed wait = loose_at(b, i)->deed;
        const struct span *s = span_of(b, wait.thread, wait.cause);
        if (span_wake_act(b->tl, s) && span_notifier(b->tl, s))
            leavers_unbind(b->tl, &b->out, wait.thread, wait.cause, true);
    }
    k->ended = k->last_ended = 0;
}

/* --- waits ------------------------------------------------------------------------------------ */

void wait_set_enter(struct binder *b, uint32_t thread, uint32_t lock, const struct span *s)
{
    struct lock_now *k = &b->locks[lock];
    struct thread_now *w = &b->now[thread];
    if (!k->head)
        settle(b, k);
    w->waits_on = lock;
    w->next = 0;
    w->prev = k->tail;
    if (k->tail)
        b->now[k->tail].next = thread;
    else
        k->head = thread;
    k->tail = thread;
    w->found = b->threads->v[thread].found == s->start;
    k->found.n += w->found;
}

void wait_set_end(struct binder *b, uint32_t thread, uint32_t index, struct lock_now *k,
                  uint64_t time)
{
    struct thread_now *w = &b->now[thread];
    struct span *s = span_of(b, thread, index);
    if (k && w->waits_on && !leaves(b, thread, s)) {
        w->span = index + 1; /* it is one of the threads that may have been notified */
        if (k->doubt.times_up)
            on_back(b, k, thread);
        else if (w->found)
            found_is_back(b, k, thread, s);
        w->span = 0;
    }
    if (b->bare && w->waits_on)
        doubt_taken(b, k, thread, time);
    wait_set_leave(b, thread);
    if (k && k->doubt.times_up && !k->head)
        give_up_doubt(b, k);
}

void wait_set_ended(struct binder *b, uint32_t thread, uint32_t index, struct lock_now *k)
{
    if (k && b->tl->no_interrupts && !b->bare) /* there doubt_taken sees it, and more closely */
        append(b, &k->ended, &k->last_ended, (struct deed){thread, index});
}

void wait_sets_finish(struct binder *b)
{
    for (size_t i = 0; i < b->n_locks; i++) {
        if (b->locks[i].doubt.times_up)
            give_up_doubt(b, &b->locks[i]);
        settle(b, &b->locks[i]);
    }
    if (b->bare && leavers_doubt(b->trace, b->tl, &b->out) < 0)
        b->oom = true;
}

int wait_sets_foresee(struct binder *b)
{
    struct contexts *c = &b->tl->contexts;
    uint8_t *notified = calloc(b->n_locks, 1);
    uint32_t n = c->n;
    int rc = notified ? 0 : -ENOMEM;
    for (uint32_t i = 1; i < n && rc == 0; i++)
        if ((c->v[i].what == EV_notify || c->v[i].what == EV_notify_all) &&
            c->v[i].lock.v < b->n_locks)
            notified[c->v[i].lock.v] = true;
    for (uint32_t i = 1; i < n && rc == 0; i++) {
        const struct context x = c->v[i];
        if (x.what == STATE_WAITING && x.flags & INTERVAL_TIMED_OUT && x.lock.v < b->n_locks &&
            notified[x.lock.v])
            rc = timeline_foresee(b->tl, &x, INTERVAL_TIMED_OUT);
    }
    free(notified);
    return rc;
}

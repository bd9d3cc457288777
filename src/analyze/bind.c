#include "analyze/bind.h"

#include "analyze/alibi.h"
#include "base/err.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

const char *interaction_name(enum interaction i)
{
    static const char *const names[] = {"starts-thread",   "handoff-lock", "interrupt",
                                        "notify",          "notify-all",   "dead-and-notify-joined",
                                        "unpark",          "semaphore",    "submit",
                                        "last-owner-seen", "none"};
    return names[i];
}

/* An act, or another cause, of a thread; thread 0: none. */
struct deed {
    uint32_t thread, cause;
};

/* A thread may have been notified in the moment in which its time was up: it left the wait set for
 * one of both, and the JVM says that its time was up.  So the first notify of the list was its, or
 * the first waiter's, the second one the first waiter's or the second one's, and so on. */
struct doubt {
    uint32_t acts, last; /* of whom they woke: 1 + index into binder.loose */
    uint32_t n;          /* so many */
    uint32_t times_up;   /* waits whose time was up: 1 + index into binder.loose */
    bool too_long;       /* not all of it is kept */
};

/* Threads that were found in the wait set when the recording of a running program began: they are
 * its first ones, and their order is not known.  A notify is of one of them while there is one that
 * has none; whose it was is known when one comes back before the next notify. */
struct found_waiters {
    uint32_t n; /* in the wait set, though notified */
    uint32_t acts,
        last; /* notifies of them since all who had one were back: 1 + index into loose */
    uint32_t n_acts, n_back;
    bool too_many; /* notifies: not all are kept */
};

enum { DOUBT_MOST = 64 }; /* acts: each end of a wait looks at so many waiters */

/* A lock at the moment. */
struct lock_now {
    struct deed owner;      /* who owned it last, as far as known, and by what it gave it back */
    uint64_t since, latest; /* when it was first known to, after somebody else had, and last */
    bool sure;              /* it did own it then: not only the end of its Object.wait says so */
    bool odd;               /* not each hold of it is recorded, or the JVM takes it unseen */
    struct deed before;     /* who had it before `since`, and when that was known last */
    uint64_t before_latest;
    uint32_t claimer;    /* the thread whose Object.wait ended last, */
    uint64_t claimed_at; /* and when */
    uint32_t head, tail; /* threads in its wait set, first in first out; 0: none */
    struct doubt doubt;  /* of whom its latest notifies woke */
    struct found_waiters found;
    uint32_t ended, last_ended; /* waits since its wait set was empty, where interrupts are not
                                 * recorded: 1 + index into binder.loose */
    uint32_t task, last_task;   /* it is a task: how often it was handed over and is not run yet,
                                 * first in first out; 1 + index into binder.loose */
};

/* A thread at the moment. */
struct thread_now {
    uint32_t span;       /* 1 + index of the span that it is in; 0: it runs */
    uint32_t waits_on;   /* the lock whose wait set it is in, 0: none */
    uint32_t next, prev; /* there */
    uint32_t last_act;   /* 1 + index of its latest act */
    uint32_t regain;     /* 1 + index of its latest regain, while it may still be found certain: */
    uint64_t regain_at;  /* its Object.wait ended then, */
    uint64_t owned_at;   /* and the owner before it was known to be that then */
    struct deed permit;  /* an unpark that no park has used */
    struct deed start;
    struct deed interrupt; /* of which no exception is known to have come */
    uint64_t interrupted_at;
    bool interruptible; /* an interrupt of it is recorded */
    bool found;         /* in the wait set, since before the recording */
    bool unsure;        /* it stays unknown what ends the wait that it is in */
};

/* A task that was handed over and is not run yet.  In imported traces also a notify that has nobody
 * yet, or a wait that ended without one. */
struct loose {
    struct deed deed; /* of a wait: cause is the span's index */
    uint32_t next;    /* 1 + index into binder.loose */
    bool all;
};

struct loose_lists {
    uint32_t notify, notify_last, woken; /* 1 + index into binder.loose */
    struct deed all;                     /* the latest notifyAll */
};

/* What was done last to an object: a release of a semaphore, or another call that does not block.
 */
struct release {
    struct deed by;
    uint64_t at;
};

enum task_role { TASK_NO, TASK_SUBMITTED, TASK_RUN };

struct binder {
    const struct trace *trace;
    struct timeline *tl;
    const struct thread_set *threads;
    struct lock_now *locks; /* [n_locks] */
    size_t n_locks;
    struct thread_now *now;    /* [threads->n] */
    uint8_t *roles;            /* [trace->n_calls], enum task_role */
    struct loose_lists *lists; /* [n_locks]; NULL: recorded, not imported */
    struct release *released;  /* [n_locks]; NULL: no wait is of a call */
    struct buf loose;          /* struct loose [] */
    const struct asked_owner *asked;
    struct map asked_last; /* by lock: the latest of them */
    bool exceptions;       /* InterruptedExceptions are recorded */
    bool holds;            /* so is who had which lock, */
    bool all_holds;        /* each time */
    struct alibi alibi;
    struct bindings out;
    bool oom;
};

/* --- small ------------------------------------------------------------------------------------ */

static const struct context *context_of(const struct binder *b, const struct span *s)
{
    return timeline_context(b->tl, s->context);
}

static struct span *span_of(const struct binder *b, uint32_t thread, uint32_t index)
{
    return line_span(&b->tl->lines[thread], index);
}

/* The span that a thread is in; NULL: it runs. */
static struct span *current(const struct binder *b, uint32_t thread)
{
    uint32_t span = b->now[thread].span;
    return span ? span_of(b, thread, span - 1) : NULL;
}

static struct lock_now *lock_now(const struct binder *b, lock_id lock)
{
    return lock.v && lock.v < b->n_locks ? &b->locks[lock.v] : NULL;
}

static bool is_unknown(const struct context *x)
{
    return x->flags & (INTERVAL_UNKNOWN | INTERVAL_REACQUIRED);
}

/* `thread` was woken from span s. */
static void bind(struct binder *b, uint32_t thread, struct span *s, struct deed by,
                 enum interaction kind)
{
    s->waker = by.thread;
    s->cause = by.cause;
    if (by.thread != thread) {
        b->out.sums[kind].count++;
        b->out.sums[kind].ns += span_len(b->tl, s);
    }
    if (cause_type(by.cause) == CAUSE_ACT)
        line_act(&b->tl->lines[by.thread], cause_index(by.cause))->woken++;
}

static bool was_notified(const struct binder *b, const struct span *s)
{
    const struct act *by = span_wake_act(b->tl, s);
    uint8_t what = by ? timeline_context(b->tl, by->context)->what : 0;
    return what == EV_notify || what == EV_notify_all;
}

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

/* Whether the thread can have given a monitor back after a time: it is not known to have done so
 * before, it lived, and was not in a wait all the time. */
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

/* Who gave the monitor back that `thread` waited for from `time` on and has now, at the end of span
 * s; thread 0: that is not known.  Others may have seen that it has it before it says so itself. */
static struct deed owner_before(const struct binder *b, const struct lock_now *k, uint32_t thread,
                                const struct span *s, uint64_t time)
{
    const struct deed nobody = {0, 0};
    struct deed by = k->owner;
    if (by.thread == thread && k->since > s->start)
        by = k->before;
    if (!by.thread || by.thread == thread || !gave_back_after(b, by, time))
        return nobody;
    return by;
}

/* Up to when a thread certainly owned a monitor that it owned at a time: it gives nothing back
 * inside a wait, but in Object.wait of the monitor. */
static uint64_t owned_until(const struct binder *b, uint32_t owner, lock_id lock, uint64_t time)
{
    const struct line *l = &b->tl->lines[owner];
    uint32_t n = line_spans_until(l, time);
    const struct span *s = n ? line_span(l, n - 1) : NULL;
    const struct context *x = s ? context_of(b, s) : NULL;
    bool gives = x && (is_unknown(x) || x->what == STATE_UNKNOWN || x->lock.v == lock.v);
    return s && !gives ? max_u64(time, span_end(b->tl, s)) : time;
}

/* Whether it is certain that this owner of before, who is known to have owned the monitor at a time
 * (0: at none), gave it to `thread`, which has it now. */
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

/* Who owns what a thread waits for when the recording ends, as far as is known since it began to:
 * of a park what the thread saw tells whether its blocker has an owner at all. */
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

/* --- lists -------------------------------------------------------------------------------------
 */

static struct loose *loose_at(const struct binder *b, uint32_t i)
{
    return (struct loose *)(void *)b->loose.p + i - 1;
}

static uint32_t loose_add(struct binder *b, struct deed deed, uint32_t next)
{
    buf_put(&b->loose, &(struct loose){.deed = deed, .next = next}, sizeof(struct loose));
    return b->loose.oom ? 0 : (uint32_t)(b->loose.len / sizeof(struct loose));
}

/* Behind the others of a list. */
static void append(struct binder *b, uint32_t *first, uint32_t *last, struct deed deed)
{
    uint32_t i = loose_add(b, deed, 0);
    if (*first && i)
        loose_at(b, *last)->next = i;
    else
        *first = i;
    *last = i;
}

/* --- wait sets -------------------------------------------------------------------------------- */

static void enqueue(struct binder *b, uint32_t thread, uint32_t lock)
{
    struct lock_now *k = &b->locks[lock];
    struct thread_now *w = &b->now[thread];
    w->waits_on = lock;
    w->next = 0;
    w->prev = k->tail;
    if (k->tail)
        b->now[k->tail].next = thread;
    else
        k->head = thread;
    k->tail = thread;
}

static void dequeue(struct binder *b, uint32_t thread)
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

/* Whether a thread did anything between two moments that is kept. */
static bool did_anything(const struct binder *b, const struct line *l, uint64_t from, uint64_t to)
{
    return line_acts_until(l, to) > line_acts_until(l, from) ||
           line_holds_until(b->tl, l, to) > line_holds_until(b->tl, l, from);
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
 * exception comes of the wait, unless the recording ends first.  An exception alone tells of an
 * interrupt only when that is not recorded: one that comes after the notify ends another wait. */
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

/* --- who was notified when somebody's time was up at the same moment ----------------------------
 */

/* Of the waits whose time was up it stays unknown what ended them, and of the waiters which notify
 * they had. */
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

/* A notify of which it is not known whom it woke; it did wake somebody. */
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

/* The first thread of the wait set that a notify can take.  Those before it whose time was up are
 * in the set no more by its end, and are noted: the notify may have been theirs. */
static uint32_t first_waiter(struct binder *b, struct lock_now *k)
{
    uint32_t first = next_waiter(b, k->head);
    for (uint32_t t = k->head, next; t != first; t = next) {
        const struct span *s = current(b, t);
        next = b->now[t].next;
        if (!s || !(context_of(b, s)->flags & INTERVAL_TIMED_OUT))
            continue;
        k->doubt.times_up = loose_add(b, (struct deed){t, b->now[t].span - 1}, k->doubt.times_up);
        dequeue(b, t);
    }
    return first;
}

/* The waiters' notifies are theirs in turn, and whose time was up was not notified. */
static void decide_doubt(struct binder *b, struct lock_now *k)
{
    uint32_t t = next_waiter(b, k->head);
    for (uint32_t i = k->doubt.acts; i && t; i = loose_at(b, i)->next) {
        const struct deed by = loose_at(b, i)->deed;
        uint32_t next = next_waiter(b, b->now[t].next);
        line_act(&b->tl->lines[by.thread], cause_index(by.cause))->woken--;
        dequeue(b, t);
        bind(b, t, current(b, t), by, INTERACTION_NOTIFY);
        t = next;
    }
    k->doubt = (struct doubt){0};
}

/* A waiter came back, and not by itself.  As many notifies as there are up to it in the wait set
 * were these waiters'; were there no more, nobody else had one. */
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

/* All who wait are notified; those whom notifies before it may have woken, by it or by one of them.
 */
static void notify_all_waiters(struct binder *b, struct lock_now *k, struct deed by)
{
    uint32_t unsure = k->doubt.n, t;
    bool had_notifies = k->found.n_acts > 0;
    while ((t = first_waiter(b, k)) != 0) {
        bool found = b->now[t].found;
        dequeue(b, t);
        if (k->doubt.too_long || unsure || (found && had_notifies))
            unsure -= unsure > 0;
        else
            bind(b, t, current(b, t), by, INTERACTION_NOTIFY_ALL);
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

/* A notify while threads are in the wait set that were found in it, the first one of whom is this.
 * Whether it was one's of them; if so it is theirs, or its own if there is one only. */
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
        bind(b, thread, s, by, INTERACTION_NOTIFY);
    }
    f->n_back++;
    if (f->n_back == f->n_acts)
        f->acts = f->last = f->n_acts = f->n_back = 0;
}

static void on_notify(struct binder *b, struct lock_now *k, struct deed by, bool all)
{
    if (all) {
        notify_all_waiters(b, k, by);
        return;
    }
    uint32_t waiter = first_waiter(b, k);
    bool found = waiter && b->now[waiter].found;
    if (!k->doubt.times_up && found) {
        if (notify_found(b, k, waiter, by))
            return;
        if (k->found.n_acts)
            waiter = first_not_found(b, waiter);
    }
    if (k->doubt.times_up) {
        k->doubt.too_long |= found; /* their order is not known, either */
        doubt_act(b, k, by);
        if (!waiter)
            give_up_doubt(b, k);
    } else if (waiter) {
        dequeue(b, waiter);
        bind(b, waiter, current(b, waiter), by, INTERACTION_NOTIFY);
    }
}

/* --- waits that ended by themselves, unrecorded --------------------------------------------------
 */

static void forget_notify(struct binder *b, uint32_t thread, uint32_t index)
{
    struct line *l = &b->tl->lines[thread];
    struct span *s = line_span(l, index);
    struct regain *r = line_regain(l, index);
    if (!was_notified(b, s))
        return;
    struct interaction_sum *sum = &b->out.sums[span_interaction(b->tl, thread, s)];
    sum->count -= s->waker != thread;
    sum->ns -= s->waker != thread ? span_len(b->tl, s) : 0;
    b->out.unbound[STATE_WAITING]++;
    s->waker = s->cause = 0;
    if (r)
        r->owner = r->cause = 0;
}

/* Where not each interrupt is recorded, and in text files no time-out either, a wait that ended by
 * itself is told by the notifies: there was none for it.  Then each of those who waited with it may
 * have been the one, and which notify was whose is not known. */
static void settle_ended(struct binder *b, struct lock_now *k)
{
    bool alone = false;
    for (uint32_t i = k->ended; i; i = loose_at(b, i)->next) {
        const struct deed wait = loose_at(b, i)->deed;
        const struct span *s = span_of(b, wait.thread, wait.cause);
        alone |= !s->waker && !(context_of(b, s)->flags & INTERVAL_TIMED_OUT);
    }
    for (uint32_t i = k->ended; i && alone; i = loose_at(b, i)->next)
        forget_notify(b, loose_at(b, i)->deed.thread, loose_at(b, i)->deed.cause);
    k->ended = k->last_ended = 0;
}

/* --- imported traces: spec 5's rule ----------------------------------------------------------- */

/* A wait ended: the first notify since it began that has nobody, else the latest notifyAll. */
static bool take_loose(struct binder *b, struct loose_lists *q, uint32_t thread, struct span *s)
{
    uint32_t i;
    while ((i = q->notify) != 0) {
        struct deed by = loose_at(b, i)->deed;
        q->notify = loose_at(b, i)->next;
        if (line_act(&b->tl->lines[by.thread], cause_index(by.cause))->time < s->start)
            continue; /* nobody was there to wake */
        bind(b, thread, s, by, INTERACTION_NOTIFY);
        return true;
    }
    if (!q->all.thread ||
        line_act(&b->tl->lines[q->all.thread], cause_index(q->all.cause))->time < s->start)
        return false;
    bind(b, thread, s, q->all, INTERACTION_NOTIFY_ALL);
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
        bind(b, w.deed.thread, s, by, kind);
        used = true;
    }
    if (all) {
        q->all = by;
    } else if (!used) {
        append(b, &q->notify, &q->notify_last, by);
    }
}

/* --- spans ------------------------------------------------------------------------------------ */

static void on_begin(struct binder *b, uint32_t thread, uint32_t index, uint64_t time)
{
    struct thread_now *w = &b->now[thread];
    const struct span *s = span_of(b, thread, index);
    const struct context *x = context_of(b, s);
    struct lock_now *k = lock_now(b, x->lock);
    w->span = index + 1;
    if (is_unknown(x) || !k)
        return;
    if (x->what == STATE_WAITING) {
        owns(k, thread, cause_make(CAUSE_WAIT, index), time);
        if (!k->head)
            settle_ended(b, k);
        enqueue(b, thread, x->lock.v);
        w->found = b->threads->v[thread].found == s->start;
        k->found.n += w->found;
    } else if (x->other && x->what != STATE_JOINING) { /* it saw who */
        owns(k, x->other, CAUSE_NONE, time);
    }
}

/* The interrupt that ended a wait, if one did: of one that threw the one inside it or before; where
 * no exceptions are recorded the one inside it.  After a park the thread stays interrupted until it
 * throws. */
static bool end_interrupted(struct binder *b, uint32_t thread, struct span *s)
{
    struct thread_now *w = &b->now[thread];
    const struct context *x = context_of(b, s);
    bool threw = x->flags & INTERVAL_INTERRUPTED;
    if (!w->interrupt.thread || (!threw && (b->exceptions || w->interrupted_at < s->start)))
        return false;
    bind(b, thread, s, w->interrupt, INTERACTION_INTERRUPT);
    if (x->what != STATE_PARKED)
        w->interrupt.thread = 0;
    return true;
}

/* HotSpot says that Object.wait is over before the thread has its monitor again: others may have it
 * in between.  Whether one that says so may or may not have had it before a time, when `thread` got
 * it: not when it went on and did something since, and not for long. */
static bool is_claimed(const struct binder *b, struct lock_now *k, uint32_t thread, uint64_t until)
{
    if (!k->claimer || k->claimer == thread || b->holds)
        return false;
    uint64_t at = k->claimed_at;
    if (until - (k->owner.thread == k->claimer ? at : max_u64(at, k->latest)) >= BIND_CLAIM_NS)
        return false;
    const struct line *l = &b->tl->lines[k->claimer];
    if (!did_anything(b, l, at, until) && line_spans_until(l, until) == line_spans_until(l, at))
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
        bind(b, thread, s, by, sure ? INTERACTION_HANDOFF_LOCK : INTERACTION_LAST_OWNER);
    } else {
        b->out.unbound[x->what]++;
    }
    if (k)
        owns(k, thread, CAUSE_NONE, time);
}

/* The thread has been notified, and somebody gives it the monitor back: not before the end of its
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

/* The thread does something after its Object.wait: it has the monitor, and if nobody else has had
 * it in between it is certain whom it got it from. */
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

/* Whether the thread has the monitor when Object.wait ends.  Who was notified has; who was not
 * takes it as anybody does, which a contended enter behind the wait tells. */
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
    return was_notified(b, s) || x->what != STATE_BLOCKED || did_anything(b, l, end, next->start);
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
    if (k && b->now[thread].found && !k->doubt.times_up && !leaves(b, thread, s))
        found_is_back(b, k, thread, s);
    if (k && k->doubt.times_up && b->now[thread].waits_on && !leaves(b, thread, s)) {
        b->now[thread].span = index + 1; /* it is one of those who may have been notified */
        on_back(b, k, thread);
        b->now[thread].span = 0;
    }
    dequeue(b, thread);
    if (k && k->doubt.times_up && !k->head)
        give_up_doubt(b, k);
    if (!s->waker)
        end_waiting_unnotified(b, thread, index, s);
    if (k && b->tl->no_interrupts)
        append(b, &k->ended, &k->last_ended, (struct deed){thread, index});
    if (k && was_notified(b, s)) {
        const struct deed by = owner_before(b, k, thread, s, span_wake_time(b->tl, s));
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
    const struct thread_stats *st = &b->threads->v[context_of(b, s)->other];
    return st->has_ended && st->ended < s->start;
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
        bind(b, thread, s, (struct deed){target, cause_make(CAUSE_ACT, i - 1)}, INTERACTION_JOINED);
        return true;
    }
    return false;
}

/* A call that waited for an object: what another thread did to that last meanwhile. */
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
    bind(b, thread, s, r->by, semaphore ? INTERACTION_SEMAPHORE : INTERACTION_UNPARK);
    return true;
}

static void note_release(struct binder *b, const struct context *x, struct deed by, uint64_t time)
{
    if (b->released && x->lock.v && x->lock.v < b->n_locks)
        b->released[x->lock.v] = (struct release){by, time};
}

/* Of the waits that a time limit may have ended. */
static void end_alone(struct binder *b, const struct span *s, const struct context *x)
{
    if (timeline_timed_out(b->tl, s))
        b->out.timed_out[x->what]++;
    else
        b->out.unbound[x->what]++;
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
        dequeue(b, thread);
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
        if (!s->waker && !end_released(b, thread, s) && !end_interrupted(b, thread, s))
            end_alone(b, s, x);
        break;
    }
}

/* --- acts ------------------------------------------------------------------------------------- */

/* An unpark by which a permit of a semaphore is handed on, to who is in acquire by then. */
static bool is_semaphore(const struct timeline *t, struct deed by, const struct act *target_last)
{
    uint32_t act = cause_index(by.cause);
    const struct line *l = &t->lines[by.thread];
    if (!act || !target_last || target_last->time > line_act(l, act)->time)
        return false;
    const struct context *release = timeline_context(t, line_act(l, act - 1)->context);
    const struct context *acquire = timeline_context(t, target_last->context);
    return release->what == EV_semaphore_release && acquire->what == EV_semaphore_acquire_enter &&
           release->lock.v == acquire->lock.v;
}

static void bind_park(struct binder *b, uint32_t target, struct span *s, struct deed by)
{
    uint32_t last = b->now[target].last_act;
    const struct act *a = last ? line_act(&b->tl->lines[target], last - 1) : NULL;
    bind(b, target, s, by, is_semaphore(b->tl, by, a) ? INTERACTION_SEMAPHORE : INTERACTION_UNPARK);
}

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

/* A park that begins with a permit ends at once. */
static void use_permit(struct binder *b, uint32_t thread, uint32_t index)
{
    struct thread_now *w = &b->now[thread];
    struct span *s = span_of(b, thread, index);
    if (!w->permit.thread || context_of(b, s)->what != STATE_PARKED || is_unknown(context_of(b, s)))
        return;
    bind_park(b, thread, s, w->permit);
    w->permit.thread = 0;
}

/* The first interrupt inside a wait is the one that ends it; a park at once, whatever follows. */
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
        bind(b, target, s, by, INTERACTION_INTERRUPT);
}

/* An exception inside a wait came of the interrupt until then. */
static void on_exception(struct binder *b, uint32_t thread)
{
    struct thread_now *w = &b->now[thread];
    struct span *s = current(b, thread);
    if (s && !s->waker && w->interrupt.thread && context_of(b, s)->flags & INTERVAL_INTERRUPTED)
        bind(b, thread, s, w->interrupt, INTERACTION_INTERRUPT);
    w->interrupt.thread = 0;
}

static void on_start(struct binder *b, uint32_t thread)
{
    struct thread_now *w = &b->now[thread];
    struct line *l = &b->tl->lines[thread];
    if (!b->threads->v[thread].is_virtual) /* HotSpot: there was nobody yet to keep a permit */
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
            on_notify(b, k, by, x->what == EV_notify_all);
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

/* A stretch in which it is not known what the thread did: it may have done anything. */
static bool is_no_wait(const struct binder *b, const struct sweep_item *i)
{
    enum sweep_type type = sweep_type(i);
    return (type == SWEEP_BEGIN || type == SWEEP_END) &&
           context_of(b, span_of(b, i->thread, sweep_index(i)))->what == STATE_UNKNOWN;
}

static void take(void *self, const struct sweep_item *v, size_t n)
{
    struct binder *b = self;
    for (size_t i = 0; i < n; i++) {
        uint32_t index = sweep_index(&v[i]);
        if (is_no_wait(b, &v[i]))
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

/* Contexts that give_up_doubt may need: others count on their number. */
static int foresee_doubts(struct binder *b)
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

/* Locks that are also taken where no hold is recorded: in the JDK's or in native code; those that
 * the JVM itself takes, when a thread ends. */
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
    b->exceptions = !imported && records_exceptions(t);
    b->holds = tl->n_holds > 0;
    b->all_holds = b->holds && records_all_holds(t);
    if (imported)
        b->lists = calloc(b->n_locks, sizeof *b->lists);
    int rc = alibi_init(&b->alibi, t, tl, threads);
    if (rc == 0 && b->locks && !imported)
        rc = foresee_doubts(b);
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
    return (struct sweep_sink){take, b};
}

/* The interaction that an act may be; INTERACTION_NONE: it wakes nobody. */
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
    for (size_t i = 0; i < b->n_locks; i++)
        if (b->locks[i].doubt.times_up)
            give_up_doubt(b, &b->locks[i]);
    for (size_t i = 0; i < b->n_locks; i++)
        settle_ended(b, &b->locks[i]);
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

enum interaction span_interaction(const struct timeline *t, uint32_t thread, const struct span *s)
{
    const struct act *a = span_wake_act(t, s);
    if (!s->waker)
        return INTERACTION_NONE;
    if (!a)
        return span_waker_is_seen(s) ? INTERACTION_LAST_OWNER : INTERACTION_HANDOFF_LOCK;
    switch (timeline_context(t, a->context)->what) {
    case EV_notify:
        return INTERACTION_NOTIFY;
    case EV_notify_all:
        return INTERACTION_NOTIFY_ALL;
    case EV_thread_end:
        return INTERACTION_JOINED;
    case EV_interrupt:
        return INTERACTION_INTERRUPT;
    case EV_semaphore_release: /* of a file of calls, which has no unpark */
        return INTERACTION_SEMAPHORE;
    default:
        break;
    }
    const struct line *l = &t->lines[thread];
    uint32_t n = line_acts_until(l, s->start);
    return is_semaphore(t, (struct deed){s->waker, s->cause}, n ? line_act(l, n - 1) : NULL)
               ? INTERACTION_SEMAPHORE
               : INTERACTION_UNPARK;
}

/* Infers which thread held a lock without recorded holds.
 *
 * Evidence are moments at which a thread is known to own the lock: another thread began to wait and
 * saw it as the owner, it got the lock after a wait, it gave the lock to a waiter, or it began to
 * wait on the lock.  A hold lasts from one such moment to the next if both are of one thread, the
 * thread did not release the lock at the first, and the queue was never empty in between.  While
 * the queue is empty, any thread may take and release the lock unseen, so nothing is inferred. */
#include "analyze/lock_line.h"
#include "analyze/time_sort.h"
#include "base/util.h"

#include <string.h>

enum evidence_kind {
    GAVE_BACK, /* in the order in which evidence of one time is weighed */
    GOT_IT,
    WAS_SEEN,
};

enum { ACTS_OF_OWNER = 64 }; /* that are looked at for a release */
enum { LOOK_NS = 100000 };   /* in which a woken thread finds the lock taken, and parks again */

/* A piece of evidence is a time_key; `at`: its kind, whether it is of a park, the thread. */
enum { KIND_SHIFT = 30, OF_PARK = 1 << 29, THREAD_MASK = OF_PARK - 1 };

/* --- what a wait says ------------------------------------------------------------------------- */

/* A wait in the line of its thread. */
struct witness {
    const struct analysis *a;
    const struct timeline *t;
    struct lock_evidence *to;
    const struct lock_item *w;
    const struct span *s;
};

static void add(const struct witness *c, uint64_t time, uint32_t thread, enum evidence_kind kind)
{
    const struct time_key e = {time, (uint32_t)kind << KIND_SHIFT | thread};
    if (thread)
        buf_put(&c->to->v, &e, sizeof e);
}

/* The previous owner of a monitor, which released it during the wait to the thread that has it at
 * the end. */
static void add_owner_before(const struct witness *c, const struct span *by)
{
    uint64_t since = c->w->from, end = c->w->to;
    if (!by->waker || by->waker == c->w->thread)
        return;
    bool exact = cause_type(by->cause) != CAUSE_NONE;
    uint64_t time = exact ? span_wake_time(c->t, by)
                          : path_released_at(c->t, &c->a->threads, &c->a->halts, by, since, end);
    if (time > since && time <= end)
        add(c, time, by->waker, GAVE_BACK);
}

static bool ended_by_unpark(const struct witness *c)
{
    const struct line *l = &c->t->lines[c->s->waker];
    uint32_t i = cause_index(c->s->cause);
    return cause_type(c->s->cause) == CAUSE_ACT && i < l->acts.n &&
           timeline_context(c->t, line_act(l, i)->context)->what == EV_unpark;
}

/* Whether an Object.wait that was notified has the monitor at its end: what follows may be its
 * re-acquisition. */
static bool has_it_after(const struct witness *c)
{
    const struct line *l = &c->t->lines[c->w->thread];
    if (c->w->index + 1 >= l->spans.n)
        return true;
    const struct span *next = line_span(l, c->w->index + 1);
    return next->start > c->w->to ||
           timeline_context(c->t, next->context)->what != STATE_REACQUIRING;
}

static void weigh_monitor(const struct witness *c)
{
    struct span by = *c->s;
    bool again = timeline_context(c->t, by.context)->what == STATE_WAITING;
    if (again) { /* the part of an Object.wait behind its notify */
        const struct regain *r = line_regain(&c->t->lines[c->w->thread], c->w->index);
        by.waker = r ? r->owner : 0;
        by.cause = r ? r->cause : 0;
    }
    add_owner_before(c, &by);
    if (!again || has_it_after(c))
        add(c, c->w->to, c->w->thread, GOT_IT);
}

/* A park for a lock: the thread that releases the lock wakes the first of the queue, which then has
 * the lock or parks again at once.  This waiter may have seen no owner; earlier waiters did. */
static void weigh_park(const struct witness *c)
{
    uint64_t time = span_wake_time(c->t, c->s);
    if (time <= c->w->from)
        return;
    add(c, min_u64(time, c->w->to), c->s->waker | OF_PARK, GAVE_BACK);
    if (ended_by_unpark(c) &&
        !line_waits_again(c->t, &c->t->lines[c->w->thread], c->w->index, LOOK_NS))
        add(c, c->w->to, c->w->thread | OF_PARK, GOT_IT);
}

/* Whether a thread is parked on a condition then. */
static bool awaits(const struct witness *c, uint32_t thread, uint64_t time)
{
    const struct line *l = &c->t->lines[thread];
    uint32_t n = line_spans_until(l, time);
    const struct span *s = n ? line_span(l, n - 1) : NULL;
    const struct context *x = s ? timeline_context(c->t, s->context) : NULL;
    return x && x->what == STATE_PARKED && span_end(c->t, s) >= time &&
           lock_is_condition(c->a->trace, x->lock);
}

/* The owner that a waiter for a lock of the JDK saw may release it to a thread that waits on a condition of
 * it: no wait for the lock itself shows that.  But it wakes that thread in the code of the class that
 * waits here. */
static void add_release_by(const struct witness *c, uint32_t owner, stack_id waits)
{
    const struct trace *t = c->a->trace;
    const struct line *l = owner && owner < c->t->n_lines ? &c->t->lines[owner] : NULL;
    for (uint32_t i = l ? line_acts_until(l, c->w->from) : 0, end = i + ACTS_OF_OWNER;
         l && i < l->acts.n && i < end; i++) {
        const struct act *v = line_act(l, i);
        const struct context *x = timeline_context(c->t, v->context);
        if (v->time > c->w->to)
            return;
        if (x->what == EV_unpark && x->other < c->t->n_lines && awaits(c, x->other, v->time) &&
            sites_one_class(t, x->stack, waits)) {
            add(c, v->time, owner | OF_PARK, GAVE_BACK);
            return;
        }
    }
}

void lock_evidence_add(struct lock_evidence *to, const struct analysis *a,
                       const struct lock_item *w, const struct span *s)
{
    const struct witness c = {a, &a->timeline, to, w, s};
    const struct context *x = timeline_context(c.t, s->context);
    to->owned |= w->queued && x->other;
    if (w->summed || w->flags & (INTERVAL_UNKNOWN | INTERVAL_REACQUIRED))
        return;
    if (w->queued && w->state != STATE_REACQUIRING)
        add(&c, w->from, x->other, WAS_SEEN);
    if (w->queued && w->state == STATE_PARKED)
        add_release_by(&c, x->other, x->stack);
    if (w->state == STATE_REACQUIRING && x->what == STATE_WAITING)
        add(&c, w->from, s->waker, WAS_SEEN); /* it notified */
    if (w->state == STATE_WAITING)
        add(&c, w->from, w->thread, GAVE_BACK);
    if (w->queued && w->flags & INTERVAL_OPEN)
        add(&c, w->to, a->bindings.owners[w->thread], WAS_SEEN);
    else if (w->state == STATE_BLOCKED || w->state == STATE_REACQUIRING)
        weigh_monitor(&c);
    else if (w->queued && s->waker)
        weigh_park(&c);
}

/* --- what all of them say --------------------------------------------------------------------- */

struct concluder {
    const struct lock_line *l;
    struct time_sort evidence; /* [n] */
    size_t n;
    uint64_t from, to; /* the latest stretch with a thread in the queue, */
    uint32_t wait;     /* joined of the waits before this one */
};

/* Sorts the evidence that counts, by time; few items have the same time. */
static int sort_evidence(struct concluder *c, const struct lock_evidence *from)
{
    const struct time_key *v = (const void *)from->v.p;
    size_t n = from->v.len / sizeof *v;
    TRY(time_sort_init(&c->evidence, n));
    for (size_t i = 0; i < n; i++)
        if (from->owned || !(v[i].at & OF_PARK))
            c->evidence.v[c->n++] = (struct time_key){v[i].time, v[i].at & ~(uint32_t)OF_PARK};
    struct time_key *k = time_sort(&c->evidence, c->n);
    for (size_t i = 1; i < c->n; i++) {
        struct time_key one = k[i];
        size_t at = i;
        for (; at && k[at - 1].time == one.time && k[at - 1].at > one.at; at--)
            k[at] = k[at - 1];
        k[at] = one;
    }
    return 0;
}

/* Whether a thread was in the queue from one moment to another.  Both moments must not lie before
 * those of the last call. */
static bool was_queue(struct concluder *c, uint64_t from, uint64_t to)
{
    const struct lock_items *waits = &c->l->waits;
    for (; c->to < to && c->wait < waits->n && waits->v[c->wait].from <= to; c->wait++) {
        const struct lock_item *w = &waits->v[c->wait];
        if (!w->queued || w->from == w->to)
            continue;
        if (w->from > c->to)
            c->from = w->from;
        c->to = max_u64(c->to, w->to);
    }
    return c->from <= from && to <= c->to;
}

/* Whether a stretch meets a recorded hold; they are by `from`, *at goes along. */
static bool is_recorded(const struct buf *recorded, size_t *at, uint64_t from, uint64_t to)
{
    const struct lock_item *v = (const void *)recorded->p;
    size_t n = recorded->len / sizeof *v;
    while (*at < n && v[*at].to <= from)
        ++*at;
    for (size_t i = *at; i < n && v[i].from < to; i++)
        if (v[i].to > from)
            return true;
    return false;
}

static void conclude(struct concluder *c, const struct buf *recorded, struct buf *out)
{
    const struct time_key *v = c->evidence.v;
    struct lock_item hold = {.from = 0};
    size_t at = 0;
    for (size_t i = 1; i < c->n; i++) {
        const struct time_key *p = &v[i - 1], *q = &v[i];
        uint32_t thread = p->at & THREAD_MASK;
        if (thread != (q->at & THREAD_MASK) || p->at >> KIND_SHIFT == GAVE_BACK ||
            p->time == q->time || !was_queue(c, p->time, q->time) ||
            is_recorded(recorded, &at, p->time, q->time))
            continue;
        if (hold.to == p->time && hold.thread == thread) {
            hold.to = q->time;
            continue;
        }
        if (hold.to)
            buf_put(out, &hold, sizeof hold);
        hold = (struct lock_item){.from = p->time, .to = q->time, .thread = thread};
    }
    if (hold.to)
        buf_put(out, &hold, sizeof hold);
}

int lock_holds_conclude(const struct lock_line *l, const struct lock_evidence *evidence,
                        const struct buf *recorded, struct buf *out)
{
    struct concluder c = {.l = l};
    int rc = evidence->v.oom ? -ENOMEM : sort_evidence(&c, evidence);
    if (rc < 0)
        return rc;
    conclude(&c, recorded, out);
    time_sort_fini(&c.evidence);
    return out->oom ? -ENOMEM : 0;
}

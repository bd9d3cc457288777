/* Who is known to have held a lock of which no hold is recorded.
 *
 * Evidence are moments at which a thread is known to own it: another one began to wait and saw so,
 * it got it itself after a wait, it gave it back to who had waited, or began to wait on it.  A hold
 * is concluded from one of them to the next, when both are of one thread, it did not give the lock
 * back at the first, and somebody was in the queue all the time.  When the queue is empty anybody
 * may take the lock and give it back unseen: nothing is concluded then. */
#include "analyze/lock_line.h"
#include "analyze/time_sort.h"
#include "base/util.h"

enum evidence_kind {
    GAVE_BACK, /* in the order in which those of one time are weighed */
    GOT_IT,
    WAS_SEEN,
};

enum { LOOK_NS = 100000 }; /* in which a woken thread finds the lock taken, and parks again */

struct evidence {
    uint64_t time;
    uint32_t thread;
    enum evidence_kind kind;
};

struct concluder {
    const struct analysis *a;
    const struct lock_line *l;
    const struct timeline *t;
    bool owned;          /* its owners are seen: of others it is not known who has them */
    struct buf evidence; /* struct evidence [] */
};

static void add(struct concluder *c, uint64_t time, uint32_t thread, enum evidence_kind kind)
{
    const struct evidence e = {time, thread, kind};
    if (thread)
        buf_put(&c->evidence, &e, sizeof e);
}

/* Who owned a monitor before, and gave it back after `since` to who had it at `end`. */
static void add_owner_before(struct concluder *c, const struct span *by, uint32_t thread,
                             uint64_t since, uint64_t end)
{
    if (!by->waker || by->waker == thread)
        return;
    bool exact = cause_type(by->cause) != CAUSE_NONE;
    uint64_t time =
        exact ? span_wake_time(c->t, by)
              : path_released_at(c->t, &c->a->threads, &c->a->halts, by->waker, since, end);
    if (time > since && time <= end)
        add(c, time, by->waker, GAVE_BACK);
}

static bool ended_by_unpark(const struct concluder *c, const struct span *s)
{
    const struct line *l = &c->t->lines[s->waker];
    uint32_t i = cause_index(s->cause);
    return cause_type(s->cause) == CAUSE_ACT && i < l->acts.n &&
           timeline_context(c->t, line_act(l, i)->context)->what == EV_unpark;
}

/* Whether an Object.wait that was notified has the monitor at its end: what follows may be its
 * re-acquisition. */
static bool has_it_after(const struct concluder *c, const struct lock_item *w)
{
    const struct line *l = &c->t->lines[w->thread];
    if (w->index + 1 >= l->spans.n)
        return true;
    const struct span *next = line_span(l, w->index + 1);
    return next->start > w->to || timeline_context(c->t, next->context)->what != STATE_REACQUIRING;
}

static void weigh_monitor(struct concluder *c, const struct lock_item *w, const struct span *s)
{
    struct span by = *s;
    bool again = timeline_context(c->t, s->context)->what == STATE_WAITING;
    if (again) { /* the part of an Object.wait behind its notify */
        const struct regain *r = line_regain(&c->t->lines[w->thread], w->index);
        by.waker = r ? r->owner : 0;
        by.cause = r ? r->cause : 0;
    }
    add_owner_before(c, &by, w->thread, w->from, w->to);
    if (!again || has_it_after(c, w))
        add(c, w->to, w->thread, GOT_IT);
}

/* A park for a lock: whoever gives it back wakes the first of the queue, which has it then, or parks
 * again at once.  That one may have seen no owner: who waited before it did. */
static void weigh_park(struct concluder *c, const struct lock_item *w, const struct span *s)
{
    uint64_t time = span_wake_time(c->t, s);
    if (time <= w->from)
        return;
    add(c, min_u64(time, w->to), s->waker, GAVE_BACK);
    if (ended_by_unpark(c, s) &&
        !line_waits_again(c->t, &c->t->lines[w->thread], w->index, LOOK_NS))
        add(c, w->to, w->thread, GOT_IT);
}

static bool owner_seen(const struct concluder *c, const struct lock_item *w)
{
    const struct span *s = line_span(&c->t->lines[w->thread], w->index);
    return w->queued && timeline_context(c->t, s->context)->other;
}

static void weigh(struct concluder *c, const struct lock_item *w)
{
    const struct span *s = line_span(&c->t->lines[w->thread], w->index);
    const struct context *x = timeline_context(c->t, s->context);
    if (w->summed || w->flags & (INTERVAL_UNKNOWN | INTERVAL_REACQUIRED))
        return;
    if (w->queued && w->state != STATE_REACQUIRING)
        add(c, w->from, x->other, WAS_SEEN);
    if (w->state == STATE_REACQUIRING && x->what == STATE_WAITING)
        add(c, w->from, s->waker, WAS_SEEN); /* it notified */
    if (w->state == STATE_WAITING)
        add(c, w->from, w->thread, GAVE_BACK);
    if (w->queued && w->flags & INTERVAL_OPEN)
        add(c, w->to, c->a->bindings.owners[w->thread], WAS_SEEN);
    else if (w->state == STATE_BLOCKED || w->state == STATE_REACQUIRING)
        weigh_monitor(c, w, s);
    else if (w->queued && s->waker && c->owned)
        weigh_park(c, w, s);
}

static bool comes_before(const struct evidence *x, const struct evidence *y)
{
    if (x->time != y->time)
        return x->time < y->time;
    return x->kind != y->kind ? x->kind < y->kind : x->thread < y->thread;
}

/* By time; few are of one time. */
static int sort_evidence(struct buf *b)
{
    struct evidence *v = (void *)b->p;
    size_t n = b->len / sizeof *v;
    struct time_sort k;
    struct buf sorted = {0};
    TRY(time_sort_init(&k, n));
    for (uint32_t i = 0; i < n; i++)
        k.v[i] = (struct time_key){v[i].time, i};
    time_sort(&k, n);
    for (size_t i = 0; i < n; i++)
        buf_put(&sorted, &v[k.v[i].at], sizeof *v);
    time_sort_fini(&k);
    buf_fini(b);
    *b = sorted;
    v = (void *)b->p;
    for (size_t i = 1; !b->oom && i < n; i++) {
        struct evidence e = v[i];
        size_t at = i;
        for (; at && comes_before(&e, &v[at - 1]); at--)
            v[at] = v[at - 1];
        v[at] = e;
    }
    return b->oom ? -ENOMEM : 0;
}

/* Whether somebody was in the queue from one moment to another. */
static bool was_queue(const struct lock_line *l, uint64_t from, uint64_t to)
{
    struct lock_sums sums;
    lock_line_sums(l, from, to, &sums);
    return sums.busy == to - from;
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
    const struct evidence *v = (const void *)c->evidence.p;
    size_t n = c->evidence.len / sizeof *v, at = 0;
    struct lock_item hold = {.from = 0};
    for (size_t i = 1; i < n; i++) {
        const struct evidence *p = &v[i - 1], *q = &v[i];
        if (p->thread != q->thread || p->kind == GAVE_BACK || p->time == q->time ||
            !was_queue(c->l, p->time, q->time) || is_recorded(recorded, &at, p->time, q->time))
            continue;
        if (hold.to == p->time && hold.thread == p->thread) {
            hold.to = q->time;
            continue;
        }
        if (hold.to)
            buf_put(out, &hold, sizeof hold);
        hold = (struct lock_item){.from = p->time, .to = q->time, .thread = p->thread};
    }
    if (hold.to)
        buf_put(out, &hold, sizeof hold);
}

int lock_holds_conclude(const struct analysis *a, const struct lock_line *l,
                        const struct buf *recorded, struct buf *out)
{
    struct concluder c = {.a = a, .l = l, .t = &a->timeline};
    for (uint32_t i = 0; i < l->waits.n && !c.owned; i++)
        c.owned = owner_seen(&c, &l->waits.v[i]);
    for (uint32_t i = 0; i < l->waits.n; i++)
        weigh(&c, &l->waits.v[i]);
    int rc = c.evidence.oom ? -ENOMEM : sort_evidence(&c.evidence);
    if (rc == 0)
        conclude(&c, recorded, out);
    rc = out->oom ? -ENOMEM : rc;
    buf_fini(&c.evidence);
    return rc;
}

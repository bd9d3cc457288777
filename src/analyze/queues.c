#include "analyze/queues.h"

#include "base/err.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* A thread in Object.wait, or reacquiring its monitor. */
struct waiter {
    uint32_t span;       /* 1 + its index; 0: none */
    uint32_t next, prev; /* threads in the wait set of its monitor, first in first out; 0: none */
    bool again;          /* it was notified, and is in the queue */
};

struct wait_set {
    uint32_t head, tail;
};

struct queuer {
    const struct timeline *t;
    const struct purposes *purposes;
    struct queues out;
    struct waiter *waiters; /* [t->n_lines] */
    struct wait_set *sets;  /* [n_objects] */
    bool oom;
};

int queuer_new(struct queuer **out, const struct timeline *t, const struct lock_set *locks,
               const struct purposes *purposes, uint64_t from, uint64_t to)
{
    struct queuer *q = *out = calloc(1, sizeof *q);
    if (!q)
        return -ENOMEM;
    q->t = t;
    q->purposes = purposes;
    q->out.of_lock = calloc(locks->n_objects, sizeof *q->out.of_lock);
    q->waiters = calloc(t->n_lines + 1, sizeof *q->waiters);
    q->sets = calloc(locks->n_objects, sizeof *q->sets);
    q->out.n_objects = locks->n_objects;
    q->out.from = from;
    q->out.to = max_u64(from, to);
    q->out.width = (q->out.to - from) / QUEUE_BUCKETS + 1;
    if (!q->out.of_lock || !q->waiters || !q->sets) {
        queuer_free(q);
        *out = NULL;
        return -ENOMEM;
    }
    return 0;
}

void queuer_free(struct queuer *q)
{
    if (!q)
        return;
    queues_fini(&q->out);
    free(q->waiters);
    free(q->sets);
    free(q);
}

void queues_fini(struct queues *q)
{
    free(q->v);
    free(q->of_lock);
    memset(q, 0, sizeof *q);
}

const struct queue *queues_of(const struct queues *q, lock_id lock)
{
    uint32_t i = lock.v < q->n_objects ? q->of_lock[lock.v] : 0;
    return i ? &q->v[i - 1] : NULL;
}

static struct queue *queue_of(struct queuer *q, lock_id lock)
{
    struct queues *s = &q->out;
    uint32_t *of_lock = s->of_lock;
    if (!lock.v || lock.v >= s->n_objects)
        return NULL;
    if (!of_lock[lock.v]) {
        if (s->n == s->cap) {
            size_t cap = s->cap ? s->cap * 2 : 64;
            struct queue *v = realloc(s->v, cap * sizeof *v);
            if (!v) {
                q->oom = true;
                return NULL;
            }
            s->v = v;
            s->cap = cap;
        }
        s->v[s->n] = (struct queue){.lock = lock};
        of_lock[lock.v] = (uint32_t)++s->n;
    }
    return &s->v[of_lock[lock.v] - 1];
}

/* --- over time -------------------------------------------------------------------------------- */

/* The queue has had its present length up to `time`. */
static void go_to(const struct queues *s, struct queue *k, uint64_t time)
{
    uint64_t from = max_u64(k->since, s->from), to = min_u64(time, s->to);
    k->since = max_u64(k->since, time);
    if (!k->length || from >= to)
        return;
    k->area += (to - from) * k->length;
    k->busy += to - from;
    if (from >= k->edge) { /* time has passed without a queue */
        k->at = (uint32_t)min_u64((from - s->from) / s->width, QUEUE_BUCKETS - 1);
        k->edge = s->from + (k->at + 1) * s->width;
    }
    while (from < to) {
        uint64_t end = k->at == QUEUE_BUCKETS - 1 ? to : min_u64(to, k->edge);
        k->bucket[k->at] += (end - from) * k->length;
        from = end;
        if (from == k->edge && k->at < QUEUE_BUCKETS - 1) {
            k->at++;
            k->edge += s->width;
        }
    }
}

/* A hold of the stretch has ended. */
static void end_hold(struct queue *k, uint64_t time)
{
    uint64_t ns = time - min_u64(k->last, time);
    k->last = time;
    if (ns > k->hold) {
        k->hold = ns;
        k->hold_to = time;
        k->holder = k->owner;
        k->after = 0;
        return;
    }
    k->after++;
}

static void end_stretch(struct queue *k, uint64_t time)
{
    uint64_t drain = time - min_u64(k->hold_to, time);
    if (k->shared || k->summed || k->after < CONVOY_HANDOVERS || drain < k->hold / CONVOY_DRAIN ||
        k->hold / CONVOY_RATIO < drain / k->after)
        return;
    k->convoys++;
    k->convoy_ns += time - k->began;
    if (time - k->began > k->convoy.to - k->convoy.from)
        k->convoy = (struct convoy){.from = k->began,
                                    .to = time,
                                    .hold = k->hold,
                                    .owner = k->holder,
                                    .handovers = k->after,
                                    .longest = k->stretch_max};
}

static void join(const struct queues *s, struct queue *k, uint64_t time, uint32_t owner)
{
    go_to(s, k, time);
    if (k->length++ == 0) {
        k->began = k->last = time;
        k->hold = k->hold_to = 0;
        k->after = k->stretch_max = 0;
        k->summed = false;
    }
    k->owner = owner ? owner : k->owner;
    k->max = k->max > k->length ? k->max : k->length;
    k->stretch_max = k->stretch_max > k->length ? k->stretch_max : k->length;
}

/* From the release to the going on, where the release is recorded, and is the very one. */
static void add_latency(const struct timeline *t, struct queue *k, const struct span *w)
{
    uint64_t end = span_end(t, w), wake = w->waker ? span_wake_time(t, w) : 0;
    if (!w->waker || span_waker_is_seen(w) || cause_type(w->cause) == CAUSE_NONE ||
        wake < w->start || wake > end)
        return;
    k->latency.count++;
    k->latency.ns += end - wake;
    k->latency.max = max_u64(k->latency.max, end - wake);
}

static void leave(const struct queues *s, struct queue *k, uint64_t time, uint32_t thread,
                  bool got_it)
{
    go_to(s, k, time);
    k->length -= k->length > 0;
    if (got_it) {
        k->handovers++;
        end_hold(k, time);
        k->owner = thread;
    }
    if (k->length == 0)
        end_stretch(k, time);
}

/* The queue that a span belongs to; NULL: none. */
static struct queue *queue_of_span(struct queuer *q, const struct span *s, const struct context *x)
{
    enum purpose p = q->purposes->of_context[s->context];
    if (x->flags & (INTERVAL_UNKNOWN | INTERVAL_REACQUIRED) || x->what == STATE_WAITING ||
        !purposes_has_holder(q->purposes, s->context))
        return NULL;
    struct queue *k = queue_of(q, x->lock);
    if (k)
        k->shared |= p != PURPOSE_LOCK;
    return k;
}

static void end_wait(struct queuer *q, struct queue *k, const struct sweep_item *i,
                     const struct span *s, const struct context *x)
{
    bool got_it = !(x->flags & INTERVAL_OPEN);
    if (span_is_summed(q->t, s)) { /* the order of owners is unknown, so holds are, too */
        k->summed = true;
        leave(&q->out, k, i->time, i->thread, false);
        k->handovers += span_count(q->t, s);
        return;
    }
    leave(&q->out, k, i->time, i->thread, got_it);
    if (!got_it)
        return;
    k->seen += span_waker_is_seen(s);
    add_latency(q->t, k, s);
}

/* --- reacquiring a monitor -------------------------------------------------------------------- */

/* A notify wakes threads in Object.wait: they are in the queue from that act on.  In imported
 * traces the notify is found only at the end of the wait.  That is too late for the length of the
 * queue at each moment, but not for the thread's time in it. */

static struct wait_set *set_of(const struct queuer *q, const struct context *x)
{
    bool known = !(x->flags & INTERVAL_UNKNOWN) && x->lock.v && x->lock.v < q->out.n_objects;
    return x->what == STATE_WAITING && known ? &q->sets[x->lock.v] : NULL;
}

static void begin_waiting(struct queuer *q, struct wait_set *set, const struct sweep_item *i)
{
    struct waiter *w = &q->waiters[i->thread];
    *w = (struct waiter){.span = sweep_index(i) + 1, .prev = set->tail};
    *(set->tail ? &q->waiters[set->tail].next : &set->head) = i->thread;
    set->tail = i->thread;
}

static void leave_set(struct queuer *q, struct wait_set *set, const struct waiter *w)
{
    *(w->prev ? &q->waiters[w->prev].next : &set->head) = w->next;
    *(w->next ? &q->waiters[w->next].prev : &set->tail) = w->prev;
}

static void notify(struct queuer *q, const struct sweep_item *i)
{
    const struct act *act = line_act(&q->t->lines[i->thread], sweep_index(i));
    const struct context *x = timeline_context(q->t, act->context);
    if ((x->what != EV_notify && x->what != EV_notify_all) || !act->woken || !x->lock.v ||
        x->lock.v >= q->out.n_objects)
        return;
    struct wait_set *set = &q->sets[x->lock.v];
    uint32_t left = act->woken;
    for (uint32_t thread = set->head, next; thread && left; thread = next) {
        struct waiter *w = &q->waiters[thread];
        const struct span *s = line_span(&q->t->lines[thread], w->span - 1);
        struct wait_part v[2];
        next = w->next;
        if (span_wake_act(q->t, s) != act)
            continue;
        left--;
        struct queue *k = span_parts(q->t, s, v) > 1 ? queue_of(q, x->lock) : NULL;
        if (!k)
            continue; /* it goes on at once */
        leave_set(q, set, w);
        w->again = true;
        join(&q->out, k, i->time, i->thread);
    }
}

/* Adds waits that come out of order: only facts that need no order. */
static void add_late(const struct queues *s, struct queue *k, const struct wait_part *w)
{
    uint64_t from = max_u64(w->from, s->from), to = min_u64(w->to, s->to);
    k->handovers++;
    k->max = k->max ? k->max : 1;
    if (from >= to)
        return;
    k->area += to - from;
    if (!k->length)
        k->busy += to - min_u64(max_u64(from, k->since), to);
    k->since = max_u64(k->since, to);
    while (from < to) {
        uint64_t at = min_u64((from - s->from) / s->width, QUEUE_BUCKETS - 1);
        uint64_t end = at == QUEUE_BUCKETS - 1 ? to : min_u64(to, s->from + (at + 1) * s->width);
        k->bucket[at] += end - from;
        from = end;
    }
}

/* Whether the thread has the monitor at the end of its wait: behind it may come what tells more of
 * how it takes it again. */
static bool has_it_after(const struct queuer *q, const struct sweep_item *i)
{
    const struct line *l = &q->t->lines[i->thread];
    const struct span *next =
        sweep_index(i) + 1 < l->spans.n ? line_span(l, sweep_index(i) + 1) : NULL;
    return !next || next->start > i->time ||
           timeline_context(q->t, next->context)->what != STATE_REACQUIRING;
}

static void end_waiting(struct queuer *q, struct wait_set *set, const struct sweep_item *i,
                        const struct span *s, const struct context *x)
{
    struct waiter *w = &q->waiters[i->thread];
    bool got_it = !(x->flags & INTERVAL_OPEN) && has_it_after(q, i);
    struct queue *k;
    struct wait_part v[2];
    if (w->again) {
        k = queue_of(q, x->lock);
        const struct regain *r = line_regain(&q->t->lines[i->thread], sweep_index(i));
        struct span by = *s;
        by.waker = r ? r->owner : 0;
        by.cause = r ? r->cause : 0;
        leave(&q->out, k, i->time, i->thread, got_it);
        if (got_it)
            add_latency(q->t, k, &by);
    } else if (w->span) {
        leave_set(q, set, w);
        if (span_parts(q->t, s, v) > 1 && (k = queue_of(q, x->lock)) != NULL)
            add_late(&q->out, k, &v[1]);
    }
    *w = (struct waiter){.span = 0};
}

/* --- all of it -------------------------------------------------------------------------------- */

static void take(void *self, const struct sweep_item *v, size_t n)
{
    struct queuer *q = self;
    for (size_t i = 0; i < n; i++) {
        enum sweep_type type = sweep_type(&v[i]);
        if (type == SWEEP_ACT)
            notify(q, &v[i]);
        if (type != SWEEP_BEGIN && type != SWEEP_END)
            continue;
        const struct span *s = line_span(&q->t->lines[v[i].thread], sweep_index(&v[i]));
        const struct context *x = timeline_context(q->t, s->context);
        struct wait_set *set = set_of(q, x);
        if (set && type == SWEEP_BEGIN)
            begin_waiting(q, set, &v[i]);
        else if (set)
            end_waiting(q, set, &v[i], s, x);
        struct queue *k = set ? NULL : queue_of_span(q, s, x);
        if (!k)
            continue;
        if (type == SWEEP_BEGIN)
            join(&q->out, k, v[i].time, x->other);
        else
            end_wait(q, k, &v[i], s, x);
    }
}

struct sweep_sink queuer_sink(struct queuer *q)
{
    const struct contexts *c = &q->t->contexts;
    bool notifies = false;
    for (uint32_t i = 1; i < c->n && !notifies; i++)
        notifies = c->v[i].what == EV_notify || c->v[i].what == EV_notify_all;
    return (struct sweep_sink){take, q, 1U << SWEEP_HOLD | (notifies ? 0 : 1U << SWEEP_ACT)};
}

int queuer_finish(struct queuer *q, struct queues *out)
{
    if (q->oom)
        return -ENOMEM;
    *out = q->out;
    memset(&q->out, 0, sizeof q->out);
    return 0;
}

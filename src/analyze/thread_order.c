#include "analyze/thread_order.h"

#include "base/hash.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

enum {
    REACH_BYTES = 16 << 20, /* for the results of earlier searches */
    REACH_MOST = 64,
    SEARCH_STEPS = 100000000, /* about a second */
};

/* From one epoch of one thread: the first epoch of each thread that comes after it; UINT32_MAX:
 * none does. */
struct order_reach {
    uint32_t thread, epoch; /* thread 0: not used yet */
    uint32_t *first;        /* [n_threads] */
};

struct arc {
    uint64_t from_time, to_time;
    uint32_t from, to;
};

/* One end of an arc. */
struct end {
    uint64_t time;
    uint32_t thread;
    uint32_t arc; /* index << 1 | arrives */
};

/* --- arcs ------------------------------------------------------------------------------------- */

static void add_arc(struct buf *arcs, const struct timeline *t, struct arc a)
{
    if (a.from && a.to && a.from != a.to && a.from < t->n_lines && a.to < t->n_lines)
        buf_put(arcs, &a, sizeof a);
}

static void add_start(struct buf *arcs, const struct timeline *t, uint32_t thread)
{
    const struct line *l = &t->lines[thread];
    if (!l->starter)
        return;
    uint64_t time = line_act(&t->lines[l->starter], l->starter_act)->time;
    add_arc(arcs, t, (struct arc){time, 0, l->starter, thread});
}

/* Whether a thread had ended by then. */
static bool has_ended(const struct timeline *t, uint32_t thread, uint64_t time)
{
    const struct line *l = thread < t->n_lines ? &t->lines[thread] : NULL;
    for (uint32_t i = l ? l->acts.n : 0; i; i--) {
        const struct act *a = line_act(l, i - 1);
        if (timeline_context(t, a->context)->what == EV_thread_end)
            return a->time <= time;
    }
    return false;
}

/* The thread whose end a join saw, 0: none.  Its end ended the join; or it had ended just before,
 * and the join has no timeout after which it could have returned. */
static uint32_t joined(const struct timeline *t, const struct span *s)
{
    const struct context *x = timeline_context(t, s->context);
    const struct act *a = x->what == STATE_JOINING ? span_wake_act(t, s) : NULL;
    bool by_end =
        a && s->waker == x->other && timeline_context(t, a->context)->what == EV_thread_end;
    bool after = x->what == STATE_JOINING && !s->waker && !(x->flags & INTERVAL_TIMED) &&
                 has_ended(t, x->other, s->start);
    return by_end || after ? x->other : 0;
}

static void add_joins(struct buf *arcs, const struct timeline *t, uint32_t thread)
{
    const struct line *l = &t->lines[thread];
    for (uint32_t i = 0, n; i < l->spans.n; i += n) {
        const struct span *s = run_stretch(&l->spans, sizeof *s, i, &n);
        for (uint32_t k = 0; k < n; k++)
            add_arc(arcs, t,
                    (struct arc){UINT64_MAX, span_end(t, &s[k]), joined(t, &s[k]), thread});
    }
}

static bool any_joins(const struct timeline *t)
{
    for (uint32_t i = 1; i < t->contexts.n; i++)
        if (t->contexts.v[i].what == STATE_JOINING)
            return true;
    return false;
}

static void add_arcs(struct buf *arcs, const struct timeline *t, const struct bindings *bindings)
{
    bool joins = any_joins(t);
    const struct handover *h = (const void *)bindings->handovers.p;
    for (uint32_t i = 1; i < t->n_lines; i++) {
        add_start(arcs, t, i);
        if (joins)
            add_joins(arcs, t, i);
    }
    for (size_t i = 0; i < bindings->handovers.len / sizeof *h; i++)
        add_arc(arcs, t, (struct arc){h[i].from_time, h[i].to_time, h[i].from, h[i].to});
}

/* --- points ----------------------------------------------------------------------------------- */

/* At one time an arc arrives before another leaves, so that a chain continues. */
static int by_thread_and_time(const void *a, const void *b)
{
    const struct end *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if ((x->arc & 1) != (y->arc & 1))
        return x->arc & 1 ? -1 : 1;
    return (x->arc > y->arc) - (x->arc < y->arc);
}

static void fill_points(struct thread_order *o, const struct end *ends, size_t n, uint32_t *place)
{
    for (size_t i = 0; i < n; i++) {
        place[ends[i].arc] = (uint32_t)i;
        o->first[ends[i].thread + 1]++;
    }
    for (size_t i = 0; i < o->n_threads; i++)
        o->first[i + 1] += o->first[i];
    for (size_t i = 0; i < n; i++) {
        uint32_t other = place[ends[i].arc ^ 1];
        o->points[i] = (struct order_point){.time = ends[i].time,
                                            .thread = ends[other].thread,
                                            .point = other - o->first[ends[other].thread],
                                            .arrives = ends[i].arc & 1};
    }
}

static int make_points(struct thread_order *o, const struct arc *arcs, size_t n)
{
    struct end *ends = malloc((2 * n + 1) * sizeof *ends);
    uint32_t *place = malloc((2 * n + 1) * sizeof *place);
    o->points = malloc((2 * n + 1) * sizeof *o->points);
    o->first = calloc(o->n_threads + 1, sizeof *o->first);
    bool ok = ends && place && o->points && o->first && n < UINT32_MAX / 2;
    for (size_t i = 0; ok && i < n; i++) {
        ends[2 * i] = (struct end){arcs[i].from_time, arcs[i].from, (uint32_t)i << 1};
        ends[2 * i + 1] = (struct end){arcs[i].to_time, arcs[i].to, (uint32_t)i << 1 | 1};
    }
    if (ok) {
        qsort(ends, 2 * n, sizeof *ends, by_thread_and_time);
        fill_points(o, ends, 2 * n, place);
    }
    free(ends);
    free(place);
    return ok ? 0 : -ENOMEM;
}

int thread_order_init(struct thread_order *o, const struct timeline *t,
                      const struct bindings *bindings)
{
    struct buf arcs = {0};
    *o = (struct thread_order){.n_threads = t->n_lines, .steps = SEARCH_STEPS};
    add_arcs(&arcs, t, bindings);
    int rc =
        arcs.oom ? -ENOMEM : make_points(o, (const void *)arcs.p, arcs.len / sizeof(struct arc));
    buf_fini(&arcs);
    o->n_reach = REACH_BYTES / sizeof(uint32_t) / (o->n_threads + 1);
    o->n_reach = min_u64(max_u64(o->n_reach, 1), REACH_MOST);
    o->reach = calloc(o->n_reach, sizeof *o->reach);
    if (rc < 0 || !o->reach) {
        thread_order_fini(o);
        return -ENOMEM;
    }
    return 0;
}

void thread_order_fini(struct thread_order *o)
{
    for (size_t i = 0; o->reach && i < o->n_reach; i++)
        free(o->reach[i].first);
    free(o->reach);
    free(o->points);
    free(o->first);
    buf_fini(&o->stack);
    memset(o, 0, sizeof *o);
}

/* --- asking ----------------------------------------------------------------------------------- */

uint32_t thread_order_epoch(const struct thread_order *o, uint32_t thread, uint64_t time)
{
    uint32_t n = thread_order_points(o, thread), i = 0;
    const struct order_point *p = n ? o->points + o->first[thread] : NULL;
    BISECT(i, n, p[i].time < time);
    return i;
}

/* The thread from `epoch` on comes after the start.  So the arcs that leave it from there on also
 * arrive after it. */
static void lower(struct thread_order *o, uint32_t *first, uint32_t thread, uint32_t epoch)
{
    if (first[thread] <= epoch)
        return;
    const uint32_t todo[] = {thread,
                             (uint32_t)min_u64(first[thread], thread_order_points(o, thread))};
    first[thread] = epoch;
    buf_put(&o->stack, todo, sizeof todo);
}

static int search(struct thread_order *o, struct order_reach *r)
{
    uint64_t cleared = o->n_threads / 16 + 1;
    if (o->steps < cleared)
        return -EAGAIN;
    o->steps -= cleared;
    memset(r->first, 0xff, o->n_threads * sizeof *r->first);
    buf_clear(&o->stack);
    lower(o, r->first, r->thread, r->epoch);
    while (o->stack.len) {
        uint32_t todo[2]; /* a thread, and the point up to which it was looked at */
        o->stack.len -= sizeof todo;
        memcpy(todo, o->stack.p + o->stack.len, sizeof todo);
        const struct order_point *p = o->points + o->first[todo[0]];
        for (uint32_t i = r->first[todo[0]]; i < todo[1]; i++) {
            if (!o->steps)
                return -EAGAIN;
            o->steps--;
            if (!p[i].arrives)
                lower(o, r->first, p[i].thread, p[i].point + 1);
        }
    }
    return o->stack.oom ? -ENOMEM : 0;
}

int thread_order_before(struct thread_order *o, uint32_t from, uint32_t from_epoch, uint32_t to,
                        uint32_t to_epoch)
{
    uint32_t n = thread_order_points(o, from);
    if (!to_epoch || from_epoch >= n || to >= o->n_threads)
        return 0; /* nothing arrives there before, or leaves here after */
    uint64_t slot = hash_u64((uint64_t)from << 32 | from_epoch) % o->n_reach;
    struct order_reach *r = &o->reach[slot];
    if (!r->first)
        r->first = malloc(o->n_threads * sizeof *r->first);
    if (!r->first)
        return -ENOMEM;
    if (r->thread != from || r->epoch != from_epoch) {
        r->thread = from;
        r->epoch = from_epoch;
        int rc = search(o, r);
        if (rc < 0) {
            r->thread = 0;
            return rc;
        }
    }
    return r->first[to] <= to_epoch;
}

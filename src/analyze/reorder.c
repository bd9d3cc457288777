#include "analyze/reorder.h"

#include "analyze/takings.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 256 }; /* holds */

/* A hold by lock. */
struct entry {
    uint32_t thread, hold;
};

/* How much of a thread is in. */
struct cut {
    uint64_t time;        /* what it did until then; 0: nothing */
    uint64_t arcs_until;  /* what caused its waits and its start is looked at until then */
    uint32_t span, point; /* looked at */
    bool fixed;           /* a thread of the cycle: it may not go on */
};

struct reorder {
    const struct timeline *t;
    const struct thread_order *order;
    size_t n_locks;
    struct entry *entries; /* by lock, thread, time */
    uint32_t *first;       /* [n_locks + 1] */
    uint64_t **earliest;   /* [n_lines]: of each block of a thread's holds, when the first began */
    struct cut *cuts;      /* [n_lines] */
    struct buf in;         /* uint32_t []: threads that are in */
    uint64_t steps, left;  /* of all checks, of this one */
    bool changed, stuck;   /* stuck: a thread of the cycle would have to go on */
};

/* --- the index -------------------------------------------------------------------------------- */

static uint32_t lock_of(const struct reorder *r, const struct span *hold)
{
    uint32_t lock = timeline_context(r->t, hold->context)->lock.v;
    return lock < r->n_locks ? lock : 0;
}

static void fill(struct reorder *r)
{
    uint32_t *next = r->first + 1;
    for (uint32_t i = 1; i < r->t->n_lines; i++)
        for (uint32_t k = 0; k < r->t->lines[i].holds.n; k++)
            next[lock_of(r, line_hold(&r->t->lines[i], k)) + 1]++;
    for (size_t i = 0; i < r->n_locks; i++)
        next[i + 1] += next[i];
    for (uint32_t i = 1; i < r->t->n_lines; i++)
        for (uint32_t k = 0; k < r->t->lines[i].holds.n; k++) {
            const struct entry e = {i, k};
            r->entries[next[lock_of(r, line_hold(&r->t->lines[i], k))]++] = e;
        }
}

int reorder_new(struct reorder **out, const struct timeline *t, const struct thread_order *order,
                size_t n_locks)
{
    *out = NULL;
    if (t->n_holds > REORDER_HOLDS_MAX)
        return -EFBIG;
    struct reorder *r = calloc(1, sizeof *r);
    if (!r)
        return -ENOMEM;
    *r = (struct reorder){.t = t,
                          .order = order,
                          .n_locks = n_locks,
                          .entries = malloc((t->n_holds + 1) * sizeof *r->entries),
                          .first = calloc(n_locks + 2, sizeof *r->first),
                          .earliest = calloc(t->n_lines + 1, sizeof *r->earliest),
                          .cuts = calloc(t->n_lines + 1, sizeof *r->cuts),
                          .steps = REORDER_STEPS};
    if (!r->entries || !r->first || !r->earliest || !r->cuts) {
        reorder_free(r);
        return -ENOMEM;
    }
    fill(r);
    *out = r;
    return 0;
}

void reorder_free(struct reorder *r)
{
    if (!r)
        return;
    for (size_t i = 0; r->earliest && i < r->t->n_lines; i++)
        free(r->earliest[i]);
    free(r->earliest);
    free(r->entries);
    free(r->first);
    free(r->cuts);
    buf_fini(&r->in);
    free(r);
}

static int index_thread(struct reorder *r, uint32_t thread)
{
    const struct line *l = &r->t->lines[thread];
    uint32_t n = l->holds.n / BLOCK + 1;
    if (r->earliest[thread])
        return 0;
    uint64_t *v = r->earliest[thread] = malloc(n * sizeof *v);
    if (!v)
        return -ENOMEM;
    memset(v, 0xff, n * sizeof *v);
    for (uint32_t i = 0; i < l->holds.n; i++)
        v[i / BLOCK] = min_u64(v[i / BLOCK], line_hold(l, i)->start);
    return 0;
}

/* --- what must be in -------------------------------------------------------------------------- */

static bool spend(struct reorder *r, uint64_t steps)
{
    if (r->left < steps)
        return false;
    r->left -= steps;
    return true;
}

/* Requires that the reordering contains what the thread did until `time`. */
static void require(struct reorder *r, uint32_t thread, uint64_t time)
{
    struct cut *c = &r->cuts[thread];
    if (c->time >= time)
        return;
    if (c->fixed) {
        r->stuck = true;
        return;
    }
    if (!c->time)
        buf_put(&r->in, &thread, sizeof thread);
    c->time = c->arcs_until = time;
    r->changed = true;
}

/* Adds the dependencies of a thread: it was started, it was woken.  A wait that the release of a
 * lock ended is not a dependency, because the order of the locks covers it. */
static int add_causes(struct reorder *r, uint32_t thread)
{
    struct cut *c = &r->cuts[thread];
    const struct line *l = &r->t->lines[thread];
    uint32_t n = thread_order_points(r->order, thread);
    const struct order_point *p = n ? r->order->points + r->order->first[thread] : NULL;
    for (; c->point < n && p[c->point].time <= c->arcs_until; c->point++) {
        const struct order_point *x = &p[c->point];
        if (!spend(r, 1))
            return -EAGAIN;
        if (x->arrives)
            require(r, x->thread, r->order->points[r->order->first[x->thread] + x->point].time);
    }
    for (; c->span < l->spans.n; c->span++) {
        const struct span *s = line_span(l, c->span);
        if (!spend(r, 1))
            return -EAGAIN;
        if (s->start > c->arcs_until)
            break;
        const struct act *a = span_wake_act(r->t, s);
        if (a && a->time <= c->arcs_until)
            require(r, s->waker, a->time);
        if (span_end(r->t, s) > c->arcs_until)
            break; /* looked at again when the cut of the thread moves */
    }
    return 0;
}

/* --- locks ------------------------------------------------------------------------------------ */

/* The end of the entries of one thread of a lock, from `i`. */
static uint32_t thread_end(const struct reorder *r, uint32_t i, uint32_t end)
{
    uint32_t thread = r->entries[i].thread;
    BISECT(i, end, r->entries[i].thread == thread);
    return i;
}

static const struct span *hold_of(const struct reorder *r, const struct entry *e)
{
    return line_hold(&r->t->lines[e->thread], e->hold);
}

static bool is_shared(const struct reorder *r, const struct span *hold)
{
    return timeline_context(r->t, hold->context)->mode == HOLD_SHARED;
}

/* Whether the thread of these entries of a lock took the lock after `since`, within its cut. */
static bool took_later(const struct reorder *r, uint32_t from, uint32_t to, uint64_t since,
                       bool shared)
{
    uint64_t until = r->cuts[r->entries[from].thread].time;
    uint32_t i = from;
    BISECT(i, to, hold_of(r, &r->entries[i])->start <= until);
    for (; i > from; i--) {
        const struct span *h = hold_of(r, &r->entries[i - 1]);
        if (span_end(r->t, h) <= since)
            return false;
        if (!shared || !is_shared(r, h))
            return true;
    }
    return false;
}

/* A thread has a lock where it stands: when another one took it later, it must have given it back.
 * (An Object.wait inside counts as part of the hold: more is asked for than need be.) */
static int check_hold(struct reorder *r, uint32_t thread, const struct span *h)
{
    uint32_t lock = lock_of(r, h);
    bool shared = is_shared(r, h);
    for (uint32_t i = r->first[lock], next; lock && i < r->first[lock + 1]; i = next) {
        uint32_t other = r->entries[i].thread;
        next = thread_end(r, i, r->first[lock + 1]);
        if (!spend(r, 1))
            return -EAGAIN;
        if (other != thread && r->cuts[other].time && took_later(r, i, next, h->start, shared)) {
            require(r, thread, span_end(r->t, h));
            return 0;
        }
    }
    return 0;
}

/* The first of a thread's holds that ended after `time`. */
static uint32_t first_after(const struct reorder *r, const struct line *l, uint64_t time)
{
    uint32_t i = 0;
    BISECT(i, l->holds.n, span_end(r->t, line_hold(l, i)) <= time);
    return i;
}

static int check_holds(struct reorder *r, uint32_t thread)
{
    const struct line *l = &r->t->lines[thread];
    uint64_t time = r->cuts[thread].time;
    TRY(index_thread(r, thread));
    for (uint32_t i = first_after(r, l, time); i < l->holds.n && !r->stuck; i++) {
        if (!spend(r, 1))
            return -EAGAIN;
        if (r->earliest[thread][i / BLOCK] > time) {
            i |= BLOCK - 1;
            continue;
        }
        const struct span *h = line_hold(l, i);
        if (h->start <= time)
            TRY(check_hold(r, thread, h));
    }
    return 0;
}

/* --- one check -------------------------------------------------------------------------------- */

static uint32_t in_at(const struct reorder *r, size_t i)
{
    return ((const uint32_t *)(const void *)r->in.p)[i];
}

static void begin(struct reorder *r, const struct lock_order_side *sides, uint32_t n)
{
    r->stuck = false;
    for (uint32_t i = 0; i < n; i++) {
        struct cut *c = &r->cuts[sides[i].thread];
        require(r, sides[i].thread, sides[i].wanted_time - 1);
        c->arcs_until = sides[i].wanted_time; /* it waits since then, and must have been woken */
        c->fixed = true;
    }
}

static int add_missing(struct reorder *r)
{
    do {
        r->changed = false;
        for (size_t i = 0; i < r->in.len / sizeof(uint32_t) && !r->stuck; i++)
            TRY(add_causes(r, in_at(r, i)));
        for (size_t i = 0; i < r->in.len / sizeof(uint32_t) && !r->stuck; i++)
            TRY(check_holds(r, in_at(r, i)));
    } while (r->changed && !r->stuck);
    return r->in.oom ? -ENOMEM : !r->stuck;
}

int reorder_check(struct reorder *r, const struct lock_order_side *sides, uint32_t n)
{
    uint64_t each = r->left = min_u64(r->steps, REORDER_STEPS_EACH);
    if (!each)
        return -EAGAIN;
    begin(r, sides, n);
    int rc = add_missing(r);
    r->steps -= each - r->left;
    for (size_t i = 0; i < r->in.len / sizeof(uint32_t); i++)
        r->cuts[in_at(r, i)] = (struct cut){0};
    buf_clear(&r->in);
    return rc;
}

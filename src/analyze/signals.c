#include "analyze/signals.h"

#include "base/err.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* The notify of an object that was called last before each open wait on it. */
struct last_call {
    uint64_t time;
    uint32_t thread, act;
};

struct finder {
    const struct timeline *t;
    uint32_t *of_lock; /* [n_locks]: 1 + index into v */
    size_t n_locks;
    struct signals *v;
    size_t n, cap;
    struct last_call *calls; /* [n]: the latest of each object */
};

static struct signals *signals_of(struct finder *f, lock_id lock)
{
    if (!lock.v || lock.v >= f->n_locks)
        return NULL;
    if (!f->of_lock[lock.v]) {
        if (f->n == f->cap) {
            size_t cap = f->cap ? f->cap * 2 : 64;
            struct signals *v = realloc(f->v, cap * sizeof *v);
            if (v)
                f->v = v;
            struct last_call *calls = v ? realloc(f->calls, cap * sizeof *calls) : NULL;
            if (!calls)
                return NULL;
            f->calls = calls;
            f->cap = cap;
        }
        f->v[f->n] = (struct signals){.lock = lock, .first = UINT64_MAX};
        f->calls[f->n] = (struct last_call){0};
        f->of_lock[lock.v] = (uint32_t)++f->n;
    }
    return &f->v[f->of_lock[lock.v] - 1];
}

static int add_calls(struct finder *f, uint32_t thread)
{
    const struct line *l = &f->t->lines[thread];
    for (uint32_t i = 0; i < l->acts.n; i++) {
        const struct act *a = line_act(l, i);
        const struct context *x = timeline_context(f->t, a->context);
        if ((x->what != EV_notify && x->what != EV_notify_all) || !x->lock.v ||
            x->lock.v >= f->n_locks)
            continue;
        struct signals *s = signals_of(f, x->lock);
        if (!s)
            return -ENOMEM;
        bool all = x->what == EV_notify_all;
        s->notify += !all;
        s->notify_all += all;
        s->alone += a->woken == 0;
        s->woken[all] += a->woken;
        s->first = min_u64(s->first, a->time);
        s->last = max_u64(s->last, a->time);
        struct last_call *last = &f->calls[s - f->v];
        if (a->time >= last->time)
            *last = (struct last_call){a->time, thread, i};
    }
    return 0;
}

static int add_waits(struct finder *f, uint32_t thread)
{
    const struct line *l = &f->t->lines[thread];
    for (uint32_t i = 0; i < l->spans.n; i++) {
        const struct span *w = line_span(l, i);
        const struct context *x = timeline_context(f->t, w->context);
        if (x->what != STATE_WAITING || x->flags & (INTERVAL_UNKNOWN | INTERVAL_OPEN) ||
            !x->lock.v || x->lock.v >= f->n_locks)
            continue;
        struct signals *s = signals_of(f, x->lock);
        if (!s)
            return -ENOMEM;
        s->waits++;
        s->timed_out += (x->flags & INTERVAL_TIMED_OUT) != 0;
        enum interaction by = span_interaction(f->t, thread, w);
        if ((by != INTERACTION_NOTIFY && by != INTERACTION_NOTIFY_ALL) ||
            !line_waits_again(f->t, l, i, FUTILE_NS))
            continue;
        s->futile[by == INTERACTION_NOTIFY_ALL]++;
        s->futile_ns += line_span(l, i + 1)->start - span_wake_time(f->t, w);
    }
    return 0;
}

/* The wait without a time limit that a thread is in at the end; NULL: none. */
static const struct span *endless(const struct finder *f, const struct line *l)
{
    if (!l->spans.n)
        return NULL;
    const struct span *s = line_span(l, l->spans.n - 1);
    const struct context *x = timeline_context(f->t, s->context);
    bool open = x->what == STATE_WAITING && x->flags & INTERVAL_OPEN;
    return open && !(x->flags & (INTERVAL_TIMED | INTERVAL_LIMIT_UNKNOWN)) && !s->waker ? s : NULL;
}

static int find_lost(const struct finder *f, struct signal_set *out, struct arena *a)
{
    size_t cap = 0;
    for (uint32_t i = 1; i < f->t->n_lines; i++)
        cap += endless(f, &f->t->lines[i]) != NULL;
    out->lost = arena_alloc(a, cap * sizeof *out->lost);
    if (!out->lost)
        return -ENOMEM;
    for (uint32_t i = 1; i < f->t->n_lines; i++) {
        const struct span *w = endless(f, &f->t->lines[i]);
        if (!w)
            continue;
        const struct context *x = timeline_context(f->t, w->context);
        uint32_t at = x->lock.v < f->n_locks ? f->of_lock[x->lock.v] : 0;
        if (!at || !f->calls || !f->calls[at - 1].thread || f->calls[at - 1].time >= w->start)
            continue;
        const struct last_call *c = &f->calls[at - 1];
        const struct act *call = line_act(&f->t->lines[c->thread], c->act);
        if (call->woken || c->thread == i)
            continue;
        out->lost[out->n_lost++] =
            (struct lost_signal){.lock = x->lock,
                                 .waiter = i,
                                 .notifier = c->thread,
                                 .notified = c->time,
                                 .since = w->start,
                                 .waits_at = x->stack,
                                 .notified_at = timeline_context(f->t, call->context)->stack};
    }
    return 0;
}

static int find(struct finder *f, struct signal_set *out, struct arena *a)
{
    for (uint32_t i = 1; i < f->t->n_lines; i++)
        TRY(add_calls(f, i));
    for (uint32_t i = 1; i < f->t->n_lines; i++)
        TRY(add_waits(f, i));
    out->v = arena_alloc(a, f->n * sizeof *out->v);
    if (!out->v)
        return -ENOMEM;
    if (f->n)
        memcpy(out->v, f->v, f->n * sizeof *out->v);
    out->n = f->n;
    return find_lost(f, out, a);
}

int signals_find(struct signal_set *out, const struct timeline *t, size_t n_locks, struct arena *a)
{
    struct finder f = {.t = t, .n_locks = n_locks};
    memset(out, 0, sizeof *out);
    f.of_lock = calloc(n_locks + 1, sizeof *f.of_lock);
    int rc = f.of_lock ? find(&f, out, a) : -ENOMEM;
    free(f.of_lock);
    free(f.v);
    free(f.calls);
    return rc;
}

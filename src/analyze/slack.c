#include "analyze/slack.h"

#include "base/err.h"
#include "base/util.h"

#include <stdlib.h>

/* A thread, at the moment to which the sweep has come. */
struct state {
    uint64_t slack;
    uint32_t span;  /* 1 + the span that it is in; 0: it runs */
    uint32_t waker; /* whose cause, which lies before, it waits to be met; 0: none */
    uint32_t cause;
    uint32_t next, prev; /* in the waker's list */
    uint32_t woken;      /* first of the threads that wait for a cause of this one */
};

struct slacker {
    const struct timeline *t;
    struct state *v; /* [n] */
    size_t n;
    uint64_t *locks; /* [n_locks] */
    size_t n_locks;
    uint32_t thread;
    uint64_t time;
};

int slacker_new(struct slacker **out, const struct timeline *t, size_t n_threads, size_t n_locks,
                uint32_t thread, uint64_t time)
{
    struct slacker *s = *out = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    *s = (struct slacker){
        .t = t, .n = n_threads, .n_locks = n_locks, .thread = thread, .time = time};
    s->v = calloc(n_threads + 1, sizeof *s->v);
    s->locks = malloc((n_locks + 1) * sizeof *s->locks);
    if (!s->v || !s->locks) {
        slacker_free(s);
        *out = NULL;
        return -ENOMEM;
    }
    for (size_t i = 0; i < n_threads; i++)
        s->v[i].slack = SLACK_ANY;
    for (size_t i = 0; i < n_locks; i++)
        s->locks[i] = SLACK_ANY;
    return 0;
}

void slacker_free(struct slacker *s)
{
    if (!s)
        return;
    free(s->v);
    free(s->locks);
    free(s);
}

uint64_t *slacker_take(struct slacker *s)
{
    uint64_t *locks = s->locks;
    s->locks = NULL;
    return locks;
}

static void bound(struct slacker *s, uint32_t thread, uint64_t slack)
{
    s->v[thread].slack = min_u64(s->v[thread].slack, slack);
}

static uint64_t plus(uint64_t slack, uint64_t ns)
{
    return slack > SLACK_ANY - ns ? SLACK_ANY : slack + ns;
}

/* --- causes that lie before ------------------------------------------------------------------- */

static void expect(struct slacker *s, uint32_t thread, uint32_t waker, uint32_t cause)
{
    struct state *x = &s->v[thread], *w = &s->v[waker];
    x->waker = waker;
    x->cause = cause;
    x->prev = 0;
    x->next = w->woken;
    if (w->woken)
        s->v[w->woken].prev = thread;
    w->woken = thread;
}

static void forget(struct slacker *s, uint32_t thread)
{
    struct state *x = &s->v[thread];
    if (!x->waker)
        return;
    if (x->prev)
        s->v[x->prev].next = x->next;
    else
        s->v[x->waker].woken = x->next;
    if (x->next)
        s->v[x->next].prev = x->prev;
    x->waker = 0;
}

/* The thread's cause is met: it has no more slack than those that it woke. */
static void meet(struct slacker *s, uint32_t thread, uint32_t cause)
{
    uint32_t next;
    for (uint32_t i = s->v[thread].woken; i; i = next) {
        next = s->v[i].next;
        if (!cause_same(s->v[i].cause, cause))
            continue;
        bound(s, thread, s->v[i].slack);
        forget(s, i);
    }
}

/* --- spans ------------------------------------------------------------------------------------ */

static bool is_hand_over(const struct context *x)
{
    return x->what == STATE_BLOCKED || x->what == STATE_REACQUIRING || x->what == STATE_PARKED;
}

/* An owner released the monitor at an unknown time: now, or, where it waits now, when it began to.
 * True: in the second case. */
static bool by_owner(struct slacker *s, uint32_t thread, uint32_t owner)
{
    if (!s->v[owner].span) {
        bound(s, owner, s->v[thread].slack);
        return false;
    }
    expect(s, thread, owner, cause_make(CAUSE_WAIT, s->v[owner].span - 1));
    return true;
}

/* The sweep comes to a wait from its end. */
static void enter(struct slacker *s, uint32_t thread, uint32_t index)
{
    const struct span *w = line_span(&s->t->lines[thread], index);
    const struct context *x = timeline_context(s->t, w->context);
    uint64_t end = span_end(s->t, w);
    struct state *st = &s->v[thread];
    st->span = index + 1;
    if (!w->waker || x->flags & (INTERVAL_UNKNOWN | INTERVAL_REACQUIRED))
        return;
    if (is_hand_over(x) && x->lock.v && x->lock.v < s->n_locks)
        s->locks[x->lock.v] = min_u64(s->locks[x->lock.v], st->slack);
    const struct regain *r =
        x->what == STATE_WAITING ? line_regain(&s->t->lines[thread], index) : NULL;
    if (r && (by_owner(s, thread, r->owner) || r->owner == w->waker))
        return;
    if (cause_type(w->cause) == CAUSE_NONE) {
        by_owner(s, thread, w->waker);
        return;
    }
    uint64_t wake = span_wake_time(s->t, w);
    if (r && wake < end)
        st->slack = plus(st->slack, end - wake); /* the monitor was not free before */
    expect(s, thread, w->waker, w->cause);
}

/* The sweep leaves a wait at its beginning. */
static void leave(struct slacker *s, uint32_t thread, uint32_t index)
{
    const struct span *w = line_span(&s->t->lines[thread], index);
    uint64_t wake = w->waker ? span_wake_time(s->t, w) : w->start;
    forget(s, thread); /* a permit from before: no wait */
    s->v[thread].span = 0;
    if (wake > w->start)
        s->v[thread].slack = plus(s->v[thread].slack, wake - w->start);
    meet(s, thread, cause_make(CAUSE_WAIT, index));
}

static void be_born(struct slacker *s, uint32_t thread)
{
    const struct line *l = thread < s->t->n_lines ? &s->t->lines[thread] : NULL;
    if (l && l->starter && l->starter < s->n && !s->v[thread].waker)
        expect(s, thread, l->starter, cause_make(CAUSE_ACT, l->starter_act));
}

static void take(void *self, const struct sweep_item *v, size_t n)
{
    struct slacker *s = self;
    for (size_t i = 0; i < n; i++) {
        uint32_t thread = v[i].thread, index = sweep_index(&v[i]);
        if (thread == s->thread && v[i].time <= s->time) {
            bound(s, thread, 0);
            s->thread = 0; /* once */
        }
        switch (sweep_type(&v[i])) {
        case SWEEP_END:
            enter(s, thread, index);
            break;
        case SWEEP_BEGIN:
            leave(s, thread, index);
            break;
        case SWEEP_ACT:
            meet(s, thread, cause_make(CAUSE_ACT, index));
            break;
        case SWEEP_HOLD:
            meet(s, thread, cause_make(CAUSE_HOLD, index));
            break;
        case SWEEP_BORN:
            be_born(s, thread);
            break;
        default:
            break;
        }
    }
}

struct sweep_sink slacker_sink(struct slacker *s)
{
    return (struct sweep_sink){take, s, 0};
}

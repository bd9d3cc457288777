#include "analyze/timeline.h"

#include "analyze/lines.h"
#include "analyze/unknown.h"
#include "base/err.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

int timeline_init(struct timeline *t)
{
    memset(t, 0, sizeof *t);
    arena_init(&t->arena, 0);
    return contexts_init(&t->contexts);
}

void timeline_fini(struct timeline *t)
{
    arena_fini(&t->arena);
    contexts_fini(&t->contexts);
    free(t->lines);
    buf_fini(&t->longs);
    buf_fini(&t->sums);
    memset(t, 0, sizeof *t);
}

static struct line *line_of(struct timeline *t, uint32_t thread)
{
    struct line *lines = lines_reach(t->lines, &t->cap_lines, sizeof *lines, thread);
    if (!lines)
        return NULL;
    t->lines = lines;
    if (thread >= t->n_lines)
        t->n_lines = (size_t)thread + 1;
    return &t->lines[thread];
}

static int set_len(struct timeline *t, struct span *s, uint64_t len)
{
    if (len < SPAN_LONG) {
        s->len = (uint32_t)len;
        return 0;
    }
    size_t n = t->longs.len / sizeof len;
    if (n >= SPAN_LONG)
        return -ENOMEM;
    s->len = SPAN_LONG + (uint32_t)n;
    buf_put(&t->longs, &len, sizeof len);
    return t->longs.oom ? -ENOMEM : 0;
}

static int set_context(struct timeline *t, struct span *s, const struct context *x)
{
    s->context = contexts_add(&t->contexts, x, context_hash(x));
    return s->context ? 0 : -ENOMEM;
}

int timeline_clear(struct timeline *t, struct span *s, unsigned flags)
{
    struct context x = *timeline_context(t, s->context);
    x.flags &= (uint8_t)~flags;
    return set_context(t, s, &x);
}

int timeline_foresee(struct timeline *t, const struct context *x, unsigned flags)
{
    struct span none = {0};
    struct context y = *x;
    y.flags &= (uint8_t)~flags;
    return set_context(t, &none, &y);
}

/* --- spans ------------------------------------------------------------------------------------ */

static void make_context(struct context *x, const struct interval *iv)
{
    *x = (struct context){.lock = iv->lock,
                          .other = iv->other,
                          .stack = iv->stack,
                          .owner_stack = iv->owner_stack,
                          .what = iv->flags & INTERVAL_REACQUIRED ? STATE_REACQUIRING : iv->state,
                          .flags = iv->flags};
}

static bool has_time(const struct context *x)
{
    return !(x->flags & (INTERVAL_UNKNOWN | INTERVAL_REACQUIRED));
}

/* Puts a wait before the waits inside it, which reacquire its monitor.  Its own span ends where the
 * first of them begins; each of them lasts until the next one, the last until the end.  Waits
 * inside a park are not such waits: the park is unknown then. */
static int put_around(struct timeline *t, struct line *l, const struct interval *iv)
{
    struct context x;
    make_context(&x, iv);
    bool known = has_time(&x);
    uint32_t n = l->spans.n, first = n - iv->nested;
    struct span *s = run_push(&l->spans, &t->arena, sizeof *s);
    uint64_t until = iv->end;
    if (!s)
        return -ENOMEM;
    for (uint32_t i = n; i > first; i--) {
        struct span *to = line_span(l, i), *from = line_span(l, i - 1);
        struct context inner = *timeline_context(t, from->context);
        *to = *from;
        if (iv->state == STATE_WAITING)
            inner.what = STATE_REACQUIRING;
        if (known && has_time(&inner)) { /* the last of them is still open */
            inner.flags |= x.flags & INTERVAL_OPEN;
            x.flags &= (uint8_t)~INTERVAL_OPEN;
        }
        TRY(set_context(t, to, &inner));
        if (!known || !has_time(&inner))
            continue;
        TRY(set_len(t, to, until - to->start));
        until = to->start;
    }
    s = line_span(l, first);
    *s = (struct span){.start = iv->start};
    TRY(set_context(t, s, &x));
    return set_len(t, s, known ? until - iv->start : 0);
}

static int put(struct timeline *t, const struct interval *iv, const struct context *x,
               uint64_t hash)
{
    struct line *l = line_of(t, iv->thread);
    if (!l)
        return -ENOMEM;
    t->n_spans++;
    if (iv->nested && iv->nested <= l->spans.n)
        return put_around(t, l, iv);
    struct span *s = run_push(&l->spans, &t->arena, sizeof *s);
    if (!s)
        return -ENOMEM;
    s->start = iv->start;
    s->context = contexts_add(&t->contexts, x, hash);
    return s->context ? set_len(t, s, iv->end - iv->start) : -ENOMEM;
}

int timeline_take(void *self, const struct interval *v, size_t n)
{
    struct timeline *t = self;
    struct context x[INTERVAL_BATCH];
    uint64_t hash[INTERVAL_BATCH];
    INVARIANT(n <= INTERVAL_BATCH);
    for (size_t i = 0; i < n; i++) {
        make_context(&x[i], &v[i]);
        hash[i] = context_hash(&x[i]);
        contexts_prefetch(&t->contexts, hash[i]);
    }
    for (size_t i = 0; i < n; i++)
        TRY(put(t, &v[i], &x[i], hash[i]));
    return 0;
}

/* --- what is not known ------------------------------------------------------------------------ */

/* A line whose spans are built again. */
struct mender {
    struct timeline *t;
    struct line *l;
    uint32_t context;
};

static int put_span(const struct mender *m, uint64_t from, uint64_t to)
{
    struct span *s = from < to ? run_push(&m->l->spans, &m->t->arena, sizeof *s) : NULL;
    if (!s)
        return from < to ? -ENOMEM : 0;
    *s = (struct span){.start = from, .context = m->context};
    m->t->n_spans++;
    m->t->n_unknown++;
    return set_len(m->t, s, to - from);
}

static int copy_span(const struct mender *m, const struct span *from)
{
    struct span *s = run_push(&m->l->spans, &m->t->arena, sizeof *s);
    if (!s)
        return -ENOMEM;
    *s = *from;
    return 0;
}

int timeline_put_unknown(struct timeline *t, uint32_t thread, const struct unknown_stretch *v,
                         size_t n)
{
    struct mender m = {t, line_of(t, thread), 0};
    const struct context x = {.what = STATE_UNKNOWN};
    if (!m.l || !(m.context = contexts_add(&t->contexts, &x, context_hash(&x))))
        return -ENOMEM;
    struct line old = *m.l;
    uint64_t told = 0; /* the time up to which there are spans */
    size_t k = 0;
    m.l->spans = (struct run){0};
    m.l->starts = NULL;
    for (uint32_t i = 0; i < old.spans.n; i++) {
        const struct span *s = line_span(&old, i);
        for (; k < n && v[k].from < s->start; k++) {
            TRY(put_span(&m, max_u64(v[k].from, told), min_u64(v[k].to, s->start)));
            if (v[k].to > s->start)
                break; /* the rest of it lies behind */
        }
        TRY(copy_span(&m, s));
        told = max_u64(told, span_end(t, s));
    }
    for (; k < n; k++)
        TRY(put_span(&m, max_u64(v[k].from, told), v[k].to));
    return 0;
}

static int put_piece(struct timeline *t, struct line *l, const struct timeline_piece *p)
{
    struct span *s = run_push(&l->spans, &t->arena, sizeof *s);
    if (!s)
        return -ENOMEM;
    *s = (struct span){.start = p->from};
    t->n_spans++;
    if (p->context.mode == CONTEXT_SUMMED) {
        const struct span_sum sum = {p->count, p->longest};
        s->waker = p->waker;
        s->cause = cause_make(CAUSE_NONE, (uint32_t)(t->sums.len / sizeof sum)) |
                   (p->seen ? CAUSE_SEEN : 0);
        buf_put(&t->sums, &sum, sizeof sum);
        t->n_sums++;
        t->n_summed += p->count;
    }
    TRY(set_context(t, s, &p->context));
    TRY(set_len(t, s, p->to - p->from));
    return t->sums.oom ? -ENOMEM : 0;
}

int timeline_put_pieces(struct timeline *t, uint32_t thread, const struct timeline_piece *v,
                        size_t n)
{
    struct line *l = line_of(t, thread);
    if (n == 0)
        return 0;
    if (!l)
        return -ENOMEM;
    struct run old = l->spans;
    size_t k = 0;
    l->spans = (struct run){0};
    l->starts = NULL;
    for (uint32_t i = 0; i <= old.n; i++) {
        const struct span *next = i < old.n ? run_at(&old, sizeof *next, i) : NULL;
        for (; k < n && (!next || v[k].from < next->start); k++)
            TRY(put_piece(t, l, &v[k]));
        struct span *s = next ? run_push(&l->spans, &t->arena, sizeof *s) : NULL;
        if (next && !s)
            return -ENOMEM;
        if (next)
            *s = *next;
    }
    return 0;
}

/* --- acts and holds --------------------------------------------------------------------------- */

static int take_hold(struct timeline *t, uint32_t thread, const struct event *e)
{
    struct line *l = line_of(t, thread);
    struct span *s = l ? run_push(&l->holds, &t->arena, sizeof *s) : NULL;
    const struct context x = {.lock = e->hold.lock,
                              .stack = e->hold.stack,
                              .what = EV_hold,
                              .mode = (uint8_t)e->hold.mode};
    if (!s)
        return -ENOMEM;
    t->n_holds++;
    s->start = min_u64(e->hold.since, e->time);
    TRY(set_context(t, s, &x));
    return set_len(t, s, e->time - s->start);
}

/* Makes the act of an event; false: the event is not an act. */
static bool make_act(const struct event *e, uint32_t target, struct context *x)
{
    *x = (struct context){.what = (uint8_t)e->kind, .other = target};
    switch (e->kind) {
    case EV_thread_start:
    case EV_thread_end:
        return true;
    case EV_thread_start_called:
        x->stack = e->thread_start_called.stack;
        return true;
    case EV_notify:
        x->lock = e->notify.lock;
        x->stack = e->notify.stack;
        return true;
    case EV_notify_all:
        x->lock = e->notify_all.lock;
        x->stack = e->notify_all.stack;
        return true;
    case EV_unpark:
        x->stack = e->unpark.stack;
        return true;
    case EV_interrupt:
        x->stack = e->interrupt.stack;
        return true;
    case EV_interrupted:
        x->stack = e->interrupted.stack;
        return true;
    case EV_semaphore_acquire_enter:
        x->lock = e->semaphore_acquire_enter.lock;
        x->stack = e->semaphore_acquire_enter.stack;
        return true;
    case EV_semaphore_acquire_exit:
        x->lock = e->semaphore_acquire_exit.lock;
        x->flags = e->semaphore_acquire_exit.failed != 0;
        return true;
    case EV_semaphore_release:
        x->lock = e->semaphore_release.lock;
        x->stack = e->semaphore_release.stack;
        return true;
    case EV_call_enter:
        x->lock = e->call_enter.lock;
        x->stack = e->call_enter.stack;
        x->call = e->call_enter.call;
        return true;
    case EV_call_exit:
        x->lock = e->call_exit.lock;
        x->call = e->call_exit.call;
        x->flags = e->call_exit.failed != 0;
        return true;
    case EV_call:
        x->lock = e->call.lock;
        x->stack = e->call.stack;
        x->call = e->call.call;
        return true;
    default:
        return false;
    }
}

int timeline_act(struct timeline *t, uint32_t thread, const struct event *e, uint32_t target)
{
    struct context x;
    if (e->kind == EV_hold)
        return take_hold(t, thread, e);
    if (!make_act(e, target, &x))
        return 0;
    struct line *l = line_of(t, thread);
    struct act *a = l ? run_push(&l->acts, &t->arena, sizeof *a) : NULL;
    if (!a)
        return -ENOMEM;
    t->n_acts++;
    a->time = e->time;
    a->context = contexts_add(&t->contexts, &x, context_hash(&x));
    return a->context ? 0 : -ENOMEM;
}

/* --- in the end ------------------------------------------------------------------------------- */

struct sorted {
    uint64_t time;
    uint32_t order;
};

static int by_time(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

typedef uint64_t time_of(const struct timeline *t, const void *entry);

static uint64_t time_of_act(const struct timeline *t, const void *entry)
{
    UNUSED(t);
    return ((const struct act *)entry)->time;
}

static uint64_t time_of_hold(const struct timeline *t, const void *entry)
{
    return span_end(t, entry);
}

static bool in_order(const struct timeline *t, const struct run *r, size_t size, time_of *time)
{
    for (uint32_t i = 1; i < r->n; i++)
        if (time(t, run_at(r, size, i - 1)) > time(t, run_at(r, size, i)))
            return false;
    return true;
}

/* Most are in order already: a virtual thread's events come from several streams, but few from
 * each. */
static int sort(const struct timeline *t, struct run *r, size_t size, time_of *time)
{
    if (in_order(t, r, size, time))
        return 0;
    struct sorted *v = malloc(r->n * sizeof *v);
    uint8_t *copy = malloc(r->n * size);
    for (uint32_t i = 0; v && copy && i < r->n; i++) {
        const void *entry = run_at(r, size, i);
        v[i] = (struct sorted){time(t, entry), i};
        memcpy(copy + i * size, entry, size);
    }
    if (v && copy) {
        qsort(v, r->n, sizeof *v, by_time);
        for (uint32_t i = 0; i < r->n; i++)
            memcpy(run_at(r, size, i), copy + v[i].order * size, size);
    }
    int rc = v && copy ? 0 : -ENOMEM;
    free(v);
    free(copy);
    return rc;
}

/* The wait that may have ended in an exception created at this time: the wait in which the thread
 * is, or was last.  (Object.wait first reacquires its monitor.) Index, or spans.n: none. */
static uint32_t may_have_thrown(const struct timeline *t, const struct line *l, uint64_t time)
{
    for (uint32_t i = line_spans_until(l, time); i > 0; i--) {
        const struct context *x = timeline_context(t, line_span(l, i - 1)->context);
        if (x->what != STATE_BLOCKED && x->what != STATE_REACQUIRING)
            return has_time(x) ? i - 1 : l->spans.n;
        const struct context *before =
            i > 1 ? timeline_context(t, line_span(l, i - 2)->context) : NULL;
        if (!before || before->lock.v != x->lock.v || before->what == STATE_BLOCKED)
            break;
    }
    return l->spans.n;
}

/* An InterruptedException was made, as act i.  A wait that was over is not what threw it when the
 * thread has done something since then. */
static int mark_interrupted(struct timeline *t, struct line *l, uint32_t i)
{
    uint64_t time = line_act(l, i)->time;
    uint32_t span = may_have_thrown(t, l, time), holds = line_holds_until(t, l, time);
    if (span == l->spans.n)
        return 0;
    struct span *s = line_span(l, span);
    uint64_t end = span_end(t, s);
    if ((i && line_act(l, i - 1)->time > end) ||
        (holds && span_end(t, line_hold(l, holds - 1)) > end))
        return 0;
    struct context x = *timeline_context(t, s->context);
    x.flags |= INTERVAL_INTERRUPTED;
    return set_context(t, s, &x);
}

static int mark_all_interrupted(struct timeline *t, struct line *l)
{
    for (uint32_t i = 0; i < l->acts.n; i++)
        if (timeline_context(t, line_act(l, i)->context)->what == EV_interrupted)
            TRY(mark_interrupted(t, l, i));
    return 0;
}

int timeline_finish(struct timeline *t, const struct thread_set *threads)
{
    if (threads->n && !line_of(t, (uint32_t)threads->n - 1))
        return -ENOMEM;
    for (size_t i = 0; i < t->n_lines; i++) {
        TRY(sort(t, &t->lines[i].acts, sizeof(struct act), time_of_act));
        TRY(sort(t, &t->lines[i].holds, sizeof(struct span), time_of_hold));
        TRY(mark_all_interrupted(t, &t->lines[i]));
    }
    return 0;
}

int timeline_index(struct timeline *t)
{
    for (size_t i = 0; i < t->n_lines; i++) {
        struct line *l = &t->lines[i];
        if (l->spans.n <= SPANS_EACH)
            continue;
        uint64_t *starts = arena_alloc(&t->arena, (l->spans.n / SPANS_EACH + 1) * sizeof *starts);
        if (!starts)
            return -ENOMEM;
        for (uint32_t k = 0; k < l->spans.n; k += SPANS_EACH)
            starts[k / SPANS_EACH] = line_span(l, k)->start;
        l->starts = starts;
    }
    return 0;
}

/* --- reading ---------------------------------------------------------------------------------- */

const struct act *span_wake_act(const struct timeline *t, const struct span *s)
{
    if (!s->waker || cause_type(s->cause) != CAUSE_ACT)
        return NULL;
    return line_act(&t->lines[s->waker], cause_index(s->cause));
}

uint64_t span_wake_time(const struct timeline *t, const struct span *s)
{
    const struct line *l = &t->lines[s->waker];
    switch (cause_type(s->cause)) {
    case CAUSE_ACT:
        return line_act(l, cause_index(s->cause))->time;
    case CAUSE_HOLD:
        return span_end(t, line_hold(l, cause_index(s->cause)));
    case CAUSE_WAIT:
        return line_span(l, cause_index(s->cause))->start;
    default:
        return span_end(t, s);
    }
}

stack_id span_wake_stack(const struct timeline *t, const struct span *s)
{
    const struct line *l = &t->lines[s->waker];
    switch (cause_type(s->cause)) {
    case CAUSE_ACT:
        return timeline_context(t, line_act(l, cause_index(s->cause))->context)->stack;
    case CAUSE_HOLD:
        return timeline_context(t, line_hold(l, cause_index(s->cause))->context)->stack;
    case CAUSE_WAIT:
        return timeline_context(t, line_span(l, cause_index(s->cause))->context)->stack;
    default:
        return (stack_id){0};
    }
}

uint32_t span_notifier(const struct timeline *t, const struct span *s)
{
    const struct act *a = span_wake_act(t, s);
    uint8_t what = a ? timeline_context(t, a->context)->what : 0;
    bool before = s->waker && cause_type(s->cause) == CAUSE_NONE;
    if (timeline_context(t, s->context)->what != STATE_WAITING)
        return 0;
    return before || what == EV_notify || what == EV_notify_all ? s->waker : 0;
}

uint64_t span_waited_until(const struct timeline *t, const struct span *s)
{
    uint64_t end = span_end(t, s);
    const struct act *a = span_wake_act(t, s);
    if (!span_notifier(t, s))
        return end;
    return a ? max_u64(s->start, min_u64(a->time, end)) : s->start;
}

unsigned span_parts(const struct timeline *t, const struct span *s, struct wait_part out[2])
{
    const struct context *x = timeline_context(t, s->context);
    uint64_t end = span_end(t, s), until = end;
    if (x->what == STATE_WAITING && s->waker)
        until = span_waited_until(t, s);
    out[0] = (struct wait_part){s->start, until, x->other, x->what, x->flags, false};
    if (until == end)
        return 1;
    out[0].flags &= (uint8_t)~INTERVAL_OPEN; /* only the second part may still be open */
    out[1] = (struct wait_part){until, end, s->waker, STATE_REACQUIRING, x->flags, true};
    return 2;
}

uint32_t line_spans_until(const struct line *l, uint64_t time)
{
    uint32_t i = 0;
    if (!l->starts || l->starts[0] > time) {
        BISECT(i, l->starts ? 0 : l->spans.n, line_span(l, i)->start <= time);
        return i;
    }
    /* The last span that does not begin later.  A search without branches, because the processor
     * cannot predict them. */
    for (uint32_t n = (l->spans.n - 1) / SPANS_EACH + 1; n > 1; n -= n / 2)
        i += l->starts[i + n / 2] <= time ? n / 2 : 0;
    for (i = i * SPANS_EACH + 1; i < l->spans.n && line_span(l, i)->start <= time; i++)
        ;
    return i;
}

uint32_t line_spans_near(const struct line *l, uint64_t time, uint32_t guess)
{
    enum { NEAR = 8 };
    guess = min_u32(guess, l->spans.n);
    for (int k = 0; k < NEAR; k++) {
        if (guess < l->spans.n && line_span(l, guess)->start <= time)
            guess++;
        else if (guess && line_span(l, guess - 1)->start > time)
            guess--;
        else
            return guess;
    }
    return line_spans_until(l, time);
}

static struct regain *regain_at(const struct line *l, uint32_t i)
{
    return run_at(&l->regains, sizeof(struct regain), i);
}

struct regain *line_regain(const struct line *l, uint32_t span)
{
    uint32_t i = 0;
    BISECT(i, l->regains.n, regain_at(l, i)->span < span);
    return i < l->regains.n && regain_at(l, i)->span == span ? regain_at(l, i) : NULL;
}

const struct regain *line_regain_of(const struct line *l, const struct span *s)
{
    uint32_t i = line_spans_until(l, s->start); /* there may be empty ones of the same time */
    while (i && line_span(l, i - 1) != s)
        i--;
    return i ? line_regain(l, i - 1) : NULL;
}

uint32_t line_acts_until(const struct line *l, uint64_t time)
{
    uint32_t i = 0;
    BISECT(i, l->acts.n, line_act(l, i)->time <= time);
    return i;
}

uint32_t line_holds_until(const struct timeline *t, const struct line *l, uint64_t time)
{
    uint32_t i = 0;
    BISECT(i, l->holds.n, span_end(t, line_hold(l, i)) <= time);
    return i;
}

bool line_waits_again(const struct timeline *t, const struct line *l, uint32_t i, uint64_t within)
{
    if (i + 1 >= l->spans.n)
        return false;
    const struct span *w = line_span(l, i), *next = line_span(l, i + 1);
    uint64_t end = span_end(t, w);
    if (next->start - end >= within)
        return false;
    const struct context *x = timeline_context(t, w->context),
                         *y = timeline_context(t, next->context);
    return y->what == x->what && y->lock.v == x->lock.v &&
           line_acts_until(l, next->start) == line_acts_until(l, end);
}

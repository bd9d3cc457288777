#include "export/wait_sums.h"

#include "base/err.h"

#include <string.h>

const char *sum_stack_text(enum sum_stack why)
{
    static const char *const texts[SUM_STACKS] = {
        [STACK_IS_THERE] = NULL,
        [STACK_NOT_RECORDED] = "no stack",
        [STACK_OWNER_NOT_ASKED] = "owner not asked",
        [STACK_NO_OWNER] = "no owner",
        [STACK_STILL_WAITING] = "still waiting",
        [STACK_TIME_UP] = "timed out",
        [STACK_WAKER_UNKNOWN] = "waker unknown",
        [STACK_LAST_OWNER_SEEN] = "last owner seen",
        [STACK_RELEASE_NOT_RECORDED] = "release not recorded",
        [STACK_THREAD_ENDED] = "thread ended",
    };
    return texts[why];
}

/* --- which stack ------------------------------------------------------------------------------ */

static bool is_for_a_lock(unsigned state)
{
    return state == STATE_BLOCKED || state == STATE_PARKED || state == STATE_REACQUIRING;
}

/* The stack of the wait that the owner was itself in when this one began. */
static stack_id owners_own_wait(const struct timeline *t, const struct wait *w)
{
    uint32_t owner = w->context->other;
    if (!owner || owner >= t->n_lines || !is_for_a_lock(w->context->what))
        return (stack_id){0};
    const struct line *l = &t->lines[owner];
    uint32_t n = line_spans_until(l, w->span->start);
    if (!n || span_end(t, line_span(l, n - 1)) <= w->span->start ||
        span_is_unknown(t, line_span(l, n - 1)))
        return (stack_id){0};
    return timeline_context(t, line_span(l, n - 1)->context)->stack;
}

stack_id wait_owner_stack(const struct timeline *t, const struct wait *w)
{
    if (w->second)
        return span_wake_stack(t, w->span); /* where its owner notified */
    if (w->context->owner_stack.v)
        return w->context->owner_stack;
    return owners_own_wait(t, w);
}

static void of_owner(struct wait_sum_key *k, const struct timeline *t, const struct wait *w)
{
    k->other = is_for_a_lock(w->state) ? w->owner : 0;
    k->stack = wait_owner_stack(t, w);
    k->why = is_for_a_lock(w->state) ? STACK_OWNER_NOT_ASKED : STACK_NO_OWNER;
}

/* by: the wait's span, with who ended this part of it and how. */
static enum sum_stack why_no_waker(const struct timeline *t, const struct wait *w,
                                   const struct span *by)
{
    const struct act *a = span_wake_act(t, by);
    if (w->context->flags & INTERVAL_OPEN && (w->second || !by->waker))
        return STACK_STILL_WAITING;
    if (!by->waker)
        return !w->second && timeline_timed_out(t, w->span) ? STACK_TIME_UP : STACK_WAKER_UNKNOWN;
    if (span_waker_is_seen(by))
        return STACK_LAST_OWNER_SEEN;
    if (!a)
        return cause_type(by->cause) == CAUSE_NONE ? STACK_RELEASE_NOT_RECORDED
                                                   : STACK_NOT_RECORDED;
    return timeline_context(t, a->context)->what == EV_thread_end ? STACK_THREAD_ENDED
                                                                  : STACK_NOT_RECORDED;
}

/* Behind the notify another thread gave the monitor back. */
static struct span woken_by(const struct timeline *t, uint32_t thread, const struct wait *w)
{
    struct span by = *w->span;
    const struct regain *r = w->second ? line_regain_of(&t->lines[thread], w->span) : NULL;
    if (w->second) {
        by.waker = r ? r->owner : 0;
        by.cause = r ? r->cause : 0;
    }
    return by;
}

static void of_waker(struct wait_sum_key *k, const struct timeline *t, uint32_t thread,
                     const struct wait *w)
{
    const struct span by = woken_by(t, thread, w);
    bool sure = by.waker && !span_waker_is_seen(&by);
    k->other = by.waker;
    k->stack = sure ? span_wake_stack(t, &by) : (stack_id){0};
    k->why = (uint8_t)why_no_waker(t, w, &by);
}

void wait_sums_key(const struct analysis *a, enum model_by by, uint32_t thread,
                   const struct wait *w, struct wait_sum_key *k)
{
    memset(k, 0, sizeof *k);
    k->group = lock_set_group(&a->locks, w->context->lock);
    k->state = w->state;
    switch (by) {
    case MODEL_BY_OWNER:
        of_owner(k, &a->timeline, w);
        break;
    case MODEL_BY_WAKER:
        of_waker(k, &a->timeline, thread, w);
        break;
    default:
        k->other = thread;
        k->stack = w->context->stack;
        k->why = STACK_NOT_RECORDED;
        break;
    }
    if (trace_stack(a->trace, k->stack)->n_frames)
        k->why = STACK_IS_THERE;
    else
        k->stack.v = 0;
}

/* --- adding up -------------------------------------------------------------------------------- */

struct adder {
    struct wait_sums *to;
    struct model_export *x;
    struct waits waits;
    unsigned keys;
};

/* False: its owner was not asked. */
static bool count_base(struct model_base *b, const struct wait_sum_key *k, uint64_t n, uint64_t ns)
{
    bool asked = k->why != STACK_OWNER_NOT_ASKED;
    if (k->why != STACK_NO_OWNER) {
        *(asked ? &b->asked : &b->not_asked) += n;
        *(asked ? &b->asked_ns : &b->not_asked_ns) += ns;
    }
    return asked;
}

static int add_span(struct adder *d, uint32_t thread, const struct span *s)
{
    struct wait w[2];
    unsigned n = waits_of(&d->waits, s, w);
    for (unsigned i = 0; i < n; i++) {
        struct wait_sum_key k;
        uint64_t ns = wait_is_unknown(&w[i]) ? 0 : w[i].end - w[i].start;
        wait_sums_key(d->x->a, d->x->options.by, thread, &w[i], &k);
        if (d->x->options.by == MODEL_BY_OWNER &&
            !count_base(&d->x->base, &k, span_count(&d->x->a->timeline, s), ns))
            continue;
        k.waiter = d->keys & SUMS_BY_WAITER ? thread : 0;
        k.other = d->keys & SUMS_BY_OTHER ? k.other : 0;
        struct wait_sum *sum = keyed_put(&d->to->list, &k);
        if (!sum)
            return -ENOMEM;
        sum->count += span_count(&d->x->a->timeline, s);
        sum->ns += ns;
    }
    return 0;
}

static int add_line(struct adder *d, uint32_t thread, uint64_t *done)
{
    const struct line *l = &d->x->a->timeline.lines[thread];
    for (uint32_t i = 0, n; i < l->spans.n; i += n) {
        const struct span *s = run_stretch(&l->spans, sizeof *s, i, &n);
        for (uint32_t k = 0; k < n; k++)
            TRY(add_span(d, thread, &s[k]));
        *done += n;
        if (!model_export_goes_on(d->x, *done, d->x->a->timeline.n_spans))
            break;
    }
    return 0;
}

/* Only the waiter has these: no thread owns what it waits for. */
static int add_halts(struct adder *d, uint32_t thread)
{
    const struct model_options *o = &d->x->options;
    const struct still_line *l = stills_of(&d->x->a->halts, thread);
    for (uint32_t i = 0; i < l->n && o->by == MODEL_BY_WAITER; i++) {
        const struct still *s = &l->v[i];
        uint64_t from = s->from, to = s->to;
        unsigned state = WAITS_HALTED + halt_of(s);
        if (!(o->states >> state & 1) || !selection_clip(&o->selection, &from, &to))
            continue;
        bool has_stack = trace_stack(d->x->a->trace, s->stack)->n_frames;
        const struct wait_sum_key k = {.waiter = d->keys & SUMS_BY_WAITER ? thread : 0,
                                       .other = d->keys & SUMS_BY_OTHER ? thread : 0,
                                       .stack = has_stack ? s->stack : (stack_id){0},
                                       .group =
                                           s->peer.v ? lock_set_group(&d->x->a->locks, s->peer) : 0,
                                       .state = (uint8_t)state,
                                       .why = has_stack ? STACK_IS_THERE : STACK_NOT_RECORDED,
                                       .what = s->what};
        struct wait_sum *sum = keyed_put(&d->to->list, &k);
        if (!sum)
            return -ENOMEM;
        sum->count++;
        sum->ns += to - from;
    }
    return 0;
}

int wait_sums_make(struct wait_sums *s, struct model_export *x, unsigned keys)
{
    struct adder d = {.to = s, .x = x, .keys = keys};
    uint64_t done = 0;
    memset(s, 0, sizeof *s);
    keyed_init(&s->list, sizeof(struct wait_sum_key), sizeof *s->v);
    int rc = 0;
    waits_init(&d.waits, x->a, &x->options.selection, x->options.states);
    for (uint32_t i = 0; i < x->a->timeline.n_lines && rc == 0; i++)
        if (selection_has(&x->options.selection, i))
            rc = add_line(&d, i, &done);
    for (uint32_t i = 1; i < x->a->threads.n && rc == 0; i++)
        if (selection_has(&x->options.selection, i))
            rc = add_halts(&d, i);
    s->v = s->list.v;
    s->n = s->list.n;
    if (rc < 0)
        wait_sums_fini(s);
    return rc;
}

void wait_sums_fini(struct wait_sums *s)
{
    keyed_fini(&s->list);
    memset(s, 0, sizeof *s);
}

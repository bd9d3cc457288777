#include "analyze/leavers.h"

#include "base/err.h"
#include "base/map.h"
#include "base/util.h"

#include <string.h>

enum {
    NS_PER_MS = 1000000,
    LATE_MS = 10, /* a timeout is noticed and recorded within this time */
    OFTEN = 2, /* waits of a place that were alike: they timed out; interrupts come at any time */
};

void leavers_unbind(struct timeline *tl, struct bindings *out, uint32_t thread, uint32_t span,
                    bool ended)
{
    struct span *s = line_span(&tl->lines[thread], span);
    struct regain *r = line_regain(&tl->lines[thread], span);
    enum interaction kind = span_interaction(tl, thread, s);
    if (s->waker != thread) {
        out->sums[kind].count--;
        out->sums[kind].ns -= span_len(tl, s);
    }
    s->waker = s->cause = 0;
    if (r)
        r->owner = r->cause = 0;
    out->unbound[STATE_WAITING] += ended;
}

/* A place of the program that waits with a time limit, and that in ms: by the frame that called
 * Object.wait; 0: without a limit, wait() itself is among the frames. */
static uint64_t key_of(const struct trace *t, stack_id id, uint64_t ms)
{
    const struct trace_stack *s = trace_stack(t, id);
    for (uint32_t i = 0; i < s->n_frames; i++) {
        const struct trace_method *m = trace_method(t, s->frames[i].method);
        if (strcmp(trace_class(t, m->class_)->signature, "Ljava/lang/Object;") != 0)
            return (uint64_t)m->id.v << 40 ^ (uint64_t)(uint32_t)s->frames[i].bci << 24 ^ ms;
        if (strcmp(m->signature, "()V") == 0)
            return 0;
    }
    return ms;
}

static bool is_ended_wait(const struct context *x)
{
    return x->what == STATE_WAITING &&
           !(x->flags & (INTERVAL_OPEN | INTERVAL_UNKNOWN | INTERVAL_REACQUIRED));
}

static bool is_notified(enum interaction kind)
{
    return kind == INTERACTION_NOTIFY || kind == INTERACTION_NOTIFY_ALL;
}

static bool may_have_timed_out(const struct trace *t, const struct timeline *tl,
                               const struct map *limits, const struct span *s)
{
    uint64_t ms = (span_wake_time(tl, s) - s->start) / NS_PER_MS;
    stack_id stack = timeline_context(tl, s->context)->stack;
    for (uint64_t limit = ms > LATE_MS ? ms - LATE_MS : 1; limit <= ms; limit++) {
        const uint64_t *times = map_find(limits, key_of(t, stack, limit));
        if (times && *times >= OFTEN)
            return true;
    }
    return false;
}

/* How long the waits were that nobody is known to have ended. */
static int find_limits(const struct trace *t, const struct timeline *tl, struct map *limits)
{
    for (uint32_t i = 1; i < tl->n_lines; i++)
        for (uint32_t k = 0; k < tl->lines[i].spans.n; k++) {
            const struct span *s = line_span(&tl->lines[i], k);
            const struct context *x = timeline_context(tl, s->context);
            uint64_t ms = span_len(tl, s) / NS_PER_MS;
            uint64_t key = ms && !s->waker && is_ended_wait(x) ? key_of(t, x->stack, ms) : 0;
            uint64_t *times = key ? map_put(limits, key) : NULL;
            if (key && !times)
                return -ENOMEM;
            if (times)
                ++*times;
        }
    return 0;
}

int leavers_doubt(const struct trace *t, struct timeline *tl, struct bindings *out)
{
    struct map limits;
    map_init(&limits);
    int rc = find_limits(t, tl, &limits);
    for (uint32_t i = 1; rc == 0 && i < tl->n_lines; i++)
        for (uint32_t k = 0; k < tl->lines[i].spans.n; k++) {
            const struct span *s = line_span(&tl->lines[i], k);
            if (s->waker && is_ended_wait(timeline_context(tl, s->context)) &&
                is_notified(span_interaction(tl, i, s)) && may_have_timed_out(t, tl, &limits, s))
                leavers_unbind(tl, out, i, k, true);
        }
    map_fini(&limits);
    return rc;
}

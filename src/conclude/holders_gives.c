/* Who gives a resource to whom, and when it is wanted. */
#include "base/err.h"
#include "base/util.h"
#include "conclude/holders_parts.h"

#include <errno.h>
#include <stdlib.h>

enum {
    PASSED_ON = 64,    /* hops of a message from thread to thread */
    AT_ONCE_PART = 10, /* of the time in which at least one thing is in use */
};

/* --- who gives -------------------------------------------------------------------------------- */

const struct span *holder_last_wait(const struct holder *h, uint32_t thread, uint64_t time)
{
    const struct timeline *t = &h->a->timeline;
    const struct line *l = &t->lines[thread];
    uint32_t i = line_spans_until(l, time), least = i - min_u32(i, LOOK_BACK);
    for (; i > least; i--) {
        const struct span *s = line_span(l, i - 1);
        if (holder_is_of(h, s->context) && span_end(t, s) <= time)
            return s;
    }
    return NULL;
}

uint64_t holder_got_it(const struct holder *h, uint32_t thread, uint64_t time)
{
    const struct span *s = holder_last_wait(h, thread, time);
    return s ? span_end(&h->a->timeline, s) : 0;
}

/* The last wait for the resource that had ended when the thread acted, if the thread is still in
 * the same call.  Threads in one queue wake each other, which gives nothing back.  NULL: it is in
 * another call. */
static const struct span *passes_on(const struct holder *h, uint32_t thread, uint64_t time,
                                    stack_id stack)
{
    const struct timeline *t = &h->a->timeline;
    const struct span *o = holder_last_wait(h, thread, time);
    if (!o || (h->r->kind == RESOURCE_ANSWERS && time - span_end(t, o) > ONE_GIVE_NS))
        return NULL; /* the thread came back, like the last one at a barrier */
    stack_id waited = timeline_context(t, o->context)->stack;
    bool at_once = time - span_end(t, o) <= LOOKS_AT_MOST_NS; /* it releases the lock */
    return resource_same_call(h->all, waited, stack) ||
                   (at_once && resource_same_method(h->all, waited, stack))
               ? o
               : NULL;
}

struct give holder_first_give(const struct holder *h, const struct span *s)
{
    const struct timeline *t = &h->a->timeline;
    struct give g = {.thread = s->waker,
                     .time = min_u64(span_wake_time(t, s), span_end(t, s)),
                     .stack = span_wake_stack(t, s)};
    if (resource_leaves_full(h->all, h->a, s))
        return (struct give){.thread = 0};
    for (int i = 0; i < PASSED_ON; i++) {
        const struct span *o = passes_on(h, g.thread, g.time, g.stack);
        if (!o)
            return g;
        if (!o->waker || o->waker >= t->n_lines)
            break;
        g = (struct give){.thread = o->waker,
                          .time = min_u64(span_wake_time(t, o), g.time),
                          .stack = span_wake_stack(t, o)};
    }
    return (struct give){.thread = 0};
}

int holder_add_wanted(void *self, struct resource *r, const struct resource_wait *w)
{
    struct holder *h = self;
    struct stretch v = {w->from, w->to};
    UNUSED(r);
    buf_put(&h->wanted, &v, sizeof v);
    return h->wanted.oom ? -ENOMEM : 0;
}

static int by_from(const void *x, const void *y)
{
    const struct stretch *a = x, *b = y;
    return (a->from > b->from) - (a->from < b->from);
}

void holder_merge_wanted(struct holder *h)
{
    struct stretch *v = (void *)h->wanted.p;
    size_t n = h->wanted.len / sizeof *v, kept = 0;
    if (n)
        qsort(v, n, sizeof *v, by_from);
    for (size_t i = 0; i < n; i++)
        if (kept && v[i].from <= v[kept - 1].to)
            v[kept - 1].to = max_u64(v[kept - 1].to, v[i].to);
        else
            v[kept++] = v[i];
    h->wanted.len = kept * sizeof *v;
}

uint64_t holder_wanted(const struct holder *h)
{
    const struct stretch *v = (const void *)h->wanted.p;
    uint64_t ns = 0;
    for (size_t i = 0; i < h->wanted.len / sizeof *v; i++)
        ns += v[i].to - v[i].from;
    return ns;
}

uint64_t holder_wanted_in(struct holder *h, struct stretch in)
{
    const struct stretch *v = (const void *)h->wanted.p;
    size_t n = h->wanted.len / sizeof *v, i = 0;
    uint64_t ns = 0;
    BISECT(i, n, v[i].to <= in.from);
    for (; i < n && v[i].from < in.to && h->steps++ <= STEPS_MAX; i++)
        ns += min_u64(v[i].to, in.to) - max_u64(v[i].from, in.from);
    return ns;
}

int holder_add_give(void *self, struct resource *r, const struct resource_wait *w)
{
    struct holder *h = self;
    const struct span *s = w->span;
    UNUSED(r);
    if (w->again || !s->waker || s->waker >= h->a->timeline.n_lines ||
        resource_waits_again(h->a, w))
        return 0;
    struct give g = {.thread = s->waker,
                     .time = span_wake_time(&h->a->timeline, s),
                     .stack = span_wake_stack(&h->a->timeline, s)};
    if (passes_on(h, g.thread, g.time, g.stack) || resource_leaves_full(h->all, h->a, s))
        return 0;
    buf_put(&h->gives, &g, sizeof g);
    return h->gives.oom ? -ENOMEM : 0;
}

static int by_thread_and_time(const void *x, const void *y)
{
    const struct give *a = x, *b = y;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return (a->time > b->time) - (a->time < b->time);
}

void holder_sort_gives(struct holder *h)
{
    if (h->gives.len)
        qsort(h->gives.p, h->gives.len / sizeof(struct give), sizeof(struct give),
              by_thread_and_time);
}

static int by_time(const void *x, const void *y)
{
    const struct edge *a = x, *b = y;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->change - b->change;
}

/* How long more than `level` things were in use at once. */
static uint64_t time_above(const struct edge *v, size_t n, int level)
{
    uint64_t ns = 0;
    int now = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        now += v[i].change;
        ns += now > level ? v[i + 1].time - v[i].time : 0;
    }
    return ns;
}

/* A give is seen a moment late, when the next thread may already have the thing.  So where takes
 * are not recorded, a number counts as in use at once only if it lasted longer than moments. */
void holder_count_at_once(struct holder *h)
{
    struct edge *v = (void *)h->edges.p;
    size_t n = h->edges.len / sizeof *v;
    int now = 0, most = 0;
    if (n)
        qsort(v, n, sizeof *v, by_time);
    for (size_t i = 0; i < n; i++) {
        now += v[i].change;
        most = now > most ? now : most;
    }
    uint64_t least = h->r->all_known ? 0 : time_above(v, n, 0) / AT_ONCE_PART;
    while (most > 1 && time_above(v, n, most - 1) < least)
        most--;
    h->r->at_once = (uint32_t)most;
}

uint64_t holder_time_above(const struct holder *h, uint32_t level)
{
    return time_above((const void *)h->edges.p, h->edges.len / sizeof(struct edge), (int)level);
}

int holder_note_waiter(void *self, struct resource *r, const struct resource_wait *w)
{
    struct holder *h = self;
    UNUSED(r);
    h->waits[w->thread] = true;
    return 0;
}

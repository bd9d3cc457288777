/* Finds the threads that have a permit of a semaphore, by its recorded calls, and the permits that
 * no thread can release. */
#include "base/err.h"
#include "base/util.h"
#include "conclude/holders_parts.h"

/* The semaphore in whose acquire a wait was: the park itself names an object inside it. */
int holder_find_semaphore(void *self, struct resource *r, const struct resource_wait *w)
{
    struct holder *h = self;
    const struct line *l = &h->a->timeline.lines[w->thread];
    uint32_t n = line_acts_until(l, w->from);
    UNUSED(r);
    if (h->semaphore.v || !n)
        return 0;
    const struct context *x = timeline_context(&h->a->timeline, line_act(l, n - 1)->context);
    if (x->what == EV_semaphore_acquire_enter)
        h->semaphore = x->lock;
    return 0;
}

/* Whether a thread can no longer release a permit: it has ended, or waits for one itself at the
 * end. */
static bool cannot_release(const struct holder *h, uint32_t thread)
{
    const struct line *l = &h->a->timeline.lines[thread];
    const struct span *s = l->spans.n ? line_span(l, l->spans.n - 1) : NULL;
    return h->a->threads.v[thread].has_ended ||
           (s && holder_is_of(h, s->context) &&
            timeline_context(&h->a->timeline, s->context)->flags & INTERVAL_OPEN);
}

/* How many permits a thread has acquired and not released, by its calls, and the last of these
 * calls. */
struct balance {
    int64_t has;
    uint64_t time;
    stack_id at;
};

/* A thread has a permit from each acquire, with or without a wait, to its next release. */
static int take_permits_of(struct holder *h, uint32_t thread, struct balance *b)
{
    const struct timeline *t = &h->a->timeline;
    const struct line *l = &t->lines[thread];
    uint64_t since = 0;
    stack_id at = {0};
    *b = (struct balance){.has = 0};
    for (uint32_t i = 0; i < l->acts.n; i++) {
        const struct act *a = line_act(l, i);
        const struct context *x = timeline_context(t, a->context);
        if (x->lock.v != h->semaphore.v)
            continue;
        if (x->what == EV_semaphore_acquire_enter)
            at = x->stack;
        if (x->what == EV_semaphore_acquire_exit && !x->flags) {
            since = a->time;
            *b = (struct balance){b->has + 1, a->time, at};
        }
        if (x->what != EV_semaphore_release)
            continue;
        if (since)
            TRY(holder_hold(h, thread, since, a->time));
        since = 0;
        b->has--;
    }
    return 0;
}

/* Whether each call is recorded, and threads wait for a permit at the end. */
static bool may_be_lost(const struct holder *h)
{
    return h->r->open && !*trace_info(h->a->trace, "orca.attached", "") &&
           !analysis_lost_events(h->a) && !h->a->decoded.summed.waits;
}

/* Permits are lost if their threads cannot release them.  No permit counts as lost while another
 * thread could still release it, nor where threads release permits that others have acquired
 * (perhaps several in one call). */
int holder_take_permits(struct holder *h)
{
    struct resource *r = h->r;
    uint64_t last = 0, lost = 0;
    bool sure = may_be_lost(h);
    for (uint32_t thread = 1; thread < h->a->timeline.n_lines; thread++) {
        struct balance b;
        TRY(take_permits_of(h, thread, &b));
        sure &= b.has == 0 || (b.has > 0 && cannot_release(h, thread));
        lost += sure ? (uint64_t)b.has : 0;
        if (!sure || !b.has || b.time <= last)
            continue;
        last = b.time;
        r->lost_by = thread;
        r->lost_at = b.at;
    }
    r->lost = sure ? (uint32_t)min_u64(lost, UINT32_MAX) : 0;
    return 0;
}

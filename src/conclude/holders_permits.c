/* Who has a permit of a semaphore, by its recorded calls, and which permits nobody can release any
 * longer. */
#include "base/err.h"
#include "base/util.h"
#include "conclude/holders_parts.h"

/* That in whose acquire a wait was: its park names an object inside. */
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

/* Whether a thread does nothing any longer that could release one: it has ended, or waits for one
 * itself at the end. */
static bool cannot_release(const struct holder *h, uint32_t thread)
{
    const struct line *l = &h->a->timeline.lines[thread];
    const struct span *s = l->spans.n ? line_span(l, l->spans.n - 1) : NULL;
    return h->a->threads.v[thread].has_ended ||
           (s && holder_is_of(h, s->context) &&
            timeline_context(&h->a->timeline, s->context)->flags & INTERVAL_OPEN);
}

/* What a thread has acquired and not released, by the number of calls; the last one. */
struct balance {
    int64_t has;
    uint64_t time;
    stack_id at;
};

static struct balance balance_of(const struct holder *h, uint32_t thread)
{
    const struct timeline *t = &h->a->timeline;
    const struct line *l = &t->lines[thread];
    struct balance b = {.has = 0};
    stack_id at = {0};
    for (uint32_t i = 0; i < l->acts.n; i++) {
        const struct act *a = line_act(l, i);
        const struct context *x = timeline_context(t, a->context);
        if (x->lock.v != h->semaphore.v)
            continue;
        if (x->what == EV_semaphore_acquire_enter)
            at = x->stack;
        if (x->what == EV_semaphore_acquire_exit && !x->flags)
            b = (struct balance){b.has + 1, a->time, at};
        b.has -= x->what == EV_semaphore_release;
    }
    return b;
}

/* Of a semaphore of which each call is recorded, and that threads wait for at the end: the permits of
 * those who cannot release them.  None where somebody else still could, nor where threads release
 * what others have acquired, several in one call perhaps. */
static void find_lost(struct holder *h)
{
    struct resource *r = h->r;
    uint64_t last = 0;
    int64_t lost = 0;
    if (!r->open || *trace_info(h->a->trace, "orca.attached", "") || analysis_lost_events(h->a) ||
        h->a->decoded.summed.waits)
        return;
    for (uint32_t thread = 1; thread < h->a->timeline.n_lines; thread++) {
        struct balance b = balance_of(h, thread);
        if (b.has < 0 || (b.has > 0 && !cannot_release(h, thread)))
            return;
        lost += b.has;
        if (b.has && b.time > last) {
            last = b.time;
            r->lost_by = thread;
            r->lost_at = b.at;
        }
    }
    r->lost = (uint32_t)min_u64((uint64_t)lost, UINT32_MAX);
}

int holder_take_permits(struct holder *h)
{
    const struct timeline *t = &h->a->timeline;
    for (uint32_t thread = 1; thread < t->n_lines; thread++) {
        const struct line *l = &t->lines[thread];
        uint64_t since = 0;
        for (uint32_t i = 0; i < l->acts.n; i++) {
            const struct act *a = line_act(l, i);
            const struct context *x = timeline_context(t, a->context);
            if (x->lock.v != h->semaphore.v)
                continue;
            if (x->what == EV_semaphore_acquire_exit && !x->flags)
                since = a->time;
            if (x->what == EV_semaphore_release && since) {
                TRY(holder_hold(h, thread, since, a->time));
                since = 0;
            }
        }
    }
    find_lost(h);
    return 0;
}

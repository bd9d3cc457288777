/* Who has the things of a pool: from the end of a wait for one until it goes back. */
#include "base/err.h"
#include "base/util.h"
#include "conclude/holders_parts.h"
#include "conclude/resource_names.h"

enum {
    HELPERS = 3,      /* helpers on a thing's way back; one that has it for less than this part */
    HELPED_PART = 10, /* of the time than this only inspects it */
};

/* A pool's helper inspects a thing that comes back, or works with it until then.  It never waits
 * there, and gives once for each piece of work.  So a give of such a thread counts for the thread
 * that gave it the work, if that thread waits there. */
static void look_behind_helpers(struct holder *h)
{
    struct give *v = (void *)h->gives.p;
    struct give before = {.thread = 0};
    for (size_t i = 0, n = h->gives.len / sizeof *v; i < n; i++) {
        struct give at = v[i];
        for (int k = 0; k < HELPERS && !h->waits[at.thread]; k++) {
            const struct span *o = resource_last_work(h->a, at.thread, at.time);
            if (!o || (k == 0 && before.thread == at.thread && o->start < before.time))
                break;
            at = (struct give){.thread = o->waker,
                               .time = span_wake_time(&h->a->timeline, o),
                               .stack = span_wake_stack(&h->a->timeline, o)};
        }
        before = v[i];
        if (!h->waits[at.thread] || at.thread == v[i].thread)
            continue;
        at.helper = before.thread;
        at.given = before.time;
        v[i] = at;
    }
}

static stack_id stack_of(const struct holder *h, const struct span *s)
{
    return timeline_context(&h->a->timeline, s->context)->stack;
}

/* A thread holds a thing from the end of its wait to the next time that it ends another thread's
 * wait. */
static int take_thing(void *self, struct resource *r, const struct resource_wait *w)
{
    struct holder *h = self;
    const struct give *v = (const void *)h->gives.p;
    uint64_t from = span_end(&h->a->timeline, w->span);
    size_t n = h->gives.len / sizeof *v, i = 0;
    UNUSED(r);
    if (w->again || !w->span->waker || w->open)
        return 0;
    h->taken += !h->by_idle;
    BISECT(i, n, v[i].thread < w->thread || (v[i].thread == w->thread && v[i].time < from));
    if (i == n || v[i].thread != w->thread)
        return 0;
    /* A later wait of its own comes first: the thing went back when no thread waited. */
    const struct line *l = &h->a->timeline.lines[w->thread];
    for (uint32_t k = line_spans_until(l, from); k < l->spans.n; k++) {
        const struct span *o = line_span(l, k);
        if (o->start >= v[i].time)
            break;
        if (holder_is_of(h, o->context) &&
            !resource_other_call(h->all, stack_of(h, w->span), stack_of(h, o)))
            return 0; /* another one, by another call of the same method, is wanted with it */
        if (wait_is_for_work(h->a, o->context)) /* likewise, at the latest by then */
            return h->by_idle ? holder_hold(h, w->thread, from, o->start) : 0;
    }
    if (h->by_idle)
        return 0;
    h->back++;
    TRY(holder_hold(h, w->thread, from, v[i].time));
    bool worked = v[i].helper && HELPED_PART * (v[i].given - v[i].time) > v[i].given - from;
    return worked ? holder_hold(h, v[i].helper, v[i].time, v[i].given) : 0;
}

/* No event shows a thing that goes back while no thread waits.  If most do, the holds end at the
 * thread's next wait for work, which is the latest possible moment. */
static int take_things(struct holder *h)
{
    TRY(resource_each_wait(h->r, h->a, take_thing, h));
    holder_count_at_once(h);
    if (2 * h->back >= h->taken)
        return 0;
    h->by_idle = true;
    return resource_each_wait(h->r, h->a, take_thing, h);
}

/* Whether threads that never wait there ended most of the waits: they empty a queue, or bring
 * more. */
static bool others_give(const struct holder *h)
{
    const struct give *v = (const void *)h->gives.p;
    size_t n = h->gives.len / sizeof *v, back = 0;
    for (size_t i = 0; i < n; i++)
        back += h->waits[v[i].thread];
    return 2 * back < n;
}

int holder_find_things(struct holder *h)
{
    TRY(resource_each_wait(h->r, h->a, holder_add_wanted, h));
    holder_merge_wanted(h);
    TRY(resource_each_wait(h->r, h->a, holder_find_semaphore, h));
    if (h->semaphore.v) {
        TRY(holder_take_permits(h));
        h->r->all_known = h->edges.len != 0;
        holder_count_at_once(h);
        if (h->r->all_known)
            return 0;
    }
    TRY(resource_each_wait(h->r, h->a, holder_note_waiter, h));
    TRY(resource_each_wait(h->r, h->a, holder_add_give, h));
    holder_sort_gives(h);
    if (2 * h->r->put_ns < h->r->ns)
        look_behind_helpers(h);
    h->r->others_give = others_give(h);
    h->r->brought = h->semaphore.v && h->r->others_give;
    if (h->r->others_give)
        return resource_each_wait(h->r, h->a, holder_take_answer, h);
    holder_sort_gives(h);
    return take_things(h);
}

/* Who has the things of a pool: from the end of a wait for one until it goes back. */
#include "analyze/io_calls.h"
#include "base/err.h"
#include "base/util.h"
#include "conclude/holders_parts.h"
#include "conclude/resource_names.h"

#include <errno.h>
#include <stdlib.h>

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
    uint64_t began = 0;
    for (size_t i = 0, n = h->gives.len / sizeof *v; i < n; i++) {
        struct give at = v[i];
        for (int k = 0; k < HELPERS && !h->waits[at.thread]; k++) {
            const struct span *o = resource_last_work(h->a, at.thread, at.time);
            if (!o || (k == 0 && before.thread == at.thread && o->start < before.time))
                break;
            began = k == 0 ? span_end(&h->a->timeline, o) : began;
            at = (struct give){.thread = o->waker,
                               .time = span_wake_time(&h->a->timeline, o),
                               .stack = span_wake_stack(&h->a->timeline, o)};
        }
        before = v[i];
        if (!h->waits[at.thread] || at.thread == v[i].thread)
            continue;
        at.helper = before.thread;
        at.began = began;
        at.given = before.time;
        v[i] = at;
    }
}

/* The first give of a thread from `time` on; NULL: there is none. */
static const struct give *next_give(const struct holder *h, uint32_t thread, uint64_t time)
{
    const struct give *v = (const void *)h->gives.p;
    size_t n = h->gives.len / sizeof *v, i = 0;
    BISECT(i, n, v[i].thread < thread || (v[i].thread == thread && v[i].time < time));
    return i < n && v[i].thread == thread ? &v[i] : NULL;
}

static stack_id stack_of(const struct holder *h, uint32_t context)
{
    return timeline_context(&h->a->timeline, context)->stack;
}

/* Whether a thread that has just got a thing leaves the lock around that: it unlocks in a method of the
 * same class that has called the one that waited. */
static bool is_of_take(const struct holder *h, stack_id takes, uint64_t from, const struct give *g)
{
    const struct trace *t = h->a->trace;
    const struct trace_stack *s = trace_stack(t, takes);
    method_id by = program_library(&h->all->program, g->stack).method,
              waited = program_library(&h->all->program, takes).method;
    if (g->time - from > ONE_GIVE_NS || !by.v || by.v == waited.v ||
        trace_method(t, by)->class_.v != trace_method(t, waited)->class_.v)
        return false;
    for (uint32_t i = 0; i < s->n_frames; i++)
        if (s->frames[i].method.v == by.v)
            return true;
    return false;
}

/* The give that ends what a thread has got at `from`. */
static const struct give *give_of(const struct holder *h, const struct resource_wait *w,
                                  uint64_t from)
{
    const struct give *g = next_give(h, w->thread, from);
    while (g && is_of_take(h, stack_of(h, w->span->context), from, g))
        g = next_give(h, w->thread, g->time + 1);
    return g;
}

/* The method in which a thread takes a thing and gives it back: the innermost one that both stacks
 * have in common. */
static method_id taken_in(const struct trace *t, stack_id takes, stack_id gives)
{
    const struct trace_stack *a = trace_stack(t, takes), *b = trace_stack(t, gives);
    uint32_t n = resource_shared_frames(a, b);
    if ((a->flags | b->flags) & STACK_TRUNCATED)
        return (method_id){0};
    if (n < a->n_frames && n < b->n_frames &&
        a->frames[a->n_frames - n - 1].method.v == b->frames[b->n_frames - n - 1].method.v)
        n++; /* by another call of it */
    return n ? a->frames[a->n_frames - n].method : (method_id){0};
}

/* The same of the waits at one call site, once it is known from one of them; 0: unknown. */
static method_id where_taken(struct holder *h, const struct resource_wait *w, const struct give *g)
{
    uint64_t *known = map_put(&h->taken_in, w->span->context);
    if (known && !*known && g && !g->helper)
        *known = taken_in(h->a->trace, stack_of(h, w->span->context), g->stack).v;
    return (method_id){known && !(g && g->helper) ? (uint32_t)*known : 0};
}

static bool is_outside(const struct trace *t, stack_id stack, method_id in)
{
    const struct trace_stack *s = trace_stack(t, stack);
    bool outside = s->n_frames && !(s->flags & STACK_TRUNCATED);
    for (uint32_t i = 0; i < s->n_frames && outside; i++)
        outside = s->frames[i].method.v != in.v;
    return outside;
}

/* When a thread is first seen outside of a method after `from`, at the latest `to`: it has given
 * the thing back before, when no thread waited, and what it gives at `to` is another one. */
static uint64_t left_at(struct holder *h, uint32_t thread, uint64_t from, uint64_t to, method_id in)
{
    const struct trace *t = h->a->trace;
    const struct line *l = &h->a->timeline.lines[thread];
    const struct still_line *halts = stills_of(&h->a->halts, thread);
    const struct run *looks = samples_of(&h->a->samples, samples_wall(&h->a->samples), thread);
    if (!in.v)
        return to;
    for (uint32_t i = line_spans_until(l, from); i < l->spans.n && h->steps <= STEPS_MAX; i++) {
        const struct span *s = line_span(l, i);
        h->steps++;
        if (s->start >= to || is_outside(t, stack_of(h, s->context), in)) {
            to = min_u64(to, s->start);
            break;
        }
    }
    for (uint32_t i = still_first(halts, from); i < halts->n && halts->v[i].from < to; i++)
        if (halts->v[i].from >= from && is_outside(t, halts->v[i].stack, in))
            to = halts->v[i].from;
    for (uint32_t i = samples_before(looks, from); i < looks->n; i++) {
        const struct sample *s = sample_at(looks, i);
        if (s->time >= to)
            break;
        if (s->time >= from && is_outside(t, s->stack, in))
            to = s->time - (s->time > from); /* without the sample itself */
    }
    return to;
}

/* A thread holds a thing from the end of its wait to the next time that it ends another thread's
 * wait. */
static int take_thing(void *self, struct resource *r, const struct resource_wait *w)
{
    struct holder *h = self;
    uint64_t from = span_end(&h->a->timeline, w->span);
    UNUSED(r);
    if (w->again || !w->span->waker || w->open)
        return 0;
    h->taken += !h->by_idle;
    const struct give *g = give_of(h, w, from);
    method_id in = where_taken(h, w, g);
    if (!g)
        return 0;
    /* A later wait of its own comes first: the thing went back when no thread waited. */
    const struct line *l = &h->a->timeline.lines[w->thread];
    for (uint32_t k = line_spans_until(l, from); k < l->spans.n; k++) {
        const struct span *o = line_span(l, k);
        if (o->start >= g->time)
            break;
        if (holder_is_of(h, o->context) &&
            !(h->nested &&
              resource_later_call(h->all, stack_of(h, w->span->context), stack_of(h, o->context))))
            return 0;
        if (wait_is_for_work(h->a, o->context)) /* likewise, at the latest by then */
            return h->by_idle
                       ? holder_hold(h, w->thread, from, left_at(h, w->thread, from, o->start, in))
                       : 0;
    }
    if (h->by_idle)
        return 0;
    h->back++;
    TRY(holder_hold(h, w->thread, from, left_at(h, w->thread, from, g->time, in)));
    bool worked = g->helper && HELPED_PART * (g->given - g->began) > g->given - from;
    return worked ? holder_hold(h, g->helper, g->began, g->given) : 0;
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

/* --- one more, while it has one --------------------------------------------------------------- */

/* Waits in which a thread may have a thing already: it waits in a call further down in a method
 * that also takes one before. */
struct nested {
    struct holder *h;
    bool *inner; /* [contexts.n] */
    bool open;   /* a thread waits so at the end */
    /* Things that were kept, or given back before, as far as a wait for the first one shows it. */
    uint64_t kept, returned;
};

static void find_inner(struct nested *n)
{
    enum { PLACES = 64 };
    uint32_t at[PLACES], k = 0;
    const struct holder *h = n->h;
    for (uint32_t i = 1; i < h->a->timeline.contexts.n && k < PLACES; i++)
        if (holder_is_of(h, i))
            at[k++] = i;
    for (uint32_t i = 0; i < k; i++)
        for (uint32_t j = 0; j < k && !n->inner[at[i]]; j++)
            n->inner[at[i]] = resource_later_call(h->all, stack_of(h, at[j]), stack_of(h, at[i]));
}

/* The wait for the first thing, behind looks for the second one; NULL: the thread did not wait for
 * the first. */
static const struct span *first_of(const struct nested *n, const struct resource_wait *w)
{
    const struct holder *h = n->h;
    const struct span *o = holder_last_wait(h, w->thread, w->from);
    for (uint32_t i = 0; o && o->context == w->span->context && i < LOOK_BACK; i++)
        o = o->start ? holder_last_wait(h, w->thread, o->start - 1) : NULL;
    bool is_first =
        o && resource_later_call(h->all, stack_of(h, o->context), stack_of(h, w->span->context));
    return is_first ? o : NULL;
}

static int count_nested(void *self, struct resource *r, const struct resource_wait *w)
{
    struct nested *n = self;
    UNUSED(r);
    if (w->again || !n->inner[w->span->context])
        return 0;
    const struct span *first = first_of(n, w);
    n->open |= w->open;
    if (!first || !first->waker)
        return 0;
    const struct give *g = next_give(n->h, w->thread, span_end(&n->h->a->timeline, first));
    n->returned += g && g->time < w->from;
    n->kept += g && g->time >= w->from;
    return 0;
}

/* While it waits; take_thing has counted where it also waited for the first one, and was seen to
 * give it back. */
static int take_inner(void *self, struct resource *r, const struct resource_wait *w)
{
    struct nested *n = self;
    UNUSED(r);
    if (w->again || !n->inner[w->span->context])
        return 0;
    const struct span *first = first_of(n, w);
    if (!first)
        return holder_hold(n->h, w->thread, w->from, w->to);
    uint64_t from = span_end(&n->h->a->timeline, first);
    if (!first->waker || next_give(n->h, w->thread, from))
        return 0;
    return holder_hold(n->h, w->thread, from, w->to);
}

/* --- all -------------------------------------------------------------------------------------- */

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

static int hold_things_of(struct holder *h, struct nested *n)
{
    bool known = resource_is_known_pool(h->r->take, h->a->trace);
    find_inner(n);
    TRY(resource_each_wait(h->r, h->a, count_nested, n));
    /* Where no thread could give anything back, because all of them wait for one more, only the code
     * says that they have one: of libraries that are known to have a pool. */
    h->nested = n->kept > n->returned || (known && n->kept == n->returned && n->open);
    h->r->others_give = others_give(h) && !(h->nested && known);
    h->r->brought = h->semaphore.v && h->r->others_give;
    /* Who loads an entry does it for all that wait: they get no thing that they would give back. */
    if (h->r->others_give || resource_is_loading(h->r, h->a))
        return resource_each_wait(h->r, h->a, holder_take_answer, h);
    holder_sort_gives(h);
    TRY(take_things(h));
    if (!h->nested)
        return 0;
    TRY(resource_each_wait(h->r, h->a, take_inner, n));
    holder_count_at_once(h);
    return 0;
}

static int hold_things(struct holder *h)
{
    struct nested n = {.h = h, .inner = calloc(h->a->timeline.contexts.n + 1, sizeof(bool))};
    int rc = n.inner ? hold_things_of(h, &n) : -ENOMEM;
    free(n.inner);
    return rc;
}

/* While things are wanted, all are in use: one at least, and where each take is known, as many as once
 * were. */
static void want_all(struct holder *h)
{
    h->r->wanted = holder_wanted(h) * (h->r->all_known ? max_u32(h->r->at_once, 1) : 1);
}

int holder_find_things(struct holder *h)
{
    TRY(resource_each_wait(h->r, h->a, holder_add_wanted, h));
    holder_merge_wanted(h);
    TRY(resource_each_wait(h->r, h->a, holder_find_semaphore, h));
    if (h->semaphore.v) {
        TRY(holder_take_permits(h));
        bool since = !*trace_info(h->a->trace, "orca.attached", ""); /* not those from before */
        h->r->all_known = h->edges.len != 0 && since;
        holder_count_at_once(h);
        if (h->edges.len) {
            want_all(h);
            return 0;
        }
    }
    TRY(resource_each_wait(h->r, h->a, holder_note_waiter, h));
    TRY(resource_each_wait(h->r, h->a, holder_add_give, h));
    holder_sort_gives(h);
    if (2 * h->r->put_ns < h->r->ns)
        look_behind_helpers(h);
    TRY(hold_things(h));
    if (!h->r->others_give && !resource_is_loading(h->r, h->a))
        want_all(h);
    return 0;
}

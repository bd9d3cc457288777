/* Who works on the answers that threads wait for, and how long requests queue before that. */
#include "analyze/io_calls.h"
#include "base/err.h"
#include "base/util.h"
#include "conclude/holders_parts.h"
#include "conclude/resource_names.h"

#include <errno.h>
#include <string.h>

enum {
    MESSENGER = 4,   /* times as long in selects as elsewhere: a thread only passes messages on */
    TIMER_PART = 10, /* of a wait: a timer ends it within this part after its own wait */
};

/* When the giver began to work on what it gave at `to`: after its previous give, after its last wait
 * for work, and not before it was there. */
static uint64_t begun(const struct holder *h, uint32_t giver, uint64_t to)
{
    const struct give *v = (const void *)h->gives.p;
    const struct span *work = resource_last_idle(h->a, giver, to);
    size_t n = h->gives.len / sizeof *v, i = 0;
    uint64_t since = work ? span_end(&h->a->timeline, work) : h->a->threads.v[giver].from, at = to;
    BISECT(i, n, v[i].thread < giver || (v[i].thread == giver && v[i].time < to));
    for (; i && v[i - 1].thread == giver; i--) {
        if (at - v[i - 1].time > ONE_GIVE_NS)
            return max_u64(since, v[i - 1].time);
        at = v[i - 1].time;
    }
    return since;
}

/* Whether input of a thread was recorded in a stretch of time. */
static bool reads_between(const struct holder *h, uint32_t thread, uint64_t from, uint64_t to)
{
    const struct still_line *l = stills_of(&h->a->halts, thread);
    uint32_t i = still_first(l, from);
    while (i < l->n && l->v[i].from < to && (l->v[i].looks || l->v[i].what != IO_KIND_input))
        i++;
    return i < l->n && l->v[i].from < to;
}

/* Whether a thread ended a wait only because time had passed: it did little since its own wait for
 * work timed out, or was ended by a thread of its pool.  Such a thread is a timer, and gave no
 * answer. */
static bool is_of_time(const struct holder *h, const struct give *g, const struct resource_wait *w)
{
    const struct timeline *t = &h->a->timeline;
    const struct line *l = &t->lines[g->thread];
    uint32_t i = line_spans_until(l, g->time);
    const struct span *s = i ? line_span(l, i - 1) : NULL;
    if (!s || span_end(t, s) > g->time ||
        TIMER_PART * (g->time - span_end(t, s)) > g->time - min_u64(w->from, g->time))
        return false;
    if (reads_between(h, g->thread, span_end(t, s), g->time))
        return false;
    const struct context *x = timeline_context(t, s->context);
    if (x->what == STATE_SLEEPING)
        return !program_is_in(&h->all->program, x->stack);
    return wait_is_for_work(h->a, s->context) &&
           (s->waker ? resource_same_pool(h->a, s->waker, g->thread) : x->flags & INTERVAL_TIMED);
}

/* Whether a wait ends in code of the program that an executor runs once, not periodically: then the
 * program itself asked for the delay. */
static bool is_asked_for(const struct program *p, stack_id stack)
{
    const struct trace_stack *s = trace_stack(p->trace, stack);
    bool once = false;
    for (uint32_t i = 0; i < s->n_frames && !once; i++) {
        method_id m = s->frames[i].method;
        once = strcmp(trace_method(p->trace, m)->name, "run") == 0 &&
               strcmp(trace_method_class(p->trace, m), "Ljava/util/concurrent/FutureTask;") == 0;
    }
    return once && program_is_in(p, stack);
}

/* Whether two stacks have a method in common that is not the JDK's. */
static bool in_one_call(const struct program *p, stack_id x, stack_id y)
{
    const struct trace_stack *a = trace_stack(p->trace, x), *b = trace_stack(p->trace, y);
    for (uint32_t i = 0; i < a->n_frames; i++)
        for (uint32_t k = 0; k < b->n_frames; k++)
            if (a->frames[i].method.v == b->frames[k].method.v &&
                program_code(p, a->frames[i].method) >= CODE_LIBRARY)
                return true;
    return false;
}

/* Whether the giver is itself in the call of the program in which the other one waits. */
static bool in_its_call(const struct program *p, stack_id waits, stack_id gives)
{
    method_id own = program_place(p, waits).method;
    const struct trace_stack *s = trace_stack(p->trace, gives);
    bool in = false;
    for (uint32_t i = 0; i < s->n_frames && own.v; i++)
        in |= s->frames[i].method.v == own.v;
    return in;
}

/* How long the giver waited for its time, while another one waited for its answer: it works when that
 * has come. */
static uint64_t due_before(const struct holder *h, uint32_t giver, const struct resource_wait *w,
                           uint64_t from)
{
    const struct timeline *t = &h->a->timeline;
    const struct span *s = resource_last_idle(h->a, giver, from);
    if (!s || s->waker || !(timeline_context(t, s->context)->flags & INTERVAL_TIMED))
        return 0;
    uint64_t begin = max_u64(s->start, w->from), end = min_u64(span_end(t, s), from);
    return end - min_u64(begin, end);
}

/* Accounts for what the giver did while this thread waited.  A thread of the same pool that came to
 * the same call first, and works on the answer for most of the time, does not count in own_ns: it
 * does not keep the others from work of their own.  Nor does one that is still in the same call of
 * the program: a task has returned from it when its result is there. */
int holder_take_answer(void *self, struct resource *r, const struct resource_wait *w)
{
    struct holder *h = self;
    if (!w->span->waker || w->span->waker >= h->a->timeline.n_lines)
        return 0;
    struct give g = holder_first_give(h, w->span);
    if (!g.thread)
        return 0;
    stack_id stack = timeline_context(&h->a->timeline, w->span->context)->stack;
    if (r->kind == RESOURCE_ANSWERS && is_of_time(h, &g, w)) {
        r->timed_ns += w->to - w->from;
        r->timer = g.thread;
        r->asked_ns += is_asked_for(&h->all->program, g.stack) ? w->to - w->from : 0;
        return 0;
    }
    bool met = resource_same_call(h->all, stack, g.stack);
    r->given_ns += w->to - w->from;
    r->met_ns += met ? w->to - w->from : 0;
    uint64_t had;
    lock_id source = source_of(&h->all->program, h->a, g.thread, g.time, &had);
    if (source.v)
        peer_vote(&r->source, (struct peer_vote){source, w->to - w->from, w->to - w->from});
    uint64_t own = h->waits[g.thread] ? holder_got_it(h, g.thread, g.time) : 0;
    uint64_t since = max_u64(max_u64(w->from, own), max_u64(had, begun(h, g.thread, g.time)));
    uint64_t from = min_u64(g.time, since);
    bool loads =
        2 * (g.time - from) >= w->to - w->from && in_one_call(&h->all->program, stack, g.stack);
    bool own_pool = resource_same_pool(h->a, g.thread, w->thread),
         inside = in_its_call(&h->all->program, stack, g.stack);
    r->own_ns += own_pool && !met && !loads && !inside ? w->to - w->from : 0;
    r->turns_ns += own_pool && !met && inside ? w->to - w->from : 0;
    if (w->from >= g.time)
        return 0;
    r->due_ns += due_before(h, g.thread, w, from);
    struct stretch works = {from, g.time}, before = {w->from, from};
    const struct edge edges[] = {{from, 1}, {g.time, -1}};
    r->by_waits = true;
    buf_put(&h->wanted, &works, sizeof works);
    buf_put(&h->before, &before, sizeof before);
    if (from < g.time)
        buf_put(&h->edges, edges, sizeof edges);
    return h->before.oom || h->wanted.oom || h->edges.oom
               ? -ENOMEM
               : holder_account(h, g.thread, from, g.time);
}

bool holder_is_messenger(const struct holder *h)
{
    return h->looked[true] > MESSENGER * h->looked[false];
}

/* Whether the answers come over a connection and the giving threads do little for them: for most of
 * the time no thread works on them, and they are not in a queue for that. */
static bool is_remote(const struct holder *h)
{
    const struct resource *r = h->r;
    return r->kind == RESOURCE_ANSWERS && 2 * r->source.ns > r->given_ns &&
           (holder_is_messenger(h) || 2 * (r->held + r->queued_ns) < r->given_ns);
}

/* Before work on a request begins, the request queues while threads work on others like it.  While
 * no thread does, the cause of the wait is elsewhere. */
static void count_queued(struct holder *h)
{
    const struct stretch *v = (const void *)h->before.p;
    if (holder_is_messenger(h))
        h->wanted.len = 0;
    else
        holder_count_at_once(h);
    holder_merge_wanted(h);
    for (size_t i = 0; i < h->before.len / sizeof *v; i++) {
        uint64_t queued = holder_wanted_in(h, v[i]);
        h->r->queued_ns += queued;
        h->r->outside_ns += v[i].to - v[i].from - queued;
    }
}

int holder_find_answers(struct holder *h)
{
    TRY(resource_each_wait(h->r, h->a, holder_note_waiter, h));
    TRY(resource_each_wait(h->r, h->a, holder_add_give, h));
    holder_sort_gives(h);
    TRY(resource_each_wait(h->r, h->a, holder_take_answer, h));
    count_queued(h);
    h->r->remote = is_remote(h);
    h->r->inside = h->r->remote && source_is_own(h->a->trace, h->r->source.peer);
    return 0;
}

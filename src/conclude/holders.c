/* Finds the holders of a resource while others wait for it, and what the holders do.  Recorded
 * waits and calls come first; samples, and the stacks of owners (ownerstacks=), fill the rest. */
#include "analyze/io_calls.h"
#include "analyze/owned.h"
#include "base/err.h"
#include "base/keyed.h"
#include "base/util.h"
#include "conclude/does.h"
#include "conclude/doings.h"
#include "conclude/holders_parts.h"
#include "conclude/resource_names.h"
#include "conclude/resource_parts.h"

#include <stdlib.h>
#include <string.h>

/* A thread ended another thread's wait for the resource. */
struct give {
    uint32_t thread;
    uint64_t time;
    stack_id stack;
    uint32_t helper; /* a thread that had the thing from `time` on, */
    uint64_t given;  /* until then; 0: no helper */
};

enum {
    PASSED_ON = 64,    /* hops of a message from thread to thread */
    MESSENGER = 4,     /* times as long in selects as elsewhere: a thread only passes messages on */
    LINES_WANTED = 3,  /* of what holders do most */
    HELPERS = 3,       /* helpers on a thing's way back; one that has it for less than this part */
    HELPED_PART = 10,  /* of the time than this only inspects it */
    SAMPLES_LEAST = 3, /* samples needed to say what holders do */
    AT_ONCE_PART = 10, /* of the time in which at least one thing is in use */
    TIMER_PART = 10,   /* of a wait: a timer ends it within this part after its own wait */
    NOTHING = 1000,    /* activities below this part of the time are chance */
};

/* Gives of one thread within this time are one act, to any number of threads. */
#define ONE_GIVE_NS UINT64_C(1000000)

/* --- what one thread owns at a time ----------------------------------------------------------- */

/* Resources whose owners are found in one pass, because a pass reads all waits of the recording. */
struct owned_holders {
    struct holder *v;
    size_t n;
};

static int take_stretch(void *self, lock_id lock, uint32_t owner, uint64_t from, uint64_t to)
{
    const struct owned_holders *all = self;
    for (size_t i = 0; i < all->n; i++)
        if (all->v[i].r->lock.v == lock.v && all->v[i].r->kind == RESOURCE_LOCK)
            return owner < all->v[i].a->timeline.n_lines
                       ? holder_account(&all->v[i], owner, from, to)
                       : 0;
    return 0;
}

static int end_of_lock(void *self, const struct owned_lock *l)
{
    const struct owned_holders *all = self;
    for (size_t i = 0; i < all->n; i++)
        if (all->v[i].r->lock.v == l->lock.v && all->v[i].r->kind == RESOURCE_LOCK)
            all->v[i].r->wanted += l->waited;
    return 0;
}

/* The owners that waiting threads saw, of objects that have few waits each. */
static int take_owner(void *self, struct resource *r, const struct resource_wait *w)
{
    struct holder *h = self;
    r->wanted += w->to - w->from;
    return w->owner && w->owner < h->a->timeline.n_lines && w->to > w->from
               ? holder_account(h, w->owner, w->from, w->to)
               : 0;
}

/* The thread that releases a lock wakes the next thread, which has the lock when it runs.  Until
 * then no thread has it. */
static int take_handed(void *self, struct resource *r, const struct resource_wait *w)
{
    struct holder *h = self;
    const struct analysis *a = h->a;
    h->waits[w->thread] = true;
    const struct act *act = w->again ? NULL : span_wake_act(&a->timeline, w->span);
    if (act && act->time >= w->from && act->time < w->to && !resource_waits_again(a, w)) {
        uint64_t end = span_end(&a->timeline, w->span);
        bool late =
            pins_ready_since(&a->decoded.pins, &a->timeline, &a->threads, w->thread, w->span) < end;
        r->handed += w->to - act->time;
        r->late += late ? w->to - act->time : 0;
        r->n_handed++;
    }
    return 0;
}

/* Readers wake each other, and hold the lock at the same time. */
static bool is_shared(const struct resource *r, const struct analysis *a)
{
    const char *signature = a->locks.groups[r->group].signature;
    return strstr(signature, "ReadWriteLock") || strstr(signature, "StampedLock");
}

/* Without acts that ended waits there are no hand-offs, so the waits need not be read one by
 * one. */
static int find_handed(struct holder *h)
{
    struct resource *r = h->r;
    if (r->by_acts || r->has_whole)
        return resource_each_wait(r, h->a, take_handed, h);
    for (uint64_t i = 0; i < r->n_waits; i++)
        h->waits[r->waits[i] >> 33] = true;
    return 0;
}

static int find_owners(struct holder *v, size_t n, const struct analysis *a)
{
    struct owned_holders all = {v, n};
    uint32_t *locks = calloc(n + 1, sizeof *locks);
    size_t some = 0;
    int rc = locks ? 0 : -ENOMEM;
    for (size_t i = 0; i < n && rc == 0; i++) {
        if (v[i].r->kind != RESOURCE_LOCK)
            continue;
        if (!is_shared(v[i].r, a))
            rc = find_handed(&v[i]);
        rc = rc ? rc : holder_find_taking(&v[i]);
        if (v[i].r->lock.v)
            locks[some++] = v[i].r->lock.v;
        else if (rc == 0)
            rc = resource_each_wait(v[i].r, a, take_owner, &v[i]);
    }
    if (rc == 0 && some)
        rc = owned_visit_locks(a, locks, some,
                               &(struct owned_visitor){take_stretch, end_of_lock, &all});
    free(locks);
    return rc;
}

/* Whether there are enough samples to say something.  If not, the stacks of owners do, where any
 * were taken. */
static bool has_samples(const struct holder *h)
{
    const struct entry *e = h->sampled.v;
    uint64_t n = 0, asked = 0;
    for (size_t i = 0; i < h->sampled.n; i++)
        n += e[i].samples;
    for (uint32_t i = 1; i < h->a->timeline.contexts.n && n && n < SAMPLES_LEAST; i++)
        asked += holder_is_of(h, i) && timeline_context(&h->a->timeline, i)->owner_stack.v;
    return n >= SAMPLES_LEAST || (n && !asked);
}

/* Use the stacks of owners (ownerstacks=) where nothing else says what the owners did. */
static int ask_owners(struct holder *h, const uint64_t *waits)
{
    for (uint32_t i = 1; i < h->a->timeline.contexts.n; i++) {
        const struct context *x = timeline_context(&h->a->timeline, i);
        struct place leaf;
        if (!waits[i] || !holder_is_of(h, i) || !x->owner_stack.v ||
            x->other >= h->a->timeline.n_lines)
            continue;
        struct does does = does_of_stack(h->all, x->owner_stack, false, &leaf);
        TRY(holder_note(&h->sampled, x->other, &does, x->owner_stack, leaf,
                        (struct amount){.ns = waits[i], .samples = waits[i]}));
    }
    return 0;
}

static bool any_asked(const struct holder *h)
{
    for (uint32_t i = 1; i < h->a->timeline.contexts.n; i++)
        if (timeline_context(&h->a->timeline, i)->owner_stack.v && holder_is_of(h, i))
            return true;
    return false;
}

static int count_asked(void *self, struct resource *r, const struct resource_wait *w)
{
    UNUSED(r);
    ((uint64_t *)self)[w->span->context]++;
    return 0;
}

/* --- who gives -------------------------------------------------------------------------------- */

/* The last wait for the resource that had ended when the thread acted, if the thread is still in
 * the same call.  Threads in one queue wake each other, which gives nothing back.  NULL: it is in
 * another call. */
static const struct span *passes_on(const struct holder *h, uint32_t thread, uint64_t time,
                                    stack_id stack)
{
    const struct timeline *t = &h->a->timeline;
    const struct line *l = &t->lines[thread];
    uint32_t i = line_spans_until(l, time), least = i - min_u32(i, LOOK_BACK);
    for (; i > least; i--) {
        const struct span *o = line_span(l, i - 1);
        if (!holder_is_of(h, o->context) || span_end(t, o) > time)
            continue;
        if (h->r->kind == RESOURCE_ANSWERS && time - span_end(t, o) > ONE_GIVE_NS)
            return NULL; /* the thread came back, like the last one at a barrier */
        stack_id waited = timeline_context(t, o->context)->stack;
        bool at_once = time - span_end(t, o) <= LOOKS_AT_MOST_NS; /* it releases the lock */
        return resource_same_call(h->all, waited, stack) ||
                       (at_once && resource_same_method(h->all, waited, stack))
                   ? o
                   : NULL;
    }
    return NULL;
}

/* The thread that gave the resource to the first of the threads that passed the news on.  thread 0:
 * unknown. */
static struct give first_give(const struct holder *h, const struct span *s)
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

/* --- things ----------------------------------------------------------------------------------- */

/* Stretches in which any thread waited; merge_wanted sorts and joins them. */
static int add_wanted(void *self, struct resource *r, const struct resource_wait *w)
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

static void merge_wanted(struct holder *h)
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

static int add_give(void *self, struct resource *r, const struct resource_wait *w)
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

static void sort_gives(struct holder *h)
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
static void count_at_once(struct holder *h)
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
        if (holder_is_of(h, o->context))
            return 0;
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
    count_at_once(h);
    if (2 * h->back >= h->taken)
        return 0;
    h->by_idle = true;
    return resource_each_wait(h->r, h->a, take_thing, h);
}

static int note_waiter(void *self, struct resource *r, const struct resource_wait *w)
{
    struct holder *h = self;
    UNUSED(r);
    h->waits[w->thread] = true;
    return 0;
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

/* --- answers ---------------------------------------------------------------------------------- */

/* When the giver began to work on what it gave at `to`: after its previous give, and after its last
 * wait for work. */
static uint64_t begun(const struct holder *h, uint32_t giver, uint64_t to)
{
    const struct give *v = (const void *)h->gives.p;
    const struct span *work = resource_last_idle(h->a, giver, to);
    size_t n = h->gives.len / sizeof *v, i = 0;
    uint64_t since = work ? span_end(&h->a->timeline, work) : 0, at = to;
    BISECT(i, n, v[i].thread < giver || (v[i].thread == giver && v[i].time < to));
    for (; i && v[i - 1].thread == giver; i--) {
        if (at - v[i - 1].time > ONE_GIVE_NS)
            return max_u64(since, v[i - 1].time);
        at = v[i - 1].time;
    }
    return since;
}

/* When the last wait of a thread for the resource ended, up to a time; 0: unknown. */
static uint64_t got_it(const struct holder *h, uint32_t thread, uint64_t time)
{
    const struct timeline *t = &h->a->timeline;
    const struct line *l = &t->lines[thread];
    uint32_t i = line_spans_until(l, time), least = i - min_u32(i, LOOK_BACK);
    for (; i > least; i--) {
        const struct span *s = line_span(l, i - 1);
        if (holder_is_of(h, s->context) && span_end(t, s) <= time)
            return span_end(t, s);
    }
    return 0;
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

/* Accounts for what the giver did while this thread waited.  A thread of the same pool that came to
 * the same call first, and works on the answer for most of the time, does not count in own_ns: it
 * does not keep the others from work of their own. */
static int take_answer(void *self, struct resource *r, const struct resource_wait *w)
{
    struct holder *h = self;
    if (!w->span->waker || w->span->waker >= h->a->timeline.n_lines)
        return 0;
    struct give g = first_give(h, w->span);
    if (!g.thread)
        return 0;
    stack_id stack = timeline_context(&h->a->timeline, w->span->context)->stack;
    if (r->kind == RESOURCE_ANSWERS && is_of_time(h, &g, w)) {
        r->timed_ns += w->to - w->from;
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
    uint64_t own = h->waits[g.thread] ? got_it(h, g.thread, g.time) : 0;
    uint64_t since = max_u64(max_u64(w->from, own), max_u64(had, begun(h, g.thread, g.time)));
    uint64_t from = min_u64(g.time, since);
    bool loads =
        2 * (g.time - from) >= w->to - w->from && in_one_call(&h->all->program, stack, g.stack);
    if (!met && !loads && resource_same_pool(h->a, g.thread, w->thread))
        r->own_ns += w->to - w->from;
    if (w->from >= g.time)
        return 0;
    struct stretch works = {from, g.time}, before = {w->from, from};
    const struct edge edges[] = {{from, 1}, {g.time, -1}};
    buf_put(&h->wanted, &works, sizeof works);
    buf_put(&h->before, &before, sizeof before);
    if (from < g.time)
        buf_put(&h->edges, edges, sizeof edges);
    return h->before.oom || h->wanted.oom || h->edges.oom
               ? -ENOMEM
               : holder_account(h, g.thread, from, g.time);
}

/* Whether the giving threads only pass messages on. */
static bool is_messenger(const struct holder *h)
{
    return h->looked[true] > MESSENGER * h->looked[false];
}

/* Whether the answers come over a connection and the giving threads do little for them: for most of
 * the time no thread works on them, and they are not in a queue for that. */
static bool is_remote(const struct holder *h)
{
    const struct resource *r = h->r;
    return r->kind == RESOURCE_ANSWERS && 2 * r->source.ns > r->given_ns &&
           (is_messenger(h) || 2 * (r->held + r->queued_ns) < r->given_ns);
}

/* Before work on a request begins, the request queues while threads work on others like it.  While
 * no thread does, the cause of the wait is elsewhere. */
static void count_queued(struct holder *h)
{
    const struct stretch *v = (const void *)h->before.p;
    if (is_messenger(h))
        h->wanted.len = 0;
    else
        count_at_once(h);
    merge_wanted(h);
    const struct stretch *works = (const void *)h->wanted.p;
    size_t n = h->wanted.len / sizeof *works;
    for (size_t i = 0; i < h->before.len / sizeof *v; i++) {
        size_t k = 0;
        uint64_t queued = 0;
        BISECT(k, n, works[k].to <= v[i].from);
        for (; k < n && works[k].from < v[i].to && h->steps++ <= STEPS_MAX; k++)
            queued += min_u64(works[k].to, v[i].to) - max_u64(works[k].from, v[i].from);
        h->r->queued_ns += queued;
        h->r->outside_ns += v[i].to - v[i].from - queued;
    }
}

static int find_answers(struct holder *h)
{
    TRY(resource_each_wait(h->r, h->a, note_waiter, h));
    TRY(resource_each_wait(h->r, h->a, add_give, h));
    sort_gives(h);
    TRY(resource_each_wait(h->r, h->a, take_answer, h));
    count_queued(h);
    h->r->remote = is_remote(h);
    h->r->inside = h->r->remote && source_is_own(h->a->trace, h->r->source.peer);
    return 0;
}

/* --- things that are taken ------------------------------------------------------------------- */

static int find_takers(struct holder *h)
{
    TRY(resource_each_wait(h->r, h->a, add_wanted, h));
    merge_wanted(h);
    TRY(resource_each_wait(h->r, h->a, holder_find_semaphore, h));
    if (h->semaphore.v) {
        TRY(holder_take_permits(h));
        h->r->all_known = h->edges.len != 0;
        count_at_once(h);
        if (h->r->all_known)
            return 0;
    }
    TRY(resource_each_wait(h->r, h->a, note_waiter, h));
    TRY(resource_each_wait(h->r, h->a, add_give, h));
    sort_gives(h);
    if (2 * h->r->put_ns < h->r->ns)
        look_behind_helpers(h);
    h->r->others_give = others_give(h);
    h->r->brought = h->semaphore.v && h->r->others_give;
    if (h->r->others_give)
        return resource_each_wait(h->r, h->a, take_answer, h);
    sort_gives(h);
    return take_things(h);
}

/* --- polls ------------------------------------------------------------------------------------ */

/* Accounts for what the threads at the other end of the polling do in that time. */
static int find_other_end(struct holder *h)
{
    size_t size = (h->a->timeline.n_lines + 1) * sizeof(bool);
    bool *others = calloc(1, size);
    struct polled_loops loops = {h->a, others, 0, 0};
    int rc = others ? 0 : -ENOMEM;
    rc = rc ? rc : resource_each_wait(h->r, h->a, add_wanted, h);
    rc = rc ? rc : resource_each_wait(h->r, h->a, note_waiter, h);
    rc = rc ? rc : resource_each_wait(h->r, h->a, polled_add_loop, &loops);
    merge_wanted(h);
    if (rc == 0 && !polled_are_woken(&loops)) {
        memset(others, 0, size);
        rc = polled_find_others(h->r, h->all, h->a, others);
    }
    for (uint32_t thread = 1; thread < h->a->timeline.n_lines && rc == 0; thread++)
        if (others[thread] && !h->waits[thread])
            rc = holder_hold(h, thread, 0, UINT64_MAX);
    free(others);
    return rc;
}

/* --- locks of which nobody saw an owner ------------------------------------------------------- */

/* A thread gave the lock at `time` to a thread that had waited since `from`. */
struct release {
    uint64_t time, from;
    uint32_t thread;
};

static int add_release(void *self, struct resource *r, const struct resource_wait *w)
{
    struct holder *h = self;
    UNUSED(r);
    if (!w->span->waker || w->span->waker >= h->a->timeline.n_lines || w->again)
        return 0;
    struct give g = first_give(h, w->span);
    struct release v = {g.time, w->from, g.thread};
    if (g.thread && w->from < g.time)
        buf_put(&h->wanted, &v, sizeof v);
    return h->wanted.oom ? -ENOMEM : 0;
}

static int by_release(const void *x, const void *y)
{
    const struct release *a = x, *b = y;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->from > b->from) - (a->from < b->from);
}

/* The releasing thread had the lock while others waited, but not before the previous release, and
 * not while it waited for the lock itself. */
static int find_releasers(struct holder *h)
{
    TRY(resource_each_wait(h->r, h->a, add_release, h));
    struct release *v = (void *)h->wanted.p;
    size_t n = h->wanted.len / sizeof *v;
    uint64_t before = 0;
    if (n)
        qsort(v, n, sizeof *v, by_release);
    for (size_t i = 0; i < n; i++) {
        uint64_t from = max_u64(max_u64(before, v[i].from), got_it(h, v[i].thread, v[i].time));
        if (from < v[i].time)
            TRY(holder_account(h, v[i].thread, from, v[i].time));
        before = max_u64(before, v[i].time);
    }
    return 0;
}

/* --- all -------------------------------------------------------------------------------------- */

static int most_time(const void *x, const void *y)
{
    const struct activity *a = x, *b = y;
    if (a->ns != b->ns)
        return a->ns < b->ns ? 1 : -1;
    return (a->at.method.v > b->at.method.v) - (a->at.method.v < b->at.method.v);
}

static bool is_one_thing(const struct activity *x, const struct activity *y)
{
    return x->does == y->does && x->at.method.v == y->at.method.v && x->other == y->other &&
           (x->at.method.v || x->leaf.method.v == y->leaf.method.v);
}

static void add_to(struct activity *to, const struct activity *x)
{
    to->ns += x->ns;
    to->samples += x->samples;
    to->by_samples += x->by_samples;
    to->calls += x->calls;
    peer_vote(&to->peer, x->peer);
}

/* Adds an activity to that of all threads at the same line. */
static void add_activity(struct activity *v, size_t *n, const struct entry *e, uint64_t ns,
                         uint64_t samples)
{
    struct activity x = {e->key.does,
                         {{e->key.method}, e->key.line, e->key.near},
                         e->leaf,
                         e->key.other,
                         ns,
                         samples,
                         samples ? ns : 0,
                         e->stack,
                         ns,
                         e->peer,
                         false,
                         e->calls};
    for (size_t i = 0; i < *n; i++) {
        if (!is_one_thing(&v[i], &x) || v[i].at.line != x.at.line)
            continue;
        if (v[i].most < ns) { /* the stack of the thread that did most of it */
            v[i].most = ns;
            v[i].leaf = x.leaf;
            v[i].stack = x.stack;
        }
        add_to(&v[i], &x);
        return;
    }
    v[(*n)++] = x;
}

/* Activities in one method become one, at the known line with the most time.  v: most first. */
static size_t join_lines(struct activity *v, size_t n)
{
    size_t some = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < some && !is_one_thing(&v[k], &v[i]))
            k++;
        if (k == some) {
            v[some++] = v[i];
            continue;
        }
        if (v[k].at.line < 0 && v[i].at.line >= 0) {
            v[k].at = v[i].at;
            v[k].leaf = v[i].leaf;
            v[k].stack = v[i].stack;
        }
        add_to(&v[k], &v[i]);
    }
    return some;
}

/* The unexplained time of threads without samples; all samples together stand for it. */
static uint64_t rest_of_others(const struct holder *h, const uint64_t *sampled)
{
    uint64_t ns = 0;
    for (uint32_t i = 0; i < h->a->timeline.n_lines; i++)
        ns += sampled[i] ? 0 : h->rest[i];
    return ns;
}

static uint64_t part(uint64_t whole, uint64_t ns, uint64_t of)
{
    return of ? (uint64_t)((unsigned __int128)whole * ns / of) : 0;
}

/* Adds up recorded activities.  The rest of each thread's time is divided by the thread's own
 * samples; for a thread without samples, by all samples. */
static int spread(struct holder *h, struct activity *v, size_t *n)
{
    const struct entry *recorded = h->recorded.v, *sampled = h->sampled.v;
    uint64_t *of = calloc(h->a->timeline.n_lines + 1, sizeof *of), all = 0;
    if (!of)
        return -ENOMEM;
    for (size_t i = 0; i < h->sampled.n; i++) {
        of[sampled[i].thread] += sampled[i].ns;
        all += sampled[i].ns;
        h->r->looks += sampled[i].samples;
    }
    uint64_t others = rest_of_others(h, of);
    for (size_t i = 0; i < h->recorded.n; i++)
        add_activity(v, n, &recorded[i], recorded[i].ns, 0);
    for (size_t i = 0; i < h->sampled.n; i++)
        add_activity(v, n, &sampled[i],
                     part(h->rest[sampled[i].thread], sampled[i].ns, of[sampled[i].thread]) +
                         part(others, sampled[i].ns, all),
                     sampled[i].samples);
    if (!all && others)
        v[(*n)++] = (struct activity){
            .does = DOES_UNKNOWN, .at = {{0}, -1}, .leaf = {{0}, -1}, .ns = others};
    free(of);
    return 0;
}

static void find_main_holder(struct holder *h)
{
    struct resource *r = h->r;
    uint64_t strays = 0, all = 0;
    uint32_t n_strays = 0;
    for (uint32_t i = 1; i < h->a->timeline.n_lines; i++) {
        r->n_holders += h->of_thread[i] != 0;
        all += h->of_thread[i];
        if (h->of_thread[i] > r->holder_ns) {
            r->holder = i;
            r->holder_ns = h->of_thread[i];
        }
    }
    for (uint32_t i = 1; i < h->a->timeline.n_lines; i++) {
        if (!h->of_thread[i] || resource_same_pool(h->a, r->holder, i))
            continue;
        strays += h->of_thread[i];
        n_strays++;
    }
    r->one_pool = strays_are_few(n_strays, r->n_holders, strays, all);
    r->n_holders -= r->one_pool ? n_strays : 0;
}

static int hand_out(struct holder *h)
{
    size_t n = 0;
    struct activity *v = arena_alloc(&h->a->arena, (h->recorded.n + h->sampled.n + 1) * sizeof *v);
    if (!v)
        return -ENOMEM;
    TRY(spread(h, v, &n));
    qsort(v, n, sizeof *v, most_time);
    n = join_lines(v, n);
    qsort(v, n, sizeof *v, most_time);
    for (size_t i = 0; i < n; i++)
        activity_settle(&v[i]);
    while (n > 1 && v[n - 1].ns * NOTHING < h->r->held)
        n--;
    for (size_t i = 0; i < n && i < LINES_WANTED; i++)
        if (v[i].at.method.v && v[i].at.line < 0) {
            v[i].at.line = lines_most(h->lines, h->a, v[i].at.method);
            v[i].other_line = v[i].at.line >= 0;
            v[i].at.near = 0;
        }
    h->r->doing = v;
    h->r->n_doing = n;
    find_main_holder(h);
    return 0;
}

static int begin(struct holder *h, const struct resources *all, struct resource *r,
                 struct line_counts *lines, struct analysis *a)
{
    *h = (struct holder){.a = a, .all = all, .r = r, .lines = lines};
    h->of_thread = calloc(a->timeline.n_lines + 1, sizeof *h->of_thread);
    h->waits = calloc(a->timeline.n_lines + 1, sizeof *h->waits);
    h->rest = calloc(a->timeline.n_lines + 1, sizeof *h->rest);
    keyed_init(&h->recorded, offsetof(struct entry, ns), sizeof(struct entry));
    keyed_init(&h->sampled, offsetof(struct entry, ns), sizeof(struct entry));
    map_init(&h->taking);
    return h->of_thread && h->rest && h->waits ? 0 : -ENOMEM;
}

static void end(struct holder *h)
{
    keyed_fini(&h->recorded);
    keyed_fini(&h->sampled);
    buf_fini(&h->gives);
    buf_fini(&h->edges);
    buf_fini(&h->wanted);
    buf_fini(&h->before);
    map_fini(&h->taking);
    free(h->of_thread);
    free(h->rest);
    free(h->waits);
}

/* A thread holds it whenever the thread has work. */
static int hold_work(struct holder *h, uint32_t thread, uint64_t from, uint64_t to)
{
    const struct line *l = &h->a->timeline.lines[thread];
    for (uint32_t i = 0; i < l->spans.n; i++) {
        const struct span *s = line_span(l, i);
        if (!wait_is_for_work(h->a, s->context))
            continue;
        if (from < s->start)
            TRY(holder_hold(h, thread, from, s->start));
        from = max_u64(from, span_end(&h->a->timeline, s));
    }
    return from < to ? holder_hold(h, thread, from, to) : 0;
}

/* No thread gives the answer because the pool that should waits for it, or the giver only passes it
 * on.  So all threads of a pool count as holders, always or while they have work. */
static int take_pool(struct holder *h, uint32_t of, bool always)
{
    const struct thread_set *threads = &h->a->threads;
    end(h);
    TRY(begin(h, h->all, h->r, h->lines, h->a));
    h->r->held = 0;
    TRY(resource_each_wait(h->r, h->a, add_wanted, h));
    merge_wanted(h);
    for (uint32_t i = 1; i < h->a->timeline.n_lines && i < threads->n; i++)
        if (resource_same_pool(h->a, of, i))
            TRY((always ? holder_hold : hold_work)(h, i, threads->v[i].from, threads->v[i].to));
    return 0;
}

/* A timer that was sometimes late gave no answer at those times either. */
static int forget_late(struct holder *h)
{
    struct resource *r = h->r;
    r->given_ns = r->met_ns = r->own_ns = r->queued_ns = r->outside_ns = r->held = 0;
    r->source = (struct peer_vote){0};
    r->remote = r->inside = false;
    r->at_once = 0;
    end(h);
    return begin(h, h->all, r, h->lines, h->a);
}

/* A thread that passes messages on does not show where they come from.  If the threads of exactly
 * one pool were busy all the time, requests queued for that pool.  Answers that certainly come from
 * this program belong to the pool that worked for as long as others waited. */
static int take_busy(struct holder *h)
{
    struct answering of;
    TRY(answering_pool(h->r, h->a, h->waits, h->r->remote ? h->of_thread : NULL, &of));
    if (!of.thread)
        return 0;
    h->r->passed = true;
    h->r->worked = of.works;
    return take_pool(h, of.thread, !of.works);
}

static int find(struct holder *h)
{
    if (h->r->kind == RESOURCE_THINGS)
        TRY(find_takers(h));
    if (h->r->kind == RESOURCE_POLLED)
        TRY(find_other_end(h));
    if (h->r->kind == RESOURCE_ANSWERS)
        TRY(find_answers(h));
    if (h->r->timed_ns > h->r->given_ns)
        TRY(forget_late(h));
    if (h->r->kind == RESOURCE_LOCK && !h->r->held)
        TRY(find_releasers(h));
    if (resource_is_of_own_pool(h->a, h->r))
        TRY(take_pool(h, h->r->threads[0], true));
    else if (h->r->remote ? h->r->inside : h->r->kind == RESOURCE_ANSWERS && is_messenger(h))
        TRY(take_busy(h));
    h->r->remote &= !h->r->passed;
    h->r->inside &= h->r->remote;
    if (h->r->kind != RESOURCE_LOCK || has_samples(h))
        return hand_out(h);
    keyed_fini(&h->sampled);
    keyed_init(&h->sampled, offsetof(struct entry, ns), sizeof(struct entry));
    uint64_t *waits = calloc(h->a->timeline.contexts.n + 1, sizeof *waits);
    if (!waits)
        return -ENOMEM;
    int rc = any_asked(h) ? resource_each_wait(h->r, h->a, count_asked, waits) : 0;
    rc = rc ? rc : ask_owners(h, waits);
    free(waits);
    return rc ? rc : hand_out(h);
}

int resource_find_holders(struct resources *all, size_t n, struct analysis *a)
{
    struct holder *v = calloc(n + 1, sizeof *v);
    struct line_counts lines = {NULL};
    size_t begun = 0;
    int rc = v ? 0 : -ENOMEM;
    while (begun < n && rc == 0) {
        rc = begin(&v[begun], all, &all->v[begun], &lines, a);
        begun++;
    }
    rc = rc ? rc : find_owners(v, n, a);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = find(&v[i]);
    for (size_t i = 0; i < begun; i++)
        end(&v[i]);
    free(lines.of_stack);
    free(v);
    return rc;
}

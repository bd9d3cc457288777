#include "conclude/threads_now.h"

#include "base/err.h"
#include "base/util.h"

#include <stdlib.h>

const char *const now_names[NOW_LIMIT] = {[TIME_RUNNING] = "running",
                                          [TIME_BLOCKED] = "blocked",
                                          [TIME_WAITING] = "waiting",
                                          [TIME_IDLE] = "idle",
                                          [TIME_READY] = "ready",
                                          [TIME_STOPPED] = "stopped",
                                          [TIME_CARRIER] = "no carrier",
                                          [TIME_OTHER] = "other",
                                          [NOW_ASLEEP] = "asleep when Orca attached",
                                          [NOW_PARKED] = "parked when Orca attached",
                                          [NOW_UNKNOWN] = "unknown"};

static const struct open_wait *open_of(const struct analysis *a, uint32_t thread)
{
    const struct open_wait *v = (const void *)a->decoded.open.p;
    size_t i = 0, n = a->decoded.open.len / sizeof *v;
    BISECT(i, n, v[i].thread < thread);
    return i < n && v[i].thread == thread ? &v[i] : NULL;
}

const struct carried *threads_found(const struct analysis *a, uint32_t thread)
{
    const struct carried *v = (const void *)a->decoded.carried.p, *found = NULL;
    const struct run *r = &a->timeline.lines[thread].spans;
    const struct span *s = r->n ? line_span(&a->timeline.lines[thread], r->n - 1) : NULL;
    if (!s || span_end(&a->timeline, s) < a->window.to || !span_is_unknown(&a->timeline, s))
        return NULL;
    for (size_t i = 0; i < a->decoded.carried.len / sizeof *v; i++)
        if (v[i].thread.v == a->threads.v[thread].id.v && v[i].how == CARRIED_FOUND)
            found = &v[i];
    return found;
}

uint8_t threads_found_in(const struct analysis *a, uint32_t thread, const struct carried *found)
{
    if (found && analysis_seen_running(a, thread, found->since))
        return TIME_RUNNING;
    return !found                           ? NOW_UNKNOWN
           : found->state == STATE_SLEEPING ? NOW_ASLEEP
           : found->state == STATE_PARKED   ? NOW_PARKED
                                            : NOW_UNKNOWN;
}

static void set_unknown(struct thread_now *x, const struct analysis *a)
{
    const struct carried *found = threads_found(a, x->thread);
    x->now = threads_found_in(a, x->thread, found);
    if (!found || x->now == TIME_RUNNING)
        return;
    x->since = found->since;
    x->lock.v = found->object;
    x->stack = found->stack;
}

static void set_wait(struct thread_now *x, const struct resources *all, const struct analysis *a,
                     const struct span *s)
{
    const struct context *c = timeline_context(&a->timeline, s->context);
    const struct open_wait *w = open_of(a, x->thread);
    struct wait_part parts[2];
    const struct wait_part *last = &parts[span_parts(&a->timeline, s, parts) - 1];
    uint32_t of = last->again ? all->of_regain[s->context] : all->of_context[s->context];
    uint32_t owner = a->bindings.owners[x->thread];
    x->now = (uint8_t)thread_time_of(a, s->context, last);
    x->wait = last->state;
    x->since = w && !last->again ? min_u64(w->since, last->from) : last->from;
    x->of = of ? &all->v[of - 1] : NULL;
    x->lock = c->lock;
    x->stack = c->stack;
    x->other = last->state == STATE_JOINING ? c->other : owner ? owner : last->owner;
    uint64_t ready = pins_ready_since(&a->decoded.pins, &a->timeline, &a->threads, x->thread, s);
    if (ready < span_end(&a->timeline, s)) {
        x->now = TIME_CARRIER;
        x->since = ready;
    }
    if (x->now == TIME_IDLE)
        x->other = 0;
}

/* In no recorded wait, but waiting at the last look: in a selector, a read. */
static void set_look(struct thread_now *x, const struct resources *all, const struct analysis *a,
                     uint64_t since)
{
    enum sample_kind kind = samples_wall(&a->samples);
    const struct run *r = samples_of(&a->samples, kind, x->thread);
    const struct sample *s = r->n ? sample_at(r, r->n - 1) : NULL;
    if (!s || s->time < since || !(s->flags & SAMPLE_IDLE))
        return;
    x->now = program_is_in(&all->program, s->stack) ? TIME_WAITING : TIME_IDLE;
    x->stack = s->stack;
}

static void set_now(struct thread_now *x, const struct resources *all, const struct analysis *a)
{
    const struct run *r = &a->timeline.lines[x->thread].spans;
    const struct span *s = r->n ? line_span(&a->timeline.lines[x->thread], r->n - 1) : NULL;
    x->now = TIME_RUNNING;
    x->wait = STATE_LIMIT;
    if (!s || span_end(&a->timeline, s) < a->window.to)
        set_look(x, all, a, s ? span_end(&a->timeline, s) : 0);
    else if (timeline_context(&a->timeline, s->context)->what == STATE_UNKNOWN)
        set_unknown(x, a);
    else if (timeline_context(&a->timeline, s->context)->flags & INTERVAL_OPEN)
        set_wait(x, all, a, s);
}

static int by_harm(const void *a, const void *b)
{
    const struct thread_now *x = a, *y = b;
    int c = thread_times_by_harm(x->ns, x->life, y->ns, y->life);
    return c ? c : (x->thread > y->thread) - (x->thread < y->thread);
}

int threads_now_make(struct thread_now **out, size_t *n, const struct resources *all,
                     struct analysis *a)
{
    struct thread_now *v = *out = arena_alloc(&a->arena, (a->threads.n + 1) * sizeof *v);
    *n = 0;
    if (!v)
        return -ENOMEM;
    for (uint32_t i = 1; i < a->timeline.n_lines && i < a->threads.n; i++) {
        const struct thread_stats *s = &a->threads.v[i];
        if (!a->bottles.counted[i] || s->has_ended || s->from >= s->to || s->to < a->window.to)
            continue;
        struct thread_now *x = &v[(*n)++];
        *x = (struct thread_now){.thread = i};
        x->life = thread_times(all, a, i, x->ns);
        set_now(x, all, a);
    }
    qsort(v, *n, sizeof *v, by_harm);
    return 0;
}

/* Who has what others sleep or poll for until it is free: a lock in another process, a row, a flag of the
 * program's own.  No event shows who takes it.  But a method that sleeps until it may go on (or one that
 * calls it) goes on at a later call: where never more than a few threads are there at a time, and are
 * there while the others sleep, these have it. */
#include "base/err.h"
#include "base/util.h"
#include "conclude/holders_parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    METHODS_TRIED = 16, /* from the one that sleeps outwards */
    PASSES_LEAST = 3,   /* times that threads got there; */
    ABOVE_PART = 50,    /* in less than this part of the time more of them are there than may be */
};

enum { LOOKED_AT = 1, IS_PAST = 2, IS_UNKNOWN = 4 };

struct pass {
    uint32_t thread;
    uint64_t from, to;
};

struct past {
    struct holder *h;
    struct trace_frame at; /* the call that sleeps, or leads there */
    uint8_t *is;           /* [n_stacks] */
    struct buf passes;     /* struct pass [] */
    bool open;             /* the thread at hand is there in the last one */
};

static uint8_t is_past(struct past *p, stack_id stack)
{
    const struct trace *t = p->h->a->trace;
    uint8_t *is = &p->is[stack.v < t->n_stacks ? stack.v : 0];
    if (*is)
        return *is;
    const struct trace_stack *s = trace_stack(t, stack);
    bool in = false, later = false;
    for (uint32_t i = 0; i < s->n_frames; i++)
        if (s->frames[i].method.v == p->at.method.v) {
            in = true;
            later |= s->frames[i].bci > p->at.bci;
        }
    bool unknown = !s->n_frames || (!in && s->flags & STACK_TRUNCATED);
    return *is = (uint8_t)(LOOKED_AT | (later ? IS_PAST : 0) | (unknown ? IS_UNKNOWN : 0));
}

/* A thread was in a stack from then to then: what is seen of it in the order of time. */
static void see(struct past *p, uint32_t thread, stack_id stack, bool sleeps, uint64_t from,
                uint64_t to)
{
    uint8_t is = is_past(p, stack);
    struct pass *last = p->open ? (struct pass *)(void *)(p->passes.p + p->passes.len) - 1 : NULL;
    if (!sleeps && is & IS_UNKNOWN)
        return;
    p->open = !sleeps && is & IS_PAST;
    if (p->open && last)
        last->to = max_u64(last->to, to);
    else if (p->open)
        buf_put(&p->passes, &(struct pass){thread, from, to}, sizeof(struct pass));
}

/* Waits, halts and looks of a thread, in the order of time. */
static void see_thread(struct past *p, uint32_t thread)
{
    const struct analysis *a = p->h->a;
    const struct line *l = &a->timeline.lines[thread];
    const struct still_line *halts = stills_of(&a->halts, thread);
    const struct run *looks = samples_of(&a->samples, samples_wall(&a->samples), thread);
    uint64_t first = p->h->r->first, last = p->h->r->last;
    uint32_t i = line_spans_until(l, first), j = still_first(halts, first),
             k = samples_before(looks, first);
    i -= i > 0;
    p->open = false;
    while (p->h->steps++ <= STEPS_MAX && !p->passes.oom) {
        const struct span *s = i < l->spans.n ? line_span(l, i) : NULL;
        const struct still *t = j < halts->n ? &halts->v[j] : NULL;
        const struct sample *v = k < looks->n ? sample_at(looks, k) : NULL;
        uint64_t span = s ? s->start : UINT64_MAX, halt = t ? t->from : UINT64_MAX,
                 look = v ? v->time : UINT64_MAX, next = min_u64(min_u64(span, halt), look);
        if (next >= last)
            return;
        if (next == span) {
            see(p, thread, timeline_context(&a->timeline, s->context)->stack,
                holder_is_of(p->h, s->context), span, span_end(&a->timeline, s));
            i++;
        } else if (next == halt) {
            see(p, thread, t->stack, false, halt, t->to);
            j++;
        } else {
            see(p, thread, v->stack, false, look, look);
            k++;
        }
    }
}

/* ns of the passes in which others sleep. */
static uint64_t wanted_in(const struct past *p)
{
    const struct pass *v = (const void *)p->passes.p;
    uint64_t ns = 0;
    for (size_t k = 0; k < p->passes.len / sizeof *v; k++)
        ns += holder_wanted_in(p->h, (struct stretch){v[k].from, v[k].to});
    return ns;
}

/* How many threads may be there at a time; 0: the recording shows no limit. */
static uint32_t limit_of(struct past *p)
{
    const struct pass *v = (const void *)p->passes.p;
    size_t n = p->passes.len / sizeof *v;
    struct holder *h = p->h;
    h->edges.len = 0;
    for (size_t i = 0; i < n; i++) {
        const struct edge edges[] = {{v[i].from, 1}, {v[i].to, -1}};
        buf_put(&h->edges, edges, sizeof edges);
    }
    if (n < PASSES_LEAST || h->edges.oom)
        return 0;
    holder_count_at_once(h);
    uint64_t all = holder_time_above(h, 0);
    uint32_t most = h->r->n_threads / 2, limit = 1;
    while (limit <= most && ABOVE_PART * holder_time_above(h, limit) > all)
        limit++;
    bool full = 2 * (holder_time_above(h, limit - 1) - holder_time_above(h, limit)) >= all;
    return limit <= most && full && 2 * wanted_in(p) >= limit * h->r->wanted ? limit : 0;
}

static int take(struct past *p, uint32_t limit)
{
    const struct pass *v = (const void *)p->passes.p;
    struct holder *h = p->h;
    h->r->past = true;
    h->r->wanted *= limit;
    for (size_t i = 0; i < p->passes.len / sizeof *v; i++)
        TRY(holder_hold(h, v[i].thread, v[i].from, v[i].to));
    h->r->at_once = limit;
    return 0;
}

static int find_past(struct past *p)
{
    struct holder *h = p->h;
    const struct trace *t = h->a->trace;
    const struct trace_stack *s = trace_stack(t, h->r->wait_stack);
    method_id outermost = program_outermost(&h->all->program, h->r->wait_stack).method;
    h->r->wanted = holder_wanted(h);
    for (uint32_t i = 0, tried = 0; i < s->n_frames && tried < METHODS_TRIED; i++) {
        p->at = s->frames[i];
        if (p->at.bci >= 0 && program_code(&h->all->program, p->at.method) >= CODE_LIBRARY) {
            memset(p->is, 0, t->n_stacks + 1);
            p->passes.len = 0;
            for (uint32_t thread = 1; thread < h->a->timeline.n_lines; thread++)
                see_thread(p, thread);
            bool whole = !p->passes.oom && h->steps <= STEPS_MAX; /* else some are not seen */
            uint32_t limit = whole ? limit_of(p) : 0;
            if (limit || p->passes.oom)
                return limit ? take(p, limit) : -ENOMEM;
            tried++;
        }
        if (p->at.method.v == outermost.v)
            break;
    }
    h->r->wanted = h->r->at_once = 0;
    h->edges.len = 0;
    return 0;
}

int holder_find_past(struct holder *h)
{
    struct past p = {.h = h, .is = calloc(h->a->trace->n_stacks + 1, 1)};
    int rc = p.is ? find_past(&p) : -ENOMEM;
    free(p.is);
    buf_fini(&p.passes);
    return rc;
}

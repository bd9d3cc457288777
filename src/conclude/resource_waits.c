/* Visits the waits for a resource one by one, and decides whether the act that ended a wait gave
 * anything. */
#include "analyze/summed.h"
#include "base/err.h"
#include "base/util.h"
#include "conclude/resource_parts.h"

/* --- what ended them -------------------------------------------------------------------------- */

/* The innermost frame that is not the JDK's, as a number. */
static uint64_t call_of(const struct resources *all, stack_id stack)
{
    const struct trace *t = all->program.trace;
    uint64_t *known = &all->calls[stack.v < t->n_stacks ? stack.v : 0];
    const struct trace_stack *s = trace_stack(t, stack);
    for (uint32_t i = 0; i < s->n_frames && !*known; i++)
        if (program_code(&all->program, s->frames[i].method) >= CODE_LIBRARY)
            *known = (uint64_t)s->frames[i].method.v << 32 | (uint32_t)s->frames[i].bci;
    return *known ? *known : (*known = UINT64_MAX);
}

bool resource_same_call(const struct resources *all, stack_id x, stack_id y)
{
    uint64_t call = call_of(all, x);
    return call != UINT64_MAX && call == call_of(all, y);
}

bool resource_same_method(const struct resources *all, stack_id x, stack_id y)
{
    uint64_t call = call_of(all, x);
    return call != UINT64_MAX && call >> 32 == call_of(all, y) >> 32;
}

uint32_t resource_shared_frames(const struct trace_stack *x, const struct trace_stack *y)
{
    const struct trace_frame *a = x->frames + x->n_frames, *b = y->frames + y->n_frames;
    uint32_t n = 0, most = min_u32(x->n_frames, y->n_frames);
    while (n < most && a[-1].method.v == b[-1].method.v && a[-1].bci == b[-1].bci) {
        a--;
        b--;
        n++;
    }
    return n;
}

bool resource_later_call(const struct resources *all, stack_id x, stack_id y)
{
    const struct trace *t = all->program.trace;
    const struct trace_stack *a = trace_stack(t, x), *b = trace_stack(t, y);
    uint32_t n = resource_shared_frames(a, b);
    if (n == a->n_frames || n == b->n_frames)
        return false;
    struct trace_frame f = a->frames[a->n_frames - n - 1], g = b->frames[b->n_frames - n - 1];
    return f.method.v == g.method.v && g.bci > f.bci &&
           program_code(&all->program, f.method) >= CODE_LIBRARY;
}

bool resource_leaves_full(const struct resources *all, const struct analysis *a,
                          const struct span *s)
{
    return all->rooms[s->context] &&
           purpose_leaves_full(a->trace, timeline_context(&a->timeline, s->context)->stack,
                               span_wake_stack(&a->timeline, s));
}

/* --- of all resources, of one ----------------------------------------------------------------- */

/* A wait of one of the JVM's own threads (Common-Cleaner) costs nothing, unless the thread is
 * blocked on a monitor that another thread owns. */
static bool is_nobodys(const struct analysis *a, uint32_t thread)
{
    const struct thread_set *all = &a->threads;
    return thread < all->n && all->v[thread].id.v && !bottle_counts(a->trace, &all->v[thread]);
}

/* Who waits for an answer until the program is stopped, and not in a task, may wait for just that, as
 * a server's main thread does. */
static bool is_for_the_stop(const struct analysis *a, const struct span *s)
{
    return span_end(&a->timeline, s) >= stop_time(&a->stop) &&
           a->purposes.of_context[s->context] == PURPOSE_ANSWER &&
           !purpose_is_in_task(a->trace, timeline_context(&a->timeline, s->context)->stack);
}

/* A wait that begins after a stop is part of the stop. */
static bool counts_of(const struct analysis *a, const struct span *s, bool nobodys)
{
    bool owned = timeline_context(&a->timeline, s->context)->what == STATE_BLOCKED;
    return (!nobodys || owned) && s->start < stop_time(&a->stop) && !is_for_the_stop(a, s);
}

static int visit_span(struct resources *v, const struct timeline *tl, resource_visit visit,
                      void *self, struct resource_wait *w)
{
    struct wait_part parts[2];
    const uint32_t of[] = {v->of_context[w->span->context], v->of_regain[w->span->context]};
    if (!of[0] && !of[1])
        return 0;
    for (unsigned i = 0, n = span_parts(tl, w->span, parts); i < n; i++) {
        uint32_t at = of[parts[i].again];
        if (!at)
            continue;
        w->from = parts[i].from;
        w->to = parts[i].to;
        w->owner = parts[i].owner;
        w->again = parts[i].again;
        w->open = parts[i].flags & INTERVAL_OPEN;
        TRY(visit(self, &v->v[at - 1], w));
    }
    return 0;
}

int resources_each(struct resources *v, const struct analysis *a, resource_visit visit, void *self)
{
    const struct timeline *tl = &a->timeline;
    for (uint32_t thread = 1; thread < tl->n_lines; thread++) {
        bool nobodys = is_nobodys(a, thread);
        const struct run *r = &tl->lines[thread].spans;
        for (uint32_t i = 0, n; i < r->n; i += n) {
            const struct span *s = run_stretch(r, sizeof *s, i, &n);
            for (uint32_t k = 0; k < n; k++) {
                struct resource_wait w = {.thread = thread, .index = i + k, .span = &s[k]};
                if (counts_of(a, &s[k], nobodys))
                    TRY(visit_span(v, tl, visit, self, &w));
            }
        }
    }
    return 0;
}

/* Whether the times and the cause of a wait are known, and not only its length. */
static bool is_whole(const struct analysis *a, const struct resource *r, const struct span *s)
{
    return !span_is_summed(&a->timeline, s) &&
           (!summed_is_much(r->summed_ns, r->ns) || !summed_at(&a->decoded.summed, s->start));
}

int resource_each_wait(struct resource *r, const struct analysis *a, resource_visit visit,
                       void *self)
{
    for (uint64_t i = 0; i < r->n_waits; i++) {
        struct wait_part parts[2];
        uint32_t thread = (uint32_t)(r->waits[i] >> 33), span = (uint32_t)(r->waits[i] >> 1);
        const struct span *s = line_span(&a->timeline.lines[thread], span);
        const struct wait_part *p =
            &parts[span_parts(&a->timeline, s, parts) > 1 && r->waits[i] & 1];
        if (r->has_whole && !is_whole(a, r, s))
            continue;
        struct resource_wait w = {thread, span,     s,        p->from,
                                  p->to,  p->owner, p->again, p->flags & INTERVAL_OPEN};
        TRY(visit(self, r, &w));
    }
    return 0;
}

/* --- listed ----------------------------------------------------------------------------------- */

struct waits_list {
    struct resources *of;
    size_t n;
};

static int list_wait(void *self, struct resource *r, const struct resource_wait *w)
{
    const struct waits_list *l = self;
    if (r >= l->of->v + l->n || r->n_waits == r->parts)
        return 0;
    r->waits[r->n_waits++] = (uint64_t)w->thread << 33 | (uint64_t)w->index << 1 | w->again;
    r->by_acts |= w->span->waker && cause_type(w->span->cause) == CAUSE_ACT;
    return 0;
}

static void look_for_whole(struct resource *r, const struct analysis *a)
{
    r->has_whole = false;
    for (uint64_t i = 0; i < r->n_waits && !r->has_whole; i++)
        r->has_whole = is_whole(
            a, r, line_span(&a->timeline.lines[r->waits[i] >> 33], (uint32_t)(r->waits[i] >> 1)));
}

int resource_list_waits(struct resources *v, size_t n, struct analysis *a)
{
    for (size_t i = 0; i < n; i++)
        if (!(v->v[i].waits = arena_alloc(&a->arena, v->v[i].parts * sizeof *v->v[i].waits)))
            return -ENOMEM;
    if (n)
        TRY(resources_each(v, a, list_wait, &(struct waits_list){v, n}));
    for (size_t i = 0; i < n; i++)
        if (v->v[i].summed_ns)
            look_for_whole(&v->v[i], a);
    return 0;
}

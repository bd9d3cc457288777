#include "analyze/calls.h"

#include "analyze/blames.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* --- from entries and exits to calls ---------------------------------------------------------- */

enum { BROKEN = UINT32_C(1) << 31 }; /* in called.flags while it is open: events may be missing */

struct pairer {
    const struct timeline *t;
    const struct line *line;
    struct call_line *out;
    uint32_t *stack; /* [depth]: indices of the open calls, innermost last */
    uint32_t depth, cap;
    uint32_t n_broken; /* of the outermost on the stack: all of these are */
    uint32_t *open_of; /* [n_calls]: how many of a method are on the stack */
    uint32_t n_calls;
    uint32_t span; /* the first one of the thread that was not passed yet */
};

static bool is_call(unsigned what)
{
    return what == EV_call_enter || what == EV_call_exit || what == EV_call;
}

static uint32_t method_of(const struct pairer *p, const struct context *x)
{
    return x->call.v < p->n_calls ? x->call.v : 0;
}

static struct called *begin(struct pairer *p, uint32_t act, uint32_t flags)
{
    const struct act *a = line_act(p->line, act);
    struct called *c = &p->out->v[p->out->n++];
    *c = (struct called){.start = a->time,
                         .end = a->time,
                         .context = a->context,
                         .lock = timeline_context(p->t, a->context)->lock,
                         .flags = flags,
                         .act = act};
    return c;
}

static int push(struct pairer *p, uint32_t index, const struct context *x)
{
    if (p->depth == p->cap) {
        uint32_t cap = p->cap ? p->cap * 2 : 64;
        uint32_t *v = realloc(p->stack, cap * sizeof *v);
        if (!v)
            return -ENOMEM;
        p->stack = v;
        p->cap = cap;
    }
    p->stack[p->depth++] = index;
    p->open_of[method_of(p, x)]++;
    return 0;
}

/* The innermost open call is over, or given up. */
static struct called *pop(struct pairer *p)
{
    INVARIANT(p->stack && p->depth > 0);
    struct called *c = &p->out->v[p->stack[--p->depth]];
    p->n_broken = min_u32(p->n_broken, p->depth);
    p->open_of[method_of(p, timeline_context(p->t, c->context))]--;
    return c;
}

static void end_at(struct called *c, uint64_t time, uint32_t flags)
{
    bool known = !(c->flags & BROKEN);
    c->flags = (c->flags & ~(uint32_t)BROKEN) | flags | (known ? 0 : CALLED_UNKNOWN);
    c->end = known ? time : c->start;
}

static void lose(struct called *c)
{
    c->flags |= BROKEN;
    end_at(c, c->start, 0);
}

static void take_exit(struct pairer *p, uint32_t act, const struct context *x)
{
    uint64_t time = line_act(p->line, act)->time;
    uint32_t failed = x->flags ? CALLED_FAILED : 0, method = method_of(p, x);
    if (!p->open_of[method]) {
        begin(p, act, CALLED_UNKNOWN | failed);
        return;
    }
    for (;;) {
        struct called *c = pop(p);
        if (method_of(p, timeline_context(p->t, c->context)) != method) {
            lose(c);
            continue;
        }
        end_at(c, time, failed);
        c->lock = c->lock.v ? c->lock : x->lock;
        return;
    }
}

/* Events may be missing in stretches of unknown state, so open calls do not survive them. */
static void pass_unknown(struct pairer *p, uint64_t until)
{
    const struct line *l = p->line;
    bool any = false;
    for (; p->span < l->spans.n && line_span(l, p->span)->start <= until; p->span++)
        any = any || span_is_unknown(p->t, line_span(l, p->span));
    for (; any && p->n_broken < p->depth; p->n_broken++)
        p->out->v[p->stack[p->n_broken]].flags |= BROKEN;
}

static int pair_up(struct pairer *p)
{
    for (uint32_t i = 0; i < p->line->acts.n; i++) {
        const struct act *a = line_act(p->line, i);
        const struct context *x = timeline_context(p->t, a->context);
        if (!is_call(x->what))
            continue;
        if (p->t->n_unknown)
            pass_unknown(p, a->time);
        if (x->what == EV_call)
            begin(p, i, CALLED_MOMENT);
        else if (x->what == EV_call_exit)
            take_exit(p, i, x);
        else if (push(p, (uint32_t)(begin(p, i, 0) - p->out->v), x) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* Calls that are open at the end go on, unless the thread has ended. */
static void finish(struct pairer *p, const struct thread_stats *s)
{
    pass_unknown(p, UINT64_MAX);
    while (p->depth) {
        struct called *c = pop(p);
        if (s->has_ended || c->flags & BROKEN)
            lose(c);
        else
            end_at(c, max_u64(s->to, c->start), CALLED_OPEN);
    }
}

/* Most recordings have none: their acts need not be walked. */
static bool any_calls(const struct timeline *t)
{
    for (uint32_t i = 1; i < t->contexts.n; i++)
        if (is_call(timeline_context(t, i)->what))
            return true;
    return false;
}

static uint32_t count(const struct timeline *t, const struct line *l)
{
    uint32_t n = 0;
    for (uint32_t i = 0, k; i < l->acts.n; i += k) {
        const struct act *a = run_stretch(&l->acts, sizeof *a, i, &k);
        for (uint32_t j = 0; j < k; j++)
            n += is_call(timeline_context(t, a[j].context)->what);
    }
    return n;
}

static int make(struct calls *out, struct pairer *p, const struct thread_set *threads,
                struct arena *a)
{
    for (uint32_t i = 0; i < out->n_lines; i++) {
        uint32_t n = count(p->t, &p->t->lines[i]);
        p->line = &p->t->lines[i];
        p->out = &out->lines[i];
        p->span = 0;
        if (n == 0)
            continue;
        p->out->v = arena_alloc(a, n * sizeof *p->out->v);
        if (!p->out->v || pair_up(p) < 0)
            return -ENOMEM;
        finish(p, &threads->v[i < threads->n ? i : 0]);
        out->n += p->out->n;
    }
    return 0;
}

int calls_make(struct calls *out, const struct trace *t, const struct timeline *timeline,
               const struct thread_set *threads, struct arena *a)
{
    struct pairer p = {.t = timeline, .n_calls = (uint32_t)t->n_calls + 1};
    *out = (struct calls){.n_lines = (uint32_t)timeline->n_lines};
    out->lines = arena_alloc(a, (timeline->n_lines + 1) * sizeof *out->lines);
    p.open_of = calloc(p.n_calls, sizeof *p.open_of);
    int rc = -ENOMEM;
    if (out->lines && p.open_of) {
        memset(out->lines, 0, (timeline->n_lines + 1) * sizeof *out->lines);
        rc = any_calls(timeline) ? make(out, &p, threads, a) : 0;
    }
    free(p.stack);
    free(p.open_of);
    return rc;
}

/* --- tables ----------------------------------------------------------------------------------- */

/* Where a call was made: the innermost frame that is not the method itself, and the innermost one
 * of the application when that is inside the JDK. */
static void call_site(const struct trace *t, const struct context *x, struct place *top,
                      struct place *app)
{
    const struct trace_stack *s = trace_stack(t, x->stack);
    uint32_t first = trace_site(t, s);
    if (first == 0 && s->n_frames > 0 &&
        strcmp(trace_method(t, s->frames[0].method)->name, trace_call(t, x->call)->method) == 0)
        first = 1;
    sites_name_from(t, s, first, top, app);
}

struct summer {
    const struct call_source *from;
    const struct selection *selection;
    uint32_t group;
    struct arena *arena;
    struct buf methods, callers; /* struct call_sum [] */
    uint32_t *of_method;         /* [n_calls]: 1 + index into methods */
    uint32_t n_calls;
    struct map of_context; /* context of a call -> 1 + index into callers */
    struct map of_name;    /* hash of method and site -> 1 + index into callers */
    struct map objects;    /* sum and object -> 1 */
    uint64_t *waits;       /* [spans + 1] of the thread at hand: ns of the waits before each */
    uint32_t cap;
};

static struct call_sum *sum_at(const struct buf *b, uint64_t index)
{
    return (struct call_sum *)(void *)b->p + index;
}

static uint64_t add_sum(struct buf *b, const struct call_sum *x)
{
    buf_put(b, x, sizeof *x);
    return b->oom ? 0 : b->len / sizeof *x;
}

static struct call_sum new_sum(const struct summer *m, call_id call)
{
    struct call_sum x = {.call = call,
                         .jdk = sites_is_jdk(trace_call(m->from->trace, call)->class_signature),
                         .top = {{0}, -1},
                         .app = {{0}, -1}};
    wait_stats_init(&x.times);
    return x;
}

/* 1 + its index, 0: memory is out. */
static uint64_t method_sum(struct summer *m, call_id call)
{
    uint32_t at = call.v < m->n_calls ? call.v : 0;
    if (!m->of_method[at]) {
        struct call_sum x = new_sum(m, call);
        m->of_method[at] = (uint32_t)add_sum(&m->methods, &x);
    }
    return m->of_method[at];
}

static bool is_named(const struct call_sum *x, const struct call_sum *y)
{
    return x->call.v == y->call.v && memcmp(&x->top, &y->top, sizeof x->top) == 0 &&
           memcmp(&x->app, &y->app, sizeof x->app) == 0;
}

static uint64_t caller_sum(struct summer *m, uint32_t context)
{
    uint64_t *known = map_put(&m->of_context, context);
    if (!known || *known)
        return known ? *known : 0;
    const struct context *x = timeline_context(m->from->timeline, context);
    struct call_sum made = new_sum(m, x->call);
    made.stack = x->stack;
    if (x->what != EV_call_exit)
        call_site(m->from->trace, x, &made.top, &made.app);
    const uint32_t id[] = {made.call.v, made.top.method.v, (uint32_t)made.top.line,
                           made.app.method.v, (uint32_t)made.app.line};
    for (uint64_t key = hash_place(id, sizeof id, 0);; key++) {
        uint64_t *place = map_put(&m->of_name, key);
        if (!place)
            return 0;
        if (!*place)
            *place = add_sum(&m->callers, &made);
        if (!*place || is_named(sum_at(&m->callers, *place - 1), &made))
            return *known = *place;
    }
}

/* Whether it is a wait, and not made of the call that it is in. */
static bool is_recorded(const struct timeline *t, const struct span *s)
{
    return !span_is_unknown(t, s) && timeline_context(t, s->context)->mode != CONTEXT_OF_CALL;
}

/* So that the waits inside a call need not be visited for each call around them. */
static int add_up_waits(struct summer *m, const struct line *l)
{
    const struct timeline *t = m->from->timeline;
    if (m->cap < l->spans.n + 1) {
        free(m->waits);
        m->cap = l->spans.n + 1;
        m->waits = malloc(m->cap * sizeof *m->waits);
    }
    if (!m->waits)
        return -ENOMEM;
    m->waits[0] = 0;
    for (uint32_t i = 0; i < l->spans.n; i++) {
        const struct span *s = line_span(l, i);
        m->waits[i + 1] = m->waits[i] + (is_recorded(t, s) ? span_len(t, s) : 0);
    }
    return 0;
}

/* The time that the thread spent in waits until `at`. */
static uint64_t waits_until(const struct summer *m, const struct line *l, uint64_t at)
{
    const struct timeline *t = m->from->timeline;
    uint32_t n = line_spans_until(l, at);
    if (n == 0)
        return 0;
    const struct span *s = line_span(l, n - 1);
    uint64_t end = span_end(t, s);
    return m->waits[n] - (end > at && is_recorded(t, s) ? end - at : 0);
}

static void add_time(struct call_sum *s, const struct called *c, uint64_t ns, uint64_t waited)
{
    s->failed += (c->flags & CALLED_FAILED) != 0;
    s->times.unknown += (c->flags & CALLED_UNKNOWN) != 0;
    s->times.open += (c->flags & CALLED_OPEN) != 0;
    if (c->flags & (CALLED_UNKNOWN | CALLED_MOMENT))
        return;
    s->times.ns += ns;
    s->times.min = min_u64(s->times.min, ns);
    s->times.max = max_u64(s->times.max, ns);
    s->waited += waited;
}

static int add_object(struct summer *m, struct call_sum *s, uint64_t key)
{
    uint64_t *seen = map_put(&m->objects, key);
    if (!seen)
        return -ENOMEM;
    s->times.objects += *seen == 0;
    *seen = 1;
    return 0;
}

/* The part of a call in the range. */
struct part {
    const struct called *c;
    uint32_t thread;
    uint64_t ns, waited;
};

static int add_to(struct summer *m, struct buf *sums, uint64_t index, const struct part *p)
{
    const struct called *c = p->c;
    struct call_sum *s = sum_at(sums, index - 1);
    s->times.threads += s->times.count == 0 || s->last_thread != p->thread;
    s->last_thread = p->thread;
    s->times.count++;
    add_time(s, c, p->ns, p->waited);
    uint64_t side = sums == &m->callers ? UINT64_C(1) << 63 : 0;
    if (c->lock.v)
        TRY(add_object(m, s, side | index << 32 | c->lock.v));
    return c->flags & (CALLED_UNKNOWN | CALLED_MOMENT)
               ? 0
               : percentile_add(&s->times.times, p->ns, 1, m->arena);
}

static int add_call(struct summer *m, uint32_t thread, const struct line *l, const struct called *c)
{
    const struct context *x = timeline_context(m->from->timeline, c->context);
    uint64_t start = c->start, end = c->end;
    if ((m->selection->lock && m->selection->lock != c->lock.v) ||
        (m->group != EVERY_CLASS && lock_set_group(m->from->locks, c->lock) != m->group) ||
        !selection_clip(m->selection, &start, &end))
        return 0;
    uint64_t method = method_sum(m, x->call), caller = caller_sum(m, c->context);
    if (!method || !caller)
        return -ENOMEM;
    struct part p = {.c = c, .thread = thread, .ns = end - start};
    p.waited = p.ns ? waits_until(m, l, end) - waits_until(m, l, start) : 0;
    TRY(add_to(m, &m->methods, method, &p));
    return add_to(m, &m->callers, caller, &p);
}

static int add_line(struct summer *m, uint32_t thread)
{
    const struct call_line *calls = &m->from->calls->lines[thread];
    const struct line *l = &m->from->timeline->lines[thread];
    if (!calls->n || !selection_has(m->selection, thread))
        return 0;
    TRY(add_up_waits(m, l));
    for (uint32_t i = 0; i < calls->n && calls->v[i].start < m->selection->to; i++)
        TRY(add_call(m, thread, l, &calls->v[i]));
    return 0;
}

static int by_time(const void *a, const void *b)
{
    const struct call_sum *x = a, *y = b;
    if (x->jdk != y->jdk)
        return x->jdk ? 1 : -1;
    if (x->times.ns != y->times.ns)
        return x->times.ns < y->times.ns ? 1 : -1;
    if (x->times.count != y->times.count)
        return x->times.count < y->times.count ? 1 : -1;
    if (x->call.v != y->call.v)
        return x->call.v < y->call.v ? -1 : 1;
    return (x->stack.v > y->stack.v) - (x->stack.v < y->stack.v);
}

static int keep(const struct buf *from, struct arena *a, struct call_sum **out, size_t *n)
{
    struct call_sum *v = from->oom ? NULL : arena_alloc(a, from->len + sizeof *v);
    if (!v)
        return -ENOMEM;
    *n = from->len / sizeof *v;
    if (*n) {
        memcpy(v, from->p, from->len);
        qsort(v, *n, sizeof *v, by_time);
    }
    *out = v;
    return 0;
}

static int sum_up(struct summer *m, struct call_tables *out)
{
    for (uint32_t i = 0; i < m->from->calls->n_lines; i++)
        TRY(add_line(m, i));
    TRY(keep(&m->methods, m->arena, &out->methods, &out->n_methods));
    return keep(&m->callers, m->arena, &out->callers, &out->n_callers);
}

int call_tables_make(struct call_tables *out, const struct call_source *from,
                     const struct selection *selection, uint32_t group, struct arena *a)
{
    struct summer m = {.from = from,
                       .selection = selection,
                       .group = group,
                       .arena = a,
                       .n_calls = (uint32_t)from->trace->n_calls + 1};
    memset(out, 0, sizeof *out);
    map_init(&m.of_context);
    map_init(&m.of_name);
    map_init(&m.objects);
    m.of_method = calloc(m.n_calls, sizeof *m.of_method);
    int rc = m.of_method ? sum_up(&m, out) : -ENOMEM;
    map_fini(&m.of_context);
    map_fini(&m.of_name);
    map_fini(&m.objects);
    buf_fini(&m.methods);
    buf_fini(&m.callers);
    free(m.of_method);
    free(m.waits);
    return rc;
}

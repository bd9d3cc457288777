/* Event loops that wait in a handler: everything that the loop serves waits for the handler.
 *
 *     a loop    = a thread that was seen in a select, or a thread with the same outermost frames
 *                 that is idle nowhere else
 *     a handler = the part of a stack with a frame of the program inside the frames that all stacks
 *                 of the loop share
 * The clients may be in another process, so a loop is judged by its own time. */
#include "analyze/io_calls.h"
#include "base/err.h"
#include "base/util.h"
#include "conclude/does.h"
#include "conclude/resource_names.h"
#include "conclude/rules_parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    LOOPS_MAX = 16,              /* pools of loops */
    LOOP_DOES_MAX = 32,          /* different things that handlers of one pool wait in */
    LOOP_FRAMES = 4,             /* frames of a select's call that handlers lack */
    LOOP_LOOKS = 10,             /* looks needed to say what handlers do */
    LOOP_PERMILLE = 300,         /* of a loop's time in waits of handlers */
    LOOP_MUCH_PERMILLE = 500,    /* a problem */
    LOOP_ANSWERS_PERMILLE = 600, /* of answers: one loop gives them, and is in its handler */
    LOOP_BLOCKED_PERMILLE = 600  /* of that, blocked on one resource: it is the cause */
};

struct loops {
    struct evidence *ev;
    enum sample_kind kind;
    uint8_t *selects; /* [n_stacks]: 0: not looked at; 1: no; 2: yes */
    struct resource *v;
    size_t n;
    stack_id known[LOOPS_MAX]; /* in selects */
    size_t n_known;
    uint32_t
        *handlers; /* [n_stacks]: two bits for each known one: 0: not looked at; 1: no; 2: yes */
};

static bool in_select(const struct loops *l, stack_id stack)
{
    const struct trace *t = l->ev->a->trace;
    uint8_t *known = &l->selects[stack.v < t->n_stacks ? stack.v : 0];
    if (!*known)
        *known = io_in_select(t, stack) ? 2 : 1;
    return *known == 2;
}

/* The number of frames without those of C below a thread's first Java frame, which only samples
 * have. */
static uint32_t until_java(const struct trace *t, const struct trace_stack *s)
{
    uint32_t n = s->n_frames;
    while (n && !trace_method_is_java(trace_method(t, s->frames[n - 1].method)))
        n--;
    return n;
}

/* How many outermost frames a stack shares with a stack in a select, if the rest of the latter is
 * only the call of the select; 0: the stack is not of that loop. */
static uint32_t shared(const struct loops *l, stack_id loop, stack_id stack)
{
    const struct program *p = &l->ev->resources.program;
    const struct trace_stack *x = trace_stack(p->trace, loop), *y = trace_stack(p->trace, stack);
    uint32_t n = 0, own = 0, of_x = until_java(p->trace, x), of_y = until_java(p->trace, y);
    bool library = false;
    for (; n < of_x && n < of_y; n++) {
        method_id m = x->frames[of_x - 1 - n].method;
        if (m.v != y->frames[of_y - 1 - n].method.v)
            break;
        library |= program_code(p, m) != CODE_JDK;
    }
    for (uint32_t i = 0; i + n < of_x; i++)
        own += program_code(p, x->frames[i].method) != CODE_JDK;
    return library && own <= LOOP_FRAMES ? n : 0;
}

/* Whether a stack has a frame of the program inside the frames that it shares with the loop; code of
 * the loop's own library, if that is unknown, is not part of a handler. */
static bool looks_like_handler(const struct loops *l, stack_id loop, stack_id stack)
{
    const struct program *p = &l->ev->resources.program;
    const struct trace_stack *s = trace_stack(p->trace, stack);
    uint32_t n = shared(l, loop, stack);
    method_id base = n ? program_library(p, loop).method : (method_id){0};
    for (uint32_t i = 0; n && i + n < until_java(p->trace, s); i++) {
        enum code code = program_code(p, s->frames[i].method);
        if (code == CODE_PROGRAM ||
            (code == CODE_OTHER && !program_one_library(p, base, s->frames[i].method)))
            return true;
    }
    return false;
}

/* loop: 1 + which of the known ones. */
static bool is_handler(const struct loops *l, uint32_t loop, stack_id stack)
{
    unsigned shift = 2 * (loop - 1);
    uint32_t *known = &l->handlers[stack.v < l->ev->a->trace->n_stacks ? stack.v : 0];
    if (!(*known >> shift & 3))
        *known |= (looks_like_handler(l, l->known[loop - 1], stack) ? 2U : 1U) << shift;
    return *known >> shift & 2;
}

static bool is_wait(enum holder_does does)
{
    return does != DOES_UNKNOWN && does != DOES_COMPUTE && does != DOES_NATIVE;
}

/* Adds up what handlers waited in, and for how long. */
static void add_activity(struct resource *r, const struct activity *new)
{
    for (struct activity *x = r->doing; x < r->doing + r->n_doing; x++)
        if (x->does == new->does && x->at.method.v == new->at.method.v &&
            x->at.line == new->at.line) {
            x->ns += new->ns;
            x->most += new->ns;
            x->samples += new->samples;
            x->by_samples += new->by_samples;
            peer_vote(&x->peer, new->peer);
            return;
        }
    if (r->n_doing < LOOP_DOES_MAX)
        r->doing[r->n_doing++] = *new;
}

static void add(struct resource *r, const struct does *d, struct place leaf, stack_id stack,
                uint64_t ns, uint64_t samples, lock_id peer)
{
    r->ns += ns;
    r->held += ns;
    r->looks += samples;
    add_activity(r, &(struct activity){.does = d->does,
                                       .at = {{d->method}, d->line},
                                       .leaf = leaf,
                                       .other = d->other,
                                       .stack = stack,
                                       .ns = ns,
                                       .most = ns,
                                       .samples = samples,
                                       .by_samples = samples ? ns : 0,
                                       .peer = {peer, ns, ns}});
}

/* One thread's to those of its pool. */
static void add_all(struct resource *r, const struct resource *own)
{
    r->ns += own->ns;
    r->held += own->held;
    r->looks += own->looks;
    r->base += own->base;
    r->count += own->count;
    r->first = min_u64(r->first, own->first);
    r->last = max_u64(r->last, own->last);
    for (size_t i = 0; i < own->n_doing; i++)
        add_activity(r, &own->doing[i]);
}

static struct resource *pool_of(struct loops *l, uint32_t thread)
{
    for (size_t i = 0; i < l->n; i++)
        if (resource_same_pool(l->ev->a, l->v[i].threads[0], thread))
            return &l->v[i];
    if (l->n == LOOPS_MAX)
        return NULL;
    struct resource *r = &l->v[l->n];
    *r =
        (struct resource){.kind = RESOURCE_LOOP,
                          .holder = thread,
                          .one_pool = true,
                          .first = UINT64_MAX,
                          .threads = {thread},
                          .doing = arena_alloc(&l->ev->a->arena, LOOP_DOES_MAX * sizeof *r->doing)};
    if (!r->doing)
        return NULL;
    l->n++;
    return r;
}

/* Keeps a stack in a select, unless one that differs only in irrelevant frames is known. */
static void note_select(struct loops *l, stack_id stack)
{
    for (size_t i = 0; i < l->n_known; i++)
        if (shared(l, l->known[i], stack))
            return;
    if (l->n_known < LOOPS_MAX)
        l->known[l->n_known++] = stack;
}

static void find_selects(struct loops *l, uint32_t thread)
{
    const struct run *v = samples_of(&l->ev->a->samples, l->kind, thread);
    for (uint32_t i = 0; i < v->n; i++)
        if (sample_at(v, i)->stack.v && in_select(l, sample_at(v, i)->stack))
            note_select(l, sample_at(v, i)->stack);
}

/* Whether what a stack shares with one in a select is the loop itself, which calls the select or a method
 * of its own class that does; and not only what all threads of the library begin with. */
static bool is_same_loop(const struct loops *l, stack_id loop, stack_id stack)
{
    const struct program *p = &l->ev->resources.program;
    const struct trace_stack *x = trace_stack(p->trace, loop);
    uint32_t end = until_java(p->trace, x), n = shared(l, loop, stack), inner = end - n;
    while (inner < end && program_code(p, x->frames[inner].method) == CODE_JDK)
        inner++;
    const char *class_ = inner < end ? trace_method_class(p->trace, x->frames[inner].method) : "";
    size_t len = strcspn(class_, "$;");
    bool same = false, own = false;
    for (uint32_t i = 0; n && i + n < end; i++) {
        const char *at = trace_method_class(p->trace, x->frames[i].method);
        own |= program_code(p, x->frames[i].method) != CODE_JDK;
        same |= strncmp(at, class_, len) == 0 && strchr("$;", at[len]);
    }
    return n && len && (same || !own);
}

/* The loop of a thread, as 1 + its index; 0: none.  A busy thread may never be seen in its select;
 * then other threads in the same loop show that it is one. */
static uint32_t find_loop(const struct loops *l, uint32_t thread, uint64_t *selected)
{
    const struct run *v = samples_of(&l->ev->a->samples, l->kind, thread);
    uint32_t found = 0;
    for (uint32_t i = 0; i < v->n; i++) {
        const struct sample *s = sample_at(v, i);
        bool first = !found && s->stack.v;
        if (s->stack.v && in_select(l, s->stack))
            *selected += s->weight;
        for (uint32_t k = 0; k < l->n_known && first && !found; k++)
            found = shared(l, l->known[k], s->stack) ? k + 1 : 0;
        if (first && !found)
            break; /* the outermost frames are those of all of its stacks */
    }
    bool loop = *selected != 0;
    for (uint32_t i = 0; i < v->n && found && !loop; i++)
        loop = sample_at(v, i)->stack.v &&
               is_same_loop(l, l->known[found - 1], sample_at(v, i)->stack);
    return loop ? found : 0;
}

/* Time in which a thread is idle outside its selects: then it also has other work, and its waits
 * are not a handler's. */
static uint64_t idles(const struct loops *l, uint32_t thread, uint32_t loop)
{
    const struct analysis *a = l->ev->a;
    const struct line *line = &a->timeline.lines[thread];
    uint64_t ns = 0;
    for (uint32_t i = 0; i < line->spans.n; i++) {
        const struct span *s = line_span(line, i);
        const struct context *x = timeline_context(&a->timeline, s->context);
        if (x->what != STATE_UNKNOWN && !l->ev->resources.of_context[s->context] &&
            !is_handler(l, loop, x->stack) && s->start < stop_time(&a->stop))
            ns += span_len(&a->timeline, s);
    }
    return ns;
}

/* The part of a sample's time in no recorded call; a look into a recorded call adds nothing. */
static uint64_t time_of(const struct still_line *l, const struct sample *s)
{
    uint64_t from = s->time - min_u64(s->weight, s->time);
    uint32_t i = still_first(l, s->time);
    if (i < l->n && !l->v[i].looks && l->v[i].from < s->time)
        return 0;
    for (; i && l->v[i - 1].to > from; i--)
        if (!l->v[i - 1].looks)
            return s->time - l->v[i - 1].to;
    return s->time - from;
}

/* Adds the recorded calls of input and output of handlers. */
static void add_calls(const struct loops *l, const struct still_line *calls, uint32_t loop,
                      struct resource *r)
{
    struct place leaf;
    for (uint32_t i = 0; i < calls->n; i++) {
        const struct still *s = &calls->v[i];
        struct does d = does_of_stack(&l->ev->resources, s->stack, true, &leaf);
        if (!s->looks && is_wait(d.does) && !in_select(l, s->stack) &&
            is_handler(l, loop, s->stack))
            add(r, &d, leaf, s->stack, s->to - s->from, 0, s->peer);
    }
}

/* Adds what a loop's thread does between its selects. */
static void add_thread(const struct loops *l, uint32_t thread, uint32_t loop, struct resource *r)
{
    const struct analysis *a = l->ev->a;
    const struct resources *all = &l->ev->resources;
    const struct run *v = samples_of(&a->samples, l->kind, thread);
    const struct line *line = &a->timeline.lines[thread];
    const struct still_line *calls = stills_of(&a->stills, thread);
    struct place leaf;
    add_calls(l, calls, loop, r);
    for (uint32_t i = 0; i < v->n; i++) {
        const struct sample *s = sample_at(v, i);
        uint64_t ns = time_of(calls, s);
        struct does d = does_of_stack(all, s->stack, s->flags & SAMPLE_IDLE, &leaf);
        r->base += s->weight;
        r->count += s->stack.v != 0;
        r->first = min_u64(r->first, s->time);
        r->last = max_u64(r->last, s->time);
        if (ns && s->stack.v && is_wait(d.does) && !in_select(l, s->stack) &&
            is_handler(l, loop, s->stack))
            add(r, &d, leaf, s->stack, ns, 1, (lock_id){0});
    }
    for (uint32_t i = 0; i < line->spans.n; i++) {
        const struct span *s = line_span(line, i);
        stack_id stack = timeline_context(&a->timeline, s->context)->stack;
        struct does d = does_of_wait(all, a, s->context, &leaf);
        r->base += span_len(&a->timeline, s);
        if (is_wait(d.does) && is_handler(l, loop, stack))
            add(r, &d, leaf, stack, span_len(&a->timeline, s), 0,
                does_peer(a, timeline_context(&a->timeline, s->context)));
    }
}

/* A loop that has other work is not judged by this work. */
static int look_at(struct loops *l, uint32_t thread)
{
    uint64_t selected = 0;
    uint32_t loop = find_loop(l, thread, &selected);
    if (!loop || idles(l, thread, loop) > selected)
        return 0;
    struct activity *doing = calloc(LOOP_DOES_MAX, sizeof *doing);
    struct resource own = {.first = UINT64_MAX, .doing = doing};
    if (!doing)
        return -ENOMEM;
    add_thread(l, thread, loop, &own);
    struct resource *r =
        rule_permille(own.ns, own.base) >= LOOP_PERMILLE ? pool_of(l, thread) : NULL;
    if (r && r->n_threads < RESOURCE_IDS)
        r->threads[r->n_threads] = thread;
    if (r) {
        r->n_threads++;
        r->n_holders++;
        add_all(r, &own);
    }
    free(doing);
    return 0;
}

static int most_time(const void *x, const void *y)
{
    const struct activity *a = x, *b = y;
    return (a->ns < b->ns) - (a->ns > b->ns);
}

/* Whether only loops are blocked on the resource of another finding: then the resource is the
 * cause, and its finding says so. */
static bool is_told(struct evidence *ev, const struct resource *loop)
{
    struct rule_finding *f = rule_of_blocker(ev, loop->doing);
    if (!f || rule_permille(loop->doing->ns, loop->held) < LOOP_BLOCKED_PERMILLE)
        return false;
    struct resource *r = &ev->resources.v[f->resource - ev->resources.v];
    if (r->mixed || !resource_same_pool(ev->a, loop->threads[0], r->threads[0]))
        return false;
    r->of_loops = true;
    f->severity = SEVERITY_PROBLEM;
    f->impact = max_u64(f->impact, loop->ns);
    rule_say_resource_anew(f, ev);
    return true;
}

/* Whether r's threads wait for answers of one of the loops, which mostly does this in the meantime. */
static bool waits_for_loop(const struct resource *r, const struct resource *loop)
{
    const struct activity *x = r->doing, *own = loop->doing;
    bool of = false;
    for (uint32_t i = 0; i < loop->n_threads && i < RESOURCE_IDS; i++)
        of |= loop->threads[i] == r->holder;
    return of && r->kind == RESOURCE_ANSWERS && !r->behind_of && !r->remote && r->n_doing &&
           x->does == own->does && x->at.method.v == own->at.method.v &&
           rule_permille(r->holder_ns, r->held) >= LOOP_ANSWERS_PERMILLE &&
           rule_permille(x->ns, r->held) >= LOOP_ANSWERS_PERMILLE;
}

static void tell(struct evidence *ev, struct resource *r)
{
    unsigned share = rule_permille(r->ns, r->base);
    for (size_t i = 0; i < r->n_doing; i++)
        activity_settle(&r->doing[i]);
    qsort(r->doing, r->n_doing, sizeof *r->doing, most_time);
    if (r->count < LOOP_LOOKS || share < LOOP_PERMILLE || !r->n_doing || is_told(ev, r))
        return;
    struct rule_finding *f =
        rule_find(ev, share >= LOOP_MUCH_PERMILLE ? SEVERITY_PROBLEM : SEVERITY_WARNING, r->ns);
    if (!f)
        return;
    for (size_t i = 0; i < ev->resources.n; i++)
        if (waits_for_loop(&ev->resources.v[i], r))
            resource_stand_behind(r, &ev->resources.v[i], &ev->resources);
    f->impact += r->behind_ns;
    r->count = r->looks;
    f->resource = r;
    f->from = r->first;
    f->to = r->last;
    r->wait_at = r->doing[0].at;
    r->wait_at_ns = r->doing[0].ns;
    r->wait_stack = r->doing[0].stack;
    for (uint32_t i = 0; i < r->n_threads && i < RESOURCE_IDS; i++)
        rule_add_thread(f, ev, r->threads[i]);
    rule_add_stack(f, r->wait_stack);
    rule_say_resource(f, ev);
}

void rule_blocked_loop(struct evidence *ev)
{
    struct loops l = {.ev = ev, .kind = samples_wall(&ev->a->samples)};
    l.selects = calloc(ev->a->trace->n_stacks + 1, 1);
    l.handlers = calloc(ev->a->trace->n_stacks + 1, sizeof *l.handlers);
    l.v = arena_alloc(&ev->a->arena, LOOPS_MAX * sizeof *l.v);
    bool whole = l.selects && l.handlers && l.v;
    for (uint32_t i = 1; i < ev->a->timeline.n_lines && whole; i++)
        find_selects(&l, i);
    for (uint32_t i = 1; i < ev->a->timeline.n_lines && l.n_known; i++)
        (void)look_at(&l, i); /* out of memory: this loop is left out */
    for (size_t i = 0; i < l.n; i++)
        tell(ev, &l.v[i]);
    free(l.selects);
    free(l.handlers);
}

/* Finds what a thread did in a stretch of time in which it held a resource: its recorded waits and
 * halts, then, for the rest, its samples. */
#include "analyze/io_calls.h"
#include "base/err.h"
#include "base/util.h"
#include "conclude/doings.h"
#include "conclude/holders_parts.h"

#include <string.h>

int holder_note(struct keyed *to, uint32_t thread, const struct does *does, stack_id stack,
                struct place leaf, struct amount of)
{
    const struct entry key = {
        .key = *does, .thread = thread, .inner = does->method ? 0 : leaf.method.v};
    struct entry *e = keyed_put(to, &key);
    if (!e)
        return -ENOMEM;
    if (!e->stack.v) {
        e->stack = stack;
        e->leaf = leaf;
    }
    e->ns += of.ns;
    e->samples += of.samples;
    e->calls += of.calls;
    e->took += of.took;
    peer_vote(&e->peer, (struct peer_vote){of.peer, of.ns, of.ns});
    return 0;
}

/* --- who has released it ---------------------------------------------------------------------- */

static bool is_same_lock(const struct holder *h, lock_id lock)
{
    return lock.v && (h->r->lock.v ? lock.v == h->r->lock.v
                                   : lock_set_group(&h->a->locks, lock) == h->r->group);
}

/* The method that enters the monitor, or that waits on it, and the methods of its class that have
 * called it: one of these has taken the monitor.  -EINVAL: the code does not show which. */
static int add_taking(struct holder *h, const struct context *x)
{
    const struct trace *t = h->a->trace;
    const struct trace_stack *s = trace_stack(t, x->stack);
    bool waits = x->what == STATE_WAITING || x->what == STATE_REACQUIRING;
    uint32_t i = 0;
    while (waits && i < s->n_frames &&
           strcmp(trace_method_class(t, s->frames[i].method), "Ljava/lang/Object;") == 0)
        i++;
    if ((!waits && x->what != STATE_BLOCKED) || i == s->n_frames || s->frames[i].bci < 0)
        return -EINVAL;
    const char *of = trace_method_class(t, s->frames[i].method);
    do {
        uint64_t *is = map_put(&h->taking, s->frames[i].method.v);
        uint64_t entry = waits ? 1 : (uint64_t)s->frames[i].bci + 2;
        if (!is)
            return -ENOMEM;
        *is = !*is || *is == entry ? entry : 1;
    } while (++i < s->n_frames && waits &&
             strcmp(trace_method_class(t, s->frames[i].method), of) == 0);
    return 0;
}

int holder_find_taking(struct holder *h)
{
    const struct timeline *t = &h->a->timeline;
    int rc = 0;
    for (uint32_t i = 1; i < t->contexts.n && rc == 0; i++) {
        const struct context *x = timeline_context(t, i);
        if (holder_is_of(h, i) || (x->what == STATE_WAITING && is_same_lock(h, x->lock)))
            rc = add_taking(h, x);
        else if (x->what == EV_hold && is_same_lock(h, x->lock)) /* exact */
            rc = -EINVAL;
    }
    if (rc < 0)
        map_fini(&h->taking);
    return rc == -ENOMEM ? rc : 0;
}

/* Whether a stack shows that its thread no longer has the monitor. */
static bool has_released(const struct holder *h, uint32_t thread, stack_id stack)
{
    const struct trace_stack *s = trace_stack(h->a->trace, stack);
    if (!h->taking.len || !h->waits[thread] || !s->n_frames || s->flags & STACK_TRUNCATED)
        return false;
    for (uint32_t i = 0; i < s->n_frames; i++)
        if (map_find(&h->taking, s->frames[i].method.v))
            return false;
    return true;
}

/* Whether a thread is blocked on another monitor at the call site where threads enter this one.
 * Then it has left this monitor's block, unless it has called itself. */
static bool is_at_entry(const struct holder *h, uint32_t thread, const struct context *x)
{
    const struct trace_stack *s = trace_stack(h->a->trace, x->stack);
    if (x->what != STATE_BLOCKED || !h->taking.len || !h->waits[thread] || !s->n_frames ||
        s->flags & STACK_TRUNCATED)
        return false;
    const uint64_t *entry = map_find(&h->taking, s->frames[0].method.v);
    bool at = entry && *entry == (uint64_t)s->frames[0].bci + 2;
    for (uint32_t i = 1; i < s->n_frames && at; i++)
        at = !map_find(&h->taking, s->frames[i].method.v);
    return at;
}

/* Takes time off again in which the thread did not have the monitor. */
static void take_back(struct holder *h, uint32_t thread, uint64_t ns)
{
    h->r->held -= min_u64(h->r->held, ns);
    h->of_thread[thread] -= min_u64(h->of_thread[thread], ns);
}

/* --- waits, halts, samples -------------------------------------------------------------------- */

/* The activity that a wait means for its thread. */
static int note_wait(struct holder *h, uint32_t thread, uint32_t context, uint64_t ns)
{
    struct place leaf;
    const struct context *x = timeline_context(&h->a->timeline, context);
    struct does does = does_of_wait(h->all, h->a, context, &leaf);
    return holder_note(&h->recorded, thread, &does, x->stack, leaf,
                       (struct amount){.ns = ns, .peer = does_peer(h->a, x)});
}

/* Whether the stack is still that of a wait: the thread had not continued when the sample was
 * taken. */
static bool is_in_wait(const struct trace *t, stack_id stack)
{
    const struct trace_stack *s = trace_stack(t, stack);
    uint32_t site = trace_site(t, s);
    return site && trace_method_is_java(trace_method(t, s->frames[site - 1].method));
}

enum { SEEN_SAMPLE, SEEN_HALT };

/* Whether it was not counted before; also if memory runs out. */
static bool is_new(struct holder *h, unsigned what, uint32_t thread, uint32_t index)
{
    uint64_t *bits = map_put(&h->seen[what], (uint64_t)thread << 32 | index / 64);
    uint64_t bit = UINT64_C(1) << index % 64;
    bool new = !bits || !(*bits & bit);
    if (bits)
        *bits |= bit;
    return new;
}

/* A sample stands for the time before it, if it is of the stretch itself. */
static int note_looks(struct holder *h, uint32_t thread, uint64_t from, uint64_t to)
{
    const uint64_t *have = h->a->samples.n;
    enum sample_kind kind = have[SAMPLE_WALL]    ? SAMPLE_WALL
                            : have[SAMPLE_LOOKS] ? SAMPLE_LOOKS
                                                 : SAMPLE_CPU;
    const struct run *r = samples_of(&h->a->samples, kind, thread);
    h->rest[thread] += to - from;
    for (uint32_t i = samples_before(r, from); i < r->n; i++) {
        const struct sample *s = sample_at(r, i);
        uint64_t since = s->time - min_u64(s->weight, s->time);
        struct place leaf;
        if (s->time > to)
            break;
        h->steps++;
        if (!s->stack.v || is_in_wait(h->a->trace, s->stack))
            continue;
        uint64_t ns = min_u64(s->time, to) - max_u64(since, from);
        bool waits = h->r->kind == RESOURCE_ANSWERS && io_in_select(h->a->trace, s->stack);
        h->looked[waits] += ns;
        bool released = has_released(h, thread, s->stack);
        if (released)
            take_back(h, thread, ns);
        if (released || waits) { /* waits: for something to pass on */
            h->rest[thread] -= min_u64(h->rest[thread], ns);
            continue;
        }
        struct does does = does_of_stack(h->all, s->stack, s->flags & SAMPLE_IDLE, &leaf);
        TRY(holder_note(&h->sampled, thread, &does, s->stack, leaf,
                        (struct amount){.ns = ns, .samples = is_new(h, SEEN_SAMPLE, thread, i)}));
    }
    return 0;
}

/* The last look into a stretch of time; 0: no look. */
static stack_id stack_in(const struct holder *h, uint32_t thread, uint64_t from, uint64_t to)
{
    const struct run *r = samples_of(&h->a->samples, samples_wall(&h->a->samples), thread);
    uint32_t i = samples_before(r, to);
    const struct sample *s = i ? sample_at(r, i - 1) : NULL;
    return s && s->time >= from ? s->stack : (stack_id){0};
}

/* A recorded call of input or output, or what else kept the thread off its processor. */
static int note_halt(struct holder *h, uint32_t thread, uint32_t index, uint64_t from, uint64_t to)
{
    const struct still *s = &stills_of(&h->a->halts, thread)->v[index];
    struct amount of = {.ns = to - from, .peer = s->peer};
    if (s->to == to && is_new(h, SEEN_HALT, thread, index)) {
        of.calls = 1;
        of.took = s->to - s->from;
    }
    enum holder_does known = does_of_halt(s);
    struct place leaf = {.line = -1};
    struct does does = {.does = known, .line = -1};
    stack_id stack = known == DOES_OFF ? stack_in(h, thread, s->from, s->to) : s->stack;
    if (stack.v)
        does = does_of_stack(h->all, stack, true, &leaf);
    if (known != DOES_UNKNOWN)
        does.does = (uint16_t)known;
    return holder_note(&h->recorded, thread, &does, stack, leaf, of);
}

/* Time in no wait: recorded halts (halts.h), and looks between them. */
static int note_rest(struct holder *h, uint32_t thread, uint64_t from, uint64_t to)
{
    const struct still_line *l = stills_of(&h->a->halts, thread);
    for (uint32_t i = still_first(l, from); i < l->n && l->v[i].from < to; i++) {
        const struct still *s = &l->v[i];
        uint64_t begin = max_u64(s->from, from), end = min_u64(s->to, to);
        if (s->looks)
            continue;
        h->steps++;
        if (begin > from)
            TRY(note_looks(h, thread, from, begin));
        from = end;
        if (h->r->kind == RESOURCE_ANSWERS && s->stack.v && io_in_select(h->a->trace, s->stack)) {
            h->looked[true] += end - begin; /* for something to pass on */
            continue;
        }
        if (s->what < IO_KINDS && has_released(h, thread, s->stack))
            take_back(h, thread, end - begin);
        else
            TRY(note_halt(h, thread, i, begin, end));
    }
    return from < to ? note_looks(h, thread, from, to) : 0;
}

int holder_account(struct holder *h, uint32_t thread, uint64_t from, uint64_t to)
{
    const struct timeline *t = &h->a->timeline;
    const struct line *l = &t->lines[thread];
    uint64_t at = from;
    if (h->steps++ > STEPS_MAX)
        return 0;
    uint32_t i = line_spans_until(l, from);
    h->r->held += to - from;
    h->of_thread[thread] += to - from;
    for (i = i ? i - 1 : 0; i < l->spans.n && at < to; i++) {
        const struct span *s = line_span(l, i);
        uint64_t begin = max_u64(s->start, at), end = min_u64(span_end(t, s), to);
        if (s->start >= to)
            break;
        h->steps++;
        if (end <= begin)
            continue;
        if (begin > at)
            TRY(note_rest(h, thread, at, begin));
        const struct context *x = timeline_context(t, s->context);
        if (has_released(h, thread, x->stack) || is_at_entry(h, thread, x))
            take_back(h, thread, end - begin);
        else
            TRY(note_wait(h, thread, s->context, end - begin));
        at = end;
    }
    return at < to ? note_rest(h, thread, at, to) : 0;
}

int holder_hold(struct holder *h, uint32_t thread, uint64_t from, uint64_t to)
{
    const struct stretch *v = (const void *)h->wanted.p;
    const struct edge edges[] = {{from, 1}, {to, -1}};
    size_t n = h->wanted.len / sizeof *v, i = 0;
    buf_put(&h->edges, edges, sizeof edges);
    if (h->edges.oom)
        return -ENOMEM;
    BISECT(i, n, v[i].to <= from);
    for (; i < n && v[i].from < to && h->steps <= STEPS_MAX; i++) {
        uint64_t begin = max_u64(from, v[i].from), end = min_u64(to, v[i].to);
        if (begin < end)
            TRY(holder_account(h, thread, begin, end));
    }
    return 0;
}

#include "export/orca_calls.h"

#include <stdlib.h>

/* What an event begins, and what its end ends: the kind and the row. */
static uint32_t what_of(unsigned kind, uint32_t call)
{
    return call << 8 | kind;
}

static unsigned kind_of(uint32_t what)
{
    return what & 0xff;
}

_Static_assert(EV_LIMIT <= 0x100, "a kind has eight bits");

void orca_calls_forget(struct orca_thread *t)
{
    t->depth = 0;
    t->blocked = false;
}

void orca_calls_fini(struct orca_thread *t)
{
    free(t->inner);
    t->inner = NULL;
    t->n_inner = 0;
}

/* --- the open calls --------------------------------------------------------------------------- */

static uint32_t kept(const struct orca_thread *t)
{
    return t->depth <= t->n_inner ? t->depth : t->n_inner + (t->depth > 0);
}

static struct orca_open *open_at(struct orca_thread *t, uint32_t i)
{
    return i == 0 ? &t->outer : &t->inner[i - 1];
}

/* Calls beyond what is kept are merely counted; that is also what happens without memory. */
static void reserve(struct orca_thread *t)
{
    enum { FIRST = 4 };
    uint32_t n = t->n_inner ? 2 * t->n_inner : FIRST;
    if (t->depth == 0 || t->depth <= t->n_inner || n > ORCA_CALLS_KEPT)
        return;
    if (t->depth > t->n_inner + 1) /* there is one already that is not kept */
        return;
    struct orca_open *inner = realloc(t->inner, n * sizeof *inner);
    if (!inner)
        return;
    t->inner = inner;
    t->n_inner = n;
}

static bool enter(struct orca_thread *t, const struct orca_step *s, stack_id stack)
{
    reserve(t);
    uint32_t at = t->depth++;
    if (at < kept(t))
        *open_at(t, at) = (struct orca_open){stack, what_of(s->line->kind, s->call)};
    if (at > 0)
        return false;
    t->object = s->object;
    return true;
}

/* The innermost open call that began with this, or -1; 0 for `mask` bits does not matter. */
static int64_t find(struct orca_thread *t, uint32_t what, uint32_t mask)
{
    for (uint32_t i = kept(t); i-- > 0;)
        if (((open_at(t, i)->what ^ what) & mask) == 0)
            return i;
    return -1;
}

/* The end of a call closes what was opened inside it, too.  An end whose beginning is not in the
 * trace (the recording began inside the call) stands alone. */
static bool leave(struct orca_thread *t, const struct orca_step *s, stack_id *stack)
{
    if (t->depth > kept(t)) {
        t->depth--;
        return false;
    }
    uint32_t what = what_of(s->line->enter, s->call);
    int64_t at = find(t, what, UINT32_MAX);
    if (at < 0) /* rows that share the name of one end */
        at = find(t, what, 0xff);
    if (at < 0)
        return t->depth == 0;
    t->depth = (uint32_t)at;
    if (at == 0 && stack->v == 0 && t->object == s->object)
        *stack = t->outer.stack;
    return at == 0;
}

/* --- calls whose end is missing --------------------------------------------------------------- */

/* The next Java frame outwards-in, or NULL; *i is where the last one was. */
static const struct trace_frame *next_inwards(const struct trace *t, const struct trace_stack *s,
                                              uint32_t *i)
{
    while (*i > 0)
        if (trace_method_is_java(trace_method(t, s->frames[--*i].method)))
            return &s->frames[*i];
    return NULL;
}

enum place { INSIDE, SAME_FRAME, OUTSIDE };

/* Where a stack is, seen from a call: the call's own frame is the innermost one of its stack, and
 * goes on in the meantime; the frames outside it stay where they are. */
static enum place place_of(const struct trace *t, stack_id now, stack_id call)
{
    const struct trace_stack *s = trace_stack(t, now), *of = trace_stack(t, call);
    uint32_t i = s->n_frames, k = of->n_frames, left = trace_java_frames(t, of);
    const struct trace_frame *a = NULL, *b = NULL;
    if (s->id.v == 0 || of->id.v == 0 || left == 0 || s->flags & STACK_TRUNCATED)
        return INSIDE; /* not known */
    for (; left > 0; left--) {
        a = next_inwards(t, s, &i);
        b = next_inwards(t, of, &k);
        if (of->flags & STACK_TRUNCATED) /* its outer end is unknown */
            continue;
        if (!a || a->method.v != b->method.v || (left > 1 && a->bci != b->bci))
            return OUTSIDE;
    }
    if (a && next_inwards(t, s, &i))
        return INSIDE;
    /* a stack that had to be cut was of more frames */
    return of->flags & STACK_TRUNCATED ? OUTSIDE : SAME_FRAME;
}

static void close_lost(struct orca_thread *t, const struct trace *trace, uint32_t what,
                       stack_id stack)
{
    if (t->depth == 0 || stack.v == 0)
        return;
    for (uint32_t i = kept(t); i-- > 0;) {
        const struct orca_open *o = open_at(t, i);
        enum place place = place_of(trace, stack, o->stack);
        /* Two rows may be about one method, so that both begin in one frame. */
        if (place == INSIDE || (place == SAME_FRAME && o->what != what))
            return;
        t->depth = i;
    }
}

/* A call that cannot have another inside it, but is followed by one, has lost its end. */
static void close_leaf(struct orca_thread *t)
{
    if (t->depth == 0 || t->depth > kept(t))
        return;
    const struct orca_line *top = orca_line_of(kind_of(open_at(t, t->depth - 1)->what));
    if (top && top->role == ORCA_LEAF)
        t->depth--;
}

/* --- events ----------------------------------------------------------------------------------- */

bool orca_calls_step(struct orca_thread *t, const struct trace *trace, const struct orca_step *s,
                     stack_id *stack)
{
    unsigned role = s->line->role;
    if (role == ORCA_CALL || role == ORCA_ENTER || role == ORCA_LEAF || role == ORCA_BLOCK)
        close_lost(t, trace, what_of(s->line->kind, s->call), *stack);
    switch (role) {
    case ORCA_CALL:
        close_leaf(t);
        return t->depth == 0;
    case ORCA_ENTER:
    case ORCA_LEAF:
        close_leaf(t);
        return enter(t, s, *stack);
    case ORCA_EXIT:
        return leave(t, s, stack);
    case ORCA_BLOCK:
        t->blocked = true;
        t->blocked_on = s->object;
        t->blocked_stack = *stack;
        return true;
    case ORCA_UNBLOCK:
        if (t->blocked && t->blocked_on == s->object)
            *stack = t->blocked_stack;
        t->blocked = false;
        return true;
    default: /* nothing is open at either end of a thread's life; it may be noticed alive inside a
                call */
        if (s->line->kind != EV_thread_alive)
            orca_calls_forget(t);
        return true;
    }
}

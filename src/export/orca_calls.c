#include "export/orca_calls.h"

void orca_calls_forget(struct orca_thread *t)
{
    t->depth = 0;
    t->blocked = false;
}

static bool enter(struct orca_thread *t, const struct orca_line *line, uint32_t object,
                  stack_id stack)
{
    if (t->depth < ORCA_CALLS_DEPTH)
        t->open[t->depth] = line->kind;
    if (t->depth < UINT8_MAX)
        t->depth++;
    if (t->depth > 1)
        return false;
    t->object = object;
    t->stack = stack;
    return true;
}

/* The end of a call closes what was opened inside it, too.  An end whose beginning is not in the
 * trace (the recording began inside the call) stands alone. */
static bool leave(struct orca_thread *t, const struct orca_line *line, uint32_t object,
                  stack_id *stack)
{
    if (t->depth > ORCA_CALLS_DEPTH) {
        t->depth--;
        return false;
    }
    for (unsigned i = t->depth; i-- > 0;) {
        if (t->open[i] != line->enter)
            continue;
        t->depth = (uint8_t)i;
        if (i == 0 && stack->v == 0 && t->object == object)
            *stack = t->stack;
        return i == 0;
    }
    return t->depth == 0;
}

/* A call that cannot have another inside it, but is followed by one, has lost its end. */
static void close_leaf(struct orca_thread *t)
{
    if (t->depth == 0 || t->depth > ORCA_CALLS_DEPTH)
        return;
    const struct orca_line *top = orca_line_of(t->open[t->depth - 1]);
    if (top && top->role == ORCA_LEAF)
        t->depth--;
}

bool orca_calls_step(struct orca_thread *t, const struct orca_line *line, uint32_t object,
                     stack_id *stack)
{
    switch (line->role) {
    case ORCA_CALL:
        close_leaf(t);
        return t->depth == 0;
    case ORCA_ENTER:
    case ORCA_LEAF:
        close_leaf(t);
        return enter(t, line, object, *stack);
    case ORCA_EXIT:
        return leave(t, line, object, stack);
    case ORCA_BLOCK:
        t->blocked = true;
        t->blocked_on = object;
        t->blocked_stack = *stack;
        return true;
    case ORCA_UNBLOCK:
        if (t->blocked && t->blocked_on == object)
            *stack = t->blocked_stack;
        t->blocked = false;
        return true;
    default: /* nothing is open at either end of a thread's life; it may be noticed alive inside a
                call */
        if (line->kind != EV_thread_alive)
            orca_calls_forget(t);
        return true;
    }
}

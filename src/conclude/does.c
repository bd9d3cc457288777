#include "conclude/does.h"

#include "analyze/io_calls.h"

static enum holder_does doing_of_stack(const struct trace *t, stack_id stack, bool still)
{
    static const uint8_t of[] = {[IO_INPUT] = DOES_INPUT, [IO_OUTPUT] = DOES_OUTPUT};
    bool is_io;
    enum io io = still || io_of_stack(t, stack, &is_io) ? io_of_call(t, stack) : IO_NONE;
    return io != IO_NONE ? of[io] : still ? DOES_NATIVE : DOES_COMPUTE;
}

/* --- both --------------------------------------------------------------------------------------
 */

static struct place leaf_of(const struct trace *t, stack_id stack)
{
    struct place top, app;
    sites_name(t, stack, &top, &app);
    return top;
}

struct does does_of_stack(const struct resources *all, stack_id stack, bool still,
                          struct place *leaf)
{
    const struct trace *t = all->program.trace;
    struct place at = program_place(&all->program, stack);
    *leaf = leaf_of(t, stack);
    return (struct does){doing_of_stack(t, stack, still), at.method.v, at.line, 0};
}

lock_id does_peer(const struct analysis *a, const struct context *x)
{
    const struct trace_lock *l = trace_lock(a->trace, x->lock);
    return trace_is_peer(trace_class(a->trace, l->class_)->signature) ? x->lock : (lock_id){0};
}

struct does does_of_wait(const struct resources *all, const struct analysis *a, uint32_t context,
                         struct place *leaf)
{
    const struct context *x = timeline_context(&a->timeline, context);
    struct place at = program_place(&all->program, x->stack);
    struct does d = {DOES_WAIT, at.method.v, at.line, all->of_context[context]};
    *leaf = leaf_of(a->trace, x->stack);
    if (d.other)
        d.does = all->v[d.other - 1].kind == RESOURCE_ANSWERS ? DOES_ANSWER : DOES_BLOCKED;
    else if (x->what == STATE_SLEEPING)
        d.does = DOES_SLEEP;
    else if (x->what == STATE_JOINING)
        d.does = DOES_JOIN;
    else if (x->what == STATE_UNKNOWN)
        d.does = DOES_UNKNOWN;
    else if (a->purposes.of_context[context] == PURPOSE_ANSWER)
        d.does = DOES_ANSWER;
    else if (a->purposes.of_context[context] == PURPOSE_IO)
        d.does = doing_of_stack(a->trace, x->stack, true);
    return d;
}

#include "conclude/does.h"

#include "analyze/io_calls.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

enum {
    RUNS_LOOKS = 3,     /* that found a thread running in a native method, at least, */
    RUNS_PERMILLE = 100 /* of those that found one there */
};

method_id does_native_method(const struct trace *t, stack_id stack)
{
    const struct trace_stack *s = trace_stack(t, stack);
    for (uint32_t i = 0; i < s->n_frames; i++) {
        const struct trace_method *m = trace_method(t, s->frames[i].method);
        if (trace_method_is_java(m))
            return m->flags & METHOD_NATIVE ? s->frames[i].method : (method_id){0};
    }
    return (method_id){0};
}

bool *does_native_runs(struct analysis *a)
{
    const struct trace *t = a->trace;
    bool *runs = arena_alloc(&a->arena, t->n_methods + 1);
    struct looks {
        uint32_t all, running, asleep;
    } *v = calloc(t->n_methods + 1, sizeof *v);
    enum sample_kind kind = samples_wall(&a->samples);
    for (uint32_t thread = 0; v && thread < a->timeline.n_lines; thread++) {
        const struct run *r = samples_of(&a->samples, kind, thread);
        for (uint32_t i = 0; i < r->n; i++) {
            const struct sample *s = sample_at(r, i);
            struct looks *l = &v[s->stack.v ? does_native_method(t, s->stack).v : 0];
            l->all++;
            l->running += !(s->flags & SAMPLE_IDLE);
            l->asleep += (s->flags & SAMPLE_ASLEEP) != 0;
        }
    }
    for (size_t i = 0; runs && i <= t->n_methods; i++)
        runs[i] = i && v && !v[i].asleep && v[i].running >= RUNS_LOOKS &&
                  1000 * (uint64_t)v[i].running >= RUNS_PERMILLE * (uint64_t)v[i].all;
    bool whole = v != NULL;
    free(v);
    return whole ? runs : NULL;
}

/* Whether the innermost frame is C code that waits for a native lock, as glibc calls it. */
static bool is_in_futex(const struct trace *t, stack_id stack)
{
    static const char *const waits[] = {"futex_wait", "futex_abstimed_wait", "lll_lock_wait"};
    const struct trace_stack *s = trace_stack(t, stack);
    const struct trace_method *m = s->n_frames ? trace_method(t, s->frames[0].method) : NULL;
    bool found = false;
    for (size_t i = 0; i < ARRAY_LEN(waits) && m && !trace_method_is_java(m); i++)
        found |= strstr(m->name, waits[i]) != NULL;
    return found;
}

static enum holder_does doing_of_stack(const struct resources *all, stack_id stack, bool still)
{
    static const uint8_t of[] = {[IO_INPUT] = DOES_INPUT, [IO_OUTPUT] = DOES_OUTPUT};
    const struct trace *t = all->program.trace;
    bool is_io;
    enum io io = still || io_of_stack(t, stack, &is_io) ? io_of_call(t, stack) : IO_NONE;
    if (io != IO_NONE)
        return of[io];
    bool paused = still && !all->runs[does_native_method(t, stack).v];
    return paused || is_in_futex(t, stack) ? DOES_NATIVE : DOES_COMPUTE;
}

/* --- both ------------------------------------------------------------------------------------- */

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
    return (struct does){.does = doing_of_stack(all, stack, still),
                         .near = at.near,
                         .method = at.method.v,
                         .line = at.line};
}

lock_id does_peer(const struct analysis *a, const struct context *x)
{
    const struct trace_lock *l = trace_lock(a->trace, x->lock);
    return trace_is_peer(trace_class(a->trace, l->class_)->signature) ? x->lock : (lock_id){0};
}

/* No thread has time that passes: a thread in a library's delay sleeps. */
static const uint8_t does_for[] = {
    [RESOURCE_LOCK] = DOES_BLOCKED,   [RESOURCE_THINGS] = DOES_BLOCKED,
    [RESOURCE_ANSWERS] = DOES_ANSWER, [RESOURCE_POLLED] = DOES_BLOCKED,
    [RESOURCE_DELAY] = DOES_SLEEP,    [RESOURCE_LOOP] = DOES_BLOCKED,
    [RESOURCE_IO] = DOES_BLOCKED};

struct does does_of_wait(const struct resources *all, const struct analysis *a, uint32_t context,
                         struct place *leaf)
{
    const struct context *x = timeline_context(&a->timeline, context);
    struct place at = program_place(&all->program, x->stack);
    struct does d = {.does = DOES_WAIT,
                     .method = at.method.v,
                     .line = at.line,
                     .other = all->of_context[context]};
    *leaf = leaf_of(a->trace, x->stack);
    if (d.other)
        d.does = does_for[all->v[d.other - 1].kind];
    else if (x->what == STATE_SLEEPING)
        d.does = DOES_SLEEP;
    else if (x->what == STATE_JOINING)
        d.does = DOES_JOIN;
    else if (x->what == STATE_UNKNOWN)
        d.does = DOES_UNKNOWN;
    else if (a->purposes.of_context[context] == PURPOSE_ANSWER)
        d.does = DOES_ANSWER;
    else if (a->purposes.of_context[context] == PURPOSE_IO)
        d.does = doing_of_stack(all, x->stack, true);
    return d;
}

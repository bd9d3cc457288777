/* orca_calls.h - what each thread is in the middle of.
 *
 * Two things in a text line come from an earlier event of the thread: whether the call is nested in
 * another hooked call, and the stack of a call's end, which is that of its beginning.
 *
 * The 2014 Orca back-end manual, "Nested call": "we maintain a stack depth for each thread ...  If
 * a hook method occurs within another, the inner one is ignored."  So of the calls of a thread that
 * are open only the outermost is written, begin and end.
 *
 * Where events are missing (they were lost; a stack overflow inside the call), an end may never
 * come.  Such a call is over
 *     when orca_calls_forget makes the thread start afresh,
 *     when the thread calls again and no Java method runs inside the call,
 *     when the stack of the thread's next event is not inside the call's frame. */
#ifndef ORCA_EXPORT_ORCA_CALLS_H
#define ORCA_EXPORT_ORCA_CALLS_H

#include "format/orca_lines.h"
#include "format/trace.h"

#include <stdbool.h>

/* Calls of a thread that are kept; of the ones inside them only the number is. */
enum { ORCA_CALLS_KEPT = 65536 };

struct orca_open {
    stack_id stack;
    uint32_t what; /* of its event */
};

/* Small: there may be a million virtual threads.  Only nested calls allocate.
 *     kept inner ones = min(depth - 1, n_inner) */
struct orca_thread {
    uint32_t depth, n_inner;        /* open calls; room in `inner` */
    struct orca_open outer, *inner; /* the outermost; those inside it, outermost first */
    uint32_t object, blocked_on;    /* of the outermost call; of the contention */
    stack_id blocked_stack;
    bool blocked; /* between the two events of a contention */
    bool started; /* a ThreadStarted was written */
    bool silent;  /* the outermost call has no lines: see orca_tries.h */
};

/* An event: `object` is what it is about, a thread or a lock, 0 when unknown; `call`: the row of
 * its method table, 0: none. */
struct orca_step {
    const struct orca_line *line;
    uint32_t object, call;
};

/* Take note of an event; *stack is its own stack, id 0 when it has none.  Returns false when it is
 * nested, so not to be written; else *stack is the stack to write. */
bool orca_calls_step(struct orca_thread *t, const struct trace *trace, const struct orca_step *s,
                     stack_id *stack);

/* Events of this thread are missing. */
void orca_calls_forget(struct orca_thread *t);

void orca_calls_fini(struct orca_thread *t);

#endif

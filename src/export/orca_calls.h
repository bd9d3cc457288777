/* orca_calls.h - what each thread is in the middle of.
 *
 * Two things in a text line come from an earlier event of the thread: whether the call is nested in
 * another hooked call, and the stack of a call's end, which is that of its beginning.
 *
 * Spec 2, "Nested call": "we maintain a stack depth for each thread ... If a hook method occurs
 * within another, the inner one is ignored."  So of the calls of a thread that are open only the
 * outermost is written, begin and end.  Where events are missing, an end may never come:
 * orca_calls_forget makes the thread start afresh, and a call in which no Java method runs is over
 * when the thread calls again. */
#ifndef ORCA_EXPORT_ORCA_CALLS_H
#define ORCA_EXPORT_ORCA_CALLS_H

#include "format/orca_lines.h"

#include <stdbool.h>

enum { ORCA_CALLS_DEPTH = 5 };

/* Kept at 24 bytes: there may be a million virtual threads. */
struct orca_thread {
    uint8_t depth;                  /* open calls */
    bool blocked;                   /* between the two events of a contention */
    bool started;                   /* a ThreadStarted was written */
    uint8_t open[ORCA_CALLS_DEPTH]; /* kinds of the outermost of them */
    uint32_t object, blocked_on;    /* of the outermost call; of the contention */
    stack_id stack, blocked_stack;
};

/* Take note of an event: `object` is what it is about, a thread or a lock, 0 when unknown; *stack
 * is its own stack, id 0 when it has none.  Returns false when it is nested, so not to be written;
 * else *stack is the stack to write. */
bool orca_calls_step(struct orca_thread *t, const struct orca_line *line, uint32_t object,
                     stack_id *stack);

/* Events of this thread are missing. */
void orca_calls_forget(struct orca_thread *t);

#endif

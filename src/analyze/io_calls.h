/* io_calls.h - which methods read, write, connect, accept or wait until that is possible.
 *
 * By class and name, as they are in the JDKs 17 to 25, and in the transports of libraries that have
 * native selects of their own. */
#ifndef ORCA_ANALYZE_IO_CALLS_H
#define ORCA_ANALYZE_IO_CALLS_H

#include "format/trace.h"

enum io { IO_NONE, IO_INPUT, IO_OUTPUT };

/* What a thread that is on no processor does in this method of the JDK. */
enum io io_of_method(const struct trace *t, method_id method);

/* What a wait is for whose call of the JDK is one of input or output: a virtual thread parks
 * there. */
enum io io_of_call(const struct trace *t, stack_id stack);

/* A native one. */
bool io_is_native(const struct trace *t, method_id method);

/* A call in which an event loop waits for whatever comes next. */
bool io_is_select(const struct trace *t, method_id method);

/* Whether a stack is in one. */
bool io_in_select(const struct trace *t, stack_id stack);

/* Whether a stack may be in the JDK's Poller, where a virtual thread waits for a descriptor: it is, or
 * it is too short to say. */
bool io_in_poller(const struct trace *t, stack_id stack);

/* Whether a stack is in a select, or waits for a connection: not for what somebody owes. */
bool io_waits_for_work(const struct trace *t, stack_id stack);

/* Whether the innermost method of Java is native, and if so, whether it is input or output. */
bool io_of_stack(const struct trace *t, stack_id stack, bool *is_io);

#endif

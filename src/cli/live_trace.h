/* live_trace.h - names for the ids that an agent says: in the trace that it is writing. */
#ifndef ORCA_CLI_LIVE_TRACE_H
#define ORCA_CLI_LIVE_TRACE_H

#include "attach/jvm.h"
#include "base/err.h"
#include "format/trace.h"

/* The trace of a recording that goes on, brought up to date.  trace_close. */
int live_trace_open(struct trace **t, const struct jvm *jvm, struct err *err);

/* "java.lang.String"; "?" for an id that is not known. */
void live_trace_class(const struct trace *t, uint32_t class_, char *out, size_t n);

/* The innermost frame of a stack, "shop.Order.add(Order.java:31)"; "?" for 0. */
void live_trace_site(const struct trace *t, uint32_t stack, char *out, size_t n);

/* Any frame. */
void live_trace_frame(const struct trace *t, struct trace_frame f, char *out, size_t n);

#endif

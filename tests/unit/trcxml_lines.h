/* trcxml_lines.h - imports of TPTP's XML, compared by the events that they have. */
#ifndef ORCA_TESTS_TRCXML_LINES_H
#define ORCA_TESTS_TRCXML_LINES_H

#include "format/trace.h"

#define MAIN "<threadStart threadId='1' time='1' objIdRef='101' threadName='main'/>"
#define WORKER "<threadStart threadId='2' time='1' objIdRef='102' threadName='worker'/>"
#define BOTH "1000 thread_start main\n1000 thread_start worker\n"
#define FRAME(text) "<annotation name='orca.frame' value='" text "'/>"

/* Import a text, which must succeed. */
struct trace *xml_import(const char *xml);

/* The events, one a line, are these: "time-in-ms kind thread field=value ...", without fields that
 * are 0. */
void has_events(struct trace *t, const char *expected);

void has_problems(const struct trace *t, const char *const *expected, size_t n);

/* Import; no messages, and these are the events. */
void xml_is(const char *xml, const char *events);

/* The same with one problem. */
void xml_is_but(const char *xml, const char *problem, bool damage, const char *events);

/* Import, which must fail with this message. */
void xml_is_refused(const char *xml, const char *message);

#endif

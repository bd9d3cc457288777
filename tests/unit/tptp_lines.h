/* tptp_lines.h - what the TPTP exporter wrote, in a form that fits on a line of a test. */
#ifndef ORCA_TESTS_TPTP_LINES_H
#define ORCA_TESTS_TPTP_LINES_H

#include "export/export.h"
#include "trace_builder.h"

const struct exporter *tptp(void);

/* Export, and compare what is between the options and the end of the trace: expected are its lines
 * with ' for ", and @N, in ns, for the time.  Closes the trace.  Returns how many events were left
 * out. */
uint64_t trace_is(struct trace *t, const char *expected);

/* Export, and let xmllint hold the file against the DTD; without one of these the test is skipped.
 * Closes the trace. */
void is_valid(struct trace *t);

/* A trace of "main", which is there, and "other", which has been started. */
struct scene {
    struct trace_builder b;
    thread_id main, other;
    uint64_t at;
};

#define MAIN                                                                                       \
    "<threadStart threadId='1' @0 groupName='main' parentName='system' objIdRef='3' "              \
    "threadName='main'/>\n"
#define MS UINT64_C(1000000)

#define STEP(s, kind, ...) ADD(&(s)->b, 1, (s)->main, (s)->at += MS, kind, __VA_ARGS__)

/* groups: what orca.events says was recorded; "": nothing. */
void scene_init(struct scene *s, const char *groups);

/* trace_is of the scene, which is over. */
uint64_t scene_is(struct scene *s, const char *expected);

/* A new object; signature "": of unknown class. */
lock_id lock_of(struct scene *s, const char *signature, uint32_t hash);

#endif

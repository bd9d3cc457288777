/* top_source.h - what orca top shows: a JVM, its recording, and the model that is made of it.
 *
 * A refresh asks the agent one question ("status", which also flushes: no safepoint), reads what is
 * new in the trace, and lets the model come up to the moment of the question. */
#ifndef ORCA_CLI_TOP_SOURCE_H
#define ORCA_CLI_TOP_SOURCE_H

#include "analyze/live.h"
#include "attach/jvm.h"
#include "cli/top_found.h"
#include "cli/top_own.h"
#include "format/trace_follow.h"

enum top_state {
    TOP_RECORDING,
    TOP_UNWRITTEN, /* the trace's disk is full: the picture is of before */
    TOP_SILENT,    /* the JVM does not answer, as when it is stopped */
    TOP_ENDED,     /* nothing is recorded any more; the JVM goes on */
    TOP_GONE,      /* the JVM has ended */
};

struct top_source {
    struct jvm jvm;
    struct top_own own;
    struct trace_follow *follow;
    struct live live; /* when `follow` is there */
    struct top_found found;
    char path[PATH_MAX];
    uint64_t session; /* when the recording began: ids of another one mean other things */
    enum top_state state;
    char unwritten[128];                             /* why, in that state */
    uint64_t asked;                                  /* when the last answer was asked for */
    uint64_t events, record_cpu, drain_cpu, jvm_cpu; /* counters then */
    uint64_t lost;
    uint64_t groups; /* bits, as in event_group_names */
    /* Shares of one processor since the refresh before. */
    double cpu, recording, writing;
    uint32_t os_threads;
};

/* Join the recording that goes on, or begin one. */
int top_source_open(struct top_source *s, const struct jvm *jvm, struct err *err);

/* Come up to date, for a window of about so many ns.  What ends meanwhile is no failure: `state`.
 */
int top_source_refresh(struct top_source *s, uint64_t window, struct err *err);

void top_source_close(struct top_source *s);

/* How long the JVM has been running. */
uint64_t top_source_uptime(const struct top_source *s);

#endif

/* top_source.h - what orca top shows: a JVM, its recording, and the report on its last seconds.
 *
 * A refresh asks the agent one question ("status", which also flushes: no safepoint).  Then the
 * part of the trace from about --window before up to the moment of the question is analysed as a
 * report is (analyze, conclude); what was under way when that part began, an analysis of before
 * says (carry.h), since each leaves that of its own end.  No more often than so that it takes a
 * tenth of a processor:
 *     due = end of the last one + 9 * the processor time that it took */
#ifndef ORCA_CLI_TOP_SOURCE_H
#define ORCA_CLI_TOP_SOURCE_H

#include "attach/jvm.h"
#include "cli/top_own.h"
#include "conclude/report.h"
#include "conclude/threads_now.h"

#define TOP_WINDOW_MAX_NS (UINT64_C(60) * 1000000000)

enum { TOP_PARTS = 128 };

enum top_state {
    TOP_RECORDING,
    TOP_UNWRITTEN, /* the trace's disk is full: the picture is of before */
    TOP_SILENT,    /* the JVM does not answer, as when it is stopped */
    TOP_ENDED,     /* the recording has ended; the JVM goes on */
    TOP_GONE,      /* the JVM has ended */
};

struct top_source {
    struct jvm jvm;
    struct top_own own;
    struct report report; /* a NULL: none yet */
    struct thread_now *now;
    size_t n_now;
    struct carry parts[TOP_PARTS]; /* where a part may begin, in the order of time */
    size_t n_parts;
    const char *app;     /* as trace.app */
    bool another_file;   /* it has gone on in one that does not have the window's beginning */
    uint64_t due;        /* when it may be looked at again */
    char path[PATH_MAX]; /* as the JVM says it */
    uint64_t session;    /* when the recording began: ids of another one mean other things */
    enum top_state state;
    char unwritten[128];                             /* why, in that state */
    uint64_t asked;                                  /* when the last answer was asked for */
    uint64_t events, record_cpu, drain_cpu, jvm_cpu; /* counters then */
    uint64_t lost;
    uint64_t groups; /* bits, as in event_group_names */
    /* Since the refresh before: shares of one processor, events a second. */
    double cpu, recording, writing, rate;
    uint32_t os_threads;
};

/* Join the recording that goes on, or begin one. */
int top_source_open(struct top_source *s, const struct jvm *jvm, struct err *err);

/* Come up to date, for a window of about that number of ns: the figures and, when due, the report.
 * An end of the JVM or the recording is not a failure: `state`. */
int top_source_refresh(struct top_source *s, uint64_t window, struct err *err);

void top_source_close(struct top_source *s);

/* How long the JVM has been running. */
uint64_t top_source_uptime(const struct top_source *s);

/* The length of what the report is about. */
uint64_t top_source_span(const struct top_source *s);

#endif

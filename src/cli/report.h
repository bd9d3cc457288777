/* report.h - what `orca report` shows: the analysis of one trace, in the order in which it is
 * shown.
 *
 *   cmd_report.c    options              report_text.c    for a terminal: header and findings
 *   report.c        selection, order     report_tables.c  for a terminal: the tables
 *   class_names.c   short class names    report_json.c    --json
 */
#ifndef ORCA_CLI_REPORT_H
#define ORCA_CLI_REPORT_H

#include "analyze/rules.h"

enum report_section {
    REPORT_FINDINGS = 1,
    REPORT_THREADS = 2,
    REPORT_MONITORS = 4,
    REPORT_SITES = 8,
    REPORT_OWNERS = 16,
    REPORT_ALL = 31,
};

/* How the recording ended, beyond what the file's header can know. */
enum report_ending {
    ENDED_CLOSED,    /* in good order */
    ENDED_RECOVERED, /* the JVM was killed; completed from its rings */
    ENDED_STOPPED,   /* the file could not be written further */
    ENDED_LIVE,      /* still being recorded */
    ENDED_CUT,       /* the JVM was killed and its rings are gone, or the file was cut */
};

/* Threads that waited for the monitors of a class, and in them. */
struct class_threads {
    uint64_t blocked, waited;
};

struct report {
    struct trace *trace;
    struct analysis *a;
    const char *path;
    enum report_ending ending;
    unsigned sections; /* enum report_section bits */
    uint32_t group;    /* --class: index into locks.classes, else EVERY_CLASS */
    size_t top;        /* rows of each table at most; 0: all */

    /* Each list with the most blocked time first, then the most waited time. */
    struct rule_finding *findings;
    uint32_t *threads; /* indices into threads: those of the trace */
    uint32_t *classes; /* groups that threads blocked on or waited in */
    struct site *sites;
    const struct blame *owners;  /* by class and owner; only those with contention */
    const struct blame *waiters; /* by class and waiting thread */
    const struct blame *pairs;   /* by waiting thread and owner; only those with contention */
    struct class_threads *class_threads; /* by group */
    size_t n_findings, n_threads, n_classes, n_sites, n_owners, n_waiters, n_pairs;
};

/* Make the lists.  `class_name`: the class to select, or NULL.  -ENOENT: no lock is of that class.
 */
int report_init(struct report *r, const char *class_name, struct err *err);

/* Entries of a list of n to show. */
static inline size_t report_rows(const struct report *r, size_t n)
{
    return r->top && r->top < n ? r->top : n;
}

/* The word for how the recording ended: "closed", "recovered", "stopped", "recording", "cut". */
const char *report_ending_name(enum report_ending e);

/* Print.  0, or -EIO when stdout cannot be written. */
int report_text(const struct report *r, struct err *err);
int report_json(const struct report *r, struct err *err);

#endif

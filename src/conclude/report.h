/* report.h - what reports show: the lists of one analysis, in the order in which they are shown.
 *
 *   report.c          the lists              export/report_json.c   as JSON
 *   report_select.c   what part of it        cli/report_text.c      as text
 *
 * The lists are the analysis' arena's. */
#ifndef ORCA_CONCLUDE_REPORT_H
#define ORCA_CONCLUDE_REPORT_H

#include "analyze/alloc_tables.h"
#include "analyze/hot.h"
#include "analyze/peer_sums.h"
#include "conclude/rules.h"
#include "conclude/thread_pools.h"

#include <string.h>

enum report_section {
    REPORT_FINDINGS = 1,
    REPORT_THREADS = 2,
    REPORT_MONITORS = 4,
    REPORT_SITES = 8,
    REPORT_OWNERS = 16,
    REPORT_INTERACTIONS = 32,
    REPORT_PATH = 64,
    REPORT_DEADLOCKS = 128,
    REPORT_BOTTLES = 256,
    REPORT_QUEUES = 512,
    REPORT_POOLS = 1024,
    REPORT_ORDERS = 2048,
    REPORT_HOT = 4096,
    REPORT_GC = 8192,
    REPORT_ALLOC = 16384,
    REPORT_CALLS = 32768,
    REPORT_ALL = 65535,
    REPORT_IO = 131072,    /* not of ALL: the viewer has it not yet */
    REPORT_SCREEN = 65536, /* with REPORT_FINDINGS: the first screen */
};

enum { REPORT_SECTIONS = 16 };

/* "findings", "threads", ...: by bit; ends with NULL. */
extern const char *const report_section_names[REPORT_SECTIONS + 1];

/* How the recording ended, beyond what the file's header can know. */
enum report_ending {
    ENDED_CLOSED,    /* in good order */
    ENDED_RECOVERED, /* the JVM was killed; completed from its rings */
    ENDED_STOPPED,   /* the file could not be written further */
    ENDED_LIVE,      /* still being recorded */
    ENDED_CUT,       /* the JVM was killed and its rings are gone, or the file was truncated */
};

struct report {
    struct trace *trace;
    struct analysis *a;
    const char *path;
    enum report_ending ending;
    unsigned sections; /* enum report_section bits */
    uint32_t group;    /* a class: index into locks.groups, else EVERY_CLASS */
    size_t top;        /* rows of each table at most; 0: all */

    /* Each list with the most time blocked first, then the most waited time. */
    struct rule_finding *findings;
    const struct resources *resources; /* with findings */
    struct thread_pool *pools;         /* with REPORT_SCREEN */
    size_t n_pools;
    uint32_t *threads;             /* indices into threads: those of the trace */
    uint32_t *classes;             /* groups that threads blocked on or waited in */
    uint32_t *sites, *owner_sites; /* indices; owner_sites: what owners executed in that time */
    const struct blame *owners;    /* by class and owner; only those with contention */
    const struct blame *waiters;   /* by class and waiting thread */
    const struct blame *pairs;     /* by waiting thread and owner; only those with contention */
    uint32_t *queues; /* indices into queues: locks that threads queued for, most time first */
    size_t n_queues;
    uint32_t *bottles; /* indices into threads: those that ran, highest first */
    size_t n_bottles;
    struct hot hot[SAMPLE_LISTS]; /* of samples */
    bool live;                    /* of allocations: what is alive first */
    struct alloc_tables allocs;
    struct call_tables calls; /* of tracked methods */
    struct peer_sums io;      /* with REPORT_IO */
    size_t n_findings, n_threads, n_classes, n_sites, n_owner_sites, n_owners, n_waiters, n_pairs;
};

/* What part of the recording the tables and the path are of. */
struct report_part {
    uint64_t from, to;   /* ns after its beginning; to UINT64_MAX: to its end */
    uint64_t lock;       /* id; 0: all */
    const char *threads; /* patterns of names, joined by ','; NULL: all */
    const char *follow;  /* the thread that the path leads to; NULL: the one that ended last */
};

/* Choose it, before report_init.  -ENOENT: no thread has such a name, no lock such an id; -EINVAL:
 * the range is empty. */
int report_select(struct report *r, const struct report_part *part, struct err *err);

/* The path to a thread (index; 0: none), to its end or to `to` if that is earlier.  -ENOMEM. */
int report_follow(struct report *r, uint32_t thread, uint64_t from, uint64_t to, struct err *err);

/* Make the lists.  `class_name`: the class to select, or NULL.  -ENOENT: no lock is of that class;
 * the message says no option's name. */
int report_init(struct report *r, const char *class_name, struct err *err);

/* Entries of a list of n to show. */
static inline size_t report_rows(const struct report *r, size_t n)
{
    return r->top && r->top < n ? r->top : n;
}

/* Losses head every report: as a finding they have no number. */
static inline unsigned report_unnumbered(const struct report *r)
{
    return r->n_findings && strcmp(r->findings[0].rule, "events-lost") == 0;
}

static inline unsigned report_findings(const struct report *r)
{
    return (unsigned)r->n_findings - report_unnumbered(r);
}

/* By its number, from 1. */
static inline const struct rule_finding *report_finding(const struct report *r, unsigned number)
{
    return &r->findings[report_unnumbered(r) + number - 1];
}

/* The word for how the recording ended: "closed", "recovered", "stopped", "recording", "cut". */
const char *report_ending_name(enum report_ending e);

/* How it ended by its word; ENDED_CUT for any other. */
enum report_ending report_ending_find(const char *name);

#endif

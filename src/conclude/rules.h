/* rules.h - findings: what limits the program, in plain words, most important first.
 *
 * A finding is only ever a statement about what was recorded; none is a guess.  Each rule has a
 * threshold below which it says nothing, so that a healthy program has no findings.  The rules,
 * their names (stable words) and thresholds: docs/findings.md. */
#ifndef ORCA_CONCLUDE_RULES_H
#define ORCA_CONCLUDE_RULES_H

#include "analyze/analysis.h"
#include "conclude/resource.h"

enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_PROBLEM };

enum { FINDING_IDS = 5, FINDING_TEXT = 1024 };

/* Without holds, orders of locks are searched in what waiting threads saw, a wait at a time: only
 * in so many waits unless it was asked for (analysis_lock_order before rules_apply). */
enum { RULES_SIGHTINGS = 2000000 };

struct id_list {
    uint32_t v[FINDING_IDS]; /* the most important ones */
    uint32_t n;
};

struct rule_finding {
    const char *rule;
    enum severity severity;
    uint64_t impact;   /* ns that threads waited, or that the path took, by it: the order */
    uint64_t from, to; /* ns of CLOCK_MONOTONIC: the time that it is about */
    struct id_list threads, locks, stacks; /* ids as in the trace */
    const struct resource *resource;       /* that it is about; NULL: none */
    const struct resources *resources;     /* the list that has it */
    char text[FINDING_TEXT]; /* clauses that end with "; ", for who must break the line */
};

/* A rule, and what it looks at, for who wants to know what was looked at. */
struct rule {
    const char *name, *looks_at;
};
extern const struct rule rules[];
extern const size_t n_rules;

/* *out: the analysis' arena.  The statistics must be those of the whole recording.  -ENOMEM. */
int rules_apply(struct analysis *a, struct rule_finding **out, size_t *n, struct err *err);

/* "info", "warning", "problem" */
const char *severity_name(enum severity s);

#endif

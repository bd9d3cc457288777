/* rules.h - findings: what the numbers of a trace say in plain words, most important first.
 *
 * A finding is only ever a statement about what was recorded; none is a guess.  Rule names are
 * stable: events-lost      events are missing, so that all figures are lower bounds still-blocked
 * threads were blocked on a class's monitors when the recording ended, one of them
 *                      for 100 ms or more dominant-lock    one class
 * has at least half of all blocked time contended-lock   a class has at least a two-hundredth of it
 */
#ifndef ORCA_ANALYZE_RULES_H
#define ORCA_ANALYZE_RULES_H

#include "analyze/analysis.h"

enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_PROBLEM };

enum { FINDING_IDS = 5, FINDING_TEXT = 1024 };

struct id_list {
    uint32_t v[FINDING_IDS]; /* the most important ones */
    uint32_t n;
};

struct rule_finding {
    const char *rule;
    enum severity severity;
    uint64_t from, to;                     /* ns of CLOCK_MONOTONIC: the time that it is about */
    struct id_list threads, locks, stacks; /* ids as in the trace */
    char text[FINDING_TEXT]; /* clauses that end with "; ", for who must break the line */
};

/* *out: the analysis' arena.  -ENOMEM. */
int rules_apply(struct analysis *a, struct rule_finding **out, size_t *n, struct err *err);

/* "info", "warning", "problem" */
const char *severity_name(enum severity s);

#endif

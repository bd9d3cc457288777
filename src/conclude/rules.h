/* rules.h - findings: what limits the program, in plain words, most important first.
 *
 * A finding is only ever a statement about what was recorded; none is a guess.  Each rule has a
 * threshold below which it says nothing, so that a healthy program has no findings.  The rules,
 * their names (stable words) and thresholds: docs/concepts/findings.md. */
#ifndef ORCA_CONCLUDE_RULES_H
#define ORCA_CONCLUDE_RULES_H

#include "analyze/analysis.h"
#include "conclude/resource.h"

enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_PROBLEM };

enum { FINDING_IDS = 5, FINDING_TEXT = 2048, FINDING_LINES = 16 };

/* Without holds, orders of locks are searched in what waiting threads saw, a wait at a time: only
 * in so many waits unless it was asked for (analysis_lock_order before rules_apply). */
enum { RULES_SIGHTINGS = 2000000 };

struct id_list {
    uint32_t v[FINDING_IDS]; /* the most important ones */
    uint32_t n;
};

/* A finding is read as a card: a title, then lines, some of them behind a label. */
enum card_label {
    CARD_PLAIN,
    CARD_MORE, /* goes on with the line before */
    CARD_WAIT_IN,
    CARD_HELD_BY,
    CARD_GIVEN_BY,  /* answers */
    CARD_LAST,      /* at a barrier */
    CARD_OTHER_END, /* of what is polled */
    CARD_CONSUMER,  /* a full queue */
    CARD_HANDLERS,  /* what an event loop runs */
    CARD_BUSY,      /* all the time in which others wait, as far as is known for their answers */
    CARD_BEHIND,    /* who waits for those who wait for it */
    CARD_PATH,
    CARD_LONGEST,
    CARD_TRY,   /* only where a rule stands behind it: docs/concepts/findings.md */
    CARD_RERUN, /* what was off, and would have said what holders do */
    CARD_LABELS
};

/* Stable words: "", "", "wait in", "held by", ... */
extern const char *const card_labels[CARD_LABELS];

struct finding_line {
    uint16_t from, len; /* of the text */
    uint16_t label;     /* enum card_label */
};

struct rule_finding {
    const char *rule;
    enum severity severity;
    uint64_t impact;   /* ns that threads waited, or that the path took, by it: the order */
    uint64_t from, to; /* ns of CLOCK_MONOTONIC: the time that it is about */
    struct id_list threads, locks, stacks; /* ids as in the trace */
    const struct resource *resource;       /* that it is about; NULL: none */
    const struct resources *resources;     /* the list that has it */
    uint64_t path_ns, path_seen; /* of the critical path: on it; that much through owners seen */
    const struct blocked *still; /* who waits for the resource at the end for longer than usual */
    struct finding_line lines[FINDING_LINES]; /* the first one is the title */
    uint32_t n_lines;
    char text[FINDING_TEXT]; /* all lines, "; " between them */
};

/* A line of the card; in a buffer of FINDING_TEXT bytes. */
void finding_line(const struct rule_finding *f, uint32_t line, char *out);

/* What stands beside the title: "waits: 81 % of busy time"; "" where the rule has no such share. */
void finding_share(const struct rule_finding *f, char *out, size_t n);

/* A resource's title; with its object's number where others of its class are told, too. */
void finding_resource(const struct resources *all, const struct resource *r,
                      const struct analysis *a, char *out, size_t n);

/* "matcher-1 (93 %)", "31 threads of http-nio-exec"; "" where nobody is known. */
void finding_holders(const struct resource *r, const struct analysis *a, char *out, size_t n);

/* A rule, and what it looks at, for who wants to know what was looked at. */
struct rule {
    const char *name, *looks_at;
};
extern const struct rule rules[];
extern const size_t n_rules;

/* *out, and the resources that the rules looked at (NULL: not wanted): the analysis' arena.  The
 * statistics must be those of the whole recording.  -ENOMEM. */
int rules_apply(struct analysis *a, struct rule_finding **out, size_t *n,
                const struct resources **resources, struct err *err);

/* "info", "warning", "problem" */
const char *severity_name(enum severity s);

#endif

/* compare.h - two recordings side by side: what got better, what got worse, and whether that is
 * more than noise.
 *
 * Recordings of different length are compared by rates: threads waiting on average (ns waited for
 * each ns recorded), waits a second.  Each recording is cut into COMPARE_SLICES equal parts; that
 * the parts of one lie higher than those of the other is tested by rank (Mann and Whitney 1947,
 * normal approximation with ties), which asks nothing of their distribution.  So the noise is that
 * within the two recordings; two runs of one program can differ by more.
 *
 * What was allocated is compared by bytes a second, likewise; where it is an estimate from samples,
 * the change must also exceed chance in their number.  How fast what outlives collections grows is
 * the slope of a straight line through it (alloc_survivors.h), with its standard error. */
#ifndef ORCA_CONCLUDE_COMPARE_H
#define ORCA_CONCLUDE_COMPARE_H

#include "analyze/alloc_visit.h"
#include "conclude/rules.h"

enum {
    COMPARE_SLICES = 16,
    COMPARE_LEAST_PERMILLE = 100, /* a change of less is none, */
    COMPARE_LEAST_QUEUE = 2,      /* nor one of fewer thousandths of a thread, */
    COMPARE_LEAST_RATE = 16384,   /* nor one of fewer bytes a second */
    COMPARE_LEAST_POINTS = 8,     /* collections from which a growth is computed */
};

#define COMPARE_P 0.01 /* more than noise: chance of such ranks without a difference */

enum compare_kind {
    COMPARE_STATE,           /* all threads of the program together, by state; running, too */
    COMPARE_RESOURCE,        /* what threads wait for (resource.h), by its title */
    COMPARE_PLACE,           /* a place in the program where threads blocked */
    COMPARE_ALLOCATED_CLASS, /* bytes allocated, by class */
    COMPARE_ALLOCATED_PLACE, /* by class and place in the program */
    COMPARE_GROWTH_CLASS,    /* growth of what outlives collections, likewise */
    COMPARE_GROWTH_PLACE,
    COMPARE_KINDS
};

static inline bool compare_is_growth(enum compare_kind k)
{
    return k >= COMPARE_GROWTH_CLASS;
}

/* Of allocations; the others are of waits. */
static inline bool compare_is_of_allocs(enum compare_kind k)
{
    return k >= COMPARE_ALLOCATED_CLASS;
}

/* "state", "resource", "place", "allocated-class", "allocated-place", "growth-class",
 * "growth-place" */
const char *compare_kind_name(enum compare_kind k);

/* One side of a row. */
struct compare_side {
    uint64_t count; /* waits; objects: allocated, or live at the end; 0: it is not there */
    uint64_t ns, p50, p99, max;   /* of waits */
    uint64_t bytes, samples;      /* of allocations, as count; samples 0: not an estimate */
    double rate;                  /* of allocations: bytes a second */
    double error;                 /* its standard error */
    double threads;               /* waiting on average */
    double slice[COMPARE_SLICES]; /* threads, or rate of what was allocated, in each part */
    /* Of a resource. */
    uint64_t base; /* ns that those who wait were busy, waits included */
    const char
        *holders;      /* what its finding says of who has it; "": nothing; NULL: it is not there */
    const char *doing; /* what these do most, and where; "": not known */
};

enum compare_verdict {
    COMPARE_SAME,
    COMPARE_BETTER,
    COMPARE_WORSE,
    COMPARE_NOISE,
    COMPARE_OTHER,
    COMPARE_LESS,
    COMPARE_MORE
};

/* "same"; "better", "worse": less or more contention or growth, and more than noise; "noise": may
 * be chance; "other": changed, but neither good nor bad by itself; "less", "more": the same of what
 * was allocated, which depends on how much the program did */
const char *compare_verdict_name(enum compare_verdict v);

struct compare_row {
    enum compare_kind kind;
    const char *name;
    struct compare_side a, b;
    double p; /* chance of such a difference without a cause; 1 where it is unknown */
    enum compare_verdict verdict;
};

/* What is kept of a recording. */
struct summary {
    struct arena arena;
    uint64_t length;          /* ns of the recording */
    uint64_t program;         /* ns up to the program's end; 0: not recorded */
    uint64_t tasks;           /* that pools ran; 0: not recorded */
    struct compare_row *rows; /* side a is used */
    size_t n_rows;
    struct rule_finding *findings;
    const char **about; /* of each finding: its resource, by its key in both; "": none */
    size_t n_findings;
    bool has_allocs, has_growth; /* whether there are rows of them: both sides must have */
    bool is_estimate;            /* of what was allocated */
    struct alloc_amount allocated;
    size_t collections; /* points from which the growth is computed */
    double weight;      /* bytes that a sample stands for, on average; 0: there are none */
};

/* -ENOMEM. */
int summary_make(struct summary *out, struct analysis *a, struct err *err);
void summary_fini(struct summary *s);

/* Whether it has a finding about that resource, whatever the rule: how much of all waiting it makes
 * up decides which one speaks of it.  about "": whether it has one of the rule, about none. */
bool summary_has_finding(const struct summary *s, const char *rule, const char *about);

/* The rows of both, most change first.  Memory is the arena's.  -ENOMEM. */
int compare(const struct summary *a, const struct summary *b, struct arena *arena,
            struct compare_row **out, size_t *n);

/* Chance that ranks differ so much without a difference, two-sided. */
double compare_ranks(const double *a, const double *b, size_t n);

#endif

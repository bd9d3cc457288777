/* analysis.h - everything that is known about one trace, computed once.
 *
 *     decode -> who ended each wait -> what waits are for (purpose.h, then conclude) -> sums, paths
 *
 * The reports, exporters and the server read it; nothing in it changes after analysis_run.  The
 * trace must outlive it. */
#ifndef ORCA_ANALYZE_ANALYSIS_H
#define ORCA_ANALYZE_ANALYSIS_H

#include "analyze/allocs.h"
#include "analyze/bind.h"
#include "analyze/calls.h"
#include "analyze/deadlock.h"
#include "analyze/decode.h"
#include "analyze/halts.h"
#include "analyze/lock_order.h"
#include "analyze/path_sums.h"
#include "analyze/purpose.h"
#include "analyze/queues.h"
#include "analyze/reads.h"
#include "analyze/samples.h"
#include "analyze/sightings.h"
#include "analyze/signals.h"
#include "analyze/slack.h"
#include "analyze/stats.h"
#include "analyze/stop.h"
#include "analyze/wait_graph.h"

struct loss {
    uint32_t cause; /* enum loss_cause */
    uint64_t count;
};

struct analysis {
    const struct analysis *whole; /* of a branch: what it was made from; else NULL */
    struct trace *trace;
    struct arena arena;
    struct decode_window window;
    bool windowed; /* a flight recorder's file: what was before window.from has been overwritten */
    struct thread_set threads;
    struct timeline timeline;
    struct samples samples;
    struct processors processors;
    struct stills stills; /* in input or output */
    struct stills halts;  /* these, and what else kept threads from running */
    struct reads reads;
    struct allocs allocs;
    struct lock_set locks;
    struct sites sites;
    struct purposes purposes;
    const struct resources *resources; /* conclude's, by which it has decided the purposes */
    struct bindings bindings;
    struct bottles bottles;
    struct deadlocks deadlocks;
    struct queues queues;
    struct signal_set signals;
    struct calls calls; /* of tracked methods */
    struct stop stop;   /* the one who ended the program */
    struct path path;   /* to the program's end; v NULL: not recorded, or decided from outside */
    struct path_sums path_sums;
    struct sightings sightings;
    struct lock_order orders; /* once analysis_lock_order was called */
    bool has_orders;
    struct wait_graph pools; /* once analysis_wait_graph was called */
    bool has_pools;
    const struct alloc_tables *alloc_tables; /* once alloc_tables_whole was called */
    uint64_t *slack; /* by lock id, ns (slack.h), once analysis_slack was called; NULL: not, or
                      * there is no path */
    struct decoded decoded;
    struct collections collections;
    struct safepoints safepoints;
    struct stats stats;         /* of the selection */
    uint64_t open[STATE_LIMIT]; /* waits going on at the end */
    uint64_t gc_count, gc_ns, gc_max;
    struct loss losses[LOSS_LIMIT]; /* the causes that occurred */
    size_t n_losses;
};

/* How to analyse. */
struct analysis_plan {
    int (*decide)(struct analysis *a);  /* when causes are known, before sums are made; -ENOMEM */
    const struct carry *carry;          /* what was under way when a part of a recording
                                           (trace_keep_part) began; NULL: nothing */
    const struct analysis_watch *watch; /* NULL: no thread */
};

/* Analyse a trace: by conclude/resource.h, which has the plans.  Damage found on the way is
 * appended to the trace's problems and is not a failure. On failure (out of memory) nothing needs
 * analysis_free. */
int analysis_run(struct analysis **out, struct trace *t, const struct analysis_plan *plan,
                 struct err *err);

/* Whether a sample, or that it woke or started a thread, shows the thread at work after a moment. */
bool analysis_seen_running(const struct analysis *a, uint32_t thread, uint64_t since);

/* What is under way at its end.  carry_fini, also on failure: -ENOMEM. */
int analysis_carry(const struct analysis *a, struct carry *out);

void analysis_free(struct analysis *a);

/* The tables of a part of the recording, instead of those of the whole.  Borrows the threads.
 * -ENOMEM; then there are none. */
int analysis_select(struct analysis *a, const struct selection *selection);

/* The same into a place of the caller's. */
int analysis_stats(const struct analysis *a, const struct selection *selection, struct stats *out);

/* The same analysis for questions about a part of it: it shares what it does not change, and what
 * analysis_select, analysis_follow and analysis_slack make of it, and what is put into its arena,
 * is its own.  Several branches may be made of one analysis at the same time; it must outlive them.
 * Percentiles are sorted when they are first read (percentile.h), so that those of shared
 * statistics are for one thread. */
void analysis_branch(struct analysis *out, const struct analysis *whole);
void analysis_branch_fini(struct analysis *branch);

/* The critical path to a thread at a time (path.h) instead of the one to the program's end.
 * -ENOMEM; then there is none. */
int analysis_follow(struct analysis *a, uint32_t thread, uint64_t to, uint64_t from);

/* To the program's end, also where it was stopped: then, where threads lived on, to the one of them
 * that ran most.  -ENOMEM. */
int analysis_follow_end(struct analysis *a, uint64_t to, uint64_t from);

/* Blames of the selection that the statistics are of (blames.h), of one class group or EVERY_CLASS;
 * the list is the analysis' arena's.  -ENOMEM. */
int analysis_blames(struct analysis *a, uint32_t group, unsigned keys, const struct blame **out,
                    size_t *n);

/* Find which pools of threads wait for which: a->pools.  -ENOMEM. */
int analysis_wait_graph(struct analysis *a);

/* Find locks that are taken in contradicting orders: a->orders.  -ENOMEM. */
int analysis_lock_order(struct analysis *a);

/* Find the slack of each lock with regard to the path.  -ENOMEM. */
int analysis_slack(struct analysis *a);

/* Events that are missing altogether: without those that only lack their stack or lock. */
uint64_t analysis_lost_events(const struct analysis *a);

#endif

/* analysis.h - everything that is known about one trace, computed once.
 *
 * The reports, exporters and the server read it; nothing in it changes after analysis_run.  The
 * trace must outlive it. */
#ifndef ORCA_ANALYZE_ANALYSIS_H
#define ORCA_ANALYZE_ANALYSIS_H

#include "analyze/blames.h"
#include "analyze/decode.h"
#include "analyze/lock_set.h"
#include "analyze/sites.h"
#include "analyze/thread_set.h"

struct loss {
    uint32_t cause; /* enum loss_cause */
    uint64_t count;
};

struct analysis {
    struct trace *trace;
    struct arena arena;
    struct decode_window window;
    bool windowed; /* a flight recorder's file: what was before window.from has been overwritten */
    struct thread_set threads;
    struct lock_set locks;
    struct sites sites;
    struct blames blames;
    struct decoded decoded;
    struct state_stats total[STATE_LIMIT]; /* over all threads */
    uint64_t open[STATE_LIMIT];            /* waits going on at the end */
    uint64_t gc_count, gc_ns, gc_max;
    struct loss losses[LOSS_LIMIT]; /* the causes that occurred */
    size_t n_losses;
};

/* Analyse a trace.  Damage that is met on the way is appended to the trace's problems and is no
 * failure. On failure (out of memory) nothing needs analysis_free. */
int analysis_run(struct analysis **out, struct trace *t, struct err *err);
void analysis_free(struct analysis *a);

/* Events that are missing altogether: without those that only lack their stack or lock. */
uint64_t analysis_lost_events(const struct analysis *a);

#endif

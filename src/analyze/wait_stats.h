/* wait_stats.h - counts and times of a set of waits. */
#ifndef ORCA_ANALYZE_WAIT_STATS_H
#define ORCA_ANALYZE_WAIT_STATS_H

#include "analyze/percentile.h"

struct wait_stats {
    uint64_t count;   /* all, with those of which the time is not known */
    uint64_t unknown; /* of them: one end is missing, no time known */
    uint64_t open;    /* of them: still going on at the end of the recording, counted up to there */
    uint64_t summed;  /* of them: of which sums were recorded; shortest and percentiles have the
                       * average of each sum */
    uint64_t objects; /* different ones */
    uint64_t threads; /* different ones */
    uint64_t ns, min, max; /* ns: total; min is UINT64_MAX while there is none */
    uint64_t first, last;  /* beginning of the first one, end of the last one */
    struct percentile times;
};

void wait_stats_init(struct wait_stats *s);

/* Average of the waits whose time is known, and their minimum; 0 when there is none. */
uint64_t wait_stats_avg(const struct wait_stats *s);
uint64_t wait_stats_min(const struct wait_stats *s);

#endif

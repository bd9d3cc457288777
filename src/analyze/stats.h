/* stats.h - the tables: how often and how long threads waited, by thread, by class of lock, by
 * lock, by place in the program and by owner - of a range of time and a set of threads (after the
 * views of TPTP 4.5's thread profiling).
 *
 *     over all threads, over all classes, over all sites, each state's count and ns are the same
 *     sums; in each thread  sum of ns over the states = life - running - still;
 *     HELD_UP = BLOCKED + REACQUIRING + PARKED for what other threads have (purpose.h)
 *
 * A wait that lies in the range with a part counts, with the time of that part: ranges that adjoin
 * add up. */
#ifndef ORCA_ANALYZE_STATS_H
#define ORCA_ANALYZE_STATS_H

#include "analyze/blames.h"
#include "analyze/halts.h"
#include "analyze/purpose.h"
#include "analyze/sites.h"
#include "analyze/timeline.h"
#include "analyze/wait_stats.h"
#include "analyze/weigh.h"

/* Beside the states: all waits in which others held the thread up, whatever the state. */
enum { HELD_UP = STATE_LIMIT, STATS_COLUMNS };

struct state_stats {
    uint64_t count, ns;
};

struct thread_sums {
    struct state_stats state[STATS_COLUMNS];
    uint64_t life;                  /* ns of its life in the range */
    uint64_t waited_for[FOR_LIMIT]; /* ns of its waits but sleeps, by what they were for */
    uint64_t halted[HALTED_KINDS];  /* ns in no wait, and not running (halts.h) */
    uint64_t looks;                 /* that say so of input and output */
    uint64_t unknown;               /* of the counts: waits of which one end is missing */
    uint64_t reacquired;            /* INTERVAL_REACQUIRED */
    uint32_t open;                  /* waits going on at the end of the recording */
};

struct class_stats {
    struct wait_stats state[STATS_COLUMNS];
    uint64_t timed_out, reacquired; /* of WAITING; INTERVAL_REACQUIRED */
    uint64_t objects;               /* that threads blocked on or waited in, or both */
    struct weigh asked;             /* waits whose owner was asked, by owner site */
};

struct site_sums {
    struct wait_stats state[STATS_COLUMNS];
};

/* One object. */
struct lock_stats {
    struct state_stats state[STATS_COLUMNS];
    uint64_t holds, held_ns, held_max; /* group holds; shared ones are not among them */
};

struct stats {
    struct selection selection;
    struct arena arena;
    struct thread_sums *threads;    /* [n_threads] */
    struct class_stats *classes;    /* [lock_set.n_groups] */
    struct site_sums *sites;        /* [sites.n] */
    struct wait_stats *owner_sites; /* [sites.n]: what owners executed that others blocked on or
                                     * parked for; known of some of these waits */
    struct lock_stats *locks;       /* [lock_set.n_objects] */
    struct state_stats total[STATS_COLUMNS]; /* over all threads */
    size_t n_threads;
};

/* What statistics are made of. */
struct stats_source {
    const struct timeline *timeline;
    const struct thread_set *threads;
    const struct lock_set *locks;
    const struct sites *sites;
    const struct purposes *purposes;
    const struct stills *stills, *halts;
};

/* The selection's threads are borrowed.  -ENOMEM. */
int stats_make(struct stats *out, const struct stats_source *from,
               const struct selection *selection);
void stats_fini(struct stats *s);

/* The sites of one class group or of EVERY_CLASS at which there were waits, those first that held
 * threads up the longest, then by the time in each state in their order: indices, in the arena.
 * -ENOMEM. */
int stats_list_sites(const struct stats *s, const struct sites *sites, uint32_t group,
                     struct arena *a, uint32_t **out, size_t *n);

/* What the waits weigh whose owner was asked and at this site (weigh.h), and of 1000 of its
 * class. */
uint64_t stats_owner_weight(const struct stats *s, const struct sites *sites, uint32_t site);
unsigned stats_owner_permille(const struct stats *s, const struct sites *sites, uint32_t site);

/* The same of owner_sites, those first that weigh most. */
int stats_list_owner_sites(const struct stats *s, const struct sites *sites, uint32_t group,
                           struct arena *a, uint32_t **out, size_t *n);

/* What is left of the life when every state is taken off, and what looks found still. */
uint64_t thread_sums_running(const struct thread_sums *s);

#endif

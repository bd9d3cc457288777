/* lock_set.h - monitors by class: how often and how long threads blocked on them and waited in
 * them.
 *
 * Classes of one name (of several loaders) are one group.  Group 0 holds the locks whose class is
 * not known.  Over all groups, count and total of each state are those over all threads
 * (thread_set.h). */
#ifndef ORCA_ANALYZE_LOCK_SET_H
#define ORCA_ANALYZE_LOCK_SET_H

#include "analyze/interval.h"
#include "analyze/percentile.h"
#include "base/arena.h"
#include "base/err.h"
#include "format/trace.h"

#include <stdbool.h>

struct wait_stats {
    uint64_t count;   /* all, with those of which the time is not known */
    uint64_t unknown; /* of them: one end is missing, no time known */
    uint64_t open;    /* of them: still going on at the end of the recording, counted up to there */
    uint64_t objects; /* different ones */
    uint64_t total, min, max; /* ns; min is UINT64_MAX while there is none */
    uint64_t first, last;     /* beginning of the first one, end of the last one */
    struct percentile times;
};

struct lock_class {
    const char *signature; /* "?" in group 0 */
    class_id id;           /* of one of its classes */
    struct wait_stats blocked, waited;
    uint64_t timed_out, reacquired;
    uint64_t objects; /* that threads blocked on or waited in, or both */
};

/* One object. */
struct lock_stats {
    uint64_t blocked_count, blocked_ns, waited_count, waited_ns;
    uint32_t group;
    bool seen;
};

struct lock_set {
    struct arena *arena;
    struct lock_class *classes;
    size_t n_classes;
    struct lock_stats *objects; /* indexed by lock id; 0: unknown */
    size_t n_objects;
};

/* Memory is the arena's, which must outlive it. */
int lock_set_init(struct lock_set *l, const struct trace *t, struct arena *a, struct err *err);

static inline struct lock_stats *lock_set_object(const struct lock_set *l, lock_id id)
{
    return &l->objects[id.v < l->n_objects ? id.v : 0];
}

/* The sink; self is a struct lock_set. */
int lock_set_take(void *self, const struct interval *v, size_t n);

/* Average of the waits whose time is known, and their minimum; 0 when there is none. */
uint64_t wait_stats_avg(const struct wait_stats *s);
uint64_t wait_stats_min(const struct wait_stats *s);

#endif

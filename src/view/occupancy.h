/* occupancy.h - how long a thread was in each state, in any stretch of time, to the ns.
 *
 * A thread's spans are in the order of time, and those that have a length do not overlap; between
 * them it ran, or was stopped by one of the causes of halts.h.  So the time in each state before a
 * moment is that of the spans which began before it, less what the last of them has behind it.
 * Sums are kept at every MARK_EVERY-th span: a moment costs a search and a look at fewer spans than
 * that, at any zoom, and
 *     the sums over adjoining stretches are those over the whole (stats.h), exactly.
 *
 * Marks are made for a thread when they are first needed, and take 2 bytes a span. */
#ifndef ORCA_VIEW_OCCUPANCY_H
#define ORCA_VIEW_OCCUPANCY_H

#include "analyze/analysis.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    MARK_EVERY = 32, /* spans */
    /* What is added up: the states, where PARKED is without those parks that are HELD_UP. */
    COLUMN_HELD_UP = STATE_LIMIT,
    COLUMNS,
    /* Of a pile: in no wait, and not running (enum halt), and all of its life. */
    COLUMN_HALTED = COLUMNS,
    COLUMN_LIFE = COLUMN_HALTED + HALTED_KINDS,
    PILE_COLUMNS,
};

/* What is before a span. */
struct mark {
    uint64_t ns[COLUMNS]; /* of the spans before it, whole */
    uint32_t last;        /* 1 + the index of the last one that has a length; 0: none */
};

struct occupancy {
    const struct analysis *a;
    uint8_t *column;               /* [contexts.n]: what the spans of a context are added to */
    _Atomic(struct mark *) *marks; /* [timeline.n_lines]: [spans.n / MARK_EVERY + 1]; NULL: not
                                    * needed yet */
    size_t n_lines;
    pthread_mutex_t making;
};

/* -ENOMEM. */
int occupancy_init(struct occupancy *o, const struct analysis *a);
void occupancy_fini(struct occupancy *o);

/* ns that a thread was in each state from `from` to `to`, as stats.h counts them.  -ENOMEM. */
int occupancy_between(struct occupancy *o, uint32_t thread, uint64_t from, uint64_t to,
                      uint64_t ns[STATE_LIMIT]);

/* --- waits of a thread in a stretch ----------------------------------------------------------- */

/* The spans that touch a stretch: those from `first` to before `end`, and, when there is one,
 * `over` before them, which began before the stretch and reaches into it. */
struct touching {
    uint32_t first, end;
    uint32_t over; /* 1 + index; 0: none */
};

struct touching spans_touching(const struct timeline *t, const struct line *l, uint64_t from,
                               uint64_t to);

static inline uint32_t touching_count(const struct touching *x)
{
    return x->end - x->first + (x->over != 0);
}

/* --- piles: sums by bucket -------------------------------------------------------------------- */

struct pile_cell {
    uint64_t ns[PILE_COLUMNS];
    int32_t whole[PILE_COLUMNS]; /* this number more fills this bucket and the following ones */
    int64_t waits;               /* more that touch this one and the following ones; after
                                  * pile_finish: that touch this one */
};

/* Sums over threads, in n buckets that adjoin. */
struct pile {
    const uint64_t *edges;   /* [n + 1], ascending; borrowed */
    struct pile_cell *cells; /* [n + 1] */
    unsigned n;
    double per_ns; /* buckets */
};

/* -ENOMEM. */
int pile_init(struct pile *p, const uint64_t *edges, unsigned n);
void pile_fini(struct pile *p);
void pile_clear(struct pile *p);

/* Add a thread's waits and life.  -ENOMEM. */
int pile_add(struct pile *p, struct occupancy *o, uint32_t thread);

/* After the last pile_add. */
void pile_finish(struct pile *p);

#endif

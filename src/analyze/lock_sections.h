/* lock_sections.h - when the edges of the cycles were taken, and how near they came to each other.
 *
 * A section is one time that a thread held a lock and wanted the next one: it lasts as long as the
 * first lock was held.  The distance of the sections of a cycle is the time by which the last of
 * them began after the first of them had ended, 0 when all overlapped. */
#ifndef ORCA_ANALYZE_LOCK_SECTIONS_H
#define ORCA_ANALYZE_LOCK_SECTIONS_H

#include "analyze/lock_cycles.h"

enum {
    LOCK_SECTIONS_MAX = 1 << 21, /* some 200 MB while they are sorted */
    SECTION_LOOKS = 64,          /* users that cannot meet, before one that can */
    SECTION_CHOICES = 256,       /* of the threads of a cycle of three or more */
    SECTION_STEPS = 50000000,    /* of all cycles: about a second */
    SECTION_STEPS_LEAST = 256,   /* of each cycle of two */
};

struct lock_section {
    uint64_t from, to; /* it had the first lock */
    uint64_t wanted;
    uint32_t edge, user;
    struct lock_order_place held_at, wanted_at;
    bool seen, open; /* as in struct lock_order_side */
};

struct lock_sections {
    struct lock_section *v; /* by edge, then by `from` */
    size_t n;
    uint32_t *first;      /* [n_edges + 1] */
    uint64_t passed_over; /* sections */
    uint64_t steps;       /* left */
};

/* Those of the edges that the cycles have.  Each user of an edge has some of its own, the latest
 * ones when there are too many.  -ENOMEM. */
int lock_sections_collect(struct lock_sections *s, const struct lock_cycles *c,
                          struct dependencies *d, struct takings *w);
void lock_sections_fini(struct lock_sections *s);

struct lock_nearest {
    uint64_t distance; /* UINT64_MAX: no sections of threads that may meet */
    const struct lock_section *v[LOCK_ORDER_LONGEST]; /* of each edge of the cycle */
    bool happened; /* there are some, but only such in which all still wait */
    bool cut;      /* not all were compared */
};

/* -ENOMEM. */
int lock_sections_nearest(struct lock_sections *s, struct lock_cycles *c,
                          const struct lock_cycle *cycle, struct lock_nearest *out);

#endif

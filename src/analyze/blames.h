/* blames.h - who waited for whom: counts per (lock class, waiting thread, owner).
 *
 * The owner is the one that the recorder read when the thread was about to block, and gets the
 * whole time of that block; entry 0 stands for the owners that could not be known.  Waits in
 * Object.wait have no owner and are kept under owner 0. blames_list adds the same cells up by any
 * of the three keys.
 *
 * With many threads there are more cells than a cache holds, and each interval touches one: the
 * table keeps key and sums in one cache line, and a batch's lines are asked for before they are
 * used. */
#ifndef ORCA_ANALYZE_BLAMES_H
#define ORCA_ANALYZE_BLAMES_H

#include "analyze/lock_set.h"
#include "analyze/sites.h"

struct blame {
    uint32_t group;  /* of the lock's class; EVERY_CLASS where added up */
    uint32_t waiter; /* index into threads; BLAME_ANY where added up */
    uint32_t owner;  /* the same; 0: unknown */
    struct site_stats blocked, waited;
};

enum { BLAME_ANY = UINT32_MAX };

struct blame_cell;

struct blames {
    struct arena *arena;
    const struct lock_set *locks;
    struct blame_cell *cells; /* open addressing, linear probing, at most 70 % full */
    size_t cap, len;          /* cap: 0 or a power of two */
    struct {
        const struct blame *v;
        size_t n;
    } lists[8]; /* of EVERY_CLASS, by keys, once they were asked for */
};

void blames_init(struct blames *b, const struct lock_set *l, struct arena *a);
void blames_fini(struct blames *b);

/* The sink; self is a struct blames. */
int blames_take(void *self, const struct interval *v, size_t n);

enum blame_key {
    BLAME_BY_GROUP = 1,
    BLAME_BY_WAITER = 2,
    BLAME_BY_OWNER = 4,
};

/* The cells of one class group or of EVERY_CLASS, added up by the keys given; most blocked time
 * first, then most waited time.  *out is the arena's.  Call after the last blames_take. */
int blames_list(struct blames *b, uint32_t group, unsigned keys, const struct blame **out,
                size_t *n);

#endif

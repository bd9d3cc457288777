/* blames.h - who waited for whom: counts and times by class of the lock, waiting thread and owner.
 *
 * The owner is the one that the waiting thread saw when it was about to block or park, and gets the
 * whole time of that wait; of a monitor that is reacquired after a notify, the thread that
 * notified, and so had it then; 0 stands for the owners that could not be known, and for waits that
 * have none (Object.wait). */
#ifndef ORCA_ANALYZE_BLAMES_H
#define ORCA_ANALYZE_BLAMES_H

#include "analyze/lock_set.h"
#include "analyze/purpose.h"
#include "analyze/selection.h"
#include "analyze/timeline.h"

struct blame_sum {
    uint64_t count, ns, max;
};

struct blame {
    uint32_t group;           /* of the lock's class; EVERY_CLASS where added up */
    uint32_t waiter;          /* index into threads; BLAME_ANY where added up */
    uint32_t owner;           /* the same; 0: unknown */
    struct blame_sum held_up; /* of all of them those that were HELD_UP (purpose.h) */
    struct blame_sum blocked, waited, parked, reacquired;
    uint32_t permille; /* by class and owner: what its waits weigh (weigh.h) of all those of the
                        * class that were HELD_UP by a known owner */
};

enum { EVERY_CLASS = UINT32_MAX, BLAME_ANY = UINT32_MAX };

enum blame_by {
    BLAME_BY_GROUP = 1,
    BLAME_BY_WAITER = 2,
    BLAME_BY_OWNER = 4,
};

/* What blames are made of: the waits of the selection on locks of one class group or
 * EVERY_CLASS. */
struct blame_source {
    const struct timeline *timeline;
    const struct lock_set *locks;
    const struct purposes *purposes;
    const struct selection *selection;
    uint32_t group;
};

/* Times added up by the keys given (enum blame_by); most time blocked first, then most waited, then
 * most parked.  *out is the arena's.  -ENOMEM. */
int blames_list(const struct blame_source *from, unsigned keys, struct arena *a,
                const struct blame **out, size_t *n);

#endif

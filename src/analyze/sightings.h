/* sightings.h - locks that a thread was seen to own while it waited for another one.
 *
 * A thread that begins to wait for a lock reads its owner. If that owner waits for a lock itself,
 * it held the one while it wanted the other: known without the group holds.
 *
 * The owner is read a moment after the time of the wait's beginning is taken.  So it counts only
 * when the owner's own wait went on for SIGHTING_LATE_NS after that: what it took after its wait is
 * not new. And no thread can have got the lock before the owner's wait ended. */
#ifndef ORCA_ANALYZE_SIGHTINGS_H
#define ORCA_ANALYZE_SIGHTINGS_H

#include "analyze/sweep.h"

enum {
    SIGHTING_LATE_NS = 20000, /* many times what the agent needs for a few JNI calls */
    SIGHTINGS_MAX = 1 << 22,
};

struct sighting {
    uint32_t thread, span; /* the owner, and the wait that it was in */
    lock_id lock;          /* what it owned */
    uint32_t context;      /* of the wait that names it */
};

struct sightings {
    struct sighting *v;
    size_t n;
    uint32_t *first;      /* [n_lines + 1]: where each owner's begin; in the order of its waits */
    uint64_t passed_over; /* beyond SIGHTINGS_MAX */
};

struct sighter;

/* The sink of a sweep, in which causes are known.  -ENOMEM. */
int sighter_new(struct sighter **out, const struct timeline *t);
void sighter_free(struct sighter *f);
struct sweep_sink sighter_sink(struct sighter *f);

/* After the sweep.  -ENOMEM; then there are none. */
int sighter_finish(struct sighter *f, struct sightings *out);
void sightings_fini(struct sightings *s);

/* Whether it is a wait for a lock: to enter a monitor, or parked with a blocker. */
static inline bool is_lock_wait(const struct context *x)
{
    return x->lock.v && !(x->flags & (INTERVAL_UNKNOWN | INTERVAL_REACQUIRED)) &&
           (x->what == STATE_BLOCKED || x->what == STATE_REACQUIRING || x->what == STATE_PARKED);
}

#endif

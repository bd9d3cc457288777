/* takings.h - each time that a thread took a lock, or wanted it, with the locks that it held then.
 *
 * A hold (group holds) is one taking; an Object.wait inside gives the monitor back and takes it
 * again, which is another one.  A wait for a lock of which no hold is recorded is a taking without
 * a length: it is known that the lock was wanted.  What the thread held then are the holds that
 * were taken before and not given back, and, while it waited, what it was seen to own. */
#ifndef ORCA_ANALYZE_TAKINGS_H
#define ORCA_ANALYZE_TAKINGS_H

#include "analyze/lock_order.h"
#include "analyze/sightings.h"

enum {
    HELD_MAX = 64,               /* while a thread has more locks its takings are passed over */
    TAKING_MATCH_NS = 100000000, /* from the end of a wait to the beginning of its hold, */
    TAKING_MATCH_SAMPLED_NS = 100000, /* where that hold may be missing and this be another one */
    TAKING_LOOK_BACK =
        256,         /* waits, for the one by which a lock that it was seen to own was taken */
    HOLD_SHARED = 2, /* events.def: hold.mode */
};

struct taking {
    uint64_t wanted; /* when it began to wait for the lock, or `from` */
    uint64_t from;   /* it has the lock, */
    uint64_t to;     /* until it gives it back, or waits on it; `from`: not known */
    lock_id lock;
    uint32_t hold; /* context of the hold; 0: none is recorded */
    uint32_t wait; /* context of the wait for it; 0: it did not wait, as far as known */
    uint32_t span; /* 1 + index of that wait; 0: none, or it gave the lock back to wait on it */
    bool shared;   /* or it may be: a park tells no mode */
    bool timed;    /* it would have given up */
    bool open;     /* it still waited when the recording ended */
};

/* A lock that it held. */
struct held {
    uint64_t from, to;
    lock_id lock;
    struct lock_order_place at;
    bool shared, seen; /* seen: by sightings.h, from `from` to `to` */
};

/* held: in no order, no lock twice, none of them the taking's own. */
typedef int taking_visitor(void *self, uint32_t thread, const struct taking *k,
                           const struct held *held, size_t n_held);

struct takings {
    const struct timeline *t;
    const struct sightings *sightings;
    bool sampled;           /* not every hold is recorded */
    struct buf open, chunk; /* struct taking [] */
    uint64_t deep;          /* takings of a thread that had more than HELD_MAX locks */
    uint64_t timed;         /* with other locks held, but with a time limit: not visited */
};

void takings_init(struct takings *w, const struct timeline *t, const struct sightings *sightings,
                  bool sampled);
void takings_fini(struct takings *w);

/* Visit the takings of one thread at which it held other locks.  They come in stretches between
 * which it held nothing: the last stretch first, in each the first taking first.  Returns what the
 * visitor returned when that is negative; -ENOMEM. */
int takings_walk(struct takings *w, uint32_t thread, taking_visitor *visit, void *self);

/* Where it was taken, as well as that is known. */
struct lock_order_place taking_place(const struct timeline *t, const struct taking *k);

#endif

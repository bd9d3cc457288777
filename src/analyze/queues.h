/* queues.h - how many threads waited for each lock, over time: a sink of the sweep.
 *
 * A lock's queue are the threads that are HELD_UP by it (purpose.h), including those that reacquire
 * a monitor, from the notify on.  It comes after the binder, which finds who was notified.  A
 * convoy is a stretch without an empty queue in which one long hold let threads pile up, and it
 * then took many short ones, and a good part of that time again, until the queue was empty; only
 * what one thread owns at a time has convoys. */
#ifndef ORCA_ANALYZE_QUEUES_H
#define ORCA_ANALYZE_QUEUES_H

#include "analyze/lock_set.h"
#include "analyze/purpose.h"
#include "analyze/sweep.h"
#include "analyze/wait_stats.h"

enum {
    QUEUE_BUCKETS = 64,
    CONVOY_HANDOVERS = 8, /* short holds after the long one, at least, */
    CONVOY_RATIO = 4,     /* which was this multiple of their average; */
    CONVOY_DRAIN = 10,    /* together they took at least this part of it */
};

struct convoy {
    uint64_t from, to;           /* the stretch without an empty queue */
    uint64_t hold;               /* ns of the long hold, from the first waiter on */
    uint32_t owner;              /* who held it; 0: unknown */
    uint32_t handovers, longest; /* after the long hold; longest queue */
};

struct queue {
    lock_id lock;
    uint64_t area;      /* ns * threads */
    uint64_t busy;      /* ns with somebody waiting */
    uint64_t handovers; /* waits that ended with the lock, */
    uint64_t seen;      /* and are from the last owner seen (bind.h) */
    struct {
        uint64_t count, ns, max;
    } latency;            /* of those whose release is known: from it to the going on */
    uint32_t length, max; /* now; ever */
    uint64_t since;       /* of the present length */
    bool shared;          /* several may have it at a time */
    uint64_t edge;        /* end of the bucket that `since` lies in, */
    uint32_t at;          /* and its index */
    /* The present stretch: */
    uint64_t began, last;        /* when it began; the lock's last hand-off, or its beginning */
    uint64_t hold, hold_to;      /* the longest hold in it, and when that ended */
    uint32_t holder, owner;      /* who held it; the owner seen last */
    uint32_t after, stretch_max; /* hand-offs since then; longest queue of the stretch */
    bool summed;                 /* some of its waits are known as sums: their hand-offs are not */
    /* Of all stretches: */
    uint64_t convoys, convoy_ns;
    struct convoy convoy;           /* the longest one */
    uint64_t bucket[QUEUE_BUCKETS]; /* ns * threads in each part of the recording */
};

struct queues {
    struct queue *v; /* in the order in which locks were first waited for */
    size_t n, cap;
    uint32_t *of_lock; /* [n_objects]: 1 + index into v; 0: it held nobody up */
    size_t n_objects;
    uint64_t from, to, width; /* the recording, and a bucket of it */
};

struct queuer;

/* -ENOMEM. */
int queuer_new(struct queuer **out, const struct timeline *t, const struct lock_set *locks,
               const struct purposes *purposes, uint64_t from, uint64_t to);
void queuer_free(struct queuer *q);
struct sweep_sink queuer_sink(struct queuer *q);

/* After the sweep, when the purposes are settled; *out is freed by queues_fini.  -ENOMEM. */
int queuer_finish(struct queuer *q, struct queues *out);
void queues_fini(struct queues *q);

/* The queue of a lock; NULL: it held nobody up. */
const struct queue *queues_of(const struct queues *q, lock_id lock);

#endif

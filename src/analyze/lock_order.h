/* lock_order.h - locks that threads take in contradicting orders: deadlocks that did not happen
 * this time.
 *
 * A thread that takes a lock, or wants it, while it holds another one makes an edge from that to
 * this.  A cycle of edges of as many different threads is a way to a deadlock, unless
 *
 *     two of the threads hold one lock at the time, not both of them shared: a gate lock
 *     one edge always comes before another: the thread was started later, or joined before
 *     who holds and who wants a lock both share it
 *
 * Edges are only made of what is certain: of holds (group holds), and of waits during which a
 * thread was seen to own another lock.  A lock that its owner takes again, and one that it would
 * have given up waiting for, make none.
 *
 * Cycles that agree in the classes of the locks and in the methods that take them are one finding,
 * with the one that came nearest as its example; docs/concepts/locks.md. */
#ifndef ORCA_ANALYZE_LOCK_ORDER_H
#define ORCA_ANALYZE_LOCK_ORDER_H

#include "base/arena.h"
#include "format/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct analysis;

enum {
    LOCK_ORDER_LONGEST = 4,     /* edges of a cycle */
    LOCK_ORDER_FINDINGS = 1000, /* kept, the best of them */
};

/* What a stack says about how a lock was taken. */
enum lock_order_stack {
    LOCK_ORDER_UNKNOWN,
    LOCK_ORDER_WANTED,     /* it waited for the lock there */
    LOCK_ORDER_GIVEN_BACK, /* it gave the lock back there: the hold's own stack */
    LOCK_ORDER_OWNING,     /* what it executed while it owned the lock */
    LOCK_ORDER_EARLIER,    /* where it took it the last time that it had to wait for it; it may
                            * have given it back and taken it again since */
};

struct lock_order_place {
    stack_id stack; /* 0: unknown */
    enum lock_order_stack what;
};

/* One thread's part: it held a lock and wanted the next one. */
struct lock_order_side {
    uint32_t thread; /* index into struct thread_set */
    lock_id held, wanted;
    uint64_t from, to;    /* it held the first lock; of one that was seen: the time of the wait */
    uint64_t wanted_time; /* it wanted the second, and waited or had it at once */
    struct lock_order_place held_at, wanted_at;
    bool seen;      /* that it held the first is known from another thread that waited for it */
    bool open;      /* it still waited when the recording ended */
    uint64_t times; /* how often this side ran, in all cycles of the finding */
};

enum lock_order_reach {
    /* The locks were taken so, by different threads, and nothing that was looked at forbids that
     * they meet. */
    LOCK_ORDER_CANDIDATE,
    /* And the recorded locks, starts, joins and wake-ups allow to change this recording, each
     * lock's order kept, so that they meet.  What threads read and write is not recorded, so that
     * a flag may still keep them apart. */
    LOCK_ORDER_REORDERABLE,
};

struct lock_order_finding {
    uint32_t n_sides;
    struct lock_order_side sides[LOCK_ORDER_LONGEST]; /* each wants what the next one holds */
    uint64_t distance; /* ns from the end of the first of the sides' stretches [from, to) to the
                        * beginning of the last one: 0 when they overlapped */
    uint64_t cycles;   /* of different locks */
    uint64_t count;    /* how often the side ran that ran least */
    bool partial;      /* a gate, or an order by start and join, may not be recorded: holds are
                        * sampled, filtered or missing, or groups of events are */
    bool checked; /* whether the recording can be reordered: otherwise `reach` is a candidate */
    enum lock_order_reach reach;
};

struct lock_order {
    struct lock_order_finding *v; /* the nearest first, then by count */
    size_t n;
    /* Cycles that are not findings; a cycle that fails for several reasons counts for the first. */
    struct {
        uint64_t shared;      /* a lock is held and wanted shared */
        uint64_t same_thread; /* not by as many different threads */
        uint64_t gate;        /* under a common lock */
        uint64_t start_join;  /* one side always before another */
        uint64_t happened;    /* all sides are still waiting: a deadlock, and not this list's */
    } suppressed;
    /* What was not looked at. */
    struct {
        uint64_t sightings; /* of owners */
        uint64_t deep;      /* takings of threads that had more than 64 locks */
        uint64_t edges;     /* takings that made new edges when there were too many */
        uint64_t starts;    /* edges from which cycles were not, or not all, searched */
        uint64_t cycles;    /* cycles beyond what is kept */
        uint64_t order;     /* cycles whose order by start and join was not searched to the end */
        uint64_t sections;  /* times that an edge was taken, when looking for the nearest */
        uint64_t compared;  /* cycles in which not all times were compared */
        uint64_t findings;  /* beyond LOCK_ORDER_FINDINGS */
    } passed_over;
    uint64_t timed; /* takings that had a time limit: no edges */
    uint64_t edges; /* different ones */
};

/* Results are in the arena.  -ENOMEM. */
int lock_order_find(struct lock_order *out, const struct analysis *a, struct arena *arena);

#endif

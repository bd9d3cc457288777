/* lock_line.h - the history of one lock: who waited for it or on it, and who is known to have held
 * it when.
 *
 * Histories do not change.
 *
 *     waits    of every thread, by their beginnings.  An Object.wait that reacquired the monitor
 *              after its notify is two: waiting, and reacquiring, with the same index
 *     steps    how many threads were in the queue (blocked, reacquiring, parked for a lock that has
 *              an owner), and how many waited otherwise, at each moment at which that changes
 *     holds    by their beginnings: recorded ones without the time in Object.wait; else what is
 *              concluded (lock_holds.c) */
#ifndef ORCA_ANALYZE_LOCK_LINE_H
#define ORCA_ANALYZE_LOCK_LINE_H

#include "analyze/analysis.h"

enum {
    LOCK_BLOCK = 64,        /* items, or steps, that are looked at one by one */
    LOCK_LINES_MAX = 50000, /* locks in one pass */
};

/* A wait, or a hold. */
struct lock_item {
    uint64_t from, to;
    uint32_t thread, index; /* index: of the wait */
    uint8_t state, flags;   /* of a wait */
    bool queued;            /* a wait of the queue */
    bool sure;              /* of a hold: recorded */
    bool summed;            /* several waits: how long in all, not when */
};

struct lock_items {
    struct lock_item *v; /* by `from` */
    /* NULL: not asked for */
    uint64_t *ends; /* [n], ascending: when each is over; one of no length after its moment */
    uint64_t *last; /* of each LOCK_BLOCK of v: when the last of them is over */
    uint32_t n;
};

struct lock_step {
    uint64_t time;
    uint32_t queued, others; /* from then on */
};

/* What is before a block of steps, and in it. */
struct lock_mark {
    uint64_t busy, area, others_busy;  /* ns; area: ns * threads in the queue */
    uint32_t queued_most, others_most; /* in the block */
};

/* A stretch in which somebody held it. */
struct lock_held {
    uint64_t from, to, before; /* before: ns of those before */
};

struct lock_line {
    uint32_t lock;
    struct lock_items waits, holds;
    /* NULL: not asked for */
    struct lock_step *steps; /* by time; the last one: nobody */
    struct lock_mark *marks; /* [n_steps / LOCK_BLOCK + 1] */
    struct lock_held *held;  /* those of holds, joined */
    uint32_t n_steps, n_held;
    size_t bytes;
};

/* Make the histories of n different locks, at most LOCK_LINES_MAX, in one pass over the waits; each
 * is freed with lock_line_free.  read: also what the functions below read; without it there are
 * waits and holds alone.  -ENOMEM; then there are none. */
int lock_lines_make(const struct analysis *a, const uint32_t *locks, size_t n, bool read,
                    struct lock_line **out);
void lock_line_free(struct lock_line *l);

/* --- reading ---------------------------------------------------------------------------------- */

/* When an item is over: one of no length belongs to its moment. */
static inline uint64_t lock_item_over(const struct lock_item *i)
{
    return i->to + (i->from == i->to);
}

/* How many items touch a stretch. */
uint32_t lock_items_touching(const struct lock_items *s, uint64_t from, uint64_t to);

/* Copy those that do, at most `max`; their number. */
uint32_t lock_items_copy(const struct lock_items *s, uint64_t from, uint64_t to,
                         struct lock_item *out, uint32_t max);

/* Of a stretch. */
struct lock_sums {
    uint64_t held, busy, area, others_busy; /* ns */
    uint32_t queued_most, others_most;
};

void lock_line_sums(const struct lock_line *l, uint64_t from, uint64_t to, struct lock_sums *out);

/* --- making ----------------------------------------------------------------------------------- */

/* What waits say of who had a lock. */
struct lock_evidence {
    struct buf v; /* lock_holds.c knows of what */
    bool owned;   /* an owner was seen: where none is, it is not known who has it */
};

/* Add what a wait says, which is the span s or a part of it. */
void lock_evidence_add(struct lock_evidence *to, const struct analysis *a,
                       const struct lock_item *w, const struct span *s);

/* Append to `out` (struct lock_item []) what is known of the holds of a lock whose waits are made;
 * recorded: its recorded holds (struct lock_item [], by `from`).  -ENOMEM. */
int lock_holds_conclude(const struct lock_line *l, const struct lock_evidence *evidence,
                        const struct buf *recorded, struct buf *out);

/* Sort by `from`. */
void lock_items_sort(struct lock_item *v, size_t n);

#endif

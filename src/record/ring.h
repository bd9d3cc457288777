/* ring.h - writing events: one single-producer, single-consumer ring per OS thread.
 *
 * The owning thread begins an event, fills its fields and commits it; only the drain thread
 * consumes.
 *     tail <= head <= tail + size        (positions only grow; see region.h)
 * Bytes in [tail, head) are whole records: events, or fillers (kind 0) that skip to the ring's end.
 *
 * The way through ring_begin and ring_commit takes no lock, allocates nothing and makes no system
 * call, except when the ring is full: then it moves to a larger one (at most four times in a
 * thread's life), and at the largest size counts the loss or, with full=block, waits: but not for a
 * file that cannot be written. */
#ifndef ORCA_RECORD_RING_H
#define ORCA_RECORD_RING_H

#include "base/clock.h"
#include "record/region.h"

struct recorder;

/* The producer's side.  Private memory of the owner: the shared control block carries only what the
 * drain thread and a recovery need. */
struct ring {
    struct recorder *rec;
    struct ring_ctl *ctl;
    char *data;
    uint64_t base, mask;
    uint64_t head;                /* where the next record goes; ctl->head once committed */
    uint64_t tail_seen;           /* the drain's tail when last looked at */
    uint64_t lost;                /* events since the last one that was written */
    uint32_t lost_cause;          /* enum loss_cause of the latest of them */
    _Atomic uint64_t *dirty_word; /* tells the drain thread that this ring has something */
    uint64_t dirty_bit;
    uint32_t index, size_class; /* of the control block */
    bool patient; /* its thread may wait for the drain, whatever full= says: a thread of Orca's
                   * own */
    bool retries; /* what has no room now is not lost: its thread keeps it, and tries again */
};

/* Take a ring for the calling OS thread.  NULL when there is none (counted as no_ring).
 * Takes a lock and may make system calls: not on an event path. */
struct ring *ring_attach(struct recorder *rec);

/* The thread has ended its writing; frees r.  The shared memory is reused once it is drained. */
void ring_detach(struct ring *r);

/* Room for `size` bytes, or NULL when recording is off or the event is lost.  The slow half of
 * ring_begin: the ring's end or the tail last seen is reached. */
struct event *ring_reserve_slow(struct ring *r, uint32_t size);

/* Write down that events before this one are missing. */
void ring_note_lost(struct ring *r, thread_id thread, uint64_t time);

static inline struct event *ring_reserve(struct ring *r, uint32_t size)
{
    uint64_t at = (r->head - r->base) & r->mask;
    if (at + size <= r->mask + 1 && r->head + size - r->tail_seen <= r->mask + 1)
        return (struct event *)(r->data + at);
    return ring_reserve_slow(r, size);
}

/* Begin an event of a kind; its head is filled in.  NULL: lost, and counted.  An event that is not
 * committed leaves no trace.
 * Threads: owner only.  Not reentrant: a signal handler on the same thread must not call it. */
static inline struct event *ring_begin(struct ring *r, enum event_kind kind, thread_id thread,
                                       uint64_t time)
{
    if (__builtin_expect(r->lost != 0, 0))
        ring_note_lost(r, thread, time);
    uint16_t size = event_kinds[kind].size;
    struct event *e = ring_reserve(r, size);
    if (e) {
        e->kind = (uint16_t)kind;
        e->size = size;
        e->thread = thread;
        e->time = time;
    }
    return e;
}

static inline void ring_commit(struct ring *r, const struct event *e)
{
    r->head += e->size;
    /* release: pairs with the drain's acquire of head; the record's bytes come first */
    atomic_store_explicit(&r->ctl->head, r->head, memory_order_release);
    /* A bit that is lost to the race with the drain's clearing is found by its scan a second
     * later. */
    if (!(atomic_load_explicit(r->dirty_word, memory_order_relaxed) & r->dirty_bit))
        atomic_fetch_or_explicit(r->dirty_word, r->dirty_bit, memory_order_relaxed);
}

#endif

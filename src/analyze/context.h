/* context.h - what a span or an act is about, kept once for all that agree: state, object, stacks.
 *
 * Programs wait at the same places for the same locks again and again: a span that names its
 * context by number takes 24 bytes instead of 40, and sums are kept by context and added up by
 * class, site or owner later. */
#ifndef ORCA_ANALYZE_CONTEXT_H
#define ORCA_ANALYZE_CONTEXT_H

#include "analyze/interval.h"

#include <stdbool.h>

struct context {
    lock_id lock;   /* the monitor, blocker, semaphore, task; 0: none, or unknown */
    uint32_t other; /* index of a thread; BLOCKED, PARKED: the owner as the waiting thread saw it,
                     * JOINING: the one waited for; of acts: their target; 0: unknown */
    stack_id stack;
    union {
        stack_id owner_stack; /* of a span: what the owner executed, 0: it was not asked */
        call_id call;         /* of an act of the groups locks and methods: which method */
    };
    uint8_t what;  /* enum wait_state of a span, else enum event_kind of an act */
    uint8_t flags; /* INTERVAL_* of a span; of a semaphore_acquire_exit or call_exit: it failed */
    uint8_t mode;  /* of a hold; of a span: enum context_mode */
};

enum context_mode {
    CONTEXT_RECORDED, /* the wait itself */
    CONTEXT_OF_CALL,  /* the call it is in (call_waits.h) */
    CONTEXT_SUMMED,   /* several waits, of which the sum was recorded (summed.h) */
};

struct contexts {
    struct context *v; /* [n]; 0 is not used */
    uint32_t n, cap;
    uint32_t *slots; /* open addressing, linear probing, at most half full; 0: empty */
    size_t n_slots;  /* a power of two */
};

int contexts_init(struct contexts *c);
void contexts_fini(struct contexts *c);

uint64_t context_hash(const struct context *x);

/* Ask for the memory that contexts_add will look at. */
static inline void contexts_prefetch(const struct contexts *c, uint64_t hash)
{
    __builtin_prefetch(&c->slots[hash & (c->n_slots - 1)]);
}

/* The number of a context, made when it is new; 0 when memory is out.  hash: context_hash. */
uint32_t contexts_add(struct contexts *c, const struct context *x, uint64_t hash);

#endif

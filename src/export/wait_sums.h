/* wait_sums.h - waits, and what else kept threads from running (halts.h), added up by the stack that
 * they are put down to: what collapsed and pprof are made of.
 *
 *     over all sums  count, ns = those of the waits that were asked for
 *
 * The memory is that of the sums, however many waits there are. */
#ifndef ORCA_EXPORT_WAIT_SUMS_H
#define ORCA_EXPORT_WAIT_SUMS_H

#include "base/keyed.h"
#include "export/model_export.h"
#include "export/waits.h"

/* Why there is no stack. */
enum sum_stack {
    STACK_IS_THERE,
    STACK_NOT_RECORDED,
    STACK_OWNER_NOT_ASKED,
    STACK_NO_OWNER,      /* of a wait that is not for a lock */
    STACK_STILL_WAITING, /* not ended yet */
    STACK_TIME_UP,       /* no thread did, and it had a time limit */
    STACK_WAKER_UNKNOWN,
    STACK_LAST_OWNER_SEEN,      /* who gave the lock back is not certain (analyze/bind.h) */
    STACK_RELEASE_NOT_RECORDED, /* the owner that gave the lock back is known, the place is not */
    STACK_THREAD_ENDED,         /* a join: the thread waited for has no frame left */
    SUM_STACKS,
};

/* "owner not asked"; NULL for STACK_IS_THERE. */
const char *sum_stack_text(enum sum_stack why);

struct wait_sum_key {
    uint32_t waiter; /* index of a thread; 0: all together */
    uint32_t other;  /* whose the stack is; the same; 0: unknown */
    stack_id stack;
    uint32_t group;     /* of the lock's class; of input and output that of the other end */
    uint8_t state, why; /* state: enum wait_state, WAITS_HALTED and on */
    uint8_t what, pad;  /* what: of a halt, struct still's */
};

struct wait_sum {
    struct wait_sum_key key;
    uint64_t count, ns;
};

/* What the owner of what a wait is for executed when it began: as it was asked, else as it is known
 * because it waited itself; 0: not known. */
stack_id wait_owner_stack(const struct timeline *t, const struct wait *w);

/* Whose stack a wait of `thread` is put down to, and why there is none. */
void wait_sums_key(const struct analysis *a, enum model_by by, uint32_t thread,
                   const struct wait *w, struct wait_sum_key *k);

/* The keys of the sums in addition to stack, class and state. */
enum { SUMS_BY_WAITER = 1, SUMS_BY_OTHER = 2 };

struct wait_sums {
    struct wait_sum *v; /* [n], in the order of their first waits, thread by thread */
    size_t n;
    struct keyed list; /* where they are kept */
};

/* Add up the waits that x asks for, and x->base; progress is in waits.  By the owner, those whose
 * owner was not asked are in x->base alone: most were not, and one bar of them would be all that is
 * to be seen.  -ENOMEM. */
int wait_sums_make(struct wait_sums *s, struct model_export *x, unsigned keys);
void wait_sums_fini(struct wait_sums *s);

#endif

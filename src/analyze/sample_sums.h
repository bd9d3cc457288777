/* sample_sums.h - samples added up by their stacks: what reports, exports and flame graphs show.
 *
 *     over all sums  count, ns = those of the samples of the selection, failed ones included
 *
 * The samples of owners are those that a lock's owner had while others wanted the lock (owned.h). A
 * sample counts once for each lock that its thread owned then. */
#ifndef ORCA_ANALYZE_SAMPLE_SUMS_H
#define ORCA_ANALYZE_SAMPLE_SUMS_H

#include "analyze/owned.h"
#include "base/keyed.h"

struct sample_query {
    struct selection selection; /* of owners: its threads are those that waited */
    enum sample_kind kind;
    bool owners;
    bool by_thread, by_lock; /* keys in addition to stacks; by_lock: of owners */
};

struct sample_sum_key {
    uint32_t thread; /* index; 0: all together, or unknown */
    lock_id lock;    /* of owners; 0: all together */
    stack_id stack;  /* 0: there is none, because: */
    uint32_t error;  /* enum sample_error */
};

struct sample_sum {
    struct sample_sum_key key;
    uint64_t count, ns;
};

struct sample_sums {
    struct sample_sum *v; /* [n], in the order of their first samples */
    size_t n;
    struct keyed list;      /* where they are kept */
    uint64_t count, ns;     /* of all */
    uint64_t idle, idle_ns; /* of them: SAMPLE_IDLE */
    uint64_t near;          /* of them: SAMPLE_NEAR */
    struct buf locks;       /* struct owned_lock []: of owners, the locks that were wanted */
};

/* -ENOMEM. */
int sample_sums_make(struct sample_sums *out, const struct analysis *a,
                     const struct sample_query *q);
void sample_sums_fini(struct sample_sums *s);

/* Whether the samples of this sum have a stack. */
static inline bool sample_sum_has_stack(const struct sample_sum *s)
{
    return s->key.stack.v != 0;
}

#endif

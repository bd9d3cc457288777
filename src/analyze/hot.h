/* hot.h - where the time of samples went: by method, by thread, and what owners executed while
 * others wanted their locks.
 *
 *     ns = sum of self over the methods + ns of the samples without a stack
 *
 * Self is the innermost frame's; a method's total counts a sample once, however often the method is
 * on its stack. */
#ifndef ORCA_ANALYZE_HOT_H
#define ORCA_ANALYZE_HOT_H

#include "analyze/sample_sums.h"

struct hot_sum {
    uint64_t count, ns;
};

struct hot_method {
    method_id method;
    struct hot_sum self, total;
    uint64_t executed_ns[EXECUTED_LIMIT]; /* of self */
};

struct hot_thread {
    uint32_t thread;
    struct hot_sum sum;
    uint64_t failed;
};

/* A lock that was wanted, or all those of a class. */
struct hot_owner {
    uint32_t group;                   /* of the lock's class */
    lock_id lock;                     /* 0: all locks of the class */
    uint32_t locks;                   /* how many */
    uint64_t waited, known;           /* ns, of all locks together: struct owned_lock */
    struct hot_sum sum;               /* samples of the owners in that time */
    const struct hot_method *methods; /* most self time first */
    size_t n_methods;
};

/* Samples of one kind. */
struct hot {
    struct hot_sum sum, idle;
    uint64_t near;
    struct hot_sum failed[SAMPLE_ERRORS];
    const struct hot_method *methods; /* most self time first, then most total time */
    const struct hot_thread *threads; /* most time first */
    const struct hot_owner *classes;  /* most sampled time first, then most wanted */
    const struct hot_owner *locks;    /* the same, one by one */
    size_t n_methods, n_threads, n_classes, n_locks;
};

/* group: of the locks, or EVERY_CLASS.  The lists are the arena's.  -ENOMEM. */
int hot_make(struct hot *out, const struct analysis *a, enum sample_kind kind,
             const struct selection *selection, uint32_t group, struct arena *arena);

/* Of all failed ones. */
struct hot_sum hot_failed(const struct hot *h);

/* How a method was executed most of its own time. */
enum executed hot_method_executed(const struct hot_method *m);

#endif

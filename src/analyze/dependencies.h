/* dependencies.h - lock dependencies: which lock was wanted, with which others held, at which
 * methods.
 *
 * A dependency is kept once for all threads and times; its users say which threads had it, in
 * which epoch of their lives (thread_order.h), and how often.  Each of its held locks makes an edge
 * of the lock-order graph, from that lock to the wanted one; the other held locks are what may
 * guard it. */
#ifndef ORCA_ANALYZE_DEPENDENCIES_H
#define ORCA_ANALYZE_DEPENDENCIES_H

#include "analyze/lock_set.h"
#include "analyze/takings.h"
#include "analyze/thread_order.h"
#include "base/map.h"

enum {
    DEPENDENCIES_MAX = 1 << 20,
    DEPENDENCY_USERS_MAX = 1 << 21,
    LOCK_USES_MAX = 1 << 23,
};

/* A lock in a dependency.  Compared as bytes. */
struct lock_use {
    uint32_t lock;   /* below lock_set.n_objects */
    uint32_t site;   /* the methods that take it; 0: unknown */
    uint32_t shared; /* 0 or 1 */
};

struct dependency {
    uint32_t uses, n_held; /* into dependencies.uses: the wanted lock, then the held ones by id */
    uint32_t members, n_members; /* into dependencies.members, after dependencies_finish */
    uint32_t thread;             /* of all of them; 0: they are of several */
    uint64_t times;
};

struct dependency_user {
    uint32_t dependency, thread, epoch;
    uint32_t kept; /* for who collects sections */
    uint64_t times;
};

/* One edge of the lock-order graph. */
struct lock_edge {
    uint32_t held, wanted; /* locks */
    uint32_t dependency;
    uint32_t use;  /* of the held lock: index into dependencies.uses */
    uint32_t kind; /* classes and sites of the two: edges of one kind are alike */
};

struct dependencies {
    const struct trace *trace;
    const struct timeline *timeline;
    const struct lock_set *locks;
    const struct thread_order *order;
    struct buf v, uses, users;   /* struct dependency [], lock_use [], dependency_user [] */
    struct map by_uses, by_user; /* hash of uses; dependency, thread and epoch -> 1 + index */
    struct map actors;           /* thread, epoch -> 1 + number */
    struct map sites;            /* two methods -> 1 + number */
    uint32_t *site_of_stack;     /* [trace->n_stacks]: 1 + number; 0: not looked at yet */
    uint32_t *members;           /* indices of users, by dependency */
    struct lock_edge *edges;     /* [n_edges], by held and wanted lock */
    uint32_t n_edges, n_kinds;
    uint32_t *first;      /* [locks->n_objects + 1]: where the edges from each lock begin */
    uint64_t passed_over; /* takings */
};

/* Everything is borrowed.  -ENOMEM. */
int dependencies_init(struct dependencies *d, const struct trace *t, const struct timeline *tl,
                      const struct lock_set *locks, const struct thread_order *order);
void dependencies_fini(struct dependencies *d);

/* Add one taking.  -ENOMEM. */
int dependencies_add(struct dependencies *d, uint32_t thread, const struct taking *k,
                     const struct held *held, size_t n_held);

/* After the last one: list the users of each dependency, and make the edges, without
 * those that can be in no cycle.  -ENOMEM. */
int dependencies_finish(struct dependencies *d);

/* The user that a taking belongs to; NULL: it was passed over. */
struct dependency_user *dependencies_find(struct dependencies *d, uint32_t thread,
                                          const struct taking *k, const struct held *held,
                                          size_t n_held);

static inline struct dependency *dependency_at(const struct dependencies *d, uint32_t i)
{
    return (struct dependency *)(void *)d->v.p + i;
}

static inline struct lock_use *lock_use_at(const struct dependencies *d, uint32_t i)
{
    return (struct lock_use *)(void *)d->uses.p + i;
}

static inline struct dependency_user *dependency_user_at(const struct dependencies *d, uint32_t i)
{
    return (struct dependency_user *)(void *)d->users.p + i;
}

static inline uint32_t dependencies_count(const struct dependencies *d)
{
    return (uint32_t)(d->v.len / sizeof(struct dependency));
}

static inline uint32_t dependency_users_count(const struct dependencies *d)
{
    return (uint32_t)(d->users.len / sizeof(struct dependency_user));
}

#endif

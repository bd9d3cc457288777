/* resource_finder.h - what the files share that find the resources of a recording.
 *
 *   resource_wants.c   what each wait is for, by itself
 *   resource.c         what all waits of one resource say together: which are none after all
 *   resource_facts.c   where it is waited for, which field holds it, and by whom
 *
 * A context is a stack with what is waited for there (analyze/context.h): all of its waits are for
 * the same. */
#ifndef ORCA_CONCLUDE_RESOURCE_FINDER_H
#define ORCA_CONCLUDE_RESOURCE_FINDER_H

#include "base/keyed.h"
#include "base/map.h"
#include "conclude/resource_parts.h"

/* Parks that poll last so long at most on average: longer ones let time pass. */
#define FINDER_POLL_NS UINT64_C(1000000)

/* What a context's waits may be for. */
enum want {
    WANT_NOTHING,
    WANT_OWNED,
    WANT_THINGS,
    WANT_PERHAPS,
    WANT_ANSWER,
    WANT_POLLED,
    WANT_DELAY
};

/* Which calls of a queue a stack is in. */
enum finder_queue_call {
    QUEUE_LOOKED_AT = 1,
    QUEUE_AWAITS_ROOM = 2,
    QUEUE_PUTS = 4,
    QUEUE_TAKES = 8,
};

struct finder_key {
    uint32_t kind, lock, take, group;
};

struct finder_found {
    struct finder_key key;
    struct resource r;
};

/* Who waits for an object. */
struct finder_use {
    uint32_t thread; /* UINT32_MAX: several */
    uint32_t waits;
};

/* In how many tasks of how many threads there were waits of a context; a task begins after a wait for
 * work. */
struct finder_tasks {
    uint32_t n, threads;
    uint32_t task, thread; /* the last ones */
};

/* What the latest thread waited for a resource. */
struct finder_member {
    uint32_t thread; /* 0: none */
    uint64_t ns;
    uint64_t late; /* ns of all threads that are certainly not at the beginning (early_ns) */
    bool over;     /* nothing more is asked of the resource's waits */
};

struct finder {
    struct analysis *a;
    struct resources *out;
    uint32_t *waits;  /* [contexts.n]: how many, */
    uint64_t *waited; /* and for how long */
    uint8_t *want;    /* [contexts.n]: enum want of each */
    uint32_t
        *pools; /* [contexts.n]: the pool whose threads wait there; 0: several, or one thread */
    struct finder_tasks *tasks; /* [contexts.n] */
    uint32_t *only;   /* [contexts.n]: the one thread that waits there; CROWD_SEVERAL; 0: none */
    bool *own;        /* [n_objects]: a resource of its own, not one of a crowd's */
    uint64_t *of[2];  /* [contexts.n]: ns waited, and in reacquiring a monitor */
    uint32_t *frames; /* [n_stacks]: 1 + those that are not the JDK's; 0: not counted yet */
    struct finder_use *uses; /* [n_objects] */
    uint8_t *queues;         /* [n_stacks]: enum finder_queue_call of each; 0: not looked at yet */
    struct keyed found;      /* struct finder_found */
    struct map members;      /* 1 + index of a resource, thread -> 1 + ns */
    struct finder_member *now; /* [out->n]: while waits are added: of the thread that is at hand */
};

/* How many waits each context has, of which pool, and what they are for.  -ENOMEM. */
int finder_count_waits(struct finder *f);

/* Which calls of a queue a stack is in; contexts are many times as many. */
unsigned finder_queue_calls(const struct finder *f, stack_id stack);

/* Which objects are resources of their own.  -ENOMEM. */
int finder_part_crowds(struct finder *f);

/* What the waits of a context are for: into `found`.  -ENOMEM. */
int finder_sort_context(struct finder *f, uint32_t context);

/* Of each resource, once its waits are summed up: where in the program most is waited for it; which
 * field holds it; who of other pools came by; the time of those who wait.  -ENOMEM. */
int finder_find_places(struct finder *f);
int finder_find_fields(struct finder *f);
int finder_find_strays(struct finder *f);
int finder_find_bases(struct finder *f);

#endif

/* holders_parts.h - what the files share that find out who has a resource, and what holders do.
 *
 *   holders.c          who has it while others wait for it
 *   holders_gives.c    who ends the waits for it
 *   holders_things.c   who has things of a pool
 *   holders_permits.c  of a semaphore, by its recorded calls
 *   holders_answers.c  who works on answers
 *   holders_relays.c   likewise, where those who give them only pass them on
 *   holders_past.c     who goes on where others sleep or poll
 *   holders_did.c      what a thread did in that time */
#ifndef ORCA_CONCLUDE_HOLDERS_PARTS_H
#define ORCA_CONCLUDE_HOLDERS_PARTS_H

#include "base/buf.h"
#include "base/keyed.h"
#include "base/map.h"
#include "conclude/does.h"
#include "conclude/resource_parts.h"

/* What is looked at for one resource at most: waits of many threads for the answer of one add
 * up. */
#define STEPS_MAX UINT64_C(20000000)

struct entry {
    struct does key;
    uint32_t thread; /* whose */
    uint32_t inner;  /* outside of the program: the innermost method; the key ends here */
    uint64_t ns, samples, calls, took;
    stack_id stack;
    struct place leaf;
    struct peer_vote peer;
};

/* How much of something was done: ns; samples, or recorded calls, that say so; how long these calls
 * took; with whom. */
struct amount {
    uint64_t ns, samples, calls, took;
    lock_id peer;
};

struct stretch {
    uint64_t from, to;
};

/* One more has one, or one less. */
struct edge {
    uint64_t time;
    int change;
};

/* A thread ended another thread's wait for the resource. */
struct give {
    uint32_t thread;
    uint64_t time;
    stack_id stack;
    uint32_t helper;       /* a thread that worked with the thing before it went back; 0: none; */
    uint64_t began, given; /* from when to when */
};

/* Gives of one thread within this time are one act, to any number of threads. */
#define ONE_GIVE_NS UINT64_C(1000000)

struct holder {
    struct analysis *a;
    const struct resources *all;
    struct resource *r;
    struct line_counts *lines;
    struct keyed recorded, sampled; /* struct entry */
    uint64_t *rest;                 /* [n_lines] ns in no recorded wait */
    uint64_t *of_thread;            /* [n_lines] ns */
    bool *waits;                    /* [n_lines]: for it */
    struct map taking;              /* methods that take it -> 2 + bci of the one place in it where
                                     * threads enter it, or 1; none: not known, or others may */
    struct buf gives;               /* struct give [] */
    struct buf edges;               /* struct edge [] */
    struct buf wanted;              /* struct stretch []; of answers: somebody works on one; of
                                     * locks without an owner: struct release [] */
    struct buf before;              /* of answers: struct stretch []: before a thread did */
    lock_id semaphore;              /* 0: it is none */
    bool nested;                    /* things are kept while another one is waited for */
    bool by_idle;                   /* things are back before their thread waits for work */
    uint64_t taken, back;           /* things that were waited for; that were seen to go back */
    struct map taken_in;            /* contexts -> the method that takes a thing there, and gives
                                     * it back */
    struct map seen[2];             /* of samples, of halts: thread << 32 | index / 64 -> bits of
                                     * those that are counted: each wait of many that one act ends
                                     * has what the thread did before it */
    uint64_t looked[2];             /* ns of samples; of those in a select */
    uint64_t steps;
};

/* Whether waits of a context are for it. */
static inline bool holder_is_of(const struct holder *h, uint32_t context)
{
    uint32_t of = h->all->of_context[context];
    return of && &h->all->v[of - 1] == h->r;
}

/* A thread had one from then to then: of that, what it did while it was wanted.  -ENOMEM. */
int holder_hold(struct holder *h, uint32_t thread, uint64_t from, uint64_t to);

/* Visits (resource_each_wait) of waits: when it is wanted, in `wanted`, which holder_merge_wanted
 * sorts and joins; who gave it, in `gives`, which holder_sort_gives sorts by thread and time; who
 * waits for it, in `waits`.  -ENOMEM. */
int holder_add_wanted(void *self, struct resource *r, const struct resource_wait *w);
int holder_add_give(void *self, struct resource *r, const struct resource_wait *w);
int holder_note_waiter(void *self, struct resource *r, const struct resource_wait *w);
void holder_merge_wanted(struct holder *h);
void holder_sort_gives(struct holder *h);

/* The thread that gave the resource to the first of the threads that passed the news on.  thread 0:
 * unknown. */
struct give holder_first_give(const struct holder *h, const struct span *s);

/* A thread's last wait for the resource that had ended by then, and when it ended; NULL, 0:
 * unknown. */
const struct span *holder_last_wait(const struct holder *h, uint32_t thread, uint64_t time);
uint64_t holder_got_it(const struct holder *h, uint32_t thread, uint64_t time);

/* ns of `wanted`, merged: all of them; those in a stretch, as far as STEPS_MAX allows. */
uint64_t holder_wanted(const struct holder *h);
uint64_t holder_wanted_in(struct holder *h, struct stretch in);

/* From `edges`, which it sorts, how many are in use at once.  For how long more than `level` are, once
 * they are sorted. */
void holder_count_at_once(struct holder *h);
uint64_t holder_time_above(const struct holder *h, uint32_t level);

/* Who has the things of a pool, or the permits.  -ENOMEM. */
int holder_find_things(struct holder *h);

/* Who has what others sleep or poll for: r->past where the recording shows it.  `wanted` is merged.
 * -ENOMEM. */
int holder_find_past(struct holder *h);

/* Who works on answers; of one wait, as a visit.  -ENOMEM. */
int holder_find_answers(struct holder *h);
int holder_take_answer(void *self, struct resource *r, const struct resource_wait *w);

/* Whether it is known by whom answers came to those who only pass them on.  Then all threads on their
 * ways are accounted for, in a holder that has begun anew.  -ENOMEM. */
bool holder_knows_ways(struct holder *h);
int holder_take_ways(struct holder *h);

/* Whether the giving threads only pass messages on. */
bool holder_is_messenger(const struct holder *h);

/* A resource_visit: the semaphore that is waited for, if it is one.  Who had its permits when, and
 * permits that are lost.  -ENOMEM. */
int holder_find_semaphore(void *self, struct resource *r, const struct resource_wait *w);
int holder_take_permits(struct holder *h);

/* A thread did something for an amount of time: into `recorded` or `sampled`.  -ENOMEM. */
int holder_note(struct keyed *to, uint32_t thread, const struct does *does, stack_id stack,
                struct place leaf, struct amount of);

/* Find the methods that take a lock.  A thread that has waited for it, and is seen in none of them,
 * does not have it: what a method takes it gives back before it returns.  -ENOMEM. */
int holder_find_taking(struct holder *h);

/* A thread had it in that stretch of time, as far as is known: what it did then.  -ENOMEM. */
int holder_account(struct holder *h, uint32_t thread, uint64_t from, uint64_t to);

#endif

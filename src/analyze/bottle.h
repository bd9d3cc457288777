/* bottle.h - bottle graphs: whose running the program's time is spent on, and beside how many
 * others.
 *
 * After Du Bois, Sartor, Eyerman, Eeckhout, "Bottle graphs: visualizing scalability bottlenecks in
 * multi-threaded applications" (OOPSLA 2013): while r threads run for a time dt, each of them is
 * charged dt / r.  A thread's height is the sum of its charges, its width the time it ran divided
 * by that: the average number of threads that ran when it did.  A tall narrow bottle is a serial
 * thread.
 *
 *     sum of heights + time in which nobody ran = elapsed time      (to a rounding of 2^-32 ns)
 *
 * It needs no causes, so it says who, not why.  A thread runs when it is in none of the recorded
 * waits, and nothing else that is known stopped it (halts.h): input and output, a stop by the JVM;
 * where turns on processors were recorded, only what is on one.  Threads of the JVM itself (thread
 * groups "system" and "InnocuousThreadGroup", native ones) are left out. */
#ifndef ORCA_ANALYZE_BOTTLE_H
#define ORCA_ANALYZE_BOTTLE_H

#include "analyze/halts.h"
#include "analyze/sweep.h"

enum { BOTTLE_LEVELS = 65 }; /* running threads that are distinguished; the last: that or more */

struct bottle {
    uint64_t running;          /* ns */
    unsigned __int128 charged; /* 2^-32 ns */
    uint64_t alone;            /* ns in which no other thread ran */
};

struct bottles {
    struct bottle *v; /* [n], by thread; those left out are zero */
    bool *counted;    /* [n] */
    size_t n;
    uint64_t elapsed, idle;        /* ns; idle: no thread ran */
    uint64_t level[BOTTLE_LEVELS]; /* ns with that number running */
};

static inline uint64_t bottle_height(const struct bottle *b)
{
    return (uint64_t)((b->charged + (UINT64_C(1) << 31)) >> 32);
}

struct bottler;

/* The graph of the time from `from` to `to`.  -ENOMEM. */
int bottler_new(struct bottler **out, const struct trace *t, const struct thread_set *threads,
                const struct stills *halts, uint64_t from, uint64_t to);
void bottler_free(struct bottler *b);
struct sweep_sink bottler_sink(struct bottler *b);

/* After the sweep; *out is freed by bottles_fini. */
void bottler_finish(struct bottler *b, struct bottles *out);
void bottles_fini(struct bottles *b);

/* Whether a thread is one of the program's: neither the JVM's own nor of its thread group. */
bool bottle_counts(const struct trace *t, const struct thread_stats *s);

#endif

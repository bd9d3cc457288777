/* processors.h - when threads were on a processor (group sched), and what they did with their time
 * then: for each thread a tiling of its life.
 *
 *     life = on a processor + ready + waits + input and output + stopped + off a processor
 *            + not known
 *
 *     on      its turns, also those inside of a recorded wait: what it executes around it
 *     ready   from a preemption to its next turn; from the moment at which a recorded wait was
 *             ended by whoever ended it (bind.h), and from the end of a stop, to the turn in which
 *             it went on
 *     wait    in a recorded wait, and neither
 *     io      in input or output (still.h), in none of these
 *     stopped by the JVM (safepoints.h): a thread of Java that was off the processor in none of
 *             these, since the JVM began to stop threads, until the stop was over.  Where turns are
 *             not known: from the moment at which all had stopped; native code may have gone on
 *     off     none of these: in a page fault that reads (cpu_tile.fault), or for a cause that is
 *             not recorded, as native locks
 *     unknown turns were not recorded then, or records were lost
 *
 * Where the kernel reports only shares (processor_share), sums follow from these and the waits. */
#ifndef ORCA_ANALYZE_PROCESSORS_H
#define ORCA_ANALYZE_PROCESSORS_H

#include "analyze/run.h"
#include "analyze/thread_set.h"
#include "analyze/timeline.h"
#include "base/buf.h"

enum cpu_state {
    CPU_ON,
    CPU_READY,
    CPU_WAITS,
    CPU_IO,
    CPU_STOPPED,
    CPU_OFF,
    CPU_UNKNOWN,
    CPU_STATES
};

/* "on_processor", "ready", "waits", "io", "stopped", "off_processor", "not_known" */
extern const char *const cpu_state_names[CPU_STATES];

struct processor_turn {
    uint64_t from, to;
    uint32_t end; /* enum turn_end, TURN_GAP */
};

struct processor_line {
    struct run turns;                /* struct processor_turn: in the order of time, apart */
    uint64_t ran, ready, shares_for; /* of its processor_shares: ns, and of how many ns they tell */
};

struct stills;
struct safepoint;

struct processors {
    struct arena arena;
    const struct trace *trace;     /* NULL: the three below are not known */
    const struct stills *io;       /* who was in input or output when */
    const struct safepoint *stops; /* [n_stops]: safepoints.stops */
    size_t n_stops;
    const struct thread_set *threads;
    struct processor_line *lines; /* [n_lines], by index into struct thread_set */
    size_t n_lines;
    struct buf known; /* struct processor_turn: stretches in which all turns are known */
    uint64_t n_turns, n_shares;
    uint64_t periods, stopped,
        stopped_ns; /* of the container's quota, where it stopped the program */
};

void processors_init(struct processors *p);
void processors_fini(struct processors *p);

/* Keep an event of the group sched.  -ENOMEM. */
int processors_take(struct processors *p, uint32_t thread, const struct event *e);

/* After the last one; borrows the threads.  -ENOMEM. */
int processors_finish(struct processors *p, const struct thread_set *threads);

/* Say what else kept threads from running; borrows all of it.  Else that time is CPU_OFF. */
void processors_explain(struct processors *p, const struct trace *t, const struct stills *io,
                        const struct safepoint *stops, size_t n_stops);

/* Whether anything is known: instants, or shares. */
static inline bool processors_any(const struct processors *p)
{
    return p->n_turns || p->n_shares;
}

struct cpu_tile {
    uint64_t from, to; /* from < to */
    enum cpu_state kind;
    uint32_t span; /* of a CPU_WAITS: its index */
    bool fault;    /* of a CPU_OFF: a page was read from a file or from swap */
};

/* The tiles of a thread between two times, in the order of time: without a gap, without overlap.
 * Of a virtual thread, whose carrier has the turns, all but waits is unknown. */
void processors_tile(const struct processors *p, const struct timeline *tl, uint32_t thread,
                     uint64_t from, uint64_t to, void (*visit)(void *ctx, const struct cpu_tile *t),
                     void *ctx);

/* How long each of them is.  By shares where there are no turns. */
void processors_sum(const struct processors *p, const struct timeline *tl, uint32_t thread,
                    uint64_t from, uint64_t to, uint64_t ns[CPU_STATES]);

#endif

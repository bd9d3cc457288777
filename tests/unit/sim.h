/* sim.h - a program of many threads that runs step by step on one clock, and all that is true of
 * it.
 *
 * One step is one thing that one thread does.  Each event of it goes into a trace, as the recorder
 * would write it, and what happened - who was in which state, who woke whom by what, who owned a
 * monitor when, who lived when - is written down beside it by the simulator, which knows it because
 * it did it.  It knows nothing of how a trace is analysed.
 *
 *     struct sim s;
 *     sim_run(&s, &shape);             the program, as the shape says
 *     struct trace *t = sim_trace(&s)  once
 *     ... s.spans, s.threads, s.log ...
 *     sim_fini(&s);
 *
 * No two things happen at one time.  Times are ns of CLOCK_MONOTONIC as in the trace; threads,
 * locks and stacks are named by their ids in the trace, which are the analysis' indices, too. */
#ifndef ORCA_TESTS_SIM_H
#define ORCA_TESTS_SIM_H

#include "analyze/interval.h"
#include "trace_builder.h"

enum {
    SIM_THREADS = 40,
    SIM_MONITORS = 6, /* those that threads synchronize on; each thread's own object comes behind */
    SIM_SEMAPHORES = 2,
    SIM_LOCKS = 3, /* of java.util.concurrent, with an owner */
    SIM_TASKS = 32,
    SIM_STACKS = 5,
    SIM_CLASSES = 4,
    HELD_MAX = 3,
    TODO_MAX = 8,
    NOBODY = -1,
};

/* What kind of program it is. */
struct sim_shape {
    uint64_t seed;
    int threads, steps; /* at most SIM_THREADS */
    uint64_t tick;      /* ns between two steps, at most */
    bool fair;          /* monitors are handed on first in, first out; else whoever comes takes */
    bool ordered;       /* they nest in one order only: no deadlocks */
    bool holds;         /* the group holds is recorded */
    bool owners;        /* the owner can be read at a contended enter */
    bool inside;        /* a monitor taken again in Object.wait is announced, inside it */
    bool virtual;       /* half of the threads are */
    bool monitors_only;
    bool races; /* a notified thread may report a timeout */
    bool cut;   /* the recording ends in the middle; else the threads come to their ends first */
};

/* --- what is true ----------------------------------------------------------------------------- */

enum true_cause {
    BY_NOBODY, /* it is not recorded, or it just ended */
    BY_TIME,
    BY_NOTIFY,
    BY_NOTIFY_ALL,
    BY_UNPARK,
    BY_SEMAPHORE, /* an unpark that hands a permit of a semaphore on */
    BY_INTERRUPT,
    BY_END,     /* of the thread waited for */
    BY_RELEASE, /* of a monitor */
};

struct true_wake {
    enum true_cause by;
    uint32_t thread;
    uint64_t time; /* before the wait when there was no need to wait */
};

/* A stretch in which a thread did not run.  Those of a thread in the order of their beginnings. */
struct true_span {
    uint64_t start, end;
    uint32_t thread, state; /* enum wait_state */
    uint32_t lock, other, stack, owner_stack;
    unsigned flags; /* INTERVAL_*: TIMED, TIMED_OUT, OPEN, INTERRUPTED, REACQUIRED */
    struct true_wake wake;
    /* Of a wait or block that had to get a monitor: who owned it before, and gave it back when;
     * 0: nobody had to. */
    uint32_t owner_before;
    uint64_t released;
    bool splits;  /* WAITING: what follows is its own re-acquisition, announced inside */
    bool instant; /* there was nothing to wait for: a join of a thread that had ended */
};

struct true_thread {
    bool is_virtual, daemon, jvm; /* jvm: a thread of the JVM itself, which does nothing here */
    bool has_started, has_ended;  /* seen to */
    uint64_t started, ended, called;
    uint32_t starter; /* 0: nobody is seen to have started it */
};

struct true_handover {
    uint32_t from, to;
    uint64_t from_time, to_time;
};

struct true_pause {
    uint64_t start, end;
};

struct true_hold {
    uint64_t start, end;
    uint32_t thread, lock;
};

/* --- the program while it runs ---------------------------------------------------------------- */

enum doing {
    IS_ABSENT,
    IS_STARTING, /* Thread.start was called */
    IS_RUNNING,
    IS_BLOCKED,
    IS_WAITING,
    IS_REENTERING, /* Object.wait is over, the monitor not taken yet */
    IS_PARKED,
    IS_SLEEPING,
    IS_JOINING,
    IS_DEAD,
};

/* What a thread does next, whatever else. */
enum chore {
    DO_ENTERED, /* say that the monitor was taken */
    DO_WAITED,  /* say that Object.wait is over, arg: it timed out */
    DO_REENTER, /* the same, and take the monitor as anybody does */
    DO_LONE,    /* a virtual thread says that it took monitor `arg`, and not since when it waited */
    DO_THROW,   /* InterruptedException, which ends the wait that span `arg` is, or NOBODY */
    DO_SLEPT,   /* say that the sleep is over */
    DO_JOINED,  /* the same of a join */
    DO_UNPARK,  /* thread `arg` % SIM_THREADS, for semaphore `arg` / SIM_THREADS - 1 */
    DO_ACQUIRE, /* try to get a permit of semaphore `arg` again */
    DO_ACQUIRED, /* say that this is over, arg: in vain */
    DO_LOCK,     /* try to take lock `arg` again */
};

struct chores {
    struct {
        enum chore what;
        int arg;
    } v[TODO_MAX];
    int n;
};

struct actor {
    enum doing doing;
    struct chores todo;
    int span;              /* index into spans of the one that it is in; NOBODY: it runs */
    int wait;              /* of Object.wait that is under way, though it re-acquires; NOBODY */
    int last;              /* of the latest one that is over; NOBODY */
    bool acted;            /* since then */
    uint32_t deed;         /* what it did last, of what is an act */
    int wants;             /* the monitor */
    int again;             /* the one to be owned again when Object.wait ends; NOBODY */
    uint64_t again_taken;  /* since when, for its hold */
    bool notified, nested; /* of a wait; of a join or sleep: there is a wait inside */
    bool late;             /* of a wait: notified, and reports a timeout */
    bool interrupted;      /* Thread.isInterrupted() */
    struct true_wake interrupt, permit;
    bool has_permit;
    int acquires, permit_of; /* a semaphore; NOBODY: none; permit_of: of the same acquire */
    bool must_interrupt;     /* itself, once it has its lock: Lock.lock is not interruptible */
    int held[HELD_MAX], n_held;
    uint64_t taken[HELD_MAX];
    int locks[SIM_LOCKS], n_locks;
    int target; /* of a join */
};

struct crowd {
    int v[SIM_THREADS], n;
};

/* A monitor or lock with an owner. */
struct owned {
    uint32_t id;
    int owner;
    uint64_t since; /* it owns it */
    struct crowd entry, waiting;
    uint32_t last; /* thread id of who owned it before */
    uint64_t released;
};

struct semaphore {
    uint32_t id;
    int permits;
    struct crowd queue;
};

struct task {
    uint32_t id;
    int from; /* NOBODY: run */
    uint64_t time;
};

struct sim {
    struct sim_shape shape;
    struct trace_builder b;
    uint64_t random, now, begin, end;
    bool undecided; /* what was notified at the end nobody could tell from the recording */
    int n_threads;  /* actors 0 .. n_threads - 1; those that exist have ids 1 .. */
    struct actor actors[SIM_THREADS];
    uint32_t ids[SIM_THREADS];                   /* thread ids; 0: not defined yet */
    int actor_of[SIM_THREADS + 2];               /* by thread id */
    struct true_thread threads[SIM_THREADS + 2]; /* by thread id */
    uint32_t n_ids;
    struct owned monitors[SIM_MONITORS + SIM_THREADS];
    struct owned locks[SIM_LOCKS];
    struct semaphore semaphores[SIM_SEMAPHORES];
    struct task tasks[SIM_TASKS];
    int n_tasks;
    class_id classes[SIM_CLASSES];
    stack_id stacks[SIM_STACKS];
    call_id submit, before, run;
    struct buf spans;     /* struct true_span [] */
    struct buf log;       /* struct event [], everything that was emitted */
    struct buf handovers; /* struct true_handover [] */
    struct buf tenures;   /* struct true_hold [], of monitors, without the time in Object.wait */
    struct buf pauses;    /* struct true_pause [] */
};

void sim_run(struct sim *s, const struct sim_shape *shape);

/* The thread that a thread truly waited for when the recording ended, and without whose help it
 * would wait for ever: ids; 0: none, or it may go on by itself. */
uint32_t sim_waits_for(const struct sim *s, uint32_t thread);

/* The trace of it, opened.  Once. */
struct trace *sim_trace(struct sim *s);
void sim_fini(struct sim *s);

/* What the seed says: of the small programs of which there are many. */
struct sim_shape sim_shape_of(uint64_t seed);

static inline size_t sim_n_spans(const struct sim *s)
{
    return s->spans.len / sizeof(struct true_span);
}

static inline struct true_span *sim_span(const struct sim *s, size_t i)
{
    return (struct true_span *)(void *)s->spans.p + i;
}

static inline size_t sim_n_events(const struct sim *s)
{
    return s->log.len / sizeof(struct event);
}

static inline const struct event *sim_event(const struct sim *s, size_t i)
{
    return (const struct event *)(const void *)s->log.p + i;
}

/* A number below n, of the program's own dice. */
uint64_t sim_below(struct sim *s, uint64_t n);

static inline bool sim_one_in(struct sim *s, uint64_t n)
{
    return sim_below(s, n) == 0;
}

#endif

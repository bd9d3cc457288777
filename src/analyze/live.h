/* live.h - what the threads of a running program do now, and did in the last seconds.
 *
 * Events come in as they are read (live_event), and at each look the time up to which they are all
 * there (live_advance).  A thread's waits are paired by the same track that the reports use; here
 * its time is added up as it passes, into buckets of half a second or more, so that the sums over
 * the last N seconds need no events any more:
 *     sum over a thread's states <= span;  span is about the window that was asked for
 * What a thread is in at the moment counts up to now.
 *
 * Who is held up: a thread that is blocked on a monitor, or parked for a lock that somebody has.
 * Waiting in Object.wait, for work, for a time is not.
 *
 * Memory is bounded: platform threads by their number; of virtual threads, and of locks, those that
 * are in a wait or were within the window, and of these so many; the others are counted.
 *
 * Pure: no file, no JVM; names are looked up in the trace that live_init got.  One thread. */
#ifndef ORCA_ANALYZE_LIVE_H
#define ORCA_ANALYZE_LIVE_H

#include "analyze/track.h"
#include "base/map.h"
#include "format/trace.h"

enum {
    LIVE_BUCKETS = 120,
    LIVE_VIRTUAL_MAX = 8192, /* virtual threads, and locks, that are followed one by one */
    LIVE_LOCKS_MAX = 16384,
    LIVE_LAST_WAITS = 8,
};
#define LIVE_BUCKET_NS (UINT64_C(500000000))
#define LIVE_WINDOW_MAX_NS ((LIVE_BUCKETS - 1) * LIVE_BUCKET_NS)

enum live_state {
    LIVE_BLOCKED,  /* on a monitor that another thread owns */
    LIVE_LOCKED,   /* parked for what another thread owns, or for a lock or a permit by its class */
    LIVE_WAITING,  /* in Object.wait */
    LIVE_PARKED,   /* for anything else */
    LIVE_JOINING,  /* in Thread.join */
    LIVE_SLEEPING, /* in Thread.sleep */
    LIVE_SUMS,     /* so many states have sums */
    LIVE_RUNNING = LIVE_SUMS, /* in none of these: on a processor, ready, or in native code */
    LIVE_UNKNOWN, /* events are missing, or it was found in a wait whose end no event tells: it is
                   * known again with the thread's next one */
    LIVE_STATES,
};

/* "blocked", "lock", "waiting", ... */
extern const char *const live_state_names[LIVE_STATES];

static inline bool live_is_held_up(enum live_state s)
{
    return s == LIVE_BLOCKED || s == LIVE_LOCKED;
}

struct live_wait {
    uint64_t since, ns; /* ns: without what was nested in it */
    enum live_state state;
    lock_id lock;    /* 0: none, or unknown */
    thread_id other; /* owner when it began, thread joined; 0: unknown */
    stack_id stack;
};

struct live_lock {
    lock_id id;
    thread_id owner;         /* as last known; 0: unknown, or nobody */
    thread_id held_by;       /* who had it when a thread was last held up */
    thread_id told_by;       /* an owner that was asked what it executed, */
    stack_id told;           /* what that was, */
    uint64_t told_at;        /* and when */
    bool owner_likely;       /* it was woken for the lock, but nobody saw it take it */
    bool is_lock;            /* by its class: parking for it is being held up, whoever has it */
    uint32_t queue, waiters; /* threads held up by it now; those that wait in it or park for it */
    uint64_t cur_blocked, cur_worst;
    uint32_t cur_count;
    uint32_t blocked_us[LIVE_BUCKETS], worst_us[LIVE_BUCKETS], counts[LIVE_BUCKETS];
    /* Of the last look: */
    uint64_t count, blocked_ns, worst_ns; /* held up within the window: times, in all, longest */
};

struct live_thread {
    thread_id id;
    bool is_virtual, is_system; /* is_system: of the JVM's own thread group */
    bool began_before; /* the wait it is in was under way when the recording began: `since` is that
                        */
    uint64_t goes_on;  /* such a wait was seen to go on then, and an event will tell its end; 0: no
                        */
    enum live_state state;
    uint64_t since;        /* in this state */
    struct live_wait wait; /* the current one, when it is in one; ns: 0 */
    struct live_lock *on;  /* of `wait`; NULL: none, unknown or not followed */
    uint32_t stream;       /* of its latest event */
    struct track track;
    uint64_t accounted; /* its time up to here is in the sums */
    uint64_t cur[LIVE_SUMS];
    uint32_t cur_count;
    uint32_t us[LIVE_BUCKETS][LIVE_SUMS], counts[LIVE_BUCKETS];
    struct live_wait last[LIVE_LAST_WAITS]; /* closed ones, a circle */
    struct live_wait held; /* the latest closed one in which it was held up; since 0: none yet */
    uint32_t n_last;       /* ever */
    /* Of the last look: */
    uint64_t sum[LIVE_SUMS]; /* ns within the window, by state */
    uint64_t held_up;        /* LIVE_BLOCKED + LIVE_LOCKED */
    uint32_t count;          /* times that it was held up */
    uint32_t deadlock;       /* the number of the one that it is in, from 1; 0: none */
    uint32_t mark;
};

struct live {
    const struct trace *trace;
    struct live_thread **threads;
    struct live_lock **locks;
    size_t n_threads, cap_threads, n_locks, cap_locks;
    struct map thread_ids, lock_ids; /* id -> pointer */
    size_t n_virtual, n_ended;       /* n_ended: they go with the next advance */
    uint64_t events, cur_events;
    uint64_t not_followed; /* events of virtual threads for which there was no room */
    uint64_t now, open;    /* of the last advance; where the open bucket begins */
    uint64_t horizon;      /* time before is not added up */
    uint64_t edges[LIVE_BUCKETS];
    uint64_t n_closed; /* buckets ever closed */
    uint64_t gc_since, cur_gc;
    uint32_t gc_us[LIVE_BUCKETS];
    uint64_t event_counts[LIVE_BUCKETS];
    struct intervals intervals;
    struct interval_sink sink;
    struct live_thread *taking; /* whose intervals come out */
    bool oom;
    /* Of the last look: */
    uint64_t span;                       /* of the window, really */
    uint64_t contentions, gc_ns, recent; /* within it; recent: events */
    size_t in_state[LIVE_STATES];        /* threads */
    size_t n_deadlocked;                 /* threads */
    uint32_t n_deadlocks;                /* circles: no thread is in two */
    size_t folded;                       /* virtual threads that are in no wait: not kept */
    uint32_t mark;
};

/* from: the time from which states are to be added up, at most LIVE_WINDOW_MAX_NS before now. */
void live_init(struct live *l, const struct trace *t, uint64_t from);
void live_fini(struct live *l);

/* One event; those of one thread in the order of time, and of different ones nearly so. */
void live_event(struct live *l, const struct event *e, uint32_t stream);

/* Events of a stream are missing before `time`: what its threads do is unknown until they say so.
 */
void live_gap(struct live *l, uint32_t stream, uint64_t time);

/* Every event up to `now` has come. */
void live_advance(struct live *l, uint64_t now);

/* Fill what is "of the last look", for about that window.  Pointers to threads and locks are valid
 * until the next event.  -ENOMEM. */
int live_look(struct live *l, uint64_t window);

/* A thread or lock that is followed, or NULL. */
struct live_thread *live_find_thread(const struct live *l, thread_id id);
struct live_lock *live_find_lock(const struct live *l, lock_id id);

/* The i-th latest closed wait of a thread, from 0; NULL: there is none. */
const struct live_wait *live_last(const struct live_thread *t, uint32_t i);

/* What a thread that is held up waits for to go on: the owner of its lock as last known. */
thread_id live_blocker(const struct live_thread *t);

#endif

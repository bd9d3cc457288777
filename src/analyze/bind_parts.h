/* bind_parts.h - what bind.c, wait_sets.c and interaction.c share: locks and threads at the moment
 * of the sweep. */
#ifndef ORCA_ANALYZE_BIND_PARTS_H
#define ORCA_ANALYZE_BIND_PARTS_H

#include "analyze/alibi.h"
#include "analyze/bind.h"
#include "base/buf.h"
#include "base/map.h"

/* An act, or another cause, of a thread; thread 0: none. */
struct deed {
    uint32_t thread, cause;
};

/* An unpark by which a permit of a semaphore is handed on, to who is in acquire by then: the
 * target's last act before. */
bool is_semaphore_handoff(const struct timeline *t, struct deed by, const struct act *target_last);

/* A thread may have been notified in the moment in which it timed out: it left the wait set for one
 * of the two reasons, and the JVM reports a timeout.  So the first notify of the list was its, or
 * the first waiter's, the second one the first waiter's or the second one's, and so on. */
struct doubt {
    uint32_t acts, last; /* of whom they woke: 1 + index into binder.loose */
    uint32_t n;          /* number of them */
    uint32_t times_up;   /* waits that timed out: 1 + index into binder.loose */
    bool too_long;       /* not all of it is kept */
};

/* Threads that were found in the wait set when the recording of a running program began: they are
 * its first ones, and their order is not known.  A notify is of one of them while there is one that
 * has none; whose it was is known when one comes back before the next notify. */
struct found_waiters {
    uint32_t n; /* in the wait set, though notified */
    uint32_t acts,
        last; /* notifies of them since all who had one were back: 1 + index into loose */
    uint32_t n_acts, n_back;
    bool too_many; /* notifies: not all are kept */
};

enum { DOUBT_MOST = 64 }; /* acts: each end of a wait looks at this number of waiters */

/* A lock at the moment. */
struct lock_now {
    struct deed owner;      /* who owned it last, as far as known, and by what it gave it back */
    uint64_t since, latest; /* when it was first known to, after another thread had it, and last */
    bool sure;              /* it did own it then: not only the end of its Object.wait says so */
    bool odd;               /* not each hold of it is recorded, or the JVM takes it unseen */
    struct deed before;     /* who had it before `since`, and when that was known last */
    uint64_t before_latest;
    bool summed;         /* short waits for it may be known by their sums, */
    uint32_t epoch;      /* and until which look, or stretch of sums, it was looked at */
    uint32_t claimer;    /* the thread whose Object.wait ended last, */
    uint64_t claimed_at; /* and when */
    uint32_t head, tail; /* threads in its wait set, first in first out; 0: none */
    struct doubt doubt;  /* of whom its latest notifies woke */
    struct found_waiters found;
    uint32_t taken; /* waits that a notify took while others stayed, latest first: one after the
                     * other, until nobody stayed; 1 + index into binder.loose; kept where it is not
                     * known who left by itself */
    uint32_t ended, last_ended; /* waits since its wait set was empty, where interrupts are not
                                 * recorded: 1 + index into binder.loose */
    uint32_t task, last_task;   /* it is a task: how often it was submitted and has not run yet,
                                 * first in first out; 1 + index into binder.loose */
};

/* A thread at the moment. */
struct thread_now {
    uint32_t span;       /* 1 + index of the span that it is in; 0: it runs */
    uint32_t begun;      /* the same of the latest one */
    uint32_t waits_on;   /* the lock whose wait set it is in, 0: none */
    uint32_t next, prev; /* there */
    uint32_t last_act;   /* 1 + index of its latest act */
    uint32_t regain;     /* 1 + index of its latest regain, while it may still be found certain: */
    uint64_t regain_at;  /* its Object.wait ended then, */
    uint64_t owned_at;   /* and the owner before it was known to be that then */
    struct deed permit;  /* an unpark that no park has used */
    struct deed late;    /* one that the park that goes on would have used at once */
    struct deed start;
    struct deed interrupt; /* of which no exception is known to have come */
    uint64_t interrupted_at;
    bool interruptible; /* an interrupt of it is recorded */
    bool found;         /* in the wait set, since before the recording */
    bool unsure;        /* it stays unknown what ends the wait that it is in */
};

/* A task that was submitted and has not run yet.  In imported traces also a notify without a waiter
 * yet, a wait that ended without one, or one that a notify took. */
struct loose {
    struct deed deed; /* of a wait: cause is the span's index */
    uint32_t next;    /* 1 + index into binder.loose */
    bool all;
};

struct loose_lists {
    uint32_t notify, notify_last, woken; /* 1 + index into binder.loose */
    struct deed all;                     /* the latest notifyAll */
};

/* What was done last to an object: a release of a semaphore, or another call that does not
 * block. */
struct release {
    struct deed by;
    uint64_t at;
};

enum task_role { TASK_NO, TASK_SUBMITTED, TASK_RUN };

struct binder {
    const struct trace *trace;
    struct timeline *tl;
    const struct thread_set *threads;
    struct lock_now *locks; /* [n_locks] */
    size_t n_locks;
    struct thread_now *now;    /* [threads->n] */
    uint8_t *roles;            /* [trace->n_calls], enum task_role */
    struct loose_lists *lists; /* [n_locks]; NULL: recorded, not imported */
    struct release *released;  /* [n_locks]; NULL: no wait is of a call */
    bool bare;                 /* it is not known who left a wait set by itself */
    struct buf loose;          /* struct loose [] */
    const struct asked_owner *asked;
    struct map asked_last; /* by lock: the latest of them */
    bool exceptions;       /* InterruptedExceptions are recorded */
    bool holds;            /* so is who had which lock, */
    bool all_holds;        /* each time */
    struct alibi alibi;
    const struct summed *sums; /* NULL: none */
    size_t stretch;            /* the first stretch of theirs that is not over, */
    uint32_t epoch; /* and how many of their beginnings and ends came before: odd in one */
    struct bindings out;
    bool oom;
};
static inline const struct context *context_of(const struct binder *b, const struct span *s)
{
    return timeline_context(b->tl, s->context);
}

static inline struct span *span_of(const struct binder *b, uint32_t thread, uint32_t index)
{
    return line_span(&b->tl->lines[thread], index);
}

/* The span that a thread is in; NULL: it runs. */
static inline struct span *current(const struct binder *b, uint32_t thread)
{
    uint32_t span = b->now[thread].span;
    return span ? span_of(b, thread, span - 1) : NULL;
}

/* A thread that was seen to have it while its waits were summed, or before a look, may have given
 * it to others since. */
static inline struct lock_now *lock_now(const struct binder *b, lock_id lock)
{
    struct lock_now *k = lock.v && lock.v < b->n_locks ? &b->locks[lock.v] : NULL;
    bool hidden = b->epoch % 2; /* others may have had it since any moment */
    if (k && k->summed && (hidden || k->epoch != b->epoch))
        k->owner = k->before = (struct deed){0, 0};
    if (k)
        k->epoch = b->epoch;
    return k;
}

static inline bool is_unknown(const struct context *x)
{
    return x->flags & (INTERVAL_UNKNOWN | INTERVAL_REACQUIRED);
}

/* `thread` was woken from span s. */
static inline void bind_cause(struct binder *b, uint32_t thread, struct span *s, struct deed by,
                              enum interaction kind)
{
    s->waker = by.thread;
    s->cause = by.cause;
    if (by.thread != thread) {
        b->out.sums[kind].count++;
        b->out.sums[kind].ns += span_len(b->tl, s);
    }
    if (cause_type(by.cause) == CAUSE_ACT)
        line_act(&b->tl->lines[by.thread], cause_index(by.cause))->woken++;
}

/* Whether a thread did anything between two moments that is kept. */
static inline bool did_anything(const struct binder *b, const struct line *l, uint64_t from,
                                uint64_t to)
{
    return line_acts_until(l, to) > line_acts_until(l, from) ||
           line_holds_until(b->tl, l, to) > line_holds_until(b->tl, l, from);
}

static inline struct loose *loose_at(const struct binder *b, uint32_t i)
{
    return (struct loose *)(void *)b->loose.p + i - 1;
}

static inline uint32_t loose_add(struct binder *b, struct deed deed, uint32_t next)
{
    buf_put(&b->loose, &(struct loose){.deed = deed, .next = next}, sizeof(struct loose));
    return b->loose.oom ? 0 : (uint32_t)(b->loose.len / sizeof(struct loose));
}

/* Behind the others of a list. */
static inline void append(struct binder *b, uint32_t *first, uint32_t *last, struct deed deed)
{
    uint32_t i = loose_add(b, deed, 0);
    if (*first && i)
        loose_at(b, *last)->next = i;
    else
        *first = i;
    *last = i;
}

#endif

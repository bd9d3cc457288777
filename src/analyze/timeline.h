/* timeline.h - the model of a recording: for each thread what it did, in the order of time.
 *
 *     spans   stretches in which it did not run; they do not overlap, and between them it ran
 *     acts    moments at which it did something to another thread or to a lock: started, notified,
 *             unparked, interrupted it, gave a semaphore back, handed a task over
 *     holds   stretches in which it held a lock (group holds), in the order of their ends
 *
 * A span's waker, and the act by which it woke, are found by bind.h.  Every table, path and picture
 * is made from these lists; nothing else of a trace's events is kept.
 *
 * The states and interactions of TPTP 4.5's thread profiling under their names here:
 * docs/concepts/analysis.md. */
#ifndef ORCA_ANALYZE_TIMELINE_H
#define ORCA_ANALYZE_TIMELINE_H

#include "analyze/context.h"
#include "analyze/run.h"
#include "analyze/thread_set.h"
#include "base/buf.h"

enum {
    /* span.len beyond this is kept aside. */
    SPAN_LONG = UINT32_C(1) << 31,
    SPANS_EACH = 16, /* in the index by time */
};

/* span.cause: by what the waker ended it - one of its acts, a hold that ended, a wait that it
 * began and so gave the monitor back - with the index above these bits and CAUSE_SEEN. */
enum cause_type {
    CAUSE_ACT,
    CAUSE_HOLD,
    CAUSE_WAIT,
    CAUSE_NONE, /* it is known, but not by what: an owner whose release is not recorded; the index is
                 * near how many spans of it had begun by then */
};

static inline uint32_t cause_make(enum cause_type type, uint32_t index)
{
    return index << 3 | type;
}

/* The waker of a monitor is the last owner that was seen: another thread may have taken it since,
 * without having to wait, and given it to this one. */
enum { CAUSE_SEEN = 4 };

static inline uint32_t cause_index(uint32_t cause)
{
    return cause >> 3;
}

/* Two causes are of one act, hold or wait. */
static inline bool cause_same(uint32_t a, uint32_t b)
{
    return ((a ^ b) & ~(uint32_t)CAUSE_SEEN) == 0;
}

static inline enum cause_type cause_type(uint32_t cause)
{
    return cause & 3;
}

struct span {
    uint64_t start; /* ns of CLOCK_MONOTONIC */
    uint32_t len;   /* ns, or SPAN_LONG + index into timeline.longs: see span_end */
    uint32_t context;
    uint32_t waker; /* index of the thread that ended it; 0: unknown, or nobody (time, spurious) */
    uint32_t cause; /* see cause_make; of a span that has a waker; of several waits in one
                     * (CONTEXT_SUMMED) also its index into timeline.sums */
};

/* What several waits in one were. */
struct span_sum {
    uint64_t count, longest; /* count 0: a further span of the same waits */
};

struct act {
    uint64_t time;
    uint32_t context;
    uint32_t woken; /* spans that it ended */
};

/* Who gave the monitor back that a notified wait then took again; see CAUSE_SEEN. */
struct regain {
    uint32_t span; /* index of the WAITING span */
    uint32_t owner, cause;
};

struct line {
    struct run spans, acts, holds; /* struct span, struct act, struct span */
    struct run regains;            /* struct regain, by span */
    const uint64_t *starts;        /* of each SPANS_EACH-th span; NULL: not indexed */
    uint32_t starter;              /* the thread that called its start; 0: unknown */
    uint32_t starter_act;          /* index of that act */
};

struct timeline {
    struct arena arena;
    struct contexts contexts;
    struct line *lines; /* [n_lines], by index into struct thread_set */
    size_t n_lines, cap_lines;
    struct buf longs;  /* uint64_t [] */
    struct buf sums;   /* struct span_sum [] */
    uint64_t n_summed; /* waits of the spans that have a sum, and */
    uint64_t n_sums;   /* how many spans these are */
    uint64_t n_spans, n_acts, n_holds;
    uint64_t n_unknown; /* of the spans */
    bool no_interrupts; /* not each one is recorded: who had a time limit may have been
                         * interrupted */
};

int timeline_init(struct timeline *t);
void timeline_fini(struct timeline *t);

/* The sink of intervals; self is a struct timeline.  A monitor that is taken again inside an
 * Object.wait ends the WAITING span and begins a REACQUIRING one. */
int timeline_take(void *self, const struct interval *v, size_t n);

/* Keep an event that is an act or a hold; others are passed over.  `target`: index of the thread
 * that it names, 0: none.  -ENOMEM. */
int timeline_act(struct timeline *t, uint32_t thread, const struct event *e, uint32_t target);

struct unknown_stretch;

/* Put spans of the state STATE_UNKNOWN where no span is, in these stretches of a thread: in the
 * order of time, apart from each other.  Numbers of spans change.  -ENOMEM. */
int timeline_put_unknown(struct timeline *t, uint32_t thread, const struct unknown_stretch *v,
                         size_t n);

/* A span to be put between those that are there. */
struct timeline_piece {
    uint64_t from, to;
    struct context context;
    /* of a CONTEXT_SUMMED; waker: index of a thread, 0: unknown */
    uint64_t count, longest;
    uint32_t waker;
    bool seen; /* it is the last owner seen */
};

/* Put spans where none is: in the order of time, apart from each other and from those of the line.
 * Numbers of spans change.  -ENOMEM. */
int timeline_put_pieces(struct timeline *t, uint32_t thread, const struct timeline_piece *v,
                        size_t n);

/* After the last interval: acts of threads that roam come in order, waits that ended in an
 * InterruptedException are marked.  -ENOMEM. */
int timeline_finish(struct timeline *t, const struct thread_set *threads);

/* Once no number of a span changes any longer: line_spans_until is fast from then on.  -ENOMEM. */
int timeline_index(struct timeline *t);

/* --- reading ---------------------------------------------------------------------------------- */

static inline struct span *line_span(const struct line *l, uint32_t i)
{
    return run_at(&l->spans, sizeof(struct span), i);
}

static inline struct act *line_act(const struct line *l, uint32_t i)
{
    return run_at(&l->acts, sizeof(struct act), i);
}

static inline struct span *line_hold(const struct line *l, uint32_t i)
{
    return run_at(&l->holds, sizeof(struct span), i);
}

static inline uint64_t span_len(const struct timeline *t, const struct span *s)
{
    return s->len < SPAN_LONG ? s->len
                              : ((const uint64_t *)(const void *)t->longs.p)[s->len - SPAN_LONG];
}

static inline uint64_t span_end(const struct timeline *t, const struct span *s)
{
    return s->start + span_len(t, s);
}

static inline const struct context *timeline_context(const struct timeline *t, uint32_t context)
{
    return &t->contexts.v[context];
}

static inline bool span_is_summed(const struct timeline *t, const struct span *s)
{
    return t->n_sums && timeline_context(t, s->context)->mode == CONTEXT_SUMMED &&
           timeline_context(t, s->context)->what < WAIT_STATES;
}

/* Several waits in one; NULL: it is one wait. */
static inline const struct span_sum *span_sum(const struct timeline *t, const struct span *s)
{
    return span_is_summed(t, s)
               ? (const struct span_sum *)(const void *)t->sums.p + cause_index(s->cause)
               : NULL;
}

/* How many waits a span is. */
static inline uint64_t span_count(const struct timeline *t, const struct span *s)
{
    const struct span_sum *sum = span_sum(t, s);
    return sum ? sum->count : 1;
}

/* The longest of them. */
static inline uint64_t span_longest(const struct timeline *t, const struct span *s)
{
    const struct span_sum *sum = span_sum(t, s);
    return sum ? sum->longest : span_len(t, s);
}

/* Whether a wait timed out. The JVM reports this only of Object.wait. */
static inline bool timeline_timed_out(const struct timeline *t, const struct span *s)
{
    const struct context *x = timeline_context(t, s->context);
    if (s->waker || x->flags & INTERVAL_OPEN || x->mode == CONTEXT_SUMMED)
        return false;
    return x->what == STATE_WAITING ? (x->flags & INTERVAL_TIMED_OUT) != 0
                                    : x->flags & INTERVAL_TIMED && !t->no_interrupts;
}

/* The same span without these INTERVAL_* flags; no context is new when one was made without them
 * before: timeline_foresee.  -ENOMEM. */
int timeline_clear(struct timeline *t, struct span *s, unsigned flags);
int timeline_foresee(struct timeline *t, const struct context *x, unsigned flags);

/* When the waker woke it: the time of the cause, which may be before the span began (a permit); the
 * span's end where only the thread is known.  Only of a span that has a waker. */
uint64_t span_wake_time(const struct timeline *t, const struct span *s);

/* Where the waker was then; 0: unknown. */
stack_id span_wake_stack(const struct timeline *t, const struct span *s);

/* The act that ended it; NULL: none. */
const struct act *span_wake_act(const struct timeline *t, const struct span *s);

/* Who notified a WAITING span, inside it or (CAUSE_NONE) before the part that is looked at; 0: not
 * known, or nobody. */
uint32_t span_notifier(const struct timeline *t, const struct span *s);

/* Of a WAITING span whose notify is known: from then on it was reacquiring the monitor.  Else its
 * end. */
uint64_t span_waited_until(const struct timeline *t, const struct span *s);

/* A wait, or the part of one that is in one state: an Object.wait whose notify is known is two,
 * waiting and then reacquiring the monitor from the notifier, who so owned it. */
struct wait_part {
    uint64_t from, to;
    uint32_t owner; /* who was seen to own what it waits for when it began; of a join whom it waits
                     * for; 0: unknown, or nobody */
    uint8_t state, flags;
    bool again; /* the second one of an Object.wait */
};

/* One or two. */
unsigned span_parts(const struct timeline *t, const struct span *s, struct wait_part out[2]);

/* Of a WAITING span: who gave the monitor back that it then took again; NULL: not known. */
struct regain *line_regain(const struct line *l, uint32_t span);
const struct regain *line_regain_of(const struct line *l, const struct span *s);

/* The last owner seen gave it back, or another thread that is not known. */
static inline bool span_waker_is_seen(const struct span *s)
{
    return s->waker && s->cause & CAUSE_SEEN;
}

/* How many waits there are. */
static inline uint64_t timeline_waits(const struct timeline *t)
{
    return t->n_spans - t->n_unknown - t->n_sums + t->n_summed;
}

/* Whether it is not a wait, but a stretch in which the thread's state is unknown. */
static inline bool span_is_unknown(const struct timeline *t, const struct span *s)
{
    return timeline_context(t, s->context)->what == STATE_UNKNOWN;
}

/* The call that started a thread; NULL: unknown. */
static inline const struct act *timeline_start(const struct timeline *t, uint32_t thread)
{
    const struct line *l = thread < t->n_lines ? &t->lines[thread] : NULL;
    return l && l->starter ? line_act(&t->lines[l->starter], l->starter_act) : NULL;
}

/* The number of spans of a line that begin at `time` or before: the last of them is at the result
 * minus one. */
uint32_t line_spans_until(const struct line *l, uint64_t time);

/* The same, fast where the result is near a guess. */
uint32_t line_spans_near(const struct line *l, uint64_t time, uint32_t guess);

/* The same of acts, and of holds that end. */
uint32_t line_acts_until(const struct line *l, uint64_t time);
uint32_t line_holds_until(const struct timeline *t, const struct line *l, uint64_t time);

/* Whether a thread did nothing for this time after its wait at [i] but wait for the same object
 * again: its condition was not true. */
bool line_waits_again(const struct timeline *t, const struct line *l, uint32_t i, uint64_t within);

#endif

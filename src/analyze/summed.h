/* summed.h - waits that were recorded as sums, as spans of the timeline.
 *
 * While recording costs too much the agent adds short waits up (cost=, agent/sums.h): their
 * number for a thread and a context, between two times, and their total time.  The time of each
 * is unknown, but they do not overlap each other and the thread's other waits.  So each sum
 * becomes a span of its length, in the order of time and where no other span is, and all that
 * adds times up is right as it is; what counts waits asks timeline_count.  The place of such a
 * span is right to the length of one sum (0.1 s); the thread that ended these waits is known, but
 * not how.
 *
 *     over all spans of a thread, count and ns are those of its waits
 *
 * A sum of one wait is that wait, at its time.  Waits in a look have their own place; sums are put
 * elsewhere, as far as they fit. */
#ifndef ORCA_ANALYZE_SUMMED_H
#define ORCA_ANALYZE_SUMMED_H

#include "analyze/timeline.h"

/* A stretch in which short waits were summed. */
struct summing {
    uint64_t from, to; /* to: as far as is known */
    uint64_t unparks;  /* left out */
    uint64_t below;    /* ns: of waits that are shorter */
    bool cut;          /* its end is not in the trace */
    bool pauses;       /* for a look, in which waits are recorded one by one */
    bool timed;        /* of parks one in several tells lock and stack, for all before it */
};

struct summed {
    struct buf sums;      /* struct summed_wait [] */
    struct buf stretches; /* struct summing [], in the order of time once summed_put was called */
    uint64_t waits, ns;   /* of sums of more than one wait */
    bool misfit;          /* some did not fit into their thread's time: a damaged file */
};

void summed_fini(struct summed *s);

/* Keep an event EV_wait_sum or EV_summing.  thread, owner, waker: indices into the thread set. */
void summed_take(struct summed *s, const struct event *e, uint32_t thread, uint32_t owner,
                 uint32_t waker);

/* When the latest of a thread's summed waits ended; 0: there is none.  Once summed_sort was
 * called. */
uint64_t summed_last(const struct summed *s, uint32_t thread);
void summed_sort(struct summed *s);

/* Put the spans, when all others are there.  from, to: the recording.  -ENOMEM. */
int summed_put(struct summed *s, struct timeline *t, uint64_t from, uint64_t to);

/* Whether a time lies in a stretch, and in no look: of the waits that began then only the long ones
 * are known one by one. */
bool summed_at(const struct summed *s, uint64_t time);

/* Where so much of the time of some waits was summed, those that are known one by one because they
 * were long say little of the others. */
static inline bool summed_is_much(uint64_t summed_ns, uint64_t ns)
{
    return summed_ns > ns / 10;
}

/* All waits that are shorter than this may have been summed, ns. */
uint64_t summed_below(const struct summed *s);

/* The ns of all stretches; whether the end of the last one is not in the trace. */
uint64_t summed_time(const struct summed *s);

/* Whether in some stretch locks and stacks of parks are estimates. */
bool summed_is_timed(const struct summed *s);
bool summed_is_cut(const struct summed *s);

#endif

/* oracle.h - what the analysis of a simulated program must find, worked out from the definitions in
 * the headers of src/analyze by looking at everything again and again; nothing of src/analyze is
 * used for it.
 *
 * What the simulator knows is taken from it.  Who owned a monitor before somebody got it is known
 * to the analysis by evidence only (bind.h), so the oracle weighs the same evidence; with the group
 * holds the result must be the truth.
 *
 * A wake by a thread that is 0 is none. */
#ifndef ORCA_TESTS_ORACLE_H
#define ORCA_TESTS_ORACLE_H

#include "analyze/bind.h"
#include "analyze/path.h"
#include "sim.h"

struct wake {
    uint32_t thread;
    uint64_t time; /* of the act; of a monitor: when it is taken to have been given back */
    bool exact;    /* the act, the wait or the hold is recorded by which it woke */
    stack_id stack;
    enum interaction kind;
};

/* Somebody owned a monitor then; gone: gave it back. */
struct evidence {
    uint64_t time;
    uint32_t thread, lock;
    bool gone;
    bool claim; /* its wait is over, which it says before it has the monitor again */
    stack_id stack;
};

struct oracle {
    const struct sim *s;
    struct wake *wakes, *regains; /* [sim_n_spans]; regains: of a notified Object.wait, from whom it
                                   * got the monitor */
    struct buf evidence;          /* struct evidence [], by lock, then by time */
    bool exceptions;              /* there are InterruptedExceptions in the recording */
};

void oracle_init(struct oracle *o, const struct sim *s);
void oracle_fini(struct oracle *o);

/* A thread's life in the recording. */
struct life {
    uint64_t from, to;
};
struct life oracle_life(const struct sim *s, uint32_t thread);

/* What a thread was in at a moment, as far as the recording tells: enum wait_state, STATE_LIMIT:
 * it ran; a moment belongs to what begins at it. */
unsigned oracle_state(const struct oracle *o, uint32_t thread, uint64_t time);

/* Until when an Object.wait waited for its notify; its end where it was not notified. */
uint64_t oracle_waited_until(const struct oracle *o, size_t span);

/* Whether it has two ends. */
static inline bool has_length(const struct true_span *x)
{
    return !(x->flags & INTERVAL_REACQUIRED);
}

/* A part of a path.  Of a run that gave a monitor to the path's next thread: `lock`, and since when
 * that thread waited for it; seen: it saw then that the runner owned it. */
struct true_segment {
    struct path_segment g;
    uint64_t wanted;
    bool seen;
};

/* The path to a thread and a time, from its end to its beginning; collections are runs. */
void oracle_path(const struct oracle *o, uint32_t thread, uint64_t to, uint64_t from,
                 struct buf *segments, uint64_t *begin);

/* Whether a thread truly owned a monitor at a moment, both ends of its time included. */
bool oracle_owned(const struct sim *s, uint32_t thread, uint32_t lock, uint64_t time);

#endif

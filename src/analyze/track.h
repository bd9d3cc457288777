/* track.h - one thread's open waits: its events in the order of time, paired into intervals.
 *
 * What is open is a short stack, outermost first, because waits nest: a join waits, a wait
 * re-acquires its monitor.  A thread that waits does nothing else, so an event that cannot happen
 * inside the innermost open wait proves that this wait's end is missing: it is handed out as
 * INTERVAL_UNKNOWN, never with an invented end, and the thread is marked incomplete.
 *
 * Pure: no trace, no file.  Everything is in ns of CLOCK_MONOTONIC. */
#ifndef ORCA_ANALYZE_TRACK_H
#define ORCA_ANALYZE_TRACK_H

#include "analyze/gaps.h"
#include "analyze/interval.h"
#include "analyze/unknown.h"

#include <stdbool.h>

enum op_action {
    OP_OPEN,  /* a wait begins */
    OP_FOUND, /* a wait was under way when the recording began */
    OP_CLOSE, /* a wait ends */
    OP_BREAK, /* events of this thread are missing just before */
    OP_END,   /* the thread ends */
    OP_PEER,  /* the park that has just begun is for input or output: object is at the other end */
    OP_OWNER, /* what the owner of the lock executes, which the thread has begun to wait for */
    OP_NONE,  /* the thread has a wait_open that track_finish will want to know of */
};

/* What pairing needs of an event: small, because those of virtual threads are collected and
 * sorted. */
struct op {
    uint64_t time;
    uint32_t thread; /* index into struct thread_set */
    uint32_t object; /* what must be the same at both ends: lock id; JOINING: target's thread id */
    uint32_t other;  /* as in struct interval */
    uint32_t stack;
    uint8_t action, state, flags; /* INTERVAL_TIMED of an OPEN, INTERVAL_TIMED_OUT of a CLOSE */
};

enum { TRACK_DEPTH = 3 }; /* joining, waiting or parked, blocked: see may_contain in track.c */

struct track_wait {
    uint64_t start, inner;   /* inner: ns of closed waits nested in this one */
    uint64_t first, resumed; /* a park in which its thread blocked: since when, and until when */
    uint32_t object, other, stack, owner_stack;
    uint32_t peer; /* of a park for input or output: in place of the object; 0: it is none */
    uint32_t nested, later; /* waits inside that were handed out; those after `resumed` */
    uint8_t state, flags;
    bool again;    /* blocked: on the monitor of the Object.wait that it comes from */
    bool absorbed; /* part of the join or sleep around it: paired, not handed out */
    bool found;    /* OP_FOUND, and not seen since: it may be over, unseen, before events came */
};

struct track {
    uint64_t last;  /* time of the latest event */
    uint64_t known; /* nothing of it is missing up to then; 0: to the end */
    uint32_t thread;
    uint8_t depth;
    bool roams; /* from stream to stream, as virtual threads do */
    bool ended;
    bool incomplete; /* something of this thread is missing or contradicts itself */
    struct track_wait wait[TRACK_DEPTH];
    struct { /* the latest Object.wait that is over */
        uint64_t end;
        uint32_t object, stack;
    } waited;
};

struct track_env {
    struct intervals *out;
    struct gaps *gaps;        /* of the thread's stream; for a thread that roams, of all, merged */
    struct unknowns *unknown; /* where it is not known what a thread did */
    bool ends_first; /* the JVM posts a wait's end before the thread has the monitor again */
};

void track_init(struct track *tr, uint32_t thread, bool roams);
void track_apply(struct track *tr, const struct op *op, const struct track_env *env);

/* A wait that the recorder says was going on at `at`, since op->time: opens it unless its beginning
 * was seen.  Call in the order of op->time and `at`, after every op. */
void track_still_open(struct track *tr, const struct op *op, uint64_t at,
                      const struct track_env *env);

/* The thread's stream has a gap behind `time`: waits open since then or earlier are given up. */
void track_gap(struct track *tr, uint64_t time, const struct track_env *env);

/* Hand out what is still open as INTERVAL_OPEN ones that end at `end`, or where the thread's events
 * are no longer known. */
void track_finish(struct track *tr, uint64_t end, const struct track_env *env);

#endif

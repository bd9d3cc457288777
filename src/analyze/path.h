/* path.h - the critical path: the chain of runs and hand-offs, from thread to thread, that decided
 * when something was done.
 *
 * Walked backwards from a thread and a time: while the thread ran, the path is in it; where it had
 * waited, the path continues in the thread that ended the wait, at that time; where a thread
 * begins, in the one that started it.  A thread that is in the middle of a wait at the path's end
 * waits for the one that will end it.  The segments tile the time from path.from to path.to
 * exactly, and in each of them the thread lived, or was being started.
 *
 * Iterative, each step goes to an earlier time (or, of one time, to another thread, at most once
 * around), O(steps * log(spans of a thread)).  After the backward walk of Trace Compass and
 * Perfetto (docs/concepts/analysis.md), with monitors, whose release is not recorded: the owner
 * released the monitor when the waiter got it, or where the owner began to wait itself, or ended,
 * before that.
 *
 * Its limits are in path_limits: print them wherever a path is shown. */
#ifndef ORCA_ANALYZE_PATH_H
#define ORCA_ANALYZE_PATH_H

#include "analyze/decode.h"
#include "analyze/halts.h"

enum path_kind {
    PATH_RUN,     /* the thread ran, or did something that is not recorded */
    PATH_HANDOFF, /* it had been woken, or given the lock, or started, and did not run yet; or had
                   * no need to wait (a permit) */
    PATH_TIMED,   /* it waited for time to pass: sleep, or a wait that timed out */
    PATH_WAIT,    /* it waited, for an unknown thread */
    PATH_GC,      /* it was paused for the collector */
    PATH_UNKNOWN, /* what it did is not known */
    PATH_IO,      /* it was in input or output (still.h) */
    PATH_READY,   /* it waited for a processor */
    PATH_STOPPED, /* the JVM stopped it, for no collection */
    PATH_OFF,     /* it was on no processor, for a cause that is not recorded */
    PATH_KINDS
};

/* "run", "handoff", "timed", "wait", "gc", "unknown", "io", "ready", "stopped", "off" */
const char *path_kind_name(enum path_kind k);

struct path_segment {
    uint64_t from, to; /* ns of CLOCK_MONOTONIC */
    uint32_t thread;
    uint8_t kind;
    bool seen;      /* the path came to the thread as to the last owner seen (bind.h): until it left
                     * that again it may have been elsewhere */
    uint8_t state;  /* HANDOFF, TIMED, WAIT, UNKNOWN: enum wait_state; else STATE_LIMIT */
    lock_id lock;   /* no wait: the one that it held and the path's next thread waited for; else
                     * what the wait was for; 0: none, or unknown */
    stack_id stack; /* RUN: where the thread was at the end of it; else where it waited; 0:
                     * unknown */
    lock_id peer;   /* IO, recorded: what is at the other end; 0: unknown */
};

struct path {
    struct path_segment *v; /* in the order of time */
    size_t n;
    uint64_t from, to;
    uint32_t thread; /* whose end, or moment, it leads to */
    uint64_t kind_ns[PATH_KINDS];
    uint64_t seen_ns;                 /* of the segments that are `seen` */
    uint32_t handoffs, handoffs_seen; /* by which it went from a taker of a monitor to who gave it:
                                       * all; those of the last owner seen */
};

/* What a path is walked over. */
struct path_source {
    const struct timeline *timeline;
    const struct thread_set *threads;
    const struct purposes *purposes;
    const struct stills *halts;
    const struct processors *processors;
    const struct pause *pauses; /* of the collector, by start; may be NULL */
    size_t n_pauses;
};

/* The path to `thread` at the time `to`, not farther back than `from`.  out->v is freed by
 * path_fini.  -ENOMEM. */
int path_walk(struct path *out, const struct path_source *src, uint32_t thread, uint64_t to,
              uint64_t from);
void path_fini(struct path *p);

/* The thread that the program's end waited for: the last one to end that is neither a daemon nor
 * virtual nor the JVM's; 0: such a thread still lives at the end of the recording, or none ever
 * ended. */
uint32_t path_last_thread(const struct trace *t, const struct thread_set *threads);

/* When the waker of a span gave a monitor back that somebody got at `time` after waiting since
 * `since`, where that is not recorded: before it waited itself, or was in a call or otherwise off
 * its processor, and before its end; 0: not in that time. */
uint64_t path_released_at(const struct timeline *t, const struct thread_set *threads,
                          const struct stills *halts, const struct span *by, uint64_t since,
                          uint64_t time);

/* Sentences to be printed with every path, NULL behind the last; summed: of a recording in which
 * short waits were. */
const char *const *path_limits(bool summed);

#endif

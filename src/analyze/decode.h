/* decode.h - from the streams of a trace to intervals.
 *
 * Nothing here needs the events of different streams in the order of time.  A platform thread's
 * events are in one stream and in order, so its waits are paired on the fly, in a track that is
 * kept by thread. A virtual thread moves from carrier to carrier: its events are collected from
 * every stream, sorted by time, and paired at the end; threads without a definition are treated the
 * same way, since they may be virtual.  So the trace is read block by block, each chunk unpacked
 * once. */
#ifndef ORCA_ANALYZE_DECODE_H
#define ORCA_ANALYZE_DECODE_H

#include "analyze/allocs.h"
#include "analyze/carry.h"
#include "analyze/collections.h"
#include "analyze/interval.h"
#include "analyze/pins.h"
#include "analyze/processors.h"
#include "analyze/safepoints.h"
#include "analyze/samples.h"
#include "analyze/summed.h"
#include "analyze/timeline.h"
#include "analyze/unknown.h"

/* A wait that was going on when the recording ended. */
struct open_wait {
    uint32_t thread, other; /* as in struct interval */
    uint8_t state;
    lock_id lock;
    stack_id stack;
    uint64_t since; /* may be before the recording's window */
};

/* Who owned a monitor that a thread waited for, asked while it did. */
struct asked_owner {
    uint64_t time;
    uint32_t lock, owner; /* owner: index into struct thread_set */
};

/* A call of input or output that is recorded. */
struct io_wait {
    uint64_t from, to;
    uint32_t thread;    /* as in struct interval */
    uint32_t what : 31; /* enum io_kind */
    uint32_t open : 1;  /* it had not returned when a look ended about then: `to` is not exact */
    lock_id peer;       /* 0: unknown, or several */
    stack_id stack;
};

/* A stretch in which the file could not be written. */
struct unwritten {
    uint64_t from, to;
    uint64_t lost, first_lost; /* events that are missing for it; from when on: `to` when none is */
    uint32_t chunk;            /* that reports it: waits during it are in the events before */
};

struct decoded {
    uint64_t events;           /* read */
    uint64_t kinds[EV_LIMIT];  /* of them, by kind */
    uint64_t owner_gone;       /* contended enters whose monitor was free again */
    uint64_t nameless;         /* events of waits by a thread that could not be named: not paired */
    uint64_t lost[LOSS_LIMIT]; /* events lost, by cause, as the `lost` events say */
    struct buf pauses;         /* struct pause [] */
    struct buf cycles;         /* struct cycle [], of collectors */
    struct buf safepoints;     /* struct safepoint [] */
    struct buf open;           /* struct open_wait [], by thread */
    struct buf asked;          /* struct asked_owner [] */
    struct buf io;             /* struct io_wait [], of each stream in the order of time */
    struct buf reads;          /* struct io_wait [], likewise: from a read to who was woken then */
    struct buf unwritten;      /* struct unwritten [], in the order of time */
    struct buf carried;        /* struct carried []: of the end, for who goes on from there */
    struct pins pins;
    struct unknowns unknown;
    struct summed summed; /* its stretches are left */
};

void decoded_fini(struct decoded *d);

struct decode_window {
    uint64_t from, to; /* the times between which the trace has events */
};

/* For who wants to show that something happens: called now and then, with what is done of all.
 * `phase` is a static string. */
struct analysis_watch {
    void (*progress)(void *ctx, const char *phase, uint64_t done, uint64_t total);
    void *ctx;
};

/* Where it goes. */
struct decode_target {
    struct thread_set *threads;    /* made by thread_set_init; gets starts, ends, losses and who is
                                    * incomplete */
    struct timeline *timeline;     /* made by timeline_init; finished here */
    struct samples *samples;       /* made by samples_init; finished here */
    struct processors *processors; /* made by processors_init; finished here */
    struct allocs *allocs;         /* made by allocs_init; finished here */
    const struct carry *carry;     /* of the window's beginning; NULL: none */
    const struct analysis_watch *watch; /* may be NULL */
};

/* What is known of the collector, as lists of `d`. */
struct collection_source decoded_collections(const struct decoded *d, const struct trace *t);

/* Decode everything.  Errors: -ENOMEM. */
int decode_trace(struct decoded *out, struct trace *t, const struct decode_target *to,
                 const struct decode_window *window, struct err *err);

#endif

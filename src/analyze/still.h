/* still.h - who waits in input or output, or in other native code, in no recorded wait: an
 * event loop in its select, an acceptor, who reads a socket, a pipe or a file.
 *
 * By records of such calls (group io), which say exactly from when to when, and by looks (samples
 * of the wall clock) where there are none: a look that finds a thread on no processor, and not
 * waiting for one, in a native method stands for the time up to it (its weight), as far as the
 * thread was in no recorded wait, and was not found elsewhere, in that time.  A look into a recorded
 * call or page fault says nothing more, and none reaches back behind one.  Where no look says so, a
 * thread that is in no wait runs, as far as anybody knows.
 *
 *     a thread's life = its waits + what is not known + still + running */
#ifndef ORCA_ANALYZE_STILL_H
#define ORCA_ANALYZE_STILL_H

#include "analyze/decode.h"
#include "analyze/thread_set.h"
#include "analyze/timeline.h"

struct still {
    uint64_t from, to; /* ns of CLOCK_MONOTONIC */
    stack_id stack;    /* of the last look, or of the call */
    uint32_t looks;    /* that say so; 0: it is recorded */
    lock_id peer;      /* recorded: what is at the other end; 0: unknown, or several */
    uint8_t what;      /* the same: enum io_kind; of halts.h also others */
    bool fault;        /* off the processor: a page was read from a file or from swap */
    bool asked; /* recorded input, from a peer that is not a client: the thread also writes to it */
};

struct still_line {
    struct still *v; /* in the order of time, apart from each other and from the spans */
    uint32_t n;
    uint64_t found, looked; /* ns that looks stand for: that found it still; all */
};

struct stills {
    struct still_line *lines; /* [n_lines], by index into struct thread_set; the arena's */
    size_t n_lines, n;        /* n: of all lines */
};

struct processors; /* processors.h */

struct still_source {
    const struct trace *trace;
    const struct timeline *timeline;
    const struct thread_set *threads;
    const struct samples *samples;
    const struct processors *processors; /* their turns; not explained yet */
    struct buf *io;                      /* struct io_wait []: gets sorted */
};
/* -ENOMEM. */
int stills_make(struct stills *out, const struct still_source *src, struct arena *a);

/* Those of a thread; none where there are none. */
const struct still_line *stills_of(const struct stills *s, uint32_t thread);

/* The index of the first that ends behind a time. */
uint32_t still_first(const struct still_line *l, uint64_t time);

/* How many touch a stretch of time: *first and those behind it. */
uint32_t still_touching(const struct still_line *l, uint64_t from, uint64_t to, uint32_t *first);

/* ns of a thread's in a stretch of time, and how many looks say so. */
uint64_t stills_between(const struct stills *s, uint32_t thread, uint64_t from, uint64_t to,
                        uint64_t *looks);

#endif

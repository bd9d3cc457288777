/* reads.h - what a thread had read before it woke another one: whose answer it passes on.
 *
 * Event io_read says it at the time of the waking; it counts where the thread was in no wait
 * between reading and waking, and lived already: what a virtual thread reads is noted for its
 * carrier.  Who had waited for the end of a child process last passes that on. */
#ifndef ORCA_ANALYZE_READS_H
#define ORCA_ANALYZE_READS_H

#include "analyze/decode.h"
#include "analyze/thread_set.h"
#include "analyze/timeline.h"

struct reads {
    const struct io_wait *v, *calls; /* by thread, and by the end */
    size_t n, n_calls;
};

/* reads, io: of struct decoded; get sorted, and have to stay. */
void reads_make(struct reads *out, struct buf *reads, struct buf *io);

/* The call in which the thread has read last from a connection, and since its last wait, or waited
 * for the end of a child process; NULL: none. */
const struct io_wait *reads_before(const struct reads *r, const struct timeline *tl,
                                   const struct thread_set *threads, uint32_t thread,
                                   uint64_t time);

/* The last call of its thread that had blocked by its end; NULL: none. */
const struct io_wait *reads_blocked(const struct reads *r, const struct io_wait *read);

#endif

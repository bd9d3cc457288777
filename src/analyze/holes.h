/* holes.h - unreadable chunks of a trace, and what is unknown because of them.
 *
 * The threads of its events are unknown; for a stream that continues after it, the positions of its
 * blocks show the gap (gaps.h).  A stream that does not may have ended, or done nothing, or
 * continued in the hole: from its beginning on nothing is known of it.  The same holds for the end
 * of a trace that was truncated, or whose recording was killed and is not recovered.
 *
 * Events that were lost while the disk was full are similar: a stream that continues has a note of
 * them; whether another one lost any is unknown.
 *
 * How old the missing events can be: the recorder empties rings that fill up all the time, and
 * every two seconds each ring, in one pass.  A block of few bytes comes from such a pass.  So
 * events from before the last pass but one are there, and no missing event is much older than two
 * seconds. */
#ifndef ORCA_ANALYZE_HOLES_H
#define ORCA_ANALYZE_HOLES_H

#include "analyze/gaps.h"

struct hole {
    uint64_t place;    /* in the file, in the order of writing; UINT64_MAX: behind its end */
    uint64_t from, to; /* what is missing lies between these moments; to: UINT64_MAX at the end */
};

struct holes {
    struct hole *v; /* [n], by place */
    size_t n;
    uint64_t tail; /* the trace's end is missing, from then on; 0: it is there */
};

/* After the last event was read: some are met only then.  unwritten: struct unwritten [].
 * -ENOMEM. */
int holes_find(struct holes *h, const struct trace *t, const struct buf *unwritten);
void holes_fini(struct holes *h);

/* Up to when everything of a stream is known; 0: to the end of the recording. */
uint64_t holes_known_until(const struct holes *h, const struct trace *t, size_t stream);

/* Add all holes: events of a thread that roams may have been in each. */
void holes_in_all(const struct holes *h, struct gaps *gaps);

/* The last moment that a trace tells something of: when it was cut that is before its end. */
uint64_t holes_last_moment(const struct trace *t);

#endif

/* call_waits.h - the waits in calls of which only the call is recorded.
 *
 * A method of a method table that blocks (docs/reference/method-tables.md) blocks its thread as
 * long as it lasts: what the thread waits for is what the call is about.  That time is a span
 * PARKED with the mode CONTEXT_OF_CALL, without what is known to have happened inside: other waits,
 * stretches of which nothing is known.  The outermost such call counts, as in the text formats.
 *
 * Methods of java.util.concurrent park, which is an event of its own: their calls are waits only
 * where parks are not recorded, as in a text log. */
#ifndef ORCA_ANALYZE_CALL_WAITS_H
#define ORCA_ANALYZE_CALL_WAITS_H

#include "analyze/calls.h"
#include "base/buf.h"

enum {
    CALL_WAIT_LEAST_NS = 10000, /* shorter than a park and an unpark take: it did not wait */
};

/* Put them into the timeline, after calls_make; those that go on at the end are appended to `open`
 * (struct open_wait []), which stays by thread.  Numbers of spans change.  -ENOMEM. */
int call_waits_put(struct timeline *t, const struct trace *trace, const struct calls *calls,
                   const struct thread_set *threads, struct buf *open);

#endif

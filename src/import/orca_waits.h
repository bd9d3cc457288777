/* orca_waits.h - the waits in calls that a text event log has as calls only.
 *
 * A thread in Semaphore.acquire, or in a blocking method of a method table, waits for what the call
 * is about.  The recorder sees such a wait as a park inside the call; the text has the call alone,
 * so the trace of it gets the park: from the call's beginning to its end, without the contention
 * inside it. */
#ifndef ORCA_IMPORT_ORCA_WAITS_H
#define ORCA_IMPORT_ORCA_WAITS_H

#include "format/call_table.h"
#include "import/intake.h"

struct orca_wait;

struct orca_waits {
    struct orca_wait *threads; /* [cap], by id */
    size_t cap;
};

/* Before and after the intake takes an event; row: of the event's call, NULL: it is none.  Errors:
 * as of intake_event. */
int orca_waits_before(struct orca_waits *w, struct intake *in, const struct event *e,
                      struct err *err);
int orca_waits_after(struct orca_waits *w, struct intake *in, const struct event *e,
                     const struct call_row *row, struct err *err);

void orca_waits_fini(struct orca_waits *w);

#endif

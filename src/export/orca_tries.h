/* orca_tries.h - calls of Semaphore.tryAcquire that got no permit.
 *
 * The text formats know one thing that ends an acquire: the permit is there.  A try that came to
 * nothing is not an acquire, which shows only at its end; so they are looked for before the first
 * line is written.  Calls are known by their number: how many semaphore_acquire_enter came before,
 * in the order in which an export sees the events. */
#ifndef ORCA_EXPORT_ORCA_TRIES_H
#define ORCA_EXPORT_ORCA_TRIES_H

#include "base/buf.h"
#include "format/trace.h"

struct orca_tries {
    struct buf failed; /* uint64_t []: bits by number */
    uint64_t next;     /* number of the next semaphore_acquire_enter */
};

/* Costs a reading of the trace when a method of it is called tryAcquire, else nothing. */
int orca_tries_find(struct orca_tries *x, struct trace *t, struct err *err);
void orca_tries_fini(struct orca_tries *x);

/* Whether the next semaphore_acquire_enter is such a call.  To be asked of each, in order. */
bool orca_tries_take(struct orca_tries *x);

#endif

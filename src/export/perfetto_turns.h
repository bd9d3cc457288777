/* perfetto_turns.h - waits that turn into others: at its notify a thread in Object.wait begins to
 * reacquire the monitor, for which there is no event.
 *
 * A binary heap: the earliest turn is first.  It has as many as threads wait at a moment. */
#ifndef ORCA_EXPORT_PERFETTO_TURNS_H
#define ORCA_EXPORT_PERFETTO_TURNS_H

#include "base/buf.h"

#include <stdbool.h>

struct turn {
    uint64_t time;
    uint32_t thread, span;
};

/* v: struct turn []; v->oom when memory is out. */
void turns_push(struct buf *v, struct turn t);

/* Take the earliest, if it is not later than `until`. */
bool turns_pop(struct buf *v, uint64_t until, struct turn *out);

#endif

/* pins.h - virtual threads that parked on their carrier (the event pinned), and those that could go
 * on and had no carrier.
 *
 * A virtual thread that was unparked is ready from then on, and runs when a carrier takes it: its
 * park ends then.  One that is pinned has its carrier all the time. */
#ifndef ORCA_ANALYZE_PINS_H
#define ORCA_ANALYZE_PINS_H

#include "analyze/thread_set.h"
#include "analyze/timeline.h"

struct pin {
    uint64_t time;
    uint32_t thread, carrier; /* indices into struct thread_set; carrier 0: unknown */
    uint32_t frame; /* as in the event: 1 + the number in its stack of the frame with the monitor */
    stack_id stack;
    lock_id lock;
};

struct pins {
    struct buf v;    /* struct pin [], by thread and time */
    struct buf kept; /* uint64_t [], by index of a carrier */
};

/* After the last one. */
void pins_sort(struct pins *p);

void pins_fini(struct pins *p);

/* Once the waits are there.  -ENOMEM. */
int pins_finish(struct pins *p, const struct timeline *tl);

/* For how long a carrier was parked by who was pinned. */
uint64_t pins_of_carrier(const struct pins *p, uint32_t carrier);

/* The first one of a thread between two times; NULL: none. */
const struct pin *pins_find(const struct pins *p, uint32_t thread, uint64_t from, uint64_t to);

/* From when on a virtual thread could go on from a park, and had no carrier until the span's end;
 * the end where that is not known, or it had one.  Of other spans the end. */
uint64_t pins_ready_since(const struct pins *p, const struct timeline *tl,
                          const struct thread_set *threads, uint32_t thread, const struct span *s);

/* How long it was so for a thread in [from, to). */
uint64_t pins_ready_ns(const struct pins *p, const struct timeline *tl,
                       const struct thread_set *threads, uint32_t thread, uint64_t from,
                       uint64_t to);

#endif

/* carry.h - what the threads were in at a moment. The analysis of the part of a recording that
 * begins there needs it, because the events lie before.
 *
 * A recording that goes on is looked at again and again, each time its last seconds only
 * (trace_keep_part).  Each analysis leaves a carry for those of later parts. */
#ifndef ORCA_ANALYZE_CARRY_H
#define ORCA_ANALYZE_CARRY_H

#include "base/buf.h"
#include "format/event.h"

enum carried_how {
    CARRIED_WAIT,   /* its end will be recorded */
    CARRIED_PARK,   /* found at the beginning of the recording; only who unparks it is recorded */
    CARRIED_FOUND,  /* found then; it may be over, without an event */
    CARRIED_TO_END, /* the JVM says at the end of the part that it is in it */
};

struct carried {
    thread_id thread, other; /* other: as in struct interval */
    uint32_t object;         /* as in struct op */
    stack_id stack;
    uint64_t since;     /* its true beginning */
    thread_id notifier; /* of an Object.wait that had been notified by then; 0: none */
    uint64_t notified;  /* when */
    uint8_t state, flags, how;
};

struct carry {
    uint64_t at;
    struct buf waits;       /* struct carried [] */
    struct buf alive, gone; /* thread_id []: who lived then; who had ended */
};

static inline void carry_fini(struct carry *c)
{
    buf_fini(&c->waits);
    buf_fini(&c->alive);
    buf_fini(&c->gone);
}

#endif

/* waits.h - the waits of a recording as the exports count them: those of a selection, cut to it.
 *
 * An Object.wait whose notify is known is two waits: WAITING until then, REACQUIRING its monitor
 * from then on.  So counts and times by state are those of the report (analyze/stats.h). */
#ifndef ORCA_EXPORT_WAITS_H
#define ORCA_EXPORT_WAITS_H

#include "analyze/analysis.h"

/* What a user chooses from: the bits 1 << enum wait_state, one more, and those of halts.h. */
enum {
    WAITS_LOCKED = WAIT_STATES, /* parked, and HELD_UP (purpose.h); a part of parked */
    WAITS_HALTED,               /* and on: + enum halt; in no wait, and not running */
    WAITS_CHOICES = WAITS_HALTED + HALTED_KINDS,
};

/* [WAITS_CHOICES], by bit: "blocked", ...; for option tables, ends with NULL. */
extern const char *const waits_names[WAITS_CHOICES + 1];

/* Blocked by another thread, not idle. */
#define WAITS_HELD_UP                                                                              \
    (UINT64_C(1) << STATE_BLOCKED | UINT64_C(1) << STATE_REACQUIRING |                             \
     UINT64_C(1) << STATE_JOINING | UINT64_C(1) << WAITS_LOCKED)
#define WAITS_ALL ((UINT64_C(1) << WAITS_CHOICES) - 1)
#define WAITS_ALL_HALTED (WAITS_ALL >> WAITS_HALTED << WAITS_HALTED)

struct waits {
    const struct analysis *a;
    struct selection selection; /* borrows its threads */
    uint64_t states;            /* bits as above */
};

struct wait {
    const struct span *span;
    const struct context *context;
    uint64_t start, end; /* cut to the selection */
    uint32_t owner;      /* as in struct wait_part */
    uint8_t state;       /* enum wait_state */
    bool second;         /* the part of the span behind its notify */
};

void waits_init(struct waits *w, const struct analysis *a, const struct selection *selection,
                uint64_t states);

/* Whether the thread is HELD_UP in it. */
static inline bool wait_is_held_up(const struct waits *w, const struct wait *x)
{
    return purposes_held_up(&w->a->purposes, x->span->context, x->state);
}

/* The waits of a span of a selected thread: at most two. */
unsigned waits_of(const struct waits *w, const struct span *s, struct wait out[2]);

/* Its time limit ended it: of Object.wait the JVM says so; of a join or park no thread is known to
 * have. */
static inline bool wait_timed_out(const struct timeline *t, const struct wait *w)
{
    unsigned flags = w->context->flags;
    bool limited = w->state == STATE_JOINING || w->state == STATE_PARKED;
    return flags & INTERVAL_TIMED_OUT || (limited && timeline_timed_out(t, w->span) &&
                                          !(flags & (INTERVAL_INTERRUPTED | INTERVAL_UNKNOWN)));
}

/* Of a wait no time is known: one of its ends is missing. */
static inline bool wait_is_unknown(const struct wait *w)
{
    return w->context->flags & INTERVAL_UNKNOWN;
}

#endif

/* purpose.h - the purpose of a wait: nothing that other threads have or do (idle), something that a
 * thread does for it (an answer), or something that others have (a lock, a permit, a slot).
 *
 * A thread that is blocked on a monitor, or reacquires one after a wait, is HELD_UP, and so is one
 * that parks for a resource or an answer.  The purpose of a park or an Object.wait follows from
 * what ended it (causes.h), stack by stack; its class and frames decide where that does not, and
 * alone for the JDK's locks, and for its pools between two tasks.  The common features of all waits
 * of one resource decide last (conclude/resource.h), before anything is added up: reports, JSON,
 * pictures and exports read `of_context`, and nothing else.  docs/concepts/analysis.md has the
 * rules in their order, and their limits. */
#ifndef ORCA_ANALYZE_PURPOSE_H
#define ORCA_ANALYZE_PURPOSE_H

#include "analyze/causes.h"
#include "analyze/lock_set.h"
#include "analyze/timeline.h"

enum purpose {
    PURPOSE_IDLE,   /* for work, for time to pass, for a condition: no thread surely blocks it */
    PURPOSE_LOCK,   /* for what one thread owns at a time */
    PURPOSE_PERMIT, /* for a permit or a slot, of which there are several */
    PURPOSE_ANSWER, /* for what others have to do first: a result, the last one at a barrier */
    PURPOSE_IO,     /* for input or output: a virtual thread parks until its socket is ready */
    PURPOSE_TIME,   /* for time to pass in a call of the program's, or until it looks again */
};

struct purposes {
    uint8_t *of_context; /* [contexts.n]: enum purpose of spans in the context's own state */
    uint8_t *known;      /* [contexts.n]: whether no cause can say otherwise */
    uint32_t *near;      /* [n_near], by thread: frames that are not the JDK's at its task loop */
    size_t n_near;
};

/* From classes and stacks alone.  Memory is the arena's.  -ENOMEM. */
int purposes_make(struct purposes *p, const struct trace *t, const struct lock_set *locks,
                  const struct contexts *c, struct arena *a);

/* Once it is known who ended which wait.  Memory is the arena's.  -ENOMEM. */
int purposes_settle(struct purposes *p, const struct trace *t, const struct timeline *timeline,
                    const struct causes *causes, struct arena *a);

/* The three things that a wait may be for; of a sleep, of input or output, and of time, none. */
enum wait_for { FOR_IDLE, FOR_ANSWER, FOR_RESOURCE, FOR_LIMIT };

static inline enum wait_for purposes_for(const struct purposes *p, uint32_t context, unsigned state)
{
    static const uint8_t of[] = {[PURPOSE_IDLE] = FOR_IDLE,       [PURPOSE_LOCK] = FOR_RESOURCE,
                                 [PURPOSE_PERMIT] = FOR_RESOURCE, [PURPOSE_ANSWER] = FOR_ANSWER,
                                 [PURPOSE_IO] = FOR_LIMIT,        [PURPOSE_TIME] = FOR_LIMIT};
    switch (state) {
    case STATE_BLOCKED:
    case STATE_REACQUIRING:
        return FOR_RESOURCE;
    case STATE_JOINING:
        return FOR_ANSWER;
    case STATE_WAITING:
    case STATE_PARKED:
        return of[p->of_context[context]];
    default:
        return FOR_LIMIT;
    }
}

/* Whether somebody has, or does, what spans of a context are for. */
static inline bool purposes_has_holder(const struct purposes *p, uint32_t context)
{
    enum wait_for what = purposes_for(p, context, STATE_PARKED);
    return what == FOR_RESOURCE || what == FOR_ANSWER;
}

/* Whether the thread of a context's spans is HELD_UP in this state. */
static inline bool purposes_held_up(const struct purposes *p, uint32_t context, unsigned state)
{
    return state != STATE_WAITING &&
           (state == STATE_REACQUIRING || purposes_has_holder(p, context));
}

/* What parking for an object of this class means wherever it is; PURPOSE_IDLE: that depends. */
enum purpose purpose_of_class(const char *signature);

/* Whether a stack waits for room in a queue, by the names of its methods. */
bool purpose_awaits_room(const struct trace *t, stack_id stack);

/* Of a stack that does: whether the thread of the second stack, which ended a wait for room in a queue, made none: it puts
 * something into that queue, too, or looks at it, and passed the queue's lock on. */
bool purpose_leaves_full(const struct trace *t, stack_id waits, stack_id wakes);

/* Whether a stack is in a call that puts something into a queue; or takes something out of one,
 * also one of the program's own, by its name. */
bool purpose_puts(const struct trace *t, stack_id stack);
bool purpose_takes(const struct trace *t, stack_id stack);

/* Whether a stack is in a task of a pool: of java.util.concurrent, or of a copy of it; or of another
 * one, whose worker, by its name, runs code of somebody else. */
bool purpose_is_in_task(const struct trace *t, stack_id stack);

static inline enum purpose purpose_of_group(const struct lock_set *l, uint32_t group)
{
    return purpose_of_class(l->groups[group].signature);
}

#endif

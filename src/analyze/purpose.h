/* purpose.h - what a thread that waits is waiting for: whether others hold it up, or it is idle.
 *
 * A lock is a lock: who is blocked on a monitor, takes one again after a wait, or parks for a lock,
 * a permit, a slot or an answer is held up.  A thread that waits for its next task is idle.  Which
 * a park is, its blocker's class says, or else the stack; of who takes from a queue, who gives: a
 * pool of things, whose takers give them back, holds them up, a queue of tasks does not.  An answer
 * that has not come when the recording ends may be none: a server's main thread waits for its end
 * so.  An Object.wait and a Condition of the program's own may be either: they are in no sum of
 * this. docs/analysis.md says the same to users. */
#ifndef ORCA_ANALYZE_PURPOSE_H
#define ORCA_ANALYZE_PURPOSE_H

#include "analyze/lock_set.h"
#include "analyze/timeline.h"

enum purpose {
    PURPOSE_IDLE,   /* for work, for time to pass, for a condition: nobody holds it up for sure */
    PURPOSE_LOCK,   /* for what one thread owns at a time */
    PURPOSE_PERMIT, /* for a permit or a slot, of which there are several */
    PURPOSE_ANSWER, /* for what others have to do first: a result, the last one at a barrier */
    PURPOSE_ITEM,   /* takes from a queue; one of the others once it is settled */
};

struct purposes {
    uint8_t *of_context; /* [contexts.n]: enum purpose of spans in the context's own state */
};

/* From classes and stacks alone.  Memory is the arena's.  -ENOMEM. */
int purposes_make(struct purposes *p, const struct trace *t, const struct lock_set *locks,
                  const struct contexts *c, struct arena *a);

/* Once it is known who ended which wait: settle what takes from queues.  -ENOMEM. */
int purposes_settle(struct purposes *p, const struct trace *t, const struct timeline *timeline);

/* Whether spans of a context hold their thread up while it is in this state. */
static inline bool purposes_held_up(const struct purposes *p, uint32_t context, unsigned state)
{
    return state == STATE_REACQUIRING || p->of_context[context] != PURPOSE_IDLE;
}

/* What parking for an object of this class means wherever it is; PURPOSE_IDLE: that depends. */
enum purpose purpose_of_class(const char *signature);

/* Whether a stack is in a call that puts something into a queue. */
bool purpose_puts(const struct trace *t, stack_id stack);

static inline enum purpose purpose_of_group(const struct lock_set *l, uint32_t group)
{
    return purpose_of_class(l->groups[group].signature);
}

#endif

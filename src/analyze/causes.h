/* causes.h - what is recorded of the waits at each place, for the decision what they are for
 * (purpose.h): a sink of a sweep, once the binder knows who ended them.
 *
 * An *activity* is what a thread does from one task to the next.  It begins with the thread, or
 * when somebody who was not asked ends a wait at the thread's task loop - the place, of those where
 * it waits, sleeps or is in input again and again, that the fewest calls of the program
 * lead to - and knows the activity that began it.  A wait was *asked* for when the activity that
 * ended it goes back to the one of the thread that waits, and began since that thread waited last,
 * or for another object.  Who takes the next request without a wait begins nothing for it: such an
 * activity has not asked, but who was given a task by the one that waits gives it none.
 *
 * Each wait that a thread ended counts as one of
 *     meets     the waker was in the very call that it woke one from: a barrier, an exchange
 *     back      the waker waits there, too, for the same object, or is of the same pool and in
 *               another method that the same one calls, or that is of the same class and the same
 *               task leads to: what it gives the next one takes
 *     asked     see above
 *     peer      the same of a waker that waits there, too, and is of the same pool, which may be
 *               chance: such threads hand tasks to each other
 *     returned  the waker waits there, too, for objects of its own: a queue of leases
 *     unasked   the others; where most are asked, not those ended by who had work all the time: a
 *               busy thread is asked without being woken
 *
 * Added up by the stack of the wait, and by its call: its two innermost frames that are not the
 * JDK's, and the JDK's method that these call. */
#ifndef ORCA_ANALYZE_CAUSES_H
#define ORCA_ANALYZE_CAUSES_H

#include "analyze/still.h"
#include "analyze/sweep.h"
#include "base/keyed.h"
#include "format/trace.h"

enum ended_by {
    ENDED_MEETS,
    ENDED_BACK,
    ENDED_ASKED,
    ENDED_ASKED_PEER,
    ENDED_RETURNED,
    ENDED_UNASKED,
    ENDED_LIMIT
};

struct cause_sums {
    uint64_t ended[ENDED_LIMIT];
    uint64_t waits, threads; /* of any end; threads that wait there */
    uint64_t fresh;          /* waits for an object that hardly anybody waited for otherwise */
    uint64_t near;           /* at the thread's task loop */
    uint64_t limit_near;     /* likewise, of those that their time limit ended */
    uint64_t pooled;         /* of the unasked: what another thread that waits there had begun; */
    uint64_t busy;           /* and by who had not waited for work since the wait began; */
    uint64_t relayed;        /* of the pooled: by who began that just before */
};

/* What a stack waits in. */
struct call {
    uint64_t at;         /* which call; 0: no frame that is not the JDK's */
    method_id inner;     /* its innermost method that is not the JDK's, */
    method_id caller;    /* the next one, */
    method_id jdk;       /* and the JDK's that it calls */
    uint32_t own;        /* frames that are not the JDK's */
    uint32_t sums;       /* of it: 1 + index into causes.of_call; 0: not asked for yet */
    bool read, in_locks; /* looked at; the JDK's method is a primitive of waiting */
};

struct causes {
    struct cause_sums *of_stack; /* [n_stacks] */
    struct keyed of_call;        /* struct call_sums */
    struct call *calls;          /* [n_stacks] */
    bool *asks;     /* [n_methods]: whether something was begun for another thread below it */
    bool *loops;    /* [n_methods]: whether it is at the root of all that some thread did */
    uint32_t *near; /* [n_threads]: frames that are not the JDK's at each thread's task loop */
    size_t n_stacks, n_methods, n_threads;
};

/* Whether a method is named after taking what comes next. */
bool causes_takes(const struct trace *t, method_id method);

/* How many frames of a stack are not the JDK's. */
uint32_t causes_own_frames(const struct trace *t, stack_id stack);

/* The innermost method that is not the JDK's; 0: none. */
method_id causes_inner(const struct trace *t, stack_id stack);

/* The method of the JDK's that it calls, of a queue as a rule; where that is a lock's, or none, the
 * same as causes_inner. */
method_id causes_called(const struct trace *t, stack_id stack);

/* What waits like those of a stack say: those with this stack, or of its call where they are
 * few. */
const struct cause_sums *causes_of(const struct causes *c, stack_id stack);

struct causer;

/* Of a context whether it is known what its waits are for, whoever ends them: */
enum { KNOWN_NOT, KNOWN, KNOWN_TASKS /* for tasks, as a pool's threads wait */ };

/* known: [contexts.n].  -ENOMEM. */
int causer_new(struct causer **out, const struct trace *t, const struct timeline *tl,
               const struct thread_set *threads, const struct stills *stills, size_t n_objects,
               const uint8_t *known);
void causer_free(struct causer *c);
struct sweep_sink causer_sink(struct causer *c);

/* After the sweep; *out is freed by causes_fini.  -ENOMEM. */
int causer_finish(struct causer *c, struct causes *out);
void causes_fini(struct causes *c);

#endif

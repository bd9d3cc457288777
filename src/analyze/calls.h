/* calls.h - the calls of tracked methods (groups locks and methods): when each began and ended, and
 * the tables of them by method and caller.
 *
 * A call's end is the next exit of its method that does not belong to a call inside it.  If events
 * may be missing between the two - a hole in the recording, an exception that skipped the exit -
 * the call counts, but its time is unknown. */
#ifndef ORCA_ANALYZE_CALLS_H
#define ORCA_ANALYZE_CALLS_H

#include "analyze/lock_set.h"
#include "analyze/selection.h"
#include "analyze/sites.h"
#include "analyze/thread_set.h"
#include "analyze/timeline.h"
#include "analyze/wait_stats.h"

enum {
    CALLED_FAILED = 1,  /* an exception left it, or it returned false */
    CALLED_OPEN = 2,    /* it went on when the recording ended; its end is that of its thread */
    CALLED_UNKNOWN = 4, /* one of its ends is not recorded: end == start */
    CALLED_MOMENT = 8,  /* of a method of which only the entry is recorded: end == start */
};

struct called {
    uint64_t start, end; /* ns of CLOCK_MONOTONIC */
    uint32_t context;    /* of the entry; of a call without one that of the exit */
    lock_id lock;        /* the object that it is about; 0: none, or not known */
    uint32_t flags;      /* CALLED_* */
    uint32_t act;        /* of the thread: the entry, or an exit without one */
};

struct call_line {
    struct called *v; /* in the order of their starts */
    uint32_t n;
};

struct calls {
    struct call_line *lines; /* [n_lines], by thread index */
    uint32_t n_lines;
    uint64_t n; /* in all */
};

/* After unknown stretches are put.  Memory is the arena's.  -ENOMEM. */
int calls_make(struct calls *out, const struct trace *t, const struct timeline *timeline,
               const struct thread_set *threads, struct arena *a);

/* --- tables ----------------------------------------------------------------------------------- */

struct call_sum {
    call_id call;
    bool jdk;                /* a method of the JDK's */
    struct wait_stats times; /* of those whose time is known */
    uint64_t failed;
    uint64_t waited;       /* ns of them in recorded waits */
    struct place top, app; /* of a caller */
    stack_id stack;        /* of a caller: one of its stacks */
    uint32_t last_thread;  /* whose call was added last; not to be shown */
};

struct call_tables {
    /* By method, and by method and caller.  Methods of the program first; then most time first,
     * then most calls. */
    struct call_sum *methods, *callers;
    size_t n_methods, n_callers;
};

struct call_source {
    const struct trace *trace;
    const struct timeline *timeline;
    const struct lock_set *locks;
    const struct calls *calls;
};

/* Those of a selection about objects of a class group or EVERY_CLASS.  Memory is the arena's.
 * -ENOMEM. */
int call_tables_make(struct call_tables *out, const struct call_source *from,
                     const struct selection *selection, uint32_t group, struct arena *a);

#endif

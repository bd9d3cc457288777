/* patience.h - waiting for a JVM: for how long, what ends it sooner, and a message to the user.
 *
 * The waiter checks the JVM at least every PATIENCE_STEP_NS: it does not wait for one that has
 * ended or is stopped, and after PATIENCE_SILENT_NS it informs the user once (struct jvm_asker). */
#ifndef ORCA_ATTACH_PATIENCE_H
#define ORCA_ATTACH_PATIENCE_H

#include "attach/jvm.h"

#define PATIENCE_STEP_NS UINT64_C(200000000)
#define PATIENCE_SILENT_NS UINT64_C(1000000000)

struct patience {
    const struct jvm *jvm;
    uint64_t limit, began, until; /* until: of CLOCK_MONOTONIC */
    bool told;
};

/* The limit of who asks, or this one. */
uint64_t patience_limit(const struct jvm *jvm, uint64_t limit_ns);

/* Begin to wait, for that long.  -EBUSY with a sentence: it is stopped. */
int patience_begin(struct patience *p, const struct jvm *jvm, uint64_t limit_ns, struct err *err);

/* When to look next. */
uint64_t patience_step(const struct patience *p);

/* Nothing has come.  0: wait on; -ETIMEDOUT without a sentence; -ESRCH, -EBUSY with one. */
int patience_look(struct patience *p, struct err *err);

/* Tell who asked, when it is time. */
void patience_tell(struct patience *p);

#endif

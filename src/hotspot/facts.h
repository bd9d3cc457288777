/* facts.h - the private facts of HotSpot on which Orca stands, and how each is verified.
 *
 * facts.def is the one list: every use of a fact of vmstructs.h has a row there.  It says where a
 * fact is verified, and what is off where it does not hold.  What can be seen on one thread at the
 * start is proved here, before anything else reads it; a fact that is refuted is from then on not
 * described, so that whoever needs it behaves as on a JVM that lacks it. */
#ifndef ORCA_HOTSPOT_FACTS_H
#define ORCA_HOTSPOT_FACTS_H

#include "hotspot/vmstructs.h"

/* The calling thread, as JNI knows it: in native code that the JVM has called, holding no monitor
 * of Java code. */
struct fact_self {
    uintptr_t java_thread;   /* its JavaThread */
    uint64_t java_tid;       /* Thread.getId() */
    const uintptr_t *itself; /* where the JVM keeps the address of its Thread object */
    int32_t version;         /* of Java */
    bool guarded;            /* guarded_open was called: pointers can be followed */
};

struct fact {
    const char *type, *field, *lost;
};

/* Looks at each fact that can be proved at the start; calls refuted() for those that do not hold.
 * After VMInit.  One thread at a time. */
void facts_prove(struct vmstructs *vs, const struct fact_self *self,
                 void (*refuted)(const struct fact *f));

#endif

/* walk_proof.h - whether the walker sees what JVMTI sees, before it is believed: a stack of Orca's
 * own methods, and what their frames, names and lines are made of. */
#ifndef ORCA_AGENT_WALK_PROOF_H
#define ORCA_AGENT_WALK_PROOF_H

#include "hotspot/walker.h"

#include <jvmti.h>

struct walk_proof {
    jvmtiEnv *jvmti;
    const struct walker *walker;
    uintptr_t java_thread;                 /* of the calling thread */
    uintptr_t (*method)(jmethodID method); /* HotSpot's Method; 0: not known */
};

/* In a native method that a Java method of a class of Orca's own has called.  False: it does
 * not. */
bool walk_proof_holds(const struct walk_proof *p);

#endif

/* thread_states.h - which numbers JavaThread::_thread_state has: the JVM says (JDK 28 gave its
 * states other ones).
 *
 * Each state has roles, and each role is asked for by one bit.  A state that this JVM does not
 * describe has none. */
#ifndef ORCA_HOTSPOT_THREAD_STATES_H
#define ORCA_HOTSPOT_THREAD_STATES_H

#include "hotspot/vmstructs.h"

enum thread_role {
    THREAD_FRESH,     /* has not run Java code yet */
    THREAD_WALKABLE,  /* its stack has frames that fit together */
    THREAD_IN_NATIVE, /* runs native code that is not the JVM's */
    THREAD_IN_JAVA,
    THREAD_BLOCKED, /* in a wait, a park, a sleep, at a monitor, at a safepoint */
    THREAD_ROLES
};

struct thread_states {
    uint32_t with[THREAD_ROLES]; /* sets of states; all empty: not known */
};

/* False: the states that are needed are not described, or two have one number.  *out is empty
 * then. */
bool thread_states_read(struct thread_states *out, const struct vmstructs *vs);

/* Signals: safe. */
static inline bool thread_state_is(const struct thread_states *s, enum thread_role role,
                                   uint32_t state)
{
    return state < 32 && s->with[role] >> state & 1;
}

#endif

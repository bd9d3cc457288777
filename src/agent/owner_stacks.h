/* owner_stacks.h - what a lock's owner executes while another thread is about to wait for it, as
 * events.
 *
 * How it is taken: hotspot/owner_walk.h.  How often: ownerstacks=. */
#ifndef ORCA_AGENT_OWNER_STACKS_H
#define ORCA_AGENT_OWNER_STACKS_H

#include "agent/ownable.h"
#include "agent/threads.h"
#include "hotspot/owner.h"

/* A recording begins: after stacks_start, before events of monitors are enabled.  Where it cannot
 * be done on this JVM, one line says so if it was asked for. */
void owner_stacks_start(JNIEnv *jni);

/* Whether one may be taken now: cheap. */
bool owner_stacks_due(void);

/* Ask the owner, and record what it says as the event owner_stack of thread `id`, whose wait's
 * beginning was the last event of this ring. */
struct owner_stack_job {
    struct os_thread *self;
    thread_id id, owner;
    lock_id lock;
    const struct owner_place *place; /* of the owner */
};

/* A monitor; oop as for owner_find.  In MonitorContendedEnter only. */
void owner_stacks_take_monitor(const struct owner_stack_job *job, const uintptr_t *oop);

/* A lock of java.util.concurrent, whose reference is held until this returns. */
void owner_stacks_take_ownable(const struct owner_stack_job *job, const struct ownable *lock);

/* What asking has cost the threads that asked, ns. */
uint64_t owner_stacks_cost(void);

/* The recording ends: say what there was, in the trace. */
void owner_stacks_report(void);

#endif

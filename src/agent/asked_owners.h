/* asked_owners.h - owners that were not known when a thread blocked on their monitor, asked again.
 *
 * While a monitor changes hands its owner is unknown, and in a wait that never ends it would stay
 * so.  A thread that blocks like this puts a word into a table, and removes it when it has the
 * monitor; the agent's own thread asks later, never the event's.  An answer is an event
 * (wait_owner) if the word is the same before and after: then the thread waited all that time.
 * Threads: any; no lock, no allocation. */
#ifndef ORCA_AGENT_ASKED_OWNERS_H
#define ORCA_AGENT_ASKED_OWNERS_H

#include "agent/threads.h"

/* A recording begins: no thread is there yet. */
void asked_owners_init(void);

/* The thread has begun to wait for a monitor of which it does not know the owner. */
void asked_owners_note(thread_id waiter, lock_id lock, uint64_t now);

/* It has it. */
void asked_owners_over(thread_id waiter);

/* Whether a thread has waited like this for long enough to be asked for; cheap, no JVM call. */
bool asked_owners_due(void);

/* Ask for those that are due; `all`: for all of them, the recording ends.  The JVM answers at a
 * safepoint each. */
void asked_owners_ask(JNIEnv *jni, bool all);

/* Groups were switched: ends may pass unseen. */
void asked_owners_forget(void);

#endif

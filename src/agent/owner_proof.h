/* owner_proof.h - the first owners of monitors that are read from the JVM's memory are compared
 * with what JVMTI says; where that is never the same, none is believed. */
#ifndef ORCA_AGENT_OWNER_PROOF_H
#define ORCA_AGENT_OWNER_PROOF_H

#include "agent/threads.h"

/* A recording begins.  owners: they can be read at all. */
void owner_proof_init(bool owners);

/* Whether an owner is still to be compared. */
bool owner_proof_due(void);

struct owner_proof {
    JNIEnv *jni;
    jvmtiEnv *jvmti;
    struct os_thread *self;
    jobject object; /* on whose monitor the calling thread is about to block */
    struct thread_table *table;
    thread_id (*platform)(JNIEnv *jni, jthread thread); /* {0}: it carries others, or is virtual */
    thread_id (*read)(JNIEnv *jni, struct os_thread *self, jobject object); /* the owner, again */
};

/* The owner as it was read, compared with JVMTI's answer: returns the one to record.  A platform
 * thread that carries no others: JVMTI waits until no virtual thread comes or goes. */
thread_id owner_proof(const struct owner_proof *p, thread_id owner);

#endif

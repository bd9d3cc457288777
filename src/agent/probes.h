/* probes.h - putting the probes of tracked.h into the classes of the JVM.
 *
 * Classes are rewritten by retransformation, always from their original bytes, so other agents'
 * changes stay.  While recording, the class-file hook stays enabled, or the next retransformation
 * by another agent would drop ours. */
#ifndef ORCA_AGENT_PROBES_H
#define ORCA_AGENT_PROBES_H

#include "agent/agent.h"

/* Ask for what rewriting needs; in Agent_OnLoad. */
void probes_want(jvmtiCapabilities *want);

/* Define java.lang.OrcaProbe and rewrite the classes that the groups in the settings need.  In
 * VMInit.  What cannot be done costs one line on stderr and its events. */
void probes_install(JNIEnv *jni);

/* The groups in the settings have changed. */
void probes_update(JNIEnv *jni);

/* What tracked_kept_wanted() says has changed.  Any Java thread; no exception may be pending. */
void probes_switch(JNIEnv *jni);

/* Put the original classes back: what other agents made of them stays. */
void probes_remove(JNIEnv *jni);

void JNICALL on_class_file(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined, jobject loader,
                           const char *name, jobject domain, jint len, const unsigned char *bytes,
                           jint *new_len, unsigned char **new_bytes);

#endif

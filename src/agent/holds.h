/* holds.h - the group `holds`: how long locks are held, contended or not.
 *
 * The program's code is rewritten where it takes and releases a monitor, and the locks of
 * java.util.concurrent where they are taken and released; java.lang.OrcaHolds keeps what the thread
 * holds, and reports recorded holds when they end. */
#ifndef ORCA_AGENT_HOLDS_H
#define ORCA_AGENT_HOLDS_H

#include "agent/agent.h"
#include "classfile/edit.h"

/* Define OrcaHolds; called by Java code (natives_from_java), before a class is rewritten.  False:
 * this JVM does not let us. */
bool holds_define(JNIEnv *jni);

/* The group was switched on, or the recording begins with it: one of holdsample= is recorded from
 * now on.  False: the JVM's clock is not ours; nothing may be rewritten. */
bool holds_start(JNIEnv *jni);

/* It was switched off: nobody follows the locks that threads hold from now on. */
void holds_stop(JNIEnv *jni);

/* Whether a class (internal name) of a loader (NULL: the boot loader) is one whose code is
 * rewritten. */
bool holds_wants_class(const char *name, bool boot);

/* The edits of one of its methods; returns how many, at most HOLDS_EDITS. */
enum { HOLDS_EDITS = 8 };
uint32_t holds_edits(const char *class, bool boot, const struct cf_method *m, struct cf_edit *e);

/* Rewrite the classes that are there and have to do with locks: by retransformation, some at a
 * time; to be called again when the group is off, to put them back. */
void holds_rewrite_loaded(JNIEnv *jni);

#endif

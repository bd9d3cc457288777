/* alloc_probes.h - counts every object by calls in the program's code: group alloc with
 * allocby=code.
 *
 * Object's constructor reports objects; a call after each newarray, anewarray and multianewarray
 * reports arrays, and so does one after calls that create an object without either: clone,
 * Array.newInstance, Unsafe.allocateInstance and methods that the compilers replace by their own code
 * (Arrays.copyOf).  Allocations of the JVM itself come from JVMTI's VMObjectAlloc.
 * The calls go to java.lang.OrcaHeap; docs/concepts/allocation.md lists what is missed.
 *
 * Like holds.h: a contributor to the class-file hook of probes.c. */
#ifndef ORCA_AGENT_ALLOC_PROBES_H
#define ORCA_AGENT_ALLOC_PROBES_H

#include "agent/agent.h"
#include "classfile/edit.h"

enum { ALLOC_EDITS = 12 }; /* of one method, at most */

/* Whether code of this class is to be looked at. */
bool alloc_wants_class(const char *name);

/* The edits of a method; returns how many. */
uint32_t alloc_edits(const char *class_, const struct cf_method *m, struct cf_edit *e);

/* Define OrcaHeap.  Inside natives_from_java.  False: this JVM does not let us. */
bool alloc_define(JNIEnv *jni);

/* Every object from now on; none from now on. */
bool alloc_start(JNIEnv *jni);
void alloc_stop(JNIEnv *jni);

/* Classes that are there already go through the hook. */
void alloc_rewrite_loaded(JNIEnv *jni);

#endif

/* alloc_probes.h - every object by calls in the program's code: group alloc with allocby=code.
 *
 * Object's constructor tells of objects; behind each newarray, anewarray, multianewarray a call
 * tells of arrays, and behind calls that make an object without either: clone, Array.newInstance,
 * Unsafe.allocateInstance and what the compilers replace by code of their own (Arrays.copyOf).
 * What the JVM itself allocates comes by JVMTI's VMObjectAlloc.  java.lang.OrcaHeap is what is
 * called; docs/concepts/allocation.md says what is not seen.
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

/* Every object from now on; no more. */
bool alloc_start(JNIEnv *jni);
void alloc_stop(JNIEnv *jni);

/* Classes that are there already go through the hook. */
void alloc_rewrite_loaded(JNIEnv *jni);

#endif

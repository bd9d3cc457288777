/* locks.h - objects as lock ids, classes as class ids, both kept in JVMTI tags.
 *
 * A tag survives garbage collection and vanishes with its object, so a lock has one id for its
 * whole life, and two locks never share one.  A Class object may be both: the tag holds the class
 * id in its upper half and the lock id in its lower half. The first sight of an object takes a
 * mutex; later ones are one GetTag. */
#ifndef ORCA_AGENT_LOCKS_H
#define ORCA_AGENT_LOCKS_H

#include "agent/agent.h"

/* The object's lock id; 0 when it is left out by include/exclude (*wanted false) or when its
 * definition was lost (counted). */
lock_id locks_id(JNIEnv *jni, jobject object, bool *wanted);

/* The class's id, defined when it is new; 0 when that failed. */
class_id classes_id(JNIEnv *jni, jclass class_);

#endif

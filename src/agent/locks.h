/* locks.h - objects as lock ids, classes as class ids, both kept in JVMTI tags.
 *
 * A tag survives garbage collection and vanishes with its object, so a lock has one id for its
 * whole life, and two locks never share one.  A Class object may be both: the tag has a place for
 * each.  The first sight of an object takes a mutex; later ones are one GetTag. */
#ifndef ORCA_AGENT_LOCKS_H
#define ORCA_AGENT_LOCKS_H

#include "agent/agent.h"

/* Begin to count anew: the tags of an earlier recording count no more. */
void locks_init(void);

/* The object's lock id; 0 when it is left out by include/exclude (*wanted false) or when its
 * definition was lost (counted). */
lock_id locks_id(JNIEnv *jni, jobject object, bool *wanted);

/* The id of a lock of which only the class's name ("java.lang.Object", "[I") and the identity hash
 * are known, at attach: whoever meets the object later, or has met it in this recording, has the
 * same id.  0 as above. */
lock_id locks_by_hash(const char *class_name, uint32_t hash);

/* No lock is asked for by hash from now on. */
void locks_told_all(void);

/* The id of what is at the other end of input or output, by its name ("=10.0.0.7:5432"): a new one.
 * 0: its definition was lost (counted). */
lock_id locks_of_peer(const char *name);

/* Mark a Thread object: its thread has passed its ThreadEnd. */
void locks_set_ended(jthread thread);
bool locks_is_ended(jthread thread);

/* The ids that an object has already, 0: it was not met. */
uint32_t locks_known(jobject object);
uint32_t classes_known(jclass class_);

/* The object of a lock id, or the class of a class id: a local reference, NULL when there is none
 * (any more). */
jobject locks_find(JNIEnv *jni, uint32_t lock);
jclass classes_find(JNIEnv *jni, uint32_t class_);

/* The class's id, defined when it is new; 0 when that failed. */
class_id classes_id(JNIEnv *jni, jclass class_);

/* The same; *wanted: whether include= and exclude= let its objects be recorded. */
class_id classes_wanted(JNIEnv *jni, jclass class_, bool *wanted);

/* A class of which only the name (java/lang/Object) is known: an id of its own, the same for the
 * same name. */
class_id classes_id_of_name(const char *name, struct str source);

#endif

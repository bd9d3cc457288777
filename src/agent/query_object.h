/* query_object.h - what is in an object: fields, elements, text, as JSON; and what the recording
 * knows of its allocation.
 *
 * JVMTI names the fields and JNI reads them: no code of the program is called, no class is loaded.
 * An object that is referred to gets a number when it has none (objects_meet), as long as objects
 * are followed at all; else its number is 0. */
#ifndef ORCA_AGENT_QUERY_OBJECT_H
#define ORCA_AGENT_QUERY_OBJECT_H

#include "agent/agent.h"
#include "base/buf.h"

/* Append the object's properties, each with a comma before it: number, recorded, text, fields,
 * elements. */
void query_object_put(JNIEnv *jni, jobject object, struct buf *b);

/* {"number":N,"class":"java.lang.String","bytes":N}, or null. */
void query_object_put_short(JNIEnv *jni, jobject object, struct buf *b);

/* The same without its braces' end, for those that have more to say. */
void query_object_put_class(jclass class_, struct buf *b);

/* Fields that the class itself declares: [{"name":..,"type":..,"static":..}]. */
void query_object_put_declared(jclass class_, struct buf *b);

#endif

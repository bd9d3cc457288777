/* user_methods.h - which classes have the methods that `methods=` names (tracked.h's user rows).
 *
 * A row means its class, the classes that override the method, and the one that the method is
 * inherited from.  A class is looked at when it is prepared: then all it inherits from is known,
 * and none of its code has run.  It is rewritten at once by retransformation. */
#ifndef ORCA_AGENT_USER_METHODS_H
#define ORCA_AGENT_USER_METHODS_H

#include "agent/agent.h"

#include <stddef.h>

/* Whether there are such rows and their group is on. */
bool user_methods_any(void);

/* Look at the classes that are there, and at each one to come.  In VMInit, when probes can be
 * called. */
void user_methods_start(JNIEnv *jni);

/* Put the classes back, once the class-file hook no longer rewrites any. */
void user_methods_stop(JNIEnv *jni);
void user_methods_free(JNIEnv *jni); /* then, once no thread is inside the guard */

void JNICALL on_class_prepare(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass c);

/* A row that has to do with a class. */
struct user_hit {
    size_t row;    /* in `tracked` */
    bool filtered; /* only calls on objects of the row's own class count */
};

/* The rows whose methods this class has; returns how many, at most `max`. */
size_t user_methods_of(JNIEnv *jni, jclass c, struct user_hit *hits, size_t max);

/* Whether a call on `self` counts for a filtered row: it is of the row's class. */
bool user_methods_mean(JNIEnv *jni, size_t row, jobject self);

/* One line for each row that matched nothing, and why; once, when the recording ends. */
void user_methods_report(void);

#endif

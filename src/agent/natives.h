/* natives.h - native methods of the JDK that the agent stands in front of.
 *
 * Each is replaced by a wrapper (RegisterNatives) that calls what was there before, so a wrapper of
 * another agent goes on working.  The replacement stays until the JVM ends: from JDK 20 on
 * HotSpot never gives back a native method's compiled code, which each RegisterNatives replaces.
 * While nothing is recorded a wrapper is one test and the call. */
#ifndef ORCA_AGENT_NATIVES_H
#define ORCA_AGENT_NATIVES_H

#include "agent/agent.h"

/* The wrapped methods' signatures, as JNI sees them. */
typedef void(JNICALL *native_object)(JNIEnv *, jobject);
typedef void(JNICALL *native_object_long)(JNIEnv *, jobject, jlong);
typedef void(JNICALL *native_class_long)(JNIEnv *, jclass, jlong);
typedef void(JNICALL *native_unsafe_park)(JNIEnv *, jobject, jboolean, jlong);
typedef void(JNICALL *native_unsafe_unpark)(JNIEnv *, jobject, jobject);

/* What was there before; set before the wrapper can be called. */
struct originals {
    native_object notify, notify_all, start, interrupt;
    native_object_long wait;
    native_class_long sleep_ms, sleep_ns;
    native_unsafe_park park;
    native_unsafe_unpark unpark;
};
extern struct originals originals;

/* on_cause.c, on_park.c */
void JNICALL on_notify(JNIEnv *jni, jobject object);
void JNICALL on_notify_all(JNIEnv *jni, jobject object);
void JNICALL on_native_wait(JNIEnv *jni, jobject object, jlong ms);
void JNICALL on_start(JNIEnv *jni, jobject thread);
void JNICALL on_interrupt(JNIEnv *jni, jobject thread);
void JNICALL on_sleep_ms(JNIEnv *jni, jclass c, jlong ms);
void JNICALL on_sleep_ns(JNIEnv *jni, jclass c, jlong ns);
void JNICALL on_park(JNIEnv *jni, jobject unsafe, jboolean absolute, jlong time);
void JNICALL on_unpark(JNIEnv *jni, jobject unsafe, jobject thread);

/* What began the wait that a thread is in, 0 when it is in none. */
enum event_kind wait_of(jthread thread);
enum event_kind wait_of_state(jint state); /* JVMTI_THREAD_STATE_ bits */
enum wait_limit limit_of_state(jint state);

/* Run `fn` as what Java code of the boot loader calls: there RegisterNatives may replace methods of
 * java.base without a warning on the program's standard output.  -ENOTSUP: this JVM does not let
 * us; no exception is left. */
int natives_from_java(JNIEnv *jni, void (*fn)(JNIEnv *jni));

/* Replace those that the groups in the settings need.  In VMInit or later, on a Java thread. A
 * method that cannot be replaced costs one line on stderr and its events. */
void natives_install(JNIEnv *jni);

/* Find out how this JVM keeps a Method; natives_install and natives_from_java do so, too.  False:
 * in a way that is not known. */
bool natives_learn(JNIEnv *jni);

/* HotSpot's Method of a jmethodID, 0: it is not known how this JVM finds it. */
uintptr_t natives_method(jmethodID method);

/* A class of ours in the boot loader, by its internal name: defined, or found when an earlier copy
 * of this library has defined it.  A local reference; NULL: this JVM does not let us. */
jclass natives_define(JNIEnv *jni, const char *name, const unsigned char *bytes, size_t len);

/* Each method of a class of ours that is initialized gets its jmethodID: a frame whose method has
 * none is looked at anew in each walk (hotspot/pc_cache.c). */
void natives_name_methods(jclass c);

#endif

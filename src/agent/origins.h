/* origins.h - where the objects come from that threads wait for: the field, variable or method that
 * the code around a call names (DEF site).
 *
 *     a new stack, on its thread      each of its calls that is new gets into a list
 *     the control thread, the end     reads the code and the constants, defines
 *
 * So a known stack costs nothing, a new one a lookup for each of its inner frames, and a call, once
 * in a recording, a weak reference to its class: the thread is about to wait, and the rest is done
 * without it.  A class that is gone or redefined by then has no lines; nor have classes of the boot
 * loader, which are the JDK's. */
#ifndef ORCA_AGENT_ORIGINS_H
#define ORCA_AGENT_ORIGINS_H

#include "agent/stacks.h"

/* All that it is given of the JVM: it knows nothing else of the agent. */
struct origins_jvm {
    jvmtiEnv *ti;
    /* The jmethodID and HotSpot's Method of an id; false: it is not its method's newest version,
     * whose code JVMTI gives. */
    bool (*newest)(JNIEnv *jni, method_id id, jmethodID *method, uintptr_t *version);
    uintptr_t (*version)(jmethodID method);
};

int origins_init(const struct origins_jvm *jvm, struct err *err);

/* A recording is over, and no thread is inside it: the references are released. */
void origins_fini(JNIEnv *jni);

/* The frames of a new stack, whose methods all have ids.  On the stack's thread, or while that
 * thread is stopped. */
void origins_note(JNIEnv *jni, const struct stack_frame *frames, uint32_t n);

/* Whether there are any to be defined. */
bool origins_due(void);

/* Define what has been noted.  On a Java thread. */
void origins_define(JNIEnv *jni, struct recorder *rec);

#endif

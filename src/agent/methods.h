/* methods.h - methods as ids, defined while they are certainly alive: on the stack that names them.
 *
 * A method comes by its jmethodID, or by its address in HotSpot (hotspot/method_text.h); both lead
 * to one id.  jmethodIDs are never reused by the JVMs that Orca runs on, and resolving one whose
 * class may be unloading is not safe on JDK 17; so the definition is made at first sight, on the
 * thread whose stack holds the method, and stays in the trace when the class goes. */
#ifndef ORCA_AGENT_METHODS_H
#define ORCA_AGENT_METHODS_H

#include "agent/agent.h"
#include "hotspot/method_text.h"

int methods_init(struct err *err);
void methods_fini(void);

/* The method's id, defined when it is new; 0 when that failed (the frame is then unknown). */
method_id methods_id(JNIEnv *jni, jmethodID method);

/* The id of the method at an address, 0 when it has not been met there.  Async-signal-safe, inside
 * of the guard. */
uint32_t methods_known(uintptr_t method, uint64_t stamp);

/* The same; 0, too, while it is defined by its text only, so without its class's own id. */
uint32_t methods_known_whole(uintptr_t method, uint64_t stamp);

/* The id of code that the JVM made, by its name. */
method_id methods_id_of_stub(const char *name);

/* The id of a place in native code; address: see DEF method. */
method_id methods_id_of_place(module_id module, uint64_t address);

/* The id of the method of a text, defined when it is new. */
method_id methods_id_of_text(uintptr_t method, uint64_t stamp, const struct walker *w,
                             const struct method_text *text);

/* The same, whole: of a frame of the calling thread, which JVMTI calls by this jmethodID. */
method_id methods_id_of_frame(JNIEnv *jni, jmethodID jmethod, uintptr_t method, uint64_t stamp);

/* What part a method has in the making of objects.  Known of methods that were met by their
 * jmethodID; of others all is 0. */
struct method_part {
    class_id class_; /* it is a constructor of this class; 0: it is none */
    bool tells;      /* it is one of OrcaHeap's */
};
struct method_part methods_part(method_id id);

/* The jmethodID and HotSpot's Method of an id.  False: it is an older version's, or not known. */
bool methods_newest(JNIEnv *jni, method_id id, jmethodID *method, uintptr_t *version);

/* Whether a jmethodID is that of the method at an address, or of a newer version of it: then the
 * class was redefined while the method was being executed. */
bool methods_is_version(jmethodID jmethod, uintptr_t method);

#endif

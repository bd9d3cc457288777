/* retransform.h - have loaded classes go through the class-file hook again: those of a kind. */
#ifndef ORCA_AGENT_RETRANSFORM_H
#define ORCA_AGENT_RETRANSFORM_H

#include "agent/agent.h"

/* A loaded class as its chooser sees it. */
struct loaded_class {
    jclass class_;
    const char *name; /* in internal form; arrays are not asked about */
    bool boot;        /* of the boot loader */
};

/* Those that can be changed and that `affected` chooses, but for classes of which code of that part
 * (kept.h; 0: none) is there and stays.  Finding out is cheaper than to retransform: that takes a
 * millisecond.  JVMTI_ERROR_NONE, or why one of them stayed as it was. */
jvmtiError retransform_those(JNIEnv *jni, bool (*affected)(const struct loaded_class *c),
                             unsigned part);

/* JVMTI's RetransformClasses, for all of Orca. */
jvmtiError retransform_classes(jint n, const jclass *classes);

/* Asked by the class-file hook: whether the class goes through it for one of these. */
bool retransform_is_ours(void);

/* Whether it has so few constants that it can be retransformed: some of them are doubled by that,
 * and with 65,535 the JVM does not come back. */
bool class_has_room(jclass c);

/* Whether a method of the class is `like`; also true for a class that is not linked and does not
 * show it.  code: its bytes. */
bool class_has_method(jclass c, bool (*like)(jint access, const unsigned char *code, size_t n));

#endif

/* heap_classes.h - the loaded classes for a walk of the heap: found by the tag of the Class object,
 * with the names of their fields, which a callback could not ask for.
 *
 * JVMTI counts fields from 0 over the whole hierarchy: those of all interfaces, then those of each
 * superclass, then the class's own.  HotSpot 17 counts a static field among the class's own only;
 * and fields that it hides (Throwable.backtrace) some versions count and some do not.  Both are
 * found out once, by looking at objects whose fields are known. */
#ifndef ORCA_AGENT_HEAP_CLASSES_H
#define ORCA_AGENT_HEAP_CLASSES_H

#include "agent/heap_walk.h"

struct heap_class {
    jlong tag; /* of the Class object; classes are sorted by it */
    uint64_t number;
    const char *signature; /* "Ljava/lang/String;", UTF-8 */
    const char *const *fields;
    uint32_t n_fields; /* its own */
    uint32_t before;   /* fields of all superclasses */
    uint32_t of_interfaces;
    const struct heap_class *super;
    jlong super_tag;
};

struct heap_classes {
    struct heap_class *all;
    size_t n;
    struct arena *memory;
    bool static_is_own; /* see above */
    uint32_t hidden;    /* fields of Throwable that are counted and have no name */
    jlong throwable;    /* the tag of that class */
};

/* Give each class's object a tag that has none, and find out about its fields. */
int heap_classes_open(struct heap_classes *c, JNIEnv *jni, struct heap_walk *w, struct err *err);
void heap_classes_close(struct heap_classes *c);

/* The class of this tag; NULL: it was loaded later. */
const struct heap_class *heap_classes_find(const struct heap_classes *c, jlong tag);

/* The name of the field that a reference says it is, of an object of the class or of the class
 * itself; NULL: not known.  No call of the JVM. */
const char *heap_classes_field(const struct heap_classes *c, const struct heap_class *of,
                               bool is_static, jint index);

#endif

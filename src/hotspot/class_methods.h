/* class_methods.h - the Method of a jmethodID that is a number, not an address (JDK 26 and later).
 *
 * The number alone leads nowhere: HotSpot keeps the table of all ids private.  But a class has both
 * its methods and, by the number of each, their ids.  Nothing keeps the class's mirror in its place
 * while it is read: a result counts only if the collector moved nothing during that (oops.h), and
 * the array of ids was not replaced.  No JNI. */
#ifndef ORCA_HOTSPOT_CLASS_METHODS_H
#define ORCA_HOTSPOT_CLASS_METHODS_H

#include "hotspot/vmstructs.h"

struct class_methods {
    struct oops oops;
    int32_t mirror_klass; /* in a mirror */
    long methods, ids;    /* in an InstanceKlass */
    long array_data, const_method, number;
};

/* After guarded_open and VMInit.  False: this JVM does not describe it. */
bool class_methods_open(struct class_methods *c, const struct vmstructs *vs);

/* mirror: a local reference to the class, made since the count was taken (oops_count).  0: not
 * known just now. */
uintptr_t class_methods_find(const struct class_methods *c, uintptr_t mirror, uint64_t count,
                             uintptr_t id);

/* The newest method of an InstanceKlass with that number; 0: none is found.  Signals: safe. */
uintptr_t class_methods_numbered(const struct class_methods *c, uintptr_t klass, uint16_t number);

#endif

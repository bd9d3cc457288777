/* nan.h - constants that are not a number, taken out of a class that is to be redefined.
 *
 * To HotSpot such a constant is none that a class has already (ConstantPool::compare_entry_to), so
 * a class has one more of each with every redefinition, and a constant pool that is longer than any
 * that was freed.  An ldc of one becomes an ldc of its bits and Double.longBitsToDouble or
 * Float.intBitsToFloat; the constant itself becomes 0.  What a ConstantValue says no longer
 * matters: a redefinition does not initialize (JVMTI, RedefineClasses).  A constant that an
 * annotation or a bootstrap method may name stays. */
#ifndef ORCA_CLASSFILE_NAN_H
#define ORCA_CLASSFILE_NAN_H

#include "classfile/cf.h"

struct nan_constants {
    uint64_t *bits; /* by index, those that go; NULL: none */
    uint32_t n;
};

/* -ENOMEM. */
int nan_find(struct nan_constants *s, const struct cf_class *c, struct arena *a);

static inline bool nan_goes(const struct nan_constants *s, uint32_t index)
{
    return s->bits && s->bits[index / 64] >> index % 64 & 1;
}

/* In a copy of the class whose constants are where they were. */
void nan_clear(const struct nan_constants *s, const struct cf_class *c, uint8_t *copy);

#endif

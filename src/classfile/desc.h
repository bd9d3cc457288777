/* desc.h - method descriptors (JVMS 4.3.3) as computational types: I (int, short, byte, char,
 * boolean), J, F, D, A (reference) and, for a result, V. */
#ifndef ORCA_CLASSFILE_DESC_H
#define ORCA_CLASSFILE_DESC_H

#include "classfile/cf.h"

enum { DESC_MAX_PARAMS = 255 };

struct desc {
    uint32_t n, slots;              /* parameters, and the slots they take, without `this` */
    char kind[DESC_MAX_PARAMS];     /* of each parameter */
    uint16_t at[DESC_MAX_PARAMS];   /* where its text starts */
    uint16_t slot[DESC_MAX_PARAMS]; /* its first slot, counted from the first parameter's */
    char result;
};

/* False when it is not a descriptor, or has more than 255 parameter slots. */
bool desc_parse(struct desc *d, struct cf_text text);

/* The class name that a CONSTANT_Class of the reference type at `at` has: a/B for La/B;, else the
 * text itself. */
struct cf_text desc_class(struct cf_text text, uint32_t at);

static inline uint32_t desc_kind_slots(char kind)
{
    return kind == 'J' || kind == 'D' ? 2 : kind == 'V' ? 0 : 1;
}

#endif

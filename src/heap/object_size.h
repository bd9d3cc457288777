/* object_size.h - how large objects are in the heap of HotSpot (shallow size).
 *
 * A dump has the fields of an object, not its size.  That follows from the header (12 bytes with
 * compressed class pointers, 16 without, 8 with compact headers), the size of a reference (4 or 8)
 * and the way in which HotSpot lays out fields: up to JDK 14 classFileParser.cpp, from 15 on
 * fieldLayoutBuilder.cpp, which also fills gaps of the super classes.  Some classes of the JDK have
 * fields that only the JVM sees ("injected", javaClasses.hpp) or padding (@Contended); tables in
 * object_size.c know them.
 *
 * Header and references are inferred: no object is longer than the distance to the next one. */
#ifndef ORCA_HEAP_OBJECT_SIZE_H
#define ORCA_HEAP_OBJECT_SIZE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct dump;
struct hprof;

struct object_layout {
    uint32_t header;       /* of an instance */
    uint32_t array_header; /* with the length, for elements of up to 4 bytes */
    uint32_t reference;
};

/* Size of an array of n elements. */
static inline uint64_t object_size_array(const struct object_layout *l, uint64_t n,
                                         uint32_t element)
{
    uint64_t head = element == 8 ? (l->array_header + 7) & ~UINT64_C(7) : l->array_header;
    return (head + n * element + 7) & ~UINT64_C(7);
}

/* Look at arrays all over the dump (head: where it begins; pieces are known) and find the
 * layout. */
int object_size_infer(struct dump *d, struct err *err);

/* Set size and mirror_size of every class; their fields and supers are known.  -ENOMEM. */
int object_size_classes(struct dump *d);

#endif

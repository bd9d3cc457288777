/* collections.h - collections that are empty, or whose array is much larger than what is in it, and
 * arrays of nothing.
 *
 * A table (collections.c) knows the collections of the JDK, and with them their subclasses: which
 * field counts, which holds the array. `used` of an array of references are the elements that are
 * not null, of one of characters or bytes as many as the object says.
 *
 *     wasted = an empty one: itself and its array; else the array's unused elements
 *
 * A set that stands on a map counts as the set, its map not again.  Arrays without content (all null or
 * all zero) count by class, those of collections not again.
 *
 * Three passes over the dump.  Memory: 40 bytes a collection, twice that while they are
 * gathered, and a few bits an object. */
#ifndef ORCA_HEAP_COLLECTIONS_H
#define ORCA_HEAP_COLLECTIONS_H

#include "heap/holders.h"

/* How full: empty, then by the part of the array that is used. */
enum collection_fill {
    FILL_EMPTY,
    FILL_QUARTER, /* at most a quarter */
    FILL_HALF,
    FILL_THREE_QUARTERS,
    FILL_FULL,    /* more than that */
    FILL_UNKNOWN, /* not empty, and it has no array, as a tree */
    COLLECTION_FILLS
};

struct collection_class {
    uint32_t class_number;
    uint64_t count, wasted;
    uint64_t by_fill[COLLECTION_FILLS];
};

struct array_class {
    uint32_t class_number;
    uint64_t count, bytes; /* of length 1 or more, all null or all zero */
    uint64_t no_length;    /* of length 0 */
};

struct collections_found {
    uint64_t count, wasted, empty, sparse; /* sparse: FILL_QUARTER */
    struct collection_class *classes;      /* the most wasted first */
    size_t n_classes;
    struct holder *holders; /* marked: empty ones; bytes: wasted; the most wasted first */
    size_t n_holders;
    uint64_t array_count, array_bytes; /* sums of: */
    struct array_class *arrays;        /* the most bytes first */
    size_t n_arrays;
};

/* -ENOMEM, or an error of the system. */
int collections_find(struct collections_found *out, const struct dump *d, struct err *err);
void collections_fini(struct collections_found *c);

#endif

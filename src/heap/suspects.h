/* suspects.h - where the heap accumulates: leak suspects.
 *
 * Looked at is the dominator tree, from its tops, with a least share of the heap that is worth
 * reporting.  An object that keeps this share is followed down to the object that matters:
 *
 *     to its biggest child, as long as that keeps most of it (SUSPECTS_MOST_OF);
 *     where it divides, to each child that also keeps the least share;
 *     a chain of objects of one class ends the way before it begins (a linked list)
 *
 * What keeps the least share, when the children that are followed are taken off, is a suspect.  And
 * so are the instances of one class that are tops of the tree, small ones, but together that
 * much. */
#ifndef ORCA_HEAP_SUSPECTS_H
#define ORCA_HEAP_SUSPECTS_H

#include "heap/retained.h"

enum {
    SUSPECTS_LEAST = 20,   /* percent of what is reached */
    SUSPECTS_MOST_OF = 70, /* percent of what the parent keeps */
    SUSPECTS_CHAIN = 16,   /* objects of one class below each other are a chain */
    SUSPECTS_CLASSES = 3,
    SUSPECTS_ALL = 16, /* at most */
};

struct suspect_class { /* objects of one class below the suspect */
    uint32_t class_number;
    uint64_t count, retained; /* retained: the sum */
};

struct suspect {
    uint32_t object;       /* DUMP_NONE: `count` tops of the tree of one class */
    uint32_t class_number; /* its class, or theirs; DUMP_NONE when the dump does not have it */
    uint64_t count, retained;
    uint32_t top;   /* of the tree, that keeps it: itself or an object above; or the biggest one */
    uint64_t chain; /* objects of the chain at least, 0: it is none; the class is in below[0] */
    struct suspect_class below[SUSPECTS_CLASSES], further[SUSPECTS_CLASSES]; /* what it dominates,
                                     and what that dominates; the most retained first */
    uint32_t n_below, n_further;
    struct heap_paths paths; /* to it, or to the biggest one; none: not asked for */
};

struct suspects {
    struct suspect v[SUSPECTS_ALL]; /* the most retained first */
    size_t n;
    uint64_t least; /* bytes */
};

struct suspects_options {
    bool paths;             /* with paths from roots: may read the references once more */
    bool soft;              /* as in retained_options */
    uint32_t least_percent; /* 0: SUSPECTS_LEAST */
};

/* -ENOMEM, or an error of the system. */
int suspects_find(struct suspects *out, const struct retained *r,
                  const struct suspects_options *options, struct err *err);
void suspects_fini(struct suspects *s);

#endif

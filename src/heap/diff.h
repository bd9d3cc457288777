/* diff.h - two dumps of one program: what has grown between them, by class.
 *
 * Classes are the same when their names are; those of several loaders are added up, and the address
 * in the name of a hidden class (a lambda's) is left out. */
#ifndef ORCA_HEAP_DIFF_H
#define ORCA_HEAP_DIFF_H

#include "heap/dump.h"

struct class_totals {
    uint64_t count, bytes, retained; /* retained: 0 without dominator trees */
};

struct class_change {
    const char *name;
    uint32_t class_number; /* in the later dump, of the first class of this name; or DUMP_NONE */
    struct class_totals then, now;
};

struct diff {
    struct class_change *v; /* every class of either; the most growth in bytes first */
    size_t n;
    size_t grown, shrunk;           /* how many; grown ones are first, shrunk ones last */
    struct class_totals then, now;  /* of all; retained: 0 */
    bool whole_then, whole_now;     /* the dumps */
    bool named_then, named_now;     /* at least their classes have names */
    bool known_grown, known_shrunk; /* what is missing in a dump does not only seem to have grown or
                                       shrunk: who has grown is certain, and by at least so much */
    struct arena arena;
};

/* A dump's data of each class; afterwards the dump is no longer needed.  retained: by class number,
 * as heap/retained.h has them, or NULL.  -ENOMEM. */
int diff_add(struct diff *diff, const struct dump *d, const uint64_t *retained, bool now,
             struct err *err);

/* diff_init, diff_add of both, diff_order. */
void diff_init(struct diff *diff);
void diff_order(struct diff *diff);
void diff_fini(struct diff *diff);

static inline int64_t diff_bytes(const struct class_change *c)
{
    return (int64_t)(c->now.bytes - c->then.bytes);
}

#endif

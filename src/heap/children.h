/* children.h - the tree of dominators from the top down: what each object keeps alive directly.
 *
 *     the children of object i: list[begins[i]] to before list[begins[i + 1]], the one that
 *     retains most first, then by number; i = n_objects: what only the roots keep
 *
 * Eight bytes an object.  Read only after children_find. */
#ifndef ORCA_HEAP_CHILDREN_H
#define ORCA_HEAP_CHILDREN_H

#include "heap/retained.h"

struct children {
    uint32_t n_objects;
    uint32_t *begins, *list;
};

/* Borrows nothing.  -ENOMEM. */
int children_find(struct children *c, const struct retained *r, struct err *err);
void children_fini(struct children *c);

/* The children of an object or of RETAINED_ROOT; *n: how many. */
const uint32_t *children_of(const struct children *c, uint32_t object, uint32_t *n);

#endif

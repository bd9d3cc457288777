/* paths.h - why an object is alive: the shortest way to it from a root. */
#ifndef ORCA_HEAP_PATHS_H
#define ORCA_HEAP_PATHS_H

#include "heap/graph.h"

/* The objects of a shortest path from a root to the object of this id, both included; the caller
 * frees *path.  *n 0 and *path NULL when the roots do not lead to it.  -ENOENT for an id that is no
 * object of the dump, -ENOMEM. */
int paths_shortest(const struct graph *g, const struct dump *d, uint64_t id, uint32_t **path,
                   size_t *n, struct err *err);

#endif

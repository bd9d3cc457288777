/* retained.h - what each object keeps alive, which would go with it: its retained size.
 *
 * The sum of the sizes of all that it dominates, itself included.  An object that the roots do not
 * lead to has none; such objects are counted apart (garbage, or kept by weak references only).
 *
 * Of an incomplete dump (heap/missing.h) none of this is known: then no object has a dominator, all
 * sums are 0, and only objects and the path are there.
 *
 *     dominator: an object, RETAINED_ROOT (only the roots keep it) or DUMP_NONE (not reached)
 *
 * Everything is read only after retained_find. */
#ifndef ORCA_HEAP_RETAINED_H
#define ORCA_HEAP_RETAINED_H

#include "base/map.h"
#include "heap/objects.h"
#include "heap/paths.h"

#define RETAINED_ROOT (DUMP_NONE - 1)

struct retained_times { /* ns of the steps */
    uint64_t graph, dfs, reverse, semi, sizes, sums, classes;
};

struct retained_options {
    bool soft;                                  /* soft references keep alive, too */
    uint64_t path_to;                           /* id of an object to find paths to; 0: none */
    bool classes;                               /* retained sizes of classes */
    void (*phase)(void *ctx, const char *what); /* a step begins; may be NULL */
    void *ctx;
};

struct retained {
    const struct dump *d;
    bool known;            /* who keeps what alive */
    uint32_t *dominators;  /* of each object */
    uint32_t *eighths;     /* of each object: its retained size / 8, UINT32_MAX: in `large` */
    struct map large;      /* object -> retained size / 8 */
    uint64_t *class_bytes; /* of each class: retained by the set of its instances */
    struct objects objects;
    uint32_t n_reached;
    uint64_t bytes_reached;
    uint64_t n_unreached, bytes_unreached;
    uint64_t n_nodes, n_edges;
    struct heap_paths paths; /* to options.path_to */
    struct retained_times times;
};

/* Errors of the system, memory; -ENOENT for a path to an object that is not there. */
int retained_find(struct retained *r, const struct dump *d, const struct retained_options *options,
                  struct err *err);
void retained_fini(struct retained *r);

/* In bytes; 0 for an object that is not reached. */
uint64_t retained_bytes(const struct retained *r, uint32_t object);

/* To put objects in an order: the same, or their own sizes where retained sizes are unknown. */
uint64_t retained_weight(const struct retained *r, uint32_t object);

/* The `most` objects with the largest retained size whose dominator is `under` (RETAINED_ROOT: the
 * tops of the tree), largest first, then by number.  Returns how many; *all: how many there are. */
size_t retained_top(const struct retained *r, uint32_t under, uint32_t *out, size_t most,
                    uint64_t *all);

#endif

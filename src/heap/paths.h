/* paths.h - why an object is alive: the paths to it from roots, the most telling one first.
 *
 * A way over fields, elements and statics comes before one that needs a local of a thread: a local
 * goes with its frame.  Of those the shortest is the first.  Each further one begins otherwise: by
 * another static, another local, another root; it shares with those before it as little as it can.
 *
 * The search is the same from the roots down as from the object up: graph.h has references that
 * way, referrers.h this way.  Nodes are whatever numbers these have. */
#ifndef ORCA_HEAP_PATHS_H
#define ORCA_HEAP_PATHS_H

#include "heap/graph.h"

enum { PATHS_MOST = 3 };

struct heap_path {
    uint32_t *v; /* objects, from a root to the one that was asked for, both included */
    size_t n;
};

struct heap_paths {
    struct heap_path v[PATHS_MOST];
    size_t n; /* 0: the roots do not lead to it */
};

struct paths_search;

/* The references, as a search sees them. */
struct paths_source {
    const struct dump *d;
    void *ctx;
    uint32_t n;           /* nodes */
    bool up;              /* from the object to a root; else from the roots to the object */
    const uint32_t *from; /* nodes at which it begins */
    uint32_t n_from;
    bool (*ends)(const void *ctx, uint32_t node);
    uint32_t (*node)(const void *ctx, uint32_t object); /* DUMP_NONE: the object is not a node */
    uint32_t (*object)(const void *ctx, uint32_t node);
    /* How often `node` refers to `to`: asked node by node, of a thread for each of its locals. */
    uint32_t (*count)(void *ctx, uint32_t node, uint32_t to);
    /* paths_meet for each neighbour of the node. */
    void (*expand)(const void *ctx, uint32_t node, struct paths_search *s);
};

void paths_meet(struct paths_search *s, uint32_t node, uint32_t neighbour);

/* At most `most` ways; out->n 0: there is none.  -ENOMEM. */
int paths_find(struct heap_paths *out, const struct paths_source *source, size_t most);
void paths_fini(struct heap_paths *p);

/* The paths to the object of this id, through the graph. -ENOENT when no object of the dump has the
 * id, -ENOMEM. */
int paths_down(struct heap_paths *out, const struct graph *g, const struct dump *d, uint64_t id,
               struct err *err);

#endif

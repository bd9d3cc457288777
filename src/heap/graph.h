/* graph.h - who refers to whom, kept in a few bytes an object.
 *
 * References that keep an object alive: the fields of an instance (but not `referent` and
 * `discovered` of soft, weak and phantom references), the elements of an array, an object's class;
 * a Class object's super class, class loader, signers, protection domain and statics; a class
 * loader's classes; a thread's locals (the roots of its frames).  Roots are all other roots of the
 * dump, and the classes of the boot loader.  docs/concepts/heap.md says why.
 *
 * An object that refers to nothing and is referred to once, as the byte[] of a String, is not a
 * node: it goes with its owner.  That is nearly half of a usual heap.  References to roots are left
 * out: they keep nothing alive that the roots do not.
 *
 *     nodes are numbered in the order of objects; lists of references as in heap/varint.h */
#ifndef ORCA_HEAP_GRAPH_H
#define ORCA_HEAP_GRAPH_H

#include "heap/dump.h"

enum { GRAPH_CHUNK = 1 << 16 }; /* nodes */

struct graph_options {
    bool soft; /* soft references keep alive, too */
};

struct bit_rank {
    uint64_t bits;
    uint64_t before;
};

struct graph {
    uint32_t n_objects, n_nodes;
    struct bit_rank *node_bits; /* a bit an object: whether it is a node */
    uint32_t *owners;           /* of each object but nodes: its owner (an object) or DUMP_NONE */
    uint32_t *roots;            /* nodes, ascending */
    uint32_t n_roots;
    uint8_t **chunks; /* lists of GRAPH_CHUNK nodes each */
    uint32_t *at;     /* of each node: where its list begins in its chunk */
    uint64_t n_edges; /* between nodes */
    uint64_t edge_bytes;
};

/* The thread whose local a root is, as an object; IDS_NONE: it is a root by itself. */
uint32_t graph_root_holder(const struct dump *d, const struct dump_root *r);

/* Read the references: one pass over the dump.  Errors of the system, -ENOMEM, -EOVERFLOW. */
int graph_build(struct graph *g, const struct dump *d, const struct graph_options *options,
                struct err *err);

/* Free the lists of references, but not the owners of objects that are not nodes. */
void graph_drop_edges(struct graph *g);
void graph_fini(struct graph *g);

static inline bool graph_is_node(const struct graph *g, uint32_t object)
{
    return g->node_bits[object >> 6].bits >> (object & 63) & 1;
}

/* The node of an object that is one. */
static inline uint32_t graph_node(const struct graph *g, uint32_t object)
{
    const struct bit_rank *r = &g->node_bits[object >> 6];
    uint64_t below = r->bits & ((UINT64_C(1) << (object & 63)) - 1);
    return (uint32_t)(r->before + (uint64_t)__builtin_popcountll(below));
}

/* The object of a node. */
uint32_t graph_object(const struct graph *g, uint32_t node);

/* The list of a node's references. */
static inline const uint8_t *graph_edges(const struct graph *g, uint32_t node)
{
    return g->chunks[node / GRAPH_CHUNK] + g->at[node];
}

#endif

#include "heap/paths.h"

#include "heap/varint.h"

#include <stdlib.h>
#include <string.h>

/* Breadth first from all roots: `came` is where each node was first met from, itself for a root. */
static bool search(const struct graph *g, uint32_t goal, uint32_t *came, uint32_t *queue)
{
    uint32_t head = 0, tail = 0, to;
    for (uint32_t i = 0; i < g->n_roots; i++) {
        came[g->roots[i]] = g->roots[i];
        queue[tail++] = g->roots[i];
    }
    while (head < tail && came[goal] == DUMP_NONE) {
        uint32_t node = queue[head++];
        for (const uint8_t *p = graph_edges(g, node); varint_next(&p, node, &to);)
            if (came[to] == DUMP_NONE) {
                came[to] = node;
                queue[tail++] = to;
            }
    }
    return came[goal] != DUMP_NONE;
}

/* From the goal back to its root, then turned round; `last`: an object behind the goal that is no
 * node, or DUMP_NONE. */
static int collect(const struct graph *g, const uint32_t *came, uint32_t goal, uint32_t last,
                   uint32_t **path, size_t *n)
{
    size_t len = 1 + (last != DUMP_NONE);
    for (uint32_t at = goal; came[at] != at; at = came[at])
        len++;
    *path = malloc(len * sizeof **path);
    if (!*path)
        return -ENOMEM;
    *n = len;
    if (last != DUMP_NONE)
        (*path)[--len] = last;
    for (uint32_t at = goal; len > 0; at = came[at])
        (*path)[--len] = graph_object(g, at);
    return 0;
}

int paths_shortest(const struct graph *g, const struct dump *d, uint64_t id, uint32_t **path,
                   size_t *n, struct err *err)
{
    uint32_t object = ids_find(&d->ids, id), last = DUMP_NONE;
    *path = NULL;
    *n = 0;
    if (object == IDS_NONE)
        return err_set(err, -ENOENT, "%s: there is no object 0x%llx", d->path,
                       (unsigned long long)id);
    if (!graph_is_node(g, object)) {
        last = object;
        object = g->owners[object];
    }
    if (object == DUMP_NONE)
        return 0;
    size_t bytes = ((size_t)g->n_nodes + 1) * sizeof(uint32_t);
    uint32_t *came = malloc(bytes), *queue = malloc(bytes);
    int rc = -ENOMEM;
    if (came && queue) {
        uint32_t goal = graph_node(g, object);
        memset(came, 0xff, bytes);
        rc = search(g, goal, came, queue) ? collect(g, came, goal, last, path, n) : 0;
    }
    free(came);
    free(queue);
    return rc < 0 ? err_set(err, rc, "%s: out of memory", d->path) : 0;
}

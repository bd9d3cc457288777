#include "heap/retained.h"

#include "base/clock.h"
#include "base/util.h"
#include "heap/dominators.h"
#include "heap/missing.h"
#include "heap/paths.h"
#include "heap/workers.h"

#include <stdlib.h>
#include <string.h>

static void add(struct retained *r, uint32_t object, uint64_t eighths)
{
    if (r->eighths[object] != UINT32_MAX) {
        uint64_t sum = r->eighths[object] + eighths;
        if (sum < UINT32_MAX) {
            r->eighths[object] = (uint32_t)sum;
            return;
        }
        uint64_t *large = map_put(&r->large, object);
        if (large)
            *large = r->eighths[object];
        r->eighths[object] = UINT32_MAX;
    }
    uint64_t *large = map_find(&r->large, object);
    if (large)
        *large += eighths;
}

static uint64_t eighths_of(const struct retained *r, uint32_t object)
{
    if (r->eighths[object] != UINT32_MAX)
        return r->eighths[object];
    const uint64_t *large = map_find(&r->large, object);
    return large ? *large : 0;
}

uint64_t retained_bytes(const struct retained *r, uint32_t object)
{
    return r->dominators[object] == DUMP_NONE ? 0 : 8 * eighths_of(r, object);
}

uint64_t retained_weight(const struct retained *r, uint32_t object)
{
    return r->known ? retained_bytes(r, object) : 8 * eighths_of(r, object);
}

/* --- from nodes to objects -------------------------------------------------------------------- */

/* The object of each dfs number; takes the place of pre. */
static uint32_t *objects_in_order(const struct graph *g, const struct dominators *t)
{
    uint32_t *objects = calloc((size_t)t->n_reached + 1, sizeof *objects);
    if (!objects)
        return NULL;
    objects[0] = RETAINED_ROOT;
    uint32_t node = 0;
    for (uint32_t i = 0; i < g->n_objects; i++)
        if (graph_is_node(g, i)) {
            uint32_t pre = t->pre[node++];
            if (pre)
                objects[pre] = i;
        }
    return objects;
}

/* Fill r->dominators, which holds the owners of objects that are not nodes. */
static void set_dominators(struct retained *r, const struct graph *g, const struct dominators *t,
                           const uint32_t *objects)
{
    for (uint32_t w = 1; w <= t->n_reached; w++)
        r->dominators[objects[w]] = objects[t->idom[w]];
    for (uint32_t i = 0; i < g->n_objects; i++)
        if (!graph_is_node(g, i)) {
            uint32_t owner = r->dominators[i];
            if (owner != DUMP_NONE && r->dominators[owner] == DUMP_NONE)
                r->dominators[i] = DUMP_NONE;
        }
}

static void sum_up(struct retained *r, const struct graph *g, const struct dominators *t,
                   const uint32_t *objects)
{
    for (uint32_t i = 0; i < g->n_objects; i++) {
        uint64_t bytes = 8 * eighths_of(r, i);
        bool reached = r->dominators[i] != DUMP_NONE;
        r->n_reached += reached;
        *(reached ? &r->bytes_reached : &r->bytes_unreached) += bytes;
    }
    for (uint32_t i = 0; i < g->n_objects; i++) /* a leaf may stand before its owner */
        if (r->dominators[i] != DUMP_NONE && !graph_is_node(g, i))
            add(r, r->dominators[i], eighths_of(r, i));
    r->n_unreached = g->n_objects - r->n_reached;
    for (uint32_t w = t->n_reached; w > 0; w--)
        if (t->idom[w])
            add(r, objects[t->idom[w]], eighths_of(r, objects[w]));
}

/* --- classes ---------------------------------------------------------------------------------- */

/* What the instances of a class keep together: those of them count that no other instance of the
 * class dominates.  One walk down the tree, knowing for each class how many are above.
 *
 * Only nodes have children.  An object that is not a node, of a class without nodes, like all
 * byte[], has no instance of its class above it and needs no walk. */
struct walk {
    struct retained *r;
    const struct graph *g;
    uint32_t *begins, *children; /* children of a node: [begins[node], begins[node + 1]) */
    uint32_t *next;              /* of the stack, the child to go to */
    uint32_t *stack;             /* objects */
    size_t depth, cap;
    uint32_t *above; /* of each class: instances on the way down */
    bool *inner;     /* of each class: an instance is a node */
};

/* Where an object's children are; behind all nodes what hangs from the roots. */
static uint32_t place_of(const struct walk *k, uint32_t object)
{
    return object == RETAINED_ROOT ? k->g->n_nodes : graph_node(k->g, object);
}

static bool is_walked(const struct walk *k, uint32_t object)
{
    if (k->r->dominators[object] == DUMP_NONE)
        return false;
    uint32_t c = objects_class(&k->r->objects, object);
    return graph_is_node(k->g, object) || c == DUMP_NONE || k->inner[c];
}

static void find_inner(struct walk *k)
{
    for (uint32_t i = 0; i < k->g->n_objects; i++) {
        uint32_t c = objects_class(&k->r->objects, i);
        if (c != DUMP_NONE && graph_is_node(k->g, i))
            k->inner[c] = true;
    }
}

static int list_children(struct walk *k)
{
    uint32_t n = k->g->n_objects, nodes = k->g->n_nodes;
    k->begins = calloc((size_t)nodes + 4, sizeof *k->begins);
    k->above = calloc(k->r->d->n_classes + 1, sizeof *k->above);
    k->inner = calloc(k->r->d->n_classes + 1, sizeof *k->inner);
    if (!k->begins || !k->above || !k->inner)
        return -ENOMEM;
    find_inner(k);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        if (is_walked(k, i)) {
            k->begins[place_of(k, k->r->dominators[i]) + 2]++;
            sum++;
        }
    for (uint32_t i = 0; i <= nodes; i++)
        k->begins[i + 2] += k->begins[i + 1];
    k->children = malloc(((size_t)sum + 1) * sizeof *k->children);
    if (!k->children)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        if (is_walked(k, i))
            k->children[k->begins[place_of(k, k->r->dominators[i]) + 1]++] = i;
        else if (k->r->dominators[i] != DUMP_NONE)
            k->r->class_bytes[objects_class(&k->r->objects, i)] += 8 * eighths_of(k->r, i);
    }
    return 0;
}

static int push(struct walk *k, uint32_t object)
{
    if (k->depth == k->cap) {
        size_t cap = k->cap ? 2 * k->cap : 1024;
        uint32_t *stack = realloc(k->stack, cap * sizeof *stack);
        if (stack)
            k->stack = stack;
        uint32_t *next = realloc(k->next, cap * sizeof *next);
        if (next)
            k->next = next;
        if (!stack || !next)
            return -ENOMEM;
        k->cap = cap;
    }
    k->stack[k->depth] = object;
    k->next[k->depth++] = k->begins[place_of(k, object)];
    return 0;
}

static void enter(struct walk *k, uint32_t object)
{
    uint32_t c = objects_class(&k->r->objects, object);
    if (c != DUMP_NONE && k->above[c]++ == 0)
        k->r->class_bytes[c] += 8 * eighths_of(k->r, object);
}

static void leave(struct walk *k, uint32_t object)
{
    uint32_t c = objects_class(&k->r->objects, object);
    if (c != DUMP_NONE)
        k->above[c]--;
}

static int walk_down(struct walk *k)
{
    TRY(push(k, RETAINED_ROOT));
    while (k->depth > 0) {
        uint32_t object = k->stack[k->depth - 1], *next = &k->next[k->depth - 1];
        if (*next == k->begins[place_of(k, object) + 1]) {
            if (object != RETAINED_ROOT)
                leave(k, object);
            k->depth--;
            continue;
        }
        uint32_t child = k->children[(*next)++];
        enter(k, child);
        if (graph_is_node(k->g, child))
            TRY(push(k, child));
        else
            leave(k, child);
    }
    return 0;
}

static int class_sums(struct retained *r, const struct graph *g)
{
    struct walk k = {.r = r, .g = g};
    r->class_bytes = calloc(r->d->n_classes + 1, sizeof *r->class_bytes);
    int rc = r->class_bytes ? list_children(&k) : -ENOMEM;
    if (rc == 0)
        rc = walk_down(&k);
    free(k.begins);
    free(k.children);
    free(k.next);
    free(k.stack);
    free(k.above);
    free(k.inner);
    return rc;
}

/* --- all of it -------------------------------------------------------------------------------- */

static uint64_t lap(uint64_t *began)
{
    uint64_t now = clock_mono_ns(), took = now - *began;
    *began = now;
    return took;
}

static void phase(const struct retained_options *o, const char *what)
{
    if (o->phase)
        o->phase(o->ctx, what);
}

static int no_memory(const struct retained *r, struct err *err)
{
    err_set(err, -ENOMEM, "%s: out of memory", r->d->path);
    return -ENOMEM;
}

static int after_dominators(struct retained *r, struct graph *g, struct dominators *t,
                            const struct retained_options *o, struct err *err)
{
    uint64_t began = clock_mono_ns();
    r->dominators = g->owners;
    g->owners = NULL;
    uint32_t *objects = objects_in_order(g, t);
    if (!objects)
        return no_memory(r, err);
    free(t->pre);
    t->pre = NULL;
    set_dominators(r, g, t, objects);
    phase(o, "reading sizes");
    r->eighths = calloc((size_t)r->d->n_objects + 1, sizeof *r->eighths);
    int rc =
        r->eighths ? objects_locate_sized(&r->objects, r->d, r->eighths, err) : no_memory(r, err);
    r->times.sizes = lap(&began);
    if (rc == 0)
        sum_up(r, g, t, objects);
    r->times.sums = lap(&began);
    free(objects);
    return rc;
}

static int with_graph(struct retained *r, struct graph *g, const struct retained_options *o,
                      struct err *err)
{
    struct dominators t;
    r->n_nodes = g->n_nodes;
    r->n_edges = g->n_edges;
    if (o->path_to)
        TRY(paths_down(&r->paths, g, r->d, o->path_to, err));
    phase(o, "finding dominators");
    int rc = dominators_find(&t, g, dump_workers(r->d), err);
    if (rc < 0) {
        err_prefix(err, rc, "%s", r->d->path);
        return rc;
    }
    r->times.dfs = t.dfs_ns;
    r->times.reverse = t.reverse_ns;
    r->times.semi = t.semi_ns;
    rc = after_dominators(r, g, &t, o, err);
    dominators_fini(&t);
    return rc;
}

static int find_known(struct retained *r, const struct retained_options *options, struct err *err)
{
    struct graph g;
    const struct graph_options how = {.soft = options->soft};
    uint64_t began = clock_mono_ns();
    phase(options, "reading references");
    TRY(graph_build(&g, r->d, &how, err));
    r->times.graph = lap(&began);
    int rc = with_graph(r, &g, options, err);
    began = clock_mono_ns();
    phase(options, "summing up classes");
    if (rc == 0 && options->classes && class_sums(r, &g) < 0)
        rc = no_memory(r, err);
    graph_fini(&g);
    r->times.classes = lap(&began);
    return rc;
}

/* A path through what is there is one. */
static int path_alone(struct retained *r, const struct retained_options *options, struct err *err)
{
    struct graph g;
    const struct graph_options how = {.soft = options->soft};
    phase(options, "reading references");
    TRY(graph_build(&g, r->d, &how, err));
    int rc = paths_down(&r->paths, &g, r->d, options->path_to, err);
    graph_fini(&g);
    return rc;
}

/* Only the objects, and that nothing more is known of them. */
static int find_objects(struct retained *r, const struct retained_options *options, struct err *err)
{
    size_t n = (size_t)r->d->n_objects + 1;
    if (options->path_to && missing_knows_paths(r->d))
        TRY(path_alone(r, options, err));
    r->dominators = malloc(n * sizeof *r->dominators);
    r->eighths = calloc(n, sizeof *r->eighths);
    r->class_bytes = calloc((size_t)r->d->n_classes + 1, sizeof *r->class_bytes);
    if (!r->dominators || !r->eighths || !r->class_bytes)
        return no_memory(r, err);
    memset(r->dominators, 0xff, n * sizeof *r->dominators);
    phase(options, "reading sizes");
    return objects_locate_sized(&r->objects, r->d, r->eighths, err);
}

int retained_find(struct retained *r, const struct dump *d, const struct retained_options *options,
                  struct err *err)
{
    *r = (struct retained){.d = d, .known = missing_knows_keepers(d)};
    map_init(&r->large);
    int rc = r->known ? find_known(r, options, err) : find_objects(r, options, err);
    if (rc < 0)
        retained_fini(r);
    return rc;
}

void retained_fini(struct retained *r)
{
    objects_release(&r->objects);
    free(r->dominators);
    free(r->eighths);
    free(r->class_bytes);
    paths_fini(&r->paths);
    map_fini(&r->large);
    *r = (struct retained){0};
}

static bool before(const struct retained *r, uint32_t a, uint32_t b)
{
    uint64_t x = eighths_of(r, a), y = eighths_of(r, b);
    return x != y ? x > y : a < b;
}

size_t retained_top(const struct retained *r, uint32_t under, uint32_t *out, size_t most,
                    uint64_t *all)
{
    size_t n = 0;
    *all = 0;
    for (uint32_t i = 0; i < r->d->n_objects; i++) {
        if (r->dominators[i] != under)
            continue;
        ++*all;
        if (most == 0 || (n == most && !before(r, i, out[n - 1])))
            continue;
        size_t at = n < most ? n++ : n - 1;
        for (; at > 0 && before(r, i, out[at - 1]); at--)
            out[at] = out[at - 1];
        out[at] = i;
    }
    return n;
}

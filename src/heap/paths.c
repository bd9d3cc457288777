#include "heap/paths.h"

#include "base/util.h"
#include "heap/bits.h"
#include "heap/varint.h"

#include <stdlib.h>
#include <string.h>

/* A reference that a way takes last: one that only a local of a thread is, one that a way before it
 * has taken; or that none may take, as a way before it began by it. */
struct special {
    uint32_t from, to;
    bool used, shut;
};

/* A step over a special reference: to be taken when nothing else is left. */
struct step {
    uint32_t node, came, depth;
};

/* Breadth first, in rounds: each takes one special reference more than the one before it.  `came`
 * is where each node was first met from, itself for a beginning. */
struct paths_search {
    const struct paths_source *source;
    uint32_t *came, *queue, head, tail;
    uint32_t depth; /* references to what is expanded, in the queue from head on */
    uint32_t goal;
    struct buf special;           /* struct special, by from and to, each once: */
    size_t n_special;             /* those that are in order */
    _Atomic uint64_t *is_special; /* nodes that such come from */
    struct buf later;             /* struct step, of the next round, least depth first */
    bool oom;
};

#define SPECIAL(s) ((struct special *)(void *)(s)->special.p)

/* --- special references ----------------------------------------------------------------------- */

static struct special *special_at(const struct paths_search *s, uint32_t from, uint32_t to)
{
    struct special *v = SPECIAL(s);
    size_t i = 0;
    if (!bits_has(s->is_special, from))
        return NULL;
    BISECT(i, s->n_special, v[i].from < from || (v[i].from == from && v[i].to < to));
    return i < s->n_special && v[i].from == from && v[i].to == to ? &v[i] : NULL;
}

static void add_special(struct paths_search *s, struct special x)
{
    buf_put(&s->special, &x, sizeof x);
    s->oom |= s->special.oom;
}

static int by_ends(const void *a, const void *b)
{
    const struct special *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

static void order_special(struct paths_search *s)
{
    s->n_special = s->special.len / sizeof(struct special);
    if (s->n_special)
        qsort(SPECIAL(s), s->n_special, sizeof(struct special), by_ends);
    for (size_t i = 0; i < s->n_special; i++)
        bits_add(s->is_special, SPECIAL(s)[i].from);
}

/* What a thread has only as locals: as often as frames name it, and no more. */
static void find_locals(struct paths_search *s)
{
    const struct paths_source *p = s->source;
    for (size_t i = 0; i < p->d->n_roots; i++) {
        const struct dump_root *r = &p->d->roots[i];
        uint32_t thread = graph_root_holder(p->d, r), object = ids_find(&p->d->ids, r->id);
        if (thread == IDS_NONE || object == IDS_NONE || thread == object)
            continue;
        struct special x = {p->node(p->ctx, thread), p->node(p->ctx, object), false, false};
        if (x.from != DUMP_NONE && x.to != DUMP_NONE)
            add_special(s, x);
    }
    order_special(s);
    size_t n = 0;
    struct special *v = SPECIAL(s);
    for (size_t i = 0, of; i < s->n_special; i += of) {
        for (of = 1; i + of < s->n_special && by_ends(&v[i], &v[i + of]) == 0;)
            of++;
        if (p->count(p->ctx, v[i].from, v[i].to) <= of)
            v[n++] = v[i];
    }
    s->n_special = n;
    s->special.len = n * sizeof *v;
}

static bool is_class(const struct dump *d, uint32_t object)
{
    return dump_class_by_id(d, ids_at(&d->ids, object)) != NULL;
}

/* Mark the references of a way; false: others have taken each of them. */
static bool use(struct paths_search *s, const struct heap_path *way)
{
    const struct paths_source *p = s->source;
    bool fresh = false;
    for (size_t i = 0; i + 1 < way->n; i++) {
        uint32_t from = p->node(p->ctx, way->v[i]), to = p->node(p->ctx, way->v[i + 1]);
        if (from == DUMP_NONE || to == DUMP_NONE)
            continue;
        struct special *known = special_at(s, from, to);
        bool begins = is_class(p->d, way->v[i]) || (i == 0 && !is_class(p->d, way->v[1]));
        fresh |= !known || !known->used;
        if (known) {
            known->shut |= begins || !known->used; /* a local */
            known->used = true;
        } else
            add_special(s, (struct special){from, to, true, begins});
    }
    return fresh;
}

/* --- the search ------------------------------------------------------------------------------- */

static void visit(struct paths_search *s, uint32_t node, uint32_t came)
{
    if (s->came[node] != DUMP_NONE)
        return;
    s->came[node] = came;
    s->queue[s->tail++] = node;
    if (s->goal == DUMP_NONE && s->source->ends(s->source->ctx, node))
        s->goal = node;
}

void paths_meet(struct paths_search *s, uint32_t node, uint32_t neighbour)
{
    if (s->came[neighbour] != DUMP_NONE)
        return;
    const struct special *x =
        s->source->up ? special_at(s, neighbour, node) : special_at(s, node, neighbour);
    if (!x) {
        visit(s, neighbour, node);
        return;
    }
    const struct step step = {neighbour, node, s->depth + 1};
    if (!x->shut)
        buf_put(&s->later, &step, sizeof step);
    s->oom |= s->later.oom;
}

/* All that is reached with as many special references as the steps have, nearest first. */
static void one_round(struct paths_search *s, const struct step *steps, size_t n)
{
    size_t i = 0;
    s->depth = n ? steps[0].depth : 0;
    while (s->goal == DUMP_NONE && (s->head < s->tail || i < n)) {
        if (s->head == s->tail)
            s->depth = steps[i].depth;
        for (; i < n && steps[i].depth <= s->depth; i++)
            visit(s, steps[i].node, steps[i].came);
        for (uint32_t end = s->tail; s->head < end && s->goal == DUMP_NONE; s->head++)
            s->source->expand(s->source->ctx, s->queue[s->head], s);
        s->depth++;
    }
}

static int search(struct paths_search *s)
{
    const struct paths_source *p = s->source;
    memset(s->came, 0xff, ((size_t)p->n + 1) * sizeof *s->came);
    s->head = s->tail = 0;
    s->goal = DUMP_NONE;
    buf_clear(&s->later);
    for (uint32_t i = 0; i < p->n_from; i++)
        visit(s, p->from[i], p->from[i]);
    one_round(s, NULL, 0);
    while (s->goal == DUMP_NONE && s->later.len) {
        struct buf steps = s->later;
        s->later = (struct buf){0};
        one_round(s, (const struct step *)(const void *)steps.p, steps.len / sizeof(struct step));
        buf_fini(&steps);
    }
    return s->oom ? -ENOMEM : 0;
}

static int collect(const struct paths_search *s, struct heap_path *way)
{
    const struct paths_source *p = s->source;
    way->n = 1;
    for (uint32_t at = s->goal; s->came[at] != at; at = s->came[at])
        way->n++;
    way->v = malloc((way->n + 1) * sizeof *way->v);
    if (!way->v)
        return -ENOMEM;
    uint32_t at = s->goal;
    for (size_t i = 0; i < way->n; i++, at = s->came[at])
        way->v[p->up ? i : way->n - 1 - i] = p->object(p->ctx, at);
    return 0;
}

static int find_each(struct paths_search *s, struct heap_paths *out, size_t most)
{
    find_locals(s);
    while (out->n < min_u64(most, PATHS_MOST)) {
        struct heap_path *way = &out->v[out->n];
        TRY(search(s));
        if (s->goal == DUMP_NONE)
            return 0;
        TRY(collect(s, way));
        out->n++;
        if (!use(s, way) && out->n > 1) {
            free(way->v);
            out->n--;
            return 0;
        }
        order_special(s);
    }
    return s->oom ? -ENOMEM : 0;
}

int paths_find(struct heap_paths *out, const struct paths_source *source, size_t most)
{
    size_t bytes = ((size_t)source->n + 1) * sizeof(uint32_t);
    struct paths_search s = {.source = source,
                             .came = malloc(bytes),
                             .queue = malloc(bytes),
                             .is_special = bits_new(source->n)};
    *out = (struct heap_paths){0};
    int rc = s.came && s.queue && s.is_special ? find_each(&s, out, most) : -ENOMEM;
    bits_free(s.is_special);
    buf_fini(&s.special);
    buf_fini(&s.later);
    free(s.came);
    free(s.queue);
    if (rc < 0)
        paths_fini(out);
    return rc;
}

void paths_fini(struct heap_paths *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->v[i].v);
    *p = (struct heap_paths){0};
}

/* --- through the graph ------------------------------------------------------------------------ */

struct down {
    const struct graph *g;
    uint32_t goal;
    uint32_t counted; /* the node whose references are listed, in order */
    struct buf listed;
};

static bool down_ends(const void *ctx, uint32_t node)
{
    return node == ((const struct down *)ctx)->goal;
}

static uint32_t down_node(const void *ctx, uint32_t object)
{
    const struct graph *g = ((const struct down *)ctx)->g;
    return graph_is_node(g, object) ? graph_node(g, object) : DUMP_NONE;
}

static uint32_t down_object(const void *ctx, uint32_t node)
{
    return graph_object(((const struct down *)ctx)->g, node);
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* A thread may have as many locals as a dump has bytes: its list is read once for all. */
static uint32_t down_count(void *ctx, uint32_t node, uint32_t to)
{
    struct down *d = ctx;
    uint32_t next;
    if (d->counted != node) {
        d->counted = node;
        buf_clear(&d->listed);
        for (const uint8_t *p = graph_edges(d->g, node); varint_next(&p, node, &next);)
            buf_put(&d->listed, &next, sizeof next);
        if (d->listed.len)
            qsort(d->listed.p, d->listed.len / sizeof next, sizeof next, ascending);
    }
    const uint32_t *v = (const void *)d->listed.p;
    size_t n = d->listed.len / sizeof *v, first = 0, end = 0;
    BISECT(first, n, v[first] < to);
    BISECT(end, n, v[end] <= to);
    return (uint32_t)(end - first);
}

static void down_expand(const void *ctx, uint32_t node, struct paths_search *s)
{
    uint32_t next;
    for (const uint8_t *p = graph_edges(((const struct down *)ctx)->g, node);
         varint_next(&p, node, &next);)
        paths_meet(s, node, next);
}

int paths_down(struct heap_paths *out, const struct graph *g, const struct dump *d, uint64_t id,
               struct err *err)
{
    uint32_t object = ids_find(&d->ids, id);
    *out = (struct heap_paths){0};
    if (object == IDS_NONE)
        return err_set(err, -ENOENT, "%s: no object has the id 0x%llx", d->path,
                       (unsigned long long)id);
    uint32_t node = graph_is_node(g, object) ? object : g->owners[object];
    if (node == DUMP_NONE)
        return 0;
    struct down down = {.g = g, .goal = graph_node(g, node), .counted = DUMP_NONE};
    const struct paths_source source = {.d = d,
                                        .ctx = &down,
                                        .n = g->n_nodes,
                                        .from = g->roots,
                                        .n_from = g->n_roots,
                                        .ends = down_ends,
                                        .node = down_node,
                                        .object = down_object,
                                        .count = down_count,
                                        .expand = down_expand};
    int rc = paths_find(out, &source, PATHS_MOST);
    buf_fini(&down.listed);
    if (rc < 0)
        return err_set(err, -ENOMEM, "%s: out of memory", d->path);
    for (size_t i = 0; i < out->n && node != object; i++)
        out->v[i].v[out->v[i].n++] = object; /* no node: its owner leads to it; collect left room */
    return 0;
}

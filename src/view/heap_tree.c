/* heap_tree.c - the tree of dominators: the children of one object, and a part of it as an icicle.
 *
 * An icicle is for one object and shows children with at least a given part of what the object
 * retains; smaller ones are one node of "others" beside their siblings.  No record is read for it,
 * so nodes have the names of their classes. */
#include "view/heap_parts.h"

#include "base/util.h"

#include <stdlib.h>

static uint64_t total_of(const struct heap_view *h, uint32_t object)
{
    return object == RETAINED_ROOT ? h->retained.bytes_reached
                                   : retained_bytes(&h->retained, object);
}

static uint64_t sum_of(const struct heap_view *h, const uint32_t *list, uint32_t n)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += retained_bytes(&h->retained, list[i]);
    return sum;
}

static uint32_t asked(const struct heap_ask *a)
{
    return a->object == DUMP_NONE ? RETAINED_ROOT : a->object;
}

/* --- as a table ------------------------------------------------------------------------------- */

json_t *heap_answer_tree(struct heap_ask *a, int *rc, struct err *err)
{
    const struct heap_view *h = a->h;
    uint32_t n, under = asked(a);
    const uint32_t *list = children_of(&h->children, under, &n);
    uint32_t from = (uint32_t)min_u64(a->offset, n),
             to = (uint32_t)min_u64(from + min_u64(a->top, HEAP_TOP_MAX), n);
    json_t *out = json_array();
    UNUSED(rc);
    UNUSED(err);
    for (uint32_t i = from; i < to; i++) {
        uint32_t below;
        json_t *j = heap_json_brief(a, list[i]);
        children_of(&h->children, list[i], &below);
        json_object_set_new(j, "children", heap_json_count(below));
        json_array_append_new(out, j);
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "object",
                     under == RETAINED_ROOT ? json_null() : heap_json_count(under), "retained",
                     heap_json_count(total_of(h, under)), "n", heap_json_count(n), "offset",
                     heap_json_count(from), "rest_bytes",
                     heap_json_count(sum_of(h, list + to, n - to)), "children", out);
}

/* --- as an icicle ----------------------------------------------------------------------------- */

struct node {
    uint32_t object; /* RETAINED_ROOT; DUMP_NONE: others */
    int32_t parent;  /* index, -1 */
    uint32_t n;      /* others: how many */
    uint32_t depth;
    uint64_t bytes;
};

struct icicle {
    const struct heap_view *h;
    struct node *v;
    size_t n;
    uint64_t least;
};

/* Children follow, as far as there is room; what does not is among the others. */
static void expand(struct icicle *t, size_t at)
{
    const struct node of = t->v[at];
    uint32_t n, i = 0;
    if (of.object == DUMP_NONE || of.depth >= HEAP_DEPTH_MAX)
        return;
    const uint32_t *list = children_of(&t->h->children, of.object, &n);
    for (; i < n && t->n + 1 < HEAP_NODES_MAX; i++) {
        uint64_t bytes = retained_bytes(&t->h->retained, list[i]);
        if (bytes < t->least)
            break;
        t->v[t->n++] = (struct node){list[i], (int32_t)at, 1, of.depth + 1, bytes};
    }
    uint64_t rest = sum_of(t->h, list + i, n - i);
    if (rest >= t->least && t->n < HEAP_NODES_MAX)
        t->v[t->n++] = (struct node){DUMP_NONE, (int32_t)at, n - i, of.depth + 1, rest};
}

static json_t *name_of(const struct heap_view *h, uint32_t object)
{
    struct buf b = {0};
    if (object == RETAINED_ROOT)
        buf_puts(&b, "all that the roots keep");
    else
        heap_put_class(h, object, &b);
    json_t *j = heap_json_text_n((const char *)b.p, b.len);
    buf_fini(&b);
    return j;
}

static json_t *node_json(const struct heap_view *h, const struct node *v)
{
    bool is_object = v->object < RETAINED_ROOT;
    return json_pack("[i, o, o, o, o]", (int)v->parent,
                     is_object ? heap_json_count(v->object) : json_null(),
                     heap_json_count(v->bytes), heap_json_count(v->n),
                     v->object == DUMP_NONE ? json_null() : name_of(h, v->object));
}

/* Who dominates the object, the nearest first; *more: how many further up are left out. */
static json_t *up_from(const struct heap_view *h, uint32_t object, uint64_t *more)
{
    json_t *list = json_array();
    *more = 0;
    if (object == RETAINED_ROOT || h->retained.dominators[object] == DUMP_NONE)
        return list;
    for (uint32_t at = h->retained.dominators[object]; at != RETAINED_ROOT;
         at = h->retained.dominators[at]) {
        if (json_array_size(list) == HEAP_UP_MAX) {
            ++*more;
            continue;
        }
        json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "object", heap_json_count(at),
                                              "name", name_of(h, at), "retained",
                                              heap_json_count(retained_bytes(&h->retained, at))));
    }
    return list;
}

json_t *heap_answer_icicle(struct heap_ask *a, int *rc, struct err *err)
{
    const struct heap_view *h = a->h;
    uint32_t top = asked(a);
    struct icicle t = {.h = h, .v = calloc(HEAP_NODES_MAX, sizeof *t.v)};
    if (!t.v) {
        *rc = err_set(err, -ENOMEM, "out of memory");
        return NULL;
    }
    uint64_t more, bytes = total_of(h, top);
    t.least = max_u64(bytes / a->parts, 1);
    t.v[t.n++] = (struct node){top, -1, 1, 0, bytes};
    for (size_t i = 0; i < t.n; i++)
        expand(&t, i);
    json_t *nodes = json_array(), *up = up_from(h, top, &more);
    for (size_t i = 0; i < t.n; i++)
        json_array_append_new(nodes, node_json(h, &t.v[i]));
    free(t.v);
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "object",
                     top == RETAINED_ROOT ? json_null() : heap_json_count(top), "all",
                     heap_json_count(h->retained.bytes_reached), "up", up, "up_left_out",
                     heap_json_count(more), "nodes", nodes);
}

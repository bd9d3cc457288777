#include "heap/referrers.h"

#include "base/util.h"
#include "heap/graph.h"
#include "heap/refs.h"
#include "heap/workers.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 14, CACHED = 1024 };

#define MOST_OBJECTS (UINT32_C(1) << 31)

struct recent { /* class ids -> number + 1 */
    uint64_t id[CACHED];
    uint32_t number[CACHED];
};

/* The first pass counts, the second one fills. */
struct pass {
    struct referrers *r;
    const struct dump *d;
    struct refs refs;
    struct recent *recent;  /* of each worker */
    _Atomic uint32_t *left; /* of each object: to come.  Relaxed: only joining orders them */
    bool fills;
};

/* --- what refers to what ---------------------------------------------------------------------- */

/* A file that has changed between the passes must not lead beyond the lists. */
static void refer(struct pass *p, uint32_t from, uint32_t to, bool weak)
{
    if (to == IDS_NONE)
        return;
    if (!p->fills) {
        atomic_fetch_add_explicit(&p->left[to], 1, memory_order_relaxed);
        return;
    }
    uint32_t left = atomic_fetch_sub_explicit(&p->left[to], 1, memory_order_relaxed);
    uint32_t begin = p->r->begins[to], n = p->r->begins[to + 1] - begin;
    if (left > 0 && left <= n)
        p->r->from[begin + left - 1] = from << 1 | weak;
}

static void refer_id(struct pass *p, uint32_t from, uint64_t id, bool weak)
{
    if (id)
        refer(p, from, ids_find(&p->d->ids, id), weak);
}

static uint32_t class_number(const struct pass *p, unsigned worker, const struct hprof_item *it)
{
    struct recent *r = &p->recent[worker];
    size_t slot = (it->class_id >> 3 ^ it->class_id >> 13) & (CACHED - 1);
    if (r->id[slot] != it->class_id || !r->number[slot]) {
        r->id[slot] = it->class_id;
        r->number[slot] = dump_item_class(p->d, it) + 1; /* DUMP_NONE becomes 0 */
    }
    return r->number[slot] - 1;
}

static void instance(struct pass *p, uint32_t from, uint32_t number, struct hprof *h,
                     const struct hprof_item *it)
{
    const uint8_t *body;
    if (number == DUMP_NONE || !p->refs.classes[number].any)
        return;
    uint64_t len = min_u64(it->body_len, p->d->classes[number].body_len);
    size_t got = hprof_body(h, &body, (size_t)min_u64(len, HPROF_WINDOW), SIZE_MAX);
    for (struct refs_walk r = refs_begin(number); refs_next(&p->refs, &r, got);)
        refer_id(p, from, hprof_id(body + r.at, h->id_size), !refs_keeps(&p->refs, &r, false));
}

static void object_array(struct pass *p, uint32_t from, struct hprof *h)
{
    const uint8_t *body;
    size_t got, id = h->id_size;
    while ((got = hprof_body(h, &body, id, SIZE_MAX)) >= id)
        for (size_t at = 0; at + id <= got; at += id)
            refer_id(p, from, hprof_id(body + at, h->id_size), false);
}

static void class_object(struct pass *p, uint32_t from, const struct hprof_item *it)
{
    const struct dump_class *c = dump_class_by_id(p->d, it->id);
    if (!c || c->offset != it->offset)
        return;
    if (c->super != DUMP_NONE)
        refer_id(p, from, p->d->classes[c->super].id, false);
    refer_id(p, from, c->loader, false);
    refer_id(p, from, c->signers, false);
    refer_id(p, from, c->domain, false);
    for (uint32_t i = 0; i < c->n_statics; i++)
        if (c->statics[i].type == HPROF_OBJECT)
            refer_id(p, from, c->statics[i].value, false);
}

static int read_item(void *ctx, unsigned worker, struct hprof *h, const struct hprof_item *it)
{
    struct pass *p = ctx;
    uint32_t from = it->sub && !hprof_is_root(it->tag) ? ids_find(&p->d->ids, it->id) : IDS_NONE;
    if (from == IDS_NONE)
        return 0;
    if (it->tag == HPROF_INSTANCE)
        instance(p, from, class_number(p, worker, it), h, it);
    else if (it->tag == HPROF_OBJECT_ARRAY)
        object_array(p, from, h);
    else if (it->tag == HPROF_CLASS)
        class_object(p, from, it);
    return 0;
}

static void set_root(struct pass *p, uint64_t id)
{
    uint32_t object = id ? ids_find(&p->d->ids, id) : IDS_NONE;
    if (object != IDS_NONE)
        p->r->is_root[object >> 6] |= UINT64_C(1) << (object & 63);
}

/* What no record has: roots, a thread's locals, a loader's classes. */
static void unrecorded(struct pass *p)
{
    const struct dump *d = p->d;
    for (size_t i = 0; i < d->n_roots; i++) {
        uint32_t thread = graph_root_holder(d, &d->roots[i]);
        if (thread == IDS_NONE)
            set_root(p, d->roots[i].id);
        else
            refer_id(p, thread, d->roots[i].id, false);
    }
    for (uint32_t i = 0; i < d->n_classes; i++) {
        const struct dump_class *c = &d->classes[i];
        uint32_t loader = c->loader ? ids_find(&d->ids, c->loader) : IDS_NONE;
        if (!c->loader && c->described)
            set_root(p, c->id);
        else if (loader != IDS_NONE && c->described)
            refer_id(p, loader, c->id, false);
    }
}

/* --- the lists -------------------------------------------------------------------------------- */

static int one_pass(struct pass *p, struct err *err)
{
    TRY(dump_each(p->d, read_item, p, err));
    unrecorded(p);
    return 0;
}

static int make_room(struct pass *p, struct err *err)
{
    const struct dump *d = p->d;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < d->n_objects; i++) {
        p->r->begins[i] = (uint32_t)sum;
        sum += atomic_load_explicit(&p->left[i], memory_order_relaxed);
        if (sum > UINT32_MAX)
            return err_set(err, -EOVERFLOW, "%s: too many references for Orca", d->path);
    }
    p->r->begins[d->n_objects] = (uint32_t)sum;
    p->r->from = malloc((sum + 1) * sizeof *p->r->from);
    if (!p->r->from)
        return err_set(err, -ENOMEM, "%s: out of memory", d->path);
    memset(p->r->from, 0xff, (sum + 1) * sizeof *p->r->from);
    p->fills = true;
    return 0;
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static int sort_piece(void *ctx, unsigned worker, uint64_t piece)
{
    const struct referrers *r = ctx;
    uint64_t end = min_u64((piece + 1) * PIECE, r->d->n_objects);
    UNUSED(worker);
    for (uint64_t i = piece * PIECE; i < end; i++) {
        uint32_t n = r->begins[i + 1] - r->begins[i];
        if (n > 1)
            qsort(&r->from[r->begins[i]], n, sizeof *r->from, ascending);
    }
    return 0;
}

static int make_lists(struct pass *p, struct err *err)
{
    const struct dump *d = p->d;
    if (refs_init(&p->refs, d) < 0)
        return err_set(err, -ENOMEM, "%s: out of memory", d->path);
    TRY(one_pass(p, err));
    TRY(make_room(p, err));
    TRY(one_pass(p, err));
    return workers_run(dump_workers(d), (uint64_t)d->n_objects / PIECE + 1, sort_piece, p->r);
}

int referrers_find(struct referrers *r, const struct dump *d, struct err *err)
{
    struct pass p = {.r = r, .d = d};
    *r = (struct referrers){.d = d};
    if (d->n_objects >= MOST_OBJECTS)
        return err_set(err, -EOVERFLOW, "%s: too many objects to search for what refers to them",
                       d->path);
    r->begins = calloc((size_t)d->n_objects + 1, sizeof *r->begins);
    r->is_root = calloc((d->n_objects >> 6) + 1, sizeof *r->is_root);
    p.left = calloc((size_t)d->n_objects + 1, sizeof *p.left);
    p.recent = calloc(WORKERS_MAX, sizeof *p.recent);
    int rc = r->begins && r->is_root && p.left && p.recent
                 ? make_lists(&p, err)
                 : err_set(err, -ENOMEM, "%s: out of memory", d->path);
    refs_fini(&p.refs);
    free(p.recent);
    free((void *)p.left);
    if (rc < 0)
        referrers_fini(r);
    return rc;
}

void referrers_fini(struct referrers *r)
{
    free(r->begins);
    free(r->from);
    free(r->is_root);
    *r = (struct referrers){0};
}

const uint32_t *referrers_of(const struct referrers *r, uint32_t object, uint32_t *n)
{
    const uint32_t *list = &r->from[r->begins[object]];
    *n = r->begins[object + 1] - r->begins[object];
    while (*n > 0 && list[*n - 1] == UINT32_MAX) /* it never came: see refer */
        --*n;
    return list;
}

/* --- the way from a root ---------------------------------------------------------------------- */

bool referrers_is_root(const struct referrers *r, uint32_t object)
{
    return r->is_root[object >> 6] >> (object & 63) & 1;
}

struct up {
    const struct referrers *r;
    uint32_t *first, *next; /* instances of each class, linked; NULL: they are not looked at */
};

static const struct referrers *lists(const void *ctx)
{
    return ((const struct up *)ctx)->r;
}

static bool up_ends(const void *ctx, uint32_t object)
{
    return referrers_is_root(lists(ctx), object);
}

static uint32_t itself(const void *ctx, uint32_t object)
{
    UNUSED(ctx);
    return object;
}

static uint32_t up_count(void *ctx, uint32_t object, uint32_t to)
{
    uint32_t n, first = 0, end = 0;
    const uint32_t *list = referrers_of(lists(ctx), to, &n);
    BISECT(first, n, list[first] < object << 1);
    BISECT(end, n, list[end] <= object << 1);
    return end - first;
}

static void up_expand(const void *ctx, uint32_t object, struct paths_search *s)
{
    const struct up *up = ctx;
    uint32_t n;
    const uint32_t *list = referrers_of(up->r, object, &n);
    for (uint32_t i = 0; i < n; i++)
        if (!(list[i] & 1))
            paths_meet(s, object, list[i] >> 1);
    const struct dump *d = up->r->d;
    const struct dump_class *c = up->first ? dump_class_by_id(d, ids_at(&d->ids, object)) : NULL;
    for (uint32_t i = c ? up->first[c->number] : DUMP_NONE; i != DUMP_NONE; i = up->next[i])
        paths_meet(s, object, i);
}

static int list_instances(struct up *up, const struct objects *o)
{
    const struct dump *d = up->r->d;
    up->first = malloc(((size_t)d->n_classes + 1) * sizeof *up->first);
    up->next = malloc(((size_t)d->n_objects + 1) * sizeof *up->next);
    if (!up->first || !up->next)
        return -ENOMEM;
    memset(up->first, 0xff, ((size_t)d->n_classes + 1) * sizeof *up->first);
    for (uint32_t i = d->n_objects; i-- > 0;) {
        uint32_t c = objects_class(o, i);
        if (c == DUMP_NONE)
            continue;
        up->next[i] = up->first[c];
        up->first[c] = i;
    }
    return 0;
}

int referrers_paths(const struct referrers *r, const struct objects *o, uint32_t object,
                    struct heap_paths *out)
{
    struct up up = {.r = r};
    const struct paths_source source = {.d = r->d,
                                        .ctx = &up,
                                        .n = r->d->n_objects,
                                        .up = true,
                                        .from = &object,
                                        .n_from = 1,
                                        .ends = up_ends,
                                        .node = itself,
                                        .object = itself,
                                        .count = up_count,
                                        .expand = up_expand};
    int rc = paths_find(out, &source, PATHS_MOST);
    if (rc == 0 && out->n == 0 && (rc = list_instances(&up, o)) == 0)
        rc = paths_find(out, &source, PATHS_MOST);
    free(up.first);
    free(up.next);
    return rc;
}

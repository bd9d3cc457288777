#include "heap/graph.h"

#include "base/buf.h"
#include "base/util.h"
#include "heap/refs.h"
#include "heap/varint.h"
#include "heap/workers.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BLOCK = 1 << 20, CACHED = 1024 };

struct pair { /* a reference that no record has */
    uint32_t from, to;
};

struct writer { /* a worker's end of the lists */
    uint8_t *p, *end;
    uint32_t *targets;
    size_t n, cap;
    uint64_t id[CACHED]; /* class ids -> number + 1 */
    uint32_t number[CACHED];
};

/* Lists in the order of the file, before it is known which objects are nodes. */
struct raw {
    const struct dump *d;
    struct graph *g;
    struct refs refs;
    bool soft;
    uint32_t *mirrors;  /* of each class: its Class object, unless a root; else DUMP_NONE */
    struct pair *pairs; /* sorted */
    size_t n_pairs;
    uint64_t *is_root;              /* bits of objects */
    _Atomic uint64_t *has_pairs;    /* those whose pairs are not in a list yet */
    _Atomic uint64_t *once, *twice; /* bits: referred to.  Relaxed: only joining orders them */
    uint32_t *at;                   /* of each object: its list >> shift, DUMP_NONE: it has none */
    unsigned shift;
    uint8_t *lists; /* address space; only what is used takes memory */
    uint64_t size;
    _Atomic uint64_t used; /* bytes given out, in blocks */
    struct writer writers[WORKERS_MAX];
};

static bool bit(const uint64_t *bits, uint32_t i)
{
    return bits[i >> 6] >> (i & 63) & 1;
}

static void set_bit(uint64_t *bits, uint32_t i)
{
    bits[i >> 6] |= UINT64_C(1) << (i & 63);
}

/* --- roots and what no record says ------------------------------------------------------------ */

static bool is_local(const struct dump_root *r)
{
    return r->kind == HPROF_ROOT_JAVA_FRAME || r->kind == HPROF_ROOT_JNI_LOCAL ||
           r->kind == HPROF_ROOT_NATIVE_STACK || r->kind == HPROF_ROOT_THREAD_BLOCK;
}

uint32_t graph_root_holder(const struct dump *d, const struct dump_root *r)
{
    const struct dump_thread *t = is_local(r) ? dump_thread_by_serial(d, r->thread) : NULL;
    return t ? ids_find(&d->ids, t->id) : IDS_NONE;
}

static void add_pair(struct buf *pairs, uint32_t from, uint32_t to)
{
    struct pair p = {from, to};
    buf_put(pairs, &p, sizeof p);
}

static void find_roots(struct raw *w, struct buf *pairs)
{
    const struct dump *d = w->d;
    for (size_t i = 0; i < d->n_roots; i++) {
        const struct dump_root *r = &d->roots[i];
        uint32_t object = ids_find(&d->ids, r->id), thread = graph_root_holder(d, r);
        if (object == IDS_NONE)
            continue;
        if (thread == IDS_NONE)
            set_bit(w->is_root, object);
        else if (thread != object)
            add_pair(pairs, thread, object);
    }
    for (uint32_t i = 0; i < d->n_classes; i++) {
        const struct dump_class *c = &d->classes[i];
        uint32_t object = c->id ? ids_find(&d->ids, c->id) : IDS_NONE;
        if (object == IDS_NONE || !c->described)
            continue;
        uint32_t loader = c->loader ? ids_find(&d->ids, c->loader) : IDS_NONE;
        if (!c->loader)
            set_bit(w->is_root, object);
        else if (loader != IDS_NONE)
            add_pair(pairs, loader, object);
    }
}

static int by_pair(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

static void set_pairs(struct raw *w, uint32_t from)
{
    atomic_fetch_or_explicit(&w->has_pairs[from >> 6], UINT64_C(1) << (from & 63),
                             memory_order_relaxed);
}

/* Whether its pairs were still to be taken: once, however many records an object has. */
static bool take_pairs(struct raw *w, uint32_t from)
{
    uint64_t mask = UINT64_C(1) << (from & 63);
    return atomic_load_explicit(&w->has_pairs[from >> 6], memory_order_relaxed) & mask &&
           atomic_fetch_and_explicit(&w->has_pairs[from >> 6], ~mask, memory_order_relaxed) & mask;
}

static int find_pairs(struct raw *w)
{
    struct buf pairs = {0};
    find_roots(w, &pairs);
    if (pairs.oom)
        return -ENOMEM;
    w->pairs = (struct pair *)(void *)pairs.p;
    w->n_pairs = pairs.len / sizeof(struct pair);
    if (w->n_pairs)
        qsort(w->pairs, w->n_pairs, sizeof *w->pairs, by_pair);
    for (size_t i = 0; i < w->n_pairs; i++)
        set_pairs(w, w->pairs[i].from);
    return 0;
}

static void find_mirror(struct raw *w, const struct dump_class *c)
{
    uint32_t object = c->id ? ids_find(&w->d->ids, c->id) : IDS_NONE;
    w->mirrors[c->number] = object == IDS_NONE || bit(w->is_root, object) ? DUMP_NONE : object;
}

/* --- the pass --------------------------------------------------------------------------------- */

static int add_target(struct raw *w, struct writer *o, uint32_t from, uint32_t to)
{
    if (to == IDS_NONE || to == from || bit(w->is_root, to))
        return 0;
    if (o->n == o->cap) {
        size_t cap = o->cap ? 2 * o->cap : 1024;
        uint32_t *more = realloc(o->targets, cap * sizeof *more);
        if (!more)
            return -ENOMEM;
        o->targets = more;
        o->cap = cap;
    }
    o->targets[o->n++] = to;
    return 0;
}

static int add_id(struct raw *w, struct writer *o, uint32_t from, uint64_t id)
{
    return id ? add_target(w, o, from, ids_find(&w->d->ids, id)) : 0;
}

static int add_pairs(struct raw *w, struct writer *o, uint32_t from)
{
    size_t lo = 0, hi = w->n_pairs;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (w->pairs[mid].from < from)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo < w->n_pairs && w->pairs[lo].from == from; lo++)
        TRY(add_target(w, o, from, w->pairs[lo].to));
    return 0;
}

static uint32_t class_number(const struct raw *w, struct writer *o, const struct hprof_item *it)
{
    size_t slot = (it->class_id >> 3 ^ it->class_id >> 13) & (CACHED - 1);
    if (o->id[slot] != it->class_id || !o->number[slot]) {
        o->id[slot] = it->class_id;
        o->number[slot] = dump_item_class(w->d, it) + 1; /* DUMP_NONE becomes 0 */
    }
    return o->number[slot] - 1;
}

static int instance(struct raw *w, struct writer *o, struct hprof *h, const struct hprof_item *it,
                    uint32_t v)
{
    uint32_t number = class_number(w, o, it);
    if (number == DUMP_NONE)
        return 0;
    const uint8_t *p;
    if (w->refs.classes[number].any) {
        uint64_t len = min_u64(it->body_len, w->d->classes[number].body_len);
        size_t got = hprof_body(h, &p, (size_t)min_u64(len, HPROF_WINDOW), SIZE_MAX);
        for (struct refs_walk r = refs_begin(number); refs_next(&w->refs, &r, got);)
            if (refs_keeps(&w->refs, &r, w->soft))
                TRY(add_id(w, o, v, hprof_id(p + r.at, h->id_size)));
    }
    return w->mirrors[number] == DUMP_NONE ? 0 : add_target(w, o, v, w->mirrors[number]);
}

static int object_array(struct raw *w, struct writer *o, struct hprof *h,
                        const struct hprof_item *it, uint32_t v)
{
    const uint8_t *p;
    size_t got, id = h->id_size;
    while ((got = hprof_body(h, &p, id, SIZE_MAX)) >= id)
        for (size_t at = 0; at + id <= got; at += id)
            TRY(add_id(w, o, v, hprof_id(p + at, h->id_size)));
    uint32_t number = class_number(w, o, it);
    return number == DUMP_NONE || w->mirrors[number] == DUMP_NONE
               ? 0
               : add_target(w, o, v, w->mirrors[number]);
}

static int class_object(struct raw *w, struct writer *o, const struct hprof_item *it, uint32_t v)
{
    const struct dump_class *c = dump_class_by_id(w->d, it->id);
    if (!c || c->offset != it->offset)
        return 0;
    if (c->super != DUMP_NONE)
        TRY(add_id(w, o, v, w->d->classes[c->super].id));
    TRY(add_id(w, o, v, c->loader));
    TRY(add_id(w, o, v, c->signers));
    TRY(add_id(w, o, v, c->domain));
    for (uint32_t i = 0; i < c->n_statics; i++)
        if (c->statics[i].type == HPROF_OBJECT)
            TRY(add_id(w, o, v, c->statics[i].value));
    return 0;
}

/* Room for n references. */
static int make_room(struct raw *w, struct writer *o, size_t n)
{
    uint64_t want = (uint64_t)n * VARINT_MAX + 1 + (UINT64_C(1) << w->shift);
    if (o->p && (uint64_t)(o->end - o->p) >= want)
        return 0;
    uint64_t blocks = ALIGN_UP(want, (uint64_t)BLOCK);
    uint64_t from = atomic_fetch_add_explicit(&w->used, blocks, memory_order_relaxed);
    if (from + blocks > w->size)
        return -EOVERFLOW;
    o->p = w->lists + from;
    o->end = o->p + blocks;
    return 0;
}

static void refer(struct raw *w, uint32_t to)
{
    uint64_t mask = UINT64_C(1) << (to & 63);
    if (atomic_load_explicit(&w->twice[to >> 6], memory_order_relaxed) & mask)
        return;
    if (atomic_fetch_or_explicit(&w->once[to >> 6], mask, memory_order_relaxed) & mask)
        atomic_fetch_or_explicit(&w->twice[to >> 6], mask, memory_order_relaxed);
}

static int write_list(struct raw *w, struct writer *o, uint32_t v)
{
    if (o->n == 0)
        return 0;
    TRY(make_room(w, o, o->n));
    uint64_t at = ALIGN_UP((uint64_t)(o->p - w->lists), UINT64_C(1) << w->shift);
    if (at >> w->shift >= DUMP_NONE)
        return -EOVERFLOW;
    uint8_t *p = w->lists + at;
    for (size_t i = 0; i < o->n; i++) {
        p = varint_put(p, v, o->targets[i]);
        refer(w, o->targets[i]);
    }
    *p++ = 0;
    o->p = p;
    w->at[v] = (uint32_t)(at >> w->shift);
    return 0;
}

static int read_item(void *ctx, unsigned worker, struct hprof *h, const struct hprof_item *it)
{
    struct raw *w = ctx;
    struct writer *o = &w->writers[worker];
    if (!it->sub || hprof_is_root(it->tag))
        return 0;
    uint32_t v = ids_find(&w->d->ids, it->id);
    if (v == IDS_NONE || w->at[v] != DUMP_NONE)
        return 0;
    o->n = 0;
    if (it->tag == HPROF_INSTANCE)
        TRY(instance(w, o, h, it, v));
    else if (it->tag == HPROF_OBJECT_ARRAY)
        TRY(object_array(w, o, h, it, v));
    else if (it->tag == HPROF_CLASS)
        TRY(class_object(w, o, it, v));
    if (take_pairs(w, v))
        TRY(add_pairs(w, o, v));
    return write_list(w, o, v);
}

/* --- nodes ------------------------------------------------------------------------------------ */

static void find_nodes(struct raw *w)
{
    struct graph *g = w->g;
    uint64_t n = 0;
    for (uint32_t word = 0; word <= g->n_objects >> 6; word++) {
        uint64_t bits =
            w->is_root[word] | atomic_load_explicit(&w->twice[word], memory_order_relaxed);
        uint64_t referred = atomic_load_explicit(&w->once[word], memory_order_relaxed);
        for (uint32_t i = 0; i < 64 && word * 64 + i < g->n_objects; i++)
            if (w->at[word * 64 + i] != DUMP_NONE || !(referred >> i & 1))
                bits |= UINT64_C(1) << i;
        g->node_bits[word] = (struct bit_rank){bits, n};
        n += (uint64_t)__builtin_popcountll(bits);
    }
    g->n_nodes = (uint32_t)n;
}

uint32_t graph_object(const struct graph *g, uint32_t node)
{
    size_t lo = 0, hi = (g->n_objects >> 6) + 1;
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        if (g->node_bits[mid].before <= node)
            lo = mid;
        else
            hi = mid;
    }
    uint64_t bits = g->node_bits[lo].bits;
    for (uint64_t skip = node - g->node_bits[lo].before; skip > 0; skip--)
        bits &= bits - 1;
    return (uint32_t)(lo * 64 + (unsigned)__builtin_ctzll(bits));
}

struct nodes { /* the lists by node */
    struct raw *w;
    _Atomic uint64_t edges, bytes;
};

/* One node's list with nodes for objects; an object that is not a node gets its owner. */
static void node_list(struct raw *w, struct buf *b, uint32_t object, uint32_t node, uint64_t *edges)
{
    struct graph *g = w->g;
    uint32_t to;
    if (w->at[object] != DUMP_NONE) {
        const uint8_t *p = w->lists + ((uint64_t)w->at[object] << w->shift);
        while (varint_next(&p, object, &to)) {
            if (!graph_is_node(g, to)) {
                g->owners[to] = object;
                continue;
            }
            uint8_t *at = buf_reserve(b, VARINT_MAX + 1);
            if (!at)
                return;
            b->len += (size_t)(varint_put(at, node, graph_node(g, to)) - at);
            ++*edges;
        }
    }
    buf_putc(b, 0);
}

static int make_chunk(void *ctx, unsigned worker, uint64_t chunk)
{
    struct nodes *n = ctx;
    struct graph *g = n->w->g;
    struct buf b = {0};
    uint32_t node = (uint32_t)(chunk * GRAPH_CHUNK), object = graph_object(g, node);
    uint32_t end = (uint32_t)min_u64(node + (uint64_t)GRAPH_CHUNK, g->n_nodes);
    uint64_t edges = 0;
    (void)worker;
    for (; node < end; object++) {
        if (!graph_is_node(g, object))
            continue;
        if (b.len > UINT32_MAX) {
            buf_fini(&b);
            return -EOVERFLOW;
        }
        g->at[node] = (uint32_t)b.len;
        node_list(n->w, &b, object, node, &edges);
        node++;
    }
    if (b.oom || !b.len) {
        buf_fini(&b);
        return -ENOMEM;
    }
    uint8_t *tight = realloc(b.p, b.len);
    g->chunks[chunk] = tight ? tight : b.p;
    atomic_fetch_add_explicit(&n->edges, edges, memory_order_relaxed);
    atomic_fetch_add_explicit(&n->bytes, b.len, memory_order_relaxed);
    return 0;
}

static int list_roots(struct raw *w)
{
    struct graph *g = w->g;
    for (uint32_t i = 0; i < g->n_objects; i++)
        g->n_roots += bit(w->is_root, i);
    g->roots = malloc((g->n_roots + 1) * sizeof *g->roots);
    if (!g->roots)
        return -ENOMEM;
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n_objects; i++)
        if (bit(w->is_root, i))
            g->roots[n++] = graph_node(g, i);
    return 0;
}

static int make_nodes(struct raw *w)
{
    struct graph *g = w->g;
    struct nodes n = {.w = w};
    find_nodes(w);
    TRY(list_roots(w));
    uint64_t chunks = ((uint64_t)g->n_nodes + GRAPH_CHUNK - 1) / GRAPH_CHUNK;
    g->chunks = calloc(chunks + 1, sizeof *g->chunks);
    g->at = malloc(((size_t)g->n_nodes + 1) * sizeof *g->at);
    g->owners = malloc(((size_t)g->n_objects + 1) * sizeof *g->owners);
    if (!g->chunks || !g->at || !g->owners)
        return -ENOMEM;
    memset(g->owners, 0xff, ((size_t)g->n_objects + 1) * sizeof *g->owners);
    TRY(workers_run(dump_workers(w->d), chunks, make_chunk, &n));
    g->n_edges = atomic_load_explicit(&n.edges, memory_order_relaxed);
    g->edge_bytes = atomic_load_explicit(&n.bytes, memory_order_relaxed);
    return 0;
}

/* --- all of it -------------------------------------------------------------------------------- */

static int raw_init(struct raw *w)
{
    const struct dump *d = w->d;
    size_t words = (d->n_objects >> 6) + 1;
    w->mirrors = calloc((size_t)d->n_classes + 1, sizeof *w->mirrors);
    w->is_root = calloc(words, sizeof *w->is_root);
    w->has_pairs = calloc(words, sizeof *w->has_pairs);
    w->once = calloc(words, sizeof *w->once);
    w->twice = calloc(words, sizeof *w->twice);
    w->at = malloc(((size_t)d->n_objects + 1) * sizeof *w->at);
    w->g->node_bits = calloc(words, sizeof *w->g->node_bits);
    if (!w->mirrors || !w->is_root || !w->has_pairs || !w->once || !w->twice || !w->at ||
        !w->g->node_bits)
        return -ENOMEM;
    memset(w->at, 0xff, ((size_t)d->n_objects + 1) * sizeof *w->at);
    TRY(find_pairs(w));
    TRY(refs_init(&w->refs, d));
    for (uint32_t i = 0; i < d->n_classes; i++)
        find_mirror(w, &d->classes[i]);
    w->size = 4 * d->size + (UINT64_C(64) << 20);
    void *lists = mmap(NULL, w->size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (lists == MAP_FAILED)
        return -ENOMEM;
    w->lists = lists;
    while (d->size >> w->shift >= DUMP_NONE)
        w->shift++;
    return 0;
}

static void raw_fini(struct raw *w)
{
    refs_fini(&w->refs);
    for (int i = 0; i < WORKERS_MAX; i++)
        free(w->writers[i].targets);
    free(w->mirrors);
    free(w->pairs);
    free(w->is_root);
    free((void *)w->has_pairs);
    free((void *)w->once);
    free((void *)w->twice);
    free(w->at);
    if (w->lists)
        munmap(w->lists, w->size);
}

int graph_build(struct graph *g, const struct dump *d, const struct graph_options *options,
                struct err *err)
{
    struct raw *w = calloc(1, sizeof *w);
    *g = (struct graph){.n_objects = d->n_objects};
    if (!w)
        return err_set(err, -ENOMEM, "%s: out of memory", d->path);
    w->d = d;
    w->g = g;
    w->soft = options && options->soft;
    int rc = raw_init(w);
    bool said = false;
    if (rc == 0) {
        rc = dump_each(d, read_item, w, err);
        said = rc < 0 && rc != -EOVERFLOW;
    }
    if (rc == 0)
        rc = make_nodes(w);
    raw_fini(w);
    free(w);
    if (rc < 0) {
        graph_fini(g);
        if (rc == -EOVERFLOW)
            err_set(err, rc, "%s: too many references for Orca", d->path);
        else if (!said)
            err_set(err, rc, "%s: out of memory", d->path);
    }
    return rc;
}

void graph_drop_edges(struct graph *g)
{
    uint64_t chunks = ((uint64_t)g->n_nodes + GRAPH_CHUNK - 1) / GRAPH_CHUNK;
    for (uint64_t i = 0; g->chunks && i < chunks; i++)
        free(g->chunks[i]);
    free(g->chunks);
    free(g->at);
    g->chunks = NULL;
    g->at = NULL;
}

void graph_fini(struct graph *g)
{
    graph_drop_edges(g);
    free(g->node_bits);
    free(g->owners);
    free(g->roots);
    *g = (struct graph){0};
}

#include "heap/suspects.h"

#include "base/util.h"
#include "heap/links.h"
#include "heap/paths.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 1000 }; /* of a path of dominators that is looked at */

/* An object that keeps the least share. */
struct heavy {
    uint32_t dominator, object;
    uint64_t retained;
};

struct search {
    const struct retained *r;
    struct suspects *out;
    struct heavy *heavy; /* by dominator, then the most retained first */
    size_t n_heavy;
};

static uint32_t class_of(const struct search *s, uint32_t object)
{
    return objects_class(&s->r->objects, object);
}

static int by_dominator(const void *a, const void *b)
{
    const struct heavy *x = a, *y = b;
    if (x->dominator != y->dominator)
        return x->dominator < y->dominator ? -1 : 1;
    if (x->retained != y->retained)
        return x->retained > y->retained ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

static int find_heavy(struct search *s)
{
    struct buf all = {0};
    for (uint32_t i = 0; i < s->r->d->n_objects; i++) {
        struct heavy h = {s->r->dominators[i], i, retained_bytes(s->r, i)};
        if (h.dominator != DUMP_NONE && h.retained >= s->out->least)
            buf_put(&all, &h, sizeof h);
    }
    s->heavy = (struct heavy *)(void *)all.p;
    s->n_heavy = all.len / sizeof *s->heavy;
    if (s->n_heavy)
        qsort(s->heavy, s->n_heavy, sizeof *s->heavy, by_dominator);
    return all.oom ? -ENOMEM : 0;
}

/* The heavy children of an object: the first, and in *n how many. */
static const struct heavy *children(const struct search *s, uint32_t object, size_t *n)
{
    size_t from = 0, to;
    BISECT(from, s->n_heavy, s->heavy[from].dominator < object);
    for (to = from; to < s->n_heavy && s->heavy[to].dominator == object;)
        to++;
    *n = to - from;
    return *n ? &s->heavy[from] : NULL;
}

/* --- single objects --------------------------------------------------------------------------- */

static void add(struct suspects *out, const struct suspect *x)
{
    size_t at = out->n < SUSPECTS_ALL ? out->n++ : SUSPECTS_ALL;
    if (at == SUSPECTS_ALL) {
        if (x->retained <= out->v[at - 1].retained)
            return;
        at--;
    }
    for (; at > 0 && out->v[at - 1].retained < x->retained; at--)
        out->v[at] = out->v[at - 1];
    out->v[at] = *x;
}

static void add_object(struct search *s, uint32_t object, uint32_t top, uint64_t chain)
{
    const struct suspect x = {.object = object,
                              .class_number = class_of(s, object),
                              .count = 1,
                              .retained = retained_bytes(s->r, object),
                              .top = top,
                              .chain = chain};
    add(s->out, &x);
}

/* Objects of one class below each other from `object` on, as far as each keeps the least share. */
static uint64_t chain_length(const struct search *s, uint32_t object)
{
    uint64_t length = 1;
    uint32_t c = class_of(s, object);
    for (size_t n;; length++) {
        const struct heavy *child = children(s, object, &n);
        if (n != 1 || class_of(s, child->object) != c)
            return length;
        object = child->object;
    }
}

/* What is still to be followed. */
struct todo {
    uint32_t object, top;
};

static void put_todo(struct buf *todo, uint32_t object, uint32_t top)
{
    const struct todo t = {object, top};
    buf_put(todo, &t, sizeof t);
}

static void follow(struct search *s, struct buf *todo, struct todo at)
{
    for (size_t n;;) {
        uint64_t all = retained_bytes(s->r, at.object), below = 0;
        const struct heavy *child = children(s, at.object, &n);
        bool most = n && child->retained >= all / 100 * SUSPECTS_MOST_OF;
        uint64_t chain = most ? chain_length(s, child->object) : 0;
        if (chain >= SUSPECTS_CHAIN) {
            add_object(s, at.object, at.top, chain);
            return;
        }
        if (most) {
            at.object = child->object;
            continue;
        }
        for (size_t i = 0; i < n; i++) {
            below += child[i].retained;
            put_todo(todo, child[i].object, at.top);
        }
        if (all - min_u64(below, all) >= s->out->least)
            add_object(s, at.object, at.top, 0);
        return;
    }
}

static int find_objects(struct search *s)
{
    struct buf todo = {0};
    size_t n;
    const struct heavy *tops = children(s, RETAINED_ROOT, &n);
    for (size_t i = 0; i < n; i++)
        put_todo(&todo, tops[i].object, tops[i].object);
    while (todo.len && !todo.oom) {
        struct todo at;
        todo.len -= sizeof at;
        memcpy(&at, todo.p + todo.len, sizeof at);
        follow(s, &todo, at);
    }
    bool oom = todo.oom;
    buf_fini(&todo);
    return oom ? -ENOMEM : 0;
}

/* --- many small ones -------------------------------------------------------------------------- */

/* Classes themselves are many, and no leak. */
static int find_groups(struct search *s)
{
    const struct dump *d = s->r->d;
    struct suspect *all = calloc((size_t)d->n_classes + 1, sizeof *all);
    if (!all)
        return -ENOMEM;
    for (uint32_t i = 0; i < d->n_objects; i++) {
        uint32_t c = class_of(s, i);
        uint64_t retained = retained_bytes(s->r, i);
        if (s->r->dominators[i] != RETAINED_ROOT || c == DUMP_NONE || c == d->class_class ||
            retained >= s->out->least)
            continue;
        if (all[c].count++ == 0 || retained > retained_bytes(s->r, all[c].top))
            all[c].top = i;
        all[c].retained += retained;
    }
    for (uint32_t c = 0; c < d->n_classes; c++) {
        all[c].object = DUMP_NONE;
        all[c].class_number = c;
        if (all[c].count && all[c].retained >= s->out->least)
            add(s->out, &all[c]);
    }
    free(all);
    return 0;
}

/* --- what is below them ----------------------------------------------------------------------- */

static size_t suspect_of(const struct search *s, uint32_t object)
{
    for (size_t i = 0; i < s->out->n; i++)
        if (s->out->v[i].object == object)
            return i;
    return s->out->n;
}

static uint32_t keep_classes(struct suspect_class *out, const struct suspect_class *all, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t c = 0; c < n; c++) {
        if (all[c].count == 0)
            continue;
        uint32_t at = kept < SUSPECTS_CLASSES ? kept++ : SUSPECTS_CLASSES;
        if (at == SUSPECTS_CLASSES && all[c].retained <= out[--at].retained)
            continue;
        for (; at > 0 && out[at - 1].retained < all[c].retained; at--)
            out[at] = out[at - 1];
        out[at] = all[c];
        out[at].class_number = c;
    }
    return kept;
}

static void add_below(const struct search *s, struct suspect_class *sums, uint32_t object)
{
    uint32_t c = class_of(s, object);
    if (c == DUMP_NONE)
        return;
    sums[c].count++;
    sums[c].retained += retained_bytes(s->r, object);
}

/* Two sums of classes for each suspect: its children, and theirs. */
static int find_below(struct search *s)
{
    const struct retained *r = s->r;
    size_t classes = (size_t)r->d->n_classes + 1;
    struct suspect_class *sums = calloc((size_t)2 * s->out->n * classes + 1, sizeof *sums);
    if (!sums)
        return -ENOMEM;
    for (uint32_t i = 0; i < r->d->n_objects && s->out->n; i++) {
        uint32_t up = r->dominators[i];
        if (up >= RETAINED_ROOT)
            continue;
        size_t child = suspect_of(s, up), further = suspect_of(s, r->dominators[up]);
        if (child < s->out->n)
            add_below(s, sums + 2 * child * classes, i);
        if (further < s->out->n && r->dominators[up] < RETAINED_ROOT)
            add_below(s, sums + (2 * further + 1) * classes, i);
    }
    for (size_t i = 0; i < s->out->n; i++) {
        struct suspect *x = &s->out->v[i];
        x->n_below = keep_classes(x->below, sums + 2 * i * classes, r->d->n_classes);
        x->n_further = keep_classes(x->further, sums + (2 * i + 1) * classes, r->d->n_classes);
    }
    free(sums);
    return 0;
}

/* --- paths ------------------------------------------------------------------------------------ */

/* An object that the dump names as a root, not by a frame of a thread; or a class of the boot
 * loader. */
static bool is_root(const struct dump *d, uint32_t object)
{
    uint64_t id = ids_at(&d->ids, object);
    const struct dump_class *c = dump_class_by_id(d, id);
    size_t i = 0;
    if (c && c->described && !c->loader)
        return true;
    BISECT(i, d->n_roots, d->roots[i].id < id);
    for (; i < d->n_roots && d->roots[i].id == id; i++)
        if (!dump_thread_by_serial(d, d->roots[i].thread) ||
            d->roots[i].kind == HPROF_ROOT_THREAD_OBJ)
            return true;
    return false;
}

static bool refers(struct object_reader *reader, uint32_t from, uint32_t to)
{
    const struct dump *d = reader->o->d;
    const struct dump_class *c = dump_class_by_id(d, ids_at(&d->ids, to));
    struct buf name = {0};
    bool known = links_name(reader, from, to, &name) == 0 && strcmp(buf_str(&name), "?") != 0 &&
                 strncmp(buf_str(&name), links_local, strlen(links_local)) != 0;
    /* Of a class that a class loader holds. */
    if (known && strcmp(buf_str(&name), "a class of it") == 0)
        known = c && c->loader == ids_at(&d->ids, from);
    buf_fini(&name);
    return known;
}

/* All paths go through the dominators.  If they begin at a root and each refers to the next, not as
 * a thread does by a local, they are the one that tells most, the others have detours only, and the
 * references need not be read again. */
static int path_of_dominators(const struct search *s, struct object_reader *reader,
                              struct suspect *x)
{
    const uint32_t *up = s->r->dominators;
    uint32_t to = x->object == DUMP_NONE ? x->top : x->object;
    if (!is_root(s->r->d, x->top))
        return 0;
    size_t n = 1;
    for (uint32_t at = to; up[at] < RETAINED_ROOT; at = up[at], n++)
        if (n > STEPS || !refers(reader, up[at], at))
            return 0;
    struct heap_path *way = &x->paths.v[0];
    way->v = malloc(n * sizeof *way->v);
    if (!way->v)
        return -ENOMEM;
    way->n = n;
    x->paths.n = 1;
    for (uint32_t at = to; n > 0; at = up[at])
        way->v[--n] = at;
    return 0;
}

static int read_paths(struct search *s, bool soft, struct err *err)
{
    const struct dump *d = s->r->d;
    const struct graph_options how = {.soft = soft};
    struct graph g;
    int rc = 0;
    TRY(graph_build(&g, d, &how, err));
    for (size_t i = 0; i < s->out->n && rc == 0; i++) {
        struct suspect *x = &s->out->v[i];
        uint32_t to = x->object == DUMP_NONE ? x->top : x->object;
        if (!x->paths.n)
            rc = paths_down(&x->paths, &g, d, ids_at(&d->ids, to), err);
    }
    graph_fini(&g);
    return rc;
}

static int find_paths(struct search *s, bool soft, struct err *err)
{
    struct object_reader reader;
    bool all = true;
    int rc = object_reader_open(&reader, &s->r->objects, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < s->out->n && rc == 0; i++) {
        rc = path_of_dominators(s, &reader, &s->out->v[i]);
        all &= s->out->v[i].paths.n > 0;
    }
    object_reader_close(&reader);
    if (rc < 0)
        return err_set(err, rc, "%s: out of memory", s->r->d->path);
    return all ? 0 : read_paths(s, soft, err);
}

/* --- all of it -------------------------------------------------------------------------------- */

int suspects_find(struct suspects *out, const struct retained *r,
                  const struct suspects_options *options, struct err *err)
{
    struct search s = {.r = r, .out = out};
    uint32_t percent = options->least_percent ? options->least_percent : SUSPECTS_LEAST;
    *out = (struct suspects){.least = max_u64(r->bytes_reached / 100 * percent, 8)};
    int rc = find_heavy(&s);
    if (rc == 0)
        rc = find_objects(&s);
    if (rc == 0)
        rc = find_groups(&s);
    if (rc == 0)
        rc = find_below(&s);
    free(s.heavy);
    if (rc < 0)
        err_set(err, rc, "%s: out of memory", r->d->path);
    else if (out->n && options->paths)
        rc = find_paths(&s, options->soft, err);
    if (rc < 0)
        suspects_fini(out);
    return rc;
}

void suspects_fini(struct suspects *s)
{
    for (size_t i = 0; i < s->n; i++)
        paths_fini(&s->v[i].paths);
    *s = (struct suspects){0};
}

#include "heap/collections.h"

#include "base/util.h"
#include "heap/bits.h"
#include "heap/missing.h"
#include "heap/workers.h"

#include <stdlib.h>
#include <string.h>

/* What the JDK has, 8 to 25.  size NULL: the array shows it.  through: the map of a set.  Fields
 * are those of the class named or of one of its supers. */
static const struct known {
    const char *name, *size, *array, *through;
} known[] = {
    {"java.util.ArrayList", "size", "elementData", NULL},
    {"java.util.Vector", "elementCount", "elementData", NULL}, /* and Stack */
    {"java.util.ArrayDeque", NULL, "elements", NULL},
    {"java.util.PriorityQueue", "size", "queue", NULL},
    {"java.util.LinkedList", "size", NULL, NULL},
    {"java.util.HashMap", "size", "table", NULL}, /* and LinkedHashMap */
    {"java.util.Hashtable", "count", "table", NULL},
    {"java.util.IdentityHashMap", "size", "table", NULL},
    {"java.util.WeakHashMap", "size", "table", NULL},
    {"java.util.EnumMap", "size", "vals", NULL},
    {"java.util.TreeMap", "size", NULL, NULL},
    {"java.util.HashSet", NULL, NULL, "map"}, /* and LinkedHashSet */
    {"java.util.TreeSet", NULL, NULL, "m"},
    {"java.util.concurrent.ConcurrentHashMap", NULL, "table", NULL},
    {"java.util.concurrent.CopyOnWriteArrayList", NULL, "array", NULL},
    {"java.util.concurrent.CopyOnWriteArraySet", NULL, NULL, "al"},
    {"java.util.concurrent.ArrayBlockingQueue", "count", "items", NULL},
    {"java.util.concurrent.PriorityBlockingQueue", "size", "queue", NULL},
    {"java.util.concurrent.DelayQueue", NULL, NULL, "q"},
    {"java.lang.ThreadLocal$ThreadLocalMap", "size", "table", NULL},
    {"java.lang.AbstractStringBuilder", "count", "value", NULL}, /* and StringBuffer */
    {"java.io.ByteArrayOutputStream", "count", "buf", NULL},
};

enum { NOT_KNOWN = -1 };

/* Where instances of a class have what; -1: they do not have it. */
struct layout {
    int row; /* of `known`, or NOT_KNOWN */
    int64_t size, array, through, coder;
};

struct collection {
    uint32_t number, class_number;
    uint32_t array; /* of a set: its map, until `resolve`; IDS_NONE: none */
    uint32_t size;  /* as it says itself; of one that does not, as its array says */
    uint32_t length, used;
    uint32_t eighths; /* of the array; then of what is wasted */
    uint8_t element;  /* bytes */
    bool wide;        /* a StringBuilder of two bytes a character */
    bool part;        /* the map of a set */
    bool lost;        /* its array is not in the dump */
    uint8_t fill;
};

struct owned { /* an array, and which collection has it */
    uint32_t array, collection;
};

struct side {
    struct buf found;           /* struct collection */
    struct array_class *arrays; /* by class number */
};

struct search {
    const struct dump *d;
    struct collections_found *out;
    struct layout *layouts; /* by class number */
    struct side sides[WORKERS_MAX];
    struct collection *all; /* in the order of numbers */
    size_t n;
    struct owned *owned; /* in the order of arrays */
    size_t n_owned;
    _Atomic uint64_t *bits; /* arrays of collections, then collections */
    _Atomic uint64_t *seen; /* of these arrays */
};

/* --- which classes ---------------------------------------------------------------------------- */

static const struct dump_class *super_of(const struct dump *d, const struct dump_class *c)
{
    return c->super == DUMP_NONE ? NULL : &d->classes[c->super];
}

static int row_of(const struct dump_class *c)
{
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strcmp(c->name, known[i].name) == 0)
            return (int)i;
    return NOT_KNOWN;
}

/* Where instances of c have the nearest field of this name and type, its own or a super's; -1. */
static int64_t field_at(const struct dump *d, const struct dump_class *c, const char *name,
                        uint8_t wanted)
{
    int64_t before = 0;
    for (; name && c; c = super_of(d, c)) {
        const struct dump_field *f = dump_own_field(d, c, name);
        if (f && f->type == wanted)
            return before + f->offset;
        before += c->own_len;
    }
    return -1;
}

static int64_t behind(int64_t at, uint32_t own)
{
    return at < 0 ? at : at + own;
}

/* Below a class that is known the same fields stand behind its own.  The super class is done. */
static void find_layout(struct search *s, const struct dump_class *c)
{
    struct layout *l = &s->layouts[c->number];
    const struct known *k;
    *l = (struct layout){.row = row_of(c), .size = -1, .array = -1, .through = -1, .coder = -1};
    if (l->row != NOT_KNOWN) {
        k = &known[l->row];
        l->size = field_at(s->d, c, k->size, HPROF_INT);
        l->array = field_at(s->d, c, k->array, HPROF_OBJECT);
        l->through = field_at(s->d, c, k->through, HPROF_OBJECT);
        l->coder = field_at(s->d, c, "coder", HPROF_BYTE);
    } else if (c->super != DUMP_NONE) {
        const struct layout *of = &s->layouts[c->super];
        *l = (struct layout){of->row, behind(of->size, c->own_len), behind(of->array, c->own_len),
                             behind(of->through, c->own_len), behind(of->coder, c->own_len)};
    }
    if (l->size < 0 && l->array < 0 && l->through < 0)
        l->row = NOT_KNOWN;
}

/* --- the collections -------------------------------------------------------------------------- */

/* *lost: there is a reference; array_of_collection finds what it refers to. */
static uint32_t reference_at(const struct search *s, const uint8_t *p, size_t len, int64_t at,
                             bool *lost)
{
    uint32_t id = s->d->id_size;
    if (at < 0 || (uint64_t)at + id > len)
        return IDS_NONE;
    uint64_t to = hprof_id(p + at, id);
    *lost = to != 0;
    return to ? ids_find(&s->d->ids, to) : IDS_NONE;
}

static int find_collection(void *ctx, unsigned worker, struct hprof *h, const struct hprof_item *it)
{
    struct search *s = ctx;
    struct side *to = &s->sides[worker];
    const uint8_t *p;
    if (!it->sub || it->tag != HPROF_INSTANCE)
        return 0;
    struct collection c = {.number = ids_find(&s->d->ids, it->id),
                           .class_number = dump_item_class(s->d, it)};
    if (c.number == IDS_NONE || c.class_number == DUMP_NONE ||
        s->layouts[c.class_number].row == NOT_KNOWN)
        return 0;
    const struct layout *l = &s->layouts[c.class_number];
    uint64_t body = min_u64(it->body_len, s->d->classes[c.class_number].body_len);
    size_t len = hprof_body(h, &p, (size_t)min_u64(body, HPROF_WINDOW), SIZE_MAX);
    c.array = reference_at(s, p, len, l->through >= 0 ? l->through : l->array, &c.lost);
    if (l->size >= 0 && (uint64_t)l->size + 4 <= len)
        c.size = hprof_u4(p + l->size);
    c.wide = l->coder >= 0 && (uint64_t)l->coder < len && p[l->coder] == 1;
    buf_put(&to->found, &c, sizeof c);
    return to->found.oom ? -ENOMEM : 0;
}

static int by_number(const void *a, const void *b)
{
    const struct collection *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int by_array(const void *a, const void *b)
{
    const struct owned *x = a, *y = b;
    return x->array < y->array ? -1 : x->array > y->array;
}

static const struct layout *layout_of(const struct search *s, const struct collection *c)
{
    return &s->layouts[c->class_number];
}

static int join(struct search *s)
{
    struct buf all = {0};
    for (unsigned i = 0; i < WORKERS_MAX; i++) {
        if (s->sides[i].found.len)
            buf_put(&all, s->sides[i].found.p, s->sides[i].found.len);
        buf_fini(&s->sides[i].found);
    }
    s->all = (struct collection *)(void *)all.p;
    s->n = all.len / sizeof *s->all;
    s->owned = malloc((s->n + 1) * sizeof *s->owned);
    s->bits = bits_new(s->d->n_objects);
    s->seen = bits_new(s->d->n_objects);
    if (all.oom || !s->owned || !s->bits || !s->seen || s->n > UINT32_MAX)
        return -ENOMEM;
    if (s->n)
        qsort(s->all, s->n, sizeof *s->all, by_number);
    for (size_t i = 0; i < s->n; i++) {
        if (s->all[i].array == IDS_NONE || layout_of(s, &s->all[i])->through >= 0)
            continue;
        s->owned[s->n_owned++] = (struct owned){s->all[i].array, (uint32_t)i};
        bits_add(s->bits, s->all[i].array);
    }
    qsort(s->owned, s->n_owned, sizeof *s->owned, by_array);
    return 0;
}

/* --- the arrays ------------------------------------------------------------------------------- */

/* Elements that are not 0. */
static uint32_t used_elements(struct hprof *h, size_t size)
{
    const uint8_t *p;
    size_t got;
    uint32_t n = 0;
    while ((got = hprof_body(h, &p, size, SIZE_MAX)) >= size)
        for (size_t at = 0; at + size <= got; at += size) {
            uint8_t any = 0;
            for (size_t i = 0; i < size; i++)
                any |= p[at + i];
            n += any != 0;
        }
    return n;
}

static bool all_zero(struct hprof *h)
{
    const uint8_t *p;
    size_t got;
    while ((got = hprof_body(h, &p, 1, SIZE_MAX)) > 0)
        if (p[0] != 0 || memcmp(p, p + 1, got - 1) != 0)
            return false;
    return true;
}

/* Several collections may share an array, as the empty ArrayLists do. */
static void array_of_collection(struct search *s, struct hprof *h, const struct hprof_item *it,
                                uint32_t array)
{
    const struct owned key = {.array = array};
    const struct owned *o = bsearch(&key, s->owned, s->n_owned, sizeof key, by_array);
    if (!o)
        return;
    while (o > s->owned && o[-1].array == array)
        o--;
    bool references = it->tag == HPROF_OBJECT_ARRAY;
    uint32_t used = references ? used_elements(h, h->id_size) : 0;
    for (; o < s->owned + s->n_owned && o->array == array; o++) {
        struct collection *c = &s->all[o->collection];
        c->lost = false;
        c->length = it->n;
        c->element = (uint8_t)(references ? s->d->layout.reference : hprof_type_size(it->type, 8));
        c->used = references ? used : (uint32_t)min_u64((uint64_t)c->size << c->wide, it->n);
        c->eighths = (uint32_t)(dump_item_size(s->d, it) / 8);
    }
}

static int look_at_array(void *ctx, unsigned worker, struct hprof *h, const struct hprof_item *it)
{
    struct search *s = ctx;
    if (!it->sub || (it->tag != HPROF_OBJECT_ARRAY && it->tag != HPROF_PRIMITIVE_ARRAY))
        return 0;
    uint32_t number = ids_find(&s->d->ids, it->id), class_number = dump_item_class(s->d, it);
    if (number == IDS_NONE || class_number == DUMP_NONE)
        return 0;
    if (bits_has(s->bits, number)) {
        if (bits_add(s->seen, number)) /* it may be in the dump more than once */
            array_of_collection(s, h, it, number);
        return 0;
    }
    struct array_class *a = &s->sides[worker].arrays[class_number];
    if (it->n == 0) {
        a->no_length++;
    } else if (all_zero(h)) {
        a->count++;
        a->bytes += dump_item_size(s->d, it);
    }
    return 0;
}

/* --- what they waste -------------------------------------------------------------------------- */

static bool is_empty(const struct search *s, const struct collection *c)
{
    return layout_of(s, c)->size >= 0 ? c->size == 0 : c->used == 0 && !c->lost;
}

static uint8_t fill_of(const struct collection *c)
{
    if (c->length == 0)
        return FILL_UNKNOWN;
    uint64_t used = c->used, length = c->length;
    return 4 * used <= length       ? FILL_QUARTER
           : 2 * used <= length     ? FILL_HALF
           : 4 * used <= 3 * length ? FILL_THREE_QUARTERS
                                    : FILL_FULL;
}

/* An array of length 0 is shared by all. */
static void judge(const struct search *s, struct collection *c)
{
    uint32_t own = s->d->classes[c->class_number].size / 8;
    if (is_empty(s, c)) {
        c->fill = FILL_EMPTY;
        c->eighths = own + (c->length ? c->eighths : 0);
    } else {
        c->fill = fill_of(c);
        uint64_t unused = c->length > c->used ? c->length - c->used : 0;
        c->eighths = (uint32_t)(unused * c->element / 8);
    }
}

static struct collection *collection_of(const struct search *s, uint32_t number)
{
    const struct collection key = {.number = number};
    return number == IDS_NONE || !s->n ? NULL : bsearch(&key, s->all, s->n, sizeof key, by_number);
}

/* A set is as its map; sets of sets are none of the JDK's. */
static void resolve(const struct search *s, struct collection *c)
{
    struct collection *map = collection_of(s, c->array);
    c->fill = FILL_UNKNOWN;
    c->eighths = 0;
    if (!map || layout_of(s, map)->through >= 0)
        return;
    c->fill = map->fill;
    c->eighths = map->eighths;
    if (map->fill == FILL_EMPTY)
        c->eighths += s->d->classes[c->class_number].size / 8;
    map->part = true;
}

static int by_wasted(const void *a, const void *b)
{
    const struct collection_class *x = a, *y = b;
    if (x->wasted != y->wasted)
        return x->wasted > y->wasted ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->class_number < y->class_number ? -1 : x->class_number > y->class_number;
}

static int sum_classes(struct search *s)
{
    struct collections_found *f = s->out;
    f->classes = calloc((size_t)s->d->n_classes + 1, sizeof *f->classes);
    if (!f->classes)
        return -ENOMEM;
    for (size_t i = 0; i < s->n; i++) {
        const struct collection *c = &s->all[i];
        struct collection_class *k = &f->classes[c->class_number];
        if (c->part)
            continue;
        k->count++;
        k->wasted += (uint64_t)c->eighths * 8;
        k->by_fill[c->fill]++;
    }
    for (uint32_t i = 0; i < s->d->n_classes; i++) {
        struct collection_class k = f->classes[i];
        if (k.count == 0)
            continue;
        k.class_number = i;
        f->count += k.count;
        f->wasted += k.wasted;
        f->empty += k.by_fill[FILL_EMPTY];
        f->sparse += k.by_fill[FILL_QUARTER];
        f->classes[f->n_classes++] = k;
    }
    qsort(f->classes, f->n_classes, sizeof *f->classes, by_wasted);
    return 0;
}

static int by_bytes(const void *a, const void *b)
{
    const struct array_class *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->no_length != y->no_length)
        return x->no_length > y->no_length ? -1 : 1;
    return x->class_number < y->class_number ? -1 : x->class_number > y->class_number;
}

static void sum_arrays(struct search *s)
{
    struct collections_found *f = s->out;
    f->arrays = s->sides[0].arrays;
    s->sides[0].arrays = NULL;
    for (uint32_t i = 0; i < s->d->n_classes; i++) {
        struct array_class a = f->arrays[i];
        for (unsigned w = 1; w < dump_workers(s->d); w++) {
            a.count += s->sides[w].arrays[i].count;
            a.bytes += s->sides[w].arrays[i].bytes;
            a.no_length += s->sides[w].arrays[i].no_length;
        }
        a.class_number = i;
        f->array_count += a.count;
        f->array_bytes += a.bytes;
        if (a.count || a.no_length)
            f->arrays[f->n_arrays++] = a;
    }
    qsort(f->arrays, f->n_arrays, sizeof *f->arrays, by_bytes);
}

/* --- who refers to them ----------------------------------------------------------------------- */

static bool look(void *ctx, uint32_t object, struct held *out)
{
    const struct collection *c = collection_of(ctx, object);
    if (!c || c->part)
        return false;
    out->marked = c->fill == FILL_EMPTY;
    out->bytes = (uint64_t)c->eighths * 8;
    return true;
}

static int find_holders(struct search *s, struct err *err)
{
    const struct holders_query query = {s->bits, look, s};
    return holders_find(s->d, &query, &s->out->holders, &s->out->n_holders, err);
}

static int judge_all(struct search *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (layout_of(s, &s->all[i])->through < 0)
            judge(s, &s->all[i]);
    for (size_t i = 0; i < s->n; i++)
        if (layout_of(s, &s->all[i])->through >= 0)
            resolve(s, &s->all[i]);
    TRY(sum_classes(s));
    sum_arrays(s);
    bits_free(s->bits);
    s->bits = bits_new(s->d->n_objects);
    for (size_t i = 0; s->bits && i < s->n; i++)
        bits_add(s->bits, s->all[i].number);
    return s->bits ? 0 : -ENOMEM;
}

/* --- all of it -------------------------------------------------------------------------------- */

static int search_init(struct search *s)
{
    s->layouts = calloc((size_t)s->d->n_classes + 1, sizeof *s->layouts);
    if (!s->layouts)
        return -ENOMEM;
    for (uint32_t i = 0; i < s->d->n_classes; i++)
        find_layout(s, &s->d->classes[s->d->class_order[i]]);
    for (unsigned i = 0; i < dump_workers(s->d); i++) {
        s->sides[i].arrays = calloc((size_t)s->d->n_classes + 1, sizeof *s->sides[i].arrays);
        if (!s->sides[i].arrays)
            return -ENOMEM;
    }
    return 0;
}

static void search_fini(struct search *s)
{
    for (unsigned i = 0; i < WORKERS_MAX; i++) {
        buf_fini(&s->sides[i].found);
        free(s->sides[i].arrays);
    }
    bits_free(s->bits);
    bits_free(s->seen);
    free(s->layouts);
    free(s->all);
    free(s->owned);
}

static int no_memory(const struct search *s, int rc, struct err *err)
{
    return rc < 0 ? err_set(err, rc, "%s: out of memory", s->d->path) : 0;
}

static int find_all(struct search *s, struct err *err)
{
    TRY(no_memory(s, search_init(s), err));
    TRY(dump_each(s->d, find_collection, s, err));
    TRY(no_memory(s, join(s), err));
    TRY(dump_each(s->d, look_at_array, s, err));
    TRY(no_memory(s, judge_all(s), err));
    return find_holders(s, err);
}

int collections_find(struct collections_found *out, const struct dump *d, struct err *err)
{
    *out = (struct collections_found){0};
    if (!missing_knows_contents(d))
        return 0;
    struct search *s = calloc(1, sizeof *s);
    if (!s)
        return err_set(err, -ENOMEM, "%s: out of memory", d->path);
    s->d = d;
    s->out = out;
    int rc = find_all(s, err);
    search_fini(s);
    free(s);
    if (rc < 0)
        collections_fini(out);
    return rc;
}

void collections_fini(struct collections_found *c)
{
    free(c->classes);
    free(c->holders);
    free(c->arrays);
    *c = (struct collections_found){0};
}

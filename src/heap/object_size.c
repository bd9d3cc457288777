#include "heap/object_size.h"

#include "base/util.h"
#include "heap/dump_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the layout, inferred --------------------------------------------------------------------- */

enum {
    SAMPLES = 16,            /* places in the dump that are looked at */
    SAMPLE_ITEMS = 100000,   /* objects at each, then only arrays and what follows them, */
    SAMPLE_ARRAYS = 10000,   /* up to this number of arrays */
    SAMPLE_MOST = 2000000,   /* or objects */
    SAMPLE_BYTES = 32 << 20, /* of a compressed dump, which begins with other things */
    ENOUGH = 32,             /* arrays that end exactly where the next object begins */
};

struct sample {
    uint64_t id;
    uint32_t n;
    uint8_t element; /* 0: no array; 255: of objects */
};

enum { OF_OBJECTS = 255 };

static int by_id(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Keep the item if it tells something; whether it is an array. */
static int take_item(struct buf *into, const struct hprof_item *it, int n, bool after_array)
{
    struct sample s = {.id = it->id, .n = it->n};
    if (it->tag == HPROF_PRIMITIVE_ARRAY)
        s.element = (uint8_t)hprof_type_size(it->type, 8);
    else if (it->tag == HPROF_OBJECT_ARRAY)
        s.element = OF_OBJECTS;
    if (n < SAMPLE_ITEMS || s.element || after_array)
        buf_put(into, &s, sizeof s);
    return s.element != 0;
}

static int take_sample(struct dump *d, const struct dump_piece *p, struct buf *into,
                       struct err *err)
{
    struct hprof_item it;
    int rc = 1, arrays = 0, is_array = 0;
    hprof_seek(&d->head, p->from, p->to);
    for (int n = 0; n < SAMPLE_MOST && (n < SAMPLE_ITEMS || arrays < SAMPLE_ARRAYS); n++) {
        rc = hprof_next(&d->head, &it);
        if (rc <= 0 || (it.offset - p->from > SAMPLE_BYTES && hprof_file_compressed(d->file)))
            break;
        if (!it.sub || it.tag < HPROF_INSTANCE || it.tag > HPROF_PRIMITIVE_ARRAY)
            continue;
        is_array = take_item(into, &it, n, is_array);
        arrays += is_array;
    }
    if (into->oom)
        return err_set(err, -ENOMEM, "%s: out of memory", d->path);
    return rc < 0 ? err_set(err, rc, "%s: %s", d->path, d->head.problem) : 0;
}

/* How a layout fits: whether no array overlaps the next object, and some end just there.  A few
 * that do overlap are damage. */
static bool fits(const struct object_layout *l, const struct sample *s, size_t n, bool objects)
{
    size_t exact = 0, overlaps = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        if (!s[i].element || (s[i].element == OF_OBJECTS) != objects || s[i + 1].id == s[i].id)
            continue;
        uint32_t element = objects ? l->reference : s[i].element;
        uint64_t size = object_size_array(l, s[i].n, element), gap = s[i + 1].id - s[i].id;
        exact += gap == size;
        overlaps += gap < size;
    }
    return exact >= ENOUGH && overlaps * 1000 <= exact;
}

static void choose(struct object_layout *l, const struct sample *s, size_t n, uint32_t id_size)
{
    static const struct object_layout headers[] = {
        {16, 24, 4}, {16, 20, 4}, {12, 16, 4}, {8, 12, 4}};
    uint64_t last = n ? s[n - 1].id : 0;
    *l = id_size == 4 ? headers[3] : headers[2];
    for (size_t i = 0; i < ARRAY_LEN(headers); i++)
        if (fits(&headers[i], s, n, false)) {
            *l = headers[i];
            break;
        }
    if (id_size == 4)
        return;
    /* Compressed references reach 32 GB with objects at multiples of 8; beyond that they are
     * likely to be full ones. */
    struct object_layout full = *l;
    full.reference = 8;
    if (fits(&full, s, n, true) || (!fits(l, s, n, true) && last >> 35))
        l->reference = 8;
}

int object_size_infer(struct dump *d, struct err *err)
{
    struct buf samples = {0};
    size_t step = d->n_pieces > SAMPLES ? d->n_pieces / SAMPLES : 1;
    int rc = 0;
    for (size_t i = 0; i < d->n_pieces && rc == 0; i += step)
        rc = take_sample(d, &d->pieces[i], &samples, err);
    size_t n = VEC_LEN(samples, struct sample);
    struct sample *s = VEC(samples, struct sample);
    if (rc == 0) {
        if (n)
            qsort(s, n, sizeof *s, by_id);
        choose(&d->layout, s, n, d->id_size);
    }
    buf_fini(&samples);
    return rc;
}

/* --- fields ----------------------------------------------------------------------------------- */

enum { GAPS = 16, PAD = 128 };

struct gap {
    uint32_t at, len;
};

/* An object's fields so far: they end at `end`, and between them is room. */
struct space {
    uint32_t end;
    uint32_t n;
    struct gap gaps[GAPS];
};

/* Fields of the JVM's own.  Present when class `of` has field `since` (NULL: always) and has not
 * `until`: that distinguishes JDK versions, which a dump does not name. */
struct injected {
    const char *name;
    uint8_t n8, n4, n2, n1, refs;
    const char *of, *since, *until;
};

static const struct injected injected[] = {
    /* klass, array_klass; oop_size, static_oop_field_count; protection_domain, signers,
     * source_file */
    {"java.lang.Class", 2, 2, 0, 0, 3, NULL, NULL, "signers"},
    {"java.lang.Class", 2, 2, 0, 0, 2, "java.lang.Class", "signers", "protectionDomain"},
    {"java.lang.Class", 2, 2, 0, 0, 2, "java.lang.Class", "protectionDomain", NULL},
    {"java.lang.ClassLoader", 1, 0, 0, 0, 0, NULL, NULL, NULL},
    {"java.lang.Module", 1, 0, 0, 0, 0, NULL, NULL, NULL},
    {"java.lang.invoke.ResolvedMethodName", 1, 0, 0, 0, 1, NULL, NULL, "vmholder"},
    {"java.lang.invoke.ResolvedMethodName", 1, 0, 0, 0, 0, NULL, NULL, NULL},
    {"java.lang.invoke.MemberName", 1, 0, 0, 0, 0, NULL, NULL, NULL},
    {"java.lang.invoke.MethodHandleNatives$CallSiteContext", 2, 0, 0, 0, 0, NULL, NULL, NULL},
    {"java.lang.StackFrameInfo", 0, 0, 1, 0, 0, NULL, NULL, NULL},
    {"java.lang.String", 0, 0, 0, 1, 0, "java.lang.String", "hashIsZero", NULL},
    /* 21: jvmti_thread_state, disable count, in transition, jfr_epoch */
    {"java.lang.Thread", 1, 1, 1, 1, 0, "java.lang.Thread", "holder", NULL},
    {"java.lang.VirtualThread", 1, 0, 0, 0, 0, "java.lang.VirtualThread", "onWaitingList", NULL},
    {"java.lang.InternalError", 0, 0, 0, 1, 0, "java.lang.Thread", "holder", NULL},
};

/* Padding (@Contended): around all fields of a class, and before and behind a group of them. */
struct contended {
    const char *name;
    const char *present; /* only in versions where the class has this field; NULL: in all */
    bool whole;
    const char *group; /* " a b c ": fields; NULL: none */
};

static const struct contended contended[] = {
    {"java.util.concurrent.atomic.Striped64$Cell", NULL, true, NULL},
    {"java.util.concurrent.ConcurrentHashMap$CounterCell", NULL, true, NULL},
    {"java.util.concurrent.Exchanger$Node", "bound", true, NULL},
    {"java.util.concurrent.Exchanger$Slot", NULL, true, NULL},
    {"java.lang.Thread", "inheritedAccessControlContext", false, /* up to 23 */
     " threadLocalRandomSeed threadLocalRandomProbe threadLocalRandomSecondarySeed "},
    {"java.util.concurrent.ForkJoinPool", "ctl", false, " ctl parallelism "},
    {"java.util.concurrent.ForkJoinPool$WorkQueue", "top", false,
     " top phase base access source nsteals "},
    {"java.util.concurrent.SubmissionPublisher$BufferedSubscription", NULL, true,
     " demand waiting "},
};

static void add_gap(struct space *s, uint32_t at, uint32_t len)
{
    if (len && s->n < GAPS)
        s->gaps[s->n++] = (struct gap){at, len};
}

/* One field: into the smallest gap that takes it, else at the end. */
static void put(struct space *s, uint32_t size, bool fill)
{
    struct gap *best = NULL;
    for (uint32_t i = 0; i < s->n && fill; i++) {
        struct gap *g = &s->gaps[i];
        if (ALIGN_UP(g->at, size) + size <= g->at + g->len && (!best || g->len < best->len))
            best = g;
    }
    if (!best) {
        uint32_t at = ALIGN_UP(s->end, size);
        add_gap(s, s->end, at - s->end);
        s->end = at + size;
        return;
    }
    struct gap g = *best;
    uint32_t at = ALIGN_UP(g.at, size);
    *best = s->gaps[--s->n];
    add_gap(s, g.at, at - g.at);
    add_gap(s, at + size, g.at + g.len - at - size);
}

struct sizes {
    struct dump *d;
    struct space *spaces; /* of each class */
    bool fills_gaps;      /* JDK 15 and later */
    bool is_injected[ARRAY_LEN(injected)], is_contended[ARRAY_LEN(contended)]; /* in this JDK */
};

static bool has_field(const struct dump *d, const char *class_name, const char *field)
{
    const struct dump_class *c = dump_class_by_name(d, class_name);
    return c && dump_own_field(d, c, field);
}

/* Which rows hold, once for all classes. */
static void find_rows(struct sizes *z)
{
    for (size_t i = 0; i < ARRAY_LEN(contended); i++)
        z->is_contended[i] =
            !contended[i].present || has_field(z->d, contended[i].name, contended[i].present);
    for (size_t i = 0; i < ARRAY_LEN(injected); i++) {
        const struct injected *k = &injected[i];
        z->is_injected[i] = (!k->since || has_field(z->d, k->of, k->since)) &&
                            (!k->until || !has_field(z->d, k->of ? k->of : k->name, k->until));
    }
}

static const struct contended *find_contended(const struct sizes *z, const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(contended); i++)
        if (z->is_contended[i] && strcmp(contended[i].name, name) == 0)
            return &contended[i];
    return NULL;
}

static const struct injected *find_injected(const struct sizes *z, const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(injected); i++)
        if (z->is_injected[i] && strcmp(injected[i].name, name) == 0)
            return &injected[i];
    return NULL;
}

/* How many fields of each size: [0] 8 bytes, 4, 2, 1; references. */
struct counted {
    uint32_t n[4], refs;
};

static void count_field(struct counted *k, uint8_t type)
{
    uint32_t size = hprof_type_size(type, 8);
    if (type == HPROF_OBJECT)
        k->refs++;
    else if (size)
        k->n[size == 8 ? 0 : size == 4 ? 1 : size == 2 ? 2 : 3]++;
}

static void put_all(struct space *s, const struct counted *k, uint32_t reference, bool fill)
{
    for (int i = 0; i < 4; i++)
        for (uint32_t n = 0; n < k->n[i]; n++)
            put(s, 8u >> i, fill);
    for (uint32_t n = 0; n < k->refs; n++)
        put(s, reference, fill);
}

static bool in_group(const struct contended *pad, const char *field)
{
    char word[80];
    if (!pad || !pad->group || strnlen(field, sizeof word) > sizeof word - 3)
        return false;
    snprintf(word, sizeof word, " %s ", field);
    return strstr(pad->group, word) != NULL;
}

/* As FieldLayoutBuilder::compute_regular_layout does. */
static void lay_out(const struct sizes *z, const struct dump_class *c, struct space *s)
{
    const struct dump *d = z->d;
    const struct contended *pad = find_contended(z, c->name);
    const struct injected *k = find_injected(z, c->name);
    struct counted plain = {0}, group = {0};
    for (uint32_t i = 0; i < c->n_fields; i++)
        count_field(in_group(pad, c->fields[i].name) ? &group : &plain, c->fields[i].type);
    if (k) {
        plain.n[0] += k->n8;
        plain.n[1] += k->n4;
        plain.n[2] += k->n2;
        plain.n[3] += k->n1;
        plain.refs += k->refs;
    }
    bool whole = pad && pad->whole;
    s->end += whole ? PAD : 0;
    put_all(s, &plain, d->layout.reference, !whole);
    if (!pad)
        return;
    s->end += pad->group ? PAD : 0;
    put_all(s, &group, d->layout.reference, false);
    s->end += PAD;
    s->n = 0; /* nothing of a subclass comes in between */
}

/* Its super class is done. */
static void class_space(struct sizes *z, uint32_t number)
{
    const struct dump_class *c = &z->d->classes[number];
    struct space *s = &z->spaces[number];
    s->end = z->d->layout.header;
    if (c->super != DUMP_NONE)
        *s = z->spaces[c->super];
    if (!z->fills_gaps) { /* fields of a subclass begin behind those of its super */
        s->n = 0;
        s->end = ALIGN_UP(s->end, 4u);
    }
    lay_out(z, c, s);
}

/* A Class object is followed by its class's statics: references, then the others. */
static void mirror_size(const struct sizes *z, struct dump_class *c)
{
    const struct dump *d = z->d;
    struct space s = {.end = 16};
    struct counted k = {0};
    if (d->class_class != DUMP_NONE)
        s.end = ALIGN_UP(z->spaces[d->class_class].end, 8u);
    for (uint32_t i = 0; i < c->n_statics; i++)
        if (c->statics[i].name[0] != '<') /* <resolved_references> is the constant pool's */
            count_field(&k, c->statics[i].type);
    for (uint32_t n = 0; n < k.refs; n++)
        put(&s, d->layout.reference, false);
    k.refs = 0;
    put_all(&s, &k, d->layout.reference, false);
    c->mirror_size = ALIGN_UP(s.end, 8u);
}

int object_size_classes(struct dump *d)
{
    struct sizes z = {.d = d, .fills_gaps = has_field(d, "java.lang.Class", "classData")};
    z.spaces = calloc(d->n_classes + 1, sizeof *z.spaces);
    if (!z.spaces)
        return -ENOMEM;
    if (d->class_class == DUMP_NONE || d->classes[d->class_class].n_fields == 0)
        z.fills_gaps = true;
    find_rows(&z);
    for (uint32_t i = 0; i < d->n_classes; i++)
        class_space(&z, d->class_order[i]);
    for (uint32_t i = 0; i < d->n_classes; i++)
        if (!d->classes[i].element)
            d->classes[i].size = ALIGN_UP(z.spaces[i].end, 8u);
    for (uint32_t i = 0; i < d->n_classes; i++)
        mirror_size(&z, &d->classes[i]);
    free(z.spaces);
    return 0;
}

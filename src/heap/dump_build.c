/* dump_build.c - what all workers of the first pass found, put together. */
#include "heap/dump_parts.h"

#include "base/mutf8.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_MOST = UINT16_MAX, /* bytes: what a class file can hold */
    NAMES_EACH = 8,         /* bytes of class names for each byte of the dump, */
    NAMES_FREE = 1 << 20,   /* and those of a small one: many classes may share one name */
};

struct build {
    struct dump *d;
    struct scan *scans;
    unsigned n;
    struct scan_string *strings; /* sorted by id */
    size_t n_strings;
    struct scan_load *loads; /* sorted by class id */
    size_t n_loads;
    struct map serials; /* class serial -> class id */
    struct map numbers; /* id of a string -> its number in d->names */
    struct map java;    /* number of a name -> the class name that it makes, in the arena */
    struct buf text;
    uint64_t lost; /* names that were asked for and are missing */
    uint64_t room; /* bytes that names of classes may still have */
    bool oom;
};

static int no_memory(const struct dump *d, struct err *err)
{
    return err_set(err, -ENOMEM, "%s: out of memory", d->path);
}

/* One array of what is in the same vector of each scan, in the arena. */
static void *gather(struct build *b, size_t field, size_t *bytes)
{
    size_t all = 0;
    for (unsigned i = 0; i < b->n; i++)
        all += ((struct buf *)(void *)((char *)&b->scans[i] + field))->len;
    uint8_t *p = arena_alloc(&b->d->arena, all ? all : 1), *at = p;
    for (unsigned i = 0; i < b->n && p; i++) {
        const struct buf *from = (struct buf *)(void *)((char *)&b->scans[i] + field);
        if (from->len)
            memcpy(at, from->p, from->len);
        at += from->len;
    }
    *bytes = all;
    return p;
}

#define GATHER(b, field, type, n)                                                                  \
    ((type *)gather((b), offsetof(struct scan, field), (n)));                                      \
    *(n) /= sizeof(type)

/* --- names ------------------------------------------------------------------------------------ */

static int by_string_id(const void *a, const void *b)
{
    const struct scan_string *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* The number in d->names of a string, which is converted to real UTF-8; that of "" for id 0, of "?"
 * for one that is missing. */
static uint32_t name_number(struct build *b, uint64_t id)
{
    if (id == 0)
        return dump_name(b->d, "", 0);
    uint64_t *known = map_find(&b->numbers, id);
    if (known)
        return (uint32_t)*known;
    struct scan_string key = {.id = id};
    const struct scan_string *s = bsearch(&key, b->strings, b->n_strings, sizeof key, by_string_id);
    if (!s) {
        b->lost++;
        return dump_name(b->d, "?", 1);
    }
    const char *raw = (const char *)b->scans[s->worker].texts.p + s->at;
    buf_clear(&b->text);
    buf_put(&b->text, raw, strnlen(raw, NAME_MOST));
    char *text = (char *)(uintptr_t)buf_str(&b->text);
    uint32_t number = b->text.oom ? UINT32_MAX : dump_name(b->d, text, mutf8_to_utf8(text));
    uint64_t *place = map_put(&b->numbers, id);
    b->oom |= !place || number == UINT32_MAX;
    if (place)
        *place = number;
    return number;
}

static const char *text_of(struct build *b, uint64_t id)
{
    uint32_t number = name_number(b, id);
    return number == UINT32_MAX ? "?" : VEC(b->d->names, const char *)[number];
}

static const char *primitive_name(char c)
{
    static const char *const names[][2] = {{"Z", "boolean"}, {"C", "char"}, {"F", "float"},
                                           {"D", "double"},  {"B", "byte"}, {"S", "short"},
                                           {"I", "int"},     {"J", "long"}};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (names[i][0][0] == c)
            return names[i][1];
    return NULL;
}

static uint8_t primitive_type(char c)
{
    static const char letters[] = "ZCFDBSIJ";
    const char *p = c ? strchr(letters, c) : NULL;
    return p ? (uint8_t)(HPROF_BOOLEAN + (p - letters)) : 0;
}

/* "[[Ljava/lang/String;" -> "java.lang.String[][]"; also the forms without L and ;. */
static const char *make_java_name(struct build *b, const char *raw)
{
    size_t dims = strspn(raw, "["), len = strlen(raw + dims);
    const char *base = raw + dims;
    const char *primitive = dims && len == 1 ? primitive_name(*base) : NULL;
    if (primitive) {
        base = primitive;
        len = strlen(primitive);
    } else if (dims && len > 2 && *base == 'L' && base[len - 1] == ';') {
        base++;
        len -= 2;
    }
    char *name = arena_alloc(&b->d->arena, len + 2 * dims + 1);
    if (!name)
        return NULL;
    for (size_t i = 0; i < len; i++)
        name[i] = (char)(base[i] == '/' ? '.' : base[i]);
    char *hidden = strstr(name, "+0x"); /* HotSpot's mark of a hidden class, which it prints so */
    if (hidden)
        *hidden = '/';
    for (size_t i = 0; i < dims; i++)
        memcpy(name + len + 2 * i, "[]", 2);
    return name;
}

/* --- classes ---------------------------------------------------------------------------------- */

static int by_load(const void *a, const void *b)
{
    const struct scan_load *x = a, *y = b;
    return x->class_id < y->class_id ? -1 : x->class_id > y->class_id;
}

static int by_class_id(const void *a, const void *b)
{
    const struct scan_class *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* The Java name of a class; NULL: a few long names would take too much memory. */
static const char *java_name(struct build *b, uint64_t id, const char *raw)
{
    uint32_t number = name_number(b, id);
    uint64_t *known = map_put(&b->java, number);
    if (known && !*known)
        *known = (uintptr_t)make_java_name(b, raw);
    b->oom |= !known || !*known;
    if (!known || !*known)
        return NULL;
    const char *name = (const char *)(uintptr_t)*known;
    size_t len = strlen(name);
    if (len > b->room)
        return NULL;
    b->room -= len;
    return name;
}

static void name_class(struct build *b, struct dump_class *c)
{
    struct scan_load key = {.class_id = c->id};
    const struct scan_load *l = bsearch(&key, b->loads, b->n_loads, sizeof key, by_load);
    const char *raw = l ? text_of(b, l->name) : "?";
    b->lost += !l;
    if (l && strcmp(raw, "?") != 0) {
        size_t dims = strspn(raw, "[");
        if (dims)
            c->element = dims == 1 && raw[1] && !raw[2] ? primitive_type(raw[1]) : HPROF_OBJECT;
        c->name = java_name(b, l->name, raw);
    }
    if (!c->name) {
        char text[40];
        snprintf(text, sizeof text, "(class 0x%llx)", (unsigned long long)c->id);
        c->name = arena_strndup(&b->d->arena, text, strlen(text));
    }
    c->name = c->name ? c->name : "?";
}

static uint64_t value_of(const uint8_t *p, uint32_t size)
{
    uint64_t v = 0;
    for (uint32_t i = 0; i < size; i++)
        v = v << 8 | p[i];
    return v;
}

/* The class dump's bytes have been counted by hprof.c: they are as long as they say. */
static const uint8_t *read_statics(struct build *b, struct dump_class *c, const uint8_t *p)
{
    uint32_t id = b->d->id_size;
    uint32_t n = hprof_u2(p);
    struct dump_static *s = arena_alloc(&b->d->arena, (n ? n : 1) * sizeof *s);
    p += 2;
    for (uint32_t i = 0; i < n; i++) {
        uint8_t type = p[id];
        uint32_t size = hprof_type_size(type, id);
        if (s)
            s[i] =
                (struct dump_static){text_of(b, hprof_id(p, id)), type, value_of(p + id + 1, size)};
        p += id + 1 + size;
    }
    c->statics = s;
    c->n_statics = s ? n : 0;
    return p;
}

static void read_fields(struct build *b, struct dump_class *c, const uint8_t *p)
{
    uint32_t id = b->d->id_size, offset = 0;
    uint32_t n = hprof_u2(p);
    struct dump_field *f = arena_alloc(&b->d->arena, (n ? n : 1) * sizeof *f);
    p += 2;
    for (uint32_t i = 0; i < n && f; i++, p += id + 1) {
        uint32_t name = name_number(b, hprof_id(p, id));
        uint64_t *own = map_put(&b->d->field_of, (uint64_t)c->number << 32 | name);
        b->oom |= !own;
        if (own && !*own)
            *own = i + 1;
        f[i] = (struct dump_field){name == UINT32_MAX ? "?" : VEC(b->d->names, const char *)[name],
                                   p[id], offset};
        offset += hprof_type_size(p[id], id);
    }
    c->fields = f;
    c->n_fields = f ? n : 0;
    c->own_len = offset;
}

/* super: for now, its id. */
static uint64_t read_class(struct build *b, struct dump_class *c, const struct scan_class *s)
{
    uint32_t id = b->d->id_size;
    const uint8_t *p = b->scans[s->worker].class_bodies.p + s->at;
    uint64_t super = hprof_id(p, id);
    c->described = true;
    c->offset = s->offset;
    c->mirror_size = (uint32_t)min_u64(s->stated, UINT32_MAX);
    c->loader = hprof_id(p + id, id);
    c->signers = hprof_id(p + (size_t)2 * id, id);
    c->domain = hprof_id(p + (size_t)3 * id, id);
    p += (size_t)6 * id + 4;
    uint32_t n = hprof_u2(p);
    for (p += 2; n > 0; n--)
        p += 3 + hprof_type_size(p[2], id);
    p = read_statics(b, c, p);
    read_fields(b, c, p);
    return super;
}

/* The sorted ids of all classes: those described, those loaded, those that objects are of. */
static uint64_t *class_ids(struct build *b, const struct scan_class *dumps, size_t n_dumps,
                           size_t *n)
{
    struct map seen;
    struct buf ids = {0};
    map_init(&seen);
    for (unsigned k = 0; k < 2 + b->n; k++) {
        size_t m = k == 0   ? n_dumps
                   : k == 1 ? b->n_loads
                            : VEC_LEN(b->scans[k - 2].counts, struct scan_count);
        for (size_t i = 0; i < m; i++) {
            uint64_t id = k == 0   ? dumps[i].id
                          : k == 1 ? b->loads[i].class_id
                                   : VEC(b->scans[k - 2].counts, struct scan_count)[i].class_id;
            if (map_find(&seen, id))
                continue;
            if (!map_put(&seen, id))
                ids.oom = true;
            buf_put(&ids, &id, sizeof id);
        }
    }
    map_fini(&seen);
    *n = ids.len / sizeof(uint64_t);
    if (ids.oom) {
        buf_fini(&ids);
        return NULL;
    }
    return VEC(ids, uint64_t);
}

static int by_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static uint32_t class_number(const struct dump *d, uint64_t id)
{
    const struct dump_class *c = dump_class_by_id(d, id);
    return c ? c->number : DUMP_NONE;
}

static void find_special(struct dump *d)
{
    const struct dump_class *c = dump_class_by_name(d, "java.lang.Class");
    d->class_class = c ? c->number : DUMP_NONE;
    c = dump_class_by_name(d, "java.lang.String");
    d->string_class = c ? c->number : DUMP_NONE;
    for (uint32_t i = d->n_classes; i-- > 0;)
        if (d->classes[i].element > HPROF_OBJECT)
            d->primitive_arrays[d->classes[i].element] = i;
}

/* Arrays of primitive types name no class: one for each type whose class the dump has not. */
static void add_primitive_arrays(struct build *b)
{
    static const char letters[] = "ZCFDBSIJ";
    struct dump *d = b->d;
    for (unsigned t = HPROF_BOOLEAN; t <= HPROF_LONG; t++) {
        bool there = false;
        for (uint32_t i = 0; i < d->n_classes; i++)
            there |= d->classes[i].element == t;
        if (there)
            continue;
        const char raw[3] = {'[', letters[t - HPROF_BOOLEAN], '\0'};
        d->classes[d->n_classes] = (struct dump_class){.number = d->n_classes,
                                                       .super = DUMP_NONE,
                                                       .element = (uint8_t)t,
                                                       .name = make_java_name(b, raw)};
        if (!d->classes[d->n_classes].name)
            d->classes[d->n_classes].name = "?";
        d->class_order[d->n_classes] = d->n_classes;
        d->n_classes++;
    }
}

static int build_classes(struct build *b, struct err *err)
{
    struct dump *d = b->d;
    size_t n_dumps, n;
    struct scan_class *dumps = GATHER(b, classes, struct scan_class, &n_dumps);
    b->loads = GATHER(b, loads, struct scan_load, &b->n_loads);
    if (!dumps || !b->loads)
        return no_memory(d, err);
    qsort(dumps, n_dumps, sizeof *dumps, by_class_id);
    qsort(b->loads, b->n_loads, sizeof *b->loads, by_load);
    uint64_t *ids = class_ids(b, dumps, n_dumps, &n);
    uint64_t *supers = calloc(n + 1, sizeof *supers);
    d->classes = arena_alloc(&d->arena, (n + HPROF_TYPES) * sizeof *d->classes);
    d->class_order = arena_alloc(&d->arena, (n + HPROF_TYPES) * sizeof *d->class_order);
    if ((n && !ids) || !supers || !d->classes || !d->class_order || n > UINT32_MAX / 2) {
        free(ids);
        free(supers);
        return no_memory(d, err);
    }
    if (n)
        qsort(ids, n, sizeof *ids, by_u64);
    d->n_classes = (uint32_t)n;
    for (uint32_t i = 0; i < n; i++) {
        d->classes[i] = (struct dump_class){.id = ids[i], .number = i, .super = DUMP_NONE};
        name_class(b, &d->classes[i]);
        struct scan_class key = {.id = ids[i]};
        const struct scan_class *s = bsearch(&key, dumps, n_dumps, sizeof key, by_class_id);
        if (s)
            supers[i] = read_class(b, &d->classes[i], s);
    }
    free(ids);
    b->oom |= dump_link_supers(d, supers) < 0;
    free(supers);
    if (b->oom)
        return no_memory(d, err);
    add_primitive_arrays(b);
    find_special(d);
    return !d->stated && object_size_classes(d) < 0 ? no_memory(d, err) : 0;
}

/* Objects whose fields are not all known. */
static void add_incomplete(struct dump_missing *m, const struct dump_class *c, uint64_t count)
{
    m->classes += c->count == 0;
    m->instances += count;
}

/* Instances of each class, and their sizes; the Class objects themselves come with their
 * classes. */
static void add_counts(struct build *b)
{
    struct dump *d = b->d;
    for (unsigned k = 0; k < b->n; k++) {
        const struct scan_count *counts = VEC(b->scans[k].counts, struct scan_count);
        for (size_t i = 0; i < VEC_LEN(b->scans[k].counts, struct scan_count); i++) {
            struct dump_class *c =
                (struct dump_class *)(uintptr_t)dump_class_by_id(d, counts[i].class_id);
            if (!c)
                continue;
            if (!counts[i].n && !c->complete)
                add_incomplete(&d->missing, c, counts[i].count);
            c->count += counts[i].count;
            c->bytes += counts[i].n || d->stated ? counts[i].bytes : counts[i].count * c->size;
        }
        for (unsigned t = HPROF_BOOLEAN; t <= HPROF_LONG; t++) {
            d->classes[d->primitive_arrays[t]].count += b->scans[k].primitive[t].count;
            d->classes[d->primitive_arrays[t]].bytes += b->scans[k].primitive[t].bytes;
        }
    }
    for (uint32_t i = 0; i < d->n_classes && d->class_class != DUMP_NONE; i++) {
        if (!d->classes[i].described || d->classes[i].id == 0)
            continue;
        d->classes[d->class_class].count++;
        d->classes[d->class_class].bytes += d->classes[i].mirror_size;
    }
    for (uint32_t i = 0; i < d->n_classes && d->stated; i++)
        if (d->classes[i].count && !d->classes[i].element)
            d->classes[i].size = (uint32_t)(d->classes[i].bytes / d->classes[i].count);
    for (uint32_t i = 0; i < d->n_classes; i++) {
        d->objects_count += d->classes[i].count;
        d->objects_bytes += d->classes[i].bytes;
    }
}

/* --- stacks, threads, roots ------------------------------------------------------------------- */

static int by_frame_id(const void *a, const void *b)
{
    const struct scan_frame *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static int build_frames(struct build *b)
{
    struct dump *d = b->d;
    size_t n;
    struct scan_frame *all = GATHER(b, frames, struct scan_frame, &n);
    d->frames = arena_alloc(&d->arena, (n ? n : 1) * sizeof *d->frames);
    if (!all || !d->frames)
        return -ENOMEM;
    qsort(all, n, sizeof *all, by_frame_id);
    for (size_t i = 0; i < n; i++) {
        uint64_t *class_id = map_find(&b->serials, all[i].class_serial);
        d->frames[i] =
            (struct dump_frame){.id = all[i].id,
                                .method = text_of(b, all[i].method),
                                .signature = text_of(b, all[i].signature),
                                .source = text_of(b, all[i].source),
                                .class_number = class_id ? class_number(d, *class_id) : DUMP_NONE,
                                .line = all[i].line};
    }
    d->n_frames = n;
    return 0;
}

static uint32_t frame_number(const struct dump *d, uint64_t id)
{
    size_t lo = 0, hi = d->n_frames;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (d->frames[mid].id < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < d->n_frames && d->frames[lo].id == id ? (uint32_t)lo : DUMP_NONE;
}

static int by_trace_serial(const void *a, const void *b)
{
    const struct dump_trace *x = a, *y = b;
    return x->serial < y->serial ? -1 : x->serial > y->serial;
}

static int build_traces(struct build *b)
{
    struct dump *d = b->d;
    size_t n;
    const struct scan_trace *all = GATHER(b, traces, struct scan_trace, &n);
    d->traces = arena_alloc(&d->arena, (n ? n : 1) * sizeof *d->traces);
    if (!all || !d->traces)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct buf *ids = &b->scans[all[i].worker].trace_frames;
        uint32_t *frames = arena_alloc(&d->arena, (all[i].n_frames + 1) * sizeof *frames);
        if (!frames)
            return -ENOMEM;
        for (uint32_t k = 0; k < all[i].n_frames; k++) {
            uint64_t id;
            memcpy(&id, ids->p + all[i].at + k * sizeof id, sizeof id);
            frames[k] = frame_number(d, id);
        }
        d->traces[i] = (struct dump_trace){all[i].serial, all[i].thread, all[i].n_frames, frames};
    }
    qsort(d->traces, n, sizeof *d->traces, by_trace_serial);
    d->n_traces = n;
    return 0;
}

static int by_thread_serial(const void *a, const void *b)
{
    const struct dump_thread *x = a, *y = b;
    return x->serial < y->serial ? -1 : x->serial > y->serial;
}

static int by_root(const void *a, const void *b)
{
    const struct dump_root *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return x->depth < y->depth ? -1 : x->depth > y->depth;
}

/* Those that a record names; HotSpot writes none. */
static int name_threads(struct build *b)
{
    size_t n;
    const struct scan_name *names = GATHER(b, thread_names, struct scan_name, &n);
    for (size_t i = 0; i < n && names; i++) {
        struct dump_thread *t =
            (struct dump_thread *)(uintptr_t)dump_thread_by_serial(b->d, names[i].serial);
        if (t)
            t->name = text_of(b, names[i].name);
    }
    return names ? 0 : -ENOMEM;
}

static int build_threads(struct build *b)
{
    struct dump *d = b->d;
    d->roots = GATHER(b, roots, struct dump_root, &d->n_roots);
    d->threads = GATHER(b, threads, struct dump_thread, &d->n_threads);
    if (!d->roots || !d->threads)
        return -ENOMEM;
    qsort(d->roots, d->n_roots, sizeof *d->roots, by_root);
    qsort(d->threads, d->n_threads, sizeof *d->threads, by_thread_serial);
    for (size_t i = 0; i < d->n_threads; i++) {
        struct dump_trace key = {.serial = d->threads[i].trace};
        const struct dump_trace *t =
            bsearch(&key, d->traces, d->n_traces, sizeof key, by_trace_serial);
        d->threads[i].trace = t ? (uint32_t)(t - d->traces) : DUMP_NONE;
    }
    return name_threads(b);
}

static int build_all(struct build *b, struct err *err)
{
    b->strings = GATHER(b, strings, struct scan_string, &b->n_strings);
    if (!b->strings)
        return no_memory(b->d, err);
    qsort(b->strings, b->n_strings, sizeof *b->strings, by_string_id);
    TRY(build_classes(b, err));
    b->d->missing.names = b->lost; /* of methods, which come later, nothing hangs */
    add_counts(b);
    for (size_t i = 0; i < b->n_loads; i++) {
        uint64_t *v = map_put(&b->serials, b->loads[i].serial);
        if (!v)
            return no_memory(b->d, err);
        *v = b->loads[i].class_id;
    }
    if (build_frames(b) < 0 || build_traces(b) < 0 || build_threads(b) < 0)
        return no_memory(b->d, err);
    b->d->missing.roots = b->d->n_roots == 0;
    b->d->partial |= b->d->missing.roots || b->d->missing.classes || b->d->missing.names;
    return 0;
}

int dump_build(struct dump *d, struct scan *scans, unsigned n, struct err *err)
{
    struct build b = {.d = d, .scans = scans, .n = n};
    b.room = d->size > UINT64_MAX / NAMES_EACH - NAMES_FREE ? UINT64_MAX
                                                            : d->size * NAMES_EACH + NAMES_FREE;
    for (unsigned i = 0; i < n; i++)
        if (scans[i].strings.oom || scans[i].texts.oom || scans[i].loads.oom ||
            scans[i].frames.oom || scans[i].traces.oom || scans[i].trace_frames.oom ||
            scans[i].classes.oom || scans[i].thread_names.oom || scans[i].roots.oom ||
            scans[i].threads.oom)
            return no_memory(d, err);
    map_init(&b.serials);
    map_init(&b.numbers);
    map_init(&b.java);
    int rc = build_all(&b, err);
    if (rc == 0 && b.oom)
        rc = no_memory(d, err);
    map_fini(&b.serials);
    map_fini(&b.numbers);
    map_fini(&b.java);
    buf_fini(&b.text);
    return rc;
}

/* --- asking ----------------------------------------------------------------------------------- */

uint32_t dump_item_class(const struct dump *d, const struct hprof_item *it)
{
    switch (it->tag) {
    case HPROF_CLASS:
        return d->class_class;
    case HPROF_PRIMITIVE_ARRAY:
        return d->primitive_arrays[it->type];
    default:
        return class_number(d, it->class_id);
    }
}

uint64_t dump_item_size(const struct dump *d, const struct hprof_item *it)
{
    const struct dump_class *c;
    if (d->stated)
        return it->stated;
    switch (it->tag) {
    case HPROF_CLASS:
        c = dump_class_by_id(d, it->id);
        return c ? c->mirror_size : 0;
    case HPROF_PRIMITIVE_ARRAY:
        return object_size_array(&d->layout, it->n, hprof_type_size(it->type, 8));
    case HPROF_OBJECT_ARRAY:
        return object_size_array(&d->layout, it->n, d->layout.reference);
    default:
        c = dump_class_by_id(d, it->class_id);
        return c ? c->size : 0;
    }
}

const struct dump_thread *dump_thread_by_serial(const struct dump *d, uint32_t serial)
{
    struct dump_thread key = {.serial = serial};
    if (!d->n_threads)
        return NULL;
    return bsearch(&key, d->threads, d->n_threads, sizeof key, by_thread_serial);
}

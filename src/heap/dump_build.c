/* dump_build.c - what all workers of the first pass found, put together. */
#include "heap/dump_parts.h"

#include "base/mutf8.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct build {
    struct dump *d;
    struct scan *scans;
    unsigned n;
    struct scan_string *strings; /* sorted by id */
    size_t n_strings;
    struct scan_load *loads; /* sorted by class id */
    size_t n_loads;
    struct map serials; /* class serial -> class id */
    struct map names;   /* id of a string -> its text in the arena */
    uint64_t lost;      /* names that were asked for and are missing */
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

/* --- names -------------------------------------------------------------------------------------
 */

static int by_string_id(const void *a, const void *b)
{
    const struct scan_string *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* The text of a string, in real UTF-8; "" for id 0, "?" for one that is missing. */
static const char *text_of(struct build *b, uint64_t id)
{
    if (id == 0)
        return "";
    uint64_t *known = map_find(&b->names, id);
    if (known)
        return (const char *)(uintptr_t)*known;
    struct scan_string key = {.id = id};
    const struct scan_string *s = bsearch(&key, b->strings, b->n_strings, sizeof key, by_string_id);
    if (!s) {
        b->lost++;
        return "?";
    }
    const char *raw = (const char *)b->scans[s->worker].texts.p + s->at;
    char *text = arena_strndup(&b->d->arena, raw, strlen(raw));
    uint64_t *place = map_put(&b->names, id);
    if (!text || !place)
        return "?";
    mutf8_to_utf8(text);
    *place = (uint64_t)(uintptr_t)text;
    return text;
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
static const char *java_name(struct build *b, const char *raw)
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
        return "?";
    for (size_t i = 0; i < len; i++)
        name[i] = (char)(base[i] == '/' ? '.' : base[i]);
    char *hidden = strstr(name, "+0x"); /* HotSpot's mark of a hidden class, which it prints so */
    if (hidden)
        *hidden = '/';
    for (size_t i = 0; i < dims; i++)
        memcpy(name + len + 2 * i, "[]", 2);
    return name;
}

/* --- classes -----------------------------------------------------------------------------------
 */

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

static void name_class(struct build *b, struct dump_class *c)
{
    struct scan_load key = {.class_id = c->id};
    const struct scan_load *l = bsearch(&key, b->loads, b->n_loads, sizeof key, by_load);
    const char *raw = l ? text_of(b, l->name) : "?";
    b->lost += !l;
    if (!l || strcmp(raw, "?") == 0) {
        char text[40];
        snprintf(text, sizeof text, "(class 0x%llx)", (unsigned long long)c->id);
        c->name = arena_strndup(&b->d->arena, text, strlen(text));
        c->name = c->name ? c->name : "?";
        return;
    }
    size_t dims = strspn(raw, "[");
    if (dims)
        c->element = dims == 1 && raw[1] && !raw[2] ? primitive_type(raw[1]) : HPROF_OBJECT;
    c->name = java_name(b, raw);
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
        f[i] = (struct dump_field){text_of(b, hprof_id(p, id)), p[id], offset};
        offset += hprof_type_size(p[id], id);
    }
    c->fields = f;
    c->n_fields = f ? n : 0;
    c->body_len = offset; /* the supers' come later */
}

/* super: for now, its id. */
static uint64_t read_class(struct build *b, struct dump_class *c, const struct scan_class *s)
{
    uint32_t id = b->d->id_size;
    const uint8_t *p = b->scans[s->worker].class_bodies.p + s->at;
    uint64_t super = hprof_id(p, id);
    c->described = true;
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

/* Whether it and all super classes are described. */
static bool is_complete(const struct dump *d, uint32_t number, const uint64_t *supers)
{
    for (; d->classes[number].described; number = d->classes[number].super)
        if (d->classes[number].super == DUMP_NONE)
            return supers[number] == 0;
    return false;
}

/* Supers as numbers, and the lengths of bodies; a circle of supers is cut. */
static void link_supers(struct dump *d, const uint64_t *supers)
{
    for (uint32_t i = 0; i < d->n_classes; i++)
        d->classes[i].super = supers[i] ? class_number(d, supers[i]) : DUMP_NONE;
    for (uint32_t i = 0; i < d->n_classes; i++) {
        uint32_t at = i, steps = 0;
        while (at != DUMP_NONE && steps++ <= 4096)
            at = d->classes[at].super;
        if (at != DUMP_NONE)
            d->classes[i].super = DUMP_NONE;
    }
    for (uint32_t i = 0; i < d->n_classes; i++) {
        uint64_t len = 0;
        d->classes[i].complete = is_complete(d, i, supers);
        for (uint32_t at = i; at != DUMP_NONE; at = d->classes[at].super) {
            const struct dump_class *c = &d->classes[at];
            if (c->n_fields)
                len += c->fields[c->n_fields - 1].offset +
                       hprof_type_size(c->fields[c->n_fields - 1].type, d->id_size);
        }
        d->classes[i].body_len = (uint32_t)min_u64(len, UINT32_MAX);
    }
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
                                                       .name = java_name(b, raw)};
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
    if ((n && !ids) || !supers || !d->classes || n > UINT32_MAX / 2) {
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
    link_supers(d, supers);
    free(supers);
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

/* Instances of each class, and their sizes; the Class objects themselves come with their classes.
 */
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

/* --- stacks, threads, roots --------------------------------------------------------------------
 */

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
    for (unsigned i = 0; i < n; i++)
        if (scans[i].strings.oom || scans[i].texts.oom || scans[i].loads.oom ||
            scans[i].frames.oom || scans[i].traces.oom || scans[i].trace_frames.oom ||
            scans[i].classes.oom || scans[i].thread_names.oom || scans[i].roots.oom ||
            scans[i].threads.oom)
            return no_memory(d, err);
    map_init(&b.serials);
    map_init(&b.names);
    int rc = build_all(&b, err);
    map_fini(&b.serials);
    map_fini(&b.names);
    return rc;
}

/* --- asking ------------------------------------------------------------------------------------
 */

const struct dump_class *dump_class_by_id(const struct dump *d, uint64_t id)
{
    /* Those that the dump does not have stand behind the others, with id 0. */
    size_t lo = 0, hi = d->n_classes;
    while (hi > 0 && hi > lo && d->classes[hi - 1].id == 0 && d->classes[hi - 1].element)
        hi--;
    size_t end = hi;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (d->classes[mid].id < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < end && d->classes[lo].id == id ? &d->classes[lo] : NULL;
}

const struct dump_class *dump_class_by_name(const struct dump *d, const char *name)
{
    for (uint32_t i = 0; i < d->n_classes; i++)
        if (strcmp(d->classes[i].name, name) == 0)
            return &d->classes[i];
    return NULL;
}

bool dump_class_is(const struct dump *d, const struct dump_class *c, const char *name)
{
    for (; c; c = c->super == DUMP_NONE ? NULL : &d->classes[c->super])
        if (strcmp(c->name, name) == 0)
            return true;
    return false;
}

bool dump_field_next(const struct dump *d, struct dump_field_walk *w)
{
    while (w->c) {
        if (w->next < w->c->n_fields) {
            w->field = &w->c->fields[w->next++];
            w->of = w->c;
            w->at = w->offset;
            w->offset += hprof_type_size(w->field->type, d->id_size);
            return true;
        }
        w->c = w->c->super == DUMP_NONE ? NULL : &d->classes[w->c->super];
        w->next = 0;
    }
    return false;
}

int64_t dump_field_at(const struct dump *d, const struct dump_class *c, const char *declaring,
                      const char *name, uint8_t *type)
{
    struct dump_field_walk w = {.c = c};
    while (dump_field_next(d, &w)) {
        if (strcmp(w.field->name, name) != 0 || (declaring && strcmp(w.of->name, declaring) != 0))
            continue;
        *type = w.field->type;
        return w.at;
    }
    return -1;
}

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

/* trace_defs.c - definitions into tables indexed by id.
 *
 * Ids are dense by contract.  An id far beyond the number of definitions can only come from damage;
 * it is refused, so that memory stays proportional to the file. */
#include "base/hash.h"
#include "base/map.h"
#include "base/util.h"
#include "format/trace_parts.h"

#include <stdlib.h>
#include <string.h>

/* Definitions into the tables of a trace,; memory is the trace's arena. */
struct def_loader {
    struct trace *t;
    size_t count[DEF_LIMIT];
    uint32_t max[DEF_LIMIT]; /* largest id met */
    size_t cap_infos;
    struct map infos; /* hash of a key -> 1 + its place */
    bool oom;
    uint64_t refused; /* definitions with impossible ids */
};

static uint32_t def_id(const struct def *d)
{
    switch (d->kind) {
    case DEF_thread:
        return d->thread.id.v;
    case DEF_class:
        return d->class.id.v;
    case DEF_method:
        return d->method.id.v;
    case DEF_stack:
        return d->stack.id.v;
    case DEF_lock:
        return d->lock.id.v;
    case DEF_call:
        return d->call.id.v;
    case DEF_module:
        return d->module.id.v;
    case DEF_gc_name:
        return d->gc_name.id.v;
    case DEF_site:
        return d->site.id;
    }
    return 0;
}

static const char *text(struct def_loader *l, struct str s)
{
    char *p = arena_strndup(&l->t->arena, s.p ? s.p : "", s.len);
    if (!p)
        l->oom = true;
    return p ? p : "";
}

static int by_place(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* javac writes them unsorted now and then; of two for one place the later one holds.  How many are
 * left. */
static uint32_t sort_entries(struct def_loader *l, struct bci_entry *v, uint32_t n)
{
    uint32_t sorted = 1, kept = 0;
    while (sorted < n && v[sorted - 1].bci < v[sorted].bci)
        sorted++;
    if (sorted >= n)
        return n;
    struct bci_entry *old = malloc(n * sizeof *old);
    uint64_t *places = malloc(n * sizeof *places); /* bci, number */
    l->oom = l->oom || !old || !places;
    if (old && places) {
        memcpy(old, v, n * sizeof *old);
        for (uint32_t i = 0; i < n; i++)
            places[i] = (uint64_t)v[i].bci << 32 | i;
        qsort(places, n, sizeof *places, by_place);
        for (uint32_t i = 0; i < n; i++) {
            kept += i == 0 || places[i] >> 32 != places[i - 1] >> 32;
            v[kept - 1] = old[(uint32_t)places[i]];
        }
    }
    free(old);
    free(places);
    return kept;
}

/* The chunk's bytes go away; the table stays. */
static struct bci_table table(struct def_loader *l, struct packed list)
{
    /* Two bytes an entry at the least: the count cannot claim more memory than its bytes do. */
    uint32_t n = list.count > list.len / 2 ? (uint32_t)(list.len / 2) : list.count, kept = 0;
    struct bci_entry *v = arena_alloc(&l->t->arena, n * sizeof *v);
    if (!v) {
        l->oom = true;
        return (struct bci_table){0};
    }
    struct packed_iter it = packed_begin(list);
    while (kept < n && packed_next_line(&it, &v[kept].bci, &v[kept].value))
        kept++;
    return (struct bci_table){v, sort_entries(l, v, kept)};
}

/* --- first pass: how many, how large ---------------------------------------------------------- */

static void count_def(struct def_loader *l, const struct def *d)
{
    if (d->kind >= DEF_LIMIT)
        return;
    l->count[d->kind]++;
    l->max[d->kind] = def_id(d) > l->max[d->kind] ? def_id(d) : l->max[d->kind];
}

static size_t table_len(const struct def_loader *l, enum def_kind kind)
{
    size_t limit = trace_id_limit(l->count[kind]), len = (size_t)l->max[kind] + 1;
    return len < limit ? len : limit;
}

/* A table with room for what was counted: `old` when it has that, else a copy, twice as large as
 * `old` at least (the old one stays in the arena).  New entries are copies of *unknown. */
static void *grow(struct def_loader *l, enum def_kind kind, void *old, size_t *n, size_t entry,
                  const void *unknown)
{
    size_t need = table_len(l, kind), bigger = need > *n * 2 ? need : *n * 2;
    if (need <= *n)
        return old;
    char *p = arena_alloc(&l->t->arena, bigger * entry);
    if (!p) {
        l->oom = true;
        return old;
    }
    if (*n)
        memcpy(p, old, *n * entry);
    for (size_t i = *n; i < bigger; i++)
        memcpy(p + i * entry, unknown, entry);
    *n = bigger;
    return p;
}

static void grow_infos(struct def_loader *l)
{
    struct trace *t = l->t;
    size_t need = l->count[DEF_info] + 1;
    if (need <= l->cap_infos)
        return;
    struct trace_info *p = arena_alloc(&t->arena, need * 2 * sizeof *p);
    if (!p) {
        l->oom = true;
        return;
    }
    if (t->n_infos)
        memcpy(p, t->infos, t->n_infos * sizeof *p);
    t->infos = p;
    l->cap_infos = need * 2;
}

static void grow_tables(struct def_loader *l)
{
    static const struct trace_thread thread = {.name = "?", .group = "", .parent_group = ""};
    static const struct trace_class class = {.signature = "?", .source = ""};
    static const struct trace_method method = {.name = "?", .signature = ""};
    static const struct trace_stack stack;
    static const struct trace_lock lock;
    static const struct trace_call call;
    static const struct trace_module module = {.path = "", .build_id = ""};
    static const struct trace_gc_name gc_name = {.text = "?"};
    static const struct trace_site site = {.from = ""};
    struct trace *t = l->t;
#define GROW(one, table) t->table = grow(l, DEF_##one, t->table, &t->n_##table, sizeof one, &(one))
    GROW(thread, threads);
    GROW(class, classes);
    GROW(method, methods);
    GROW(stack, stacks);
    GROW(lock, locks);
    GROW(call, calls);
    GROW(module, modules);
    GROW(gc_name, gc_names);
    GROW(site, sites);
#undef GROW
    grow_infos(l);
}

/* --- second pass: fill ------------------------------------------------------------------------ */

static void put_info(struct def_loader *l, const struct def_info *d)
{
    struct trace *t = l->t;
    struct trace_info in = {text(l, d->key), text(l, d->value)};
    for (uint64_t hash = hash_place(in.key, strlen(in.key), 0);; hash++) {
        uint64_t *place = map_put(&l->infos, hash);
        if (!place) {
            l->oom = true;
            return;
        }
        if (!*place)
            *place = ++t->n_infos;
        else if (strcmp(t->infos[*place - 1].key, in.key) != 0)
            continue;
        t->infos[*place - 1] = in;
        return;
    }
}

static void put_thread(struct def_loader *l, const struct def_thread *d)
{
    const struct trace_thread *old = &l->t->threads[d->id.v];
    uint32_t os_tid = d->os_tid ? d->os_tid : old->os_tid;
    l->t->threads[d->id.v] = (struct trace_thread){
        .id = d->id,
        .flags = d->flags,
        .hash = d->hash,
        .os_tid = os_tid,
        .java_tid = d->java_tid,
        .name = text(l, d->name),
        .group = d->group.len ? text(l, d->group) : old->group,
        .parent_group = d->parent_group.len ? text(l, d->parent_group) : old->parent_group};
}

static void put_stack(struct def_loader *l, const struct def_stack *d)
{
    struct trace_stack s = {.id = d->id, .flags = d->flags};
    /* Two bytes a frame at the least: the count cannot claim more memory than its bytes do. */
    uint32_t n = d->frames.count;
    if (n > d->frames.len / 2)
        n = (uint32_t)(d->frames.len / 2);
    struct trace_frame *f = arena_alloc(&l->t->arena, n * sizeof *f);
    if (!f) {
        l->oom = true;
        return;
    }
    struct packed_iter it = packed_begin(d->frames);
    while (s.n_frames < n && packed_next_frame(&it, &f[s.n_frames].method, &f[s.n_frames].bci))
        s.n_frames++;
    s.frames = f;
    if (n && d->kinds.len == n)
        s.kinds = (const uint8_t *)text(l, d->kinds);
    l->t->stacks[d->id.v] = s;
}

static bool in_table(struct def_loader *l, const struct def *d, size_t len)
{
    uint32_t id = def_id(d);
    if (id != 0 && id < len)
        return true;
    l->refused++;
    return false;
}

static void put_def(struct def_loader *l, const struct def *d)
{
    struct trace *t = l->t;
    switch (d->kind) {
    case DEF_info:
        put_info(l, &d->info);
        break;
    case DEF_loss:
        if (d->loss.cause < LOSS_LIMIT) /* a circle's copy of an old one may come late */
            t->loss[d->loss.cause] = max_u64(t->loss[d->loss.cause], d->loss.count);
        break;
    case DEF_thread:
        if (in_table(l, d, t->n_threads))
            put_thread(l, &d->thread);
        break;
    case DEF_class:
        if (in_table(l, d, t->n_classes))
            t->classes[d->class.id.v] = (struct trace_class){
                d->class.id, d->class.hash, text(l, d->class.signature), text(l, d->class.source)};
        break;
    case DEF_method:
        if (in_table(l, d, t->n_methods))
            t->methods[d->method.id.v] =
                (struct trace_method){.id = d->method.id,
                                      .class_ = d->method.class_,
                                      .flags = d->method.flags,
                                      .name = text(l, d->method.name),
                                      .signature = text(l, d->method.signature),
                                      .lines = table(l, d->method.lines),
                                      .moved = table(l, d->method.moved),
                                      .module = d->method.module,
                                      .address = d->method.address};
        break;
    case DEF_stack:
        if (in_table(l, d, t->n_stacks))
            put_stack(l, &d->stack);
        break;
    case DEF_lock:
        if (in_table(l, d, t->n_locks))
            t->locks[d->lock.id.v] =
                (struct trace_lock){d->lock.id, d->lock.class_, d->lock.hash, d->lock.object};
        break;
    case DEF_call:
        if (in_table(l, d, t->n_calls))
            t->calls[d->call.id.v] =
                (struct trace_call){d->call.id, text(l, d->call.name), text(l, d->call.class_name),
                                    text(l, d->call.method), text(l, d->call.row)};
        break;
    case DEF_module:
        if (in_table(l, d, t->n_modules))
            t->modules[d->module.id.v] = (struct trace_module){
                d->module.id,   text(l, d->module.path), text(l, d->module.build_id),
                d->module.bias, d->module.begin,         d->module.end};
        break;
    case DEF_gc_name:
        if (in_table(l, d, t->n_gc_names))
            t->gc_names[d->gc_name.id.v] =
                (struct trace_gc_name){d->gc_name.id, text(l, d->gc_name.text)};
        break;
    case DEF_site:
        if (in_table(l, d, t->n_sites))
            t->sites[d->site.id] =
                (struct trace_site){d->site.id, d->site.bci, d->site.method, text(l, d->site.from)};
        break;
    }
}

/* --- over the chunks -------------------------------------------------------------------------- */

/* False when the bytes are not definitions from some point on. */
static bool each_def(struct def_loader *l, const uint8_t *raw, size_t len,
                     void (*use)(struct def_loader *, const struct def *))
{
    const uint8_t *p = raw, *end = raw + len;
    while (p && p < end && !l->oom) {
        struct def d;
        p = codec_get_def(p, end, &d);
        if (p)
            use(l, &d);
    }
    return p != NULL;
}

static void note_bad(struct def_loader *l, const struct trace_chunk *c)
{
    trace_note(l->t, c->offset, true, "chunk %llu at 0x%llx: definitions cannot be decoded",
               (unsigned long long)c->h.seq, (unsigned long long)c->offset);
}

static int each_chunk(struct def_loader *l, void (*use)(struct def_loader *, const struct def *),
                      bool note, struct err *err)
{
    struct trace *t = l->t;
    size_t largest = 1;
    for (size_t i = 0; i < t->n_chunks; i++)
        if (t->chunks[i].h.type == CHUNK_DEFS && t->chunks[i].h.raw_len > largest)
            largest = t->chunks[i].h.raw_len;
    uint8_t *raw = malloc(largest);
    if (!raw)
        return err_set(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < t->n_chunks; i++) {
        struct err why;
        if (t->chunks[i].h.type != CHUNK_DEFS)
            continue;
        if (trace_read_payload(t, &t->chunks[i], raw, &why) < 0) {
            if (note)
                trace_note_chunk(t, i, why.msg);
        } else if (!each_def(l, raw, t->chunks[i].h.raw_len, use) && note) {
            note_bad(l, &t->chunks[i]);
        }
    }
    free(raw);
    return l->oom ? err_set(err, -ENOMEM, "out of memory") : 0;
}

static int load(struct def_loader *l, struct err *err)
{
    TRY(each_chunk(l, count_def, false, err));
    grow_tables(l);
    if (l->oom)
        return err_set(err, -ENOMEM, "out of memory");
    TRY(each_chunk(l, put_def, true, err));
    if (l->refused)
        trace_note(l->t, 0, true, "%llu definitions have impossible ids",
                   (unsigned long long)l->refused);
    return 0;
}

int trace_load_defs(struct trace *t, struct err *err)
{
    struct def_loader l = {.t = t};
    int rc = load(&l, err);
    map_fini(&l.infos);
    return rc;
}

/* trace_defs.c - definitions into tables indexed by id.
 *
 * Ids are dense by contract.  An id far beyond the number of definitions can only come from damage;
 * it is refused, so that memory stays proportional to the file. */
#include "base/util.h"
#include "format/trace_parts.h"

#include <stdlib.h>
#include <string.h>

/* Ids may have holes (a definition that was lost), but not larger than this. */
static size_t id_limit(size_t defs)
{
    return defs * 4 + 65536;
}

struct load {
    struct trace *t;
    size_t count[DEF_LIMIT];
    uint32_t max[DEF_LIMIT];
    bool oom;
    uint64_t refused;
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
    }
    return 0;
}

static const char *text(struct load *l, struct str s)
{
    char *p = arena_strndup(&l->t->arena, s.p ? s.p : "", s.len);
    if (!p)
        l->oom = true;
    return p ? p : "";
}

static struct packed keep(struct load *l, struct packed list)
{
    /* The chunk's bytes go away; the list stays. */
    struct packed copy = list;
    uint8_t *p = arena_alloc(&l->t->arena, list.len);
    if (!p) {
        l->oom = true;
        return (struct packed){0};
    }
    if (list.len)
        memcpy(p, list.p, list.len);
    copy.p = p;
    return copy;
}

/* --- first pass: how many, how large ------------------------------------------------------------
 */

static void count_def(struct load *l, const struct def *d)
{
    if (d->kind >= DEF_LIMIT)
        return;
    l->count[d->kind]++;
    l->max[d->kind] = def_id(d) > l->max[d->kind] ? def_id(d) : l->max[d->kind];
}

static size_t table_len(const struct load *l, enum def_kind kind)
{
    size_t limit = id_limit(l->count[kind]), len = (size_t)l->max[kind] + 1;
    return len < limit ? len : limit;
}

static void *table(struct load *l, enum def_kind kind, size_t entry, size_t *n)
{
    *n = table_len(l, kind);
    void *p = arena_alloc(&l->t->arena, *n * entry);
    if (!p) {
        *n = 0;
        l->oom = true;
    }
    return p;
}

static void make_tables(struct load *l)
{
    struct trace *t = l->t;
    t->threads = table(l, DEF_thread, sizeof *t->threads, &t->n_threads);
    t->classes = table(l, DEF_class, sizeof *t->classes, &t->n_classes);
    t->methods = table(l, DEF_method, sizeof *t->methods, &t->n_methods);
    t->stacks = table(l, DEF_stack, sizeof *t->stacks, &t->n_stacks);
    t->locks = table(l, DEF_lock, sizeof *t->locks, &t->n_locks);
    t->calls = table(l, DEF_call, sizeof *t->calls, &t->n_calls);
    t->infos = arena_alloc(&t->arena, (l->count[DEF_info] + 1) * sizeof *t->infos);
    l->oom |= !t->infos;
    for (size_t i = 0; i < t->n_threads; i++)
        t->threads[i] = (struct trace_thread){.name = "?", .group = "", .parent_group = ""};
    for (size_t i = 0; i < t->n_classes; i++)
        t->classes[i] = (struct trace_class){.signature = "?", .source = ""};
    for (size_t i = 0; i < t->n_methods; i++)
        t->methods[i] = (struct trace_method){.name = "?", .signature = ""};
}

/* --- second pass: fill --------------------------------------------------------------------------
 */

static void put_info(struct load *l, const struct def_info *d)
{
    struct trace *t = l->t;
    struct trace_info in = {text(l, d->key), text(l, d->value)};
    for (size_t i = 0; i < t->n_infos; i++)
        if (strcmp(t->infos[i].key, in.key) == 0) {
            t->infos[i] = in;
            return;
        }
    t->infos[t->n_infos++] = in;
}

static void put_thread(struct load *l, const struct def_thread *d)
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

static void put_stack(struct load *l, const struct def_stack *d)
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
    l->t->stacks[d->id.v] = s;
}

static bool in_table(struct load *l, const struct def *d)
{
    uint32_t id = def_id(d);
    if (id != 0 && id < table_len(l, (enum def_kind)d->kind))
        return true;
    l->refused++;
    return false;
}

static void put_def(struct load *l, const struct def *d)
{
    struct trace *t = l->t;
    switch (d->kind) {
    case DEF_info:
        put_info(l, &d->info);
        break;
    case DEF_loss:
        if (d->loss.cause < LOSS_LIMIT)
            t->loss[d->loss.cause] = d->loss.count;
        break;
    case DEF_thread:
        if (in_table(l, d))
            put_thread(l, &d->thread);
        break;
    case DEF_class:
        if (in_table(l, d))
            t->classes[d->class.id.v] = (struct trace_class){
                d->class.id, d->class.hash, text(l, d->class.signature), text(l, d->class.source)};
        break;
    case DEF_method:
        if (in_table(l, d))
            t->methods[d->method.id.v] = (struct trace_method){d->method.id,
                                                               d->method.class_,
                                                               d->method.flags,
                                                               text(l, d->method.name),
                                                               text(l, d->method.signature),
                                                               keep(l, d->method.lines)};
        break;
    case DEF_stack:
        if (in_table(l, d))
            put_stack(l, &d->stack);
        break;
    case DEF_lock:
        if (in_table(l, d))
            t->locks[d->lock.id.v] = (struct trace_lock){d->lock.id, d->lock.class_, d->lock.hash};
        break;
    case DEF_call:
        if (in_table(l, d))
            t->calls[d->call.id.v] =
                (struct trace_call){d->call.id, text(l, d->call.name), text(l, d->call.class_name),
                                    text(l, d->call.method)};
        break;
    }
}

/* --- over the chunks ----------------------------------------------------------------------------
 */

static void each_def(struct load *l, const struct trace_chunk *c, const uint8_t *raw,
                     void (*use)(struct load *, const struct def *), bool note)
{
    const uint8_t *p = raw, *end = raw + c->h.raw_len;
    while (p && p < end && !l->oom) {
        struct def d;
        p = codec_get_def(p, end, &d);
        if (p)
            use(l, &d);
    }
    if (!p && note)
        trace_note(l->t, c->offset, true, "chunk %llu at 0x%llx: definitions cannot be decoded",
                   (unsigned long long)c->h.seq, (unsigned long long)c->offset);
}

static int each_chunk(struct load *l, void (*use)(struct load *, const struct def *), bool note,
                      struct err *err)
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
        if (trace_read_payload(t, i, raw, &why) == 0)
            each_def(l, &t->chunks[i], raw, use, note);
        else if (note)
            trace_note_chunk(t, i, why.msg);
    }
    free(raw);
    return l->oom ? err_set(err, -ENOMEM, "out of memory") : 0;
}

int trace_load_defs(struct trace *t, struct err *err)
{
    struct load l = {.t = t};
    TRY(each_chunk(&l, count_def, false, err));
    make_tables(&l);
    if (l.oom)
        return err_set(err, -ENOMEM, "out of memory");
    TRY(each_chunk(&l, put_def, true, err));
    if (l.refused)
        trace_note(t, 0, true, "%llu definitions have impossible ids",
                   (unsigned long long)l.refused);
    return 0;
}

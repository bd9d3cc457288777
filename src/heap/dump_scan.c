/* dump_scan.c - the first pass over a dump: what one worker finds in its pieces. */
#include "heap/dump_parts.h"

#include "base/hash.h"

#include <string.h>

enum { CUT_EVERY = 16 << 20 };

void scan_init(struct scan *s, struct dump *d, uint32_t worker, unsigned shift)
{
    memset(s, 0, sizeof *s);
    s->d = d;
    s->worker = worker;
    map_init(&s->by_class);
    ids_init(&s->ids, shift);
}

void scan_fini(struct scan *s)
{
    struct buf *all[] = {&s->strings,      &s->texts,   &s->loads,        &s->frames,
                         &s->traces,       &s->classes, &s->class_bodies, &s->roots,
                         &s->trace_frames, &s->threads, &s->counts,       &s->cuts,
                         &s->thread_names};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        buf_fini(all[i]);
    map_fini(&s->by_class);
    ids_fini(&s->ids);
}

/* Append the whole body of the item to b. */
static int copy_body(struct hprof *h, const struct hprof_item *it, struct buf *b)
{
    const uint8_t *p;
    size_t got;
    uint64_t all = 0;
    while ((got = hprof_body(h, &p, 1, SIZE_MAX)) > 0) {
        buf_put(b, p, got);
        all += got;
    }
    return b->oom ? -ENOMEM : all == it->body_len;
}

/* --- records ---------------------------------------------------------------------------------- */

static int string_record(struct scan *s, struct hprof *h, const struct hprof_item *it)
{
    struct scan_string e = {.at = s->texts.len, .worker = s->worker};
    const uint8_t *p;
    if (hprof_body(h, &p, h->id_size, h->id_size) < h->id_size)
        return 0;
    e.id = hprof_id(p, h->id_size);
    size_t got;
    while ((got = hprof_body(h, &p, 1, SIZE_MAX)) > 0)
        buf_put(&s->texts, p, got);
    (void)it;
    buf_putc(&s->texts, '\0');
    buf_put(&s->strings, &e, sizeof e);
    return 0;
}

static int load_record(struct scan *s, struct hprof *h)
{
    const uint8_t *p;
    size_t n = 8 + 2 * (size_t)h->id_size;
    if (hprof_body(h, &p, n, n) < n)
        return 0;
    struct scan_load e = {.serial = hprof_u4(p),
                          .class_id = hprof_id(p + 4, h->id_size),
                          .name = hprof_id(p + 8 + h->id_size, h->id_size)};
    buf_put(&s->loads, &e, sizeof e);
    return 0;
}

static int frame_record(struct scan *s, struct hprof *h)
{
    const uint8_t *p;
    size_t id = h->id_size, n = 4 * id + 8;
    if (hprof_body(h, &p, n, n) < n)
        return 0;
    struct scan_frame e = {.id = hprof_id(p, h->id_size),
                           .method = hprof_id(p + id, h->id_size),
                           .signature = hprof_id(p + 2 * id, h->id_size),
                           .source = hprof_id(p + 3 * id, h->id_size),
                           .class_serial = hprof_u4(p + 4 * id),
                           .line = (int32_t)hprof_u4(p + 4 * id + 4)};
    buf_put(&s->frames, &e, sizeof e);
    return 0;
}

static int trace_record(struct scan *s, struct hprof *h)
{
    const uint8_t *p;
    if (hprof_body(h, &p, 12, 12) < 12)
        return 0;
    struct scan_trace e = {.serial = hprof_u4(p),
                           .thread = hprof_u4(p + 4),
                           .at = s->trace_frames.len,
                           .worker = s->worker};
    uint32_t n = hprof_u4(p + 8);
    while (e.n_frames < n && hprof_body(h, &p, h->id_size, h->id_size) == h->id_size) {
        uint64_t id = hprof_id(p, h->id_size);
        buf_put(&s->trace_frames, &id, sizeof id);
        e.n_frames++;
    }
    buf_put(&s->traces, &e, sizeof e);
    return 0;
}

static int thread_record(struct scan *s, struct hprof *h)
{
    const uint8_t *p;
    size_t n = 8 + 2 * (size_t)h->id_size;
    if (hprof_body(h, &p, n, n) < n)
        return 0;
    struct scan_name e = {.serial = hprof_u4(p), .name = hprof_id(p + 8 + h->id_size, h->id_size)};
    buf_put(&s->thread_names, &e, sizeof e);
    return 0;
}

static int record(struct scan *s, struct hprof *h, const struct hprof_item *it)
{
    switch (it->tag) {
    case HPROF_UTF8:
        return string_record(s, h, it);
    case HPROF_LOAD_CLASS:
        return load_record(s, h);
    case HPROF_FRAME:
        return frame_record(s, h);
    case HPROF_TRACE:
        return trace_record(s, h);
    case HPROF_START_THREAD:
        return thread_record(s, h);
    case HPROF_HEAP_DUMP_END:
        s->end_seen = true;
        return 0;
    default:
        return 0;
    }
}

/* --- the heap --------------------------------------------------------------------------------- */

static struct scan_count *count_of(struct scan *s, uint64_t class_id)
{
    size_t slot = (class_id >> 3 ^ class_id >> 11) & 255;
    if (s->recent[slot].used && s->recent[slot].class_id == class_id)
        return &VEC(s->counts, struct scan_count)[s->recent[slot].number];
    uint64_t *number = map_find(&s->by_class, class_id);
    if (!number) {
        struct scan_count none = {.class_id = class_id};
        number = map_put(&s->by_class, class_id);
        if (!number)
            return NULL;
        *number = VEC_LEN(s->counts, struct scan_count);
        buf_put(&s->counts, &none, sizeof none);
        if (s->counts.oom)
            return NULL;
    }
    s->recent[slot].class_id = class_id;
    s->recent[slot].number = (uint32_t)*number;
    s->recent[slot].used = true;
    return &VEC(s->counts, struct scan_count)[*number];
}

static int class_item(struct scan *s, struct hprof *h, const struct hprof_item *it)
{
    struct scan_class e = {.id = it->id,
                           .at = s->class_bodies.len,
                           .len = it->body_len,
                           .stated = it->stated,
                           .offset = it->offset,
                           .worker = s->worker};
    int whole = copy_body(h, it, &s->class_bodies);
    if (whole > 0)
        buf_put(&s->classes, &e, sizeof e);
    return whole < 0 ? whole : 0;
}

static void root_item(struct scan *s, const struct hprof_item *it)
{
    struct dump_root r = {.id = it->id, .kind = it->tag, .thread = it->thread, .depth = it->depth};
    buf_put(&s->roots, &r, sizeof r);
    if (it->tag == HPROF_ROOT_THREAD_OBJ) {
        struct dump_thread t = {.id = it->id, .serial = it->thread, .trace = it->depth};
        buf_put(&s->threads, &t, sizeof t);
    }
}

static int count_item(struct scan *s, const struct hprof_item *it)
{
    const struct object_layout *l = &s->d->layout;
    struct scan_count *c;
    uint64_t bytes = it->stated;
    if (it->tag == HPROF_PRIMITIVE_ARRAY) {
        c = &s->primitive[it->type];
        if (!s->d->stated)
            bytes = object_size_array(l, it->n, hprof_type_size(it->type, 8));
    } else {
        c = count_of(s, it->class_id);
        if (!c)
            return -ENOMEM;
        c->n |= it->tag == HPROF_OBJECT_ARRAY;
        if (!s->d->stated && it->tag == HPROF_OBJECT_ARRAY)
            bytes = object_size_array(l, it->n, l->reference);
    }
    c->bytes += bytes; /* of an instance its class says it, but where it is stated */
    c->count++;
    return 0;
}

static void cut(struct scan *s, const struct hprof *h, const struct hprof_item *it)
{
    struct dump_piece p = {.from = it->offset, .to = h->end, .segment_end = h->segment_end};
    s->cut = it->offset;
    buf_put(&s->cuts, &p, sizeof p);
}

int scan_item(struct scan *s, struct hprof *h, const struct hprof_item *it)
{
    if (!it->sub)
        return record(s, h, it);
    if (it->offset - s->cut >= CUT_EVERY)
        cut(s, h, it);
    if (hprof_is_root(it->tag)) {
        root_item(s, it);
        return s->roots.oom || s->threads.oom ? -ENOMEM : 0;
    }
    int rc = it->tag == HPROF_CLASS ? class_item(s, h, it) : count_item(s, it);
    if (rc < 0 || s->d->options.counts_only || it->id == 0)
        return rc;
    rc = ids_add(&s->ids, it->id);
    if (rc == -ERANGE)
        s->unaligned = true;
    return rc;
}

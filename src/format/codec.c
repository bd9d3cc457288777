#include "format/codec.h"

#include <string.h>

const uint8_t *varint_get_slow(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
    uint64_t r = 0;
    for (unsigned shift = 0; shift < 64 && p < end; shift += 7) {
        uint8_t b = *p++;
        r |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80) {
            *v = r;
            return p;
        }
    }
    return NULL;
}

void varint_append(struct buf *b, uint64_t v)
{
    uint8_t *p = buf_reserve(b, VARINT_MAX);
    if (p)
        b->len += (size_t)(varint_put(p, v) - p);
}

/* --- events ----------------------------------------------------------------------------------- */

/* One line per field type, used inside a function that has c, p and e. */
#define PUT_thread(f) p = varint_put(p, (f).v)
#define PUT_lock(f) (p = varint_put(p, zigzag((int64_t)(f).v - (int64_t)c->lock)), c->lock = (f).v)
#define PUT_stack(f)                                                                               \
    (p = varint_put(p, zigzag((int64_t)(f).v - (int64_t)c->stack)), c->stack = (f).v)
#define PUT_call(f) p = varint_put(p, (f).v)
#define PUT_class(f) p = varint_put(p, (f).v)
#define PUT_module(f) p = varint_put(p, (f).v)
#define PUT_gc_name(f) p = varint_put(p, (f).v)
#define PUT_u32(f) p = varint_put(p, (f))
#define PUT_kind(f) PUT_u32(f)
#define PUT_cause(f) PUT_u32(f)
#define PUT_u64(f) p = varint_put(p, (f))
#define PUT_i64(f) p = varint_put(p, zigzag(f))
#define PUT_time(f) p = varint_put(p, e->time >= (f) ? e->time - (f) : 0)

uint8_t *codec_put_event(struct codec *c, uint8_t *p, const struct event *e)
{
    bool switched = e->thread.v != c->thread;
    *p++ = (uint8_t)(e->kind | (switched ? KIND_THREAD_BIT : 0));
    if (switched)
        p = varint_put(p, c->thread = e->thread.v);
    uint64_t time = e->time > c->time ? e->time : c->time;
    p = varint_put(p, time - c->time);
    c->time = time;
    switch (e->kind) {
#define F(type, field, doc) PUT_##type(ev->field);
#define EVENT(number, name, group, fields, doc)                                                    \
    case EV_##name: {                                                                              \
        const struct ev_##name *ev = &e->name;                                                     \
        (void)ev;                                                                                  \
        fields break;                                                                              \
    }
#include "format/events.def"
#undef F
    }
    return p;
}

void codec_schema_own(struct codec_schema *s)
{
    for (int i = 0; i < EV_LIMIT; i++)
        s->n_fields[i] = (uint8_t)event_kinds[i].n_fields;
}

#define GET_thread(f) (f).v = (uint32_t)v
#define GET_lock(f) (f).v = c->lock = (uint32_t)((int64_t)c->lock + unzigzag(v))
#define GET_stack(f) (f).v = c->stack = (uint32_t)((int64_t)c->stack + unzigzag(v))
#define GET_call(f) (f).v = (uint32_t)v
#define GET_class(f) (f).v = (uint32_t)v
#define GET_module(f) (f).v = (uint32_t)v
#define GET_gc_name(f) (f).v = (uint32_t)v
#define GET_u32(f) (f) = (uint32_t)v
#define GET_kind(f) GET_u32(f)
#define GET_cause(f) GET_u32(f)
#define GET_u64(f) (f) = v
#define GET_i64(f) (f) = unzigzag(v)
#define GET_time(f) (f) = e->time >= v ? e->time - v : 0

/* NOLINTNEXTLINE(readability-function-size): a case for each kind of event, made from events.def */
const uint8_t *codec_get_event(struct codec *c, const struct codec_schema *s, const uint8_t *p,
                               const uint8_t *end, struct event *e)
{
    if (p >= end)
        return NULL;
    unsigned head = *p++, kind = head & (EV_LIMIT - 1);
    uint64_t v;
    if (head >= 2 * KIND_THREAD_BIT)
        return NULL;
    if (head & KIND_THREAD_BIT) {
        if (!(p = varint_get(p, end, &v)))
            return NULL;
        c->thread = (uint32_t)v;
    }
    if (!(p = varint_get(p, end, &v)))
        return NULL;
    c->time += v;
    e->time = c->time;
    e->thread.v = c->thread;
    e->kind = (uint16_t)kind;
    e->size = event_kinds[kind].size;
    unsigned left = s->n_fields[kind];
    switch (kind) {
#define F(type, field, doc)                                                                        \
    v = 0;                                                                                         \
    if (left) {                                                                                    \
        left--;                                                                                    \
        if (!(p = varint_get(p, end, &v)))                                                         \
            return NULL;                                                                           \
        GET_##type(ev->field);                                                                     \
    } else {                                                                                       \
        memset(&ev->field, 0, sizeof ev->field);                                                   \
    }
#define EVENT(number, name, group, fields, doc)                                                    \
    case EV_##name: {                                                                              \
        struct ev_##name *ev = &e->name;                                                           \
        (void)ev;                                                                                  \
        fields break;                                                                              \
    }
#include "format/events.def"
#undef F
    }
    while (left--) /* fields of a newer Orca */
        if (!(p = varint_get(p, end, &v)))
            return NULL;
    return p;
}

/* --- definitions ------------------------------------------------------------------------------ */

static void put_field(struct buf *b, const struct field *f, const void *base)
{
    const char *at = (const char *)base + f->offset;
    if (f->type == FIELD_str) {
        const struct str *s = (const void *)at;
        varint_append(b, s->len);
        buf_put(b, s->p, s->len);
    } else if (f->type == FIELD_lines || f->type == FIELD_frames) {
        const struct packed *l = (const void *)at;
        varint_append(b, l->count);
        varint_append(b, l->len);
        buf_put(b, l->p, l->len);
    } else {
        varint_append(b, field_get(f, base));
    }
}

/* The member of the union starts where every member does. */
static const void *def_base(const struct def *d)
{
    return &d->info;
}

void codec_put_def(struct buf *b, const struct def *d)
{
    const struct kind_info *k = &def_kinds[d->kind];
    const struct field *f = k->fields();
    buf_putc(b, (char)d->kind);
    size_t head = b->len;
    for (unsigned i = 0; i < k->n_fields; i++)
        put_field(b, &f[i], def_base(d));
    /* The length goes before the body: move the body up by the length's size. */
    size_t body = b->len - head;
    uint8_t len[VARINT_MAX];
    size_t n = (size_t)(varint_put(len, body) - len);
    buf_put(b, len, n);
    if (b->oom)
        return;
    memmove(b->p + head + n, b->p + head, body);
    memcpy(b->p + head, len, n);
}

static const uint8_t *get_bytes(const uint8_t *p, const uint8_t *end, const uint8_t **out,
                                size_t *len)
{
    uint64_t n;
    if (!(p = varint_get(p, end, &n)) || n > (size_t)(end - p))
        return NULL;
    *out = p;
    *len = (size_t)n;
    return p + n;
}

static const uint8_t *get_field(const struct field *f, void *base, const uint8_t *p,
                                const uint8_t *end)
{
    char *at = (char *)base + f->offset;
    uint64_t v;
    const uint8_t *bytes;
    if (f->type == FIELD_str) {
        struct str *s = (void *)at;
        p = get_bytes(p, end, &bytes, &s->len);
        s->p = p ? (const char *)bytes : NULL;
        return p;
    }
    if (!(p = varint_get(p, end, &v)))
        return NULL;
    if (f->type == FIELD_lines || f->type == FIELD_frames) {
        struct packed *l = (void *)at;
        l->count = (uint32_t)v;
        return get_bytes(p, end, &l->p, &l->len);
    }
    if (f->type == FIELD_u64) {
        memcpy(at, &v, sizeof v);
    } else {
        uint32_t v32 = (uint32_t)v;
        memcpy(at, &v32, sizeof v32);
    }
    return p;
}

const uint8_t *codec_get_def(const uint8_t *p, const uint8_t *end, struct def *d)
{
    if (p >= end)
        return NULL;
    memset(d, 0, sizeof *d);
    d->kind = *p++;
    const uint8_t *body;
    size_t len;
    if (!(p = get_bytes(p, end, &body, &len)))
        return NULL;
    if (d->kind >= DEF_LIMIT || !def_kinds[d->kind].name)
        return p;
    const struct kind_info *k = &def_kinds[d->kind];
    const struct field *f = k->fields();
    for (unsigned i = 0; i < k->n_fields && body < p; i++)
        if (!(body = get_field(&f[i], (void *)&d->info, body, p)))
            return NULL;
    return p;
}

/* --- packed lists ----------------------------------------------------------------------------- */

struct packed_iter packed_begin(struct packed list)
{
    if (!list.p) /* an unknown method's */
        return (struct packed_iter){0};
    return (struct packed_iter){.p = list.p, .end = list.p + list.len, .left = list.count};
}

static bool next_pair(struct packed_iter *it, uint64_t *a, int64_t *b)
{
    uint64_t v;
    if (it->left == 0 || !(it->p = varint_get(it->p, it->end, a)) ||
        !(it->p = varint_get(it->p, it->end, &v))) {
        it->left = 0;
        return false;
    }
    it->left--;
    *b = unzigzag(v);
    return true;
}

bool packed_next_frame(struct packed_iter *it, method_id *method, int32_t *bci)
{
    uint64_t id;
    int64_t at;
    if (!next_pair(it, &id, &at))
        return false;
    method->v = (uint32_t)id;
    *bci = (int32_t)at;
    return true;
}

bool packed_next_line(struct packed_iter *it, uint32_t *bci, uint32_t *line)
{
    uint64_t dbci;
    int64_t dline;
    if (!next_pair(it, &dbci, &dline))
        return false;
    it->bci += dbci;
    it->line += (uint64_t)dline;
    *bci = (uint32_t)it->bci;
    *line = (uint32_t)it->line;
    return true;
}

void packed_put_frame(struct buf *b, method_id method, int32_t bci)
{
    varint_append(b, method.v);
    varint_append(b, zigzag(bci));
}

void packed_put_line(struct buf *b, uint32_t bci, uint32_t line, uint32_t prev_bci,
                     uint32_t prev_line)
{
    varint_append(b, bci - prev_bci);
    varint_append(b, zigzag((int64_t)line - (int64_t)prev_line));
}

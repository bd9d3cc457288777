#include "heap/holders.h"

#include "base/map.h"
#include "base/util.h"
#include "heap/bits.h"
#include "heap/refs.h"
#include "heap/workers.h"

#include <stdlib.h>
#include <string.h>

enum { CACHED = 1024 };

struct side { /* what one worker counts */
    struct map by_holder;
    struct buf holders;  /* struct holder */
    uint64_t id[CACHED]; /* class ids -> number + 1 */
    uint32_t number[CACHED];
};

struct search {
    const struct dump *d;
    const struct holders_query *query;
    struct refs refs;
    struct side sides[WORKERS_MAX];
};

#define HOLDERS(side_) ((struct holder *)(void *)(side_)->holders.p)

/* --- counting --------------------------------------------------------------------------------- */

/* Groups need 12 bits, kinds 2, fields 16 (as the format has it), classes what is left. */
static uint64_t key_of(const struct holder *h)
{
    return (uint64_t)h->group << 52 | (uint64_t)h->kind << 50 | (uint64_t)h->class_number << 16 |
           h->field;
}

static int add(struct side *to, const struct holder *h)
{
    uint64_t *at = map_find(&to->by_holder, key_of(h));
    if (at) {
        struct holder *known = &HOLDERS(to)[*at];
        known->count += h->count;
        known->marked += h->marked;
        known->bytes += h->bytes;
        return 0;
    }
    at = map_put(&to->by_holder, key_of(h));
    if (!at)
        return -ENOMEM;
    *at = to->holders.len / sizeof *h;
    buf_put(&to->holders, h, sizeof *h);
    return to->holders.oom ? -ENOMEM : 0;
}

static int refer(struct search *s, struct side *to, struct holder from, uint64_t id)
{
    uint32_t object = id ? ids_find(&s->d->ids, id) : IDS_NONE;
    struct held held = {0};
    if (object == IDS_NONE || !bits_has(s->query->objects, object) ||
        !s->query->look(s->query->ctx, object, &held) || held.group >= HOLDERS_GROUPS)
        return 0;
    from.group = held.group;
    from.count = 1;
    from.marked = held.marked;
    from.bytes = held.bytes;
    return add(to, &from);
}

static uint32_t class_number(const struct search *s, struct side *to, const struct hprof_item *it)
{
    size_t slot = (it->class_id >> 3 ^ it->class_id >> 13) & (CACHED - 1);
    if (to->id[slot] != it->class_id || !to->number[slot]) {
        to->id[slot] = it->class_id;
        to->number[slot] = dump_item_class(s->d, it) + 1; /* DUMP_NONE becomes 0 */
    }
    return to->number[slot] - 1;
}

static int instance(struct search *s, struct side *to, struct hprof *h, const struct hprof_item *it)
{
    uint32_t number = class_number(s, to, it);
    const uint8_t *p;
    if (number == DUMP_NONE || !s->refs.classes[number].any)
        return 0;
    uint64_t len = min_u64(it->body_len, s->d->classes[number].body_len);
    size_t got = hprof_body(h, &p, (size_t)min_u64(len, HPROF_WINDOW), SIZE_MAX);
    for (struct refs_walk r = refs_begin(number); refs_next(&s->refs, &r, got);) {
        struct holder from = {
            .class_number = r.declaring, .field = r.field->field, .kind = HOLDER_FIELD};
        TRY(refer(s, to, from, hprof_id(p + r.at, h->id_size)));
    }
    return 0;
}

static int elements(struct search *s, struct side *to, struct hprof *h, const struct hprof_item *it)
{
    struct holder from = {.class_number = class_number(s, to, it), .kind = HOLDER_ELEMENT};
    const uint8_t *p;
    size_t got, id = h->id_size;
    if (from.class_number == DUMP_NONE)
        return 0;
    while ((got = hprof_body(h, &p, id, SIZE_MAX)) >= id)
        for (size_t at = 0; at + id <= got; at += id)
            TRY(refer(s, to, from, hprof_id(p + at, h->id_size)));
    return 0;
}

static int statics(struct search *s, struct side *to, const struct hprof_item *it)
{
    const struct dump_class *c = dump_class_by_id(s->d, it->id);
    if (!c || c->offset != it->offset)
        return 0;
    for (uint32_t i = 0; i < c->n_statics; i++) {
        struct holder from = {
            .class_number = c->number, .field = (uint16_t)i, .kind = HOLDER_STATIC};
        if (c->statics[i].type == HPROF_OBJECT)
            TRY(refer(s, to, from, c->statics[i].value));
    }
    return 0;
}

static int read_item(void *ctx, unsigned worker, struct hprof *h, const struct hprof_item *it)
{
    struct search *s = ctx;
    struct side *to = &s->sides[worker];
    if (!it->sub)
        return 0;
    switch (it->tag) {
    case HPROF_INSTANCE:
        return instance(s, to, h, it);
    case HPROF_OBJECT_ARRAY:
        return elements(s, to, h, it);
    case HPROF_CLASS:
        return statics(s, to, it);
    default:
        return 0;
    }
}

/* --- all of it -------------------------------------------------------------------------------- */

static int by_count(const void *a, const void *b)
{
    const struct holder *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return key_of(x) < key_of(y) ? -1 : key_of(x) > key_of(y);
}

static int collect(struct search *s, struct holder **out, size_t *n)
{
    struct side *all = &s->sides[0];
    for (unsigned i = 1; i < WORKERS_MAX; i++) {
        const struct side *from = &s->sides[i];
        for (size_t k = 0; k < from->holders.len / sizeof **out; k++)
            TRY(add(all, &HOLDERS(from)[k]));
    }
    *n = all->holders.len / sizeof **out;
    *out = malloc((*n + 1) * sizeof **out);
    if (!*out)
        return -ENOMEM;
    if (*n == 0)
        return 0;
    memcpy(*out, all->holders.p, *n * sizeof **out);
    qsort(*out, *n, sizeof **out, by_count);
    return 0;
}

static void search_fini(struct search *s)
{
    refs_fini(&s->refs);
    for (unsigned i = 0; i < WORKERS_MAX; i++) {
        map_fini(&s->sides[i].by_holder);
        buf_fini(&s->sides[i].holders);
    }
}

int holders_find(const struct dump *d, const struct holders_query *query, struct holder **out,
                 size_t *n, struct err *err)
{
    struct search *s = calloc(1, sizeof *s);
    *out = NULL;
    *n = 0;
    if (!s)
        return err_set(err, -ENOMEM, "%s: out of memory", d->path);
    s->d = d;
    s->query = query;
    int rc = refs_init(&s->refs, d), passed = 0;
    if (rc == 0)
        rc = passed = dump_each(d, read_item, s, err);
    if (rc == 0)
        rc = collect(s, out, n);
    search_fini(s);
    free(s);
    return rc < 0 && passed == 0 ? err_set(err, rc, "%s: out of memory", d->path) : rc;
}

void holder_name(const struct dump *d, const struct holder *h, struct buf *b)
{
    const struct dump_class *c = &d->classes[h->class_number];
    if (h->kind == HOLDER_ELEMENT)
        buf_printf(b, "%s elements", c->name);
    else if (h->kind == HOLDER_STATIC)
        buf_printf(b, "static %s.%s", c->name, c->statics[h->field].name);
    else
        buf_printf(b, "%s.%s", c->name, c->fields[h->field].name);
}

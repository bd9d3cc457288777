#include "heap/objects.h"

#include "heap/missing.h"
#include "heap/workers.h"

#include <stdlib.h>
#include <string.h>

enum {
    SHIFT = 3,
    SHIFT_MAX = 8, /* a place stands for a number of bytes, a power of two, and all are read */
    AHEAD = 4096,
    CACHED = 1024
};

/* Classes are looked up by id for each object; most are of a few. */
struct recent {
    uint64_t id[CACHED];
    uint32_t number[CACHED];
};

struct locating {
    struct objects *o;
    uint32_t *eighths;     /* or NULL */
    struct recent *recent; /* of each worker */
};

static int allocate(struct objects *o, const struct dump *d)
{
    size_t n = d->n_objects ? d->n_objects : 1;
    *o = (struct objects){.d = d, .shift = SHIFT};
    while (d->size >> o->shift >= UINT32_MAX)
        o->shift++;
    if (o->shift > SHIFT_MAX)
        return -EFBIG;
    o->places = malloc(n * sizeof *o->places);
    if (d->n_classes < UINT16_MAX)
        o->narrow = malloc(n * sizeof *o->narrow);
    else
        o->wide = malloc(n * sizeof *o->wide);
    if (!o->places || (!o->narrow && !o->wide))
        return -ENOMEM;
    memset(o->places, 0xff, n * sizeof *o->places);
    if (o->narrow)
        memset(o->narrow, 0xff, n * sizeof *o->narrow);
    else
        memset(o->wide, 0xff, n * sizeof *o->wide);
    return 0;
}

static uint32_t class_of(const struct dump *d, struct recent *r, const struct hprof_item *it)
{
    if (it->tag != HPROF_INSTANCE && it->tag != HPROF_OBJECT_ARRAY)
        return dump_item_class(d, it);
    size_t slot = (it->class_id >> 3 ^ it->class_id >> 13) & (CACHED - 1);
    if (r->id[slot] != it->class_id || it->class_id == 0) {
        r->id[slot] = it->class_id;
        r->number[slot] = dump_item_class(d, it);
    }
    return r->number[slot];
}

static uint64_t size_of(const struct dump *d, const struct hprof_item *it, uint32_t c)
{
    if (it->tag == HPROF_INSTANCE)
        return c == DUMP_NONE ? 0 : d->classes[c].size;
    return dump_item_size(d, it);
}

static int locate(void *ctx, unsigned worker, struct hprof *h, const struct hprof_item *it)
{
    struct locating *l = ctx;
    struct objects *o = l->o;
    (void)h;
    if (!it->sub || hprof_is_root(it->tag))
        return 0;
    uint32_t number = ids_find(&o->d->ids, it->id);
    if (number == IDS_NONE)
        return 0;
    uint32_t c = class_of(o->d, &l->recent[worker], it);
    /* Two records of one id are damage; whichever comes last counts. */
    o->places[number] = (uint32_t)(it->offset >> o->shift);
    if (o->narrow)
        o->narrow[number] = c == DUMP_NONE ? UINT16_MAX : (uint16_t)c;
    else
        o->wide[number] = c;
    if (l->eighths)
        l->eighths[number] = (uint32_t)(size_of(o->d, it, c) / 8);
    return 0;
}

int objects_locate(struct objects *o, const struct dump *d, struct err *err)
{
    return objects_locate_sized(o, d, NULL, err);
}

int objects_locate_sized(struct objects *o, const struct dump *d, uint32_t *eighths,
                         struct err *err)
{
    struct locating l = {
        .o = o, .eighths = eighths, .recent = calloc(WORKERS_MAX, sizeof *l.recent)};
    int rc = allocate(o, d);
    if (rc == -EFBIG)
        err_set(err, rc, "%s: a dump of more than 1 TB is too large for Orca", d->path);
    else if (rc < 0 || !l.recent)
        rc = err_set(err, -ENOMEM, "%s: out of memory", d->path);
    else
        rc = dump_each(d, locate, &l, err);
    free(l.recent);
    if (rc < 0)
        objects_release(o);
    return rc;
}

void objects_release(struct objects *o)
{
    free(o->places);
    free(o->narrow);
    free(o->wide);
    *o = (struct objects){0};
}

int object_reader_open(struct object_reader *r, const struct objects *o, struct err *err)
{
    *r = (struct object_reader){.o = o};
    TRY(hprof_clone(&r->h, &o->d->head, err));
    r->h.ahead = AHEAD;
    return 0;
}

void object_reader_close(struct object_reader *r)
{
    hprof_close(&r->h);
    buf_fini(&r->body);
    buf_fini(&r->more);
}

/* Append the current item's body; -EIO when it is not all there. */
static int take_body(struct object_reader *r, uint64_t len)
{
    const uint8_t *p;
    size_t got;
    buf_clear(&r->body);
    while ((got = hprof_body(&r->h, &p, 1, SIZE_MAX)) > 0)
        buf_put(&r->body, p, got);
    return r->body.oom ? -ENOMEM : r->body.len == len ? 0 : -EIO;
}

static int missing(const struct object_reader *r, uint64_t id, int code, struct err *err)
{
    return err_set(err, code, "%s: the object 0x%llx cannot be read", r->o->d->path,
                   (unsigned long long)id);
}

/* The record of an id in the few bytes where it begins.  What stands there is looked at first: to
 * take a record apart that is none may be long. */
static bool find_record(struct object_reader *r, uint64_t from, uint64_t id, struct hprof_item *it)
{
    const struct dump *d = r->o->d;
    for (uint64_t at = from; at < from + (UINT64_C(1) << r->o->shift); at++) {
        hprof_seek_sub(&r->h, at, UINT64_MAX, UINT64_MAX);
        if (hprof_is_object(&r->h, id) && hprof_next(&r->h, it) > 0 &&
            it->body + it->body_len <= d->size)
            return true;
    }
    return false;
}

int object_read(struct object_reader *r, uint32_t number, struct object *out, struct err *err)
{
    const struct dump *d = r->o->d;
    uint64_t id = number < d->n_objects ? ids_at(&d->ids, number) : 0;
    *out = (struct object){.number = number};
    if (!id || r->o->places[number] == UINT32_MAX)
        return missing(r, id, -ENOENT, err);
    if (!find_record(r, (uint64_t)r->o->places[number] << r->o->shift, id, &out->item))
        return missing(r, id, -EIO, err);
    uint32_t c = objects_class(r->o, number);
    out->c = c == DUMP_NONE ? NULL : &d->classes[c];
    out->size = dump_item_size(d, &out->item);
    if (out->item.tag != HPROF_INSTANCE)
        return 0;
    if (take_body(r, out->item.body_len) < 0)
        return missing(r, id, -EIO, err);
    out->fields = r->body.p;
    out->fields_len = r->body.len;
    return 0;
}

bool object_field(const struct object_reader *r, const struct object *x, const char *declaring,
                  const char *name, uint64_t *value)
{
    const struct dump *d = r->o->d;
    uint8_t type;
    if (!x->c || !x->fields)
        return false;
    int64_t at = dump_field_at(d, x->c, declaring, name, &type);
    uint32_t size = at < 0 ? 0 : hprof_type_size(type, d->id_size);
    if (!size || (uint64_t)at + size > x->fields_len)
        return false;
    *value = 0;
    for (uint32_t i = 0; i < size; i++)
        *value = *value << 8 | x->fields[at + i];
    return true;
}

int64_t object_elements(struct object_reader *r, const struct object *array, uint64_t first,
                        uint64_t n, const uint8_t **p)
{
    const struct hprof_item *it = &array->item;
    uint32_t size = it->tag == HPROF_OBJECT_ARRAY      ? r->o->d->id_size
                    : it->tag == HPROF_PRIMITIVE_ARRAY ? hprof_type_size(it->type, 8)
                                                       : 0;
    *p = (const uint8_t *)"";
    if (!size || first >= it->n)
        return 0;
    n = n < it->n - first ? n : it->n - first;
    buf_clear(&r->more);
    uint8_t *to = buf_reserve(&r->more, n * size);
    if (!to)
        return -ENOMEM;
    ssize_t got = hprof_cursor_read(r->h.cursor, it->body + first * size, to, n * size);
    if (got < 0)
        return got;
    *p = to;
    return got / (int64_t)size;
}

static void put_utf8(struct buf *b, uint32_t c)
{
    if (c < 0x80) {
        buf_putc(b, (char)c);
    } else if (c < 0x800) {
        buf_putc(b, (char)(0xc0 | c >> 6));
        buf_putc(b, (char)(0x80 | (c & 0x3f)));
    } else if (c < 0x10000) {
        buf_putc(b, (char)(0xe0 | c >> 12));
        buf_putc(b, (char)(0x80 | (c >> 6 & 0x3f)));
        buf_putc(b, (char)(0x80 | (c & 0x3f)));
    } else {
        buf_putc(b, (char)(0xf0 | c >> 18));
        buf_putc(b, (char)(0x80 | (c >> 12 & 0x3f)));
        buf_putc(b, (char)(0x80 | (c >> 6 & 0x3f)));
        buf_putc(b, (char)(0x80 | (c & 0x3f)));
    }
}

static void put_utf16(struct buf *b, const uint8_t *p, size_t units, bool big_endian)
{
    for (size_t i = 0; i < units; i++, p += 2) {
        uint32_t c = big_endian ? (uint32_t)(p[0] << 8 | p[1]) : (uint32_t)(p[1] << 8 | p[0]);
        if (c >= 0xd800 && c < 0xdc00 && i + 1 < units) {
            uint32_t low = big_endian ? (uint32_t)(p[2] << 8 | p[3]) : (uint32_t)(p[3] << 8 | p[2]);
            if (low >= 0xdc00 && low < 0xe000) {
                c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
                i++;
                p += 2;
            }
        }
        put_utf8(b, c >= 0xd800 && c < 0xe000 ? 0xfffd : c);
    }
}

void object_text(enum text_form form, const uint8_t *p, size_t n, struct buf *into)
{
    for (size_t i = 0; i < n && form == TEXT_LATIN1; i++)
        put_utf8(into, p[i]);
    /* A byte[] is as in memory, a char[] big-endian as all in a dump. */
    if (form != TEXT_LATIN1)
        put_utf16(into, p, form == TEXT_CHARS ? n : n / 2, form == TEXT_CHARS);
}

int64_t object_string(struct object_reader *r, uint32_t number, struct buf *into, uint64_t most)
{
    struct object s, v;
    uint64_t value, coder = 0;
    const uint8_t *p;
    TRY(object_read(r, number, &s, NULL));
    if (!missing_knows_contents(r->o->d) || !s.c || s.c->number != r->o->d->string_class ||
        !object_field(r, &s, NULL, "value", &value))
        return -EINVAL;
    bool compact = object_field(r, &s, NULL, "coder", &coder);
    uint64_t offset = 0, count = UINT64_MAX; /* JDK 6 shares arrays */
    if (object_field(r, &s, NULL, "offset", &offset))
        object_field(r, &s, NULL, "count", &count);
    uint32_t array = ids_find(&r->o->d->ids, value);
    if (array == IDS_NONE)
        return -EINVAL;
    TRY(object_read(r, array, &v, NULL));
    bool bytes = v.item.tag == HPROF_PRIMITIVE_ARRAY && v.item.type == HPROF_BYTE;
    bool chars = v.item.tag == HPROF_PRIMITIVE_ARRAY && v.item.type == HPROF_CHAR;
    if ((!bytes && !chars) || (bytes && !compact))
        return -EINVAL;
    uint64_t unit = bytes && coder == 1 ? 2 : 1, length = v.item.n / unit;
    length = length < count ? length : count;
    uint64_t wanted = length < most ? length : most;
    int64_t got = object_elements(r, &v, offset, wanted * unit, &p);
    if (got < 0)
        return got;
    object_text(chars ? TEXT_CHARS : unit == 2 ? TEXT_UTF16 : TEXT_LATIN1, p, (size_t)got, into);
    return into->oom ? -ENOMEM : (int64_t)length;
}

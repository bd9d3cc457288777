/* heap_object.c - one object: what it is, its fields with their values, elements, statics. */
#include "view/heap_parts.h"

#include "base/util.h"
#include "heap/missing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *type_name(uint8_t type)
{
    static const char *const names[HPROF_TYPES] = {
        [HPROF_OBJECT] = "reference", [HPROF_BOOLEAN] = "boolean", [HPROF_CHAR] = "char",
        [HPROF_FLOAT] = "float",      [HPROF_DOUBLE] = "double",   [HPROF_BYTE] = "byte",
        [HPROF_SHORT] = "short",      [HPROF_INT] = "int",         [HPROF_LONG] = "long",
    };
    return type < HPROF_TYPES && names[type] ? names[type] : "?";
}

/* --- values ----------------------------------------------------------------------------------- */

static double real_of(uint8_t type, uint64_t bits)
{
    float f;
    double d;
    uint32_t low = (uint32_t)bits;
    memcpy(&f, &low, sizeof f);
    memcpy(&d, &bits, sizeof d);
    return type == HPROF_FLOAT ? (double)f : d;
}

/* As few digits as bring the same number back. */
static void put_real(struct buf *b, uint8_t type, double v)
{
    char text[40];
    int most = type == HPROF_FLOAT ? 9 : 17;
    for (int digits = most == 9 ? 6 : 15; digits <= most; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        double back = strtod(text, NULL);
        if (type == HPROF_FLOAT ? (float)back == (float)v : back == v)
            break;
    }
    buf_puts(b, text);
}

static void put_char(struct buf *b, uint64_t bits)
{
    if (bits >= 0x20 && bits < 0x7f)
        buf_printf(b, "'%c' (%u)", (char)bits, (unsigned)bits);
    else
        buf_printf(b, "'\\u%04x' (%u)", (unsigned)bits, (unsigned)bits);
}

/* bits: of the value, as wide as it is. */
static void put_value(struct buf *b, uint8_t type, uint64_t bits)
{
    switch (type) {
    case HPROF_BOOLEAN:
        buf_puts(b, bits ? "true" : "false");
        break;
    case HPROF_CHAR:
        put_char(b, bits);
        break;
    case HPROF_FLOAT:
    case HPROF_DOUBLE:
        put_real(b, type, real_of(type, bits));
        break;
    case HPROF_BYTE:
        buf_printf(b, "%d", (int)(int8_t)bits);
        break;
    case HPROF_SHORT:
        buf_printf(b, "%d", (int)(int16_t)bits);
        break;
    case HPROF_INT:
        buf_printf(b, "%" PRId32, (int32_t)bits);
        break;
    default:
        buf_printf(b, "%" PRId64, (int64_t)bits);
        break;
    }
}

static uint64_t bits_of(const uint8_t *p, uint32_t size)
{
    uint64_t v = 0;
    for (uint32_t i = 0; i < size; i++)
        v = v << 8 | p[i];
    return v;
}

/* Sets `text`, and of a reference `to`: the object or null. */
static void set_value(struct heap_ask *a, json_t *j, uint8_t type, uint64_t bits)
{
    struct buf b = {0};
    uint32_t to = type == HPROF_OBJECT && bits ? ids_find(&a->h->d->ids, bits) : IDS_NONE;
    if (type != HPROF_OBJECT)
        put_value(&b, type, bits);
    else if (bits && to == IDS_NONE)
        buf_printf(&b, "0x%" PRIx64 " (not in the dump)", bits);
    else
        buf_puts(&b, "null");
    if (to == IDS_NONE)
        json_object_set_new(j, "text", heap_json_text_n((const char *)b.p, b.len));
    json_object_set_new(j, "to", to == IDS_NONE ? json_null() : heap_json_brief(a, to));
    buf_fini(&b);
}

/* --- an instance ------------------------------------------------------------------------------ */

/* The body is copied, as labels of what the fields refer to are read with the same reader. */
static json_t *fields_of(struct heap_ask *a, const struct object *x, uint64_t *n)
{
    const struct dump *d = a->h->d;
    struct dump_field_walk w = {.c = x->c};
    struct buf body = {0};
    json_t *list = json_array();
    *n = 0;
    buf_put(&body, x->fields, x->fields_len);
    while (x->c && !body.oom && dump_field_next(d, &w)) {
        uint32_t size = hprof_type_size(w.field->type, d->id_size);
        if (!size || w.at + (uint64_t)size > body.len)
            break;
        if (++*n > HEAP_FIELDS_MAX)
            continue;
        json_t *j = json_pack("{s:o, s:s, s:o}", "name", heap_json_text(w.field->name), "type",
                              type_name(w.field->type), "of", heap_json_text(w.of->name));
        set_value(a, j, w.field->type, bits_of(body.p + w.at, size));
        json_array_append_new(list, j);
    }
    buf_fini(&body);
    return list;
}

static json_t *string_of(struct heap_ask *a, uint32_t object)
{
    struct buf text = {0};
    int64_t n = object_string(&a->reader, object, &text, HEAP_STRING_MAX);
    json_t *j =
        n < 0 ? json_null()
              : json_pack("{s:o, s:I}", "text", heap_json_text_n((const char *)text.p, text.len),
                          "length", (json_int_t)n);
    buf_fini(&text);
    return j;
}

/* --- a class ---------------------------------------------------------------------------------- */

static json_t *statics_of(struct heap_ask *a, const struct dump_class *c)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < c->n_statics && i < HEAP_FIELDS_MAX; i++) {
        json_t *j = json_pack("{s:o, s:s}", "name", heap_json_text(c->statics[i].name), "type",
                              type_name(c->statics[i].type));
        set_value(a, j, c->statics[i].type, c->statics[i].value);
        json_array_append_new(list, j);
    }
    return list;
}

static uint32_t object_of(const struct dump *d, uint64_t id)
{
    return id ? ids_find(&d->ids, id) : IDS_NONE;
}

/* A Class object's own class: what it says of its instances. */
static json_t *class_of(struct heap_ask *a, const struct dump_class *c)
{
    const struct heap_view *h = a->h;
    uint64_t super = c->super == DUMP_NONE ? 0 : h->d->classes[c->super].id;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "class",
                     heap_json_count(c->number), "name", heap_json_text(c->name), "objects",
                     heap_json_count(c->count), "bytes", heap_json_count(c->bytes), "retained",
                     heap_json_retained(h, h->retained.class_bytes[c->number]), "super",
                     heap_json_brief(a, object_of(h->d, super)), "loader",
                     heap_json_brief(a, object_of(h->d, c->loader)), "n_statics",
                     heap_json_count(c->n_statics), "statics", statics_of(a, c));
}

/* --- the answers ------------------------------------------------------------------------------ */

static int read(struct heap_ask *a, struct object *x, struct err *err)
{
    return object_read(&a->reader, a->object, x, err);
}

static bool is_array(const struct object *x)
{
    return x->item.tag == HPROF_OBJECT_ARRAY || x->item.tag == HPROF_PRIMITIVE_ARRAY;
}

/* An array of primitives, in a dump without contents. */
static bool lacks_elements(const struct dump *d, const struct object *x)
{
    return x->item.tag == HPROF_PRIMITIVE_ARRAY && !missing_knows_contents(d);
}

static uint8_t element_type(const struct object *x)
{
    return x->item.tag == HPROF_OBJECT_ARRAY ? HPROF_OBJECT : x->item.type;
}

static void set_kept_by(struct heap_ask *a, json_t *j)
{
    const struct heap_view *h = a->h;
    uint32_t n, by = h->retained.dominators[a->object];
    children_of(&h->children, a->object, &n);
    json_object_set_new(j, "reached",
                        h->retained.known ? json_boolean(by != DUMP_NONE) : json_null());
    json_object_set_new(j, "dominator",
                        by == DUMP_NONE || by == RETAINED_ROOT ? json_null()
                                                               : heap_json_brief(a, by));
    json_object_set_new(j, "children", heap_json_count(n));
    json_object_set_new(j, "roots", heap_json_roots(a, a->object));
}

json_t *heap_answer_object(struct heap_ask *a, int *rc, struct err *err)
{
    const struct dump *d = a->h->d;
    struct object x;
    uint64_t n_fields = 0;
    *rc = read(a, &x, err);
    if (*rc < 0)
        return NULL;
    const struct dump_class *own =
        x.item.tag == HPROF_CLASS ? dump_class_by_id(d, x.item.id) : NULL;
    json_t *fields = fields_of(a, &x, &n_fields), *j = heap_json_brief(a, a->object);
    uint32_t mirror = x.c ? object_of(d, x.c->id) : IDS_NONE;
    json_object_set_new(j, "kind",
                        json_string(own            ? "class"
                                    : is_array(&x) ? "array"
                                                   : "instance"));
    json_object_set_new(j, "class_name", x.c ? heap_json_text(x.c->name) : json_null());
    json_object_set_new(j, "class_object",
                        mirror == IDS_NONE ? json_null() : heap_json_count(mirror));
    json_object_set_new(j, "n_fields", heap_json_count(n_fields));
    json_object_set_new(j, "fields", fields);
    json_object_set_new(j, "elements",
                        is_array(&x) && !lacks_elements(d, &x) ? heap_json_count(x.item.n)
                                                               : json_null());
    json_object_set_new(
        j, "string", x.c && x.c->number == d->string_class ? string_of(a, a->object) : json_null());
    json_object_set_new(j, "is_class", own ? class_of(a, own) : json_null());
    set_kept_by(a, j);
    return j;
}

json_t *heap_answer_elements(struct heap_ask *a, int *rc, struct err *err)
{
    const struct dump *d = a->h->d;
    struct object x;
    const uint8_t *p;
    *rc = read(a, &x, err);
    if (*rc == 0 && !is_array(&x))
        *rc = err_set(err, -EINVAL, "object=%" PRIu32 ": not an array", a->object);
    if (*rc < 0)
        return NULL;
    uint8_t type = element_type(&x);
    uint32_t size = hprof_type_size(type, d->id_size);
    int64_t n = object_elements(&a->reader, &x, a->offset, min_u64(a->top, HEAP_TOP_MAX), &p);
    if (n < 0) {
        *rc = err_set(err, (int)n, "%s: the elements cannot be read", d->path);
        return NULL;
    }
    /* The bytes are copied, as labels are read with the same reader. */
    struct buf bytes = {0};
    json_t *list = json_array();
    buf_put(&bytes, p, (size_t)n * size);
    for (int64_t i = 0; i < n && !bytes.oom; i++) {
        json_t *j = json_object();
        set_value(a, j, type, bits_of(bytes.p + (size_t)i * size, size));
        json_array_append_new(list, j);
    }
    buf_fini(&bytes);
    return json_pack("{s:o, s:o, s:s, s:o}", "n", heap_json_count(x.item.n), "offset",
                     heap_json_count(a->offset), "type", type_name(type), "elements", list);
}

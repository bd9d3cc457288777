#include "classfile/cf.h"

#include "base/util.h"

#include <string.h>

enum {
    MAGIC = 0xCAFEBABE,
    MAX_LEN = 1 << 30, /* keeps all offset arithmetic within 32 bits */
};

/* Bytes behind the tag, JVMS 4.4; 0: no such tag.  Utf8 has its length in front. */
static const uint8_t constant_len[] = {
    [CF_UTF8] = 2,           [CF_INTEGER] = 4,
    [CF_FLOAT] = 4,          [CF_LONG] = 8,
    [CF_DOUBLE] = 8,         [CF_CLASS] = 2,
    [CF_STRING] = 2,         [CF_FIELDREF] = 4,
    [CF_METHODREF] = 4,      [CF_INTERFACE_METHODREF] = 4,
    [CF_NAME_AND_TYPE] = 4,  [CF_METHOD_HANDLE] = 3,
    [CF_METHOD_TYPE] = 2,    [CF_DYNAMIC] = 4,
    [CF_INVOKE_DYNAMIC] = 4, [CF_MODULE] = 2,
    [CF_PACKAGE] = 2,
};

const uint8_t *cf_constant(const struct cf_class *c, uint32_t index, enum cf_tag tag)
{
    if (index >= c->n_pool || c->pool[index] == 0 || c->p[c->pool[index]] != tag)
        return NULL;
    return c->p + c->pool[index] + 1;
}

struct cf_text cf_utf8(const struct cf_class *c, uint32_t index)
{
    const uint8_t *p = cf_constant(c, index, CF_UTF8);
    return p ? (struct cf_text){(const char *)p + 2, be_get2(p)} : (struct cf_text){0};
}

struct cf_text cf_class_at(const struct cf_class *c, uint32_t index)
{
    const uint8_t *p = cf_constant(c, index, CF_CLASS);
    return p ? cf_utf8(c, be_get2(p)) : (struct cf_text){0};
}

bool cf_ref_at(const struct cf_class *c, uint32_t index, struct cf_ref *out)
{
    const uint8_t *p = cf_constant(c, index, CF_METHODREF);
    if (!p)
        p = cf_constant(c, index, CF_INTERFACE_METHODREF);
    if (!p)
        p = cf_constant(c, index, CF_FIELDREF);
    const uint8_t *nt = p ? cf_constant(c, be_get2(p + 2), CF_NAME_AND_TYPE) : NULL;
    if (!nt)
        return false;
    *out = (struct cf_ref){cf_class_at(c, be_get2(p)), cf_utf8(c, be_get2(nt)),
                           cf_utf8(c, be_get2(nt + 2))};
    return out->cls.p && out->name.p && out->desc.p;
}

bool cf_text_is(struct cf_text t, const char *s)
{
    return t.p && t.len == strlen(s) && memcmp(t.p, s, t.len) == 0;
}

bool cf_text_equal(struct cf_text a, struct cf_text b)
{
    return a.p && b.p && a.len == b.len && memcmp(a.p, b.p, a.len) == 0;
}

struct cf_attr cf_next_attr(const struct cf_class *c, struct be_reader *r)
{
    struct cf_attr a = {.start = (uint32_t)r->pos};
    a.name = cf_utf8(c, be_u2(r));
    uint32_t len = be_u4(r);
    a.data = (uint32_t)r->pos;
    be_skip(r, len);
    a.end = (uint32_t)r->pos;
    if (!a.name.p)
        r->bad = true;
    return a;
}

/* c->n_pool of them. */
static int parse_pool(struct cf_class *c, struct be_reader *r, struct arena *a, struct err *err)
{
    uint32_t *pool = arena_alloc(a, c->n_pool * sizeof *pool);
    if (!pool)
        return err_set(err, -ENOMEM, "out of memory");
    c->pool = pool;
    for (uint32_t i = 1; i < c->n_pool; i++) {
        size_t at = r->pos;
        uint32_t tag = be_u1(r);
        if (r->bad || tag >= ARRAY_LEN(constant_len) || constant_len[tag] == 0)
            return err_set(err, -EINVAL, "constant %u at offset %zu: %s", (unsigned)i, at,
                           r->bad ? "the file ends" : "unknown tag");
        pool[i] = (uint32_t)at;
        be_skip(r, tag == CF_UTF8 ? be_u2(r) : constant_len[tag]);
        if ((tag == CF_LONG || tag == CF_DOUBLE) && ++i >= c->n_pool) /* JVMS 4.4.5 */
            return err_set(err, -EINVAL, "the last constant takes two indices");
    }
    c->pool_end = (uint32_t)r->pos;
    return 0;
}

static void parse_member(struct cf_class *c, struct be_reader *r, struct cf_method *m)
{
    *m = (struct cf_method){.start = (uint32_t)r->pos};
    m->access = (uint16_t)be_u2(r);
    m->name = cf_utf8(c, be_u2(r));
    m->desc = cf_utf8(c, be_u2(r));
    uint32_t n = be_u2(r);
    for (uint32_t i = 0; i < n && !r->bad; i++) {
        struct cf_attr attr = cf_next_attr(c, r);
        if (cf_text_is(attr.name, "Code") && !m->code)
            m->code = attr.start;
    }
    m->end = (uint32_t)r->pos;
    if (!m->name.p || !m->desc.p)
        r->bad = true;
}

static int parse_members(struct cf_class *c, struct be_reader *r, struct arena *a, struct err *err)
{
    struct cf_method field;
    uint32_t n = be_u2(r);
    for (uint32_t i = 0; i < n && !r->bad; i++)
        parse_member(c, r, &field);
    c->n_methods = (uint16_t)be_u2(r);
    if ((size_t)c->n_methods * 8 > r->end - r->pos) /* the smallest method has 8 bytes */
        return err_set(err, -EINVAL, "%u methods do not fit", c->n_methods);
    c->methods = arena_alloc(a, c->n_methods * sizeof *c->methods);
    if (!c->methods)
        return err_set(err, -ENOMEM, "out of memory");
    for (uint32_t i = 0; i < c->n_methods && !r->bad; i++)
        parse_member(c, r, &c->methods[i]);
    n = be_u2(r);
    for (uint32_t i = 0; i < n && !r->bad; i++)
        cf_next_attr(c, r);
    return 0;
}

int cf_parse_constants(struct cf_class *c, const uint8_t *p, size_t len, uint16_t n,
                       struct arena *a, struct err *err)
{
    *c = (struct cf_class){.n_pool = n};
    if (len >= MAX_LEN)
        return err_set(err, -EINVAL, "%zu bytes of constants", len);
    uint8_t *copy = arena_alloc(a, len + 1); /* none is at offset 0, as in a whole class */
    if (!copy)
        return err_set(err, -ENOMEM, "out of memory");
    memcpy(copy + 1, p, len);
    c->p = copy;
    c->len = (uint32_t)len + 1;
    struct be_reader r = cf_reader(c, 1, c->len);
    TRY(parse_pool(c, &r, a, err));
    return r.bad ? err_set(err, -EINVAL, "the last constant does not fit") : 0;
}

int cf_parse(struct cf_class *c, const uint8_t *p, size_t len, struct arena *a, struct err *err)
{
    *c = (struct cf_class){.p = p};
    if (len > MAX_LEN)
        return err_set(err, -EINVAL, "class file of %zu bytes", len);
    c->len = (uint32_t)len;
    struct be_reader r = cf_reader(c, 0, c->len);
    if (be_u4(&r) != MAGIC)
        return err_set(err, -EINVAL, "no class file: bad magic");
    c->minor = (uint16_t)be_u2(&r);
    c->major = (uint16_t)be_u2(&r);
    c->n_pool = (uint16_t)be_u2(&r);
    TRY(parse_pool(c, &r, a, err));
    c->access = (uint16_t)be_u2(&r);
    c->name = cf_class_at(c, be_u2(&r));
    c->super = cf_class_at(c, be_u2(&r));
    be_skip(&r, 2 * (size_t)be_u2(&r)); /* interfaces */
    if (r.bad || !c->name.p)
        return err_set(err, -EINVAL, "class header at offset %u is damaged", c->pool_end);
    TRY(parse_members(c, &r, a, err));
    if (r.bad)
        return err_set(err, -EINVAL, "a field, method or attribute does not fit");
    if (r.pos != r.end)
        return err_set(err, -EINVAL, "%zu bytes behind the class", r.end - r.pos);
    return 0;
}

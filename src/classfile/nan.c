#include "classfile/nan.h"

#include <string.h>

/* IEEE 754: all bits of the exponent, and one of the fraction (JVMS 4.4.4, 4.4.5). */
static bool is_nan(const struct cf_class *c, uint32_t i)
{
    enum { SIGN = 1 };
    static const uint32_t inf = UINT32_C(0x7f800000), inf_high = UINT32_C(0x7ff00000);
    const uint8_t *f = cf_constant(c, i, CF_FLOAT), *d = cf_constant(c, i, CF_DOUBLE);
    if (f)
        return be_get4(f) << SIGN > inf << SIGN;
    /* the low half counts when the high one is that of infinity */
    return d && (be_get4(d) << SIGN | (be_get4(d + 4) != 0)) > inf_high << SIGN;
}

bool cf_has_nan(const struct cf_class *c)
{
    for (uint32_t i = 1; i < c->n_pool; i++)
        if (is_nan(c, i))
            return true;
    return false;
}

/* --- who names it ----------------------------------------------------------------------------- */

static void stays(struct nan_constants *s, uint32_t index)
{
    if (!nan_goes(s, index))
        return;
    s->bits[index / 64] &= ~(UINT64_C(1) << index % 64);
    s->n--;
}

/* Values in annotations stand behind a letter of their kind; what looks so is taken for one. */
static void keep_annotated(struct nan_constants *s, const struct cf_class *c, struct cf_attr attr)
{
    for (uint32_t at = attr.data; at + 3 <= attr.end; at++)
        if (c->p[at] == 'D' || c->p[at] == 'F')
            stays(s, be_get2(c->p + at + 1));
}

static void keep_bootstrap(struct nan_constants *s, const struct cf_class *c, struct cf_attr attr)
{
    struct be_reader r = cf_reader(c, attr.data, attr.end);
    for (uint32_t n = be_u2(&r); n > 0 && !r.bad; n--) {
        be_skip(&r, 2);
        for (uint32_t k = be_u2(&r); k > 0 && !r.bad; k--)
            stays(s, be_u2(&r));
    }
}

static bool has_annotations(struct cf_text name)
{
    return (name.len > 7 && memcmp(name.p, "Runtime", 7) == 0) ||
           cf_text_is(name, "AnnotationDefault") || cf_text_is(name, "Record");
}

static void keep_named(struct nan_constants *s, const struct cf_class *c, struct be_reader *r,
                       bool in_code)
{
    for (uint32_t n = be_u2(r); n > 0 && !r->bad; n--) {
        struct cf_attr attr = cf_next_attr(c, r);
        if (r->bad)
            return;
        if (has_annotations(attr.name))
            keep_annotated(s, c, attr);
        else if (cf_text_is(attr.name, "BootstrapMethods"))
            keep_bootstrap(s, c, attr);
        if (in_code || !cf_text_is(attr.name, "Code"))
            continue;
        struct be_reader code = cf_reader(c, attr.data, attr.end);
        be_skip(&code, 4); /* max_stack, max_locals */
        be_skip(&code, be_u4(&code));
        be_skip(&code, 8 * (size_t)be_u2(&code)); /* exception_table */
        keep_named(s, c, &code, true);
    }
}

static void keep_all_named(struct nan_constants *s, const struct cf_class *c)
{
    struct be_reader r = cf_reader(c, c->pool_end, c->len);
    be_skip(&r, 6);                     /* access_flags, this_class, super_class */
    be_skip(&r, 2 * (size_t)be_u2(&r)); /* interfaces */
    for (int kind = 0; kind < 2; kind++)
        for (uint32_t n = be_u2(&r); n > 0 && !r.bad; n--) { /* fields, methods */
            be_skip(&r, 6);
            keep_named(s, c, &r, false);
        }
    keep_named(s, c, &r, false);
}

int nan_find(struct nan_constants *s, const struct cf_class *c, struct arena *a)
{
    *s = (struct nan_constants){0};
    if (!cf_has_nan(c))
        return 0;
    s->bits = arena_alloc(a, (UINT16_MAX / 64 + 1) * sizeof *s->bits); /* whatever code says */
    if (!s->bits)
        return -ENOMEM;
    for (uint32_t i = 1; i < c->n_pool; i++)
        if (is_nan(c, i)) {
            s->bits[i / 64] |= UINT64_C(1) << i % 64;
            s->n++;
        }
    keep_all_named(s, c);
    return 0;
}

void nan_clear(const struct nan_constants *s, const struct cf_class *c, uint8_t *copy)
{
    for (uint32_t i = 1; i < c->n_pool && s->n; i++)
        if (nan_goes(s, i))
            memset(copy + c->pool[i] + 1, 0, cf_constant(c, i, CF_DOUBLE) ? 8 : 4);
}

#include "classfile/cpool.h"

#include "base/hash.h"

#include <string.h>

enum { LIMIT = 65535 };

void cpool_init(struct cpool *p, const struct cf_class *c)
{
    *p = (struct cpool){.c = c, .n = c->n_pool};
}

void cpool_fini(struct cpool *p)
{
    map_fini(&p->index);
    buf_fini(&p->out);
}

/* The bytes of the constants this file asks for; 0: another kind. */
static size_t constant_size(const uint8_t *p)
{
    switch (p[0]) {
    case CF_UTF8:
        return 3 + be_get2(p + 1);
    case CF_INTEGER:
    case CF_METHODREF:
    case CF_NAME_AND_TYPE:
        return 5;
    case CF_CLASS:
        return 3;
    default:
        return 0;
    }
}

static void build_index(struct cpool *p)
{
    p->indexed = true;
    for (uint32_t i = 1; i < p->c->n_pool; i++) {
        const uint8_t *at = p->c->pool[i] ? p->c->p + p->c->pool[i] : NULL;
        size_t size = at ? constant_size(at) : 0;
        uint64_t *slot = size ? map_put(&p->index, hash_place(at, size, 0)) : NULL;
        if (slot && *slot == 0)
            *slot = i;
        else if (size && !slot)
            p->out.oom = true;
    }
}

/* Of two different constants with one hash the second is never found and so appended again. */
static uint32_t intern(struct cpool *p, const uint8_t *bytes, size_t size)
{
    if (!p->indexed)
        build_index(p);
    uint64_t hash = hash_place(bytes, size, 0);
    const uint64_t *have = map_find(&p->index, hash);
    if (have) {
        uint32_t i = (uint32_t)*have;
        uint32_t place = (uint32_t)(*have >> 32);
        const uint8_t *at = i < p->c->n_pool ? p->c->p + p->c->pool[i] : p->out.p + place;
        if (constant_size(at) == size && memcmp(at, bytes, size) == 0)
            return i;
    }
    if (p->n >= LIMIT)
        p->full = true;
    uint64_t *slot = p->full ? NULL : map_put(&p->index, hash);
    if (!slot) {
        p->out.oom |= !p->full;
        return 0;
    }
    *slot = (uint64_t)p->out.len << 32 | p->n;
    buf_put(&p->out, bytes, size);
    return p->out.oom ? 0 : p->n++;
}

uint32_t cpool_utf8(struct cpool *p, const char *s, size_t len)
{
    struct buf b = {0};
    if (len > UINT16_MAX) {
        p->full = true;
        return 0;
    }
    be_put1(&b, CF_UTF8);
    be_put2(&b, (uint32_t)len);
    buf_put(&b, s, len);
    p->out.oom |= b.oom;
    uint32_t i = b.oom ? 0 : intern(p, b.p, b.len);
    buf_fini(&b);
    return i;
}

uint32_t cpool_integer(struct cpool *p, int32_t v)
{
    uint8_t b[5] = {CF_INTEGER};
    be_set4(b + 1, (uint32_t)v);
    return intern(p, b, sizeof b);
}

uint32_t cpool_long(struct cpool *p, const uint8_t value[8])
{
    uint8_t b[9] = {CF_LONG};
    memcpy(b + 1, value, 8);
    if (p->n >= LIMIT - 1)
        p->full = true;
    uint32_t before = p->n, i = intern(p, b, sizeof b);
    p->n += p->n > before; /* it takes two indices (JVMS 4.4.5) */
    return i;
}

uint32_t cpool_class(struct cpool *p, const char *name, size_t len)
{
    uint8_t b[3] = {CF_CLASS};
    be_set2(b + 1, cpool_utf8(p, name, len));
    return intern(p, b, sizeof b);
}

static uint32_t pair(struct cpool *p, enum cf_tag tag, uint32_t first, uint32_t second)
{
    uint8_t b[5] = {(uint8_t)tag};
    be_set2(b + 1, first);
    be_set2(b + 3, second);
    return intern(p, b, sizeof b);
}

uint32_t cpool_method(struct cpool *p, const char *cls, const char *name, const char *desc)
{
    uint32_t n = cpool_utf8(p, name, strlen(name));
    uint32_t d = cpool_utf8(p, desc, strlen(desc));
    uint32_t c = cpool_class(p, cls, strlen(cls));
    return pair(p, CF_METHODREF, c, pair(p, CF_NAME_AND_TYPE, n, d));
}

int cpool_check(const struct cpool *p, struct err *err)
{
    if (p->out.oom)
        return err_set(err, -ENOMEM, "out of memory");
    if (p->full)
        return err_set(err, -ENOSPC, "more than %d constants", LIMIT);
    return 0;
}

#include "hotspot/method_cache.h"

#include "base/guarded.h"
#include "base/versioned.h"
#include "hotspot/methods.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 2048, LINE = 64, ACCESS_BITS = 16 };

/* One cache line. */
struct entry {
    _Alignas(LINE) _Atomic uint64_t version;
    _Atomic uint64_t method, constants, id, pool_cache, stamp;
    _Atomic uint64_t about; /* code_size << 16 | access */
};

struct method_cache {
    struct entry entries[ENTRIES];
};

int method_cache_new(struct method_cache **out)
{
    *out = aligned_alloc(LINE, sizeof **out);
    if (!*out)
        return -ENOMEM;
    memset(*out, 0, sizeof **out);
    return 0;
}

void method_cache_free(struct method_cache *c)
{
    free(c);
}

static size_t slot(uintptr_t method)
{
    return (method * 0x9e3779b97f4a7c15u) >> 53;
}

_Static_assert(ENTRIES == 1 << 11, "slot() gives 11 bits");

bool method_cache_find(const struct method_cache *c, const struct layout *l, uintptr_t method,
                       struct method_known *k)
{
    const struct entry *e = &c->entries[slot(method)];
    uint64_t before = versioned_begin(&e->version);
    if (before & 1 || versioned_get(&e->method) != method)
        return false;
    uintptr_t constants = versioned_get(&e->constants), id = versioned_get(&e->id), now, named;
    uint64_t about = versioned_get(&e->about);
    *k = (struct method_known){versioned_get(&e->pool_cache), constants + (uintptr_t)l->cm_header,
                               (uint32_t)(about >> ACCESS_BITS), (uint16_t)about,
                               versioned_get(&e->stamp)};
    return versioned_is(&e->version, before) && guarded_word(id, &named) && named == method &&
           guarded_word(method + (uintptr_t)l->m_const, &now) && now == constants;
}

void method_cache_put(struct method_cache *c, const struct layout *l, const struct method_view *v)
{
    uintptr_t id = method_own_id(l, v), pool_cache;
    uint64_t stamp = method_stamp_at(l, v->method);
    struct entry *e = &c->entries[slot(v->method)];
    uint64_t before;
    if (!id || !(stamp & METHOD_STAMP_LASTS) ||
        !guarded_word(v->pool + (uintptr_t)l->pool_cache, &pool_cache) ||
        !versioned_take(&e->version, &before))
        return;
    versioned_put(&e->method, v->method);
    versioned_put(&e->constants, v->constants);
    versioned_put(&e->id, id);
    versioned_put(&e->pool_cache, pool_cache);
    versioned_put(&e->stamp, stamp);
    versioned_put(&e->about, (uint64_t)v->code_size << ACCESS_BITS | v->access);
    versioned_give(&e->version, before);
}

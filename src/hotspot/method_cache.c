#include "hotspot/method_cache.h"

#include "base/guarded.h"
#include "hotspot/methods.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 2048, LINE = 64, ACCESS_BITS = 16 };

/* One cache line. */
struct entry {
    _Alignas(LINE) _Atomic uint64_t sequence;
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

static uint64_t get(const _Atomic uint64_t *w)
{
    return atomic_load_explicit(w, memory_order_relaxed);
}

static void put(_Atomic uint64_t *w, uint64_t v)
{
    atomic_store_explicit(w, v, memory_order_relaxed);
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
    /* acquire: pairs with the release at the end of method_cache_put */
    uint64_t before = atomic_load_explicit(&e->sequence, memory_order_acquire);
    if (before & 1 || get(&e->method) != method)
        return false;
    uintptr_t constants = get(&e->constants), id = get(&e->id), now, named;
    uint64_t about = get(&e->about);
    *k = (struct method_known){get(&e->pool_cache), constants + (uintptr_t)l->cm_header,
                               (uint32_t)(about >> ACCESS_BITS), (uint16_t)about, get(&e->stamp)};
    /* acquire: what was read comes before this second look; pairs with the fence in put */
    atomic_thread_fence(memory_order_acquire);
    return get(&e->sequence) == before && guarded_word(id, &named) && named == method &&
           guarded_word(method + (uintptr_t)l->m_const, &now) && now == constants;
}

void method_cache_put(struct method_cache *c, const struct layout *l, const struct method_view *v)
{
    uintptr_t id = method_own_id(l, v), pool_cache;
    uint64_t stamp = method_stamp_at(l, v->method);
    struct entry *e = &c->entries[slot(v->method)];
    uint64_t before = get(&e->sequence);
    if (!id || !(stamp & METHOD_STAMP_LASTS) ||
        !guarded_word(v->pool + (uintptr_t)l->pool_cache, &pool_cache) || before & 1 ||
        !atomic_compare_exchange_strong_explicit(&e->sequence, &before, before + 1,
                                                 memory_order_relaxed, memory_order_relaxed))
        return;
    /* release: nobody sees what follows without the odd number; pairs with the fence in find */
    atomic_thread_fence(memory_order_release);
    put(&e->method, v->method);
    put(&e->constants, v->constants);
    put(&e->id, id);
    put(&e->pool_cache, pool_cache);
    put(&e->stamp, stamp);
    put(&e->about, (uint64_t)v->code_size << ACCESS_BITS | v->access);
    /* release: the entry is whole */
    atomic_store_explicit(&e->sequence, before + 2, memory_order_release);
}

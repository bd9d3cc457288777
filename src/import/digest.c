#include "import/digest.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

void digest_init(struct digest *d)
{
    memset(d, 0, sizeof *d);
}

void digest_fini(struct digest *d)
{
    map_fini(&d->map);
    free(d->high);
    memset(d, 0, sizeof *d);
}

static bool reserve(struct digest *d)
{
    if ((size_t)d->count + 1 < d->cap)
        return true;
    size_t cap = d->cap ? 2 * d->cap : 64;
    uint64_t *high = realloc(d->high, cap * sizeof *high);
    if (!high)
        return false;
    d->high = high;
    d->cap = cap;
    return true;
}

uint32_t digest_get(struct digest *d, const void *p, size_t n, bool *fresh)
{
    struct hash128 h = hash_place128(p, n);
    *fresh = false;
    for (uint64_t key = h.lo;; key++) {
        const uint64_t *number = map_find(&d->map, key);
        if (number && d->high[*number] == h.hi)
            return (uint32_t)*number;
        if (number)
            continue;
        uint64_t *slot = reserve(d) ? map_put(&d->map, key) : NULL;
        if (!slot)
            return 0;
        *slot = ++d->count;
        d->high[d->count] = h.hi;
        *fresh = true;
        return d->count;
    }
}

#include "base/keyed.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

void keyed_init(struct keyed *k, size_t key_bytes, size_t entry_bytes)
{
    *k = (struct keyed){.key_bytes = key_bytes, .entry_bytes = entry_bytes};
    map_init(&k->places);
}

void keyed_fini(struct keyed *k)
{
    free(k->v);
    map_fini(&k->places);
    keyed_init(k, k->key_bytes, k->entry_bytes);
}

static char *entry_at(const struct keyed *k, size_t i)
{
    return (char *)k->v + i * k->entry_bytes;
}

static void *append(struct keyed *k, const void *key, uint64_t *place)
{
    enum { FIRST = 256 };
    if (k->n == k->cap) {
        size_t cap = k->cap ? k->cap * 2 : FIRST;
        void *v = realloc(k->v, cap * k->entry_bytes);
        if (!v)
            return NULL;
        k->v = v;
        k->cap = cap;
    }
    char *e = entry_at(k, k->n);
    memset(e, 0, k->entry_bytes);
    memcpy(e, key, k->key_bytes);
    *place = ++k->n;
    return e;
}

void *keyed_put(struct keyed *k, const void *key)
{
    for (uint64_t hash = hash_place(key, k->key_bytes, 0);; hash++) {
        uint64_t *place = map_put(&k->places, hash);
        if (!place)
            return NULL;
        if (!*place)
            return append(k, key, place);
        if (memcmp(entry_at(k, *place - 1), key, k->key_bytes) == 0)
            return entry_at(k, *place - 1);
    }
}

void *keyed_find(const struct keyed *k, const void *key)
{
    uint64_t *place, hash = hash_place(key, k->key_bytes, 0);
    while ((place = map_find(&k->places, hash++)))
        if (memcmp(entry_at(k, *place - 1), key, k->key_bytes) == 0)
            return entry_at(k, *place - 1);
    return NULL;
}

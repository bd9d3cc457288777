#include "base/map.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

void map_init(struct map *m)
{
    memset(m, 0, sizeof *m);
}

void map_fini(struct map *m)
{
    free(m->slots);
    memset(m, 0, sizeof *m);
}

static size_t home_of(const struct map *m, uint64_t key)
{
    return hash_u64(key ^ m->seed) & (m->cap - 1);
}

static struct map_slot *probe(const struct map *m, uint64_t key)
{
    size_t i = home_of(m, key);
    while (m->slots[i].used && m->slots[i].key != key)
        i = (i + 1) & (m->cap - 1);
    return &m->slots[i];
}

uint64_t *map_find(const struct map *m, uint64_t key)
{
    if (m->cap == 0)
        return NULL;
    struct map_slot *s = probe(m, key);
    return s->used ? &s->value : NULL;
}

static bool grow(struct map *m)
{
    struct map bigger = {
        .cap = m->cap ? m->cap * 2 : 16, .len = m->len, .seed = m->cap ? m->seed : hash_drawn()};
    bigger.slots = calloc(bigger.cap, sizeof *bigger.slots);
    if (!bigger.slots)
        return false;
    for (size_t i = 0; i < m->cap; i++)
        if (m->slots[i].used)
            *probe(&bigger, m->slots[i].key) = m->slots[i];
    free(m->slots);
    *m = bigger;
    return true;
}

uint64_t *map_put(struct map *m, uint64_t key)
{
    if ((m->len + 1) * 10 > m->cap * 7 && !grow(m))
        return NULL;
    struct map_slot *s = probe(m, key);
    if (!s->used) {
        *s = (struct map_slot){.key = key, .used = true};
        m->len++;
    }
    return &s->value;
}

/* Slots behind the gap move into it unless they would then stand before their key's own place. */
void map_remove(struct map *m, uint64_t key)
{
    if (!map_find(m, key))
        return;
    size_t mask = m->cap - 1, gap = (size_t)(probe(m, key) - m->slots);
    for (size_t i = (gap + 1) & mask; m->slots[i].used; i = (i + 1) & mask) {
        size_t home = home_of(m, m->slots[i].key);
        if (((i - home) & mask) < ((i - gap) & mask))
            continue;
        m->slots[gap] = m->slots[i];
        gap = i;
    }
    m->slots[gap].used = false;
    m->len--;
}

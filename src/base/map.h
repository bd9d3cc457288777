/* map.h - open-addressing hash map from uint64_t to uint64_t; linear probing, at most 70 % full.
 * Any key is allowed.  Where a key lies depends on a number that is drawn for each process, so that
 * no file can be written whose keys all lie in one place.  Not thread-safe. */
#ifndef ORCA_BASE_MAP_H
#define ORCA_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
    uint64_t key, value;
    bool used;
};

struct map {
    struct map_slot *slots;
    size_t cap, len; /* cap: 0 or a power of two */
    uint64_t seed;
};

void map_init(struct map *m);
void map_fini(struct map *m);

/* The value's place, or NULL when the key is absent; valid until the next map_put. */
uint64_t *map_find(const struct map *m, uint64_t key);

/* The value's place, made with value 0 when the key is new; NULL when memory is out. */
uint64_t *map_put(struct map *m, uint64_t key);

/* Forget a key, if it is there. */
void map_remove(struct map *m, uint64_t key);

#endif

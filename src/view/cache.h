/* cache.h - answers, or parts of them, that cost much, kept while there is room.
 *
 *     bytes <= limit; what was asked for least recently goes first
 *
 * Any thread at any time. */
#ifndef ORCA_VIEW_CACHE_H
#define ORCA_VIEW_CACHE_H

#include "base/buf.h"
#include "base/map.h"

#include <pthread.h>

/* What an answer is about; all bytes count. */
struct cache_key {
    uint32_t what; /* a row's letter, or whatever else distinguishes answers */
    uint32_t number;
    int64_t i;
    uint64_t level;
};

struct cache_entry;

struct cache {
    pthread_mutex_t guard;
    struct map places;                   /* hash of the key -> struct cache_entry * */
    struct cache_entry *newest, *oldest; /* by use */
    size_t bytes, limit;
};

void cache_init(struct cache *c, size_t limit);
void cache_fini(struct cache *c);

/* Append what is kept of a key; false: nothing is. */
bool cache_get(struct cache *c, const struct cache_key *key, struct buf *out);

/* Keep n bytes; without memory, or when they are more than the limit, they are not kept. */
void cache_put(struct cache *c, const struct cache_key *key, const void *p, size_t n);

#endif

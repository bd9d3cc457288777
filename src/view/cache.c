#include "view/cache.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

struct cache_entry {
    struct cache_key key;
    struct cache_entry *newer, *older;
    size_t n;
    uint8_t bytes[];
};

void cache_init(struct cache *c, size_t limit)
{
    memset(c, 0, sizeof *c);
    c->limit = limit;
    map_init(&c->places);
    pthread_mutex_init(&c->guard, NULL);
}

void cache_fini(struct cache *c)
{
    for (struct cache_entry *e = c->oldest, *next; e; e = next) {
        next = e->newer;
        free(e);
    }
    map_fini(&c->places);
    pthread_mutex_destroy(&c->guard);
}

static uint64_t hash_of(const struct cache_key *key)
{
    return hash_bytes(key, sizeof *key, 0);
}

static void unlink_entry(struct cache *c, struct cache_entry *e)
{
    if (e->newer)
        e->newer->older = e->older;
    else
        c->newest = e->older;
    if (e->older)
        e->older->newer = e->newer;
    else
        c->oldest = e->newer;
}

static void link_newest(struct cache *c, struct cache_entry *e)
{
    e->newer = NULL;
    e->older = c->newest;
    if (c->newest)
        c->newest->newer = e;
    else
        c->oldest = e;
    c->newest = e;
}

static void drop(struct cache *c, struct cache_entry *e)
{
    map_remove(&c->places, hash_of(&e->key));
    unlink_entry(c, e);
    c->bytes -= sizeof *e + e->n;
    free(e);
}

bool cache_get(struct cache *c, const struct cache_key *key, struct buf *out)
{
    pthread_mutex_lock(&c->guard);
    uint64_t *place = map_find(&c->places, hash_of(key));
    struct cache_entry *e = place ? (void *)(uintptr_t)*place : NULL;
    bool found = e && memcmp(&e->key, key, sizeof *key) == 0;
    if (found) {
        unlink_entry(c, e);
        link_newest(c, e);
        buf_put(out, e->bytes, e->n);
    }
    pthread_mutex_unlock(&c->guard);
    return found;
}

static void put(struct cache *c, struct cache_entry *e)
{
    uint64_t *place = map_put(&c->places, hash_of(&e->key));
    if (!place) {
        free(e);
        return;
    }
    if (*place) { /* another thread was faster, or another key has the same hash */
        struct cache_entry *old = (void *)(uintptr_t)*place;
        unlink_entry(c, old);
        c->bytes -= sizeof *old + old->n;
        free(old);
    }
    *place = (uintptr_t)e;
    c->bytes += sizeof *e + e->n;
    link_newest(c, e);
    while (c->bytes > c->limit && c->oldest != e)
        drop(c, c->oldest);
}

void cache_put(struct cache *c, const struct cache_key *key, const void *p, size_t n)
{
    struct cache_entry *e = n < c->limit - sizeof *e ? malloc(sizeof *e + n) : NULL;
    if (!e)
        return;
    e->key = *key;
    e->n = n;
    if (n)
        memcpy(e->bytes, p, n);
    pthread_mutex_lock(&c->guard);
    put(c, e);
    pthread_mutex_unlock(&c->guard);
}

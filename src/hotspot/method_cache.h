/* method_cache.h - what interpreted frames say of their methods, so that it is read once.
 *
 * An interpreted frame names its Method, and what hangs on that - code, class, stamp - is some
 * twenty words in as many places.  A fixed table like pc_cache.h's: filled by any reader, read by
 * all threads and signal handlers at any time.
 *
 * An entry is believed while the word behind its jmethodID names the method: HotSpot never gives an
 * id's word to another method, and clears it when the class is unloaded. */
#ifndef ORCA_HOTSPOT_METHOD_CACHE_H
#define ORCA_HOTSPOT_METHOD_CACHE_H

#include "hotspot/layout.h"

struct method_cache;
struct method_view;

struct method_known {
    uintptr_t pool_cache, code; /* code: of the first bytecode */
    uint32_t code_size;
    uint16_t access;
    uint64_t stamp;
};

int method_cache_new(struct method_cache **out);
void method_cache_free(struct method_cache *c);

/* False: it is not there. */
bool method_cache_find(const struct method_cache *c, const struct layout *l, uintptr_t method,
                       struct method_known *k);

/* Does nothing for a method that has no jmethodID. */
void method_cache_put(struct method_cache *c, const struct layout *l, const struct method_view *v);

#endif

/* keyed.h - a list of entries, each found by its key, in the order in which they were first met.
 *
 *     an entry = its key, then what the caller keeps with it (zeros at first)
 * Keys are compared as bytes: the caller leaves no byte of a key unset.  Not thread-safe. */
#ifndef ORCA_BASE_KEYED_H
#define ORCA_BASE_KEYED_H

#include "base/map.h"

struct keyed {
    void *v; /* [n] */
    size_t n, cap;
    size_t key_bytes, entry_bytes;
    struct map places; /* hash of a key -> 1 + index */
};

void keyed_init(struct keyed *k, size_t key_bytes, size_t entry_bytes);
void keyed_fini(struct keyed *k);

/* The entry of a key, made when the key is new; NULL when memory is out.  Valid until the next
 * keyed_put. */
void *keyed_put(struct keyed *k, const void *key);

/* Likewise, NULL when there is none. */
void *keyed_find(const struct keyed *k, const void *key);

#endif

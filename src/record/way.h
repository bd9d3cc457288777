/* way.h - one way to find an id that something else has given: keys, and the id under each.
 *
 * Several keys may lead to one id, and one thing may be found by keys of several kinds, each kind
 * with a way of its own.  As with intern.h a lookup takes no lock and may run while another thread
 * inserts: async-signal-safe. */
#ifndef ORCA_RECORD_WAY_H
#define ORCA_RECORD_WAY_H

#include "record/intern.h"

struct way {
    struct intern keys;
    _Atomic uint32_t *ids; /* [max + 1], by the key's number; [0] is 0 */
};

/* For at most `max` keys.  A failed one is to be finished, too. */
int way_init(struct way *w, uint32_t max);
void way_fini(struct way *w);

/* The id under the key, or 0. */
uint32_t way_find(const struct way *w, struct hash128 key);

/* The id under the key, which is this one when there was none; 0: there is no room. */
uint32_t way_put(struct way *w, struct hash128 key, uint32_t id);

/* This id under the key, whatever was there. */
void way_set(struct way *w, struct hash128 key, uint32_t id);

/* The id under the key; when there is none, `define` is called with the key's number under the
 * way's lock, and says what it is with way_give, or returns false. */
uint32_t way_get(struct way *w, struct hash128 key, intern_define_fn define, void *arg);
void way_give(struct way *w, uint32_t number, uint32_t id);

#endif

/* intern.h - a set of 128-bit keys, each with a dense 32-bit id: stacks, methods.
 *
 * A key is a hash of the whole value (or the value itself): two different stacks with one key are
 * not to be expected before some 10^15 stacks, and are not distinguished.  Lookups take no lock and
 * may run while another thread inserts; insertions take the mutex, and call back to define the
 * value while they hold it, so that an id is never visible before its definition is committed.  Old
 * tables are kept until intern_fini: a lookup may still be reading one. */
#ifndef ORCA_RECORD_INTERN_H
#define ORCA_RECORD_INTERN_H

#include "base/hash.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct intern_table;

struct intern {
    _Atomic(struct intern_table *) table;
    pthread_mutex_t lock;
    uint32_t n, max; /* ids given, at most */
};

/* Define the value of a new id; false: could not be defined, the id is not used. */
typedef bool (*intern_define_fn)(void *arg, uint32_t id);

int intern_init(struct intern *in, uint32_t max);
void intern_fini(struct intern *in);

/* The key's id, or 0.  Any thread; no lock, no allocation. */
uint32_t intern_find(const struct intern *in, struct hash128 key);

/* The key's id, given and defined now when it is new; 0 when it could not be defined, or when there
 * are `max` already. */
uint32_t intern_get(struct intern *in, struct hash128 key, intern_define_fn define, void *arg);

#endif

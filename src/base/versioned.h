/* versioned.h - an entry of a table that all threads and signal handlers read while a thread writes
 * it: words, and a number that is odd while they are written.
 *
 *     reader   before = versioned_begin(&e->version)   ... versioned_get(word) ...
 *              versioned_is(&e->version, before): what was read is one entry
 *     writer   versioned_take(&e->version, &before)    ... versioned_put(word, v) ...
 *              versioned_give(&e->version, before)
 *
 * Nobody waits: who meets an odd number has read nothing, and does not write. */
#ifndef ORCA_BASE_VERSIONED_H
#define ORCA_BASE_VERSIONED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

static inline uint64_t versioned_get(const _Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

static inline void versioned_put(_Atomic uint64_t *word, uint64_t v)
{
    atomic_store_explicit(word, v, memory_order_relaxed);
}

/* Odd: it is being written. */
static inline uint64_t versioned_begin(const _Atomic uint64_t *version)
{
    /* acquire: pairs with versioned_give */
    return atomic_load_explicit(version, memory_order_acquire);
}

static inline bool versioned_is(const _Atomic uint64_t *version, uint64_t before)
{
    /* acquire: what was read comes before this second look; pairs with versioned_take */
    atomic_thread_fence(memory_order_acquire);
    return versioned_get(version) == before;
}

/* False: another thread writes. */
static inline bool versioned_take(_Atomic uint64_t *version, uint64_t *before)
{
    *before = versioned_get(version);
    if (*before & 1 ||
        !atomic_compare_exchange_strong_explicit(version, before, *before + 1, memory_order_relaxed,
                                                 memory_order_relaxed))
        return false;
    /* release: no thread sees what follows without the odd number; pairs with versioned_is */
    atomic_thread_fence(memory_order_release);
    return true;
}

static inline void versioned_give(_Atomic uint64_t *version, uint64_t before)
{
    /* release: the entry is whole */
    atomic_store_explicit(version, before + 2, memory_order_release);
}

#endif

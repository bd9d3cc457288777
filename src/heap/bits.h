/* bits.h - sets of objects, a bit for each; any number of threads may add to one.
 *
 * Relaxed order throughout: joining the threads orders what they added before what is asked. */
#ifndef ORCA_HEAP_BITS_H
#define ORCA_HEAP_BITS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* For objects 0..n-1, empty; NULL when memory is out.  Released with bits_free. */
static inline _Atomic uint64_t *bits_new(uint32_t n)
{
    return calloc(((size_t)n >> 6) + 1, sizeof(_Atomic uint64_t));
}

static inline void bits_free(_Atomic uint64_t *bits)
{
    free((void *)bits);
}

/* Whether it was not there. */
static inline bool bits_add(_Atomic uint64_t *bits, uint32_t i)
{
    uint64_t mask = UINT64_C(1) << (i & 63);
    return !(atomic_fetch_or_explicit(&bits[i >> 6], mask, memory_order_relaxed) & mask);
}

static inline bool bits_has(const _Atomic uint64_t *bits, uint32_t i)
{
    return atomic_load_explicit(&bits[i >> 6], memory_order_relaxed) >> (i & 63) & 1;
}

#endif

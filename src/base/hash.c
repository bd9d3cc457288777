#include "base/hash.h"

#include <stdatomic.h>
#include <sys/random.h>

uint64_t hash_drawn(void)
{
    /* relaxed: the number alone; two threads that draw at once agree by the exchange */
    static _Atomic uint64_t number;
    uint64_t n = atomic_load_explicit(&number, memory_order_relaxed), none = 0;
    if (n)
        return n;
    if (getrandom(&n, sizeof n, GRND_NONBLOCK) != (ssize_t)sizeof n)
        n = 0;
    n |= 1;
    if (!atomic_compare_exchange_strong_explicit(&number, &none, n, memory_order_relaxed,
                                                 memory_order_relaxed))
        n = none;
    return n;
}

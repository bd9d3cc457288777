#include "agent/alloc_weight.h"

uint64_t alloc_weight(uint64_t size, uint64_t interval)
{
    enum { HALVES = 10, LARGE = 40 };
    if (interval == 0 || size / interval >= LARGE)
        return size;
    double x = (double)size / (double)interval;
    /* e^-x - 1 by its series for a thousandth of x, then doubled: (1 + a)^2 - 1 = a * (a + 2) */
    double y = -x / (1 << HALVES), a = y * (1 + y / 2 * (1 + y / 3 * (1 + y / 4)));
    for (int i = 0; i < HALVES; i++)
        a *= a + 2;
    return (uint64_t)((double)size / -a + 0.5);
}

#include "base/util.h"

#include <criterion/criterion.h>

static const uint32_t sorted[] = {3, 3, 5, 8, 8, 8, 13};

static size_t first_not_below(size_t from, uint32_t value)
{
    size_t i = from;
    BISECT(i, ARRAY_LEN(sorted), sorted[i] < value);
    return i;
}

Test(util, bisect_finds_the_first_place_in_each_part)
{
    for (size_t from = 0; from <= ARRAY_LEN(sorted); from++)
        for (uint32_t value = 0; value < 15; value++) {
            size_t want = from;
            while (want < ARRAY_LEN(sorted) && sorted[want] < value)
                want++;
            cr_assert_eq(first_not_below(from, value), want);
        }
}

#include "base/near.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

static size_t distance(const char *a, const char *b)
{
    return near_distance(a, strlen(a), b, strlen(b));
}

Test(near, distance_counts_edits)
{
    cr_assert_eq(distance("", ""), 0);
    cr_assert_eq(distance("ring", "ring"), 0);
    cr_assert_eq(distance("", "ring"), 4);
    cr_assert_eq(distance("ring", ""), 4);
    cr_assert_eq(distance("ring", "rings"), 1);
    cr_assert_eq(distance("ring", "rng"), 1);
    cr_assert_eq(distance("ring", "rang"), 1);
    cr_assert_eq(distance("kitten", "sitting"), 3);
}

Test(near, a_swap_of_neighbours_is_one_edit)
{
    cr_assert_eq(distance("ring", "rnig"), 1);
    cr_assert_eq(distance("ab", "ba"), 1);
}

Test(near, long_names_are_far_apart)
{
    char name[100];
    memset(name, 'a', sizeof name);
    cr_assert_eq(near_distance(name, 63, name, 63), 0);
    cr_assert_eq(near_distance(name, 64, name, 64), SIZE_MAX);
    cr_assert_not(near_close(SIZE_MAX, 64));
}

Test(near, short_names_need_to_be_closer)
{
    cr_assert_not(near_close(1, 2));
    cr_assert(near_close(1, 3));
    cr_assert_not(near_close(2, 4));
    cr_assert(near_close(2, 5));
    cr_assert_not(near_close(3, 20));
}

#include "base/map.h"

#include <criterion/criterion.h>

Test(map, an_empty_map_finds_nothing)
{
    struct map m;
    map_init(&m);
    cr_assert_null(map_find(&m, 0));
    cr_assert_null(map_find(&m, 1));
    map_fini(&m);
}

Test(map, a_new_key_has_value_zero)
{
    struct map m;
    map_init(&m);
    uint64_t *v = map_put(&m, 0);
    cr_assert_not_null(v);
    cr_assert_eq(*v, 0);
    *v = 5;
    cr_assert_eq(*map_put(&m, 0), 5);
    cr_assert_eq(m.len, 1);
    map_fini(&m);
}

Test(map, holds_many_keys_and_stays_below_its_load)
{
    struct map m;
    map_init(&m);
    enum { N = 20000 };
    /* Keys that share their low bits, and the extremes. */
    for (uint64_t i = 0; i < N; i++)
        *map_put(&m, i << 32) = i + 1;
    *map_put(&m, UINT64_MAX) = 77;
    cr_assert_eq(m.len, N + 1);
    cr_assert(m.len * 10 <= m.cap * 7);
    for (uint64_t i = 0; i < N; i++)
        cr_assert_eq(*map_find(&m, i << 32), i + 1);
    cr_assert_eq(*map_find(&m, UINT64_MAX), 77);
    cr_assert_null(map_find(&m, 1));
    map_fini(&m);
}

Test(map, a_removed_key_is_gone_and_the_others_stay)
{
    struct map m;
    map_init(&m);
    enum { N = 3000 };
    map_remove(&m, 5);
    for (uint64_t i = 0; i < N; i++)
        *map_put(&m, i) = i + 1;
    for (uint64_t i = 0; i < N; i += 3)
        map_remove(&m, i);
    map_remove(&m, N);
    cr_assert_eq(m.len, N - N / 3);
    for (uint64_t i = 0; i < N; i++) {
        const uint64_t *v = map_find(&m, i);
        cr_assert_eq(v != NULL, i % 3 != 0, "%llu", (unsigned long long)i);
        cr_assert(!v || *v == i + 1);
    }
    for (uint64_t round = 0; round < 10 * N; round++) { /* a table of a few keys stays small */
        map_put(&m, N + round);
        map_remove(&m, N + round);
    }
    cr_assert_eq(m.len, N - N / 3);
    cr_assert_leq(m.cap, 8192);
    map_fini(&m);
}

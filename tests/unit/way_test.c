/* way_test.c - ids under keys: several keys for one id, the first id stays unless it is set. */
#include "record/way.h"

#include <criterion/criterion.h>

enum { MAX = 10000 };

static struct way way;

static struct hash128 key(uint32_t i)
{
    return (struct hash128){hash_u64(i), i};
}

static void open_way(void)
{
    cr_assert_eq(way_init(&way, MAX), 0);
}

static void close_way(void)
{
    way_fini(&way);
}

TestSuite(way, .init = open_way, .fini = close_way);

Test(way, an_id_by_several_keys)
{
    cr_assert_eq(way_find(&way, key(1)), 0);
    cr_assert_eq(way_put(&way, key(1), 77), 77);
    cr_assert_eq(way_put(&way, key(2), 77), 77);
    cr_assert_eq(way_find(&way, key(1)), 77);
    cr_assert_eq(way_find(&way, key(2)), 77);
    cr_assert_eq(way_find(&way, key(3)), 0);
}

Test(way, the_first_one_stays_unless_it_is_set)
{
    way_put(&way, key(1), 5);
    cr_assert_eq(way_put(&way, key(1), 6), 5);
    way_set(&way, key(1), 7);
    cr_assert_eq(way_find(&way, key(1)), 7);
    way_set(&way, key(2), 8);
    cr_assert_eq(way_find(&way, key(2)), 8);
}

Test(way, no_more_than_there_is_room_for)
{
    for (uint32_t i = 1; i <= MAX; i++)
        cr_assert_eq(way_put(&way, key(i), 2 * i), 2 * i);
    cr_assert_eq(way_put(&way, key(MAX + 1), 3), 0);
    way_set(&way, key(MAX + 1), 3);
    cr_assert_eq(way_find(&way, key(MAX + 1)), 0);
    for (uint32_t i = 1; i <= MAX; i++)
        cr_assert_eq(way_find(&way, key(i)), 2 * i);
}

static bool refuse(void *arg, uint32_t number)
{
    (void)number;
    ++*(int *)arg;
    return false;
}

static bool say(void *arg, uint32_t number)
{
    way_give(&way, number, *(uint32_t *)arg);
    return true;
}

Test(way, defined_when_it_is_new)
{
    int refused = 0;
    uint32_t id = 9;
    cr_assert_eq(way_get(&way, key(1), refuse, &refused), 0);
    cr_assert_eq(way_find(&way, key(1)), 0);
    cr_assert_eq(way_get(&way, key(1), say, &id), 9);
    cr_assert_eq(way_get(&way, key(1), refuse, &refused), 9);
    cr_assert_eq(refused, 1);
}

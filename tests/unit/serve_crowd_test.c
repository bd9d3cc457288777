#include "serve/crowd.h"

#include <criterion/criterion.h>

static struct crowd crowd;

static void begin(void)
{
    crowd = (struct crowd){.max = 8};
}

TestSuite(crowd, .init = begin);

static bool add(int fd, uint32_t uid)
{
    return crowd_add(&crowd, &(struct guest){.fd = fd, .uid = uid, .since = (uint64_t)fd});
}

/* One comes, and somebody goes for it if need be: his descriptor, or -1. */
static int come(int fd, uint32_t uid)
{
    int out = crowd.n == crowd.max ? crowd_last_choice(&crowd)->fd : -1;
    if (out >= 0)
        crowd_remove(&crowd, out, NULL);
    cr_assert(add(fd, uid));
    return out;
}

Test(crowd, there_is_room_for_so_many)
{
    for (int i = 0; i < 8; i++)
        cr_assert(add(i, 1));
    cr_assert_not(add(8, 2));
    cr_assert_null(crowd_find(&crowd, 8));
}

Test(crowd, who_goes_is_found_no_more_and_leaves_the_others_in_order)
{
    struct guest g;
    for (int i = 0; i < 8; i++)
        add(i, (uint32_t)i);
    cr_assert(crowd_remove(&crowd, 3, &g));
    cr_assert_eq(g.uid, 3);
    cr_assert_not(crowd_remove(&crowd, 3, &g));
    cr_assert_null(crowd_find(&crowd, 3));
    for (size_t i = 0; i < crowd.n; i++)
        cr_assert_eq(crowd.v[i].fd, (int)i + (i >= 3));
    cr_assert(add(3, 3));
    cr_assert_eq(crowd.v[7].fd, 3);
}

Test(crowd, of_one_user_the_oldest_goes)
{
    cr_assert_null(crowd_last_choice(&crowd));
    for (int i = 0; i < 100; i++)
        cr_assert_eq(come(i, 1), i < 8 ? -1 : i - 8);
}

Test(crowd, who_has_the_most_loses_his_own)
{
    add(0, 7); /* the oldest of all, and alone */
    for (int i = 1; i < 100; i++) {
        int out = come(i, 1);
        cr_assert_eq(out, i < 8 ? -1 : i - 7);
    }
    cr_assert_eq(come(100, 8), 93);
    cr_assert_eq(come(101, 8), 94);
    cr_assert_not_null(crowd_find(&crowd, 0));
    cr_assert_not_null(crowd_find(&crowd, 100));
}

Test(crowd, who_is_late)
{
    cr_assert_null(crowd_before(&crowd, 100));
    add(5, 1);
    add(9, 1);
    cr_assert_null(crowd_before(&crowd, 5));
    cr_assert_eq(crowd_before(&crowd, 6)->fd, 5);
    crowd_remove(&crowd, 5, NULL);
    cr_assert_null(crowd_before(&crowd, 9));
}

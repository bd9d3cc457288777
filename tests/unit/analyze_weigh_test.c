/* analyze_weigh_test.c - what a set of waits is due to. */
#include "analyze/weigh.h"

#include <criterion/criterion.h>

static struct weigh w;

static void begin(void)
{
    w = (struct weigh){0};
}

TestSuite(weigh, .init = begin);

static void add(unsigned n, uint32_t key, uint64_t ns)
{
    for (unsigned i = 0; i < n; i++)
        weigh_add(&w, key, ns);
}

Test(weigh, nothing_weighs_nothing)
{
    cr_assert_eq(weigh_of(&w, 1, 0, 0), 0);
    cr_assert_eq(weigh_permille(&w, 1, 0, 0), 0);
}

/* Fewer than twenty say nothing about time. */
Test(weigh, few_waits_weigh_the_same)
{
    add(3, 1, 10);
    add(1, 2, 1000000);
    cr_assert_eq(weigh_permille(&w, 1, 3, 30), 750);
    cr_assert_eq(weigh_permille(&w, 2, 1, 1000000), 250);
    cr_assert_gt(weigh_of(&w, 1, 3, 30), weigh_of(&w, 2, 1, 1000000));
}

Test(weigh, a_long_one_weighs_a_twentieth)
{
    add(38, 1, 100);
    add(1, 2, 1000000);
    add(19, 3, 100);
    cr_assert_eq(weigh_of(&w, 1, 38, 3800), 3800);
    cr_assert_eq(weigh_of(&w, 2, 1, 1000000), 300); /* of 6000 */
    cr_assert_eq(weigh_permille(&w, 2, 1, 1000000), 50);
}

Test(weigh, many_long_ones_weigh_their_time)
{
    add(900, 1, 10);
    add(100, 2, 50000);
    cr_assert_eq(weigh_of(&w, 2, 100, 5000000), 5000000);
    cr_assert_eq(weigh_permille(&w, 1, 900, 9000), 1);
}

/* Nineteen are longer than the bound: it lies at what is left. */
Test(weigh, the_bound_with_as_many_above_it_as_there_can_be)
{
    add(40, 1, 10);
    add(19, 2, 1000000);
    cr_assert_eq(weigh_of(&w, 2, 19, 19000000), 19 * 400);
    cr_assert_eq(weigh_permille(&w, 1, 40, 400), 50);
}

Test(weigh, the_order_in_which_they_come_is_the_same)
{
    static struct weigh back;
    for (uint64_t i = 1; i <= 300; i++)
        weigh_add(&w, i % 7, i * i * i * i);
    for (uint64_t i = 300; i; i--)
        weigh_add(&back, i % 7, i * i * i * i);
    for (uint32_t k = 0; k < 7; k++) {
        uint64_t n = 0, ns = 0;
        for (uint64_t i = 1; i <= 300; i++) {
            n += i % 7 == k;
            ns += i % 7 == k ? i * i * i * i : 0;
        }
        cr_assert_eq(weigh_of(&w, k, n, ns), weigh_of(&back, k, n, ns));
    }
}

#include "analyze/gaps.h"

#include <criterion/criterion.h>
#include <stdlib.h>

Test(gaps, none)
{
    struct gaps g = {0};
    cr_assert(!gaps_between(&g, 0, UINT64_MAX));
    cr_assert(!gaps_overlap(&g, 0, UINT64_MAX - 1));
}

Test(gaps, between_needs_both_ends)
{
    struct gaps g = {0};
    gaps_add(&g, 100, 200);
    cr_assert(gaps_between(&g, 100, 200));
    cr_assert(gaps_between(&g, 50, 250));
    cr_assert(!gaps_between(&g, 50, 100),
              "an interval that ends with the last event before the gap");
    cr_assert(!gaps_between(&g, 200, 300), "one that begins with the first event behind it");
    gaps_fini(&g);
}

Test(gaps, overlap_needs_a_common_moment)
{
    struct gaps g = {0};
    gaps_add(&g, 100, 200);
    gaps_merge(&g);
    cr_assert(gaps_overlap(&g, 150, 160));
    cr_assert(gaps_overlap(&g, 50, 101));
    cr_assert(gaps_overlap(&g, 199, 300));
    cr_assert(!gaps_overlap(&g, 50, 100));
    cr_assert(!gaps_overlap(&g, 200, 300));
    gaps_fini(&g);
}

/* Against a plain loop. */
Test(gaps, random)
{
    enum { N = 12 };
    srand(3);
    for (int round = 0; round < 2000; round++) {
        struct gaps g = {0};
        struct gap v[N];
        int n = rand() % N;
        for (int i = 0; i < n; i++) {
            v[i].from = (uint64_t)rand() % 300;
            v[i].to = v[i].from + (uint64_t)rand() % 20;
            gaps_add(&g, v[i].from, v[i].to);
        }
        gaps_merge(&g);
        for (int q = 0; q < 20; q++) {
            uint64_t start = (uint64_t)rand() % 300, end = start + 1 + (uint64_t)rand() % 50;
            bool want = false;
            for (int i = 0; i < n; i++)
                want |= start < v[i].to && end > v[i].from;
            cr_assert_eq(gaps_overlap(&g, start, end), want);
        }
        gaps_fini(&g);
    }
}

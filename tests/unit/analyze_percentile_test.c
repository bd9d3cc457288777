#include "analyze/percentile.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static uint64_t next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* The definition: the smallest value that at least permille / 1000 of all do not exceed. */
static uint64_t by_definition(const uint64_t *v, size_t n, unsigned permille)
{
    uint64_t best = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        size_t not_above = 0;
        for (size_t k = 0; k < n; k++)
            not_above += v[k] <= v[i];
        if ((unsigned __int128)not_above * 1000 >= (unsigned __int128)n * permille && v[i] < best)
            best = v[i];
    }
    return best;
}

static struct arena arena;
static struct percentile p;

static void begin(void)
{
    arena_init(&arena, 0);
    p = (struct percentile){0};
}

static void end(void)
{
    arena_fini(&arena);
}

TestSuite(percentile, .init = begin, .fini = end);

Test(percentile, nothing)
{
    cr_assert_eq(percentile_get(&p, 990), 0);
}

Test(percentile, small_counts_are_exact)
{
    static const unsigned permilles[] = {1, 500, 900, 990, 999, 1000};
    uint64_t v[PERCENTILE_EXACT], seed = 88172645463325252u;
    for (size_t n = 1; n <= PERCENTILE_EXACT; n += n < 120 ? 1 : 301) {
        p = (struct percentile){0};
        for (size_t i = 0; i < n; i++) {
            v[i] = next(&seed) >> (next(&seed) % 60);
            cr_assert_eq(percentile_add(&p, v[i], 1, &arena), 0);
        }
        for (size_t k = 0; k < sizeof permilles / sizeof *permilles; k++)
            cr_assert_eq(percentile_get(&p, permilles[k]), by_definition(v, n, permilles[k]),
                         "n %zu permille %u", n, permilles[k]);
    }
}

static int ascending(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

Test(percentile, large_counts_are_off_by_half_a_percent_at_most)
{
    enum { N = 50000 };
    static uint64_t v[N];
    for (unsigned shift = 0; shift <= 63; shift += 7) {
        uint64_t seed = 1 + shift;
        p = (struct percentile){0};
        for (size_t i = 0; i < N; i++) {
            v[i] = (next(&seed) >> shift) / (1 + next(&seed) % 1000);
            percentile_add(&p, v[i], 1, &arena);
        }
        qsort(v, N, sizeof *v, ascending);
        for (unsigned permille = 10; permille <= 1000; permille += 10) {
            uint64_t truth = v[N / 1000 * permille - 1], got = percentile_get(&p, permille);
            uint64_t off = got > truth ? got - truth : truth - got;
            cr_assert_leq(off, truth / 256, "%u: %lu for %lu", permille, got, truth);
        }
    }
}

Test(percentile, extremes)
{
    for (size_t i = 0; i < 3000; i++)
        percentile_add(&p, i % 3 == 0 ? 0 : i % 3 == 1 ? 1 : UINT64_MAX, 1, &arena);
    cr_assert_eq(percentile_get(&p, 1), 0);
    cr_assert_eq(percentile_get(&p, 333), 0);
    cr_assert_eq(percentile_get(&p, 334), 1);
    cr_assert_geq(percentile_get(&p, 990), UINT64_MAX - UINT64_MAX / 256);
}

Test(percentile, out_of_memory_is_reported)
{
    struct arena small;
    arena_init(&small, 64);
    int rc = 0;
    for (int i = 0; i < 20 && rc == 0; i++)
        rc = percentile_add(&p, 5, 1, &small);
    cr_assert_eq(rc, -12);
    arena_fini(&small);
}

#include "work.h"

#include "cases.h"

#ifdef ORCA_COUNT_WORK

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 3, GROWTH = 2 };

/* What one byte more costs, from one file to the next: what a reader does for any file is left
 * out. */
static double slope(const uint64_t y[STEPS], const uint64_t size[STEPS], int i)
{
    return ((double)y[i] - (double)y[i - 1]) / (double)(size[i] - size[i - 1]);
}

static void check_growth(const char *shape, const char *what, const uint64_t y[STEPS],
                         const uint64_t size[STEPS])
{
    double first = slope(y, size, 1), last = slope(y, size, STEPS - 1);
    cr_expect_leq(last, first * 1.5 + 20, "%s: %.1f %s a byte more, and then %.1f", shape, first,
                  what, last);
}

static void check_shape(const struct limit *l, work_fn *read, const struct work_shape *s,
                        bool growth)
{
    uint64_t size[STEPS], work[STEPS], bytes[STEPS];
    uint32_t n = s->n / (cases_step() > 1 ? 2 : 1);
    for (int i = 0; i < STEPS; i++, n *= GROWTH) {
        struct buf file = {0};
        char why[200];
        s->make(&file, n);
        cr_assert(!file.oom);
        counted_begin();
        size[i] = read(&file);
        struct counted c = counted_end();
        work[i] = c.work;
        bytes[i] = c.bytes;
        if (getenv("ORCA_WORK"))
            printf("%s, %s: %llu bytes: %llu blocks, %.1f a byte; %llu bytes of memory, %.1f\n",
                   l->name, s->name, (unsigned long long)size[i], (unsigned long long)c.work,
                   (double)c.work / (double)size[i], (unsigned long long)c.bytes,
                   (double)c.bytes / (double)size[i]);
        fflush(stdout);
        cr_expect(limit_holds(l, c, size[i], why), "%s: %s", s->name, why);
        buf_fini(&file);
    }
    if (growth)
        check_growth(s->name, "blocks", work, size);
    if (growth)
        check_growth(s->name, "bytes of memory", bytes, size);
}

static void check(const char *reader, work_fn *read, const struct work_shape *shapes, size_t n,
                  bool growth)
{
    const struct limit *l = limit_find(reader);
    const char *only = getenv("ORCA_WORK_SHAPE");
    cr_assert_not_null(l, "%s has no row in tests/limits.def", reader);
    for (size_t i = 0; i < n; i++)
        if (!only || strstr(shapes[i].name, only))
            check_shape(l, read, &shapes[i], growth);
}

void work_check(const char *reader, work_fn *read, const struct work_shape *shapes, size_t n)
{
    check(reader, read, shapes, n, true);
}

void work_check_limit(const char *reader, work_fn *read, const struct work_shape *shapes, size_t n)
{
    check(reader, read, shapes, n, false);
}

#else
typedef int work_is_counted_in_the_variant_test;
#endif

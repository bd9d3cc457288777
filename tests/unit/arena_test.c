#include "base/arena.h"

#include <criterion/criterion.h>
#include <string.h>

Test(arena, memory_is_zeroed_and_aligned)
{
    struct arena a;
    arena_init(&a, 0);
    for (size_t n = 0; n < 300; n++) {
        unsigned char *p = arena_alloc(&a, n);
        cr_assert_not_null(p);
        cr_assert_eq((uintptr_t)p % 8, 0);
        for (size_t i = 0; i < n; i++)
            cr_assert_eq(p[i], 0);
        memset(p, 0xff, n);
    }
    arena_fini(&a);
}

Test(arena, pieces_do_not_overlap)
{
    struct arena a;
    arena_init(&a, 0);
    static unsigned char *pieces[2000];
    for (size_t i = 0; i < 2000; i++) {
        /* Small ones and, now and then, one that needs a block of its own. */
        size_t n = i % 100 == 7 ? 300000 : 1 + i % 600;
        pieces[i] = arena_alloc(&a, n);
        cr_assert_not_null(pieces[i]);
        memset(pieces[i], (int)(i & 0xff), n);
    }
    for (size_t i = 0; i < 2000; i++) {
        size_t n = i % 100 == 7 ? 300000 : 1 + i % 600;
        cr_assert_eq(pieces[i][0], i & 0xff);
        cr_assert_eq(pieces[i][n - 1], i & 0xff);
    }
    arena_fini(&a);
}

Test(arena, a_big_piece_does_not_waste_the_block)
{
    struct arena a;
    arena_init(&a, 0);
    char *first = arena_alloc(&a, 8);
    arena_alloc(&a, 1 << 20);
    char *next = arena_alloc(&a, 8);
    cr_assert_eq(next, first + 8);
    arena_fini(&a);
}

Test(arena, the_limit_holds)
{
    struct arena a;
    arena_init(&a, 1000);
    cr_assert_not_null(arena_alloc(&a, 992));
    cr_assert_null(arena_alloc(&a, 16));
    cr_assert_not_null(arena_alloc(&a, 8));
    cr_assert_null(arena_alloc(&a, 1));
    cr_assert_eq(a.used, 1000);
    arena_fini(&a);
}

Test(arena, impossible_sizes_are_refused)
{
    struct arena a;
    arena_init(&a, 0);
    cr_assert_null(arena_alloc(&a, SIZE_MAX));
    cr_assert_null(arena_alloc(&a, SIZE_MAX / 2 + 1));
    cr_assert_null(arena_strndup(&a, "", SIZE_MAX));
    arena_fini(&a);
}

Test(arena, strndup_ends_with_nul)
{
    struct arena a;
    arena_init(&a, 0);
    cr_assert_str_eq(arena_strndup(&a, "abcdef", 3), "abc");
    cr_assert_str_eq(arena_strndup(&a, NULL, 0), "");
    arena_fini(&a);
}

#include "import/id_space.h"

#include "format/trace.h"

#include <criterion/criterion.h>

Test(id_space, gives_dense_ids)
{
    struct id_space s;
    id_space_init(&s);
    for (uint32_t i = 1; i < 1000; i++)
        cr_assert_eq(id_space_take(&s, 0), i);
    id_space_fini(&s);
}

Test(id_space, keeps_what_is_free)
{
    struct id_space s;
    id_space_init(&s);
    cr_assert_eq(id_space_take(&s, 2), 2);
    cr_assert_eq(id_space_take(&s, 2), 1, "taken");
    cr_assert_eq(id_space_take(&s, 0), 3);
    cr_assert_eq(id_space_take(&s, 500), 500);
    cr_assert_eq(id_space_take(&s, 3), 4);
    id_space_fini(&s);
}

Test(id_space, keeps_no_id_that_a_trace_would_refuse)
{
    struct id_space s;
    id_space_init(&s);
    cr_assert_eq(id_space_take(&s, UINT64_MAX), 1);
    cr_assert_eq(id_space_take(&s, (uint64_t)1 << 32), 2);
    cr_assert_eq(id_space_take(&s, trace_id_limit(3)), 3);
    cr_assert_eq(id_space_take(&s, trace_id_limit(4) - 1), trace_id_limit(4) - 1);
    id_space_fini(&s);
}

Test(id_space, free_ids_may_begin_anywhere)
{
    struct id_space s;
    id_space_init(&s);
    s.next = 100;
    cr_assert_eq(id_space_take(&s, 101), 101);
    cr_assert_eq(id_space_take(&s, 0), 100);
    cr_assert_eq(id_space_take(&s, 0), 102);
    cr_assert_eq(id_space_take(&s, 1), 1);
    id_space_fini(&s);
}

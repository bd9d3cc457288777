/* kept_test.c - the classes that stay rewritten, by name. */
#include "../counted.h"
#include "agent/kept.h"
#include "base/testpoint.h"

#include <criterion/criterion.h>
#include <stdio.h>

enum { CLASSES = 20000 };

static void name_of(char name[32], int i)
{
    snprintf(name, 32, "java/some/Class%d", i);
}

Test(kept, each_by_its_name)
{
    char name[32];
    for (int i = 0; i < CLASSES; i++) {
        name_of(name, i);
        kept_note(name, i % 2 ? KEPT_ROWS : KEPT_ALLOC | KEPT_OTHER);
    }
    for (int i = 0; i < CLASSES; i++) {
        name_of(name, i);
        cr_assert_eq(kept_parts(name), i % 2 ? KEPT_ROWS : KEPT_ALLOC | KEPT_OTHER, "%s", name);
        cr_assert_eq(kept_settled(name, KEPT_ROWS), i % 2);
        cr_assert_not(kept_settled(name, KEPT_ALLOC));
    }
    kept_note("java/lang/Object", KEPT_ALLOC);
    cr_assert_eq(kept_parts("java/lang/Object"), 0);
    cr_assert_eq(kept_parts("java/some/Class"), 0);
    kept_note("java/some/Class7", 0);
    cr_assert_eq(kept_parts("java/some/Class7"), 0);
    kept_forget();
    cr_assert_eq(kept_parts("java/some/Class9"), 0);
    kept_note("java/some/Class9", KEPT_ROWS);
    cr_assert(kept_settled("java/some/Class9", KEPT_ROWS));
}

#ifdef ORCA_COUNT_WORK
/* The hook of each class that the boot loader loads asks, however many are there. */
Test(kept, asking_costs_the_same_among_many)
{
    char name[32];
    kept_note("java/some/First", KEPT_ROWS);
    counted_begin();
    kept_parts("java/some/Other");
    uint64_t alone = counted_end().work;
    for (int i = 0; i < CLASSES; i++) {
        name_of(name, i);
        kept_note(name, KEPT_ROWS);
    }
    counted_begin();
    kept_parts("java/some/Other");
    cr_assert_leq(counted_end().work, alone + 200);
}
#endif

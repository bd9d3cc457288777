#include "symbols/symtab.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct symtab table;

static void begin(void)
{
    symtab_init(&table);
}

static void end(void)
{
    symtab_fini(&table);
}

static void sized(const char *name, uint64_t at, uint64_t size, int rank)
{
    symtab_add(
        &table,
        &(struct symtab_entry){
            .begin = at, .end = at + size, .name = name, .sized = true, .rank = (uint8_t)rank});
}

static void unsized(const char *name, uint64_t at, uint64_t section_end)
{
    symtab_add(&table, &(struct symtab_entry){
                           .begin = at, .end = section_end, .name = name, .rank = SYMTAB_GLOBAL});
}

static const char *at(uint64_t address)
{
    const struct symtab_range *r = symtab_find(&table, address);
    return r ? r->symbol->name : "-";
}

TestSuite(symtab, .init = begin, .fini = end);

Test(symtab, empty)
{
    cr_assert_eq(symtab_build(&table), 0);
    cr_assert_str_eq(at(0), "-");
    cr_assert_str_eq(at(UINT64_MAX), "-");
}

Test(symtab, a_size_is_respected)
{
    sized("b", 0x200, 0x10, SYMTAB_LOCAL);
    sized("a", 0x100, 0x20, SYMTAB_GLOBAL);
    cr_assert_eq(symtab_build(&table), 0);
    cr_assert_str_eq(at(0xff), "-");
    cr_assert_str_eq(at(0x100), "a");
    cr_assert_str_eq(at(0x11f), "a");
    cr_assert_str_eq(at(0x120), "-");
    cr_assert_str_eq(at(0x20f), "b");
    cr_assert_str_eq(at(0x210), "-");
}

Test(symtab, the_inner_one_hides_the_outer_one)
{
    sized("outer", 0x100, 0x100, SYMTAB_GLOBAL);
    sized("inner", 0x140, 0x20, SYMTAB_LOCAL);
    sized("across", 0x1f0, 0x20, SYMTAB_LOCAL);
    cr_assert_eq(symtab_build(&table), 0);
    cr_assert_str_eq(at(0x13f), "outer");
    cr_assert_str_eq(at(0x140), "inner");
    cr_assert_str_eq(at(0x15f), "inner");
    cr_assert_str_eq(at(0x160), "outer");
    cr_assert_str_eq(at(0x1ef), "outer");
    cr_assert_str_eq(at(0x1f0), "across");
    cr_assert_str_eq(at(0x20f), "across");
    cr_assert_str_eq(at(0x210), "-");
}

Test(symtab, of_one_place_the_shorter_reaches_first)
{
    sized("long", 0x100, 0x100, SYMTAB_GLOBAL);
    sized("short", 0x100, 0x10, SYMTAB_LOCAL);
    cr_assert_eq(symtab_build(&table), 0);
    cr_assert_str_eq(at(0x100), "short");
    cr_assert_str_eq(at(0x110), "long");
}

Test(symtab, of_several_names_the_best_known)
{
    sized("__poll_versioned", 0x100, 0x10, SYMTAB_GLOBAL);
    sized("poll@@V1", 0x100, 0x10, SYMTAB_GLOBAL);
    sized("a", 0x100, 0x10, SYMTAB_LOCAL);
    sized("__poll", 0x100, 0x10, SYMTAB_GLOBAL);
    sized("poll", 0x100, 0x10, SYMTAB_GLOBAL);
    sized("pull", 0x100, 0x10, SYMTAB_GLOBAL);
    cr_assert_eq(symtab_build(&table), 0);
    cr_assert_str_eq(at(0x108), "poll");
}

Test(symtab, without_a_size_up_to_the_next)
{
    unsized("first", 0x100, 0x300);
    unsized("second", 0x120, 0x300);
    sized("function", 0x140, 0x40, SYMTAB_GLOBAL);
    unsized("label", 0x150, 0x300); /* inside a function: no name */
    unsized("last", 0x200, 0x300);
    cr_assert_eq(symtab_build(&table), 0);
    cr_assert_str_eq(at(0x11f), "first");
    cr_assert_str_eq(at(0x120), "second");
    cr_assert_str_eq(at(0x13f), "second");
    cr_assert_str_eq(at(0x150), "function");
    cr_assert_str_eq(at(0x17f), "function");
    cr_assert_str_eq(at(0x180), "-");
    cr_assert_str_eq(at(0x2ff), "last");
    cr_assert_str_eq(at(0x300), "-");
}

/* Against a search that looks at each symbol: where symbols with a size overlap in any way. */
Test(symtab, random_overlaps)
{
    enum { SYMBOLS = 60, SPACE = 400 };
    static char names[SYMBOLS][8];
    uint64_t from[SYMBOLS], to[SYMBOLS];
    uint32_t seed = 12345;
    for (int round = 0; round < 200; round++) {
        symtab_init(&table);
        for (int i = 0; i < SYMBOLS; i++) {
            seed = seed * 1664525 + 1013904223;
            from[i] = (seed >> 8) % SPACE;
            to[i] = from[i] + 1 + (seed >> 20) % 60;
            snprintf(names[i], sizeof names[i], "n%02d", i);
            sized(names[i], from[i], to[i] - from[i], SYMTAB_GLOBAL);
        }
        cr_assert_eq(symtab_build(&table), 0);
        for (uint64_t a = 0; a < SPACE + 70; a++) {
            int best = -1;
            for (int i = 0; i < SYMBOLS; i++)
                if (from[i] <= a && a < to[i] &&
                    (best < 0 || from[i] > from[best] ||
                     (from[i] == from[best] && to[i] < to[best])))
                    best = i;
            cr_assert_str_eq(at(a), best < 0 ? "-" : names[best]);
        }
        if (round < 199)
            symtab_fini(&table);
    }
}

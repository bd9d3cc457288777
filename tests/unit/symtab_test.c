#include "symbols/symtab.h"

#include "base/util.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct symtab table;

enum { SPACE = 0x400 };

/* Each address below SPACE is asked for, and the last one there is. */
static void begin(void)
{
    symtab_init(&table);
    for (uint64_t a = 0; a < SPACE; a++)
        symtab_want(&table, a);
    symtab_want(&table, UINT64_MAX);
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
    const struct symtab_entry *e = symtab_find(&table, address);
    return e ? e->name : "-";
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

/* Memory is for what may answer, whatever a library has. */
Test(symtab, only_what_may_answer_is_kept)
{
    static char names[10000][8];
    symtab_fini(&table); /* with the addresses that others ask for */
    symtab_init(&table);
    symtab_want(&table, 0x5008);
    symtab_want(&table, 0x5008);
    symtab_want(&table, 0x9001);
    for (uint64_t i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(names[i], sizeof names[i], "f%u", (unsigned)i);
        sized(names[i], i * 16, 16, SYMTAB_GLOBAL);
    }
    cr_assert_eq(symtab_build(&table), 0);
    cr_assert_str_eq(at(0x5008), "f1280");
    cr_assert_str_eq(at(0x9001), "f2304");
    cr_assert_str_eq(at(0x5009), "-"); /* not asked for */
    cr_assert_eq(table.n, ARRAY_LEN(names));
    cr_assert_leq(table.sized.len, 4 * sizeof(struct symtab_entry));
}

struct symbol {
    uint64_t from, to;
    bool sized;
    char name[8];
};

/* A search that looks at each symbol. */
static const char *slowly(const struct symbol *all, size_t n, uint64_t address)
{
    const struct symbol *best = NULL, *near = NULL;
    for (const struct symbol *s = all; s < all + n; s++)
        if (s->sized && s->from <= address && address < s->to &&
            (!best || s->from > best->from || (s->from == best->from && s->to <= best->to)))
            best = s;
    if (best)
        return best->name;
    for (const struct symbol *s = all; s < all + n; s++)
        if (!s->sized && s->from <= address && (!near || s->from >= near->from))
            near = s;
    if (!near || near->to <= address)
        return "-";
    for (const struct symbol *s = all; s < all + n; s++)
        if (s->sized && s->from <= address && s->to > near->from)
            return "-";
    return near->name;
}

/* Where symbols overlap in any way, and some addresses are asked for. */
Test(symtab, random_overlaps)
{
    enum { SYMBOLS = 40, ROUNDS = 300 };
    struct symbol all[SYMBOLS];
    uint32_t seed = 12345;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t step = 1 + (uint64_t)round % 7;
        symtab_fini(&table);
        symtab_init(&table);
        for (uint64_t a = 0; a < SPACE; a += step)
            symtab_want(&table, a);
        for (int i = 0; i < SYMBOLS; i++) {
            struct symbol *s = &all[i];
            seed = seed * 1664525 + 1013904223;
            *s = (struct symbol){.from = (seed >> 8) % 900, .sized = (seed >> 28) % 4 != 0};
            s->to = s->sized ? s->from + 1 + (seed >> 20) % 60 : s->from / 300 * 300 + 300;
            /* the later one of one place is the better one: it is the shorter name */
            snprintf(s->name, sizeof s->name, "%.*s", 7 - i / 8, "nnnnnnn");
            s->name[0] = (char)('A' + 7 - i % 8);
            s->sized ? sized(s->name, s->from, s->to - s->from, SYMTAB_GLOBAL)
                     : unsized(s->name, s->from, s->to);
        }
        cr_assert_eq(symtab_build(&table), 0);
        for (uint64_t a = 0; a < SPACE; a += step)
            cr_assert_str_eq(at(a), slowly(all, SYMBOLS, a));
    }
}

#include "base/printable.h"
#include "cli/class_names.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 8 };

static struct arena arena;
static struct class_name names[MAX];

static void begin(void)
{
    arena_init(&arena, 0);
}

static void end(void)
{
    arena_fini(&arena);
}

TestSuite(class_names, .init = begin, .fini = end);

static void shorten(size_t n, size_t width)
{
    cr_assert_eq(class_names_shorten(names, n, width, &arena), 0);
}

Test(class_names, what_fits_stays)
{
    names[0].full = "shop.Order$Line";
    shorten(1, 15);
    cr_assert_str_eq(names[0].text, "shop.Order$Line");
}

Test(class_names, packages_give_way_from_the_left)
{
    names[0].full = "org.apache.tomcat.util.net.NioEndpoint$Poller";
    shorten(1, 43);
    cr_assert_str_eq(names[0].text, "o.apache.tomcat.util.net.NioEndpoint$Poller");
    shorten(1, 35);
    cr_assert_str_eq(names[0].text, "o.a.t.util.net.NioEndpoint$Poller");
    shorten(1, 29);
    cr_assert_str_eq(names[0].text, "o.a.t.u.n.NioEndpoint$Poller");
    shorten(1, 20);
    cr_assert_str_eq(names[0].text, "o.a.t.u....nt$Poller");
}

Test(class_names, two_that_would_look_alike_do_not)
{
    names[0].full = "com.acme.store.Order";
    names[1].full = "com.apex.store.Order";
    names[2].full = "com.acme.store.Order";
    shorten(3, 13);
    cr_assert_str_neq(names[0].text, names[1].text);
    cr_assert_str_eq(names[0].text, names[2].text, "the same class is the same text");
    cr_assert_leq(strlen(names[0].text), 13);
}

Test(class_names, odd_names)
{
    static const char *const odd[] = {"",   ".",  "..",    "...a...",
                                      "a.", ".b", "int[]", "a.b.c.d.e.f.g.h"};
    for (size_t i = 0; i < MAX; i++)
        names[i].full = odd[i];
    for (size_t width = 8; width-- > 0;) {
        shorten(MAX, width);
        for (size_t i = 0; i < MAX; i++)
            cr_assert_leq(printable_width(names[i].text), width < 4 ? 4 : width);
    }
}

/* Different classes never look alike, whatever they are called; and they keep to the width. */
Test(class_names, random)
{
    srand(9);
    for (int round = 0; round < 3000; round++) {
        char full[MAX][60];
        size_t width = 9 + (size_t)rand() % 20;
        for (size_t i = 0; i < MAX; i++) {
            snprintf(full[i], sizeof full[i], "%s.%s%d.%s%s", rand() % 2 ? "com" : "corp",
                     rand() % 2 ? "store" : "stock", rand() % 2,
                     rand() % 2 ? "Ordering" : "Originating",
                     rand() % 2 ? "Service" : "Servant$Inner");
            names[i].full = full[i];
        }
        shorten(MAX, width);
        for (size_t i = 0; i < MAX; i++) {
            cr_assert_leq(strlen(names[i].text), width);
            for (size_t k = 0; k < i; k++)
                cr_assert_eq(strcmp(names[i].text, names[k].text) == 0,
                             strcmp(names[i].full, names[k].full) == 0, "%s and %s: %s",
                             names[i].full, names[k].full, names[i].text);
        }
    }
}

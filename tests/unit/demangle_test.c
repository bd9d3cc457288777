#include "symbols/demangle.h"

#include <criterion/criterion.h>
#include <string.h>

static const char *shown(const char *symbol, bool parameters)
{
    static struct buf b;
    buf_clear(&b);
    demangle(symbol, parameters, &b);
    return buf_str(&b);
}

Test(demangle, c)
{
    cr_assert_str_eq(shown("JVM_Sleep", false), "JVM_Sleep");
    cr_assert_str_eq(shown("memcpy@@GLIBC_2.14", false), "memcpy");
    cr_assert_str_eq(shown("poll@GLIBC_2.2.5", true), "poll");
    cr_assert_str_eq(shown("@odd", false), "@odd");
    cr_assert_str_eq(shown("", false), "");
    cr_assert_str_eq(shown("_Z", false), "_Z");
    cr_assert_str_eq(shown("_Znot_a_name", false), "_Znot_a_name");
    cr_assert_str_eq(shown("compute.constprop.0", false), "compute.constprop.0");
}

Test(demangle, cxx)
{
    cr_assert_str_eq(shown("_ZN10JavaThread3runEv", false), "JavaThread::run");
    cr_assert_str_eq(shown("_ZN10JavaThread3runEv", true), "JavaThread::run()");
    cr_assert_str_eq(shown("_ZN9Arguments5parseEPK14JavaVMInitArgs", true),
                     "Arguments::parse(JavaVMInitArgs const*)");
    cr_assert_str_eq(shown("_ZNK3Foo3barIiEEvv", false), "Foo::bar<int>");
}

/* The examples of the two manglings' descriptions. */
Test(demangle, rust)
{
    cr_assert_str_eq(shown("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", false),
                     "core::fmt::Write::write_fmt");
    cr_assert_str_eq(shown("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", true),
                     "core::fmt::Write::write_fmt");
    cr_assert_str_eq(shown("_RNvCskwGfYPst2Cb_3foo16example_function", false),
                     "foo::example_function");
    cr_assert_str_eq(shown("_RNvMs_NtCs7qp2U7fqm6G_7mycrate3modNtB4_3Foo3bar", false),
                     "<mycrate::mod::Foo>::bar");
}

/* 300 bytes that stand for 2^30 types. */
Test(demangle, a_symbol_that_grows_without_end)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char symbol[512] = "_Z1f1PIiiE";
    for (int i = 0; i < 30; i++) {
        const char more[] = {'S', '_', 'I', 'S', digits[i], '_', 'S', digits[i], '_', 'E', 0};
        strcat(symbol, more);
    }
    cr_assert_eq(strlen(shown(symbol, true)), DEMANGLE_MAX);
    cr_assert_eq(strncmp(shown(symbol, true), "f(P<int, int>, P<P<int, int>, P<int, int> >", 43),
                 0);
    cr_assert_str_eq(shown(symbol, false), "f");
}

Test(demangle, a_long_symbol_is_cut)
{
    static char symbol[3 * DEMANGLE_SYMBOL_MAX];
    memset(symbol, 'x', sizeof symbol - 1);
    cr_assert_eq(strlen(shown(symbol, false)), DEMANGLE_MAX);
    symbol[DEMANGLE_MAX + 100] = 0;
    cr_assert_eq(strlen(shown(symbol, true)), DEMANGLE_MAX);
}

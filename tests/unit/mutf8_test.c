/* mutf8_test.c - the JVM's strings become UTF-8. */
#include "base/mutf8.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct {
    const char *in, *out;
} cases[] = {
    {"", ""},
    {"plain", "plain"},
    {"\xc3\xa4\xe2\x82\xac", "\xc3\xa4\xe2\x82\xac"},   /* two and three bytes stay */
    {"a\xc0\x80z", "a?z"},                              /* NUL */
    {"\xed\xa0\xbd\xed\xb8\x80!", "\xf0\x9f\x98\x80!"}, /* a surrogate pair: U+1F600 */
    {"\xed\xa0\xbdx", "?x"},                            /* a lone surrogate */
    {"\xed\xb8\x80x", "?x"},
    {"\xe2\x82", "??"}, /* cut */
    {"\xff\xfe", "??"},
};

Test(mutf8, cases)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[64];
        strcpy(text, cases[i].in);
        size_t n = mutf8_to_utf8(text);
        cr_assert_str_eq(text, cases[i].out, "case %zu", i);
        cr_assert_eq(n, strlen(cases[i].out));
    }
}

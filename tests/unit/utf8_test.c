#include "base/utf8.h"

#include "base/util.h"

#include <criterion/criterion.h>

Test(utf8, broken_bytes_are_replaced_one_by_one)
{
    static const char *const t[][2] = {
        {"", ""},
        {"plain", "plain"},
        {"Gr\xc3\xbc\xc3\x9f \xe4\xb8\x96 \xf0\x9f\x98\x80",
         "Gr\xc3\xbc\xc3\x9f \xe4\xb8\x96 \xf0\x9f\x98\x80"},
        {"\xff", UTF8_REPLACEMENT},
        {"a\xe4\xb8", "a" UTF8_REPLACEMENT UTF8_REPLACEMENT},
        {"\xc3(\x80z", UTF8_REPLACEMENT "(" UTF8_REPLACEMENT "z"},
        {"\xed\xa0\x80.", UTF8_REPLACEMENT UTF8_REPLACEMENT UTF8_REPLACEMENT "."},
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct buf b = {0};
        utf8_put(&b, t[i][0]);
        cr_assert_str_eq(buf_str(&b), t[i][1], "%zu", i);
        buf_fini(&b);
    }
}

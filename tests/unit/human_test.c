#include "base/human.h"

#include <criterion/criterion.h>

Test(human, counts)
{
    cr_assert_str_eq(human_count(0).text, "0");
    cr_assert_str_eq(human_count(999).text, "999");
    cr_assert_str_eq(human_count(1000).text, "1,000");
    cr_assert_str_eq(human_count(12345).text, "12,345");
    cr_assert_str_eq(human_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
}

Test(human, times)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } t[] = {{0, "0 ns"},
             {999, "999 ns"},
             {1000, "1.00 \xc2\xb5s"},
             {9994, "9.99 \xc2\xb5s"},
             {9996, "10.0 \xc2\xb5s"},
             {99949, "99.9 \xc2\xb5s"},
             {99951, "100 \xc2\xb5s"},
             {999499, "999 \xc2\xb5s"},
             {999500, "1.00 ms"},
             {37400000, "37.4 ms"},
             {999499999, "999 ms"},
             {999500000, "1.00 s"},
             {8200000000, "8.20 s"},
             {59940000000, "59.9 s"},
             {59950000000, "1 m 00 s"},
             {60940000000, "1 m 00 s"},
             {60950000000, "1 m 01 s"},
             {725000000000, "12 m 05 s"},
             {11400000000000, "3 h 10 m"}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        cr_assert_str_eq(human_time(t[i].ns).text, t[i].text);
}

Test(human, bytes)
{
    cr_assert_str_eq(human_bytes(0).text, "0 B");
    cr_assert_str_eq(human_bytes(1023).text, "1023 B");
    cr_assert_str_eq(human_bytes(1024).text, "1.0 kB");
    cr_assert_str_eq(human_bytes(64 << 20).text, "64 MB");
    cr_assert_str_eq(human_bytes((1 << 20) - 1).text, "1.0 MB");
    cr_assert_str_eq(human_bytes(UINT64_MAX).text, "16 EB");
}

Test(human, shell_words)
{
    static const char *const t[][2] = {{"a.otrace", "a.otrace"},
                                       {"", "''"},
                                       {"a b", "'a b'"},
                                       {"it's", "'it'\\''s'"},
                                       {"$x", "'$x'"}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct buf b;
        buf_init(&b);
        human_shell_word(&b, t[i][0]);
        cr_assert_str_eq(buf_str(&b), t[i][1]);
        buf_fini(&b);
    }
}

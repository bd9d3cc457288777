#include "base/buf.h"

#include <criterion/criterion.h>
#include <string.h>

Test(buf, appends_and_grows)
{
    struct buf b;
    buf_init(&b);
    for (int i = 0; i < 1000; i++)
        buf_putc(&b, (char)('a' + i % 26));
    cr_assert_eq(b.len, 1000);
    cr_assert(b.cap >= b.len);
    for (int i = 0; i < 1000; i++)
        cr_assert_eq(b.p[i], 'a' + i % 26);
    buf_fini(&b);
}

Test(buf, str_of_an_empty_buffer_is_empty)
{
    struct buf b;
    buf_init(&b);
    cr_assert_str_eq(buf_str(&b), "");
    cr_assert_eq(b.len, 0);
    buf_fini(&b);
}

Test(buf, str_keeps_len_and_can_be_appended_to)
{
    struct buf b;
    buf_init(&b);
    buf_puts(&b, "ab");
    cr_assert_str_eq(buf_str(&b), "ab");
    buf_puts(&b, "cd");
    cr_assert_str_eq(buf_str(&b), "abcd");
    buf_clear(&b);
    cr_assert_str_eq(buf_str(&b), "");
    buf_fini(&b);
}

Test(buf, printf_of_any_length)
{
    struct buf b;
    buf_init(&b);
    char text[1000];
    for (size_t n = 250; n < 260; n++) {
        memset(text, 'x', n);
        text[n] = 0;
        buf_clear(&b);
        buf_printf(&b, "%s", text);
        cr_assert_eq(b.len, n);
        cr_assert_str_eq(buf_str(&b), text);
    }
    buf_printf(&b, "%d-%s", 42, "y");
    cr_assert(strstr(buf_str(&b), "42-y") != NULL);
    buf_fini(&b);
}

Test(buf, put_of_nothing_from_null)
{
    struct buf b;
    buf_init(&b);
    buf_put(&b, NULL, 0);
    cr_assert_eq(b.len, 0);
    cr_assert_not(b.oom);
    buf_fini(&b);
}

Test(buf, an_impossible_size_is_refused_and_remembered)
{
    struct buf b;
    buf_init(&b);
    buf_puts(&b, "ab");
    cr_assert_null(buf_reserve(&b, SIZE_MAX - 1));
    cr_assert(b.oom);
    buf_puts(&b, "cd");
    cr_assert_eq(b.len, 2);
    cr_assert_null(buf_reserve(&b, 1));
    buf_fini(&b);
}

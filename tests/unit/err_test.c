#include "base/err.h"

#include <criterion/criterion.h>
#include <string.h>

Test(err, set_returns_the_code_and_keeps_the_text)
{
    struct err e;
    cr_assert_eq(err_set(&e, -ENOENT, "%s: %d", "x", 3), -ENOENT);
    cr_assert_str_eq(e.msg, "x: 3");
}

Test(err, prefix_goes_in_front)
{
    struct err e;
    err_set(&e, -EIO, "bad checksum");
    cr_assert_eq(err_prefix(&e, -EIO, "chunk %d", 12), -EIO);
    err_prefix(&e, -EIO, "app.otrace");
    cr_assert_str_eq(e.msg, "app.otrace: chunk 12: bad checksum");
}

Test(err, null_is_allowed)
{
    cr_assert_eq(err_set(NULL, -EIO, "x"), -EIO);
    cr_assert_eq(err_prefix(NULL, -EIO, "x"), -EIO);
}

Test(err, long_texts_are_cut_and_terminated)
{
    struct err e;
    char big[2000];
    memset(big, 'a', sizeof big - 1);
    big[sizeof big - 1] = 0;
    err_set(&e, -EIO, "%s", big);
    cr_assert_eq(strlen(e.msg), sizeof e.msg - 1);
    err_prefix(&e, -EIO, "name");
    cr_assert_eq(strlen(e.msg), sizeof e.msg - 1);
    cr_assert_eq(strncmp(e.msg, "name: aaa", 9), 0);
    err_prefix(&e, -EIO, "%s", big);
    cr_assert_eq(strlen(e.msg), sizeof e.msg - 1);
}

static int pass_up(int rc)
{
    TRY(rc);
    return 7;
}

Test(err, try_passes_only_failures)
{
    cr_assert_eq(pass_up(-EPERM), -EPERM);
    cr_assert_eq(pass_up(0), 7);
    cr_assert_eq(pass_up(5), 7);
}

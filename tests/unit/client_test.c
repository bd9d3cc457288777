#include "attach/client.h"

#include <criterion/criterion.h>
#include <errno.h>

static struct err err;

Test(client, takes_an_answer_apart)
{
    const char *text;
    cr_assert_eq(client_parse("ok\n", &text, &err), 0);
    cr_assert_str_eq(text, "");
    cr_assert_eq(client_parse("ok\na 1\nb 2\n", &text, &err), 0);
    cr_assert_str_eq(text, "a 1\nb 2\n");
    cr_assert_eq(client_parse("error 22 it is wrong\nmore", &text, &err), -EINVAL);
    cr_assert_str_eq(err.msg, "it is wrong");
}

Test(client, refuses_what_is_no_answer)
{
    static const char *const bad[] = {"",
                                      "ok",
                                      "okay\n",
                                      "error",
                                      "error 0 x\n",
                                      "error -1 x\n",
                                      "error 99999 x\n",
                                      "error x\n",
                                      "error 22\n"};
    const char *text;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cr_assert_eq(client_parse(bad[i], &text, &err), -EPROTO, "%s", bad[i]);
        cr_assert_neq(err.msg[0], 0);
    }
}

Test(client, finds_the_values_of_a_key)
{
    const char *text = "group a\nevents 12\ngroups x\ngroup bb\ngroup ", *at = NULL, *value;
    cr_assert_eq(client_number(text, "events"), 12);
    cr_assert_eq(client_number(text, "event"), 0);
    cr_assert_eq(client_value(text, "group", &at, &value), 1);
    cr_assert_eq(*value, 'a');
    cr_assert_eq(client_value(text, "group", &at, &value), 2);
    cr_assert_eq(client_value(text, "group", &at, &value), 0);
    cr_assert_eq(client_value(text, "group", &at, &value), -1);
}

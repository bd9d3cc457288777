#include "serve/query.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct query q;
static struct err err;

static void taken(const char *target)
{
    cr_assert_eq(query_parse(&q, target, &err), 0, "%s: %s", target, err.msg);
}

static void refused(const char *target, const char *why)
{
    cr_assert_eq(query_parse(&q, target, &err), -EINVAL, "%s", target);
    cr_assert(strstr(err.msg, why), "%s: %s", target, err.msg);
}

Test(query, a_path_alone)
{
    taken("/api/state");
    cr_assert_str_eq(q.path, "/api/state");
    cr_assert_eq(q.n, 0);
    query_fini(&q);
    taken("/?");
    cr_assert_str_eq(q.path, "/");
    cr_assert_eq(q.n, 0);
    query_fini(&q);
}

Test(query, parameters)
{
    taken("/x?rows=t1,p0&q=a%20b%2Bc+d&empty=");
    cr_assert_eq(q.n, 3);
    cr_assert_str_eq(query_find(&q, "rows"), "t1,p0");
    cr_assert_str_eq(query_find(&q, "q"), "a b+c d");
    cr_assert_str_eq(query_find(&q, "empty"), "");
    cr_assert_null(query_find(&q, "other"));
    query_fini(&q);
}

Test(query, escapes_in_a_path_are_undone_and_a_plus_is_one)
{
    taken("/%2e%2E/%41+b");
    cr_assert_str_eq(q.path, "/../A+b");
    query_fini(&q);
}

Test(query, escapes_that_are_none)
{
    static const char *const odd[] = {"/%",   "/%4",  "/%4g", "/%g4",    "/x?a=%", "/x?a=%4",
                                      "/%-1", "/%+1", "/% 1", "/x?a%=1", "/%%41",  "/%0x"};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
        refused(odd[i], "two hex digits");
}

Test(query, control_characters)
{
    static const char *const odd[] = {"/%00", "/a%00b",   "/%0a",    "/%1f",
                                      "/%7f", "/x?a=%00", "/x?%0d=1"};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
        refused(odd[i], "control character");
}

Test(query, parameters_that_are_none)
{
    refused("/x?a", "NAME=VALUE");
    refused("/x?=1", "NAME=VALUE");
    refused("/x?a=1&&b=2", "NAME=VALUE");
    refused("/x?a=1&a=2", "twice");
    refused("/x?a=1&%61=2", "twice");
    char many[256] = "/x?";
    for (int i = 0; i <= QUERY_PARAMS_MAX; i++)
        snprintf(many + strlen(many), sizeof many - strlen(many), "%sp%d=1", i ? "&" : "", i);
    refused(many, "more than");
}

static bool number(const char *text, bool sign, int64_t want)
{
    int64_t got = 77;
    return query_number(text, strlen(text), sign, &got) && got == want;
}

Test(query, numbers)
{
    cr_assert(number("0", false, 0));
    cr_assert(number("17", false, 17));
    cr_assert(number("-3", true, -3));
    cr_assert(number("4611686018427387904", false, INT64_C(1) << 62));
    cr_assert(number("-4611686018427387904", true, -(INT64_C(1) << 62)));
    static const char *const odd[] = {"",
                                      "-",
                                      "-0",
                                      "00",
                                      "01",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "1a",
                                      "0x1",
                                      "--1",
                                      "1e3",
                                      "1.0",
                                      "4611686018427387905",
                                      "9223372036854775808",
                                      "99999999999999999999999"};
    int64_t v;
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
        cr_assert_not(query_number(odd[i], strlen(odd[i]), true, &v), "%s", odd[i]);
    cr_assert_not(number("-3", false, -3));
}

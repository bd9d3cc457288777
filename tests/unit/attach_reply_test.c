#include "attach/attach.h"

#include <criterion/criterion.h>
#include <string.h>

static struct attach_reply reply;
static struct err err;

static void init(void)
{
    attach_reply_init(&reply);
}

static void fini(void)
{
    attach_reply_fini(&reply);
}

static int parse(const char *raw)
{
    return attach_parse_reply(raw, strlen(raw), &reply);
}

static int load(const char *raw)
{
    cr_assert_eq(parse(raw), 0);
    return attach_parse_load(&reply, 42, &err);
}

TestSuite(attach_reply, .init = init, .fini = fini);

Test(attach_reply, status_and_text)
{
    cr_assert_eq(parse("0\nJDK 17\nmore\n"), 0);
    cr_assert_eq(reply.status, 0);
    cr_assert_str_eq(buf_str(&reply.text), "JDK 17\nmore\n");
    cr_assert_eq(parse("-1\nOperation x not recognized!"), 0);
    cr_assert_eq(reply.status, -1);
    cr_assert_eq(parse("101"), 0);
    cr_assert_eq(reply.status, 101);
    cr_assert_eq(reply.text.len, 0);
}

Test(attach_reply, what_is_no_answer)
{
    static const char *const raw[] = {
        "", "\n", "x\n", "-\n", "1 2\n", " 1\n", "1x1", "2147483648\n", "99999999999999\n"};
    for (size_t i = 0; i < sizeof raw / sizeof *raw; i++)
        cr_assert_eq(parse(raw[i]), -EPROTO, "%s", raw[i]);
}

Test(attach_reply, an_agent_that_started)
{
    cr_assert_eq(load("0\nreturn code: 0\n"), 0);
}

Test(attach_reply, an_agent_that_refused)
{
    cr_assert_eq(load("0\nreturn code: -3\n"), -ECANCELED);
    cr_assert(strstr(err.msg, "JVM 42") && strstr(err.msg, "returned -3"));
    cr_assert_eq(load("0\nreturn code: 101"), -ECANCELED);
}

Test(attach_reply, a_library_that_cannot_be_loaded)
{
    cr_assert_eq(load("0\n/x.so was not loaded.\n/x.so: no such file\n"), -ELIBBAD);
    cr_assert_str_eq(err.msg,
                     "JVM 42 cannot load the library: /x.so was not loaded. /x.so: no such file");
    cr_assert_eq(load("-1\nwhat?\n"), -ELIBBAD);
    cr_assert_str_eq(err.msg, "JVM 42 cannot load the library: what?");
    cr_assert_eq(load("-1\nreturn code: 0\n"), -ELIBBAD);
    cr_assert_eq(load("0\nreturn code: \n"), -ELIBBAD);
    cr_assert_eq(load("0\n"), -ELIBBAD);
    cr_assert_eq(load("100"), -ELIBBAD);
    cr_assert(strstr(err.msg, "(100)"));
}

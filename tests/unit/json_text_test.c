#include "agent/json_text.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

static struct buf b;

/* What was put is a JSON value by itself, and jansson reads this text in it. */
static void reads(const char *text, size_t n)
{
    json_error_t e;
    json_t *j = json_loads(buf_str(&b), JSON_DECODE_ANY | JSON_ALLOW_NUL, &e);
    cr_assert_not_null(j, "%s: %s", e.text, buf_str(&b));
    cr_assert_eq(json_string_length(j), n, "%s", buf_str(&b));
    cr_assert_eq(memcmp(json_string_value(j), text, n), 0, "%s", buf_str(&b));
    json_decref(j);
    for (size_t i = 0; i < b.len; i++)
        cr_assert(b.p[i] >= ' ' && b.p[i] <= '~', "byte %02x", b.p[i]);
    buf_fini(&b);
}

static void text(const char *mutf8, const char *wanted)
{
    buf_init(&b);
    json_put_text(&b, mutf8);
    reads(wanted, strlen(wanted));
}

static void chars(const jchar *c, jint n, const char *wanted, size_t bytes)
{
    buf_init(&b);
    json_put_chars(&b, c, n);
    reads(wanted, bytes);
}

Test(json_text, text)
{
    text("", "");
    text("plain text", "plain text");
    text("\"quoted\" \\ and\n\t\x1b[31m\x7f", "\"quoted\" \\ and\n\t\x1b[31m\x7f");
    text("sch\xc3\xb6n \xe2\x82\xac", "sch\xc3\xb6n \xe2\x82\xac");
    text("\xed\xa0\xbd\xed\xb8\x80", "\xf0\x9f\x98\x80"); /* a pair, as the JVM writes it */
}

Test(json_text, a_long_text_is_cut)
{
    char longest[5000];
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = 0;
    buf_init(&b);
    json_put_text(&b, longest);
    cr_assert_eq(b.len, 2 + 1023);
    longest[1023] = 0;
    reads(longest, 1023);
    /* in the middle of a character */
    memset(longest, 'x', 1022);
    strcpy(longest + 1022, "\xe2\x82\xac");
    buf_init(&b);
    json_put_text(&b, longest);
    json_error_t e;
    json_t *j = json_loads(buf_str(&b), JSON_DECODE_ANY, &e);
    cr_assert_not_null(j, "%s", e.text);
    cr_assert_eq(memcmp(json_string_value(j), longest, 1022), 0);
    json_decref(j);
    buf_fini(&b);
}

Test(json_text, characters)
{
    static const jchar some[] = {'a', '"', '\\', 0, '\n', 0xe9, 0x20ac, 0xd83d, 0xde00};
    static const char as_utf8[] = "a\"\\\0\n\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
    chars(some, 9, as_utf8, sizeof as_utf8 - 1);
    chars(some, 0, "", 0);
}

/* Half of a surrogate pair is not text, wherever it is. */
Test(json_text, halves)
{
#define NONE "\xef\xbf\xbd"
    static const struct {
        jchar c[4];
        jint n;
        const char *wanted;
    } cases[] = {
        {{0xd83d}, 1, NONE},
        {{0xde00}, 1, NONE},
        {{0xde00, 0xd83d}, 2, NONE NONE},
        {{'a', 0xd83d, 'b'}, 3, "a" NONE "b"},
        {{0xd83d, 0xd83d, 0xde00}, 3, NONE "\xf0\x9f\x98\x80"},
        {{0xd83d, 0xde00, 0xde00}, 3, "\xf0\x9f\x98\x80" NONE},
        {{0xdbff, 0xdfff}, 2, "\xf4\x8f\xbf\xbf"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        chars(cases[i].c, cases[i].n, cases[i].wanted, strlen(cases[i].wanted));
}

static void number(double v, int digits, const char *wanted)
{
    buf_init(&b);
    json_put_double(&b, v, digits);
    cr_assert_str_eq(buf_str(&b), wanted);
    buf_fini(&b);
}

Test(json_text, numbers)
{
    number(0.5, 17, "0.5");
    number(-1e300, 17, "-1.0000000000000001e+300");
    number(0.1f, 9, "0.100000001");
    number(INFINITY, 17, "\"inf\"");
    number(-INFINITY, 17, "\"-inf\"");
    buf_init(&b);
    json_put_double(&b, NAN, 17);
    cr_assert(strstr(buf_str(&b), "nan\""), "%s", buf_str(&b));
    buf_fini(&b);
}

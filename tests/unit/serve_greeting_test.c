#include "serve/greeting.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct gate gate;
static bool known;

static void begin(void)
{
    cr_assert_eq(gate_init(&gate, 8123, NULL), 0);
}

TestSuite(greeting, .init = begin);

static enum greeting said(const char *text)
{
    return greeting_read(&gate, text, strlen(text), &known);
}

/* However it comes in parts, it is whole with its last byte and not before. */
static void whole_at_the_end(const char *text, bool has_key)
{
    size_t n = strlen(text);
    for (size_t i = 0; i < n; i++)
        cr_assert_eq(greeting_read(&gate, text, i, &known), GREETING_MORE, "%zu of %s", i, text);
    cr_assert_eq(greeting_read(&gate, text, n, &known), GREETING_WHOLE, "%s", text);
    cr_assert_eq(known, has_key);
}

Test(greeting, a_request_is_whole_when_its_headers_are)
{
    whole_at_the_end("GET / HTTP/1.1\r\nHost: 127.0.0.1:8123\r\n\r\n", false);
    whole_at_the_end("GET / HTTP/1.1\r\nContent-Length: 0\r\n\r\n", false);
}

Test(greeting, a_token_is_part_of_it)
{
    whole_at_the_end("POST /enter HTTP/1.1\r\ncontent-LENGTH:\t 7\r\n\r\ntoken=1", false);
    cr_assert_eq(said("POST /enter HTTP/1.1\r\nContent-Length: 2\r\n\r\n123"), GREETING_WHOLE);
    /* The first counts: the gate refuses two. */
    whole_at_the_end("POST /enter HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 9\r\n\r\n12",
                     false);
}

Test(greeting, a_body_that_is_refused_unread_is_not_waited_for)
{
    static const char *const lengths[] = {"257", "99999999999999999999999", "-1", "0x10", "", " "};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        char text[128];
        snprintf(text, sizeof text, "POST /enter HTTP/1.1\r\nContent-Length: %s\r\n\r\n",
                 lengths[i]);
        cr_assert_eq(said(text), GREETING_WHOLE, "%s", lengths[i]);
    }
    cr_assert_eq(said("POST / HTTP/1.1\r\nContent-Length: 256\r\n\r\n"), GREETING_MORE);
}

Test(greeting, the_key_is_found)
{
    char text[256];
    snprintf(text, sizeof text, "GET / HTTP/1.1\r\norca-KEY: \t%s\r\nHost: x\r\n\r\n", gate.key);
    whole_at_the_end(text, true);
    /* Who is known is not waited for. */
    snprintf(text, sizeof text,
             "POST /api/save HTTP/1.1\r\nOrca-Key:%s\r\nContent-Length: 9\r\n\r\n", gate.key);
    whole_at_the_end(text, true);
}

Test(greeting, what_is_not_quite_the_key)
{
    static const char *const forms[] = {
        "GET / HTTP/1.1\r\nOrca-Key: %s0\r\n\r\n",  "GET / HTTP/1.1\r\nOrca-Key: 0%s\r\n\r\n",
        "GET / HTTP/1.1\r\nOrca-Keys: %s\r\n\r\n",  "GET / HTTP/1.1\r\nXOrca-Key: %s\r\n\r\n",
        "GET / HTTP/1.1\r\nCookie: key=%s\r\n\r\n", "GET /?key=%s HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\nOrca-Key: %s\r\n"};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        char text[256];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(text, sizeof text, forms[i], gate.key);
#pragma GCC diagnostic pop
        cr_assert_eq(said(text), GREETING_WHOLE, "%s", text);
        cr_assert_not(known, "%s", text);
    }
}

Test(greeting, what_is_no_http)
{
    static const char *const texts[] = {"\x16\x03\x01", "\r\n\r\n", " GET /", "get / ", "\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        cr_assert_eq(said(texts[i]), GREETING_NONSENSE);
    cr_assert_eq(said(""), GREETING_MORE);
    cr_assert_eq(greeting_read(&gate, "\0\0", 2, &known), GREETING_NONSENSE);
}

Test(greeting, headers_without_end)
{
    static char text[GREETING_MAX];
    memset(text, 'A', sizeof text);
    cr_assert_eq(greeting_read(&gate, text, GREETING_HEADERS_MAX - 1, &known), GREETING_MORE);
    cr_assert_eq(greeting_read(&gate, text, GREETING_HEADERS_MAX, &known), GREETING_LONG);
    memcpy(text + GREETING_HEADERS_MAX - 4, "\r\n\r\n", 4);
    cr_assert_eq(greeting_read(&gate, text, GREETING_HEADERS_MAX, &known), GREETING_WHOLE);
    memcpy(text + GREETING_HEADERS_MAX - 4, "A\r\n\r\n", 5);
    cr_assert_eq(greeting_read(&gate, text, GREETING_HEADERS_MAX + 1, &known), GREETING_LONG);
}

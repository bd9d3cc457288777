#include "serve/gate.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct gate gate;
static struct gate_request good;
static char cookie[128], token[128];

static void begin(void)
{
    struct err err;
    cr_assert_eq(gate_init(&gate, 8123, &err), 0, "%s", err.msg);
    snprintf(cookie, sizeof cookie, "a=b; %s=%s", gate.cookie, gate.secret);
    snprintf(token, sizeof token, "/?token=%s", gate.token);
    good = (struct gate_request){
        .method = "GET", .target = "/api/state", .host = "127.0.0.1:8123", .cookie = cookie};
}

static struct gate_answer judge(const struct gate_request *r)
{
    struct gate_answer a;
    gate_judge(&gate, r, &a);
    return a;
}

static void refused(const struct gate_request *r, unsigned status, const char *text)
{
    struct gate_answer a = judge(r);
    cr_assert_eq(a.verdict, GATE_REFUSE, "%s", text);
    cr_assert_eq(a.status, status, "%u: %s", a.status, a.text);
    cr_assert(strstr(a.text, text), "%s", a.text);
}

static void passes(const struct gate_request *r)
{
    struct gate_answer a = judge(r);
    cr_assert_eq(a.verdict, GATE_PASS, "%u %s", a.status, a.text);
}

Test(gate, secrets_are_long_and_different, .init = begin)
{
    struct gate other;
    cr_assert_eq(strlen(gate.token), 32);
    cr_assert_eq(strlen(gate.secret), 32);
    cr_assert_str_neq(gate.token, gate.secret);
    cr_assert_eq(gate_init(&other, 8123, NULL), 0);
    cr_assert_str_neq(gate.token, other.token);
    cr_assert_str_eq(gate.cookie, "orca-8123");
}

Test(gate, a_cookie_lets_in, .init = begin)
{
    passes(&good);
    good.host = "LocalHost:8123";
    passes(&good);
    good.origin = "http://localhost:8123";
    passes(&good);
}

Test(gate, a_cookie_that_is_nearly_right, .init = begin)
{
    char near[128];
    const char *name = gate.cookie, *secret = gate.secret;
    const char *const wrong[][4] = {{name, "=", "", ""},      {name, "=", "0", ""},
                                    {name, "", "", ""},       {"x", name, "=", secret},
                                    {name, "=", secret, "0"}, {name, "", secret, ""},
                                    {"=", name, "=", secret}, {name, " =", secret, ""}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const char *const *w = wrong[i];
        snprintf(near, sizeof near, "%s%s%s%s", w[0], w[1], w[2], w[3]);
        good.cookie = near;
        refused(&good, 403, "Open the link");
    }
    good.cookie = NULL;
    refused(&good, 403, "Open the link");
    snprintf(near, sizeof near, "%s=%s", gate.cookie, gate.secret);
    near[strlen(near) - 1] ^= 1;
    good.cookie = near;
    refused(&good, 403, "Open the link");
}

Test(gate, of_two_cookies_by_the_name_each_may_be_it, .init = begin)
{
    char both[256];
    snprintf(both, sizeof both, "%s=old; %s", gate.cookie, cookie);
    good.cookie = both;
    passes(&good);
}

Test(gate, the_token_is_exchanged, .init = begin)
{
    good.target = token;
    cr_assert_eq(judge(&good).verdict, GATE_EXCHANGE);
    cr_assert(judge(&good).has_cookie);
    good.cookie = NULL;
    cr_assert_eq(judge(&good).verdict, GATE_EXCHANGE);
    cr_assert_not(judge(&good).has_cookie);
}

Test(gate, a_token_that_is_nearly_right, .init = begin)
{
    token[strlen(token) - 1] ^= 1;
    good.target = token;
    refused(&good, 403, "copy it whole");
    token[strlen(token) - 1] = 0;
    refused(&good, 403, "copy it whole");
    good.target = "/?token=";
    refused(&good, 403, "copy it whole");
    snprintf(token, sizeof token, "/?token=%s&x=1", gate.token);
    good.target = token;
    refused(&good, 403, "copy it whole");
    snprintf(token, sizeof token, "/api/state?token=%s", gate.token);
    good.cookie = NULL;
    refused(&good, 403, "Open the link");
}

Test(gate, another_host, .init = begin)
{
    static const char *const others[] = {"example.org:8123",
                                         "127.0.0.1",
                                         "127.0.0.1:81234",
                                         "127.0.0.1:812",
                                         "localhost.:8123",
                                         "127.0.0.1:8123 ",
                                         "localhost:8123,localhost:8123",
                                         "",
                                         "[::1]:8123"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        good.host = others[i];
        refused(&good, 403, "another host");
    }
    good.host = NULL;
    refused(&good, 403, "another host");
    good.target = token; /* nor is the token for them */
    refused(&good, 403, "another host");
}

Test(gate, another_origin, .init = begin)
{
    static const char *const others[] = {
        "http://example.org",      "https://127.0.0.1:8123", "null",
        "http://127.0.0.1:8124",   "http://127.0.0.1:8123/", "",
        "http://127.0.0.1:8123@x", "127.0.0.1:8123"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        good.origin = others[i];
        refused(&good, 403, "another page");
    }
}

static void make_post(void)
{
    begin();
    good.method = "POST";
    good.target = "/api/attach";
    good.origin = "http://127.0.0.1:8123";
    good.content_type = "application/json; charset=utf-8";
    good.content_length = "17";
}

Test(gate, a_post, .init = make_post)
{
    passes(&good);
    good.origin = NULL;
    refused(&good, 403, "another page");
}

Test(gate, a_post_of_another_type, .init = make_post)
{
    static const char *const types[] = {"text/plain", "application/jsonx", NULL, ""};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        good.content_type = types[i];
        refused(&good, 400, "Content-Type");
    }
}

Test(gate, the_length_of_a_body, .init = make_post)
{
    good.content_length = "65536";
    passes(&good);
    good.content_length = "65537";
    refused(&good, 413, "64 kB");
    static const char *const odd[] = {"-1", "1 ", "0x10", "", "99999999999999999999", "1,1"};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        good.content_length = odd[i];
        refused(&good, 400, "Content-Length");
    }
    good.content_length = NULL;
    good.chunked = true;
    refused(&good, 400, "Content-Length");
}

Test(gate, a_get_has_no_body, .init = begin)
{
    good.content_length = "0";
    passes(&good);
    good.content_length = "1";
    refused(&good, 400, "Content-Length");
}

Test(gate, other_methods, .init = begin)
{
    static const char *const others[] = {"PUT", "HEAD", "OPTIONS", "get", "POSTS", "", NULL};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        good.method = others[i];
        refused(&good, 405, "GET and POST");
    }
}

Test(gate, targets_that_are_no_path, .init = begin)
{
    static const char *const others[] = {"http://127.0.0.1:8123/",
                                         "//127.0.0.1/",
                                         "*",
                                         "",
                                         "api/state",
                                         "/a b",
                                         "/a\x01",
                                         "/a\x7f",
                                         "/\xc3\xa9",
                                         "/a#b",
                                         "/a\\b"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        good.target = others[i];
        refused(&good, 400, "no path");
    }
    good.target = NULL;
    refused(&good, 400, "no path");
    static char longest[GATE_TARGET_MAX + 2];
    memset(longest, 'a', GATE_TARGET_MAX);
    longest[0] = '/';
    good.target = longest;
    passes(&good);
    longest[GATE_TARGET_MAX] = 'a';
    refused(&good, 400, "no path");
}

Test(gate, headers_that_come_twice_and_nuls, .init = begin)
{
    good.doubled = 1;
    refused(&good, 400, "twice");
    good.doubled = 0;
    good.odd_bytes = true;
    refused(&good, 400, "no text");
}

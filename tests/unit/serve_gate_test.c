#include "serve/gate.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct gate gate;
static struct gate_request good;
static char token[GATE_WAYS][64];

static void begin(void)
{
    struct err err;
    cr_assert_eq(gate_init(&gate, 8123, &err), 0, "%s", err.msg);
    for (int i = 0; i < GATE_WAYS; i++)
        snprintf(token[i], sizeof token[i], "token=%s", gate.token[i]);
    good = (struct gate_request){
        .method = "GET", .target = "/api/state", .host = "127.0.0.1:8123", .key = gate.key};
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
    cr_assert_eq(gate_init(&other, 8123, NULL), 0);
    const char *const all[] = {gate.key,  gate.token[GATE_LINK],  gate.token[GATE_FILE],
                               other.key, other.token[GATE_LINK], other.token[GATE_FILE]};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        cr_assert_eq(strspn(all[i], "0123456789abcdef"), 32);
        cr_assert_eq(strlen(all[i]), 32);
        for (size_t k = 0; k < i; k++)
            cr_assert_str_neq(all[i], all[k]);
    }
}

Test(gate, a_key_lets_in, .init = begin)
{
    passes(&good);
    good.host = "LocalHost:8123";
    passes(&good);
    good.origin = "http://localhost:8123";
    passes(&good);
}

Test(gate, a_key_that_is_nearly_right, .init = begin)
{
    char near[64];
    const char *const wrong[] = {"", "0", "00000000000000000000000000000000", gate.token[GATE_LINK],
                                 NULL};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        good.key = wrong[i];
        refused(&good, 403, "Open the link");
    }
    good.key = near;
    snprintf(near, sizeof near, "%s0", gate.key);
    refused(&good, 403, "Open the link");
    snprintf(near, sizeof near, "%.31s", gate.key);
    refused(&good, 403, "Open the link");
    for (size_t i = 0; i < 32; i++) {
        snprintf(near, sizeof near, "%s", gate.key);
        near[i] ^= 1;
        refused(&good, 403, "Open the link");
    }
}

Test(gate, pages_are_for_everybody, .init = begin)
{
    good.key = NULL;
    good.target = "/";
    refused(&good, 403, "Open the link");
    good.page = true;
    passes(&good);
    good.target = "/?token=whatever";
    passes(&good);
    good.host = "example.org";
    refused(&good, 403, "another host");
}

static struct gate_request enters(const char *target, const char *origin)
{
    return (struct gate_request){.method = "POST",
                                 .target = target,
                                 .host = "127.0.0.1:8123",
                                 .origin = origin,
                                 .content_type = "application/x-www-form-urlencoded",
                                 .content_length = "38"};
}

Test(gate, a_token_is_brought_by_our_page_or_by_a_file, .init = begin)
{
    static const char ours[] = "http://127.0.0.1:8123";
    struct gate_request api = enters(gate_enter_api, ours), form = enters(gate_enter_page, "null");
    cr_assert_eq(judge(&api).verdict, GATE_ENTER);
    cr_assert_eq(judge(&form).verdict, GATE_ENTER);
    form.origin = ours;
    form.content_type = "application/x-www-form-urlencoded;charset=UTF-8";
    cr_assert_eq(judge(&form).verdict, GATE_ENTER);
    api.origin = "null";
    refused(&api, 403, "another page");
    form.origin = "http://127.0.0.1:8124";
    refused(&form, 403, "another page");
    form.origin = NULL;
    refused(&form, 403, "another page");
}

Test(gate, a_token_has_a_form, .init = begin)
{
    struct gate_request form = enters(gate_enter_page, "null");
    form.content_type = "application/json";
    refused(&form, 400, "a form");
    form.content_type = NULL;
    refused(&form, 400, "a form");
    form = enters(gate_enter_page, "null");
    form.content_length = "257";
    refused(&form, 413, "256 bytes");
    form = enters(gate_enter_page, "null");
    form.method = "GET";
    refused(&form, 403, "another page");
    form = enters("/enter?", "null");
    refused(&form, 403, "another page");
    form = enters("/api/state", "null"); /* "null" enters and does nothing else */
    form.key = gate.key;
    refused(&form, 403, "another page");
}

Test(gate, each_way_has_its_token, .init = begin)
{
    for (int i = 0; i < GATE_WAYS; i++) {
        cr_assert_eq(gate_way_of(&gate, token[i], strlen(token[i])), i);
        cr_assert_eq(gate_way_of(&gate, token[i], strlen(token[i]) - 1), -1);
        cr_assert_eq(gate_way_of(&gate, gate.token[i], 32), -1);
        token[i][37] ^= 1;
        cr_assert_eq(gate_way_of(&gate, token[i], strlen(token[i])), -1);
    }
    char more[80];
    snprintf(more, sizeof more, "token=%s&x", gate.token[GATE_LINK]);
    cr_assert_eq(gate_way_of(&gate, more, strlen(more)), -1);
    snprintf(more, sizeof more, "token=%s", gate.key);
    cr_assert_eq(gate_way_of(&gate, more, strlen(more)), -1);
    cr_assert_eq(gate_way_of(&gate, NULL, 0), -1);
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
    good = enters(gate_enter_api, "http://127.0.0.1:8123"); /* nor is the token for them */
    good.host = "example.org:8123";
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
    refused(&good, 400, "not text");
}

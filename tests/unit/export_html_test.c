/* export_html_test.c - a page with data in it, taken apart again. */
#include "export/html.h"
#include "model_files.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BEFORE "<head><title>Orca</title></head>\n"
#define AFTER "\n<script>1</script>\n"
#define ELEMENT "<script type=\"application/octet-stream\" id=\"orca-pack\">"

static const char page[] = BEFORE "<!--orca-pack-->" AFTER;

static char path[64];

static void begin(void)
{
    strcpy(path, "/tmp/orca-html-XXXXXX");
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    close(fd);
}

static void end(void)
{
    unlink(path);
}

TestSuite(html, .init = begin, .fini = end);

static struct buf read_all(void)
{
    struct buf b = {0};
    FILE *f = fopen(path, "rb");
    cr_assert(f);
    for (int c; (c = fgetc(f)) != EOF;)
        buf_putc(&b, (char)c);
    fclose(f);
    return b;
}

/* The page with this in it. */
static struct buf written(const char *title, const void *pack, size_t n)
{
    struct err err = {""};
    struct out o;
    const struct html_page p = {
        .page = page, .page_len = strlen(page), .title = title, .pack = pack, .pack_len = n};
    cr_assert_eq(out_open(&o, path, "", &err), 0, "%s", err.msg);
    cr_assert_eq(html_write(&p, &o, &err), 0, "%s", err.msg);
    cr_assert_eq(out_finish(&o, &err), 0, "%s", err.msg);
    cr_assert_eq(out_publish(&o, &err), 0, "%s", err.msg);
    return read_all();
}

static int value_of(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = strchr(digits, c);
    return c && at ? (int)(at - digits) : -1;
}

static struct buf decoded(const char *text, size_t n)
{
    struct buf b = {0};
    cr_assert_eq(n % 4, 0, "%zu digits", n);
    for (size_t i = 0; i < n; i += 4) {
        int last = text[i + 3] == '=' ? text[i + 2] == '=' ? 1 : 2 : 3;
        cr_assert(last == 3 || i + 4 == n, "padding inside");
        uint32_t v = 0;
        for (int k = 0; k < 4; k++) {
            cr_assert(k > last || value_of(text[i + (size_t)k]) >= 0, "no digit");
            v = v << 6 | (uint32_t)(k > last ? 0 : value_of(text[i + (size_t)k]));
        }
        for (int k = 0; k < last; k++)
            buf_putc(&b, (char)(v >> (16 - 8 * k)));
    }
    return b;
}

static void check(const void *pack, size_t n)
{
    struct buf all = written(NULL, pack, n);
    const char *text = buf_str(&all), *from = text + strlen(BEFORE ELEMENT);
    cr_assert_eq(strncmp(text, BEFORE ELEMENT, strlen(BEFORE ELEMENT)), 0);
    size_t digits = strcspn(from, "<");
    cr_assert_str_eq(from + digits, "</script>" AFTER);
    struct buf packed = decoded(from, digits), got = inflated(packed.p, packed.len);
    cr_assert_eq(got.len, n);
    cr_assert(n == 0 || memcmp(got.p, pack, n) == 0, "another pack of %zu bytes", n);
    buf_fini(&got);
    buf_fini(&packed);
    buf_fini(&all);
}

Test(html, the_pack_comes_back)
{
    static const size_t sizes[] = {0, 1, 2, 3, 1000, 49000, 49152, 300000, (1 << 20) + 1, 3000001};
    uint8_t *bytes = malloc(sizes[9]);
    uint64_t x = 88172645463325252u; /* xorshift: what does not compress */
    for (size_t i = 0; i < sizes[9]; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        bytes[i] = i % 5000 < 4000 ? (uint8_t)x : 0;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check(bytes, sizes[i]);
    free(bytes);
}

Test(html, the_title_is_no_markup)
{
    struct buf all = written("</title><script>&\"'\x01\xff", "", 0);
    cr_assert(strstr(buf_str(&all),
                     "<title>&lt;/title&gt;&lt;script&gt;&amp;&quot;&#39;?\?</title></head>"),
              "%s", buf_str(&all));
    buf_fini(&all);
}

Test(html, a_page_without_its_place)
{
    static const char *const bad[] = {"<title>x</title>", "<!--orca-pack--><!--orca-pack-->", ""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err = {""};
        struct out o;
        const struct html_page p = {.page = bad[i], .page_len = strlen(bad[i])};
        cr_assert_eq(out_open(&o, path, "", &err), 0);
        cr_assert_eq(html_write(&p, &o, &err), -EINVAL);
        cr_assert(strstr(err.msg, "no one place"), "%s", err.msg);
        out_discard(&o);
    }
}

/* Only a file is replaced by one. */
Test(html, a_pipe_is_not_replaced)
{
    struct err err = {""};
    struct out o;
    struct stat st;
    unlink(path);
    cr_assert_eq(mkfifo(path, 0600), 0);
    cr_assert_eq(out_open(&o, path, "", &err), -EEXIST);
    cr_assert(strstr(err.msg, "name another"), "%s", err.msg);
    cr_assert(stat(path, &st) == 0 && S_ISFIFO(st.st_mode));
}

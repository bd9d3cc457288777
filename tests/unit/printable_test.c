#include "base/printable.h"

#include "base/util.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

static const char *utf8_of(const char *in)
{
    static char out[200];
    printable_utf8(in, out, sizeof out);
    return out;
}

static const char *text_of(const char *in, bool utf8)
{
    static char out[200];
    printable_text(in, utf8, out, sizeof out);
    return out;
}

Test(printable, valid_text_stays)
{
    cr_assert_str_eq(utf8_of("worker-1"), "worker-1");
    cr_assert_str_eq(utf8_of("\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x8b"),
                     "\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x8b");
    cr_assert_str_eq(utf8_of(""), "");
}

Test(printable, broken_bytes_become_one_mark_each)
{
#define MARK "\xef\xbf\xbd"
    static const char *const t[][2] = {
        {"a\xff"
         "b",
         "a" MARK "b"},
        {"\xc3", MARK},                            /* cut off */
        {"\xc0\x80", MARK MARK},                   /* overlong NUL */
        {"\xe0\x80\xaf", MARK MARK MARK},          /* overlong slash */
        {"\xed\xa0\x80", MARK MARK MARK},          /* half of a surrogate pair */
        {"\xf4\x90\x80\x80", MARK MARK MARK MARK}, /* beyond Unicode */
        {"\x80x", MARK "x"},
        {"\xe2\x82x", MARK MARK "x"},
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        cr_assert_str_eq(utf8_of(t[i][0]), t[i][1], "%zu", i);
}

Test(printable, any_bytes_give_valid_text_that_fits)
{
    srand(5);
    for (int round = 0; round < 20000; round++) {
        char in[30], out[24];
        size_t n = (size_t)rand() % sizeof in;
        for (size_t i = 0; i < n; i++)
            in[i] = (char)(1 + rand() % 255);
        in[n < sizeof in ? n : sizeof in - 1] = 0;
        printable_utf8(in, out, sizeof out);
        cr_assert_lt(strlen(out), sizeof out);
        for (const char *p = out; *p;)
            cr_assert_neq(utf8_next(&p), UINT32_MAX);
    }
}

Test(printable, terminals_get_no_controls)
{
    cr_assert_str_eq(text_of("a\033[31mb\n\tc\x7f", true), "a?[31mb??c?");
    cr_assert_str_eq(text_of("\xc2\x9b"
                             "31m",
                             true),
                     "?31m", "the one-byte escape of C1");
    cr_assert_str_eq(text_of("\xe2\x80\xae"
                             "abc",
                             true),
                     "?abc", "right-to-left override");
    cr_assert_str_eq(text_of("\xc3\xa4", true), "\xc3\xa4");
    cr_assert_str_eq(text_of("\xc3\xa4", false), "?");
}

Test(printable, cut_keeps_both_ends)
{
    static const struct {
        const char *text;
        size_t width;
        const char *want;
    } t[] = {{"short", 5, "short"},           {"abcdefghij", 9, "abc...hij"},
             {"abcdefghij", 8, "ab...hij"},   {"abcdefghij", 3, "aij"},
             {"abcdefghij", 2, "aj"},         {"abcdefghij", 0, ""},
             {"abcdefghij", 10, "abcdefghij"}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char text[40];
        strcpy(text, t[i].text);
        printable_cut(text, t[i].width);
        cr_assert_str_eq(text, t[i].want, "%zu: %s", i, text);
    }
}

Test(printable, wide_characters_count_twice)
{
    cr_assert(setlocale(LC_CTYPE, "C.UTF-8"));
    char text[] =
        "\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87"; /* 6 characters */
    cr_assert_eq(printable_width(text), 12);
    for (size_t width = 12; width-- > 0;) {
        char copy[sizeof text];
        strcpy(copy, text);
        printable_cut(copy, width);
        cr_assert_leq(printable_width(copy), width);
        for (const char *p = copy; *p;)
            cr_assert_neq(utf8_next(&p), UINT32_MAX);
    }
}

Test(printable, words_and_lines)
{
    struct buf b = {0};
    printable_word(&b, "");
    printable_word(&b, "a b\x1b\n\xc2\x9b\xe2\x80\xae\xc3\xa4\xff");
    cr_assert_str_eq(buf_str(&b), "-a_b____\xc3\xa4_");
    buf_fini(&b);
    char line[] = "a\x1b[2J\nb\xe2\x80\xae"
                  "c\xc3\xa4\x7f";
    printable_line(line);
    cr_assert_str_eq(line, "a?[2J?b?c\xc3\xa4?");
}

Test(printable, lines_stay_where_they_are_wanted)
{
    char text[] = "a\x1b[1mb\nc\rd\n\n";
    printable_lines(text);
    cr_assert_str_eq(text, "a?[1mb\nc?d\n\n");
    printable_line(text);
    cr_assert_str_eq(text, "a?[1mb?c?d??");
}

/* --- what is harmful, and pieces of text ------------------------------------------------------ */

/* Every character with the property Bidi_Control, both lines of controls, and what ends a line. */
Test(printable, nothing_that_turns_or_ends_a_line_stays)
{
    static const uint32_t harmful[] = {0x01,   0x07,   0x1b,    0x7f,    0x80,      0x9b,   0x9f,
                                       0xad,   0x61c,  0x180e,  0x200b,  0x200c,    0x200d, 0x200e,
                                       0x200f, 0x2028, 0x2029,  0x202a,  0x202b,    0x202c, 0x202d,
                                       0x202e, 0x2060, 0x2066,  0x2067,  0x2068,    0x2069, 0x206f,
                                       0xfeff, 0xfff9, 0xe0001, 0xe0041, UINT32_MAX};
    static const uint32_t fine[] = {' ',    '~',    0xa0,   0xe4,   0x61b,   0x61d,   0x627,
                                    0x2010, 0x2027, 0x202f, 0x20ac, 0x1f40b, 0x10ffff};
    for (size_t i = 0; i < sizeof harmful / sizeof *harmful; i++)
        cr_assert(printable_is_harmful(harmful[i]), "U+%04X", harmful[i]);
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        cr_assert_not(printable_is_harmful(fine[i]), "U+%04X", fine[i]);
}

static const char *fed(const char *text, size_t n, size_t step, bool json)
{
    static struct buf out;
    struct printable_stream s = {.json = json};
    buf_clear(&out);
    for (size_t at = 0; at < n; at += step)
        printable_feed(&s, text + at, at + step < n ? step : n - at, &out);
    printable_flush(&s, &out);
    return buf_str(&out);
}

Test(printable, a_terminal_without_utf8_gets_us)
{
    static const char text[] = "7.80 \xc2\xb5s of \xc3\xa4";
    for (size_t step = 1; step < sizeof text; step++) {
        struct buf out;
        struct printable_stream s = {.ascii = true};
        buf_init(&out);
        for (size_t at = 0; at < sizeof text - 1; at += step)
            printable_feed(&s, text + at, min_u64(step, sizeof text - 1 - at), &out);
        printable_flush(&s, &out);
        cr_assert_str_eq(buf_str(&out), "7.80 us of \xc3\xa4", "%zu", step);
        buf_fini(&out);
    }
    char name[32];
    printable_text(text, false, name, sizeof name);
    cr_assert_str_eq(name, "7.80 us of ?");
    printable_text(text, true, name, sizeof name);
    cr_assert_str_eq(name, text);
}

Test(printable, a_stream_may_be_cut_anywhere)
{
    static const char text[] = "a\x1b[31m\n\xe2\x80\xae\xc3\xa4\xf0\x9f\x90\x8b\xd8\x9c"
                               "b\xff\t\xc2\x9b\0z\xe2\x80";
    for (size_t step = 1; step < sizeof text; step++) {
        cr_assert_str_eq(fed(text, sizeof text - 1, step, false),
                         "a?[31m\n?\xc3\xa4\xf0\x9f\x90\x8b?b???"
                         "?z??",
                         "%zu", step);
        cr_assert_str_eq(fed(text, sizeof text - 1, step, true),
                         "a?[31m\n\\u202e\xc3\xa4\xf0\x9f\x90\x8b\\u061c"
                         "b\\ufffd\t\\u009b?z\\ufffd\\ufffd",
                         "%zu", step);
    }
    cr_assert_str_eq(fed("\xf3\xa0\x80\x81", 4, 4, true), "\\udb40\\udc01");
}

/* One character at a time, as the functions say it. */
static void put_slowly(struct buf *out, const char *text, size_t n)
{
    for (const char *p = text; p < text + n;) {
        const char *from = p;
        uint32_t c = *p ? utf8_next(&p) : (p++, 0);
        if (c != '\n' && printable_is_harmful(c))
            buf_putc(out, '?');
        else
            buf_put(out, from, (size_t)(p - from));
    }
}

Test(printable, long_runs_hide_nothing)
{
    static const char odd[] = "\n\x1b\x7f\x80\x9b\xc3\xa4\xe2\x80\xae\xff\0\x1f ~";
    struct buf expected = {0};
    unsigned seed = 1;
    for (int round = 0; round < 4000; round++) {
        char text[48 + 1] = "";
        size_t n = (size_t)rand_r(&seed) % sizeof text;
        for (size_t i = 0; i < n; i++)
            text[i] = rand_r(&seed) % 6 ? (char)(' ' + rand_r(&seed) % 95)
                                        : odd[(size_t)rand_r(&seed) % (sizeof odd - 1)];
        text[n] = 0;
        buf_clear(&expected);
        put_slowly(&expected, text, n);
        cr_assert_str_eq(fed(text, n, n ? n : 1, false), buf_str(&expected), "round %d", round);
        cr_assert_str_eq(fed(text, n, 1 + (size_t)round % 7, false), buf_str(&expected), "round %d",
                         round);
    }
    buf_fini(&expected);
}

#include "cli/page.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

Test(page, times)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } t[] = {{0, "0 ns"},
             {999, "999 ns"},
             {1000, "1.00 us"},
             {7800, "7.80 us"},
             {9994, "9.99 us"},
             {9996, "10.0 us"},
             {99949, "99.9 us"},
             {99951, "100 us"},
             {999499, "999 us"},
             {999500, "1.00 ms"},
             {45600000, "45.6 ms"},
             {999499999, "999 ms"},
             {999500000, "1.00 s"},
             {1234000000, "1.23 s"},
             {59940000000, "59.9 s"},
             {59950000000, "1 m 00 s"},
             {725000000000, "12 m 05 s"},
             {11400000000000, "3 h 10 m"}};
    bool begun = false;
    const struct page ascii = {.width = PAGE_WIDTH, .begun = &begun},
                      utf8 = {.begun = &begun, .utf8 = true};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        cr_assert_str_eq(page_time(&ascii, t[i].ns).text, t[i].text, "%lu: %s", t[i].ns,
                         page_time(&ascii, t[i].ns).text);
    cr_assert_str_eq(page_time(&utf8, 7800).text, "7.80 \xc2\xb5s");
}

static char *wrapped(const char *first, const char *text, size_t indent)
{
    char *out;
    size_t len;
    bool begun = false;
    FILE *to = open_memstream(&out, &len);
    const struct page p = {.width = PAGE_WIDTH, .to = to, .begun = &begun};
    page_wrapped(&p, STYLE_WARNING, first, text, indent);
    fclose(to);
    return out;
}

Test(page, long_texts_are_broken_between_words)
{
    char text[600] = "";
    for (int i = 0; i < 60; i++)
        strcat(text, "word47 s ");
    char *out = wrapped(" 1. ", text, 4);
    cr_assert_eq(strncmp(out, " 1. word47 s word47 s", 21), 0);
    for (char *line = out; *line; line += strcspn(line, "\n") + 1) {
        cr_assert_leq(strcspn(line, "\n"), PAGE_WIDTH);
        cr_assert_eq(strncmp(line, line == out ? " 1. word" : "    word", 8), 0,
                     "a number and its unit stay together");
    }
    free(out);
}

Test(page, a_word_longer_than_the_line_is_cut)
{
    char text[301];
    memset(text, 'x', 300);
    text[300] = 0;
    char *out = wrapped("", text, 4);
    cr_assert_leq(strcspn(out, "\n"), PAGE_WIDTH);
    free(out);
}

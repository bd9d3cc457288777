#include "cli/page.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

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

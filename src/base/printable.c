#include "base/printable.h"

#include <string.h>
#include <wchar.h>

/* Append the bytes [from, to), or `instead` of them; false when there is no room. */
static bool append(char *out, size_t n, size_t *at, const char *p, size_t len)
{
    if (*at + len + 1 > n)
        return false;
    memcpy(out + *at, p, len);
    *at += len;
    return true;
}

void printable_utf8(const char *in, char *out, size_t n)
{
    size_t at = 0;
    while (*in) {
        const char *from = in;
        bool ok = utf8_next(&in) != UINT32_MAX;
        if (!append(out, n, &at, ok ? from : UTF8_REPLACEMENT, ok ? (size_t)(in - from) : 3))
            break;
    }
    out[at] = 0;
}

/* C0 and C1 controls, DEL, and what changes the direction of the text around it. */
static bool is_harmful(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == UINT32_MAX || c == 0x2028 || c == 0x2029 ||
           (c >= 0x200b && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

void printable_text(const char *in, bool utf8, char *out, size_t n)
{
    size_t at = 0;
    while (*in) {
        const char *from = in;
        uint32_t c = utf8_next(&in);
        bool ok = !is_harmful(c) && (utf8 || c < 0x80);
        if (!append(out, n, &at, ok ? from : "?", ok ? (size_t)(in - from) : 1))
            break;
    }
    out[at] = 0;
}

void printable_word(struct buf *b, const char *text)
{
    if (!*text)
        buf_putc(b, '-');
    while (*text) {
        const char *from = text;
        uint32_t c = utf8_next(&text);
        if (c == ' ' || is_harmful(c))
            buf_putc(b, '_');
        else
            buf_put(b, from, (size_t)(text - from));
    }
}

/* keep: a character that stays though it is harmful; 0: none. */
static void make_printable(char *text, uint32_t keep)
{
    char *to = text;
    for (const char *in = text; *in;) {
        const char *from = in;
        uint32_t c = utf8_next(&in);
        bool ok = c == keep || !is_harmful(c);
        size_t n = ok ? (size_t)(in - from) : 1;
        memmove(to, ok ? from : "?", n);
        to += n;
    }
    *to = 0;
}

void printable_line(char *text)
{
    make_printable(text, 0);
}

void printable_lines(char *text)
{
    make_printable(text, '\n');
}

void printable_put(FILE *to, const char *text)
{
    while (*text) {
        const char *from = text;
        bool ok = !is_harmful(utf8_next(&text));
        fwrite(ok ? from : "?", 1, ok ? (size_t)(text - from) : 1, to);
    }
}

static size_t columns(uint32_t c)
{
    int w = c < 0x80 ? 1 : wcwidth((wchar_t)c);
    return w < 0 ? 1 : (size_t)w;
}

size_t printable_width(const char *text)
{
    size_t w = 0;
    uint32_t c;
    while ((c = utf8_next(&text)) != 0)
        w += columns(c);
    return w;
}

/* The place behind at most `width` columns of text. */
static const char *behind(const char *text, size_t width)
{
    for (;;) {
        const char *from = text;
        uint32_t c = utf8_next(&text);
        if (c == 0 || columns(c) > width)
            return from;
        width -= columns(c);
    }
}

void printable_cut(char *text, size_t width)
{
    static const char dots[] = "...";
    size_t all = printable_width(text);
    if (all <= width)
        return;
    size_t mark = width < sizeof dots ? 0 : sizeof dots - 1, keep = width - mark;
    char *head_end = text + (behind(text, keep / 2) - text);
    const char *tail = behind(text, all - (keep - keep / 2));
    while (printable_width(tail) > keep - keep / 2)
        utf8_next(&tail);
    memmove(head_end + mark, tail, strlen(tail) + 1);
    memcpy(head_end, dots, mark);
}

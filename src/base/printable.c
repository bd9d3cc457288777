#include "base/printable.h"

#include "base/util.h"

#include <string.h>
#include <wchar.h>

enum { MICRO = 0xb5 }; /* of µs: a terminal without UTF-8 gets us */

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

bool printable_is_harmful(uint32_t c)
{
    static const struct {
        uint32_t from, to;
    } harmful[] = {
        {0x00, 0x1f},       {0x7f, 0x9f},
        {0xad, 0xad},       {0x61c, 0x61c},
        {0x180e, 0x180e},   {0x200b, 0x200f},
        {0x2028, 0x202e},   {0x2060, 0x206f},
        {0xfeff, 0xfeff},   {0xfff9, 0xfffb},
        {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
        {0xe0000, 0xe0fff}, {UINT32_MAX, UINT32_MAX},
    };
    if (c >= 0x20 && c < 0x7f)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(harmful); i++)
        if (c >= harmful[i].from && c <= harmful[i].to)
            return true;
    return false;
}

void printable_text(const char *in, bool utf8, char *out, size_t n)
{
    size_t at = 0;
    while (*in) {
        const char *from = in;
        uint32_t c = utf8_next(&in);
        bool ok = !printable_is_harmful(c) && (utf8 || c < 0x80);
        const char *instead = c == MICRO && !utf8 ? "u" : "?";
        if (!append(out, n, &at, ok ? from : instead, ok ? (size_t)(in - from) : 1))
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
        while (*text > ' ' && *text < 0x7f)
            text++;
        buf_put(b, from, (size_t)(text - from));
        if (!*text)
            return;
        from = text;
        uint32_t c = utf8_next(&text);
        if (c == ' ' || printable_is_harmful(c))
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
        bool ok = c == keep || !printable_is_harmful(c);
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
        bool ok = !printable_is_harmful(utf8_next(&text));
        fwrite(ok ? from : "?", 1, ok ? (size_t)(text - from) : 1, to);
    }
}

static void put_escape(struct buf *out, uint32_t c)
{
    if (c == UINT32_MAX)
        c = 0xfffd;
    if (c > 0xffff) {
        buf_printf(out, "\\u%04x", 0xd7c0 + (c >> 10));
        c = 0xdc00 | (c & 0x3ff);
    }
    buf_printf(out, "\\u%04x", c);
}

static bool is_plain(char c)
{
    return (c >= ' ' && c < 0x7f) || c == '\n';
}

/* The first byte that is not plain ASCII, or `end`.  Eight at a time: all that is printed comes
 * through here. */
static const char *behind_plain(const char *text, const char *end)
{
    const uint64_t ones = UINT64_MAX / 0xff, highs = 0x80 * ones;
    for (;;) {
        for (uint64_t v; end - text >= (ptrdiff_t)sizeof v; text += sizeof v) {
            memcpy(&v, text, sizeof v);
            /* A byte from 0x7f on, or one below ' ', which a line break is, too. */
            if ((v | (v + ones) | ((v - ' ' * ones) & ~v)) & highs)
                break;
        }
        for (int i = 0; i < 8 && text < end; i++, text++)
            if (!is_plain(*text))
                return text;
        if (text == end)
            return end;
    }
}

/* Whole characters. */
static void feed_whole(const struct printable_stream *s, const char *text, const char *end,
                       struct buf *out)
{
    while (text < end) {
        const char *from = text;
        text = behind_plain(text, end);
        buf_put(out, from, (size_t)(text - from));
        if (text == end)
            return;
        from = text;
        uint32_t c = *text ? utf8_next(&text) : (text++, 0);
        if (s->ascii && c == MICRO)
            buf_putc(out, 'u');
        else if (!printable_is_harmful(c))
            buf_put(out, from, (size_t)(text - from));
        else if (s->json && c >= 0x80)
            put_escape(out, c);
        else
            buf_putc(out, s->json && c == '\t' ? '\t' : '?');
    }
}

/* How long the character is that begins so, by its first byte. */
static size_t length_of(unsigned char first)
{
    return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
}

/* Where the last character begins that may not be whole; n: it is. */
static size_t cut_at(const char *text, size_t n)
{
    for (size_t back = 1; back <= 3 && back <= n; back++) {
        unsigned char c = (unsigned char)text[n - back];
        if ((c & 0xc0) != 0x80)
            return length_of(c) > back ? n - back : n;
    }
    return n;
}

void printable_feed(struct printable_stream *s, const char *text, size_t n, struct buf *out)
{
    /* What was cut before, made whole by the first bytes of this. */
    while (s->n_cut && n) {
        s->cut[s->n_cut++] = *text++;
        n--;
        size_t whole = cut_at(s->cut, s->n_cut);
        feed_whole(s, s->cut, s->cut + whole, out);
        s->n_cut -= whole;
        memmove(s->cut, s->cut + whole, s->n_cut);
    }
    if (!n)
        return;
    size_t whole = cut_at(text, n);
    feed_whole(s, text, text + whole, out);
    s->n_cut = n - whole;
    memcpy(s->cut, text + whole, s->n_cut);
}

void printable_flush(struct printable_stream *s, struct buf *out)
{
    char cut[sizeof s->cut + 1] = "";
    memcpy(cut, s->cut, s->n_cut);
    feed_whole(s, cut, cut + s->n_cut, out);
    s->n_cut = 0;
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

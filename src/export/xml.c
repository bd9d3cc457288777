#include "export/xml.h"

#include <string.h>

/* The length of the UTF-8 sequence at p, which a NUL ends somewhere, and its character; 0 when it
 * is none. */
static size_t sequence(const uint8_t *p, uint32_t *c)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = p[0] < 0x80             ? 1
               : (p[0] & 0xe0) == 0xc0 ? 2
               : (p[0] & 0xf0) == 0xe0 ? 3
               : (p[0] & 0xf8) == 0xf0 ? 4
                                       : 0;
    *c = n == 1 ? p[0] : p[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        *c = *c << 6 | (p[i] & 0x3fu);
    }
    return n > 0 && *c >= least[n] ? n : 0;
}

/* XML 1.0, production 2 "Char". */
static bool is_char(uint32_t c)
{
    return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c < 0xd800) ||
           (c >= 0xe000 && c < 0xfffe) || (c >= 0x10000 && c < 0x110000);
}

static const char *reference(uint32_t c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\t':
        return "&#9;";
    case '\n':
        return "&#10;";
    case '\r':
        return "&#13;";
    default:
        return NULL;
    }
}

void xml_put(struct buf *b, const char *s)
{
    while (*s) {
        uint32_t c;
        size_t n = sequence((const uint8_t *)s, &c);
        const char *text = n == 0 || !is_char(c) ? "\xef\xbf\xbd" : reference(c);
        if (text)
            buf_puts(b, text);
        else
            buf_put(b, s, n);
        s += n ? n : 1;
    }
}

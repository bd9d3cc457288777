#include "base/utf8.h"

#include <stdbool.h>

static bool is_tail(const char *p)
{
    return ((unsigned char)*p & 0xc0) == 0x80;
}

uint32_t utf8_next(const char **p)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const char *s = *p;
    unsigned char head = (unsigned char)*s;
    if (head < 0x80) {
        *p += head != 0;
        return head;
    }
    unsigned len = head >= 0xf0 && head < 0xf8 ? 4 : head >= 0xe0 ? 3 : 2;
    uint32_t c = head & (0x7fu >> len);
    ++*p;
    if (head < 0xc2 || head >= 0xf5)
        return UINT32_MAX;
    for (unsigned i = 1; i < len; i++) {
        if (!is_tail(s + i))
            return UINT32_MAX;
        c = c << 6 | ((unsigned char)s[i] & 0x3f);
    }
    if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return UINT32_MAX;
    *p = s + len;
    return c;
}

void utf8_put(struct buf *b, const char *text)
{
    const char *good = text, *at = text;
    while (*at) {
        const char *from = at;
        if (utf8_next(&at) != UINT32_MAX)
            continue;
        buf_put(b, good, (size_t)(from - good));
        buf_puts(b, UTF8_REPLACEMENT);
        good = at;
    }
    buf_put(b, good, (size_t)(at - good));
}

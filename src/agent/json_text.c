#include "agent/json_text.h"

#include "agent/jvm_text.h"
#include "base/utf8.h"

#include <math.h>

void json_put_chars(struct buf *b, const jchar *chars, jint n)
{
    buf_putc(b, '"');
    for (jint i = 0; i < n; i++) {
        jchar c = chars[i];
        if (c == '"' || c == '\\')
            buf_printf(b, "\\%c", (char)c);
        else if (c >= ' ' && c <= '~')
            buf_putc(b, (char)c);
        else if (c >= 0xD800 && c <= 0xDFFF && /* half of a surrogate pair is not text */
                 !(c < 0xDC00 && i + 1 < n && chars[i + 1] >= 0xDC00 && chars[i + 1] <= 0xDFFF) &&
                 !(c >= 0xDC00 && i > 0 && chars[i - 1] >= 0xD800 && chars[i - 1] < 0xDC00))
            buf_puts(b, "\\ufffd");
        else
            buf_printf(b, "\\u%04x", c);
    }
    buf_putc(b, '"');
}

void json_put_text(struct buf *b, const char *mutf8)
{
    enum {
        MOST = 1024,
        BEYOND = 0x10000,
        HIGH = 0xD800,
        LOW = 0xDC00,
        BITS = 10,
        LOW_BITS = 0x3FF
    };
    char text[MOST];
    jvm_text(text, sizeof text, mutf8);
    buf_putc(b, '"');
    for (const char *at = text; *at;) {
        uint32_t c = utf8_next(&at);
        if (c == '"' || c == '\\')
            buf_printf(b, "\\%c", (char)c);
        else if (c >= ' ' && c <= '~')
            buf_putc(b, (char)c);
        else if (c >= BEYOND && c != UINT32_MAX)
            buf_printf(b, "\\u%04x\\u%04x", HIGH + ((c - BEYOND) >> BITS),
                       LOW + ((c - BEYOND) & LOW_BITS));
        else
            buf_printf(b, "\\u%04x", c == UINT32_MAX ? 0xFFFDu : c);
    }
    buf_putc(b, '"');
}

void json_put_double(struct buf *b, double v, int digits)
{
    const char *quote = isfinite(v) ? "" : "\"";
    buf_printf(b, "%s%.*g%s", quote, digits, v, quote);
}

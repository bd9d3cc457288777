#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_init(struct buf *b)
{
    memset(b, 0, sizeof *b);
}

void buf_fini(struct buf *b)
{
    free(b->p);
    memset(b, 0, sizeof *b);
}

uint8_t *buf_reserve(struct buf *b, size_t more)
{
    if (b->oom || more > SIZE_MAX / 2 - b->len) {
        b->oom = true;
        return NULL;
    }
    size_t need = b->len + more;
    if (need > b->cap || !b->p) {
        size_t cap = b->cap ? b->cap : 256;
        while (cap < need)
            cap *= 2;
        uint8_t *p = realloc(b->p, cap);
        if (!p) {
            b->oom = true;
            return NULL;
        }
        b->p = p;
        b->cap = cap;
    }
    return b->p + b->len;
}

void buf_puts(struct buf *b, const char *s)
{
    buf_put(b, s, strlen(s));
}

void buf_put_u64(struct buf *b, uint64_t v)
{
    char text[20], *p = text + sizeof text;
    do
        *--p = (char)('0' + v % 10);
    while (v /= 10);
    buf_put(b, p, (size_t)(text + sizeof text - p));
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char small[256];
    int n = vsnprintf(small, sizeof small, fmt, ap);
    va_end(ap);
    if (n < 0)
        return;
    if ((size_t)n < sizeof small) {
        buf_put(b, small, (size_t)n);
        return;
    }
    uint8_t *to = buf_reserve(b, (size_t)n + 1);
    if (!to)
        return;
    va_start(ap, fmt);
    vsnprintf((char *)to, (size_t)n + 1, fmt, ap);
    va_end(ap);
    b->len += (size_t)n;
}

const char *buf_str(struct buf *b)
{
    uint8_t *end = buf_reserve(b, 1);
    if (!end)
        return "";
    *end = 0;
    return (const char *)b->p;
}

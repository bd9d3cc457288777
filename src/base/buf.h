/* buf.h - a growable byte buffer.
 *
 * A failed allocation sets `oom` and makes every later append a no-op, so that a writer checks
 * once, at the end, instead of after each append.      len <= cap */
#ifndef ORCA_BASE_BUF_H
#define ORCA_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct buf {
    uint8_t *p;
    size_t len, cap;
    bool oom;
};

void buf_init(struct buf *b);
void buf_fini(struct buf *b);

static inline void buf_clear(struct buf *b)
{
    b->len = 0;
}

/* Make room for `more` bytes beyond len; the returned place is valid until the next append.
 * NULL when memory is out. */
uint8_t *buf_reserve(struct buf *b, size_t more);

/* Here, so that what is small and of a known size is copied without a call. */
static inline void buf_put(struct buf *b, const void *p, size_t n)
{
    uint8_t *to = !b->oom && b->p && n <= b->cap - b->len ? b->p + b->len : buf_reserve(b, n);
    if (!to || !n)
        return;
    memcpy(to, p, n);
    b->len += n;
}

void buf_puts(struct buf *b, const char *s);
void buf_put_u64(struct buf *b, uint64_t v); /* decimal: many times faster than buf_printf */

static inline void buf_putc(struct buf *b, char c)
{
    if (!b->oom && b->len < b->cap)
        b->p[b->len++] = (uint8_t)c;
    else
        buf_put(b, &c, 1);
}
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The content as a C string (a NUL is kept behind len); "" when memory is out. */
const char *buf_str(struct buf *b);

#endif

/* be.h - big-endian numbers of a class file: a reader that cannot leave its bytes, and writers.
 *
 * A read behind `end` gives 0 and sets `bad`, which stays set, so that a parser checks once after a
 * group of reads.      pos <= end */
#ifndef ORCA_CLASSFILE_BE_H
#define ORCA_CLASSFILE_BE_H

#include "base/buf.h"

struct be_reader {
    const uint8_t *p;
    size_t pos, end;
    bool bad;
};

static inline bool be_skip(struct be_reader *r, size_t n)
{
    if (n > r->end - r->pos) {
        r->bad = true;
        r->pos = r->end;
        return false;
    }
    r->pos += n;
    return true;
}

static inline uint32_t be_get2(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

static inline uint32_t be_get4(const uint8_t *p)
{
    return be_get2(p) << 16 | be_get2(p + 2);
}

static inline uint32_t be_u1(struct be_reader *r)
{
    return be_skip(r, 1) ? r->p[r->pos - 1] : 0;
}

static inline uint32_t be_u2(struct be_reader *r)
{
    return be_skip(r, 2) ? be_get2(r->p + r->pos - 2) : 0;
}

static inline uint32_t be_u4(struct be_reader *r)
{
    return be_skip(r, 4) ? be_get4(r->p + r->pos - 4) : 0;
}

static inline void be_set2(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static inline void be_set4(uint8_t *p, uint32_t v)
{
    be_set2(p, v >> 16);
    be_set2(p + 2, v);
}

static inline void be_put1(struct buf *b, uint32_t v)
{
    buf_putc(b, (char)v);
}

static inline void be_put2(struct buf *b, uint32_t v)
{
    uint8_t x[2];
    be_set2(x, v);
    buf_put(b, x, sizeof x);
}

static inline void be_put4(struct buf *b, uint32_t v)
{
    uint8_t x[4];
    be_set4(x, v);
    buf_put(b, x, sizeof x);
}

#endif

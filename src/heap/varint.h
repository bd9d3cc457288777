/* varint.h - numbers in one to five bytes, differences of both signs; the code of reference lists.
 *
 * A list of references from object v is the differences target - v, which are never 0 (an object's
 * reference to itself keeps nothing alive), and a 0 as its end. */
#ifndef ORCA_HEAP_VARINT_H
#define ORCA_HEAP_VARINT_H

#include <stdint.h>

enum { VARINT_MAX = 5 };

static inline uint8_t *varint_put(uint8_t *p, uint32_t from, uint32_t to)
{
    int64_t d = (int64_t)to - from;
    uint64_t v = d < 0 ? ((uint64_t)-d << 1) - 1 : (uint64_t)d << 1;
    for (; v >= 0x80; v >>= 7)
        *p++ = (uint8_t)(v | 0x80);
    *p++ = (uint8_t)v;
    return p;
}

/* The next target of `from`; false at the end of the list.  Lists are our own: well-formed. */
static inline int varint_next(const uint8_t **p, uint32_t from, uint32_t *to)
{
    const uint8_t *at = *p;
    uint64_t v = *at & 0x7f;
    for (unsigned shift = 7; *at++ & 0x80; shift += 7)
        v |= (uint64_t)(*at & 0x7f) << shift;
    *p = at;
    int64_t d = v & 1 ? -(int64_t)((v + 1) >> 1) : (int64_t)(v >> 1);
    *to = (uint32_t)(from + d);
    return v != 0;
}

#endif

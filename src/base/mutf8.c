#include "base/mutf8.h"

#include <stdint.h>
#include <string.h>

/* A three-byte sequence at p as a code unit, or 0. */
static uint32_t unit3(const unsigned char *p)
{
    if ((p[0] & 0xf0) != 0xe0 || (p[1] & 0xc0) != 0x80 || (p[2] & 0xc0) != 0x80)
        return 0;
    return (uint32_t)(p[0] & 0x0f) << 12 | (uint32_t)(p[1] & 0x3f) << 6 | (p[2] & 0x3f);
}

static size_t put4(unsigned char *out, uint32_t c)
{
    out[0] = (unsigned char)(0xf0 | c >> 18);
    out[1] = (unsigned char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (unsigned char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (unsigned char)(0x80 | (c & 0x3f));
    return 4;
}

size_t mutf8_to_utf8(char *in)
{
    unsigned char *p = (unsigned char *)in, *out = p;
    while (*p) {
        uint32_t u;
        if (*p < 0x80) {
            *out++ = *p++;
        } else if ((*p & 0xe0) == 0xc0 && (p[1] & 0xc0) == 0x80) {
            if (p[0] == 0xc0 && p[1] == 0x80)
                *out++ = '?';
            else {
                *out++ = p[0];
                *out++ = p[1];
            }
            p += 2;
        } else if ((u = unit3(p)) != 0) {
            uint32_t low = u >= 0xd800 && u < 0xdc00 ? unit3(p + 3) : 0;
            if (low >= 0xdc00 && low < 0xe000) {
                unsigned char four[4];
                put4(four, 0x10000 + ((u - 0xd800) << 10) + (low - 0xdc00));
                p += 6;
                memcpy(out, four, 4);
                out += 4;
            } else if (u >= 0xd800 && u < 0xe000) {
                *out++ = '?';
                p += 3;
            } else {
                memmove(out, p, 3);
                out += 3;
                p += 3;
            }
        } else {
            *out++ = '?';
            p++;
        }
    }
    *out = 0;
    return (size_t)(out - (unsigned char *)in);
}

#include "unwind/reader.h"

enum { LEB_SHIFT = 7, LEB_MORE = 0x80, LEB_SIGN = 0x40, BITS = 64 };

static uint64_t read_leb(struct reader *r, uint32_t *shift, uint8_t *last)
{
    uint64_t v = 0;
    *shift = 0;
    do {
        *last = read_u8(r);
        if (*shift >= BITS) {
            r->failed = true;
            return 0;
        }
        v |= (uint64_t)(*last & (LEB_MORE - 1)) << *shift;
        *shift += LEB_SHIFT;
    } while (*last & LEB_MORE);
    return v;
}

uint64_t read_uleb(struct reader *r)
{
    uint8_t only; /* nearly all have one byte */
    if (!r->failed && r->at < r->end && guarded_u8(r->at, &only) && !(only & LEB_MORE)) {
        r->at++;
        return only;
    }
    uint32_t shift;
    uint8_t last;
    return read_leb(r, &shift, &last);
}

int64_t read_sleb(struct reader *r)
{
    uint32_t shift;
    uint8_t last;
    uint64_t v = read_leb(r, &shift, &last);
    if (last & LEB_SIGN && shift < BITS)
        v |= ~(uint64_t)0 << shift;
    return (int64_t)v;
}

uint64_t read_sized(struct reader *r, uint32_t bytes, bool is_signed)
{
    switch (bytes) {
    case 1: {
        uint8_t v = read_u8(r);
        return is_signed ? (uint64_t)(int64_t)(int8_t)v : v;
    }
    case 2: {
        uint16_t v = read_u16(r);
        return is_signed ? (uint64_t)(int64_t)(int16_t)v : v;
    }
    case 4: {
        uint32_t v = read_u32(r);
        return is_signed ? (uint64_t)(int64_t)(int32_t)v : v;
    }
    case 8:
        return read_u64(r);
    default:
        r->failed = true;
        return 0;
    }
}

void read_skip(struct reader *r, uint64_t bytes)
{
    if (r->failed || r->at > r->end || r->end - r->at < bytes)
        r->failed = true;
    else
        r->at += bytes;
}

uint32_t pointer_bytes(uint8_t encoding)
{
    switch (encoding & POINTER_FORM) {
    case POINTER_U2:
    case POINTER_S2:
        return 2;
    case POINTER_U4:
    case POINTER_S4:
        return 4;
    case POINTER_ABSOLUTE:
    case POINTER_U8:
    case POINTER_S8:
        return 8;
    default:
        return 0;
    }
}

uintptr_t read_pointer(struct reader *r, uint8_t encoding, uintptr_t data)
{
    uintptr_t base = 0;
    switch (encoding & (POINTER_RELATIVE | POINTER_INDIRECT)) {
    case POINTER_ABSOLUTE:
        break;
    case POINTER_TO_PLACE:
        base = r->at;
        break;
    case POINTER_TO_DATA:
        base = data;
        break;
    default:
        r->failed = true;
        return 0;
    }
    switch (encoding & POINTER_FORM) {
    case POINTER_ULEB:
        return base + read_uleb(r);
    case POINTER_SLEB:
        return base + (uintptr_t)read_sleb(r);
    default:
        return base + read_sized(r, pointer_bytes(encoding), encoding & POINTER_SIGNED);
    }
}

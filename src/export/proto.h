/* proto.h - protocol buffers being written: fields appended to a buffer.
 *
 * The encoding is that of protobuf.dev, "Encoding": a field is its number and type, then a varint,
 * eight bytes, or a length and that many bytes.  Numbers and types of fields are the caller's to
 * know.  Text must be UTF-8. */
#ifndef ORCA_EXPORT_PROTO_H
#define ORCA_EXPORT_PROTO_H

#include "base/buf.h"

#include <string.h>

enum { PROTO_VARINT, PROTO_FIXED64, PROTO_LENGTH, PROTO_VARINT_MAX = 10 };

/* The varint at p; returns the bytes that it takes. */
static inline size_t proto_put_varint(uint8_t *p, uint64_t v)
{
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        p[n++] = (uint8_t)(v | 0x80);
    p[n++] = (uint8_t)v;
    return n;
}

/* Room for n more bytes; NULL when memory is out. */
static inline uint8_t *proto_room(struct buf *b, size_t n)
{
    return b->cap - b->len >= n && b->p ? b->p + b->len : buf_reserve(b, n);
}

static inline void proto_varint(struct buf *b, uint64_t v)
{
    uint8_t *p = proto_room(b, PROTO_VARINT_MAX);
    if (p)
        b->len += proto_put_varint(p, v);
}

/* uint32, uint64, bool, enum, and int32 and int64 that are not negative. */
static inline void proto_uint(struct buf *b, uint32_t field, uint64_t v)
{
    uint8_t *p = proto_room(b, (size_t)2 * PROTO_VARINT_MAX);
    if (!p)
        return;
    size_t n = proto_put_varint(p, (uint64_t)field << 3 | PROTO_VARINT);
    b->len += n + proto_put_varint(p + n, v);
}

static inline void proto_fixed64(struct buf *b, uint32_t field, uint64_t v)
{
    uint8_t *p = proto_room(b, PROTO_VARINT_MAX + sizeof v);
    if (!p)
        return;
    size_t n = proto_put_varint(p, (uint64_t)field << 3 | PROTO_FIXED64);
    memcpy(p + n, &v, sizeof v); /* hosts are little-endian: x86-64, aarch64 */
    b->len += n + sizeof v;
}

static inline void proto_bytes(struct buf *b, uint32_t field, const void *v, size_t n)
{
    proto_varint(b, (uint64_t)field << 3 | PROTO_LENGTH);
    proto_varint(b, n);
    buf_put(b, v, n);
}

static inline void proto_text(struct buf *b, uint32_t field, const char *v)
{
    proto_bytes(b, field, v, strlen(v));
}

/* A message inside: its fields are what is appended between the two.  The result is for
 * proto_end. */
static inline size_t proto_begin(struct buf *b, uint32_t field)
{
    proto_varint(b, (uint64_t)field << 3 | PROTO_LENGTH);
    buf_putc(b, 0); /* most lengths take one byte */
    return b->len;
}

static inline void proto_end(struct buf *b, size_t begin)
{
    uint8_t length[PROTO_VARINT_MAX];
    if (!proto_room(b, PROTO_VARINT_MAX) || b->oom)
        return;
    size_t len = b->len - begin, n = proto_put_varint(length, len);
    if (n > 1)
        memmove(b->p + begin + n - 1, b->p + begin, len);
    memcpy(b->p + begin - 1, length, n);
    b->len += n - 1;
}

#endif

#include "export/proto.h"

#include "base/util.h"
#include "export/zip.h"
#include "model_files.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static void bytes_are(struct buf *b, const char *expected, size_t n)
{
    cr_assert_eq(b->len, n);
    cr_assert_eq(memcmp(b->p, expected, n), 0);
    buf_fini(b);
}

/* The examples of protobuf.dev, "Encoding". */
Test(proto, as_the_specification_has_it)
{
    struct buf b = {0};
    proto_uint(&b, 1, 150);
    bytes_are(&b, "\x08\x96\x01", 3);
    proto_text(&b, 2, "testing");
    bytes_are(&b, "\x12\x07testing", 9);
    size_t at = proto_begin(&b, 3);
    proto_uint(&b, 1, 150);
    proto_end(&b, at);
    bytes_are(&b, "\x1a\x03\x08\x96\x01", 5);
    proto_fixed64(&b, 1, 0x0102030405060708);
    bytes_are(&b, "\x09\x08\x07\x06\x05\x04\x03\x02\x01", 9);
    proto_uint(&b, 16, 0);
    bytes_are(&b, "\x80\x01\x00", 3);
}

Test(proto, numbers_of_every_length)
{
    for (unsigned bits = 0; bits <= 64; bits++) {
        uint64_t v = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
        struct buf b = {0};
        proto_varint(&b, v);
        cr_assert_eq(b.len, bits ? (bits + 6) / 7 : 1);
        struct fields f = fields_of(b.p, b.len);
        cr_assert_eq(fields_varint(&f), v);
        buf_fini(&b);
    }
}

/* A length that takes more than one byte moves what was written behind it. */
Test(proto, messages_inside_of_messages_of_every_length)
{
    static const size_t lengths[] = {0,   1,   120,   121,   123,   124,    125,
                                     127, 128, 16380, 16383, 16384, 3000000};
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        struct buf b = {0};
        struct field_of outer, inner, text;
        char *s = calloc(lengths[i] + 1, 1);
        memset(s, 'x', lengths[i]);
        size_t at = proto_begin(&b, 1), deep = proto_begin(&b, 2);
        proto_text(&b, 3, s);
        proto_end(&b, deep);
        proto_end(&b, at);
        struct fields f = fields_of(b.p, b.len);
        cr_assert(fields_next(&f, &outer) && outer.number == 1 && f.p == f.end);
        f = fields_of(outer.p, outer.n);
        cr_assert(fields_next(&f, &inner) && inner.number == 2 && f.p == f.end);
        f = fields_of(inner.p, inner.n);
        cr_assert(fields_next(&f, &text) && text.number == 3 && f.p == f.end);
        cr_assert_eq(text.n, lengths[i]);
        cr_assert_eq(memcmp(text.p, s, text.n), 0);
        free(s);
        buf_fini(&b);
    }
}

Test(zip, blocks_are_streams_by_themselves)
{
    struct zip z;
    struct buf to = {0};
    char *text = malloc(1000000);
    uint32_t seed = 1;
    for (int i = 0; i < 1000000; i++)
        text[i] =
            (char)(i < 500000 ? 'a' + i % 7 : (int)((seed = seed * 1664525 + 1013904223) >> 24));
    cr_assert_eq(zip_open(&z, ZIP_ZLIB, 1), 0);
    static const size_t lengths[] = {0, 1, 100, 500000, 1000000, 3};
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        zip_block(&z, text, lengths[i], &to);
        cr_assert_not(to.oom);
        struct buf back = inflated(to.p, to.len);
        cr_assert_eq(back.len, lengths[i]);
        cr_assert(back.len == 0 || memcmp(back.p, text, back.len) == 0);
        buf_fini(&back);
    }
    zip_close(&z);
    buf_fini(&to);
    free(text);
}

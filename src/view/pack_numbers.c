/* pack_numbers.c - columns of whole numbers, byte by byte.
 *
 * The lowest bytes of all numbers stand behind each other, then the next ones, and so on: bytes of
 * one weight are alike, which gzip makes use of, and a reader adds them up without looking where a
 * number ends.  The few numbers that are longer than the others are listed apart. */
#include "base/util.h"
#include "view/pack_parts.h"

enum {
    BYTES_MAX = 8,
    FEW = 128, /* one number in N may be listed separately */
};

static unsigned bytes_of(uint64_t v)
{
    return v ? (71 - (unsigned)__builtin_clzll(v)) / 8 : 0;
}

/* The fewest bytes in which all but a few have room. */
static unsigned choose_bytes(const uint64_t *v, size_t n)
{
    size_t longer = 0, count[BYTES_MAX + 1] = {0};
    for (size_t i = 0; i < n; i++)
        count[bytes_of(v[i])]++;
    for (unsigned b = BYTES_MAX; b > 0; b--) {
        longer += count[b];
        if (longer > n / FEW)
            return b;
    }
    return 0;
}

static void put_plane(const uint64_t *v, size_t n, unsigned bytes, unsigned plane, struct buf *out)
{
    uint8_t *to = buf_reserve(out, n);
    if (!to)
        return;
    for (size_t i = 0; i < n; i++)
        to[i] = bytes_of(v[i]) <= bytes ? (uint8_t)(v[i] >> (8 * plane)) : 0;
    out->len += n;
}

int pack_numbers(struct buf *numbers, size_t begin, struct buf *out)
{
    const uint64_t *v = (const void *)numbers->p;
    size_t n = numbers->len / sizeof *v;
    struct buf places = {0}, values = {0};
    unsigned bytes = choose_bytes(v, n);
    for (uint32_t i = 0; i < n; i++)
        if (bytes_of(v[i]) > bytes) {
            buf_put(&places, &i, sizeof i);
            buf_put(&values, &(double){(double)v[i]}, sizeof(double));
        }
    const uint32_t head[] = {bytes, (uint32_t)(places.len / sizeof(uint32_t))};
    column_put(out, begin, head, sizeof head);
    column_put(out, begin, places.p, places.len);
    column_put(out, begin, values.p, values.len);
    for (unsigned plane = 0; plane < bytes; plane++) {
        column_pad(out, begin);
        put_plane(v, n, bytes, plane, out);
    }
    column_pad(out, begin);
    int rc = numbers->oom || places.oom || values.oom || out->oom ? -ENOMEM : 0;
    buf_fini(&places);
    buf_fini(&values);
    buf_clear(numbers);
    return rc;
}

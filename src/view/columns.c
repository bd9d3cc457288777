/* What the binary answers of view_parts.h are put together with. */
#include "base/util.h"
#include "view/view_parts.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "columns are written as they lie");

int tile_edges(const struct view *v, unsigned level, int64_t i, struct tile_edges *out)
{
    int64_t from, to;
    if (level > VIEW_LEVEL_MAX)
        return -EINVAL;
    int64_t bucket = INT64_C(1) << level;
    if (__builtin_mul_overflow(i, bucket * VIEW_BUCKETS, &from) ||
        __builtin_add_overflow(from, bucket * VIEW_BUCKETS, &to))
        return -EINVAL;
    for (int k = 0; k <= VIEW_BUCKETS; k++)
        out->at[k] = view_moment(v, from + k * bucket);
    return 0;
}

void column_pad(struct buf *out, size_t begin)
{
    static const uint8_t zeros[8];
    size_t over = (out->len - begin) % sizeof zeros;
    if (over)
        buf_put(out, zeros, sizeof zeros - over);
}

void column_put(struct buf *out, size_t begin, const void *p, size_t bytes)
{
    column_pad(out, begin);
    buf_put(out, p, bytes);
}

int answer_end(struct buf *out, size_t begin)
{
    column_pad(out, begin);
    if (!out->oom)
        return 0;
    out->len = begin;
    return -ENOMEM;
}

uint8_t share_255(uint64_t part, uint64_t whole)
{
    if (!part || !whole)
        return 0;
    unsigned __int128 share =
        ((unsigned __int128)part * 510 + whole) / ((unsigned __int128)whole * 2);
    return share < 1 ? 1 : share > 255 ? 255 : (uint8_t)share;
}

/* The ready tiles of a pack that has not the waits. */
#include "base/util.h"
#include "view/pack_parts.h"
#include "view/tile.h"

#include <stdlib.h>

enum {
    FINEST_TILES = 16,
    CELLS_BYTES = VIEW_BUCKETS * 8,
};
#define TILES_BYTES_MAX (UINT64_C(64) << 20) /* of the finest level, if all rows were cells */

/* The tiles of a level that the recording lies in. */
struct tiles {
    unsigned level;
    int64_t first, last;
};

static int64_t tile_of(int64_t ns, unsigned level)
{
    return ns >> (level + (unsigned)__builtin_ctz(VIEW_BUCKETS)); /* rounds down */
}

static struct tiles tiles_of(const struct view *v, unsigned level)
{
    const struct decode_window *w = &v->a->window;
    return (struct tiles){level, tile_of((int64_t)(w->from - v->base), level),
                          tile_of((int64_t)(w->to - v->base), level)};
}

static size_t row_count(const struct view *v)
{
    return v->a->threads.n + v->pools.n + v->groups.n;
}

static unsigned finest(const struct view *v)
{
    uint64_t most = TILES_BYTES_MAX / CELLS_BYTES / max_u64(row_count(v), 1);
    int64_t tiles = (int64_t)min_u64(max_u64(most, 1), FINEST_TILES);
    unsigned level = 0;
    for (; level < VIEW_LEVEL_MAX; level++) {
        struct tiles t = tiles_of(v, level);
        if (t.last - t.first < tiles || (t.first == -1 && t.last == 0))
            break;
    }
    return level;
}

typedef int put_tile(const struct view_row *rows, struct view *v, unsigned level, int64_t i,
                     struct buf *out);

struct entry {
    int64_t i;
    uint32_t level, bytes;
};

/* The answers of all levels, and the table of them. */
static int put_levels(struct view *v, put_tile *put, const struct view_row *rows, struct buf *table,
                      struct buf *answers)
{
    for (unsigned level = finest(v); level <= VIEW_LEVEL_MAX; level++) {
        const struct tiles t = tiles_of(v, level);
        for (int64_t i = t.first; i <= t.last; i++) {
            size_t begin = answers->len;
            TRY(put(rows, v, level, i, answers));
            const struct entry e = {i, level, (uint32_t)(answers->len - begin)};
            if (answers->len - begin > UINT32_MAX)
                return -ENOMEM;
            buf_put(table, &e, sizeof e);
        }
        if (t.first == t.last || (t.first == -1 && t.last == 0))
            break;
    }
    return 0;
}

static int put_shelf(struct view *v, put_tile *put, const struct view_row *rows, struct buf *out)
{
    struct buf table = {0}, answers = {0};
    int rc = put_levels(v, put, rows, &table, &answers);
    pack_head((uint32_t)(table.len / sizeof(struct entry)), out);
    buf_put(out, table.p, table.len);
    buf_put(out, answers.p, answers.len);
    rc = rc < 0 ? rc : table.oom || answers.oom ? -ENOMEM : 0;
    buf_fini(&table);
    buf_fini(&answers);
    return rc;
}

static int put_rows(const struct view_row *rows, struct view *v, unsigned level, int64_t i,
                    struct buf *out)
{
    return tile_put(v, level, i, rows, row_count(v), out);
}

int pack_tiles(const struct packer *p, struct buf *out)
{
    struct view *v = p->v;
    struct view_row *rows = calloc(row_count(v) + 1, sizeof *rows);
    size_t n = 0;
    if (!rows)
        return -ENOMEM;
    for (uint32_t i = 0; i < v->a->threads.n; i++)
        rows[n++] = (struct view_row){'t', i};
    for (uint32_t i = 0; i < v->pools.n; i++)
        rows[n++] = (struct view_row){'p', i};
    for (uint32_t i = 0; i < v->groups.n; i++)
        rows[n++] = (struct view_row){'g', i};
    int rc = put_shelf(v, put_rows, rows, out);
    free(rows);
    return rc;
}

static int put_arrows(const struct view_row *rows, struct view *v, unsigned level, int64_t i,
                      struct buf *out)
{
    UNUSED(rows);
    return view_arrows(v, level, i, out);
}

int pack_arrows(const struct packer *p, struct buf *out)
{
    return put_shelf(p->v, put_arrows, NULL, out);
}

static int put_path(const struct view_row *rows, struct view *v, unsigned level, int64_t i,
                    struct buf *out)
{
    UNUSED(rows);
    return view_path(v, level, i, 0, INT64_MAX, out);
}

int pack_paths(const struct packer *p, struct buf *out)
{
    return put_shelf(p->v, put_path, NULL, out);
}

/* lock_tile.c - the row of a lock in a tile: its cells, or its waits and holds one by one. */
#include "base/util.h"
#include "view/tile.h"

#include <math.h>
#include <string.h>

/* What a cell is, in its order: docs/reference/view-protocol.md. */
struct lock_cell {
    uint8_t held, queued, queue_average, queue_most, waited, waiters_most, nothing, waits;
};

/* Lengths and numbers of threads. */
static uint8_t length_code(double x)
{
    double code = round(16 * log2(1 + x));
    return code > 255 ? 255 : (uint8_t)code;
}

static void put_cells(const struct tile_query *q, const struct lock_line *l, struct buf *out)
{
    const struct cache_key key = {.what = 'l', .number = l->lock, .i = q->i, .level = q->level};
    const struct tile_edges *e = q->edges;
    if (cache_get(&q->v->answers, &key, out))
        return;
    struct lock_cell cells[VIEW_BUCKETS];
    for (unsigned k = 0; k < VIEW_BUCKETS; k++) {
        uint64_t from = e->at[k], to = e->at[k + 1], width = to - from;
        struct lock_sums s;
        lock_line_sums(l, from, to, &s);
        double average = width ? (double)s.area / (double)width : 0;
        cells[k] = (struct lock_cell){
            .held = share_255(s.held, width),
            .queued = share_255(s.busy, width),
            .queue_average =
                (uint8_t)(length_code(average) + (s.area && length_code(average) == 0)),
            .queue_most = length_code(s.queued_most),
            .waited = share_255(s.others_busy, width),
            .waiters_most = length_code(s.others_most),
            .waits = (uint8_t)min_u64(lock_items_touching(&l->waits, from, to), 255)};
    }
    column_put(out, q->begin, cells, sizeof cells);
    cache_put(&q->v->answers, &key, cells, sizeof cells);
}

static void put_items(const struct view *v, const struct lock_line *l, const struct tile_row *row,
                      const struct tile_query *q, struct buf *out)
{
    struct lock_item w[VIEW_EXACT_MAX], h[VIEW_EXACT_MAX];
    uint64_t from = tile_from(q->edges), to = tile_to(q->edges);
    uint32_t n = lock_items_copy(&l->waits, from, to, w, row->n);
    uint32_t m = lock_items_copy(&l->holds, from, to, h, row->m);
    INVARIANT(n == row->n && m == row->m);
    PUT_COLUMN(out, q->begin, double, n, view_time(v, w[k].from));
    PUT_COLUMN(out, q->begin, double, n, view_time(v, w[k].to));
    PUT_COLUMN(out, q->begin, double, m, view_time(v, h[k].from));
    PUT_COLUMN(out, q->begin, double, m, view_time(v, h[k].to));
    PUT_COLUMN(out, q->begin, uint32_t, n, w[k].thread);
    PUT_COLUMN(out, q->begin, uint32_t, n, w[k].index);
    PUT_COLUMN(out, q->begin, uint32_t, m, h[k].thread);
    PUT_COLUMN(out, q->begin, uint8_t, n, w[k].state);
    PUT_COLUMN(out, q->begin, uint8_t, n, w[k].flags | (w[k].queued ? TILE_HELD_UP : 0));
    PUT_COLUMN(out, q->begin, uint8_t, m, h[k].sure);
}

void tile_of_lock(const struct tile_query *q, const struct lock_line *l, struct tile_row *row,
                  struct buf *out)
{
    uint64_t from = tile_from(q->edges), to = tile_to(q->edges);
    uint32_t n = l ? lock_items_touching(&l->waits, from, to) : 0;
    uint32_t m = l ? lock_items_touching(&l->holds, from, to) : 0;
    if (n == 0 && m == 0)
        return;
    if (n <= VIEW_EXACT_MAX && m <= VIEW_EXACT_MAX) {
        row->kind = TILE_LOCK_WAITS;
        row->n = n;
        row->m = m;
        put_items(q->v, l, row, q, out);
        return;
    }
    row->kind = TILE_LOCK_CELLS;
    row->n = VIEW_BUCKETS;
    put_cells(q, l, out);
}

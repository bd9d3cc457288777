/* tile.h - one row of a tile: which of its kinds it is, and its columns. */
#ifndef ORCA_VIEW_TILE_H
#define ORCA_VIEW_TILE_H

#include "view/view_parts.h"

enum tile_kind {
    TILE_WAITS, /* of a thread, one by one */
    TILE_CELLS, /* of a thread or a set of threads */
    TILE_LOCK_WAITS,
    TILE_LOCK_CELLS,
    TILE_NOTHING,
};

/* Beside INTERVAL_*: of a lock's waits, it stands in the queue; of a thread's, it is a park in
 * which the thread is HELD_UP. */
enum { TILE_HELD_UP = 64 };

/* In a tile's head. */
struct tile_row {
    uint32_t kind;   /* enum tile_kind */
    uint32_t n, m;   /* entries of its columns */
    uint32_t offset; /* of the first of them, in the answer */
};

/* What a row is asked of. */
struct tile_query {
    struct view *v;
    unsigned level;
    int64_t i;
    const struct tile_edges *edges;
    size_t begin; /* of the answer */
};

/* Append a row's columns; `row` comes with offset filled in.  -ENOMEM. */
int tile_of_thread(const struct tile_query *q, uint32_t thread, struct tile_row *row,
                   struct buf *out);
int tile_of_set(const struct tile_query *q, const struct view_set *set, char letter, uint32_t index,
                struct tile_row *row, struct buf *out);

/* Append a lock's columns; l: its history, NULL: there is none. */
void tile_of_lock(const struct tile_query *q, const struct lock_line *l, struct tile_row *row,
                  struct buf *out);

/* view_tile of any number of rows, of which at most VIEW_ROWS_MAX are locks. */
int tile_put(struct view *v, unsigned level, int64_t i, const struct view_row *rows, size_t n_rows,
             struct buf *out);

#endif

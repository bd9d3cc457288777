/* view_read.h - binary answers of the view protocol (docs/reference/view-protocol.md) read back,
 * and views of simulated programs to ask.
 *
 * Every column's place is worked out here from the document; what does not fit, or is left over,
 * stops the test. */
#ifndef ORCA_TESTS_VIEW_READ_H
#define ORCA_TESTS_VIEW_READ_H

#include "checks.h"
#include "view/view_parts.h"

/* --- a view of a simulated program ------------------------------------------------------------ */

struct viewed {
    struct sim s;
    struct view *v;
    const struct analysis *a;
    bool owned; /* what threads park for are locks that have owners */
};

void viewed_begin(struct viewed *w, const struct sim_shape *shape);

/* A relay instead: one of eight threads runs and wakes another one before it parks, a number of
 * times; all arrows and the path are in that.  Of even seeds what they park for is a lock with an
 * owner. */
void viewed_relay(struct viewed *w, uint64_t seed, uint32_t passes);
void viewed_end(struct viewed *w);

/* A tile: any, but mostly one that something lies in. */
struct some_tile {
    unsigned level;
    int64_t i;
    uint64_t from, to, width; /* the times it is of */
};
struct some_tile viewed_tile(struct viewed *w);

/* The tile of a level in which a moment lies. */
struct some_tile tile_at(const struct view *v, unsigned level, uint64_t time);

/* ns after the beginning, as answers say it. */
static inline double after(const struct view *v, uint64_t time)
{
    return (double)(int64_t)(time - v->a->trace->header.start_mono);
}

/* --- answers ---------------------------------------------------------------------------------- */

struct read_cell {
    uint8_t v[14];
};

struct read_lock_cell {
    uint8_t v[8];
};

struct read_row {
    uint32_t kind, n, m;
    const double *start, *end, *wake, *from, *to;
    const uint32_t *index, *context, *waker, *thread, *owner, *peer;
    const uint8_t *state, *flags, *how, *sure, *what;
    const struct read_cell *cells;
    const struct read_lock_cell *lock_cells;
};

struct read_tile {
    uint32_t n;
    struct read_row rows[VIEW_ROWS_MAX];
};

struct read_arrows {
    uint32_t kind, n, left_out;
    const double *from_time, *to_time, *wait_ns;
    const uint32_t *from, *to, *index, *count, *slot;
    const uint8_t *how;
};

struct read_path {
    uint32_t kind, n;
    const double *from, *to;
    const uint32_t *thread, *lock, *stack;
    const uint8_t *kinds, *state, *share;
};

/* The columns point into the answer. */
void read_tile(struct read_tile *out, const struct buf *answer);
void read_arrows(struct read_arrows *out, const struct buf *answer);
void read_path(struct read_path *out, const struct buf *answer);

#endif

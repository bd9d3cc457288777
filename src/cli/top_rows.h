/* top_rows.h - the rows of orca top: which threads and locks, in what order, and their cells.
 *
 * The screen and the batch output have the same columns, each from one table. */
#ifndef ORCA_CLI_TOP_ROWS_H
#define ORCA_CLI_TOP_ROWS_H

#include "cli/table.h"
#include "cli/top_names.h"
#include "cli/top_source.h"

struct top_view {
    struct top_source *source;
    bool utf8;      /* the locale's encoding */
    bool locks;     /* the locks' table has the keys, not the threads' */
    size_t sort[2]; /* column, of threads and of locks */
    bool reverse[2];
    bool no_virtual; /* leave virtual threads out */
    char filter[64]; /* part of a name; "" all */
    uint64_t window, delay;
    bool paused;
};

struct top_rows {
    struct live_thread **threads;
    struct live_lock **locks;
    size_t n_threads, n_locks;
};

/* Select and sort, after a refresh.  The rows of before are given back.  -ENOMEM. */
int top_rows_make(struct top_rows *r, const struct top_view *v);
void top_rows_fini(struct top_rows *r);

struct top_column {
    struct table_column table; /* for the batch output */
    unsigned width;            /* on the screen at least; */
    unsigned weight;           /* its part of what is left over */
    unsigned from;             /* shown on screens at least so wide */
    bool bar;                  /* the cell is a percentage, drawn as a bar on the screen */
    int (*compare)(const void *a, const void *b); /* pointers to rows; NULL: not to sort by */
    void (*cell)(const struct top_view *v, const void *row, char *out);
};

/* [0] of threads, [1] of locks. */
struct top_columns {
    const struct top_column *v;
    size_t n;
};
extern const struct top_columns top_columns[2];

/* The next column to sort by, of those on a screen of this width; step 1 or -1. */
void top_rows_sort_by(struct top_view *v, int step, unsigned width);

#endif

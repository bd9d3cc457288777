/* table.h - tables as wide as the terminal, else of 100 columns.
 *
 * Rows are added cell by cell, then printed: each column as wide as its widest cell, two blanks
 * between columns (one, where two do not fit), numbers at the right.  One column may give way when
 * the line would still be too long: its cells are cut in the middle, never wrapped. */
#ifndef ORCA_CLI_TABLE_H
#define ORCA_CLI_TABLE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { TABLE_COLUMNS = 14 };

enum table_align { TABLE_LEFT, TABLE_RIGHT };

struct table_column {
    const char *title;
    enum table_align align;
    bool gives_way; /* at most one of the columns */
};

struct table {
    const struct table_column *columns;
    size_t n_columns;
    struct buf cells; /* texts, each with its NUL */
    size_t n_cells;
    size_t width[TABLE_COLUMNS];
    size_t all; /* columns of a line at most */
};

void table_init(struct table *t, const struct table_column *columns, size_t n);
void table_fini(struct table *t);

/* The next cell of the row; text fit for the terminal. */
void table_put(struct table *t, const char *text);

/* The width that the column that gives way can have, if no cell of the others is wider than now,
 * and if it wants `want`. */
size_t table_room(const struct table *t, size_t want);

/* Print title line and rows. */
void table_print(const struct table *t, FILE *to);

#endif

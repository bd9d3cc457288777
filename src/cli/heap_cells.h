/* heap_cells.h - what all parts of `orca heap` are written with: cells of tables, values in
 * JSON. */
#ifndef ORCA_CLI_HEAP_CELLS_H
#define ORCA_CLI_HEAP_CELLS_H

#include "cli/heap_report.h"
#include "cli/table.h"

#include <jansson.h>

/* A cell. */
void heap_put_name(const struct heap_report *h, struct table *t, const char *name);
void heap_put_id(struct table *t, uint64_t id);
void heap_put_count(struct table *t, uint64_t n); /* 1,234; "-" for 0 */

/* Two cells: the id, and what it is. */
void heap_put_object(struct heap_report *h, struct table *t, uint32_t object);

/* Print a table and release it. */
void heap_put_table(struct table *t);

/* A path as a table, of a long one both ends. */
void heap_put_path(struct heap_report *h, const struct heap_path *path, bool indented);

void heap_heading(const char *text);

/* Of an incomplete dump (heap/missing.h): "At least 12", "at least 12"; else "12". */
const char *heap_at_least(const struct dump *d, bool begins);

/* Whether a section that only a whole dump can fill is there; if not, its heading, and why. */
bool heap_is_known(const struct heap_report *h, const char *heading);

/* The same of one that only contents can fill, which XML does not have. */
bool heap_has_contents(const struct heap_report *h, const char *heading);

/* "... and 12 more", when not all are shown. */
void heap_more(uint64_t all, size_t shown);

/* Text fit for the terminal, in b, which the caller releases. */
const char *heap_printable(const struct heap_report *h, const char *text, struct buf *b);

/* The name of a class; "?" for DUMP_NONE. */
const char *heap_class_name(const struct dump *d, uint32_t class_number);

json_t *heap_cell_json_number(uint64_t v);
json_t *heap_cell_json_text(const char *s);

/* Ids are texts: not every reader of JSON has 64-bit numbers. */
json_t *heap_cell_json_id(uint64_t id);

/* What is retained; null where that is not known. */
json_t *heap_cell_json_retained(const struct heap_report *h, uint64_t bytes);

/* Id, what it is, and what it retains. */
json_t *heap_cell_json_object(struct heap_report *h, uint32_t x);

/* The same in two steps, for many of them: what an object is, is best read in the file's order. */
json_t *heap_cell_json_undescribed(const struct heap_report *h, uint32_t x);
void heap_cell_json_describe(struct heap_report *h, uint32_t x, json_t *j);

/* A list of such, root first, each but the last with what of it refers to the next. */
json_t *heap_cell_json_path(struct heap_report *h, const struct heap_path *path);

/* A list of such lists: all but the first. */
json_t *heap_cell_json_other_paths(struct heap_report *h, const struct heap_paths *paths);

#endif

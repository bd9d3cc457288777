/* page_cells.h - what the tables of a report are made of: cells and headings. */
#ifndef ORCA_CLI_PAGE_CELLS_H
#define ORCA_CLI_PAGE_CELLS_H

#include "cli/page.h"
#include "cli/table.h"

enum { THREAD_WIDTH = 30, PLACE_WIDTH = 66 };

/* A count; "-" for 0. */
void cell_count(struct table *t, uint64_t n);

/* "3.9 MB"; "-" for 0. */
void cell_bytes(struct table *t, uint64_t bytes);

/* A time; "-" where there is none to show. */
void cell_time(struct table *t, uint64_t ns, bool known);

/* "12.3 %"; "-" of nothing. */
void cell_percent(struct table *t, uint64_t part, uint64_t whole);

/* "12 %"; "-" of nothing. */
void cell_share(struct table *t, uint64_t part, uint64_t whole);

/* A thread's name, at most THREAD_WIDTH wide. */
void cell_thread(struct table *t, const struct page *p, uint32_t thread);

/* "orderbook.OrderBook.rebalance (OrderBook.java:88)", at most `width` wide: packages give way
 * first. */
void page_place(const struct page *p, struct place at, size_t width, char out[PAGE_NAME]);

/* "Threads" or "Threads: 10 of 23, most blocked time first" */
void page_list_heading(const struct page *p, const char *what, size_t n, const char *order);

/* Print a table and release it. */
void page_table(const struct page *p, struct table *t);

/* An empty section, where it was asked for: the whole report has said so above. */
void page_nothing(const struct page *p, const char *text);

#endif

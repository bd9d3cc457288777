/* page.h - where a report's text goes, and how it may look there.
 *
 *   report_text.c    header, sections      report_screen.c   findings, the first screen
 *                                          report_flow.c     interactions, path, deadlocks, bottles
 *   report_tables.c  the tables            report_queues.c   locks, one by one
 *   report_hot.c     samples               report_alloc.c    allocations
 *   report_gc.c      collections           report_calls.c    calls of tracked methods
 *   report_io.c      input and output      class_names.c     short class names */
#ifndef ORCA_CLI_PAGE_H
#define ORCA_CLI_PAGE_H

#include "base/human.h"
#include "conclude/report.h"

#include <stdio.h>

struct page {
    const struct report *r;
    FILE *to;
    size_t width; /* columns: the terminal's, else PAGE_WIDTH */
    bool color;   /* a terminal, and NO_COLOR is not set */
    bool utf8;    /* the locale's encoding */
    bool *begun;  /* whether anything stands on it yet */
    bool live;    /* orca top's: nothing to type that reads a file */
    bool marks;   /* a line in a style begins with a byte, its number: for who draws it */
    size_t lines; /* of the first screen at most; 0: what a report has */
};

enum { PAGE_WIDTH = 100, PAGE_NAME = 512, PAGE_BAR = 64 };

enum page_style { STYLE_PLAIN, STYLE_BOLD, STYLE_WARNING, STYLE_PROBLEM, STYLE_FAINT };

/* "||||||    ": the part of a whole, as a bar of at most ten characters, in eighths of one where
 * the terminal can. */
void page_bar(const struct page *p, uint64_t part, uint64_t whole, char out[PAGE_BAR]);

/* Values over time, as a line of `width` characters (at most 64), the highest one full; empty where
 * there is none. */
void page_spark(const struct page *p, const uint64_t *v, size_t n, size_t width,
                char out[4 * PAGE_BAR]);

/* Names, fit for the page; in a buffer of PAGE_NAME bytes. */
void page_thread(const struct page *p, uint32_t thread, char *out);
void page_class(const struct page *p, const char *signature, char *out);

/* "orderbook.OrderBook (object 2)"; "object 7852E922" where only its hash is known. */
void page_lock(const struct page *p, lock_id lock, char *out);

/* A column that has `width` on a page of PAGE_WIDTH: wider on a wider one. */
static inline size_t page_room(const struct page *p, size_t width)
{
    size_t all = width + p->width;
    return all > PAGE_WIDTH + width * 3 / 4 ? all - PAGE_WIDTH : width * 3 / 4;
}

/* A line in a style; a heading with a blank line before it, unless it is the page's first line. */
void page_line(const struct page *p, enum page_style style, const char *text);
void page_line_of(const struct page *p, enum page_style style, const char *first, const char *text);
void page_heading(const struct page *p, const char *text);

/* Text broken at blanks into lines of the page's width, those after the first indented. */
void page_wrapped(const struct page *p, enum page_style style, const char *first, const char *text,
                  size_t indent);

/* report_screen.c.  A finding by its number, from 1; see: with what to type for more. */
void page_card(const struct page *p, unsigned number, bool see);

/* The same with all its facts and stacks. */
void page_finding(const struct page *p, unsigned number);

/* The first screen, below a head of that number of lines. */
void page_screen(const struct page *p, size_t head);

/* report_tables.c: one section each. */
void page_threads(const struct page *p);
void page_monitors(const struct page *p);
void page_sites(const struct page *p);
void page_owners(const struct page *p);

/* report_flow.c */
void page_interactions(const struct page *p);
void page_path(const struct page *p);
/* At most that number of its frames. */
void page_stack(const struct page *p, stack_id stack, uint32_t most);
void page_deadlocks(const struct page *p);
void page_orders(const struct page *p);
void page_bottles(const struct page *p);

/* report_hot.c */
void page_hot(const struct page *p);

/* report_io.c */
void page_io(const struct page *p);

/* report_gc.c; page_put_gc: the line of the whole report, nothing if there were none. */
void page_gc(const struct page *p);
void page_put_gc(const struct page *p, struct buf *b);

/* report_alloc.c */
void page_allocs(const struct page *p);

/* report_calls.c */
void page_calls(const struct page *p);

/* report_queues.c */
void page_queues(const struct page *p);
void page_pools(const struct page *p);

/* How many lines this prints. */
size_t page_lines(const struct page *p, void (*print)(const struct page *p, unsigned n),
                  unsigned n);

/* The sections asked for, the first screen, or one finding, on the standard output.  -EIO when that
 * cannot be written. */
int report_text(const struct report *r, unsigned finding, struct err *err);

#endif

/* page.h - where a report's text goes, and how it may look there. */
#ifndef ORCA_CLI_PAGE_H
#define ORCA_CLI_PAGE_H

#include "base/human.h"
#include "cli/report.h"

#include <stdio.h>

struct page {
    const struct report *r;
    FILE *to;
    bool color;  /* a terminal, and NO_COLOR is not set */
    bool utf8;   /* the locale's encoding */
    bool *begun; /* whether anything stands on it yet */
};

enum { PAGE_WIDTH = 100, PAGE_NAME = 512 };

enum page_style { STYLE_PLAIN, STYLE_BOLD, STYLE_WARNING, STYLE_PROBLEM, STYLE_FAINT };

/* Three digits, and the unit that makes them one to three before the point: 7.80 us, 45.6 ms, 1.23
 * s; from a minute on 12 m 05 s, from an hour on 3 h 10 m; "-" for `none`. */
struct human page_time(const struct page *p, uint64_t ns);

/* Names, fit for the page; in a buffer of PAGE_NAME bytes. */
void page_thread(const struct page *p, uint32_t thread, char *out);
void page_class(const struct page *p, const char *signature, char *out);

/* A line in a style; a heading with a blank line before it, unless it is the page's first line. */
void page_line(const struct page *p, enum page_style style, const char *text);
void page_heading(const struct page *p, const char *text);

/* Text broken at blanks into lines of PAGE_WIDTH, those after the first indented. */
void page_wrapped(const struct page *p, enum page_style style, const char *first, const char *text,
                  size_t indent);

/* report_tables.c: one section each. */
void page_threads(const struct page *p);
void page_monitors(const struct page *p);
void page_sites(const struct page *p);
void page_owners(const struct page *p);

#endif

/* html.h - a page with data in it: what `orca html` writes.
 *
 * The page has one line `<!--orca-pack-->`, where the data goes as a script element of a type that
 * no browser runs, id `orca-pack`: base64 of gzip (docs/reference/view-protocol.md, "Pack").  The
 * data is compressed and written piece by piece, so that it is in memory once. */
#ifndef ORCA_EXPORT_HTML_H
#define ORCA_EXPORT_HTML_H

#include "export/out.h"

struct html_page {
    const char *page; /* the viewer's */
    size_t page_len;
    const char *title; /* any bytes; NULL: the page's own */
    const void *pack;
    size_t pack_len;
    void (*progress)(void *ctx, uint64_t done, uint64_t total); /* bytes; may be NULL */
    void *ctx;
};

/* -EINVAL: the page does not have its marker once; -ENOMEM.  Failed writes are in o->rc. */
int html_write(const struct html_page *p, struct out *o, struct err *err);

#endif

/* page.h - the viewer's pages, as they are in this binary.
 *
 * Their scripts and styles are inline, and each forbids all others by their hashes
 * (viewer/build.mjs), which also work from a disk. */
#ifndef ORCA_SERVE_PAGE_H
#define ORCA_SERVE_PAGE_H

#include "serve/routes.h"

/* A trace; which one, the page finds out.  Or the heap dump, where that is what the server was
 * begun with. */
void page_view(struct core *c, const struct route_hit *hit, struct answer *a);

/* The same with the key in it, for who has brought a token by a form. */
void page_enter(struct core *c, const char *key, struct answer *a);

/* JVMs to attach to, recent traces and heap dumps. */
void page_start(struct core *c, const struct route_hit *hit, struct answer *a);

/* A heap dump; which one, the page finds out. */
void page_heap(struct core *c, const struct route_hit *hit, struct answer *a);

#endif

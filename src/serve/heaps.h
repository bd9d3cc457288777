/* heaps.h - the heap dumps that the server has open, each with a number K.
 *
 * Each is read once, by a thread of its own (view/heap_view.h), and stays until the end.  All
 * functions: any thread. */
#ifndef ORCA_SERVE_HEAPS_H
#define ORCA_SERVE_HEAPS_H

#include "base/err.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_view;

enum { HEAPS_MAX = 4 }; /* each may take as much memory as its file is large */

struct heaps {
    pthread_mutex_t lock;           /* of v and n */
    struct heap_view *v[HEAPS_MAX]; /* K is the place plus 1 */
    size_t n;
    void (*changed)(void *ctx); /* a reading has gone on */
    void *ctx;
};

int heaps_init(struct heaps *h, void (*changed)(void *ctx), void *ctx, struct err *err);

/* True: one of them is being read, without a wait for its end: it, and these, must stay. */
bool heaps_fini(struct heaps *h);

/* Takes the dump over, also on failure, and begins to read it.  *k: its number; a file that is open
 * already keeps the one that it has.  -EMFILE, -EAGAIN (no thread). */
int heaps_add(struct heaps *h, struct heap_view *view, uint32_t *k, struct err *err);

/* NULL: there is no such dump.  Lives until heaps_fini. */
struct heap_view *heaps_get(struct heaps *h, uint32_t k);
size_t heaps_count(struct heaps *h);

#endif

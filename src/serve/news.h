/* news.h - what /api/live reports: traces that have a new generation or advanced, traces that are
 * gone, a list of JVMs that has changed, a heap dump whose reading has advanced.
 *
 * Nothing is queued: a reader has a note of what it has seen of each, and gets the present state
 * when that differs.  So a slow client costs no memory, and misses only what is over. A news_reader
 * belongs to one thread; the traces do not. */
#ifndef ORCA_SERVE_NEWS_H
#define ORCA_SERVE_NEWS_H

#include "base/buf.h"
#include "serve/traces.h"

struct news_reader {
    uint64_t seen[TRACES_MAX]; /* revisions */
    bool gone[TRACES_MAX];     /* sent */
    uint64_t start;            /* stamp of the list of JVMs */
    uint64_t heap;             /* and of the heap dump */
};

/* Append {text, done, total} of a trace that is being read for the first time, else null. */
void news_put_phase(const struct trace_news *n, struct buf *out);

/* Append what is new as server-sent events; nothing when there is nothing. */
void news_put(struct news_reader *r, struct traces *t, uint64_t start, struct buf *out);

/* The same of the heap dump, of which `stamp` is another one when its reading has gone on; 0: there
 * is none. */
void news_put_heap(struct news_reader *r, uint64_t stamp, struct buf *out);

#endif

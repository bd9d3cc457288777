/* lock_lines.h - the histories of locks (analyze/lock_line.h) that were asked for.
 *
 * A history is made when it is first asked for, for all locks of a question in one pass over the
 * waits, and kept while there is room; who uses it holds it. */
#ifndef ORCA_VIEW_LOCK_LINES_H
#define ORCA_VIEW_LOCK_LINES_H

#include "analyze/lock_line.h"

#include <pthread.h>

enum {
    LOCK_LINES_BYTES = 64 << 20, /* kept at most, beside those of the latest question */
};

struct kept_line;

struct lock_lines {
    pthread_mutex_t guard;
    struct kept_line *newest; /* by use */
    uint64_t questions;
};

void lock_lines_init(struct lock_lines *c);
void lock_lines_fini(struct lock_lines *c);

/* The histories of n locks, in `out`, NULL where no lock has this id; to be given back with
 * lock_lines_release.  -ENOMEM; then there are none. */
int lock_lines_get(struct lock_lines *c, const struct analysis *a, const uint32_t *locks, size_t n,
                   struct lock_line **out);
void lock_lines_release(struct lock_lines *c, struct lock_line **lines, size_t n);

#endif

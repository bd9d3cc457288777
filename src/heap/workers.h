/* workers.h - the same function on a few threads, each taking the next piece of work when it is
 * done with one.
 *
 * The pieces are numbered 0..n-1 and given out in this order; a worker also has a number, by which
 * it finds its own data.  The caller is one of the workers. */
#ifndef ORCA_HEAP_WORKERS_H
#define ORCA_HEAP_WORKERS_H

#include <stdatomic.h>
#include <stdint.h>

enum { WORKERS_MAX = 16 };

/* 0, or a negative errno, which ends the work of all.  Threads: called by several at once. */
typedef int (*workers_fn)(void *ctx, unsigned worker, uint64_t piece);

/* As many workers as make sense here: the processors, at most WORKERS_MAX. */
unsigned workers_default(void);

/* Do pieces 0..n-1 with `count` workers (1..WORKERS_MAX); where a thread cannot be made there are
 * fewer.  The first error of a piece, or 0. */
int workers_run(unsigned count, uint64_t n, workers_fn fn, void *ctx);

#endif

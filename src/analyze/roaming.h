/* roaming.h - the ops of threads whose events may be in any stream: virtual threads, and threads
 * without a definition.  Collected stream by stream, grouped by thread and sorted by time once all
 * are there. 36 bytes an op. */
#ifndef ORCA_ANALYZE_ROAMING_H
#define ORCA_ANALYZE_ROAMING_H

#include "analyze/track.h"
#include "base/err.h"

struct roaming {
    struct buf ops;   /* struct op [], as they came */
    struct gaps gaps; /* of every stream that carried such threads */
    uint32_t *order;  /* indices into ops, by thread, then by time */
    uint32_t *first;  /* [n_threads + 1]: where each thread's part of `order` begins */
    size_t n_threads;
};

void roaming_fini(struct roaming *r);

static inline void roaming_add(struct roaming *r, const struct op *op)
{
    buf_put(&r->ops, op, sizeof *op);
}

/* Bring them in order; thread indices are below n_threads.  Call once, after the last
 * roaming_add. */
int roaming_sort(struct roaming *r, size_t n_threads, struct err *err);

/* Replay a thread's ops into its track, which is initialized here.  False when it has none. */
bool roaming_replay(struct roaming *r, uint32_t thread, struct track *tr,
                    const struct track_env *env);

#endif

/* view_parts.h - what the files of this folder know of a view.
 *
 * Times in answers are ns after the recording began (trace header), as doubles; inside, everything
 * is in ns of CLOCK_MONOTONIC, as in the analysis.
 *
 * What is made on demand has its own guard: marks are published whole by an atomic pointer
 * (occupancy.h), the rest lives in caches with a mutex of their own, which is never held while an
 * answer is worked out. */
#ifndef ORCA_VIEW_VIEW_PARTS_H
#define ORCA_VIEW_VIEW_PARTS_H

#include "conclude/rules.h"
#include "view/cache.h"
#include "view/lock_lines.h"
#include "view/occupancy.h"
#include "view/path_tile.h"
#include "view/view.h"

#include <pthread.h>
#include <stdatomic.h>

/* Sets of threads that are rows: pools, thread groups.  Every thread but the unknown one is in
 * exactly one. */
struct view_set {
    const char **names; /* [n] */
    uint32_t n;
    uint32_t *of;      /* [threads.n]: index of the thread's; of[0] is 0 and says nothing */
    uint32_t *first;   /* [n + 1]: into members */
    uint32_t *members; /* thread indices, ascending in each set */
    uint32_t *peak;    /* [n]: the greatest number of its threads that lived at once, at least 1 */
};

/* What the JSON answers keep.  Under the lock: making the findings, and what else makes or sorts
 * something of the analysis' own. */
struct view_json {
    pthread_mutex_t lock;
    atomic_bool made;              /* released when the findings are there */
    struct rule_finding *findings; /* the analysis' arena */
    size_t n_findings;
    bool has_orders; /* the rules looked for orders of locks */
};

/* What marks.h lists.  Made under view_json.lock. */
struct marks {
    struct buf all; /* struct thread_mark [n], by their beginning */
    uint64_t *ends; /* [n]: the greatest end of a mark and those before it; NULL: not made */
    size_t n;
};
void marks_fini(struct marks *m);

struct view {
    struct analysis *a;
    struct view_about about; /* its texts are copies in `arena` */
    struct arena arena;
    uint64_t base; /* when the recording began */
    struct view_set pools, groups;
    struct occupancy occupancy;
    struct cache answers;  /* finished parts of answers that cost much */
    uint32_t coarse_waits; /* in a tile: the bundles of all such tiles are made by view_prepare */
    struct path_cache paths;
    struct view_json json;
    struct lock_lines locks;
    struct marks marks;
};

/* "worker-#", "main", ... */
const struct view_set *view_pools(const struct view *v);
const struct view_set *view_groups(const struct view *v);

static inline size_t view_set_size(const struct view_set *s, uint32_t i)
{
    return s->first[i + 1] - s->first[i];
}

/* A moment as answers give it, and back; outside of the range, the nearest moment inside. */
static inline double view_time(const struct view *v, uint64_t time)
{
    return (double)(int64_t)(time - v->base);
}

static inline uint64_t view_moment(const struct view *v, int64_t ns)
{
    __int128 time = (__int128)v->base + ns;
    return time < 0 ? 0 : time > UINT64_MAX ? UINT64_MAX : (uint64_t)time;
}

/* --- tiles ------------------------------------------------------------------------------------ */

/* The edges of a tile's buckets; those that lie before the clock's beginning are 0. */
struct tile_edges {
    uint64_t at[VIEW_BUCKETS + 1];
};

/* -EINVAL: no such tile. */
int tile_edges(const struct view *v, unsigned level, int64_t i, struct tile_edges *out);

static inline uint64_t tile_from(const struct tile_edges *e)
{
    return e->at[0];
}

static inline uint64_t tile_to(const struct tile_edges *e)
{
    return e->at[VIEW_BUCKETS];
}

/* The first words of answers. */
enum { TILE_MAGIC = 0x314c544f, ARROWS_MAGIC = 0x3152414f, PATH_MAGIC = 0x3141504f };

/* --- columns of an answer --------------------------------------------------------------------- */

/* Append a column to the answer that begins at out->p[begin]: at a multiple of 8 bytes from
 * there. */
void column_put(struct buf *out, size_t begin, const void *p, size_t bytes);

/* The same of values that are worked out one by one: an expression in k. */
#define PUT_COLUMN(out, begin, type, n, value)                                                     \
    do {                                                                                           \
        column_pad(out, begin);                                                                    \
        for (uint32_t k = 0; k < (n); k++)                                                         \
            buf_put(out, &(type){value}, sizeof(type));                                            \
    } while (0)

/* Fill the answer up to a multiple of 8 bytes. */
void column_pad(struct buf *out, size_t begin);

/* 0; -ENOMEM, and what was appended is gone, when memory ran out since `begin`. */
int answer_end(struct buf *out, size_t begin);

/* n * part / whole in 255ths; what is greater than nothing is at least 1. */
uint8_t share_255(uint64_t part, uint64_t whole);

/* Append the path to the program's end as an answer of kind 0, with all segments. */
void view_put_whole_path(const struct view *v, struct buf *out);

#endif

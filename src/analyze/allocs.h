/* allocs.h - what the threads allocated, and when it was freed: object_alloc, object_sample,
 * object_allocs, object_free.
 *
 * By allocating thread, in the order of time.  Class, call site and size, which many allocations
 * share, are kept once (struct alloc_context), so an allocation takes 16 bytes.
 *
 *     exact    each object (groups alloc and frees), or objects counted where they happened,
 *              in batches (alloc alone): these have no number, so no end
 *     sampled  one object of so many bytes (group sampled-alloc), with what it stands for
 *
 * Sums are exact where anything exact was recorded, else they are estimates; what is not freed
 * beside counted objects is an estimate.  An object belongs to
 * the moment of its allocation; a batch is spread evenly over its time, so that ranges that adjoin
 * add up. */
#ifndef ORCA_ANALYZE_ALLOCS_H
#define ORCA_ANALYZE_ALLOCS_H

#include "analyze/run.h"
#include "analyze/selection.h"
#include "analyze/whole_gc.h"
#include "base/buf.h"
#include "base/map.h"
#include "format/event.h"

enum alloc_source { ALLOC_EXACT, ALLOC_SAMPLED, ALLOC_SOURCES };

/* One object of it. */
struct alloc_context {
    class_id class_;
    stack_id stack;       /* where it was allocated; 0: not recorded */
    uint64_t bytes;       /* of a sampled one: that it stands for; of a batch: 0 */
    uint64_t thousandths; /* of an object, likewise: weight / size */
};

struct alloc {
    uint64_t time;
    uint32_t context;
};

struct alloc_batch {
    uint64_t time, since; /* since <= time */
    uint64_t bytes, count;
    uint32_t context;
};

struct alloc_free {
    uint64_t time;
    uint64_t since; /* when it was allocated */
    uint32_t context;
    uint32_t collections; /* pauses that it outlived */
};

/* Of one allocating thread. */
struct alloc_line {
    struct run allocs[ALLOC_SOURCES]; /* struct alloc */
    struct run frees[ALLOC_SOURCES];  /* struct alloc_free: all; those of sampled objects */
    struct run batches;               /* struct alloc_batch */
    uint64_t longest_batch;           /* ns */
};

struct allocs {
    struct arena arena;
    struct alloc_line *lines; /* [n_lines], by index into struct thread_set; [0]: unknown ones */
    size_t n_lines;
    struct buf contexts;       /* struct alloc_context [] */
    struct map context_of;     /* hash of a context -> 1 + index */
    uint64_t n[ALLOC_SOURCES]; /* allocations by one */
    uint64_t n_frees, n_batches;
    struct buf pause_ends; /* uint64_t [], in order */
    struct buf wholes;     /* struct whole_gc [] */
};

void allocs_init(struct allocs *s);
void allocs_fini(struct allocs *s);

/* Whether an event is one of those above. */
bool allocs_takes(unsigned kind);

/* Keep one; `thread`: whose allocation it is.  -ENOMEM. */
int allocs_add(struct allocs *s, uint32_t thread, const struct event *e);

/* After the last one: puts those that came late into their places, and keeps what is needed of the
 * collector's pauses and cycles.  -ENOMEM. */
int allocs_finish(struct allocs *s, const struct collection_source *gc);

static inline bool allocs_any(const struct allocs *s)
{
    return s->n[ALLOC_EXACT] || s->n[ALLOC_SAMPLED] || s->n_batches;
}

/* What sums of allocations are made of. */
static inline enum alloc_source allocs_source(const struct allocs *s)
{
    return s->n[ALLOC_SAMPLED] && !s->n[ALLOC_EXACT] && !s->n_batches ? ALLOC_SAMPLED : ALLOC_EXACT;
}

/* What is made of ends - freed, live: counted allocations have none, so the samples beside them
 * decide. */
static inline enum alloc_source allocs_ends_source(const struct allocs *s)
{
    return s->n[ALLOC_SAMPLED] && !s->n[ALLOC_EXACT] ? ALLOC_SAMPLED : ALLOC_EXACT;
}

/* Whether ends are recorded. */
static inline bool allocs_have_ends(const struct allocs *s)
{
    return s->n[ALLOC_EXACT] || s->n[ALLOC_SAMPLED];
}

static inline const struct alloc_context *alloc_context(const struct allocs *s, uint32_t i)
{
    return &((const struct alloc_context *)(const void *)s->contexts.p)[i];
}

static inline size_t allocs_contexts(const struct allocs *s)
{
    return s->contexts.len / sizeof(struct alloc_context);
}

static inline const struct alloc *alloc_at(const struct run *r, uint32_t i)
{
    return run_at(r, sizeof(struct alloc), i);
}

static inline const struct alloc_free *alloc_free_at(const struct run *r, uint32_t i)
{
    return run_at(r, sizeof(struct alloc_free), i);
}

static inline const struct alloc_batch *alloc_batch_at(const struct run *r, uint32_t i)
{
    return run_at(r, sizeof(struct alloc_batch), i);
}

/* How many of a list of allocations are before a moment. */
uint32_t allocs_before(const struct run *r, uint64_t time);

/* The first batch that may have a part behind a moment. */
uint32_t allocs_batch_from(const struct alloc_line *l, uint64_t time);

/* The part of an amount of a batch that lies before a moment. */
uint64_t alloc_batch_share(const struct alloc_batch *b, uint64_t amount, uint64_t time);

/* The collector's pauses that had ended at a moment; those that ended before it. */
size_t allocs_epoch(const struct allocs *s, uint64_t time);
size_t allocs_pauses_before(const struct allocs *s, uint64_t time);

/* Add to buckets[n], which divide a stretch evenly, the bytes that a thread allocated in each. */
void allocs_rate(const struct allocs *s, uint32_t thread, uint64_t from, uint64_t to,
                 uint64_t *buckets, size_t n);

#endif

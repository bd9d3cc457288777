/* gaps.h - stretches of time in which events of a stream are missing: a damaged chunk, ring bytes
 * that no block holds, events that the recorder lost.  An interval that spans one has lost its true
 * end, and is not closed with a later event. */
#ifndef ORCA_ANALYZE_GAPS_H
#define ORCA_ANALYZE_GAPS_H

#include "base/buf.h"
#include "format/trace.h"

#include <stdbool.h>

struct gap {
    uint64_t from, to; /* ns; the missing events lie between, both ends included */
};

struct gaps {
    struct buf v; /* struct gap [] */
    bool unsorted;
};

void gaps_fini(struct gaps *g);
void gaps_add(struct gaps *g, uint64_t from, uint64_t to);

static inline size_t gaps_count(const struct gaps *g)
{
    return g->v.len / sizeof(struct gap);
}

/* Whether a gap lies between two events of the stream that has these gaps. */
bool gaps_between(struct gaps *g, uint64_t start, uint64_t end);

/* Join gaps that overlap, for gaps_overlap. */
void gaps_merge(struct gaps *g);

/* Whether a gap overlaps the time between two events, of a thread that may have been in any
 * stream. */
bool gaps_overlap(struct gaps *g, uint64_t start, uint64_t end);

/* Add the places of `stream` where a block does not go on where the one before it ended. */
void gaps_find(struct gaps *g, const struct trace *t, size_t stream);

/* Add the blocks of `stream` that lie in the chunk at this offset of the file. */
void gaps_add_chunk(struct gaps *g, const struct trace *t, size_t stream, uint64_t offset);

#endif

/* pack_parts.h - the sections of a pack (docs/reference/view-protocol.md, Pack).
 *
 * Each is appended to a buffer at a multiple of 8 bytes from the pack's beginning.  What refers to
 * something that is not there (a damaged trace) refers to entry 0, which says nothing. */
#ifndef ORCA_VIEW_PACK_PARTS_H
#define ORCA_VIEW_PACK_PARTS_H

#include "view/view_parts.h"

struct packer {
    struct view *v;
    bool exact;    /* else tiles */
    uint64_t most; /* entries of a section of waits, of samples, ... */
    bool samples;  /* there is room for them, */
    bool allocs;   /* and for allocations */
    struct err *err;
};

/* 0, or a negative errno.  Memory that runs out may be left to the buffer. */
typedef int pack_section(const struct packer *p, struct buf *out);

/* pack_numbers.c: append a column of numbers (uint64_t [], less than 2^53), which are cleared.
 * -ENOMEM. */
int pack_numbers(struct buf *numbers, size_t begin, struct buf *out);

/* pack_waits.c */
pack_section pack_waits, pack_wakes, pack_regains, pack_holds, pack_acts;

/* pack_tables.c */
pack_section pack_contexts, pack_locks, pack_sites, pack_stacks, pack_names;

/* pack_samples.c */
pack_section pack_samples, pack_executed, pack_owned;

/* pack_allocs.c */
pack_section pack_allocs;

/* pack_marks.c */
pack_section pack_marks, pack_starts, pack_still;

/* pack_tiles.c */
pack_section pack_tiles, pack_arrows, pack_paths;

/* Of `n` entries one that there is. */
static inline uint32_t pack_known(uint32_t id, size_t n)
{
    return id < n ? id : 0;
}

/* The number of entries that a section begins with. */
static inline void pack_head(uint32_t n, struct buf *out)
{
    const uint32_t head[] = {n, 0};
    buf_put(out, head, sizeof head);
}

#endif

/* alloc_cells.h - the objects of one thread that agree in everything recorded of them: class,
 * place, size, and how many of the collector's pauses had ended when they were allocated.
 *
 *     kept at a moment = allocated before it - found freed before it
 *
 * An end names all of that, so objects need not be found by their numbers.  An object that was
 * allocated before the file began is in no cell.  Where events are missing, ends without a
 * beginning are ignored: a count never falls below 0. */
#ifndef ORCA_ANALYZE_ALLOC_CELLS_H
#define ORCA_ANALYZE_ALLOC_CELLS_H

#include "analyze/analysis.h"

struct alloc_cell {
    uint32_t context;
    uint32_t epoch : 30; /* pauses that had ended */
    uint32_t found : 1;  /* early enough for the last collection of the whole heap (whole_gc.h) */
    uint32_t in_range : 1;
    /* Objects: those allocated before the range's end, those of them freed before its begin, and
     * before its end. */
    uint64_t allocated, freed_by_from, freed_by_to;
};

struct alloc_cells {
    struct buf v; /* struct alloc_cell [] */
    struct map places;
};

void alloc_cells_init(struct alloc_cells *c);
void alloc_cells_fini(struct alloc_cells *c);

/* Those of a thread, of a range, instead of what was there.  -ENOMEM. */
int alloc_cells_make(struct alloc_cells *c, const struct analysis *a, uint32_t thread,
                     uint64_t from, uint64_t to);

static inline size_t alloc_cells_count(const struct alloc_cells *c)
{
    return c->v.len / sizeof(struct alloc_cell);
}

static inline const struct alloc_cell *alloc_cell_at(const struct alloc_cells *c, size_t i)
{
    return &((const struct alloc_cell *)(const void *)c->v.p)[i];
}

static inline uint64_t alloc_cell_kept(const struct alloc_cell *c)
{
    return c->allocated > c->freed_by_to ? c->allocated - c->freed_by_to : 0;
}

/* Kept when the range began. */
static inline uint64_t alloc_cell_was_kept(const struct alloc_cell *c)
{
    return !c->in_range && c->allocated > c->freed_by_from ? c->allocated - c->freed_by_from : 0;
}

#endif

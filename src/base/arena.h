/* arena.h - memory that is freed all at once: one per loaded trace, one per report.
 *
 * arena_alloc returns zeroed memory, aligned to 8, or NULL when memory (or `limit`) is out. */
#ifndef ORCA_BASE_ARENA_H
#define ORCA_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct arena_block;

struct arena {
    struct arena_block *blocks;
    size_t used;  /* bytes handed out */
    size_t limit; /* 0: none */
};

void arena_init(struct arena *a, size_t limit);
void arena_fini(struct arena *a);
void *arena_alloc(struct arena *a, size_t n);

/* n bytes of p and a NUL behind them. */
char *arena_strndup(struct arena *a, const char *p, size_t n);

#endif

/* run.h - a list that grows at its end, in segments that never move.
 *
 * The first segment has 8 entries, each next one twice as many up to 1,024: a thread of a few waits
 * costs little, and a thread of millions wastes nothing. */
#ifndef ORCA_ANALYZE_RUN_H
#define ORCA_ANALYZE_RUN_H

#include "base/arena.h"

#include <stdint.h>

enum {
    RUN_FIRST_BITS = 3,
    RUN_STEPS = 7, /* segments that double */
    RUN_LARGE = 1 << (RUN_FIRST_BITS + RUN_STEPS),
    RUN_SMALL = RUN_LARGE - (1 << RUN_FIRST_BITS), /* entries of the doubling ones together */
};

struct run {
    uint8_t **segments;
    uint32_t n; /* entries */
    uint32_t n_segments, cap_segments;
};

/* Where entry i is: its segment, and its place there. */
static inline uint32_t run_place(uint32_t i, uint32_t *place)
{
    if (i >= RUN_SMALL) {
        *place = (i - RUN_SMALL) % RUN_LARGE;
        return RUN_STEPS + (i - RUN_SMALL) / RUN_LARGE;
    }
    uint32_t k = 31 - (uint32_t)__builtin_clz((i >> RUN_FIRST_BITS) + 1);
    *place = i - (((1u << k) - 1) << RUN_FIRST_BITS);
    return k;
}

static inline void *run_at(const struct run *r, size_t size, uint32_t i)
{
    uint32_t place, segment = run_place(i, &place);
    return r->segments[segment] + place * size;
}

/* Entry i and how many stand behind each other from there on, itself included. */
static inline void *run_stretch(const struct run *r, size_t size, uint32_t i, uint32_t *n)
{
    uint32_t place, segment = run_place(i, &place);
    uint32_t room = segment < RUN_STEPS ? 1u << (segment + RUN_FIRST_BITS) : (uint32_t)RUN_LARGE;
    *n = room - place < r->n - i ? room - place : r->n - i;
    return r->segments[segment] + place * size;
}

/* Room for one more entry at the end, zeroed; NULL: memory is out. */
void *run_push(struct run *r, struct arena *a, size_t size);

#endif

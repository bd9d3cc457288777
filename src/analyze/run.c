#include "analyze/run.h"

#include <string.h>

static int add_segment(struct run *r, struct arena *a, size_t size, uint32_t segment)
{
    if (segment == r->cap_segments) {
        uint32_t cap = r->cap_segments ? r->cap_segments * 2 : 2;
        uint8_t **segments = arena_alloc(a, cap * sizeof *segments);
        if (!segments)
            return -1;
        if (segment)
            memcpy(segments, r->segments, segment * sizeof *segments);
        r->segments = segments;
        r->cap_segments = cap;
    }
    size_t entries = segment < RUN_STEPS ? (size_t)1 << (segment + RUN_FIRST_BITS) : RUN_LARGE;
    r->segments[segment] = arena_alloc(a, entries * size);
    if (!r->segments[segment])
        return -1;
    r->n_segments++;
    return 0;
}

void *run_push(struct run *r, struct arena *a, size_t size)
{
    uint32_t place, segment = run_place(r->n, &place);
    if (r->n == UINT32_MAX || (segment == r->n_segments && add_segment(r, a, size, segment) < 0))
        return NULL;
    r->n++;
    return r->segments[segment] + place * size;
}

/* selection.h - the part of a recording that a question is about: a range of time, a set of
 * threads, one lock. */
#ifndef ORCA_ANALYZE_SELECTION_H
#define ORCA_ANALYZE_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct selection {
    uint64_t from, to;   /* ns of CLOCK_MONOTONIC; UINT64_MAX: to the end */
    const bool *threads; /* [n_threads], by index; NULL: all */
    size_t n_threads;
    uint32_t lock; /* id; 0: all */
};

static inline struct selection selection_all(void)
{
    return (struct selection){0, UINT64_MAX, NULL, 0, 0};
}

static inline bool selection_has(const struct selection *s, uint32_t thread)
{
    return !s->threads || (thread < s->n_threads && s->threads[thread]);
}

/* Cut a stretch to the range; false: it lies outside.  A stretch of no length belongs to the moment
 * where it is. */
static inline bool selection_clip(const struct selection *s, uint64_t *start, uint64_t *end)
{
    if (*start == *end)
        return *start >= s->from && *start < s->to;
    if (*end <= s->from || *start >= s->to)
        return false;
    *start = *start < s->from ? s->from : *start;
    *end = *end > s->to ? s->to : *end;
    return true;
}

#endif

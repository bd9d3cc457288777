/* util.h - the few macros every file may use.
 *
 * INVARIANT is for Orca's own logic only: it stops debug, test and sanitizer builds, and is a no-op
 * in the release agent, which must never take its host down.  Bytes from outside are checked by
 * `if`. */
#ifndef ORCA_BASE_UTIL_H
#define ORCA_BASE_UTIL_H

#include <stddef.h>
#include <stdint.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define ALIGN_UP(x, a) (((x) + (a)-1) & ~((a)-1))
#define UNUSED(x) ((void)(x))

#ifdef ORCA_DEBUG
#include <stdlib.h>
#define INVARIANT(cond)                                                                            \
    do {                                                                                           \
        if (!(cond))                                                                               \
            abort();                                                                               \
    } while (0)
#else
#define INVARIANT(cond) ((void)sizeof(cond))
#endif

/* Moves the variable `i` to the first place of [i, end) where `holds`, a condition on i, is false;
 * it is true everywhere before and nowhere after. To `end` if it is true everywhere. */
#define BISECT(i, end, holds)                                                                      \
    do {                                                                                           \
        __typeof__(i) low_ = (i), high_ = (end);                                                   \
        while (low_ < high_) {                                                                     \
            (i) = low_ + (high_ - low_) / 2;                                                       \
            if (holds)                                                                             \
                low_ = (i) + 1;                                                                    \
            else                                                                                   \
                high_ = (i);                                                                       \
        }                                                                                          \
        (i) = low_;                                                                                \
    } while (0)

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline uint32_t max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* How much of [from, to) is in [low, high). */
static inline uint64_t common_u64(uint64_t from, uint64_t to, uint64_t low, uint64_t high)
{
    from = max_u64(from, low);
    to = min_u64(to, high);
    return from < to ? to - from : 0;
}

#endif

/* stack.h - the words of a thread's stack that a walk may read, and where a walk stands in it.
 *
 *     low <= sp of the frame walked <= high          (low: where the walk began)
 * Words below `low` are not read: they belong to no frame. */
#ifndef ORCA_HOTSPOT_STACK_H
#define ORCA_HOTSPOT_STACK_H

#include "base/guarded.h"

struct stack {
    uintptr_t low, high;
    bool frozen; /* no stack, but a part of one in the heap: links are relative (chunk_x86_64.h) */
};

/* The registers of a frame as it was left for its callee, or interrupted. */
struct cursor {
    uintptr_t pc;
    uintptr_t sp; /* without what the callee's arguments added ("unextended") */
    uintptr_t fp; /* rbp; means something only to the interpreter and to entry frames */
};

static inline bool stack_has(const struct stack *s, uintptr_t at)
{
    return at >= s->low && at < s->high && at % sizeof(uintptr_t) == 0;
}

static inline bool stack_word(const struct stack *s, uintptr_t at, uintptr_t *v)
{
    return stack_has(s, at) && guarded_word(at, v);
}

/* The word `words` above (below: negative) an address. */
static inline bool stack_slot(const struct stack *s, uintptr_t at, int32_t words, uintptr_t *v)
{
    return stack_word(s, at + (uintptr_t)((intptr_t)words * (intptr_t)sizeof(uintptr_t)), v);
}

/* Words that a frozen frame keeps relative to a place, where running code has an address. */
static inline uintptr_t stack_place(const struct stack *s, uintptr_t from, uintptr_t v)
{
    return s->frozen ? from + v * sizeof(uintptr_t) : v;
}

/* The caller's rbp, as it stands `words` above `at`. */
static inline bool stack_link(const struct stack *s, uintptr_t at, int32_t words, uintptr_t *fp)
{
    uintptr_t v;
    if (!stack_slot(s, at, words, &v))
        return false;
    *fp = stack_place(s, at + (uintptr_t)((intptr_t)words * (intptr_t)sizeof(uintptr_t)), v);
    return true;
}

#endif

/* trail.h - what a walk has read: while all of that reads the same, a walk would find the same.
 *
 * A walk from the anchor (walk() without ucontext) follows words of the thread's stack, and takes
 * what stands behind them from
 *     nmethods      told by place, compilation and method, in a block that is in use (pc_cache.h)
 *     methods       of interpreted frames, told by their stamp (method_text.h)
 *     the JVM's stubs and the interpreter, which stay
 *     stack chunks  in the heap, of the virtual thread that is mounted (chunk_x86_64.h): words, too
 * So comparing the words, and looking whether these are still the same, is as good as walking, and
 * takes a fraction of its time.  What follows other things (frames being replaced, an upcall, an
 * innermost frame that is interpreted) leaves no trail.
 *
 * Words are found by their distance from the fixed end of their part: the stack's from the anchor,
 * a chunk's from its end.  So one trail does for all threads with the same frames.
 *
 * No lock, no allocation.  Of the calling thread only. */
#ifndef ORCA_HOTSPOT_TRAIL_H
#define ORCA_HOTSPOT_TRAIL_H

#include "hotspot/walker.h"

#include <stdbool.h>

enum { TRAIL_WORDS = 384, TRAIL_CODES = 128, TRAIL_METHODS = 64, TRAIL_PARTS = 4 };

struct trail_word {
    uintptr_t value;
    uintptr_t at; /* bytes above the reference point of its part; wraps around below it */
};

struct trail_code {
    uintptr_t blob, method;
    uint32_t compile_id;
};

struct trail_method {
    uintptr_t method;
    uint64_t stamp;
};

/* Where a thread has left Java. */
struct trail_anchor {
    uintptr_t sp, pc;
};

/* The stack, then chunks with frames, the youngest first.  chunk_bytes: of its frames. */
struct trail_part {
    uint32_t end_words, chunk_bytes; /* end_words: of all words, those up to its end */
};

/* walk.trail: it is made while a walk goes on. */
struct trail {
    struct trail_anchor from;
    bool broken; /* there is none, or there is no room */
    uint32_t n_words, n_codes, n_methods, n_parts;
    uintptr_t base; /* of the part that is being read */
    struct trail_part parts[TRAIL_PARTS];
    struct trail_word words[TRAIL_WORDS];
    struct trail_code codes[TRAIL_CODES];
    struct trail_method methods[TRAIL_METHODS];
};

/* One that is kept: a head, then its words, codes and methods. */
struct trail_kept {
    struct trail_anchor from;
    uint32_t n_words, n_codes, n_methods, n_parts;
    struct trail_part parts[TRAIL_PARTS];
};

/* How many bytes it takes to keep it; 0: there is none. */
size_t trail_bytes(const struct trail *t);

/* Keep it in that number of bytes, at a multiple of 8. */
void trail_keep(const struct trail *t, struct trail_kept *to);

/* The anchor of the calling thread; false: it has none, or cannot be walked now. */
bool trail_here(const struct walker *w, uintptr_t java_thread, struct trail_anchor *out);

/* Whether a walk of the calling thread, whose anchor is that of the trail, would read the same. */
bool trail_holds(const struct walker *w, uintptr_t java_thread, const struct trail_kept *t);

/* --- the walk's side: NULL: nobody wants it --------------------------------------------------- */

static inline void trail_begin(struct trail *t, uintptr_t sp, uintptr_t pc)
{
    if (!t)
        return;
    t->from = (struct trail_anchor){sp, pc};
    t->broken = false;
    t->n_words = t->n_codes = t->n_methods = 0;
    t->n_parts = 1;
    t->base = sp;
}

static inline void trail_break(struct trail *t)
{
    if (t)
        t->broken = true;
}

/* From here on words of a chunk are read, whose frames begin and end there. */
static inline void trail_put_chunk(struct trail *t, uintptr_t begin, uintptr_t end)
{
    if (!t)
        return;
    if (t->n_parts == TRAIL_PARTS) {
        t->broken = true;
        return;
    }
    t->parts[t->n_parts - 1].end_words = t->n_words;
    t->parts[t->n_parts++].chunk_bytes = (uint32_t)(end - begin);
    t->base = end;
}

static inline void trail_put_word(struct trail *t, uintptr_t at, uintptr_t value)
{
    if (!t)
        return;
    if (t->n_words < TRAIL_WORDS)
        t->words[t->n_words++] = (struct trail_word){value, at - t->base};
    else
        t->broken = true;
}

/* Each once: threads come back to the same code. */
static inline void trail_put_code(struct trail *t, uintptr_t blob, uintptr_t method, uint32_t id)
{
    if (!t)
        return;
    for (uint32_t i = t->n_codes; i > 0; i--)
        if (t->codes[i - 1].blob == blob)
            return;
    if (t->n_codes < TRAIL_CODES)
        t->codes[t->n_codes++] = (struct trail_code){blob, method, id};
    else
        t->broken = true;
}

/* stamp 0: it is not known what method that is. */
static inline void trail_put_method(struct trail *t, uintptr_t method, uint64_t stamp)
{
    if (!t)
        return;
    for (uint32_t i = t->n_methods; i > 0 && stamp; i--)
        if (t->methods[i - 1].method == method && t->methods[i - 1].stamp == stamp)
            return;
    if (stamp && t->n_methods < TRAIL_METHODS)
        t->methods[t->n_methods++] = (struct trail_method){method, stamp};
    else
        t->broken = true;
}

#endif

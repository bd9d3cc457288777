#include "hotspot/trail.h"

#include "base/guarded.h"
#include "base/util.h"
#include "hotspot/chunk_x86_64.h"
#include "hotspot/method_cache.h"
#include "hotspot/methods.h"
#include "hotspot/nmethod.h"
#include "hotspot/run.h"

#include <string.h>

_Static_assert(sizeof(struct trail_kept) % sizeof(uint64_t) == 0 &&
                   sizeof(struct trail_code) % sizeof(uint64_t) == 0,
               "parts follow each other");

size_t trail_bytes(const struct trail *t)
{
    return t->broken || !t->n_words
               ? 0
               : sizeof(struct trail_kept) + t->n_words * sizeof *t->words +
                     t->n_codes * sizeof *t->codes + t->n_methods * sizeof *t->methods;
}

void trail_keep(const struct trail *t, struct trail_kept *to)
{
    *to = (struct trail_kept){t->from, t->n_words, t->n_codes, t->n_methods, t->n_parts, {{0, 0}}};
    memcpy(to->parts, t->parts, sizeof to->parts);
    to->parts[t->n_parts - 1].end_words = t->n_words;
    struct trail_word *words = (struct trail_word *)(to + 1);
    struct trail_code *codes = (struct trail_code *)(words + t->n_words);
    struct trail_method *methods = (struct trail_method *)(codes + t->n_codes);
    memcpy(words, t->words, t->n_words * sizeof *words);
    memcpy(codes, t->codes, t->n_codes * sizeof *codes);
    memcpy(methods, t->methods, t->n_methods * sizeof *methods);
}

static const struct trail_word *words_of(const struct trail_kept *t)
{
    return (const struct trail_word *)(t + 1);
}

/* Nearly always all are the same, so it is looked only now and then whether that is over. */
static bool part_holds(const struct trail_kept *t, uint32_t part, uintptr_t base)
{
    enum { AT_ONCE = 8 };
    const struct trail_word *w = words_of(t) + (part ? t->parts[part - 1].end_words : 0);
    const struct trail_word *end = words_of(t) + t->parts[part].end_words;
    uintptr_t now = 0, other = 0;
    while (w < end && !other)
        for (const struct trail_word *next = end - w > AT_ONCE ? w + AT_ONCE : end; w < next; w++)
            other |= guarded_word(base + w->at, &now) ? now ^ w->value : 1;
    return !other;
}

/* The same chunks with the same frames, and no more. */
static bool chunks_hold(const struct walker *w, uintptr_t java_thread, const struct trail_kept *t)
{
    const struct chunks *known = walker_chunks(w);
    struct chunk_walk walk;
    struct stack s;
    struct cursor youngest;
    if (!known || !chunks_begin(&walk, known, java_thread))
        return false;
    for (uint32_t i = 1; i < t->n_parts; i++)
        if (chunks_next(&walk, &s, &youngest) != 1 ||
            s.high - youngest.sp != t->parts[i].chunk_bytes || !part_holds(t, i, s.high))
            return false;
    return chunks_next(&walk, &s, &youngest) == 0 && chunks_end(&walk);
}

static bool methods_hold(const struct walker *w, const struct trail_method *methods, uint32_t n)
{
    const struct layout *l = walker_layout(w);
    struct method_known k;
    for (uint32_t i = 0; i < n; i++) {
        bool known = method_cache_find(walker_methods(w), l, methods[i].method, &k);
        if ((known ? k.stamp : method_stamp_at(l, methods[i].method)) != methods[i].stamp)
            return false;
    }
    return true;
}

bool trail_holds(const struct walker *w, uintptr_t java_thread, const struct trail_kept *t)
{
    const struct layout *l = walker_layout(w);
    const struct trail_code *codes = (const struct trail_code *)(words_of(t) + t->n_words);
    if (!part_holds(t, 0, t->from.sp))
        return false;
    if (t->n_parts > 1 && !chunks_hold(w, java_thread, t))
        return false;
    for (uint32_t i = 0; i < t->n_codes; i++)
        if (!nmethod_is(l, codes[i].blob, codes[i].method, codes[i].compile_id))
            return false;
    return methods_hold(w, (const struct trail_method *)(codes + t->n_codes), t->n_methods);
}

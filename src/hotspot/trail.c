#include "hotspot/trail.h"

#include "base/guarded.h"
#include "base/util.h"
#include "hotspot/methods.h"
#include "hotspot/nmethod.h"

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
    *to = (struct trail_kept){t->from, t->n_words, t->n_codes, t->n_methods,
                              (uint32_t)trail_bytes(t)};
    struct trail_word *words = (struct trail_word *)(to + 1);
    struct trail_code *codes = (struct trail_code *)(words + t->n_words);
    struct trail_method *methods = (struct trail_method *)(codes + t->n_codes);
    memcpy(words, t->words, t->n_words * sizeof *words);
    memcpy(codes, t->codes, t->n_codes * sizeof *codes);
    memcpy(methods, t->methods, t->n_methods * sizeof *methods);
}

bool trail_holds(const struct walker *w, const struct trail_kept *t)
{
    const struct layout *l = walker_layout(w);
    const struct trail_word *words = (const struct trail_word *)(t + 1);
    const struct trail_code *codes = (const struct trail_code *)(words + t->n_words);
    const struct trail_method *methods = (const struct trail_method *)(codes + t->n_codes);
    uintptr_t now;
    for (uint32_t i = 0; i < t->n_words; i++)
        if (!guarded_word(t->from.sp + words[i].at, &now) || now != words[i].value)
            return false;
    for (uint32_t i = 0; i < t->n_codes; i++)
        if (!nmethod_is(l, codes[i].blob, codes[i].method, codes[i].compile_id))
            return false;
    for (uint32_t i = 0; i < t->n_methods; i++)
        if (method_stamp_at(l, methods[i].method) != methods[i].stamp)
            return false;
    return true;
}

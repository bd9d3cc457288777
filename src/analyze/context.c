#include "analyze/context.h"

#include "base/err.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

enum { CONTEXTS_LEAST = 1024 };

int contexts_init(struct contexts *c)
{
    *c = (struct contexts){.n = 1, .cap = CONTEXTS_LEAST, .n_slots = (size_t)2 * CONTEXTS_LEAST};
    c->v = malloc(c->cap * sizeof *c->v);
    c->slots = calloc(c->n_slots, sizeof *c->slots);
    if (!c->v || !c->slots) {
        contexts_fini(c);
        return -ENOMEM;
    }
    c->v[0] = (struct context){0};
    return 0;
}

void contexts_fini(struct contexts *c)
{
    free(c->v);
    free(c->slots);
    memset(c, 0, sizeof *c);
}

/* Multiplicative hashing (Knuth), one round for each pair of words; the upper half is the better
 * one. */
uint64_t context_hash(const struct context *x)
{
    const uint64_t k = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t h = ((uint64_t)x->lock.v << 32 | x->other) * k;
    h = (h ^ h >> 29) + ((uint64_t)x->stack.v << 32 | x->owner_stack.v);
    h *= k;
    h = (h ^ h >> 29) + ((uint64_t)x->mode << 16 | (uint64_t)x->flags << 8 | x->what);
    h *= k;
    return h ^ h >> 32;
}

static bool same(const struct context *a, const struct context *b)
{
    return a->lock.v == b->lock.v && a->other == b->other && a->stack.v == b->stack.v &&
           a->owner_stack.v == b->owner_stack.v && a->what == b->what && a->flags == b->flags &&
           a->mode == b->mode;
}

static int grow(struct contexts *c)
{
    if (c->n == UINT32_MAX / 2)
        return -ENOMEM;
    size_t n_slots = c->n_slots * 2;
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    struct context *v = slots ? realloc(c->v, n_slots / 2 * sizeof *v) : NULL;
    if (!v) {
        free(slots);
        return -ENOMEM;
    }
    free(c->slots);
    c->v = v;
    c->cap = (uint32_t)(n_slots / 2);
    c->slots = slots;
    c->n_slots = n_slots;
    for (uint32_t i = 1; i < c->n; i++) {
        size_t at = context_hash(&c->v[i]) & (n_slots - 1);
        while (slots[at])
            at = (at + 1) & (n_slots - 1);
        slots[at] = i;
    }
    return 0;
}

uint32_t contexts_add(struct contexts *c, const struct context *x, uint64_t hash)
{
    for (size_t at = hash & (c->n_slots - 1);; at = (at + 1) & (c->n_slots - 1)) {
        uint32_t i = c->slots[at];
        if (i && same(&c->v[i], x))
            return i;
        if (i)
            continue;
        if (c->n == c->cap) {
            if (grow(c) < 0)
                return 0;
            return contexts_add(c, x, hash);
        }
        c->v[c->n] = *x;
        return c->slots[at] = c->n++;
    }
}

#include "unwind/rules.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { INDEX_BITS = 12, ENTRIES = 1 << INDEX_BITS, WORDS = 3 };

_Static_assert(sizeof(struct rule) <= WORDS * sizeof(uint64_t), "a rule fits");

/* Words, so that each is read and written whole. */
struct slot {
    _Atomic uint64_t sequence;
    _Atomic uint64_t place;
    _Atomic uint64_t changes;
    _Atomic uint64_t words[WORDS];
};

struct rules {
    struct slot slots[ENTRIES];
};

int rules_new(struct rules **out)
{
    *out = calloc(1, sizeof **out);
    return *out ? 0 : -ENOMEM;
}

void rules_free(struct rules *r)
{
    free(r);
}

static uint64_t get(const _Atomic uint64_t *w)
{
    return atomic_load_explicit(w, memory_order_relaxed);
}

static void put(_Atomic uint64_t *w, uint64_t v)
{
    atomic_store_explicit(w, v, memory_order_relaxed);
}

static size_t index_of(uintptr_t place)
{
    return (place * 0x9e3779b97f4a7c15u) >> (64 - INDEX_BITS);
}

bool rules_find(const struct rules *r, uintptr_t place, uint64_t changes, struct rule *out)
{
    const struct slot *s = &r->slots[index_of(place)];
    /* acquire: pairs with the release at the end of rules_put */
    uint64_t before = atomic_load_explicit(&s->sequence, memory_order_acquire);
    if (before & 1 || get(&s->place) != place || get(&s->changes) != changes)
        return false;
    uint64_t words[WORDS];
    for (int i = 0; i < WORDS; i++)
        words[i] = get(&s->words[i]);
    /* acquire: what was read comes before this second look; pairs with the fence in rules_put */
    atomic_thread_fence(memory_order_acquire);
    if (get(&s->sequence) != before)
        return false;
    memcpy(out, words, sizeof *out);
    return out->kind != 0;
}

void rules_put(struct rules *r, uintptr_t place, uint64_t changes, const struct rule *rule)
{
    struct slot *s = &r->slots[index_of(place)];
    uint64_t before = get(&s->sequence), words[WORDS] = {0};
    if (before & 1 ||
        !atomic_compare_exchange_strong_explicit(&s->sequence, &before, before + 1,
                                                 memory_order_relaxed, memory_order_relaxed))
        return;
    memcpy(words, rule, sizeof *rule);
    /* release: nobody sees what follows without the odd number; pairs with the fence in find */
    atomic_thread_fence(memory_order_release);
    put(&s->place, place);
    put(&s->changes, changes);
    for (int i = 0; i < WORDS; i++)
        put(&s->words[i], words[i]);
    /* release: the entry is whole */
    atomic_store_explicit(&s->sequence, before + 2, memory_order_release);
}

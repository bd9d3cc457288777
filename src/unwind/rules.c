#include "unwind/rules.h"

#include "base/versioned.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { INDEX_BITS = 12, ENTRIES = 1 << INDEX_BITS, WORDS = 3 };

_Static_assert(sizeof(struct rule) <= WORDS * sizeof(uint64_t), "a rule fits");

/* Words, so that each is read and written whole. */
struct slot {
    _Atomic uint64_t version;
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

static size_t index_of(uintptr_t place)
{
    return (place * 0x9e3779b97f4a7c15u) >> (64 - INDEX_BITS);
}

bool rules_find(const struct rules *r, uintptr_t place, uint64_t changes, struct rule *out)
{
    const struct slot *s = &r->slots[index_of(place)];
    uint64_t before = versioned_begin(&s->version);
    if (before & 1 || versioned_get(&s->place) != place || versioned_get(&s->changes) != changes)
        return false;
    uint64_t words[WORDS];
    for (int i = 0; i < WORDS; i++)
        words[i] = versioned_get(&s->words[i]);
    if (!versioned_is(&s->version, before))
        return false;
    memcpy(out, words, sizeof *out);
    return out->kind != 0;
}

void rules_put(struct rules *r, uintptr_t place, uint64_t changes, const struct rule *rule)
{
    struct slot *s = &r->slots[index_of(place)];
    uint64_t before, words[WORDS] = {0};
    if (!versioned_take(&s->version, &before))
        return;
    memcpy(words, rule, sizeof *rule);
    versioned_put(&s->place, place);
    versioned_put(&s->changes, changes);
    for (int i = 0; i < WORDS; i++)
        versioned_put(&s->words[i], words[i]);
    versioned_give(&s->version, before);
}

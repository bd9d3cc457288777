/* Objects that live for one request, row or transaction are one resource per call site of the wait:
 * each alone would be a resource of a few waits.
 *
 *     a crowd = more than CROWD objects of one class, waited for at one place
 * except objects that have CROWD_OWN_PERCENT of these waits each, and those that are not part of a
 * crowd at another place: one lock may be among many.  Of the entries of a map, as a cache has them,
 * two are a crowd: who loads them is the same for all; one that has nearly all waits is its own.
 * So are two permits for each of which one thread alone waits, as a database's sessions do, each at a
 * latch of its own until the others let it go on: it is the place that they contend for. */
#include "base/err.h"
#include "conclude/resource_parts.h"

enum {
    OBJECT_WAITS = 3, /* an object with fewer waits is one of many where there are others */
    CROWD = 16,
    CROWD_OWN_PERCENT = 10,
    ENTRY_OWN_PERCENT = 80,
};

struct place_sum {
    struct crowd_place key; /* the key ends here */
    uint64_t waits;
    uint32_t objects;
    struct crowd_kind kind;
};

struct member {
    uint32_t place, object; /* the key ends here */
    uint64_t waits;
};

void crowds_init(struct crowds *c)
{
    keyed_init(&c->places, sizeof(struct crowd_place), sizeof(struct place_sum));
    keyed_init(&c->members, offsetof(struct member, waits), sizeof(struct member));
}

void crowds_fini(struct crowds *c)
{
    keyed_fini(&c->places);
    keyed_fini(&c->members);
}

int crowds_add(struct crowds *c, const struct crowd_place *at, lock_id object, uint64_t waits,
               struct crowd_kind kind)
{
    struct place_sum *p = keyed_put(&c->places, at);
    if (!p)
        return -ENOMEM;
    const struct member key = {.place = (uint32_t)(p - (struct place_sum *)c->places.v),
                               .object = object.v};
    struct member *m = keyed_put(&c->members, &key);
    if (!m)
        return -ENOMEM;
    p->objects += !m->waits;
    p->waits += waits;
    p->kind = kind;
    m->waits += waits;
    return 0;
}

static bool is_of_crowd(const struct place_sum *p, uint64_t waits)
{
    bool entries = p->kind.entries;
    uint64_t percent = entries ? ENTRY_OWN_PERCENT : CROWD_OWN_PERCENT;
    return p->objects > (entries ? 1 : CROWD) && waits * 100 < p->waits * percent;
}

/* One thread alone waits for it, and another one for another of them. */
static bool is_threads_own(const struct place_sum *p, const struct crowd_object *of)
{
    return p->kind.permits && p->objects > 1 && of->thread != CROWD_SEVERAL;
}

void crowds_settle(const struct crowds *c, const struct crowd_object *of, bool *own)
{
    const struct place_sum *places = c->places.v;
    const struct member *v = c->members.v;
    for (size_t i = 0; i < c->members.n; i++)
        own[v[i].object] |= !is_of_crowd(&places[v[i].place], v[i].waits);
    /* With few waits it has to be alone at each place; an entry is one at whatever place. */
    for (size_t i = 0; i < c->members.n; i++) {
        const struct place_sum *p = &places[v[i].place];
        const struct crowd_object *x = &of[v[i].object];
        if ((x->waits < OBJECT_WAITS && p->objects > 1) || is_threads_own(p, x) ||
            (p->kind.entries && is_of_crowd(p, v[i].waits)))
            own[v[i].object] = false;
    }
}

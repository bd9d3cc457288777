/* Objects that live for one request, row or transaction are one resource per call site of the wait:
 * each alone would be a resource of a few waits.
 *
 *     a crowd = more than CROWD objects of one class, waited for at one place
 * except objects that have CROWD_OWN_PERCENT of these waits each, and those that are not part of a
 * crowd at another place: one lock may be among many. */
#include "base/err.h"
#include "conclude/resource_parts.h"

enum {
    OBJECT_WAITS = 3, /* an object with fewer waits is one of many anywhere */
    CROWD = 16,
    CROWD_OWN_PERCENT = 10,
};

struct place_sum {
    struct crowd_place key; /* the key ends here */
    uint64_t waits;
    uint32_t objects;
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

int crowds_add(struct crowds *c, const struct crowd_place *at, lock_id object, uint64_t waits)
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
    m->waits += waits;
    return 0;
}

void crowds_settle(const struct crowds *c, const uint32_t *waits, bool *own)
{
    const struct place_sum *places = c->places.v;
    const struct member *v = c->members.v;
    for (size_t i = 0; i < c->members.n; i++) {
        const struct place_sum *p = &places[v[i].place];
        own[v[i].object] |=
            waits[v[i].object] >= OBJECT_WAITS &&
            (p->objects <= CROWD || v[i].waits * 100 >= p->waits * CROWD_OWN_PERCENT);
    }
}

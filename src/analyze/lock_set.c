#include "analyze/lock_set.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/util.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The group of the class's name, new ones appended; -ENOMEM. */
static int64_t group_of(struct lock_set *l, const struct trace_class *c, struct map *by_name)
{
    uint64_t key = hash_bytes(c->signature, strlen(c->signature), 0);
    for (;; key++) {
        uint64_t *place = map_put(by_name, key);
        if (!place)
            return -ENOMEM;
        if (*place && strcmp(l->groups[*place].signature, c->signature) == 0)
            return (int64_t)*place;
        if (*place)
            continue; /* another name of the same hash */
        *place = l->n_groups;
        l->groups[l->n_groups] = (struct lock_group){c->signature, c->id};
        return (int64_t)l->n_groups++;
    }
}

/* Groups for the classes that have locks; of_class is indexed by class id. */
static int make_groups(struct lock_set *l, const struct trace *t, uint32_t *of_class)
{
    struct map by_name;
    int64_t rc = 0;
    map_init(&by_name);
    for (size_t i = 1; i < t->n_locks && rc >= 0; i++) {
        const struct trace_class *c = trace_class(t, t->locks[i].class_);
        if (!c->id.v)
            continue;
        if (!of_class[c->id.v]) {
            rc = group_of(l, c, &by_name);
            of_class[c->id.v] = rc > 0 ? (uint32_t)rc : 0;
        }
        l->group[i] = of_class[c->id.v];
    }
    map_fini(&by_name);
    return rc < 0 ? (int)rc : 0;
}

static bool is_known_by_hash(const struct trace *t, size_t lock)
{
    return t->locks[lock].hash && !trace_class(t, t->locks[lock].class_)->id.v;
}

/* How many of them there are. */
static size_t count_hashes(const struct trace *t)
{
    size_t n = 0;
    for (size_t i = 1; i < t->n_locks; i++)
        n += is_known_by_hash(t, i);
    return n;
}

static int name_by_hash(struct lock_set *l, const struct trace *t, struct arena *a)
{
    for (size_t i = 1; i < t->n_locks; i++) {
        char name[16];
        if (!is_known_by_hash(t, i))
            continue;
        int n = snprintf(name, sizeof name, "@%08" PRIX32, t->locks[i].hash);
        const char *kept = arena_strndup(a, name, (size_t)n);
        if (!kept)
            return -ENOMEM;
        l->group[i] = (uint32_t)l->n_groups;
        l->groups[l->n_groups++] = (struct lock_group){.signature = kept};
    }
    return 0;
}

int lock_set_init(struct lock_set *l, const struct trace *t, struct arena *a, struct err *err)
{
    *l = (struct lock_set){.n_groups = 1, .n_objects = t->n_locks ? t->n_locks : 1};
    l->group = arena_alloc(a, l->n_objects * sizeof *l->group);
    size_t hashes = count_hashes(t);
    hashes = hashes <= LOCK_SET_OBJECTS ? hashes : 0;
    l->groups = arena_alloc(a, (t->n_classes + hashes + 1) * sizeof *l->groups);
    uint32_t *of_class = arena_alloc(a, (t->n_classes + 1) * sizeof *of_class);
    if (!l->group || !l->groups || !of_class)
        return err_set(err, -ENOMEM, "out of memory");
    l->groups[0].signature = "?";
    int rc = make_groups(l, t, of_class);
    rc = rc == 0 && hashes ? name_by_hash(l, t, a) : rc;
    return rc < 0 ? err_set(err, rc, "out of memory") : 0;
}

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
    uint64_t key = hash_place(c->signature, strlen(c->signature), 0);
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

/* --- conditions ------------------------------------------------------------------------------- */

static bool is_condition(const char *signature)
{
    static const char *const classes[] = {
        "Ljava/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject;",
        "Ljava/util/concurrent/locks/AbstractQueuedLongSynchronizer$ConditionObject;"};
    for (size_t i = 0; i < ARRAY_LEN(classes); i++)
        if (strcmp(signature, classes[i]) == 0)
            return true;
    return false;
}

bool lock_is_condition(const struct trace *t, lock_id lock)
{
    return is_condition(trace_class(t, trace_lock(t, lock)->class_)->signature);
}

/* The JDK class whose method waits by a condition; NULL: a class of the program, or unknown. */
static const struct trace_class *waiting_class(const struct trace *t, stack_id stack)
{
    static const char begin[] = "Ljava/util/concurrent/";
    const struct trace_stack *s = trace_stack(t, stack);
    if (!s->n_frames)
        return NULL;
    const struct trace_method *m = trace_method(t, s->frames[trace_site(t, s)].method);
    const struct trace_class *c = trace_class(t, m->class_);
    return c->id.v && strncmp(c->signature, begin, sizeof begin - 1) == 0 ? c : NULL;
}

/* The groups that there are, by name; -ENOMEM. */
static int index_groups(const struct lock_set *l, struct map *by_name)
{
    for (size_t i = 1; i < l->n_groups; i++) {
        const char *signature = l->groups[i].signature;
        uint64_t *place, key = hash_place(signature, strlen(signature), 0);
        do
            place = map_put(by_name, key++);
        while (place && *place);
        if (!place)
            return -ENOMEM;
        *place = i;
    }
    return 0;
}

static int name_conditions(struct lock_set *l, const struct trace *t, const struct contexts *c,
                           struct map *by_name)
{
    for (uint32_t i = 1; i < c->n; i++) {
        uint32_t lock = c->v[i].lock.v;
        if (c->v[i].what != STATE_PARKED || !lock || lock >= l->n_objects ||
            !is_condition(l->groups[l->group[lock]].signature))
            continue;
        const struct trace_class *k = waiting_class(t, c->v[i].stack);
        int64_t group = k ? group_of(l, k, by_name) : 0;
        if (group < 0)
            return -ENOMEM;
        if (group > 0)
            l->group[lock] = (uint32_t)group;
    }
    return 0;
}

int lock_set_name_conditions(struct lock_set *l, const struct trace *t, const struct contexts *c)
{
    struct map by_name;
    map_init(&by_name);
    int rc = index_groups(l, &by_name);
    rc = rc ? rc : name_conditions(l, t, c, &by_name);
    map_fini(&by_name);
    return rc;
}

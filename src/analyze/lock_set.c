#include "analyze/lock_set.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/util.h"

#include <string.h>

static void fresh(struct lock_class *c, class_id id, const char *signature)
{
    *c = (struct lock_class){.signature = signature, .id = id};
    c->blocked.min = c->waited.min = c->blocked.first = c->waited.first = UINT64_MAX;
}

/* The group of the class's name, new ones appended; -ENOMEM. */
static int64_t group_of(struct lock_set *l, const struct trace_class *c, struct map *by_name)
{
    uint64_t key = hash_bytes(c->signature, strlen(c->signature), 0);
    for (;; key++) {
        uint64_t *place = map_put(by_name, key);
        if (!place)
            return -ENOMEM;
        if (*place && strcmp(l->classes[*place].signature, c->signature) == 0)
            return (int64_t)*place;
        if (*place)
            continue; /* another name of the same hash */
        *place = l->n_classes;
        fresh(&l->classes[l->n_classes], c->id, c->signature);
        return (int64_t)l->n_classes++;
    }
}

/* Groups for the classes that have locks; `group` is indexed by class id. */
static int make_groups(struct lock_set *l, const struct trace *t, uint32_t *group)
{
    struct map by_name;
    int64_t rc = 0;
    map_init(&by_name);
    for (size_t i = 1; i < t->n_locks && rc >= 0; i++) {
        const struct trace_class *c = trace_class(t, t->locks[i].class_);
        if (!c->id.v)
            continue;
        if (!group[c->id.v]) {
            rc = group_of(l, c, &by_name);
            group[c->id.v] = rc > 0 ? (uint32_t)rc : 0;
        }
        l->objects[i].group = group[c->id.v];
    }
    map_fini(&by_name);
    return rc < 0 ? (int)rc : 0;
}

int lock_set_init(struct lock_set *l, const struct trace *t, struct arena *a, struct err *err)
{
    *l = (struct lock_set){.arena = a, .n_classes = 1, .n_objects = t->n_locks ? t->n_locks : 1};
    l->objects = arena_alloc(a, l->n_objects * sizeof *l->objects);
    l->classes = arena_alloc(a, (t->n_classes + 1) * sizeof *l->classes);
    uint32_t *group = arena_alloc(a, (t->n_classes + 1) * sizeof *group);
    if (!l->objects || !l->classes || !group)
        return err_set(err, -ENOMEM, "out of memory");
    fresh(&l->classes[0], (class_id){0}, "?");
    int rc = make_groups(l, t, group);
    return rc < 0 ? err_set(err, rc, "out of memory") : 0;
}

static int add(struct lock_set *l, struct wait_stats *s, const struct interval *iv)
{
    s->count++;
    s->first = min_u64(s->first, iv->start);
    s->last = max_u64(s->last, iv->end);
    if (iv->flags & INTERVAL_UNKNOWN) {
        s->unknown++;
        return 0;
    }
    s->open += iv->flags & INTERVAL_OPEN;
    s->total += iv->ns;
    s->min = min_u64(s->min, iv->ns);
    s->max = max_u64(s->max, iv->ns);
    return percentile_add(&s->times, iv->ns, l->arena);
}

static int take_one(struct lock_set *l, const struct interval *iv)
{
    struct lock_stats *o = lock_set_object(l, iv->lock);
    struct lock_class *c = &l->classes[o->group];
    if (!o->seen && iv->lock.v) {
        o->seen = true;
        c->objects++;
    }
    if (iv->flags & INTERVAL_REACQUIRED) {
        c->reacquired++;
        return 0;
    }
    if (iv->state == STATE_BLOCKED) {
        c->blocked.objects += o->blocked_count == 0 && iv->lock.v;
        o->blocked_count++;
        o->blocked_ns += iv->ns;
        return add(l, &c->blocked, iv);
    }
    c->waited.objects += o->waited_count == 0 && iv->lock.v;
    o->waited_count++;
    o->waited_ns += iv->ns;
    c->timed_out += (iv->flags & INTERVAL_TIMED_OUT) != 0;
    return add(l, &c->waited, iv);
}

int lock_set_take(void *self, const struct interval *v, size_t n)
{
    struct lock_set *l = self;
    for (size_t i = 0; i < n; i++)
        if (v[i].state == STATE_BLOCKED || v[i].state == STATE_WAITING)
            TRY(take_one(l, &v[i]));
    return 0;
}

uint64_t wait_stats_avg(const struct wait_stats *s)
{
    uint64_t known = s->count - s->unknown;
    return known ? s->total / known : 0;
}

uint64_t wait_stats_min(const struct wait_stats *s)
{
    return s->count > s->unknown ? s->min : 0;
}

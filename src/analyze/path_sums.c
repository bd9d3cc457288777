#include "analyze/path_sums.h"

#include "base/err.h"
#include "base/keyed.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

static int add(struct keyed *list, uint32_t id, const struct path_segment *s)
{
    struct path_sum *x = keyed_put(list, &id);
    if (!x)
        return -ENOMEM;
    uint64_t ns = s->to - s->from;
    x->first = x->count ? x->first : s->from;
    x->ns += ns;
    x->run += s->kind == PATH_RUN ? ns : 0;
    x->seen += s->seen ? ns : 0;
    x->count++;
    x->last = s->to;
    return 0;
}

static int most_first(const void *a, const void *b)
{
    const struct path_sum *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

static int take(struct keyed *l, struct arena *a, struct path_sum **v, size_t *n)
{
    *v = arena_alloc(a, l->n * sizeof **v);
    *n = l->n;
    if (!*v)
        return -ENOMEM;
    if (l->n) {
        memcpy(*v, l->v, l->n * sizeof **v);
        qsort(*v, l->n, sizeof **v, most_first);
    }
    return 0;
}

/* Numbers of places: stacks that agree in their innermost frame outside the JDK. */
struct namer {
    const struct trace *t;
    struct map stacks;   /* stack id -> 1 + index */
    struct keyed places; /* struct place */
};

static int64_t place_of(struct namer *p, stack_id stack)
{
    uint64_t *known = map_put(&p->stacks, stack.v);
    if (!known)
        return -ENOMEM;
    if (*known)
        return (int64_t)*known - 1;
    struct place top, app;
    sites_name(p->t, stack, &top, &app);
    struct place *same = keyed_put(&p->places, &app);
    if (!same)
        return -ENOMEM;
    *known = (uint64_t)(same - (struct place *)p->places.v) + 1;
    return (int64_t)*known - 1;
}

struct adder {
    struct keyed threads, locks, places;
    struct namer namer;
};

static int add_all(struct adder *s, const struct path *p)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct path_segment *g = &p->v[i];
        TRY(add(&s->threads, g->thread, g));
        if (g->lock.v && g->kind != PATH_TIMED && g->kind != PATH_WAIT)
            TRY(add(&s->locks, g->lock.v, g));
        if (!g->stack.v)
            continue;
        int64_t place = place_of(&s->namer, g->stack);
        TRY((int)(place < 0 ? place : 0));
        TRY(add(&s->places, (uint32_t)place, g));
    }
    return 0;
}

static int hand_out(struct adder *s, struct path_sums *out, struct arena *a)
{
    TRY(take(&s->threads, a, &out->threads, &out->n_threads));
    TRY(take(&s->locks, a, &out->locks, &out->n_locks));
    TRY(take(&s->places, a, &out->by_place, &out->n_places));
    out->places = arena_alloc(a, (s->namer.places.n + 1) * sizeof *out->places);
    if (out->places && s->namer.places.n)
        memcpy(out->places, s->namer.places.v, s->namer.places.n * sizeof *out->places);
    return out->places ? 0 : -ENOMEM;
}

int path_sum_up(struct path_sums *out, const struct path *p, const struct trace *t, struct arena *a)
{
    struct adder s = {.namer.t = t};
    struct keyed *lists[] = {&s.threads, &s.locks, &s.places};
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        keyed_init(lists[i], sizeof(uint32_t), sizeof(struct path_sum));
    keyed_init(&s.namer.places, sizeof(struct place), sizeof(struct place));
    map_init(&s.namer.stacks);
    int rc = add_all(&s, p);
    rc = rc ? rc : hand_out(&s, out, a);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        keyed_fini(lists[i]);
    keyed_fini(&s.namer.places);
    map_fini(&s.namer.stacks);
    return rc;
}

#include "analyze/path_sums.h"

#include "base/err.h"
#include "base/map.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* A list that is being made: one entry for each id. */
struct list {
    struct path_sum *v;
    size_t n, cap;
    struct map ids; /* id -> 1 + index */
};

static int add(struct list *l, uint32_t id, const struct path_segment *s)
{
    uint64_t *known = map_put(&l->ids, id);
    if (!known)
        return -ENOMEM;
    if (!*known) {
        if (l->n == l->cap) {
            size_t cap = l->cap ? l->cap * 2 : 64;
            struct path_sum *v = realloc(l->v, cap * sizeof *v);
            if (!v)
                return -ENOMEM;
            l->v = v;
            l->cap = cap;
        }
        l->v[l->n] = (struct path_sum){.id = id, .first = s->from};
        *known = ++l->n;
    }
    struct path_sum *x = &l->v[*known - 1];
    uint64_t ns = s->to - s->from;
    x->ns += ns;
    x->run += s->kind == PATH_RUN ? ns : 0;
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

static int take(struct list *l, struct arena *a, struct path_sum **v, size_t *n)
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
    struct map stacks, names; /* stack id, method and line -> 1 + index */
    struct place *v;
    size_t n, cap;
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
    uint64_t *same = map_put(&p->names, (uint64_t)app.method.v << 32 | (uint32_t)app.line);
    if (!same)
        return -ENOMEM;
    if (!*same) {
        if (p->n == p->cap) {
            size_t cap = p->cap ? p->cap * 2 : 64;
            struct place *v = realloc(p->v, cap * sizeof *v);
            if (!v)
                return -ENOMEM;
            p->v = v;
            p->cap = cap;
        }
        p->v[p->n] = app;
        *same = ++p->n;
    }
    *known = *same;
    return (int64_t)*same - 1;
}

struct adder {
    struct list threads, locks, places;
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
    out->places = arena_alloc(a, (s->namer.n + 1) * sizeof *out->places);
    if (out->places && s->namer.n)
        memcpy(out->places, s->namer.v, s->namer.n * sizeof *out->places);
    return out->places ? 0 : -ENOMEM;
}

int path_sum_up(struct path_sums *out, const struct path *p, const struct trace *t, struct arena *a)
{
    struct adder s = {.namer.t = t};
    memset(out, 0, sizeof *out);
    int rc = add_all(&s, p);
    rc = rc ? rc : hand_out(&s, out, a);
    struct list *lists[] = {&s.threads, &s.locks, &s.places};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        free(lists[i]->v);
        map_fini(&lists[i]->ids);
    }
    map_fini(&s.namer.stacks);
    map_fini(&s.namer.names);
    free(s.namer.v);
    return rc;
}

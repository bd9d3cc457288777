#include "analyze/alloc_cells.h"

#include "base/hash.h"
#include "base/util.h"

#include <string.h>

struct cell_maker {
    struct alloc_cells *to;
    const struct allocs *s;
    uint64_t from, whole; /* before `whole`: found */
};

void alloc_cells_init(struct alloc_cells *c)
{
    buf_init(&c->v);
    map_init(&c->places);
}

void alloc_cells_fini(struct alloc_cells *c)
{
    buf_fini(&c->v);
    map_fini(&c->places);
}

enum { EPOCHS = (1 << 30) - 1 };

/* The cell of an object of a context that was allocated at a time; NULL: memory is out. */
static struct alloc_cell *cell_of(struct cell_maker *m, uint32_t context, uint64_t since)
{
    struct alloc_cell x = {.context = context,
                           .epoch = allocs_epoch(m->s, since) & EPOCHS,
                           .found = since < m->whole,
                           .in_range = since >= m->from};
    uint64_t key = (uint64_t)context << 32 | (uint64_t)x.epoch << 2 | x.found << 1 | x.in_range;
    uint64_t *place = map_put(&m->to->places, hash_u64(key));
    if (!place)
        return NULL;
    if (!*place) {
        buf_put(&m->to->v, &x, sizeof x);
        *place = alloc_cells_count(m->to);
    }
    return m->to->v.oom ? NULL : &((struct alloc_cell *)(void *)m->to->v.p)[*place - 1];
}

static int add_allocs(struct cell_maker *m, const struct run *r, uint64_t to)
{
    for (uint32_t i = 0; i < r->n && alloc_at(r, i)->time < to; i++) {
        struct alloc_cell *c = cell_of(m, alloc_at(r, i)->context, alloc_at(r, i)->time);
        if (!c)
            return -ENOMEM;
        c->allocated++;
    }
    return 0;
}

static int add_frees(struct cell_maker *m, const struct run *r, uint64_t begin, uint64_t to)
{
    for (uint32_t i = 0; i < r->n && alloc_free_at(r, i)->time < to; i++) {
        const struct alloc_free *f = alloc_free_at(r, i);
        if (f->since < begin)
            continue;
        struct alloc_cell *c = cell_of(m, f->context, f->since);
        if (!c)
            return -ENOMEM;
        c->freed_by_to++;
        c->freed_by_from += f->time < m->from;
    }
    return 0;
}

int alloc_cells_make(struct alloc_cells *c, const struct analysis *a, uint32_t thread,
                     uint64_t from, uint64_t to)
{
    const struct allocs *s = &a->allocs;
    enum alloc_source source = allocs_ends_source(s);
    struct cell_maker m = {c, s, from, whole_gc_before(&s->wholes, min_u64(to, a->window.to))};
    buf_clear(&c->v);
    map_fini(&c->places);
    map_init(&c->places);
    if (thread >= s->n_lines)
        return 0;
    TRY(add_allocs(&m, &s->lines[thread].allocs[source], to));
    return add_frees(&m, &s->lines[thread].frees[source], a->window.from, to);
}

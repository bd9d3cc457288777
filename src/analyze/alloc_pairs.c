#include "analyze/alloc_pairs.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

static struct alloc_pair pair_of(const struct analysis *a, const struct alloc_context *x)
{
    bool there = trace_stack(a->trace, x->stack)->n_frames > 0;
    return (struct alloc_pair){trace_class(a->trace, x->class_)->id, {there ? x->stack.v : 0}};
}

static int number(struct alloc_pairs *p, const struct analysis *a, struct map *known)
{
    size_t n = allocs_contexts(&a->allocs);
    for (size_t i = 0; i < n; i++) {
        const struct alloc_pair x = pair_of(a, alloc_context(&a->allocs, (uint32_t)i));
        uint64_t *place = map_put(known, (uint64_t)x.class_.v << 32 | x.stack.v);
        if (!place)
            return -ENOMEM;
        if (!*place) {
            p->v[p->n] = x;
            *place = ++p->n;
        }
        p->of[i] = (uint32_t)*place - 1;
    }
    return 0;
}

int alloc_pairs_init(struct alloc_pairs *p, const struct analysis *a)
{
    size_t n = allocs_contexts(&a->allocs) + 1;
    struct map known;
    map_init(&known);
    *p = (struct alloc_pairs){.v = malloc(n * sizeof *p->v), .of = malloc(n * sizeof *p->of)};
    int rc = p->v && p->of ? number(p, a, &known) : -ENOMEM;
    map_fini(&known);
    if (rc < 0)
        alloc_pairs_fini(p);
    return rc;
}

void alloc_pairs_fini(struct alloc_pairs *p)
{
    free(p->v);
    free(p->of);
    memset(p, 0, sizeof *p);
}

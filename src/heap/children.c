#include "heap/children.h"

#include "base/util.h"
#include "heap/workers.h"

#include <stdlib.h>

enum { PIECE = 1 << 14 }; /* parents whose children one worker sorts at a time */

static uint32_t parent_of(const struct retained *r, uint32_t object)
{
    uint32_t p = r->dominators[object];
    return p == RETAINED_ROOT ? r->d->n_objects : p;
}

/* begins[i + 1] is where the next child of i goes; at the end that is where those of i + 1
 * begin. */
static void fill(struct children *c, const struct retained *r)
{
    uint32_t n = c->n_objects;
    for (uint32_t i = 0; i < n; i++)
        if (r->dominators[i] != DUMP_NONE)
            c->begins[parent_of(r, i) + 2]++;
    for (uint32_t i = 0; i <= n; i++)
        c->begins[i + 2] += c->begins[i + 1];
    for (uint32_t i = 0; i < n; i++)
        if (r->dominators[i] != DUMP_NONE)
            c->list[c->begins[parent_of(r, i) + 1]++] = i;
}

static int by_retained(const void *a, const void *b, void *ctx)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint64_t of_x = retained_bytes(ctx, x), of_y = retained_bytes(ctx, y);
    return of_x != of_y ? (of_x > of_y ? -1 : 1) : x < y ? -1 : x > y;
}

struct sorting {
    struct children *c;
    const struct retained *r;
};

static int sort_piece(void *ctx, unsigned worker, uint64_t piece)
{
    const struct sorting *s = ctx;
    const struct children *c = s->c;
    uint64_t end = min_u64((piece + 1) * PIECE, (uint64_t)c->n_objects + 1);
    UNUSED(worker);
    for (uint64_t i = piece * PIECE; i < end; i++) {
        uint32_t n = c->begins[i + 1] - c->begins[i];
        if (n > 1)
            qsort_r(&c->list[c->begins[i]], n, sizeof *c->list, by_retained,
                    (void *)(uintptr_t)s->r);
    }
    return 0;
}

int children_find(struct children *c, const struct retained *r, struct err *err)
{
    size_t n = r->d->n_objects;
    *c = (struct children){.n_objects = r->d->n_objects};
    c->begins = calloc(n + 3, sizeof *c->begins);
    c->list = calloc(n + 1, sizeof *c->list);
    if (!c->begins || !c->list) {
        children_fini(c);
        return err_set(err, -ENOMEM, "%s: out of memory", r->d->path);
    }
    fill(c, r);
    struct sorting s = {c, r};
    return workers_run(dump_workers(r->d), n / PIECE + 1, sort_piece, &s);
}

void children_fini(struct children *c)
{
    free(c->begins);
    free(c->list);
    *c = (struct children){0};
}

const uint32_t *children_of(const struct children *c, uint32_t object, uint32_t *n)
{
    uint32_t i = object == RETAINED_ROOT ? c->n_objects : object;
    *n = c->begins[i + 1] - c->begins[i];
    return &c->list[c->begins[i]];
}

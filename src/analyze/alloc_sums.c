#include "analyze/alloc_sums.h"

#include "analyze/alloc_pairs.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

/* The sum that a pair was last added to: `of` is 1 + a thread, or 1 for all; 0: to none. */
struct last_sum {
    uint32_t of, sum;
};

struct alloc_adder {
    struct alloc_sums *to;
    bool by_thread;
    struct alloc_pairs pairs;
    struct last_sum *last; /* [pairs.n]: threads come one after the other, so that it is enough */
};

static struct alloc_sum *sum_of(struct alloc_adder *d, uint32_t thread, uint32_t pair)
{
    struct buf *list = &d->to->list;
    struct last_sum *last = &d->last[pair];
    uint32_t whose = d->by_thread ? thread + 1 : 1;
    size_t n = list->len / sizeof(struct alloc_sum);
    if (last->of != whose) {
        const struct alloc_sum new = {.key = {.thread = whose - 1,
                                              .class_ = d->pairs.v[pair].class_,
                                              .stack = d->pairs.v[pair].stack}};
        buf_put(list, &new, sizeof new);
        *last = (struct last_sum){whose, (uint32_t)n};
    }
    return list->oom || n > UINT32_MAX ? NULL : &((struct alloc_sum *)(void *)list->p)[last->sum];
}

static int add(void *self, const struct alloc_part *p)
{
    struct alloc_adder *d = self;
    struct alloc_sum *sum = sum_of(d, p->thread, d->pairs.of[p->context]);
    if (!sum)
        return -ENOMEM;
    alloc_amount_add(&sum->of[p->what], &p->amount);
    alloc_amount_add(&d->to->total[p->what], &p->amount);
    return 0;
}

int alloc_sums_make(struct alloc_sums *out, const struct analysis *a, const struct alloc_query *q)
{
    struct alloc_adder d = {.to = out, .by_thread = q->by_thread};
    memset(out, 0, sizeof *out);
    TRY(alloc_pairs_init(&d.pairs, a));
    d.last = calloc(d.pairs.n + 1, sizeof *d.last);
    int rc = d.last ? alloc_visit(a, &q->selection, add, &d, &out->unmatched) : -ENOMEM;
    free(d.last);
    alloc_pairs_fini(&d.pairs);
    out->v = (void *)out->list.p;
    out->n = out->list.len / sizeof *out->v;
    if (rc < 0)
        alloc_sums_fini(out);
    return rc;
}

void alloc_sums_fini(struct alloc_sums *s)
{
    buf_fini(&s->list);
    memset(s, 0, sizeof *s);
}

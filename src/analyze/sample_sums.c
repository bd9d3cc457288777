#include "analyze/sample_sums.h"

#include "base/util.h"

#include <string.h>

struct sample_adder {
    struct sample_sums *to;
    const struct analysis *a;
    const struct sample_query *q;
};

static int add_sample(struct sample_adder *d, uint32_t thread, lock_id lock, const struct sample *x)
{
    struct sample_sums *s = d->to;
    bool there = trace_stack(d->a->trace, x->stack)->n_frames > 0;
    struct sample_sum_key k = {.thread = d->q->by_thread ? thread : 0,
                               .stack = {there ? x->stack.v : 0},
                               .error = there ? 0 : x->error};
    if (d->q->by_lock)
        k.lock = lock;
    struct sample_sum *sum = keyed_put(&s->list, &k);
    if (!sum)
        return -ENOMEM;
    sum->count++;
    sum->ns += x->weight;
    s->count++;
    s->ns += x->weight;
    s->near += (x->flags & SAMPLE_NEAR) != 0;
    if (x->flags & SAMPLE_IDLE) {
        s->idle++;
        s->idle_ns += x->weight;
    }
    return 0;
}

/* The samples of a thread in a stretch. */
static int add_stretch(void *self, lock_id lock, uint32_t thread, uint64_t from, uint64_t to)
{
    struct sample_adder *d = self;
    const struct run *r = samples_of(&d->a->samples, d->q->kind, thread);
    for (uint32_t i = samples_before(r, from); i < r->n; i++) {
        const struct sample *x = sample_at(r, i);
        if (x->time >= to)
            break;
        TRY(add_sample(d, thread, lock, x));
    }
    return 0;
}

static int add_lock(void *self, const struct owned_lock *l)
{
    struct sample_adder *d = self;
    buf_put(&d->to->locks, l, sizeof *l);
    return d->to->locks.oom ? -ENOMEM : 0;
}

static int add_threads(struct sample_adder *d)
{
    const struct selection *s = &d->q->selection;
    for (uint32_t i = 0; i < d->a->samples.n_lines; i++)
        if (selection_has(s, i))
            TRY(add_stretch(d, (lock_id){0}, i, s->from, s->to));
    return 0;
}

int sample_sums_make(struct sample_sums *out, const struct analysis *a,
                     const struct sample_query *q)
{
    struct sample_adder d = {out, a, q};
    const struct owned_visitor visitor = {add_stretch, add_lock, &d};
    memset(out, 0, sizeof *out);
    keyed_init(&out->list, sizeof(struct sample_sum_key), sizeof *out->v);
    int rc = q->owners ? owned_visit(a, &q->selection, &visitor) : add_threads(&d);
    out->v = out->list.v;
    out->n = out->list.n;
    if (rc < 0)
        sample_sums_fini(out);
    return rc;
}

void sample_sums_fini(struct sample_sums *s)
{
    keyed_fini(&s->list);
    buf_fini(&s->locks);
    memset(s, 0, sizeof *s);
}

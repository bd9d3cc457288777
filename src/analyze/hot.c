#include "analyze/hot.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* Methods of the sums at hand. */
struct hot_tally {
    const struct trace *t;
    struct hot_method *of; /* [t->n_methods] */
    uint32_t *stamp;       /* [t->n_methods]: the sum that counted it last, from 1 */
    uint32_t *touched;     /* [n_touched]: methods */
    size_t n_touched;
    uint32_t sums;
    struct arena *arena; /* of the lists */
};

static int compare(uint64_t x, uint64_t y)
{
    return (x < y) - (x > y);
}

/* --- methods ---------------------------------------------------------------------------------- */

static int tally_init(struct hot_tally *y, const struct trace *t, struct arena *arena)
{
    *y = (struct hot_tally){.t = t, .arena = arena};
    y->of = calloc(t->n_methods + 1, sizeof *y->of);
    y->stamp = calloc(t->n_methods + 1, sizeof *y->stamp);
    y->touched = malloc((t->n_methods + 1) * sizeof *y->touched);
    return y->of && y->stamp && y->touched ? 0 : -ENOMEM;
}

static void tally_fini(struct hot_tally *y)
{
    free(y->of);
    free(y->stamp);
    free(y->touched);
}

static void add_to(struct hot_sum *to, const struct sample_sum *s)
{
    to->count += s->count;
    to->ns += s->ns;
}

static struct hot_method *method_of(struct hot_tally *y, method_id id)
{
    uint32_t i = trace_method(y->t, id)->id.v;
    if (y->of[i].total.count == 0) {
        y->of[i].method.v = i;
        y->touched[y->n_touched++] = i;
    }
    return &y->of[i];
}

static void tally_add(struct hot_tally *y, const struct sample_sum *s)
{
    const struct trace_stack *stack = trace_stack(y->t, s->key.stack);
    y->sums++;
    for (uint32_t i = 0; i < stack->n_frames; i++) {
        struct hot_method *m = method_of(y, stack->frames[i].method);
        if (y->stamp[m->method.v] != y->sums)
            add_to(&m->total, s);
        y->stamp[m->method.v] = y->sums;
        if (i > 0)
            continue;
        add_to(&m->self, s);
        m->executed_ns[stack->kinds ? executed_of(stack->kinds[0]) : EXECUTED_UNKNOWN] += s->ns;
    }
}

static int by_self(const void *a, const void *b)
{
    const struct hot_method *x = a, *y = b;
    int c = compare(x->self.ns, y->self.ns);
    c = c ? c : compare(x->self.count, y->self.count);
    c = c ? c : compare(x->total.ns, y->total.ns);
    c = c ? c : compare(x->total.count, y->total.count);
    return c ? c : (x->method.v > y->method.v) - (x->method.v < y->method.v);
}

/* Moves the sums into a list in the arena; the tally is empty afterwards. */
static int tally_take(struct hot_tally *y, const struct hot_method **out, size_t *n)
{
    struct hot_method *v = arena_alloc(y->arena, y->n_touched * sizeof *v);
    if (!v)
        return -ENOMEM;
    for (size_t i = 0; i < y->n_touched; i++) {
        v[i] = y->of[y->touched[i]];
        memset(&y->of[y->touched[i]], 0, sizeof *v);
    }
    qsort(v, y->n_touched, sizeof *v, by_self);
    *out = v;
    *n = y->n_touched;
    y->n_touched = 0;
    return 0;
}

enum executed hot_method_executed(const struct hot_method *m)
{
    enum executed most = EXECUTED_UNKNOWN;
    for (unsigned i = 1; i < EXECUTED_LIMIT; i++)
        if (m->executed_ns[i] > m->executed_ns[most])
            most = (enum executed)i;
    return most;
}

/* --- threads, errors -------------------------------------------------------------------------- */

static int by_thread_time(const void *a, const void *b)
{
    const struct hot_thread *x = a, *y = b;
    int c = compare(x->sum.ns, y->sum.ns);
    c = c ? c : compare(x->sum.count, y->sum.count);
    return c ? c : (x->thread > y->thread) - (x->thread < y->thread);
}

static int list_threads(struct hot *h, const struct sample_sums *sums, size_t n_threads,
                        struct arena *arena)
{
    struct hot_thread *v = arena_alloc(arena, n_threads * sizeof *v);
    size_t n = 0;
    if (!v)
        return -ENOMEM;
    for (size_t i = 0; i < sums->n; i++) {
        struct hot_thread *t = &v[sums->v[i].key.thread];
        t->thread = sums->v[i].key.thread;
        add_to(&t->sum, &sums->v[i]);
        t->failed += sample_sum_has_stack(&sums->v[i]) ? 0 : sums->v[i].count;
    }
    for (size_t i = 0; i < n_threads; i++)
        if (v[i].sum.count)
            v[n++] = v[i];
    qsort(v, n, sizeof *v, by_thread_time);
    h->threads = v;
    h->n_threads = n;
    return 0;
}

struct hot_sum hot_failed(const struct hot *h)
{
    struct hot_sum all = {0, 0};
    for (unsigned i = 0; i < SAMPLE_ERRORS; i++) {
        all.count += h->failed[i].count;
        all.ns += h->failed[i].ns;
    }
    return all;
}

static int add_threads(struct hot *h, const struct analysis *a, const struct sample_query *q,
                       struct hot_tally *y)
{
    struct sample_sums sums;
    TRY(sample_sums_make(&sums, a, q));
    h->sum = (struct hot_sum){sums.count, sums.ns};
    h->idle = (struct hot_sum){sums.idle, sums.idle_ns};
    h->near = sums.near;
    for (size_t i = 0; i < sums.n; i++)
        if (sample_sum_has_stack(&sums.v[i]))
            tally_add(y, &sums.v[i]);
        else
            add_to(&h->failed[sums.v[i].key.error], &sums.v[i]);
    int rc = tally_take(y, &h->methods, &h->n_methods);
    rc = rc ? rc : list_threads(h, &sums, a->threads.n, y->arena);
    sample_sums_fini(&sums);
    return rc;
}

/* --- owners ----------------------------------------------------------------------------------- */

static int by_owner_time(const void *a, const void *b)
{
    const struct hot_owner *x = a, *y = b;
    int c = compare(x->sum.ns, y->sum.ns);
    c = c ? c : compare(x->sum.count, y->sum.count);
    c = c ? c : compare(x->waited, y->waited);
    c = c ? c : (x->group > y->group) - (x->group < y->group);
    return c ? c : (x->lock.v > y->lock.v) - (x->lock.v < y->lock.v);
}

struct owner_maker {
    const struct analysis *a;
    const struct sample_sums *sums;
    uint32_t *order; /* [sums->n]: indices, by class, then by lock */
    struct hot_tally *tally;
    struct arena *arena;
};

static int by_lock(const void *a, const void *b, void *maker)
{
    const struct owner_maker *m = maker;
    lock_id x = m->sums->v[*(const uint32_t *)a].key.lock;
    lock_id y = m->sums->v[*(const uint32_t *)b].key.lock;
    uint32_t g = lock_set_group(&m->a->locks, x), h = lock_set_group(&m->a->locks, y);
    if (g != h)
        return g < h ? -1 : 1;
    return (x.v > y.v) - (x.v < y.v);
}

static bool is_of(const struct owner_maker *m, const struct hot_owner *o, uint32_t sum)
{
    lock_id lock = m->sums->v[m->order[sum]].key.lock;
    return o->lock.v ? o->lock.v == lock.v : lock_set_group(&m->a->locks, lock) == o->group;
}

/* Give the owners of a list, which is in the order of the sums, their samples. */
static int fill_owners(struct owner_maker *m, struct hot_owner *v, size_t n)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        for (; at < m->sums->n && is_of(m, &v[i], (uint32_t)at); at++) {
            const struct sample_sum *s = &m->sums->v[m->order[at]];
            add_to(&v[i].sum, s);
            if (sample_sum_has_stack(s))
                tally_add(m->tally, s);
        }
        TRY(tally_take(m->tally, &v[i].methods, &v[i].n_methods));
    }
    if (n)
        qsort(v, n, sizeof *v, by_owner_time);
    return 0;
}

static int by_class(const void *a, const void *b)
{
    const struct hot_owner *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->lock.v > y->lock.v) - (x->lock.v < y->lock.v);
}

/* The locks that were wanted, by class; of each class one entry behind them. */
static int list_owners(struct hot *h, struct owner_maker *m)
{
    const struct owned_lock *l = (const void *)m->sums->locks.p;
    size_t n = m->sums->locks.len / sizeof *l, classes = 0;
    struct hot_owner *locks = arena_alloc(m->arena, n * sizeof *locks);
    struct hot_owner *by_group = arena_alloc(m->arena, n * sizeof *by_group);
    if (!locks || !by_group)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        locks[i] = (struct hot_owner){.group = lock_set_group(&m->a->locks, l[i].lock),
                                      .lock = l[i].lock,
                                      .locks = 1,
                                      .waited = l[i].waited,
                                      .known = l[i].known};
    if (n)
        qsort(locks, n, sizeof *locks, by_class);
    for (size_t i = 0; i < n; i++) {
        if (!classes || by_group[classes - 1].group != locks[i].group)
            by_group[classes++] = (struct hot_owner){.group = locks[i].group};
        by_group[classes - 1].locks++;
        by_group[classes - 1].waited += locks[i].waited;
        by_group[classes - 1].known += locks[i].known;
    }
    TRY(fill_owners(m, locks, n));
    TRY(fill_owners(m, by_group, classes));
    h->locks = locks;
    h->n_locks = n;
    h->classes = by_group;
    h->n_classes = classes;
    return 0;
}

/* With a class: only its locks. */
static void keep_group(struct sample_sums *sums, const struct analysis *a, uint32_t group)
{
    struct owned_lock *l = (void *)sums->locks.p;
    size_t n = sums->locks.len / sizeof *l, kept = 0, kept_sums = 0;
    if (group == EVERY_CLASS)
        return;
    for (size_t i = 0; i < n; i++)
        if (lock_set_group(&a->locks, l[i].lock) == group)
            l[kept++] = l[i];
    for (size_t i = 0; i < sums->n; i++)
        if (lock_set_group(&a->locks, sums->v[i].key.lock) == group)
            sums->v[kept_sums++] = sums->v[i];
    sums->locks.len = kept * sizeof *l;
    sums->n = kept_sums;
}

static int add_owners(struct hot *h, const struct analysis *a, const struct sample_query *q,
                      uint32_t group, struct hot_tally *y)
{
    struct sample_sums sums;
    TRY(sample_sums_make(&sums, a, q));
    keep_group(&sums, a, group);
    struct owner_maker m = {a, &sums, malloc((sums.n + 1) * sizeof(uint32_t)), y, y->arena};
    int rc = m.order ? 0 : -ENOMEM;
    for (size_t i = 0; i < sums.n && rc == 0; i++)
        m.order[i] = (uint32_t)i;
    if (rc == 0 && sums.n)
        qsort_r(m.order, sums.n, sizeof *m.order, by_lock, &m);
    rc = rc ? rc : list_owners(h, &m);
    free(m.order);
    sample_sums_fini(&sums);
    return rc;
}

static int make_owners(struct hot *h, const struct analysis *a, enum sample_kind kind,
                       const struct selection *selection, uint32_t group, struct hot_tally *y)
{
    const struct sample_query q = {
        .selection = *selection, .kind = kind, .owners = true, .by_lock = true};
    return add_owners(h, a, &q, group, y);
}

int hot_make(struct hot *out, const struct analysis *a, enum sample_kind kind,
             const struct selection *selection, uint32_t group, struct arena *arena)
{
    const struct sample_query q = {.selection = *selection, .kind = kind, .by_thread = true};
    struct hot_tally y;
    memset(out, 0, sizeof *out);
    int rc = tally_init(&y, a->trace, arena);
    if (rc == 0 && a->samples.n[kind]) {
        rc = add_threads(out, a, &q, &y);
        rc = rc ? rc : make_owners(out, a, kind, selection, group, &y);
    }
    tally_fini(&y);
    return rc;
}

#include "analyze/lock_order.h"

#include "analyze/analysis.h"
#include "analyze/lock_sections.h"
#include "analyze/reorder.h"
#include "base/hash.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

enum { FOLDS_MAX = 1 << 14 };

/* A finding, and what its cycles have in common. */
struct fold {
    struct lock_order_finding f;
    uint32_t kinds[LOCK_ORDER_LONGEST]; /* of its edges */
    bool dropped;
};

struct maker {
    const struct analysis *a;
    struct lock_order *out;
    struct takings takings;
    struct thread_order order;
    struct dependencies dependencies;
    struct lock_cycles cycles;
    struct lock_sections sections;
    struct buf folds;    /* struct fold [] */
    struct map by_kinds; /* hash -> 1 + index */
    struct map tuples;   /* hash of a fold and the locks of a cycle of it */
    struct map sides;    /* fold, side and edge: it counts already */
    bool partial;        /* holds may be missing: sampled, filtered, lost */
};

/* --- what is recorded ------------------------------------------------------------------------- */

/* Whether all these groups, "a+b+c", were recorded.  A trace that does not name its groups
 * passes. */
static bool has_groups(const struct trace *t, const char *const *groups, size_t n)
{
    const char *list = trace_info(t, "orca.events", "");
    for (size_t i = 0; i < n && *list; i++) {
        size_t len = strlen(groups[i]);
        const char *p = list;
        while (p && !(strncmp(p, groups[i], len) == 0 && (p[len] == '+' || !p[len]))) {
            p = strchr(p, '+');
            p = p ? p + 1 : NULL;
        }
        if (!p)
            return false;
    }
    return true;
}

static bool is_sampled(const struct trace *t)
{
    const char *every = trace_info(t, "orca.holdsample", "");
    return *every && strcmp(every, "1") != 0;
}

static bool is_partial(const struct analysis *a)
{
    static const char *const needed[] = {"threads", "joins"};
    const struct trace *t = a->trace;
    return is_sampled(t) || *trace_info(t, "orca.include", "") ||
           *trace_info(t, "orca.exclude", "") || *trace_info(t, "orca.events.changes", "") ||
           a->windowed || analysis_lost_events(a) > 0 || !has_groups(t, needed, ARRAY_LEN(needed));
}

/* A thread that ran before the recording of a running JVM began may have had locks then. */
static bool is_partial_thread(const struct analysis *a, uint32_t thread)
{
    static const char *const starts[] = {"virtual"};
    const struct thread_stats *s = &a->threads.v[thread];
    if (s->is_virtual && !has_groups(a->trace, starts, ARRAY_LEN(starts)))
        return true;
    return s->incomplete || (!s->has_started && *trace_info(a->trace, "orca.attached", ""));
}

/* --- folding ---------------------------------------------------------------------------------- */

/* The cycle from that of its edges on that makes the kinds the smallest. */
static void rotate(const struct dependencies *d, const struct lock_cycle *from,
                   struct lock_cycle *to, uint32_t *kinds)
{
    uint32_t best = 0;
    for (uint32_t r = 1; r < from->n; r++) {
        int order = 0;
        for (uint32_t pass = 0; pass < 2 && !order; pass++)
            for (uint32_t i = 0; i < from->n && !order; i++) {
                uint32_t x = from->edges[(r + i) % from->n], y = from->edges[(best + i) % from->n];
                uint32_t v = pass ? x : d->edges[x].kind, w = pass ? y : d->edges[y].kind;
                order = (v > w) - (v < w);
            }
        best = order < 0 ? r : best;
    }
    to->n = from->n;
    for (uint32_t i = 0; i < from->n; i++) {
        to->edges[i] = from->edges[(best + i) % from->n];
        kinds[i] = d->edges[to->edges[i]].kind;
    }
}

static struct fold *fold_at(const struct maker *m, size_t i)
{
    return (struct fold *)(void *)m->folds.p + i;
}

/* The fold of these kinds: its place in by_kinds' value is 1 + index, 0: it is new.  NULL: memory
 * is out. */
static uint64_t *find_fold(struct maker *m, const uint32_t *kinds, uint32_t n)
{
    for (uint64_t key = hash_place(kinds, n * sizeof *kinds, n);; key++) {
        uint64_t *place = map_put(&m->by_kinds, key);
        if (!place || !*place)
            return place;
        const struct fold *x = fold_at(m, *place - 1);
        if (x->f.n_sides == n && memcmp(x->kinds, kinds, n * sizeof *kinds) == 0)
            return place;
    }
}

/* Whether a key is new in a set; -ENOMEM. */
static int is_new(struct map *set, uint64_t key)
{
    uint64_t *place = map_put(set, key);
    if (!place)
        return -ENOMEM;
    return (*place)++ == 0;
}

/* Count a cycle of a fold: its locks, and the edges that no other cycle of it had at that side. */
static int count_cycle(struct maker *m, size_t fold, const struct lock_cycle *c)
{
    const struct dependencies *d = &m->dependencies;
    struct lock_order_finding *f = &fold_at(m, fold)->f;
    uint32_t locks[LOCK_ORDER_LONGEST + 1] = {(uint32_t)fold};
    for (uint32_t i = 0; i < c->n; i++) {
        const struct lock_edge *e = &d->edges[c->edges[i]];
        int fresh = is_new(&m->sides, (uint64_t)fold << 34 | (uint64_t)i << 32 | c->edges[i]);
        TRY(fresh);
        f->sides[i].times += fresh ? dependency_at(d, e->dependency)->times : 0;
        locks[i + 1] = e->held;
    }
    int fresh = is_new(&m->tuples, hash_place(locks, (c->n + 1) * sizeof *locks, 0));
    f->cycles += fresh > 0;
    return fresh;
}

static void show_example(struct maker *m, struct lock_order_finding *f, const struct lock_cycle *c,
                         const struct lock_nearest *near)
{
    const struct dependencies *d = &m->dependencies;
    f->distance = near->distance;
    for (uint32_t i = 0; i < c->n; i++) {
        const struct lock_section *s = near->v[i];
        const struct lock_edge *e = &d->edges[c->edges[i]];
        f->sides[i] = (struct lock_order_side){.thread = dependency_user_at(d, s->user)->thread,
                                               .held = {e->held},
                                               .wanted = {e->wanted},
                                               .from = s->from,
                                               .to = s->to,
                                               .wanted_time = s->wanted,
                                               .held_at = s->held_at,
                                               .wanted_at = s->wanted_at,
                                               .seen = s->seen,
                                               .open = s->open,
                                               .times = f->sides[i].times};
    }
}

static int add_fold(struct maker *m, const struct lock_cycle *c, const uint32_t *kinds,
                    uint64_t *place)
{
    struct fold x = {.f = {.n_sides = c->n, .distance = UINT64_MAX}};
    memcpy(x.kinds, kinds, c->n * sizeof *kinds);
    buf_put(&m->folds, &x, sizeof x);
    *place = m->folds.len / sizeof x;
    return m->folds.oom ? -ENOMEM : 0;
}

/* Put a cycle into its fold. */
static int fold_cycle(struct maker *m, const struct lock_cycle *cycle)
{
    uint32_t kinds[LOCK_ORDER_LONGEST];
    struct lock_cycle c;
    struct lock_nearest near;
    rotate(&m->dependencies, cycle, &c, kinds);
    uint64_t *place = find_fold(m, kinds, c.n);
    if (!place)
        return -ENOMEM;
    if (!*place || fold_at(m, *place - 1)->f.distance > 0) {
        TRY(lock_sections_nearest(&m->sections, &m->cycles, &c, &near));
        m->out->passed_over.compared += near.cut;
        m->out->suppressed.happened += near.distance == UINT64_MAX && near.happened;
        if (near.distance == UINT64_MAX)
            return 0;
        if (!*place && m->folds.len / sizeof(struct fold) == FOLDS_MAX) {
            m->out->passed_over.findings++;
            return 0;
        }
        if (!*place)
            TRY(add_fold(m, &c, kinds, place));
        if (near.distance < fold_at(m, *place - 1)->f.distance)
            show_example(m, &fold_at(m, *place - 1)->f, &c, &near);
    }
    return count_cycle(m, *place - 1, &c);
}

/* If some locks that a thread held are unknown, a gate that was seen once counts for all times. */
static void drop_gated(struct maker *m)
{
    for (size_t i = 0; i < m->cycles.gated.len / sizeof(struct lock_cycle); i++) {
        uint32_t kinds[LOCK_ORDER_LONGEST];
        struct lock_cycle c;
        rotate(&m->dependencies, lock_cycle_at(&m->cycles.gated, i), &c, kinds);
        uint64_t *place = find_fold(m, kinds, c.n);
        struct fold *x = place && *place ? fold_at(m, *place - 1) : NULL;
        if (!x || x->dropped || !x->f.partial)
            continue;
        x->dropped = true;
        m->out->suppressed.gate += x->f.cycles;
    }
}

static int fold_all(struct maker *m)
{
    for (size_t i = 0; i < m->cycles.v.len / sizeof(struct lock_cycle); i++)
        TRY(fold_cycle(m, lock_cycle_at(&m->cycles.v, i)));
    for (size_t i = 0; i < m->folds.len / sizeof(struct fold); i++) {
        struct lock_order_finding *f = &fold_at(m, i)->f;
        f->count = UINT64_MAX;
        f->partial = m->partial;
        for (uint32_t k = 0; k < f->n_sides; k++) {
            f->count = min_u64(f->count, f->sides[k].times);
            f->partial |= f->sides[k].seen || is_partial_thread(m->a, f->sides[k].thread);
        }
    }
    drop_gated(m);
    return 0;
}

/* --- the result ------------------------------------------------------------------------------- */

static int by_rank(const void *a, const void *b)
{
    const struct fold *x = *(struct fold *const *)a, *y = *(struct fold *const *)b;
    if (x->f.distance != y->f.distance)
        return x->f.distance < y->f.distance ? -1 : 1;
    if (x->f.count != y->f.count)
        return x->f.count > y->f.count ? -1 : 1;
    if (x->f.cycles != y->f.cycles)
        return x->f.cycles > y->f.cycles ? -1 : 1;
    return (x > y) - (x < y);
}

static int rank(struct maker *m, struct arena *arena)
{
    size_t n = m->folds.len / sizeof(struct fold), kept = 0;
    struct fold **v = malloc((n + 1) * sizeof(struct fold *));
    if (!v)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (!fold_at(m, i)->dropped)
            v[kept++] = fold_at(m, i);
    qsort(v, kept, sizeof(struct fold *), by_rank);
    struct lock_order *out = m->out;
    out->n = min_u64(kept, LOCK_ORDER_FINDINGS);
    out->passed_over.findings += kept - out->n;
    out->v = arena_alloc(arena, out->n * sizeof *out->v);
    for (size_t i = 0; out->v && i < out->n; i++)
        out->v[i] = v[i]->f;
    free(v);
    return out->v ? 0 : -ENOMEM;
}

static int check_reach(struct maker *m)
{
    static const char *const needed[] = {"waits", "parks", "interrupts"};
    struct reorder *r = NULL;
    int rc = 0;
    if (!has_groups(m->a->trace, needed, ARRAY_LEN(needed)))
        return 0;
    for (size_t i = 0; i < m->out->n && rc != -ENOMEM && rc != -EFBIG; i++) {
        struct lock_order_finding *f = &m->out->v[i];
        if (f->partial)
            continue;
        if (!r)
            rc = reorder_new(&r, &m->a->timeline, &m->order, m->a->locks.n_objects);
        if (r)
            rc = reorder_check(r, f->sides, f->n_sides);
        f->checked = rc >= 0;
        f->reach = rc > 0 ? LOCK_ORDER_REORDERABLE : LOCK_ORDER_CANDIDATE;
    }
    reorder_free(r);
    return rc == -ENOMEM ? rc : 0;
}

/* --- all of it -------------------------------------------------------------------------------- */

static int add_dependency(void *self, uint32_t thread, const struct taking *k,
                          const struct held *held, size_t n_held)
{
    return dependencies_add(self, thread, k, held, n_held);
}

static int make_graph(struct maker *m)
{
    const struct analysis *a = m->a;
    TRY(thread_order_init(&m->order, &a->timeline, &a->bindings));
    TRY(dependencies_init(&m->dependencies, a->trace, &a->timeline, &a->locks, &m->order));
    takings_init(&m->takings, &a->timeline, &a->sightings, is_sampled(a->trace));
    for (uint32_t i = 1; i < a->timeline.n_lines; i++)
        TRY(takings_walk(&m->takings, i, add_dependency, &m->dependencies));
    m->out->timed = m->takings.timed;
    m->out->passed_over.deep = m->takings.deep;
    m->out->passed_over.sightings = a->sightings.passed_over;
    m->out->passed_over.edges = m->dependencies.passed_over;
    m->out->edges =
        m->dependencies.uses.len / sizeof(struct lock_use) - dependencies_count(&m->dependencies);
    return dependencies_finish(&m->dependencies);
}

static int make(struct maker *m, struct arena *arena)
{
    TRY(make_graph(m));
    TRY(lock_cycles_find(&m->cycles, &m->dependencies, &m->order, m->out));
    if (m->cycles.v.len) {
        TRY(lock_sections_collect(&m->sections, &m->cycles, &m->dependencies, &m->takings));
        m->out->passed_over.sections = m->sections.passed_over;
    }
    TRY(fold_all(m));
    TRY(rank(m, arena));
    return check_reach(m);
}

int lock_order_find(struct lock_order *out, const struct analysis *a, struct arena *arena)
{
    struct maker m = {.a = a, .out = out, .partial = is_partial(a)};
    *out = (struct lock_order){0};
    int rc = make(&m, arena);
    lock_sections_fini(&m.sections);
    lock_cycles_fini(&m.cycles);
    dependencies_fini(&m.dependencies);
    thread_order_fini(&m.order);
    takings_fini(&m.takings);
    buf_fini(&m.folds);
    map_fini(&m.by_kinds);
    map_fini(&m.tuples);
    map_fini(&m.sides);
    return rc < 0 ? rc : 0;
}

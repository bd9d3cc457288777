#include "analyze/dependencies.h"

#include "analyze/sites.h"
#include "base/hash.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

int dependencies_init(struct dependencies *d, const struct trace *t, const struct timeline *tl,
                      const struct lock_set *locks, const struct thread_order *order)
{
    *d = (struct dependencies){.trace = t, .timeline = tl, .locks = locks, .order = order};
    d->site_of_stack = calloc(t->n_stacks + 1, sizeof *d->site_of_stack);
    return d->site_of_stack ? 0 : -ENOMEM;
}

void dependencies_fini(struct dependencies *d)
{
    buf_fini(&d->v);
    buf_fini(&d->uses);
    buf_fini(&d->users);
    map_fini(&d->by_uses);
    map_fini(&d->by_user);
    map_fini(&d->actors);
    map_fini(&d->sites);
    free(d->site_of_stack);
    free(d->members);
    free(d->edges);
    free(d->first);
    memset(d, 0, sizeof *d);
}

/* --- sites ------------------------------------------------------------------------------------ */

/* The number of a key, given when it is new; 0: memory is out. */
static uint32_t number_of(struct map *m, uint64_t key)
{
    uint64_t *place = map_put(m, key);
    if (!place)
        return 0;
    if (!*place)
        *place = m->len;
    return (uint32_t)*place;
}

/* Without the line: a lock is taken and given back on different ones. */
static int site_of(struct dependencies *d, const struct lock_order_place *at, bool seen,
                   uint32_t *site)
{
    uint32_t stack = at->stack.v;
    *site = 0;
    if (seen || !stack || stack >= d->trace->n_stacks)
        return 0;
    if (!d->site_of_stack[stack]) {
        struct place top, app;
        sites_name(d->trace, at->stack, &top, &app);
        uint32_t n = number_of(&d->sites, (uint64_t)top.method.v << 32 | app.method.v);
        if (!n)
            return -ENOMEM;
        d->site_of_stack[stack] = n;
    }
    *site = d->site_of_stack[stack];
    return 0;
}

/* --- interning -------------------------------------------------------------------------------- */

/* A taking as uses: the wanted lock, then the held ones, by id.  *n: 0 when nothing is left. */
static int make_uses(struct dependencies *d, const struct taking *k, const struct held *held,
                     size_t n_held, struct lock_use *v, size_t *n)
{
    size_t known = d->locks->n_objects;
    const struct lock_order_place at = taking_place(d->timeline, k);
    *n = 0;
    if (k->lock.v >= known)
        return 0;
    v[0] = (struct lock_use){.lock = k->lock.v, .shared = k->shared};
    TRY(site_of(d, &at, false, &v[0].site));
    size_t have = 1;
    for (size_t i = 0; i < n_held; i++) {
        struct lock_use x = {.lock = held[i].lock.v, .shared = held[i].shared};
        if (x.lock >= known)
            continue;
        TRY(site_of(d, &held[i].at, held[i].seen, &x.site));
        size_t place = have++;
        for (; place > 1 && v[place - 1].lock > x.lock; place--)
            v[place] = v[place - 1];
        v[place] = x;
    }
    *n = have > 1 ? have : 0;
    return 0;
}

static bool same_uses(const struct dependencies *d, uint32_t dependency, const struct lock_use *v,
                      size_t n)
{
    const struct dependency *x = dependency_at(d, dependency);
    return x->n_held + 1 == n && memcmp(lock_use_at(d, x->uses), v, n * sizeof *v) == 0;
}

/* 1 + index of the dependency with these uses; 0: it is not there. */
static uint32_t find_uses(const struct dependencies *d, const struct lock_use *v, size_t n,
                          uint64_t *key)
{
    for (*key = hash_place(v, n * sizeof *v, 0);; ++*key) {
        const uint64_t *known = map_find(&d->by_uses, *key);
        if (!known)
            return 0;
        if (same_uses(d, (uint32_t)*known - 1, v, n))
            return (uint32_t)*known;
    }
}

/* 1 + index; 0: it would be one too many; -ENOMEM. */
static int64_t add_uses(struct dependencies *d, const struct lock_use *v, size_t n, uint64_t key)
{
    uint32_t have = dependencies_count(d), uses = (uint32_t)(d->uses.len / sizeof *v);
    if (have == DEPENDENCIES_MAX || uses + n > LOCK_USES_MAX)
        return 0;
    buf_put(&d->v, &(struct dependency){.uses = uses, .n_held = (uint32_t)n - 1},
            sizeof(struct dependency));
    buf_put(&d->uses, v, n * sizeof *v);
    uint64_t *place = map_put(&d->by_uses, key);
    if (!place || d->v.oom || d->uses.oom)
        return -ENOMEM;
    *place = have + 1;
    return have + 1;
}

/* The same for the user of a dependency. */
static int64_t add_user(struct dependencies *d, uint32_t dependency, uint32_t thread,
                        uint32_t epoch, uint64_t key)
{
    uint32_t have = dependency_users_count(d);
    if (have == DEPENDENCY_USERS_MAX)
        return 0;
    buf_put(&d->users,
            &(struct dependency_user){.dependency = dependency, .thread = thread, .epoch = epoch},
            sizeof(struct dependency_user));
    uint64_t *place = map_put(&d->by_user, key);
    if (!place || d->users.oom)
        return -ENOMEM;
    *place = have + 1;
    return have + 1;
}

/* A key for a user of a dependency; 0: memory is out. */
static uint64_t user_key(struct dependencies *d, uint32_t dependency, uint32_t thread,
                         uint32_t epoch)
{
    uint32_t actor = number_of(&d->actors, (uint64_t)thread << 32 | epoch);
    return actor ? (uint64_t)dependency << 32 | actor : 0;
}

int dependencies_add(struct dependencies *d, uint32_t thread, const struct taking *k,
                     const struct held *held, size_t n_held)
{
    struct lock_use v[1 + HELD_MAX];
    size_t n;
    uint64_t key;
    TRY(make_uses(d, k, held, n_held, v, &n));
    if (!n)
        return 0;
    int64_t i = find_uses(d, v, n, &key);
    if (!i)
        i = add_uses(d, v, n, key);
    if (i <= 0) {
        d->passed_over++;
        return (int)i;
    }
    uint32_t epoch = thread_order_epoch(d->order, thread, k->from);
    key = user_key(d, (uint32_t)i - 1, thread, epoch);
    if (!key)
        return -ENOMEM;
    const uint64_t *known = map_find(&d->by_user, key);
    int64_t user = known ? (int64_t)*known : add_user(d, (uint32_t)i - 1, thread, epoch, key);
    if (user <= 0) {
        d->passed_over++;
        return (int)user;
    }
    dependency_user_at(d, (uint32_t)user - 1)->times++;
    dependency_at(d, (uint32_t)i - 1)->times++;
    return 0;
}

struct dependency_user *dependencies_find(struct dependencies *d, uint32_t thread,
                                          const struct taking *k, const struct held *held,
                                          size_t n_held)
{
    struct lock_use v[1 + HELD_MAX];
    size_t n;
    uint64_t key;
    if (make_uses(d, k, held, n_held, v, &n) < 0 || !n)
        return NULL;
    uint32_t i = find_uses(d, v, n, &key);
    if (!i)
        return NULL;
    key = user_key(d, i - 1, thread, thread_order_epoch(d->order, thread, k->from));
    const uint64_t *known = map_find(&d->by_user, key);
    return known ? dependency_user_at(d, (uint32_t)*known - 1) : NULL;
}

/* --- in the end ------------------------------------------------------------------------------- */

static int list_members(struct dependencies *d)
{
    uint32_t n = dependency_users_count(d), sum = 0;
    d->members = malloc((n + 1) * sizeof *d->members);
    if (!d->members)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        dependency_at(d, dependency_user_at(d, i)->dependency)->n_members++;
    for (uint32_t i = 0; i < dependencies_count(d); i++) {
        struct dependency *x = dependency_at(d, i);
        x->members = sum;
        sum += x->n_members;
        x->n_members = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct dependency_user *u = dependency_user_at(d, i);
        struct dependency *x = dependency_at(d, u->dependency);
        x->thread = x->n_members && x->thread != u->thread ? 0 : u->thread;
        d->members[x->members + x->n_members++] = i;
    }
    return 0;
}

static int by_locks(const void *a, const void *b)
{
    const struct lock_edge *x = a, *y = b;
    if (x->held != y->held)
        return x->held < y->held ? -1 : 1;
    if (x->wanted != y->wanted)
        return x->wanted < y->wanted ? -1 : 1;
    return (x->use > y->use) - (x->use < y->use);
}

static int make_edges(struct dependencies *d)
{
    size_t n_uses = d->uses.len / sizeof(struct lock_use);
    d->edges = calloc(n_uses + 1, sizeof *d->edges);
    if (!d->edges)
        return -ENOMEM;
    for (uint32_t i = 0; i < dependencies_count(d); i++) {
        const struct dependency *x = dependency_at(d, i);
        for (uint32_t k = 1; k <= x->n_held && x->n_members; k++)
            d->edges[d->n_edges++] = (struct lock_edge){.held = lock_use_at(d, x->uses + k)->lock,
                                                        .wanted = lock_use_at(d, x->uses)->lock,
                                                        .dependency = i,
                                                        .use = x->uses + k};
    }
    return 0;
}

/* --- what can be in a cycle ------------------------------------------------------------------- */

/* How many edges lead to each lock, and from it. */
struct degrees {
    uint32_t *in, *out; /* [n_locks] */
    bool *gone;
};

static void count_degrees(const struct dependencies *d, struct degrees *g)
{
    size_t n = d->locks->n_objects;
    memset(g->in, 0, n * sizeof *g->in);
    memset(g->out, 0, n * sizeof *g->out);
    for (uint32_t i = 0; i < d->n_edges; i++) {
        g->out[d->edges[i].held]++;
        g->in[d->edges[i].wanted]++;
    }
}

/* Throw out the edges of locks that none leads to, until there are no such locks; or, `back`, the
 * edges of locks that none leads from.  The edges are grouped by their beginnings (`back`:
 * ends). */
static int peel(const struct dependencies *d, struct degrees *g, const uint32_t *first, bool back)
{
    uint32_t *degree = back ? g->out : g->in;
    struct buf todo = {0};
    for (uint32_t i = 0; i < d->locks->n_objects; i++)
        if (!degree[i] && !g->gone[i]) {
            g->gone[i] = true;
            buf_put(&todo, &i, sizeof i);
        }
    while (todo.len && !todo.oom) {
        uint32_t lock;
        todo.len -= sizeof lock;
        memcpy(&lock, todo.p + todo.len, sizeof lock);
        for (uint32_t i = first[lock]; i < first[lock + 1]; i++) {
            uint32_t other = back ? d->edges[i].held : d->edges[i].wanted;
            if (--degree[other] || g->gone[other])
                continue;
            g->gone[other] = true;
            buf_put(&todo, &other, sizeof other);
        }
    }
    int rc = todo.oom ? -ENOMEM : 0;
    buf_fini(&todo);
    return rc;
}

static void find_first(const struct dependencies *d, uint32_t *first, bool back)
{
    size_t n = d->locks->n_objects;
    memset(first, 0, (n + 1) * sizeof *first);
    for (uint32_t i = 0; i < d->n_edges; i++)
        first[(back ? d->edges[i].wanted : d->edges[i].held) + 1]++;
    for (size_t i = 0; i < n; i++)
        first[i + 1] += first[i];
}

static int by_wanted(const void *a, const void *b)
{
    const struct lock_edge *x = a, *y = b;
    return x->wanted != y->wanted ? (x->wanted < y->wanted ? -1 : 1) : by_locks(a, b);
}

static void keep(struct dependencies *d, const struct degrees *g)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->n_edges; i++)
        if (!g->gone[d->edges[i].held] && !g->gone[d->edges[i].wanted])
            d->edges[n++] = d->edges[i];
    d->n_edges = n;
}

static int peel_both(struct dependencies *d, struct degrees *g)
{
    count_degrees(d, g);
    qsort(d->edges, d->n_edges, sizeof *d->edges, by_locks);
    find_first(d, d->first, false);
    TRY(peel(d, g, d->first, false));
    keep(d, g);
    count_degrees(d, g);
    qsort(d->edges, d->n_edges, sizeof *d->edges, by_wanted);
    find_first(d, d->first, true);
    TRY(peel(d, g, d->first, true));
    keep(d, g);
    qsort(d->edges, d->n_edges, sizeof *d->edges, by_locks);
    find_first(d, d->first, false);
    return 0;
}

static int leave_cyclic(struct dependencies *d)
{
    size_t n = d->locks->n_objects;
    struct degrees g = {calloc(n, sizeof *g.in), calloc(n, sizeof *g.out),
                        calloc(n, sizeof *g.gone)};
    d->first = malloc((n + 1) * sizeof *d->first);
    int rc = g.in && g.out && g.gone && d->first ? peel_both(d, &g) : -ENOMEM;
    free(g.in);
    free(g.out);
    free(g.gone);
    return rc;
}

/* Numbers the kinds from 0.  Two kinds with equal hashes become one (one pair in 2^40, for a
 * million kinds). */
static int name_kinds(struct dependencies *d)
{
    struct map kinds;
    map_init(&kinds);
    int rc = 0;
    for (uint32_t i = 0; i < d->n_edges && rc == 0; i++) {
        struct lock_edge *e = &d->edges[i];
        const struct lock_use *held = lock_use_at(d, e->use);
        const struct lock_use *wanted = lock_use_at(d, dependency_at(d, e->dependency)->uses);
        const uint32_t id[] = {lock_set_group(d->locks, (lock_id){held->lock}), held->site,
                               lock_set_group(d->locks, (lock_id){wanted->lock}), wanted->site};
        uint32_t number = number_of(&kinds, hash_place(id, sizeof id, 0));
        e->kind = number - 1;
        rc = number ? 0 : -ENOMEM;
    }
    d->n_kinds = (uint32_t)kinds.len;
    map_fini(&kinds);
    return rc;
}

int dependencies_finish(struct dependencies *d)
{
    if (d->v.oom || d->uses.oom || d->users.oom)
        return -ENOMEM;
    TRY(list_members(d));
    TRY(make_edges(d));
    TRY(leave_cyclic(d));
    return name_kinds(d);
}

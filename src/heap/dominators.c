#include "heap/dominators.h"

#include "base/clock.h"
#include "base/util.h"
#include "heap/varint.h"
#include "heap/workers.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* --- depth first ------------------------------------------------------------------------------ */

struct step { /* a node whose list is not done */
    const uint8_t *p;
    uint32_t node, pre;
};

struct search {
    const struct graph *g;
    struct dominators *t;
    struct step *stack;
    size_t depth, cap;
    uint32_t n;
};

/* What the list will ask for soon, so that it is there then. */
static inline void prefetch_list(const struct search *s, const uint8_t *p, uint32_t node)
{
    uint32_t to;
    for (int i = 0; i < 8 && varint_next(&p, node, &to); i++) {
        __builtin_prefetch(&s->t->pre[to]);
        __builtin_prefetch(&s->g->at[to]);
    }
}

static int visit(struct search *s, uint32_t node, uint32_t parent)
{
    if (s->depth == s->cap) {
        size_t cap = s->cap ? s->cap + s->cap / 2 : 4096;
        struct step *more = realloc(s->stack, cap * sizeof *more);
        if (!more)
            return -ENOMEM;
        s->stack = more;
        s->cap = cap;
    }
    uint32_t pre = ++s->n;
    s->t->pre[node] = pre;
    s->t->idom[pre] = parent;
    const uint8_t *p = graph_edges(s->g, node);
    prefetch_list(s, p, node);
    s->stack[s->depth++] = (struct step){p, node, pre};
    return 0;
}

static int search_from(struct search *s, uint32_t root)
{
    uint32_t to;
    if (s->t->pre[root])
        return 0;
    TRY(visit(s, root, 0));
    while (s->depth > 0) {
        struct step *top = &s->stack[s->depth - 1];
        if (!varint_next(&top->p, top->node, &to))
            s->depth--;
        else if (!s->t->pre[to])
            TRY(visit(s, to, top->pre));
    }
    return 0;
}

/* idom is the parent in the search's tree for now. */
static int search_all(struct dominators *t, const struct graph *g)
{
    struct search s = {.g = g, .t = t};
    int rc = 0;
    for (uint32_t i = 0; i < g->n_roots && rc == 0; i++)
        rc = search_from(&s, g->roots[i]);
    free(s.stack);
    t->n_reached = s.n;
    return rc;
}

/* --- references the other way round ----------------------------------------------------------- */

/* A reference from u to w with u < w can only make u itself the semidominator: the least such is
 * kept in `label`.  Those with u > w are listed by w. */
struct reverse {
    const struct graph *g;
    const struct dominators *t;
    _Atomic uint32_t *label; /* relaxed: a minimum, read after joining */
    _Atomic uint32_t *ends;  /* [w + 1]: where w's list ends, then begins, as it is filled;
                                [0]: how many in all */
    uint32_t *from;
    bool fill;
};

static void lower(_Atomic uint32_t *label, uint32_t u)
{
    uint32_t now = atomic_load_explicit(label, memory_order_relaxed);
    while (u < now && !atomic_compare_exchange_weak_explicit(label, &now, u, memory_order_relaxed,
                                                             memory_order_relaxed))
        ;
}

static void reverse_edge(struct reverse *r, uint32_t u, uint32_t w)
{
    if (u > w) {
        if (!r->fill)
            atomic_fetch_add_explicit(&r->ends[w + 1], 1, memory_order_relaxed);
        else
            r->from[atomic_fetch_sub_explicit(&r->ends[w + 1], 1, memory_order_relaxed) - 1] = u;
    } else if (!r->fill && u < w) {
        lower(&r->label[w], u);
    }
}

enum { TOGETHER = 64 };

/* A node's list, and those of what follows it: looked up in the file's order, the numbers of their
 * targets are spread over all memory, so they are asked for before they are needed. */
static int reverse_chunk(void *ctx, unsigned worker, uint64_t chunk)
{
    struct reverse *r = ctx;
    uint32_t node = (uint32_t)(chunk * GRAPH_CHUNK), to, w[TOGETHER], u[TOGETHER];
    uint32_t end = (uint32_t)min_u64(node + (uint64_t)GRAPH_CHUNK, r->g->n_nodes);
    int n = 0;
    (void)worker;
    for (; node < end; node++) {
        uint32_t pre = r->t->pre[node];
        if (!pre)
            continue;
        for (const uint8_t *p = graph_edges(r->g, node); varint_next(&p, node, &to);) {
            __builtin_prefetch(&r->t->pre[to]);
            u[n] = pre;
            w[n++] = to;
            if (n < TOGETHER)
                continue;
            for (int i = 0; i < n; i++) {
                w[i] = r->t->pre[w[i]];
                __builtin_prefetch((void *)&r->ends[w[i] + 1], 1);
                __builtin_prefetch((void *)&r->label[w[i]], 1);
            }
            for (int i = 0; i < n; i++)
                reverse_edge(r, u[i], w[i]);
            n = 0;
        }
    }
    for (int i = 0; i < n; i++)
        reverse_edge(r, u[i], r->t->pre[w[i]]);
    return 0;
}

static int run_reverse(struct reverse *r, unsigned workers, bool fill)
{
    r->fill = fill;
    return workers_run(workers, ((uint64_t)r->g->n_nodes + GRAPH_CHUNK - 1) / GRAPH_CHUNK,
                       reverse_chunk, r);
}

static int reverse_all(struct reverse *r, unsigned workers)
{
    uint32_t n = r->t->n_reached;
    uint64_t sum = 0;
    for (uint32_t w = 0; w <= n; w++) {
        atomic_init(&r->label[w], w ? r->t->idom[w] : 0);
        atomic_init(&r->ends[w], 0);
    }
    atomic_init(&r->ends[n + 1], 0);
    for (uint32_t i = 0; i < r->g->n_roots; i++)
        atomic_init(&r->label[r->t->pre[r->g->roots[i]]], 0);
    TRY(run_reverse(r, workers, false));
    for (uint32_t w = 0; w <= n + 1; w++) {
        sum += atomic_load_explicit(&r->ends[w], memory_order_relaxed);
        atomic_init(&r->ends[w], (uint32_t)sum);
    }
    if (sum > UINT32_MAX)
        return -EOVERFLOW;
    atomic_init(&r->ends[0], (uint32_t)sum);
    r->from = malloc((sum + 1) * sizeof *r->from);
    return r->from ? run_reverse(r, workers, true) : -ENOMEM;
}

/* --- semidominators --------------------------------------------------------------------------- */

struct semi {
    uint32_t *ancestor; /* nearest one that is not known to be above w, else its parent */
    uint32_t *label;    /* least semidominator from the node up to its ancestor, exclusive */
    uint32_t *path;
    size_t cap;
};

/* Bring v's label to the least on its path up to w, exclusive, and shorten the path. */
static int compress(struct semi *s, uint32_t v, uint32_t w)
{
    size_t n = 0;
    for (uint32_t x = v; s->ancestor[x] > w; x = s->ancestor[x]) {
        if (n == s->cap) {
            size_t cap = s->cap ? 2 * s->cap : 4096;
            uint32_t *more = realloc(s->path, cap * sizeof *more);
            if (!more)
                return -ENOMEM;
            s->path = more;
            s->cap = cap;
        }
        s->path[n++] = x;
    }
    while (n > 0) {
        uint32_t x = s->path[--n], up = s->ancestor[x];
        s->label[x] = min_u32(s->label[x], s->label[up]);
        s->ancestor[x] = s->ancestor[up];
    }
    return 0;
}

/* begins[w + 1] is where w's list begins, and w's semidominator afterwards. */
static int semidominators(uint32_t n, uint32_t *begins, uint32_t total, const uint32_t *from,
                          struct semi *s)
{
    uint32_t end = total;
    for (uint32_t w = n; w > 0; w--) {
        uint32_t least = s->label[w], begin = begins[w + 1];
        for (uint32_t i = begin; i < end && least > 0; i++) {
            if (i + 8 < end)
                __builtin_prefetch(&s->ancestor[from[i + 8]]);
            TRY(compress(s, from[i], w));
            least = min_u32(least, s->label[from[i]]);
        }
        s->label[w] = least;
        begins[w + 1] = least;
        end = begin;
    }
    return 0;
}

/* The way up from w's parent in the search to the nearest one at or above w's semidominator, in the
 * tree of dominators as far as it is made.  Short as a rule; where it is not, a graph can have each
 * of its nodes go all the way, so beyond STEPS_EACH steps a node each node gets a second, longer
 * link upwards (Myers: skew-binary numbers), by which every way has a logarithm of steps. */
struct climb {
    struct dominators *t;
    const uint32_t *semi;   /* [w + 1] */
    uint32_t *jump, *depth; /* NULL: no second links yet */
    uint64_t left;          /* steps until there are */
};

enum { STEPS_EACH = 16 };

static void link_second(struct climb *c, uint32_t w)
{
    uint32_t up = c->t->idom[w], j = c->jump[up];
    c->depth[w] = c->depth[up] + 1;
    c->jump[w] = c->depth[up] - c->depth[j] == c->depth[j] - c->depth[c->jump[j]] ? c->jump[j] : up;
}

/* For those below w, whose dominators are known. */
static int make_second(struct climb *c, uint32_t w)
{
    size_t n = (size_t)c->t->n_reached + 1;
    c->jump = calloc(n, sizeof *c->jump);
    c->depth = calloc(n, sizeof *c->depth);
    if (!c->jump || !c->depth)
        return -ENOMEM;
    for (uint32_t i = 1; i < w; i++)
        link_second(c, i);
    return 0;
}

static int climb(struct climb *c, uint32_t w)
{
    uint32_t x = c->t->idom[w], to = c->semi[w + 1];
    for (; x > to && c->left > 0; c->left--)
        x = c->t->idom[x];
    if (c->left == 0 && !c->jump)
        TRY(make_second(c, w));
    while (x > to)
        x = c->jump[x] > to ? c->jump[x] : c->t->idom[x];
    c->t->idom[w] = x;
    if (c->jump)
        link_second(c, w);
    return 0;
}

static int nearest_common(struct dominators *t, const uint32_t *semi)
{
    struct climb c = {.t = t, .semi = semi, .left = (uint64_t)STEPS_EACH * t->n_reached};
    int rc = 0;
    for (uint32_t w = 1; w <= t->n_reached && rc == 0; w++)
        rc = climb(&c, w);
    free(c.jump);
    free(c.depth);
    return rc;
}

static int solve(struct dominators *t, struct reverse *r, uint32_t *begins, uint32_t *label)
{
    struct semi s = {.label = label};
    size_t bytes = ((size_t)t->n_reached + 1) * sizeof *s.ancestor;
    s.ancestor = malloc(bytes);
    if (!s.ancestor)
        return -ENOMEM;
    memcpy(s.ancestor, t->idom, bytes);
    int rc = semidominators(t->n_reached, begins, begins[0], r->from, &s);
    free(s.ancestor);
    free(s.path);
    return rc == 0 ? nearest_common(t, begins) : rc;
}

/* --- all of it -------------------------------------------------------------------------------- */

static int find(struct dominators *t, struct graph *g, unsigned workers)
{
    uint64_t began = clock_mono_ns();
    t->pre = calloc((size_t)g->n_nodes + 1, sizeof *t->pre);
    t->idom = malloc(((size_t)g->n_nodes + 1) * sizeof *t->idom);
    if (!t->pre || !t->idom)
        return -ENOMEM;
    t->idom[0] = 0;
    TRY(search_all(t, g));
    t->dfs_ns = clock_mono_ns() - began;
    size_t n = (size_t)t->n_reached + 2;
    struct reverse r = {.g = g, .t = t};
    r.label = malloc(n * sizeof *r.label);
    r.ends = malloc(n * sizeof *r.ends);
    int rc = r.label && r.ends ? reverse_all(&r, workers) : -ENOMEM;
    t->reverse_ns = clock_mono_ns() - began - t->dfs_ns;
    if (rc == 0) {
        graph_drop_edges(g);
        /* One thread goes on, for which they are plain numbers. */
        rc = solve(t, &r, (uint32_t *)(uintptr_t)r.ends, (uint32_t *)(uintptr_t)r.label);
    }
    t->semi_ns = clock_mono_ns() - began - t->dfs_ns - t->reverse_ns;
    free((void *)r.label);
    free((void *)r.ends);
    free(r.from);
    return rc;
}

int dominators_find(struct dominators *t, struct graph *g, unsigned workers, struct err *err)
{
    *t = (struct dominators){0};
    int rc = find(t, g, workers);
    if (rc < 0) {
        dominators_fini(t);
        err_set(err, rc, rc == -ENOMEM ? "out of memory" : "too many references for Orca");
    }
    return rc;
}

void dominators_fini(struct dominators *t)
{
    free(t->pre);
    free(t->idom);
    *t = (struct dominators){0};
}

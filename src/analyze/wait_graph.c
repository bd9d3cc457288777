#include "analyze/wait_graph.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct maker {
    const struct trace *t;
    const struct timeline *tl;
    const struct thread_set *threads;
    struct wait_graph *out;
    struct arena *a;
    uint64_t *ns, *count; /* [POOLS_MAX * POOLS_MAX], and one for threads of no pool */
    uint64_t steps;
};

/* --- pools ------------------------------------------------------------------------------------ */

/* How much of a name stands before the number at its end. */
static size_t before_number(const char *name)
{
    size_t len = strlen(name);
    while (len && name[len - 1] >= '0' && name[len - 1] <= '9')
        len--;
    return len;
}

/* The length of the number that a text begins with, as "17" or "0x5f3a"; 0: with none. */
static size_t number_length(const char *s)
{
    size_t n = strspn(s, "0123456789");
    size_t hex = strncmp(s, "0x", 2) == 0 ? strspn(s + 2, "0123456789abcdefABCDEF") : 0;
    return hex ? hex + 2 : n;
}

bool pool_is_same(const char *name, const char *other)
{
    size_t n = before_number(name), m = before_number(other);
    if (name[n] || other[m])
        return n == m && strncmp(name, other, n) == 0 && name[n] && other[m];
    while (*name && *other) {
        size_t x = number_length(name), y = number_length(other);
        if (!x != !y || (!x && *name != *other))
            return false;
        name += x ? x : 1;
        other += x ? y : 1;
    }
    return *name == *other;
}

void pool_name(const char *name, char *out, size_t n)
{
    size_t len = before_number(name), k = 0;
    if (name[len]) {
        snprintf(out, n, "%.*s#", (int)(len < n - 2 ? len : n - 2), name);
        return;
    }
    while (*name && k + 1 < n) {
        size_t number = number_length(name);
        out[k++] = number ? '#' : *name;
        name += number ? number : 1;
    }
    out[k] = 0;
}

/* The last one takes whatever has no room. */
static uint32_t pool_of(struct maker *m, const char *name, struct map *known)
{
    struct wait_graph *g = m->out;
    for (uint64_t key = hash_place(name, strlen(name), 0);; key++) {
        uint64_t *place = map_put(known, key);
        if (!place)
            return 0;
        if (*place && strcmp(g->pools[*place - 1].name, name) == 0)
            return (uint32_t)*place;
        if (*place)
            continue;
        bool full = g->n_pools == POOLS_MAX;
        if (!full) {
            const char *copy =
                g->n_pools == POOLS_MAX - 1 ? "others" : arena_strndup(m->a, name, strlen(name));
            if (!copy)
                return 0;
            g->pools[g->n_pools++] = (struct pool){.name = copy};
        }
        *place = g->n_pools;
        return (uint32_t)g->n_pools;
    }
}

static uint64_t waiting_ns(const struct maker *m, uint32_t thread)
{
    const struct line *l = &m->tl->lines[thread];
    uint64_t ns = 0;
    for (uint32_t i = 0; i < l->spans.n; i++)
        ns += span_len(m->tl, line_span(l, i));
    return ns;
}

static int make_pools(struct maker *m)
{
    struct wait_graph *g = m->out;
    struct map known;
    char name[256];
    int rc = 0;
    g->pools = arena_alloc(m->a, POOLS_MAX * sizeof *g->pools);
    g->pool_of = arena_alloc(m->a, m->threads->n * sizeof *g->pool_of);
    if (!g->pools || !g->pool_of)
        return -ENOMEM;
    map_init(&known);
    for (uint32_t i = 1; i < m->threads->n && rc == 0; i++) {
        const struct thread_stats *s = &m->threads->v[i];
        if (!bottle_counts(m->t, s) || (!s->defined && !s->seen) || (s->gone && !s->seen))
            continue;
        pool_name(trace_thread(m->t, s->id)->name, name, sizeof name);
        g->pool_of[i] = pool_of(m, name, &known);
        rc = g->pool_of[i] ? 0 : -ENOMEM;
        struct pool *p = rc ? NULL : &g->pools[g->pool_of[i] - 1];
        uint64_t waited = i < m->tl->n_lines ? waiting_ns(m, i) : 0;
        if (!p)
            break;
        p->first = p->threads++ ? p->first : i;
        p->life += thread_life(s);
        p->running += thread_life(s) - min_u64(waited, thread_life(s));
    }
    map_fini(&known);
    return rc;
}

/* --- edges ------------------------------------------------------------------------------------ */

/* A wait that is to be charged. */
struct charge {
    uint32_t waiter, waker;
    uint64_t from, to;
    uint32_t lock; /* what it is for; 0: no lock */
    bool seen;     /* the waker is the last owner seen */
};

static size_t edge_of(const struct maker *m, const struct charge *c)
{
    uint32_t from = m->out->pool_of[c->waiter], to = m->out->pool_of[c->waker];
    return from && to ? (size_t)(from - 1) * POOLS_MAX + to - 1 : (size_t)POOLS_MAX * POOLS_MAX;
}

static void add(struct maker *m, const struct charge *c, bool direct)
{
    size_t at = edge_of(m, c);
    m->ns[at] += c->to - c->from;
    m->count[at] += direct;
}

/* While the waker waited for the same lock, other threads had the lock: takes that time off. */
static void take_off(struct maker *m, const struct charge *c, const struct charge *part)
{
    if (c->lock && c->lock == part->lock)
        m->ns[edge_of(m, c)] -= part->to - part->from;
}

/* A span's parts: it waits, and then it reacquires a monitor. */
enum { WAITS, TAKES_AGAIN, PARTS };

/* The end of the time that a wait is charged to its waker: when the waker acted.  If the release of
 * a monitor is not recorded, the end is at the latest when the owner began a wait that outlasted
 * the span: another thread then had the monitor, unseen. */
static uint64_t until(const struct timeline *tl, const struct regain *by, uint64_t start,
                      uint64_t end)
{
    const struct span s = {.start = start, .waker = by->owner, .cause = by->cause};
    bool seen = cause_type(by->cause) == CAUSE_NONE;
    uint64_t wake = seen ? end : min_u64(max_u64(span_wake_time(tl, &s), start), end);
    const struct line *l = &tl->lines[by->owner];
    uint32_t n = seen ? line_spans_until(l, end) : 0;
    const struct span *own = n ? line_span(l, n - 1) : NULL;
    own = own && span_is_unknown(tl, own) ? NULL : own;
    return own && own->start > start && span_end(tl, own) > end ? own->start : wake;
}

/* The charge for a part of a thread's span: the waker, the time and the lock; waker 0: unknown. */
static struct charge charge_of(const struct timeline *tl, uint32_t thread, uint32_t index,
                               unsigned part)
{
    const struct line *l = &tl->lines[thread];
    const struct span *s = line_span(l, index);
    const struct context *x = timeline_context(tl, s->context);
    bool lock = x->what == STATE_BLOCKED || x->what == STATE_REACQUIRING || x->what == STATE_PARKED;
    struct charge c = {.waiter = thread, .from = s->start, .lock = lock ? x->lock.v : 0};
    const struct regain waker = {.owner = s->waker, .cause = s->cause}, *by = &waker;
    if (!s->waker || (part == TAKES_AGAIN && x->what != STATE_WAITING))
        return c;
    if (part == TAKES_AGAIN) {
        c.from = span_waited_until(tl, s);
        c.lock = x->lock.v;
        by = c.from < span_end(tl, s) ? line_regain(l, index) : NULL;
    }
    if (by) {
        c.waker = by->owner;
        c.seen = by->owner && by->cause & CAUSE_SEEN;
        c.to = until(tl, by, c.from, span_end(tl, s));
    }
    return c;
}

/* Charge it, and what its waker waited for in that time.  The waits behind it are on a stack; a
 * thread that is on it already is not followed again. */
static void cascade(struct maker *m, const struct charge *first)
{
    struct {
        struct charge c;
        uint32_t next; /* 1 + the part of the waker's spans to be looked at, going back; 0: done */
    } stack[WAIT_GRAPH_DEPTH];
    unsigned depth = 0;
    stack[0].c = *first;
    stack[0].next = PARTS * line_spans_until(&m->tl->lines[first->waker], first->to);
    add(m, first, true);
    for (;;) {
        const struct charge *c = &stack[depth].c;
        struct charge x = {.waker = 0};
        while (!x.waker && stack[depth].next && ++m->steps < WAIT_GRAPH_STEPS) {
            uint32_t at = --stack[depth].next;
            const struct span *s = line_span(&m->tl->lines[c->waker], at / PARTS);
            if (span_end(m->tl, s) <= c->from)
                stack[depth].next = 0;
            else
                x = charge_of(m->tl, c->waker, at / PARTS, at % PARTS);
        }
        if (!x.waker) {
            if (depth-- == 0)
                return;
            continue;
        }
        x.waiter = first->waiter;
        x.from = max_u64(x.from, c->from);
        x.to = min_u64(x.to, c->to);
        bool on_stack = x.waker == first->waiter;
        for (unsigned i = 0; i <= depth; i++)
            on_stack |= stack[i].c.waker == x.waker;
        if (on_stack || x.from >= x.to)
            continue;
        take_off(m, c, &x);
        add(m, &x, false);
        if (depth + 1 < WAIT_GRAPH_DEPTH) {
            stack[++depth].c = x;
            stack[depth].next = PARTS * line_spans_until(&m->tl->lines[x.waker], x.to);
        }
    }
}

static void charge_line(struct maker *m, uint32_t thread)
{
    const struct line *l = &m->tl->lines[thread];
    for (uint32_t i = 0; i < PARTS * l->spans.n && m->steps < WAIT_GRAPH_STEPS; i++) {
        const struct charge c = charge_of(m->tl, thread, i / PARTS, i % PARTS);
        if (!c.waker)
            continue;
        m->steps++;
        if (c.from >= c.to)
            continue;
        m->out->charged += c.to - c.from;
        m->out->charged_seen += c.seen ? c.to - c.from : 0;
        m->out->pools[m->out->pool_of[thread] - 1].waited += c.to - c.from;
        cascade(m, &c);
    }
}

static int heaviest_first(const void *a, const void *b)
{
    const struct pool_edge *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static int list_edges(struct maker *m, uint64_t length)
{
    struct wait_graph *g = m->out;
    size_t n = 0;
    for (size_t i = 0; i < (size_t)POOLS_MAX * POOLS_MAX; i++)
        n += m->ns[i] > 0;
    g->edges = arena_alloc(m->a, n * sizeof *g->edges);
    if (!g->edges)
        return -ENOMEM;
    for (uint32_t i = 0; i < POOLS_MAX * POOLS_MAX; i++)
        if (m->ns[i])
            g->edges[g->n_edges++] =
                (struct pool_edge){i / POOLS_MAX, i % POOLS_MAX, m->ns[i], m->count[i]};
    qsort(g->edges, g->n_edges, sizeof *g->edges, heaviest_first);
    uint64_t light = length / 1000 * WAIT_GRAPH_LIGHT;
    while (g->n_heavy < g->n_edges && g->edges[g->n_heavy].ns > light)
        g->n_heavy++;
    return 0;
}

/* --- knots ------------------------------------------------------------------------------------ */

/* Whether heavy edges lead from one pool to another: reach[from * n + to], Warshall. */
static void close_reach(const struct wait_graph *g, bool *reach)
{
    size_t n = g->n_pools;
    for (size_t i = 0; i < g->n_heavy; i++)
        reach[g->edges[i].from * n + g->edges[i].to] = true;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; reach[i * n + k] && j < n; j++)
                reach[i * n + j] |= reach[k * n + j];
}

/* Whether everything that a pool reaches leads back to it. */
static bool is_in_knot(const bool *reach, size_t n, size_t pool)
{
    for (size_t j = 0; j < n; j++)
        if (reach[pool * n + j] && !reach[j * n + pool])
            return false;
    return true;
}

static bool is_waited_for(const struct wait_graph *g, size_t pool)
{
    for (size_t i = 0; i < g->n_heavy; i++)
        if (g->edges[i].to == pool)
            return true;
    return false;
}

static int find_knots(struct maker *m)
{
    struct wait_graph *g = m->out;
    size_t n = g->n_pools;
    bool *reach = calloc(n * n + 1, sizeof *reach);
    if (!reach)
        return -ENOMEM;
    close_reach(g, reach);
    for (size_t i = 0; i < n; i++) {
        if (g->pools[i].knot || !is_waited_for(g, i) || !is_in_knot(reach, n, i))
            continue;
        g->pools[i].knot = ++g->n_knots;
        for (size_t j = 0; j < n; j++)
            if (reach[i * n + j] && reach[j * n + i])
                g->pools[j].knot = g->n_knots;
    }
    free(reach);
    return 0;
}

static int make(struct maker *m, uint64_t length)
{
    m->ns = calloc((size_t)POOLS_MAX * POOLS_MAX + 1, sizeof *m->ns);
    m->count = calloc((size_t)POOLS_MAX * POOLS_MAX + 1, sizeof *m->count);
    if (!m->ns || !m->count)
        return -ENOMEM;
    TRY(make_pools(m));
    for (uint32_t i = 1; i < m->tl->n_lines && i < m->threads->n; i++)
        if (m->out->pool_of[i])
            charge_line(m, i);
    m->out->whole = m->steps < WAIT_GRAPH_STEPS;
    TRY(list_edges(m, length));
    return find_knots(m);
}

int wait_graph_make(struct wait_graph *out, const struct trace *t, const struct timeline *tl,
                    const struct thread_set *threads, uint64_t length, struct arena *a)
{
    struct maker m = {.t = t, .tl = tl, .threads = threads, .out = out, .a = a};
    memset(out, 0, sizeof *out);
    int rc = make(&m, length);
    free(m.ns);
    free(m.count);
    return rc;
}

#include "analyze/stats.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* Sums of one context.  One cache line: with many contexts each wait touches another one. */
struct cell {
    uint64_t count, ns, min, max, first, last;
    uint64_t unknown, summed;
    uint32_t open;
};

struct maker {
    struct stats *out;
    const struct stats_source *from;
    struct cell *cells;                  /* [contexts.n]: in the context's own state */
    struct cell *again;                  /* [contexts.n]: of WAITING ones: after the notify */
    uint32_t *group;                     /* [contexts.n] */
    uint32_t *last_class[STATS_COLUMNS]; /* [n_groups]: 1 + the thread counted last */
    uint32_t *last_site[STATS_COLUMNS];  /* [sites.n] */
    struct map objects;                  /* hash of site, state, lock: counted */
};

/* --- one wait --------------------------------------------------------------------------------- */

/* A wait, or the part of a wait in one state. */
struct part {
    uint32_t thread, context;
    unsigned state, flags;
    uint64_t start, end;
    uint64_t n, longest; /* number of waits in one, as a sum; the longest of them */
    bool summed;
};

static void add_time(struct cell *c, const struct part *p)
{
    uint64_t start = p->start, end = p->end, n = p->n;
    if (c->count == 0 && c->max == 0)
        c->min = c->first = UINT64_MAX;
    c->count += n;
    c->first = min_u64(c->first, start);
    c->last = max_u64(c->last, end);
    c->summed += p->summed ? n : 0;
    if (p->flags & INTERVAL_UNKNOWN) {
        c->unknown++;
        return;
    }
    c->open += p->flags & INTERVAL_OPEN;
    c->ns += end - start;
    c->min = n ? min_u64(c->min, (end - start) / n) : c->min;
    c->max = max_u64(c->max, min_u64(p->longest, end - start));
}

static void count_thread(struct wait_stats *s, uint32_t *last, uint32_t thread)
{
    s->threads += *last != thread + 1;
    *last = thread + 1;
}

/* Whether the question is about this lock. */
static bool is_chosen(const struct maker *m, lock_id lock)
{
    return !m->out->selection.lock || m->out->selection.lock == lock.v;
}

static bool holds_up(const struct maker *m, uint32_t context, unsigned state)
{
    return purposes_held_up(m->from->purposes, context, state);
}

/* Count it in a state, or in HELD_UP. */
static int add_to_column(struct maker *m, const struct part *p, unsigned column)
{
    struct stats *out = m->out;
    uint32_t site = m->from->sites->of_context[p->context], group = m->group[p->context];
    struct state_stats *t = &out->threads[p->thread].state[column];
    bool unknown = p->flags & INTERVAL_UNKNOWN;
    t->count += p->n;
    t->ns += unknown ? 0 : p->end - p->start;
    count_thread(&out->classes[group].state[column], &m->last_class[column][group], p->thread);
    count_thread(&out->sites[site].state[column], &m->last_site[column][site], p->thread);
    return unknown ? 0
                   : percentile_add(&out->sites[site].state[column].times,
                                    p->n ? (p->end - p->start) / p->n : 0, p->n, &out->arena);
}

static int add_part(struct maker *m, struct cell *c, struct part p)
{
    struct stats *out = m->out;
    struct thread_sums *t = &out->threads[p.thread];
    if (!selection_clip(&out->selection, &p.start, &p.end))
        return 0;
    bool unknown = p.flags & INTERVAL_UNKNOWN;
    add_time(c, &p);
    t->unknown += unknown;
    t->open += !unknown && p.flags & INTERVAL_OPEN;
    TRY(add_to_column(m, &p, p.state));
    if (holds_up(m, p.context, p.state))
        TRY(add_to_column(m, &p, HELD_UP));
    if (unknown)
        return 0;
    enum wait_for what = purposes_for(m->from->purposes, p.context, p.state);
    if (what < FOR_LIMIT)
        t->waited_for[what] += p.end - p.start;
    uint32_t owner = m->from->sites->of_owner[p.context];
    if (owner == NO_SITE)
        return 0;
    weigh_add(&out->classes[m->group[p.context]].asked, owner, p.end - p.start);
    return percentile_add(&out->owner_sites[owner].times, p.end - p.start, 1, &out->arena);
}

/* Not a wait: it counts for its thread alone. */
static void add_unknown(struct maker *m, uint32_t thread, uint64_t start, uint64_t end)
{
    struct state_stats *t = &m->out->threads[thread].state[STATE_UNKNOWN];
    if (!selection_clip(&m->out->selection, &start, &end))
        return;
    t->count++;
    t->ns += end - start;
}

static int add_span(struct maker *m, uint32_t thread, const struct span *s)
{
    const struct timeline *t = m->from->timeline;
    const struct selection *sel = &m->out->selection;
    const struct context *x = timeline_context(t, s->context);
    uint64_t end = span_end(t, s);
    if (s->start > sel->to || !is_chosen(m, x->lock))
        return 0;
    if (x->what == STATE_UNKNOWN) {
        add_unknown(m, thread, s->start, end);
        return 0;
    }
    if (x->flags & INTERVAL_REACQUIRED) {
        uint64_t start = s->start;
        bool in = selection_clip(sel, &start, &end);
        m->out->threads[thread].reacquired += in;
        m->out->classes[m->group[s->context]].reacquired += in;
        return 0;
    }
    struct wait_part v[2];
    unsigned n = span_parts(t, s, v);
    bool summed = span_is_summed(t, s);
    for (unsigned i = 0; i < n; i++)
        TRY(add_part(m, v[i].again ? &m->again[s->context] : &m->cells[s->context],
                     (struct part){thread, s->context, v[i].state, v[i].flags, v[i].from, v[i].to,
                                   span_count(t, s), summed ? span_longest(t, s) : UINT64_MAX,
                                   summed}));
    return 0;
}

/* --- sums of contexts ------------------------------------------------------------------------- */

static void add_cell(struct wait_stats *to, const struct cell *c)
{
    to->count += c->count;
    to->unknown += c->unknown;
    to->summed += c->summed;
    to->open += c->open;
    to->ns += c->ns;
    to->min = min_u64(to->min, c->min);
    to->max = max_u64(to->max, c->max);
    to->first = min_u64(to->first, c->first);
    to->last = max_u64(to->last, c->last);
}

/* Count an object once for each site. */
static int count_object(struct maker *m, uint32_t site, unsigned state, lock_id lock)
{
    const uint32_t id[] = {site, state, lock.v};
    uint64_t *known = lock.v ? map_put(&m->objects, hash_place(id, sizeof id, 0)) : NULL;
    if (!known)
        return lock.v ? -ENOMEM : 0;
    m->out->sites[site].state[state].objects += *known == 0;
    *known = 1;
    return 0;
}

static struct lock_stats *lock_stats(const struct maker *m, lock_id lock)
{
    return &m->out->locks[lock.v < m->from->locks->n_objects ? lock.v : 0];
}

static void add_lock(struct maker *m, uint32_t group, unsigned state, lock_id lock,
                     const struct cell *c)
{
    struct lock_stats *l = lock_stats(m, lock);
    struct class_stats *k = &m->out->classes[group];
    if (lock.v) {
        k->state[state].objects += l->state[state].count == 0;
        k->objects += (state == STATE_BLOCKED || state == STATE_WAITING) &&
                      l->state[STATE_BLOCKED].count == 0 && l->state[STATE_WAITING].count == 0;
    }
    l->state[state].count += c->count;
    l->state[state].ns += c->ns;
}

static int add_cell_to_column(struct maker *m, uint32_t context, unsigned column,
                              const struct cell *c)
{
    const struct context *x = timeline_context(m->from->timeline, context);
    uint32_t site = m->from->sites->of_context[context], group = m->group[context];
    m->out->total[column].count += c->count;
    m->out->total[column].ns += c->ns;
    add_lock(m, group, column, x->lock, c);
    add_cell(&m->out->classes[group].state[column], c);
    add_cell(&m->out->sites[site].state[column], c);
    return count_object(m, site, column, x->lock);
}

static int add_context(struct maker *m, uint32_t context, unsigned state, const struct cell *c)
{
    const struct context *x = timeline_context(m->from->timeline, context);
    uint32_t owner = m->from->sites->of_owner[context];
    if (!c->count && !c->ns)
        return 0;
    if (state == STATE_WAITING && x->flags & INTERVAL_TIMED_OUT)
        m->out->classes[m->group[context]].timed_out += c->count;
    if (owner != NO_SITE && c->count > c->unknown)
        add_cell(&m->out->owner_sites[owner], c);
    TRY(add_cell_to_column(m, context, state, c));
    return holds_up(m, context, state) ? add_cell_to_column(m, context, HELD_UP, c) : 0;
}

static int add_contexts(struct maker *m)
{
    const struct contexts *c = &m->from->timeline->contexts;
    for (uint32_t i = 1; i < c->n; i++) {
        if (c->v[i].what >= WAIT_STATES)
            continue;
        TRY(add_context(m, i, c->v[i].what, &m->cells[i]));
        TRY(add_context(m, i, STATE_REACQUIRING, &m->again[i]));
    }
    return 0;
}

/* --- threads ---------------------------------------------------------------------------------- */

static void add_hold(struct maker *m, const struct span *h)
{
    const struct timeline *t = m->from->timeline;
    const struct context *x = timeline_context(t, h->context);
    uint64_t start = h->start, end = span_end(t, h);
    if (x->mode == 2 || !is_chosen(m, x->lock) || !selection_clip(&m->out->selection, &start, &end))
        return;
    struct lock_stats *l = lock_stats(m, x->lock);
    l->holds++;
    l->held_ns += end - start;
    l->held_max = max_u64(l->held_max, end - start);
}

static int add_line(struct maker *m, uint32_t thread)
{
    enum { AHEAD = 8 };
    const struct line *l = &m->from->timeline->lines[thread];
    for (uint32_t i = 0, n; i < l->spans.n; i += n) {
        const struct span *s = run_stretch(&l->spans, sizeof *s, i, &n);
        for (uint32_t k = 0; k < n; k++) {
            if (k + AHEAD < n)
                __builtin_prefetch(&m->cells[s[k + AHEAD].context], 1);
            TRY(add_span(m, thread, &s[k]));
        }
    }
    for (uint32_t i = 0; i < l->holds.n; i++)
        add_hold(m, line_hold(l, i));
    return 0;
}

static int add_lines(struct maker *m)
{
    const struct thread_set *ts = m->from->threads;
    for (uint32_t i = 0; i < ts->n; i++) {
        if (!selection_has(&m->out->selection, i))
            continue;
        uint64_t from = ts->v[i].from, to = ts->v[i].to;
        if (selection_clip(&m->out->selection, &from, &to)) {
            struct thread_sums *s = &m->out->threads[i];
            s->life = to - from;
            halts_between(m->from->halts, i, from, to, s->halted);
            stills_between(m->from->stills, i, from, to, &s->looks);
        }
        if (i < m->from->timeline->n_lines)
            TRY(add_line(m, i));
    }
    return add_contexts(m);
}

/* The percentiles of a class are those of all of its sites together. */
static int add_percentiles(struct maker *m)
{
    const struct sites *sites = m->from->sites;
    for (uint32_t i = 0; i < sites->n; i++)
        for (int k = 0; k < STATS_COLUMNS; k++)
            TRY(percentile_merge(&m->out->classes[sites->v[i].group].state[k].times,
                                 &m->out->sites[i].state[k].times, &m->out->arena));
    return 0;
}

/* --- memory ----------------------------------------------------------------------------------- */

static bool alloc_results(struct maker *m, size_t groups, size_t sites)
{
    struct stats *s = m->out;
    s->n_threads = m->from->threads->n;
    s->threads = arena_alloc(&s->arena, s->n_threads * sizeof *s->threads);
    s->classes = arena_alloc(&s->arena, groups * sizeof *s->classes);
    s->sites = arena_alloc(&s->arena, sites * sizeof *s->sites);
    s->owner_sites = arena_alloc(&s->arena, sites * sizeof *s->owner_sites);
    s->locks = arena_alloc(&s->arena, m->from->locks->n_objects * sizeof *s->locks);
    if (!s->threads || !s->classes || !s->sites || !s->owner_sites || !s->locks)
        return false;
    for (int k = 0; k < STATS_COLUMNS; k++) {
        for (size_t i = 0; i < groups; i++)
            wait_stats_init(&s->classes[i].state[k]);
        for (size_t i = 0; i < sites; i++)
            wait_stats_init(&s->sites[i].state[k]);
    }
    for (size_t i = 0; i < sites; i++)
        wait_stats_init(&s->owner_sites[i]);
    return true;
}

static int prepare(struct maker *m)
{
    const struct contexts *c = &m->from->timeline->contexts;
    size_t groups = m->from->locks->n_groups, sites = m->from->sites->n;
    bool ok = alloc_results(m, groups, sites);
    m->cells = calloc(c->n, sizeof *m->cells);
    m->again = calloc(c->n, sizeof *m->again);
    m->group = calloc(c->n, sizeof *m->group);
    for (int k = 0; k < STATS_COLUMNS; k++) {
        m->last_class[k] = calloc(groups, sizeof(uint32_t));
        m->last_site[k] = calloc(sites + 1, sizeof(uint32_t));
        ok &= m->last_class[k] && m->last_site[k];
    }
    if (!ok || !m->cells || !m->again || !m->group)
        return -ENOMEM;
    for (uint32_t i = 1; i < c->n; i++)
        m->group[i] = lock_set_group(m->from->locks, c->v[i].lock);
    return 0;
}

static void release(struct maker *m)
{
    free(m->cells);
    free(m->again);
    free(m->group);
    for (int k = 0; k < STATS_COLUMNS; k++) {
        free(m->last_class[k]);
        free(m->last_site[k]);
    }
    map_fini(&m->objects);
}

int stats_make(struct stats *out, const struct stats_source *from,
               const struct selection *selection)
{
    struct maker m = {.out = out, .from = from};
    memset(out, 0, sizeof *out);
    out->selection = *selection;
    arena_init(&out->arena, 0);
    map_init(&m.objects);
    int rc = prepare(&m);
    rc = rc ? rc : add_lines(&m);
    rc = rc ? rc : add_percentiles(&m);
    release(&m);
    if (rc < 0)
        stats_fini(out);
    return rc;
}

void stats_fini(struct stats *s)
{
    arena_fini(&s->arena);
    memset(s, 0, sizeof *s);
}

/* --- lists ------------------------------------------------------------------------------------ */

struct order {
    const struct stats *s;
    const struct sites *sites;
};

static int compare(uint64_t x, uint64_t y)
{
    return (x < y) - (x > y);
}

static int by_time(const void *a, const void *b, void *order)
{
    const struct order *o = order;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct wait_stats *x = o->s->sites[i].state, *y = o->s->sites[k].state;
    int c = compare(x[HELD_UP].ns, y[HELD_UP].ns);
    for (int state = 0; state < STATE_LIMIT && c == 0; state++)
        c = compare(x[state].ns, y[state].ns);
    return c ? c : -compare(o->sites->v[i].stack.v, o->sites->v[k].stack.v);
}

uint64_t stats_owner_weight(const struct stats *s, const struct sites *sites, uint32_t site)
{
    const struct wait_stats *w = &s->owner_sites[site];
    return weigh_of(&s->classes[sites->v[site].group].asked, site, w->count - w->unknown, w->ns);
}

unsigned stats_owner_permille(const struct stats *s, const struct sites *sites, uint32_t site)
{
    const struct wait_stats *w = &s->owner_sites[site];
    return weigh_permille(&s->classes[sites->v[site].group].asked, site, w->count - w->unknown,
                          w->ns);
}

static int by_owner_weight(const void *a, const void *b, void *order)
{
    const struct order *o = order;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    int c = compare(stats_owner_weight(o->s, o->sites, i), stats_owner_weight(o->s, o->sites, k));
    c = c ? c : compare(o->s->owner_sites[i].ns, o->s->owner_sites[k].ns);
    return c ? c : -compare(o->sites->v[i].stack.v, o->sites->v[k].stack.v);
}

static bool has_waits(const struct site_sums *s)
{
    bool any = false;
    for (int i = 0; i < STATE_LIMIT; i++)
        any |= s->state[i].count > 0;
    return any;
}

int stats_list_sites(const struct stats *s, const struct sites *sites, uint32_t group,
                     struct arena *a, uint32_t **out, size_t *n)
{
    *n = 0;
    *out = arena_alloc(a, sites->n * sizeof **out);
    for (uint32_t i = 0; i < sites->n && *out; i++)
        if ((group == EVERY_CLASS || sites->v[i].group == group) && has_waits(&s->sites[i]))
            (*out)[(*n)++] = i;
    if (*out)
        qsort_r(*out, *n, sizeof **out, by_time, &(struct order){s, sites});
    return *out ? 0 : -ENOMEM;
}

int stats_list_owner_sites(const struct stats *s, const struct sites *sites, uint32_t group,
                           struct arena *a, uint32_t **out, size_t *n)
{
    *n = 0;
    *out = arena_alloc(a, sites->n * sizeof **out);
    for (uint32_t i = 0; i < sites->n && *out; i++)
        if ((group == EVERY_CLASS || sites->v[i].group == group) && s->owner_sites[i].count)
            (*out)[(*n)++] = i;
    if (*out)
        qsort_r(*out, *n, sizeof **out, by_owner_weight, &(struct order){s, sites});
    return *out ? 0 : -ENOMEM;
}

uint64_t thread_sums_running(const struct thread_sums *s)
{
    uint64_t ns = s->life;
    for (int i = 0; i < HALTED_KINDS; i++)
        ns -= min_u64(ns, s->halted[i]);
    for (int i = 0; i < STATE_LIMIT; i++)
        ns -= min_u64(ns, s->state[i].ns);
    return ns;
}

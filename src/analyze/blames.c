#include "analyze/blames.h"

#include "analyze/weigh.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

struct maker {
    const struct blame_source *from;
    unsigned keys;
    uint32_t *slot;     /* [contexts.n]: which sum a context goes to; NO_SLOT: to none */
    struct blame *sums; /* [n_slots]: of the thread at hand, or of all threads */
    uint32_t *touched;  /* [n_slots] */
    uint32_t n_slots, n_touched;
    struct weigh *owned; /* [groups]: held up by a known owner; NULL: no shares are asked for */
    struct buf found;    /* struct blame [] */
};

enum { NO_SLOT = UINT32_MAX };

static bool is_listed(const struct context *x)
{
    return (x->what == STATE_BLOCKED || x->what == STATE_WAITING || x->what == STATE_PARKED) &&
           !(x->flags & INTERVAL_REACQUIRED);
}

static struct blame_sum *sum_of(struct blame *b, unsigned state)
{
    return state == STATE_BLOCKED ? &b->blocked : state == STATE_WAITING ? &b->waited : &b->parked;
}

/* Contexts that agree in group and owner, as far as these are keys, go to one sum. */
static int make_slots(struct maker *m)
{
    const struct contexts *c = &m->from->timeline->contexts;
    struct map known;
    int rc = 0;
    m->slot = malloc(c->n * sizeof *m->slot);
    if (!m->slot)
        return -ENOMEM;
    map_init(&known);
    for (uint32_t i = 0; i < c->n && rc == 0; i++) {
        uint32_t group = lock_set_group(m->from->locks, c->v[i].lock);
        m->slot[i] = NO_SLOT;
        if (i == 0 || !is_listed(&c->v[i]) ||
            (m->from->group != EVERY_CLASS && m->from->group != group))
            continue;
        uint64_t key = (uint64_t)(m->keys & BLAME_BY_GROUP ? group : 0) << 32 |
                       (m->keys & BLAME_BY_OWNER ? c->v[i].other : 0);
        uint64_t *place = map_put(&known, key);
        if (place && !*place)
            *place = ++m->n_slots;
        m->slot[i] = place ? (uint32_t)*place - 1 : NO_SLOT;
        rc = place ? 0 : -ENOMEM;
    }
    map_fini(&known);
    if (rc < 0)
        return rc;
    if (m->keys == (BLAME_BY_GROUP | BLAME_BY_OWNER))
        m->owned = calloc(m->from->locks->n_groups, sizeof *m->owned);
    m->sums = calloc((size_t)m->n_slots + 1, sizeof *m->sums);
    m->touched = malloc(((size_t)m->n_slots + 1) * sizeof *m->touched);
    bool shares = m->owned || m->keys != (BLAME_BY_GROUP | BLAME_BY_OWNER);
    return m->sums && m->touched && shares ? 0 : -ENOMEM;
}

static void add_time(struct blame_sum *to, uint64_t ns)
{
    to->count++;
    to->ns += ns;
    to->max = max_u64(to->max, ns);
}

static void add_span(struct maker *m, const struct span *s)
{
    const struct timeline *t = m->from->timeline;
    const struct selection *sel = m->from->selection;
    const struct context *x = timeline_context(t, s->context);
    uint64_t start = s->start, end = span_waited_until(t, s);
    if ((sel->lock && sel->lock != x->lock.v) || !selection_clip(sel, &start, &end))
        return;
    struct blame *b = &m->sums[m->slot[s->context]];
    if (b->blocked.count + b->waited.count + b->parked.count == 0) {
        b->group = m->keys & BLAME_BY_GROUP ? lock_set_group(m->from->locks, x->lock) : EVERY_CLASS;
        b->owner = m->keys & BLAME_BY_OWNER ? x->other : BLAME_ANY;
        m->touched[m->n_touched++] = m->slot[s->context];
    }
    add_time(sum_of(b, x->what), end - start);
    if (!purposes_held_up(m->from->purposes, s->context, x->what))
        return;
    add_time(&b->held_up, end - start);
    if (m->owned && x->other)
        weigh_add(&m->owned[b->group], x->other, end - start);
}

static void flush(struct maker *m, uint32_t waiter)
{
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): blames_list frees them */
    for (uint32_t i = 0; i < m->n_touched; i++) {
        struct blame *b = &m->sums[m->touched[i]];
        b->waiter = waiter;
        buf_put(&m->found, b, sizeof *b);
        *b = (struct blame){.waiter = 0};
    }
    m->n_touched = 0;
}

static int add_lines(struct maker *m)
{
    const struct timeline *t = m->from->timeline;
    for (uint32_t thread = 0; thread < t->n_lines; thread++) {
        const struct run *r = &t->lines[thread].spans;
        if (!selection_has(m->from->selection, thread))
            continue;
        for (uint32_t i = 0, n; i < r->n; i += n) {
            const struct span *s = run_stretch(r, sizeof *s, i, &n);
            for (uint32_t k = 0; k < n; k++)
                if (m->slot[s[k].context] != NO_SLOT)
                    add_span(m, &s[k]);
        }
        if (m->keys & BLAME_BY_WAITER)
            flush(m, thread);
    }
    flush(m, BLAME_ANY);
    return m->found.oom ? -ENOMEM : 0;
}

static void set_shares(const struct maker *m, struct blame *v, size_t n)
{
    for (size_t i = 0; i < n && m->owned; i++)
        if (v[i].owner)
            v[i].permille = weigh_permille(&m->owned[v[i].group], v[i].owner, v[i].held_up.count,
                                           v[i].held_up.ns);
}

static int by_time(const void *a, const void *b)
{
    const struct blame *x = a, *y = b;
    if (x->held_up.ns != y->held_up.ns)
        return x->held_up.ns < y->held_up.ns ? 1 : -1;
    if (x->waited.ns != y->waited.ns)
        return x->waited.ns < y->waited.ns ? 1 : -1;
    if (x->parked.ns != y->parked.ns)
        return x->parked.ns < y->parked.ns ? 1 : -1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->waiter != y->waiter)
        return x->waiter < y->waiter ? -1 : 1;
    return (x->owner > y->owner) - (x->owner < y->owner);
}

int blames_list(const struct blame_source *from, unsigned keys, struct arena *a,
                const struct blame **out, size_t *n)
{
    struct maker m = {.from = from, .keys = keys};
    int rc = make_slots(&m);
    rc = rc ? rc : add_lines(&m);
    struct blame *v = rc ? NULL : arena_alloc(a, m.found.len);
    if (v && m.found.len) {
        memcpy(v, m.found.p, m.found.len);
        set_shares(&m, v, m.found.len / sizeof *v);
        qsort(v, m.found.len / sizeof *v, sizeof *v, by_time);
    }
    *out = v;
    *n = v ? m.found.len / sizeof *v : 0;
    free(m.slot);
    free(m.sums);
    free(m.touched);
    free(m.owned);
    buf_fini(&m.found);
    return v ? 0 : -ENOMEM;
}

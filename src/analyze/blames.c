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
    struct map known;   /* group, owner, as far as these are keys -> 1 + sum */
    uint32_t *slot;     /* [contexts.n]: the sum of a context's own owner; NO_SLOT: it is of none */
    struct buf sums;    /* struct blame []: of the thread at hand, or of all threads */
    struct buf touched; /* uint32_t []: those that are not empty */
    struct weigh *owned; /* [groups]: HELD_UP by a known owner; NULL: no shares are asked for */
    struct buf found;    /* struct blame [] */
};

enum { NO_SLOT = UINT32_MAX };

static bool is_listed(const struct context *x)
{
    return (x->what == STATE_BLOCKED || x->what == STATE_WAITING || x->what == STATE_PARKED ||
            x->what == STATE_REACQUIRING) &&
           !(x->flags & INTERVAL_REACQUIRED);
}

static struct blame_sum *sum_of(struct blame *b, unsigned state)
{
    switch (state) {
    case STATE_BLOCKED:
        return &b->blocked;
    case STATE_WAITING:
        return &b->waited;
    case STATE_PARKED:
        return &b->parked;
    default:
        return &b->reacquired;
    }
}

static struct blame *sum_at(const struct maker *m, uint32_t slot)
{
    return (struct blame *)(void *)m->sums.p + slot;
}

/* The sum of a group and an owner; NO_SLOT: memory is out. */
static uint32_t slot_of(struct maker *m, uint32_t group, uint32_t owner)
{
    struct blame b = {.group = m->keys & BLAME_BY_GROUP ? group : EVERY_CLASS,
                      .owner = m->keys & BLAME_BY_OWNER ? owner : BLAME_ANY};
    uint64_t *place = map_put(&m->known, (uint64_t)b.group << 32 | b.owner);
    if (place && !*place) {
        buf_put(&m->sums, &b, sizeof b);
        *place = m->sums.len / sizeof b;
    }
    return place && !m->sums.oom ? (uint32_t)*place - 1 : NO_SLOT;
}

static int make_slots(struct maker *m)
{
    const struct contexts *c = &m->from->timeline->contexts;
    bool shares = m->keys == (BLAME_BY_GROUP | BLAME_BY_OWNER);
    m->slot = malloc(c->n * sizeof *m->slot);
    m->owned = shares ? calloc(m->from->locks->n_groups, sizeof *m->owned) : NULL;
    if (!m->slot || (shares && !m->owned))
        return -ENOMEM;
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t group = lock_set_group(m->from->locks, c->v[i].lock);
        m->slot[i] = NO_SLOT;
        if (i == 0 || !is_listed(&c->v[i]) ||
            (m->from->group != EVERY_CLASS && m->from->group != group))
            continue;
        m->slot[i] = slot_of(m, group, c->v[i].other);
        if (m->slot[i] == NO_SLOT)
            return -ENOMEM;
    }
    return 0;
}

static void add_time(struct blame_sum *to, uint64_t ns, uint64_t n, uint64_t longest)
{
    to->count += n;
    to->ns += ns;
    to->max = max_u64(to->max, min_u64(longest, ns));
}

static int add_part(struct maker *m, const struct span *s, const struct wait_part *part)
{
    const struct context *x = timeline_context(m->from->timeline, s->context);
    uint32_t group = lock_set_group(m->from->locks, x->lock), slot = m->slot[s->context];
    uint64_t start = part->from, end = part->to;
    if (!selection_clip(m->from->selection, &start, &end))
        return 0;
    if (part->owner != x->other)
        slot = slot_of(m, group, part->owner);
    if (slot == NO_SLOT)
        return -ENOMEM;
    struct blame *b = sum_at(m, slot);
    bool summed = span_is_summed(m->from->timeline, s);
    uint64_t waits = span_count(m->from->timeline, s);
    uint64_t longest = summed ? span_longest(m->from->timeline, s) : UINT64_MAX;
    if (b->blocked.count + b->waited.count + b->parked.count + b->reacquired.count == 0)
        buf_put(&m->touched, &slot, sizeof slot);
    add_time(sum_of(b, part->state), end - start, waits, longest);
    if (!purposes_held_up(m->from->purposes, s->context, part->state))
        return 0;
    add_time(&b->held_up, end - start, waits, longest);
    if (m->owned && part->owner)
        weigh_add(&m->owned[group], part->owner, end - start);
    return 0;
}

static int add_span(struct maker *m, const struct span *s)
{
    const struct timeline *t = m->from->timeline;
    const struct selection *sel = m->from->selection;
    struct wait_part v[2];
    if (sel->lock && sel->lock != timeline_context(t, s->context)->lock.v)
        return 0;
    for (unsigned i = 0, n = span_parts(t, s, v); i < n; i++)
        TRY(add_part(m, s, &v[i]));
    return 0;
}

static void flush(struct maker *m, uint32_t waiter)
{
    const uint32_t *v = (const void *)m->touched.p;
    for (size_t i = 0; i < m->touched.len / sizeof *v; i++) {
        struct blame *b = sum_at(m, v[i]);
        b->waiter = waiter;
        buf_put(&m->found, b, sizeof *b);
        *b = (struct blame){.group = b->group, .owner = b->owner};
    }
    buf_clear(&m->touched);
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
                    TRY(add_span(m, &s[k]));
        }
        if (m->keys & BLAME_BY_WAITER)
            flush(m, thread);
    }
    flush(m, BLAME_ANY);
    return m->found.oom || m->touched.oom ? -ENOMEM : 0;
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
    map_init(&m.known);
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
    free(m.owned);
    map_fini(&m.known);
    buf_fini(&m.sums);
    buf_fini(&m.touched);
    buf_fini(&m.found);
    return v ? 0 : -ENOMEM;
}

#include "analyze/lock_sections.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

void lock_sections_fini(struct lock_sections *s)
{
    free(s->v);
    free(s->first);
    *s = (struct lock_sections){0};
}

/* --- collecting ------------------------------------------------------------------------------- */

struct collector {
    struct dependencies *d;
    uint32_t *edge_of_use; /* [uses]: 1 + edge; 0: in no cycle */
    bool *marked;          /* [dependencies] */
    uint32_t most;         /* takings of one user */
    struct buf v;
    uint64_t passed_over;
};

/* Mark the edges of the cycles; the number of their users, each as often as it has edges. */
static uint64_t mark(struct collector *k, const struct lock_cycles *c)
{
    uint64_t n = 0;
    for (size_t i = 0; i < c->v.len / sizeof(struct lock_cycle); i++) {
        const struct lock_cycle *y = lock_cycle_at(&c->v, i);
        for (uint32_t m = 0; m < y->n; m++) {
            const struct lock_edge *e = &k->d->edges[y->edges[m]];
            if (k->edge_of_use[e->use])
                continue;
            k->edge_of_use[e->use] = y->edges[m] + 1;
            k->marked[e->dependency] = true;
            n += dependency_at(k->d, e->dependency)->n_members;
        }
    }
    return n;
}

static void add_section(struct collector *k, uint32_t edge, uint32_t user, const struct taking *x,
                        const struct held *h)
{
    const struct lock_section s = {.from = h->from,
                                   .to = h->to,
                                   .wanted = x->wanted,
                                   .edge = edge,
                                   .user = user,
                                   .held_at = h->at,
                                   .wanted_at = taking_place(k->d->timeline, x),
                                   .seen = h->seen,
                                   .open = x->open};
    buf_put(&k->v, &s, sizeof s);
}

static int collect(void *self, uint32_t thread, const struct taking *x, const struct held *held,
                   size_t n_held)
{
    struct collector *k = self;
    struct dependency_user *u = dependencies_find(k->d, thread, x, held, n_held);
    if (!u || !k->marked[u->dependency])
        return 0;
    if (u->kept == k->most) {
        k->passed_over++;
        return 0;
    }
    u->kept++;
    const struct dependency *y = dependency_at(k->d, u->dependency);
    uint32_t user = (uint32_t)(u - dependency_user_at(k->d, 0));
    for (uint32_t i = 1; i <= y->n_held; i++) {
        uint32_t edge = k->edge_of_use[y->uses + i], lock = lock_use_at(k->d, y->uses + i)->lock;
        for (size_t m = 0; m < n_held && edge; m++)
            if (held[m].lock.v == lock)
                add_section(k, edge - 1, user, x, &held[m]);
    }
    return k->v.oom ? -ENOMEM : 0;
}

/* Only threads that have an edge of a cycle are looked at again. */
static int collect_all(struct collector *k, struct takings *w)
{
    const struct dependencies *d = k->d;
    bool *wanted = calloc(w->t->n_lines + 1, sizeof *wanted);
    int rc = wanted ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < dependency_users_count(d) && rc == 0; i++)
        if (k->marked[dependency_user_at(d, i)->dependency])
            wanted[dependency_user_at(d, i)->thread] = true;
    for (uint32_t i = 1; i < w->t->n_lines && rc == 0; i++)
        if (wanted[i])
            rc = takings_walk(w, i, collect, k);
    free(wanted);
    return rc;
}

static int by_edge_and_time(const void *a, const void *b)
{
    const struct lock_section *x = a, *y = b;
    if (x->edge != y->edge)
        return x->edge < y->edge ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->user > y->user) - (x->user < y->user);
}

static int sort(struct lock_sections *s, struct collector *k)
{
    s->v = (void *)k->v.p;
    s->n = k->v.len / sizeof *s->v;
    k->v = (struct buf){0};
    s->passed_over = k->passed_over;
    s->first = calloc(k->d->n_edges + 2, sizeof *s->first);
    if (!s->first)
        return -ENOMEM;
    if (s->n)
        qsort(s->v, s->n, sizeof *s->v, by_edge_and_time);
    for (size_t i = 0; i < s->n; i++)
        s->first[s->v[i].edge + 1]++;
    for (uint32_t i = 0; i < k->d->n_edges; i++)
        s->first[i + 1] += s->first[i];
    return 0;
}

int lock_sections_collect(struct lock_sections *s, const struct lock_cycles *c,
                          struct dependencies *d, struct takings *w)
{
    struct collector k = {.d = d};
    *s = (struct lock_sections){.steps = SECTION_STEPS};
    k.edge_of_use = calloc(d->uses.len / sizeof(struct lock_use) + 1, sizeof *k.edge_of_use);
    k.marked = calloc(dependencies_count(d) + 1, sizeof *k.marked);
    int rc = k.edge_of_use && k.marked ? 0 : -ENOMEM;
    if (rc == 0) {
        k.most = (uint32_t)max_u64(LOCK_SECTIONS_MAX / max_u64(mark(&k, c), 1), 1);
        rc = collect_all(&k, w);
    }
    if (rc == 0)
        rc = sort(s, &k);
    buf_fini(&k.v);
    free(k.edge_of_use);
    free(k.marked);
    if (rc < 0)
        lock_sections_fini(s);
    return rc;
}

/* --- the nearest of two ----------------------------------------------------------------------- */

enum { NOBODY = UINT32_MAX };

/* The latest section of each user of one edge, latest end first. */
struct latest {
    struct {
        uint32_t section, next, prev;
    } * v; /* [members of the dependency] */
    uint32_t head;
    const struct lock_edge *edge;
    uint32_t section, end; /* where its sections are looked at */
};

static uint32_t place_of(const struct dependencies *d, const struct dependency *x, uint32_t user)
{
    uint32_t i = 0; /* members are in the order of their indices */
    BISECT(i, x->n_members, d->members[x->members + i] < user);
    return i;
}

static int latest_init(struct latest *l, const struct dependencies *d,
                       const struct lock_sections *s, uint32_t edge)
{
    const struct dependency *x = dependency_at(d, d->edges[edge].dependency);
    *l = (struct latest){.head = NOBODY,
                         .edge = &d->edges[edge],
                         .section = s->first[edge],
                         .end = s->first[edge + 1]};
    l->v = calloc(x->n_members + 1, sizeof *l->v);
    for (uint32_t i = 0; l->v && i < x->n_members; i++)
        l->v[i].section = NOBODY;
    return l->v ? 0 : -ENOMEM;
}

static void latest_put(struct latest *l, const struct lock_sections *s, uint32_t place,
                       uint32_t section)
{
    if (l->v[place].section != NOBODY) { /* take it out */
        uint32_t next = l->v[place].next, prev = l->v[place].prev;
        if (prev != NOBODY)
            l->v[prev].next = next;
        else
            l->head = next;
        if (next != NOBODY)
            l->v[next].prev = prev;
    }
    uint32_t before = NOBODY, after = l->head;
    while (after != NOBODY && s->v[l->v[after].section].to > s->v[section].to) {
        before = after;
        after = l->v[after].next;
    }
    l->v[place].section = section;
    l->v[place].next = after;
    l->v[place].prev = before;
    if (before != NOBODY)
        l->v[before].next = place;
    else
        l->head = place;
    if (after != NOBODY)
        l->v[after].prev = place;
}

static uint64_t gap_between(const struct lock_section *a, const struct lock_section *b)
{
    uint64_t last_begin = max_u64(a->from, b->from), first_end = min_u64(a->to, b->to);
    return last_begin > first_end ? last_begin - first_end : 0;
}

/* Compares the section with earlier sections of the other edge: the first that may meet it is the
 * nearest. */
static int look_back(const struct lock_sections *s, struct lock_cycles *c, struct latest *l,
                     uint32_t side, struct lock_nearest *out)
{
    const struct lock_section *x = &s->v[l[side].section];
    const struct latest *other = &l[!side];
    uint32_t looks = SECTION_LOOKS;
    for (uint32_t i = other->head; i != NOBODY; i = other->v[i].next) {
        const struct lock_section *y = &s->v[other->v[i].section];
        uint64_t distance = gap_between(x, y);
        if (distance >= out->distance)
            return 0;
        if (!looks--) {
            out->cut = true;
            return 0;
        }
        int meet = lock_cycles_meet(c, x->user, y->user);
        if (meet == -ENOMEM)
            return meet;
        if (meet <= 0)
            continue;
        if (x->open && y->open) {
            out->happened = true;
            continue;
        }
        out->distance = distance;
        out->v[side] = x;
        out->v[!side] = y;
        return 0;
    }
    return 0;
}

static int nearest_of_two(struct lock_sections *s, struct lock_cycles *c,
                          const struct lock_cycle *cycle, struct lock_nearest *out)
{
    const struct dependencies *d = c->d;
    struct latest l[2] = {{0}};
    uint64_t steps = max_u64(s->steps, SECTION_STEPS_LEAST), left = steps;
    int rc = latest_init(&l[0], d, s, cycle->edges[0]);
    if (rc == 0)
        rc = latest_init(&l[1], d, s, cycle->edges[1]);
    while (rc == 0 && out->distance) {
        if (l[0].section == l[0].end && l[1].section == l[1].end)
            break;
        if (!left) {
            out->cut = true;
            break;
        }
        left--;
        uint32_t side =
            l[0].section == l[0].end ||
            (l[1].section < l[1].end && s->v[l[1].section].from < s->v[l[0].section].from);
        const struct lock_section *x = &s->v[l[side].section];
        rc = look_back(s, c, l, side, out);
        latest_put(&l[side], s, place_of(d, dependency_at(d, l[side].edge->dependency), x->user),
                   l[side].section++);
    }
    s->steps -= min_u64(s->steps, steps - left);
    free(l[0].v);
    free(l[1].v);
    return rc;
}

/* --- the nearest of more ---------------------------------------------------------------------- */

/* One choice of threads for a cycle: each edge's sections of its user. */
struct choice {
    struct lock_sections *s;
    struct lock_cycles *c;
    const struct lock_cycle *cycle;
    struct lock_nearest *out;
    uint32_t user[LOCK_ORDER_LONGEST];
    uint32_t left; /* choices that may still be looked at */
};

/* The section of a user from `i` on; the edge's end when there is none. */
static uint32_t next_of(struct choice *ch, uint32_t side, uint32_t i)
{
    uint32_t end = ch->s->first[ch->cycle->edges[side] + 1];
    while (i < end && ch->s->v[i].user != ch->user[side]) {
        i++;
        ch->s->steps -= ch->s->steps > 0;
    }
    return i;
}

static void compare(struct choice *ch, const uint32_t *at)
{
    const struct lock_section *v = ch->s->v;
    uint64_t last_begin = 0, first_end = UINT64_MAX;
    bool open = true;
    for (uint32_t i = 0; i < ch->cycle->n; i++) {
        last_begin = max_u64(last_begin, v[at[i]].from);
        first_end = min_u64(first_end, v[at[i]].to);
        open &= v[at[i]].open;
    }
    uint64_t distance = last_begin > first_end ? last_begin - first_end : 0;
    ch->out->happened |= open;
    if (open || distance >= ch->out->distance)
        return;
    ch->out->distance = distance;
    for (uint32_t i = 0; i < ch->cycle->n; i++)
        ch->out->v[i] = &v[at[i]];
}

/* Finds the smallest window that touches a section of each edge: the edge whose section ends first
 * moves on. */
static void slide(struct choice *ch)
{
    uint32_t at[LOCK_ORDER_LONGEST] = {0}, n = ch->cycle->n;
    for (uint32_t i = 0; i < n; i++) {
        at[i] = next_of(ch, i, ch->s->first[ch->cycle->edges[i]]);
        if (at[i] == ch->s->first[ch->cycle->edges[i] + 1])
            return;
    }
    while (ch->s->steps) {
        uint32_t first = 0;
        ch->s->steps--;
        compare(ch, at);
        for (uint32_t i = 1; i < n; i++)
            if (ch->s->v[at[i]].to < ch->s->v[at[first]].to)
                first = i;
        at[first] = next_of(ch, first, at[first] + 1);
        if (at[first] == ch->s->first[ch->cycle->edges[first] + 1])
            return;
    }
    ch->out->cut = true;
}

static int choose(struct choice *ch, uint32_t side)
{
    if (side == ch->cycle->n) {
        if (ch->left) {
            ch->left--;
            slide(ch);
        } else {
            ch->out->cut = true;
        }
        return 0;
    }
    const struct dependencies *d = ch->c->d;
    const struct dependency *x = dependency_at(d, d->edges[ch->cycle->edges[side]].dependency);
    for (uint32_t i = 0; i < x->n_members && ch->left && ch->s->steps && ch->out->distance; i++) {
        int meet = 1;
        ch->user[side] = d->members[x->members + i];
        ch->s->steps--;
        for (uint32_t k = 0; k < side && meet > 0; k++)
            meet = lock_cycles_meet(ch->c, ch->user[side], ch->user[k]);
        if (meet == -ENOMEM)
            return meet;
        if (meet > 0)
            TRY(choose(ch, side + 1));
    }
    if (!ch->left || !ch->s->steps)
        ch->out->cut = true;
    return 0;
}

int lock_sections_nearest(struct lock_sections *s, struct lock_cycles *c,
                          const struct lock_cycle *cycle, struct lock_nearest *out)
{
    *out = (struct lock_nearest){.distance = UINT64_MAX};
    if (cycle->n == 2)
        return nearest_of_two(s, c, cycle, out);
    struct choice ch = {.s = s, .c = c, .cycle = cycle, .out = out, .left = SECTION_CHOICES};
    return choose(&ch, 0);
}

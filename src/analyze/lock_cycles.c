#include "analyze/lock_cycles.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

enum verdict { POSSIBLE, SHARED, SAME_THREAD, GATE, START_JOIN, UNDECIDED };

struct search {
    struct lock_cycles *c;
    uint32_t length;
    struct lock_cycle path;
    uint64_t steps;  /* left */
    bool *explained; /* [n_kinds]: in a cycle that is shorter */
};

static const struct lock_edge *edge_at(const struct search *s, uint32_t i)
{
    return &s->c->d->edges[i];
}

/* --- what keeps two edges apart --------------------------------------------------------------- */

/* A lock that both hold, one of them exclusively. */
static bool have_gate(const struct dependencies *d, const struct lock_edge *a,
                      const struct lock_edge *b)
{
    const struct dependency *x = dependency_at(d, a->dependency);
    const struct dependency *y = dependency_at(d, b->dependency);
    const struct lock_use *v = lock_use_at(d, x->uses + 1), *v_end = v + x->n_held;
    const struct lock_use *w = lock_use_at(d, y->uses + 1), *w_end = w + y->n_held;
    while (v < v_end && w < w_end) {
        if (v->lock == w->lock && !(v->shared && w->shared))
            return true;
        if (v->lock < w->lock)
            v++;
        else
            w++;
    }
    return false;
}

static bool is_one_thread(const struct dependencies *d, const struct lock_edge *a,
                          const struct lock_edge *b)
{
    uint32_t thread = dependency_at(d, a->dependency)->thread;
    return thread && thread == dependency_at(d, b->dependency)->thread;
}

int lock_cycles_meet(struct lock_cycles *c, uint32_t user, uint32_t other)
{
    const struct dependency_user *x = dependency_user_at(c->d, user);
    const struct dependency_user *y = dependency_user_at(c->d, other);
    if (x->thread == y->thread)
        return 0;
    if (!thread_order_points(c->order, x->thread) || !thread_order_points(c->order, y->thread))
        return 1;
    uint32_t low = (uint32_t)min_u64(user, other), high = (uint32_t)max_u64(user, other);
    const uint64_t key = (uint64_t)low << 32 | high, *known = map_find(&c->ordered, key);
    if (known)
        return *known == 1;
    int rc = thread_order_before(c->order, x->thread, x->epoch, y->thread, y->epoch);
    if (rc == 0)
        rc = thread_order_before(c->order, y->thread, y->epoch, x->thread, x->epoch);
    if (rc < 0 || c->ordered.len == CYCLE_PAIRS)
        return rc < 0 ? rc : !rc;
    uint64_t *place = map_put(&c->ordered, key);
    if (!place)
        return -ENOMEM;
    *place = rc ? 2 : 1;
    return !rc;
}

/* --- one cycle -------------------------------------------------------------------------------- */

/* Choices of users, one for each edge. */
struct choice {
    uint32_t user[LOCK_ORDER_LONGEST];
    uint32_t tries; /* left */
    int rc;         /* -ENOMEM; -EAGAIN: the search was not finished */
};

/* Whether the edges from `at` on find users that meet each other and those chosen before;
 * `loose`: of different threads is enough. */
static bool choose(struct search *s, struct choice *ch, uint32_t at, bool loose)
{
    const struct dependencies *d = s->c->d;
    if (at == s->path.n)
        return true;
    const struct dependency *x = dependency_at(d, edge_at(s, s->path.edges[at])->dependency);
    for (uint32_t i = 0; i < x->n_members; i++) {
        uint32_t user = ch->user[at] = d->members[x->members + i], k = 0;
        if (!ch->tries) {
            ch->rc = -EAGAIN;
            return false;
        }
        ch->tries--;
        for (; k < at; k++) {
            uint32_t other = ch->user[k];
            int rc =
                loose ? dependency_user_at(d, user)->thread != dependency_user_at(d, other)->thread
                      : lock_cycles_meet(s->c, user, other);
            if (rc < 0)
                ch->rc = rc;
            if (rc <= 0)
                break;
        }
        if (k == at && choose(s, ch, at + 1, loose))
            return true;
        if (ch->rc == -ENOMEM)
            return false;
    }
    return false;
}

static bool is_shared(const struct search *s)
{
    const struct dependencies *d = s->c->d;
    for (uint32_t i = 0; i < s->path.n; i++) {
        const struct lock_edge *e = edge_at(s, s->path.edges[i]);
        const struct lock_edge *next = edge_at(s, s->path.edges[(i + 1) % s->path.n]);
        if (lock_use_at(d, dependency_at(d, e->dependency)->uses)->shared &&
            lock_use_at(d, next->use)->shared)
            return true;
    }
    return false;
}

static bool is_gated(const struct search *s)
{
    for (uint32_t i = 0; i < s->path.n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (have_gate(s->c->d, edge_at(s, s->path.edges[i]), edge_at(s, s->path.edges[k])))
                return true;
    return false;
}

/* 1: there is such a choice, 0: none, -EAGAIN: not searched to the end, -ENOMEM. */
static int try_choices(struct search *s, bool loose)
{
    struct choice ch = {.tries = CYCLE_TRIES};
    bool found = choose(s, &ch, 0, loose);
    s->steps -= min_u64(s->steps, CYCLE_TRIES - ch.tries);
    return found ? 1 : ch.rc;
}

static enum verdict judge(struct search *s, int *rc)
{
    *rc = 0;
    if (is_shared(s))
        return SHARED;
    int found = try_choices(s, true);
    if (found <= 0)
        return found ? UNDECIDED : SAME_THREAD;
    if (is_gated(s))
        return GATE;
    found = try_choices(s, false);
    if (found > 0)
        return POSSIBLE;
    *rc = found == -ENOMEM ? -ENOMEM : 0;
    return found ? UNDECIDED : START_JOIN;
}

static int close_cycle(struct search *s)
{
    struct lock_order *out = s->c->out;
    int rc;
    bool room = s->c->v.len < LOCK_CYCLES_MAX * sizeof s->path;
    switch (judge(s, &rc)) {
    case SHARED:
        out->suppressed.shared++;
        break;
    case SAME_THREAD:
        out->suppressed.same_thread++;
        break;
    case GATE:
        out->suppressed.gate++;
        if (s->c->gated.len < LOCK_CYCLES_MAX * sizeof s->path)
            buf_put(&s->c->gated, &s->path, sizeof s->path);
        break;
    case START_JOIN:
        out->suppressed.start_join++;
        break;
    case UNDECIDED:
        out->passed_over.order++;
        break;
    default:
        if (room)
            buf_put(&s->c->v, &s->path, sizeof s->path);
        else
            out->passed_over.cycles++;
        break;
    }
    return s->c->v.oom || s->c->gated.oom ? -ENOMEM : rc;
}

/* --- all of them ------------------------------------------------------------------------------ */

static bool holds_lock(const struct search *s, uint32_t lock)
{
    for (uint32_t i = 0; i < s->path.n; i++)
        if (edge_at(s, s->path.edges[i])->held == lock)
            return true;
    return false;
}

/* Whether edge i may follow the edges of the path.  Each cycle is found once, from its lowest
 * unexplained edge. */
static bool may_follow(const struct search *s, uint32_t i)
{
    const struct lock_edge *e = edge_at(s, i);
    if (s->length > 2 && i < s->path.edges[0] && !s->explained[e->kind])
        return false;
    bool last = s->path.n + 1 == s->length;
    bool closes = e->wanted == edge_at(s, s->path.edges[0])->held;
    if (last != closes || (!last && holds_lock(s, e->wanted)))
        return false;
    /* Long searches are cut where two edges exclude each other anyway. */
    bool cut = CYCLE_STEPS - s->steps > CYCLE_STEPS_ALL;
    for (uint32_t k = 0; k < s->path.n && cut; k++) {
        const struct lock_edge *f = edge_at(s, s->path.edges[k]);
        if (have_gate(s->c->d, e, f) || is_one_thread(s->c->d, e, f))
            return false;
    }
    return true;
}

/* 0, -ENOMEM, -EAGAIN: no steps are left. */
static int extend(struct search *s)
{
    const struct dependencies *d = s->c->d;
    uint32_t from = edge_at(s, s->path.edges[s->path.n - 1])->wanted;
    uint32_t low = d->first[from], high = d->first[from + 1];
    if (s->path.n + 1 == s->length) { /* only edges that close the cycle */
        const uint32_t to = edge_at(s, s->path.edges[0])->held;
        BISECT(low, high, d->edges[low].wanted < to);
        for (high = low; high < d->first[from + 1] && d->edges[high].wanted == to; high++)
            ;
    }
    for (uint32_t i = low; i < high; i++) {
        if (!s->steps)
            return -EAGAIN;
        s->steps--;
        if (!may_follow(s, i))
            continue;
        s->path.edges[s->path.n++] = i;
        int rc = s->path.n == s->length ? close_cycle(s) : extend(s);
        s->path.n--;
        TRY(rc);
    }
    return 0;
}

static int find_of_length(struct search *s)
{
    const struct dependencies *d = s->c->d;
    for (uint32_t i = 0; i < d->n_edges; i++) {
        const struct lock_edge *e = &d->edges[i];
        if (s->length == 2 ? e->held > e->wanted : s->explained[e->kind])
            continue;
        s->path = (struct lock_cycle){.n = 1, .edges = {i}};
        int rc = s->steps ? extend(s) : -EAGAIN;
        if (rc == -EAGAIN)
            s->c->out->passed_over.starts++;
        else if (rc < 0)
            return rc;
    }
    return 0;
}

static void explain(struct search *s)
{
    for (size_t i = 0; i < s->c->v.len / sizeof(struct lock_cycle); i++) {
        const struct lock_cycle *y = lock_cycle_at(&s->c->v, i);
        for (uint32_t k = 0; k < y->n; k++)
            s->explained[edge_at(s, y->edges[k])->kind] = true;
    }
}

int lock_cycles_find(struct lock_cycles *c, const struct dependencies *d,
                     struct thread_order *order, struct lock_order *out)
{
    *c = (struct lock_cycles){.d = d, .order = order, .out = out};
    struct search s = {.c = c, .explained = calloc(d->n_kinds + 1, sizeof *s.explained)};
    int rc = s.explained ? 0 : -ENOMEM;
    for (s.length = 2; s.length <= LOCK_ORDER_LONGEST && rc == 0; s.length++) {
        s.steps = CYCLE_STEPS;
        rc = find_of_length(&s);
        explain(&s);
    }
    free(s.explained);
    if (rc < 0)
        lock_cycles_fini(c);
    return rc;
}

void lock_cycles_fini(struct lock_cycles *c)
{
    buf_fini(&c->v);
    buf_fini(&c->gated);
    map_fini(&c->ordered);
}

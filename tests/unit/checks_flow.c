#include "base/util.h"
#include "checks.h"

#include <stdlib.h>

/* --- bottle graph ----------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static bool in_pause(const struct sim *s, uint64_t from, uint64_t to, bool whole)
{
    const struct true_pause *p = (const void *)s->pauses.p;
    for (size_t i = 0; i < s->pauses.len / sizeof *p; i++)
        if (whole ? p[i].start <= from && p[i].end >= to : p[i].start < to && p[i].end > from)
            return true;
    return false;
}

static bool runs(const struct oracle *o, uint32_t thread, uint64_t time)
{
    const struct life life = oracle_life(o->s, thread);
    return !o->s->threads[thread].jvm && life.from <= time && time < life.to &&
           oracle_state(o, thread, time) == STATE_LIMIT && !in_pause(o->s, time, time + 1, false);
}

/* Every moment at which the number of running threads may change. */
static size_t moments(const struct oracle *o, uint64_t *v)
{
    size_t n = 0;
    v[n++] = o->s->begin;
    v[n++] = o->s->end;
    for (uint32_t i = 1; i <= o->s->n_ids; i++) {
        const struct life life = oracle_life(o->s, i);
        v[n++] = life.from;
        v[n++] = life.to;
    }
    for (size_t i = 0; i < sim_n_spans(o->s); i++) {
        v[n++] = sim_span(o->s, i)->start;
        v[n++] = sim_span(o->s, i)->end;
    }
    const struct true_pause *p = (const void *)o->s->pauses.p;
    for (size_t i = 0; i < o->s->pauses.len / sizeof *p; i++) {
        v[n++] = p[i].start;
        v[n++] = p[i].end;
    }
    qsort(v, n, sizeof *v, ascending);
    return n;
}

struct slots {
    uint64_t ran[SIM_THREADS + 2][SIM_THREADS + 2]; /* ns, by thread and how many ran */
    uint64_t level[SIM_THREADS + 2];
    uint64_t changes;
};

static void fill_slots(const struct oracle *o, const struct analysis *a, struct slots *s)
{
    size_t pauses = o->s->pauses.len / sizeof(struct true_pause);
    uint64_t *v = calloc(2 * (sim_n_spans(o->s) + SIM_THREADS + pauses + 4), sizeof *v);
    s->changes = moments(o, v);
    for (size_t i = 1; i < s->changes; i++) {
        bool running[SIM_THREADS + 2] = {false};
        uint32_t n = 0;
        for (uint32_t k = 1; k <= o->s->n_ids && v[i] > v[i - 1]; k++)
            n += running[k] = runs(o, k, v[i - 1]) && !check_unseen(o, a, k);
        s->level[n] += v[i] - v[i - 1];
        for (uint32_t k = 1; k <= o->s->n_ids; k++)
            s->ran[k][n] += running[k] ? v[i] - v[i - 1] : 0;
    }
    free(v);
}

static void check_bottle(const struct bottle *got, const uint64_t *ran, uint64_t changes,
                         uint32_t thread)
{
    unsigned __int128 charged = 0;
    uint64_t running = 0;
    for (uint32_t r = 1; r < SIM_THREADS + 2; r++) {
        charged += ((unsigned __int128)ran[r] << 32) / r;
        running += ran[r];
    }
    CHECK_EQ(got->running, running, "thread %u", thread);
    CHECK_EQ(got->alone, ran[1], "thread %u", thread);
    unsigned __int128 lost =
        charged > got->charged ? charged - got->charged : got->charged - charged;
    CHECK(lost <= changes + SIM_THREADS, "height of thread %u", thread);
}

void check_bottles(const struct oracle *o, const struct analysis *a)
{
    static struct slots s;
    const struct bottles *got = &a->bottles;
    unsigned __int128 sum = 0;
    s = (struct slots){.changes = 0};
    fill_slots(o, a, &s);
    for (uint32_t i = 1; i <= o->s->n_ids; i++) {
        CHECK_EQ(got->counted[i], !o->s->threads[i].jvm, "thread %u", i);
        check_bottle(&got->v[i], s.ran[i], s.changes, i);
        sum += got->v[i].charged;
    }
    CHECK_EQ(got->elapsed, o->s->end - o->s->begin, "bottles");
    CHECK_EQ(got->idle, s.level[0], "bottles");
    for (int i = 0; i < BOTTLE_LEVELS && i < SIM_THREADS + 2; i++)
        CHECK_EQ(got->level[i], s.level[i], "%d running", i);
    unsigned __int128 all = (unsigned __int128)(got->elapsed - got->idle) << 32;
    CHECK(sum <= all && all - sum <= s.changes * SIM_THREADS, "heights and idle time");
}

/* --- path ------------------------------------------------------------------------------------- */

static bool is_run(const struct path_segment *g)
{
    return g->kind == PATH_RUN || g->kind == PATH_GC;
}

static void check_tiles(const struct oracle *o, const struct path *p)
{
    uint64_t time = p->from, kinds[PATH_KINDS] = {0};
    for (size_t i = 0; i < p->n; i++) {
        const struct path_segment *g = &p->v[i];
        const struct life life = oracle_life(o->s, g->thread);
        uint64_t called = o->s->threads[g->thread].called;
        bool starts = g->kind == PATH_HANDOFF && g->state == STATE_LIMIT;
        CHECK_EQ(g->from, time, "segment %zu", i);
        CHECK(g->to > g->from, "segment %zu", i);
        CHECK(g->to <= life.to && g->from >= (starts ? called : life.from),
              "thread %u is dead on the path", g->thread);
        if (is_run(g))
            CHECK(g->kind == PATH_GC ? in_pause(o->s, g->from, g->to, true)
                                     : !in_pause(o->s, g->from, g->to, false),
                  "segment %zu and the collector", i);
        kinds[g->kind] += g->to - g->from;
        time = g->to;
    }
    CHECK_EQ(time, p->to, "path");
    for (int i = 0; i < PATH_KINDS; i++)
        CHECK_EQ(p->kind_ns[i], kinds[i], "%s", path_kind_name((enum path_kind)i));
}

/* A run of the path, whose parts differ in their lock and in collections: its first part to its
 * last one. */
struct whole {
    size_t first, last;
};

static struct whole whole_at(const struct path *p, size_t last)
{
    struct whole w = {last, last};
    while (is_run(&p->v[last]) && w.first && is_run(&p->v[w.first - 1]) &&
           p->v[w.first - 1].thread == p->v[last].thread)
        w.first--;
    return w;
}

/* The same of the true path, which is backwards. */
static size_t true_first(const struct true_segment *v, size_t n, size_t last)
{
    size_t i = last;
    while (v[last].g.kind == PATH_RUN && i + 1 < n && v[i + 1].g.kind == PATH_RUN &&
           v[i + 1].g.thread == v[last].g.thread)
        i++;
    return i;
}

/* Whether some park for it is for a permit, which the true path knows nothing of. */
static bool is_permit(const struct analysis *a, lock_id lock)
{
    const struct contexts *c = &a->timeline.contexts;
    for (uint32_t i = 1; i < c->n; i++)
        if (c->v[i].lock.v == lock.v && c->v[i].what == STATE_PARKED &&
            a->purposes.of_context[i] == PURPOSE_PERMIT)
            return true;
    return false;
}

/* Parts of a run bear the name of a lock at its end, from when its owner is known to have had it
 * and the path's next thread waited for it. */
static void check_lock(const struct oracle *o, const struct analysis *a, struct whole w,
                       const struct true_segment *x)
{
    const struct path *p = &a->path;
    size_t i = w.last + 1;
    if (!x->g.lock.v && is_permit(a, p->v[w.last].lock))
        return;
    while (i > w.first && p->v[i - 1].lock.v)
        i--;
    for (size_t k = w.first; k <= w.last; k++)
        CHECK_EQ(p->v[k].lock.v, k >= i ? x->g.lock.v : 0, "lock of segment %zu", k);
    if (i > w.last) {
        CHECK(!x->g.lock.v || !x->seen || x->wanted >= x->g.to, "a run without its lock");
        return;
    }
    uint64_t from = p->v[i].from;
    CHECK(from >= x->wanted, "nobody on the path waited for lock %u yet", x->g.lock.v);
    if (i == w.first || !x->seen)
        return; /* it may have been given back and taken again without a trace */
    CHECK(oracle_owned(o->s, x->g.thread, x->g.lock.v, from),
          "thread %u does not own lock %u at %" PRIu64, x->g.thread, x->g.lock.v,
          from - BUILDER_START);
    CHECK(from == x->wanted, "thread %u had lock %u before", x->g.thread, x->g.lock.v);
}

static void check_segments(const struct oracle *o, const struct analysis *a,
                           const struct true_segment *v, size_t n)
{
    const struct path *p = &a->path;
    size_t i = p->n, k = 0;
    for (; i && k < n; k++) {
        struct whole w = whole_at(p, i - 1);
        const struct path_segment *last = &p->v[w.last], *want = &v[k].g;
        CHECK_EQ(last->to, want->to, "segment %zu", w.last);
        CHECK_EQ(last->thread, want->thread, "segment %zu", w.last);
        bool unknown = want->kind == PATH_RUN && check_unseen(o, a, want->thread);
        CHECK_EQ(is_run(last) ? PATH_RUN : last->kind, unknown ? PATH_UNKNOWN : want->kind,
                 "segment %zu", w.last);
        CHECK_EQ(last->state, unknown ? STATE_UNKNOWN : want->state, "segment %zu", w.last);
        CHECK_EQ(last->stack.v, want->stack.v, "segment %zu", w.last);
        if (want->kind == PATH_RUN)
            check_lock(o, a, w, &v[k]);
        else
            CHECK_EQ(last->lock.v, want->lock.v, "segment %zu", w.last);
        k = true_first(v, n, k);
        CHECK_EQ(p->v[w.first].from, v[k].g.from, "segment %zu", w.first);
        i = w.first;
    }
    CHECK(i == 0 && k == n, "%zu segments more, %zu less", i, n - k);
}

/* --- its sums --------------------------------------------------------------------------------- */

static void add_segment(struct path_sum *s, const struct path_segment *g)
{
    s->first = s->count ? s->first : g->from;
    s->last = g->to;
    s->ns += g->to - g->from;
    s->run += g->kind == PATH_RUN ? g->to - g->from : 0;
    s->count++;
}

static void check_sum(const struct path_sum *got, const struct path_sum *want, const char *what)
{
    CHECK_EQ(got->ns, want->ns, "%s %u", what, got->id);
    CHECK_EQ(got->run, want->run, "%s %u", what, got->id);
    CHECK_EQ(got->count, want->count, "%s %u", what, got->id);
    CHECK_EQ(got->first, want->first, "%s %u", what, got->id);
    CHECK_EQ(got->last, want->last, "%s %u", what, got->id);
}

static bool is_of_lock(const struct path_segment *g)
{
    return g->lock.v && g->kind != PATH_TIMED && g->kind != PATH_WAIT;
}

static void check_path_sums(const struct analysis *a)
{
    const struct path_sums *got = &a->path_sums;
    uint64_t all = 0, of_locks = 0, locks = 0;
    for (size_t i = 0; i < got->n_threads; i++) {
        struct path_sum want = {.id = got->threads[i].id};
        for (size_t k = 0; k < a->path.n; k++)
            if (a->path.v[k].thread == want.id)
                add_segment(&want, &a->path.v[k]);
        check_sum(&got->threads[i], &want, "thread");
        CHECK(i == 0 || got->threads[i].ns <= got->threads[i - 1].ns, "order");
        all += want.ns;
    }
    CHECK_EQ(all, a->path.to - a->path.from, "threads on the path");
    for (size_t i = 0; i < got->n_locks; i++) {
        struct path_sum want = {.id = got->locks[i].id};
        for (size_t k = 0; k < a->path.n; k++)
            if (a->path.v[k].lock.v == want.id && is_of_lock(&a->path.v[k]))
                add_segment(&want, &a->path.v[k]);
        check_sum(&got->locks[i], &want, "lock");
        of_locks += want.ns;
    }
    for (size_t k = 0; k < a->path.n; k++)
        locks += is_of_lock(&a->path.v[k]) ? a->path.v[k].to - a->path.v[k].from : 0;
    CHECK_EQ(of_locks, locks, "locks on the path");
}

void check_path(const struct oracle *o, struct analysis *a, uint32_t thread, uint64_t to,
                uint64_t from)
{
    struct buf want = {0};
    uint64_t begin;
    cr_assert_eq(analysis_follow(a, thread, to, from), 0);
    oracle_path(o, thread, to, from, &want, &begin);
    CHECK_EQ(a->path.thread, thread, "path");
    CHECK_EQ(a->path.to, to, "path");
    CHECK_EQ(a->path.from, begin, "path");
    check_tiles(o, &a->path);
    check_segments(o, a, (const void *)want.p, want.len / sizeof(struct true_segment));
    check_path_sums(a);
    buf_fini(&want);
}

/* --- deadlocks -------------------------------------------------------------------------------- */

/* The span that a thread was in at the end; NULL: none. */
static const struct true_span *open_span(const struct sim *s, uint32_t thread)
{
    for (size_t i = sim_n_spans(s); i > 0; i--) {
        const struct true_span *x = sim_span(s, i - 1);
        if (x->thread == thread && x->flags & INTERVAL_OPEN)
            return x;
    }
    return NULL;
}

/* Whether it reacquires its monitor after a notify; the oracle's wakes are as recorded. */
static bool takes_again(const struct oracle *o, const struct true_span *x)
{
    const struct wake *w = &o->wakes[x - sim_span(o->s, 0)];
    return x->state == STATE_WAITING && w->thread && w->time < o->s->end &&
           (w->kind == INTERACTION_NOTIFY || w->kind == INTERACTION_NOTIFY_ALL);
}

static uint64_t stuck_since(const struct oracle *o, const struct true_span *x)
{
    return takes_again(o, x) ? max_u64(x->start, o->wakes[x - sim_span(o->s, 0)].time) : x->start;
}

static bool unparked_since(const struct sim *s, uint32_t thread, uint64_t time)
{
    for (size_t i = 0; i < sim_n_events(s); i++)
        if (sim_event(s, i)->kind == EV_unpark && sim_event(s, i)->thread.v == thread &&
            sim_event(s, i)->time > time)
            return true;
    return false;
}

/* The thread that it waits for, where the recording shows the truth: no other thread was seen to
 * own the lock since, and this thread was not seen to give it back, or to unpark another, which
 * looks the same. */
static uint32_t told(const struct oracle *o, uint32_t thread)
{
    const struct true_span *x = open_span(o->s, thread);
    const struct evidence *v = (const void *)o->evidence.p;
    uint32_t on = sim_waits_for(o->s, thread);
    if (!x)
        return 0;
    bool again = takes_again(o, x);
    uint32_t other = again ? o->wakes[x - sim_span(o->s, 0)].thread : x->other;
    uint64_t since = stuck_since(o, x);
    if (other != on || (x->state == STATE_PARKED && unparked_since(o->s, on, x->start)))
        return 0;
    for (size_t i = 0; i < o->evidence.len / sizeof *v; i++)
        if (v[i].lock == x->lock && v[i].time > since && (v[i].gone || v[i].thread != on))
            return 0;
    return on;
}

/* Whether it ends up in a circle, by the events; and whether it is in one itself. */
static bool is_doomed(const struct oracle *o, uint32_t thread, bool *member)
{
    uint32_t at = thread;
    *member = false;
    for (uint32_t i = 0; i <= o->s->n_ids && at; i++) {
        at = told(o, at);
        *member |= at == thread;
    }
    return at != 0;
}

static const struct deadlock *deadlock_of(const struct deadlocks *d, uint32_t thread, bool *behind)
{
    for (size_t i = 0; i < d->n; i++) {
        *behind = false;
        for (uint32_t k = 0; k < d->v[i].n_members; k++)
            if (d->v[i].members[k].thread == thread)
                return &d->v[i];
        *behind = true;
        for (uint32_t k = 0; k < d->v[i].n_behind; k++)
            if (d->v[i].behind[k].thread == thread)
                return &d->v[i];
    }
    return NULL;
}

/* Whether a thread waits for the reported thread: without holds another thread may have taken the
 * lock in between without having to wait, which is not recorded; nor is an interrupt before the
 * exception. */
static bool is_true(const struct sim *s, const struct stuck_thread *x)
{
    bool seen = (x->state == STATE_JOINING || s->shape.holds) &&
                open_span(s, x->thread)->wake.by != BY_INTERRUPT;
    return !seen || (x->on && sim_waits_for(s, x->thread) == x->on);
}

static void check_deadlock(const struct oracle *o, const struct deadlock *d)
{
    const struct sim *s = o->s;
    uint64_t formed = 0;
    for (uint32_t i = 0; i < d->n_members; i++) {
        const struct stuck_thread *m = &d->members[i];
        const struct true_span *x = open_span(s, m->thread);
        uint32_t next = d->members[(i + 1) % d->n_members].thread;
        CHECK(is_true(s, m), "thread %u in a deadlock", m->thread);
        CHECK_EQ(m->on, next, "thread %u in a deadlock", m->thread);
        CHECK_EQ(m->since, stuck_since(o, x), "thread %u in a deadlock", m->thread);
        CHECK_EQ(m->lock.v, x->lock, "thread %u in a deadlock", m->thread);
        CHECK_EQ(m->state, takes_again(o, x) ? STATE_REACQUIRING : x->state,
                 "thread %u in a deadlock", m->thread);
        formed = max_u64(formed, m->since);
    }
    CHECK_EQ(d->formed, formed, "deadlock");
    CHECK_EQ(d->sure, s->end - formed >= DEADLOCK_SURE_NS, "deadlock");
    for (uint32_t i = 0; i < d->n_behind; i++)
        CHECK(is_true(s, &d->behind[i]), "thread %u behind a deadlock", d->behind[i].thread);
}

/* Whether who has to wake it has done so, as far as the recording tells; it parks again for a lock
 * whose owner is known to have it still. */
static bool is_ending(const struct oracle *o, const struct true_span *x)
{
    return (x->state == STATE_PARKED && o->wakes[x - sim_span(o->s, 0)].thread &&
            !told(o, x->thread)) ||
           (x->state == STATE_JOINING && o->s->threads[x->other].has_ended);
}

/* Whether every thread of the program waits without a time limit, and one of them keeps it from
 * ending.  Who ended just before the end may have ended the program: nothing else says who did. */
static bool is_stuck(const struct oracle *o)
{
    const struct sim *s = o->s;
    bool keeps = false;
    for (uint32_t i = 1; i <= s->n_ids; i++) {
        const struct true_thread *t = &s->threads[i];
        const struct true_span *x = open_span(s, i);
        if (!t->jvm && t->has_ended && s->end - t->ended < EXIT_NS)
            return false;
        if (t->jvm || t->has_ended)
            continue;
        if (!x || (x->flags & INTERVAL_TIMED && !takes_again(o, x)) || is_ending(o, x))
            return false;
        keeps |= !t->daemon && !t->is_virtual;
    }
    return keeps;
}

void check_deadlocks(const struct oracle *o, const struct analysis *a)
{
    const struct sim *s = o->s;
    const struct deadlocks *got = &a->deadlocks;
    size_t alive = 0;
    for (size_t i = 0; i < got->n; i++)
        check_deadlock(o, &got->v[i]);
    for (uint32_t i = 1; i <= s->n_ids; i++) {
        bool member, behind;
        bool doomed = is_doomed(o, i, &member);
        const struct deadlock *d = deadlock_of(got, i, &behind);
        CHECK(!doomed || (d && behind == !member), "thread %u is deadlocked", i);
        alive += !s->threads[i].jvm && !s->threads[i].has_ended;
    }
    CHECK_EQ(got->n_stuck, is_stuck(o) ? alive : 0, "stuck threads");
}

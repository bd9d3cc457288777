#include "analyze/deadlock.h"

#include "base/err.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

struct finder {
    const struct trace *t;
    const struct timeline *tl;
    const struct thread_set *threads;
    const uint32_t *owners;
    const struct stop *stop;
    const struct open_wait *waits;
    size_t n_waits;
    struct stuck_thread *open; /* [threads->n]; thread 0: it is in no open wait */
    uint32_t *circle;          /* [threads->n]: 1 + the deadlock that it is in or behind; 0: none */
    uint32_t *visit;           /* [threads->n]: who looked at it last */
};

/* Whether a wait is about to end, because the waker has already acted.  If the lock still has its
 * owner, an unpark only makes the thread look, and park again. */
static bool is_ending(const struct finder *f, uint32_t thread, const struct span *s,
                      const struct context *x)
{
    return (x->what == STATE_PARKED && s->waker && !f->owners[thread]) ||
           (x->what == STATE_JOINING && f->threads->v[x->other].has_ended);
}

/* When an open wait began; this may be before the recording's window. */
static uint64_t since(const struct finder *f, uint32_t thread, const struct wait_part *w)
{
    size_t i = 0;
    BISECT(i, f->n_waits, f->waits[i].thread < thread);
    for (; i < f->n_waits && f->waits[i].thread == thread; i++)
        if (f->waits[i].state == w->state)
            return min_u64(f->waits[i].since, w->from);
    return w->from;
}

/* Notes what a thread waits for in its last wait, or in the open part of it. */
static void put_open(struct finder *f, uint32_t thread, const struct span *s,
                     const struct context *x)
{
    struct wait_part v[2];
    const struct wait_part *last = &v[span_parts(f->tl, s, v) - 1];
    stack_id asked = last->again ? span_wake_stack(f->tl, s) : x->owner_stack;
    f->open[thread] = (struct stuck_thread){
        .thread = thread,
        .on = x->what == STATE_JOINING ? x->other : f->owners[thread],
        .state = last->state,
        .timed = !last->again && last->flags & (INTERVAL_TIMED | INTERVAL_LIMIT_UNKNOWN),
        .lock = x->lock,
        .stack = x->stack,
        .owner_stack = last->owner == f->owners[thread] ? asked : (stack_id){0},
        .since = since(f, thread, last)};
}

/* The wait that a thread was in when the recording ended. */
static void find_open(struct finder *f, uint32_t thread)
{
    const struct line *l = &f->tl->lines[thread];
    for (uint32_t i = l->spans.n; i; i--) {
        const struct span *s = line_span(l, i - 1);
        const struct context *x = timeline_context(f->tl, s->context);
        if (x->flags & INTERVAL_OPEN && is_ending(f, thread, s, x))
            return;
        if (x->flags & INTERVAL_OPEN) {
            put_open(f, thread, s, x);
            return;
        }
        if (x->what != STATE_UNKNOWN && !(x->flags & (INTERVAL_UNKNOWN | INTERVAL_REACQUIRED)))
            return;
    }
}

/* The thread that a stuck thread waits for, if it is also stuck. */
static uint32_t next_of(const struct finder *f, uint32_t thread)
{
    uint32_t on = f->open[thread].on;
    return on && f->open[on].thread && !f->open[thread].timed ? on : 0;
}

/* A thread of a cycle that was not found before; 0: `start` leads to none. */
static uint32_t find_circle(struct finder *f, uint32_t start)
{
    uint32_t at = start;
    while (at && !f->visit[at]) {
        f->visit[at] = start;
        at = next_of(f, at);
    }
    return at && f->visit[at] == start ? at : 0;
}

static uint64_t formed_at(const struct finder *f, uint32_t first, uint32_t *n)
{
    uint64_t time = 0;
    uint32_t at = first;
    *n = 0;
    do {
        time = max_u64(time, f->open[at].since);
        ++*n;
        at = next_of(f, at);
    } while (at != first);
    return time;
}

static int add(struct finder *f, struct deadlocks *out, uint32_t first, uint64_t end,
               struct arena *a)
{
    uint32_t n;
    uint64_t formed = formed_at(f, first, &n);
    struct stuck_thread *members = arena_alloc(a, n * sizeof *members);
    if (!members)
        return -ENOMEM;
    struct deadlock *d = &out->v[out->n++];
    uint32_t at = first;
    for (uint32_t i = 0; i < n; i++, at = next_of(f, at)) {
        members[i] = f->open[at];
        f->circle[at] = (uint32_t)out->n;
    }
    *d = (struct deadlock){.members = members,
                           .n_members = n,
                           .formed = formed,
                           .sure = end - min_u64(formed, end) >= DEADLOCK_SURE_NS};
    return 0;
}

/* The deadlock that a thread ends up in, which every thread on the way then knows. */
static uint32_t leads_to(struct finder *f, uint32_t thread)
{
    uint32_t at = thread, found;
    for (uint32_t steps = 0; at && !f->circle[at] && steps < f->threads->n; steps++)
        at = next_of(f, at);
    found = at ? f->circle[at] : 0;
    for (at = thread; found && at && !f->circle[at]; at = next_of(f, at))
        f->circle[at] = found;
    return found;
}

static bool is_member(const struct deadlock *d, uint32_t thread)
{
    for (uint32_t i = 0; i < d->n_members; i++)
        if (d->members[i].thread == thread)
            return true;
    return false;
}

static int add_behind(struct finder *f, struct deadlocks *out, struct arena *a)
{
    if (out->n == 0)
        return 0;
    for (uint32_t i = 1; i < f->threads->n; i++)
        if (f->open[i].thread)
            leads_to(f, i);
    for (size_t k = 0; k < out->n; k++) {
        struct deadlock *d = &out->v[k];
        uint32_t n = 0;
        for (uint32_t i = 1; i < f->threads->n; i++)
            n += f->circle[i] == k + 1;
        struct stuck_thread *v = arena_alloc(a, (n - d->n_members + 1) * sizeof *v);
        if (!v)
            return -ENOMEM;
        for (uint32_t i = 1; i < f->threads->n; i++)
            if (f->circle[i] == k + 1 && !is_member(d, i))
                v[d->n_behind++] = f->open[i];
        d->behind = v;
    }
    return 0;
}

/* Leaves out who only joins itself. */
static void keep_real(struct deadlocks *out)
{
    size_t n = 0;
    for (size_t i = 0; i < out->n; i++) {
        const struct deadlock *d = &out->v[i];
        if (d->n_members > 1 || d->n_behind || d->members->state != STATE_JOINING)
            out->v[n++] = *d;
    }
    out->n = n;
}

static void note_locks(bool *of_lock, size_t n_locks, const struct stuck_thread *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (v[i].lock.v < n_locks)
            of_lock[v[i].lock.v] = true;
}

static int list_locks(struct deadlocks *out, size_t n_locks, struct arena *a)
{
    bool *of_lock = arena_alloc(a, n_locks * sizeof *of_lock);
    if (!of_lock)
        return -ENOMEM;
    memset(of_lock, 0, n_locks * sizeof *of_lock);
    for (size_t i = 0; i < out->n; i++) {
        note_locks(of_lock, n_locks, out->v[i].members, out->v[i].n_members);
        note_locks(of_lock, n_locks, out->v[i].behind, out->v[i].n_behind);
    }
    out->of_lock = of_lock;
    out->n_locks = n_locks;
    return 0;
}

/* --- when nobody can go on -------------------------------------------------------------------- */

static int longest_first(const void *a, const void *b)
{
    const struct stuck_thread *x = a, *y = b;
    if (x->since != y->since)
        return x->since < y->since ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

/* Whether a thread of the program was alive at the end, or when the program was stopped. */
static bool is_alive(const struct finder *f, uint32_t thread)
{
    const struct thread_stats *s = &f->threads->v[thread];
    bool late = f->stop->thread && s->from >= f->stop->at; /* a shutdown hook */
    return bottle_counts(f->t, s) && s->defined && !s->gone && !s->has_ended && !late;
}

/* Whether a thread of the program ended with the JVM; *last: when the last one ended.  Where the
 * trace does not say with which thread the recording ended, the last thread before may have called
 * System.exit. */
static bool lived_to_the_end(const struct finder *f, uint64_t end, uint64_t *last)
{
    bool ends_jvm = false, told = f->threads->v[0].ends_jvm;
    *last = 0;
    for (uint32_t i = 1; i < f->threads->n; i++) {
        const struct thread_stats *s = &f->threads->v[i];
        told |= s->ends_jvm;
        if (!bottle_counts(f->t, s) || !s->defined)
            continue;
        ends_jvm |= s->ends_jvm;
        if (s->has_ended && !(f->stop->thread && s->from >= f->stop->at))
            *last = max_u64(*last, s->ended);
    }
    return ends_jvm || (!told && *last && end - min_u64(*last, end) < EXIT_NS);
}

static int find_stuck(struct finder *f, struct deadlocks *out, uint64_t end, struct arena *a)
{
    bool holds_up = false; /* not a daemon: the program cannot end */
    uint64_t last_end;
    size_t n = 0;
    if (lived_to_the_end(f, end, &last_end))
        return 0;
    for (uint32_t i = 1; i < f->threads->n; i++) {
        if (!is_alive(f, i))
            continue;
        if (!f->open[i].thread || f->open[i].timed)
            return 0;
        holds_up |=
            !(trace_thread(f->t, f->threads->v[i].id)->flags & (THREAD_DAEMON | THREAD_VIRTUAL));
        n++;
    }
    if (!holds_up)
        return 0;
    out->stuck = arena_alloc(a, n * sizeof *out->stuck);
    if (!out->stuck)
        return -ENOMEM;
    for (uint32_t i = 1; i < f->threads->n; i++)
        if (is_alive(f, i))
            out->stuck[out->n_stuck++] = f->open[i];
    qsort(out->stuck, out->n_stuck, sizeof *out->stuck, longest_first);
    out->stuck_since = max_u64(last_end, out->stuck[out->n_stuck - 1].since);
    if (f->stop->thread && out->stuck_since > f->stop->at)
        out->n_stuck = 0; /* not before: while the program ends its threads may well wait */
    return 0;
}

static bool may_be_deadlocked(const struct stuck_thread *s, uint64_t end)
{
    return (s->state == STATE_BLOCKED || s->state == STATE_REACQUIRING) && !s->on && s->thread &&
           end - min_u64(s->since, end) >= DEADLOCK_SURE_NS;
}

static int find(struct finder *f, struct deadlocks *out, uint64_t end, struct arena *a)
{
    size_t n = f->threads->n;
    for (uint32_t i = 1; i < n && i < f->tl->n_lines; i++)
        find_open(f, i);
    out->v = arena_alloc(a, (n / 2 + 1) * sizeof *out->v);
    if (!out->v)
        return -ENOMEM;
    for (uint32_t i = 1; i < n; i++) {
        uint32_t first = f->open[i].thread && !f->visit[i] ? find_circle(f, i) : 0;
        out->n_unknown += may_be_deadlocked(&f->open[i], end);
        if (first)
            TRY(add(f, out, first, end, a));
    }
    TRY(add_behind(f, out, a));
    keep_real(out);
    if (out->n)
        TRY(list_locks(out, f->t->n_locks, a));
    return find_stuck(f, out, end, a);
}

int deadlocks_find(struct deadlocks *out, const struct deadlock_source *from, uint64_t end,
                   struct arena *a)
{
    size_t n = from->threads->n + 1;
    struct finder f = {.t = from->trace,
                       .tl = from->timeline,
                       .threads = from->threads,
                       .owners = from->owners,
                       .stop = from->stop,
                       .waits = from->open,
                       .n_waits = from->n_open};
    memset(out, 0, sizeof *out);
    f.open = calloc(n, sizeof *f.open);
    f.circle = calloc(n, sizeof *f.circle);
    f.visit = calloc(n, sizeof *f.visit);
    int rc = f.open && f.circle && f.visit ? find(&f, out, end, a) : -ENOMEM;
    free(f.open);
    free(f.circle);
    free(f.visit);
    return rc;
}

#include "analyze/owned.h"

#include "analyze/lock_line.h"
#include "base/util.h"

#include <stdlib.h>

struct stretch {
    uint64_t from, to;
};

struct owned_finder {
    const struct analysis *a;
    const struct selection *selection;
    const struct owned_visitor *visitor;
    struct buf wanted;  /* struct stretch [], of the lock at hand, by time */
    struct stretch *of; /* [threads.n]: the latest stretch of an owner; from: 1 + the lock */
};

/* --- when it was wanted ----------------------------------------------------------------------- */

static void add_wanted(struct owned_finder *f, uint64_t from, uint64_t to)
{
    struct stretch *v = (void *)f->wanted.p;
    size_t n = f->wanted.len / sizeof *v;
    if (n && from <= v[n - 1].to)
        v[n - 1].to = max_u64(v[n - 1].to, to);
    else
        buf_put(&f->wanted, &(struct stretch){from, to}, sizeof *v);
}

/* Whether most of its waits are known by their sums, and by looks. */
static bool is_summed(const struct lock_line *l)
{
    uint64_t summed = 0, ns = 0;
    for (uint32_t i = 0; i < l->waits.n; i++) {
        const struct lock_item *w = &l->waits.v[i];
        ns += w->queued ? w->to - w->from : 0;
        summed += w->queued && w->summed ? w->to - w->from : 0;
    }
    return summed && summed_is_much(summed, ns);
}

static uint64_t find_wanted(struct owned_finder *f, const struct lock_line *l)
{
    const struct summed *sums = &f->a->decoded.summed;
    uint64_t ns = 0;
    bool looks = sums->waits && is_summed(l);
    buf_clear(&f->wanted);
    for (uint32_t i = 0; i < l->waits.n; i++) {
        const struct lock_item *w = &l->waits.v[i];
        uint64_t from = w->from, to = w->to;
        if (w->summed || (looks && summed_at(sums, from)))
            continue; /* its time is unknown, or only its length is known */
        if (w->queued && from < to && selection_has(f->selection, w->thread) &&
            selection_clip(f->selection, &from, &to))
            add_wanted(f, from, to);
    }
    const struct stretch *v = (const void *)f->wanted.p;
    for (size_t i = 0; i < f->wanted.len / sizeof *v; i++)
        ns += v[i].to - v[i].from;
    return ns;
}

/* --- who had it in that time ------------------------------------------------------------------ */

/* A hold of the lock, cut to when it was wanted.  They come by their beginnings; *first: the first
 * stretch that is not over by then; *until: up to there the owner is known already. */
static int visit_hold(struct owned_finder *f, const struct lock_item *h, struct owned_lock *l,
                      size_t *first, uint64_t *until)
{
    const struct stretch *v = (const void *)f->wanted.p;
    size_t n = f->wanted.len / sizeof *v;
    struct stretch *of = &f->of[h->thread];
    uint64_t begin = h->from;
    if (of->from == 1 + (uint64_t)l->lock.v)
        begin = max_u64(begin, of->to);
    while (*first < n && v[*first].to <= h->from)
        ++*first;
    size_t i = *first;
    if (begin > h->from)
        BISECT(i, n, v[i].to <= begin);
    for (; i < n && v[i].from < h->to; i++) {
        uint64_t from = max_u64(v[i].from, begin), to = min_u64(v[i].to, h->to);
        if (from >= to)
            continue;
        l->known += to - min_u64(max_u64(from, *until), to);
        *until = max_u64(*until, to);
        TRY(f->visitor->stretch(f->visitor->self, l->lock, h->thread, from, to));
    }
    *of = (struct stretch){1 + (uint64_t)l->lock.v, max_u64(begin, h->to)};
    return 0;
}

static int visit_lock(struct owned_finder *f, const struct lock_line *line)
{
    struct owned_lock l = {.lock = {line->lock}};
    uint64_t until = 0;
    size_t first = 0;
    l.waited = find_wanted(f, line);
    if (f->wanted.oom)
        return -ENOMEM;
    if (!l.waited)
        return 0;
    for (uint32_t i = 0; i < line->holds.n; i++)
        if (line->holds.v[i].thread)
            TRY(visit_hold(f, &line->holds.v[i], &l, &first, &until));
    return f->visitor->end(f->visitor->self, &l);
}

/* --- all locks -------------------------------------------------------------------------------- */

static int visit_locks(struct owned_finder *f, const uint32_t *locks, size_t n)
{
    struct lock_line **lines = calloc(n + 1, sizeof(void *));
    int rc = lines ? lock_lines_make(f->a, locks, n, false, lines) : -ENOMEM;
    for (size_t i = 0; lines && i < n; i++) {
        if (rc == 0)
            rc = visit_lock(f, lines[i]);
        lock_line_free(lines[i]);
    }
    free(lines);
    return rc;
}

/* Lists the locks for which threads queue, and the locks that they reacquire after a wait. */
static size_t list_locks(const struct analysis *a, uint32_t lock, uint32_t *out)
{
    const struct contexts *c = &a->timeline.contexts;
    size_t n_locks = a->locks.n_objects, n = 0;
    for (uint32_t i = 1; i < c->n; i++) {
        const struct context *x = &c->v[i];
        bool queues = x->what == STATE_BLOCKED || x->what == STATE_REACQUIRING ||
                      x->what == STATE_WAITING || x->what == STATE_PARKED;
        if (queues && x->lock.v < n_locks && (!lock || lock == x->lock.v))
            out[x->lock.v] = 1;
    }
    for (uint32_t i = 1; i < n_locks; i++)
        if (out[i])
            out[n++] = i;
    return n;
}

static int visit_some(const struct analysis *a, const struct selection *selection,
                      const uint32_t *locks, size_t n, const struct owned_visitor *visitor)
{
    struct owned_finder f = {.a = a, .selection = selection, .visitor = visitor};
    f.of = calloc(a->threads.n + 1, sizeof *f.of);
    int rc = f.of ? 0 : -ENOMEM;
    for (size_t i = 0, some; i < n && rc == 0; i += some) {
        some = n - i < LOCK_LINES_MAX ? n - i : (size_t)LOCK_LINES_MAX;
        rc = visit_locks(&f, locks + i, some);
    }
    free(f.of);
    buf_fini(&f.wanted);
    return rc;
}

int owned_visit_locks(const struct analysis *a, const uint32_t *locks, size_t n,
                      const struct owned_visitor *visitor)
{
    const struct selection all = selection_all();
    return visit_some(a, &all, locks, n, visitor);
}

int owned_visit(const struct analysis *a, const struct selection *selection,
                const struct owned_visitor *visitor)
{
    uint32_t *locks = calloc(a->locks.n_objects + 1, sizeof *locks);
    int rc = -ENOMEM;
    if (locks)
        rc = visit_some(a, selection, locks, list_locks(a, selection->lock, locks), visitor);
    free(locks);
    return rc;
}

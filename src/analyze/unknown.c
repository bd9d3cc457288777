#include "analyze/unknown.h"

#include "analyze/bottle.h"
#include "base/err.h"
#include "base/util.h"

#include <stdlib.h>

void unknowns_fini(struct unknowns *u)
{
    buf_fini(&u->v);
}

static struct unknown_stretch *list(const struct unknowns *u)
{
    return (void *)u->v.p;
}

/* --- what no event is missing for ------------------------------------------------------------- */

/* When something of a thread is first and last seen; from > to: never. */
static struct unknown_stretch seen(const struct timeline *tl, const struct line *l)
{
    struct unknown_stretch s = {.from = UINT64_MAX};
    if (l->spans.n) {
        s.from = min_u64(s.from, line_span(l, 0)->start);
        s.to = max_u64(s.to, span_end(tl, line_span(l, l->spans.n - 1)));
    }
    if (l->acts.n) {
        s.from = min_u64(s.from, line_act(l, 0)->time);
        s.to = max_u64(s.to, line_act(l, l->acts.n - 1)->time);
    }
    if (l->holds.n) {
        s.from = min_u64(s.from, line_hold(l, 0)->start);
        s.to = max_u64(s.to, span_end(tl, line_hold(l, l->holds.n - 1)));
    }
    return s;
}

/* Whether a virtual thread that is not seen to start was there before the recording. */
static bool records_virtual_starts(const struct trace *t)
{
    const char *groups = trace_info(t, "orca.events", "");
    return !*groups || event_groups_list(groups, GROUP_virtual);
}

static void add_virtual(struct unknowns *u, const struct timeline *tl, uint32_t thread,
                        const struct thread_stats *s, bool starts)
{
    const struct unknown_stretch x = seen(tl, &tl->lines[thread]);
    bool ever = x.from <= x.to;
    if (s->has_started || s->called || (ever && starts))
        return;
    unknowns_add(u, thread, s->from, ever ? x.from : s->to);
    if (ever && !s->has_ended)
        unknowns_add(u, thread, x.to, s->to);
}

/* Whether a thread lived on, with nothing recorded but its start. */
static bool is_silent(const struct timeline *tl, const struct line *l, const struct thread_stats *s)
{
    for (uint32_t i = 0; i < l->acts.n; i++)
        if (timeline_context(tl, line_act(l, i)->context)->what != EV_thread_start)
            return false;
    return !s->has_ended && l->spans.n == 0 && l->holds.n == 0;
}

static void add_unseen(struct unknowns *u, const struct timeline *tl, const struct trace *t,
                       const struct thread_set *threads)
{
    bool starts = records_virtual_starts(t), bare = trace_order_is_bare(t);
    for (uint32_t i = 1; i < threads->n && i < tl->n_lines; i++) {
        const struct thread_stats *s = &threads->v[i];
        if (s->id.v && (!bottle_counts(t, s) || (bare && is_silent(tl, &tl->lines[i], s))))
            unknowns_add(u, i, s->from, s->to);
        else if (s->is_virtual)
            add_virtual(u, tl, i, s, starts);
    }
}

/* --- one thread ------------------------------------------------------------------------------- */

/* Joins stretches of one thread that overlap or touch, and cuts them to its life.  Returns how many
 * are left. */
static size_t join(struct unknown_stretch *v, size_t n, const struct thread_stats *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        struct unknown_stretch x = {max_u64(v[i].from, s->from), min_u64(v[i].to, s->to),
                                    v[i].thread};
        if (x.from >= x.to)
            continue;
        if (kept && x.from <= v[kept - 1].to)
            v[kept - 1].to = max_u64(v[kept - 1].to, x.to);
        else
            v[kept++] = x;
    }
    return kept;
}

/* --- all -------------------------------------------------------------------------------------- */

static int by_thread_and_start(const void *a, const void *b)
{
    const struct unknown_stretch *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

int unknowns_put(struct unknowns *u, struct timeline *tl, const struct trace *t,
                 const struct thread_set *threads)
{
    add_unseen(u, tl, t, threads);
    if (u->v.oom)
        return -ENOMEM;
    size_t all = u->v.len / sizeof(struct unknown_stretch), n;
    if (all)
        qsort(list(u), all, sizeof(struct unknown_stretch), by_thread_and_start);
    for (size_t i = 0; i < all; i += n) {
        struct unknown_stretch *v = list(u) + i;
        for (n = 1; i + n < all && v[n].thread == v->thread;)
            n++;
        size_t kept = v->thread < threads->n ? join(v, n, &threads->v[v->thread]) : 0;
        if (kept)
            TRY(timeline_put_unknown(tl, v->thread, v, kept));
    }
    return 0;
}

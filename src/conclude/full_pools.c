/* Whether a pool had a free thread, one that had nothing to do: where there was none, what its
 * threads do limits all that is given to the pool.  And for how long one thread alone had work, which
 * is not divided then. */
#include "analyze/io_calls.h"
#include "base/util.h"
#include "conclude/resource_names.h"
#include "conclude/rules_parts.h"
#include "conclude/thread_pools.h"

#include <stdlib.h>

enum {
    NONE_FREE_PERMILLE = 200, /* of the recording, in stretches of */
    NONE_FREE_NS = 250000000, /* this long at least, */
    USE_PERMILLE = 400,       /* and of the time of use: the pool is full; */
    FULL_PERMILLE = 600,      /* or of the time of use, in stretches of any length */
    ALONE_THREADS = 3,        /* of a pool of this size or more one had work alone, */
    ALONE_PERMILLE = 250,     /* for this part of the time of use, in one stretch */
};

struct idle_edge {
    uint64_t time;
    int32_t change;
    uint32_t thread;
};

static int by_time(const void *x, const void *y)
{
    const struct idle_edge *a = x, *b = y;
    return a->time != b->time ? (a->time < b->time ? -1 : 1) : a->change - b->change;
}

static void put_edges(struct buf *to, uint32_t thread, uint64_t from, uint64_t until)
{
    const struct idle_edge v[] = {{from, 1, thread}, {until, -1, thread}};
    if (from < until)
        buf_put(to, v, sizeof v);
}

/* Whether a thread waits for work now and then; adds the stretches in which it has nothing to do. */
static bool works(const struct evidence *ev, uint32_t thread, struct buf *idle)
{
    const struct analysis *a = ev->a;
    const struct line *l = &a->timeline.lines[thread];
    const struct still_line *still = stills_of(&a->stills, thread);
    bool does = false;
    for (uint32_t i = 0; i < still->n && !does; i++)
        does = program_is_workers(&ev->resources.program, still->v[i].stack);
    for (uint32_t i = 0; i < l->spans.n; i++) {
        const struct span *s = line_span(l, i);
        if (!wait_is_for_work(a, s->context))
            continue;
        does = true;
        put_edges(idle, thread, s->start, span_end(&a->timeline, s));
    }
    return does;
}

/* Whether a thread is mostly in a select: one that never waits for work hands it out to the
 * others. */
static bool selects(const struct analysis *a, uint32_t thread)
{
    const struct still_line *still = stills_of(&a->stills, thread);
    uint64_t all = 0, selects = 0;
    for (uint32_t i = 0; i < still->n; i++) {
        uint64_t ns = still->v[i].to - still->v[i].from;
        all += ns;
        selects += io_in_select(a->trace, still->v[i].stack) ? ns : 0;
    }
    return 2 * selects > all;
}

/* The number of the pool's threads, and their ids, joined by xor; their idle stretches, and from when
 * to when there were any.  0: one never waits for work, so that nothing is known. */
static uint32_t look_at_pool(const struct evidence *ev, uint32_t thread, struct buf *idle,
                             uint64_t *from, uint64_t *to, uint32_t *ids)
{
    const struct thread_set *threads = &ev->a->threads;
    uint32_t n = 0;
    *from = UINT64_MAX;
    *to = 0;
    *ids = 0;
    for (uint32_t i = 1; i < ev->a->timeline.n_lines && i < threads->n; i++) {
        if (!resource_same_pool(ev->a, thread, i))
            continue;
        if (!works(ev, i, idle)) {
            if (!selects(ev->a, i))
                return 0;
            continue;
        }
        *from = min_u64(*from, threads->v[i].from);
        *to = max_u64(*to, threads->v[i].to);
        *ids ^= i;
        n++;
    }
    return n;
}

/* The longest stretch, within the time of use, in which one thread of the pool had work alone.  ids:
 * of those that are busy before the first edge. */
static void find_alone(struct resource *r, const struct idle_edge *v, size_t n, uint32_t ids,
                       uint64_t end)
{
    uint32_t idle = 0, alone = 0;
    uint64_t since = 0, longest = 0;
    for (size_t i = 0; i <= n; i++) {
        uint64_t time = i < n ? v[i].time : end;
        idle += i < n ? (uint32_t)v[i].change : 0;
        ids ^= i < n ? v[i].thread : 0;
        uint32_t now = i < n && idle + 1 == r->n_pool ? ids : 0;
        if (now == alone || (i + 1 < n && v[i + 1].time == time))
            continue;
        uint64_t ns = alone ? common_u64(since, time, r->first, r->last) : 0;
        if (ns > longest) {
            longest = ns;
            r->alone = alone;
        }
        alone = now;
        since = time;
    }
    bool much = rule_permille(longest, r->last - r->first) >= ALONE_PERMILLE;
    r->alone_ns = r->n_pool >= ALONE_THREADS && much ? longest : 0;
}

void pool_find_none_free(const struct evidence *ev, struct resource *r)
{
    struct buf idle = {0};
    uint64_t from = 0, to = 0, whole = 0, all = 0, longer = 0;
    uint32_t ids = 0;
    int free_ones = 0;
    bool is_virtual =
        ev->a->threads.v[r->holder].is_virtual; /* one for each request or connection */
    r->n_pool = is_virtual ? 0 : look_at_pool(ev, r->holder, &idle, &from, &to, &ids);
    struct idle_edge *v = (void *)idle.p;
    size_t n = r->n_pool ? idle.len / sizeof *v : 0;
    if (n)
        qsort(v, n, sizeof *v, by_time);
    for (size_t i = 0; i <= n && r->n_pool && !idle.oom; i++) {
        uint64_t until = i < n ? v[i].time : to;
        uint64_t ns = !free_ones && until > from ? until - from : 0;
        longer += ns >= NONE_FREE_NS ? ns : 0;
        whole += ns;
        all += !free_ones ? common_u64(from, until, r->first, r->last) : 0;
        free_ones += i < n ? v[i].change : 0;
        from = free_ones ? from : until;
    }
    if (!idle.oom)
        find_alone(r, v, n, ids, to);
    buf_fini(&idle);
    if (rule_permille(longer, ev->length) >= NONE_FREE_PERMILLE &&
        rule_permille(longer, r->last - r->first) >= USE_PERMILLE)
        r->none_free = whole;
    else if (r->n_pool > 1 && rule_permille(all, r->last - r->first) >= FULL_PERMILLE)
        r->none_free = all;
}

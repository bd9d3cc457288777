#include "analyze/summed.h"

#include "analyze/op.h"
#include "base/err.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

struct summed_wait {
    uint64_t since, until, total, longest, count;
    struct context context;
    uint32_t thread, waker;
    bool one; /* a wait, from since to until */
};

/* A stretch of a thread in no recorded wait: [from, from + len).  `before`: ns of such time before
 * it. */
struct room {
    uint64_t from, len, before;
};

void summed_fini(struct summed *s)
{
    buf_fini(&s->sums);
    buf_fini(&s->stretches);
}

static struct summed_wait *all(const struct summed *s, size_t *n)
{
    *n = s->sums.len / sizeof(struct summed_wait);
    return (void *)s->sums.p;
}

/* --- events ----------------------------------------------------------------------------------- */

static void take_stretch(struct summed *s, const struct event *e)
{
    size_t n = s->stretches.len / sizeof(struct summing);
    struct summing *v = (void *)s->stretches.p;
    struct summing x = {.from = min_u64(e->summing.since, e->time),
                        .to = e->time,
                        .unparks = e->summing.unparks,
                        .below = e->summing.below ? e->summing.below : 1000000,
                        .cut = e->summing.goes_on != 0,
                        .pauses = e->summing.goes_on > 1,
                        .timed = e->summing.timed != 0};
    if (n && v[n - 1].from == x.from)
        v[n - 1] = x; /* it says more of the same */
    else
        buf_put(&s->stretches, &x, sizeof x);
}

void summed_take(struct summed *s, const struct event *e, uint32_t thread, uint32_t owner,
                 uint32_t waker)
{
    unsigned state = e->kind == EV_wait_sum ? op_state(e->wait_sum.kind) : STATE_LIMIT;
    if (e->kind == EV_summing)
        take_stretch(s, e);
    if (state != STATE_BLOCKED && state != STATE_PARKED && state != STATE_JOINING)
        return;
    struct summed_wait w = {.until = min_u64(e->wait_sum.until, e->time),
                            .longest = min_u64(e->wait_sum.longest, e->wait_sum.total),
                            .total = e->wait_sum.total,
                            .count = e->wait_sum.count,
                            .thread = thread,
                            /* for a monitor, the owner that was seen */
                            .waker = state == STATE_BLOCKED ? owner : waker,
                            .context = {.lock = e->wait_sum.lock,
                                        .other = owner,
                                        .stack = e->wait_sum.stack,
                                        .what = (uint8_t)state,
                                        .flags = op_limit_flags(state, e->wait_sum.limit),
                                        .mode = e->wait_sum.whole == WAIT_SUM_WHOLE
                                                    ? CONTEXT_RECORDED
                                                    : CONTEXT_SUMMED}};
    w.since = min_u64(e->wait_sum.since, w.until);
    w.one = w.count == 1 && e->wait_sum.whole != WAIT_SUM_TIMED;
    if (w.one)
        w.total = w.longest = w.until - w.since;
    if (!w.count || !thread)
        return;
    buf_put(&s->sums, &w, sizeof w);
    s->waits += w.context.mode == CONTEXT_SUMMED ? w.count : 0;
    s->ns += w.context.mode == CONTEXT_SUMMED ? w.total : 0;
}

static int by_thread_and_end(const void *a, const void *b)
{
    const struct summed_wait *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->until != y->until)
        return x->until < y->until ? -1 : 1;
    return (x->since > y->since) - (x->since < y->since);
}

static int by_from(const void *a, const void *b)
{
    const struct summing *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

/* Stretches with one beginning are one stretch; its latest event is the most complete. */
static void sort_stretches(struct summed *s)
{
    struct summing *v = (void *)s->stretches.p;
    size_t n = s->stretches.len / sizeof *v, kept = 0;
    if (n)
        qsort(v, n, sizeof *v, by_from);
    for (size_t i = 0; i < n; i++) {
        if (kept && v[kept - 1].from == v[i].from)
            kept--;
        v[kept++] = v[i];
    }
    s->stretches.len = kept * sizeof *v;
}

void summed_sort(struct summed *s)
{
    size_t n;
    struct summed_wait *v = all(s, &n);
    if (n)
        qsort(v, n, sizeof *v, by_thread_and_end);
    sort_stretches(s);
}

uint64_t summed_last(const struct summed *s, uint32_t thread)
{
    size_t n, i = 0;
    const struct summed_wait *v = all(s, &n);
    BISECT(i, n, v[i].thread <= thread);
    return i && v[i - 1].thread == thread ? v[i - 1].until : 0;
}

uint64_t summed_time(const struct summed *s)
{
    const struct summing *v = (const void *)s->stretches.p;
    uint64_t ns = 0, told = 0;
    for (size_t i = 0; i < s->stretches.len / sizeof *v; i++) {
        uint64_t from = max_u64(v[i].from, told);
        ns += v[i].to > from ? v[i].to - from : 0;
        told = max_u64(told, v[i].to);
    }
    return ns;
}

bool summed_at(const struct summed *s, uint64_t time)
{
    const struct summing *v = (const void *)s->stretches.p;
    size_t n = s->stretches.len / sizeof *v, i = 0;
    BISECT(i, n, v[i].to <= time);
    return i < n && v[i].from <= time;
}

uint64_t summed_below(const struct summed *s)
{
    const struct summing *v = (const void *)s->stretches.p;
    uint64_t below = 0;
    for (size_t i = 0; i < s->stretches.len / sizeof *v; i++)
        below = max_u64(below, v[i].below);
    return below;
}

bool summed_is_timed(const struct summed *s)
{
    const struct summing *v = (const void *)s->stretches.p;
    bool timed = false;
    for (size_t i = 0; i < s->stretches.len / sizeof *v && !timed; i++)
        timed = v[i].timed;
    return timed;
}

bool summed_is_cut(const struct summed *s)
{
    const struct summing *v = (const void *)s->stretches.p;
    size_t n = s->stretches.len / sizeof *v;
    return n && v[n - 1].cut;
}

/* --- one thread ------------------------------------------------------------------------------- */

struct placer {
    struct summed *s;
    struct timeline *t;
    uint64_t from, to;
    struct buf rooms;  /* struct room [] */
    bool everywhere;   /* also where a look was taken */
    struct buf pieces; /* struct timeline_piece [] */
    struct buf ends;   /* uint64_t []: where the sums end, in ns of free time */
};

static void put_room(struct placer *p, uint64_t from, uint64_t to)
{
    const struct room *v = (const void *)p->rooms.p;
    size_t n = p->rooms.len / sizeof *v;
    const struct room x = {from, to - from, n ? v[n - 1].before + v[n - 1].len : 0};
    if (from < to)
        buf_put(&p->rooms, &x, sizeof x);
}

/* A stretch without the looks in it. */
static void put_rooms(struct placer *p, uint64_t from, uint64_t to)
{
    const struct summing *v = (const void *)p->s->stretches.p;
    size_t n = p->everywhere ? 0 : p->s->stretches.len / sizeof *v, i = 0;
    BISECT(i, n, v[i].to < from);
    for (i -= i > 0; i + 1 < n && v[i].to < to; i++) {
        if (!v[i].pauses || v[i + 1].from <= from)
            continue;
        put_room(p, from, max_u64(v[i].to, from));
        from = max_u64(from, v[i + 1].from);
    }
    put_room(p, from, to);
}

/* Finds the stretches in which the thread is in no wait with a known time. */
static void find_rooms(struct placer *p, uint32_t thread, bool everywhere)
{
    static const struct run none;
    const struct run *r = thread < p->t->n_lines ? &p->t->lines[thread].spans : &none;
    uint64_t told = p->from;
    buf_clear(&p->rooms);
    p->everywhere = everywhere;
    for (uint32_t i = 0; i <= r->n; i++) {
        const struct span *s = i < r->n ? run_at(r, sizeof *s, i) : NULL;
        put_rooms(p, told, s ? s->start : p->to);
        told = max_u64(told, s ? span_end(p->t, s) : 0);
    }
}

/* How much free time there is up to a time. */
static uint64_t free_until(const struct placer *p, uint64_t time)
{
    const struct room *v = (const void *)p->rooms.p;
    size_t i = 0, n = p->rooms.len / sizeof *v;
    BISECT(i, n, v[i].from < time);
    return i ? v[i - 1].before + min_u64(v[i - 1].len, time - v[i - 1].from) : 0;
}

static void put_piece(struct placer *p, uint64_t from, uint64_t to, const struct summed_wait *w,
                      bool first)
{
    const struct timeline_piece x = {.from = from,
                                     .to = to,
                                     .context = w->context,
                                     .count = first ? w->count : 0,
                                     .longest = first ? w->longest : 0,
                                     .waker = w->waker,
                                     .seen = w->context.what == STATE_BLOCKED};
    buf_put(&p->pieces, &x, sizeof x);
}

/* A sum's part of the free time becomes spans: one in each room that it reaches into. */
static void put_sum(struct placer *p, const struct summed_wait *w, uint64_t from, uint64_t to)
{
    const struct room *v = (const void *)p->rooms.p;
    size_t i = 0, n = p->rooms.len / sizeof *v;
    bool first = true;
    BISECT(i, n, v[i].before + v[i].len <= from);
    do {
        uint64_t a = i < n ? max_u64(from, v[i].before) : from;
        uint64_t b = i < n ? min_u64(to, v[i].before + v[i].len) : from;
        uint64_t at = i < n ? v[i].from + (a - v[i].before) : p->to;
        if (first || b > a)
            put_piece(p, at, at + (b > a ? b - a : 0), w, first);
        first = false;
        i++;
    } while (i < n && v[i].before < to);
}

/* From which to which ns of the free time each sum lasts: as early as it may be, behind the one
 * before, and then, from the last one on, back where they reach beyond the end. */
static void place_sums(struct placer *p, const struct summed_wait *v, size_t n)
{
    uint64_t told = 0, limit = free_until(p, p->to);
    buf_clear(&p->ends);
    for (size_t i = 0; i < n; i++) {
        if (v[i].one)
            continue;
        uint64_t since = free_until(p, v[i].since), until = free_until(p, v[i].until);
        uint64_t late = until > v[i].total ? until - v[i].total : 0;
        told = max_u64(told, min_u64(since, late)) + v[i].total;
        buf_put(&p->ends, &told, sizeof told);
    }
    uint64_t *end = (void *)p->ends.p;
    size_t k = p->ends.oom ? 0 : p->ends.len / sizeof *end;
    for (size_t i = n; i-- > 0 && k > 0;) {
        if (v[i].one)
            continue;
        k--;
        end[k] = min_u64(end[k], limit);
        limit = end[k] > v[i].total ? end[k] - v[i].total : 0;
        p->s->misfit |= end[k] < v[i].total;
    }
}

static int put_sums(struct placer *p, const struct summed_wait *v, size_t n)
{
    uint64_t told = 0, all_ns = 0;
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        all_ns += !v[i].one ? v[i].total : 0;
    find_rooms(p, v->thread, false);
    if (all_ns > free_until(p, p->to))
        find_rooms(p, v->thread, true);
    place_sums(p, v, n);
    buf_clear(&p->pieces);
    const uint64_t *end = (const void *)p->ends.p;
    for (size_t i = 0; i < n && !p->ends.oom; i++) {
        if (v[i].one)
            continue;
        uint64_t to = max_u64(end[k], told);
        k++;
        put_sum(p, &v[i], max_u64(told, to > v[i].total ? to - v[i].total : 0), to);
        told = to;
    }
    if (p->rooms.oom || p->ends.oom || p->pieces.oom)
        return -ENOMEM;
    return timeline_put_pieces(p->t, v->thread, (const void *)p->pieces.p,
                               p->pieces.len / sizeof(struct timeline_piece));
}

/* Puts the waits whose time is known. */
static int put_singles(struct placer *p, const struct summed_wait *v, size_t n)
{
    buf_clear(&p->pieces);
    find_rooms(p, v->thread, true);
    const struct room *r = (const void *)p->rooms.p;
    size_t n_rooms = p->rooms.len / sizeof *r;
    uint64_t told = p->from;
    for (size_t i = 0; i < n; i++) {
        if (!v[i].one)
            continue;
        uint64_t from = max_u64(v[i].since, told), to = max_u64(min_u64(v[i].until, p->to), from);
        size_t in = 0;
        BISECT(in, n_rooms, r[in].from + r[in].len <= from);
        /* a damaged file's may lie where something else is */
        from = in < n_rooms ? max_u64(from, r[in].from) : from;
        to = in < n_rooms ? max_u64(min_u64(to, r[in].from + r[in].len), from) : from;
        p->s->misfit |= to - from < min_u64(v[i].until, p->to) - min_u64(v[i].since, p->to) &&
                        v[i].since >= p->from;
        put_piece(p, from, to, &v[i], true);
        told = to;
    }
    if (p->rooms.oom || p->pieces.oom)
        return -ENOMEM;
    return timeline_put_pieces(p->t, v->thread, (const void *)p->pieces.p,
                               p->pieces.len / sizeof(struct timeline_piece));
}

int summed_put(struct summed *s, struct timeline *t, uint64_t from, uint64_t to)
{
    struct placer p = {.s = s, .t = t, .from = from, .to = to};
    size_t n, same;
    const struct summed_wait *v = all(s, &n);
    int rc = s->sums.oom || s->stretches.oom ? -ENOMEM : 0;
    for (size_t i = 0; i < n && rc == 0; i += same) {
        for (same = 1; i + same < n && v[i + same].thread == v[i].thread;)
            same++;
        rc = put_singles(&p, v + i, same);
        rc = rc ? rc : put_sums(&p, v + i, same);
    }
    buf_fini(&p.rooms);
    buf_fini(&p.pieces);
    buf_fini(&p.ends);
    return rc;
}

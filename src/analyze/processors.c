#include "analyze/processors.h"

#include "analyze/lines.h"
#include "analyze/safepoints.h"
#include "analyze/still.h"
#include "base/err.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

const char *const cpu_state_names[CPU_STATES] = {"on_processor", "ready",         "waits",    "io",
                                                 "stopped",      "off_processor", "not_known"};

void processors_init(struct processors *p)
{
    memset(p, 0, sizeof *p);
    arena_init(&p->arena, 0);
}

void processors_fini(struct processors *p)
{
    free(p->lines);
    buf_fini(&p->known);
    arena_fini(&p->arena);
    memset(p, 0, sizeof *p);
}

/* --- keeping ---------------------------------------------------------------------------------- */

static struct processor_turn *turn_at(const struct run *r, uint32_t i)
{
    return run_at(r, sizeof(struct processor_turn), i);
}

static int take_turn(struct processors *p, struct processor_line *l, const struct event *e)
{
    struct processor_turn *to = run_push(&l->turns, &p->arena, sizeof *to);
    if (!to)
        return -ENOMEM;
    *to = (struct processor_turn){min_u64(e->turn.since, e->time), e->time, e->turn.end};
    p->n_turns++;
    return 0;
}

static int take_known(struct processors *p, const struct event *e)
{
    const struct processor_turn k = {min_u64(e->turns_known.since, e->time), e->time, 0};
    buf_put(&p->known, &k, sizeof k);
    return p->known.oom ? -ENOMEM : 0;
}

static void take_share(struct processors *p, struct processor_line *l, const struct event *e)
{
    const struct ev_processor_share *s = &e->processor_share;
    uint64_t length = e->time - min_u64(s->since, e->time), ran = min_u64(s->ran, length);
    l->ran += ran;
    l->ready += min_u64(s->ready, length - ran);
    l->shares_for += length;
    p->n_shares++;
}

int processors_take(struct processors *p, uint32_t thread, const struct event *e)
{
    if (e->kind == EV_turns_known)
        return take_known(p, e);
    if (e->kind == EV_quota) {
        p->periods += e->quota.periods;
        p->stopped += min_u64(e->quota.stopped, e->quota.periods);
        p->stopped_ns += e->quota.ns;
        return 0;
    }
    struct processor_line *lines = lines_reach(p->lines, &p->n_lines, sizeof *lines, thread);
    if (!lines)
        return -ENOMEM;
    p->lines = lines;
    if (e->kind == EV_turn)
        return take_turn(p, &lines[thread], e);
    take_share(p, &lines[thread], e);
    return 0;
}

static int by_time(const void *a, const void *b)
{
    const struct processor_turn *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

/* Sorts turns by time, cuts overlaps, and drops empty turns. */
static size_t put_in_order(struct processor_turn *v, size_t n)
{
    size_t left = 0;
    uint64_t told = 0;
    if (n)
        qsort(v, n, sizeof *v, by_time);
    for (size_t i = 0; i < n; i++) {
        struct processor_turn t = v[i];
        t.from = max_u64(t.from, told);
        if (t.from >= t.to)
            continue;
        told = t.to;
        v[left++] = t;
    }
    return left;
}

static bool is_in_order(const struct run *r)
{
    uint64_t told = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct processor_turn *t = turn_at(r, i);
        if (t->from < told || t->from >= t->to)
            return false;
        told = t->to;
    }
    return true;
}

static int order_line(struct run *r)
{
    if (is_in_order(r))
        return 0;
    struct processor_turn *v = malloc(r->n * sizeof *v);
    if (!v)
        return -ENOMEM;
    for (uint32_t i = 0; i < r->n; i++)
        v[i] = *turn_at(r, i);
    r->n = (uint32_t)put_in_order(v, r->n);
    for (uint32_t i = 0; i < r->n; i++)
        *turn_at(r, i) = v[i];
    free(v);
    return 0;
}

/* Joins stretches that touch.  A recording has one stretch more for each time that the group is
 * switched on.  Every thread goes through all stretches, so only the first ones count in a file
 * that has thousands. */
static size_t join_known(struct processor_turn *v, size_t n)
{
    enum { KNOWN_MOST = 32 };
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        if (left && v[left - 1].to == v[i].from)
            v[left - 1].to = v[i].to;
        else if (left < KNOWN_MOST)
            v[left++] = v[i];
        else
            break;
    }
    return left;
}

int processors_finish(struct processors *p, const struct thread_set *threads)
{
    p->threads = threads;
    struct processor_turn *known = (struct processor_turn *)(void *)p->known.p;
    size_t n = put_in_order(known, p->known.len / sizeof *known);
    p->known.len = join_known(known, n) * sizeof *known;
    for (size_t i = 0; i < p->n_lines; i++)
        TRY(order_line(&p->lines[i].turns));
    return 0;
}

void processors_explain(struct processors *p, const struct trace *t, const struct stills *io,
                        const struct safepoint *stops, size_t n_stops)
{
    p->trace = t;
    p->io = io;
    p->stops = stops;
    p->n_stops = n_stops;
}

/* --- tiles ------------------------------------------------------------------------------------ */

struct tiler {
    const struct processors *p;
    const struct timeline *tl;
    const struct line *line; /* NULL: no waits */
    bool is_virtual;
    void (*visit)(void *ctx, const struct cpu_tile *t);
    void *ctx;
    uint32_t span;  /* the first that may end after what was reported */
    size_t stretch; /* the same of p->known, */
    uint32_t call;  /* of io, */
    size_t stop;    /* and of p->stops */
    const struct still_line *io;
    bool fault;     /* its next turn comes out of a page fault */
    uint64_t since; /* it has been off since then, or out of the last wait or call */
};

static void put(const struct tiler *t, enum cpu_state kind, uint32_t span, uint64_t from,
                uint64_t to)
{
    const struct cpu_tile tile = {from, to, kind, span, kind == CPU_OFF && t->fault};
    if (from < to)
        t->visit(t->ctx, &tile);
}

/* When the act that ended the wait happened; UINT64_MAX: unknown. */
static uint64_t woken_at(const struct tiler *t, const struct span *s)
{
    return s->waker && !span_is_summed(t->tl, s) ? max_u64(span_wake_time(t->tl, s), s->start)
                                                 : UINT64_MAX;
}

/* A part of a wait, or of a span that may have been a wait; that the thread was on no processor is
 * certain.  turn: the turn in which the thread continued follows it. */
static void put_wait(const struct tiler *t, enum cpu_state kind, uint32_t i, uint64_t from,
                     uint64_t to, bool turn)
{
    const struct span *s = line_span(t->line, i);
    uint64_t ready = turn ? min_u64(max_u64(woken_at(t, s), from), to) : to;
    bool known = timeline_context(t->tl, s->context)->what != STATE_UNKNOWN;
    put(t, known ? CPU_WAITS : kind, i, from, ready);
    put(t, CPU_READY, 0, ready, to);
}

/* Time in no wait and in no input or output.  A thread that left its processor after the JVM began
 * to stop threads is ready when the stop is over; a thread that was off before stays off. */
static void put_stops(struct tiler *t, enum cpu_state kind, uint64_t from, uint64_t to, bool turn)
{
    const struct safepoint *v = t->p->stops;
    size_t n = t->p->n_stops;
    bool turns = kind == CPU_OFF;
    for (size_t i = t->stop; i < n && v[i].from < to; i++) {
        uint64_t begin = max_u64(turns ? v[i].from : v[i].reached, from);
        uint64_t end = min_u64(v[i].to, to);
        put(t, kind, 0, from, min_u64(begin, end));
        put(t, CPU_STOPPED, 0, begin, end);
        from = max_u64(from, end);
        kind = turns && turn && t->since >= v[i].from ? CPU_READY : kind;
    }
    put(t, kind, 0, from, to);
    while (t->stop < n && v[t->stop].to <= to)
        t->stop++;
}

/* In no wait. */
static void put_free(struct tiler *t, enum cpu_state kind, uint64_t from, uint64_t to, bool turn)
{
    while (from < to) {
        while (t->call < t->io->n && t->io->v[t->call].to <= from)
            t->since = max_u64(t->since, t->io->v[t->call++].to);
        const struct still *s = t->call < t->io->n ? &t->io->v[t->call] : NULL;
        uint64_t begin = s ? min_u64(max_u64(s->from, from), to) : to;
        uint64_t end = s ? min_u64(s->to, to) : to;
        put_stops(t, kind, from, begin, turn && begin == to);
        put(t, CPU_IO, 0, begin, end);
        from = end;
    }
}

/* On no processor; `kind` where there is no wait. */
static void put_off(struct tiler *t, enum cpu_state kind, uint64_t from, uint64_t to, bool turn)
{
    while (from < to) {
        uint32_t n = t->line ? t->line->spans.n : 0;
        while (t->span < n && span_end(t->tl, line_span(t->line, t->span)) <= from)
            t->since = max_u64(t->since, span_end(t->tl, line_span(t->line, t->span++)));
        const struct span *s = t->span < n ? line_span(t->line, t->span) : NULL;
        if (!s || s->start >= to) {
            put_free(t, kind, from, to, turn);
            return;
        }
        uint64_t begin = max_u64(s->start, from), end = min_u64(span_end(t->tl, s), to);
        put_free(t, kind, from, begin, false);
        put_wait(t, kind, t->span, begin, end, turn);
        from = end;
    }
}

/* The same, where turns are known and where they are not. */
static void put_between(struct tiler *t, enum cpu_state kind, uint64_t from, uint64_t to, bool turn)
{
    const struct processor_turn *k = (const void *)t->p->known.p;
    size_t n = t->p->known.len / sizeof *k;
    while (from < to) {
        while (t->stretch < n && k[t->stretch].to <= from)
            t->stretch++;
        bool any = t->stretch < n && k[t->stretch].from < to;
        uint64_t begin = any ? max_u64(k[t->stretch].from, from) : to;
        uint64_t end = any ? min_u64(k[t->stretch].to, to) : to;
        put_off(t, CPU_UNKNOWN, from, begin, turn);
        if (kind == CPU_READY)
            put(t, kind, 0, begin, end);
        else
            put_off(t, kind, begin, end, turn);
        from = end;
    }
}

static enum cpu_state kind_between(const struct tiler *t, const struct processor_turn *before,
                                   const struct processor_turn *next)
{
    if (t->is_virtual || (next && next->end & TURN_GAP))
        return CPU_UNKNOWN;
    return before && (before->end & TURN_WHY) == TURN_PREEMPTED ? CPU_READY : CPU_OFF;
}

/* Explains a thread's time off the processor from a time on, by the other facts. */
static void explain(struct tiler *t, uint32_t thread, uint64_t from)
{
    static const struct still_line none;
    const struct processors *p = t->p;
    t->io = p->trace ? stills_of(p->io, thread) : &none;
    t->call = still_first(t->io, from);
    t->stop = p->n_stops;
    if (p->trace && !(trace_thread(p->trace, p->threads->v[thread].id)->flags & THREAD_NATIVE)) {
        t->stop = 0;
        BISECT(t->stop, p->n_stops, p->stops[t->stop].to <= from);
    }
}

static uint32_t first_behind(const struct run *r, uint64_t time)
{
    uint32_t i = 0;
    BISECT(i, r->n, turn_at(r, i)->to <= time);
    return i;
}

void processors_tile(const struct processors *p, const struct timeline *tl, uint32_t thread,
                     uint64_t from, uint64_t to, void (*visit)(void *ctx, const struct cpu_tile *t),
                     void *ctx)
{
    static const struct run none;
    const struct run *turns = thread < p->n_lines ? &p->lines[thread].turns : &none;
    struct tiler t = {.p = p, .tl = tl, .visit = visit, .ctx = ctx};
    t.is_virtual = thread < p->threads->n && p->threads->v[thread].is_virtual;
    if (thread < tl->n_lines) {
        t.line = &tl->lines[thread];
        uint32_t n = line_spans_until(t.line, from);
        t.span = n ? n - 1 : 0;
    }
    explain(&t, thread, from);
    uint32_t i = first_behind(turns, from);
    const struct processor_turn *before = i ? turn_at(turns, i - 1) : NULL, *next;
    for (; i < turns->n && (next = turn_at(turns, i))->from < to; i++, before = next) {
        uint64_t begin = max_u64(next->from, from), end = min_u64(next->to, to);
        t.since = before ? before->to : 0;
        t.fault = next->end & TURN_FAULT;
        put_between(&t, kind_between(&t, before, next), from, begin, true);
        put(&t, CPU_ON, 0, begin, end);
        from = end;
    }
    next = i < turns->n ? turn_at(turns, i) : NULL;
    t.since = before ? before->to : 0;
    t.fault = next && next->end & TURN_FAULT;
    put_between(&t, kind_between(&t, before, next), from, to, false);
}

/* --- sums ------------------------------------------------------------------------------------- */

static void add(void *ctx, const struct cpu_tile *t)
{
    uint64_t *ns = ctx;
    ns[t->kind] += t->to - t->from;
}

/* A part of a share.  Shares do not say which instants they cover, so it is proportional. */
static uint64_t part_of(uint64_t v, uint64_t part, uint64_t whole)
{
    return whole ? (uint64_t)((unsigned __int128)v * min_u64(part, whole) / whole) : 0;
}

/* Applies shares: the time that was not a wait, not on a processor and not ready is off. */
static void apply_shares(const struct processor_line *l, uint64_t length, uint64_t ns[CPU_STATES])
{
    uint64_t covered = min_u64(l->shares_for, length);
    ns[CPU_ON] = part_of(l->ran, covered, l->shares_for);
    ns[CPU_READY] = part_of(l->ready, covered, l->shares_for);
    uint64_t rest = covered - ns[CPU_ON] - ns[CPU_READY];
    uint64_t left = length - ns[CPU_ON] - ns[CPU_READY];
    for (enum cpu_state s = CPU_WAITS; s <= CPU_STOPPED; s++) {
        ns[s] = min_u64(ns[s], left);
        left -= ns[s];
        rest -= min_u64(rest, ns[s]);
    }
    ns[CPU_OFF] = rest;
    ns[CPU_UNKNOWN] = left - rest;
}

void processors_sum(const struct processors *p, const struct timeline *tl, uint32_t thread,
                    uint64_t from, uint64_t to, uint64_t ns[CPU_STATES])
{
    memset(ns, 0, CPU_STATES * sizeof *ns);
    if (from >= to)
        return;
    processors_tile(p, tl, thread, from, to, add, ns);
    if (!p->n_turns && thread < p->n_lines && p->lines[thread].shares_for)
        apply_shares(&p->lines[thread], to - from, ns);
}

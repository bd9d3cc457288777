#include "analyze/still.h"

#include "analyze/io_calls.h"
#include "analyze/processors.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/keyed.h"
#include "base/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_LOOKED_AT, RUNS, STANDS_STILL, MAY_STAND_STILL };

enum { STILL_LEAST_NS = 100000000 };

enum { ASKS_PART = 8 }; /* of the reads from a peer; a write that is short is not recorded */

struct maker {
    const struct trace *trace;
    const struct timeline *tl;
    const struct line *line;
    const struct thread_stats *life;
    uint8_t *stacks;           /* [n_stacks] */
    const struct sample *told; /* the last one that was put */
    const struct io_wait *io;  /* the calls of the current thread, the next one first */
    size_t n_io;
    uint64_t io_end;         /* of the one before; 0: none */
    struct buf out;          /* struct still [], of the line at hand */
    const struct run *turns; /* of the thread at hand: struct processor_turn */
    uint32_t turn;           /* the first that was not looked at, */
    uint64_t fault_end;      /* and when the last page fault before it was over */
};

/* Without SAMPLE_ASLEEP a thread in an unknown native method may wait for a processor, unless it was
 * found in the very same place before and has not moved for a while. */
static bool stands_still(struct maker *m, const struct sample *s, stack_id before)
{
    uint8_t *known = &m->stacks[s->stack.v < m->trace->n_stacks ? s->stack.v : 0];
    bool io;
    if (!s->stack.v || !(s->flags & SAMPLE_IDLE))
        return false;
    if (*known == NOT_LOOKED_AT) {
        bool native = io_of_stack(m->trace, s->stack, &io);
        *known = io ? STANDS_STILL : native ? MAY_STAND_STILL : RUNS;
    }
    bool asleep =
        s->flags & SAMPLE_ASLEEP || (s->weight >= STILL_LEAST_NS && s->stack.v == before.v);
    return *known == STANDS_STILL || (*known == MAY_STAND_STILL && asleep);
}

static struct still *last_of(struct maker *m)
{
    size_t n = m->out.len / sizeof(struct still);
    return n ? (struct still *)(void *)m->out.p + n - 1 : NULL;
}

/* By a look, or a recorded call. */
static void put(struct maker *m, uint64_t from, uint64_t to, const struct sample *s,
                const struct io_wait *call)
{
    if (call) {
        const struct still one = {.from = from,
                                  .to = to,
                                  .stack = call->stack,
                                  .peer = call->peer,
                                  .what = (uint8_t)call->what};
        buf_put(&m->out, &one, sizeof one);
        return;
    }
    struct still *last = last_of(m);
    uint32_t looks = m->told != s; /* of what spans part one counts */
    m->told = s;
    if (last && last->looks && last->to == from && last->stack.v == s->stack.v) {
        last->to = to;
        last->looks += looks;
        return;
    }
    buf_put(&m->out, &(struct still){.from = from, .to = to, .stack = s->stack, .looks = looks},
            sizeof *last);
}

/* The stretches of [from, to) that are in no span. */
static void put_between_spans(struct maker *m, uint64_t from, uint64_t to, const struct sample *s,
                              const struct io_wait *call)
{
    uint32_t i = line_spans_until(m->line, from);
    while (i && span_end(m->tl, line_span(m->line, i - 1)) > from)
        i--;
    for (; i < m->line->spans.n && from < to; i++) {
        const struct span *x = line_span(m->line, i);
        uint64_t begin = min_u64(x->start, to);
        if (from < begin)
            put(m, from, begin, s, call);
        from = max_u64(from, span_end(m->tl, x));
    }
    if (from < to)
        put(m, from, to, s, call);
}

/* The recorded calls that begin before a time.  A thread is in one at a time. */
static void put_recorded(struct maker *m, uint64_t until)
{
    for (; m->n_io && m->io->from < until; m->io++, m->n_io--) {
        uint64_t from = max_u64(m->io->from, max_u64(m->io_end, m->life->from));
        uint64_t to = min_u64(m->io->to, m->life->to);
        if (from < to)
            put_between_spans(m, from, to, NULL, m->io);
        m->io_end = max_u64(m->io_end, to);
    }
}

/* When the last recorded page fault before a time was over, in the order of time; that time itself: it
 * was not. */
static uint64_t fault_until(struct maker *m, uint64_t time)
{
    for (; m->turn < m->turns->n; m->turn++) {
        const struct processor_turn *t = run_at(m->turns, sizeof *t, m->turn);
        const struct processor_turn *before =
            m->turn ? run_at(m->turns, sizeof *t, m->turn - 1) : NULL;
        bool fault = t->end & TURN_FAULT;
        if (t->from > time)
            return fault && before && before->to <= time ? time : m->fault_end;
        m->fault_end = fault ? t->from : m->fault_end;
    }
    return m->fault_end;
}

/* Looks are in the order of time: each begins where the one before was. */
static void look_at_line(struct maker *m, const struct run *looks, struct still_line *l)
{
    uint64_t before = m->life->from;
    stack_id at = {0};
    for (uint32_t i = 0; i < looks->n; i++) {
        const struct sample *s = sample_at(looks, i);
        uint64_t to = min_u64(s->time, m->life->to);
        put_recorded(m, to);
        uint64_t fault = fault_until(m, to), since = max_u64(max_u64(before, fault), m->io_end);
        uint64_t from = max_u64(since, s->time - min_u64(s->weight, s->time));
        bool still = m->io_end < to && fault < to && stands_still(m, s, at);
        l->looked += s->weight;
        l->found += still ? s->weight : 0;
        if (from < to && still)
            put_between_spans(m, from, to, s, NULL);
        before = max_u64(before, to);
        at = s->stack;
    }
    put_recorded(m, UINT64_MAX);
}

struct traffic {
    uint32_t peer, unused;
    /* the key ends here */
    uint64_t reads, writes;
};

static bool is_client(const struct trace *t, lock_id peer)
{
    static const char client[] = "=client ";
    const char *name = trace_class(t, trace_lock(t, peer)->class_)->signature;
    return strncmp(name, client, sizeof client - 1) == 0;
}

/* Finds the threads that write to the peer from which they read: these have asked for what they
 * read. */
static int find_asked(const struct trace *t, struct still_line *l)
{
    struct keyed peers;
    int rc = 0;
    keyed_init(&peers, offsetof(struct traffic, reads), sizeof(struct traffic));
    for (int pass = 0; pass < 2 && rc == 0; pass++)
        for (uint32_t i = 0; i < l->n && rc == 0; i++) {
            struct still *s = &l->v[i];
            if (!s->peer.v || s->looks || (s->what != IO_KIND_input && s->what != IO_KIND_output))
                continue;
            struct traffic *of = keyed_put(&peers, &(struct traffic){.peer = s->peer.v});
            if (!of)
                rc = -ENOMEM;
            else if (pass == 0)
                *(s->what == IO_KIND_input ? &of->reads : &of->writes) += 1;
            else
                s->asked = s->what == IO_KIND_input && ASKS_PART * of->writes >= of->reads &&
                           !is_client(t, s->peer);
        }
    keyed_fini(&peers);
    return rc;
}

static int keep(struct maker *m, struct still_line *l, struct arena *a)
{
    if (m->out.oom)
        return -ENOMEM;
    if (!m->out.len)
        return 0;
    l->n = (uint32_t)(m->out.len / sizeof *l->v);
    l->v = arena_alloc(a, m->out.len);
    if (!l->v)
        return -ENOMEM;
    memcpy(l->v, m->out.p, m->out.len);
    buf_clear(&m->out);
    return find_asked(m->trace, l);
}

static int by_thread(const void *a, const void *b)
{
    const struct io_wait *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

/* The calls of a thread, which come in the order of threads. */
static void take_io(struct maker *m, uint32_t thread, const struct io_wait *end)
{
    m->io += m->n_io;
    m->n_io = 0;
    m->io_end = 0;
    while (m->io + m->n_io < end && m->io[m->n_io].thread == thread)
        m->n_io++;
}

int stills_make(struct stills *out, const struct still_source *src, struct arena *a)
{
    enum sample_kind kind = samples_wall(src->samples);
    static const struct line none;
    static const struct run no_turns;
    const struct processors *p = src->processors;
    size_t n_io = src->io->len / sizeof(struct io_wait);
    uint32_t n = src->threads->n;
    *out = (struct stills){0};
    if (!src->samples->n[kind] && !n_io)
        return 0;
    if (n_io)
        qsort(src->io->p, n_io, sizeof(struct io_wait), by_thread);
    struct maker m = {.trace = src->trace,
                      .tl = src->timeline,
                      .io = (const void *)src->io->p,
                      .stacks = calloc(src->trace->n_stacks + 1, 1)};
    const struct io_wait *end = m.io + n_io;
    out->n_lines = n;
    out->lines = arena_alloc(a, n * sizeof *out->lines);
    int rc = m.stacks && out->lines ? 0 : -ENOMEM;
    if (out->lines)
        memset(out->lines, 0, n * sizeof *out->lines);
    for (uint32_t i = 1; i < n && rc == 0; i++) {
        m.line = i < m.tl->n_lines ? &m.tl->lines[i] : &none;
        m.life = &src->threads->v[i];
        m.turns = i < p->n_lines ? &p->lines[i].turns : &no_turns;
        m.turn = 0;
        m.fault_end = 0;
        take_io(&m, i, end);
        look_at_line(&m, samples_of(src->samples, kind, i), &out->lines[i]);
        rc = keep(&m, &out->lines[i], a);
        out->n += out->lines[i].n;
    }
    free(m.stacks);
    buf_fini(&m.out);
    return rc;
}

/* --- reading ---------------------------------------------------------------------------------- */

const struct still_line *stills_of(const struct stills *s, uint32_t thread)
{
    static const struct still_line none;
    return thread < s->n_lines ? &s->lines[thread] : &none;
}

uint32_t still_first(const struct still_line *l, uint64_t time)
{
    uint32_t i = 0;
    BISECT(i, l->n, l->v[i].to <= time);
    return i;
}

uint32_t still_touching(const struct still_line *l, uint64_t from, uint64_t to, uint32_t *first)
{
    uint32_t end = still_first(l, to);
    *first = still_first(l, from);
    end += end < l->n && l->v[end].from < to; /* a call that has not ended by then */
    return end > *first ? end - *first : 0;
}

uint64_t stills_between(const struct stills *s, uint32_t thread, uint64_t from, uint64_t to,
                        uint64_t *looks)
{
    const struct still_line *l = stills_of(s, thread);
    uint64_t ns = 0;
    *looks = 0;
    for (uint32_t i = still_first(l, from); i < l->n && l->v[i].from < to; i++) {
        ns += min_u64(l->v[i].to, to) - max_u64(l->v[i].from, from);
        *looks += l->v[i].looks;
    }
    return ns;
}

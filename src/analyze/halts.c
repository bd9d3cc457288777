#include "analyze/halts.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/util.h"

#include <string.h>

const char *const halted_names[HALTED_KINDS] = {"io", "ready", "stopped", "off"};

const char *halt_name(unsigned what)
{
    return what < IO_KINDS ? io_kinds[what].name : halted_names[what - HALT_READY + HALTED_READY];
}

struct maker {
    const struct timeline *tl;
    const struct line *line;
    const struct still_line *io;
    uint32_t span, call; /* the first of both that may end behind what was put */
    struct buf out;      /* struct still [], of the line at hand */
};

static void put(struct maker *m, uint64_t from, uint64_t to, uint8_t what, bool fault)
{
    const struct still one = {.from = from, .to = to, .what = what, .fault = fault};
    if (from < to)
        buf_put(&m->out, &one, sizeof one);
}

/* The calls that begin before a time, as they are. */
static void put_calls(struct maker *m, uint64_t until)
{
    for (; m->call < m->io->n && m->io->v[m->call].from < until; m->call++)
        buf_put(&m->out, &m->io->v[m->call], sizeof *m->io->v);
}

/* Up to where a stretch that begins at *from is in no wait and in no call; a part in one of them is
 * passed over. */
static uint64_t free_until(struct maker *m, uint64_t *from, uint64_t to)
{
    const struct still *last = m->call ? &m->io->v[m->call - 1] : NULL;
    const struct still *next = m->call < m->io->n ? &m->io->v[m->call] : NULL;
    uint64_t end = next ? min_u64(next->from, to) : to;
    if (last)
        *from = max_u64(*from, last->to);
    while (m->span < m->line->spans.n && *from < to) {
        const struct span *s = line_span(m->line, m->span);
        if (s->start > *from)
            return min_u64(s->start, end);
        if (span_end(m->tl, s) > *from)
            *from = span_end(m->tl, s); /* it may go on behind this stretch */
        else
            m->span++;
    }
    return end;
}

static void take(void *ctx, const struct cpu_tile *t)
{
    static const uint8_t kinds[CPU_STATES] = {
        [CPU_READY] = HALT_READY, [CPU_STOPPED] = HALT_STOPPED, [CPU_OFF] = HALT_OFF};
    struct maker *m = ctx;
    uint64_t from = t->from;
    while (kinds[t->kind] && from < t->to) {
        put_calls(m, from + 1);
        uint64_t to = free_until(m, &from, t->to);
        put(m, from, to, kinds[t->kind], t->fault);
        from = max_u64(from, to);
    }
}

static int keep(struct maker *m, struct still_line *l, struct arena *a)
{
    if (m->out.oom)
        return -ENOMEM;
    l->n = (uint32_t)(m->out.len / sizeof *l->v);
    l->v = arena_alloc(a, m->out.len);
    if (!l->v && m->out.len)
        return -ENOMEM;
    if (m->out.len)
        memcpy(l->v, m->out.p, m->out.len);
    buf_clear(&m->out);
    return 0;
}

int halts_make(struct stills *out, const struct processors *p, const struct timeline *tl,
               struct arena *a)
{
    static const struct line none;
    static const struct still_line no_calls;
    struct maker m = {.tl = tl};
    int rc = 0;
    *out = *p->io;
    if (!p->n_turns && !p->n_stops)
        return 0;
    *out = (struct stills){.n_lines = p->threads->n};
    out->lines = arena_alloc(a, out->n_lines * sizeof *out->lines);
    if (!out->lines)
        return -ENOMEM;
    memset(out->lines, 0, out->n_lines * sizeof *out->lines);
    for (uint32_t i = 1; i < out->n_lines && rc == 0; i++) {
        const struct thread_stats *life = &p->threads->v[i];
        m.line = i < tl->n_lines ? &tl->lines[i] : &none;
        m.io = i < p->io->n_lines ? stills_of(p->io, i) : &no_calls;
        m.span = m.call = 0;
        processors_tile(p, tl, i, life->from, life->to, take, &m);
        put_calls(&m, UINT64_MAX);
        rc = keep(&m, &out->lines[i], a);
        out->n += out->lines[i].n;
    }
    buf_fini(&m.out);
    return rc;
}

void halts_between(const struct stills *s, uint32_t thread, uint64_t from, uint64_t to,
                   uint64_t ns[HALTED_KINDS])
{
    const struct still_line *l = stills_of(s, thread);
    memset(ns, 0, HALTED_KINDS * sizeof *ns);
    for (uint32_t i = still_first(l, from); i < l->n && l->v[i].from < to; i++)
        ns[halt_of(&l->v[i])] += min_u64(l->v[i].to, to) - max_u64(l->v[i].from, from);
}

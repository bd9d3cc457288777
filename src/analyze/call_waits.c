#include "analyze/call_waits.h"

#include "analyze/decode.h"
#include "base/err.h"
#include "base/util.h"
#include "format/call_table.h"

#include <stdlib.h>
#include <string.h>

/* A call that may be a wait. */
struct candidate {
    uint64_t from, to;
    uint32_t context; /* of the act by which it began */
    lock_id lock;
    bool open;
};

struct maker {
    struct timeline *t;
    const struct trace *trace;
    const struct calls *calls;
    struct buf *open;
    bool *waits;       /* [n_calls]: calls of the method are waits */
    bool semaphores;   /* so are those of Semaphore.acquire */
    struct buf found;  /* struct candidate [], of the line at hand */
    struct buf pieces; /* struct timeline_piece [] */
};

/* --- which methods ---------------------------------------------------------------------------- */

/* Whether parks may be recorded; yes if the groups are unknown or were switched. */
static bool records_parks(const struct trace *t)
{
    const char *groups = trace_info(t, "orca.events", "");
    if (*trace_info(t, "import.format", ""))
        return false;
    return !*groups || event_groups_list(groups, GROUP_parks) ||
           *trace_info(t, "orca.events.changes", "");
}

/* Calls that last while something is done, not while something is waited for. */
static bool runs_a_task(const struct trace_call *c)
{
    static const char *const methods[][2] = {{"Ljava/util/concurrent/FutureTask;", "run"},
                                             {"Ljava/util/concurrent/ForkJoinTask;", "invoke"}};
    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        if (strcmp(c->class_signature, methods[i][0]) == 0 && strcmp(c->method, methods[i][1]) == 0)
            return true;
    return false;
}

/* Whether events inside the call count by themselves (`nests` in the method table). */
static bool nests(const struct trace_call *c)
{
    struct call_table t;
    struct err err;
    bool yes =
        call_table_read(&t, "", c->row, strlen(c->row), &err) == 0 && t.n == 1 && t.rows[0].nests;
    call_table_fini(&t);
    return yes;
}

static bool is_wait(const struct trace_call *c, bool parks)
{
    static const char concurrent[] = "Ljava/util/concurrent/";
    bool parked = parks && strncmp(c->class_signature, concurrent, sizeof concurrent - 1) == 0;
    return !parked && !runs_a_task(c) && !nests(c);
}

/* --- which calls ------------------------------------------------------------------------------ */

static void add_call(struct maker *m, const struct line *l, const struct called *c)
{
    const struct context *x = timeline_context(m->t, c->context);
    bool open = c->flags & CALLED_OPEN;
    if (c->flags & (CALLED_UNKNOWN | CALLED_MOMENT) || !c->lock.v || x->what != EV_call_enter ||
        x->call.v >= m->trace->n_calls || !m->waits[x->call.v])
        return;
    if (open && c->act + 1 != l->acts.n)
        return; /* it did something since: the end may be missing */
    buf_put(&m->found, &(struct candidate){c->start, c->end, c->context, c->lock, open},
            sizeof(struct candidate));
}

/* Semaphore.acquire from its beginning to its end, which is the next act of its kind. */
static void add_semaphores(struct maker *m, const struct line *l, uint64_t end)
{
    const struct act *begun = NULL;
    for (uint32_t i = 0; i < l->acts.n; i++) {
        const struct act *a = line_act(l, i);
        const struct context *x = timeline_context(m->t, a->context);
        if (x->what != EV_semaphore_acquire_enter && x->what != EV_semaphore_acquire_exit)
            continue;
        const struct context *of = begun ? timeline_context(m->t, begun->context) : NULL;
        if (of && x->what == EV_semaphore_acquire_exit && x->lock.v == of->lock.v)
            buf_put(&m->found,
                    &(struct candidate){begun->time, a->time, begun->context, of->lock, false},
                    sizeof(struct candidate));
        begun = x->what == EV_semaphore_acquire_enter && x->lock.v ? a : NULL;
    }
    if (begun && begun == line_act(l, l->acts.n - 1) && begun->time < end)
        buf_put(&m->found,
                &(struct candidate){begun->time, end, begun->context,
                                    timeline_context(m->t, begun->context)->lock, true},
                sizeof(struct candidate));
}

static int by_start(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to < y->to) - (x->to > y->to);
}

/* --- from calls to spans ---------------------------------------------------------------------- */

static int put_piece(struct maker *m, uint32_t thread, const struct candidate *c, uint64_t from,
                     uint64_t to)
{
    const struct context *x = timeline_context(m->t, c->context);
    bool open = c->open && to == c->to;
    struct timeline_piece p = {
        .from = from,
        .to = to,
        .context = {.lock = c->lock,
                    .stack = x->stack,
                    .what = STATE_PARKED,
                    .flags = (uint8_t)(INTERVAL_LIMIT_UNKNOWN | (open ? INTERVAL_OPEN : 0)),
                    .mode = CONTEXT_OF_CALL}};
    if (from >= to || to - from < CALL_WAIT_LEAST_NS)
        return 0;
    buf_put(&m->pieces, &p, sizeof p);
    if (open)
        buf_put(m->open,
                &(struct open_wait){.thread = thread,
                                    .state = STATE_PARKED,
                                    .lock = c->lock,
                                    .stack = x->stack,
                                    .since = from},
                sizeof(struct open_wait));
    return m->pieces.oom || m->open->oom ? -ENOMEM : 0;
}

/* A call without the spans inside it. */
static int put_call(struct maker *m, uint32_t thread, const struct candidate *c)
{
    const struct line *l = &m->t->lines[thread];
    uint64_t from = c->from;
    uint32_t i = line_spans_until(l, c->from);
    while (i && span_end(m->t, line_span(l, i - 1)) > c->from)
        i--;
    for (; i < l->spans.n && line_span(l, i)->start < c->to; i++) {
        const struct span *s = line_span(l, i);
        TRY(put_piece(m, thread, c, from, min_u64(s->start, c->to)));
        from = max_u64(from, span_end(m->t, s));
    }
    return put_piece(m, thread, c, from, c->to);
}

static int put_line(struct maker *m, uint32_t thread, uint64_t end)
{
    const struct line *l = &m->t->lines[thread];
    const struct call_line *calls = &m->calls->lines[thread];
    buf_clear(&m->found);
    buf_clear(&m->pieces);
    for (uint32_t i = 0; i < calls->n; i++)
        add_call(m, l, &calls->v[i]);
    if (m->semaphores)
        add_semaphores(m, l, end);
    struct candidate *v = (void *)m->found.p;
    size_t n = m->found.len / sizeof *v;
    uint64_t until = 0;
    if (m->found.oom)
        return -ENOMEM;
    if (n == 0)
        return 0;
    qsort(v, n, sizeof *v, by_start);
    for (size_t i = 0; i < n; i++) {
        if (v[i].from < until)
            continue; /* inside another one */
        TRY(put_call(m, thread, &v[i]));
        until = v[i].to;
    }
    return timeline_put_pieces(m->t, thread, (const void *)m->pieces.p,
                               m->pieces.len / sizeof(struct timeline_piece));
}

/* --- all of them ------------------------------------------------------------------------------ */

static int by_thread(const void *a, const void *b)
{
    const struct open_wait *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->since > y->since) - (x->since < y->since);
}

static bool any_semaphores(const struct timeline *t)
{
    for (uint32_t i = 1; i < t->contexts.n; i++)
        if (timeline_context(t, i)->what == EV_semaphore_acquire_enter)
            return true;
    return false;
}

int call_waits_put(struct timeline *t, const struct trace *trace, const struct calls *calls,
                   const struct thread_set *threads, struct buf *open)
{
    bool parks = records_parks(trace);
    struct maker m = {.t = t, .trace = trace, .calls = calls, .open = open};
    size_t n_open = open->len;
    m.semaphores = !parks && any_semaphores(t);
    if (!calls->n && !m.semaphores)
        return 0;
    m.waits = calloc(trace->n_calls + 1, sizeof *m.waits);
    int rc = m.waits ? 0 : -ENOMEM;
    for (uint32_t i = 1; i < trace->n_calls && rc == 0; i++)
        m.waits[i] = is_wait(trace_call(trace, (call_id){i}), parks);
    for (uint32_t i = 1; i < calls->n_lines && i < threads->n && rc == 0; i++)
        rc = put_line(&m, i, threads->v[i].has_ended ? 0 : threads->v[i].to);
    if (open->len > n_open)
        qsort(open->p, open->len / sizeof(struct open_wait), sizeof(struct open_wait), by_thread);
    free(m.waits);
    buf_fini(&m.found);
    buf_fini(&m.pieces);
    return rc;
}

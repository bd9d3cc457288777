#include "analyze/alibi.h"

#include "analyze/bottle.h"
#include "analyze/decode.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

enum { LEFT_OUT, STOPPED, RUNNING };

static bool ever_waits(const struct timeline *tl, uint32_t thread)
{
    const struct line *l = thread < tl->n_lines ? &tl->lines[thread] : NULL;
    for (uint32_t i = 0; l && i < l->spans.n; i++)
        if (!span_is_unknown(tl, line_span(l, i)))
            return true;
    return false;
}

/* Whether the recording began with the JVM and has the starts and ends of all kinds of threads. */
static bool knows_all(const struct trace *t, bool carriers)
{
    const char *groups = trace_info(t, "orca.events", "");
    return !*trace_info(t, "import.format", "") && !*trace_info(t, "orca.attached", "") &&
           !*trace_info(t, "orca.events.changes", "") && event_groups_list(groups, GROUP_threads) &&
           (!carriers || event_groups_list(groups, GROUP_virtual));
}

int alibi_init(struct alibi *a, const struct trace *t, const struct timeline *tl,
               const struct thread_set *threads)
{
    bool carriers = false;
    *a = (struct alibi){.state = calloc(threads->n + 1, 1)};
    if (!a->state)
        return -ENOMEM;
    for (uint32_t i = 1; i < threads->n; i++) {
        const struct thread_stats *s = &threads->v[i];
        bool carrier = thread_is_carrier(t, s);
        carriers |= carrier || s->is_virtual;
        bool lived = s->named || s->seen || s->called || s->has_started; /* else only an object */
        bool counts = s->id.v && lived && (bottle_counts(t, s) || ever_waits(tl, i));
        a->state[i] = counts && !carrier ? STOPPED : LEFT_OUT;
    }
    a->all_known = knows_all(t, carriers);
    return 0;
}

void alibi_fini(struct alibi *a)
{
    free(a->state);
    free(a->calls);
    time_sort_fini(&a->sorted);
}

enum { RETURNS, BEGINS };

static size_t add_edge(struct alibi *a, size_t n, uint64_t time, uint32_t thread, uint32_t what)
{
    a->sorted.v[n] = (struct time_key){time, thread << 1 | what};
    return n + 1;
}

/* A call counts from the moment behind its beginning until its end. */
int alibi_calls(struct alibi *a, const struct thread_set *threads, const struct io_wait *v,
                size_t n)
{
    if (!a->all_known || !n)
        return 0;
    a->calls = calloc(threads->n + 1, sizeof *a->calls);
    if (!a->calls || time_sort_init(&a->sorted, 2 * n) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        uint32_t thread = v[i].thread;
        if (thread >= threads->n || threads->v[thread].is_virtual || v[i].open ||
            v[i].to - v[i].from < 2)
            continue;
        a->n_edges = add_edge(a, a->n_edges, v[i].from + 1, thread, BEGINS);
        a->n_edges = add_edge(a, a->n_edges, v[i].to, thread, RETURNS);
    }
    a->edges = time_sort(&a->sorted, a->n_edges);
    return 0;
}

static bool in_call(const struct alibi *a, uint32_t thread)
{
    return a->calls && a->calls[thread];
}

/* Newest first. */
static void note_stopped(struct alibi *a, uint32_t thread, uint64_t time)
{
    unsigned at = 0;
    while (at < ALIBI_STOPPED - 1 && a->stopped[at].thread != thread)
        at++;
    for (; at; at--)
        a->stopped[at] = a->stopped[at - 1];
    a->stopped[0].thread = thread;
    a->stopped[0].time = time;
}

static void begin_call(struct alibi *a, uint32_t thread, uint64_t time)
{
    if (a->calls[thread]++ || a->state[thread] != RUNNING)
        return;
    a->running--;
    note_stopped(a, thread, time);
}

static void end_call(struct alibi *a, uint32_t thread)
{
    if (--a->calls[thread] == 0 && a->state[thread] == RUNNING)
        a->running++;
}

void alibi_reach(struct alibi *a, uint64_t time)
{
    for (; a->edge < a->n_edges && a->edges[a->edge].time <= time; a->edge++) {
        const struct time_key *e = &a->edges[a->edge];
        if (e->at & BEGINS)
            begin_call(a, e->at >> 1, e->time);
        else
            end_call(a, e->at >> 1);
    }
}

void alibi_runs(struct alibi *a, uint32_t thread)
{
    if (a->state[thread] != STOPPED)
        return;
    a->state[thread] = RUNNING;
    a->running += !in_call(a, thread);
}

void alibi_stops(struct alibi *a, uint32_t thread, uint64_t time)
{
    if (a->state[thread] != RUNNING)
        return;
    a->state[thread] = STOPPED;
    if (in_call(a, thread))
        return; /* since the call began */
    a->running--;
    note_stopped(a, thread, time);
}

/* Whether it runs, as far as `running` counts. */
static bool is_running(const struct alibi *a, uint32_t thread)
{
    return a->state[thread] == RUNNING && !in_call(a, thread);
}

bool alibi_of_others(const struct alibi *a, uint32_t giver, uint32_t taker, uint64_t *since)
{
    uint32_t own = is_running(a, giver) + (is_running(a, taker) && taker != giver);
    if (!a->all_known || a->running > own)
        return false;
    for (unsigned i = 0; i < ALIBI_STOPPED; i++)
        if (a->stopped[i].thread != giver && a->stopped[i].thread != taker) {
            *since = a->stopped[i].time;
            return true;
        }
    return false;
}

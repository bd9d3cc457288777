#include "analyze/bottle.h"

#include "base/err.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* The sums at the beginning of a thread's run. */
struct mark {
    unsigned __int128 charged;
    uint64_t time, alone;
};

/* A thread goes on after an obstacle, or stops running. */
struct edge {
    uint64_t time;
    uint32_t thread;
    bool stops;
};

struct bottler {
    struct bottles out;
    struct edge *edges; /* [n_edges], by time; at one time, continuing comes before stopping */
    size_t n_edges, edge;
    struct mark *marks; /* [out.n] */
    uint64_t from, to;
    uint64_t now;
    uint64_t alone;            /* ns in which one thread ran, so far */
    unsigned __int128 charged; /* what a thread that ran all the time would be charged */
    uint32_t running;
};

bool bottle_counts(const struct trace *t, const struct thread_stats *s)
{
    const struct trace_thread *def = trace_thread(t, s->id);
    if (strcmp(def->group, "InnocuousThreadGroup") == 0) /* the JDK's own: Common-Cleaner */
        return false;
    return s->id.v && !(def->flags & THREAD_NATIVE) && strcmp(def->group, "system") != 0 &&
           strcmp(def->name, "DestroyJavaVM") != 0;
}

static int by_time(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->stops - y->stops;
}

static int make_edges(struct bottler *b, const struct stills *halts)
{
    size_t n = 0;
    b->edges = malloc((2 * halts->n + 1) * sizeof *b->edges);
    if (!b->edges)
        return -ENOMEM;
    for (uint32_t i = 1; i < halts->n_lines; i++)
        for (uint32_t k = 0; b->out.counted[i] && k < halts->lines[i].n; k++) {
            const struct still *s = &halts->lines[i].v[k];
            b->edges[n++] = (struct edge){s->from, i, true};
            b->edges[n++] = (struct edge){s->to, i, false};
        }
    b->n_edges = n;
    if (n)
        qsort(b->edges, n, sizeof *b->edges, by_time);
    return 0;
}

int bottler_new(struct bottler **out, const struct trace *t, const struct thread_set *threads,
                const struct stills *halts, uint64_t from, uint64_t to)
{
    struct bottler *b = *out = calloc(1, sizeof *b);
    if (!b)
        return -ENOMEM;
    *b = (struct bottler){.from = from, .to = max_u64(from, to), .now = from};
    b->out.n = threads->n;
    b->out.v = calloc(threads->n + 1, sizeof *b->out.v);
    b->out.counted = calloc(threads->n + 1, sizeof *b->out.counted);
    b->marks = calloc(threads->n + 1, sizeof *b->marks);
    if (!b->out.v || !b->out.counted || !b->marks) {
        bottler_free(b);
        *out = NULL;
        return -ENOMEM;
    }
    for (size_t i = 1; i < threads->n; i++)
        b->out.counted[i] = bottle_counts(t, &threads->v[i]);
    if (make_edges(b, halts) < 0) {
        bottler_free(b);
        *out = NULL;
        return -ENOMEM;
    }
    return 0;
}

void bottler_free(struct bottler *b)
{
    if (!b)
        return;
    bottles_fini(&b->out);
    free(b->marks);
    free(b->edges);
    free(b);
}

/* Charge the time up to `time`, which is kept inside the range. */
static void go_to(struct bottler *b, uint64_t time)
{
    time = min_u64(max_u64(time, b->from), b->to);
    if (time <= b->now)
        return;
    uint64_t dt = time - b->now;
    b->now = time;
    b->out.elapsed += dt;
    b->out.level[min_u64(b->running, BOTTLE_LEVELS - 1)] += dt;
    if (b->running == 0) {
        b->out.idle += dt;
        return;
    }
    if (dt >> 32) /* a division of 128 bits takes ten times as long */
        b->charged += ((unsigned __int128)dt << 32) / b->running;
    else
        b->charged += (dt << 32) / b->running;
    b->alone += b->running == 1 ? dt : 0;
}

static void begin_run(struct bottler *b, uint32_t thread)
{
    struct mark *m = &b->marks[thread];
    m->charged = b->charged;
    m->time = b->now;
    m->alone = b->alone;
    b->running++;
}

static void end_run(struct bottler *b, uint32_t thread)
{
    const struct mark *m = &b->marks[thread];
    struct bottle *v = &b->out.v[thread];
    v->charged += b->charged - m->charged;
    v->running += b->now - m->time;
    v->alone += b->alone - m->alone;
    b->running--;
}

/* Applies the edges from looks up to a time.  A thread that stops at that time has started, or left
 * its wait, before. */
static void pass_edges(struct bottler *b, uint64_t time)
{
    for (; b->edge < b->n_edges; b->edge++) {
        const struct edge *e = &b->edges[b->edge];
        if (e->time > time || (e->time == time && e->stops))
            return;
        go_to(b, e->time);
        if (e->stops)
            end_run(b, e->thread);
        else
            begin_run(b, e->thread);
    }
}

static void take(void *self, const struct sweep_item *v, size_t n)
{
    struct bottler *b = self;
    for (size_t i = 0; i < n; i++) {
        enum sweep_type type = sweep_type(&v[i]);
        if (type == SWEEP_ACT || type == SWEEP_HOLD || !b->out.counted[v[i].thread])
            continue;
        pass_edges(b, v[i].time);
        go_to(b, v[i].time);
        if (type == SWEEP_BORN || type == SWEEP_END)
            begin_run(b, v[i].thread);
        else
            end_run(b, v[i].thread);
    }
}

struct sweep_sink bottler_sink(struct bottler *b)
{
    return (struct sweep_sink){take, b, 0};
}

void bottler_finish(struct bottler *b, struct bottles *out)
{
    go_to(b, b->to);
    *out = b->out;
    memset(&b->out, 0, sizeof b->out);
}

void bottles_fini(struct bottles *b)
{
    free(b->v);
    free(b->counted);
    memset(b, 0, sizeof *b);
}

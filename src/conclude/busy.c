/* busy.c - which pool answers when those who pass answers on do not say it, while they are waited
 * for:
 *
 *     busy     all its threads, and those of no other, were idle in their waits for work, and in
 *              selects and accepts, for less than a part of that time: requests queue for them
 *     working  its threads, and those of no other, worked for about as long as was waited for
 *              answers: on each of them at once
 *
 * Not if its threads mostly wait themselves, but in fewer calls than there are answers, or in longer
 * ones: what they do is something else. */
#include "analyze/io_calls.h"
#include "base/err.h"
#include "base/util.h"
#include "conclude/resource_names.h"
#include "conclude/resource_parts.h"

#include <stdlib.h>

enum {
    BUSY = 5, /* a pool's thread that is idle for less than this part of the time is busy */
    WORK_PERMILLE = 600,     /* of the time waited, a pool that answers works for so much, */
    AT_MOST_PERMILLE = 1200, /* and not for more than this */
    CALLS_PERMILLE = 900,    /* of the answers: a pool that mostly waits has as many waits */
};

/* Pairs of threads that are looked at at most. */
#define STEPS_MAX UINT64_C(20000000)

struct busy {
    const struct resource *r;
    const struct analysis *a;
    const bool *waits;
    uint64_t *idle; /* [n_lines] ns; UINT64_MAX: it never waits for work */
    uint64_t steps;
};

static uint64_t part_of_use(const struct resource *r, uint64_t from, uint64_t to)
{
    return common_u64(from, to, r->first, r->last);
}

/* How long a pool's thread had nothing to do; UINT64_MAX: it never waits for work, and is not a
 * worker by its frames. */
static uint64_t idle_of(const struct busy *b, uint32_t thread)
{
    const struct line *l = &b->a->timeline.lines[thread];
    const struct still_line *still = stills_of(&b->a->stills, thread);
    uint64_t ns = UINT64_MAX;
    for (uint32_t i = 0; i < still->n && ns; i++)
        if (program_is_workers(&b->a->resources->program, still->v[i].stack))
            ns = 0;
    for (uint32_t i = 0; i < still->n; i++)
        if (program_waits_for_work(&b->a->resources->program, still->v[i].stack))
            ns = (ns == UINT64_MAX ? 0 : ns) + part_of_use(b->r, still->v[i].from, still->v[i].to);
    for (uint32_t i = 0; i < l->spans.n; i++) {
        const struct span *s = line_span(l, i);
        if (!wait_is_for_work(b->a, s->context))
            continue;
        ns = ns == UINT64_MAX ? 0 : ns;
        ns += part_of_use(b->r, s->start, span_end(&b->a->timeline, s));
    }
    return ns;
}

/* Adds the recorded waits of a thread while the answers were waited for, and their time. */
static void add_calls(const struct busy *b, uint32_t thread, uint64_t *n, uint64_t *ns)
{
    const struct timeline *tl = &b->a->timeline;
    const struct line *l = &tl->lines[thread];
    const struct still_line *still = stills_of(&b->a->stills, thread);
    for (uint32_t i = 0; i < still->n; i++) {
        uint64_t part = still->v[i].looks ? 0 : part_of_use(b->r, still->v[i].from, still->v[i].to);
        *n += part != 0;
        *ns += part;
    }
    for (uint32_t i = 0; i < l->spans.n; i++) {
        const struct span *s = line_span(l, i);
        if (wait_is_for_work(b->a, s->context))
            continue;
        uint64_t part = part_of_use(b->r, s->start, span_end(tl, s));
        *n += part ? span_count(tl, s) : 0;
        *ns += part;
    }
}

/* Whether a pool, if it mostly waits, does so often enough to give the answers, and not for much
 * longer than others wait for them. */
static bool may_answer(struct busy *b, uint32_t of)
{
    const struct thread_set *threads = &b->a->threads;
    uint64_t n = 0, ns = 0, worked = 0;
    for (uint32_t i = 1; i < b->a->timeline.n_lines && i < threads->n; i++) {
        if (b->steps++ > STEPS_MAX)
            return false;
        if (!resource_same_pool(b->a, of, i))
            continue;
        uint64_t life = part_of_use(b->r, threads->v[i].from, threads->v[i].to);
        worked += life - min_u64(life, b->idle[i]);
        add_calls(b, i, &n, &ns);
    }
    bool waits = 2 * ns >= worked, as_often = 1000 * n >= CALLS_PERMILLE * b->r->count;
    return !waits || (as_often && n && ns / n <= 2 * (b->r->ns / b->r->count));
}

/* Whether all threads of a thread's pool are busy, and live for most of the time. */
static bool is_busy_pool(struct busy *b, uint32_t of)
{
    const struct thread_set *threads = &b->a->threads;
    uint64_t length = b->r->last - b->r->first;
    for (uint32_t i = 1; i < b->a->timeline.n_lines && i < threads->n; i++) {
        uint64_t from = max_u64(threads->v[i].from, b->r->first),
                 to = min_u64(threads->v[i].to, b->r->last);
        if (b->steps++ > STEPS_MAX)
            return false;
        if (resource_same_pool(b->a, of, i) &&
            (b->waits[i] || b->idle[i] > length / BUSY || from >= to || 2 * (to - from) < length))
            return false;
    }
    return true;
}

/* A thread of the one pool that is busy; 0: there is none, or several. */
static uint32_t find_busy(struct busy *b)
{
    uint64_t most = (b->r->last - b->r->first) / BUSY;
    uint32_t of = 0;
    for (uint32_t i = 1; i < b->a->timeline.n_lines; i++) {
        if (b->idle[i] > most || (of && resource_same_pool(b->a, i, of)) || !is_busy_pool(b, i) ||
            !may_answer(b, i))
            continue;
        if (of)
            return 0;
        of = i;
    }
    return of;
}

/* How long the threads of a thread's pool worked; 0: one of them waits for the answers, passes them
 * on, or never waits for work.  done: [n_lines], its threads. */
static uint64_t work_of_pool(struct busy *b, uint32_t of, const uint64_t *given, bool *done)
{
    const struct thread_set *threads = &b->a->threads;
    uint64_t ns = 0;
    bool answers = true;
    for (uint32_t i = of; i < b->a->timeline.n_lines && i < threads->n; i++) {
        if (b->steps++ > STEPS_MAX)
            return 0;
        if (!resource_same_pool(b->a, of, i))
            continue;
        uint64_t life = part_of_use(b->r, threads->v[i].from, threads->v[i].to);
        done[i] = true;
        answers &= !b->waits[i] && !given[i] && b->idle[i] != UINT64_MAX;
        ns += life - min_u64(life, b->idle[i]);
    }
    return answers ? ns : 0;
}

/* The same of those that work.  done: [n_lines], empty. */
static uint32_t find_working(struct busy *b, const uint64_t *given, bool *done)
{
    uint32_t of = 0;
    b->steps = 0;
    for (uint32_t i = 1; i < b->a->timeline.n_lines && i < b->a->threads.n; i++) {
        uint64_t work = done[i] ? 0 : work_of_pool(b, i, given, done);
        if (!work || 1000 * (work >> 10) < WORK_PERMILLE * (b->r->given_ns >> 10) ||
            !may_answer(b, i))
            continue;
        if (of || 1000 * (work >> 10) > AT_MOST_PERMILLE * (b->r->given_ns >> 10))
            return 0;
        of = i;
    }
    return b->steps <= STEPS_MAX ? of : 0;
}

int answering_pool(const struct resource *r, const struct analysis *a, const bool *waits,
                   const uint64_t *given, struct answering *out)
{
    size_t n = a->timeline.n_lines;
    struct busy b = {r, a, waits, calloc(n + 1, sizeof *b.idle), 0};
    bool *done = calloc(n + 1, sizeof *done);
    int rc = b.idle && done ? 0 : -ENOMEM;
    *out = (struct answering){0};
    for (uint32_t i = 1; i < n && rc == 0; i++)
        b.idle[i] = idle_of(&b, i);
    if (rc == 0)
        out->thread = find_busy(&b);
    if (rc == 0 && !out->thread && given) {
        out->thread = find_working(&b, given, done);
        out->works = out->thread != 0;
    }
    free(b.idle);
    free(done);
    return rc;
}

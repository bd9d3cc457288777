#include "conclude/thread_pools.h"

#include "analyze/io_calls.h"
#include "base/util.h"
#include "conclude/resource_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POOLS = 256 };

enum thread_time thread_time_of(const struct analysis *a, uint32_t context,
                                const struct wait_part *w)
{
    static const uint8_t times[] = {[FOR_IDLE] = TIME_IDLE,
                                    [FOR_ANSWER] = TIME_WAITING,
                                    [FOR_RESOURCE] = TIME_BLOCKED,
                                    [FOR_LIMIT] = TIME_WAITING};
    return (enum thread_time)times[purposes_for(&a->purposes, context, w->state)];
}

/* Returns the time of which it is not known what the thread did. */
static uint64_t add_waits(const struct analysis *a, uint32_t thread, uint64_t ns[THREAD_TIMES])
{
    const struct timeline *tl = &a->timeline;
    const struct run *r = &tl->lines[thread].spans;
    uint64_t unknown = 0;
    for (uint32_t i = 0, n; i < r->n; i += n) {
        const struct span *s = run_stretch(r, sizeof *s, i, &n);
        for (uint32_t k = 0; k < n; k++) {
            struct wait_part parts[2];
            for (unsigned p = 0, m = span_parts(tl, &s[k], parts); p < m; p++) {
                uint64_t since = pins_ready_since(&a->decoded.pins, tl, &a->threads, thread, &s[k]);
                uint64_t ready = parts[p].to - min_u64(max_u64(since, parts[p].from), parts[p].to);
                uint64_t took = parts[p].to - parts[p].from - ready;
                ns[TIME_CARRIER] += ready;
                if (parts[p].state == STATE_UNKNOWN)
                    unknown += took;
                else
                    ns[thread_time_of(a, s[k].context, &parts[p])] += took;
            }
        }
    }
    return unknown;
}

/* Of the time in no wait: where no look fell, it is as where they did. */
static uint64_t likely_still(const struct still_line *l, uint64_t sum, uint64_t rest)
{
    uint64_t likely = l->looked ? (uint64_t)((unsigned __int128)rest * l->found / l->looked) : 0;
    return min_u64(max_u64(sum, likely), rest);
}

/* Of the time in no wait, `rest`, what looks say, but no more than `most`; out of ns[from]. */
static void share_out(const struct resources *all, const struct analysis *a, uint32_t thread,
                      uint64_t rest, uint64_t most, enum thread_time from,
                      uint64_t ns[THREAD_TIMES])
{
    const struct still_line *l = stills_of(&a->stills, thread);
    uint64_t still[THREAD_TIMES] = {0}, sum = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        uint64_t part = l->v[i].to - l->v[i].from;
        bool waits = (l->v[i].asked || program_is_in(&all->program, l->v[i].stack)) &&
                     !program_waits_for_work(&all->program, l->v[i].stack);
        still[waits ? TIME_WAITING : TIME_IDLE] += part;
        sum += part;
    }
    if (!sum)
        return;
    uint64_t all_of_it = min_u64(likely_still(l, sum, rest), most);
    for (unsigned t = 0; t < THREAD_TIMES; t++) {
        uint64_t part = (uint64_t)((unsigned __int128)all_of_it * still[t] / sum);
        ns[t] += part;
        ns[from] -= part;
    }
}

const char *thread_pool_label(const struct analysis *a, const char *name, uint32_t thread)
{
    bool is_virtual = thread < a->threads.n && a->threads.v[thread].is_virtual;
    return *name ? name : is_virtual ? "virtual threads" : "(no name)";
}

struct thread_pool *thread_pool_of(struct thread_pool *v, size_t cap, size_t *n,
                                   const struct analysis *a, uint32_t thread)
{
    struct thread_pool *new = &v[min_u64(*n, cap - 1)];
    char name[sizeof v->name];
    resource_thread_pool(a, thread, name, sizeof name);
    for (size_t i = 0; i < *n; i++)
        if (strcmp(v[i].name, name) == 0)
            return &v[i];
    if (*n < cap) {
        strcpy(new->name, ++*n < cap ? name : "others");
        new->first = thread;
    }
    return new;
}

/* The time of a thread in no wait. */
static uint64_t rest_of(const struct analysis *a, uint32_t thread, uint64_t ns[THREAD_TIMES])
{
    uint64_t life = thread_life(&a->threads.v[thread]), waits;
    waits = add_waits(a, thread, ns);
    waits += ns[TIME_BLOCKED] + ns[TIME_WAITING] + ns[TIME_IDLE] + ns[TIME_CARRIER];
    return life > waits ? life - waits : 0;
}

uint64_t thread_still(const struct analysis *a, uint32_t thread, uint64_t *seen)
{
    const struct still_line *l = stills_of(&a->stills, thread);
    uint64_t ns[THREAD_TIMES] = {0};
    *seen = 0;
    for (uint32_t i = 0; i < l->n; i++)
        *seen += l->v[i].to - l->v[i].from;
    return likely_still(l, *seen, rest_of(a, thread, ns));
}

/* --- by turns on processors ------------------------------------------------------------------- */

struct tally {
    const struct analysis *a;
    uint32_t thread;
    uint64_t *ns; /* [THREAD_TIMES] */
};

static void add_wait_tile(const struct tally *y, const struct cpu_tile *tile)
{
    const struct timeline *tl = &y->a->timeline;
    const struct span *s = line_span(&tl->lines[y->thread], tile->span);
    struct wait_part parts[2];
    for (unsigned p = 0, m = span_parts(tl, s, parts); p < m; p++) {
        uint64_t from = max_u64(parts[p].from, tile->from), to = min_u64(parts[p].to, tile->to);
        if (from < to)
            y->ns[thread_time_of(y->a, s->context, &parts[p])] += to - from;
    }
}

static void add_tile(void *ctx, const struct cpu_tile *tile)
{
    static const enum thread_time times[CPU_STATES] = {[CPU_ON] = TIME_RUNNING,
                                                       [CPU_READY] = TIME_READY,
                                                       [CPU_IO] = TIME_OTHER,
                                                       [CPU_STOPPED] = TIME_STOPPED,
                                                       [CPU_OFF] = TIME_OTHER};
    const struct tally *y = ctx;
    if (tile->kind == CPU_WAITS)
        add_wait_tile(y, tile);
    else if (tile->kind != CPU_UNKNOWN)
        y->ns[times[tile->kind]] += tile->to - tile->from;
}

/* The waits keep their proportions. */
static void add_shares(const struct tally *y, uint64_t from, uint64_t to)
{
    uint64_t sums[CPU_STATES], waits = 0;
    processors_sum(&y->a->processors, &y->a->timeline, y->thread, from, to, sums);
    add_waits(y->a, y->thread, y->ns);
    for (unsigned t = 0; t < THREAD_TIMES; t++)
        waits += y->ns[t];
    for (unsigned t = 0; t < THREAD_TIMES && waits; t++)
        y->ns[t] = (uint64_t)((unsigned __int128)y->ns[t] * sums[CPU_WAITS] / waits);
    y->ns[TIME_RUNNING] = sums[CPU_ON];
    y->ns[TIME_READY] = sums[CPU_READY];
    y->ns[TIME_STOPPED] = sums[CPU_STOPPED];
    y->ns[TIME_OTHER] = sums[CPU_IO] + sums[CPU_OFF];
}

static void times_by_turns(const struct resources *all, const struct analysis *a, uint32_t thread,
                           uint64_t ns[THREAD_TIMES])
{
    const struct thread_stats *s = &a->threads.v[thread];
    const struct tally y = {a, thread, ns};
    if (a->processors.n_turns)
        processors_tile(&a->processors, &a->timeline, thread, s->from, s->to, add_tile, (void *)&y);
    else
        add_shares(&y, s->from, s->to);
    share_out(all, a, thread, ns[TIME_RUNNING] + ns[TIME_READY] + ns[TIME_OTHER], ns[TIME_OTHER],
              TIME_OTHER, ns);
}

static void times_by_waits(const struct resources *all, const struct analysis *a, uint32_t thread,
                           uint64_t ns[THREAD_TIMES])
{
    uint64_t rest = rest_of(a, thread, ns);
    uint64_t halted[HALTED_KINDS];
    halts_between(&a->halts, thread, a->threads.v[thread].from, a->threads.v[thread].to, halted);
    ns[TIME_STOPPED] = min_u64(halted[HALTED_STOPPED], rest);
    rest -= ns[TIME_STOPPED];
    uint64_t kept = min_u64(pins_of_carrier(&a->decoded.pins, thread), rest);
    ns[TIME_RUNNING] = rest - kept;
    share_out(all, a, thread, rest - kept, rest - kept, TIME_RUNNING, ns);
    ns[TIME_WAITING] += kept; /* a carrier, by a thread that it cannot get rid of */
}

uint64_t thread_times(const struct resources *all, const struct analysis *a, uint32_t thread,
                      uint64_t ns[THREAD_TIMES])
{
    uint64_t sum = 0;
    bool turns = processors_any(&a->processors);
    bool carried = a->threads.v[thread].is_virtual; /* its carrier has the turns */
    (turns && !carried ? times_by_turns : times_by_waits)(all, a, thread, ns);
    if (turns && carried) {
        ns[TIME_OTHER] += ns[TIME_RUNNING];
        ns[TIME_RUNNING] = 0;
    }
    for (unsigned t = 0; t < THREAD_TIMES; t++)
        sum += ns[t];
    return sum;
}

static void add_thread(struct thread_pool *p, const struct resources *all, const struct analysis *a,
                       uint32_t thread)
{
    uint64_t ns[THREAD_TIMES] = {0};
    p->life += thread_times(all, a, thread, ns);
    p->threads++;
    for (unsigned t = 0; t < THREAD_TIMES; t++)
        p->ns[t] += ns[t];
}

uint64_t thread_pool_runs(const struct thread_pool *p, const struct analysis *a)
{
    return thread_is_carrier(a->trace, &a->threads.v[p->first]) ? 0 : p->ns[TIME_RUNNING];
}

bool thread_pools_lack_processors(const struct analysis *a, uint64_t running)
{
    uint64_t cpus = strtoull(trace_info(a->trace, "cpus", "0"), NULL, 10);
    return cpus && running / cpus >= a->window.to - a->window.from &&
           !processors_any(&a->processors);
}

int thread_times_by_harm(const uint64_t *x, uint64_t x_life, const uint64_t *y, uint64_t y_life)
{
    uint64_t p = x_life - x[TIME_IDLE], q = y_life - y[TIME_IDLE];
    if (x[TIME_BLOCKED] != y[TIME_BLOCKED])
        return x[TIME_BLOCKED] < y[TIME_BLOCKED] ? 1 : -1;
    return (p < q) - (p > q);
}

static int by_harm(const void *a, const void *b)
{
    const struct thread_pool *x = a, *y = b;
    int c = thread_times_by_harm(x->ns, x->life, y->ns, y->life);
    return c ? c : strcmp(x->name, y->name);
}

/* The name of a pool of one is that thread's, without a number at its end. */
static void name_of_one(struct thread_pool *p, const struct analysis *a)
{
    const char *name = trace_thread(a->trace, a->threads.v[p->first].id)->name;
    if (strchr(p->name, '#'))
        snprintf(p->name, sizeof p->name, "%s", name);
}

int thread_pools_make(struct thread_pool **out, size_t *n, const struct resources *all,
                      struct analysis *a)
{
    struct thread_pool *v = *out = arena_alloc(&a->arena, POOLS * sizeof *v);
    *n = 0;
    if (!v)
        return -ENOMEM;
    for (uint32_t i = 1; i < a->timeline.n_lines && i < a->threads.n; i++)
        if (a->bottles.counted[i] && thread_life(&a->threads.v[i])) {
            struct thread_pool *p = thread_pool_of(v, POOLS, n, a, i);
            add_thread(p, all, a, i);
        }
    for (size_t i = 0; i < *n; i++)
        if (v[i].threads == 1)
            name_of_one(&v[i], a);
    qsort(v, *n, sizeof *v, by_harm);
    return 0;
}

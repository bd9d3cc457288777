/* More threads are ready than there are processors: which threads wait for a processor, and which
 * use them.  Also the quota of a container, when it is used up.
 *
 * Both come from the turns of the group sched (analyze/processors.h).  Threads of the program wait;
 * on the processors are threads of the program, the JVM's own threads, and other programs.  Without
 * turns, threads that are in no wait run or are ready: beyond one for each processor they are
 * ready. */
#include "base/human.h"
#include "base/keyed.h"
#include "base/util.h"
#include "conclude/rules_parts.h"
#include "conclude/thread_pools.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    READY_PERMILLE = 100,         /* of the time ready or on a processor, */
    READY_THREADS_PERMILLE = 500, /* threads on average from which it is reported; */
    READY_PROBLEM_PERMILLE = 500, /* a problem from here on */
    READY_LEAST_NS = 100000000,
    FEW_PERMILLE = 800,   /* of the processors: if the program had less, others had the rest */
    BUSY_LEAST = 20,      /* samples of threads that run or are ready, */
    BUSY_PERMILLE = 250,  /* of them in one method of the program: it is named */
    POLLS_PERMILLE = 300, /* of their time threads poll */
    NAMED = 3,            /* pools */
    NAMED_PERMILLE = 50   /* of all, at least */
};

struct use {
    struct thread_pool *pools;
    size_t n;
    uint64_t ready, on; /* of the program's threads */
    uint64_t own;       /* on a processor, of the JVM's own */
    uint64_t processors;
    bool polls; /* threads that poll have their own finding */
    bool turns; /* recorded; else `ready` is what is beyond the processors, `on` the rest */
};

/* Whether threads that poll have their own finding: they run for nothing, and more processors would only let
 * them poll more often. */
static bool are_polls(const struct evidence *ev)
{
    for (size_t i = 0; i < ev->resources.n; i++) {
        const struct resource *r = &ev->resources.v[i];
        if (r->kind == RESOURCE_POLLED && r->held && resource_permille(r) >= POLLS_PERMILLE &&
            rule_resource_is_told(ev, r))
            return true;
    }
    return false;
}

static bool gather(const struct evidence *ev, struct use *u)
{
    const struct analysis *a = ev->a;
    u->processors = strtoull(trace_info(a->trace, "cpus", "0"), NULL, 10);
    u->turns = processors_any(&a->processors);
    u->polls = are_polls(ev);
    bool looked = a->samples.n[SAMPLE_LOOKS] || a->samples.n[SAMPLE_WALL];
    if (!(u->turns || (looked && u->processors)) ||
        thread_pools_make(&u->pools, &u->n, &ev->resources, ev->a) < 0)
        return false;
    for (size_t i = 0; i < u->n; i++) {
        if (!u->turns)
            u->pools[i].ns[TIME_RUNNING] = thread_pool_runs(&u->pools[i], a);
        u->ready += u->pools[i].ns[TIME_READY];
        u->on += u->pools[i].ns[TIME_RUNNING];
    }
    if (!u->turns) {
        u->ready = u->on - min_u64(u->on, ev->length * u->processors);
        u->on -= u->ready;
    }
    for (uint32_t i = 1; i < a->threads.n && u->turns; i++) {
        uint64_t ns[CPU_STATES];
        if (a->bottles.counted[i])
            continue;
        processors_sum(&a->processors, &a->timeline, i, a->threads.v[i].from, a->threads.v[i].to,
                       ns);
        u->own += ns[CPU_ON];
    }
    return true;
}

static int by_time(const void *a, const void *b, void *ctx)
{
    const struct thread_pool *x = a, *y = b;
    enum thread_time time = *(const enum thread_time *)ctx;
    if (x->ns[time] != y->ns[time])
        return x->ns[time] < y->ns[time] ? 1 : -1;
    return strcmp(x->name, y->name);
}

size_t rule_say_pools(struct rule_finding *f, const struct evidence *ev, struct thread_pool *v,
                      size_t n, enum thread_time time, uint64_t whole)
{
    size_t i = 0;
    qsort_r(v, n, sizeof *v, by_time, &time);
    for (; i < n && i < NAMED; i++) {
        unsigned part = rule_permille(v[i].ns[time], whole);
        if (i && part < NAMED_PERMILLE)
            break;
        rule_say(f, "%s%s %u %%", i ? ", " : " ", thread_pool_label(ev->a, v[i].name, v[i].first),
                 part / 10);
    }
    return i;
}

/* Whether other programs or a quota had some of the processors. */
static bool is_kept_off(const struct evidence *ev, const struct use *u)
{
    return rule_permille(u->on + u->own, ev->length * u->processors) < FEW_PERMILLE;
}

/* Whether the JVM's compilers and collectors use more than the program: what it lacks it lacks while
 * they work, as at a start. */
static bool is_jvms(const struct use *u)
{
    return u->turns && u->own > u->on;
}

/* --- in which method ---------------------------------------------------------------------------- */

struct busy_line {
    uint32_t method;
    int32_t line;
    /* the key ends here */
    uint64_t ns;
    stack_id stack;
};

struct busy {
    struct keyed lines; /* struct busy_line */
    uint64_t *own;      /* [n_methods] ns in which it is the innermost of the program; [0]: 0 */
    uint64_t *outer;    /* [n_methods] ns in which it had called other code of the program */
    uint64_t n, ns;
};

/* A method around all of a request, such as a filter, does not say what the library does inside. */
static void add_outer(const struct program *p, const struct sample *s, method_id own,
                      uint64_t *outer)
{
    const struct trace_stack *x = trace_stack(p->trace, s->stack);
    bool in = false;
    for (uint32_t i = 0; i < x->n_frames; i++) {
        method_id m = x->frames[i].method;
        if (in && m.v != own.v && m.v < p->trace->n_methods && program_code(p, m) == CODE_PROGRAM)
            outer[m.v] += s->weight;
        in |= m.v == own.v;
    }
}

/* What threads of the program executed, or waited to go on with; of: one of them, or 0. */
static int add_samples(const struct evidence *ev, enum sample_kind kind, uint32_t of,
                       struct busy *to)
{
    const struct analysis *a = ev->a;
    uint32_t end = of ? of + 1 : (uint32_t)a->threads.n;
    for (uint32_t thread = of ? of : 1; thread < end; thread++) {
        const struct run *r = samples_of(&a->samples, kind, thread);
        for (uint32_t i = 0; i < r->n && a->bottles.counted[thread]; i++) {
            const struct sample *s = sample_at(r, i);
            if (!s->stack.v || s->flags & SAMPLE_IDLE)
                continue;
            struct place at = program_place(&ev->resources.program, s->stack);
            struct busy_line key = {at.method.v, at.line, 0, {0}};
            struct busy_line *e = keyed_put(&to->lines, &key);
            if (!e)
                return -ENOMEM;
            e->ns += s->weight;
            e->stack = s->stack;
            if (at.method.v && at.method.v < a->trace->n_methods)
                to->own[at.method.v] += s->weight;
            to->ns += s->weight;
            to->n++;
            add_outer(&ev->resources.program, s, at.method, to->outer);
        }
    }
    return 0;
}

/* The line of a method with the most time; one that is known, if there is one. */
static const struct busy_line *line_of(const struct busy *b, uint32_t method)
{
    const struct busy_line *v = b->lines.v, *line = NULL;
    for (size_t i = 0; i < b->lines.n; i++) {
        bool better = !line || (v[i].line >= 0 && (line->line < 0 || v[i].ns > line->ns));
        if (v[i].method == method && better)
            line = &v[i];
    }
    return line;
}

/* The method with the most time, and its line with the most. */
static void say_busiest(struct rule_finding *f, const struct evidence *ev, const struct busy *b,
                        const char *whose)
{
    uint32_t method = 0;
    for (uint32_t i = 1; i < ev->a->trace->n_methods; i++)
        if (b->own[i] > b->own[method] && b->own[i] >= b->outer[i])
            method = i;
    const struct busy_line *most = method ? line_of(b, method) : NULL;
    uint64_t most_ns = b->own[method];
    if (!most || b->n < BUSY_LEAST || rule_permille(most_ns, b->ns) < BUSY_PERMILLE)
        return;
    rule_line(f, CARD_PLAIN);
    rule_say(f, "%u %% of %s time in ", rule_permille(most_ns, b->ns) / 10, whose);
    rule_say_in(f, ev, "", (struct place){{most->method}, most->line, 0});
    rule_say_in(f, ev, " <- ", program_caller(&ev->resources.program, most->stack));
    rule_add_stack(f, most->stack);
}

void rule_say_busiest(struct rule_finding *f, const struct evidence *ev, uint32_t thread)
{
    const uint64_t *n = ev->a->samples.n;
    size_t n_methods = ev->a->trace->n_methods + 1;
    uint64_t *sums = calloc(2 * n_methods, sizeof *sums);
    if (!sums)
        return;
    struct busy b = {.own = sums, .outer = sums + n_methods};
    keyed_init(&b.lines, offsetof(struct busy_line, ns), sizeof(struct busy_line));
    if (add_samples(ev, n[SAMPLE_CPU] ? SAMPLE_CPU : samples_wall(&ev->a->samples), thread, &b) ==
        0)
        say_busiest(f, ev, &b, thread ? "its running" : "that");
    keyed_fini(&b.lines);
    free(sums);
}

/* --- which threads ------------------------------------------------------------------------------ */

static void say_try(struct rule_finding *f, const struct use *u, const char *text)
{
    rule_line(f, u->polls ? CARD_PLAIN : CARD_TRY);
    rule_say(f, "%s", u->polls ? "threads that poll use processors, too" : text);
}

/* Without turns: who runs and who is ready is not known. */
static void say_busy_pools(struct rule_finding *f, const struct evidence *ev, struct use *u)
{
    rule_say(f, "; running or ready:");
    rule_say_pools(f, ev, u->pools, u->n, TIME_RUNNING, u->on + u->ready);
    rule_say_busiest(f, ev, 0);
    say_try(f, u, "more threads will not help: more processors, or less work");
    rule_line(f, CARD_RERUN);
    rule_say(f, "with --time: who was on a processor, and who waited for one");
}

static void say_use(struct rule_finding *f, const struct evidence *ev, struct use *u)
{
    uint64_t all = u->on + u->own;
    bool kept = is_kept_off(ev, u);
    if (!u->turns) {
        say_busy_pools(f, ev, u);
        return;
    }
    rule_say(f, "; ready:");
    rule_say_pools(f, ev, u->pools, u->n, TIME_READY, u->ready);
    rule_say(f, "; on a processor:");
    rule_say_pools(f, ev, u->pools, u->n, TIME_RUNNING, all);
    if (rule_permille(u->own, all) >= NAMED_PERMILLE)
        rule_say(f, ", the JVM's own threads %u %%", rule_permille(u->own, all) / 10);
    rule_say_busiest(f, ev, 0);
    if (kept)
        rule_say(f,
                 "; the program had %.1f of the %" PRIu64
                 " processors: other processes or its quota keep it from the rest",
                 (double)all / (double)ev->length, u->processors);
    if (is_jvms(u)) {
        rule_line(f, CARD_PLAIN);
        rule_say(f, "most of that is the JVM's own work: compiling, as at a start, or collecting");
        return;
    }
    say_try(f, u,
            kept ? "more threads will not help: let the program have the rest, or do less work"
                 : "more threads will not help: more processors, or less work");
}

void rule_few_processors(struct evidence *ev)
{
    struct use u = {.pools = NULL};
    if (!gather(ev, &u) || !ev->length || u.ready < READY_LEAST_NS ||
        rule_permille(u.ready, ev->length) < READY_THREADS_PERMILLE)
        return;
    unsigned part = rule_permille(u.ready, u.ready + u.on);
    if (part < READY_PERMILLE)
        return;
    bool problem = part >= READY_PROBLEM_PERMILLE;
    struct rule_finding *f = rule_find(ev,
                                       is_jvms(&u) || u.polls ? SEVERITY_INFO
                                       : problem              ? SEVERITY_PROBLEM
                                                              : SEVERITY_WARNING,
                                       u.ready);
    if (!f)
        return;
    for (size_t i = 0; i < u.n && i < NAMED; i++)
        rule_add_thread(f, ev, u.pools[i].first);
    if (u.turns)
        rule_say(f,
                 "%.1f threads on average wait for a processor (%" PRIu64
                 " processor%s): %s in total, %u %% of the time in which they are ready or running",
                 (double)u.ready / (double)ev->length, u.processors, u.processors == 1 ? "" : "s",
                 human_time(u.ready).text, part / 10);
    else
        rule_say(f,
                 "%.1f threads on average run or wait for a processor, and there %s %" PRIu64
                 " processor%s",
                 (double)(u.on + u.ready) / (double)ev->length, u.processors == 1 ? "is" : "are",
                 u.processors, u.processors == 1 ? "" : "s");
    say_use(f, ev, &u);
}

/* --- the quota -------------------------------------------------------------------------------- */

void rule_quota(struct evidence *ev)
{
    enum { PERIODS_LEAST = 5, STOPPED_PERMILLE = 50, STOPPED_PROBLEM_PERMILLE = 250 };
    const struct processors *p = &ev->a->processors;
    unsigned part = rule_permille(p->stopped, p->periods);
    if (p->stopped < PERIODS_LEAST || part < STOPPED_PERMILLE)
        return;
    bool problem = part >= STOPPED_PROBLEM_PERMILLE;
    struct rule_finding *f =
        rule_find(ev, problem ? SEVERITY_PROBLEM : SEVERITY_WARNING, p->stopped_ns);
    if (!f)
        return;
    rule_say(f,
             "The quota of processor time stopped the program in %u %% of its periods (%s of %s)",
             part / 10, human_count(p->stopped).text, human_count(p->periods).text);
    rule_say(f, "; for %s, summed over the processors", human_time(p->stopped_ns).text);
    rule_line(f, CARD_TRY);
    rule_say(f, "raise the CPU limit of the container, or run fewer threads at a time");
}

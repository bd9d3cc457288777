/* The JVM stops all threads, collections apart: for which operations, and how long it waits until
 * all threads have stopped.
 *
 * Samples (cpu=, wall=) in that time show the code of a thread that has not stopped yet. */
#include "base/human.h"
#include "base/util.h"
#include "conclude/rules_parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    STOPPED_PERMILLE = 50, /* of the recording, from which it is reported; */
    STOPPED_PROBLEM_PERMILLE = 200,
    STOPPED_LEAST_NS = 50000000,
    REACH_PERMILLE = 500, /* of that time: then the late thread is reported */
    NAMED = 3,            /* operations */
    NAMED_PERMILLE = 100, /* of the time, at least */
    SAMPLES_LEAST = 5,
};

/* Requests to the JVM, by the beginning of the operation's name. */
static const struct {
    const char *operation, *by, *remedy;
} asked[] = {
    {"ThreadDump", "thread dumps",
     "take fewer thread dumps: look for Thread.getAllStackTraces, "
     "ThreadMXBean.dumpAllThreads and jstack in agents and monitoring"},
    {"GetAllStackTraces", "stacks of all threads, for an agent", "take them less often"},
    {"GetThreadListStackTraces", "stacks of threads, for an agent", "take them less often"},
    {"PrintThreads", "thread dumps", "take fewer thread dumps (jstack, kill -QUIT)"},
    {"FindDeadlocks", "searches for deadlocks",
     "search less often: look for "
     "ThreadMXBean.findDeadlockedThreads in monitoring"},
    {"RedefineClasses", "changes of classes",
     "look for an agent that transforms classes while the "
     "program runs"},
    {"HeapDumper", "heap dumps", "dump the heap less often"},
    {"GC_HeapInspection", "class histograms", "count the heap's objects less often (jmap -histo)"},
    {"HeapWalkOperation", "heap walks, for an agent", "walk the heap less often"},
};

static const char *by_of(const char *operation)
{
    for (size_t i = 0; i < ARRAY_LEN(asked); i++)
        if (strncmp(operation, asked[i].operation, strlen(asked[i].operation)) == 0)
            return asked[i].by;
    return NULL;
}

/* "1,203 thread dumps (ThreadDump) 2.1 s" */
static void say_operations(struct rule_finding *f, const struct safepoints *all, uint64_t whole)
{
    const char *between = "; ";
    for (size_t i = 0, n = 0; i < all->n_sums && n < NAMED; i++) {
        const struct safepoint_sum *s = &all->sum[i];
        uint64_t ns = s->collects ? s->reach : s->ns;
        if (n && rule_permille(ns, whole) < NAMED_PERMILLE)
            continue;
        const char *by = by_of(s->operation);
        if (by)
            rule_say(f, "%s%s %s (%s): %s", between, human_count(s->count).text, by, s->operation,
                     human_time(ns).text);
        else
            rule_say(f, "%s%s %s: %s", between, human_count(s->count).text, s->operation,
                     human_time(ns).text);
        between = ", ";
        n++;
    }
}

/* --- who is late ------------------------------------------------------------------------------ */

struct late {
    uint32_t thread;
    stack_id stack;
    uint64_t samples;
};

static int by_stack(const void *a, const void *b)
{
    const struct late *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->stack.v > y->stack.v) - (x->stack.v < y->stack.v);
}

/* Collects the samples of threads that run while the JVM waits until all have stopped. */
static void find_late(const struct evidence *ev, struct buf *found)
{
    const struct safepoints *all = &ev->a->safepoints;
    const struct samples *samples = &ev->a->samples;
    enum sample_kind kind = samples->n[SAMPLE_CPU] ? SAMPLE_CPU : samples_wall(samples);
    for (uint32_t i = 1; i < samples->n_lines; i++) {
        const struct run *r = samples_of(samples, kind, i);
        for (uint32_t n = 0; n < r->n; n++) {
            const struct sample *s = sample_at(r, n);
            size_t k = 0;
            BISECT(k, all->n, all->v[k].from <= s->time);
            if (k && s->time < all->v[k - 1].reached && s->stack.v && !(s->flags & SAMPLE_IDLE))
                buf_put(found, &(struct late){i, s->stack, 1}, sizeof(struct late));
        }
    }
}

static void say_late(struct rule_finding *f, const struct evidence *ev)
{
    struct buf found = {0};
    find_late(ev, &found);
    struct late *v = (void *)found.p, most = {.samples = 0};
    size_t n = found.oom ? 0 : found.len / sizeof *v;
    if (n)
        qsort(v, n, sizeof *v, by_stack);
    for (size_t i = 0, first = 0; i < n; i++) {
        first = by_stack(&v[first], &v[i]) == 0 ? first : i;
        if (i - first + 1 > most.samples)
            most = (struct late){v[i].thread, v[i].stack, i - first + 1};
    }
    if (n >= SAMPLES_LEAST && 2 * most.samples > n) {
        rule_say(f, "; by samples, the late thread was ");
        rule_say_thread(f, ev, most.thread);
        rule_say_place(f, ev, " in ", most.stack);
        rule_say(f, " (%s of %s)", human_count(most.samples).text, human_count(n).text);
        rule_add_thread(f, ev, most.thread);
        rule_add_stack(f, most.stack);
    } else
        rule_say(f, "; Orca does not know which thread was late");
    buf_fini(&found);
}

/* --- the finding ------------------------------------------------------------------------------ */

static uint64_t reach_max(const struct safepoints *all)
{
    uint64_t most = 0;
    for (size_t i = 0; i < all->n_sums; i++)
        most = max_u64(most, all->sum[i].reach_max);
    return most;
}

static void say_remedy(struct rule_finding *f, const struct safepoints *all, bool late)
{
    if (late) {
        rule_line(f, CARD_TRY);
        rule_say(f,
                 "a loop over an int without calls keeps the JVM waiting until it ends: run with "
                 "-XX:+UseCountedLoopSafepoints, or split the loop; more processors help where "
                 "other programs use them");
        return;
    }
    for (size_t k = 0; k < all->n_sums; k++)
        for (size_t i = 0; !all->sum[k].collects && i < ARRAY_LEN(asked); i++)
            if (by_of(all->sum[k].operation) == asked[i].by) {
                rule_line(f, CARD_TRY);
                rule_say(f, "%s", asked[i].remedy);
                return;
            }
}

void rule_safepoints(struct evidence *ev)
{
    const struct safepoints *all = &ev->a->safepoints;
    uint64_t reach_of_gc = 0, longest = 0;
    for (size_t i = 0; i < all->n_sums; i++) {
        const struct safepoint_sum *s = &all->sum[i];
        reach_of_gc += s->collects ? s->reach : 0;
        longest = max_u64(longest, s->collects ? s->reach_max : s->ns_max);
    }
    uint64_t ns = all->ns_of_others + reach_of_gc; /* the rest is gc-pauses' */
    unsigned part = rule_permille(ns, ev->length);
    if (ns < STOPPED_LEAST_NS || part < STOPPED_PERMILLE)
        return;
    bool problem = part >= STOPPED_PROBLEM_PERMILLE,
         late = rule_permille(all->reach, ns) >= REACH_PERMILLE;
    struct rule_finding *f = rule_find(ev, problem ? SEVERITY_PROBLEM : SEVERITY_WARNING, ns);
    if (!f)
        return;
    rule_say(
        f,
        "The JVM stopped all threads for %u %% of the time, apart from collections: %s in total, "
        "at most %s at a time",
        part / 10, human_time(ns).text, human_time(longest).text);
    say_operations(f, all, ns);
    if (late) {
        rule_say(f, "; %u %% of that is the time until all threads had stopped, at most %s",
                 rule_permille(all->reach, ns) / 10, human_time(reach_max(all)).text);
        say_late(f, ev);
    }
    say_remedy(f, all, late);
}

/* Stops of all threads by the JVM: sums by operation, beside collections, and what a finding
 * says. */
#include "analyze/safepoints.h"

#include "analyzed.h"
#include "conclude/rules.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { MS = 1000000, US = 1000 };

static const thread_id nobody = {0};

TestSuite(safepoints, .init = analyzed_begin, .fini = analyzed_end);

static void stop(uint64_t from, uint64_t reached, uint64_t to, gc_name_id operation)
{
    ADD(&b, 9, nobody, to, safepoint, .operation = operation, .since = at(from),
        .reached = at(reached));
}

static void pause(uint64_t from, uint64_t to)
{
    ADD(&b, 8, nobody, from, gc_start, .used = 1);
    ADD(&b, 8, nobody, to, gc_finish, .used = 1);
}

static struct rule_finding *f;
static size_t n;

static const struct rule_finding *found(void)
{
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    for (size_t i = 0; i < n; i++)
        if (strcmp(f[i].rule, "safepoints") == 0)
            return &f[i];
    return NULL;
}

Test(safepoints, a_collection_is_its_safepoint)
{
    gc_name_id full = builder_gc_name(&b, "G1CollectFull"),
               dump = builder_gc_name(&b, "ThreadDump");
    stop(10 * MS, 11 * MS, 15 * MS, full);
    pause(12 * MS, 14 * MS);
    stop(20 * MS, 21 * MS, 22 * MS, dump);
    stop(30 * MS, 33 * MS, 34 * MS, dump);
    pause(40 * MS, 41 * MS); /* its safepoint is not recorded */
    analyzed_run(100 * MS);
    const struct safepoints *s = &a->safepoints;
    cr_assert_eq(s->n, 3);
    cr_assert(s->v[0].collects && !s->v[1].collects && !s->v[2].collects);
    cr_assert_eq(s->others, 2);
    cr_assert_eq(s->ns_of_others, 6 * MS);
    cr_assert_eq(s->reach, 5 * MS);
    cr_assert_eq(s->n_sums, 2);
    cr_assert_str_eq(s->sum[0].operation, "ThreadDump");
    cr_assert_eq(s->sum[0].count, 2);
    cr_assert_eq(s->sum[0].ns, 6 * MS);
    cr_assert_eq(s->sum[0].ns_max, 4 * MS);
    cr_assert_eq(s->sum[0].reach, 4 * MS);
    cr_assert_eq(s->sum[0].reach_max, 3 * MS);
    cr_assert(s->sum[1].collects);
    cr_assert_eq(s->sum[1].ns, 5 * MS);
    cr_assert_eq(a->gc_ns, 3 * MS);
}

/* What a JVM that was killed leaves twice, and what a damaged trace may say. */
Test(safepoints, none_counts_twice)
{
    gc_name_id dump = builder_gc_name(&b, "ThreadDump");
    stop(10 * MS, 11 * MS, 12 * MS, dump);
    stop(10 * MS, 11 * MS, 12 * MS, dump);
    stop(11 * MS, 11 * MS, 14 * MS, dump);
    stop(30 * MS, 40 * MS, 31 * MS, dump); /* reached behind its end */
    analyzed_run(100 * MS);
    cr_assert_eq(a->safepoints.n, 3);
    cr_assert_eq(a->safepoints.ns_of_others, 5 * MS);
    for (size_t i = 0; i < a->safepoints.n; i++) {
        const struct safepoint *s = &a->safepoints.v[i];
        cr_assert(s->from <= s->reached && s->reached <= s->to);
        cr_assert(i == 0 || s[-1].to <= s->from);
    }
}

Test(safepoints, thread_dumps_that_cost_are_a_finding)
{
    gc_name_id dump = builder_gc_name(&b, "ThreadDump"),
               full = builder_gc_name(&b, "G1CollectFull");
    for (uint64_t i = 0; i < 100; i++)
        stop(i * 10 * MS, i * 10 * MS + 10 * US, i * 10 * MS + 900 * US, dump);
    stop(995 * MS, 995 * MS, 999 * MS, full);
    pause(995 * MS, 999 * MS);
    analyzed_run(1000 * MS);
    const struct rule_finding *x = found();
    cr_assert(x);
    cr_assert_eq(x->severity, SEVERITY_WARNING);
    cr_assert_str_eq(
        x->text,
        "The JVM stopped all threads for 9 % of the time, apart from collections: "
        "90.0 ms in total, at most 900 \xc2\xb5s at a time; 100 thread dumps (ThreadDump): "
        "90.0 ms; try: take fewer thread dumps: look for Thread.getAllStackTraces, "
        "ThreadMXBean.dumpAllThreads and jstack in agents and monitoring");
}

Test(safepoints, who_is_late_is_said_by_samples)
{
    gc_name_id cleanup = builder_gc_name(&b, "Cleanup");
    for (uint64_t i = 0; i < 10; i++) {
        stop(i * 100 * MS, i * 100 * MS + 40 * MS, i * 100 * MS + 41 * MS, cleanup);
        ADD(&b, 10, ann, i * 100 * MS + 20 * MS, cpu_sample, .weight = MS, .stack = stack,
            .taken = at(i * 100 * MS + 20 * MS));
        ADD(&b, 10, bob, i * 100 * MS + 50 * MS, cpu_sample, .weight = MS, .stack = other_stack,
            .taken = at(i * 100 * MS + 50 * MS));
    }
    analyzed_run(1000 * MS);
    const struct rule_finding *x = found();
    cr_assert(x);
    cr_assert_eq(x->severity, SEVERITY_PROBLEM);
    cr_assert(strstr(x->text, "41 % of the time"), "%s", x->text);
    cr_assert(strstr(x->text, "97 % of that is the time until all threads had stopped, at most "
                              "40.0 ms; by samples, the late thread was ann in Order.submit"),
              "%s", x->text);
    cr_assert(strstr(x->text, "(10 of 10)"), "%s", x->text);
    cr_assert(strstr(x->text, "UseCountedLoopSafepoints"), "%s", x->text);
    cr_assert_eq(x->threads.n, 1);
    cr_assert_eq(x->threads.v[0], ann.v);
}

Test(safepoints, who_is_late_may_be_unknown)
{
    gc_name_id cleanup = builder_gc_name(&b, "Cleanup");
    for (uint64_t i = 0; i < 10; i++)
        stop(i * 100 * MS, i * 100 * MS + 40 * MS, i * 100 * MS + 41 * MS, cleanup);
    analyzed_run(1000 * MS);
    cr_assert(strstr(found()->text, "Orca does not know which thread was late"));
}

/* Collections have their own; a few stops harm nobody. */
Test(safepoints, harmless_ones_are_no_finding)
{
    gc_name_id dump = builder_gc_name(&b, "ThreadDump"),
               full = builder_gc_name(&b, "G1CollectFull");
    for (uint64_t i = 0; i < 40; i++)
        stop(i * 10 * MS, i * 10 * MS, i * 10 * MS + MS, dump);
    for (uint64_t i = 0; i < 10; i++) {
        stop(500 * MS + i * 40 * MS, 500 * MS + i * 40 * MS, 530 * MS + i * 40 * MS, full);
        pause(500 * MS + i * 40 * MS, 530 * MS + i * 40 * MS);
    }
    analyzed_run(1000 * MS);
    cr_assert_null(found());
}

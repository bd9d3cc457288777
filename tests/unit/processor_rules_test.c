/* processor_rules_test.c - findings about processors: they speak of threads that wait for one, and
 * are silent where there are enough. */
#include "analyzed.h"
#include "conclude/rules.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(processor_rules, .init = analyzed_begin, .fini = analyzed_end);

enum { MS = 1000000, SCHED = 9 };

static void computes(thread_id who, uint64_t from, uint64_t to, bool preempted)
{
    ADD(&b, SCHED + who.v, who, to * MS, turn, .since = at(from * MS),
        .end = preempted ? TURN_PREEMPTED : TURN_WAITS);
}

static void ends(const char *cpus)
{
    builder_info(&b, "cpus", cpus);
    ADD(&b, SCHED, (thread_id){0}, 1000 * MS, turns_known, .since = at(0));
    analyzed_run(1000 * MS);
}

/* Two that compute on one processor, in turns of 10 ms: one of them is always ready. */
static void share_one(void)
{
    for (uint64_t i = 0; i < 100; i++)
        computes(i % 2 ? ann : bob, i * 10, i * 10 + 10, true);
}

Test(processor_rules, threads_that_wait_for_one)
{
    share_one();
    ends("1");
    const struct rule_finding *f = finding_of("few-processors");
    cr_assert_not_null(f);
    cr_expect_not_null(
        strstr(f->text, "1.0 threads on average wait for a processor (1 processor): "), "%s",
        f->text);
    cr_expect_neq(f->severity, SEVERITY_INFO);
    cr_expect_not_null(strstr(f->text, "ready: "), "%s", f->text);
    cr_expect_null(strstr(f->text, "other processes"), "%s", f->text);
}

/* Ann and bob run for 1 ms each, while a compiler has the processor for 18 of 20 ms. */
Test(processor_rules, what_the_jvms_own_threads_use)
{
    thread_id jit = builder_thread_flags(&b, "C2 CompilerThread0", THREAD_NATIVE);
    for (uint64_t i = 0; i < 50; i++) {
        computes(ann, i * 20, i * 20 + 1, true);
        computes(bob, i * 20 + 1, i * 20 + 2, true);
        computes(jit, i * 20 + 2, i * 20 + 20, true);
    }
    ends("1");
    const struct rule_finding *f = finding_of("few-processors");
    cr_assert_not_null(f);
    cr_expect_eq(f->severity, SEVERITY_INFO);
    cr_expect_not_null(strstr(f->text, "; most of that is the JVM's own work"), "%s", f->text);
    cr_expect_null(strstr(f->text, "try"), "%s", f->text);
}

Test(processor_rules, who_is_kept_from_those_that_there_are)
{
    share_one();
    ends("4");
    const struct rule_finding *f = finding_of("few-processors");
    cr_assert_not_null(f);
    cr_expect_not_null(strstr(f->text, "the program had 1.0 of the 4 processors"), "%s", f->text);
}

Test(processor_rules, nobody_waits_long)
{
    for (uint64_t i = 0; i < 10; i++) {
        computes(ann, i * 100, i * 100 + 90, true);
        computes(bob, i * 100, i * 100 + 95, true);
    }
    ends("2");
    cr_expect_null(finding_of("few-processors"));
}

Test(processor_rules, without_turns_nothing_is_said)
{
    builder_info(&b, "cpus", "1");
    does_sleep(ann, 0, 900 * MS);
    analyzed_run(1000 * MS);
    cr_expect_null(finding_of("few-processors"));
}

/* Four threads compute for `each` of 1000 ms, and are seen at it now and then. */
static const struct rule_finding *compute(const char *cpus, uint64_t each, const char *often)
{
    const thread_id who[] = {ann, bob, cat, dan};
    stack_id idle = builder_stack(&b, "java.util.concurrent.ThreadPoolExecutor.getTask:1 "
                                      "java.util.concurrent.ThreadPoolExecutor.runWorker:2");
    lock_id queue = builder_lock(&b, builder_class(&b, "Lshop/Queue;"));
    const char *frames[] = {often, "shop.Tax.add:9 shop.Desk.place:21 org.web.Worker.run:9"};
    builder_info(&b, "cpus", cpus);
    builder_info(&b, "sun.java.command", "shop.Main");
    for (uint64_t ms = 10; ms < each; ms += 50)
        for (uint64_t k = 0; k < 4; k++)
            does_look(who[k], ms * MS, frames[ms % 500 == 10], 0);
    for (uint64_t k = 0; k < 4; k++) {
        ADD(&b, who[k].v, who[k], each * MS, park_enter, .lock = queue, .stack = idle);
        ADD(&b, who[k].v, who[k], 999 * MS, park_exit, .lock = queue);
    }
    analyzed_run(1000 * MS);
    return finding_of("few-processors");
}

#define PRICE "shop.Price.sum:5 shop.Desk.place:20 org.web.Worker.run:9"

Test(processor_rules, more_threads_run_than_there_are_processors)
{
    const struct rule_finding *f = compute("1", 800, PRICE);
    cr_assert_not_null(f);
    cr_expect_eq(f->severity, SEVERITY_PROBLEM);
    cr_expect_not_null(strstr(f->text, "threads on average run or wait for a processor, and there "
                                       "is 1 processor; running or ready: "),
                       "%s", f->text);
    cr_expect_not_null(strstr(f->text, "% of that time in Price.sum (Price.java:5) <- Desk.place "
                                       "(Desk.java:20)"),
                       "%s", f->text);
    cr_expect_not_null(strstr(f->text, "rerun: with --time"), "%s", f->text);
}

/* A filter is around all requests: what a library does in it is not the filter's. */
Test(processor_rules, a_method_around_others_is_not_named)
{
    const thread_id who[] = {ann, bob, cat, dan};
#define FILTER "shop.Filter.call:8 org.web.Worker.run:9"
    const char *frames[] = {"java.util.HashMap.get:3 " FILTER, "java.util.HashMap.get:3 " FILTER,
                            "shop.Price.sum:5 " FILTER, "shop.Tax.add:9 " FILTER,
                            "shop.Page.show:4 " FILTER};
    builder_info(&b, "cpus", "1");
    builder_info(&b, "sun.java.command", "shop.Main");
    for (uint64_t n = 0; n < 20; n++)
        for (uint64_t k = 0; k < 4; k++)
            does_look(who[k], (10 + n * 45) * MS, frames[(n + k) % 5], 0);
    analyzed_run(1000 * MS);
    const struct rule_finding *f = finding_of("few-processors");
    cr_assert_not_null(f);
    cr_expect_null(strstr(f->text, "% of that time in"), "%s", f->text);
}

/* Two virtual threads compute on two carriers, which count as running as well. */
Test(processor_rules, who_runs_on_a_carrier_counts_once)
{
    const char *const names[] = {"worker-1", "worker-2"};
    builder_info(&b, "cpus", "2");
    for (int i = 0; i < 2; i++) {
        thread_id carrier = builder_thread(&b, names[i]),
                  runs = builder_thread_flags(&b, "", THREAD_VIRTUAL);
        builder_def(&b, &(struct def){.kind = DEF_thread,
                                      .thread = {.id = carrier,
                                                 .name = {names[i], 8},
                                                 .group = {"CarrierThreads", 14}}});
        ADD0(&b, 40 + carrier.v, carrier, 1 * MS, thread_start);
        ADD0(&b, 40 + runs.v, runs, 1 * MS, thread_start);
        ADD0(&b, 40 + runs.v, runs, 990 * MS, thread_end);
    }
    does_look(ann, 10 * MS, PRICE, 0);
    does_sleep(ann, 11 * MS, 990 * MS);
    does_sleep(bob, 11 * MS, 990 * MS);
    does_sleep(cat, 11 * MS, 990 * MS);
    does_sleep(dan, 11 * MS, 990 * MS);
    analyzed_run(1000 * MS);
    cr_expect_null(finding_of("few-processors"));
}

Test(processor_rules, a_method_with_little_of_the_time_is_not_named)
{
    const struct rule_finding *f = compute("1", 800, "java.util.HashMap.get:3");
    cr_assert_not_null(f);
    cr_expect_null(strstr(f->text, "% of that time in"), "%s", f->text);
}

Test(processor_rules, as_many_run_as_there_are_processors)
{
    cr_expect_null(compute("4", 800, PRICE));
}

Test(processor_rules, threads_that_run_for_a_part_of_the_time_need_no_more)
{
    cr_expect_null(compute("1", 300, PRICE));
}

Test(processor_rules, a_quota_that_is_used_up)
{
    ADD(&b, SCHED, (thread_id){0}, 500 * MS, quota, .since = at(0), .periods = 5, .stopped = 4,
        .ns = 200 * MS);
    ADD(&b, SCHED, (thread_id){0}, 900 * MS, quota, .since = at(500 * MS), .periods = 5,
        .stopped = 2, .ns = 50 * MS);
    ends("2");
    const struct rule_finding *f = finding_of("quota");
    cr_assert_not_null(f);
    cr_expect_eq(f->severity, SEVERITY_PROBLEM);
    cr_expect_not_null(
        strstr(f->text, "stopped the program in 60 % of its periods (6 of 10); for 250 ms"), "%s",
        f->text);
}

Test(processor_rules, a_quota_that_is_hardly_ever_used_up)
{
    ADD(&b, SCHED, (thread_id){0}, 900 * MS, quota, .since = at(0), .periods = 1000, .stopped = 8,
        .ns = 20 * MS);
    ends("2");
    cr_expect_null(finding_of("quota"));
}

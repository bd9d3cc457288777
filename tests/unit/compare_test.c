/* compare_test.c - two recordings side by side. */
#include "conclude/compare.h"
#include "conclude/resource.h"
#include "trace_builder.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { LENGTH = 16000000 };

/* One thread that blocks `busy` of every 1000 us on a lock of the class, at Order.java:88. */
static void record(struct summary *out, const char *class_name, uint64_t busy)
{
    struct trace_builder builder;
    struct analysis *analysis;
    struct err err = {""};
    builder_init(&builder);
    thread_id ann = builder_thread(&builder, "ann"), bob = builder_thread(&builder, "bob");
    lock_id lock = builder_lock(&builder, builder_class(&builder, class_name));
    stack_id stack = builder_stack(&builder, "shop.Order.submit:88 shop.Main.main:12");
    for (uint64_t t = 0; t < LENGTH && busy; t += 1000000) {
        ADD(&builder, 1, ann, t, monitor_contended_enter, .lock = lock, .owner = bob,
            .stack = stack);
        /* No two parts are alike. */
        ADD(&builder, 1, ann, t + busy + t / 100000, monitor_contended_entered, .lock = lock);
    }
    struct trace *trace = builder_open(&builder, LENGTH);
    cr_assert_eq(conclude_run(&analysis, trace, &err), 0, "%s", err.msg);
    cr_assert_eq(summary_make(out, analysis, &err), 0);
    analysis_free(analysis);
    trace_close(trace);
}

static struct compare_row *rows;
static size_t n;
static struct arena arena;

static struct summary a, b;

static void release(void)
{
    summary_fini(&a);
    summary_fini(&b);
    arena_fini(&arena);
}

TestSuite(compare, .fini = release);

static void run(const char *class_a, uint64_t busy_a, const char *class_b, uint64_t busy_b)
{
    release();
    arena_init(&arena, 0);
    record(&a, class_a, busy_a);
    record(&b, class_b, busy_b);
    cr_assert_eq(compare(&a, &b, &arena, &rows, &n), 0);
}

static const struct compare_row *row(enum compare_kind kind, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (rows[i].kind == kind && strcmp(rows[i].name, name) == 0)
            return &rows[i];
    cr_assert_fail("no row %s", name);
    return NULL;
}

Test(compare, better_and_worse)
{
    run("Lshop/Order;", 800000, "Lshop/Order;", 100000);
    const struct compare_row *r = row(COMPARE_RESOURCE, "shop.Order");
    cr_assert_eq(r->verdict, COMPARE_BETTER);
    cr_assert_eq(r->a.count, 16);
    cr_assert_float_eq(r->a.threads, 0.8, 0.001);
    cr_assert_float_eq(r->b.threads, 0.1, 0.001);
    cr_assert_lt(r->p, 0.0001);
    cr_assert_eq(row(COMPARE_PLACE, "shop.Order.submit (Order.java:88)")->verdict, COMPARE_BETTER);
    cr_assert_eq(row(COMPARE_STATE, "blocked")->verdict, COMPARE_BETTER);
    cr_assert_eq(row(COMPARE_STATE, "running")->verdict, COMPARE_OTHER);
    run("Lshop/Order;", 100000, "Lshop/Order;", 800000);
    cr_assert_eq(row(COMPARE_RESOURCE, "shop.Order")->verdict, COMPARE_WORSE);
}

Test(compare, the_same)
{
    run("Lshop/Order;", 500000, "Lshop/Order;", 510000);
    cr_assert_eq(row(COMPARE_RESOURCE, "shop.Order")->verdict, COMPARE_SAME);
    cr_assert_eq(row(COMPARE_STATE, "blocked")->verdict, COMPARE_SAME);
}

Test(compare, new_and_gone)
{
    run("Lshop/Order;", 500000, "Lshop/Stock;", 500000);
    cr_assert_eq(row(COMPARE_RESOURCE, "shop.Order")->b.count, 0);
    cr_assert_eq(row(COMPARE_RESOURCE, "shop.Order")->verdict, COMPARE_BETTER);
    cr_assert_eq(row(COMPARE_RESOURCE, "shop.Stock")->a.count, 0);
    cr_assert_eq(row(COMPARE_RESOURCE, "shop.Stock")->verdict, COMPARE_WORSE);
}

/* The values that scipy.stats.mannwhitneyu(method='asymptotic') gives. */
Test(compare, ranks)
{
    const double low[] = {1, 2, 3, 4}, high[] = {5, 6, 7, 8}, mixed[] = {1, 6, 3, 8};
    cr_assert_float_eq(compare_ranks(low, high, 4), 0.03038, 0.0001);
    cr_assert_float_eq(compare_ranks(low, low, 4), 1, 0.0001);
    cr_assert_float_eq(compare_ranks(low, mixed, 4), 0.46512, 0.0001);
    const double same[] = {2, 2, 2, 2};
    cr_assert_float_eq(compare_ranks(same, same, 4), 1, 0.0001);
}

/* A change in only one part may be chance. */
Test(compare, one_outlier_is_noise)
{
    double flat[COMPARE_SLICES] = {0}, peak[COMPARE_SLICES] = {0};
    peak[7] = 1000;
    cr_assert_gt(compare_ranks(flat, peak, COMPARE_SLICES), COMPARE_P);
}

/* The analysis that has the resources is gone by then. */
Test(compare, findings_that_are_kept_refer_to_no_resource)
{
    run("Lshop/Order;", 800000, "Lshop/Order;", 800000);
    cr_assert_gt(a.n_findings, 0);
    for (size_t i = 0; i < a.n_findings; i++)
        cr_assert(!a.findings[i].resource && !a.findings[i].resources);
}

/* What was the dominant lock in A may be one of several in B: it is in both. */
Test(compare, a_finding_of_a_resource_is_in_both_whatever_its_rule)
{
    size_t i = 0;
    run("Lshop/Order;", 800000, "Lshop/Stock;", 800000);
    while (i < a.n_findings && strcmp(a.findings[i].rule, "dominant-lock") != 0)
        i++;
    cr_assert_lt(i, a.n_findings);
    cr_assert_str_not_empty(a.about[i]);
    cr_assert(summary_has_finding(&a, "contended-lock", a.about[i]));
    cr_assert_not(summary_has_finding(&b, "dominant-lock", a.about[i]));
    cr_assert_not(summary_has_finding(&a, "dominant-lock", ""));
}

/* Findings about the heap as a whole. */
#include "analyzed.h"
#include "conclude/rules.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { MS = 1000000, MB = 1 << 20 };

static gc_name_id full;

static void begin(void)
{
    analyzed_begin();
    full = builder_gc_name(&b, "Serial full collection");
}

TestSuite(heap_rules, .init = begin, .fini = analyzed_end);

static void collect(uint64_t ms, uint64_t paused_ms, uint64_t used)
{
    ADD(&b, 8, (thread_id){0}, ms * MS, gc_start, .used = UINT64_C(62) * MB);
    ADD(&b, 8, (thread_id){0}, (ms + paused_ms) * MS, gc_finish, .collector = full,
        .used = used * MB, .committed = UINT64_C(64) * MB);
}

static struct rule_finding *f;
static size_t n;

static void run(void)
{
    analyzed_run(2000 * UINT64_C(1000000));
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
}

/* The text of the rule's finding, "" of none. */
static const char *found(const char *rule)
{
    static char text[FINDING_TEXT];
    *text = 0;
    for (size_t i = 0; i < n; i++)
        if (strcmp(f[i].rule, rule) == 0)
            snprintf(text, sizeof text, "%s", f[i].text);
    return text;
}

Test(heap_rules, collections_that_leave_most_of_the_heap_are_a_finding)
{
    for (uint64_t i = 0; i < 10; i++)
        collect(1000 + i * 100, 40, 48 + i % 3);
    run();
    cr_assert_str_eq(
        found("heap-nearly-full"),
        "The heap is nearly full: collections paused the program for 40 % of 1.00 s (10 pauses, "
        "longest 40.0 ms); each left at least 48 MB of 64 MB in use; try: give the program a larger "
        "heap, or look at what keeps the objects alive with orca heap dump PID");
}

Test(heap_rules, a_heap_that_becomes_empty_again_is_not_full)
{
    for (uint64_t i = 0; i < 10; i++)
        collect(1000 + i * 100, 40, i == 8 ? 20 : 48);
    run();
    cr_assert_str_eq(found("heap-nearly-full"), "");
    cr_assert(strstr(found("gc-pauses"), "collections paused the program for 20 % of 2.00 s"));
}

Test(heap_rules, a_full_heap_that_costs_nothing_is_no_finding)
{
    for (uint64_t i = 0; i < 10; i++)
        collect(1000 + i * 100, 2, 48);
    run();
    cr_assert_str_eq(found("heap-nearly-full"), "");
    cr_assert_str_eq(found("gc-pauses"), "");
}

Test(heap_rules, one_cause_is_one_finding)
{
    for (uint64_t i = 0; i < 20; i++)
        collect(100 + i * 90, 40, 50);
    run();
    cr_assert_str_neq(found("heap-nearly-full"), "");
    cr_assert_str_eq(found("gc-pauses"), "");
}

Test(heap_rules, threads_without_memory_are_a_full_heap_whatever_the_pauses)
{
    gc_name_id stall = builder_gc_name(&b, "Allocation Stall");
    for (uint64_t i = 0; i < 5; i++)
        ADD(&b, 8, (thread_id){0}, (100 + i * 100) * MS, gc_cycle, .collector = full,
            .cause = stall, .since = at((50 + i * 100) * MS), .until = at((90 + i * 100) * MS));
    run();
    cr_assert(strstr(found("heap-nearly-full"), "in 5 of 5 pauses and cycles"));
}

/* --- growth ----------------------------------------------------------------------------------- */

static void grow(uint64_t first, uint64_t each, uint64_t drop)
{
    for (uint64_t i = 0; i < 24; i++)
        collect(100 + i * 70, 1, first + i * each / 4 - (i == 18 ? drop : 0));
    run();
}

Test(heap_rules, what_collections_leave_grows_until_the_heap_is_full)
{
    grow(12, 8, 0);
    cr_assert_str_eq(f[0].rule, "leak-suspect");
    cr_assert_eq(f[0].severity, SEVERITY_PROBLEM);
    cr_assert_str_eq(
        f[0].text,
        "The heap in use after collections grows: from 24 MB to 58 MB of 64 MB; in 1.19 s, "
        "over 18 collections: 29 MB per second; at this rate the heap is full in "
        "210 ms; try: look at what keeps the objects alive with orca heap dump PID; "
        "rerun: with --alloc 512k to see which objects these are, and where they come "
        "from");
}

Test(heap_rules, a_heap_with_much_room_may_fill_with_what_will_be_garbage)
{
    grow(4, 4, 0);
    cr_assert_str_neq(found("leak-suspect"), "");
    for (size_t i = 0; i < n; i++)
        cr_assert_eq(f[i].severity, SEVERITY_INFO);
}

Test(heap_rules, a_heap_that_becomes_emptier_does_not_grow)
{
    grow(12, 8, 24);
    cr_assert_str_eq(found("leak-suspect"), "");
}

Test(heap_rules, a_heap_that_hardly_grows_is_not_told)
{
    grow(40, 2, 0);
    cr_assert_str_eq(found("leak-suspect"), "");
}

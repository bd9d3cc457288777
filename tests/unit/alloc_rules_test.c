/* alloc_rules_test.c - findings about allocations: they speak of leaks and of hot spots, and are
 * silent about programs that have neither. */
#include "analyzed.h"
#include "conclude/rules.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static void begin(void);
TestSuite(alloc_rules, .init = begin, .fini = analyzed_end);

enum { ROUND = 1000000 /* ns */ };

static class_id entry;
static uint64_t number;
static gc_name_id full; /* 0: the pauses are of a collector that tells no kind */

static void begin(void)
{
    analyzed_begin();
    full = builder_gc_name(&b, "Serial full collection");
}

static void takes_at(uint64_t time, uint64_t size, stack_id at_stack, uint64_t weight)
{
    number++;
    if (weight)
        ADD(&b, 1, ann, time, object_sample, .object = number, .class_ = entry, .size = size,
            .stack = at_stack, .weight = weight);
    else
        ADD(&b, 1, ann, time, object_alloc, .object = number, .class_ = entry, .size = size,
            .stack = at_stack);
}

static void ends_at(uint64_t time, uint64_t since, uint64_t size, stack_id at_stack,
                    uint64_t weight)
{
    ADD(&b, 9, (thread_id){0}, time, object_free, .object = 1, .class_ = entry, .size = size,
        .stack = at_stack, .since = at(since), .allocated_by = ann, .weight = weight);
}

static void pause_of(uint64_t round)
{
    ADD0(&b, 8, (thread_id){0}, round * ROUND + 500000, gc_start);
    ADD(&b, 8, (thread_id){0}, round * ROUND + 510000, gc_finish, .collector = full);
}

/* `keep` of each round's ten objects are there for ever, the others until the next collection. */
static void run_rounds(uint64_t rounds, uint64_t keep, uint64_t weight)
{
    entry = builder_class(&b, "Lshop/Cache$Entry;");
    for (uint64_t i = 0; i < rounds; i++) {
        for (uint64_t k = 0; k < 10; k++)
            takes_at(i * ROUND + k, 4096, stack, weight);
        pause_of(i);
        for (uint64_t k = keep; k < 10; k++)
            ends_at(i * ROUND + 600000 + k, i * ROUND + k, 4096, stack, weight);
    }
    analyzed_run(rounds * ROUND);
}

Test(alloc_rules, a_leak)
{
    run_rounds(40, 2, 0);
    const struct rule_finding *f = finding_of("leak-suspect");
    cr_assert(f);
    cr_assert_eq(f->severity, SEVERITY_WARNING);
    cr_assert_eq(f->stacks.n, 1);
    cr_assert_eq(f->stacks.v[0], stack.v);
    cr_assert(strstr(f->text, "shop.Cache$Entry in Order.submit (Order.java:88)"), "%s", f->text);
    cr_assert(strstr(f->text, "8.0 kB per collection"), "%s", f->text);
    cr_assert(strstr(f->text, "the oldest 40"), "%s", f->text);
}

/* What leaks stands beside the heap; what fills it is why it is full: one cause, one finding. */
static void leak_in(uint64_t used, uint64_t pause_ms)
{
    const uint64_t round = UINT64_C(100) * 1000000;
    entry = builder_class(&b, "Lshop/Cache$Entry;");
    for (uint64_t i = 0; i < 20; i++) {
        for (uint64_t k = 0; k < 16; k++)
            takes_at(i * round + k, 65536, stack, 0); /* 1 MB a round */
        ADD(&b, 8, (thread_id){0}, i * round + 1000000, gc_start, .used = used);
        ADD(&b, 8, (thread_id){0}, i * round + (1 + pause_ms) * 1000000, gc_finish,
            .collector = full, .used = used, .committed = UINT64_C(64) << 20);
    }
    analyzed_run(20 * round);
}

Test(alloc_rules, a_leak_beside_the_heap_in_use)
{
    leak_in(UINT64_C(60) << 20, 1);
    const struct rule_finding *f = finding_of("leak-suspect");
    cr_assert(f);
    cr_assert(strstr(f->text, "; 20 MB of the 60 MB in use after the last collection (33 %)"), "%s",
              f->text);
    cr_assert(!strstr(f->text, "nearly full"));
}

Test(alloc_rules, a_leak_that_fills_the_heap)
{
    leak_in(UINT64_C(48) << 20, 40);
    const struct rule_finding *f = finding_of("leak-suspect");
    cr_assert(f);
    cr_assert_eq(f->severity, SEVERITY_PROBLEM);
    cr_assert(strstr(f->text, "20 MB of the 48 MB in use"), "%s", f->text);
    cr_assert(strstr(f->text, "the heap is nearly full: collections paused the program for 40 %"),
              "%s", f->text);
    cr_assert_null(finding_of("heap-nearly-full"));
}

Test(alloc_rules, a_small_leak_does_not_fill_the_heap)
{
    leak_in(UINT64_C(62) << 20, 40);
    cr_assert(finding_of("leak-suspect"));
    cr_assert(finding_of("heap-nearly-full"));
}

/* What young collections leave may be old, and dead. */
Test(alloc_rules, old_or_a_leak)
{
    full = (gc_name_id){0};
    run_rounds(40, 2, 0);
    const struct rule_finding *f = finding_of("leak-suspect");
    cr_assert(f);
    cr_assert_eq(f->severity, SEVERITY_INFO);
    cr_assert(strstr(f->text, "no full collection ran"), "%s", f->text);
}

Test(alloc_rules, a_steady_program)
{
    run_rounds(40, 0, 0);
    cr_assert_null(finding_of("leak-suspect"));
}

Test(alloc_rules, a_sampled_leak)
{
    run_rounds(40, 4, 524288);
    const struct rule_finding *f = finding_of("leak-suspect");
    cr_assert(f);
    cr_assert(strstr(f->text, "estimated from 160 samples, +- 8 %"), "%s", f->text);
}

/* Twelve samples may come together by chance. */
Test(alloc_rules, too_few_samples)
{
    entry = builder_class(&b, "Lshop/Cache$Entry;");
    for (uint64_t i = 0; i < 24; i++) {
        if (i % 2 == 0)
            takes_at(i * ROUND, 4096, stack, 524288);
        pause_of(i);
    }
    analyzed_run(24 * (uint64_t)ROUND);
    cr_assert_null(finding_of("leak-suspect"));
}

/* What is made once, late, is more from then on, and no leak. */
Test(alloc_rules, a_step)
{
    entry = builder_class(&b, "Lshop/Cache$Entry;");
    for (uint64_t i = 0; i < 40; i++) {
        if (i == 0 || i == 22)
            takes_at(i * ROUND, 1 << 20, stack, 0);
        pause_of(i);
    }
    analyzed_run(40 * (uint64_t)ROUND);
    cr_assert_null(finding_of("leak-suspect"));
}

/* A cache that is full after a while. */
Test(alloc_rules, a_cache_that_fills)
{
    entry = builder_class(&b, "Lshop/Cache$Entry;");
    for (uint64_t i = 0; i < 40; i++) {
        takes_at(i * ROUND, 65536, stack, 0);
        pause_of(i);
        if (i >= 8)
            ends_at(i * ROUND + 600000, (i - 8) * ROUND, 65536, stack, 0);
    }
    analyzed_run(40 * (uint64_t)ROUND);
    cr_assert_null(finding_of("leak-suspect"));
}

/* What only every eighth collection looks at grows in between. */
Test(alloc_rules, a_saw)
{
    entry = builder_class(&b, "Lshop/Cache$Entry;");
    for (uint64_t i = 0; i < 48; i++) {
        takes_at(i * ROUND, 65536, stack, 0);
        pause_of(i);
        for (uint64_t k = 0; i % 8 == 7 && k < 8; k++)
            ends_at(i * ROUND + 600000 + k, (i - 7 + k) * ROUND, 65536, stack, 0);
    }
    analyzed_run(48 * (uint64_t)ROUND);
    cr_assert_null(finding_of("leak-suspect"));
}

/* Each place by itself is too small. */
Test(alloc_rules, a_class_that_leaks_in_many_places)
{
    char frames[64];
    entry = builder_class(&b, "Lshop/Cache$Entry;");
    for (uint64_t i = 0; i < 40; i++) {
        snprintf(frames, sizeof frames, "shop.Cache.put:%d shop.Main.main:1", (int)i + 1);
        takes_at(i * ROUND, 4096, builder_stack(&b, frames), 0);
        pause_of(i);
    }
    analyzed_run(40 * (uint64_t)ROUND);
    const struct rule_finding *f = finding_of("leak-suspect");
    cr_assert(f);
    cr_assert_eq(f->stacks.n, 0);
    cr_assert_eq(strncmp(f->text, "shop.Cache$Entry: survivors of", 30), 0, "%s", f->text);
}

Test(alloc_rules, a_hot_spot)
{
    entry = builder_class(&b, "[B");
    ADD(&b, 1, ann, 1000000000, object_allocs, .class_ = entry, .stack = stack, .count = 1000,
        .bytes = 100 << 20, .since = at(0));
    ADD(&b, 1, ann, 1000000000, object_allocs, .class_ = entry, .stack = other_stack, .count = 10,
        .bytes = 5 << 20, .since = at(0));
    analyzed_run(1000000000);
    const struct rule_finding *f = finding_of("allocation-hot-spot");
    cr_assert(f);
    cr_assert_eq(f->severity, SEVERITY_INFO);
    cr_assert_eq(f->stacks.v[0], stack.v);
    cr_assert(strstr(f->text, "byte[] in Order.submit (Order.java:88)"), "%s", f->text);
    cr_assert(strstr(f->text, "95 % of all allocated bytes"), "%s", f->text);
}

Test(alloc_rules, little_is_no_hot_spot)
{
    entry = builder_class(&b, "[B");
    ADD(&b, 1, ann, 1000000000, object_allocs, .class_ = entry, .stack = stack, .count = 1000,
        .bytes = 5 << 20, .since = at(0));
    analyzed_run(1000000000);
    cr_assert_null(finding_of("allocation-hot-spot"));
}

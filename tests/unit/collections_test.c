/* Pauses and cycles of collectors as collections. */
#include "analyze/collections.h"

#include "analyzed.h"

#include <criterion/criterion.h>
#include <stdio.h>

enum { MS = 1000000, MB = 1 << 20 };

static const thread_id nobody = {0};

TestSuite(collections, .init = analyzed_begin, .fini = analyzed_end);

/* A pause on the VM thread's stream; sizes in MB. */
static void pause(uint64_t from, uint64_t to, gc_name_id collector, gc_name_id cause,
                  uint64_t before, uint64_t used)
{
    ADD(&b, 3, nobody, from, gc_start, .used = before * MB);
    ADD(&b, 3, nobody, to, gc_finish, .collector = collector, .cause = cause, .used = used * MB,
        .committed = UINT64_C(200) * MB);
}

static void cycle(uint64_t from, uint64_t to, gc_name_id collector, gc_name_id cause)
{
    ADD(&b, 4, nobody, to, gc_cycle, .collector = collector, .cause = cause, .since = at(from),
        .until = at(to), .before = UINT64_C(80) * MB, .used = UINT64_C(30) * MB,
        .committed = UINT64_C(200) * MB);
}

static const struct collection *collection(size_t i)
{
    cr_assert_lt(i, a->collections.n);
    return &a->collections.v[i];
}

static const struct collection_sum *sum(size_t i)
{
    cr_assert_lt(i, a->collections.n_sums);
    return &a->collections.sum[i];
}

Test(collections, a_stop_the_world_collection_is_its_pause)
{
    gc_name_id young = builder_gc_name(&b, "G1 young collection"),
               why = builder_gc_name(&b, "G1 Evacuation Pause");
    pause(10 * MS, 13 * MS, young, why, 100, 40);
    analyzed_run(50 * MS);
    cr_assert_eq(a->collections.n, 1);
    const struct collection *c = collection(0);
    cr_assert_eq(c->kind, COLLECTION_PAUSE);
    cr_assert_eq(since(c->start), 10 * MS);
    cr_assert_eq(c->pause_ns, 3 * MS);
    cr_assert_eq(c->gc.before, UINT64_C(100) * MB);
    cr_assert_eq(c->gc.used, UINT64_C(40) * MB);
    cr_assert_eq(c->gc.committed, UINT64_C(200) * MB);
    cr_assert_str_eq(sum(0)->collector, "G1 young collection");
    cr_assert_str_eq(sum(0)->cause, "G1 Evacuation Pause");
    cr_assert_eq(sum(0)->freed, UINT64_C(60) * MB);
}

Test(collections, pauses_of_a_cycle_belong_to_it)
{
    gc_name_id z = builder_gc_name(&b, "Z concurrent cycle"),
               cycles = builder_gc_name(&b, "ZGC Cycles"), why = builder_gc_name(&b, "Warmup");
    pause(10 * MS, 11 * MS, z, why, 80, 80);
    pause(20 * MS, 22 * MS, z, why, 80, 80);
    cycle(10 * MS + 1000, 30 * MS, cycles, why); /* recorded to the millisecond */
    pause(60 * MS, 61 * MS, z, why, 70, 70);
    analyzed_run(100 * MS);
    cr_assert_eq(a->collections.n, 2);
    cr_assert_eq(collection(0)->kind, COLLECTION_CYCLE);
    cr_assert_eq(collection(0)->pauses, 2);
    cr_assert_eq(collection(0)->pause_ns, 3 * MS);
    cr_assert_eq(collection(0)->pause_max, 2 * MS);
    cr_assert_eq(a->collections.of_pause[1], 0);
    cr_assert_eq(collection(1)->kind, COLLECTION_PART); /* of a cycle that had not ended */
    cr_assert_eq(a->collections.of_pause[2], 1);
}

Test(collections, young_and_old_cycles_overlap)
{
    gc_name_id unknown = {0}, minor = builder_gc_name(&b, "ZGC minor collection"),
               major = builder_gc_name(&b, "ZGC major collection"),
               young = builder_gc_name(&b, "ZGC Minor Cycles"),
               old = builder_gc_name(&b, "ZGC Major Cycles"),
               rate = builder_gc_name(&b, "Allocation Rate"),
               system = builder_gc_name(&b, "System.gc()");
    pause(20 * MS, 21 * MS, minor, unknown, 0, 0);
    pause(25 * MS, 26 * MS, major, unknown, 0, 0);
    cycle(20 * MS, 30 * MS, young, rate);
    cycle(10 * MS, 90 * MS, old, system);
    analyzed_run(100 * MS);
    cr_assert_eq(a->collections.n, 2);
    cr_assert_str_eq(collections_cause(&a->collections, t, 0), "Allocation Rate");
    cr_assert_str_eq(collections_cause(&a->collections, t, 1), "System.gc()");
}

Test(collections, a_pause_beside_a_cycle_is_not_of_it)
{
    gc_name_id z = builder_gc_name(&b, "Z concurrent cycle"),
               why = builder_gc_name(&b, "Proactive");
    cycle(10 * MS, 20 * MS, builder_gc_name(&b, "ZGC Cycles"), why);
    pause(30 * MS, 31 * MS, z, why, 10, 10);
    analyzed_run(100 * MS);
    cr_assert_eq(a->collections.n, 2);
    cr_assert_eq(collection(0)->pauses, 0);
}

Test(collections, marking_of_g1_is_told_by_its_pauses)
{
    gc_name_id marking = builder_gc_name(&b, "G1 concurrent cycle"), unknown = {0};
    pause(10 * MS, 11 * MS, marking, unknown, 90, 90);
    pause(15 * MS, 16 * MS, marking, unknown, 90, 80);
    analyzed_run(100 * MS);
    cr_assert_eq(a->collections.n_sums, 1);
    cr_assert_eq(sum(0)->kind, COLLECTION_PART);
    cr_assert_eq(sum(0)->pauses, 2);
    cr_assert_str_eq(sum(0)->cause, "?");
}

Test(collections, what_is_allocated_between_them)
{
    gc_name_id young = builder_gc_name(&b, "Serial young collection"),
               why = builder_gc_name(&b, "Allocation Failure");
    pause(100 * MS, 110 * MS, young, why, 100, 40);
    pause(210 * MS, 220 * MS, young, why, 90, 30); /* 50 MB in 100 ms */
    pause(250 * MS, 251 * MS, young, why, 20, 10); /* less than there was: counted in another way */
    analyzed_run(300 * MS);
    cr_assert_eq(a->collections.allocated, UINT64_C(50) * MB);
    cr_assert_eq(a->collections.allocated_ns, 100 * MS);
    cr_assert_eq(collections_rate(&a->collections), UINT64_C(500) * MB);
}

Test(collections, an_older_trace_tells_no_sizes)
{
    ADD0(&b, 3, nobody, 10 * MS, gc_start);
    ADD0(&b, 3, nobody, 12 * MS, gc_finish);
    analyzed_run(100 * MS);
    cr_assert_eq(a->collections.n, 1);
    cr_assert_eq(collection(0)->kind, COLLECTION_PAUSE);
    cr_assert_str_eq(sum(0)->collector, "?");
    cr_assert_eq(sum(0)->sized, 0);
    cr_assert_eq(collections_rate(&a->collections), 0);
}

Test(collections, a_pause_that_had_not_ended)
{
    ADD(&b, 3, nobody, 10 * MS, gc_start, .used = 5 * MB);
    analyzed_run(100 * MS);
    cr_assert_eq(a->collections.n, 1);
    cr_assert_eq(collection(0)->gc.before, 5 * MB);
    cr_assert_eq(collection(0)->gc.used, 0);
    cr_assert_eq(sum(0)->sized, 0);
}

Test(collections, more_kinds_than_a_sound_trace_has)
{
    char text[16];
    for (int i = 0; i < 400; i++) {
        snprintf(text, sizeof text, "cause %d", i);
        pause((uint64_t)(i * 10 + 10), (uint64_t)(i * 10 + 12), (gc_name_id){0},
              builder_gc_name(&b, text), 2, 1);
    }
    analyzed_run(100 * MS);
    uint64_t count = 0;
    for (size_t i = 0; i < a->collections.n_sums; i++)
        count += sum(i)->count;
    cr_assert_eq(count, 400);
}

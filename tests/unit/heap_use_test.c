/* Sums of numbers in memory, and counters: what is not there, or cannot be, is not known. */
#include "hotspot/heap_use.h"

#include "base/guarded.h"
#include "hotspot/gc_counters.h"

#include <criterion/criterion.h>
#include <string.h>

static struct err err;

static void begin(void)
{
    cr_assert_eq(guarded_open(&err), 0, "%s", err.msg);
}

TestSuite(heap_use, .init = begin);

/* A heap of one space, as Serial's: heap -> space -> bottom, top. */
static struct space {
    uintptr_t bottom, top;
} space = {0x10000, 0x18000};
static struct heap {
    uintptr_t unused;
    struct space *space;
} heap = {0, &space};

static struct heap_term term(size_t field, bool minus)
{
    return (struct heap_term){.from = (uintptr_t)&heap,
                              .hops = {offsetof(struct heap, space), (uint32_t)field},
                              .n = 2,
                              .minus = minus};
}

static struct heap_use one_space(void)
{
    return (struct heap_use){.used = {term(offsetof(struct space, top), false),
                                      term(offsetof(struct space, bottom), true)}};
}

Test(heap_use, a_space_holds_what_is_between_its_ends)
{
    struct heap_use h = one_space();
    cr_assert_eq(heap_use_used(&h), 0x8000);
    cr_assert_eq(heap_use_committed(&h), 0, "nothing is known of it");
}

Test(heap_use, a_pointer_to_nowhere)
{
    struct heap_use h = one_space();
    struct space *was = heap.space;
    heap.space = (struct space *)8;
    cr_assert_eq(heap_use_used(&h), 0);
    heap.space = was;
}

Test(heap_use, a_top_below_the_bottom_is_no_size)
{
    struct heap_use h = one_space();
    uintptr_t was = space.top;
    space.top = space.bottom - 1;
    cr_assert_eq(heap_use_used(&h), 0);
    space.top = was;
}

Test(heap_use, the_kind_of_a_pause_is_that_whose_time_changed_last)
{
    uint64_t entered[2] = {5, 9};
    struct gc_counters c;
    memset(&c, 0, sizeof c);
    for (int i = 0; i < 2; i++) {
        strcpy(c.kinds[i].name, i ? "full" : "young");
        c.kinds[i].entered = (uintptr_t)&entered[i];
    }
    cr_assert_eq(gc_counters_kind(&c), 1);
    cr_assert_eq(gc_counters_kind(&c), -1, "no pause since");
    entered[0] = 10;
    cr_assert_eq(gc_counters_kind(&c), 0);
    entered[0] = 12;
    entered[1] = 11; /* a full collection inside of the same pause began before */
    cr_assert_eq(gc_counters_kind(&c), 0);
}

Test(heap_use, a_cause)
{
    static char now[] = "No GC", last[] = "System.gc()";
    char text[GC_TEXT], endless[2 * GC_TEXT];
    struct gc_counters c = {.cause = (uintptr_t)now, .last_cause = (uintptr_t)last};
    cr_assert_not(gc_counters_cause(&c, text), "none goes on");
    cr_assert(gc_counters_last_cause(&c, text));
    cr_assert_str_eq(text, "System.gc()");
    memset(endless, 'x', sizeof endless);
    c.cause = (uintptr_t)endless;
    cr_assert(gc_counters_cause(&c, text));
    cr_assert_eq(strlen(text), GC_TEXT - 1, "cut");
    c.cause = 8;
    cr_assert_not(gc_counters_cause(&c, text), "not mapped");
    c.cause = 0;
    cr_assert_not(gc_counters_cause(&c, text), "not there");
}

/* A trail tells of the stack that it was made of, or nothing: against words that change, and with
 * more trails than there is room for. */
#include "agent/alloc_trails.h"
#include "base/guarded.h"
#include "base/util.h"
#include "hotspot/run.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { STACK = 4096, ROUNDS = 200000, PLACES = 300 };

static uintptr_t stack[STACK];
static struct walker *walker;
static struct alloc_trails *trails;

static void begin(void)
{
    static const struct layout layout;
    static const struct interpreter interpreter;
    struct err err;
    cr_assert_eq(guarded_open(&err), 0);
    cr_assert_eq(walker_new(&walker, &layout, &interpreter), 0);
    trails = alloc_trails_new();
    cr_assert(trails);
}

static void end(void)
{
    alloc_trails_free(trails);
    walker_close(walker);
}

TestSuite(alloc_trails, .init = begin, .fini = end);

/* A walk from word `from` that reads n words: what they are is what its stack is. */
static stack_id walked(struct trail *t, uint32_t from, uint32_t n, uintptr_t pc)
{
    uint32_t id = 1;
    trail_begin(t, (uintptr_t)&stack[from], pc);
    for (uint32_t i = 0; i < n; i++) {
        trail_put_word(t, (uintptr_t)&stack[from + i], stack[from + i]);
        id = id * 31 + (uint32_t)stack[from + i];
    }
    return (stack_id){id | 1u << 31};
}

struct place {
    uint32_t from, n;
    uintptr_t pc;
    class_id object;
};

/* What stacks_of_allocation does; the id, and whether a trail told it. */
static stack_id at(const struct place *p, bool *told)
{
    static struct trail t;
    struct alloc_here here = {.from = {(uintptr_t)&stack[p->from], p->pc}, .object = p->object};
    stack_id id = alloc_trails_find(trails, walker, &here);
    *told = id.v != 0;
    if (*told)
        return id;
    id = walked(&t, p->from, p->n, p->pc);
    if (here.again)
        alloc_trails_put(trails, &here, &t, id);
    return id;
}

Test(alloc_trails, a_place_is_told_from_the_third_time_on)
{
    const struct place p = {10, 20, 0x1000, {3}};
    bool told;
    stack_id first = at(&p, &told);
    cr_assert(!told);
    at(&p, &told);
    cr_assert(!told);
    cr_assert_eq(at(&p, &told).v, first.v);
    cr_assert(told);
    stack[10 + 19]++;
    cr_assert_neq(at(&p, &told).v, first.v);
    cr_assert(!told);
    at(&p, &told);
    cr_assert(told);
}

Test(alloc_trails, another_class_or_place_is_another_stack)
{
    static const struct place places[] = {
        {10, 20, 0x1000, {3}}, {10, 20, 0x1000, {4}}, {10, 20, 0x1008, {3}}, {11, 20, 0x1000, {3}}};
    bool told;
    for (int round = 0; round < 2; round++)
        at(&places[0], &told);
    for (size_t i = 1; i < ARRAY_LEN(places); i++) {
        at(&places[i], &told);
        cr_assert(!told);
    }
    at(&places[0], &told);
    cr_assert(told);
}

Test(alloc_trails, what_a_trail_tells_is_what_a_walk_finds)
{
    static struct place places[PLACES];
    static struct trail t;
    uint64_t told_n = 0;
    srand(1);
    for (uint32_t i = 0; i < PLACES; i++)
        places[i] = (struct place){(uint32_t)rand() % 1000,
                                   1 + (uint32_t)rand() % 200,
                                   0x1000 + (uintptr_t)(rand() % 50) * 8,
                                   {(uint32_t)rand() % 5}};
    for (uint32_t i = 0; i < ROUNDS; i++) {
        /* a few places most of the time, as programs have them */
        const struct place *p = &places[rand() % 4 ? rand() % 20 : rand() % PLACES];
        bool told;
        if (rand() % 100 == 0)
            stack[rand() % 1200] += (uintptr_t)rand() % 3;
        stack_id id = at(p, &told);
        told_n += told;
        cr_assert_eq(id.v, walked(&t, p->from, p->n, p->pc).v);
    }
    cr_assert_gt(told_n, ROUNDS / 10);
}

/* A trail that is too long, or went where it may not, is none. */
Test(alloc_trails, a_broken_trail_is_not_kept)
{
    static struct trail t;
    struct alloc_here here = {.from = {(uintptr_t)stack, 1}};
    alloc_trails_find(trails, walker, &here);
    walked(&t, 0, TRAIL_WORDS + 1, 1);
    cr_assert(t.broken);
    cr_assert_eq(trail_bytes(&t), 0);
    alloc_trails_put(trails, &here, &t, (stack_id){7});
    cr_assert_eq(alloc_trails_find(trails, walker, &here).v, 0);
    walked(&t, 0, TRAIL_WORDS, 1);
    alloc_trails_put(trails, &here, &t, (stack_id){7});
    cr_assert_eq(alloc_trails_find(trails, walker, &here).v, 7);
    trail_break(&t);
    cr_assert_eq(trail_bytes(&t), 0);
    trail_begin(&t, (uintptr_t)stack, 1);
    trail_put_method(&t, 0x1000, 0);
    cr_assert(t.broken);
}

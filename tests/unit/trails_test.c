/* A trail tells of the stack that it was made of, or nothing: against words that change, and with
 * more trails than there is room for. */
#include "agent/trails.h"
#include "base/guarded.h"
#include "base/util.h"
#include "hotspot/run.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { STACK = 4096, ROUNDS = 200000, PLACES = 300 };

static uintptr_t stack[STACK];
static struct walker *walker;
static struct trails *trails;

static void begin(void)
{
    static const struct layout layout;
    static const struct interpreter interpreter;
    struct err err;
    cr_assert_eq(guarded_open(&err), 0);
    cr_assert_eq(walker_new(&walker, &layout, &interpreter), 0);
    trails = trails_new();
    cr_assert(trails);
}

static void end(void)
{
    trails_free(trails);
    walker_close(walker);
}

TestSuite(trails, .init = begin, .fini = end);

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

/* What stacks.c does; the id, and whether it came from a trail. */
static stack_id at(const struct place *p, bool *told)
{
    static struct trail t;
    struct trail_place here = {.from = {(uintptr_t)&stack[p->from], p->pc}, .what = p->object.v};
    stack_id id = trails_find(trails, walker, &here);
    *told = id.v != 0;
    if (*told)
        return id;
    id = walked(&t, p->from, p->n, p->pc);
    if (here.again)
        trails_put(trails, &here, &t, id);
    return id;
}

Test(trails, a_place_is_told_from_the_third_time_on)
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

Test(trails, another_class_or_place_is_another_stack)
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

/* What differs further out has a trail each, as threads have that come to one carrier. */
Test(trails, stacks_that_end_alike_are_told_apart)
{
    enum { OTHERS = 3, OUTER = 10 + 19 };
    const struct place p = {10, 20, 0x1000, {3}};
    stack_id ids[OTHERS];
    bool told;
    for (int round = 0; round < 4; round++)
        for (int i = 0; i < OTHERS; i++) {
            stack[OUTER] = (uintptr_t)i;
            stack_id id = at(&p, &told);
            ids[i] = round ? ids[i] : id;
            cr_assert_eq(id.v, ids[i].v);
            cr_assert(round < 2 || told);
        }
}

/* Where each stack is another one, trails are made ever more seldom. */
Test(trails, what_never_comes_back_leaves_few_trails)
{
    static struct trail t;
    int made = 0;
    for (uintptr_t i = 0; i < ROUNDS; i++) {
        struct trail_place here = {.from = {(uintptr_t)stack, 1}};
        stack[0] = i;
        cr_assert_eq(trails_find(trails, walker, &here).v, 0);
        stack_id id = walked(&t, 0, 20, 1);
        if (here.again)
            trails_put(trails, &here, &t, id);
        made += here.again;
    }
    cr_assert_lt(made, 100);
    cr_assert_gt(made, 10);
}

/* Of a chunk in the heap the words count, and how much of it there is; without a walker that knows
 * of chunks they are not mentioned. */
Test(trails, chunks_are_parts)
{
    static struct trail t;
    static _Alignas(uint64_t) unsigned char room[4096];
    struct trail_kept *kept = (void *)room;
    walked(&t, 0, 5, 1);
    trail_put_chunk(&t, 0x1000, 0x1080);
    trail_put_word(&t, 0x1078, 7);
    cr_assert_eq(t.words[5].at, (uintptr_t)-8);
    trail_keep(&t, kept);
    cr_assert_eq(kept->n_parts, 2);
    cr_assert_eq(kept->parts[0].end_words, 5);
    cr_assert_eq(kept->parts[1].end_words, 6);
    cr_assert_eq(kept->parts[1].chunk_bytes, 0x80);
    cr_assert_not(trail_holds(walker, 0, kept));
    for (int i = 0; i < TRAIL_PARTS - 2; i++)
        trail_put_chunk(&t, 0x1000, 0x1080);
    cr_assert(!t.broken);
    trail_put_chunk(&t, 0x1000, 0x1080);
    cr_assert(t.broken);
}

Test(trails, what_a_trail_tells_is_what_a_walk_finds)
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
Test(trails, a_broken_trail_is_not_kept)
{
    static struct trail t;
    struct trail_place here = {.from = {(uintptr_t)stack, 1}};
    trails_find(trails, walker, &here);
    walked(&t, 0, TRAIL_WORDS + 1, 1);
    cr_assert(t.broken);
    cr_assert_eq(trail_bytes(&t), 0);
    trails_put(trails, &here, &t, (stack_id){7});
    cr_assert_eq(trails_find(trails, walker, &here).v, 0);
    walked(&t, 0, TRAIL_WORDS, 1);
    trails_put(trails, &here, &t, (stack_id){7});
    cr_assert_eq(trails_find(trails, walker, &here).v, 7);
    trail_break(&t);
    cr_assert_eq(trail_bytes(&t), 0);
    trail_begin(&t, (uintptr_t)stack, 1);
    trail_put_method(&t, 0x1000, 0);
    cr_assert(t.broken);
}

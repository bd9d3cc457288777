/* Threads that have a thing of a pool and wait for another one of it. */
#include "analyzed.h"
#include "conclude/rules.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(holder_nested, .init = analyzed_begin, .fini = analyzed_end);

enum { MS = 1000000, ROUNDS = 20, ROUND = 100 * MS };

#define PARKED "jdk.internal.misc.Unsafe.park:native java.util.concurrent.locks.LockSupport.park:1 "
#define HIKARI "com.zaxxer.hikari.util.ConcurrentBag.borrow:3 com.zaxxer.hikari.HikariPool.get:2 "
#define OF_NOBODY "com.fast.pool.Bag.borrow:3 com.fast.pool.Pool.get:2 "

static stack_id orders, audit, gives;
static lock_id bag;

static void take_from(const char *pool)
{
    char text[512];
    snprintf(text, sizeof text, PARKED "%sshop.Orders.place:21 shop.Main.main:2", pool);
    orders = builder_stack(&b, text);
    snprintf(text, sizeof text,
             PARKED "%sshop.Audit.write:41 shop.Orders.place:24 shop.Main.main:2", pool);
    audit = builder_stack(&b, text);
    gives = builder_stack(&b, "com.fast.pool.Bag.requite:30 shop.Orders.place:25 shop.Main.main:2");
    bag = builder_lock(&b, builder_class(&b, "Ljava/util/concurrent/SynchronousQueue$Transferer;"));
}

static void waits(thread_id who, uint64_t from, uint64_t to, stack_id in)
{
    ADD(&b, who.v, who, from, park_enter, .lock = bag, .stack = in);
    ADD(&b, who.v, who, to, park_exit, .lock = bag);
}

static void gives_to(thread_id who, thread_id target, uint64_t time)
{
    ADD(&b, who.v, who, time, unpark, .target = target, .stack = gives);
}

static const char *card(uint64_t end)
{
    static char text[FINDING_TEXT + 64];
    struct rule_finding *f;
    size_t n;
    analyzed_run(end);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert(n);
    snprintf(text, sizeof text, "%s: %s", f[0].rule, f[0].text);
    return text;
}

/* By turns ann and bob have the only thing, and in vain wait for another one, or give it back
 * before. */
static const char *by_turns(bool keeps)
{
    const thread_id who[] = {ann, bob};
    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint64_t time = (i + 1) * ROUND;
        thread_id has = who[i % 2], next = who[(i + 1) % 2];
        gives_to(next, has, time - 500000);
        if (i == 0)
            ADD(&b, has.v, has, time - 90 * MS, park_enter, .lock = bag, .stack = orders);
        ADD(&b, has.v, has, time, park_exit, .lock = bag);
        ADD(&b, next.v, next, time + MS, park_enter, .lock = bag, .stack = orders);
        if (!keeps)
            gives_to(has, next,
                     time + 2 * MS); /* who looks again, because another one was faster */
        waits(has, time + 3 * MS, time + 98 * MS, audit);
    }
    return card((ROUNDS + 1) * (uint64_t)ROUND);
}

Test(holder_nested, who_waits_for_another_one_keeps_the_first)
{
    take_from(OF_NOBODY);
    const char *text = by_turns(true);
    cr_assert_not_null(strstr(text, "held by 2 threads, 9"), "%s", text);
    cr_assert_not_null(strstr(text, " % of the time waiting for another one\n") ||
                           strstr(text, " % of the time waiting for another one; "),
                       "%s", text);
    cr_assert_not_null(strstr(text, "Audit.write (Audit.java:41) <- Orders.place (Orders.java:24)"),
                       "%s", text);
    cr_assert_not_null(strstr(text, "let a thread use the one that it has"), "%s", text);
}

Test(holder_nested, who_gives_it_back_before_has_none)
{
    take_from(OF_NOBODY);
    const char *text = by_turns(false);
    cr_assert_null(strstr(text, "another one"), "%s", text);
}

/* Nobody gives anything any more; the first two did not wait for the first one. */
static const char *stuck(void)
{
    for (int i = 0; i < 2; i++)
        ADD(&b, i ? bob.v : ann.v, i ? bob : ann, 10 * MS + (uint64_t)i, park_enter, .lock = bag,
            .stack = audit);
    for (int i = 0; i < 2; i++)
        ADD(&b, i ? dan.v : cat.v, i ? dan : cat, 20 * MS + (uint64_t)i, park_enter, .lock = bag,
            .stack = orders);
    return card(3000 * (uint64_t)MS);
}

Test(holder_nested, a_known_pool_whose_threads_all_wait_for_another_one)
{
    take_from(HIKARI);
    const char *text = stuck();
    cr_assert_not_null(strstr(text, "exhausted-pool: "), "%s", text);
    cr_assert_not_null(strstr(text, "2 in use at once"), "%s", text);
    cr_assert_not_null(strstr(text, "100 % of the time waiting for another one"), "%s", text);
}

/* Though a thread of the pool itself ended what waits there were, as one that makes connections. */
Test(holder_nested, a_known_pool_whose_own_thread_gave_the_first_ones)
{
    take_from(HIKARI);
    thread_id adder = builder_thread(&b, "HikariPool-1:connection-adder");
    waits(ann, MS, 2 * MS, orders);
    waits(bob, MS, 2 * MS, orders);
    gives_to(adder, ann, 2 * MS - 2000);
    gives_to(adder, bob, 2 * MS - 1000);
    const char *text = stuck();
    cr_assert_not_null(strstr(text, "2 in use at once"), "%s", text);
    cr_assert_not_null(strstr(text, "of the time waiting for another one"), "%s", text);
}

/* Nobody knows that it is a pool, and another thread brings most of it. */
Test(holder_nested, what_others_bring_is_not_kept)
{
    take_from(OF_NOBODY);
    thread_id eve = builder_thread(&b, "eve");
    for (uint64_t i = 0; i < 4 * ROUNDS; i++) {
        uint64_t from = 5 * MS + i * 20 * MS;
        waits(cat, from, from + 15 * MS, orders);
        gives_to(eve, cat, from + 15 * MS - 1000);
    }
    const char *text = by_turns(true);
    cr_assert_null(strstr(text, "another one"), "%s", text);
}

/* It may as well be a queue that nobody empties, though once its threads gave to each other. */
Test(holder_nested, of_an_unknown_pool_the_code_alone_says_nothing)
{
    take_from(OF_NOBODY);
    for (uint64_t i = 1; i < 4; i++) {
        waits(ann, 2 * i * MS, (2 * i + 1) * MS, orders);
        gives_to(bob, ann, (2 * i + 1) * MS - 1000);
    }
    const char *text = stuck();
    cr_assert_not_null(strstr(text, "Bag.borrow"), "%s", text);
    cr_assert_null(strstr(text, "another one"), "%s", text);
}

/* Producers put at two places of one method, and never give anything. */
Test(holder_nested, who_puts_twice_has_nothing)
{
    take_from(OF_NOBODY);
    for (uint64_t i = 0; i < ROUNDS; i++)
        for (int k = 0; k < 2; k++) {
            uint64_t time = (2 * i + (uint64_t)k + 1) * ROUND;
            ADD(&b, ann.v, ann, time, park_enter, .lock = bag, .stack = k ? audit : orders);
            gives_to(dan, ann, time + 90 * MS);
            ADD(&b, ann.v, ann, time + 90 * MS + 1000, park_exit, .lock = bag);
        }
    const char *text = card((2 * ROUNDS + 1) * (uint64_t)ROUND);
    cr_assert_null(strstr(text, "another one"), "%s", text);
}

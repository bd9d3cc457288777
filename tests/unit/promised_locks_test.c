/* Locks of a library whose waiters wait for a promise, which a pool of the library keeps: as those of
 * a data grid. */
#include "analyzed.h"
#include "conclude/resource_names.h"
#include "conclude/rules.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(promised_locks, .init = analyzed_begin, .fini = analyzed_end);

enum { MS = 1000000, THREADS = 3, ROUNDS = 30, TURN = 20 * MS };

#define PARKED "jdk.internal.misc.Unsafe.park:native java.util.concurrent.locks.LockSupport.park:1 "
#define TASKS                                                                                      \
    PARKED "java.util.concurrent.ThreadPoolExecutor.getTask:1 "                                    \
           "java.util.concurrent.ThreadPoolExecutor.runWorker:2"
#define WAITS(call)                                                                                \
    PARKED "java.util.concurrent.CompletableFuture.get:3 com.fast.grid.Invocation.join:9 "         \
           "com.fast.grid.Invocation.invoke:5 com.fast.grid.CacheImpl." call ":7 "                 \
           "shop.Stock.reserve:21 shop.Main.main:2"

static uint64_t late; /* how long the library's thread takes to wake */

/* Three threads have the lock by turns, each for a turn, in which it reads an answer. Who gives it
 * back gives the library's thread a task, of so many ns, which wakes the next one. */
static const struct rule_finding *turns(const char *frames, const char *loop, uint64_t work)
{
    const thread_id who[] = {ann, bob, cat};
    thread_id helper = builder_thread(&b, "non-blocking-1");
    stack_id waits = builder_stack(&b, frames), idle = builder_stack(&b, loop);
    stack_id commits = builder_stack(&b, "java.util.concurrent.ThreadPoolExecutor.execute:1 "
                                         "com.fast.grid.CacheImpl.release:5 shop.Stock.done:30 "
                                         "shop.Main.main:2"),
             keeps = builder_stack(&b, "java.util.concurrent.CompletableFuture.complete:2 "
                                       "java.util.concurrent.ThreadPoolExecutor.runWorker:2"),
             reads = builder_stack(&b, "sun.nio.ch.SocketDispatcher.read0:native "
                                       "shop.Delivery.ask:31 shop.Main.main:2");
    uint32_t class_ = builder_class(&b, "Ljava/util/concurrent/CompletableFuture$Signaller;").v;
    lock_id promise[THREADS] = {{0}};
    for (uint64_t i = 0; i < ROUNDS; i++) { /* in round i the lock goes from thread i to i + 1 */
        thread_id has = who[i % THREADS], next = who[(i + 1) % THREADS];
        uint64_t from = MS + i * TURN, to = from + TURN;
        if (i == 0)
            for (int k = 1; k < THREADS; k++) {
                promise[k] = builder_lock(&b, (class_id){class_});
                ADD(&b, who[k].v, who[k], from + k, park_enter, .lock = promise[k], .stack = waits);
            }
        ADD(&b, helper.v, helper, from + 1000, park_enter, .stack = idle);
        ADD(&b, has.v, has, to - 3 * MS - work - late, io, .what = IO_KIND_input, .stack = reads,
            .since = at(from + 2000));
        ADD(&b, has.v, has, to - 2 * MS - work - late, unpark, .target = helper, .stack = commits);
        ADD(&b, helper.v, helper, to - 2 * MS - work + 1000, park_exit);
        ADD(&b, helper.v, helper, to - 2 * MS + 2000, unpark, .target = next, .stack = keeps);
        promise[i % THREADS] = builder_lock(&b, (class_id){class_});
        ADD(&b, has.v, has, to - MS, park_enter, .lock = promise[i % THREADS], .stack = waits);
        ADD(&b, next.v, next, to, park_exit, .lock = promise[(i + 1) % THREADS]);
    }
    struct rule_finding *f;
    size_t n;
    analyzed_run((ROUNDS + 1) * (uint64_t)TURN);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert(n && f[0].resource);
    return &f[0];
}

Test(promised_locks, are_held_by_who_lets_the_pool_keep_the_promise)
{
    const struct rule_finding *f = turns(WAITS("lock"), TASKS, 0);
    cr_assert_eq(f->resource->kind, RESOURCE_THINGS, "%s", f->text);
    cr_assert_not_null(strstr(f->text, "held by 3 threads"), "%s", f->text);
    cr_assert_not_null(strstr(f->text, "% of the time waiting for input"), "%s", f->text);
    cr_assert_not_null(strstr(f->text, "Delivery.ask (Delivery.java:31)"), "%s", f->text);
    cr_assert_str_eq(resource_role(f->resource, a), "lock");
}

Test(promised_locks, are_not_held_by_a_thread_that_wakes_late)
{
    late = 5 * MS;
    const struct rule_finding *f = turns(WAITS("lock"), TASKS, 0);
    cr_assert_not_null(strstr(f->text, "held by 3 threads"), "%s", f->text);
}

Test(promised_locks, what_a_cache_is_told_to_write_is_not_loaded)
{
    const struct rule_finding *f =
        turns(WAITS("put(Ljava/lang/Object;Ljava/lang/Object;)V"), TASKS, 0);
    cr_assert_str_eq(resource_role(f->resource, a), "lock of an entry");
}

/* They read nearer to the root of their stacks than the library's thread waits for tasks: that does
 * not make them servers. */
Test(promised_locks, in_a_loop_of_the_librarys_own)
{
    const struct rule_finding *f =
        turns(WAITS("lock"),
              PARKED "com.fast.grid.Tasks.take:9 com.fast.grid.Partition.work:4 "
                     "com.fast.grid.Partition.run:3",
              0);
    cr_assert_eq(f->resource->kind, RESOURCE_THINGS, "%s", f->text);
    cr_assert_not_null(strstr(f->text, "held by 3 threads"), "%s", f->text);
}

/* The pool works on it for half of the wait: it answers. */
Test(promised_locks, a_pool_that_works_answers)
{
    const struct rule_finding *f = turns(WAITS("lock"), TASKS, 15 * MS);
    cr_assert_eq(f->resource->kind, RESOURCE_ANSWERS, "%s", f->text);
}

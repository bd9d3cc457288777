/* What waits are for: room in a pipe or a queue of the program's own; the next task of a timer. */
#include "analyzed.h"
#include "conclude/resource_names.h"
#include "conclude/rules.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(purpose, .init = analyzed_begin, .fini = analyzed_end);

enum { MS = 1000000, ROUNDS = 20, ROUND = 20 * MS };

#define PIPE "Ljava/io/PipedReader;"
#define WRITES                                                                                     \
    "java.lang.Object.wait0:native java.lang.Object.wait:1 java.io.PipedReader.receive:9 "         \
    "java.io.PipedWriter.write:5 shop.Export.run:21"
#define READS "java.io.PipedReader.read:7 shop.Upload.run:4"

/* ann waits at her own loop; bob sends what he reads.  Who looks again by herself has waits that end
 * by their limit. */
static void writes(const char *class_, const char *frames, const char *reads, bool ended)
{
    lock_id pipe = builder_lock(&b, builder_class(&b, class_));
    stack_id waits = builder_stack(&b, frames), notifies = builder_stack(&b, reads),
             sends = builder_stack(&b, "sun.nio.ch.SocketDispatcher.read0:native "
                                       "shop.Upload.send:31 shop.Upload.run:5");
    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint64_t from = MS + i * ROUND, to = from + 19 * MS;
        ADD(&b, bob.v, bob, to - 1000, io, .what = IO_KIND_input, .stack = sends,
            .since = at(from - 1000));
        ADD(&b, ann.v, ann, from, wait_enter, .lock = pipe, .stack = waits);
        if (ended)
            ADD(&b, bob.v, bob, to - 500, notify_all, .lock = pipe, .stack = notifies);
        ADD(&b, ann.v, ann, to, wait_exit, .lock = pipe, .timed_out = !ended);
    }
    analyzed_run((ROUNDS + 1) * (uint64_t)ROUND);
}

static const struct rule_finding *first_card(void)
{
    struct rule_finding *f;
    size_t n;
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert(n);
    return &f[0];
}

Test(purpose, a_writer_waits_for_the_reader)
{
    writes(PIPE, WRITES, READS, true);
    const struct rule_finding *f = first_card();
    cr_assert_not_null(f->resource, "%s", f->text);
    cr_assert_str_eq(resource_role(f->resource, a), "full pipe");
    cr_assert_not_null(strstr(f->text, "of the time waiting for input"), "%s", f->text);
    cr_assert_not_null(strstr(f->text, "try: make the other end answer faster"), "%s", f->text);
}

Test(purpose, a_writer_that_looks_again_is_not_idle)
{
    writes(PIPE, WRITES, READS, false);
    const struct span *s = span_of(ann, 0);
    cr_assert_eq(a->purposes.of_context[s->context], PURPOSE_PERMIT);
}

Test(purpose, a_queue_of_the_programs_own_that_nobody_empties)
{
    lock_id queue = builder_lock(&b, builder_class(&b, "Lshop/OrderQueue;"));
    ADD(&b, ann.v, ann, MS, wait_enter, .lock = queue,
        .stack = builder_stack(&b, "java.lang.Object.wait0:native java.lang.Object.wait:1 "
                                   "shop.OrderQueue.put:9 shop.Main.main:21"));
    analyzed_run(ROUNDS * (uint64_t)ROUND);
    cr_assert_eq(a->purposes.of_context[span_of(ann, 0)->context], PURPOSE_PERMIT);
}

/* Who reads from an empty pipe has nothing to do. */
Test(purpose, a_reader_is_idle)
{
    writes(PIPE,
           "java.lang.Object.wait0:native java.lang.Object.wait:1 java.io.PipedReader.read:9 "
           "shop.Upload.run:4",
           WRITES, true);
    cr_assert_eq(a->purposes.of_context[span_of(ann, 0)->context], PURPOSE_IDLE);
}

/* ann is a scheduler: bob, whom she gives a task, gives her the next one; each fifth wait lasts until
 * one is due, or none does; each may first return at once for no reason. */
static enum purpose of_scheduler(bool due, bool timed, bool returns)
{
    lock_id on = builder_lock(&b, builder_class(&b, "Lcom/fast/Scheduler;"));
    stack_id waits = builder_stack(&b, "jdk.internal.misc.Unsafe.park:native "
                                       "java.util.concurrent.locks.LockSupport.parkNanos:1 "
                                       "com.fast.Scheduler.run:9"),
             idle = builder_stack(&b, "jdk.internal.misc.Unsafe.park:native "
                                      "java.util.concurrent.locks.LockSupport.park:1 "
                                      "java.util.concurrent.ThreadPoolExecutor.getTask:1 "
                                      "java.util.concurrent.ThreadPoolExecutor.runWorker:2"),
             gives = builder_stack(&b, "com.fast.Scheduler.enqueue:20 com.fast.Job.run:5 "
                                       "java.util.concurrent.ThreadPoolExecutor.runWorker:2");
    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint64_t from = MS + i * ROUND, to = from + 15 * MS;
        ADD(&b, bob.v, bob, from, park_enter, .stack = idle);
        ADD(&b, ann.v, ann, from + MS, unpark, .target = bob, .stack = other_stack);
        ADD(&b, bob.v, bob, from + MS + 1000, park_exit);
        for (int k = 0; k <= returns; k++) {
            ADD(&b, ann.v, ann, from + 2 * MS + (k ? 4000 : 0), park_enter, .lock = on,
                .stack = waits, .timeout_ns = timed ? 13 * MS : 0);
            if (k < returns)
                ADD(&b, ann.v, ann, from + 2 * MS + 3000, park_exit, .lock = on);
        }
        if (!due || i % 5)
            ADD(&b, bob.v, bob, to - 1000, unpark, .target = ann, .stack = gives);
        ADD(&b, ann.v, ann, to, park_exit, .lock = on);
    }
    analyzed_run((ROUNDS + 1) * (uint64_t)ROUND);
    return (enum purpose)a->purposes.of_context[span_of(ann, 0)->context];
}

Test(purpose, a_timer_that_is_given_tasks_by_those_whom_it_wakes_is_idle)
{
    cr_assert_eq(of_scheduler(true, true, false), PURPOSE_IDLE);
}

Test(purpose, who_waits_without_a_limit_is_no_timer)
{
    cr_assert_eq(of_scheduler(true, false, false), PURPOSE_ANSWER);
}

Test(purpose, who_returns_at_once_has_not_waited_until_a_limit)
{
    cr_assert_eq(of_scheduler(false, true, true), PURPOSE_ANSWER);
}

Test(purpose, who_is_always_given_what_it_has_asked_for_waits_for_an_answer)
{
    cr_assert_eq(of_scheduler(false, true, false), PURPOSE_ANSWER);
}

/* Three threads of a pool wait by turns for a promise each; the task is done by another of them, who
 * had been woken for it in each third round. */
static enum purpose of_promises(bool asks)
{
    const thread_id who[] = {builder_thread(&b, "ec-1"), builder_thread(&b, "ec-2"),
                             builder_thread(&b, "ec-3")};
    class_id latch = builder_class(&b, "Lcom/fast/Promise$CompletionLatch;");
    stack_id waits = builder_stack(
                 &b, "jdk.internal.misc.Unsafe.park:native "
                     "java.util.concurrent.locks.LockSupport.park:1 "
                     "java.util.concurrent.locks.AbstractQueuedSynchronizer.acquireShared:2 "
                     "com.fast.Promise.await:4 shop.Basket.total:51 com.fast.Task.run:2"),
             idle = builder_stack(&b, "jdk.internal.misc.Unsafe.park:native "
                                      "java.util.concurrent.ForkJoinPool.awaitWork:3"),
             keeps = builder_stack(&b, "com.fast.Promise.complete:9 com.fast.Worker.work:3");
    for (uint64_t i = 0; i < 2 * ROUNDS; i++) {
        thread_id asker = who[i % 3], does = who[(i + 1) % 3];
        uint64_t from = MS + i * ROUND, to = from + 15 * MS;
        bool wakes = asks && i % 3 == 0;
        lock_id promise = builder_lock(&b, latch);
        if (wakes)
            ADD(&b, does.v, does, from, park_enter, .stack = idle);
        if (wakes)
            ADD(&b, asker.v, asker, from + MS, unpark, .target = does, .stack = other_stack);
        if (wakes)
            ADD(&b, does.v, does, from + MS + 1000, park_exit);
        ADD(&b, asker.v, asker, from + 2 * MS, park_enter, .lock = promise, .stack = waits);
        ADD(&b, does.v, does, to - 1000, unpark, .target = asker, .stack = keeps);
        ADD(&b, asker.v, asker, to, park_exit, .lock = promise);
    }
    analyzed_run((2 * ROUNDS + 1) * (uint64_t)ROUND);
    for (uint32_t i = 0;; i++) {
        const struct span *s = span_of(who[0], i);
        if (timeline_context(&a->timeline, s->context)->stack.v == waits.v)
            return (enum purpose)a->purposes.of_context[s->context];
    }
}

Test(purpose, of_a_busy_pools_promises_those_say_it_for_which_a_thread_was_woken)
{
    cr_assert_eq(of_promises(true), PURPOSE_ANSWER);
}

/* ann waits in the program's own put, inside of a task; who ends that was not asked. */
static enum purpose of_put(const char *descriptor)
{
    char frames[256];
    lock_id store = builder_lock(&b, builder_class(&b, "Lshop/Store;"));
    stack_id sleeps = builder_stack(&b, "java.lang.Thread.sleep:1 shop.Main.main:2");
    snprintf(frames, sizeof frames,
             "java.lang.Object.wait0:native java.lang.Object.wait:1 shop.Store.put%s:9 "
             "shop.Desk.place:21 shop.Main.main:2",
             descriptor);
    stack_id waits = builder_stack(&b, frames);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint64_t from = MS + i * ROUND;
        ADD(&b, ann.v, ann, from, sleep_enter, .stack = sleeps);
        ADD0(&b, ann.v, ann, from + MS, sleep_exit);
        ADD(&b, ann.v, ann, from + 2 * MS, wait_enter, .lock = store, .stack = waits);
        ADD(&b, bob.v, bob, from + 15 * MS, notify_all, .lock = store, .stack = other_stack);
        ADD(&b, ann.v, ann, from + 15 * MS + 1000, wait_exit, .lock = store);
    }
    analyzed_run((ROUNDS + 1) * (uint64_t)ROUND);
    return (enum purpose)a->purposes.of_context[span_of(ann, 1)->context];
}

Test(purpose, a_put_of_an_element_waits_for_room)
{
    cr_assert_eq(of_put("(Ljava/lang/Object;)V"), PURPOSE_PERMIT);
}

Test(purpose, a_put_of_a_key_and_a_value_does_not)
{
    cr_assert_neq(of_put("(Ljava/lang/Object;Ljava/lang/Object;)V"), PURPOSE_PERMIT);
}

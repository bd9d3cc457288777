/* Shapes of real servers, of libraries that nobody knows: what their threads wait for, and what the
 * first screen calls it. */
#include "analyzed.h"
#include "conclude/resource_names.h"
#include "conclude/resource_parts.h"
#include "conclude/rules.h"
#include "conclude/thread_pools.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define THREADS_OF_WEB 3
#define ROUND UINT64_C(10000000)

static struct resources all;
static thread_id web[THREADS_OF_WEB]; /* threads of one pool of the program's */

static void begin(void)
{
    analyzed_begin();
    builder_info(&b, "sun.java.command", "shop.Main");
    for (int i = 0; i < THREADS_OF_WEB; i++) {
        char name[] = {'w', 'e', 'b', '-', (char)('1' + i), 0};
        web[i] = builder_thread(&b, name);
    }
}

TestSuite(servers, .init = begin, .fini = analyzed_end);

static void run(uint64_t end)
{
    analyzed_run(end);
    cr_assert_eq(resources_make(&all, a), 0);
}

static const char *title_of(const struct resource *r)
{
    static char text[256];
    resource_title(r, a, text, sizeof text);
    return text;
}

/* The first finding; NULL: there is none. */
static const struct rule_finding *first_finding(void)
{
    struct rule_finding *f;
    size_t n;
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    return n ? f : NULL;
}

static bool has_finding(const char *rule)
{
    return finding_of(rule) != NULL;
}

static bool says(const char *what)
{
    struct rule_finding *f;
    size_t n;
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    for (size_t i = 0; i < n; i++)
        if (strstr(f[i].text, what))
            return true;
    return false;
}

static lock_id of_class(const char *name)
{
    return builder_lock(&b, builder_class(&b, name));
}

static void parks(thread_id who, thread_id by, uint64_t from, uint64_t to, lock_id on,
                  stack_id take, stack_id give)
{
    ADD(&b, who.v, who, from, park_enter, .lock = on, .stack = take);
    ADD(&b, by.v, by, to - 1000, unpark, .target = who, .stack = give);
    ADD(&b, who.v, who, to, park_exit, .lock = on);
}

/* --- what a thread reads and has asked for ---------------------------------------------------- */

static void does_io(thread_id who, uint64_t from, uint64_t to, uint8_t what, lock_id peer,
                    const char *frames)
{
    ADD(&b, who.v, who, to, io, .what = what, .peer = peer, .stack = builder_stack(&b, frames),
        .since = at(from));
}

/* A thread that does nothing else reads from a peer again and again; it writes to it before each
 * time, too. */
static void reads(const char *peer, bool writes, const char *frames)
{
    lock_id from = of_class(peer);
    for (uint64_t i = 0; i < 20; i++) {
        if (writes)
            does_io(ann, 1000000 + i * ROUND, 1100000 + i * ROUND, IO_KIND_output, from, frames);
        does_io(ann, 1200000 + i * ROUND, 10900000 + i * ROUND, IO_KIND_input, from, frames);
    }
    run(202000000);
}

#define READS "sun.nio.ch.SocketDispatcher.read0:native sun.nio.ch.NioSocketImpl.read:7 "
#define OWN_READ READS "shop.Peer.ask:31 shop.Load.run:5 java.lang.Thread.run:1"
#define LIBRARYS_READ                                                                              \
    READS "org.asynchttpclient.Call.read:31 org.asynchttpclient.Call.run:5 java.lang.Thread.run:1"

Test(servers, who_writes_to_whom_it_reads_from_has_asked)
{
    reads("=10.0.0.7:5432", true, OWN_READ);
    const struct rule_finding *f = first_finding();
    cr_assert_not_null(f);
    cr_assert_str_eq(f->rule, "waits-for-io");
    cr_assert_eq(f->resource->wait_at.line, 31);
}

Test(servers, who_only_reads_at_its_loop_has_nothing_to_do)
{
    reads("=10.0.0.7:5432", false, OWN_READ);
    cr_assert_null(first_finding());
}

Test(servers, who_writes_to_a_client_has_not_asked_for_its_next_request)
{
    reads("=client 10.0.0.7", true, OWN_READ);
    cr_assert_null(first_finding());
}

static uint64_t time_of_ann(enum thread_time time)
{
    uint64_t ns[THREAD_TIMES] = {0};
    thread_times(&all, a, ann.v, ns);
    return ns[time];
}

Test(servers, a_librarys_thread_that_has_asked_waits)
{
    reads("=10.0.0.7:5432", true, LIBRARYS_READ);
    cr_assert_gt(time_of_ann(TIME_WAITING), 180000000);
}

Test(servers, a_librarys_thread_that_only_reads_is_idle)
{
    reads("=10.0.0.7:5432", false, LIBRARYS_READ);
    cr_assert_gt(time_of_ann(TIME_IDLE), 180000000);
}

/* --- what is taken and given back ------------------------------------------------------------- */

#define FUTURE "java.util.concurrent.CompletableFuture.waitingGet:1 "
#define IN_LIMIT "com.fast.Runner.call:7 shop.Desk.ship:21 shop.Load.run:5 java.lang.Thread.run:1"

/* Each of the pool waits for a future of its own, which the one before completes in another method
 * of the same class. */
static void share_a_limit(const char *wait, const char *give)
{
    stack_id take = builder_stack(&b, wait), gives = builder_stack(&b, give);
    for (uint64_t i = 0; i < 30; i++)
        parks(web[i % 3], web[(i + 2) % 3], 1000000 + i * ROUND, 10000000 + i * ROUND,
              of_class("Ljava/util/concurrent/CompletableFuture$Signaller;"), take, gives);
    run(320000000);
}

Test(servers, a_limit_that_completes_futures_is_one)
{
    share_a_limit(FUTURE "com.fast.Limit.enter:7 com.fast.Before.run:3 " IN_LIMIT,
                  "com.fast.Limit.leave:9 com.fast.After.run:4 com.fast.Runner.call:9 "
                  "shop.Desk.ship:21 shop.Load.run:5 java.lang.Thread.run:1");
    cr_assert_eq(all.n, 1);
    cr_assert_eq(all.v[0].kind, RESOURCE_THINGS);
    cr_assert_eq(all.v[0].holder == web[0].v || all.v[0].holder == web[1].v ||
                     all.v[0].holder == web[2].v,
                 true);
}

/* One task waits for another one's promise. */
Test(servers, what_other_tasks_of_the_pool_complete_is_an_answer)
{
    share_a_limit(FUTURE "com.fast.Promise.get:7 shop.Outer.call:3 com.fast.Runner.call:7",
                  "com.fast.Promise.set:9 shop.Inner.call:4 com.fast.Runner.call:7");
    cr_assert_eq(all.n, 1);
    cr_assert_eq(all.v[0].kind, RESOURCE_ANSWERS);
}

/* --- threads of a library between two tasks --------------------------------------------------- */

/* A worker says that it is free, and is given the next task: that is not an answer. */
Test(servers, who_is_given_the_next_task_waits_for_no_answer)
{
    lock_id free = of_class("Ljava/lang/Object;");
    stack_id take = builder_stack(&b, "java.lang.Object.wait:native org.quartz.Worker.run:5"),
             none = builder_stack(&b, "java.lang.Object.wait:native org.quartz.Pool.available:9 "
                                      "org.quartz.Dispatcher.run:4");
    for (uint64_t i = 0; i < 30; i++) {
        uint64_t from = 1000000 + i * ROUND;
        ADD(&b, ann.v, ann, from, wait_enter, .lock = lock, .stack = take);
        ADD(&b, dan.v, dan, from + 1000000, notify_all, .lock = lock, .stack = none);
        ADD(&b, ann.v, ann, from + 1001000, wait_exit, .lock = lock);
        ADD(&b, dan.v, dan, from + 1100000, wait_enter, .lock = free, .stack = none);
        ADD(&b, ann.v, ann, from + 9000000, notify_all, .lock = free,
            .stack = builder_stack(&b, "org.quartz.Pool.give:8 org.quartz.Worker.run:9"));
        ADD(&b, dan.v, dan, from + 9001000, wait_exit, .lock = free);
    }
    run(320000000);
    for (size_t i = 0; i < all.n; i++)
        cr_assert_neq(all.v[i].kind, RESOURCE_ANSWERS);
    cr_assert_eq(wait_is_for_work(a, span_of(ann, 3)->context), true);
}

/* --- harm has a base -------------------------------------------------------------------------- */

/* Twelve times all three are woken, and wait again after 8 us. */
static void wakes_all_for_nothing(void)
{
    for (int k = 0; k < 3; k++)
        ADD(&b, web[k].v, web[k], 1000, wait_enter, .lock = lock, .stack = stack);
    for (uint64_t i = 1; i <= 12; i++) {
        ADD(&b, dan.v, dan, i * 100000, notify_all, .lock = lock, .stack = other_stack);
        for (int k = 0; k < 3; k++) {
            ADD(&b, web[k].v, web[k], i * 100000 + 2000, wait_exit, .lock = lock);
            ADD(&b, web[k].v, web[k], i * 100000 + 8000, wait_enter, .lock = lock, .stack = stack);
        }
    }
}

Test(servers, wake_ups_for_nothing_are_a_finding)
{
    wakes_all_for_nothing();
    run(2000000);
    cr_assert(has_finding("notify-storm"));
}

Test(servers, wake_ups_for_nothing_now_and_then_are_none)
{
    wakes_all_for_nothing();
    run(1000000000);
    cr_assert_not(has_finding("notify-storm"));
}

/* Five times a queue outlives a long hold. */
static void drains_queues(void)
{
    for (uint64_t k = 0; k < 5; k++) {
        uint64_t at = 1000000 + 100000000 * k, us = 10000;
        does_block(bob, at + 50 * us, at + 1000 * us, lock, ann);
        does_block(cat, at + 60 * us, at + 1020 * us, lock, ann);
        for (uint64_t i = 0; i < 4; i++) {
            does_block(bob, at + (1005 + 40 * i) * us, at + (1040 + 40 * i) * us, lock, cat);
            does_block(cat, at + (1025 + 40 * i) * us, at + (1060 + 40 * i) * us, lock, bob);
        }
    }
}

Test(servers, convoys_for_a_small_part_of_the_time_are_no_finding)
{
    drains_queues();
    run(UINT64_C(60000000000));
    cr_assert_eq(queues_of(&a->queues, lock)->convoys, 5);
    cr_assert_null(first_finding());
}

/* --- a notify that nobody heard ------------------------------------------------------------------ */

/* dan notifies, then ann begins to wait, and waits for as long as dan goes on; before that web-1 may
 * have been woken there. */
static bool seems_lost(bool woken, const char *where)
{
    stack_id waits = builder_stack(&b, where);
    if (woken) {
        ADD(&b, web[0].v, web[0], 1000000, wait_enter, .lock = lock, .stack = waits);
        ADD(&b, dan.v, dan, 2000000, notify, .lock = lock, .stack = other_stack);
        ADD(&b, web[0].v, web[0], 2100000, wait_exit, .lock = lock);
    }
    ADD(&b, dan.v, dan, 3000000, notify, .lock = lock, .stack = other_stack);
    ADD(&b, ann.v, ann, 100000000, wait_enter, .lock = lock, .stack = waits);
    does_sleep(dan, 200000000, 4900000000);
    run(5000000000);
    return has_finding("lost-signal");
}

#define WAITS_IN_PROGRAM "java.lang.Object.wait:native shop.Mail.send:7 shop.Main.main:2"

Test(servers, a_notify_before_the_only_wait_seems_lost)
{
    cr_assert(seems_lost(false, WAITS_IN_PROGRAM));
}

Test(servers, where_a_notify_woke_somebody_a_later_waiter_is_idle)
{
    cr_assert_not(seems_lost(true, WAITS_IN_PROGRAM));
}

Test(servers, a_librarys_thread_that_waits_for_a_notify_is_idle)
{
    cr_assert_not(seems_lost(false, "java.lang.Object.wait:native org.quartz.Pool.take:7 "
                                    "org.quartz.Worker.run:2 java.lang.Thread.run:1"));
}

/* --- names ------------------------------------------------------------------------------------ */

Test(servers, a_class_loaders_lock_is_class_loading_and_gets_no_advice)
{
    stack_id load = builder_stack(&b, "jdk.internal.loader.BuiltinClassLoader.loadClassOrNull:5 "
                                      "java.lang.ClassLoader.loadClass:4 shop.Desk.place:21");
    ADD(&b, 1, ann, 1000000, monitor_contended_enter, .lock = lock, .owner = bob, .stack = load);
    ADD(&b, 1, ann, 90000000, monitor_contended_entered, .lock = lock);
    does_sleep(bob, 1100000, 89000000);
    run(100000000);
    cr_assert_str_eq(title_of(&all.v[0]), "class loading");
    cr_assert_str_eq(resource_role(&all.v[0], a), "class loading");
    const struct rule_finding *f = first_finding();
    cr_assert_not_null(f);
    for (uint32_t i = 0; i < f->n_lines; i++)
        cr_assert_neq(f->lines[i].label, CARD_TRY);
}

static void blocks_on_an_object(const char *first, const char *then)
{
    lock_id object = of_class("Ljava/lang/Object;");
    stack_id at_first = builder_stack(&b, first), at_last = builder_stack(&b, then);
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t from = 1000000 + i * ROUND;
        ADD(&b, ann.v, ann, from, monitor_contended_enter, .lock = object, .owner = bob,
            .stack = i ? at_last : at_first);
        ADD(&b, ann.v, ann, from + (i ? 9000000 : 1000000), monitor_contended_entered,
            .lock = object);
    }
    run(250000000);
}

/* The title of that lock. */
static const char *title_of_lock(const char *first, const char *then)
{
    blocks_on_an_object(first, then);
    return title_of(&all.v[0]);
}

Test(servers, a_lock_of_the_jdks_is_called_by_who_of_the_program_waits_most)
{
    cr_assert_str_eq(title_of_lock("sun.nio.ch.Selector.clear:5 sun.net.Dispatcher.run:7",
                                   "sun.nio.ch.Selector.clear:5 shop.Load.run:5"),
                     "lock of Load.run");
}

/* Which line of the program asks for it stands below. */
Test(servers, a_lock_deep_in_the_jdk_is_called_by_the_jdks_method)
{
    static const char at[] = "java.util.logging.StreamHandler.publish:5 "
                             "java.util.logging.Logger.log:6 shop.Load.run:5";
    cr_assert_str_eq(title_of_lock(at, at), "lock of StreamHandler.publish");
    cr_assert_not_null(strstr(first_finding()->text, "wait in Load.run"));
}

/* Nor the lock of a row; but a transaction may be shorter. */
Test(servers, what_is_done_in_a_transaction_may_be_done_outside)
{
    static const char at[] = "org.hsqldb.lib.CountUpDownLatch.await:5 "
                             "org.hsqldb.jdbc.JDBCStatement.execute:6 shop.Load.run:5";
    for (uint64_t i = 0; i < 20; i++)
        does_sleep(bob, 1100000 + i * ROUND, 9000000 + i * ROUND);
    title_of_lock(at, at);
    cr_assert_str_eq(resource_role(&all.v[0], a), "lock of the database's transactions");
    cr_assert_not_null(strstr(first_finding()->text, "try: sleep outside of the transaction"), "%s",
                       first_finding()->text);
}

Test(servers, a_lock_inside_a_library_gets_no_advice_to_split_it)
{
    static const char at[] = "org.apache.logging.log4j.core.appender.Manager.write:5 "
                             "org.apache.logging.log4j.Logger.info:6 shop.Load.run:5";
    for (uint64_t i = 0; i < 20; i++)
        does_sleep(bob, 1100000 + i * ROUND, 9000000 + i * ROUND);
    title_of_lock(at, at);
    cr_assert_eq(all.v[0].doing[0].does, DOES_SLEEP);
    cr_assert_null(strstr(first_finding()->text, "try"), "%s", first_finding()->text);
}

/* No program can split it. */
Test(servers, a_lock_inside_the_jdk_gets_no_advice)
{
    static const char at[] = "java.util.logging.StreamHandler.publish:5 "
                             "java.util.logging.Logger.log:6 shop.Load.run:5";
    for (uint64_t i = 0; i < 20; i++)
        does_sleep(bob, 1100000 + i * ROUND, 9000000 + i * ROUND);
    cr_assert_str_eq(title_of_lock(at, at), "lock of StreamHandler.publish");
    cr_assert_eq(all.v[0].doing[0].does, DOES_SLEEP);
    cr_assert_null(strstr(first_finding()->text, "try"), "%s", first_finding()->text);
}

/* Page.class.getResourceAsStream() locks the jar file, not the class. */
Test(servers, a_class_literal_does_not_hold_what_the_jdk_locks_in_its_methods)
{
    static const char at[] = "java.util.zip.ZipFile.getEntry:5 java.lang.Class.getResource:6 "
                             "shop.Page.show:9 shop.Load.run:5";
    builder_site(&b, (method_id){b.n_methods + 3}, 9, "getResource;cshop/Page");
    cr_assert_str_eq(title_of_lock(at, at), "lock of ZipFile.getEntry");
}

/* The logger is not what its handlers lock. */
Test(servers, a_receiver_does_not_hold_what_the_jdk_locks_deep_inside)
{
    static const char at[] = "java.util.logging.StreamHandler.publish:5 "
                             "java.util.logging.Logger.log:6 "
                             "org.apache.juli.DirectJDKLog.log:9 shop.Load.run:5";
    char field[LABEL_MAX];
    builder_site(&b, (method_id){b.n_methods + 3}, 9, "log;forg/apache/juli/DirectJDKLog.logger");
    cr_assert_str_eq(title_of_lock(at, at), "lock of StreamHandler.publish");
    cr_assert_not(resource_field(&all.v[0], field, sizeof field));
}

Test(servers, a_lock_that_the_jdk_alone_takes_is_called_by_the_jdks_method)
{
    cr_assert_str_eq(title_of_lock("sun.nio.ch.Selector.clear:5 sun.net.Dispatcher.run:7",
                                   "sun.nio.ch.Selector.clear:5 sun.net.Dispatcher.run:7"),
                     "lock of Selector.clear");
}

/* A virtual thread parks by other methods. */
#define VIRTUAL_PARKS                                                                              \
    "java.lang.VirtualThread.park:1 java.lang.System$1.parkVirtualThread:1 "                       \
    "java.util.concurrent.locks.LockSupport.park:1 java.util.concurrent.locks.ReentrantLock.lock:2 "

Test(servers, a_lock_of_virtual_threads_is_called_by_the_jdks_method_that_takes_it)
{
    static const char at[] = VIRTUAL_PARKS "sun.net.www.http.KeepAliveCache.put:5 "
                                           "sun.net.www.http.HttpClient.finished:4 "
                                           "shop.Load.run:5";
    cr_assert_str_eq(title_of_lock(at, at), "lock of KeepAliveCache.put");
}

Test(servers, a_lock_that_virtual_threads_of_the_program_take_is_the_programs)
{
    static const char at[] = VIRTUAL_PARKS "shop.Load.run:5 java.lang.VirtualThread.run:3";
    cr_assert_str_eq(title_of_lock(at, at), "lock of Load.run");
}

/* A private method is a detail of what others may call, and elsewhere in the next JDK. */
Test(servers, a_private_method_of_the_jdks_is_no_name)
{
    static const char at[] = "sun.nio.fs.LinuxWatchService.clear:~9 "
                             "sun.nio.fs.LinuxWatchService.doPoll:~4 "
                             "sun.nio.fs.WatchServiceImpl.lockAndDoPoll:~3 "
                             "sun.nio.fs.WatchServiceImpl.poll:2 shop.Loop.turn:7 shop.Load.run:5";
    cr_assert_str_eq(title_of_lock(at, at), "lock of WatchServiceImpl.poll");
}

/* Who calls a method that is named so takes the lock. */
Test(servers, a_method_that_is_called_lock_is_no_name)
{
    static const char at[] = "java.util.concurrent.locks.ReentrantLock.lock:2 "
                             "java.util.logging.Handler.tryUseLock:9 "
                             "java.util.logging.StreamHandler.publish:3 "
                             "java.util.logging.Logger.log:2 shop.Load.run:5";
    cr_assert_str_eq(title_of_lock(at, at), "lock of StreamHandler.publish");
}

/* The class itself takes it for others of its package. */
Test(servers, a_method_that_others_call_is_a_name)
{
    static const char at[] = "java.util.logging.Level.getLocalizedLevelName:9 "
                             "java.util.logging.SimpleFormatter.format:3 "
                             "java.util.logging.StreamHandler.publish:2 shop.Load.run:5";
    cr_assert_str_eq(title_of_lock(at, at), "lock of Level.getLocalizedLevelName");
}

#define TASKS "java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue."

Test(servers, a_nested_class_of_the_jdks_is_called_by_the_class_around_it)
{
    static const char at[] =
        TASKS "offer:9 java.util.concurrent.ScheduledThreadPoolExecutor.delayedExecute:~4 "
              "java.util.concurrent.ScheduledThreadPoolExecutor.schedule:3 shop.Loop.turn:7 "
              "shop.Load.run:5";
    cr_assert_str_eq(title_of_lock(at, at), "lock of ScheduledThreadPoolExecutor.schedule");
}

/* The next method that is not private is one of another package, and says nothing. */
Test(servers, a_nested_class_that_nothing_of_its_package_calls_is_the_name)
{
    static const char at[] = TASKS "take:9 java.util.concurrent.ThreadPoolExecutor.getTask:~4 "
                                   "java.lang.Thread.run:1";
    blocks_on_an_object(at, at);
    cr_assert_str_eq(title_of(&all.v[0]),
                     "lock of ScheduledThreadPoolExecutor$DelayedWorkQueue.take");
}

/* Two entries of one cache that are loaded again and again; each for as long as `share` of ten. */
static void loads_two_entries(int share)
{
    const lock_id entry[] = {of_class("Ljava/util/concurrent/ConcurrentHashMap$Node;"),
                             of_class("Ljava/util/concurrent/ConcurrentHashMap$Node;")};
    stack_id take = builder_stack(&b, "java.util.concurrent.ConcurrentHashMap.compute:6 "
                                      "com.fast.Cache.get:7 shop.Catalog.show:6 shop.Load.run:5");
    for (uint64_t i = 0; i < 30; i++) {
        lock_id on = entry[(int)(i % 10) < share];
        uint64_t from = 1000000 + i * ROUND;
        ADD(&b, ann.v, ann, from, monitor_contended_enter, .lock = on, .owner = bob, .stack = take);
        ADD(&b, ann.v, ann, from + 9000000, monitor_contended_entered, .lock = on);
    }
    run(400000000);
}

Test(servers, the_entries_of_a_cache_are_one_resource)
{
    loads_two_entries(5);
    cr_assert_eq(all.n, 1);
    cr_assert_eq(all.v[0].count, 30);
    cr_assert_eq(all.v[0].lock.v, 0);
    cr_assert_eq(all.v[0].holder, bob.v);
}

Test(servers, an_entry_that_has_nearly_all_waits_is_its_own)
{
    loads_two_entries(9);
    cr_assert_eq(all.n, 2);
    cr_assert_neq(all.v[0].lock.v, 0);
}

Test(servers, an_entry_of_a_map_is_called_one)
{
    lock_id entry = of_class("Ljava/util/concurrent/ConcurrentHashMap$Node;");
    stack_id take = builder_stack(&b, "java.util.concurrent.ConcurrentHashMap.computeIfAbsent:6 "
                                      "shop.Catalog.show:6 shop.Load.run:5");
    for (uint64_t i = 0; i < 30; i++) {
        uint64_t from = 1000000 + i * ROUND;
        ADD(&b, ann.v, ann, from, monitor_contended_enter, .lock = entry, .owner = bob,
            .stack = take);
        ADD(&b, ann.v, ann, from + 9000000, monitor_contended_entered, .lock = entry);
    }
    run(400000000);
    cr_assert_str_eq(resource_role(&all.v[0], a), "lock of an entry");
}

#define COMPUTES "java.util.concurrent.ConcurrentHashMap.compute:6 com.fast.Cache.get:7 "

/* bob has one entry of a cache, for which ann waits, and wants another one, there. */
static void wants_another_entry(const char *there)
{
    const lock_id one = of_class("Ljava/util/concurrent/ConcurrentHashMap$Node;"),
                  other = of_class("Ljava/util/concurrent/ConcurrentHashMap$Node;");
    stack_id take = builder_stack(&b, COMPUTES "shop.Catalog.show:6 shop.Load.run:5");
    const struct {
        thread_id who, owner;
        lock_id on;
        uint64_t from, to;
        stack_id at;
    } waits[] = {{bob, dan, one, 0, 1000000, take},
                 {ann, bob, one, 500000, 9000000, take},
                 {bob, cat, other, 2000000, 9500000, builder_stack(&b, there)}};
    for (uint64_t i = 0; i < 3 * 20; i++) {
        uint64_t begin = 1000000 + i / 3 * ROUND;
        ADD(&b, waits[i % 3].who.v, waits[i % 3].who, begin + waits[i % 3].from,
            monitor_contended_enter, .lock = waits[i % 3].on, .owner = waits[i % 3].owner,
            .stack = waits[i % 3].at);
        ADD(&b, waits[i % 3].who.v, waits[i % 3].who, begin + waits[i % 3].to,
            monitor_contended_entered, .lock = waits[i % 3].on);
    }
    run(250000000);
    cr_assert_eq(all.n, 1);
    cr_assert_gt(all.v[0].n_doing, 0);
}

static bool is_blocked_who_has_it(void)
{
    for (size_t i = 0; i < all.v[0].n_doing; i++)
        if (all.v[0].doing[i].does == DOES_BLOCKED)
            return true;
    return false;
}

/* Whoever wants another entry at the place where threads enter one has left that one, which others
 * may have taken without a wait. */
Test(servers, who_wants_another_entry_has_given_the_first_back)
{
    wants_another_entry(COMPUTES "shop.Catalog.show:6 shop.Load.run:5");
    cr_assert_not(is_blocked_who_has_it());
}

Test(servers, who_wants_another_entry_to_compute_the_first_has_that)
{
    wants_another_entry(COMPUTES "shop.Catalog.part:9 " COMPUTES
                                 "shop.Catalog.show:6 shop.Load.run:5");
    cr_assert(is_blocked_who_has_it());
}

/* A library has a copy of the JDK's map. */
Test(servers, the_lock_of_an_entry_of_a_caches_own_map_is_its_loading)
{
    lock_id entry = of_class("Lorg/ehcache/impl/internal/concurrent/ConcurrentHashMap$Node;");
    stack_id take =
        builder_stack(&b, "org.ehcache.impl.internal.concurrent.ConcurrentHashMap.compute:6 "
                          "org.ehcache.core.Ehcache.get:7 shop.Catalog.show:6 shop.Load.run:5");
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t from = 1000000 + i * ROUND;
        ADD(&b, ann.v, ann, from, monitor_contended_enter, .lock = entry, .owner = bob,
            .stack = take);
        ADD(&b, ann.v, ann, from + 9000000, monitor_contended_entered, .lock = entry);
    }
    run(250000000);
    cr_assert_str_eq(resource_role(&all.v[0], a), "loading of a cache entry");
    cr_assert_str_eq(title_of(&all.v[0]), "lock of ConcurrentHashMap.compute");
    cr_assert_null(strstr(first_finding()->text, "; try: "));
}

/* Three threads wait in turn until another one of them is done: with what takes and gives. */
static const struct rule_finding *take_turns(const char *wait, const char *give)
{
    stack_id take = builder_stack(&b, wait), gives = builder_stack(&b, give);
    for (uint64_t i = 0; i < 30; i++) {
        uint64_t from = 1000000 + i * ROUND;
        ADD(&b, web[i % 3].v, web[i % 3], from, wait_enter, .lock = lock, .stack = take);
        ADD(&b, web[(i + 2) % 3].v, web[(i + 2) % 3], from + 9000000, notify_all, .lock = lock,
            .stack = gives);
        ADD(&b, web[i % 3].v, web[i % 3], from + 9001000, wait_exit, .lock = lock);
    }
    run(320000000);
    cr_assert_eq(all.v[0].kind, RESOURCE_THINGS);
    return first_finding();
}

#define AT_DESK "shop.Desk.place:21 shop.Load.run:5"

Test(servers, nothing_of_what_a_cache_loads_is_in_use)
{
    const struct rule_finding *f =
        take_turns("java.lang.Object.wait:native com.fast.cache.Entry.await:7 " AT_DESK,
                   "com.fast.cache.Entry.done:9 " AT_DESK);
    cr_assert_not_null(f);
    cr_assert_not(resource_is_taken(f->resource, a));
    cr_assert_null(strstr(f->text, "in use at once"), "%s", f->text);
    cr_assert_str_eq(resource_role(&all.v[0], a), "loading of a cache entry");
}

Test(servers, things_of_a_pool_are_in_use)
{
    const struct rule_finding *f =
        take_turns("java.lang.Object.wait:native com.fast.pool.Bag.await:7 " AT_DESK,
                   "com.fast.pool.Bag.done:9 " AT_DESK);
    cr_assert_not_null(f);
    cr_assert(resource_is_taken(f->resource, a));
    cr_assert_null(strstr(f->text, "in use at once"), "one at least says nothing: %s", f->text);
}

/* A library wraps what it waits with: the method of the class that called it says what for. */
Test(servers, a_known_method_is_known_through_a_wrapper)
{
    take_turns(
        "java.lang.Object.wait:native org.apache.commons.pool2.impl.GenericObjectPool.wait:7 "
        "org.apache.commons.pool2.impl.GenericObjectPool.create:8 " AT_DESK,
        "org.apache.commons.pool2.impl.GenericObjectPool.create:9 " AT_DESK);
    cr_assert_str_eq(resource_role(&all.v[0], a), "right to make an object of the pool");
}

/* --- who has it, where another thread gives it back ------------------------------------------- */

static void read_peer(thread_id who, uint64_t from, uint64_t to)
{
    does_io(who, from, to, IO_KIND_input, of_class("=10.0.0.7:5432"),
            READS "shop.Print.print:31 java.util.concurrent.ThreadPoolExecutor.runWorker:2 "
                  "java.lang.Thread.run:1");
}

/* Each takes the permit, hands it with a task to dan, who works with it for 8 ms and gives it back. */
Test(servers, a_permit_that_went_with_a_task_is_held_by_who_works_on_that)
{
    lock_id inside = of_class("Ljava/util/concurrent/Semaphore$NonfairSync;");
    stack_id take = builder_stack(&b, "java.util.concurrent.Semaphore.acquire:1 "
                                      "shop.Rack.checkout:7 shop.Desk.scan:3 shop.Load.run:5"),
             hand = builder_stack(&b, "java.util.concurrent.ThreadPoolExecutor.execute:1 "
                                      "shop.Desk.scan:4 shop.Load.run:5"),
             idle = builder_stack(&b, "java.util.concurrent.locks.LockSupport.park:1 "
                                      "java.util.concurrent.ThreadPoolExecutor.getTask:1"),
             give = builder_stack(&b, "java.util.concurrent.Semaphore.release:1 "
                                      "shop.Rack.putBack:9 shop.Print.print:32");
    ADD(&b, web[0].v, web[0], 900000, park_enter, .lock = inside, .stack = take);
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t from = 1000000 + i * ROUND;
        thread_id has = web[i % 3], next = web[(i + 1) % 3];
        ADD(&b, dan.v, dan, from - 50000, park_enter, .stack = idle);
        ADD(&b, has.v, has, from + 2000, park_exit, .lock = inside);
        ADD(&b, next.v, next, from + 500000, park_enter, .lock = inside, .stack = take);
        ADD(&b, has.v, has, from + 1000000, unpark, .target = dan, .stack = hand);
        ADD(&b, dan.v, dan, from + 1001000, park_exit);
        read_peer(dan, from + 1100000, from + 9100000);
        ADD(&b, dan.v, dan, from + 9900000, unpark, .target = next, .stack = give);
    }
    run(250000000);
    const struct resource *r = &all.v[0];
    cr_assert_eq(r->kind, RESOURCE_THINGS);
    cr_assert_eq(r->holder, dan.v);
    cr_assert_eq(r->doing[0].does, DOES_INPUT);
    cr_assert_gt(r->doing[0].ns, 100000000);
    cr_assert_eq(r->brought, false);
}

#define AWAIT                                                                                      \
    "java.util.concurrent.locks.LockSupport.park:1 "                                               \
    "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await:2 "
#define ADDS "shop.Buffer.add:7 shop.Desk.place:21 shop.Load.run:5"

/* dan makes room; who was woken gives its lock back, which wakes the next one: it made no room. */
Test(servers, who_gives_the_lock_of_a_condition_back_made_no_room)
{
    lock_id full =
        of_class("Ljava/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject;");
    stack_id wait = builder_stack(&b, AWAIT ADDS),
             unlock = builder_stack(&b, "java.util.concurrent.locks.ReentrantLock.unlock:3 "
                                        "shop.Buffer.add:9 shop.Desk.place:21 shop.Load.run:5"),
             give = builder_stack(&b, "java.util.concurrent.locks.ReentrantLock.unlock:3 "
                                      "shop.Buffer.next:12 shop.Write.run:5");
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t from = 1000000 + i * ROUND;
        for (int k = 0; k < 3; k++)
            ADD(&b, web[k].v, web[k], from + (uint64_t)k, park_enter, .lock = full, .stack = wait);
        ADD(&b, dan.v, dan, from + 9000000, unpark, .target = web[0], .stack = give);
        for (int k = 0; k < 3; k++) {
            uint64_t at = from + 9001000 + (uint64_t)k * 20000;
            ADD(&b, web[k].v, web[k], at, park_exit, .lock = full);
            if (k < 2)
                ADD(&b, web[k].v, web[k], at + 10000, unpark, .target = web[k + 1],
                    .stack = unlock);
        }
    }
    run(250000000);
    const struct resource *r = &all.v[0];
    cr_assert_str_eq(resource_role(r, a), "full queue");
    cr_assert_eq(r->holder, dan.v);
    cr_assert_eq(r->n_holders, 1);
}

/* --- answers ---------------------------------------------------------------------------------- */

#define FUTURE_GET                                                                                 \
    "java.util.concurrent.locks.LockSupport.park:1 java.util.concurrent.FutureTask.get:2 "
#define ASKS FUTURE_GET "com.fast.Client.call:7 shop.Desk.ask:10 shop.Load.run:5"

Test(servers, two_pools_wait_for_answers_at_one_line_of_a_library)
{
    thread_id job[] = {builder_thread(&b, "job-1"), builder_thread(&b, "job-2")};
    stack_id ask = builder_stack(&b, ASKS), give = builder_stack(&b, "shop.Price.run:4");
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t from = 1000000 + i * ROUND;
        parks(web[i % 3], bob, from, from + 9000000, of_class("Ljava/util/concurrent/FutureTask;"),
              ask, give);
        parks(job[i % 2], cat, from, from + 5000000, of_class("Ljava/util/concurrent/FutureTask;"),
              ask, give);
    }
    run(250000000);
    cr_assert_eq(all.n, 2);
    cr_assert_eq(all.v[0].n_threads, 3);
    cr_assert_eq(all.v[0].holder, bob.v);
    cr_assert_eq(all.v[1].n_threads, 2);
    cr_assert_eq(all.v[1].holder, cat.v);
}

/* dan waits for tasks until it is time, and then ends ann's wait, or works for 8 ms before he does:
 * one of `often` times. */
static bool timer_reads; /* what it then gives to ann */

static const struct resource *timer_gives(uint64_t often, const char *from_where)
{
    stack_id ask = builder_stack(&b, ASKS), give = builder_stack(&b, from_where),
             idle = builder_stack(&b, "java.util.concurrent.locks.LockSupport.park:1 "
                                      "java.util.concurrent.ThreadPoolExecutor.getTask:1");
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t from = 1000000 + i * ROUND;
        bool works = often && i % often == 0;
        ADD(&b, dan.v, dan, from - 100000, park_enter, .timeout_ns = 5, .stack = idle);
        ADD(&b, dan.v, dan, from + (works ? 1000000 : 8900000), park_exit);
        if (timer_reads)
            ADD(&b, dan.v, dan, from + 8990000, io, .what = IO_KIND_input, .stack = give,
                .since = at(from + 8910000));
        parks(ann, dan, from, from + 9000000, of_class("Ljava/util/concurrent/FutureTask;"), ask,
              give);
    }
    run(250000000);
    cr_assert_eq(all.v[0].kind, RESOURCE_ANSWERS);
    return &all.v[0];
}

Test(servers, who_ends_waits_because_time_passed_gives_no_answer)
{
    const struct resource *r = timer_gives(0, "com.fast.Timer.fire:4");
    cr_assert_eq(r->given_ns, 0);
    cr_assert_eq(r->holder, 0);
}

Test(servers, who_reads_what_it_gives_is_no_timer)
{
    timer_reads = true;
    cr_assert_eq(timer_gives(0, "com.fast.Timer.fire:4")->holder, dan.v);
}

Test(servers, who_works_when_its_time_has_come_gives_one)
{
    cr_assert_eq(timer_gives(1, "com.fast.Timer.fire:4")->holder, dan.v);
}

/* dan works for 2 of the 9 ms that ann waits: before, the time for it had not come; or he was woken
 * for a cause that is not known. */
enum late { DUE, UNKNOWN_CAUSE, WOKEN };

static const char *works_when_it_is_time(enum late how)
{
    stack_id ask = builder_stack(&b, ASKS),
             idle = builder_stack(&b, "java.util.concurrent.locks.LockSupport.park:1 "
                                      "java.util.concurrent.ThreadPoolExecutor.getTask:1");
    for (uint64_t i = 0; i < 40; i++) {
        lock_id on = of_class("Ljava/util/concurrent/FutureTask;");
        uint64_t from = 1000000 + i * ROUND;
        ADD(&b, dan.v, dan, from - 500000, park_enter,
            .timeout_ns = how == UNKNOWN_CAUSE ? 0 : 7500000, .stack = idle);
        if (how == WOKEN)
            ADD(&b, cat.v, cat, from + 6990000, unpark, .target = dan, .stack = other_stack);
        ADD(&b, dan.v, dan, from + 7000000, park_exit);
        parks(ann, dan, from, from + 9000000, on, ask, builder_stack(&b, "com.fast.Timer.fire:4"));
    }
    run(450000000);
    cr_assert_eq(all.v[0].kind, RESOURCE_ANSWERS);
    return first_finding()->text;
}

Test(servers, who_begins_when_it_is_time_lets_others_wait_for_that)
{
    const char *text = works_when_it_is_time(DUE);
    cr_assert_not_null(
        strstr(text, "for 77 % of that time the answering threads waited until a timer was due"),
        "%s", text);
    cr_assert_neq(first_finding()->severity, SEVERITY_INFO);
}

Test(servers, who_is_woken_late_has_not_waited_for_a_timer)
{
    const char *text = works_when_it_is_time(UNKNOWN_CAUSE);
    cr_assert_not_null(strstr(text, "the delay is elsewhere"), "%s", text);
    cr_assert_eq(first_finding()->severity, SEVERITY_INFO);
}

Test(servers, who_has_a_limit_and_is_woken_before_has_not_waited_for_a_timer)
{
    const char *text = works_when_it_is_time(WOKEN);
    cr_assert_null(strstr(text, "timer was due"), "%s", text);
}

/* One wait of many: nobody is known to have ended the others. */
Test(servers, a_timer_that_ended_one_wait_does_not_give_the_others)
{
    stack_id ask = builder_stack(&b, ASKS);
    lock_id on = of_class("Ljava/util/concurrent/FutureTask;");
    for (uint64_t i = 20; i < 40; i++) {
        uint64_t from = 1000000 + i * ROUND;
        ADD(&b, ann.v, ann, from, park_enter, .stack = ask, .lock = on);
        ADD(&b, ann.v, ann, from + 9000000, park_exit, .lock = on);
    }
    stack_id idle = builder_stack(&b, "java.util.concurrent.locks.LockSupport.park:1 "
                                      "java.util.concurrent.ThreadPoolExecutor.getTask:1");
    uint64_t from = 1000000 + 40 * ROUND;
    ADD(&b, dan.v, dan, from - 100000, park_enter, .timeout_ns = 5, .stack = idle);
    ADD(&b, dan.v, dan, from + 8900000, park_exit);
    parks(ann, dan, from, from + 9000000, on, ask, builder_stack(&b, "com.fast.Timer.fire:4"));
    run(450000000);
    cr_assert_eq(all.v[0].kind, RESOURCE_ANSWERS);
    cr_assert_eq(all.v[0].timer, dan.v);
    cr_assert_not(says("when a timer is due"));
}

Test(servers, a_timer_that_is_late_now_and_then_gives_no_answer)
{
    const struct resource *r = timer_gives(4, "com.fast.Timer.fire:4");
    cr_assert_eq(r->given_ns, 0);
    cr_assert_eq(r->holder, 0);
    cr_assert(has_finding("slow-answer"), "the program has not asked for it");
    cr_assert_not_null(
        strstr(first_finding()->text, "given by dan, when a timer is due: idle before that"), "%s",
        first_finding()->text);
}

#define EXECUTOR "java.util.concurrent.ThreadPoolExecutor.runWorker:1"

/* The program lets 8 ms pass before it does the rest. */
Test(servers, a_delay_that_the_program_asked_for_is_no_finding)
{
    timer_gives(4, "shop.Desk.rate:4 java.util.concurrent.FutureTask.run:3 " EXECUTOR);
    cr_assert_null(first_finding());
}

/* What is done every 10 ms lets each request wait for its turn. */
Test(servers, what_the_program_does_now_and_then_for_others_is_a_delay)
{
    timer_gives(4, "shop.Desk.flush:4 java.util.concurrent.FutureTask.runAndReset:3 " EXECUTOR);
    cr_assert(has_finding("slow-answer"));
}

Test(servers, work_of_a_timer_is_a_finding)
{
    timer_gives(1, "shop.Desk.rate:4 java.util.concurrent.FutureTask.run:3 " EXECUTOR);
    cr_assert(has_finding("slow-answer"));
}

/* main waits once for the end of a queue, which others empty as it is filled. */
static bool main_waits_for_the_last(uint64_t times)
{
    stack_id idle = builder_stack(&b, "java.util.concurrent.locks.LockSupport.park:1 "
                                      "java.util.concurrent.ThreadPoolExecutor.getTask:1");
    for (uint64_t i = 0; i < times; i++) {
        uint64_t from = 1000000 + i * 200000000;
        parks(bob, cat, from, from + 190000000, of_class("Lshop/Idle;"), idle, other_stack);
        parks(ann, bob, from, from + 195000000,
              of_class("Ljava/util/concurrent/CountDownLatch$Sync;"),
              builder_stack(&b, "java.util.concurrent.CountDownLatch.await:2 shop.Desk.all:3 "
                                "shop.Main.main:7"),
              builder_stack(&b, "shop.Desk.load:9 shop.Load.run:4"));
    }
    run(1000000 + times * 200000000);
    return has_finding("slow-answer");
}

Test(servers, the_last_one_says_nothing_of_where_the_delay_is)
{
    cr_assert_not(main_waits_for_the_last(1));
}

Test(servers, answers_that_come_from_elsewhere_each_time_are_told)
{
    cr_assert(main_waits_for_the_last(20));
}

/* One of the pool loads for 9 ms what the others wait for: nothing queues for a thread. */
Test(servers, what_one_of_a_pool_loads_for_the_others_does_not_starve_it)
{
    lock_id peer = of_class("=10.0.0.7:5432");
    stack_id join = builder_stack(&b, FUTURE "shop.Flight.get:6 shop.Load.run:5"),
             give = builder_stack(&b, "java.util.concurrent.CompletableFuture.complete:1 "
                                      "shop.Flight.get:9 shop.Load.run:5");
    for (uint64_t i = 0; i < 30; i++) {
        uint64_t from = 1000000 + i * ROUND;
        lock_id signal = of_class("Ljava/util/concurrent/CompletableFuture$Signaller;");
        thread_id loads = web[i % 3], waits = web[(i + 1) % 3];
        ADD(&b, waits.v, waits, from, park_enter, .lock = signal, .stack = join);
        does_io(loads, from + 1000, from + 9000000, IO_KIND_input, peer,
                READS "shop.Flight.load:8 shop.Flight.get:7 shop.Load.run:5");
        ADD(&b, loads.v, loads, from + 9100000, unpark, .target = waits, .stack = give);
        ADD(&b, waits.v, waits, from + 9101000, park_exit, .lock = signal);
    }
    run(320000000);
    cr_assert_eq(all.v[0].kind, RESOURCE_ANSWERS);
    cr_assert_eq(resource_is_of_own_pool(a, &all.v[0]), false);
    cr_assert_eq(all.v[0].doing[0].does, DOES_INPUT);
    cr_assert_str_neq(first_finding()->rule, "starved-pool");
}

/* --- a barrier -------------------------------------------------------------------------------- */

/* The threads of a pool meet; the third one comes last, after it has worked. */
static const struct rule_finding *meet(void)
{
    lock_id phase = of_class("Ljava/util/concurrent/CyclicBarrier;");
    stack_id at = builder_stack(&b, AWAIT "java.util.concurrent.CyclicBarrier.await:3 "
                                          "shop.Job.round:7 shop.Load.run:5");
    for (uint64_t i = 0; i < 30; i++) {
        uint64_t from = 1000000 + i * ROUND;
        for (int k = 0; k < 2; k++)
            ADD(&b, web[k].v, web[k], from, park_enter, .lock = phase, .stack = at);
        does_io(web[2], from + 1000, from + 8000000, IO_KIND_input, of_class("=10.0.0.7:5432"),
                READS "shop.Job.heavy:9 shop.Job.round:6 shop.Load.run:5");
        for (int k = 0; k < 2; k++)
            ADD(&b, web[2].v, web[2], from + 9000000, unpark, .target = web[k], .stack = at);
        for (int k = 0; k < 2; k++)
            ADD(&b, web[k].v, web[k], from + 9001000, park_exit, .lock = phase);
    }
    run(320000000);
    return first_finding();
}

Test(servers, a_pool_that_meets_at_a_barrier_is_not_starved)
{
    const struct rule_finding *f = meet();
    cr_assert_not_null(f);
    cr_assert_str_neq(f->rule, "starved-pool", "%s", f->text);
    cr_assert_eq(f->resource->holder, web[2].v);
}

/* --- who has a lock --------------------------------------------------------------------------- */

/* In a fair queue the first one began to wait before ann had the lock, and saw no owner; the others
 * did. */
Test(servers, who_wakes_the_first_of_a_queue_had_the_lock_whoever_saw_it)
{
    lock_id sync = of_class("Ljava/util/concurrent/locks/ReentrantReadWriteLock$FairSync;");
    stack_id take = builder_stack(&b, "java.util.concurrent.locks.LockSupport.park:1 "
                                      "shop.Prices.read:6 shop.Load.run:5"),
             give = builder_stack(&b, "shop.Prices.refresh:7 shop.Load.run:5");
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t from = 1000000 + i * ROUND;
        ADD(&b, web[0].v, web[0], from, park_enter, .lock = sync, .stack = take);
        ADD(&b, bob.v, bob, from + 500000, park_enter, .lock = sync, .owner = ann, .stack = take);
        ADD(&b, cat.v, cat, from + 600000, park_enter, .lock = sync, .owner = ann, .stack = take);
        ADD(&b, ann.v, ann, from + 8000000, unpark, .target = web[0], .stack = give);
        ADD(&b, web[0].v, web[0], from + 8001000, park_exit, .lock = sync);
        ADD(&b, web[0].v, web[0], from + 8002000, unpark, .target = bob, .stack = take);
        ADD(&b, bob.v, bob, from + 8003000, park_exit, .lock = sync);
        ADD(&b, bob.v, bob, from + 8004000, unpark, .target = cat, .stack = take);
        ADD(&b, cat.v, cat, from + 8005000, park_exit, .lock = sync);
    }
    run(250000000);
    cr_assert_eq(all.v[0].holder, ann.v);
    cr_assert_gt(all.v[0].held, 20 * 7000000);
}

/* Threads of two pools wait for one peer: of neither pool alone. */
Test(servers, threads_of_two_pools_that_read_are_of_none)
{
    thread_id job = builder_thread(&b, "job-1");
    lock_id from = of_class("=10.0.0.7:5432");
    const thread_id who[] = {web[0], web[1], job};
    for (uint64_t i = 0; i < 20; i++)
        for (int k = 0; k < 3; k++) {
            does_io(who[k], 1000000 + i * ROUND, 1100000 + i * ROUND, IO_KIND_output, from,
                    OWN_READ);
            does_io(who[k], 1200000 + i * ROUND, 10900000 + i * ROUND, IO_KIND_input, from,
                    OWN_READ);
        }
    run(202000000);
    const struct rule_finding *f = first_finding();
    cr_assert_not_null(f);
    cr_assert_not_null(strstr(f->text, "3 threads wait for input"), "%s", f->text);
}

/* --- polls ------------------------------------------------------------------------------------ */

#define RING                                                                                       \
    "jdk.internal.misc.Unsafe.park:native java.util.concurrent.locks.LockSupport.parkNanos:1 "     \
    "com.fast.ring.Producer.next:7 shop.Desk.place:21 org.web.Worker.run:9"

/* Short parks that are known by their sum; the last one is not over when the recording ends. */
Test(servers, polls_in_a_sum_are_polls_and_one_that_is_open_is_no_delay)
{
    stack_id at_ring = builder_stack(&b, RING);
    ADD(&b, ann.v, ann, 90000000, wait_sum, .kind = EV_park_enter, .stack = at_ring,
        .limit = WAIT_LIMITED, .since = at(1000000), .until = at(90000000), .count = 1000,
        .total = 80000000, .longest = 200000);
    ADD(&b, ann.v, ann, 90100000, park_enter, .stack = at_ring, .timeout_ns = 1);
    run(140000000);
    cr_assert_eq(all.n, 1);
    cr_assert_eq(all.v[0].kind, RESOURCE_POLLED);
    cr_assert_geq(all.v[0].count, 1000);
}

/* Where a sum of waits lies in its stretch is not known. */
Test(servers, a_lock_is_not_held_while_its_owner_parks_at_times_that_are_not_known)
{
    lock_id mutex = of_class("Lshop/Mutex;");
    ADD(&b, bob.v, bob, 90000000, wait_sum, .kind = EV_park_enter,
        .stack = builder_stack(&b, "shop.Desk.rest:2 shop.Load.run:5"), .limit = WAIT_LIMITED,
        .since = at(1000000), .until = at(90000000), .count = 1000, .total = 80000000,
        .longest = 200000);
    does_block(ann, 20000000, 40000000, mutex, bob);
    run(100000000);
    cr_assert_not(has_finding("held-while-waiting"));
}

/* --- a server that is stopped ----------------------------------------------------------------- */

static void stop_at(uint64_t time)
{
    thread_id by = builder_thread(&b, "SIGTERM handler");
    builder_def(&b,
                &(struct def){
                    .kind = DEF_thread,
                    .thread = {.id = by, .name = {"SIGTERM handler", 15}, .group = {"system", 6}}});
    ADD0(&b, by.v, by, time, thread_start);
    ADD0(&b, by.v, by, time + 200000000, recording_end);
}

static bool blocks_until_the_end(uint64_t from)
{
    lock_id out = of_class("Lshop/Log;");
    ADD(&b, ann.v, ann, from, monitor_contended_enter, .lock = out, .owner = bob,
        .stack = builder_stack(&b, "shop.Log.write:3 shop.Load.run:5"));
    stop_at(500000000);
    run(700000000);
    cr_assert_gt(a->stop.thread, 0);
    return says("still blocked");
}

Test(servers, who_was_blocked_when_the_server_was_stopped_is_told)
{
    cr_assert(blocks_until_the_end(300000000));
}

Test(servers, who_is_blocked_after_the_server_was_stopped_is_not)
{
    cr_assert_not(blocks_until_the_end(510000000));
}

/* Nearly all that is waited for, but little of each thread's time. */
static bool is_dominant_at(uint64_t part)
{
    for (int i = 0; i < 24; i++) {
        char name[] = {'j', 'o', 'b', '-', (char)('a' + i), 0};
        thread_id who = builder_thread(&b, name);
        ADD0(&b, who.v, who, 1000, thread_start);
        for (uint64_t k = 0; k < 4; k++)
            does_block(who, 1000000 + k * 150000000 + (uint64_t)i,
                       1000000 + k * 150000000 + 175000000 / part, lock, bob);
        ADD0(&b, who.v, who, 699000000, thread_end);
    }
    run(700000000);
    return has_finding("dominant-lock");
}

Test(servers, a_lock_that_takes_a_tenth_of_its_waiters_time_may_dominate)
{
    cr_assert(is_dominant_at(8));
}

Test(servers, a_lock_that_takes_little_of_its_waiters_time_does_not)
{
    cr_assert_not(is_dominant_at(14));
}

/* Threads of the program want a lock for a large part of the recording: from then on. */
static bool contends_from(uint64_t from, bool stopped)
{
    lock_id out = of_class("Lshop/Log;");
    stack_id write = builder_stack(&b, "shop.Log.write:3 shop.Load.run:5");
    for (int i = 0; i < THREADS_OF_WEB; i++)
        for (uint64_t k = 0; k < 6; k++) {
            uint64_t at = from + 1000000 + k * 2 * ROUND;
            ADD(&b, web[i].v, web[i], at, monitor_contended_enter, .lock = out, .owner = bob,
                .stack = write);
            ADD(&b, web[i].v, web[i], at + ROUND, monitor_contended_entered, .lock = out);
        }
    if (stopped)
        stop_at(500000000);
    run(700000000);
    cr_assert_eq(a->stop.thread != 0, stopped);
    return has_finding("contended-lock") || has_finding("dominant-lock");
}

Test(servers, a_lock_is_contended_until_the_server_is_stopped)
{
    cr_assert(contends_from(300000000, true));
}

Test(servers, a_lock_that_is_contended_once_the_server_is_stopped_is_not_told)
{
    cr_assert_not(contends_from(510000000, true));
}

Test(servers, a_lock_that_is_contended_at_a_programs_end_is_told)
{
    cr_assert(contends_from(510000000, false));
}

/* As a server's main thread waits on a latch.  bob ends it, on his way to stop the server. */
static bool waits_for_an_answer_until(uint64_t to, const char *frames)
{
    lock_id task = of_class("Ljava/util/concurrent/FutureTask;");
    for (int i = 0; i < THREADS_OF_WEB; i++) {
        ADD(&b, web[i].v, web[i], 1000000, park_enter, .lock = task,
            .stack = builder_stack(&b, frames));
        ADD(&b, web[i].v, web[i], to + 1000, park_exit, .lock = task);
    }
    for (int i = 0; i < THREADS_OF_WEB; i++)
        ADD(&b, bob.v, bob, to, unpark, .target = web[i], .stack = other_stack);
    stop_at(500000000);
    run(700000000);
    return all.n != 0;
}

#define AWAITS                                                                                     \
    "java.util.concurrent.locks.LockSupport.park:1 java.util.concurrent.FutureTask.get:2 "

Test(servers, who_waits_until_the_server_is_stopped_waits_for_that)
{
    cr_assert_not(
        waits_for_an_answer_until(510000000, AWAITS "shop.Server.await:7 shop.Load.run:5"));
}

Test(servers, who_waits_until_just_before_waits_for_an_answer)
{
    cr_assert(waits_for_an_answer_until(490000000, AWAITS "shop.Server.await:7 shop.Load.run:5"));
}

Test(servers, who_waits_in_a_task_until_the_server_is_stopped_waits_for_an_answer)
{
    cr_assert(waits_for_an_answer_until(
        510000000,
        AWAITS "shop.Desk.place:30 java.util.concurrent.ThreadPoolExecutor.runWorker:9"));
}

/* A pool of a web server's own. */
Test(servers, who_waits_in_a_task_of_an_unknown_pool_until_then_waits_for_an_answer)
{
    cr_assert(waits_for_an_answer_until(
        510000000, AWAITS "shop.Desk.place:30 io.web.Route.call:3 "
                          "org.threads.QueueExecutor$Body.run:9 java.lang.Thread.run:1"));
}

Test(servers, a_worker_that_waits_in_its_own_loop_until_then_waits_for_that)
{
    cr_assert_not(waits_for_an_answer_until(
        510000000, AWAITS "org.threads.QueueExecutor.await:4 "
                          "org.threads.QueueExecutor$Body.run:9 java.lang.Thread.run:1"));
}

/* The time after the stop is nobody's time, either. */
Test(servers, what_was_waited_is_a_share_of_the_time_until_the_stop)
{
    for (int i = 0; i < THREADS_OF_WEB; i++)
        does_block(web[i], 1000, 250000000, lock, bob);
    stop_at(500000000);
    run(700000000);
    cr_assert_eq(resource_permille(&all.v[0]) / 10, 49);
}

/* bob sleeps while ann waits for his lock. */
static bool sleeps_with_a_lock(uint64_t from)
{
    does_sleep(bob, from, from + 150000000);
    does_block(ann, from + 10000000, from + 150000000, lock, bob);
    stop_at(500000000);
    run(700000000);
    return has_finding("held-while-waiting") || has_finding("contended-lock") ||
           has_finding("dominant-lock");
}

Test(servers, who_sleeps_with_a_lock_before_the_stop_is_told)
{
    cr_assert(sleeps_with_a_lock(300000000));
}

Test(servers, who_sleeps_with_a_lock_during_the_stop_is_not)
{
    cr_assert_not(sleeps_with_a_lock(510000000));
}

/* One thread ends the JVM, the other one would, too: it waits until hooks have run. */
static bool waits_for_the_end(const char *of)
{
    does_join(bob, 390000000, 690000000, cat);
    lock_id end = of_class("Ljava/lang/Class;");
    ADD(&b, ann.v, ann, 400000000, monitor_contended_enter, .lock = end, .owner = bob,
        .stack = builder_stack(&b, of));
    ADD(&b, ann.v, ann, 690000000, monitor_contended_entered, .lock = end);
    run(700000000);
    return has_finding("held-while-waiting") || has_finding("contended-lock") ||
           has_finding("dominant-lock");
}

Test(servers, who_waits_until_the_jvm_has_ended_is_blocked_by_nobody)
{
    cr_assert_not(waits_for_the_end("java.lang.Shutdown.exit:9 java.lang.Runtime.exit:+3 "
                                    "java.lang.System.exit:+3 shop.Load.run:5"));
}

Test(servers, who_waits_for_another_class_is_blocked)
{
    cr_assert(waits_for_the_end("java.lang.Runner.exit:9 java.lang.Runtime.exit:+3 "
                                "java.lang.System.exit:+3 shop.Load.run:5"));
}

/* Workers of an executor of the JDK's take tasks out of one queue, whose lock is the JDK's. */
Test(servers, who_wants_the_lock_of_the_queue_of_tasks_is_not_still_blocked)
{
    lock_id take = of_class("Ljava/util/concurrent/locks/ReentrantLock$NonfairSync;");
    for (int i = 0; i < THREADS_OF_WEB; i++)
        ADD(&b, web[i].v, web[i], 300000000, park_enter, .lock = take, .owner = bob,
            .stack = builder_stack(
                &b, "java.util.concurrent.locks.LockSupport.park:1 "
                    "java.util.concurrent.LinkedBlockingQueue.take:432 "
                    "java.util.concurrent.ThreadPoolExecutor.getTask:1 java.lang.Thread.run:1"));
    run(700000000);
    cr_assert_not(says("still blocked"));
}

/* A thread that cannot enter for a moment is no hang. */
static enum severity severity_of_blocked(uint64_t from, uint64_t end)
{
    lock_id out = of_class("Lshop/Log;");
    does_sleep(bob, 1000, 100000);
    ADD(&b, ann.v, ann, from, monitor_contended_enter, .lock = out, .owner = bob,
        .stack = builder_stack(&b, "shop.Log.write:3 shop.Load.run:5"));
    run(end);
    cr_assert(says("still blocked"));
    return first_finding()->severity;
}

Test(servers, who_is_blocked_for_less_than_a_second_may_go_on)
{
    cr_assert_eq(severity_of_blocked(3800000000, 4000000000), SEVERITY_WARNING);
}

Test(servers, who_is_blocked_for_a_second_is_a_problem)
{
    cr_assert_eq(severity_of_blocked(2900000000, 4000000000), SEVERITY_PROBLEM);
}

Test(servers, who_is_blocked_for_half_of_a_short_recording_is_a_problem)
{
    cr_assert_eq(severity_of_blocked(200000000, 500000000), SEVERITY_PROBLEM);
}

Test(servers, who_wants_the_lock_of_a_select_is_not_still_blocked)
{
    lock_id interrupt = of_class("Ljava/lang/Object;");
    ADD(&b, ann.v, ann, 100000000, monitor_contended_enter, .lock = interrupt, .owner = bob,
        .stack = builder_stack(&b, "sun.nio.ch.EPollSelectorImpl.clearInterrupt:3 "
                                   "sun.nio.ch.EPollSelectorImpl.doSelect:9 "
                                   "sun.nio.ch.SelectorImpl.lockAndDoSelect:2 "
                                   "sun.nio.ch.SelectorImpl.select:5 shop.Load.run:5"));
    run(700000000);
    cr_assert_not(says("still blocked"));
}

static bool starts_alone(bool stopped)
{
    thread_id first = builder_thread(&b, "main");
    for (int i = 0; i < THREADS_OF_WEB; i++) {
        does_park(web[i], 1000, 4000000000);
        does_park(web[i], 6500000000, 7000000000);
    }
    does_park(bob, 1000, 7000000000);
    does_park(cat, 1000, 7000000000);
    does_park(dan, 1000, 7000000000);
    does_park(ann, 1000, 7000000000);
    ADD0(&b, first.v, first, 1000, thread_start);
    does_park(first, 4000000000, 7000000000);
    if (stopped)
        stop_at(6800000000);
    run(7000000000);
    return has_finding("serial-phase");
}

#define PERMITS "Ljava/util/concurrent/Semaphore$NonfairSync;"

/* As it stays in a latch, or joins itself. */
Test(servers, a_main_thread_that_stays_at_a_semaphore)
{
    thread_id first = builder_thread(&b, "main");
    for (int i = 0; i < THREADS_OF_WEB; i++)
        does_park(web[i], 1000, 7000000000);
    ADD(&b, first.v, first, 500000000, park_enter, .lock = of_class(PERMITS),
        .stack = builder_stack(&b, "java.util.concurrent.Semaphore.acquire:4 shop.Main.main:9"));
    run(7000000000);
    cr_assert_eq(all.n, 0);
    cr_assert_null(first_finding());
}

/* Each thread of a library's pool has a semaphore of its own, at which its loop waits for jobs, with a
 * limit or until there are any. */
static bool is_limit(const char *loop)
{
    stack_id at = builder_stack(&b, loop);
    does_look(ann, 500, "shop.Main.run:3", 0);
    const uint64_t second = 100 * ROUND;
    lock_id own[THREADS_OF_WEB];
    for (int i = 0; i < THREADS_OF_WEB; i++)
        own[i] = of_class(PERMITS);
    for (int i = 0; i < THREADS_OF_WEB; i++) {
        for (uint64_t k = 0; k < 2; k++) {
            ADD(&b, web[i].v, web[i], k * second + 1000, park_enter, .lock = own[i], .stack = at,
                .timeout_ns = second / 2);
            ADD(&b, web[i].v, web[i], k * second + second / 2, park_exit, .lock = own[i]);
        }
        ADD(&b, web[i].v, web[i], 2 * second, park_enter, .lock = own[i], .stack = at);
    }
    run(7 * second);
    return has_finding("exhausted-pool") || has_finding("contended-pool");
}

Test(servers, a_librarys_threads_each_at_a_semaphore_of_its_own)
{
    cr_assert_not(is_limit("java.util.concurrent.Semaphore.acquire:4 org.jobs.Queue.take:8 "
                           "org.jobs.Worker.run:3"));
}

Test(servers, the_programs_threads_at_semaphores_of_their_own)
{
    cr_assert(is_limit("java.util.concurrent.Semaphore.acquire:4 shop.Queue.take:8 "
                       "shop.Worker.run:3"));
}

/* Two threads are deadlocked; others wait for something else, which nobody gives back either. */
Test(servers, a_lock_that_is_stuck_beside_a_deadlock)
{
    lock_id one = of_class("Lshop/One;"), two = of_class("Lshop/Two;"),
            price = of_class("Lshop/Price;");
    stack_id at = builder_stack(&b, "shop.Price.of:7 shop.Main.run:3"),
             in = builder_stack(&b, "shop.One.add:5 shop.Main.run:3");
    ADD(&b, ann.v, ann, 1000, monitor_contended_enter, .lock = one, .owner = bob, .stack = in);
    ADD(&b, bob.v, bob, 2000, monitor_contended_enter, .lock = two, .owner = ann, .stack = in);
    for (int i = 0; i < THREADS_OF_WEB; i++)
        ADD(&b, web[i].v, web[i], 3000, monitor_contended_enter, .lock = price, .owner = cat,
            .stack = at);
    does_sleep(cat, 4000, 7000000000);
    run(7000000000);
    cr_assert(has_finding("deadlock"));
    cr_expect(says("3 threads were still blocked"));
    const struct rule_finding *f = finding_of("dominant-lock");
    cr_assert_not_null(f);
    cr_expect_not_null(strstr(f->text, "shop.Price; "), "%s", f->text);
    cr_expect_not_null(strstr(f->text, "held by cat"), "%s", f->text);
}

/* Three sessions, each with a monitor; their holders sleep at `line`, of the last one at `last`. */
static void wait_for_sessions(const char *line, const char *last)
{
    stack_id takes = builder_stack(&b, "shop.Desk.serve:7 shop.Main.run:3");
    for (int k = 0; k < 3; k++) {
        lock_id session = of_class("Lweb/Session;");
        stack_id sleeps = builder_stack(&b, k == 2 ? last : line);
        for (int n = 0; n < 4; n++) {
            uint64_t from = 1000000 + (uint64_t)(4 * k + n) * 100000000;
            ADD(&b, bob.v, bob, from, sleep_enter, .timeout_ns = 5, .stack = sleeps);
            for (int i = 0; i < THREADS_OF_WEB; i++)
                ADD(&b, web[i].v, web[i], from + 1000, monitor_contended_enter, .lock = session,
                    .owner = bob, .stack = takes);
            ADD0(&b, bob.v, bob, from + 90000000 + (uint64_t)(k * 1000000), sleep_exit);
            for (int i = 0; i < THREADS_OF_WEB; i++)
                ADD(&b, web[i].v, web[i], from + 91000000 + (uint64_t)(k * 1000000),
                    monitor_contended_entered, .lock = session);
        }
    }
    run(1300000000);
}

Test(servers, locks_of_one_class_that_are_held_in_the_same_way_are_one_card)
{
    wait_for_sessions("shop.Feed.load:9 shop.Desk.serve:8 shop.Main.run:3",
                      "shop.Feed.load:9 shop.Desk.serve:8 shop.Main.run:3");
    struct rule_finding *f;
    size_t n;
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert_eq(n, 1);
    cr_expect_not_null(strstr(f->text, "web.Session (3 objects); "), "%s", f->text);
    cr_expect_not_null(
        strstr(f->text, "; that is at one of the objects, at the others: 24 waits, "), "%s",
        f->text);
    cr_expect_gt(resource_permille(f->resource), 800);
}

/* ann and bob want what cat has; of one lock nine times as long. */
Test(servers, one_lock_with_nearly_all_of_the_time_has_its_own_card)
{
    lock_id one = of_class("Lshop/Book;"), two = of_class("Lshop/Book;");
    stack_id takes = builder_stack(&b, "shop.Desk.serve:7 shop.Main.run:3"),
             sleeps = builder_stack(&b, "shop.Feed.load:9 shop.Desk.serve:8 shop.Main.run:3");
    for (uint64_t i = 0; i < 10; i++) {
        uint64_t from = 1000000 + i * 100000000;
        lock_id on = i ? one : two;
        ADD(&b, cat.v, cat, from, sleep_enter, .timeout_ns = 5, .stack = sleeps);
        ADD(&b, ann.v, ann, from + 1000, monitor_contended_enter, .lock = on, .owner = cat,
            .stack = takes);
        ADD(&b, bob.v, bob, from + 1000, monitor_contended_enter, .lock = on, .owner = cat,
            .stack = takes);
        ADD0(&b, cat.v, cat, from + 90000000, sleep_exit);
        ADD(&b, ann.v, ann, from + 90001000, monitor_contended_entered, .lock = on);
        ADD(&b, bob.v, bob, from + 90002000, monitor_contended_entered, .lock = on);
    }
    run(1010000000);
    cr_expect_not(says("objects)"));
}

Test(servers, a_lock_that_is_held_for_something_else_has_its_own_card)
{
    wait_for_sessions("shop.Feed.load:9 shop.Desk.serve:8 shop.Main.run:3",
                      "shop.Mail.send:4 shop.Desk.serve:8 shop.Main.run:3");
    struct rule_finding *f;
    size_t n;
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert_eq(n, 2);
    cr_expect(says("web.Session (2 objects); "));
}

/* web-1 computes, and is seen at it; alone since then, for 3 s.  Three others wait for work: they get
 * it from `giver` now and then, the first one from web-1, do nothing for long with it, and wait
 * again. */
static const struct rule_finding *computes_alone(uint64_t since, thread_id giver)
{
    const uint64_t end = 3000000000, each = 50000000;
    stack_id idle = builder_stack(&b, "java.util.concurrent.ThreadPoolExecutor.getTask:1 "
                                      "java.util.concurrent.ThreadPoolExecutor.runWorker:2"),
             gives = builder_stack(&b, "shop.Price.sum:5 shop.Desk.place:20 org.web.Worker.run:9");
    lock_id queue = of_class("Lshop/Queue;");
    const thread_id others[] = {ann, bob, cat};
    for (uint64_t from = since; from + each <= end; from += each)
        for (int k = 0; k < 3; k++)
            parks(others[k], k ? giver : web[0], from + (uint64_t)k,
                  from + each - 100000 + (uint64_t)k, queue, idle, gives);
    for (int i = 1; i < THREADS_OF_WEB; i++)
        does_park(web[i], 1000, end);
    does_park(dan, since, end);
    for (uint64_t ms = 5; ms < 3000; ms += 5) {
        if (ms % 50 == 10)
            does_look(web[0], ms * 1000000,
                      ms % 500 == 10 ? "shop.Tax.add:9 shop.Desk.place:21 org.web.Worker.run:9"
                                     : "shop.Price.sum:5 shop.Desk.place:20 org.web.Worker.run:9",
                      0);
        else if (ms * 1000000 < since) /* what others do says nothing about it */
            does_look(dan, ms * 1000000, "shop.Page.show:4 org.web.Worker.run:9", 0);
    }
    run(end);
    return finding_of("serial-phase");
}

Test(servers, a_serial_phase_says_what_its_thread_does)
{
    const struct rule_finding *f =
        computes_alone(500000000, builder_thread_flags(&b, "native", THREAD_NATIVE));
    cr_assert_not_null(f);
    cr_expect_eq(f->severity, SEVERITY_WARNING);
    cr_expect_not_null(strstr(f->text, "mostly web-1 ("), "%s", f->text);
    cr_expect_not_null(strstr(f->text, "; 90 % of its running time in Price.sum (Price.java:5) "
                                       "<- Desk.place (Desk.java:20)"),
                       "%s", f->text);
    cr_expect_null(strstr(f->text, "get their work"), "%s", f->text);
}

Test(servers, who_runs_alone_and_gives_the_others_their_work_is_the_limit)
{
    const struct rule_finding *f = computes_alone(500000000, web[0]);
    cr_assert_not_null(f);
    cr_expect_eq(f->severity, SEVERITY_PROBLEM);
    cr_expect_not_null(strstr(f->text, "; the other threads get their work from it; try: let more "
                                       "threads do this"),
                       "%s", f->text);
}

/* web-1 computes for 3 s, all others are parked, but for some who run one after the other, for 50 ms
 * each. */
static bool is_serial_beside(uint32_t n)
{
    const uint64_t end = 3000000000, each = 50000000;
    const thread_id parked[] = {ann, bob, cat, dan, web[1], web[2]};
    for (size_t i = 0; i < sizeof parked / sizeof *parked; i++)
        does_park(parked[i], 1000, end);
    for (uint64_t i = 0; i < n; i++) {
        thread_id who = builder_thread(&b, "io");
        does_park(who, 1000, i * each + 2000);
        does_park(who, (i + 1) * each, end);
    }
    ADD0(&b, web[0].v, web[0], 1000, thread_start);
    run(end);
    return has_finding("serial-phase");
}

Test(servers, many_threads_that_do_little_are_others_too)
{
    cr_assert(is_serial_beside(12));
}

Test(servers, a_few_threads_that_do_little_are_not)
{
    cr_assert_not(is_serial_beside(3));
}

Test(servers, who_runs_alone_for_a_part_of_the_time_is_a_note)
{
    const struct rule_finding *f = computes_alone(1800000000, web[0]);
    cr_assert_not_null(f);
    cr_expect_eq(f->severity, SEVERITY_INFO);
}

Test(servers, the_main_threads_start_of_a_server_is_no_serial_phase)
{
    cr_assert_not(starts_alone(true));
}

Test(servers, the_main_threads_serial_phase_of_a_program_is_told)
{
    cr_assert(starts_alone(false));
}

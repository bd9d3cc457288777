/* What blocks threads, who has it, and what the holders do. */
#include "analyze/labels.h"
#include "analyzed.h"
#include "conclude/does.h"
#include "conclude/report.h"
#include "conclude/resource_names.h"
#include "conclude/rules.h"
#include "conclude/thread_pools.h"
#include "export/report_json.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(resources, .init = analyzed_begin, .fini = analyzed_end);

static struct resources all;

/* The first screen's table, and the columns of --threads and JSON, are of one decision. */
static void check_columns(const struct resources *of)
{
    for (uint32_t i = 1; i < a->timeline.n_lines; i++) {
        const struct thread_sums *s = &a->stats.threads[i];
        const uint64_t *to = s->waited_for;
        uint64_t ns[THREAD_TIMES] = {0}, held_up = s->state[HELD_UP].ns;
        if (stills_of(&a->stills, i)->n || !thread_life(&a->threads.v[i]))
            continue;
        thread_times(of, a, i, ns);
        if (ns[TIME_CARRIER]) { /* of a wait: after its cause was over */
            cr_assert_leq(ns[TIME_BLOCKED], to[FOR_RESOURCE], "thread %u", i);
            continue;
        }
        cr_assert_eq(ns[TIME_BLOCKED], to[FOR_RESOURCE], "thread %u", i);
        cr_assert_eq(ns[TIME_IDLE], to[FOR_IDLE], "thread %u", i);
        cr_assert_leq(held_up, to[FOR_RESOURCE] + to[FOR_ANSWER], "thread %u", i);
    }
}

static void run(uint64_t end)
{
    analyzed_run(end);
    cr_assert_eq(resources_make(&all, a), 0);
    check_columns(&all);
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static const char *method_of(struct place p)
{
    static char text[256];
    trace_method_text(t, p.method, text, sizeof text);
    return text;
}

/* The first finding, which is about a resource. */
static const struct rule_finding *first_card(void)
{
    struct rule_finding *f;
    struct err err;
    size_t n;
    cr_assert_eq(rules_apply(a, &f, &n, NULL, &err), 0);
    cr_assert(n && f[0].resource);
    return &f[0];
}

/* The line of a finding behind a label; "": there is none. */
/* --- pools of threads ------------------------------------------------------------------------- */

/* "5 threads of web" would be of six that are of two. */
Test(resources, threads_of_two_pools_are_of_none)
{
    char name[LABEL_MAX];
    for (uint32_t i = 0; i < 7; i++) {
        char web[] = {'w', 'e', 'b', '-', (char)('1' + i), 0};
        thread_id who = builder_thread(&b, i < 6 ? web : "job-1");
        does_block(who, 1000000 + i, 90000000 + i, lock, ann);
    }
    run(100000000);
    cr_assert_eq(all.v[0].n_threads, 7);
    resource_pool_name(a, &all.v[0], name, sizeof name);
    cr_assert_str_eq(name, "");
}

/* main, while it starts the server: the first one, and for a moment. */
Test(resources, a_thread_that_came_by_is_not_of_the_pool)
{
    char name[LABEL_MAX];
    does_block(builder_thread(&b, "main"), 1000000, 2000000, lock, ann);
    for (uint32_t i = 0; i < 6; i++) {
        char web[] = {'w', 'e', 'b', '-', (char)('1' + i), 0};
        does_block(builder_thread(&b, web), 3000000 + i, 90000000 + i, lock, ann);
    }
    run(100000000);
    cr_assert_eq(all.v[0].n_threads, 7);
    cr_assert_eq(resource_n_waiters(&all.v[0]), 6);
    resource_pool_name(a, &all.v[0], name, sizeof name);
    cr_assert_str_eq(name, "web");
}

/* "6 threads of Thread" says nothing. */
Test(resources, the_jdks_own_names_of_threads_name_no_pool)
{
    char name[LABEL_MAX];
    for (uint32_t i = 0; i < 6; i++) {
        char own[] = {'T', 'h', 'r', 'e', 'a', 'd', '-', (char)('1' + i), 0};
        does_block(builder_thread(&b, own), 1000000 + i, 90000000 + i, lock, ann);
    }
    run(100000000);
    resource_pool_name(a, &all.v[0], name, sizeof name);
    cr_assert_str_eq(name, "");
}

/* They have no names. */
Test(resources, virtual_threads_are_called_so)
{
    for (uint32_t i = 0; i < 4; i++)
        does_block(builder_thread_flags(&b, "", THREAD_VIRTUAL), 1000000 + i, 90000000 + i, lock,
                   ann);
    run(100000000);
    const struct rule_finding *f = first_card();
    cr_assert_not_null(strstr(f->text, "; 4 virtual threads wait "), "%s", f->text);
}

/* Each in a pool of its own: which is the last there is room for has the others. */
Test(resources, pools_that_there_is_no_room_for_are_called_others)
{
    enum { ROOM = 256, MORE = 44 };
    const struct thread_pool *others = NULL;
    struct thread_pool *v;
    size_t n;
    uint64_t threads = 0;
    for (uint32_t i = 0; i < ROOM + MORE; i++) {
        char name[] = {(char)('a' + i / 26), (char)('a' + i % 26), '-', '1', 0};
        thread_id who = builder_thread(&b, name);
        ADD0(&b, who.v, who, 100, thread_start);
        ADD0(&b, who.v, who, 900, thread_end);
    }
    run(1000);
    cr_assert_eq(thread_pools_make(&v, &n, &all, a), 0);
    cr_assert_eq(n, ROOM);
    for (size_t i = 0; i < n; i++) {
        bool is_others = strcmp(v[i].name, "others") == 0;
        cr_assert(is_others || v[i].threads == 1, "%s: %u", v[i].name, v[i].threads);
        others = is_others ? &v[i] : others;
        threads += v[i].threads;
    }
    cr_assert_not_null(others);
    cr_assert_geq(threads, ROOM + MORE);
    cr_assert_eq(others->threads, threads - (ROOM - 1));
}

/* Names of pools may be long, and begin alike. */
Test(resources, pools_are_told_apart_by_their_whole_names)
{
#define MANAGER "C3P0PooledConnectionPoolManager[identityToken->z8kfltbm8epnkk2|50cbc42f]-"
    static const char *const names[] = {MANAGER "HelperThread-1", MANAGER "HelperThread-2",
                                        MANAGER "AdminTaskTimer-1"};
    struct thread_pool *v;
    size_t n, helpers = 0;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        does_block(builder_thread(&b, names[i]), 1000000 + i, 90000000 + i, lock, ann);
    run(100000000);
    cr_assert_eq(thread_pools_make(&v, &n, &all, a), 0);
    for (size_t i = 0; i < n; i++)
        helpers += strcmp(v[i].name, MANAGER "HelperThread") == 0 && v[i].threads == 2;
    cr_expect_eq(helpers, 1);
#undef MANAGER
}

/* --- whose code it is ------------------------------------------------------------------------- */

static const char *line_of(const char *command, const char *frames)
{
    stack_id s = builder_stack(&b, frames);
    if (command)
        builder_info(&b, "sun.java.command", command);
    run(1000);
    struct place p = program_place(&all.program, s);
    return p.method.v ? method_of(p) : "";
}

#define POOLED                                                                                     \
    "jdk.internal.misc.Unsafe.park:native java.util.concurrent.locks.LockSupport.park:1 "          \
    "com.fast.pool.Bag.borrow:7 org.apache.web.Filter.run:8 "

Test(resources, a_class_that_was_made_at_run_time_is_no_place_of_the_program)
{
    cr_assert_str_eq(line_of("shop.Main", POOLED "shop.Orders$$SpringCGLIB$$0.place:1 "
                                                 "shop.Desk.order:51 shop.Main.main:2"),
                     "shop.Desk.order");
}

Test(resources, the_program_is_what_its_main_class_shares_a_package_with)
{
    cr_assert_str_eq(line_of("com.acme.shop.Server 8080", POOLED "com.acme.orders.Desk.place:9"),
                     "com.acme.orders.Desk.place");
}

Test(resources, a_main_method_on_a_stack_says_it_too)
{
    cr_assert_str_eq(line_of("app.jar", "com.fast.pool.Bag.borrow:7 com.acme.orders.Desk.place:9 "
                                        "com.acme.shop.Server.main:3"),
                     "com.acme.orders.Desk.place");
}

/* No stack has a main method: of a server that was attached to. */
Test(resources, of_a_jar_the_agent_says_which_class_was_started)
{
    builder_info(&b, "main.class", "com.acme.shop.Server");
    cr_assert_str_eq(line_of("app.jar", POOLED "com.acme.orders.Desk.place:9"),
                     "com.acme.orders.Desk.place");
}

Test(resources, of_a_jar_of_spring_boot_the_agent_says_which_class_its_launcher_starts)
{
    builder_info(&b, "main.class", "org.springframework.boot.loader.launch.JarLauncher");
    builder_info(&b, "start.class", "com.acme.shop.Server");
    cr_assert_str_eq(line_of("app.jar", POOLED "com.acme.orders.Desk.place:9"),
                     "com.acme.orders.Desk.place");
}

Test(resources, a_launchers_main_is_not_the_programs)
{
    cr_assert_str_eq(
        line_of("app.jar", "org.h2.Engine.open:7 com.acme.orders.Desk.place:9 com.acme.App.main:3 "
                           "org.springframework.boot.loader.launch.Launcher.main:5"),
        "com.acme.orders.Desk.place");
}

Test(resources, a_library_that_is_the_program_is_it)
{
    cr_assert_str_eq(
        line_of("org.apache.broker.Main start", POOLED "org.apache.broker.Queue.add:9"),
        "org.apache.broker.Queue.add");
}

Test(resources, without_a_main_class_it_is_what_no_library_has)
{
    cr_assert_str_eq(line_of("/opt/server.jar",
                             "org.h2.Engine.open:7 shop.Desk.place:9 org.apache.web.Filter.run:8"),
                     "shop.Desk.place");
}

Test(resources, code_of_libraries_alone_has_no_line)
{
    cr_assert_str_eq(line_of("shop.Server", "java.lang.Thread.run:1 org.h2.Engine.open:7"), "");
}

Test(resources, all_of_a_library_whose_main_it_is_is_the_program)
{
    cr_assert_str_eq(line_of("org.h2.tools.Server -tcp", "jdk.net.Read.read:native "
                                                         "org.h2.value.Transfer.readInt:9 "
                                                         "org.h2.server.TcpServerThread.run:3"),
                     "org.h2.value.Transfer.readInt");
}

Test(resources, a_server_that_loaded_nobodys_program_is_the_program)
{
    analyzed_end();
    builder_init(&b); /* without the classes of all tests */
    cr_assert_str_eq(line_of("org.apache.catalina.startup.Bootstrap start",
                             "org.apache.coyote.Http.read:9 org.apache.catalina.Host.run:3"),
                     "org.apache.coyote.Http.read");
}

Test(resources, a_server_that_loaded_a_program_is_none)
{
    builder_stack(&b, "shop.Cart.total:7");
    cr_assert_str_eq(line_of("org.apache.catalina.startup.Bootstrap start",
                             "org.apache.coyote.Http.read:9 org.apache.catalina.Host.run:3"),
                     "");
}

/* Around the program's own frame: the same class, a library and the JDK between are passed over. */
static const char *line_with(const char *app, const char *frames)
{
    stack_id s = builder_stack(&b, frames);
    builder_info(&b, "sun.java.command", "com.acme.shop.Server 8080");
    struct err err = {""};
    t = builder_open(&b, 1000);
    t->app = app;
    cr_assert_eq(conclude_run(&a, t, &err), 0, "%s", err.msg);
    cr_assert_eq(resources_make(&all, a), 0);
    struct place p = program_place(&all.program, s), top, site;
    sites_name(t, s, &top, &site);
    cr_assert(!p.method.v || site.method.v == p.method.v, "%s: a table has another line", app);
    return p.method.v ? method_of(p) : "";
}

#define LAYERS                                                                                     \
    "java.lang.Object.wait:native com.fast.pool.Bag.borrow:7 com.acme.orders.Desk.place:9 "        \
    "org.h2.Engine.open:7 com.acme.shop.Server.main:3"

Test(resources, the_program_is_what_the_reader_says)
{
    cr_assert_str_eq(line_with("com.fast.*", LAYERS), "com.fast.pool.Bag.borrow");
}

Test(resources, the_reader_may_name_a_class_a_package_and_a_library)
{
    cr_assert_str_eq(line_with("org.h2", LAYERS), "org.h2.Engine.open");
}

Test(resources, a_name_is_no_beginning_of_a_name)
{
    cr_assert_str_eq(line_with("com.acme.order,com.acme.shop.Serv", LAYERS), "");
}

Test(resources, several_patterns_are_one_program)
{
    cr_assert_str_eq(line_with("none.*,*.Desk,com.acme.shop.Server", LAYERS),
                     "com.acme.orders.Desk.place");
}

Test(resources, the_caller_is_the_next_class_of_the_program)
{
    builder_info(&b, "sun.java.command", "com.acme.shop.Server");
    stack_id s = builder_stack(
        &b, "sun.nio.ch.NioSocketImpl.read:5 org.h2.Engine.open:7 com.acme.shop.Pay.send:31 "
            "com.acme.shop.Pay.pay:32 org.h2.Engine.call:8 other.Tool.run:1 "
            "java.util.HashMap.forEach:2 com.acme.shop.Desk.place:22 com.acme.shop.Server.main:3");
    run(1000);
    struct place at = program_place(&all.program, s), by = program_caller(&all.program, s);
    cr_assert_str_eq(method_of(at), "com.acme.shop.Pay.send");
    cr_assert_str_eq(method_of(by), "com.acme.shop.Desk.place");
    cr_assert_eq(by.line, 22);
}

/* --- pools ---------------------------------------------------------------------------------- */

/* The first one to give waits itself until then. */
static void begin_with(thread_id who, lock_id bag)
{
    stack_id give = builder_stack(&b, "shop.Main.main:2");
    ADD(&b, dan.v, dan, 5000000, unpark, .target = who, .stack = give);
    ADD(&b, who.v, who, 5001000, park_exit, .lock = bag);
}

/* Where who has the thing reads, and from whom. */
static const char *reads_in;
static lock_id reads_from;

/* Three threads share one thing of a pool that nobody knows: each waits for it, has it for 10 ms,
 * and gives it to the next. */
static lock_id pool_bag; /* what is waited on for one of the pool's */

static void make_pool(void)
{
    lock_id bag =
        builder_lock(&b, builder_class(&b, "Ljava/util/concurrent/SynchronousQueue$Transferer;"));
    pool_bag = bag;
    const thread_id who[] = {ann, bob, cat};
    stack_id take = builder_stack(&b, POOLED "shop.Desk.place:21 shop.Main.main:2"),
             give = builder_stack(
                 &b, "com.fast.pool.Bag.requite:30 shop.Desk.place:25 shop.Main.main:2");
    for (int i = 0; i < 3; i++)
        ADD(&b, who[i].v, who[i], 1000000, park_enter, .lock = bag, .stack = take);
    begin_with(ann, bag);
    uint64_t time = 5001000;
    for (int round = 0; round < 30; round++) {
        thread_id has = who[round % 3], next = who[(round + 1) % 3];
        time += 10000000;
        if (reads_in)
            ADD(&b, has.v, has, time - 10000, io, .what = IO_KIND_input, .peer = reads_from,
                .stack = builder_stack(&b, reads_in), .since = at(time - 9990000));
        ADD(&b, has.v, has, time, unpark, .target = next, .stack = give);
        ADD(&b, has.v, has, time + 500, park_enter, .lock = bag, .stack = take);
        ADD(&b, next.v, next, time + 1000, park_exit, .lock = bag);
    }
}

Test(resources, a_pool_that_nobody_knows_is_one_by_who_gives)
{
    make_pool();
    run(400000000);
    cr_assert_eq(all.n, 1);
    const struct resource *r = &all.v[0];
    cr_assert_eq(r->kind, RESOURCE_THINGS);
    cr_assert_eq(r->n_threads, 3);
    cr_assert_eq(r->at_once, 1);
    cr_assert_str_eq(method_of(r->wait_at), "shop.Desk.place");
    cr_assert_eq(r->wait_at.line, 21);
    char name[256];
    resource_title(r, a, name, sizeof name);
    cr_assert_str_eq(name, "Bag.borrow (pool)");
    cr_assert_gt(r->held, 250000000);
    cr_assert_eq(r->doing[0].does, DOES_UNKNOWN);
}

/* Who gives one back says so a moment later: a moment of two owners is not two things. */
Test(resources, what_two_have_for_a_moment_is_one)
{
    thread_id eve = builder_thread(&b, "eve"), fay = builder_thread(&b, "fay"),
              gus = builder_thread(&b, "gus");
    stack_id take = builder_stack(&b, POOLED "shop.Desk.place:21 shop.Main.main:2"),
             give = builder_stack(
                 &b, "com.fast.pool.Bag.requite:30 shop.Desk.place:25 shop.Main.main:2");
    make_pool();
    ADD(&b, gus.v, gus, 1000000, park_enter, .lock = pool_bag, .stack = take);
    ADD(&b, eve.v, eve, 1000000, park_enter, .lock = pool_bag, .stack = take);
    ADD(&b, fay.v, fay, 20000000, unpark, .target = gus, .stack = give);
    ADD(&b, gus.v, gus, 20001000, park_exit, .lock = pool_bag);
    ADD(&b, gus.v, gus, 21000000, unpark, .target = eve, .stack = give);
    ADD(&b, eve.v, eve, 21001000, park_exit, .lock = pool_bag);
    run(400000000);
    cr_assert_eq(all.n, 1);
    cr_assert_eq(all.v[0].n_holders, 4);
    cr_assert_eq(all.v[0].at_once, 1);
}

#define READ_BY "sun.nio.ch.SocketDispatcher.read0:native "

/* Each gives its thing to a helper of the pool, which wakes, works (for ms: reads, called by the pool),
 * and gives it to the next one. */
static void give_through_a_helper(uint64_t wakes, uint64_t works)
{
    lock_id bag =
        builder_lock(&b, builder_class(&b, "Ljava/util/concurrent/SynchronousQueue$Transferer;"));
    const thread_id who[] = {ann, bob, cat};
    stack_id take = builder_stack(&b, POOLED "shop.Desk.place:21 shop.Main.main:2"),
             put = builder_stack(&b,
                                 "com.fast.pool.Bag.later:30 shop.Desk.place:25 shop.Main.main:2"),
             idle = builder_stack(&b, "jdk.internal.misc.Unsafe.park:native "
                                      "java.util.concurrent.ThreadPoolExecutor.getTask:1"),
             give = builder_stack(&b, "com.fast.pool.Bag.requite:31 com.fast.pool.Helper.run:2"),
             tests = builder_stack(&b, READ_BY "shop.Check.test:4 com.fast.pool.Helper.run:2");
    for (int i = 0; i < 3; i++) {
        does_sleep(who[i], 100, 200);
        ADD(&b, who[i].v, who[i], 1000000, park_enter, .lock = bag, .stack = take);
    }
    begin_with(ann, bag);
    uint64_t time = 5001000;
    for (int round = 0; round < 30; round++) {
        thread_id has = who[round % 3], next = who[(round + 1) % 3];
        ADD(&b, dan.v, dan, time + 5000000, park_enter, .stack = idle);
        time += 10000000;
        ADD(&b, has.v, has, time, unpark, .target = dan, .stack = put);
        ADD(&b, has.v, has, time + 500, park_enter, .lock = bag, .stack = take);
        ADD(&b, dan.v, dan, time + wakes, park_exit);
        time += wakes + works;
        if (works > 1000000)
            ADD(&b, dan.v, dan, time - 1000, io, .what = IO_KIND_input, .since = at(time - works),
                .stack = tests);
        ADD(&b, dan.v, dan, time, unpark, .target = next, .stack = give);
        ADD(&b, next.v, next, time + 1000, park_exit, .lock = bag);
    }
    run(900000000);
    cr_assert_eq(all.n, 1);
    cr_assert_eq(all.v[0].kind, RESOURCE_THINGS);
}

/* A helper that works with the thing has it from when it woke. */
Test(resources, a_helper_has_the_thing_while_it_works)
{
    give_through_a_helper(3000000, 4000000);
    cr_assert_eq(all.v[0].n_holders, 4);
    cr_assert_gt(all.v[0].held, 29 * 13500000);
    cr_assert_lt(all.v[0].held, 30 * 14500000);
}

Test(resources, who_gives_through_a_helper_had_it)
{
    give_through_a_helper(1000, 9000);
    cr_assert_eq(all.v[0].at_once, 1);
    cr_assert_eq(all.v[0].n_holders, 3);
    cr_assert_gt(all.v[0].held, 250000000);
}

/* A pool's thread waits on whatever it is: what its name says is not a monitor. */
Test(resources, what_a_known_pool_waits_on_is_a_thing_of_the_pool)
{
    stack_id take = builder_stack(&b, "java.lang.Object.wait:native "
                                      "com.mchange.v2.resourcepool.BasicResourcePool.await:7 "
                                      "shop.Desk.place:21 shop.Main.main:2");
    for (uint64_t i = 0; i < 4; i++) {
        ADD(&b, 2, bob, 10000000 * i + 1000, monitor_contended_enter, .lock = other_lock,
            .owner = cat, .stack = stack);
        ADD(&b, 2, bob, 10000000 * i + 2000, monitor_contended_entered, .lock = other_lock);
        ADD(&b, 1, ann, 10000000 * i + 3000, wait_enter, .lock = lock, .stack = take);
        ADD(&b, 2, bob, 10000000 * i + 7000000, notify_all, .lock = lock);
        ADD(&b, 1, ann, 10000000 * i + 9000000, wait_exit, .lock = lock);
    }
    run(100000000);
    const struct resource *r = &all.v[0];
    cr_assert_eq(r->kind, RESOURCE_THINGS);
    cr_assert_str_eq(resource_role(r, a), "connection pool");
    cr_assert_eq(r->count, 4); /* taking the monitor again is the end of the same wait */
    cr_assert_eq(r->ns, 4 * 8997000);
}

/* Behind a queue it is not the owner who was seen who wakes the next one. */
Test(resources, an_owner_of_a_lock_has_it_until_it_wakes_the_next_one)
{
    lock_id sync = builder_lock(
        &b, builder_class(&b, "Ljava/util/concurrent/locks/ReentrantLock$NonfairSync;"));
    const thread_id who[] = {ann, bob, cat, dan};
    uint64_t time = 1000000;
    for (int i = 1; i < 4; i++)
        ADD(&b, who[i].v, who[i], time + (uint64_t)i, park_enter, .lock = sync, .owner = ann,
            .stack = stack);
    for (int round = 0; round < 20; round++) {
        thread_id has = who[round % 4], next = who[(round + 1) % 4];
        time += 10000000;
        ADD(&b, has.v, has, time, unpark, .target = next, .stack = other_stack);
        ADD(&b, next.v, next, time + 1000, park_exit, .lock = sync);
        ADD(&b, has.v, has, time + 2000, park_enter, .lock = sync, .owner = next, .stack = stack);
    }
    run(250000000);
    cr_assert_eq(all.n, 1);
    cr_assert_eq(all.v[0].kind, RESOURCE_LOCK);
    cr_assert_eq(all.v[0].n_holders, 4);
    cr_assert_gt(all.v[0].held, 190000000);
}

static const char *labelled(const struct rule_finding *f, enum card_label label)
{
    static char text[FINDING_TEXT];
    *text = 0;
    for (uint32_t i = 0; i < f->n_lines; i++)
        if (f->lines[i].label == label)
            finding_line(f, i, text);
    return text;
}

/* A thread that still waits for a permit that no thread gave back is reported like one that is
 * blocked on a lock. */
Test(resources, still_blocked_for_a_permit)
{
    struct rule_finding *f;
    struct err err;
    size_t n;
    class_id of = builder_class(&b, "Ljava/util/concurrent/Semaphore$FairSync;");
    lock_id permits = builder_lock(&b, of);
    ADD(&b, 1, ann, 1000, park_enter, .lock = permits, .stack = stack);
    ADD(&b, 2, bob, 2000, park_enter, .lock = permits, .stack = stack);
    run(500000000);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, &err), 0);
    cr_assert_eq(n, 1);
    cr_assert_eq(f->severity, SEVERITY_PROBLEM);
    cr_assert(strstr(f->text, "2 threads were still blocked"), "%s", f->text);
}

/* Some waited longer, and got it: the queue is as it was all the while. */
Test(resources, who_waits_at_the_end_for_less_than_others_did_is_in_the_usual_queue)
{
    for (uint64_t i = 0; i < 30; i++)
        does_block(i % 2 ? cat : dan, 1000000 + i * 20000000, 11000000 + i * 20000000, lock, ann);
    does_block(ann, 610000000, 1400000000, lock, bob);
    ADD(&b, cat.v, cat, 1400000000, monitor_contended_enter, .lock = lock, .owner = bob,
        .stack = stack);
    run(1700000000);
    struct rule_finding *f;
    size_t n;
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert_gt(n, 0);
    for (size_t i = 0; i < n; i++)
        cr_assert_not(strstr(f[i].text, "still blocked"), "%s", f[i].text);
}

/* A lock of which the JVM knows no owner, or only once: readers wait for cat, who sleeps under it. */
static void released_by_cat(bool once)
{
    lock_id stamped =
        builder_lock(&b, builder_class(&b, "Ljava/util/concurrent/locks/StampedLock;"));
    stack_id reads = builder_stack(&b, "java.util.concurrent.locks.LockSupport.park:1 "
                                       "java.util.concurrent.locks.StampedLock.readLock:2 "
                                       "shop.Desk.total:21 shop.Main.main:2"),
             gives = builder_stack(&b, "java.util.concurrent.locks.StampedLock.unlockWrite:2 "
                                       "shop.Desk.update:30 shop.Main.main:2");
    for (uint64_t i = 0; i < 10; i++) {
        uint64_t from = 1000000 + i * 40000000;
        const thread_id who[] = {ann, bob};
        for (int k = 0; k < 2; k++)
            ADD(&b, who[k].v, who[k], from + (uint64_t)k * 5000000, park_enter, .lock = stamped,
                .stack = reads);
        does_sleep(cat, from - 1000, from + 20000000);
        for (int k = 0; k < 2; k++) {
            ADD(&b, cat.v, cat, from + 20001000 + (uint64_t)k, unpark, .target = who[k],
                .stack = gives);
            ADD(&b, who[k].v, who[k], from + 20002000, park_exit, .lock = stamped);
        }
    }
    if (once) { /* for a moment */
        ADD(&b, ann.v, ann, 410000000, park_enter, .lock = stamped, .stack = reads, .owner = dan);
        ADD(&b, dan.v, dan, 410100000, unpark, .target = ann, .stack = gives);
        ADD(&b, ann.v, ann, 410101000, park_exit, .lock = stamped);
    }
    run(420000000);
    cr_assert_eq(all.n, 1);
    const struct resource *r = &all.v[0];
    cr_assert_eq(r->kind, RESOURCE_LOCK);
    cr_assert_eq(r->holder, cat.v);
    cr_assert_eq(r->n_holders, once ? 2 : 1);
    cr_assert_eq(r->doing[0].does, DOES_SLEEP);
    cr_assert_geq(r->held, 200000000);
    cr_assert_lt(r->held, 201000000); /* once for both who waited */
}

Test(resources, of_a_lock_without_a_known_owner_who_releases_it_had_it)
{
    released_by_cat(false);
}

Test(resources, of_a_lock_with_an_owner_for_a_moment_who_releases_it_had_it)
{
    released_by_cat(true);
}

#define CONDITION "Ljava/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject;"

/* ann waits for 90 ms for the lock of a queue, which bob had when she came.  After 5 ms bob releases it to
 * cat, who waits on its condition; or he wakes her for something else, elsewhere or in the same class.
 * Then he reads. */
enum wakes_cat { RELEASES, ELSEWHERE, NO_CONDITION };

static const struct resource *released_to_a_condition(enum wakes_cat how)
{
    lock_id queue = builder_lock(
                &b, builder_class(&b, "Ljava/util/concurrent/locks/ReentrantLock$NonfairSync;")),
            condition = builder_lock(
                &b, builder_class(&b, how == NO_CONDITION ? "Lshop/Ticket;" : CONDITION));
    stack_id waits = builder_stack(&b, "jdk.internal.misc.Unsafe.park:native "
                                       "java.util.concurrent.locks.LockSupport.park:1 "
                                       "java.util.concurrent.locks.ReentrantLock.lock:2 "
                                       "shop.Queue.offer:21 shop.Main.main:2"),
             awaits = builder_stack(&b, "jdk.internal.misc.Unsafe.park:native "
                                        "java.util.concurrent.locks.LockSupport.park:1 "
                                        "shop.Queue.poll:30 shop.Main.main:2"),
             unlocks = builder_stack(&b, "java.util.concurrent.locks.LockSupport.unpark:1 "
                                         "java.util.concurrent.locks.ReentrantLock.unlock:2 "
                                         "shop.Queue.poll:33 shop.Main.main:2"),
             reads = builder_stack(&b, READ_BY "shop.Desk.ask:31 shop.Main.main:2");
    for (uint64_t i = 0; i < 10; i++) {
        uint64_t from = 1000000 + i * 100000000;
        ADD(&b, cat.v, cat, from - 500000, park_enter, .lock = condition, .stack = awaits);
        ADD(&b, ann.v, ann, from, park_enter, .lock = queue, .stack = waits, .owner = bob);
        ADD(&b, bob.v, bob, from + 5000000, unpark, .target = cat,
            .stack = how == ELSEWHERE ? other_stack : unlocks);
        ADD(&b, cat.v, cat, from + 5001000, park_exit, .lock = condition);
        ADD(&b, bob.v, bob, from + 80000000, io, .what = IO_KIND_input, .stack = reads,
            .since = at(from + 6000000));
        /* dan comes by and sees bob again */
        ADD(&b, dan.v, dan, from + 85000000, park_enter, .lock = queue, .stack = waits,
            .owner = bob);
        ADD(&b, bob.v, bob, from + 90000000, unpark, .target = ann, .stack = unlocks);
        ADD(&b, ann.v, ann, from + 90001000, park_exit, .lock = queue);
        ADD(&b, dan.v, dan, from + 90002000, park_exit, .lock = queue);
    }
    run(1010000000);
    cr_assert_geq(all.n, 1);
    cr_assert_eq(all.v[0].kind, RESOURCE_LOCK);
    return &all.v[0];
}

Test(resources, who_releases_a_lock_to_a_condition_has_it_no_more)
{
    const struct resource *r = released_to_a_condition(RELEASES);
    cr_assert_lt(r->held, 10 * 11000000);
    for (size_t i = 0; i < r->n_doing; i++)
        cr_assert_neq(r->doing[i].does, DOES_INPUT);
}

Test(resources, who_wakes_another_for_something_else_keeps_the_lock)
{
    const struct resource *r = released_to_a_condition(ELSEWHERE);
    cr_assert_gt(r->held, 10 * 85000000);
    cr_assert_eq(r->doing[0].does, DOES_INPUT);
}

Test(resources, who_wakes_another_in_the_same_class_may_keep_the_lock)
{
    cr_assert_gt(released_to_a_condition(NO_CONDITION)->held, 10 * 85000000);
}

#define AWAITS "jdk.internal.misc.Unsafe.park:native "

/* Nobody sees an owner: who releases the lock had it, but not while it waited on a condition of it; it may
 * have had it while it waited for something else in the same class. */
static uint64_t held_by_who_waits_on(const char *what, const char *in)
{
    lock_id queue = builder_lock(
                &b, builder_class(&b, "Ljava/util/concurrent/locks/ReentrantLock$NonfairSync;")),
            condition = builder_lock(&b, builder_class(&b, what));
    stack_id waits = builder_stack(&b, "jdk.internal.misc.Unsafe.park:native "
                                       "java.util.concurrent.locks.ReentrantLock.lock:2 "
                                       "shop.Queue.offer:21 shop.Main.main:2"),
             awaits = builder_stack(&b, in),
             unlocks = builder_stack(&b, "java.util.concurrent.locks.ReentrantLock.unlock:2 "
                                         "shop.Queue.poll:33 shop.Main.main:2");
    for (uint64_t i = 0; i < 10; i++) {
        uint64_t from = 1000000 + i * 100000000;
        ADD(&b, bob.v, bob, from - 500000, park_enter, .lock = condition, .stack = awaits);
        ADD(&b, ann.v, ann, from, park_enter, .lock = queue, .stack = waits);
        ADD(&b, bob.v, bob, from + 80000000, park_exit, .lock = condition);
        ADD(&b, bob.v, bob, from + 90000000, unpark, .target = ann, .stack = unlocks);
        ADD(&b, ann.v, ann, from + 90001000, park_exit, .lock = queue);
    }
    run(1010000000);
    cr_assert_eq(all.v[0].kind, RESOURCE_LOCK);
    return all.v[0].held;
}

Test(resources, who_awaits_a_condition_has_no_lock)
{
    cr_assert_eq(held_by_who_waits_on(CONDITION, AWAITS "shop.Queue.poll:30 shop.Main.main:2"),
                 10 * 10000000);
}

/* A class around a lock may have its condition in another one. */
Test(resources, who_awaits_a_condition_of_a_nested_class_has_no_lock)
{
    cr_assert_eq(held_by_who_waits_on(CONDITION, AWAITS "shop.Queue$Filled.poll:30 "
                                                        "shop.Main.main:2"),
                 10 * 10000000);
}

Test(resources, who_waits_for_something_else_may_have_the_lock)
{
    cr_assert_eq(held_by_who_waits_on("Lshop/Ticket;", AWAITS "shop.Queue.poll:30 "
                                                              "shop.Main.main:2"),
                 10 * 90000000);
}

/* --- how much must be known ------------------------------------------------------------------- */

/* A monitor for which ann waits 40 times; in the given number of waits she saw that bob had it. */
static const struct rule_finding *with_owners(uint64_t known)
{
    for (uint64_t i = 0; i < 40; i++)
        does_block(ann, 1000000 + 20000000 * i, 11000000 + 20000000 * i, lock,
                   i < known ? bob : (thread_id){0});
    run(900000000);
    return first_card();
}

Test(resources, an_owner_of_one_wait_in_forty_is_named_nowhere)
{
    const struct rule_finding *f = with_owners(1);
    char who[2 * LABEL_MAX];
    cr_assert_str_eq(labelled(f, CARD_HELD_BY), "unknown for 98 % of the time");
    finding_holders(f->resource, a, who, sizeof who);
    cr_assert_str_eq(who, "");
}

/* What it did then says nothing of the other waits. */
Test(resources, of_an_owner_that_is_named_nowhere_nothing_is_advised)
{
    does_sleep(bob, 1100000, 10900000);
    cr_assert_str_eq(labelled(with_owners(1), CARD_TRY), "");
}

/* A wait of 94 ms for bob, who computes in that time: the only one, or one of several. */
static const char *advice_after(uint64_t times)
{
    for (uint64_t i = 0; i < times; i++) {
        does_block(ann, 1000000 + i * 100000000, 95000000 + i * 100000000, lock, bob);
        for (uint64_t k = 1; k < 9; k++)
            does_look(bob, 10000000 * k + i * 100000000, "shop.Pay.sum:31 shop.Desk.place:22", 0);
    }
    run(1000000000);
    return labelled(first_card(), CARD_TRY);
}

Test(resources, who_computes_with_a_lock_is_advised)
{
    cr_assert_str_eq(advice_after(9), "do this work outside the lock, or split the lock");
}

Test(resources, what_a_start_needs_once_gets_no_advice)
{
    cr_assert_str_eq(advice_after(1), "");
}

Test(resources, an_owner_of_some_waits_stands_beside_how_many)
{
    const struct rule_finding *f = with_owners(8);
    cr_assert(begins(labelled(f, CARD_HELD_BY), "known for 20 % of the time: bob"), "%s", f->text);
}

Test(resources, an_owner_of_most_waits_is_the_owner)
{
    const struct rule_finding *f = with_owners(39);
    cr_assert(begins(labelled(f, CARD_HELD_BY), "bob"), "%s", f->text);
}

/* Of two samples no share is made; what would say more is named. */
static const struct rule_finding *with_looks(int looks)
{
    struct rule_finding *f;
    struct err err;
    size_t n;
    make_pool();
    for (int i = 0; i < looks; i++)
        does_look((const thread_id[]){ann, bob, cat}[i], 5001000 + 10000000 * (uint64_t)i + 8000000,
                  "shop.Pay.pay:31 shop.Desk.place:22", 0);
    run(400000000);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, &err), 0);
    return &f[0];
}

Test(resources, two_samples_are_no_share)
{
    const struct rule_finding *f = with_looks(2);
    cr_assert_str_eq(labelled(f, CARD_HELD_BY), "3 threads, computing in 2 of 2 samples");
    cr_assert(begins(labelled(f, CARD_RERUN), "with --wall 5ms"), "%s", f->text);
}

Test(resources, three_samples_say_something)
{
    const struct rule_finding *f = with_looks(3);
    cr_assert(strstr(labelled(f, CARD_HELD_BY), "computing (3 of 3 samples)"), "%s", f->text);
}

/* Owners that were asked say more than two samples do. */
Test(resources, more_data_never_says_less)
{
    struct rule_finding *f;
    struct err err;
    size_t n;
    stack_id counts = builder_stack(&b, "shop.Pay.count:41 shop.Desk.place:22");
    for (uint64_t i = 0; i < 20; i++) {
        ADD(&b, 1, ann, 1000000 + 20000000 * i, monitor_contended_enter, .lock = lock, .owner = bob,
            .stack = stack);
        ADD(&b, 1, ann, 1000000 + 20000000 * i, owner_stack, .lock = lock, .owner = bob,
            .stack = counts);
        ADD(&b, 1, ann, 11000000 + 20000000 * i, monitor_contended_entered, .lock = lock);
    }
    for (uint64_t i = 0; i < 2; i++)
        does_look(bob, 9000000 + 20000000 * i, "shop.Pay.open:31 shop.Desk.place:22", 0);
    run(500000000);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, &err), 0);
    cr_assert(strstr(labelled(&f[0], CARD_HELD_BY), "computing (20 of 20 samples)"), "%s",
              f[0].text);
    cr_assert(begins(labelled(&f[0], CARD_MORE), "Pay.count (Pay.java:41)"), "%s", f[0].text);
}

/* An owner that was asked while it waited for a lock of the C library computes nothing. */
Test(resources, an_owner_in_a_native_lock_does_not_compute)
{
    stack_id waits = builder_stack(&b, "libc.__futex_abstimed_wait_common:stub "
                                       "libjvm.ChunkPool:stub shop.Pay.count:41");
    for (uint64_t i = 0; i < 20; i++) {
        ADD(&b, 1, ann, 1000000 + 20000000 * i, monitor_contended_enter, .lock = lock, .owner = bob,
            .stack = stack);
        ADD(&b, 1, ann, 1000000 + 20000000 * i, owner_stack, .lock = lock, .owner = bob,
            .stack = waits);
        ADD(&b, 1, ann, 11000000 + 20000000 * i, monitor_contended_entered, .lock = lock);
    }
    run(500000000);
    cr_assert_eq(all.v[0].doing[0].does, DOES_NATIVE);
    cr_assert_str_eq(method_of(all.v[0].doing[0].at), "shop.Pay.count");
}

/* Threads that notifyAll wakes for nothing queue for the monitor: the lock's finding says both. */
Test(resources, a_storm_at_a_lock_that_has_a_finding_is_no_second_one)
{
    struct rule_finding *f;
    struct err err;
    size_t n;
    const thread_id who[] = {ann, bob, cat};
    for (int i = 0; i < 3; i++)
        ADD(&b, who[i].v, who[i], 1000, wait_enter, .lock = lock, .stack = stack);
    for (uint64_t round = 1; round < 30; round++) {
        uint64_t time = round * 10000000;
        ADD(&b, dan.v, dan, time, notify_all, .lock = lock, .stack = other_stack);
        for (uint64_t i = 0; i < 3; i++) {
            ADD(&b, who[i].v, who[i], time + 9000000 + i * 1000, wait_exit, .lock = lock);
            ADD(&b, who[i].v, who[i], time + 9000100 + i * 1000, wait_enter, .lock = lock,
                .stack = stack);
        }
    }
    run(310000000);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, &err), 0);
    cr_assert(f[0].resource && f[0].resource->lock.v == lock.v);
    cr_assert(strstr(f[0].text, "wake-ups by notifyAll() ("), "%s", f[0].text);
    for (size_t i = 0; i < n; i++)
        cr_assert_str_neq(f[i].rule, "notify-storm");
}

/* The option that was off is named where it decides; not where looks say it. */
Test(resources, what_would_have_said_what_holders_do)
{
    struct rule_finding *f;
    struct err err;
    size_t n;
    make_pool();
    run(400000000);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, &err), 0);
    cr_assert_str_eq(f[0].rule, "exhausted-pool");
    cr_assert(begins(labelled(&f[0], CARD_RERUN), "with --wall 20ms"));
}

Test(resources, looks_say_what_holders_do)
{
    make_pool();
    for (int round = 0; round < 30; round++)
        does_look((const thread_id[]){ann, bob, cat}[round % 3],
                  5001000 + 10000000 * (uint64_t)round + 8000000,
                  "sun.nio.ch.SocketDispatcher.read0:native sun.nio.ch.NioSocketImpl.read:5 "
                  "shop.Pay.pay:31 shop.Desk.place:22",
                  SAMPLE_IDLE);
    run(400000000);
    const struct activity *x = &all.v[0].doing[0];
    cr_assert_eq(x->does, DOES_INPUT);
    cr_assert_str_eq(method_of(x->at), "shop.Pay.pay");
    cr_assert_eq(x->at.line, 31);
    cr_assert_gt(x->ns, all.v[0].held * 9 / 10);
    cr_assert_geq(x->samples, 25);
    cr_assert_str_eq(method_of(program_caller(&all.program, x->stack)), "shop.Desk.place");
    cr_assert_not(samples_any(&a->samples)); /* they are in no table of samples */
}

/* As make_pool, but who has just got the thing wakes the next one, too, who looks, and waits again:
 * a row's lock of a database. */
static void make_row(void)
{
    class_id grant = builder_class(&b, "Lcom/fast/pool/Grant;"); /* one for each wait */
    lock_id of[] = {builder_lock(&b, grant), builder_lock(&b, grant), builder_lock(&b, grant)};
    const thread_id who[] = {ann, bob, cat};
    stack_id take = builder_stack(&b, "java.lang.Object.wait:native com.fast.pool.Rows.grant:7 "
                                      "shop.Desk.place:21 shop.Main.main:2"),
             wake = builder_stack(&b, "com.fast.pool.Rows.wake:9 com.fast.pool.Rows.grant:8 "
                                      "shop.Desk.place:21 shop.Main.main:2"),
             give = builder_stack(&b,
                                  "com.fast.pool.Rows.free:30 shop.Desk.place:25 shop.Main.main:2"),
             sleeps =
                 builder_stack(&b, "java.lang.Thread.sleep:1 shop.Desk.place:23 shop.Main.main:2");
    uint64_t time = 5001000;
    for (int i = 0; i < 3; i++)
        ADD(&b, who[i].v, who[i], 1000000, wait_enter, .lock = of[i], .stack = take);
    ADD(&b, dan.v, dan, 5000000, notify, .lock = of[0], .stack = give);
    ADD(&b, ann.v, ann, time, wait_exit, .lock = of[0]);
    for (int round = 0; round < 30; round++) {
        int x = round % 3, y = (round + 1) % 3;
        ADD(&b, who[x].v, who[x], time + 50000, notify, .lock = of[y], .stack = wake);
        ADD(&b, who[y].v, who[y], time + 60000, wait_exit, .lock = of[y]);
        ADD(&b, who[y].v, who[y], time + 75000, wait_enter, .lock = of[y], .stack = take);
        ADD(&b, who[x].v, who[x], time + 1000000, sleep_enter, .stack = sleeps);
        ADD0(&b, who[x].v, who[x], time + 9000000, sleep_exit);
        time += 10000000;
        ADD(&b, who[x].v, who[x], time, notify, .lock = of[y], .stack = give);
        of[x] = builder_lock(&b, grant);
        ADD(&b, who[x].v, who[x], time + 500, wait_enter, .lock = of[x], .stack = take);
        ADD(&b, who[y].v, who[y], time + 1000, wait_exit, .lock = of[y]);
        time += 1000;
    }
}

Test(resources, who_looks_and_waits_again_was_given_nothing)
{
    make_row();
    run(400000000);
    cr_assert_eq(all.v[0].kind, RESOURCE_THINGS);
    cr_assert_eq(all.v[0].at_once, 1);
    cr_assert_gt(all.v[0].held, 250000000);
    cr_assert_eq(all.v[0].doing[0].does, DOES_SLEEP);
    cr_assert_gt(all.v[0].doing[0].ns, all.v[0].held * 7 / 10);
}

/* Compiled code may tell the method and not the line: other samples of the method do. */
Test(resources, a_line_that_samples_lack_is_that_of_others)
{
    make_pool();
    for (int round = 0; round < 30; round++)
        does_look((const thread_id[]){ann, bob, cat}[round % 3],
                  5001000 + 10000000 * (uint64_t)round + 8000000,
                  "shop.Pay.sum:-1 shop.Desk.place:22", 0);
    does_look(dan, 330000000, "shop.Pay.sum:41 shop.Desk.other:3", 0);
    does_look(dan, 340000000, "shop.Pay.sum:44 shop.Desk.other:3", 0);
    does_look(dan, 350000000, "shop.Pay.sum:44 shop.Desk.other:3", 0);
    run(400000000);
    const struct activity *x = &all.v[0].doing[0];
    cr_assert_str_eq(method_of(x->at), "shop.Pay.sum");
    cr_assert_eq(x->at.line, 44);
    cr_assert(x->other_line);
}

/* Who enters the method's monitor, or has just left it, tells where it begins: nobody works there. */
Test(resources, the_line_of_a_methods_monitor_is_not_where_it_works)
{
    stack_id enters = builder_stack(&b, "shop.Pay.sum:40 shop.Desk.place:22");
    for (uint64_t i = 0; i < 20; i++) {
        ADD(&b, ann.v, ann, 1000000 + i * 10000000, monitor_contended_enter, .lock = lock,
            .owner = bob, .stack = enters);
        does_look(bob, 5000000 + i * 10000000, "shop.Pay.sum:-1 shop.Desk.place:22", 0);
        does_look(ann, 8000000 + i * 10000000, "shop.Pay.sum:40 shop.Desk.place:22", 0);
        ADD(&b, ann.v, ann, 10000000 + i * 10000000, monitor_contended_entered, .lock = lock);
    }
    run(400000000);
    const struct activity *x = &all.v[0].doing[0];
    cr_assert_str_eq(method_of(x->at), "shop.Pay.sum");
    for (size_t i = 0; i < all.v[0].n_doing; i++)
        cr_assert_not(all.v[0].doing[i].other_line, "line %d", all.v[0].doing[i].at.line);
}

/* Work that others hand over is waited for in the same way, but who gives never waits there. */
Test(resources, a_queue_of_work_is_none)
{
    lock_id queue =
        builder_lock(&b, builder_class(&b, "Ljava/util/concurrent/SynchronousQueue$Transferer;"));
    stack_id take = builder_stack(&b, "jdk.internal.misc.Unsafe.park:native "
                                      "java.util.concurrent.SynchronousQueue.poll:9 "
                                      "com.fast.work.Inbox.next:12 shop.Worker.run:21"),
             give = builder_stack(&b, "shop.Main.main:2");
    for (uint64_t i = 0; i < 20; i++) {
        ADD(&b, ann.v, ann, 1000000 + i * 10000000, park_enter, .lock = queue, .stack = take);
        ADD(&b, dan.v, dan, 9000000 + i * 10000000, unpark, .target = ann, .stack = give);
        ADD(&b, ann.v, ann, 9001000 + i * 10000000, park_exit, .lock = queue);
    }
    run(400000000);
    cr_assert_eq(all.n, 0);
}

/* dan alone ends what others wait for, each 10 ms, and never waits there himself. */
static const struct resource *given_by_dan(const char *class_, const char *frames)
{
    lock_id on = builder_lock(&b, builder_class(&b, class_));
    stack_id wait = builder_stack(&b, frames), give = builder_stack(&b, "shop.Main.main:2");
    for (uint64_t i = 0; i < 20; i++)
        for (int k = 0; k < 2; k++) {
            thread_id who = k ? ann : bob;
            uint64_t time = 1000000 + i * 10000000 + (uint64_t)k * 1000;
            ADD(&b, who.v, who, time, park_enter, .lock = on, .stack = wait);
            ADD(&b, dan.v, dan, time + 9000000, unpark, .target = who, .stack = give);
            ADD(&b, who.v, who, time + 9000500, park_exit, .lock = on);
        }
    run(400000000);
    cr_assert_eq(all.n, 1);
    cr_assert_eq(all.v[0].kind, RESOURCE_THINGS);
    cr_assert_eq(all.v[0].holder, dan.v);
    return &all.v[0];
}

#define PARKED "jdk.internal.misc.Unsafe.park:native java.util.concurrent.locks.LockSupport.park:1 "

Test(resources, who_puts_into_a_queue_waits_for_a_full_one)
{
    const struct resource *r =
        given_by_dan("Ljava/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject;",
                     PARKED "java.util.concurrent.ArrayBlockingQueue.put:9 shop.Desk.place:21");
    char name[256];
    resource_title(r, a, name, sizeof name);
    cr_assert_str_eq(resource_role(r, a), "full queue");
    cr_assert_str_eq(name, "full queue of Desk.place");
}

/* What would help is at the consumer. */
Test(resources, who_empties_a_full_queue_too_slowly)
{
    stack_id reads = builder_stack(&b, "sun.nio.ch.SocketDispatcher.read0:native shop.Mail.send:31 "
                                       "shop.Mail.run:5");
    for (uint64_t i = 0; i < 20; i++)
        ADD(&b, dan.v, dan, 9900000 + i * 10000000, io, .what = IO_KIND_input, .stack = reads,
            .since = at(1100000 + i * 10000000));
    lock_id on = builder_lock(
        &b, builder_class(
                &b, "Ljava/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject;"));
    stack_id wait = builder_stack(
                 &b, PARKED "java.util.concurrent.ArrayBlockingQueue.put:9 shop.Desk.place:21"),
             give = builder_stack(&b, "java.util.concurrent.ArrayBlockingQueue.take:8 "
                                      "shop.Mail.run:4");
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t time = 1000000 + i * 10000000;
        for (uint64_t k = 0; k < 2; k++) /* both, by one act */
            ADD(&b, k ? ann.v : bob.v, k ? ann : bob, time + k, park_enter, .lock = on,
                .stack = wait);
        for (uint64_t k = 0; k < 2; k++)
            ADD(&b, 40, dan, time + 9000000 + k, unpark, .target = k ? ann : bob, .stack = give);
        for (uint64_t k = 0; k < 2; k++)
            ADD(&b, k ? ann.v : bob.v, k ? ann : bob, time + 9000500 + k, park_exit, .lock = on);
    }
    run(400000000);
    const struct rule_finding *f = first_card();
    cr_assert_str_eq(resource_role(f->resource, a), "full queue");
    cr_assert_eq(f->resource->doing[0].does, DOES_INPUT);
    cr_assert_leq(f->resource->doing[0].calls, 20); /* each once, though both waited */
    cr_assert_str_eq(labelled(f, CARD_TRY),
                     "let more threads empty the queue, or make the other end answer faster");
}

/* What empties a logger's queue is one thread. */
Test(resources, a_loggers_queue_cannot_have_more_consumers)
{
    for (uint64_t i = 0; i < 20; i++)
        does_look(dan, 5000000 + i * 10000000, "shop.Mail.format:12 shop.Mail.run:5", 0);
    given_by_dan("Ljava/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject;",
                 PARKED "java.util.concurrent.ArrayBlockingQueue.put:9 "
                        "ch.qos.logback.core.AsyncAppenderBase.put:3 shop.Desk.place:21");
    cr_assert_str_eq(labelled(first_card(), CARD_TRY), "make this work cheaper");
}

/* Both waits that one act ends have the same samples of the time before. */
Test(resources, a_sample_counts_once_however_many_waited)
{
    for (uint64_t i = 0; i < 20; i++)
        does_look(dan, 5000000 + i * 10000000, "shop.Mail.format:12 shop.Mail.run:5", 0);
    const struct resource *r =
        given_by_dan("Ljava/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject;",
                     PARKED "java.util.concurrent.ArrayBlockingQueue.put:9 shop.Desk.place:21");
    cr_assert_eq(r->doing[0].does, DOES_COMPUTE);
    cr_assert_leq(r->doing[0].samples, 20);
    const char *held = labelled(first_card(), CARD_CONSUMER);
    cr_assert_not_null(strstr(held, "computing (20 samples)"), "%s", held);
}

/* A thing is back when its thread has left the method that takes it, though it gives another one
 * later. */
Test(resources, who_has_left_the_method_that_took_a_thing_has_it_no_more)
{
    reads_in = "sun.nio.ch.SocketDispatcher.write0:native shop.Answer.close:9 shop.Main.main:2";
    reads_from = builder_lock(&b, builder_class(&b, "=client 10.0.0.9"));
    make_pool();
    run(400000000);
    for (size_t i = 0; i < all.v[0].n_doing; i++)
        cr_assert_neq(all.v[0].doing[i].does, DOES_OUTPUT);
    cr_assert_lt(all.v[0].held, 30000000);
}

/* Producers whose queue is full: dan makes room now and then; at other times one of them, which puts
 * something or looks, gives the queue's lock to another, and with that no room. */
Test(resources, who_gives_a_full_queues_lock_on_makes_no_room)
{
    lock_id on = builder_lock(
        &b, builder_class(
                &b, "Ljava/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject;"));
    stack_id wait =
        builder_stack(&b, PARKED "java.util.concurrent.ArrayBlockingQueue.put:9 shop.Log.put:3 "
                                 "shop.Log.append:2 shop.Desk.place:21");
    const stack_id give[] = {
        builder_stack(&b, "java.util.concurrent.ArrayBlockingQueue.take:8 shop.Writer.run:5"),
        builder_stack(&b, "java.util.concurrent.ArrayBlockingQueue.put:9 shop.Log.put:3 "
                          "shop.Log.append:2 shop.Desk.place:21"),
        builder_stack(&b, "java.util.concurrent.ArrayBlockingQueue.remainingCapacity:7 "
                          "shop.Log.isFull:4 shop.Log.append:1 shop.Desk.place:21"),
        builder_stack(&b, "java.util.concurrent.ArrayBlockingQueue.remainingCapacity:7 "
                          "shop.Log.isFull:4 shop.Log.append:1 shop.Desk.place:21")};
    for (uint64_t i = 0; i < 40; i++) {
        uint64_t time = 1000000 + i * 10000000;
        thread_id who = i % 2 ? ann : bob, by = i % 4 == 0 ? dan : i % 2 ? bob : ann;
        ADD(&b, who.v, who, time, park_enter, .lock = on, .stack = wait);
        ADD(&b, by.v, by, time + 9000000, unpark, .target = who, .stack = give[i % 4]);
        ADD(&b, who.v, who, time + 9000500, park_exit, .lock = on);
    }
    run(500000000);
    cr_assert_eq(all.n, 1);
    cr_assert(resource_is_full_queue(&all.v[0]));
    cr_assert_eq(all.v[0].holder, dan.v);
    cr_assert_eq(all.v[0].n_holders, 1);
}

/* Known pools are called by the method that is asked for a thing, not by that of a queue inside. */
Test(resources, a_lock_inside_of_a_known_pool_is_a_lock)
{
    stack_id take = builder_stack(&b, PARKED "org.apache.hc.core5.pool.StrictConnPool.release:9 "
                                             "shop.Desk.place:21");
    lock_id of = builder_lock(
        &b, builder_class(&b, "Ljava/util/concurrent/locks/ReentrantLock$NonfairSync;"));
    for (uint64_t i = 0; i < 20; i++) {
        thread_id who = i % 2 ? ann : bob, by = i % 2 ? bob : ann;
        ADD(&b, who.v, who, 1000000 + i * 10000000, park_enter, .lock = of, .owner = by,
            .stack = take);
        ADD(&b, by.v, by, 10000000 + i * 10000000, unpark, .target = who, .stack = take);
        ADD(&b, who.v, who, 10000500 + i * 10000000, park_exit, .lock = of);
    }
    run(400000000);
    cr_assert_eq(all.v[0].kind, RESOURCE_LOCK);
    cr_assert_str_eq(resource_role(&all.v[0], a), "lock of the HTTP connection pool");
}

Test(resources, a_known_pool_is_called_by_the_method_that_is_asked)
{
    lock_id on = builder_lock(
        &b, builder_class(
                &b, "Ljava/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject;"));
    stack_id take =
        builder_stack(&b, PARKED "org.apache.commons.pool2.impl.LinkedBlockingDeque.takeFirst:9 "
                                 "org.apache.commons.pool2.impl.GenericObjectPool.borrowObject:3 "
                                 "redis.clients.jedis.JedisPool.getResource:2 shop.Desk.place:21");
    stack_id give =
        builder_stack(&b, "org.apache.commons.pool2.impl.GenericObjectPool.returnObject:7 "
                          "redis.clients.jedis.Jedis.close:5 shop.Desk.place:25");
    for (uint64_t i = 0; i < 20; i++) {
        thread_id who = i % 2 ? ann : bob, by = i % 2 ? bob : ann;
        ADD(&b, who.v, who, 1000000 + i * 10000000, park_enter, .lock = on, .stack = take);
        ADD(&b, by.v, by, 10000000 + i * 10000000, unpark, .target = who, .stack = give);
        ADD(&b, who.v, who, 10000500 + i * 10000000, park_exit, .lock = on);
    }
    run(400000000);
    char name[256];
    resource_title(&all.v[0], a, name, sizeof name);
    cr_assert_str_eq(name, "GenericObjectPool.borrowObject (object pool)");
}

/* Also where the pool of objects is in a pool of connections. */
Test(resources, a_pool_of_objects_is_of_connections_where_one_is_asked_for)
{
    const struct resource *r = given_by_dan(
        "Ljava/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject;",
        PARKED "org.apache.commons.pool2.impl.LinkedBlockingDeque.takeFirst:9 "
               "org.apache.commons.dbcp2.BasicDataSource.getConnection:3 shop.Desk.place:21");
    cr_assert_str_eq(resource_role(r, a), "connection pool");
}

/* By turns one of three loads what all want, by input; the others wait until it is there. */
Test(resources, who_loads_an_entry_has_it_for_all_that_wait)
{
    const thread_id who[] = {ann, bob, cat};
    lock_id future = builder_lock(&b, builder_class(&b, "Lcom/google/common/cache/Future;"));
    stack_id waits = builder_stack(&b, PARKED "com.google.common.cache.LocalCache.get:9 "
                                              "shop.Desk.place:21 shop.Main.main:2"),
             reads =
                 builder_stack(&b, "sun.nio.ch.SocketDispatcher.read0:native "
                                   "shop.Loader.load:31 com.google.common.cache.LocalCache.get:7 "
                                   "shop.Desk.place:21 shop.Main.main:2"),
             loaded = builder_stack(&b, "com.google.common.cache.LocalCache.get:8 "
                                        "shop.Desk.place:21 shop.Main.main:2"),
             answers = builder_stack(&b, "sun.nio.ch.SocketDispatcher.write0:native "
                                         "shop.Desk.answer:24 shop.Main.main:2");
    for (uint64_t i = 0; i < 30; i++) {
        uint64_t time = 1000000 + i * 20000000;
        thread_id loads = who[i % 3];
        for (uint64_t k = 1; k < 3; k++)
            ADD(&b, who[(i + k) % 3].v, who[(i + k) % 3], time + k, park_enter, .lock = future,
                .stack = waits);
        ADD(&b, loads.v, loads, time + 9000000, io, .what = IO_KIND_input, .stack = reads,
            .since = at(time + 1000));
        for (uint64_t k = 1; k < 3; k++)
            ADD(&b, loads.v, loads, time + 9000000 + k, unpark, .target = who[(i + k) % 3],
                .stack = loaded);
        for (uint64_t k = 1; k < 3; k++)
            ADD(&b, who[(i + k) % 3].v, who[(i + k) % 3], time + 9001000 + k, park_exit,
                .lock = future);
        for (uint64_t k = 0; k < 3; k++) /* all go on to something else */
            ADD(&b, who[k].v, who[k], time + 15000000, io, .what = IO_KIND_output, .stack = answers,
                .since = at(time + 9500000));
    }
    run(700000000);
    cr_assert_str_eq(resource_role(&all.v[0], a), "loading of a cache entry");
    cr_assert_eq(all.v[0].doing[0].does, DOES_INPUT);
    cr_assert_gt(all.v[0].doing[0].ns, all.v[0].held * 9 / 10);
    cr_assert_eq(all.v[0].doing[0].at.line, 31);
    cr_assert_str_eq(labelled(first_card(), CARD_TRY),
                     "load entries before they expire, and use the old ones until then");
}

/* A library's own queue, by the name of its method. */
Test(resources, who_appends_to_a_librarys_queue_waits_for_a_full_one)
{
    const struct resource *r = given_by_dan(
        "Ljava/util/ArrayList;", PARKED "com.fast.log.AsyncAppender.append:9 shop.Desk.place:21");
    cr_assert_str_eq(resource_role(r, a), "full queue");
}

/* A word in the name of a class around it says less. */
Test(resources, a_full_queue_is_called_so_whatever_hands_on_to_it)
{
    const struct resource *r =
        given_by_dan("Ljava/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject;",
                     PARKED "java.util.concurrent.LinkedBlockingQueue.put:9 mid.SedaProducer.add:3 "
                            "mid.ProducerCache.send:4 shop.Desk.place:21");
    cr_assert_str_eq(resource_role(r, a), "full queue");
}

Test(resources, a_lock_whose_holder_never_waits_there_is_no_queue)
{
    const struct resource *r = given_by_dan(
        "Lshop/Mutex$Sync;", PARKED "java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire:"
                                    "9 shop.Mutex.lock:3 shop.Desk.place:21");
    char name[256];
    resource_title(r, a, name, sizeof name);
    cr_assert_str_eq(resource_role(r, a), "pool or limit");
    cr_assert_null(strstr(name, "queue"));
}

/* Workers without work wake each other from the very call in which each waits: nothing is given. */
Test(resources, workers_that_wake_each_other_are_idle)
{
    lock_id queue = builder_lock(
        &b, builder_class(
                &b, "Ljava/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject;"));
    stack_id take = builder_stack(&b, PARKED "java.util.concurrent.LinkedBlockingQueue.take:9 "
                                             "shop.Worker.run:21"),
             wake = builder_stack(&b, "java.util.concurrent.locks.LockSupport.unpark:2 "
                                      "java.util.concurrent.LinkedBlockingQueue.take:19 "
                                      "shop.Worker.run:21");
    for (uint64_t i = 0; i < 20; i++) {
        thread_id waits = i % 2 ? ann : bob, wakes = i % 2 ? bob : ann;
        uint64_t time = 1000000 + i * 10000000;
        ADD(&b, waits.v, waits, time, park_enter, .lock = queue, .stack = take);
        ADD(&b, wakes.v, wakes, time + 9000000, unpark, .target = waits, .stack = wake);
        ADD(&b, waits.v, waits, time + 9001000, park_exit, .lock = queue);
    }
    run(400000000);
    cr_assert_eq(all.n, 0);
}

/* What went back while nobody waited is no longer its thread's when that waits for work. */
Test(resources, a_thing_is_given_back_before_its_thread_is_idle)
{
    stack_id idle = builder_stack(&b, PARKED "java.util.concurrent.LinkedBlockingQueue.take:2 "
                                             "java.util.concurrent.ThreadPoolExecutor.getTask:3 "
                                             "java.util.concurrent.ThreadPoolExecutor.runWorker:4"),
             give = builder_stack(&b, "com.fast.pool.Bag.requite:30 shop.Desk.place:25");
    lock_id queue =
        builder_lock(&b, builder_class(&b, "Ljava/util/concurrent/locks/AbstractQueuedSynchronizer$"
                                           "ConditionObject;"));
    make_pool(); /* until 305 ms; ann has it then */
    ADD(&b, ann.v, ann, 306000000, park_enter, .lock = queue, .stack = idle);
    ADD(&b, dan.v, dan, 355000000, unpark, .target = ann, .stack = other_stack);
    ADD(&b, ann.v, ann, 356000000, park_exit, .lock = queue);
    ADD(&b, ann.v, ann, 360000000, unpark, .target = bob, .stack = give);
    ADD(&b, bob.v, bob, 360001000, park_exit, .lock = {queue.v + 1}); /* the pool's */
    run(400000000);
    cr_assert_lt(all.v[0].held, 310000000);
}

/* Who has one reads from a server, in the pool's own library; or in another one. */
static char key[256]; /* what a comparison calls it */

static const char *name_of_pool_that_reads(const char *frames)
{
    static char name[256];
    reads_in = frames;
    reads_from = builder_lock(&b, builder_class(&b, "=10.0.0.7:5432"));
    make_pool();
    run(400000000);
    resource_name(&all.v[0], a, name, sizeof name);
    resource_key(&all.v[0], a, key, sizeof key);
    return name;
}

Test(resources, a_pool_of_connections_to_one_server_is_called_so)
{
    const char *name = name_of_pool_that_reads(READ_BY "com.fast.pool.Line.ask:3 "
                                                       "shop.Desk.place:23 shop.Main.main:2");
    cr_assert_not_null(strstr(name, " to 10.0.0.7:5432"), "%s", name);
    cr_assert_str_eq(key, "Bag.borrow (pool)"); /* whoever else it leads to another time */
}

/* The call is what a connection is taken for. */
Test(resources, a_pool_of_connections_to_one_server_is_too_small_or_the_server_too_slow)
{
    name_of_pool_that_reads(READ_BY "com.fast.pool.Line.ask:3 shop.Desk.place:23 shop.Main.main:2");
    cr_assert_str_eq(labelled(first_card(), CARD_TRY),
                     "allow more at once, or make the other end answer faster");
}

Test(resources, what_is_asked_through_another_library_does_not_name_a_pool)
{
    const char *name = name_of_pool_that_reads(READ_BY "com.other.http.Client.ask:3 "
                                                       "shop.Desk.place:23 shop.Main.main:2");
    cr_assert_null(strstr(name, " to "), "%s", name);
}

/* What holders do for a moment, as between giving back and the next one's going on, is left out. */
static size_t what_holders_do(uint64_t slept)
{
    does_block(ann, 1000000, 201000000, lock, bob);
    does_sleep(bob, 100000000, 100000000 + slept);
    for (uint64_t i = 1; i < 20; i++)
        does_look(bob, 10000000 * i, "shop.Pay.sum:31 shop.Desk.place:22", 0);
    run(300000000);
    return all.v[0].n_doing;
}

Test(resources, what_holders_do_for_a_moment_is_left_out)
{
    cr_assert_eq(what_holders_do(100000), 1);
}

Test(resources, what_holders_do_for_a_part_of_the_time_is_there)
{
    cr_assert_eq(what_holders_do(300000), 2);
}

/* Who is seen to run in a native method, now and then, waits for a processor there otherwise. */
static enum holder_does does_in_native_and(int running, uint32_t idle)
{
    make_pool();
    for (int i = 0; i < 60; i++)
        does_look((const thread_id[]){ann, bob, cat}[i / 2 % 3],
                  5001000 + 10000000 * (uint64_t)(i / 2) + 4000000 + 4000000 * (uint64_t)(i % 2),
                  "java.util.zip.Deflater.deflateBytes:native shop.Pay.pack:31 shop.Desk.place:22",
                  i < running ? 0 : SAMPLE_IDLE | idle);
    run(400000000);
    return all.v[0].doing[0].does;
}

static enum holder_does does_in_native(int running)
{
    return does_in_native_and(running, 0);
}

Test(resources, a_native_method_in_which_threads_run_computes)
{
    cr_assert_eq(does_in_native(8), DOES_COMPUTE);
}

/* Looks tell who waits for a processor: the others wait for something else. */
Test(resources, a_native_method_in_which_threads_run_and_sleep_waits)
{
    cr_assert_eq(does_in_native_and(8, SAMPLE_ASLEEP), DOES_NATIVE);
}

Test(resources, a_native_method_in_which_threads_stand_still_waits)
{
    cr_assert_eq(does_in_native(4), DOES_NATIVE);
}

/* ann waits for bob, who is seen in a native method all the time. */
static enum holder_does does_with_lock(const char *frames)
{
    analyzed_end();
    analyzed_begin();
    does_block(ann, 1000000, 95000000, lock, bob);
    for (uint64_t k = 1; k < 9; k++)
        does_look(bob, 10000000 * k, frames, SAMPLE_IDLE);
    run(100000000);
    return all.v[0].doing[0].does;
}

Test(resources, who_changes_a_folder_writes)
{
    static const char *const writes[] = {"sun.nio.fs.UnixNativeDispatcher.unlink0:native ",
                                         "sun.nio.fs.UnixNativeDispatcher.renameat0:native ",
                                         "java.io.UnixFileSystem.delete0:native "};
    static const char *const reads[] = {"sun.nio.fs.UnixNativeDispatcher.stat0:native ",
                                        "java.io.UnixFileSystem.list0:native "};
    char frames[256];
    for (size_t i = 0; i < ARRAY_LEN(writes); i++) {
        snprintf(frames, sizeof frames, "%sshop.Pay.pack:31 shop.Desk.place:22", writes[i]);
        cr_assert_eq(does_with_lock(frames), DOES_OUTPUT, "%s", frames);
    }
    for (size_t i = 0; i < ARRAY_LEN(reads); i++) {
        snprintf(frames, sizeof frames, "%sshop.Pay.pack:31 shop.Desk.place:22", reads[i]);
        cr_assert_eq(does_with_lock(frames), DOES_INPUT, "%s", frames);
    }
}

/* --- semaphores ----------------------------------------------------------------------------- */

static lock_id permits, inside;
static stack_id acquiring, held_in;

static void begin_permits(void)
{
    permits = builder_lock(&b, builder_class(&b, "Ljava/util/concurrent/Semaphore;"));
    inside = builder_lock(&b, builder_class(&b, "Ljava/util/concurrent/Semaphore$NonfairSync;"));
    acquiring = builder_stack(&b, PARKED "java.util.concurrent.Semaphore.acquire:9 "
                                         "shop.Desk.place:21 shop.Main.main:2");
    held_in = builder_stack(&b, "shop.Desk.place:21 shop.Main.main:2");
}

static void takes_permit(thread_id who, uint64_t time, uint32_t failed)
{
    ADD(&b, who.v, who, time, semaphore_acquire_enter, .lock = permits, .stack = held_in);
    ADD(&b, who.v, who, time + 10, semaphore_acquire_exit, .lock = permits, .stack = held_in,
        .failed = failed);
}

/* Parks until `giver` gives one. */
static void waits_for_permit_of(thread_id who, thread_id giver, stack_id gives, uint64_t from,
                                uint64_t to)
{
    ADD(&b, who.v, who, from, semaphore_acquire_enter, .lock = permits, .stack = held_in);
    ADD(&b, who.v, who, from + 10, park_enter, .lock = inside, .stack = acquiring);
    ADD(&b, giver.v, giver, to - 20, semaphore_release, .lock = permits, .stack = gives);
    ADD(&b, giver.v, giver, to - 15, unpark, .target = who, .stack = gives);
    ADD(&b, who.v, who, to - 10, park_exit, .lock = inside);
    ADD(&b, who.v, who, to, semaphore_acquire_exit, .lock = permits, .stack = held_in);
}

static void waits_for_permit(thread_id who, thread_id giver, uint64_t from, uint64_t to)
{
    waits_for_permit_of(who, giver, held_in, from, to);
}

static const char *text_of_first(void)
{
    struct rule_finding *f;
    size_t n;
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert_gt(n, 0);
    return f->text;
}

/* Permits that another thread brings are held by nobody. */
Test(resources, a_semaphore_that_others_fill_is_given)
{
    begin_permits();
    stack_id loop = builder_stack(&b, "shop.Main.main:2");
    stack_id fills =
        builder_stack(&b, "java.util.concurrent.Semaphore.release:3 shop.Filler.fill:8");
    for (uint64_t i = 0; i < 8; i++) {
        uint64_t time = 1000000 + i * 20000000;
        waits_for_permit_of(ann, dan, fills, time, time + 9000000);
        waits_for_permit_of(bob, dan, fills, time + 10000000, time + 19000000);
        for (uint64_t k = 0; k < 2; k++) { /* it is not their task loop */
            thread_id who = k ? bob : ann;
            ADD(&b, who.v, who, time + k * 10000000 + 9100000, wait_enter, .lock = lock,
                .stack = loop);
            ADD(&b, cat.v, cat, time + k * 10000000 + 9200000, notify, .lock = lock,
                .stack = other_stack);
            ADD(&b, who.v, who, time + k * 10000000 + 9300000, wait_exit, .lock = lock);
        }
    }
    run(200000000);
    cr_assert_not(all.v[0].all_known);
    cr_assert(all.v[0].brought);
    cr_assert_eq(all.v[0].holder, dan.v);
    cr_assert(strstr(text_of_first(), "; given by dan"), "%s", text_of_first());
}

/* Each taker is known, whether it waited or not. */
Test(resources, a_semaphore_says_how_many_are_in_use)
{
    begin_permits();
    takes_permit(bob, 1000000, 0);
    takes_permit(cat, 2000000, 0);
    waits_for_permit(ann, bob, 3000000, 90000000);
    ADD(&b, cat.v, cat, 91000000, semaphore_release, .lock = permits, .stack = held_in);
    ADD(&b, ann.v, ann, 92000000, semaphore_release, .lock = permits, .stack = held_in);
    run(100000000);
    cr_assert_eq(all.n, 1);
    cr_assert(all.v[0].all_known);
    cr_assert_eq(all.v[0].at_once, 2);
    const char *text = text_of_first();
    cr_assert(begins(text, "Semaphore of Desk.place: 2 in use at "), "%s", text);
}

/* Who took one before the attach is not known. */
Test(resources, an_attach_may_miss_permits_in_use)
{
    begin_permits();
    builder_info(&b, "orca.attached", "1");
    takes_permit(bob, 1000000, 0);
    takes_permit(cat, 2000000, 0);
    waits_for_permit(ann, bob, 3000000, 90000000);
    ADD(&b, cat.v, cat, 91000000, semaphore_release, .lock = permits, .stack = held_in);
    ADD(&b, ann.v, ann, 92000000, semaphore_release, .lock = permits, .stack = held_in);
    run(100000000);
    cr_assert_eq(all.n, 1);
    cr_assert_eq(all.v[0].n_holders, 2, "its calls say who has one");
    const char *text = text_of_first();
    cr_assert(begins(text, "Semaphore of Desk.place: at least 2 in use at "), "%s", text);
}

/* What the permits are for. */
Test(resources, who_computes_with_a_permit_is_not_told_to_release_it_before)
{
    begin_permits();
    takes_permit(cat, 2000000, 0);
    for (uint64_t i = 1; i < 9; i++)
        does_look(cat, 10000000 * i, "shop.Pdf.draw:31 shop.Desk.place:22", 0);
    waits_for_permit(ann, cat, 3000000, 90000000);
    ADD(&b, ann.v, ann, 92000000, semaphore_release, .lock = permits, .stack = held_in);
    run(100000000);
    cr_assert(all.v[0].all_known);
    cr_assert_str_eq(labelled(first_card(), CARD_TRY),
                     "allow more at once, or make this work cheaper");
}

/* Who gave up has nothing. */
Test(resources, an_acquire_that_failed_holds_no_permit)
{
    begin_permits();
    takes_permit(bob, 1000000, 0);
    takes_permit(cat, 2000000, 1);
    waits_for_permit(ann, bob, 3000000, 90000000);
    ADD(&b, cat.v, cat, 91000000, semaphore_release, .lock = permits, .stack = held_in);
    ADD(&b, ann.v, ann, 92000000, semaphore_release, .lock = permits, .stack = held_in);
    run(100000000);
    cr_assert_eq(all.n, 1);
    cr_assert_eq(all.v[0].at_once, 1);
    cr_assert_eq(all.v[0].n_holders, 1);
    cr_assert_eq(all.v[0].holder, bob.v);
}

/* Two of two permits are acquired and not released; then all wait. */
static const struct rule_finding *leak_permits(bool works, bool brought)
{
    static struct rule_finding *f;
    size_t n;
    begin_permits();
    builder_info(&b, "sun.java.command", "shop.Main");
    if (brought) {
        ADD(&b, dan.v, dan, 500000, semaphore_release, .lock = permits, .stack = other_stack);
        ADD0(&b, dan.v, dan, 600000, thread_end);
    }
    takes_permit(bob, 1000000, 0);
    takes_permit(cat, 2000000, 0);
    waits_for_permit(ann, bob, 3000000, 20000000);
    const thread_id waits[] = {ann, bob, cat};
    for (uint64_t i = 0; i < (works ? 2 : 3); i++) {
        ADD(&b, waits[i].v, waits[i], 30000000 + i, semaphore_acquire_enter, .lock = permits,
            .stack = held_in);
        ADD(&b, waits[i].v, waits[i], 30000010 + i, park_enter, .lock = inside, .stack = acquiring);
    }
    run(400000000);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    for (size_t i = 0; i < n; i++)
        if (f[i].resource)
            return &f[i];
    cr_assert_fail("no finding of a resource");
    return NULL;
}

Test(resources, permits_that_nobody_can_release_are_lost)
{
    const struct rule_finding *f = leak_permits(false, false);
    cr_expect_not_null(strstr(f->text, "; 2 permits were acquired and never released, the last one "
                                       "by ann in Desk.place (Desk.java:21)"),
                       "%s", f->text);
    cr_expect_str_eq(labelled(f, CARD_TRY), "release each permit in a finally block");
}

/* One call may release several. */
Test(resources, permits_that_another_thread_releases_are_not_lost)
{
    const struct rule_finding *f = leak_permits(false, true);
    cr_expect_null(strstr(f->text, "never released"), "%s", f->text);
}

Test(resources, a_permit_of_who_goes_on_is_not_lost)
{
    const struct rule_finding *f = leak_permits(true, false);
    cr_expect_null(strstr(f->text, "never released"), "%s", f->text);
}

/* bob takes what dan brings, until dan has ended; main waits for bob. */
static const char *text_of_stuck(bool ended)
{
    static struct rule_finding *f;
    size_t n;
    stack_id take = builder_stack(&b, PARKED "java.util.concurrent.ArrayBlockingQueue.take:3 "
                                             "shop.Loader.run:9");
    lock_id queue =
        builder_lock(&b, builder_class(&b, "Ljava/util/concurrent/ArrayBlockingQueue;"));
    const thread_id who[] = {ann, bob, cat};
    ADD0(&b, dan.v, dan, 1000, thread_start);
    for (uint64_t i = 0; i < 3; i++) {
        ADD(&b, bob.v, bob, (2 + 10 * i) * 1000000, park_enter, .lock = queue, .stack = take);
        ADD(&b, dan.v, dan, (10 + 10 * i) * 1000000, unpark, .target = bob, .stack = other_stack);
        ADD(&b, bob.v, bob, (10 + 10 * i) * 1000000 + 100, park_exit, .lock = queue);
    }
    if (ended)
        ADD0(&b, dan.v, dan, 35000000, thread_end);
    else
        ADD(&b, dan.v, dan, 35000000, park_enter, .lock = {0}, .stack = stack);
    for (uint64_t i = 0; i < 3; i++)
        ADD(&b, who[i].v, who[i], 40000000 + i, park_enter, .lock = i == 1 ? queue : other_lock,
            .stack = i == 1 ? take : stack);
    run(600000000);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    for (size_t i = 0; i < n; i++)
        if (strcmp(f[i].rule, "stuck") == 0)
            return f[i].text;
    return "";
}

Test(resources, who_woke_those_who_are_stuck_has_ended)
{
    const char *text = text_of_stuck(true);
    cr_expect_not_null(
        strstr(text, "bob is parked for java.util.concurrent.ArrayBlockingQueue in "), "%s", text);
    cr_expect_not_null(strstr(text, "; dan was the last to wake a thread there, and ended 35.0 ms "
                                    "after the start of the recording"),
                       "%s", text);
}

Test(resources, who_woke_those_who_are_stuck_is_stuck_itself)
{
    const char *text = text_of_stuck(false);
    cr_expect_not_null(strstr(text, "bob is parked for "), "%s", text);
    cr_expect_null(strstr(text, "the last to wake"), "%s", text);
}

/* dan released the monitor that bob waits on; he notified nobody. */
Test(resources, who_released_a_monitor_woke_nobody_who_waits_on_it)
{
    const thread_id rest[] = {ann, cat};
    struct rule_finding *f;
    size_t n;
    ADD0(&b, dan.v, dan, 1000, thread_start);
    does_block(bob, 2000000, 8000000, lock, dan);
    ADD0(&b, dan.v, dan, 35000000, thread_end);
    ADD(&b, bob.v, bob, 36000000, wait_enter, .lock = lock, .stack = stack);
    for (uint64_t i = 0; i < 2; i++)
        ADD(&b, rest[i].v, rest[i], 40000000 + i, wait_enter, .lock = other_lock, .stack = stack);
    run(600000000);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert_gt(n, 0);
    cr_assert_str_eq(f->rule, "stuck");
    cr_expect_not_null(strstr(f->text, "bob is in Object.wait of "), "%s", f->text);
    cr_expect_null(strstr(f->text, "the last to wake"), "%s", f->text);
}

/* --- event loops ---------------------------------------------------------------------------- */

#define LOOP "org.loop.Loop.run:8 java.lang.Thread.run:1"
#define SELECTING                                                                                  \
    "sun.nio.ch.EPoll.wait:native sun.nio.ch.EPollSelectorImpl.doSelect:3 org.loop.Loop.select:7 "
#define READING                                                                                    \
    "sun.nio.ch.SocketDispatcher.read0:native sun.nio.ch.NioSocketImpl.read:5 shop.Pay.pay:31 "

/* All threads of a library begin in one method; of them, only that of its loop selects. */
Test(resources, who_shares_only_the_root_of_a_librarys_threads_is_no_loop)
{
    builder_info(&b, "sun.java.command", "shop.Server");
    for (uint64_t i = 0; i < 30; i++)
        does_look(ann, 1000000 + 50000000 * i,
                  READING "org.loop.Queue.next:4 org.loop.Managed.run:8 java.lang.Thread.run:1",
                  SAMPLE_IDLE);
    does_look(bob, 1000000 + 50000000 * 30,
              "sun.nio.ch.EPoll.wait:native sun.nio.ch.EPollSelectorImpl.doSelect:3 "
              "org.loop.Loop.select:7 org.loop.Loop.serve:3 org.loop.Managed.run:8 "
              "java.lang.Thread.run:1",
              SAMPLE_IDLE);
    run(50000000 * UINT64_C(32));
    cr_assert_null(finding_of("blocked-loop"));
}

/* ann, so often in the first stack, so often in the second; bob, of the same loop, in selects. */
static const struct rule_finding *loop_of(const char *first, int n, const char *second, int more)
{
    static const struct rule_finding none = {.rule = ""};
    struct rule_finding *f;
    size_t found;
    builder_info(&b, "sun.java.command", "shop.Server");
    for (int i = 0; i < n + more; i++)
        does_look(ann, 1000000 + 50000000 * (uint64_t)i, i < n ? first : second, SAMPLE_IDLE);
    does_look(bob, 1000000 + 50000000 * (uint64_t)(n + more), SELECTING LOOP, SAMPLE_IDLE);
    run(50000000 * (uint64_t)(n + more + 2));
    cr_assert_eq(rules_apply(a, &f, &found, NULL, NULL), 0);
    return found ? f : &none;
}

Test(resources, a_loop_that_waits_in_a_handler_is_blocked)
{
    const struct rule_finding *f = loop_of(READING LOOP, 30, SELECTING LOOP, 10);
    cr_assert_str_eq(f->rule, "blocked-loop");
    cr_assert_eq(f->severity, SEVERITY_PROBLEM);
    cr_assert_str_eq(resource_role(f->resource, a), "event loop");
    cr_assert_eq(f->resource->doing[0].does, DOES_INPUT);
    cr_assert_eq(f->resource->doing[0].at.line, 31);
    cr_assert_eq(resource_permille(f->resource), 750);
    cr_assert_str_eq(labelled(f, CARD_TRY), "let other threads make the call");
}

/* As Netty's loops do, for their quiet period. */
Test(resources, a_loop_that_is_idle_elsewhere_once_the_server_is_stopped_is_one)
{
    thread_id by = builder_thread(&b, "SIGTERM handler");
    builder_def(&b,
                &(struct def){
                    .kind = DEF_thread,
                    .thread = {.id = by, .name = {"SIGTERM handler", 15}, .group = {"system", 6}}});
    ADD0(&b, by.v, by, 1500000000, thread_start);
    does_sleep(ann, 1510000000, 1610000000);
    ADD0(&b, by.v, by, 1999000000, recording_end);
    cr_assert_str_eq(loop_of(READING LOOP, 30, SELECTING LOOP, 8)->rule, "blocked-loop");
}

/* ann's loop is blocked in a handler from 20 to 90 ms of each 100, with or without cat, who is of no
 * loop. */
static void loop_at_lock(bool others)
{
    stack_id at_lock = builder_stack(&b, "shop.Reports.get:77 shop.Desk.place:21 " LOOP),
             elsewhere = builder_stack(&b, "shop.Reports.get:77 shop.Load.run:5");
    lock_id reports = builder_lock(&b, builder_class(&b, "Lshop/Reports;"));
    builder_info(&b, "sun.java.command", "shop.Server");
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t from = 100000000 * i;
        does_look(ann, from + 5000000, SELECTING LOOP, SAMPLE_IDLE);
        does_look(bob, from + 5000000, SELECTING LOOP, SAMPLE_IDLE);
        does_look(ann, from + 15000000, SELECTING LOOP, SAMPLE_IDLE);
        does_look(dan, from + 50000000, "shop.Build.build:114 shop.Reports.get:79 shop.Main.run:4",
                  0);
        does_look(ann, from + 95000000, SELECTING LOOP, SAMPLE_IDLE);
        for (int k = 0; k <= others; k++) {
            thread_id who = k ? cat : ann;
            ADD(&b, who.v, who, from + 20000000, monitor_contended_enter, .lock = reports,
                .owner = dan, .stack = k ? elsewhere : at_lock);
            ADD(&b, who.v, who, from + 90000000, monitor_contended_entered, .lock = reports);
        }
    }
    run(2000000000);
}

/* The cause is what the loop is blocked on, and who has that; one cause is one card. */
Test(resources, a_loop_that_is_blocked_in_a_handler_is_told_of_by_the_lock)
{
    struct rule_finding *f;
    size_t n;
    loop_at_lock(false);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert_gt(n, 0);
    cr_assert_eq(f->resource->kind, RESOURCE_LOCK, "%s", f->text);
    cr_assert_eq(f->severity, SEVERITY_PROBLEM);
    cr_assert_not_null(strstr(f->text, "; the waiting threads are event loops"), "%s", f->text);
    cr_assert_null(finding_of("blocked-loop"));
}

Test(resources, a_lock_for_which_others_wait_too_does_not_say_that_they_are_loops)
{
    struct rule_finding *f;
    size_t n;
    loop_at_lock(true);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert_not_null(finding_of("blocked-loop"));
    for (size_t i = 0; i < n; i++)
        cr_assert_null(strstr(f[i].text, "are event loops"), "%s", f[i].text);
}

/* It was never seen in a select itself, another one of its kind was. */
Test(resources, a_loop_that_never_comes_to_its_select_is_one)
{
    cr_assert_str_eq(loop_of(READING LOOP, 30, "", 0)->rule, "blocked-loop");
}

/* Of an attached recording nothing is known of a thread until it is looked at. */
Test(resources, a_loop_that_was_not_looked_at_yet_has_no_other_work)
{
    builder_info(&b, "orca.attached", "the JVM was running already");
    ADD0(&b, 9, ann, 0, recording_start);
    ADD0(&b, 9, ann, 500000, thread_alive);
    ADD0(&b, 9, bob, 500000, thread_alive);
    cr_assert_str_eq(loop_of(READING LOOP, 30, "", 0)->rule, "blocked-loop");
}

Test(resources, a_loop_that_waits_in_its_select_is_idle)
{
    cr_assert_str_eq(loop_of(READING LOOP, 4, SELECTING LOOP, 36)->rule, "");
}

/* Samples have the C frames in which a thread begins, what is recorded has none. */
#define BEGUN " libjvm.thread_entry:stub libc.start_thread:stub"

/* ann was in handlers from 20 to 80 ms of each 100, and in selects when looks came. */
static uint64_t handled(uint64_t i)
{
    return 20000000 + 100000000 * i;
}

static const struct rule_finding *first_of_loop(bool reads)
{
    static const struct rule_finding none = {.rule = ""};
    struct rule_finding *f;
    size_t found;
    builder_info(&b, "sun.java.command", "shop.Server");
    for (uint64_t i = 0; i < 12; i++) {
        does_look(ann, 10000000 + 100000000 * i, SELECTING LOOP BEGUN, SAMPLE_IDLE);
        if (reads) /* into a recorded call: it says nothing more */
            does_look(ann, handled(i) + 30000000, READING LOOP BEGUN, SAMPLE_IDLE);
    }
    run(1200000000);
    cr_assert_eq(rules_apply(a, &f, &found, NULL, NULL), 0);
    return found ? f : &none;
}

Test(resources, a_loop_that_sleeps_in_a_handler)
{
    stack_id sleeps = builder_stack(&b, "java.lang.Thread.sleep:1 shop.Pay.pay:31 " LOOP);
    for (uint64_t i = 0; i < 12; i++) {
        ADD(&b, ann.v, ann, handled(i), sleep_enter, .stack = sleeps);
        ADD0(&b, ann.v, ann, handled(i) + 60000000, sleep_exit);
    }
    const struct rule_finding *f = first_of_loop(false);
    cr_assert_str_eq(f->rule, "blocked-loop");
    cr_assert_eq(f->resource->doing[0].does, DOES_SLEEP);
}

Test(resources, a_loop_whose_handler_waits_for_a_peer)
{
    lock_id peer = builder_lock(&b, builder_class(&b, "=10.0.0.7:5432"));
    stack_id reads = builder_stack(&b, READING LOOP);
    for (uint64_t i = 0; i < 12; i++)
        ADD(&b, ann.v, ann, handled(i) + 60000000, io, .what = IO_KIND_input, .peer = peer,
            .stack = reads, .since = at(handled(i)));
    const struct rule_finding *f = first_of_loop(true);
    cr_assert_str_eq(f->rule, "blocked-loop");
    cr_assert_eq(f->resource->doing[0].samples, 0);
    cr_assert_eq(f->resource->ns, 12 * 60000000);
    cr_assert(strstr(f->text, "waiting for input from 10.0.0.7:5432"), "%s", f->text);
}

/* No frame of the program: the loop reads what it was notified of. */
Test(resources, what_a_loop_reads_itself_is_no_handlers)
{
    cr_assert_str_eq(
        loop_of("sun.nio.ch.SocketDispatcher.read0:native org.loop.Loop.fill:9 " LOOP, 30, "", 0)
            ->rule,
        "");
}

Test(resources, a_thread_that_reads_is_no_loop)
{
    cr_assert_str_eq(loop_of(READING "shop.Worker.run:3 java.lang.Thread.run:1", 30, "", 0)->rule,
                     "");
}

/* --- objects of one request each ------------------------------------------------------------ */

enum { EACH_WAITS = 4 };

/* bob and ann in turn wait for a monitor of each of n objects, four times; of the first one `more`
 * times in addition. */
static void wait_for_each(int n, int more)
{
    class_id row = builder_class(&b, "Lshop/Row;");
    stack_id place = builder_stack(&b, "shop.Table.update:40 shop.Main.main:2");
    uint64_t time = 1000000;
    for (int i = 0; i < n; i++) {
        lock_id on = builder_lock(&b, row);
        for (int k = 0; k < EACH_WAITS + (i ? 0 : more); k++, time += 1000000) {
            ADD(&b, ann.v, ann, time, monitor_contended_enter, .lock = on, .owner = bob,
                .stack = place);
            ADD(&b, ann.v, ann, time + 900000, monitor_contended_entered, .lock = on);
        }
    }
    run(time + 1000000);
}

Test(resources, few_objects_are_each_a_resource)
{
    wait_for_each(16, 0);
    cr_assert_eq(all.n, 16);
}

Test(resources, many_objects_at_one_place_are_a_crowd)
{
    wait_for_each(17, 0);
    cr_assert_eq(all.n, 1);
    cr_assert_eq(all.v[0].count, 17 * EACH_WAITS);
    cr_assert_eq(all.v[0].lock.v, 0);
    cr_assert_eq(all.v[0].holder, bob.v);
}

Test(resources, what_has_a_tenth_of_a_crowds_waits_is_a_resource_of_its_own)
{
    wait_for_each(17, 4); /* 8 of 72 */
    cr_assert_eq(all.n, 2);
    cr_assert_eq(all.v[0].lock.v, 0);
    cr_assert_eq(all.v[1].count, 8);
    cr_assert_neq(all.v[1].lock.v, 0);
}

/* Each of few waits, as of a lock that is never released. */
Test(resources, few_waits_for_one_object_at_two_places_are_of_one_resource)
{
    lock_id on = builder_lock(&b, builder_class(&b, "Lshop/Row;"));
    const char *const places[] = {"shop.Table.update:40 shop.Main.main:2",
                                  "shop.Table.remove:60 shop.Main.main:2"};
    for (uint64_t i = 0; i < 2; i++) {
        ADD(&b, ann.v, ann, (2 * i + 1) * 1000000, monitor_contended_enter, .lock = on,
            .owner = bob, .stack = builder_stack(&b, places[i]));
        ADD(&b, ann.v, ann, (2 * i + 2) * 1000000, monitor_contended_entered, .lock = on);
    }
    run(10000000);
    cr_assert_eq(all.n, 1);
    cr_assert_eq(all.v[0].lock.v, on.v);
    cr_assert_eq(all.v[0].count, 2);
}

/* A thread that comes again at once never waits; what it gives is the permit that it took. */
static void starves_for_permits(const char *takes_in)
{
    lock_id limit = builder_lock(&b, builder_class(&b, "Ljava/util/concurrent/Semaphore;")),
            queue =
                builder_lock(&b, builder_class(&b, "Ljava/util/concurrent/Semaphore$NonfairSync;"));
    char taking[256];
    snprintf(taking, sizeof taking, "java.util.concurrent.Semaphore.acquire:1 %s", takes_in);
    stack_id park = builder_stack(&b, "jdk.internal.misc.Unsafe.park:native "
                                      "java.util.concurrent.Semaphore.acquire:1 shop.Desk.place:7 "
                                      "java.lang.Thread.run:3"),
             take = builder_stack(&b, "java.util.concurrent.Semaphore.acquire:1 shop.Desk.place:7 "
                                      "java.lang.Thread.run:3"),
             takes = builder_stack(&b, taking),
             give = builder_stack(&b, "java.util.concurrent.Semaphore.release:1 shop.Desk.place:9 "
                                      "java.lang.Thread.run:3");
    ADD(&b, 1, ann, 1000000, semaphore_acquire_enter, .lock = limit, .stack = take);
    for (uint64_t i = 0; i < 10; i++) {
        uint64_t time = 2000000 + i * 3000000;
        ADD(&b, 2, bob, time, semaphore_acquire_enter, .lock = limit, .stack = takes);
        ADD(&b, 2, bob, time + 1000, semaphore_acquire_exit, .lock = limit);
        ADD(&b, 1, ann, time + 2000, park_enter, .lock = queue, .stack = park);
        ADD(&b, 2, bob, time + 2900000, semaphore_release, .lock = limit, .stack = give);
        ADD(&b, 2, bob, time + 2901000, unpark, .target = ann, .stack = give);
        ADD(&b, 1, ann, time + 2950000, park_exit, .lock = queue);
    }
    run(100000000);
    cr_assert_eq(all.n, 1);
    cr_assert_eq(all.v[0].kind, RESOURCE_THINGS);
    cr_assert_gt(all.v[0].ns, 25000000);
}

Test(resources, who_takes_permits_without_waiting_gives_them_back)
{
    starves_for_permits("shop.Desk.place:7 java.lang.Thread.run:3");
}

#define TASKS                                                                                      \
    PARKED "java.util.concurrent.ThreadPoolExecutor.getTask:1 "                                    \
           "java.util.concurrent.ThreadPoolExecutor.runWorker:2"

/* --- polls ------------------------------------------------------------------------------------ */

#define RING                                                                                       \
    "jdk.internal.misc.Unsafe.park:native java.util.concurrent.locks.LockSupport.parkNanos:1 "     \
    "com.fast.ring.Producer.next:7 "

/* Parks for nothing, one after the other, of that length, with that time between them. */
static void polls(const char *frames, uint64_t each, uint64_t between)
{
    stack_id at = builder_stack(&b, frames);
    for (uint64_t i = 0; i < 100; i++) {
        uint64_t time = 1000000 + i * (each + between);
        ADD(&b, ann.v, ann, time, park_enter, .stack = at, .timeout_ns = 1);
        ADD(&b, ann.v, ann, time + each, park_exit);
    }
}

Test(resources, who_polls_waits_for_who_runs_the_other_end)
{
    polls(RING "shop.Desk.place:21 org.web.Worker.run:9", 60000, 2000);
    for (uint64_t i = 0; i < 5; i++) {
        does_look(bob, 2000000 + i * 1000000, "shop.Log.write:3 com.fast.ring.Consumer.run:40", 0);
        does_look(cat, 2000000 + i * 1000000, "shop.Other.run:3", 0);
    }
    run(10000000);
    cr_assert_eq(all.n, 1);
    const struct resource *r = &all.v[0];
    cr_assert_eq(r->kind, RESOURCE_POLLED);
    cr_assert_eq(r->count, 100);
    cr_assert_str_eq(method_of(r->wait_at), "shop.Desk.place");
    cr_assert_eq(r->n_holders, 1);
    cr_assert_eq(r->holder, bob.v);
    cr_assert_eq(r->doing[0].does, DOES_COMPUTE);
    cr_assert_str_eq(method_of(r->doing[0].at), "shop.Log.write");
    struct rule_finding *f;
    size_t n;
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert_eq(n, 1);
    cr_assert_str_eq(f->rule, "polling");
}

/* cat is in the library, too, but waits there for what bob does. */
Test(resources, who_works_for_the_library_is_the_other_end)
{
    builder_info(&b, "sun.java.command", "shop.Main");
    polls(RING "shop.Desk.place:21 org.web.Worker.run:9", 60000, 2000);
    for (uint64_t i = 0; i < 5; i++) {
        does_look(bob, 2000000 + i * 500000,
                  i ? "shop.Log.write:3 com.fast.ring.Consumer.run:40"
                    : "com.fast.ring.Wait.spin:5 com.fast.ring.Consumer.run:38",
                  0);
        does_look(cat, 2100000 + i * 500000,
                  "com.fast.ring.Wait.spin:5 com.fast.ring.Consumer.run:38", 0);
    }
    run(10000000);
    cr_assert_eq(all.v[0].kind, RESOURCE_POLLED);
    cr_assert_eq(all.v[0].n_holders, 1);
    cr_assert_eq(all.v[0].holder, bob.v);
    cr_assert_str_eq(labelled(finding_of("polling"), CARD_TRY), "make this work cheaper");
}

/* A lock of the program's own, for which threads park shortly again and again: who has it goes on. */
Test(resources, who_goes_on_while_others_poll_has_the_lock)
{
    const thread_id who[] = {ann, bob, cat};
    stack_id polls_in =
                 builder_stack(&b, "jdk.internal.misc.Unsafe.park:native "
                                   "java.util.concurrent.locks.LockSupport.parkNanos:1 "
                                   "shop.Spin.lock:7 shop.Desk.place:21 org.web.Worker.run:9"),
             reads = builder_stack(&b, READ_BY "shop.Pay.ask:5 shop.Desk.place:25 "
                                               "org.web.Worker.run:9");
    char name[256];
    builder_info(&b, "sun.java.command", "shop.Main");
    for (uint64_t round = 0; round < 12; round++)
        for (uint64_t k = 0; k < 3; k++) {
            uint64_t time = 1000000 + round * 6200000;
            bool has = k == round % 3;
            if (has)
                ADD(&b, who[k].v, who[k], time + 6199999, io, .what = IO_KIND_input, .stack = reads,
                    .since = at(time));
            for (uint64_t i = 0; i < 100 && !has; i++) {
                ADD(&b, who[k].v, who[k], time + i * 62000, park_enter, .stack = polls_in,
                    .timeout_ns = 60000);
                ADD(&b, who[k].v, who[k], time + i * 62000 + 60000, park_exit);
            }
        }
    run(80000000);
    cr_assert_eq(all.v[0].kind, RESOURCE_POLLED);
    cr_assert(all.v[0].past);
    resource_title(&all.v[0], a, name, sizeof name);
    cr_assert_str_eq(name, "Spin.lock (lock, polled)");
    const struct rule_finding *f = finding_of("polling");
    cr_assert_not_null(f);
    cr_assert(begins(labelled(f, CARD_HELD_BY), "3 threads, 1 at a time, 100 % of the time"), "%s",
              f->text);
    cr_assert_str_eq(labelled(f, CARD_TRY), "read before taking the lock, or after releasing it");
}

/* Three compute on one processor, while ann polls for half of her time, or hardly ever. */
static const struct rule_finding *computes_and_polls(uint64_t polls)
{
    const thread_id who[] = {bob, cat, dan};
    stack_id at = builder_stack(&b, RING "shop.Desk.place:21 org.web.Worker.run:9"),
             idle = builder_stack(&b, TASKS);
    builder_info(&b, "cpus", "1");
    builder_info(&b, "sun.java.command", "shop.Main");
    for (uint64_t i = 0; i < polls; i++) {
        uint64_t time = 1000000 + i * 62000;
        ADD(&b, ann.v, ann, time, park_enter, .stack = at, .timeout_ns = 1);
        ADD(&b, ann.v, ann, time + 60000, park_exit);
    }
    ADD(&b, ann.v, ann, 350000000, park_enter, .stack = idle);
    ADD(&b, ann.v, ann, 399000000, park_exit);
    for (uint64_t i = 0; i < 20; i++)
        for (uint64_t k = 0; k < 3; k++)
            does_look(who[k], 2000000 + i * 15000000 + k * 1000,
                      k ? "shop.Page.show:3 org.web.Worker.run:9"
                        : "shop.Log.write:3 com.fast.ring.Consumer.run:40",
                      0);
    run(400000000);
    return finding_of("few-processors");
}

Test(resources, that_processors_are_few_beside_threads_that_poll_is_a_note)
{
    const struct rule_finding *f = computes_and_polls(5000);
    cr_assert_not_null(f);
    cr_assert_eq(f->severity, SEVERITY_INFO);
    cr_assert_not_null(strstr(f->text, "; threads that poll use processors, too"), "%s", f->text);
}

Test(resources, that_processors_are_few_is_a_problem_where_few_poll)
{
    const struct rule_finding *f = computes_and_polls(30);
    cr_assert_not_null(f);
    cr_assert_eq(f->severity, SEVERITY_PROBLEM);
}

/* Loops of five parks, the last of which bob ends at a given interval; he works elsewhere, and dan
 * has been in other code of the library. */
static const struct rule_finding *polls_until(uint64_t every)
{
    stack_id at = builder_stack(&b, RING "shop.Desk.place:21 org.web.Worker.run:9");
    for (uint64_t i = 0; i < 100; i++) {
        uint64_t time = 1000000 + i * 62000 + i / 5 * 400000;
        ADD(&b, ann.v, ann, time, park_enter, .stack = at, .timeout_ns = 1);
        if (i % (5 * every) == 4)
            ADD(&b, bob.v, bob, time + 59000, unpark, .target = ann, .stack = other_stack);
        ADD(&b, ann.v, ann, time + 60000, park_exit);
        if (i % 5 == 0)
            does_look(bob, time + 30000, "shop.Stock.count:7 shop.Stock.run:3", 0);
        if (i % 5 == 1)
            does_look(dan, time + 30000, "shop.Log.write:3 com.fast.ring.Consumer.run:40", 0);
    }
    run(16000000);
    cr_assert_eq(all.v[0].kind, RESOURCE_POLLED);
    return finding_of("polling");
}

Test(resources, who_ends_loops_that_poll_is_the_other_end)
{
    const struct rule_finding *f = polls_until(1);
    cr_assert_not_null(f);
    cr_assert_eq(all.v[0].holder, bob.v);
    cr_assert_eq(all.v[0].n_holders, 1);
    cr_assert(begins(labelled(f, CARD_OTHER_END), "bob, "), "%s", f->text);
    cr_assert_str_eq(method_of(all.v[0].doing[0].at), "shop.Stock.count");
}

Test(resources, who_ends_few_of_the_loops_is_not)
{
    const struct rule_finding *f = polls_until(4);
    cr_assert_not_null(f);
    cr_assert_eq(all.v[0].holder, dan.v);
    cr_assert_eq(all.v[0].n_holders, 1);
}

Test(resources, a_thread_that_polls_in_its_own_loop_is_idle)
{
    polls("jdk.internal.misc.Unsafe.park:native java.util.concurrent.locks.LockSupport.parkNanos:1 "
          "shop.Pump.run:7 java.lang.Thread.run:1",
          60000, 2000);
    run(10000000);
    cr_assert_eq(all.n, 0);
}

Test(resources, parks_with_work_between_them_are_no_poll)
{
    polls(RING "shop.Desk.place:21 org.web.Worker.run:9", 60000, 5000000);
    run(600000000);
    cr_assert_eq(all.n, 0);
}

static enum resource_kind kind_of_long_parks(const char *frames)
{
    polls(frames, 2000000, 500000);
    run(260000000);
    return all.n ? all.v[0].kind : RESOURCE_LOOP;
}

Test(resources, long_parks_of_a_library_let_time_pass)
{
    builder_info(&b, "sun.java.command", "shop.Main");
    cr_assert_eq(kind_of_long_parks(RING "shop.Desk.place:21 org.web.Worker.run:9"),
                 RESOURCE_DELAY);
    struct rule_finding *f;
    size_t n;
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert_eq(n, 1);
    cr_assert_str_eq(f->rule, "delay");
    cr_assert_str_eq(resource_role(&all.v[0], a), "delay");
}

/* Nobody has time that passes: nobody blocks who lets it pass. */
Test(resources, who_is_in_a_delay_of_a_library_sleeps)
{
    struct place leaf;
    builder_info(&b, "sun.java.command", "shop.Main");
    polls(RING "shop.Desk.place:21 org.web.Worker.run:9", 2000000, 500000);
    run(260000000);
    cr_assert_eq(all.v[0].kind, RESOURCE_DELAY);
    cr_assert_eq(does_of_wait(&all, a, span_of(ann, 0)->context, &leaf).does, DOES_SLEEP);
}

/* Who looks and parks again waits for something. */
Test(resources, long_parks_between_looks_are_no_delay)
{
    builder_info(&b, "sun.java.command", "shop.Main");
    polls(RING "shop.Desk.place:21 org.web.Worker.run:9", 2000000, 2000);
    run(220000000);
    cr_assert_eq(all.n, 0);
}

Test(resources, what_lets_time_pass_is_called_by_its_names)
{
    builder_info(&b, "sun.java.command", "shop.Main");
    cr_assert_eq(kind_of_long_parks("jdk.internal.misc.Unsafe.park:native "
                                    "java.util.concurrent.locks.LockSupport.parkNanos:1 "
                                    "com.fast.flow.RateLimiter.acquire:7 "
                                    "shop.Desk.place:21 org.web.Worker.run:9"),
                 RESOURCE_DELAY);
    cr_assert_str_eq(resource_role(&all.v[0], a), "rate limit");
    char name[256];
    resource_title(&all.v[0], a, name, sizeof name);
    cr_assert_str_eq(name, "RateLimiter.acquire (rate limit)");
    const struct rule_finding *f = first_card();
    cr_assert_not_null(strstr(f->text, "the limit lets 401 waiting calls through each second"),
                       "%s", f->text);
    cr_assert_str_eq(labelled(f, CARD_TRY), "allow more calls per second");
}

Test(resources, a_limit_of_less_than_one_call_a_second_is_told_by_the_minute)
{
    builder_info(&b, "sun.java.command", "shop.Main");
    const char *limit = "jdk.internal.misc.Unsafe.park:native "
                        "java.util.concurrent.locks.LockSupport.parkNanos:1 "
                        "com.fast.flow.RateLimiter.acquire:7 shop.Desk.place:21 "
                        "org.web.Worker.run:9";
    polls(limit, 4000000000, 500000);
    /* These have not passed when the recording ends. */
    for (uint32_t i = 0; i < 10; i++) {
        thread_id who = builder_thread(&b, "late");
        ADD(&b, who.v, who, 400000000000, sleep_enter, .timeout_ns = 60000000000,
            .stack =
                builder_stack(&b, "java.lang.Thread.sleep:1 com.fast.flow.RateLimiter.acquire:7 "
                                  "shop.Desk.place:21 org.web.Worker.run:9"));
    }
    run(401000000000);
    const struct rule_finding *f = first_card();
    cr_assert_not_null(strstr(f->text, "the limit lets 15 waiting calls through each minute"), "%s",
                       f->text);
}

Test(resources, who_polls_a_lock_wants_a_lock)
{
    builder_info(&b, "sun.java.command", "shop.Main");
    cr_assert_eq(kind_of_long_parks("jdk.internal.misc.Unsafe.park:native "
                                    "java.util.concurrent.locks.LockSupport.parkNanos:1 "
                                    "com.fast.db.Client.backoffWait:9 "
                                    "com.fast.db.Transaction.acquireWriteLock:7 "
                                    "shop.Desk.place:21 org.web.Worker.run:9"),
                 RESOURCE_DELAY);
    cr_assert_str_eq(resource_role(&all.v[0], a), "lock, polled");
}

Test(resources, long_parks_of_a_thread_of_the_library_are_idle)
{
    builder_info(&b, "sun.java.command", "shop.Main");
    cr_assert_eq(kind_of_long_parks(RING "com.fast.ring.Consumer.run:9"), RESOURCE_LOOP);
}

/* Workers of a library's pool that hand tasks to each other. */
Test(resources, what_is_waited_for_nowhere_in_the_program_is_no_pool)
{
    lock_id queue = builder_lock(&b, builder_class(&b, "Ljava/util/concurrent/Semaphore;"));
    const thread_id who[] = {ann, bob, cat};
    stack_id take = builder_stack(
                 &b, "jdk.internal.misc.Unsafe.park:native "
                     "java.util.concurrent.Semaphore.acquire:1 "
                     "org.eclipse.jetty.Workers.poll:7 org.eclipse.jetty.Workers.run:8"),
             give = builder_stack(
                 &b, "org.eclipse.jetty.Workers.execute:30 org.eclipse.jetty.Workers.run:8");
    builder_stack(&b, "shop.Main.main:3");
    for (int i = 0; i < 3; i++)
        ADD(&b, who[i].v, who[i], 1000000, park_enter, .lock = queue, .stack = take);
    begin_with(ann, queue);
    uint64_t time = 5001000;
    for (int round = 0; round < 30; round++) {
        thread_id has = who[round % 3], next = who[(round + 1) % 3];
        time += 10000000;
        ADD(&b, has.v, has, time, unpark, .target = next, .stack = give);
        ADD(&b, has.v, has, time + 500, park_enter, .lock = queue, .stack = take);
        ADD(&b, next.v, next, time + 1000, park_exit, .lock = queue);
    }
    builder_info(&b, "sun.java.command", "shop.Main");
    run(400000000);
    cr_assert_eq(all.n, 0);
}

/* --- monitors and answers ------------------------------------------------------------------- */

Test(resources, taking_a_monitor_again_is_waiting_for_it)
{
    ADD(&b, 1, ann, 1000, wait_enter, .lock = lock, .stack = stack);
    ADD(&b, 2, bob, 10000000, notify, .lock = lock, .stack = other_stack);
    ADD(&b, 1, ann, 90000000, wait_exit, .lock = lock);
    run(100000000);
    cr_assert_eq(all.n, 1);
    cr_assert_eq(all.v[0].kind, RESOURCE_LOCK);
    cr_assert_eq(all.v[0].ns, 80000000);
    cr_assert_eq(all.v[0].holder, bob.v);
}

Test(resources, the_time_of_those_who_wait_is_without_what_they_idle)
{
    stack_id idle = builder_stack(&b, "java.lang.Object.wait:native org.apache.pool.Worker.next:3");
    ADD(&b, 1, ann, 0, wait_enter, .lock = other_lock, .stack = idle);
    ADD(&b, 1, ann, 60000000, wait_exit, .lock = other_lock);
    does_block(ann, 70000000, 90000000, lock, bob);
    run(100000000);
    cr_assert_eq(all.n, 1);
    cr_assert_eq(all.v[0].base, 40000000);
    cr_assert_eq(resource_permille(&all.v[0]), 500);
}

Test(resources, an_answer_is_no_lock_and_says_who_gives_it)
{
    stack_id get = builder_stack(
        &b, "java.util.concurrent.locks.LockSupport.park:1 java.util.concurrent.FutureTask.get:2 "
            "shop.Desk.place:30");
    lock_id task = builder_lock(&b, builder_class(&b, "Ljava/util/concurrent/FutureTask;"));
    ADD(&b, 1, ann, 10000000, park_enter, .lock = task, .stack = get);
    does_sleep(bob, 15000000, 75000000);
    ADD(&b, bob.v, bob, 80000000, unpark, .target = ann, .stack = other_stack);
    ADD(&b, 1, ann, 80001000, park_exit, .lock = task);
    run(100000000);
    cr_assert_eq(all.n, 1);
    const struct resource *r = &all.v[0];
    cr_assert_eq(r->kind, RESOURCE_ANSWERS);
    cr_assert_eq(r->holder, bob.v);
    cr_assert_eq(r->doing[0].does, DOES_SLEEP);
    cr_assert_eq(r->doing[0].ns, 60000000);
    struct rule_finding *f;
    size_t n;
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert_eq(n, 1);
    cr_assert_str_eq(f->rule, "slow-answer");
}

/* The same of a thread of the JVM's own: what it waits for is nobody's loss. */
Test(resources, what_the_jvms_own_threads_wait_for_is_no_finding)
{
    stack_id remove = builder_stack(&b, "java.lang.Object.wait:1 java.lang.ref.ReferenceQueue."
                                        "remove:2 jdk.internal.ref.CleanerImpl.run:30");
    static const char *const groups[] = {"system", "InnocuousThreadGroup"};
    for (uint32_t i = 0; i < ARRAY_LEN(groups); i++) {
        struct def d = {.kind = DEF_thread,
                        .thread = {.id = i ? bob : ann,
                                   .name = {i ? "Common-Cleaner" : "Finalizer", i ? 14 : 9},
                                   .group = {groups[i], strlen(groups[i])}}};
        builder_def(&b, &d);
        thread_id own = d.thread.id;
        ADD(&b, own.v, own, 10000000, wait_enter, .lock = lock, .stack = remove);
        ADD(&b, cat.v, cat, 80000000 + i * 1000, notify, .lock = lock, .stack = other_stack);
        ADD(&b, own.v, own, 80500000, wait_exit, .lock = lock);
    }
    run(100000000);
    cr_assert_eq(all.n, 0);
}

static const char *rules_of(uint64_t end)
{
    static char text[256];
    struct rule_finding *f;
    size_t n;
    analyzed_run(end);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    *text = 0;
    for (size_t i = 0; i < n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "", f[i].rule);
    return text;
}

#define GET "java.util.concurrent.locks.LockSupport.park:1 java.util.concurrent.FutureTask.get:2 "

/* A result that `who` waits for from then to then; giver 0: until its patience ends. */
static void gets(thread_id who, thread_id giver, uint64_t from, uint64_t to, const char *frames)
{
    lock_id task = builder_lock(&b, builder_class(&b, "Ljava/util/concurrent/FutureTask;"));
    ADD(&b, who.v, who, from, park_enter, .lock = task, .stack = builder_stack(&b, frames));
    if (giver.v)
        ADD(&b, giver.v, giver, to - 1000, unpark, .target = who, .stack = other_stack);
    ADD(&b, who.v, who, to, park_exit, .lock = task);
}

/* One thread answers four, one after the other; or four threads each their own one. */
static const char *text_of_answers(bool one, uint64_t *queued, uint64_t *given)
{
    const thread_id who[] = {ann, bob, cat, builder_thread(&b, "eve")};
    thread_id givers[] = {dan, builder_thread(&b, "giver-2"), builder_thread(&b, "giver-3"),
                          builder_thread(&b, "giver-4")};
    stack_id idle = builder_stack(&b, "jdk.internal.misc.Unsafe.park:native "
                                      "java.util.concurrent.ThreadPoolExecutor.getTask:1");
    for (uint64_t round = 0; round < 5; round++) {
        uint64_t from = 1000000 + round * 130000000;
        for (uint64_t i = 0; i < 4; i++) {
            thread_id giver = givers[one ? 0 : i];
            if (!one || i == 0) {
                ADD(&b, giver.v, giver, from - 500000, park_enter, .stack = idle);
                ADD(&b, who[i].v, who[i], from - 2000, unpark, .target = giver,
                    .stack = other_stack);
                ADD(&b, giver.v, giver, from - 1000, park_exit);
            }
            gets(who[i], giver, from, from + (one ? 30000000 * (i + 1) : 90000000 + i * 3000000),
                 GET "shop.Desk.place:30");
        }
    }
    struct rule_finding *f;
    size_t n;
    run(660000000);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert_gt(n, 0);
    cr_assert_str_eq(f->rule, "slow-answer");
    *queued = all.v[0].queued_ns;
    *given = all.v[0].given_ns;
    return f->text;
}

Test(resources, answers_queue_for_who_gives_them)
{
    uint64_t queued, given;
    cr_assert_not_null(strstr(text_of_answers(true, &queued, &given), "begins (1 at a time)"));
    cr_assert_eq((queued + 500000) / 1000000, 5 * (30 + 60 + 90));
    cr_assert_eq((given + 500000) / 1000000, 5 * (30 + 60 + 90 + 120));
}

Test(resources, an_answer_that_somebody_works_on_is_in_no_queue)
{
    uint64_t queued, given;
    cr_assert_null(strstr(text_of_answers(false, &queued, &given), "requests queue"));
    cr_assert_eq(queued, 0);
}

enum wakes { RELAY_WAKES, TIME_WAKES, CLIENT_WAKES, BOSS_WAKES, SELECTS };

/* The one server reads for each of n, who queue, and is woken by a relay, by time, by who got an
 * answer and asks again, or by its boss, before the relay runs; each n-th time it may select before it
 * gives.  The
 * relay passes on what they get. */
static void served_through_a_relay(enum wakes how, uint64_t n)
{
    const thread_id who[] = {ann, bob, cat, builder_thread(&b, "eve")};
    thread_id boss = builder_thread(&b, "boss");
    thread_id server = builder_thread(&b, "mail"), relay = dan;
    stack_id idle = builder_stack(&b, "jdk.internal.misc.Unsafe.park:native "
                                      "java.util.concurrent.ThreadPoolExecutor.getTask:1 "
                                      "java.util.concurrent.ThreadPoolExecutor.runWorker:9"),
             wait = builder_stack(&b, GET "shop.Desk.place:30 org.web.Worker.run:9"),
             reads = builder_stack(&b, "sun.nio.ch.SocketDispatcher.read0:native "
                                       "shop.Mail.send:31 co.Broker.dispatch:4 "
                                       "java.util.concurrent.ThreadPoolExecutor.runWorker:9"),
             selects = builder_stack(&b, SELECTING LOOP),
             asks = builder_stack(&b, "co.Broker.ask:5 shop.Desk.place:29 org.web.Worker.run:9"),
             passes = builder_stack(&b, "co.Broker.pass:8 "
                                        "java.util.concurrent.ThreadPoolExecutor.runWorker:9");
    lock_id peer = builder_lock(&b, builder_class(&b, "=10.0.0.7:9000")), on[4];
    class_id class_ = builder_class(&b, "Ljava/util/concurrent/FutureTask;");
    builder_info(&b, "sun.java.command", "shop.Main");
    for (uint64_t i = 0; i < n; i++) {
        on[i] = builder_lock(&b, class_);
        ADD(&b, who[i].v, who[i], 1000000, park_enter, .lock = on[i], .stack = wait);
    }
    if (how == BOSS_WAKES)
        ADD(&b, boss.v, boss, 1000000, park_enter, .stack = idle, .timeout_ns = 1000);
    for (uint64_t i = 0; i < 40; i++) {
        uint64_t next = i % n, time = 1100000 + i * 10000000;
        ADD(&b, relay.v, relay, time, park_enter, .stack = idle);
        ADD(&b, server.v, server, time + 9200000, io, .what = IO_KIND_input, .peer = peer,
            .since = at(time + 100000), .stack = reads);
        if (how == SELECTS && i % n == n - 1)
            ADD(&b, server.v, server, time + 9700000, io, .what = IO_KIND_select,
                .since = at(time + 9210000), .stack = selects);
        ADD(&b, server.v, server, time + 9800000, unpark, .target = relay, .stack = passes);
        ADD(&b, server.v, server, time + 9801000, park_enter, .stack = idle,
            .timeout_ns = how == TIME_WAKES ? 1000 : 0);
        if (how == BOSS_WAKES) {
            ADD(&b, boss.v, boss, time + 9801500, park_exit);
            ADD(&b, boss.v, boss, time + 9802000, unpark, .target = server, .stack = passes);
            ADD(&b, boss.v, boss, time + 9803000, park_enter, .stack = idle, .timeout_ns = 1000);
            ADD(&b, server.v, server, time + 9804000, park_exit);
        }
        ADD(&b, relay.v, relay, time + 9810000, park_exit);
        ADD(&b, relay.v, relay, time + 9820000, unpark, .target = who[next], .stack = passes);
        if (how == RELAY_WAKES || how == SELECTS)
            ADD(&b, relay.v, relay, time + 9830000, unpark, .target = server, .stack = passes);
        ADD(&b, who[next].v, who[next], time + 9840000, park_exit, .lock = on[next]);
        if (how == CLIENT_WAKES)
            ADD(&b, who[next].v, who[next], time + 9850000, unpark, .target = server,
                .stack = asks);
        if (how != BOSS_WAKES)
            ADD(&b, server.v, server, time + 9860000, park_exit);
        on[next] = builder_lock(&b, class_);
        ADD(&b, who[next].v, who[next], time + 9900000, park_enter, .lock = on[next],
            .stack = wait);
    }
    run(410000000);
}

static void is_the_servers(void)
{
    const struct resource *r = &all.v[0];
    cr_assert_eq(r->kind, RESOURCE_ANSWERS);
    cr_assert(!resource_is_from_elsewhere(r));
    char name[64];
    label_thread(&a->threads, a->trace, r->holder, name, sizeof name);
    cr_assert_str_eq(name, "mail");
    cr_assert(r->by_waits);
    cr_assert_eq(r->n_holders, 2); /* the relay as well */
    cr_assert_eq(r->doing[0].does, DOES_INPUT);
    cr_assert_gt(r->doing[0].ns, r->held / 10 * 9);
    cr_assert_leq(r->doing[0].calls, 40);
    cr_assert_str_eq(method_of(r->doing[0].at), "shop.Mail.send");
    cr_assert_eq(r->queued_ns, 0);
    const struct rule_finding *f = first_card();
    cr_assert_eq(f->resource->kind, RESOURCE_IO);
    cr_assert_eq(f->resource->n_behind, 1);
    cr_assert_eq(all.v + f->resource->behind[0] - 1, r);
    cr_assert_str_eq(labelled(f, CARD_TRY), "let other threads make the call");
}

Test(resources, who_works_while_answers_pass_through_a_relay)
{
    served_through_a_relay(RELAY_WAKES, 4);
    is_the_servers();
}

Test(resources, who_asks_again_does_not_work_on_what_others_wait_for)
{
    served_through_a_relay(CLIENT_WAKES, 4);
    is_the_servers();
}

Test(resources, who_was_woken_late_was_woken_by_who_did_it)
{
    served_through_a_relay(BOSS_WAKES, 1);
    is_the_servers();
}

/* It may have got its event from anywhere. */
Test(resources, what_comes_by_a_select_is_followed_no_farther)
{
    served_through_a_relay(SELECTS, 4);
    cr_assert_eq(all.v[0].kind, RESOURCE_ANSWERS);
    cr_assert(resource_is_from_elsewhere(&all.v[0]));
}

Test(resources, what_was_done_before_a_select_was_done_for_another_event)
{
    served_through_a_relay(SELECTS, 1);
    cr_assert_eq(all.v[0].kind, RESOURCE_ANSWERS);
    cr_assert(resource_is_from_elsewhere(&all.v[0]));
}

/* What happened before its time was over says nothing of it. */
Test(resources, who_wakes_by_itself_has_not_worked_before)
{
    served_through_a_relay(TIME_WAKES, 4);
    const struct resource *r = &all.v[0];
    cr_assert_eq(r->kind, RESOURCE_ANSWERS);
    cr_assert(resource_is_from_elsewhere(r));
    cr_assert_eq(r->holder, dan.v);
}

/* Each answer is given by a thread of its own, which is started 20 ms before, and computes. */
Test(resources, who_is_not_there_yet_does_not_work)
{
    for (uint64_t i = 0; i < 5; i++) {
        char name[] = {'o', 'w', 'n', '-', (char)('1' + i), 0};
        thread_id own = builder_thread(&b, name);
        uint64_t from = 1000000 + i * 200000000;
        ADD0(&b, own.v, own, from + 80000000, thread_start);
        gets(ann, own, from, from + 100000000, GET "shop.Desk.place:30");
    }
    run(1100000000);
    cr_assert_eq(all.v[0].kind, RESOURCE_ANSWERS);
    cr_assert_lt(all.v[0].held, 101000000);
    cr_assert_gt(all.v[0].held, 99000000);
}

/* Answers that do not come until the end: asked for in tasks of a pool, or by whoever it is. */
static void never_get(const thread_id *who, size_t n, const char *frames)
{
    lock_id task = builder_lock(&b, builder_class(&b, strstr(frames, "FutureTask")
                                                          ? "Ljava/util/concurrent/FutureTask;"
                                                          : "Lcom/fast/promise/Gate;"));
    for (size_t i = 0; i < n; i++)
        ADD(&b, who[i].v, who[i], 1000000 + i, park_enter, .lock = task,
            .stack = builder_stack(&b, frames));
    run(400000000);
}

#define IN_TASK GET "shop.Desk.place:30 java.util.concurrent.ThreadPoolExecutor.runWorker:9"

Test(resources, tasks_that_wait_until_the_end_wait_for_answers)
{
    never_get((const thread_id[]){ann, bob, cat}, 3, IN_TASK);
    cr_assert_eq(all.n, 1);
    cr_assert_eq(all.v[0].kind, RESOURCE_ANSWERS);
    cr_assert_eq(all.v[0].n_waits, 3);
}

/* A library's own future, on which java.util.concurrent's classes say nothing. */
#define MANAGED                                                                                    \
    "jdk.internal.misc.Unsafe.park:native com.fast.promise.Gate.block:3 "                          \
    "java.util.concurrent.ForkJoinPool.unmanagedBlock:5 "                                          \
    "java.util.concurrent.ForkJoinPool.managedBlock:4 "

Test(resources, who_tells_its_pool_that_it_blocks_waits_for_an_answer)
{
    never_get((const thread_id[]){ann, bob, cat}, 3,
              MANAGED "com.fast.promise.Promise.await:7 shop.Desk.place:30 "
                      "java.util.concurrent.ThreadPoolExecutor.runWorker:9");
    cr_assert_eq(all.n, 1);
    cr_assert_eq(all.v[0].kind, RESOURCE_ANSWERS);
}

Test(resources, a_condition_of_the_jdks_tells_its_pool_too_and_says_nothing)
{
    never_get((const thread_id[]){ann, bob, cat}, 3,
              MANAGED "java.util.concurrent.locks.AbstractQueuedSynchronizer.await:7 "
                      "shop.Desk.place:30 java.util.concurrent.ThreadPoolExecutor.runWorker:9");
    cr_assert_eq(all.n, 0);
}

Test(resources, one_that_waits_until_the_end_may_wait_for_that)
{
    never_get((const thread_id[]){ann}, 1, IN_TASK);
    cr_assert_eq(all.n, 0);
}

Test(resources, threads_that_wait_until_the_end_may_wait_for_that)
{
    never_get((const thread_id[]){ann, bob, cat}, 3, GET "shop.Desk.place:30 shop.Main.main:2");
    cr_assert_eq(all.n, 0);
}

/* A loop passes on what came in; the threads of one pool, and of no other, were busy in that
 * time. */
static const char *passed_from; /* whom the loop reads from before; NULL: it is not known */
static uint64_t read_ns; /* how long each recorded read of the pool takes; 0: none is recorded */

static int n_work = 2; /* threads of the pool */

static void pass_on(bool busy)
{
    lock_id peer = passed_from ? builder_lock(&b, builder_class(&b, passed_from)) : (lock_id){0};
    thread_id work[8];
    const thread_id who[] = {ann, bob, cat};
    stack_id idle = builder_stack(&b, "jdk.internal.misc.Unsafe.park:native "
                                      "java.util.concurrent.ThreadPoolExecutor.getTask:1");
    for (int i = 0; i < n_work; i++) {
        char name[] = {'w', 'o', 'r', 'k', '-', (char)('1' + i), 0};
        work[i] = builder_thread(&b, name);
        ADD(&b, work[i].v, work[i], 100000, park_enter, .stack = idle);
        ADD(&b, work[i].v, work[i], i || busy ? 900000 : 390000000, park_exit);
    }
    for (uint64_t round = 0; round < 4; round++)
        for (uint64_t i = 0; i < 3; i++) {
            uint64_t to = 90000000 + round * 100000000 + i * 3000000;
            if (passed_from)
                ADD(&b, dan.v, dan, to - 1000, io_read, .peer = peer, .since = at(to - 2000));
            gets(who[i], dan, 1000000 + round * 100000000, to, GET "shop.Desk.place:30");
        }
    stack_id reads = builder_stack(&b, "sun.nio.ch.SocketDispatcher.read0:native shop.Pay.pay:31");
    for (uint64_t time = 1000000; read_ns && time + read_ns < 399000000; time += read_ns)
        for (int k = 0; k < n_work; k++)
            ADD(&b, work[k].v, work[k], time + read_ns - 1000, io, .what = IO_KIND_input,
                .stack = reads, .since = at(time));
    for (uint64_t i = 0; i < 39; i++) {
        does_look(dan, 10000000 * (i + 1),
                  "sun.nio.ch.EPoll.wait:native sun.nio.ch.EPollSelectorImpl.doSelect:1 "
                  "com.fast.Loop.run:3",
                  SAMPLE_IDLE);
        for (int k = 0; k < n_work; k++)
            does_look(work[k], 10000000 * (i + 1),
                      "sun.nio.ch.SocketDispatcher.read0:native shop.Pay.pay:31", SAMPLE_IDLE);
    }
    run(400000000);
}

Test(resources, answers_that_a_loop_passes_on_are_of_the_pool_that_is_busy)
{
    pass_on(true);
    const struct resource *r = &all.v[0];
    cr_assert_eq(r->kind, RESOURCE_ANSWERS);
    cr_assert(r->passed);
    cr_assert_eq(r->n_holders, 2);
    cr_assert_str_eq(method_of(r->doing[0].at), "shop.Pay.pay");
    char name[256];
    resource_title(r, a, name, sizeof name);
    cr_assert_str_eq(name, "answers of work");
}

Test(resources, a_busy_pool_that_calls_as_often_as_it_answers_may_give_the_answers)
{
    read_ns = 50000000; /* 14 calls for 12 answers */
    pass_on(true);
    cr_assert(all.v[0].passed);
}

Test(resources, a_busy_pool_that_calls_less_often_than_there_are_answers_does_something_else)
{
    read_ns = 90000000;
    pass_on(true);
    cr_assert_not(all.v[0].passed);
    cr_assert_eq(all.v[0].holder, dan.v);
}

Test(resources, a_busy_pool_whose_calls_are_longer_than_the_waits_does_something_else)
{
    read_ns = 190000000; /* 16 calls; each answer comes after 93 ms */
    n_work = 8;
    pass_on(true);
    cr_assert_not(all.v[0].passed);
}

Test(resources, answers_that_a_loop_passes_on_are_of_no_pool_that_has_an_idle_thread)
{
    pass_on(false);
    cr_assert_not(all.v[0].passed);
    cr_assert_eq(all.v[0].holder, dan.v);
}

Test(resources, answers_that_a_loop_passes_on_are_of_none_of_two_busy_pools)
{
    stack_id idle = builder_stack(&b, "jdk.internal.misc.Unsafe.park:native "
                                      "java.util.concurrent.ThreadPoolExecutor.getTask:1");
    thread_id other = builder_thread(&b, "other-1");
    ADD(&b, other.v, other, 100000, park_enter, .stack = idle);
    ADD(&b, other.v, other, 900000, park_exit);
    pass_on(true);
    cr_assert_not(all.v[0].passed);
}

/* The program itself listens there, so its own threads may be those who answer. */
static void passes_on_from(const char *peer)
{
    builder_class(&b, "=listening 0.0.0.0:9102");
    passed_from = peer;
    pass_on(true);
}

Test(resources, a_busy_pool_gives_what_comes_from_the_programs_own_port)
{
    passes_on_from("=127.0.0.1:9102");
    cr_assert(all.v[0].passed);
    cr_assert_not(all.v[0].remote);
}

Test(resources, the_same_port_of_another_host_is_another_program)
{
    passes_on_from("=10.0.0.7:9102");
    cr_assert_not(all.v[0].passed);
    cr_assert(all.v[0].remote);
}

/* A loop passes on what a pool, whose threads are often idle, works on at once, for a part of the
 * time that is waited for. */
static void passes_on_work(const char *peer, uint64_t works_ms, const char *pools)
{
    enum { POOL = 4, MS = 1000000 };
    const thread_id who[] = {ann, bob, cat};
    thread_id work[2 * POOL];
    int n = (int)strlen(pools) * POOL;
    lock_id from = builder_lock(&b, builder_class(&b, peer));
    stack_id idle = builder_stack(&b, "jdk.internal.misc.Unsafe.park:native "
                                      "java.util.concurrent.ThreadPoolExecutor.getTask:1");
    builder_class(&b, "=listening 0.0.0.0:9102");
    for (int i = 0; i < n; i++) {
        const char name[] = {pools[i / POOL], 'o', 'r', 'k', '-', (char)('1' + i % POOL), 0};
        work[i] = builder_thread(&b, name);
        ADD(&b, work[i].v, work[i], 1000, park_enter, .stack = idle);
    }
    for (uint64_t i = 0; i < 60; i++) {
        uint64_t time = (1 + i / 3 * 30) * MS + i % 3 * 1000, to = time + 20 * MS;
        for (int k = (int)i % POOL; k < n; k += POOL) {
            ADD(&b, work[k].v, work[k], time + MS, park_exit);
            ADD(&b, work[k].v, work[k], time + (1 + works_ms) * MS, park_enter, .stack = idle);
        }
        ADD(&b, dan.v, dan, to - 500, io_read, .peer = from, .since = at(to - 600));
        gets(who[i % 3], dan, time, to + 600, GET "shop.Desk.place:30");
    }
    for (uint64_t round = 0; round < 20; round++) {
        for (uint64_t k = 0; k < 6; k++)
            does_look(work[(3 * round + k % 3) % POOL],
                      (30 * round + 2 + works_ms / 4 + k / 3) * MS + k % 3 * 1000,
                      "sun.nio.ch.SocketDispatcher.read0:native shop.Pay.pay:31 shop.Task.run:4 "
                      "java.util.concurrent.ThreadPoolExecutor.runWorker:9",
                      SAMPLE_IDLE);
        for (uint64_t k = 1; k <= 3; k++)
            does_look(dan, (30 * round + k * 10) * 1000000,
                      "sun.nio.ch.EPoll.wait:native sun.nio.ch.EPollSelectorImpl.doSelect:1 "
                      "com.fast.Loop.run:3",
                      SAMPLE_IDLE);
    }
    run(UINT64_C(610) * MS);
}

Test(resources, who_works_at_once_gives_what_comes_from_the_programs_own_port)
{
    passes_on_work("=127.0.0.1:9102", 16, "w");
    const struct resource *r = &all.v[0];
    char name[256];
    cr_assert_eq(r->kind, RESOURCE_ANSWERS);
    cr_assert_not(r->remote);
    cr_assert(r->worked);
    cr_assert_eq(r->n_holders, 4);
    cr_assert_eq(r->doing[0].does, DOES_INPUT);
    cr_assert_gt(10 * r->doing[0].ns, 9 * r->held); /* not their idle time */
    cr_assert_str_eq(method_of(r->doing[0].at), "shop.Pay.pay");
    resource_title(r, a, name, sizeof name);
    cr_assert_str_eq(name, "answers of work");
    struct rule_finding *f;
    size_t n;
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert_eq(n, 1);
    cr_assert_str_eq(f->rule, "waits-for-io");
    cr_assert(strstr(labelled(f, CARD_BEHIND), " wait for answers of work: 60 waits, 1.20 s"), "%s",
              f->text);
}

/* Nothing in the program is slow: nobody has worked for as long as was waited. */
Test(resources, a_pool_that_hardly_works_does_not_give_what_a_loop_passes_on)
{
    struct rule_finding *f;
    size_t n;
    char name[256];
    passes_on_work("=127.0.0.1:9102", 4, "w");
    cr_assert(all.v[0].remote);
    resource_title(&all.v[0], a, name, sizeof name);
    cr_assert_str_eq(name, "answers from 127.0.0.1:9102, this program");
    cr_assert(all.v[0].inside);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    for (size_t i = 0; i < n; i++)
        cr_assert(strcmp(f[i].rule, "slow-answer") != 0 || f[i].severity == SEVERITY_INFO);
}

Test(resources, a_pool_that_works_for_others_too_may_not_give_what_a_loop_passes_on)
{
    passes_on_work("=127.0.0.1:9102", 27, "w");
    cr_assert(all.v[0].remote);
}

Test(resources, of_two_pools_that_work_at_once_none_is_known_to_give)
{
    passes_on_work("=127.0.0.1:9102", 16, "wf");
    cr_assert(all.v[0].remote);
}

Test(resources, a_pool_that_works_meanwhile_does_not_give_what_another_program_sends)
{
    passes_on_work("=10.0.0.7:9102", 16, "w");
    cr_assert(all.v[0].remote);
    cr_assert_not(all.v[0].inside);
}

/* ann waits for the end of a pool, whose last thread has just read something. */
Test(resources, one_wait_that_ends_behind_some_input_is_no_answer_from_there)
{
    lock_id peer = builder_lock(&b, builder_class(&b, "=10.0.0.7:9102"));
    ADD(&b, dan.v, dan, 380000000, io_read, .peer = peer, .since = at(379000000));
    gets(ann, dan, 1000000, 380001000, GET "shop.Main.main:30");
    struct rule_finding *f;
    size_t n;
    run(400000000);
    cr_assert(all.v[0].remote);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    for (size_t i = 0; i < n; i++)
        cr_assert_str_neq(f[i].rule, "slow-answer");
}

/* Each waits once, all until the same moment: something begins. */
Test(resources, what_each_waits_for_once_limits_nothing)
{
    const thread_id who[] = {ann, bob, cat};
    for (uint64_t i = 0; i < 3; i++) {
        ADD(&b, who[i].v, who[i], 1000000 + i, monitor_contended_enter, .lock = lock, .owner = dan,
            .stack = stack);
        ADD(&b, who[i].v, who[i], 60000000 + i * 1000, monitor_contended_entered, .lock = lock);
    }
    struct rule_finding *f;
    size_t n;
    run(70000000);
    cr_assert(resource_is_once(&all.v[0]));
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert_gt(n, 0);
    cr_assert_str_eq(f->rule, "contended-lock");
    cr_assert_eq(f->severity, SEVERITY_INFO);
}

static enum severity severity_of_round;

/* A lock goes round: who gets it, 0.9 ms after it was given, keeps it for a while. */
static const char *take_of_round = "jdk.internal.misc.Unsafe.park:native "
                                   "java.util.concurrent.locks.LockSupport.park:1 "
                                   "java.util.concurrent.locks.ReentrantLock.lock:2 "
                                   "shop.Desk.place:30";

static const char *card_of_round_of(const thread_id *who, const char *class, uint64_t keeps,
                                    uint64_t summed)
{
    static char text[FINDING_TEXT];
    lock_id of = builder_lock(&b, builder_class(&b, class));
    stack_id take = builder_stack(&b, take_of_round),
             give = builder_stack(&b, "java.util.concurrent.locks.ReentrantLock.unlock:4 "
                                      "shop.Desk.place:32");
    struct rule_finding *f;
    size_t n;
    uint64_t time = 1000000;
    for (int k = 0; k < 2; k++)
        ADD(&b, who[k].v, who[k], time + (uint64_t)k, park_enter, .lock = of, .stack = take);
    for (uint64_t i = 0; i < 300; i++, time += 900000 + keeps) {
        thread_id gives = who[(i + 2) % 3], gets_it = who[i % 3];
        ADD(&b, gives.v, gives, time + 100, unpark, .target = gets_it, .stack = give);
        ADD(&b, gives.v, gives, time + 200, park_enter, .lock = of, .stack = take);
        ADD(&b, gets_it.v, gets_it, time + 900100, park_exit, .lock = of);
    }
    /* Then only sums are known, but for one that is long, and that another has it. */
    uint64_t since = time + 1000000, until = since + summed;
    for (uint64_t i = 300; i < 302 && summed; i++)
        ADD(&b, who[i % 3].v, who[i % 3], time + 1000 * i, park_exit, .lock = of);
    if (summed)
        ADD(&b, dan.v, dan, until - summed / 5, unpark, .target = ann, .stack = give);
    if (summed)
        ADD(&b, dan.v, dan, until, summing, .since = at(since), .below = 16000000);
    for (int k = 0; k < 3 && summed; k++)
        ADD(&b, who[k].v, who[k], until, wait_sum, .kind = EV_park_enter, .lock = of, .owner = dan,
            .stack = take, .since = at(since), .until = at(until), .count = 1000,
            .total = summed / 10 * 7, .longest = 3000000);
    if (summed)
        ADD(&b, ann.v, ann, until, wait_sum, .kind = EV_park_enter, .lock = of, .owner = dan,
            .stack = take, .since = at(until - summed / 4), .until = at(until), .count = 1,
            .total = summed / 4, .longest = summed / 4, .whole = 1);
    run(until + 1000000);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert_geq(n, 1);
    snprintf(text, sizeof text, "%s", f[0].text);
    severity_of_round = f[0].severity;
    return text;
}

static const char *card_of_round_and(const char *class, uint64_t keeps, uint64_t summed)
{
    const thread_id who[] = {ann, bob, cat};
    return card_of_round_of(who, class, keeps, summed);
}

static const char *card_of_round(const char *class, uint64_t keeps)
{
    return card_of_round_and(class, keeps, 0);
}

/* What is known wait by wait stands for the rest: not what was long. */
Test(resources, what_holders_of_summed_waits_do_is_that_of_a_look)
{
    const char *text = card_of_round_and("Ljava/util/concurrent/locks/ReentrantLock$FairSync;",
                                         10000, UINT64_C(4000000000));
    cr_assert_not_null(strstr(text, "held by no thread for 98 % of the time: hand-offs, 900 "),
                       "%s", text);
    cr_assert_not_null(strstr(text, "s each"), "%s", text);
    cr_assert_not_null(strstr(text, "3,3"), "%s", text);
}

Test(resources, a_librarys_lock_that_is_handed_off_cannot_be_taken_less_often)
{
    take_of_round = PARKED "com.zaxxer.hikari.Fast.take:9 shop.Desk.place:21 shop.Main.main:2";
    const char *text =
        card_of_round("Ljava/util/concurrent/locks/ReentrantLock$NonfairSync;", 10000);
    cr_assert_not_null(strstr(text, "held by no thread for 98 % of the time: hand-offs "), "%s",
                       text);
    cr_assert_null(strstr(text, "try"), "%s", text);
}

Test(resources, a_lock_that_is_handed_off_most_of_the_time_is_said_to_be)
{
    const char *text = card_of_round("Ljava/util/concurrent/locks/ReentrantLock$FairSync;", 10000);
    cr_assert_not_null(strstr(text, "held by no thread for 98 % of the time: hand-offs "
                                    "(300, 900 "),
                       "%s", text);
    cr_assert_not_null(strstr(text, "use an unfair lock, or take the lock less often"), "%s", text);
    cr_assert_null(strstr(text, "rerun"), "%s", text);
}

Test(resources, a_lock_that_is_not_fair_is_not_called_fair)
{
    const char *text =
        card_of_round("Ljava/util/concurrent/locks/ReentrantLock$NonfairSync;", 10000);
    cr_assert_not_null(strstr(text, "try: take the lock less often and do more work each time"),
                       "%s", text);
}

/* A virtual thread that was woken waits for a carrier.  Meanwhile whoever runs takes the lock, unless
 * that is fair. */
static const char *card_of_virtual_round(const char *class)
{
    thread_id who[3];
    for (uint32_t i = 0; i < 3; i++)
        who[i] = builder_thread_flags(&b, "", THREAD_VIRTUAL);
    return card_of_round_of(who, class, 10000, 0);
}

Test(resources, a_lock_whose_next_owners_have_no_carrier_does_not_limit)
{
    const char *text =
        card_of_virtual_round("Ljava/util/concurrent/locks/ReentrantLock$NonfairSync;");
    cr_assert_not_null(strstr(text, "held by no thread for 98 % of the time: woken threads have no "
                                    "carrier (300 times, 900 "),
                       "%s", text);
    cr_assert_null(strstr(text, "try"), "%s", text);
    cr_assert_eq(severity_of_round, SEVERITY_INFO);
}

Test(resources, a_fair_lock_waits_for_the_carrier_of_its_next_owner)
{
    const char *text = card_of_virtual_round("Ljava/util/concurrent/locks/ReentrantLock$FairSync;");
    cr_assert_not_null(strstr(text, "woken threads have no carrier (300 times"), "%s", text);
    cr_assert_not_null(strstr(text, "use an unfair lock"), "%s", text);
    cr_assert_neq(severity_of_round, SEVERITY_INFO);
}

/* 90 virtual threads serve a request of 10 ms each; 3 of them wait in it for a lock that ann has. */
Test(resources, threads_that_serve_a_request_stand_for_their_pool)
{
    enum { MS = 1000000, REQUESTS = 90 };
    for (uint64_t i = 0; i < REQUESTS; i++) {
        thread_id v = builder_thread_flags(&b, "", THREAD_VIRTUAL);
        uint64_t from = (1 + i * 10) * MS;
        ADD(&b, v.v, v, from, thread_start);
        if (i % 30 == 29)
            does_block(v, from + 1, from + 9 * MS + 1, lock, ann);
        ADD(&b, v.v, v, from + 10 * MS, thread_end);
    }
    run(UINT64_C(1000) * MS);
    cr_assert_eq(all.v[0].count, 3);
    cr_assert_eq(resource_permille(&all.v[0]), 30); /* 3 * 9 of 90 * 10 ms */
}

/* Nobody knows the owner of such a lock: who releases it had it, but not while he waited for it. */
Test(resources, who_waited_for_a_lock_did_not_have_it)
{
    const char *text = card_of_round("Ljava/util/concurrent/locks/StampedLock;", 3000000);
    cr_assert_not_null(strstr(text, "held by 3 threads"), "%s", text);
    cr_assert_null(strstr(text, "blocked on"), "%s", text);
}

Test(resources, a_lock_that_is_kept_is_not_said_to_be_handed_off)
{
    cr_assert_null(strstr(
        card_of_round("Ljava/util/concurrent/locks/ReentrantLock$FairSync;", 3000000), "handed"));
}

Test(resources, readers_that_wake_each_other_hand_nothing_off)
{
    cr_assert_null(
        strstr(card_of_round("Ljava/util/concurrent/locks/ReentrantReadWriteLock$FairSync;", 10000),
               "handed"));
}

/* All of a pool wait for what nobody gives before their patience ends. */
static const char *patience(int own, uint64_t rounds, const char *at)
{
    thread_id pool[3];
    for (int k = 0; k < 3; k++) {
        pool[k] = builder_thread(&b, (const char *const[]){"own-1", "own-2", "own-3"}[k]);
        ADD0(&b, pool[k].v, pool[k], 1000, thread_start);
    }
    for (int k = 0; k < own; k++)
        for (uint64_t i = 0; i < rounds; i++)
            gets(pool[k], (thread_id){0}, 1000000 + i * 30000000, 29000000 + i * 30000000, at);
    return rules_of(rounds * 30000000);
}

Test(resources, a_pool_all_of_which_waits_for_what_nobody_gives_is_starved)
{
    cr_assert_str_eq(patience(3, 1, GET "shop.Desk.part:30 shop.Desk.task:3"), "starved-pool");
}

#define OWN_TASK                                                                                   \
    GET "shop.Desk.part:30 shop.Desk.task:3 java.util.concurrent.ThreadPoolExecutor.runWorker:9"

/* They wait for the next one when the recording ends; or all still do for the first one. */
static const char *patience_to_the_end(uint64_t rounds)
{
    lock_id task = builder_lock(&b, builder_class(&b, "Ljava/util/concurrent/FutureTask;"));
    for (int k = 0; k < 3; k++) {
        thread_id own = builder_thread(&b, (const char *const[]){"own-1", "own-2", "own-3"}[k]);
        if (rounds)
            gets(own, (thread_id){0}, 1000000, 29000000, OWN_TASK);
        ADD(&b, own.v, own, 31000000, park_enter, .lock = task,
            .stack = builder_stack(&b, OWN_TASK));
    }
    return rules_of(60000000);
}

Test(resources, a_pool_that_goes_on_to_wait_for_what_nobody_gives_is_starved)
{
    cr_assert_str_eq(patience_to_the_end(1), "starved-pool");
}

Test(resources, a_pool_whose_first_answers_are_not_there_yet_is_not_starved)
{
    cr_assert_null(strstr(patience_to_the_end(0), "starved"));
}

Test(resources, a_pool_with_a_thread_that_could_give_it_is_not)
{
    cr_assert_null(strstr(patience(2, 1, GET "shop.Desk.part:30 shop.Desk.task:3"), "starved"));
}

/* How a library's thread lets time pass, unless it is asked to end. */
Test(resources, who_waits_for_nobody_again_and_again_at_its_loop_is_idle)
{
    lock_id latch =
        builder_lock(&b, builder_class(&b, "Ljava/util/concurrent/CountDownLatch$Sync;"));
    stack_id awaits = builder_stack(&b, "java.util.concurrent.locks.LockSupport.parkNanos:1 "
                                        "java.util.concurrent.CountDownLatch.await:2 "
                                        "com.fast.Check.run:3");
    for (uint64_t i = 0; i < 5; i++) {
        ADD(&b, ann.v, ann, 1000000 + i * 20000000, park_enter, .lock = latch, .stack = awaits);
        ADD(&b, ann.v, ann, 20000000 + i * 20000000, park_exit, .lock = latch);
    }
    cr_assert_str_eq(rules_of(110000000), "");
}

/* Who gives it is still in the call in which the others wait: as a mutex of coroutines goes round. */
Test(resources, a_pool_that_takes_turns_does_not_wait_for_its_own_tasks)
{
    thread_id own[] = {builder_thread(&b, "own-1"), builder_thread(&b, "own-2"),
                       builder_thread(&b, "own-3"), builder_thread(&b, "own-4")};
    class_id class_ = builder_class(&b, "Lco/Block;");
    lock_id of[] = {builder_lock(&b, class_), builder_lock(&b, class_), builder_lock(&b, class_),
                    builder_lock(&b, class_)};
    stack_id waits = builder_stack(&b, GET "co.Block.join:9 shop.Desk.part:30 shop.Desk.run:3"),
             gives = builder_stack(&b, "co.Loop.unpark:4 co.Mutex.unlock:7 co.Block.join:5 "
                                       "shop.Desk.part:30 shop.Desk.run:3");
    struct rule_finding *f;
    size_t n;
    builder_info(&b, "sun.java.command", "shop.Main");
    for (uint64_t i = 0; i < 40; i++) {
        uint64_t next = (i + 1) % 4, has = i % 4, time = 1000000 + i * 10000000;
        if (i == 0)
            for (int k = 1; k < 4; k++)
                ADD(&b, own[k].v, own[k], time, park_enter, .lock = of[k], .stack = waits);
        ADD(&b, own[has].v, own[has], time + 9000000, unpark, .target = own[next], .stack = gives);
        ADD(&b, own[next].v, own[next], time + 9001000, park_exit, .lock = of[next]);
        of[has] = builder_lock(&b, class_); /* each wait has its own */
        ADD(&b, own[has].v, own[has], time + 9500000, park_enter, .lock = of[has], .stack = waits);
    }
    run(410000000);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert_eq(all.v[0].kind, RESOURCE_ANSWERS);
    cr_assert_null(finding_of("starved-pool"));
    cr_assert_not(resource_is_of_own_pool(a, &all.v[0]));
    const struct rule_finding *slow = finding_of("slow-answer");
    cr_assert_not_null(slow);
    cr_assert_eq(slow->severity, SEVERITY_INFO, "%s", slow->text);
}

/* Who should answer waits itself, until its patience ends: nobody gives what is wanted. */
Test(resources, a_pool_that_waits_for_itself_is_what_it_waits_for)
{
    thread_id own[] = {builder_thread(&b, "own-1"), builder_thread(&b, "own-2"),
                       builder_thread(&b, "own-3")};
    for (uint64_t i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            gets(own[k], (thread_id){0}, 1000000 + i * 30000000, 29000000 + i * 30000000,
                 GET "shop.Desk.part:30");
        gets(own[i], own[(i + 1) % 3], 29100000 + i * 30000000, 30000000 + i * 30000000,
             GET "shop.Desk.part:30");
    }
    cr_assert_str_eq(rules_of(100000000), "starved-pool");
    cr_assert_eq(resources_make(&all, a), 0);
    const struct resource *r = &all.v[0];
    cr_assert_eq(r->n_holders, 3);
    cr_assert_eq(r->doing[0].does, DOES_ANSWER);
    cr_assert_eq(r->doing[0].at.line, 30);
    cr_assert_gt(r->doing[0].ns * 10, r->held * 9);
}

/* ann asks bob, who asks cat, who sleeps. */
Test(resources, of_a_chain_of_answers_the_end_is_the_finding)
{
    for (uint64_t i = 0; i < 5; i++) {
        uint64_t from = 1000000 + i * 20000000;
        does_sleep(cat, from + 1500000, from + 15500000);
        gets(bob, cat, from + 1000000, from + 16000000, GET "shop.Desk.part:20");
        gets(ann, bob, from, from + 18000000, GET "shop.Desk.ask:10");
    }
    cr_assert_str_eq(rules_of(110000000), "slow-answer");
    cr_assert_eq(resources_make(&all, a), 0);
    cr_assert_eq(all.n, 2);
    struct rule_finding *f;
    size_t n;
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert_eq(f->resource->holder, cat.v);
    cr_assert_eq(f->resource->doing[0].does, DOES_SLEEP);
}

/* Two that should answer take turns at a lock, each blocked for half of the time; or each has one of
 * its own half of that time. */
static const struct rule_finding *answers_by_turns(bool turns)
{
    thread_id own[] = {builder_thread(&b, "worker-1"), builder_thread(&b, "worker-2")};
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t from = 1000000 + i * 4000000;
        does_block(own[i % 2], from, from + (turns ? 3990000 : 2000000), lock, own[(i + 1) % 2]);
        gets(i % 2 ? ann : bob, own[i % 2], from, from + 7900000, GET "shop.Desk.part:20");
    }
    static struct rule_finding *f;
    size_t n;
    run(100000000);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert_gt(n, 0);
    return f;
}

Test(resources, a_lock_at_which_all_who_answer_take_turns_is_the_finding)
{
    const struct rule_finding *f = answers_by_turns(true);
    cr_assert_eq(f->resource->lock.v, lock.v, "%s", f->text);
    cr_assert_not_null(strstr(labelled(f, CARD_BEHIND), "2 threads wait for answers of worker"));
}

Test(resources, a_lock_for_which_they_wait_for_some_of_the_time_is_not)
{
    const struct rule_finding *f = answers_by_turns(false);
    cr_assert_str_eq(f->rule, "slow-answer");
}

/* --- who meets, who is asked for nothing ------------------------------------------------------ */

static void parks(thread_id who, thread_id by, uint64_t from, uint64_t to, lock_id on,
                  stack_id waits, stack_id gives)
{
    ADD(&b, who.v, who, from, park_enter, .lock = on, .stack = waits);
    ADD(&b, by.v, by, to - 1000, unpark, .target = who, .stack = gives);
    ADD(&b, who.v, who, to, park_exit, .lock = on);
}

/* bob is blocked on a monitor that cat has, ten times for 9 ms. */
static size_t blocked_in(const char *frames)
{
    lock_id on = builder_lock(&b, builder_class(&b, "Ljava/lang/Object;"));
    builder_info(&b, "sun.java.command", "shop.Main");
    for (uint64_t i = 0; i < 10; i++) {
        uint64_t time = 1000000 + i * 10000000;
        ADD(&b, bob.v, bob, time, monitor_contended_enter, .lock = on, .owner = cat,
            .stack = builder_stack(&b, frames));
        ADD(&b, bob.v, bob, time + 9000000, monitor_contended_entered, .lock = on);
    }
    run(110000000);
    return all.n;
}

#define IN_SELECT                                                                                  \
    "sun.nio.ch.EPollSelectorImpl.clearInterrupt:3 sun.nio.ch.EPollSelectorImpl.doSelect:9 "

Test(resources, a_selects_own_lock_is_none)
{
    cr_assert_eq(blocked_in(IN_SELECT "org.web.Poller.run:8 java.lang.Thread.run:1"), 0);
}

Test(resources, who_wakes_a_select_may_be_blocked)
{
    cr_assert_eq(blocked_in("sun.nio.ch.EPollSelectorImpl.wakeup:3 org.web.Poller.add:8 "
                            "shop.Desk.place:21 java.lang.Thread.run:1"),
                 1);
}

/* Four wait for two things of a pool, and give theirs back after 100 us each; nobody has them for most
 * of the time. */
Test(resources, things_that_nobody_was_seen_to_have)
{
    const thread_id who[] = {ann, bob, cat, dan};
    stack_id wait =
                 builder_stack(&b, PARKED "co.Pool.take:9 shop.Desk.place:21 org.web.Worker.run:9"),
             give = builder_stack(&b, "co.Pool.back:8 shop.Desk.place:25 org.web.Worker.run:9"),
             cleans = builder_stack(&b, "co.Pool.clean:8 co.Cleaner.run:3");
    thread_id cleaner = builder_thread(&b, "cleaner");
    lock_id on =
        builder_lock(&b, builder_class(&b, "Ljava/util/concurrent/Semaphore$NonfairSync;"));
    builder_info(&b, "sun.java.command", "shop.Main");
    for (uint64_t i = 0; i < 10; i++) {
        uint64_t time = 1000000 + i * 20000000;
        for (uint64_t k = 0; k < 4; k++)
            ADD(&b, who[k].v, who[k], time + k, park_enter, .lock = on, .stack = wait);
        for (uint64_t k = 0; k < 4;
             k++) { /* the first one by the cleaner, each other by the one before */
            uint64_t then = time + 15000000 + k * 101000;
            if (k)
                ADD(&b, who[k - 1].v, who[k - 1], then, unpark, .target = who[k], .stack = give);
            else
                ADD(&b, cleaner.v, cleaner, then, unpark, .target = who[k], .stack = cleans);
            ADD(&b, who[k].v, who[k], then + 1000, park_exit, .lock = on);
        }
    }
    run(210000000);
    const struct rule_finding *f = first_card();
    cr_assert_eq(f->resource->kind, RESOURCE_THINGS);
    cr_assert_str_eq(labelled(f, CARD_HELD_BY),
                     "unknown for 99 % of the time: taken without a wait, or not given back");
    cr_assert_str_eq(labelled(f, CARD_RERUN), "");
}

/* What the pool does by itself is nobody's to release. */
Test(resources, a_pools_own_thread_gets_no_advice)
{
    give_through_a_helper(1000, 15000000);
    const struct rule_finding *f = first_card();
    cr_assert_eq(f->resource->doing[0].does, DOES_INPUT);
    cr_assert_str_eq(method_of(f->resource->doing[0].at), "shop.Check.test");
    cr_assert_str_eq(labelled(f, CARD_TRY), "");
}

#define SLEEP "java.lang.Thread.sleep0:native java.lang.Thread.sleep:1 "

/* Three threads of virtual requests, or of a start, wait once each for as long, one after the other or
 * at the same time. */
static bool is_once(uint64_t apart)
{
    const thread_id who[] = {ann, bob, cat};
    for (uint64_t i = 0; i < 3; i++)
        gets(who[i], dan, 1000000 + i * apart, 31000000 + i * apart, GET "shop.Desk.place:30");
    run(400000000);
    cr_assert_eq(all.v[0].count, 3);
    return resource_is_once(&all.v[0]);
}

Test(resources, what_each_waits_for_once_at_the_same_time_begins)
{
    cr_assert(is_once(1000000));
}

Test(resources, requests_one_after_the_other_are_not_something_that_begins)
{
    cr_assert_not(is_once(40000000));
}

/* Each row's lock is held over a nap in a request. */
Test(resources, a_sleep_of_the_programs_has_no_name_in_what_a_holder_does)
{
    lock_id on = builder_lock(&b, builder_class(&b, "Lshop/Row;"));
    stack_id wait = builder_stack(&b, "shop.Desk.place:21 org.web.Worker.run:9"),
             naps = builder_stack(&b, SLEEP "shop.Desk.nap:30 shop.Desk.place:22 "
                                            "org.web.Worker.run:9");
    builder_info(&b, "sun.java.command", "shop.Main");
    for (uint64_t i = 0; i < 10; i++) {
        uint64_t time = 1000000 + i * 20000000;
        ADD(&b, ann.v, ann, time, monitor_contended_enter, .lock = on, .owner = bob, .stack = wait);
        ADD(&b, bob.v, bob, time + 1000, sleep_enter, .stack = naps);
        ADD(&b, bob.v, bob, time + 14900000, sleep_exit);
        ADD(&b, ann.v, ann, time + 15000000, monitor_contended_entered, .lock = on);
    }
    run(210000000);
    const struct rule_finding *f = first_card();
    cr_assert_eq(f->resource->doing[0].does, DOES_SLEEP);
    cr_assert_not_null(strstr(f->text, "% of the time sleeping; "), "%s", f->text);
    cr_assert_null(finding_of("delay")); /* which is the same */
}

/* Where waiters and holder are at one line, the library's method says what is done. */
Test(resources, at_the_line_of_the_waiters_the_librarys_method_says_what_is_done)
{
    lock_id on = builder_lock(&b, builder_class(&b, "Lorg/log/Appender;"));
    stack_id wait = builder_stack(&b, "org.log.Appender.append:7 shop.Desk.log:21 "
                                      "shop.Desk.place:9 org.web.Worker.run:9");
    builder_info(&b, "sun.java.command", "shop.Main");
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t time = 1000000 + i * 20000000;
        ADD(&b, ann.v, ann, time, monitor_contended_enter, .lock = on, .owner = bob, .stack = wait);
        does_look(
            bob, time + 5000000,
            "java.util.zip.Deflater.deflate:3 org.log.Zip.compress:8 org.log.Appender.append:9 "
            "shop.Desk.log:21 shop.Desk.place:9 org.web.Worker.run:9",
            0);
        ADD(&b, ann.v, ann, time + 15000000, monitor_contended_entered, .lock = on);
    }
    run(410000000);
    cr_assert_not_null(
        strstr(first_card()->text, "; Zip.compress (Zip.java:8) <- Desk.log (Desk.java:21)"), "%s",
        first_card()->text);
}

/* Four threads of a pool answer four, one after the other: each begins when the one before is done. */
Test(resources, a_pool_whose_threads_work_in_turn_needs_no_more_of_them)
{
    const thread_id who[] = {ann, bob, cat, builder_thread(&b, "eve")};
    thread_id pool[] = {builder_thread(&b, "desk-1"), builder_thread(&b, "desk-2"),
                        builder_thread(&b, "desk-3"), builder_thread(&b, "desk-4")};
    stack_id idle = builder_stack(&b, TASKS),
             reads = builder_stack(&b, READ_BY "shop.Pay.pay:31 shop.Desk$Task.run:5");
    for (uint64_t round = 0; round < 5; round++)
        for (uint64_t i = 0; i < 4; i++) {
            uint64_t start = 1000000 + round * 130000000, from = start + i * 30000000;
            parks(pool[i], i ? pool[i - 1] : dan, start - 500000, from, (lock_id){0}, idle,
                  other_stack);
            ADD(&b, pool[i].v, pool[i], from + 28000000, io, .what = IO_KIND_input, .stack = reads,
                .since = at(from + 100000));
            gets(who[i], pool[i], start, from + 29000000, GET "shop.Desk.place:30");
        }
    run(660000000);
    const struct rule_finding *f = first_card();
    cr_assert_not_null(strstr(f->text, "begins (1 at a time, by 4 threads in turn)"), "%s",
                       f->text);
    cr_assert_str_eq(labelled(f, CARD_TRY),
                     "allow more at a time: more threads alone would not help");
}

/* One thread answers four, and reads for each. */
static const struct rule_finding *answers_of(const char *thread)
{
    const thread_id who[] = {ann, bob, cat, builder_thread(&b, "eve")};
    thread_id has = builder_thread(&b, thread);
    stack_id idle = builder_stack(&b, TASKS),
             reads = builder_stack(&b, READ_BY "shop.Pay.pay:31 shop.Desk$Task.run:5");
    for (uint64_t round = 0; round < 5; round++) {
        uint64_t start = 1000000 + round * 130000000;
        parks(has, dan, start - 500000, start, (lock_id){0}, idle, other_stack);
        for (uint64_t i = 0; i < 4; i++) {
            uint64_t from = start + i * 30000000;
            ADD(&b, has.v, has, from + 28000000, io, .what = IO_KIND_input, .stack = reads,
                .since = at(from + 100000));
            gets(who[i], has, start, from + 29000000, GET "shop.Desk.place:30");
        }
    }
    run(660000000);
    return first_card();
}

Test(resources, the_common_pool_is_called_by_its_name)
{
    const struct rule_finding *f = answers_of("ForkJoinPool.commonPool-worker-1");
    char name[256];
    resource_title(&all.v[0], a, name, sizeof name);
    cr_assert_str_eq(name, "answers of ForkJoinPool.commonPool");
    cr_assert_str_eq(resource_role(&all.v[0], a), "thread pool");
    cr_assert_str_eq(labelled(f, CARD_TRY),
                     "run tasks that wait in an executor of their own, not in the common pool");
}

Test(resources, another_pools_thread_is_not_the_common_pool)
{
    const struct rule_finding *f = answers_of("ForkJoinPool-1-worker-1");
    cr_assert_str_eq(resource_role(&all.v[0], a), "thread");
    cr_assert_str_neq(labelled(f, CARD_TRY),
                      "run tasks that wait in an executor of their own, not in the common pool");
}

/* cat waits for what the loop does in its handler, or for what another thread does at that place. */
static const struct rule_finding *answers_of_loop_or(thread_id giver)
{
    stack_id reads = builder_stack(&b, READING LOOP), idle = builder_stack(&b, TASKS),
             own = builder_stack(&b, READING "shop.Desk.run:7 java.lang.Thread.run:1");
    for (uint64_t i = 0; i < 12; i++) {
        ADD(&b, ann.v, ann, handled(i) + 60000000, io, .what = IO_KIND_input, .stack = reads,
            .since = at(handled(i)));
        if (giver.v != ann.v) {
            parks(giver, bob, handled(i) - 5000, handled(i) - 2000, (lock_id){0}, idle,
                  other_stack);
            ADD(&b, giver.v, giver, handled(i) + 60000000, io, .what = IO_KIND_input, .stack = own,
                .since = at(handled(i)));
        }
        gets(cat, giver, handled(i) - 1000, handled(i) + 62000000, GET "shop.Desk.place:30");
    }
    const struct rule_finding *f = first_of_loop(true);
    cr_assert_str_eq(f->rule, "blocked-loop");
    return f;
}

Test(resources, who_waits_for_a_loop_stands_behind_it)
{
    const struct rule_finding *f = answers_of_loop_or(ann);
    cr_assert_eq(f->resource->n_behind, 1);
    cr_assert_eq(all.v[f->resource->behind[0] - 1].kind, RESOURCE_ANSWERS);
    cr_assert_null(finding_of("slow-answer"));
}

Test(resources, who_waits_for_another_thread_does_not_stand_behind_a_loop)
{
    cr_assert_eq(answers_of_loop_or(dan)->resource->n_behind, 0);
}

/* Once four permits were in use; later, while one of two threads waits, the other one alone has one. */
Test(resources, permits_that_were_not_given_back)
{
    const thread_id who[] = {ann, bob, cat, dan};
    begin_permits();
    stack_id reads =
        builder_stack(&b, READ_BY "shop.Pay.pay:31 shop.Desk.place:22 shop.Main.main:2");
    builder_info(&b, "sun.java.command", "shop.Main");
    for (uint64_t i = 0; i < 4; i++)
        takes_permit(who[i], 1000000 + i * 1000, 0);
    for (uint64_t i = 0; i < 4; i++)
        ADD(&b, who[i].v, who[i], 21000000 + i * 1000, semaphore_release, .lock = permits,
            .stack = held_in);
    takes_permit(ann, 29000000, 0);
    for (uint64_t i = 0; i < 20; i++) {
        thread_id has = i % 2 ? bob : ann, next = i % 2 ? ann : bob;
        uint64_t time = 30000000 + i * 10000000;
        ADD(&b, has.v, has, time + 8900000, io, .what = IO_KIND_input, .since = at(time + 10000),
            .stack = reads);
        waits_for_permit(next, has, time, time + 9000000);
    }
    run(240000000);
    const struct rule_finding *f = first_card();
    cr_assert_eq(f->resource->at_once, 4);
    cr_assert_not_null(strstr(f->text, "held by known for 24 % of the time: 2 threads"), "%s",
                       f->text);
    cr_assert_not_null(strstr(f->text, "; the others: not given back"), "%s", f->text);
    cr_assert_str_eq(labelled(f, CARD_TRY), "");
}

/* ann and bob have a thing in turn, over a read.  Who has got it unlocks, which wakes cat, for whom there is
 * none yet: the thread has not given it back by that.  in: where it unlocks. */
static const struct resource *unlocks_behind_its_wait(const char *in)
{
    lock_id on = builder_lock(
        &b, builder_class(
                &b, "Ljava/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject;"));
    stack_id take = builder_stack(&b, PARKED "com.fast.pool.Bag.awaitAny:5 "
                                             "com.fast.pool.Bag.checkOut:7 shop.Desk.place:21 "
                                             "shop.Main.main:2"),
             unlocks = builder_stack(&b, in),
             give = builder_stack(&b, "com.fast.pool.Bag.checkIn:9 shop.Desk.place:25 "
                                      "shop.Main.main:2"),
             reads = builder_stack(&b, READ_BY "shop.Pay.pay:31 shop.Desk.place:22 "
                                               "shop.Main.main:2");
    builder_info(&b, "sun.java.command", "shop.Main");
    ADD(&b, cat.v, cat, 500000, park_enter, .lock = on, .stack = take);
    for (uint64_t i = 0; i < 20; i++) {
        thread_id has = i % 2 ? bob : ann, next = i % 2 ? ann : bob;
        uint64_t time = 1000000 + i * 10000000;
        ADD(&b, next.v, next, time, park_enter, .lock = on, .stack = take);
        ADD(&b, has.v, has, time + 8900000, io, .what = IO_KIND_input, .since = at(time + 100000),
            .stack = reads);
        ADD(&b, has.v, has, time + 9000000, unpark, .target = next, .stack = give);
        ADD(&b, next.v, next, time + 9001000, park_exit, .lock = on);
        ADD(&b, next.v, next, time + 9010000, unpark, .target = cat, .stack = unlocks);
        ADD(&b, cat.v, cat, time + 9011000, park_exit, .lock = on);
        ADD(&b, cat.v, cat, time + 9900000, park_enter, .lock = on, .stack = take);
    }
    run(202000000);
    cr_assert_eq(all.v[0].kind, RESOURCE_THINGS);
    return &all.v[0];
}

Test(resources, who_leaves_the_lock_around_a_take_has_what_it_took)
{
    const struct resource *r = unlocks_behind_its_wait("com.fast.pool.Bag.checkOut:8 "
                                                       "shop.Desk.place:21 shop.Main.main:2");
    cr_assert_gt(r->held, UINT64_C(170000000));
    cr_assert_eq(r->doing[0].does, DOES_INPUT);
}

Test(resources, who_gives_a_thing_back_at_once_has_it_no_more)
{
    const struct resource *r = unlocks_behind_its_wait("com.fast.pool.Bag.checkIn:9 "
                                                       "shop.Desk.place:24 shop.Main.main:2");
    cr_assert_lt(r->held, UINT64_C(10000000));
}

/* dan empties a queue, and waits for an answer of eve's each time, who works for it, or passes on what
 * she reads from another server: three wait for room. */
static const struct rule_finding *empties_and_waits_for(bool another_server)
{
    thread_id eve = builder_thread(&b, "eve"), fay = builder_thread(&b, "fay");
    lock_id from = builder_lock(&b, builder_class(&b, "=10.0.0.7:9102"));
    const thread_id who[] = {ann, bob, cat};
    lock_id on = builder_lock(
        &b, builder_class(
                &b, "Ljava/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject;"));
    stack_id put = builder_stack(
                 &b, PARKED "java.util.concurrent.ArrayBlockingQueue.put:9 shop.Desk.place:21"),
             take = builder_stack(&b, "java.util.concurrent.ArrayBlockingQueue.take:8 "
                                      "shop.Mail.run:4"),
             idle = builder_stack(&b, TASKS),
             reads = builder_stack(&b, READ_BY "shop.Pay.pay:31 shop.Desk$Task.run:5");
    builder_info(&b, "sun.java.command", "shop.Main");
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t time = 1000000 + i * 10000000;
        for (uint64_t k = 0; k < 3; k++)
            ADD(&b, who[k].v, who[k], time + k, park_enter, .lock = on, .stack = put);
        parks(eve, another_server ? fay : dan, time - 900000,
              another_server ? time + 8590000 : time + 90000, (lock_id){0}, idle, other_stack);
        if (another_server)
            ADD(&b, eve.v, eve, time + 8599000, io_read, .peer = from, .since = at(time + 8598000));
        else
            ADD(&b, eve.v, eve, time + 8500000, io, .what = IO_KIND_input,
                .since = at(time + 100000), .stack = reads);
        gets(dan, eve, time + 95000, time + 8600000, GET "shop.Mail.send:30 shop.Mail.run:5");
        for (uint64_t k = 0; k < 3; k++) {
            ADD(&b, 40, dan, time + 9000000 + k, unpark, .target = who[k], .stack = take);
            ADD(&b, who[k].v, who[k], time + 9000500 + k, park_exit, .lock = on);
        }
    }
    run(202000000);
    return first_card();
}

/* As when he reads them himself. */
Test(resources, who_empties_a_queue_and_waits_for_another_server_is_the_end)
{
    const struct rule_finding *f = empties_and_waits_for(true);
    cr_assert_str_eq(resource_role(f->resource, a), "full queue");
    cr_expect_not_null(
        strstr(labelled(f, CARD_CONSUMER), "% of the time waiting for answers from 10.0.0.7:9102"),
        "%s", f->text);
    cr_expect_str_eq(labelled(f, CARD_TRY),
                     "let more threads empty the queue, or make the other end answer faster");
    cr_expect_null(finding_of("slow-answer"));
    cr_expect_null(finding_of("waits-for-io"));
}

Test(resources, who_empties_a_queue_and_waits_for_an_answer_is_not_the_end)
{
    const struct rule_finding *f = empties_and_waits_for(false);
    cr_assert_eq(f->resource->kind, RESOURCE_IO);
    cr_assert_eq(f->resource->n_behind, 2);
    cr_assert_str_eq(resource_role(&all.v[f->resource->behind[0] - 1], a), "full queue");
}

/* dan reads for each element of a full queue; ann and bob wait for room in it, and cat for the answers
 * that he, or that eve gives him for elements from elsewhere, who reads as well. */
static const struct rule_finding *answers_from_behind_a_queue(bool one)
{
    thread_id giver = one ? dan : builder_thread(&b, "eve");
    const thread_id who[] = {ann, bob};
    lock_id on = builder_lock(
        &b, builder_class(
                &b, "Ljava/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject;"));
    stack_id put = builder_stack(
                 &b, PARKED "java.util.concurrent.ArrayBlockingQueue.put:9 shop.Desk.place:21"),
             take = builder_stack(&b, "java.util.concurrent.ArrayBlockingQueue.take:8 "
                                      "shop.Mail.run:4"),
             idle = builder_stack(&b, TASKS),
             reads = builder_stack(&b, READ_BY "shop.Pay.pay:31 shop.Mail.run:5");
    builder_info(&b, "sun.java.command", "shop.Main");
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t time = 1000000 + i * 10000000;
        for (uint64_t k = 0; k < 2; k++)
            ADD(&b, who[k].v, who[k], time + k, park_enter, .lock = on, .stack = put);
        if (!one) {
            parks(giver, dan, time - 900000, time + 90000, (lock_id){0}, idle, other_stack);
            ADD(&b, giver.v, giver, time + 8500000, io, .what = IO_KIND_input,
                .since = at(time + 100000), .stack = reads);
        }
        ADD(&b, dan.v, dan, time + 8500001, io, .what = IO_KIND_input, .since = at(time + 100000),
            .stack = reads);
        gets(cat, giver, time - 500000, time + 8600000,
             GET "shop.Desk.ask:30 org.web.Worker.run:9");
        for (uint64_t k = 0; k < 2; k++) {
            ADD(&b, 40, dan, time + 9000000 + k, unpark, .target = who[k], .stack = take);
            ADD(&b, who[k].v, who[k], time + 9000500 + k, park_exit, .lock = on);
        }
    }
    run(202000000);
    return first_card();
}

Test(resources, answers_of_who_empties_a_full_queue_stand_behind_it)
{
    const struct rule_finding *f = answers_from_behind_a_queue(true);
    cr_assert_str_eq(resource_role(f->resource, a), "full queue");
    cr_assert_eq(f->resource->n_behind, 1);
    cr_assert_eq(all.v[f->resource->behind[0] - 1].kind, RESOURCE_ANSWERS);
    cr_assert_null(finding_of("slow-answer"));
}

Test(resources, answers_of_another_thread_do_not)
{
    const struct rule_finding *f = answers_from_behind_a_queue(false);
    cr_assert_eq(f->resource->n_behind, 0);
    cr_assert_not_null(finding_of("slow-answer"));
}

/* Threads of a pool give each other what they wait for, as soon as cat wakes them: that is no way from
 * cat, but a pool that waits for its own tasks. */
Test(resources, the_way_to_a_pools_own_thread_leads_nowhere)
{
    thread_id own[] = {builder_thread(&b, "own-1"), builder_thread(&b, "own-2")};
    stack_id tasks = builder_stack(&b, TASKS);
    builder_info(&b, "sun.java.command", "shop.Main");
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t from = 1000000 + i * 20000000;
        thread_id waits = own[i % 2], gives = own[(i + 1) % 2];
        parks(gives, cat, from, from + 17000000, (lock_id){0}, tasks, other_stack);
        gets(waits, gives, from + 1000, from + 17100000, IN_TASK);
    }
    run(410000000);
    cr_assert_eq(all.v[0].kind, RESOURCE_ANSWERS);
    cr_assert(resource_is_of_own_pool(a, &all.v[0]));
    char name[64];
    label_thread(&a->threads, a->trace, all.v[0].holder, name, sizeof name);
    cr_assert_eq(strncmp(name, "own", 3), 0, "%s", name);
}

/* A statement computes in the database itself while ann waits for a row; or the program does. */
static const char *advice_of_transaction(const char *frames)
{
    lock_id on = builder_lock(&b, builder_class(&b, "Lorg/hsqldb/lib/CountUpDownLatch;"));
    stack_id wait = builder_stack(&b, "org.hsqldb.lib.CountUpDownLatch.await:5 "
                                      "org.hsqldb.jdbc.JDBCStatement.execute:6 shop.Load.run:5");
    builder_info(&b, "sun.java.command", "shop.Main");
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t time = 1000000 + i * 10000000;
        ADD(&b, ann.v, ann, time, monitor_contended_enter, .lock = on, .owner = bob, .stack = wait);
        does_look(bob, time + 5000000, frames, 0);
        ADD(&b, ann.v, ann, time + 9000000, monitor_contended_entered, .lock = on);
    }
    run(210000000);
    return labelled(first_card(), CARD_TRY);
}

Test(resources, a_statement_that_computes_is_in_its_transaction)
{
    cr_assert_str_eq(
        advice_of_transaction("org.hsqldb.Scan.next:4 "
                              "org.hsqldb.jdbc.JDBCStatement.execute:6 shop.Load.run:9"),
        "make this statement cheaper");
}

Test(resources, what_the_program_computes_may_be_done_outside_of_the_transaction)
{
    cr_assert_str_eq(advice_of_transaction("shop.Load.sum:4 shop.Load.run:9"),
                     "do this work outside of the transaction");
}

/* Two threads sleep in each of eight tasks, each of which they waited for, or in one that is never
 * done. */
static const struct resource *sleeps_in(const char *frames, bool done)
{
    const thread_id who[] = {ann, bob};
    stack_id idle = builder_stack(&b, TASKS), at = builder_stack(&b, frames);
    builder_info(&b, "sun.java.command", "shop.Main");
    for (uint64_t i = 0; i < 8; i++)
        for (uint64_t k = 0; k < 2; k++) {
            uint64_t time = 1000000 + i * 40000000 + k;
            if (done)
                parks(who[k], cat, time, time + 10000000, (lock_id){0}, idle, other_stack);
            ADD(&b, who[k].v, who[k], time + 11000000, sleep_enter, .stack = at);
            ADD(&b, who[k].v, who[k], time + 31000000, sleep_exit);
        }
    run(400000000);
    return all.n && all.v[0].kind == RESOURCE_DELAY ? &all.v[0] : NULL;
}

#define RUN " java.util.concurrent.ThreadPoolExecutor.runWorker:9 java.lang.Thread.run:1"

Test(resources, who_sleeps_in_a_request_lets_time_pass)
{
    const struct resource *r =
        sleeps_in(SLEEP "shop.Desk.pause:30 shop.Desk.place:21 org.web.Worker.run:9", false);
    cr_assert_not_null(r);
    cr_assert(resource_is_sleep(r));
    cr_assert_eq(r->count, 16);
    char name[256];
    resource_title(r, a, name, sizeof name);
    cr_assert_str_eq(name, "Desk.pause (sleep)");
    cr_assert_not_null(strstr(first_card()->text, " sleep 20.0 ms on average (16 sleeps, "), "%s",
                       first_card()->text);
    struct place leaf;
    cr_assert_eq(does_of_wait(&all, a, span_of(ann, 0)->context, &leaf).does, DOES_SLEEP);
}

Test(resources, who_sleeps_in_each_task_lets_time_pass)
{
    cr_assert_not_null(sleeps_in(SLEEP "shop.Desk.pause:30 shop.Desk.place:21" RUN, true));
}

Test(resources, who_sleeps_in_a_task_that_is_never_done_has_nothing_to_do)
{
    cr_assert_null(sleeps_in(SLEEP "shop.Desk.pause:30 shop.Desk.loop:21" RUN, false));
}

Test(resources, who_sleeps_at_the_root_of_a_task_has_nothing_to_do)
{
    cr_assert_null(sleeps_in(SLEEP "shop.Desk.run:30" RUN, true));
}

Test(resources, who_sleeps_in_a_thread_of_its_own_has_nothing_to_do)
{
    cr_assert_null(sleeps_in(SLEEP "shop.Desk.pause:30 shop.Desk.run:21", true));
}

/* A thread that starts the server sleeps until it is stopped, a second at a time; or it does something
 * else now and then. */
static const struct resource *awaits_the_stop(bool works)
{
    stack_id await = builder_stack(&b, SLEEP "org.web.Server.await:524 shop.Desk.serve:44 "
                                             "shop.Desk.run:31 java.lang.Thread.run:1");
    builder_info(&b, "sun.java.command", "shop.Main");
    for (uint64_t i = 0; i < 4; i++) {
        uint64_t from = 1000000 + i * 1000000000;
        ADD(&b, ann.v, ann, from, sleep_enter, .stack = await);
        if (i < 3)
            ADD(&b, ann.v, ann, from + 990000000, sleep_exit);
        if (works && i < 3)
            ADD(&b, ann.v, ann, from + 995000000, unpark, .target = bob, .stack = other_stack);
    }
    run(3500000000);
    return all.n && all.v[0].kind == RESOURCE_DELAY ? &all.v[0] : NULL;
}

Test(resources, who_sleeps_until_the_stop_has_no_delay)
{
    cr_assert_null(awaits_the_stop(false));
}

Test(resources, who_works_between_sleeps_in_a_library_has_one)
{
    cr_assert_not_null(awaits_the_stop(true));
}

/* For 40 ms each, one after the other, with one or more of them at a time, four threads read in a
 * later call of the method in which the others sleep for 10 ms again and again; or at an earlier one,
 * or for `each` of the 40 ms. */
static uint64_t rounds_of_sleep = 12;

static const struct rule_finding *goes_on_at(const char *call, uint64_t at_a_time, uint64_t each)
{
    const thread_id who[] = {ann, bob, cat, dan};
    char frames[256];
    snprintf(frames, sizeof frames, "sun.nio.ch.SocketDispatcher.read0:native shop.Pay.ask:5 %s",
             call);
    stack_id reads = builder_stack(&b, frames),
             rests = builder_stack(&b, SLEEP "shop.Desk.pause:30 shop.Desk.place:21 "
                                             "org.web.Worker.run:9");
    builder_info(&b, "sun.java.command", "shop.Main");
    for (uint64_t round = 0; round < rounds_of_sleep; round++)
        for (uint64_t k = 0; k < 4; k++) {
            uint64_t time = 1000000 + round * 40000000;
            bool has = (k + 4 - round % 4) % 4 < at_a_time;
            if (has)
                ADD(&b, who[k].v, who[k], time + each - 1, io, .what = IO_KIND_input,
                    .peer = (lock_id){0}, .stack = reads, .since = at(time));
            for (uint64_t i = 0; i < 4 && !has; i++) {
                ADD(&b, who[k].v, who[k], time + i * 10000000, sleep_enter, .stack = rests);
                ADD(&b, who[k].v, who[k], time + i * 10000000 + 9900000, sleep_exit);
            }
        }
    run(500000000);
    cr_assert_geq(all.n, 1);
    cr_assert_eq(all.v[0].kind, RESOURCE_DELAY);
    return finding_of("delay");
}

Test(resources, who_goes_on_while_others_sleep_has_the_lock)
{
    const struct rule_finding *f =
        goes_on_at("shop.Desk.place:25 org.web.Worker.run:9", 1, 40000000);
    cr_assert(begins(f->text, "Desk.pause (lock, polled)"), "%s", f->text);
    cr_assert(begins(labelled(f, CARD_HELD_BY),
                     "4 threads, 1 at a time, 100 % of the time waiting for input"),
              "%s", f->text);
    cr_assert_str_eq(method_of(all.v[0].doing[0].at), "shop.Pay.ask");
    cr_assert_str_eq(labelled(f, CARD_TRY), "read before taking the lock, or after releasing it");
    cr_assert_eq(f->severity, SEVERITY_PROBLEM);
}

Test(resources, who_goes_on_at_an_earlier_call_has_nothing)
{
    goes_on_at("shop.Desk.place:17 org.web.Worker.run:9", 1, 40000000);
    cr_assert_not(all.v[0].past);
}

/* By chance. */
Test(resources, who_goes_on_twice_may_do_so_one_after_the_other)
{
    rounds_of_sleep = 2;
    goes_on_at("shop.Desk.place:25 org.web.Worker.run:9", 1, 40000000);
    cr_assert_not(all.v[0].past);
}

/* One for most of the time, now and then a second one. */
Test(resources, where_a_second_one_goes_on_now_and_then_there_is_no_limit_of_two)
{
    const thread_id who[] = {ann, bob, cat, dan};
    stack_id reads = builder_stack(&b, "sun.nio.ch.SocketDispatcher.read0:native shop.Pay.ask:5 "
                                       "shop.Desk.place:25 org.web.Worker.run:9"),
             rests = builder_stack(&b, SLEEP "shop.Desk.pause:30 shop.Desk.place:21 "
                                             "org.web.Worker.run:9");
    builder_info(&b, "sun.java.command", "shop.Main");
    for (uint64_t round = 0; round < 12; round++)
        for (uint64_t k = 0; k < 4; k++) {
            uint64_t time = 1000000 + round * 40000000;
            bool has = k == round % 4, second = k == (round + 1) % 4;
            if (second)
                ADD(&b, who[k].v, who[k], time + 10000000, io, .what = IO_KIND_input,
                    .stack = reads, .since = at(time));
            if (has)
                ADD(&b, who[k].v, who[k], time + 39999999, io, .what = IO_KIND_input,
                    .stack = reads, .since = at(time));
            for (uint64_t i = second; i < 4 && !has; i++) {
                ADD(&b, who[k].v, who[k], time + i * 10000000 + 1, sleep_enter, .stack = rests);
                ADD(&b, who[k].v, who[k], time + i * 10000000 + 9900000, sleep_exit);
            }
        }
    run(500000000);
    cr_assert_eq(all.v[0].kind, RESOURCE_DELAY);
    cr_assert_not(all.v[0].past);
}

Test(resources, two_may_go_on_at_a_time)
{
    const struct rule_finding *f =
        goes_on_at("shop.Desk.place:25 org.web.Worker.run:9", 2, 40000000);
    cr_assert(begins(f->text, "Desk.pause (limit, polled)"), "%s", f->text);
    cr_assert(begins(labelled(f, CARD_HELD_BY), "4 threads, 2 at a time"), "%s", f->text);
    cr_assert_leq(all.v[0].held, all.v[0].wanted);
}

Test(resources, where_most_may_go_on_nobody_has_anything)
{
    goes_on_at("shop.Desk.place:25 org.web.Worker.run:9", 3, 40000000);
    cr_assert_not(all.v[0].past);
}

Test(resources, who_goes_on_for_a_little_of_the_time_does_not_keep_the_others)
{
    goes_on_at("shop.Desk.place:25 org.web.Worker.run:9", 1, 10000000);
    cr_assert_not(all.v[0].past);
}

static const char *role_of_sleep_in(const char *own)
{
    char frames[256];
    snprintf(frames, sizeof frames, SLEEP "%s org.web.Worker.run:9", own);
    const struct resource *r = sleeps_in(frames, false);
    return resource_role(r, a);
}

Test(resources, who_sleeps_until_a_lock_is_free_polls_it)
{
    cr_assert_str_eq(role_of_sleep_in("shop.RowLock.pause:30 shop.Desk.place:21"), "lock, polled");
}

Test(resources, who_sleeps_in_a_method_that_locks_polls_a_lock)
{
    cr_assert_str_eq(role_of_sleep_in("shop.Row.pause:30 shop.Row.tryLock:21"), "lock, polled");
}

Test(resources, a_clock_is_not_a_lock)
{
    cr_assert_str_eq(role_of_sleep_in("shop.Clock.pause:30 shop.Row.blocks:21"), "sleep");
}

Test(resources, who_sleeps_before_a_retry)
{
    cr_assert_str_eq(role_of_sleep_in("shop.Retry.pause:30 shop.Desk.place:21"),
                     "delay before a retry");
}

Test(resources, roles_of_sleeps_are_of_near_methods)
{
    cr_assert_str_eq(role_of_sleep_in("shop.Desk.a:30 shop.Desk.b:21 shop.Desk.c:7 shop.Retry.d:3"),
                     "sleep");
}

/* Three threads of 1 s, or of half of that, wait for 90 ms until a class is initialised. */
static const char *rules_of_a_start(bool half)
{
    const thread_id who[] = {ann, bob, cat};
    lock_id init = builder_lock(&b, builder_class(&b, "[I"));
    for (size_t i = 0; i < ARRAY_LEN(who); i++) {
        ADD0(&b, who[i].v, who[i], 1000, thread_start);
        does_block(who[i], 2000000, 92000000 + i * 1000, init, dan);
        if (half)
            ADD0(&b, who[i].v, who[i], 500000000 + i, thread_end);
    }
    return rules_of(1000000000);
}

Test(resources, a_class_that_all_initialise_at_the_start_is_no_finding_below_a_tenth)
{
    cr_assert_null(strstr(rules_of_a_start(false), "contended-lock"));
}

Test(resources, a_class_that_all_initialise_at_the_start_is_one_above)
{
    cr_assert_not_null(strstr(rules_of_a_start(true), "contended-lock"));
}

/* Each thread waits at a latch, of its own or one for all, until the one before has done with what
 * all want. */
static void wait_in_turn(bool own)
{
    const thread_id who[] = {ann, bob, cat};
    class_id latch = builder_class(&b, "Lorg/db/Latch$Sync;");
    lock_id of[] = {builder_lock(&b, latch), builder_lock(&b, latch), builder_lock(&b, latch)};
    stack_id waits = builder_stack(&b, "java.util.concurrent.locks.LockSupport.park:1 "
                                       "java.util.concurrent.locks.AbstractQueuedSynchronizer."
                                       "acquireSharedInterruptibly:2 org.db.Session.execute:5 "
                                       "shop.Desk.place:9 shop.Main.main:3");
    stack_id gives =
        builder_stack(&b, "org.db.Session.commit:6 shop.Desk.done:11 shop.Main.main:3");
    for (uint64_t i = 0; i < 30; i++)
        parks(who[i % 3], who[(i + 2) % 3], (30 * i + 1) * 1000000, (30 * i + 60) * 1000000,
              of[own ? i % 3 : 0], waits, gives);
    run(UINT64_C(1000) * 1000000);
}

Test(resources, things_at_which_one_thread_each_waits_are_one_resource)
{
    char name[LABEL_MAX];
    wait_in_turn(true);
    cr_assert_eq(all.n, 1);
    cr_assert_eq(all.v[0].count, 30);
    cr_assert_eq(all.v[0].n_threads, 3);
    cr_assert_eq(all.v[0].lock.v, 0);
    resource_title(&all.v[0], a, name, sizeof name);
    cr_assert_str_eq(name, "Session.execute");
}

Test(resources, a_thing_at_which_several_threads_wait_is_its_own)
{
    char name[LABEL_MAX];
    wait_in_turn(false);
    cr_assert_eq(all.n, 1);
    cr_assert_neq(all.v[0].lock.v, 0);
    resource_title(&all.v[0], a, name, sizeof name);
    cr_assert_str_eq(name, "org.db.Latch");
}

/* The last one at a barrier is who the others wait for, though all are of one pool. */
Test(resources, who_comes_last_to_a_barrier_is_waited_for)
{
    const thread_id own[] = {builder_thread(&b, "region-1"), builder_thread(&b, "region-2"),
                             builder_thread(&b, "region-3")};
    lock_id trip = builder_lock(
        &b, builder_class(
                &b, "Ljava/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject;"));
    stack_id await = builder_stack(&b, PARKED "java.util.concurrent.CyclicBarrier.await:9 "
                                              "shop.Region.step:30 shop.Main.main:2");
    for (uint64_t i = 0; i < 8; i++)
        for (int k = 0; k < 2; k++)
            parks(own[k], own[2], 1000000 + i * 10000000, 9000000 + i * 10000000, trip, await,
                  await);
    run(100000000);
    cr_assert_eq(all.n, 1);
    cr_assert(resource_is_meeting(&all.v[0]));
    cr_assert_eq(all.v[0].holder, own[2].v);
    cr_assert_eq(all.v[0].n_holders, 1);
    cr_assert_not(resource_is_of_own_pool(a, &all.v[0]));
    cr_assert_str_eq(resource_role(&all.v[0], a), "barrier");
}

/* Two that only wake each other: the client asks, the server answers.  Once the server finds the
 * next request there already, and does not wait for it. */
Test(resources, who_serves_goes_on_doing_so_after_a_request_that_it_did_not_wait_for)
{
    class_id queue = builder_class(&b, "Ljava/util/concurrent/LinkedBlockingQueue;");
    lock_id requests = builder_lock(&b, queue), replies = builder_lock(&b, queue);
    stack_id take = builder_stack(&b, PARKED "shop.Desk.next:4 shop.Desk.run:2"),
             reply = builder_stack(&b, "shop.Desk.reply:7 shop.Desk.run:3"),
             ask = builder_stack(&b, "shop.Till.pay:5 shop.Till.serve:3 shop.Till.run:2"),
             await = builder_stack(&b, PARKED "shop.Till.pay:6 shop.Till.serve:3 shop.Till.run:2");
    for (uint64_t i = 0; i < 12; i++) {
        uint64_t from = 1000000 + i * 10000000;
        if (i != 3)
            parks(bob, ann, from, from + 2000000, requests, take, ask);
        parks(ann, bob, from + 3000000, from + 9000000, replies, await, reply);
    }
    run(200000000);
    cr_assert_eq(a->stats.threads[ann.v].waited_for[FOR_IDLE], 0);
    cr_assert_eq(a->stats.threads[bob.v].waited_for[FOR_ANSWER], 0);
    cr_assert_gt(a->stats.threads[ann.v].waited_for[FOR_ANSWER], 0);
}

/* Bob has work all the time, once he was woken for the first of it.  Who asks him then does not
 * wake him. */
static void serves_without_a_wait(bool is_asked, uint64_t *idle, uint64_t *answer)
{
    class_id queue = builder_class(&b, "Ljava/util/concurrent/LinkedBlockingQueue;");
    stack_id take = builder_stack(&b, PARKED "shop.Desk.next:4 shop.Desk.run:2"),
             give = builder_stack(&b, "shop.Desk.reply:7 shop.Desk.run:3"),
             ask = builder_stack(&b, "shop.Till.pay:5 shop.Till.run:2"),
             await = builder_stack(&b, PARKED "shop.Till.pay:6 shop.Till.run:2");
    const thread_id tills[] = {ann, cat, dan};
    const lock_id own[] = {builder_lock(&b, queue), builder_lock(&b, queue),
                           builder_lock(&b, queue)};
    thread_id by = is_asked ? ann : builder_thread(&b, "other");
    lock_id requests = builder_lock(&b, queue);
    for (uint64_t i = 0; i < 3; i++)
        parks(bob, by, 100000 + i * 100000, 150000 + i * 100000, requests, take, ask);
    for (uint64_t i = 0; i < 36; i++) {
        uint64_t to = 12000000 + i * 3000000;
        parks(tills[i % 3], bob, to - 8000000, to, own[i % 3], await, give);
    }
    run(200000000);
    *idle = *answer = 0;
    for (size_t i = 0; i < ARRAY_LEN(tills); i++) {
        *idle += a->stats.threads[tills[i].v].waited_for[FOR_IDLE];
        *answer += a->stats.threads[tills[i].v].waited_for[FOR_ANSWER];
    }
}

Test(resources, who_always_has_work_is_asked_without_being_woken)
{
    uint64_t idle, answer;
    serves_without_a_wait(true, &idle, &answer);
    cr_assert_eq(idle, 0);
    cr_assert_eq(answer, 36 * UINT64_C(8000000));
    cr_assert_eq(all.v[0].kind, RESOURCE_ANSWERS);
    cr_assert_eq(all.v[0].holder, bob.v);
}

/* Nothing says that they do: workers wait so for a dispatcher. */
Test(resources, who_never_asked_is_idle)
{
    uint64_t idle, answer;
    serves_without_a_wait(false, &idle, &answer);
    cr_assert_eq(idle, 36 * UINT64_C(8000000));
    cr_assert_eq(answer, 0);
}

/* Each has a mailbox of its own: all wait for the answers of one desk. */
Test(resources, answers_in_objects_of_each_waiter_are_one_resource)
{
    class_id mail = builder_class(&b, "Lshop/Mail;");
    stack_id await = builder_stack(&b, "java.lang.Object.wait:native shop.Mail.await:5 "
                                       "shop.Till.ask:8 shop.Till.run:2"),
             put = builder_stack(&b, "shop.Mail.put:3 shop.Desk.run:9"),
             rest = builder_stack(&b, "java.lang.Thread.sleep:native shop.Till.run:3");
    const thread_id tills[] = {builder_thread(&b, "till-1"), builder_thread(&b, "till-2"),
                               builder_thread(&b, "till-3")};
    const lock_id own[] = {builder_lock(&b, mail), builder_lock(&b, mail), builder_lock(&b, mail)};
    for (uint64_t i = 0; i < 36; i++) {
        thread_id till = tills[i % 3];
        uint64_t to = 12000000 + i * 3000000;
        ADD(&b, till.v, till, to - 8000000, wait_enter, .lock = own[i % 3], .stack = await);
        ADD(&b, bob.v, bob, to - 1000, notify, .lock = own[i % 3], .stack = put);
        ADD(&b, till.v, till, to, wait_exit, .lock = own[i % 3]);
        ADD(&b, till.v, till, to + 1000, sleep_enter, .stack = rest);
        ADD(&b, till.v, till, to + 900000, sleep_exit);
    }
    run(200000000);
    cr_assert_eq(all.v[0].kind, RESOURCE_ANSWERS);
    cr_assert_eq(all.v[0].n_threads, 3);
    cr_assert_eq(all.v[0].count, 36);
    cr_assert_eq(all.v[0].holder, bob.v);
}

/* A grid's thread wakes whoever waits in a call of the program's, and never waits there. */
static size_t reserves(bool rests, const char *call)
{
    char frames[256];
    snprintf(frames, sizeof frames, PARKED "%s shop.Stock.reserve:31 shop.Load.run:5", call);
    stack_id wait = builder_stack(&b, frames),
             rest = builder_stack(&b, "java.lang.Thread.sleep:native shop.Load.run:6"),
             give = builder_stack(&b, "com.grid.Operation.run:8");
    const thread_id who[] = {ann, bob};
    for (uint64_t i = 0; i < 10; i++)
        for (int k = 0; k < 2; k++) {
            uint64_t from = 1000000 + i * 10000000 + (uint64_t)k * 100;
            parks(who[k], dan, from, from + 8000000, (lock_id){0}, wait, give);
            if (!rests)
                continue;
            ADD(&b, who[k].v, who[k], from + 8000100, sleep_enter, .stack = rest);
            ADD(&b, who[k].v, who[k], from + 9000000, sleep_exit);
        }
    run(200000000);
    return all.n;
}

Test(resources, what_others_do_in_a_call_of_the_programs_is_an_answer)
{
    cr_assert_eq(reserves(true, "com.grid.Future.join:3"), 1);
    cr_assert_eq(all.v[0].kind, RESOURCE_ANSWERS);
    cr_assert_eq(all.v[0].holder, dan.v);
    cr_assert_eq(all.v[0].wait_at.line, 31);
}

/* Nothing tells such a call from a loop that takes its work there. */
Test(resources, who_only_waits_may_be_at_its_loop)
{
    cr_assert_eq(reserves(false, "com.grid.Future.join:3"), 0);
}

/* By the name of its call: what comes next was not asked for. */
Test(resources, who_takes_what_comes_next_waits_for_no_answer)
{
    cr_assert_eq(reserves(true, "com.grid.Inbox.take:3"), 0);
}

/* Each thread of a pool has a queue of its own, and hardly ever work. */
Test(resources, a_queue_for_each_idle_thread_is_no_answer)
{
    class_id queue = builder_class(&b, "Ljava/util/concurrent/LinkedBlockingQueue;");
    stack_id wait = builder_stack(&b, PARKED "com.hazelcast.Striped$Worker.run:227"),
             stop = builder_stack(&b, "com.hazelcast.Node.shutdown:9 shop.Main.main:2");
    const thread_id who[] = {ann, bob, cat};
    lock_id own[] = {builder_lock(&b, queue), builder_lock(&b, queue), builder_lock(&b, queue)};
    for (uint64_t i = 0; i < 2; i++)
        for (uint64_t k = 0; k < 3; k++)
            parks(who[k], dan, 1000000 + i * 50000000 + k, 49000000 + i * 50000000 + k, own[k],
                  wait, stop);
    builder_info(&b, "sun.java.command", "shop.Main");
    run(100000000);
    cr_assert_eq(all.n, 0);
}

/* Two threads of a library hand work to each other, each by a semaphore that nobody else waits
 * for. */
Test(resources, a_sign_to_one_thread_is_nothing_that_others_have)
{
    class_id of = builder_class(&b, "Ljava/util/concurrent/Semaphore$NonfairSync;");
    lock_id own[] = {builder_lock(&b, of), builder_lock(&b, of)};
    stack_id wait = builder_stack(
                 &b, PARKED "java.util.concurrent.Semaphore.tryAcquire:4 "
                            "org.eclipse.jetty.Reserved.await:351 org.eclipse.jetty.Pool.run:7"),
             give = builder_stack(
                 &b, "java.util.concurrent.Semaphore.release:2 "
                     "org.eclipse.jetty.Reserved.offer:90 org.eclipse.jetty.Pool.run:7");
    const thread_id who[] = {ann, bob};
    for (uint64_t i = 0; i < 20; i++)
        parks(who[i % 2], who[(i + 1) % 2], 1000000 + i * 10000000, 9000000 + i * 10000000,
              own[i % 2], wait, give);
    ADD(&b, ann.v, ann, 210000000, park_enter, .lock = own[0], .stack = wait);
    builder_info(&b, "sun.java.command", "shop.Main");
    cr_assert_str_eq(rules_of(500000000), "");
    cr_assert_eq(resources_make(&all, a), 0);
    uint64_t ns[THREAD_TIMES] = {0};
    thread_times(&all, a, ann.v, ns);
    cr_assert_eq(ns[TIME_BLOCKED], 0);
    cr_assert_gt(ns[TIME_IDLE], 0);
    cr_assert_eq(a->stats.threads[ann.v].state[HELD_UP].ns, 0);
    check_columns(&all);
}

/* A database in the same JVM: its threads wait for rows inside of what they were asked for, and
 * read the next command elsewhere. */
Test(resources, what_a_librarys_threads_wait_for_at_work_counts)
{
    class_id row = builder_class(&b, "Lorg/h2/RowLock;");
    stack_id wait = builder_stack(
                 &b, "java.lang.Object.wait:native org.h2.RowLock.await:3 "
                     "org.h2.Scan.lock:4 org.h2.Scan.row:4 org.h2.Scan.next:4 org.h2.Query.run:5 "
                     "org.h2.Connection.run:6"),
             give = builder_stack(&b, "java.lang.Object.notify:native org.h2.RowLock.wake:7 "
                                      "org.h2.Query.commit:8 org.h2.Connection.run:6");
    const thread_id who[] = {builder_thread(&b, "connection-1"),
                             builder_thread(&b, "connection-2")};
    for (uint64_t i = 0; i < 12; i++) {
        thread_id waits = who[i % 2], gives = who[(i + 1) % 2];
        lock_id of = builder_lock(&b, row);
        uint64_t from = 1000000 + i * 20000000;
        ADD(&b, waits.v, waits, from, wait_enter, .lock = of, .stack = wait);
        ADD(&b, gives.v, gives, from + 15000000, notify, .lock = of, .stack = give);
        ADD(&b, waits.v, waits, from + 15001000, wait_exit, .lock = of);
        does_look(waits, from + 19500000,
                  "sun.nio.ch.SocketDispatcher.read0:native org.h2.Connection.run:9", SAMPLE_IDLE);
    }
    builder_info(&b, "sun.java.command", "shop.Main");
    run(260000000);
    cr_assert_eq(all.n, 1);
    cr_assert_eq(all.v[0].kind, RESOURCE_THINGS);
    cr_assert_eq(all.v[0].n_threads, 2);
}

/* --- chains, input and output, what is over --------------------------------------------------- */

/* ann and bob want the first lock, which cat has while it wants the second one; dan has that, and
 * reads. */
Test(resources, of_a_chain_of_locks_the_end_is_the_finding)
{
    for (uint64_t i = 0; i < 8; i++) {
        uint64_t from = 1000000 + i * 20000000;
        does_block(ann, from + 1000, from + 18000000, lock, cat);
        does_block(bob, from + 2000, from + 18001000, lock, cat);
        does_block(cat, from, from + 17999000, other_lock, dan);
        for (uint64_t k = 1; k < 4; k++)
            does_look(dan, from + k * 5000000,
                      "sun.nio.ch.SocketDispatcher.read0:native shop.Pay.pay:31 shop.Main.main:2",
                      SAMPLE_IDLE);
    }
    struct rule_finding *f;
    size_t n;
    run(170000000);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert_gt(n, 0);
    cr_assert_eq(f->resource->lock.v, other_lock.v);
    cr_assert_eq(f->resource->holder, dan.v);
    cr_assert_eq(f->resource->doing[0].does, DOES_INPUT);
    cr_assert_str_eq(labelled(f, CARD_BEHIND),
                     "2 threads wait for shop.Order (object 1): 16 waits, 288 ms");
    cr_assert_gt(resource_permille(f->resource), 800);
    for (size_t i = 1; i < n; i++)
        cr_assert(!f[i].resource || f[i].resource->lock.v != lock.v, "%s", f[i].rule);
}

#define IN_CLIENT                                                                                  \
    "sun.nio.ch.SocketDispatcher.read0:native sun.net.www.http.HttpClient.parse:3 "                \
    "shop.Pay.pay:31 shop.Main.main:2"
#define IN_PAY_CALL "shop.Pay.pay:31 shop.Desk.place:21 "
#define IN_PAY "sun.nio.ch.SocketDispatcher.read0:native " IN_PAY_CALL

/* A thread that sleeps, or takes tasks, at its loop and reads inside of it. */
static const char *rules_of_reader(const char *rest)
{
    stack_id at = builder_stack(&b, rest);
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t from = 1000000 + i * 10000000;
        does_look(ann, from + 8000000, IN_PAY "shop.Load.run:5 java.lang.Thread.run:1",
                  SAMPLE_IDLE);
        ADD(&b, ann.v, ann, from + 8000100, sleep_enter, .stack = at);
        ADD(&b, ann.v, ann, from + 9000000, sleep_exit);
    }
    builder_info(&b, "sun.java.command", "shop.Main");
    return rules_of(210000000);
}

Test(resources, input_in_a_call_of_the_programs_is_a_finding)
{
    cr_assert_str_eq(
        rules_of_reader("java.lang.Thread.sleep:native shop.Load.run:6 java.lang.Thread.run:1"),
        "waits-for-io");
    struct rule_finding *f;
    size_t n;
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert_eq(f->resource->kind, RESOURCE_IO);
    cr_assert_str_eq(resource_role(f->resource, a), "input");
    cr_assert_str_eq(method_of(f->resource->wait_at), "shop.Pay.pay");
    cr_assert_eq(f->resource->wait_at.line, 31);
}

/* A virtual thread's reads are parks: recorded, and seen by no sample. */
Test(resources, input_that_is_recorded_is_no_sample)
{
    stack_id read = builder_stack(
                 &b, "java.util.concurrent.locks.LockSupport.park:1 sun.nio.ch.Poller.poll:5 "
                     "sun.nio.ch.NioSocketImpl.read:7 " IN_PAY_CALL "shop.Load.run:5"),
             rest = builder_stack(&b, "java.lang.Thread.sleep:native shop.Load.run:6");
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t from = 1000000 + i * 10000000;
        parks(ann, cat, from, from + 8000000, (lock_id){0}, read, other_stack);
        ADD(&b, ann.v, ann, from + 8000100, sleep_enter, .stack = rest);
        ADD(&b, ann.v, ann, from + 9000000, sleep_exit);
    }
    struct rule_finding *f;
    size_t n;
    run(210000000);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert_eq(n, 1);
    cr_assert_str_eq(f->rule, "waits-for-io");
    cr_assert_eq(f->resource->looks, 0);
    cr_assert_eq(f->resource->count, 20);
    cr_assert_eq(f->resource->doing[0].samples, 0);
}

/* dan has a lock while he reads, which is its finding; and ann waits for what he gives then: what
 * he reads has no finding of its own that could speak of that. */
Test(resources, answers_behind_input_that_another_finding_tells_keep_theirs)
{
    for (uint64_t i = 0; i < 8; i++) {
        uint64_t from = 1000000 + i * 20000000;
        does_block(bob, from + 2000, from + 18001000, other_lock, dan);
        for (uint64_t k = 1; k < 4; k++)
            does_look(dan, from + k * 5000000, IN_CLIENT, SAMPLE_IDLE);
        gets(ann, dan, from + 1000, from + 18000000, GET "shop.Desk.ask:10 shop.Main.main:2");
    }
    cr_assert_not_null(strstr(rules_of(170000000), "slow-answer"));
}

/* dan alone reads for ann. */
Test(resources, a_thread_for_whose_answers_another_one_waits_could_let_others_read)
{
    for (uint64_t i = 0; i < 8; i++) {
        uint64_t from = 1000000 + i * 20000000;
        for (uint64_t k = 1; k < 4; k++)
            does_look(dan, from + k * 5000000, IN_CLIENT, SAMPLE_IDLE);
        gets(ann, dan, from + 1000, from + 18000000, GET "shop.Desk.ask:10 shop.Main.main:2");
    }
    run(170000000);
    const struct rule_finding *f = first_card();
    cr_assert_str_eq(f->rule, "waits-for-io");
    cr_assert_not_null(strstr(f->text, "behind ann waits for answers of dan"), "%s", f->text);
    cr_assert_str_eq(labelled(f, CARD_TRY), "let other threads make the call");
}

/* Who reads where it is nearest to its root reads what comes next: it has nothing to do. */
Test(resources, who_reads_at_its_loop_waits_for_work)
{
    cr_assert_str_eq(rules_of_reader("java.lang.Thread.sleep:native shop.Later.much:6 "
                                     "shop.Desk.place:7 shop.Desk.part:8 shop.Load.run:5 "
                                     "java.lang.Thread.run:1"),
                     "");
}

/* Two threads of a pool wait for tasks, and read for others from 50 ms on; the second one, if it is
 * idle, waits for tasks all the time but one moment. */
static const struct resource *pool_of_that_reads(uint32_t flags, bool idle)
{
    static struct rule_finding *f;
    thread_id own[] = {builder_thread_flags(&b, "exec-1", flags),
                       builder_thread_flags(&b, "exec-2", flags)};
    stack_id tasks = builder_stack(&b, TASKS);
    size_t n;
    for (int k = 0; k < 2; k++)
        parks(own[k], k ? bob : ann, 1000000, 50000000, (lock_id){0}, tasks, other_stack);
    if (idle)
        parks(own[1], bob, 60000000, 540000000, (lock_id){0}, tasks, other_stack);
    for (uint64_t i = 1; i <= 100; i++)
        for (int k = 0; k < 2; k++)
            if (!idle || !k || i == 1)
                does_look(own[k], 50000000 + i * 5000000, IN_CLIENT, SAMPLE_IDLE);
    run(551000000);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert_gt(n, 0);
    cr_assert_str_eq(f->rule, "waits-for-io");
    return f->resource;
}

static const struct resource *pool_that_reads(bool idle)
{
    return pool_of_that_reads(0, idle);
}

#define MORE_THREADS "try: give the pool more threads, or make the other end answer faster"

/* There is one for each connection. */
Test(resources, virtual_threads_are_no_pool)
{
    cr_assert_eq(pool_of_that_reads(THREAD_VIRTUAL, false)->none_free, 0);
}

Test(resources, a_pool_of_which_all_threads_read_is_busy)
{
    const struct resource *r = pool_that_reads(false);
    cr_assert_gt(r->none_free, 450000000);
    cr_assert_not_null(strstr(finding_of("waits-for-io")->text, MORE_THREADS));
    cr_assert_str_eq(resource_role(r, a), "thread pool");
}

/* One long stretch makes it full; the short ones count, too. */
Test(resources, a_pool_is_busy_in_short_stretches_as_well)
{
    thread_id own[] = {builder_thread(&b, "exec-1"), builder_thread(&b, "exec-2")};
    stack_id tasks = builder_stack(&b, TASKS);
    const uint64_t rests[] = {1000000, 350000000, 450000000};
    for (size_t i = 0; i < ARRAY_LEN(rests); i++)
        for (int k = 0; k < 2; k++)
            parks(own[k], k ? bob : ann, rests[i], rests[i] + (i ? 1000000 : 49000000),
                  (lock_id){0}, tasks, other_stack);
    for (uint64_t i = 1; i <= 100; i++)
        for (int k = 0; k < 2; k++)
            does_look(own[k], 50000000 + i * 5000000, IN_CLIENT, SAMPLE_IDLE);
    run(551000000);
    const struct rule_finding *f = finding_of("waits-for-io");
    cr_assert_not_null(f);
    cr_assert_gt(f->resource->none_free, 450000000, "%s", f->text);
}

/* One had more to do than the other: more threads would have had nothing. */
Test(resources, a_pool_of_which_one_thread_goes_on_alone_is_not_full)
{
    thread_id own[] = {builder_thread(&b, "exec-1"), builder_thread(&b, "exec-2"),
                       builder_thread(&b, "exec-3")};
    const thread_id by[] = {ann, bob, cat};
    stack_id tasks = builder_stack(&b, TASKS);
    for (int k = 0; k < 3; k++)
        parks(own[k], by[k], 1000000, 50000000, (lock_id){0}, tasks, other_stack);
    for (int k = 0; k < 2; k++)
        parks(own[k], by[k], 350000000, 1199000000, (lock_id){0}, tasks, other_stack);
    for (uint64_t i = 1; i <= 230; i++)
        for (int k = i > 60 ? 2 : 0; k < 3; k++)
            does_look(own[k], 45000000 + i * 5000000, IN_CLIENT, SAMPLE_IDLE);
    run(1200000000);
    const struct rule_finding *f = finding_of("waits-for-io");
    cr_assert_not_null(f);
    cr_assert_eq(f->resource->none_free, 0, "%s", f->text);
    cr_assert_null(strstr(f->text, MORE_THREADS));
    cr_assert_not_null(strstr(f->text, " ms only exec-3 of the pool's 3 threads had work; wait in"),
                       "%s", f->text);
    cr_assert_str_eq(labelled(f, CARD_TRY),
                     "divide the longest task: the other threads had no work");
    cr_assert(f->resource->alone_ns > 800000000 && f->resource->alone_ns < 850000000);
}

/* Threads that sleep in native code, which the program calls for its work. */
static const struct rule_finding *native_calls(const char *frames)
{
    thread_id who[] = {builder_thread(&b, "device-1"), builder_thread(&b, "device-2")};
    stack_id sleeps = builder_stack(&b, "java.lang.Thread.sleep:1 shop.Device.run:5");
    for (int k = 0; k < 2; k++)
        for (uint64_t i = 0; i < 50; i++) { /* at its loop */
            ADD(&b, who[k].v, who[k], 1000000 + i * 10000000, sleep_enter, .stack = sleeps);
            ADD0(&b, who[k].v, who[k], 2000000 + i * 10000000, sleep_exit);
        }
    for (uint64_t i = 1; i <= 100; i++)
        for (int k = 0; k < 2; k++)
            does_look(who[k], i * 5000000, frames, SAMPLE_IDLE | SAMPLE_ASLEEP);
    run(501000000);
    return finding_of("waits-for-io");
}

Test(resources, a_wait_in_a_librarys_native_code_is_a_finding)
{
    const struct rule_finding *f =
        native_calls("org.rocksdb.RocksDB.put:native org.rocksdb.RocksDB.put:9 "
                     "shop.Store.append:52 shop.Device.step:7 shop.Device.run:4");
    cr_assert_not_null(f);
    cr_assert_not_null(strstr(f->text, "2 threads of device wait in native code of RocksDB.put ("),
                       "%s", f->text);
    cr_assert_not_null(strstr(f->text, "wait in Store.append (Store.java:52)"), "%s", f->text);
}

Test(resources, a_wait_in_the_jdks_native_code_is_none)
{
    cr_assert_null(native_calls("java.util.zip.Deflater.deflateBytes:native "
                                "shop.Store.append:52 shop.Device.step:7 shop.Device.run:4"));
}

/* Two threads write to their clients for most of the time, on so many processors; cat computes. */
static enum severity severity_of_output(const char *cpus, const char *peer)
{
    thread_id who[] = {builder_thread(&b, "web-1"), builder_thread(&b, "web-2")};
    const thread_id posts[] = {ann, bob};
    stack_id tasks = builder_stack(&b, TASKS),
             writes = builder_stack(&b, "sun.nio.ch.SocketDispatcher.write0:native "
                                        "shop.Desk.answer:7 shop.Desk.handle:5 "
                                        "java.util.concurrent.ThreadPoolExecutor.runWorker:2");
    lock_id client = builder_lock(&b, builder_class(&b, peer));
    builder_info(&b, "cpus", cpus);
    ADD0(&b, cat.v, cat, 1000, thread_start);
    for (int k = 0; k < 2; k++)
        for (uint64_t i = 0; i < 40; i++) {
            uint64_t from = 1000000 + i * 20000000;
            ADD(&b, who[k].v, who[k], from, park_enter, .stack = tasks);
            ADD(&b, posts[k].v, posts[k], from + 999000, unpark, .target = who[k],
                .stack = other_stack);
            ADD(&b, who[k].v, who[k], from + 1000000, park_exit);
            ADD(&b, who[k].v, who[k], from + 18000000, io, .what = IO_KIND_output, .peer = client,
                .stack = writes, .since = at(from + 2000000));
        }
    run(801000000);
    const struct rule_finding *f = finding_of("waits-for-io");
    cr_assert_not_null(f);
    return f->severity;
}

Test(resources, output_to_clients_is_a_warning_while_there_are_processors)
{
    cr_assert_eq(severity_of_output("8", "=client 127.0.0.1"), SEVERITY_WARNING);
}

Test(resources, output_to_clients_is_a_note_where_more_threads_run_than_there_are_processors)
{
    cr_assert_eq(severity_of_output("1", "=client 127.0.0.1"), SEVERITY_INFO);
}

Test(resources, output_to_others_is_a_warning_however_many_run)
{
    cr_assert_eq(severity_of_output("1", "=10.0.0.7:5432"), SEVERITY_WARNING);
}

Test(resources, a_pool_of_one_thread_says_so)
{
    thread_id only = builder_thread(&b, "exec-1");
    stack_id tasks = builder_stack(&b, TASKS);
    parks(only, ann, 1000000, 50000000, (lock_id){0}, tasks, other_stack);
    for (uint64_t i = 1; i <= 100; i++)
        does_look(only, 50000000 + i * 5000000, IN_CLIENT, SAMPLE_IDLE);
    run(551000000);
    const char *text = first_card()->text;
    cr_assert_not_null(strstr(text, "exec (thread pool): its only thread busy for "), "%s", text);
}

/* One of its threads, which never takes a task, hands them out. */
Test(resources, a_pool_of_which_one_selects_by_looks_is_busy)
{
    thread_id selects = builder_thread(&b, "exec-9");
    for (uint64_t i = 0; i < 4; i++)
        does_look(selects, 10000000 + i * 10000000, SELECTING LOOP, SAMPLE_IDLE);
    cr_assert_gt(pool_that_reads(false)->none_free, 450000000);
}

Test(resources, a_pool_of_which_one_selects_by_records_is_busy)
{
    thread_id selects = builder_thread(&b, "exec-9");
    ADD(&b, selects.v, selects, 540000000, io, .what = IO_KIND_select, .since = at(10000000),
        .stack = builder_stack(&b, SELECTING LOOP));
    cr_assert_gt(pool_that_reads(false)->none_free, 450000000);
}

Test(resources, a_pool_of_which_nothing_is_known_of_one_is_not_busy)
{
    thread_id other = builder_thread(&b, "exec-9");
    ADD0(&b, other.v, other, 1000000, thread_start);
    cr_assert_eq(pool_that_reads(false)->none_free, 0);
}

/* Two threads of a pool wait for what another server answers, by a client with a thread of its own,
 * and between that a moment for the next task, or longer. */
static void pool_that_asks(uint64_t answers_after)
{
    thread_id own[] = {builder_thread(&b, "exec-1"), builder_thread(&b, "exec-2")};
    stack_id tasks = builder_stack(&b, TASKS);
    lock_id peer = builder_lock(&b, builder_class(&b, "=10.0.0.7:9000"));
    for (uint64_t i = 0; i < 100; i++) {
        thread_id who = own[i % 2];
        uint64_t from = 1000000 + i / 2 * 10000000 + i % 2 * 2000, to = from + answers_after;
        ADD(&b, dan.v, dan, to - 1500, io_read, .peer = peer, .since = at(to - 1600));
        gets(who, dan, from, to,
             GET "shop.Pay.ask:9 shop.Desk.place:30 "
                 "java.util.concurrent.ThreadPoolExecutor.runWorker:2 java.lang.Thread.run:1");
        parks(who, ann, to + 10000, from + 9990000, (lock_id){0}, tasks, other_stack);
    }
    run(505000000);
}

Test(resources, a_pool_whose_threads_wait_for_another_server_is_busy)
{
    struct rule_finding *f;
    size_t n;
    pool_that_asks(9800000);
    cr_assert(all.v[0].remote);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert_gt(n, 0);
    cr_assert_str_eq(f->rule, "waits-for-io", "%s", f->text);
    cr_assert_str_eq(resource_role(f->resource, a), "thread pool");
    cr_assert_not_null(strstr(f->text, "exec (thread pool): both threads busy for "), "%s",
                       f->text);
    cr_assert_not_null(strstr(f->text, " wait for input from 10.0.0.7:9000 "), "%s", f->text);
    cr_assert_not_null(strstr(f->text, MORE_THREADS), "%s", f->text);
    cr_assert_eq(f->resource->doing[0].at.line, 9);
    cr_assert_null(finding_of("slow-answer"));
}

Test(resources, a_pool_whose_threads_also_wait_for_work_is_not)
{
    pool_that_asks(5000000);
    cr_assert_null(finding_of("waits-for-io"));
    cr_assert_not_null(finding_of("slow-answer"));
}

/* Attached to when it has work all the time: the frames around its tasks say what it is. */
static const struct resource *pool_that_always_reads(const char *frames)
{
    static struct rule_finding *f;
    thread_id own[] = {builder_thread(&b, "exec-1"), builder_thread(&b, "exec-2")};
    size_t n;
    for (uint64_t i = 1; i <= 100; i++)
        for (int k = 0; k < 2; k++)
            does_look(own[k], 50000000 + i * 5000000, frames, SAMPLE_IDLE);
    run(551000000);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert_gt(n, 0);
    cr_assert_str_eq(f->rule, "waits-for-io");
    return f->resource;
}

#define READS_IN_TASK                                                                              \
    "sun.nio.ch.SocketDispatcher.read0:native sun.net.www.http.HttpClient.parse:3 shop.Pay.pay:9 "

Test(resources, a_pool_that_has_work_all_the_time_is_busy)
{
    const struct resource *r = pool_that_always_reads(
        READS_IN_TASK
        "shop.Desk$Task.run:5 java.util.concurrent.ThreadPoolExecutor.runWorker:4 "
        "java.util.concurrent.ThreadPoolExecutor$Worker.run:3 java.lang.Thread.run:1");
    cr_assert_gt(r->none_free, 450000000);
}

/* A call of a task, at its begin: by whoever hands it over, and by the thread that runs it. */
static void calls_task(thread_id who, uint64_t time, call_id call, lock_id task)
{
    ADD(&b, who.v, who, time, call_enter, .call = call, .lock = task, .stack = other_stack);
    ADD(&b, who.v, who, time + 1000, call_exit, .call = call, .lock = task);
}

static call_id define_call(uint32_t id, const char *class_, const char *method)
{
    builder_def(&b, &(struct def){.kind = DEF_call,
                                  .call = {.id = {id},
                                           .class_name = {class_, strlen(class_)},
                                           .method = {method, strlen(method)}}});
    return (call_id){id};
}

/* One cause, one card: what its threads wait for, and how long its tasks. */
Test(resources, a_pool_that_is_busy_says_how_long_its_tasks_queue)
{
    call_id execute = define_call(1, "Ljava/util/concurrent/ThreadPoolExecutor;", "execute");
    call_id runs = define_call(2, "Ljava/util/concurrent/FutureTask;", "run");
    class_id task = builder_class(&b, "Ljava/util/concurrent/FutureTask;");
    thread_id first = {b.n_threads + 1}; /* of the pool */
    for (uint64_t i = 0; i < 40; i++) {
        lock_id of = builder_lock(&b, task);
        calls_task(dan, 1000000 + i * 2000, execute, of);
        calls_task((thread_id){first.v + i % 2}, 60000000 + i * 10000000, runs, of);
    }
    const struct resource *r = pool_that_always_reads(
        READS_IN_TASK
        "shop.Desk$Task.run:5 java.util.concurrent.ThreadPoolExecutor.runWorker:4 "
        "java.util.concurrent.ThreadPoolExecutor$Worker.run:3 java.lang.Thread.run:1");
    const char *text = finding_of("waits-for-io")->text;
    cr_assert_gt(r->none_free, 450000000);
    cr_assert_not_null(
        strstr(text, "; 40 tasks waited 254 ms on average for one of the pool's 2 threads"), "%s",
        text);
    cr_assert_null(finding_of("pool-saturation"));
}

Test(resources, a_librarys_pool_that_has_work_all_the_time_is_busy)
{
    const struct resource *r = pool_that_always_reads(
        READS_IN_TASK "shop.Desk$Task.run:5 io.undertow.server.Connectors.executeRootHandler:4 "
                      "org.xnio.EnhancedQueueExecutor$ThreadBody.run:3 java.lang.Thread.run:1");
    cr_assert_gt(r->none_free, 450000000);
}

Test(resources, threads_of_the_programs_own_that_read_all_the_time_are_no_pool)
{
    const struct resource *r = pool_that_always_reads(
        READS_IN_TASK "shop.Desk.serve:5 shop.Desk.loop:4 java.lang.Thread.run:1");
    cr_assert_eq(r->none_free, 0);
}

Test(resources, a_pool_with_an_idle_thread_is_not_busy)
{
    const struct resource *r = pool_that_reads(true);
    cr_assert_eq(r->none_free, 0);
    cr_assert_null(strstr(finding_of("waits-for-io")->text, "try"));
    cr_assert_str_eq(resource_role(r, a), "input");
}

/* Two threads of a pool answer eight, each four one after the other, and read or compute for it; a
 * third one may have nothing to do, or there is only one. */
static const char *text_of_pool_that_answers(const char *frames, uint32_t flags, uint32_t size)
{
    const uint64_t answering = size == 1 ? 1 : 2;
    const thread_id who[] = {ann,
                             bob,
                             cat,
                             dan,
                             builder_thread(&b, "eve"),
                             builder_thread(&b, "fay"),
                             builder_thread(&b, "gus"),
                             builder_thread(&b, "hal")};
    const thread_id pool[] = {builder_thread(&b, "exec-1"), builder_thread(&b, "exec-2")};
    stack_id idle = builder_stack(&b, TASKS);
    for (uint64_t round = 0; round < 5; round++) {
        uint64_t from = 1000000 + round * 130000000;
        if (size == 3)
            parks(builder_thread(&b, "exec-3"), builder_thread(&b, "ida"), from - 600000,
                  from + 120000000, (lock_id){0}, idle, other_stack);
        for (uint64_t i = 0; i < ARRAY_LEN(who); i++) {
            if (i < answering)
                parks(pool[i], who[i], from - 500000, from - 1000, (lock_id){0}, idle, other_stack);
            gets(who[i], pool[i % answering], from, from + 30000000 * (i / 2 + 1),
                 GET "shop.Desk.place:30");
        }
        for (uint64_t k = 1; k < 24; k++)
            for (uint64_t i = 0; i < answering; i++)
                does_look(pool[i], from + k * 5000000 + 100, frames, flags);
    }
    run(660000000);
    struct rule_finding *f;
    size_t n;
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert_gt(n, 0);
    return f->text;
}

Test(resources, more_threads_would_help_who_waits_for_a_pool_that_reads)
{
    const char *text = text_of_pool_that_answers(IN_CLIENT, SAMPLE_IDLE, 2);
    cr_assert_not_null(strstr(text, MORE_THREADS), "%s", text);
    cr_assert_not_null(strstr(text, ": both threads busy for "), "%s", text);
    cr_assert_null(strstr(text, "at a time"), "%s", text);
}

Test(resources, others_could_make_the_call_of_a_pools_only_thread)
{
    const char *text = text_of_pool_that_answers(IN_CLIENT, SAMPLE_IDLE, 1);
    cr_assert_not_null(strstr(text, "; try: let other threads make the call"), "%s", text);
}

Test(resources, a_pool_that_has_a_free_thread_is_not_busy)
{
    const char *text = text_of_pool_that_answers(IN_CLIENT, SAMPLE_IDLE, 3);
    cr_assert_not_null(strstr(text, "requests queue for "), "%s", text);
    cr_assert_null(strstr(text, " busy for "), "%s", text);
}

Test(resources, more_threads_do_not_help_who_waits_for_a_pool_that_computes)
{
    const char *text = text_of_pool_that_answers("shop.Desk.price:7 shop.Desk$Task.run:5", 0, 2);
    cr_assert_not_null(strstr(text, "requests queue for "), "%s", text);
    cr_assert_null(strstr(text, "try"), "%s", text);
}

/* dan has nothing to do until just before he gives what ann waits for, nor has cat, who wakes him. */
Test(resources, answers_for_which_nobody_works_come_from_elsewhere)
{
    stack_id tasks = builder_stack(&b, TASKS);
    for (uint64_t i = 0; i < 10; i++) {
        uint64_t from = 1000000 + i * 20000000;
        ADD(&b, cat.v, cat, from, park_enter, .stack = tasks, .timeout_ns = 1000);
        ADD(&b, cat.v, cat, from + 16900000, park_exit);
        parks(dan, cat, from, from + 17000000, (lock_id){0}, tasks, other_stack);
        gets(ann, dan, from + 1000, from + 18000000, GET "shop.Desk.ask:10");
    }
    struct rule_finding *f;
    size_t n;
    run(210000000);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert_gt(n, 0);
    cr_assert_str_eq(f->rule, "slow-answer");
    cr_assert_eq(f->severity, SEVERITY_INFO);
    cr_assert_not_null(strstr(f->text, "the delay is elsewhere"));
    cr_assert_null(strstr(f->text, "rerun"), "%s", f->text); /* no sample would say it */
}

/* bob has the lock, and reads: most of that is recorded, two looks say the same. */
Test(resources, what_is_recorded_needs_no_samples)
{
    stack_id read = builder_stack(&b, "java.util.concurrent.locks.LockSupport.park:1 "
                                      "sun.nio.ch.NioSocketImpl.read:7 shop.Pay.pay:31");
    does_block(ann, 1000000, 90000000, lock, bob);
    ADD(&b, bob.v, bob, 500000, park_enter, .stack = read);
    ADD(&b, cat.v, cat, 79000000, unpark, .target = bob, .stack = other_stack);
    ADD(&b, bob.v, bob, 79001000, park_exit);
    for (uint64_t k = 0; k < 2; k++)
        does_look(bob, 84100000 + k * 5000000,
                  "sun.nio.ch.SocketDispatcher.read0:native shop.Pay.pay:31", SAMPLE_IDLE);
    run(100000000);
    cr_assert_eq(all.v[0].doing[0].does, DOES_INPUT);
    cr_assert_eq(all.v[0].doing[0].samples, 0);
    cr_assert_gt(all.v[0].looks, 0);
}

/* All that was waited for a lock was in the first tenth: a start. */
Test(resources, what_is_over_soon_is_no_problem)
{
    const thread_id who[] = {ann, bob, cat};
    for (int k = 0; k < 3; k++)
        for (uint64_t i = 0; i < 3; i++)
            does_block(who[k], 1000000 + i * 10000000 + (uint64_t)k, 10000000 + i * 10000000, lock,
                       dan);
    struct rule_finding *f;
    size_t n;
    run(500000000);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    for (size_t i = 0; i < n; i++)
        cr_assert(f[i].severity == SEVERITY_INFO, "%s", f[i].rule);
}

/* A tenth of a thread is blocked on average, or less. */
static enum severity severity_of_waits(uint64_t each)
{
    struct rule_finding *f;
    size_t n;
    for (uint64_t i = 0; i < 8; i++)
        does_block(ann, 1000000 + i * 50000000, 1000000 + each + i * 50000000, lock, dan);
    run(400000000);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert(f->resource && f->resource->lock.v == lock.v);
    return f->severity;
}

Test(resources, what_hardly_anybody_waits_for_is_a_note)
{
    cr_assert_eq(severity_of_waits(3000000), SEVERITY_INFO);
}

Test(resources, what_a_tenth_of_a_thread_waits_for_is_more)
{
    cr_assert_gt(severity_of_waits(6000000), SEVERITY_INFO);
}

/* What holders do in one line is summed over all of them before one line is chosen. */
Test(resources, the_line_where_holders_are_most_is_that_of_all_of_them)
{
    const thread_id has[] = {bob, cat, dan};
    for (uint64_t i = 0; i < 30; i++) {
        thread_id who = has[i % 3];
        bool is_bob = who.v == bob.v; /* alone in line 36, the two others in 38 */
        does_block(ann, 1000000 + i * 10000000, 9500000 + i * 10000000, lock, who);
        if (is_bob || i < 15)
            does_look(who, 3500000 + i * 10000000,
                      is_bob ? "shop.Pay.sum:36 shop.Desk.place:22"
                             : "shop.Pay.sum:38 shop.Desk.place:22",
                      0);
        else
            does_look(who, 3500000 + i * 10000000, "shop.Pay.add:50 shop.Desk.place:22", 0);
        does_look(who, 8000000 + i * 10000000,
                  is_bob ? "shop.Pay.sum:36 shop.Desk.place:22"
                         : "shop.Pay.sum:38 shop.Desk.place:22",
                  0);
    }
    run(310000000);
    cr_assert_eq(all.v[0].doing[0].does, DOES_COMPUTE);
    cr_assert_eq(all.v[0].doing[0].at.line, 38);
}

/* ann looked, the notify came, ann waits; the others wait for what ann should do. */
static size_t lose_signal(uint64_t until, struct rule_finding **f)
{
    const thread_id rest[] = {bob, cat, dan};
    size_t n;
    ADD(&b, cat.v, cat, 1000000, notify, .lock = lock, .stack = other_stack);
    ADD(&b, ann.v, ann, 2000000, wait_enter, .lock = lock, .stack = stack);
    for (uint64_t i = 0; i < 3; i++)
        ADD(&b, rest[i].v, rest[i], 900000 + 200000 * i, wait_enter, .lock = other_lock,
            .stack = other_stack);
    run(until);
    cr_assert_eq(rules_apply(a, f, &n, NULL, NULL), 0);
    return n;
}

Test(resources, a_lost_signal_is_said_before_what_is_stuck_by_it)
{
    struct rule_finding *f;
    cr_assert_eq(lose_signal(3000000000, &f), 2);
    cr_assert_str_eq(f[0].rule, "lost-signal");
    cr_assert(strstr(f[0].text, "every thread of the program (4) waits"), "%s", f[0].text);
    cr_assert_str_eq(f[1].rule, "stuck");
}

/* A recording may end at any moment. */
Test(resources, threads_that_wait_for_a_moment_are_not_stuck)
{
    struct rule_finding *f;
    cr_assert_eq(lose_signal(90000000, &f), 0);
}

/* --- one cause, one finding ----------------------------------------------------------------- */

/* A path leads to the end of all. */
static void ann_ends_last(uint64_t time)
{
    ADD0(&b, cat.v, cat, 10, thread_end);
    ADD0(&b, dan.v, dan, 10, thread_end);
    ADD0(&b, bob.v, bob, time - 1000, thread_end);
    ADD0(&b, ann.v, ann, time, thread_end);
}

Test(resources, sleeps_again_and_again_are_on_the_path)
{
    for (uint64_t i = 0; i < 10; i++)
        does_sleep(ann, i * 10000000, i * 10000000 + 5000000);
    ann_ends_last(100000000);
    cr_assert_str_eq(rules_of(101000000), "sleep-on-path");
    cr_assert_eq(finding_of("sleep-on-path")->severity, SEVERITY_WARNING);
}

/* As it prints figures each second, or looks whether all is done: it lets time pass. */
Test(resources, sleeps_of_main_in_a_loop_are_a_note)
{
    thread_id first = builder_thread(&b, "main");
    for (uint64_t i = 0; i < 10; i++)
        does_sleep(first, i * 10000000, i * 10000000 + 5000000);
    ann_ends_last(90000000);
    ADD0(&b, first.v, first, 100000000, thread_end);
    cr_assert_str_eq(rules_of(101000000), "sleep-on-path");
    cr_assert_eq(finding_of("sleep-on-path")->severity, SEVERITY_INFO);
}

/* It is how long somebody wanted it to run. */
Test(resources, one_long_sleep_is_no_finding)
{
    does_sleep(ann, 1000000, 95000000);
    ann_ends_last(100000000);
    cr_assert_str_eq(rules_of(101000000), "");
}

/* bob sleeps with the lock in his hands while ann waits for it: that is what the lock's finding
 * says. */
Test(resources, a_sleep_that_a_resource_is_held_over_is_its_finding)
{
    for (uint64_t i = 0; i < 5; i++) {
        does_block(ann, i * 20000000 + 1000000, i * 20000000 + 19000000, lock, bob);
        does_sleep(bob, i * 20000000 + 500000, i * 20000000 + 18500000);
    }
    ann_ends_last(100000000);
    cr_assert_null(strstr(rules_of(101000000), "sleep-on-path"));
}

/* A virtual thread that reads a socket parks in the JDK until there is something to read. */
Test(resources, a_park_for_a_socket_is_input)
{
    stack_id read = builder_stack(
        &b, "java.util.concurrent.locks.LockSupport.park:1 sun.nio.ch.Poller.poll:5 "
            "sun.nio.ch.NioSocketImpl.park:6 sun.nio.ch.NioSocketImpl.read:7 shop.Pay.pay:31");
    does_block(ann, 1000000, 90000000, lock, bob);
    ADD(&b, bob.v, bob, 500000, park_enter, .stack = read);
    ADD(&b, cat.v, cat, 89000000, unpark, .target = bob, .stack = other_stack);
    ADD(&b, bob.v, bob, 89001000, park_exit);
    run(100000000);
    cr_assert_eq(all.n, 1);
    cr_assert_eq(all.v[0].doing[0].does, DOES_INPUT);
    cr_assert_eq(all.v[0].doing[0].at.line, 31);
    uint64_t ns[THREAD_TIMES] = {0};
    thread_times(&all, a, bob.v, ns);
    cr_assert_eq(ns[TIME_WAITING], 88501000);
}

/* Who has the lock, and what the holder waits for: recorded calls, also of a virtual thread. */
static lock_id add_peer(const char *name)
{
    return builder_lock(&b, builder_class(&b, name));
}

static void reads_while_others_wait(bool parks, lock_id peer)
{
    stack_id read = builder_stack(
        &b,
        "sun.nio.ch.SocketDispatcher.read0:native sun.nio.ch.NioSocketImpl.read:7 shop.Pay.pay:31");
    does_block(ann, 1000000, 90000000, lock, bob);
    if (parks) {
        read =
            builder_stack(&b, "sun.nio.ch.Poller.pollIndirect:140 sun.nio.ch.NioSocketImpl.read:7 "
                              "shop.Pay.pay:31");
        ADD(&b, bob.v, bob, 2000000, park_enter, .stack = read);
        ADD(&b, bob.v, bob, 2000000, park_io, .what = IO_KIND_input, .peer = peer);
        ADD(&b, bob.v, bob, 89000000, park_exit);
    } else {
        ADD(&b, bob.v, bob, 89000000, io, .what = IO_KIND_input, .peer = peer, .stack = read,
            .since = at(2000000));
    }
    run(100000000);
}

Test(resources, holders_read_from_a_peer)
{
    lock_id peer = add_peer("=10.0.0.7:5432");
    reads_while_others_wait(false, peer);
    cr_assert_eq(all.n, 1);
    cr_assert_eq(all.v[0].doing[0].does, DOES_INPUT);
    cr_assert_eq(all.v[0].doing[0].samples, 0);
    cr_assert_eq(all.v[0].doing[0].ns, 87000000);
    cr_assert_eq(activity_peer(&all.v[0].doing[0]).v, peer.v);
}

Test(resources, holders_park_for_a_peer)
{
    lock_id peer = add_peer("=10.0.0.7:5432");
    reads_while_others_wait(true, peer);
    cr_assert_eq(all.v[0].doing[0].does, DOES_INPUT);
    cr_assert_eq(activity_peer(&all.v[0].doing[0]).v, peer.v);
}

/* The agent of JDK 21 knows which descriptor the thread asked for last; the park is for something else. */
Test(resources, a_park_outside_the_poller_has_no_peer)
{
    lock_id peer = add_peer("=10.0.0.7:5432");
    does_block(ann, 1000000, 90000000, lock, bob);
    ADD(&b, bob.v, bob, 2000000, park_enter,
        .stack =
            builder_stack(&b, "java.util.concurrent.locks.LockSupport.park:1 shop.Pay.pay:31"));
    ADD(&b, bob.v, bob, 2000000, park_io, .what = IO_KIND_input, .peer = peer);
    ADD(&b, bob.v, bob, 89000000, park_exit);
    run(100000000);
    cr_assert_gt(all.v[0].n_doing, 0);
    cr_assert_neq(activity_peer(&all.v[0].doing[0]).v, peer.v);
    cr_assert_neq(all.v[0].doing[0].does, DOES_INPUT);
}

/* The one with most of the time, if it has half of it. */
Test(resources, one_peer_of_several)
{
    const struct peer_vote v[] = {{{1}, 30, 30}, {{2}, 50, 50}, {{3}, 10, 10}, {{2}, 20, 20}};
    struct activity x = {.ns = 110};
    for (size_t i = 0; i < 4; i++)
        peer_vote(&x.peer, v[i]);
    cr_assert_eq(activity_peer(&x).v, 2);
    x.ns = 141;
    cr_assert_eq(activity_peer(&x).v, 0);
}

static void calls_again_and_again(lock_id peer)
{
    for (uint64_t i = 0; i < 10; i++)
        ADD(&b, ann.v, ann, i * 10000000 + 5000000, io, .what = IO_KIND_input, .peer = peer,
            .stack = other_stack, .since = at(i * 10000000 + 1000000));
    ann_ends_last(100000000);
}

Test(resources, calls_to_a_peer_are_on_the_path)
{
    calls_again_and_again(add_peer("=10.0.0.7:5432"));
    cr_assert_str_eq(rules_of(101000000), "io-on-path");
}

/* As in holders and in the table of input and output. */
Test(resources, a_peer_on_the_path_has_its_name)
{
    struct report r = {.path = "x", .ending = ENDED_CLOSED, .sections = REPORT_PATH};
    struct buf out = {0};
    calls_again_and_again(add_peer("=10.0.0.7:5432"));
    analyzed_run(101000000);
    r.a = a;
    r.trace = t;
    cr_assert_eq(report_init(&r, NULL, NULL), 0);
    cr_assert_eq(report_json_buf(&r, &out, NULL), 0);
    cr_assert_not_null(strstr(buf_str(&out), "\"peer\": \"10.0.0.7:5432\""), "%s", buf_str(&out));
    buf_fini(&out);
}

#define SEND                                                                                       \
    PARKED "java.util.concurrent.CompletableFuture.get:2 "                                         \
           "jdk.internal.net.http.HttpClientFacade.send:3 shop.Desk.place:30 shop.Main.main:2"

enum reader { READS, WAITED_SINCE, HANDS_ON, ENDED_CHILD, FETCHES, IS_TOLD_TO, FETCHES_AS_TOLD };

/* A client's thread waits for an answer that dan reads for it; or has read before he waits for
 * something else himself; or that bob gives, whom dan woke when he had read; or for the end of a
 * child that dan waited for; or that dan asks for in the program's own code; or that dan is asked
 * to read, without waiting for it or so that he has to. */
static const struct resource *answered_by(enum reader how)
{
    lock_id peer = add_peer(how == ENDED_CHILD ? "=process convert" : "=10.0.0.7:5432");
    class_id signaller = builder_class(&b, "Ljava/util/concurrent/CompletableFuture$Signaller;");
    stack_id wait = builder_stack(&b, SEND), idle = builder_stack(&b, TASKS),
             read = builder_stack(&b, "lib.Loop.run:3"),
             ended = builder_stack(&b, "java.lang.ProcessHandleImpl.waitForProcessExit0:native");
    for (uint64_t i = 0; i < 20; i++) {
        lock_id answer = builder_lock(&b, signaller);
        uint64_t from = 1000000 + i * 10000000, to = from + 9000000;
        ADD(&b, ann.v, ann, from, park_enter, .lock = answer, .stack = wait);
        if (how == HANDS_ON)
            ADD(&b, bob.v, bob, from, park_enter, .stack = idle);
        if (how == ENDED_CHILD)
            ADD(&b, dan.v, dan, to - 150000, io, .what = IO_KIND_process, .peer = peer,
                .stack = ended, .since = at(from + 1000));
        if (how == FETCHES)
            ADD(&b, dan.v, dan, to - 120000, io, .what = IO_KIND_input, .peer = peer,
                .stack = builder_stack(&b, IN_PAY), .since = at(from + 1000));
        if (how == IS_TOLD_TO || how == FETCHES_AS_TOLD) {
            ADD(&b, dan.v, dan, from + 500, park_enter, .stack = idle);
            ADD(&b, cat.v, cat, from + 1000, unpark, .target = dan, .stack = read);
            ADD(&b, dan.v, dan, from + 1500, park_exit);
        }
        if (how == FETCHES_AS_TOLD)
            ADD(&b, dan.v, dan, to - 120000, io, .what = IO_KIND_input, .peer = peer,
                .stack = builder_stack(&b, "sun.nio.ch.SocketDispatcher.read0:native lib.Db.ask:3"),
                .since = at(from + 2000));
        if (how == WAITED_SINCE) {
            ADD(&b, dan.v, dan, to - 250000, park_enter, .stack = idle);
            ADD(&b, dan.v, dan, to - 200000, park_exit);
        }
        if (how != ENDED_CHILD)
            ADD(&b, dan.v, dan, to - 100000, io_read, .peer = peer,
                .since = at(to - (how == WAITED_SINCE ? 300000 : 150000)));
        ADD(&b, dan.v, dan, to - 100000, unpark, .target = how == HANDS_ON ? bob : ann,
            .stack = read);
        if (how == HANDS_ON) {
            ADD(&b, bob.v, bob, to - 90000, park_exit);
            ADD(&b, bob.v, bob, to - 50000, unpark, .target = ann, .stack = read);
        }
        ADD(&b, ann.v, ann, to, park_exit, .lock = answer);
    }
    builder_info(&b, "sun.java.command", "shop.Main");
    run(210000000);
    cr_assert_eq(all.n, 1);
    cr_assert_eq(all.v[0].kind, RESOURCE_ANSWERS);
    return &all.v[0];
}

static const char *title_of_answers(enum reader how)
{
    static char name[256];
    const struct resource *r = answered_by(how);
    resource_title(r, a, name, sizeof name);
    return name;
}

Test(resources, answers_come_over_a_connection)
{
    cr_assert_str_eq(title_of_answers(READS), "answers from 10.0.0.7:5432");
}

Test(resources, who_was_woken_by_the_reader_passes_its_answer_on)
{
    cr_assert_str_eq(title_of_answers(HANDS_ON), "answers from 10.0.0.7:5432");
}

Test(resources, what_was_read_before_a_wait_is_no_source)
{
    cr_assert_str_eq(title_of_answers(WAITED_SINCE), "answers of dan");
}

Test(resources, who_reads_in_the_program_works_on_the_answer)
{
    cr_assert_str_eq(title_of_answers(FETCHES), "answers of dan");
}

/* A client's own threads hand to each other what there is to read. */
Test(resources, who_is_told_to_read_what_is_there_passes_it_on)
{
    cr_assert_str_eq(title_of_answers(IS_TOLD_TO), "answers from 10.0.0.7:5432");
}

Test(resources, who_waits_for_input_in_a_task_works_on_it)
{
    cr_assert_str_eq(title_of_answers(FETCHES_AS_TOLD), "answers of dan");
}

/* The replies come in at once, and each is worked on for 2 ms by the one thread that there is: most
 * of the time they queue for it, here. */
Test(resources, replies_that_queue_for_who_works_on_them_are_not_from_elsewhere)
{
    const thread_id who[] = {ann, bob, cat, builder_thread(&b, "eve")};
    thread_id works = builder_thread(&b, "works");
    lock_id peer = add_peer("=10.0.0.7:5432");
    stack_id idle = builder_stack(&b, TASKS), read = builder_stack(&b, "lib.Loop.run:3");
    char name[LABEL_MAX];
    for (uint64_t round = 0; round < 10; round++) {
        uint64_t from = 1000000 + round * 10000000;
        ADD(&b, works.v, works, from - 1000, park_enter, .stack = idle);
        ADD(&b, dan.v, dan, from + 1000, io_read, .peer = peer, .since = at(from + 500));
        ADD(&b, dan.v, dan, from + 1500, unpark, .target = works, .stack = read);
        ADD(&b, works.v, works, from + 2000, park_exit);
        for (uint64_t i = 0; i < 4; i++)
            gets(who[i], works, from, from + (i + 1) * 2000000, SEND);
    }
    builder_info(&b, "sun.java.command", "shop.Main");
    run(110000000);
    cr_assert_eq(all.v[0].kind, RESOURCE_ANSWERS);
    resource_title(&all.v[0], a, name, sizeof name);
    cr_assert_str_eq(name, "answers of works");
}

Test(resources, the_end_of_a_child_is_no_answer)
{
    cr_assert_str_eq(title_of_answers(ENDED_CHILD), "end of process convert");
}

/* What a library reads from its clients is the next request, where records and where looks say
 * so. */
Test(resources, a_library_that_reads_from_clients_waits_for_work)
{
    lock_id client = add_peer("=client 10.0.0.7");
    stack_id read =
        builder_stack(&b, "sun.nio.ch.SocketDispatcher.read0:native "
                          "ldap.Reader.read:3 ldap.Connection.next:4 ldap.Server.run:5");
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t from = 1000000 + i * 10000000;
        ADD(&b, ann.v, ann, from + 7000000, io, .what = IO_KIND_input, .peer = client,
            .stack = read, .since = at(from));
        does_look(ann, from + 8000000,
                  "sun.nio.ch.SocketDispatcher.read0:native ldap.Reader.read:3 "
                  "ldap.Connection.next:4 ldap.Server.run:5",
                  SAMPLE_IDLE);
        gets(ann, dan, from + 8000100, from + 8100000, GET "ldap.Server.run:6");
    }
    builder_info(&b, "sun.java.command", "shop.Main");
    cr_assert_str_eq(rules_of(210000000), "");
}

/* Who waits for what its clients ask has nothing to do. */
Test(resources, waiting_for_clients_is_no_finding)
{
    calls_again_and_again(add_peer("=client 10.0.0.7"));
    cr_assert_str_eq(rules_of(101000000), "");
}

/* --- what the giver of a holder's answer does ------------------------------------------------ */

/* cat has the lock while he waits for dan, who reads for something else, or computes. */
static const char *holders_of_who_waits_for(bool reads)
{
    stack_id idle = builder_stack(&b, TASKS),
             read = builder_stack(&b, IN_PAY "org.web.Worker.run:9");
    builder_info(&b, "sun.java.command", "shop.Main");
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t from = 1000000 + i * 10000000;
        parks(dan, cat, from - 900000, from + 150000, (lock_id){0}, idle, other_stack);
        does_block(ann, from, from + 9000000, lock, cat);
        if (reads)
            ADD(&b, dan.v, dan, from + 8700000, io, .what = IO_KIND_input, .stack = read,
                .since = at(from + 160000));
        gets(cat, dan, from + 160000, from + 8800000, GET "shop.Sign.sign:30 org.web.Worker.run:9");
    }
    run(210000000);
    const struct rule_finding *f = finding_of("dominant-lock");
    cr_assert_not_null(f);
    return f->text;
}

Test(resources, what_the_giver_of_a_holders_answer_does)
{
    const char *text = holders_of_who_waits_for(true);
    cr_assert_not_null(strstr(text, "% of the time waiting for answers of dan; Sign.sign"), "%s",
                       text);
    cr_assert_not_null(
        strstr(text, "; dan: 98 % of the time waiting for input; Pay.pay (Pay.java:31)"), "%s",
        text);
}

Test(resources, what_a_giver_does_that_was_not_recorded_is_not_said_twice)
{
    const char *text = holders_of_who_waits_for(false);
    cr_assert_null(strstr(text, "; dan: "), "%s", text);
}

/* --- waits that end at their limit ------------------------------------------------------------ */

/* Three threads take a connection from a pool, and give it to each other for a while, or not at all; later
 * each wait ends after 10 ms, with nothing, or goes on to the end of the recording. */
static const struct rule_finding *waits_in_vain(uint64_t given, bool ends)
{
    const thread_id who[] = {ann, bob, cat};
    lock_id bag = builder_lock(&b, builder_class(&b, "Lcom/fast/Bag;"));
    stack_id take = builder_stack(&b, PARKED "com.fast.Bag.getConnection:7 shop.Desk.place:21 "
                                             "org.web.Worker.run:9"),
             give =
                 builder_stack(&b, "com.fast.Bag.close:9 shop.Desk.place:25 org.web.Worker.run:9"),
             reads = builder_stack(&b, IN_PAY "org.web.Worker.run:9");
    builder_info(&b, "sun.java.command", "shop.Main");
    for (uint64_t i = 0; i < 30; i++) {
        uint64_t time = 1000000 + i * 12000000;
        thread_id next = who[i % 3], has = who[(i + 2) % 3];
        ADD(&b, next.v, next, time, park_enter, .lock = bag, .stack = take, .timeout_ns = 10000000);
        if (i < given) {
            ADD(&b, has.v, has, time + 8900000, io, .what = IO_KIND_input, .stack = reads,
                .since = at(time + 10000));
            ADD(&b, has.v, has, time + 9000000, unpark, .target = next, .stack = give);
        }
        if (i < 29 || ends)
            ADD(&b, next.v, next, time + (i < given ? 9001000 : 10000000), park_exit, .lock = bag);
    }
    run(370000000);
    cr_assert_eq(all.v[0].kind, RESOURCE_THINGS);
    return first_card();
}

Test(resources, waits_that_end_at_their_limit_are_counted)
{
    const struct rule_finding *f = waits_in_vain(10, true);
    cr_assert_not_null(strstr(f->text, "; 20 of 30 waits timed out; "), "%s", f->text);
    cr_assert_not_null(strstr(f->text, "; the others: taken without a wait, or not given back"),
                       "%s", f->text);
    cr_assert_str_eq(labelled(f, CARD_TRY), "");
}

Test(resources, where_most_waits_get_a_thing_who_has_it_is_the_reason)
{
    const struct rule_finding *f = waits_in_vain(18, true);
    cr_assert_not_null(strstr(f->text, "; 12 of 30 waits timed out; "), "%s", f->text);
    cr_assert_null(strstr(f->text, "; the others: "), "%s", f->text);
    cr_assert_str_eq(labelled(f, CARD_TRY), "make the call before taking one, or release it first");
}

Test(resources, a_wait_that_goes_on_has_not_ended_at_its_limit)
{
    cr_assert_eq(waits_in_vain(10, false)->resource->timed_out, 19);
}

Test(resources, a_few_waits_that_end_at_their_limit_are_not_worth_a_line)
{
    const struct rule_finding *f = waits_in_vain(28, true);
    cr_assert_eq(f->resource->timed_out, 2);
    cr_assert_null(strstr(f->text, "timed out"), "%s", f->text);
}

/* Three of four, or three of seven. */
static const char *text_of_open_waits(uint64_t over)
{
    const thread_id who[] = {ann, bob, cat};
    lock_id task = builder_lock(&b, builder_class(&b, "Ljava/util/concurrent/FutureTask;"));
    stack_id wait = builder_stack(&b, GET "shop.Desk.place:30" RUN);
    for (uint64_t i = 0; i < over; i++)
        gets(ann, dan, 1000000 + i * 20000000, 11000000 + i * 20000000,
             GET "shop.Desk.place:30" RUN);
    for (uint64_t k = 0; k < 3; k++)
        ADD(&b, who[k].v, who[k], 200000000 + k, park_enter, .lock = task, .stack = wait);
    does_sleep(dan, 300000000, 390000000); /* the program is not stuck */
    run(400000000);
    return first_card()->text;
}

Test(resources, waits_that_are_mostly_not_over_are_counted)
{
    const char *text = text_of_open_waits(1);
    cr_assert_not_null(strstr(text, "; 3 of 4 waits were not over when the recording ended; "),
                       "%s", text);
}

Test(resources, at_any_moment_some_waits_are_not_over)
{
    const char *text = text_of_open_waits(4);
    cr_assert_null(strstr(text, "not over"), "%s", text);
}

/* The monitor of a transaction is no row lock: others wait on it for that. */
Test(resources, a_monitor_inside_of_a_transaction_is_no_row_lock)
{
    lock_id of = builder_lock(&b, builder_class(&b, "Lorg/h2/mvstore/tx/Transaction;"));
    stack_id enter = builder_stack(&b, "org.h2.mvstore.tx.Transaction.waitForThisToEnd:732 "
                                       "shop.Desk.place:30 org.web.Worker.run:9");
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t from = 1000000 + i * 20000000;
        ADD(&b, ann.v, ann, from, monitor_contended_enter, .lock = of, .owner = bob,
            .stack = enter);
        ADD(&b, ann.v, ann, from + 10000000, monitor_contended_entered, .lock = of);
    }
    run(420000000);
    cr_assert_eq(all.v[0].kind, RESOURCE_LOCK);
    cr_assert_str_eq(resource_role(&all.v[0], a), "lock inside the database");
    cr_assert_not(resource_is_of_transactions(&all.v[0], a));
}

/* --- how many read at a time ----------------------------------------------------------------- */

/* Three or four threads read in turn, some of them at a time; for all of the time that they read, or the
 * last one only now and then. */
static const struct rule_finding *reads_at_a_time(uint64_t threads, uint64_t at_a_time,
                                                  uint64_t last_each)
{
    const thread_id who[] = {ann, bob, cat, dan};
    stack_id reads = builder_stack(&b, IN_PAY "org.web.Worker.run:9"),
             idle = builder_stack(&b, TASKS);
    builder_info(&b, "sun.java.command", "shop.Main");
    for (uint64_t i = 0; i < 40; i++)
        for (uint64_t k = 0; k < threads; k++) {
            uint64_t from = 1000000 + i * 10000000;
            bool has = (k + threads - i % threads) % threads < at_a_time,
                 last = (k + threads - i % threads) % threads + 1 == at_a_time;
            bool in = has && (!last || i % last_each == 0);
            if (in)
                ADD(&b, who[k].v, who[k], from + 9900000, io, .what = IO_KIND_input, .stack = reads,
                    .since = at(from));
            ADD(&b, who[k].v, who[k], from + (in ? 9900001 : 0), park_enter, .stack = idle);
            ADD(&b, who[k].v, who[k], from + 9999999, park_exit);
        }
    run(410000000);
    return finding_of("waits-for-io");
}

Test(resources, how_many_read_at_a_time)
{
    const struct rule_finding *f = reads_at_a_time(4, 2, 1);
    cr_assert_not_null(f);
    cr_assert_not_null(strstr(f->text, "; never more than 2 at a time, 2 for 100 % of the time; "),
                       "%s", f->text);
}

Test(resources, one_reads_at_a_time)
{
    const struct rule_finding *f = reads_at_a_time(3, 1, 1);
    cr_assert_not_null(f);
    cr_assert_not_null(strstr(f->text, "; one at a time; "), "%s", f->text);
}

Test(resources, two_that_seldom_read_at_a_time_have_no_limit)
{
    const struct rule_finding *f = reads_at_a_time(4, 2, 4);
    cr_assert_not_null(f);
    cr_assert_null(strstr(f->text, "at a time"), "%s", f->text);
}

/* Others may have read beside them, in calls that are not recorded. */
Test(resources, where_looks_see_calls_that_are_not_recorded_no_limit_is_known)
{
    stack_id idle = builder_stack(&b, TASKS);
    for (uint64_t i = 0; i < 20; i++) {
        ADD(&b, dan.v, dan, 500000 + i * 20000000, park_enter, .stack = idle);
        ADD(&b, dan.v, dan, 1000000 + i * 20000000, park_exit);
        does_look(dan, 7000000 + i * 20000000, IN_PAY "org.web.Worker.run:9",
                  SAMPLE_IDLE | SAMPLE_ASLEEP);
    }
    const struct rule_finding *f = reads_at_a_time(3, 1, 1);
    cr_assert_not_null(strstr(f->text, "Pay.pay (input); 4 threads"), "%s", f->text);
    cr_assert_not_null(f);
    cr_assert_null(strstr(f->text, "at a time"), "%s", f->text);
}

Test(resources, where_all_read_there_is_no_limit)
{
    const struct rule_finding *f = reads_at_a_time(4, 4, 1);
    cr_assert_not_null(f);
    cr_assert_null(strstr(f->text, "at a time"), "%s", f->text);
}

/* --- queues in a row ------------------------------------------------------------------------- */

/* Two stages of one class: the first takes from its queue, and puts into that of the second, whose threads
 * take in the same call of the same method; or both from one. */
static enum thread_time time_of_stages(bool one_queue)
{
    class_id condition = builder_class(
        &b, "Ljava/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject;");
    lock_id first = builder_lock(&b, condition),
            second = one_queue ? first : builder_lock(&b, condition);
    stack_id take = builder_stack(&b, PARKED "java.util.concurrent.ArrayBlockingQueue.take:1 "
                                             "shop.Stage.run:82"),
             put = builder_stack(&b, PARKED "java.util.concurrent.ArrayBlockingQueue.put:1 "
                                            "shop.Stage.pass:91 shop.Stage.run:82"),
             step =
                 builder_stack(&b, "sun.nio.ch.SocketDispatcher.read0:native shop.Carrier.rate:5 "
                                   "shop.Stage.pass:90 shop.Stage.run:82"),
             offer = builder_stack(&b, "java.util.concurrent.ArrayBlockingQueue.put:1 "
                                       "shop.Stage.pass:91 shop.Stage.run:82");
    const thread_id store[] = {ann, bob};
    builder_info(&b, "sun.java.command", "shop.Main");
    for (uint64_t i = 0; i < 40; i++) {
        uint64_t from = 1000000 + i * 12000000;
        parks(cat, dan, from, from + 1000000, first, take, put);
        ADD(&b, cat.v, cat, from + 10000000, io, .what = IO_KIND_input, .stack = step,
            .since = at(from + 1100000));
        parks(store[i % 2], cat, from + 500000, from + 11000000, second, take, offer);
    }
    run(500000000);
    const struct span *s = span_of(ann, 0);
    struct wait_part part[2];
    span_parts(&a->timeline, s, part);
    return thread_time_of(a, s->context, part);
}

Test(resources, who_empties_its_own_queue_in_the_same_call_is_idle)
{
    cr_assert_eq(time_of_stages(false), TIME_IDLE);
    cr_assert_eq(all.n, 0);
}

Test(resources, who_takes_what_it_gives_in_one_call_has_it_from_one_object)
{
    cr_assert_eq(time_of_stages(true), TIME_BLOCKED);
}

/* --- names of threads ----------------------------------------------------------------------- */

/* As everywhere: what agrees but for the number at the end, which all or none of them have. */
Test(resources, threads_are_of_one_pool_by_their_names)
{
    thread_id one = builder_thread(&b, "exec-8-1"), two = builder_thread(&b, "exec-8-22"),
              none = builder_thread(&b, "exec-8-");
    run(1000);
    cr_assert(resource_same_pool(a, one.v, two.v));
    cr_assert_not(resource_same_pool(a, one.v, none.v));
    char name[64];
    resource_thread_pool(a, two.v, name, sizeof name);
    cr_assert_str_eq(name, "exec-8");
}

/* Where no number is at the end, what agrees but for all of them. */
Test(resources, threads_with_numbers_inside_are_of_one_pool)
{
    thread_id one = builder_thread(&b, "[0x61ab 0x5f] socket"),
              two = builder_thread(&b, "[0x9 0x77c3] socket"),
              other = builder_thread(&b, "[0x9 0x77c3] timer");
    run(1000);
    cr_assert(resource_same_pool(a, one.v, two.v));
    cr_assert_not(resource_same_pool(a, one.v, other.v));
    char name[64];
    resource_thread_pool(a, two.v, name, sizeof name);
    cr_assert_str_eq(name, "[# #] socket");
}

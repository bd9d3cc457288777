/* Locks that threads wait for longer because of what fills the heap: the heap's finding comes
 * first, and says so; it does not where nothing shows it. */
#include "analyzed.h"
#include "conclude/rules.h"

#include <criterion/criterion.h>
#include <string.h>

enum { MS = 1000000, MB = 1 << 20, COLLECTIONS = 24, POOL = 3 };

static gc_name_id full;
static thread_id pool[POOL];

static void begin(void)
{
    analyzed_begin();
    full = builder_gc_name(&b, "Serial full collection");
    pool[0] = builder_thread(&b, "web-1");
    pool[1] = builder_thread(&b, "web-2");
    pool[2] = builder_thread(&b, "web-3");
}

TestSuite(lengthened, .init = begin, .fini = analyzed_end);

static struct rule_finding *f;
static size_t n;

static void run(void)
{
    analyzed_run(UINT64_C(2000) * MS);
    cr_assert_eq(rules_apply(a, &f, &n, NULL, NULL), 0);
    cr_assert_gt(n, 1);
}

static const char *line_of(const struct rule_finding *of, enum card_label label, uint32_t after)
{
    static char text[FINDING_TEXT];
    *text = 0;
    for (uint32_t i = 0; i + after < of->n_lines && !*text; i++)
        if (of->lines[i].label == label)
            finding_line(of, i + after, text);
    return text;
}

static void check_lock_first(void)
{
    cr_assert_str_eq(f[0].rule, "dominant-lock");
    for (size_t i = 0; i < n; i++)
        cr_assert_str_eq(line_of(&f[i], CARD_BEHIND, 0), "");
}

/* --- the heap --------------------------------------------------------------------------------- */

static void collect(uint64_t ms, uint64_t paused_ms, uint64_t used)
{
    ADD(&b, 8, (thread_id){0}, ms * MS, gc_start, .used = UINT64_C(62) * MB);
    ADD(&b, 8, (thread_id){0}, (ms + paused_ms) * MS, gc_finish, .collector = full,
        .used = used * MB, .committed = UINT64_C(64) * MB);
}

/* It grows from 12 MB, or stays. */
static void collect_all(uint64_t each)
{
    for (uint64_t i = 0; i < COLLECTIONS; i++)
        collect(100 + i * 70, 1, 12 + i * each);
}

/* --- a lock that is never free ---------------------------------------------------------------- */

#define COMPUTES "shop.Board.scan:31 shop.Board.post:22"
#define READS "sun.nio.ch.SocketDispatcher.read0:native sun.nio.ch.NioSocketImpl.read:5 " COMPUTES

/* Three threads have it in turn, the first time for that time, and longer each time by a part in
 * 1,000 of the time that has passed. */
static void hold_in_turn(uint64_t first_ms, uint64_t more_permille, const char *frames)
{
    stack_id does = builder_stack(&b, frames);
    uint64_t time = 10 * MS;
    for (int i = 0; i < POOL; i++)
        if (i)
            ADD(&b, pool[i].v, pool[i], time, monitor_contended_enter, .lock = lock,
                .owner = pool[0], .stack = stack);
    for (int i = 1; time < UINT64_C(1900) * MS; i++) {
        thread_id gets = pool[i % POOL], gives = pool[(i + POOL - 1) % POOL];
        time += first_ms * MS + time * more_permille / 1000;
        ADD(&b, gets.v, gets, time, monitor_contended_entered, .lock = lock);
        ADD(&b, gives.v, gives, time + 1000, monitor_contended_enter, .lock = lock, .owner = gets,
            .stack = stack);
        ADD(&b, gives.v, gives, time + 1000, owner_stack, .lock = lock, .owner = gets,
            .stack = does);
    }
}

Test(lengthened, holds_that_grow_with_the_heap)
{
    collect_all(2);
    hold_in_turn(2, 4, COMPUTES);
    run();
    cr_assert_str_eq(f[0].rule, "leak-suspect", "%s", f[0].text);
    cr_assert_eq(strncmp(line_of(&f[0], CARD_BEHIND, 0), "3 threads of web wait for shop.Order: ",
                         strlen("3 threads of web wait for shop.Order: ")),
                 0, "%s", f[0].text);
    cr_assert_str_eq(line_of(&f[0], CARD_BEHIND, 1),
                     "while the heap grew, the average hold rose from 4.85 ms to 8.00 ms");
    cr_assert_eq(f[0].lines[f[0].n_lines - 1].label, CARD_RERUN);
    cr_assert_str_eq(f[1].rule, "dominant-lock");
}

Test(lengthened, holds_that_stay_as_they_are)
{
    collect_all(2);
    hold_in_turn(5, 0, COMPUTES);
    run();
    check_lock_first();
}

/* Another program takes longer to answer. */
Test(lengthened, holds_that_grow_in_input)
{
    collect_all(2);
    hold_in_turn(2, 4, READS);
    run();
    check_lock_first();
}

Test(lengthened, holds_that_grow_while_the_heap_does_not)
{
    for (uint64_t i = 0; i < COLLECTIONS; i++)
        collect(100 + i * 70, 40, 50); /* it is full */
    hold_in_turn(2, 4, COMPUTES);
    run();
    check_lock_first();
}

/* Most of it was before the heap grew. */
Test(lengthened, waits_of_another_time)
{
    const thread_id early[] = {ann, bob, cat, dan};
    for (int i = 0; i < 4; i++)
        does_block(early[i], 1 * MS, UINT64_C(510) * MS, lock, pool[0]);
    collect_all(2);
    hold_in_turn(2, 4, COMPUTES);
    run();
    check_lock_first();
}

/* --- tasks ------------------------------------------------------------------------------------ */

#define LOOP                                                                                       \
    "java.util.concurrent.locks.LockSupport.park:1 "                                               \
    "java.util.concurrent.LinkedBlockingQueue.take:2 "                                             \
    "java.util.concurrent.ThreadPoolExecutor.getTask:3 "                                           \
    "java.util.concurrent.ThreadPoolExecutor.runWorker:4 java.lang.Thread.run:5"

/* Each thread has a task at an interval of ms; in its middle it waits as long as ever for a lock,
 * in which another one computes. */
static void work(uint64_t each_ms, uint64_t less_permille, uint64_t first_ms,
                 uint64_t more_permille)
{
    stack_id idle = builder_stack(&b, LOOP), does = builder_stack(&b, COMPUTES);
    class_id queue = builder_class(&b, "Ljava/util/concurrent/locks/"
                                       "AbstractQueuedSynchronizer$ConditionObject;");
    lock_id on = builder_lock(&b, queue);
    for (int i = 0; i < POOL; i++) {
        thread_id who = pool[i], other = pool[(i + 1) % POOL];
        uint64_t time = (10 + (uint64_t)i * 7) * MS;
        while (time < UINT64_C(1900) * MS) {
            uint64_t works = first_ms * MS + time * more_permille / 1000;
            uint64_t round = each_ms * MS - time * less_permille / 1000;
            ADD(&b, who.v, who, time, monitor_contended_enter, .lock = lock, .owner = other,
                .stack = stack);
            ADD(&b, who.v, who, time, owner_stack, .lock = lock, .owner = other, .stack = does);
            ADD(&b, who.v, who, time + 6 * MS, monitor_contended_entered, .lock = lock);
            ADD(&b, who.v, who, time + 6 * MS + works, park_enter, .lock = on, .stack = idle);
            time += round;
            ADD(&b, 20 + (uint32_t)i, dan, time - 1000, unpark, .target = who,
                .stack = other_stack);
            ADD(&b, who.v, who, time, park_exit, .lock = on);
        }
    }
}

Test(lengthened, tasks_that_grow_with_the_heap)
{
    collect_all(2);
    work(25, 0, 1, 6);
    run();
    cr_assert_str_eq(f[0].rule, "leak-suspect", "%s", f[0].text);
    cr_assert(
        strstr(line_of(&f[0], CARD_BEHIND, 1),
               "while the heap grew, the average work for a task of these threads rose from "),
        "%s", f[0].text);
}

Test(lengthened, tasks_that_stay_as_they_are)
{
    collect_all(2);
    work(25, 0, 6, 0);
    run();
    check_lock_first();
}

/* Whoever has more to do needs longer. */
Test(lengthened, more_tasks)
{
    collect_all(2);
    work(40, 8, 1, 6);
    run();
    check_lock_first();
}

/* --- pauses ----------------------------------------------------------------------------------- */

static void wait_in_pauses(uint64_t paused_ms, uint64_t before_ms, uint64_t after_ms)
{
    for (uint64_t i = 0; i < COLLECTIONS; i++) {
        collect(100 + i * 70, paused_ms, 50);
        for (int k = 1; k < POOL; k++)
            does_block(pool[k], (100 + i * 70 - before_ms) * MS, (100 + i * 70 + after_ms) * MS,
                       lock, pool[0]);
    }
    run();
}

Test(lengthened, waits_in_pauses)
{
    wait_in_pauses(30, 1, 33);
    cr_assert_str_eq(f[0].rule, "heap-nearly-full", "%s", f[0].text);
    cr_assert_str_eq(line_of(&f[0], CARD_BEHIND, 1),
                     "88 % of that time is in pauses of the collector");
    cr_assert_eq(f[0].lines[f[0].n_lines - 1].label, CARD_TRY);
}

/* They would have waited without pauses. */
Test(lengthened, waits_in_pauses_and_between_them)
{
    wait_in_pauses(45, 21, 47);
    check_lock_first();
}

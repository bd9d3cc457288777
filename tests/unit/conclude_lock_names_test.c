/* Findings of single locks call them by the fields that hold them, and number those of one name. */
#include "analyzed.h"
#include "conclude/rules.h"

#include <criterion/criterion.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)

TestSuite(lock_names, .init = analyzed_begin, .fini = analyzed_end);

/* A stack whose outermost method is new, and what its code there does the call on. */
static stack_id stack_of(const char *frames, uint32_t bci, const char *from)
{
    stack_id made = builder_stack(&b, frames);
    builder_site(&b, (method_id){b.n_methods}, bci, from);
    return made;
}

#define LOCK_OF(caller)                                                                            \
    "java.util.concurrent.locks.LockSupport.park:1 "                                               \
    "java.util.concurrent.locks.ReentrantLock.lock:2 " caller

static lock_id reentrant(void)
{
    return builder_lock(
        &b, builder_class(&b, "Ljava/util/concurrent/locks/ReentrantLock$NonfairSync;"));
}

static void parks(thread_id who, uint64_t time, lock_id on, thread_id owner, stack_id where)
{
    ADD(&b, who.v, who, time, park_enter, .lock = on, .owner = owner, .stack = where);
}

/* All threads, for two locks in turn. */
static void all_park(lock_id one, stack_id at_one, lock_id two, stack_id at_two)
{
    const thread_id all[] = {ann, bob, cat, dan};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        parks(all[i], 100 + i, i % 2 ? two : one, (thread_id){0}, i % 2 ? at_two : at_one);
}

static const char *text_of(const char *rule)
{
    const struct rule_finding *f = finding_of(rule);
    cr_assert_not_null(f, "no finding of %s", rule);
    return f->text;
}

#define EXPECT(text, part) cr_expect_not_null(strstr(text, part), "%s", text)

Test(lock_names, a_deadlock_of_an_arrays_elements)
{
    lock_id one = reentrant(), two = reentrant();
    stack_id moves = stack_of(LOCK_OF("shop.Bank.move:9"), 9, "lock;fshop/Bank.accounts[]");
    parks(ann, 100, one, bob, moves);
    parks(bob, 200, two, ann, moves);
    analyzed_run(SECOND);
    const char *text = text_of("deadlock");
    EXPECT(text, "; ann is parked for Bank.accounts[] (ReentrantLock, object 4) in Bank.move "
                 "(Bank.java:9), held by bob; ");
    EXPECT(text, "; bob is parked for Bank.accounts[] (ReentrantLock, object 5) in Bank.move "
                 "(Bank.java:9), held by ann; ");
    EXPECT(text, "; try: take these locks in the same order everywhere");
}

Test(lock_names, a_deadlock_of_two_fields)
{
    lock_id one = reentrant(), two = reentrant();
    stack_id left = stack_of(LOCK_OF("shop.Bank.left:9"), 9, "lock;fshop/Bank.in");
    stack_id right = stack_of(LOCK_OF("shop.Bank.right:10"), 10, "lock;fshop/Bank.out");
    parks(ann, 100, one, bob, left);
    parks(bob, 200, two, ann, right);
    analyzed_run(SECOND);
    const char *text = text_of("deadlock");
    EXPECT(text, "ann is parked for Bank.in (ReentrantLock) in ");
    EXPECT(text, "bob is parked for Bank.out (ReentrantLock) in ");
}

/* The program's own class says more than a field; no order of locks forbids to join. */
Test(lock_names, a_deadlock_of_own_objects_and_a_join)
{
    ADD(&b, ann.v, ann, 100, monitor_contended_enter, .lock = lock, .owner = bob, .stack = stack);
    ADD(&b, bob.v, bob, 200, join_enter, .target = ann, .stack = other_stack);
    analyzed_run(SECOND);
    const char *text = text_of("deadlock");
    EXPECT(text, "; ann is blocked on shop.Order in Order.submit (Order.java:88), held by bob");
    EXPECT(text, "; bob is in Thread.join of ann in Stock.take (Stock.java:31)");
    cr_expect_null(strstr(text, "try"), "%s", text);
}

Test(lock_names, what_threads_that_are_stuck_wait_for)
{
    lock_id latch =
        builder_lock(&b, builder_class(&b, "Ljava/util/concurrent/CountDownLatch$Sync;"));
    stack_id waits = stack_of("java.util.concurrent.locks.LockSupport.park:1 "
                              "java.util.concurrent.CountDownLatch.await:2 "
                              "shop.Main.finish:7",
                              7, "await;sshop/Main.done");
    all_park(latch, waits, latch, waits);
    analyzed_run(SECOND);
    EXPECT(text_of("stuck"),
           "ann is parked for Main.done (CountDownLatch) in Main.finish (Main.java:7); ");
}

/* Without a field: as the program calls the class, but for what has no other name. */
Test(lock_names, classes_as_the_program_has_them)
{
    class_id latch = builder_class(&b, "Ljava/util/concurrent/CountDownLatch$Sync;");
    class_id condition = builder_class(
        &b, "Ljava/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject;");
    lock_id one = builder_lock(&b, latch), two = builder_lock(&b, condition);
    stack_id waits = stack_of("java.util.concurrent.locks.LockSupport.park:1 "
                              "java.util.concurrent.locks.Condition.await:2 "
                              "shop.Main.take:8",
                              8, "await;fshop/Main.notEmpty");
    all_park(two, waits, one, stack);
    analyzed_run(SECOND);
    const char *text = text_of("stuck");
    EXPECT(text, "bob is parked for java.util.concurrent.CountDownLatch in ");
    EXPECT(text, "ann is parked for Main.notEmpty (ConditionObject) in ");
}

/* Names that no compiler makes, as a damaged file may have them. */
Test(lock_names, strange_classes)
{
    static const char *const classes[] = {"", "L;", "L$;", "L$Sync;", "La$Sync;", "[", "?"};
    thread_id who[ARRAY_LEN(classes)];
    for (size_t i = 0; i < ARRAY_LEN(classes); i++)
        who[i] = builder_thread(&b, "waiter");
    for (size_t i = 0; i < ARRAY_LEN(classes); i++)
        ADD(&b, who[i].v, who[i], 100 + i, monitor_contended_enter,
            .lock = builder_lock(&b, builder_class(&b, classes[i])),
            .owner = who[(i + 1) % ARRAY_LEN(classes)], .stack = stack);
    analyzed_run(SECOND);
    EXPECT(text_of("deadlock"), "Deadlock of 7 threads");
}

/* --- orders ----------------------------------------------------------------------------------- */

static void holds(thread_id who, lock_id on, stack_id given_back_at, uint64_t from, uint64_t to)
{
    ADD(&b, who.v, who, to, hold, .lock = on, .since = BUILDER_START + from,
        .stack = given_back_at);
}

/* ann takes two locks in one order, bob in the other. */
static const char *text_of_inversion(lock_id in, stack_id at_in, lock_id out, stack_id at_out)
{
    holds(ann, out, at_out, 1040, 1060);
    holds(ann, in, at_in, 1000, 1100);
    holds(bob, in, at_in, 2040, 2060);
    holds(bob, out, at_out, 2000, 2100);
    analyzed_run(SECOND);
    return text_of("inversion");
}

#define UNLOCK_OF(caller) "java.util.concurrent.locks.ReentrantLock.unlock:1 " caller

Test(lock_names, an_inversion_of_two_fields)
{
    lock_id in = reentrant(), out = reentrant();
    stack_id at_in = stack_of(UNLOCK_OF("shop.Bank.left:9"), 9, "unlock;fshop/Bank.in");
    stack_id at_out = stack_of(UNLOCK_OF("shop.Bank.right:10"), 10, "unlock;fshop/Bank.out");
    const char *text = text_of_inversion(in, at_in, out, at_out);
    EXPECT(text, "ann takes Bank.out (ReentrantLock) while holding Bank.in (ReentrantLock) in ");
    EXPECT(text, "bob takes Bank.in (ReentrantLock) while holding Bank.out (ReentrantLock) in ");
}

/* The monitors that are given back inside of these are not what they were called for. */
Test(lock_names, an_inversion_inside_of_synchronized_methods)
{
    class_id object = builder_class(&b, "Ljava/lang/Object;");
    lock_id in = builder_lock(&b, object), out = builder_lock(&b, object);
    stack_id at_in = stack_of("shop.Bank.left:=3 shop.Desk.run:9", 9, "left;fshop/Desk.bank");
    stack_id at_out = stack_of("shop.Bank.right:=4 shop.Till.run:9", 9, "right;fshop/Till.bank");
    const char *text = text_of_inversion(in, at_in, out, at_out);
    EXPECT(text, "ann takes java.lang.Object (object 5) while holding java.lang.Object (object 4)");
}

/* --- signals ---------------------------------------------------------------------------------- */

Test(lock_names, a_signal_before_the_wait)
{
    lock_id mail = builder_lock(&b, builder_class(&b, "Ljava/lang/Object;"));
    stack_id waits =
        stack_of("java.lang.Object.wait:native shop.Mail.send:7", 7, "wait;fshop/Mail.ready");
    const thread_id all[] = {ann, bob, cat, dan};
    ADD(&b, dan.v, dan, 3000000, notify, .lock = mail, .stack = other_stack);
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        ADD(&b, all[i].v, all[i], 100000000 + i, wait_enter, .lock = i ? lock : mail,
            .stack = i ? stack : waits);
    analyzed_run(2 * SECOND);
    EXPECT(text_of("lost-signal"), "Mail.ready: dan called notify in ");
    EXPECT(text_of("stuck"), "ann is in Object.wait of Mail.ready in Mail.send (Mail.java:7)");
}

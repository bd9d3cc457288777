/* Queues that fill faster than they are emptied. */
#include "analyzed.h"
#include "conclude/rules.h"

#include <criterion/criterion.h>
#include <string.h>

enum { MS = 1000000, ROUNDS = 200 };

static const call_id put = {1}, offer = {2}, take = {3};
static lock_id queue;
static stack_id puts_in, takes_in;

static void define(call_id id, const char *method)
{
    static const char class_[] = "Ljava/util/concurrent/LinkedBlockingQueue;";
    builder_def(&b, &(struct def){.kind = DEF_call,
                                  .call = {.id = id,
                                           .class_name = {class_, strlen(class_)},
                                           .method = {method, strlen(method)}}});
}

static void begin(void)
{
    analyzed_begin();
    builder_info(&b, "sun.java.command", "shop.Main");
    define(put, "put");
    define(offer, "offer");
    define(take, "take");
    queue = builder_lock(&b, builder_class(&b, "Ljava/util/concurrent/LinkedBlockingQueue;"));
    puts_in = builder_stack(&b, "java.util.concurrent.LinkedBlockingQueue.put:1 shop.Web.click:8 "
                                "shop.Main.main:3");
    builder_site(&b, (method_id){b.n_methods}, 8, "put;fshop/Web.clicks");
    takes_in = builder_stack(&b, "java.util.concurrent.LinkedBlockingQueue.take:1 "
                                 "shop.Writer.run:6 java.lang.Thread.run:1");
}

TestSuite(queues, .init = begin, .fini = analyzed_end);

static void calls(thread_id who, uint64_t time, call_id call, stack_id at_stack, bool failed)
{
    ADD(&b, who.v, who, time, call_enter, .call = call, .lock = queue, .stack = at_stack);
    ADD(&b, who.v, who, time + 1000, call_exit, .call = call, .lock = queue, .failed = failed);
}

/* Of ten rounds of 10 ms, ann puts in as many, bob takes in as many. */
static void fill(unsigned ann_puts, unsigned bob_takes)
{
    for (uint64_t i = 0; i < ROUNDS; i++) {
        if (i % 10 < ann_puts)
            calls(ann, i * 10 * MS, put, puts_in, false);
        if (i % 10 < bob_takes)
            calls(bob, i * 10 * MS + 5000, take, takes_in, false);
    }
}

static const struct rule_finding *found(void)
{
    analyzed_run(UINT64_C(2000) * MS);
    return finding_of("growing-queue");
}

Test(queues, more_is_put_than_taken)
{
    fill(10, 4);
    const struct rule_finding *f = found();
    cr_assert_not_null(f);
    cr_assert(
        strstr(
            f->text,
            "Web.clicks (LinkedBlockingQueue) grows: 200 elements were put and 80 taken in 1.99 s; "
            "ann puts in Web.click (Web.java:8); "
            "consumer bob takes in Writer.run (Writer.java:6), and hardly ever "
            "waits for an element; try: bound the queue"),
        "%s", f->text);
    cr_assert_eq(f->severity, SEVERITY_WARNING);
}

Test(queues, as_much_is_taken_as_put)
{
    fill(10, 10);
    cr_assert_null(found());
}

/* Elements on their way at some moment are not growth. */
Test(queues, a_few_more_are_put_than_taken)
{
    for (uint64_t i = 0; i < ROUNDS; i++) {
        calls(ann, i * 10 * MS, put, puts_in, false);
        if (i % 15)
            calls(bob, i * 10 * MS + 5000, take, takes_in, false);
    }
    cr_assert_null(found());
}

/* First all is put, then taken. */
Test(queues, a_queue_that_is_emptied_later)
{
    for (uint64_t i = 0; i < ROUNDS; i++) {
        for (uint64_t k = 0; k < 2 && i < 7 * ROUNDS / 10; k++)
            calls(ann, (i * 10 + k) * MS, put, puts_in, false);
        if (i % 4 == 3)
            calls(bob, i * 10 * MS + 5000, take, takes_in, false);
    }
    cr_assert_null(found());
}

/* A bounded queue that is full takes nothing. */
Test(queues, elements_that_are_refused)
{
    puts_in = builder_stack(&b, "java.util.concurrent.LinkedBlockingQueue.offer:1 "
                                "shop.Web.click:8 shop.Main.main:3");
    for (uint64_t i = 0; i < ROUNDS; i++) {
        calls(ann, i * 10 * MS, offer, puts_in, i % 2);
        if (i % 2)
            calls(bob, i * 10 * MS + 5000, take, takes_in, false);
    }
    cr_assert_null(found());
}

/* Who waits for an element found the queue empty: something else empties it, too. */
Test(queues, takes_that_wait)
{
    for (uint64_t i = 0; i < ROUNDS; i++) {
        calls(ann, i * 10 * MS, put, puts_in, false);
        if (i % 10 < 4) {
            uint64_t time = i * 10 * MS + 5000;
            ADD(&b, bob.v, bob, time, call_enter, .call = take, .lock = queue, .stack = takes_in);
            ADD(&b, bob.v, bob, time + 1000, park_enter, .lock = other_lock, .stack = takes_in);
            ADD(&b, bob.v, bob, time + 2000, park_exit, .lock = other_lock);
            ADD(&b, bob.v, bob, time + 3000, call_exit, .call = take, .lock = queue);
        }
    }
    cr_assert_null(found());
}

/* An executor's tasks have a rule of their own. */
Test(queues, queues_of_the_jdks_own)
{
    puts_in = builder_stack(&b, "java.util.concurrent.LinkedBlockingQueue.put:1 "
                                "java.util.concurrent.ThreadPoolExecutor.execute:3 "
                                "shop.Web.click:8");
    fill(10, 4);
    cr_assert_null(found());
}

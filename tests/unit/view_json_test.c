/* view_json_test.c - JSON answers about traces made by hand: one small fact each. */
#include "analyzed.h"
#include "base/utf8.h"
#include "view_ask.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct view *v;

static struct view_about about = {
    .gen = 7, .name = "a.otrace", .path = "dir/a.otrace", .ending = "closed"};

static void begin_view(uint64_t end)
{
    struct err err = {""};
    analyzed_run(end);
    cr_assert_eq(view_new(&v, a, &about, &err), 0, "%s", err.msg);
}

static void end_view(void)
{
    if (v)
        view_free(v);
    else
        analyzed_end();
}

TestSuite(view_json, .init = analyzed_begin, .fini = end_view);

/* Asked and at once released: for one number or text. */
static int64_t number(const char *answer, const char *question, const char *path)
{
    json_t *j = ask(v, answer, question);
    int64_t n = number_at(j, path);
    json_decref(j);
    return n;
}

#define TEXT_IS(j, path, want)                                                                     \
    cr_assert_str_eq(text_at(j, path), want, "%s: %s", path, text_at(j, path))
#define NUMBER_IS(j, path, want)                                                                   \
    cr_assert_eq(number_at(j, path), want, "%s: %ld", path, (long)number_at(j, path))

/* --- meta ------------------------------------------------------------------------------------- */

static void count_made(void *ctx)
{
    ++*(int *)ctx;
}

Test(view_json, findings_that_are_made_later)
{
    int made = 0;
    about.later = true;
    does_sleep(bob, 200, 300);
    begin_view(1000);
    json_t *j = ask(v, "meta", "");
    cr_assert(json_is_true(json_object_get(j, "pending")));
    cr_assert_eq(json_array_size(json_object_get(j, "findings")), 0);
    json_decref(j);
    cr_assert_eq(view_prepare(v, count_made, &made, NULL), 0);
    cr_assert_eq(made, 1);
    j = ask(v, "meta", "");
    cr_assert(json_is_false(json_object_get(j, "pending")));
    json_decref(j);
}

/* Of a beginning nothing is concluded. */
Test(view_json, findings_of_a_part)
{
    about.partial_to = 5000;
    ADD(&b, 1, ann, 100, monitor_contended_enter, .lock = lock, .owner = bob);
    ADD(&b, 2, bob, 100, wait_enter, .lock = other_lock);
    begin_view(1000);
    json_t *j = ask(v, "meta", "");
    NUMBER_IS(j, "partial.to", 5000);
    cr_assert(json_is_true(json_object_get(j, "pending")));
    cr_assert_eq(json_array_size(json_object_get(j, "findings")), 0);
    cr_assert_eq(json_array_size(json_object_get(j, "stuck")), 0);
    json_decref(j);
}

Test(view_json, meta)
{
    ADD(&b, 1, ann, 100, thread_start_called, .target = bob);
    ADD0(&b, 2, bob, 130, thread_start);
    does_sleep(bob, 200, 300);
    ADD0(&b, 2, bob, 400, thread_end);
    begin_view(1000);
    json_t *j = ask(v, "meta", "");
    TEXT_IS(j, "schema", "orca-view-1");
    NUMBER_IS(j, "gen", 7);
    TEXT_IS(j, "name", "a.otrace");
    TEXT_IS(j, "recording.state", "closed");
    NUMBER_IS(j, "to", 1000);
    NUMBER_IS(j, "waits", 1);
    TEXT_IS(j, "threads.name.0", "unknown");
    TEXT_IS(j, "threads.name.2", "bob");
    NUMBER_IS(j, "threads.id.2", bob.v);
    NUMBER_IS(j, "threads.called.2", 100);
    cr_assert(json_is_null(at_path(j, "threads.called.1")));
    NUMBER_IS(j, "threads.starter.2", ann.v);
    NUMBER_IS(j, "threads.from.2", 130);
    NUMBER_IS(j, "threads.to.2", 400);
    NUMBER_IS(j, "threads.flags.2", 8 + 16 + 32);
    NUMBER_IS(j, "threads.slept_ns.2", 100);
    NUMBER_IS(j, "threads.running_ns.2", 170);
    NUMBER_IS(j, "arrows.starts-thread.count", 1);
    TEXT_IS(j, "groups.name.0", "main");
    NUMBER_IS(j, "groups.threads.0", 4);
    cr_assert(json_is_null(at_path(j, "live")));
    json_decref(j);
}

/* --- one wait --------------------------------------------------------------------------------- */

Test(view_json, a_wait_that_the_owner_ended)
{
    does_sleep(bob, 10, 20);
    does_block(ann, 100, 300, lock, bob);
    does_sleep(ann, 400, 450);
    ADD(&b, 2, bob, 320, unpark, .target = cat, .stack = stack);
    does_park(cat, 310, 325);
    begin_view(1000);
    json_t *j = ask(v, "wait", "thread=1&index=0");
    TEXT_IS(j, "state", "blocked");
    NUMBER_IS(j, "start", 100);
    NUMBER_IS(j, "end", 300);
    NUMBER_IS(j, "lock.id", lock.v);
    TEXT_IS(j, "lock.class", "shop.Order");
    NUMBER_IS(j, "other", bob.v);
    TEXT_IS(j, "stack.0.method", "submit");
    NUMBER_IS(j, "stack.0.line", 88);
    TEXT_IS(j, "owner_stack_note", "owner not asked");
    NUMBER_IS(j, "ended_by.thread", bob.v);
    TEXT_IS(j, "ended_by.how", "last-owner-seen");
    TEXT_IS(j, "ended_by.note", "last owner seen");
    cr_assert(json_is_null(at_path(j, "before")));
    NUMBER_IS(j, "after.index", 1);
    NUMBER_IS(j, "cause.thread", bob.v);
    NUMBER_IS(j, "cause.index", 0);
    NUMBER_IS(j, "n_effects", 0);
    TEXT_IS(j, "chain.0.state", "running");
    TEXT_IS(j, "chain.0.text", "bob held it, and did not wait in that time");
    json_decref(j);
    j = ask(v, "at", "row=t2&time=315");
    TEXT_IS(j, "state", "running");
    NUMBER_IS(j, "start", 20);
    NUMBER_IS(j, "n_effects", 2);
    NUMBER_IS(j, "effects.1.thread", cat.v);
    NUMBER_IS(j, "effects.1.time", 320);
    TEXT_IS(j, "effects.1.how", "unpark");
    json_decref(j);
}

/* ann waits for bob, who waits for cat in that time, who sleeps. */
Test(view_json, a_chain)
{
    does_block(ann, 100, 900, lock, bob);
    does_block(bob, 200, 800, other_lock, cat);
    does_sleep(cat, 50, 700);
    begin_view(1000);
    json_t *j = ask(v, "wait", "thread=1&index=0");
    cr_assert_eq(json_array_size(at_path(j, "chain")), 3);
    NUMBER_IS(j, "chain.0.thread", bob.v);
    NUMBER_IS(j, "chain.0.index", 0);
    TEXT_IS(j, "chain.0.state", "blocked");
    NUMBER_IS(j, "chain.0.lock", other_lock.v);
    NUMBER_IS(j, "chain.0.at.line", 88);
    TEXT_IS(j, "chain.0.text",
            "bob held it, and itself waited 600 ns for shop.Order, owned by cat");
    NUMBER_IS(j, "chain.1.thread", cat.v);
    NUMBER_IS(j, "chain.1.from", 200);
    NUMBER_IS(j, "chain.1.to", 700);
    TEXT_IS(j, "chain.1.text", "cat held it, and itself slept 500 ns");
    NUMBER_IS(j, "chain.2.thread", 0);
    TEXT_IS(j, "chain.2.state", "unknown");
    TEXT_IS(j, "chain.2.text", "the sleep ended by itself");
    json_decref(j);
}

/* Who is seen to own a lock need not be who gives it back. */
Test(view_json, a_chain_through_the_queue)
{
    does_sleep(bob, 20, 90);
    does_block(bob, 100, 600, lock, cat);
    does_block(ann, 150, 900, lock, cat);
    begin_view(1000);
    json_t *j = ask(v, "wait", "thread=1&index=0");
    NUMBER_IS(j, "other", cat.v);
    NUMBER_IS(j, "ended_by.thread", bob.v);
    NUMBER_IS(j, "chain.0.thread", bob.v);
    NUMBER_IS(j, "chain.0.from", 150);
    NUMBER_IS(j, "chain.0.to", 600);
    cr_assert(strstr(text_at(j, "chain.0.text"), "bob was the last owner seen, and itself "
                                                 "waited 450 ns for shop.Order, owned by cat"));
    NUMBER_IS(j, "chain.1.thread", cat.v);
    TEXT_IS(j, "chain.1.text", "cat held it, and did not wait in that time");
    json_decref(j);
}

/* What it did before it wanted the lock held nobody up. */
Test(view_json, a_chain_from_when_the_lock_was_wanted)
{
    does_sleep(bob, 160, 500);
    does_block(bob, 550, 600, lock, cat);
    does_block(ann, 150, 900, lock, cat);
    begin_view(1000);
    json_t *j = ask(v, "wait", "thread=1&index=0");
    NUMBER_IS(j, "chain.0.thread", bob.v);
    NUMBER_IS(j, "chain.0.index", 1);
    NUMBER_IS(j, "chain.0.from", 550);
    json_decref(j);
}

Test(view_json, a_chain_that_is_a_deadlock)
{
    ADD(&b, 1, ann, 100, monitor_contended_enter, .lock = lock, .owner = bob, .stack = stack);
    ADD(&b, 2, bob, 150, monitor_contended_enter, .lock = other_lock, .owner = ann, .stack = stack);
    begin_view(1000);
    json_t *j = ask(v, "wait", "thread=1&index=0");
    TEXT_IS(j, "flags.0", "open");
    cr_assert(json_is_null(at_path(j, "ended_by")));
    cr_assert_eq(json_array_size(at_path(j, "chain")), 2);
    cr_assert(strstr(text_at(j, "chain.1.text"), "a deadlock"), "%s", text_at(j, "chain.1.text"));
    NUMBER_IS(j, "chain.1.thread", ann.v);
    json_decref(j);
    j = ask(v, "meta", "");
    NUMBER_IS(j, "deadlocks.0.formed", 150);
    json_decref(j);
}

Test(view_json, an_owner_that_was_not_seen)
{
    does_block(ann, 100, 300, lock, (thread_id){0});
    begin_view(1000);
    json_t *j = ask(v, "wait", "thread=1&index=0");
    NUMBER_IS(j, "other", 0);
    NUMBER_IS(j, "chain.0.thread", 0);
    TEXT_IS(j, "chain.0.text", "unknown: the owner was not seen");
    json_decref(j);
}

Test(view_json, a_wait_that_was_notified)
{
    does_wait(ann, 100, 500, lock);
    ADD(&b, 2, bob, 300, notify, .lock = lock, .stack = other_stack);
    begin_view(1000);
    json_t *j = ask(v, "wait", "thread=1&index=0");
    TEXT_IS(j, "ended_by.how", "notify");
    NUMBER_IS(j, "ended_by.time", 300);
    TEXT_IS(j, "ended_by.stack.0.method", "take");
    TEXT_IS(j, "ended_by.note", "after that it waited 200 ns for the monitor, which bob owned");
    TEXT_IS(j, "chain.0.text", "bob notified it, and did not wait in that time");
    TEXT_IS(j, "owner_stack_note", "no owner");
    json_decref(j);
}

/* --- at --------------------------------------------------------------------------------------- */

/* What has no other end has no peer. */
Test(view_json, at_a_moment_in_which_a_thread_is_stopped)
{
    ADD0(&b, 1, ann, 50, thread_start);
    ADD(&b, 9, (thread_id){0}, 600, safepoint, .since = BUILDER_START + 200,
        .reached = BUILDER_START + 300);
    does_block(ann, 800, 900, lock, bob);
    begin_view(1000);
    json_t *j = ask(v, "at", "row=t1&time=400");
    TEXT_IS(j, "io.what", "stopped");
    cr_assert(json_is_null(at_path(j, "io.peer")));
    json_decref(j);
}

Test(view_json, at_a_moment)
{
    ADD0(&b, 1, ann, 50, thread_start);
    does_block(ann, 100, 300, lock, bob);
    does_block(cat, 150, 400, lock, bob);
    does_wait(dan, 20, 500, lock);
    begin_view(1000);
    json_t *j = ask(v, "at", "row=t1&time=250");
    NUMBER_IS(j, "index", 0);
    TEXT_IS(j, "state", "blocked");
    json_decref(j);
    j = ask(v, "at", "row=t1&time=10");
    TEXT_IS(j, "state", "not alive");
    NUMBER_IS(j, "end", 50);
    json_decref(j);
    j = ask(v, "at", "row=t1&time=-5");
    TEXT_IS(j, "state", "not alive");
    json_decref(j);
    j = ask(v, "at", "row=l1&time=250");
    NUMBER_IS(j, "owner", bob.v);
    cr_assert(json_is_false(at_path(j, "owner_sure")));
    cr_assert_eq(json_array_size(at_path(j, "queue")), 2);
    NUMBER_IS(j, "waiters.0", dan.v);
    json_decref(j);
    j = ask(v, "at", "row=l1&time=350");
    NUMBER_IS(j, "owner", ann.v);
    NUMBER_IS(j, "queue.0", cat.v);
    json_decref(j);
    cr_assert_eq(number("at", "row=l1&time=450", "owner"), 0, "nobody is in the queue");
    cr_assert_eq(number("at", "row=l3&time=250", "owner"), 0, "nobody ever waited for it");
}

Test(view_json, holds_say_who_owned)
{
    ADD(&b, 2, bob, 400, hold, .lock = lock, .since = at(100), .stack = stack);
    begin_view(1000);
    json_t *j = ask(v, "at", "row=l1&time=200");
    NUMBER_IS(j, "owner", bob.v);
    cr_assert(json_is_true(at_path(j, "owner_sure")));
    json_decref(j);
}

/* --- lists ------------------------------------------------------------------------------------ */

Test(view_json, locks)
{
    does_wait(ann, 100, 900, other_lock);
    does_block(bob, 100, 300, lock, cat);
    does_block(dan, 150, 300, lock, cat);
    begin_view(1000);
    json_t *j = ask(v, "locks", "");
    NUMBER_IS(j, "n", 2);
    NUMBER_IS(j, "locks.0.id", lock.v);
    TEXT_IS(j, "locks.0.class", "shop.Order");
    NUMBER_IS(j, "locks.0.blocked_count", 2);
    NUMBER_IS(j, "locks.0.blocked_ns", 350);
    NUMBER_IS(j, "locks.0.longest_queue", 2);
    NUMBER_IS(j, "locks.1.waited_ns", 800);
    json_decref(j);
    cr_assert_eq(number("locks", "offset=1&top=1", "locks.0.id"), other_lock.v);
    cr_assert_eq(number("locks", "offset=9", "n"), 2);
    cr_assert_eq(number("locks", "from=200&to=250", "locks.0.blocked_ns"), 100);
    cr_assert_eq(number("locks", "threads=2", "locks.0.blocked_ns"), 200);
    cr_assert_eq(number("locks", "threads=1-1,4", "locks.0.blocked_ns"), 150);
    cr_assert_eq(number("locks", "threads=", "n"), 0, "of no thread");
    char ids[32];
    snprintf(ids, sizeof ids, "ids=%u,999", (unsigned)other_lock.v);
    cr_assert_eq(number("locks", ids, "n"), 1);
    cr_assert_eq(number("locks", ids, "locks.0.id"), other_lock.v);
}

Test(view_json, contexts)
{
    does_block(ann, 100, 300, lock, bob);
    begin_view(1000);
    char question[40];
    snprintf(question, sizeof question, "ids=%u", span_of(ann, 0)->context);
    json_t *j = ask(v, "contexts", question);
    TEXT_IS(j, "0.state", "blocked");
    NUMBER_IS(j, "0.lock", lock.v);
    NUMBER_IS(j, "0.other", bob.v);
    TEXT_IS(j, "0.at.method", "submit");
    json_decref(j);
    json_decref(ask(v, "contexts", "ids="));
    ask_refused(v, "contexts", "ids=0", -ENOENT, "0 is not a context");
    ask_refused(v, "contexts", "ids=4000000000", -ENOENT, "not a context");
}

Test(view_json, search)
{
    does_block(ann, 100, 300, lock, bob);
    begin_view(1000);
    json_t *j = ask(v, "search", "q=AN");
    NUMBER_IS(j, "threads.0", ann.v);
    NUMBER_IS(j, "threads.1", dan.v);
    json_decref(j);
    j = ask(v, "search", "q=order");
    TEXT_IS(j, "classes.0.class", "shop.Order");
    NUMBER_IS(j, "classes.0.objects", 3);
    NUMBER_IS(j, "classes.0.held_up_ns", 200);
    cr_assert_eq(json_array_size(at_path(j, "classes.0.locks")), 3);
    TEXT_IS(j, "methods.0.method", "submit");
    NUMBER_IS(j, "methods.0.sites", 1);
    NUMBER_IS(j, "methods.0.held_up_ns", 200);
    NUMBER_IS(j, "methods.0.wait.thread", ann.v);
    json_decref(j);
}

/* The file of a class is not a class, and was met first. */
Test(view_json, search_has_what_is_called_so_first)
{
    lock_id file = builder_lock(&b, builder_class(&b, "=/srv/shop.Stock.class")),
            stock = builder_lock(&b, builder_class(&b, "Lshop/Stock;"));
    does_block(ann, 100, 300, file, bob);
    does_block(ann, 400, 500, stock, bob);
    begin_view(1000);
    json_t *j = ask(v, "search", "q=shop.stock");
    TEXT_IS(j, "classes.0.class", "shop.Stock");
    TEXT_IS(j, "classes.1.class", "/srv/shop.Stock.class");
    json_decref(j);
}

/* --- flame ------------------------------------------------------------------------------------ */

Test(view_json, flame)
{
    does_block(ann, 100, 300, lock, bob);
    ADD(&b, 3, cat, 100, monitor_contended_enter, .lock = lock, .owner = bob, .stack = other_stack);
    ADD(&b, 3, cat, 400, monitor_contended_entered, .lock = lock);
    does_sleep(dan, 10, 20);
    begin_view(1000);
    json_t *j = ask(v, "flame", "");
    NUMBER_IS(j, "total_ns", 500);
    NUMBER_IS(j, "total_count", 2);
    cr_assert_eq(json_array_size(at_path(j, "parent")), 4, "two stacks of different lines");
    NUMBER_IS(j, "parent.0", -1);
    NUMBER_IS(j, "parent.1", 0);
    TEXT_IS(j, "frames.0.method", "main");
    cr_assert(json_is_false(at_path(j, "frames.0.jdk")));
    NUMBER_IS(j, "ns.0", 0);
    NUMBER_IS(j, "ns.1", 200);
    json_decref(j);
    j = ask(v, "flame", "by=owner");
    cr_assert_eq(json_array_size(at_path(j, "frame")), 0);
    NUMBER_IS(j, "total_count", 0);
    NUMBER_IS(j, "not_asked_count", 2);
    NUMBER_IS(j, "not_asked_ns", 500);
    json_decref(j);
    cr_assert_eq(number("flame", "states=sleeping", "total_ns"), 10);
    cr_assert_eq(number("flame", "states=sleeping,blocked&threads=1", "total_ns"), 200);
}

/* Ann allocates 3 objects of one class at one place, one of which ends, and one elsewhere. */
static void allocate(void)
{
    class_id text = builder_class(&b, "[B");
    for (uint64_t i = 0; i < 3; i++)
        ADD(&b, 1, ann, 10 * i, object_alloc, .object = i + 1, .class_ = text, .size = 100,
            .stack = stack);
    ADD(&b, 1, ann, 50, object_alloc, .object = 4, .class_ = text, .size = 16);
    ADD(&b, 2, bob, 90, object_free, .object = 2, .class_ = text, .size = 100, .stack = stack,
        .since = at(10), .allocated_by = ann);
    begin_view(100);
}

Test(view_json, flame_of_allocations)
{
    allocate();
    json_t *j = ask(v, "flame", "by=alloc");
    TEXT_IS(j, "unit", "bytes");
    NUMBER_IS(j, "total_ns", 316);
    NUMBER_IS(j, "total_count", 4);
    TEXT_IS(j, "frames.2.class", "byte[]");
    TEXT_IS(j, "frames.2.method", "");
    NUMBER_IS(j, "ns.2", 300);
    NUMBER_IS(j, "count.2", 3);
    TEXT_IS(j, "why.0", "no stack");
    cr_assert_null(json_object_get(j, "samples"));
    json_decref(j);
    cr_assert_eq(number("flame", "by=live", "total_ns"), 216);
    cr_assert_eq(number("flame", "by=live-objects", "total_ns"), 3);
    cr_assert_eq(number("flame", "by=live&from=5&to=60", "total_ns"), 216);
    cr_assert_eq(number("flame", "by=alloc&threads=2", "total_ns"), 0);
    j = ask(v, "meta", "");
    NUMBER_IS(j, "allocations.n", 4);
    cr_assert(json_is_true(at_path(j, "allocations.live")));
    json_decref(j);
}

Test(view_json, flame_of_sampled_allocations)
{
    ADD(&b, 1, ann, 10, object_sample, .object = 1, .size = 100, .weight = 1000, .stack = stack);
    begin_view(100);
    json_t *j = ask(v, "flame", "by=live");
    NUMBER_IS(j, "total_ns", 1000);
    NUMBER_IS(j, "total_count", 10);
    NUMBER_IS(j, "samples", 1);
    json_decref(j);
}

Test(view_json, rates)
{
    allocate();
    json_t *j = ask(v, "rates", "from=0&to=100&n=4");
    NUMBER_IS(j, "to", 100);
    cr_assert_eq(json_array_size(at_path(j, "threads")), 1);
    NUMBER_IS(j, "threads.0", ann.v);
    NUMBER_IS(j, "bytes.0", 300);
    NUMBER_IS(j, "bytes.1", 0);
    NUMBER_IS(j, "bytes.2", 16);
    json_decref(j);
    cr_assert_eq(number("rates", "from=200&to=300", "n"), 512);
}

/* --- marks ------------------------------------------------------------------------------------ */

static void define_call(call_id id, const char *class_name, const char *name)
{
    builder_def(&b, &(struct def){.kind = DEF_call,
                                  .call = {.id = id,
                                           .name = {name, strlen(name)},
                                           .class_name = {class_name, strlen(class_name)},
                                           .method = {"f", 1}}});
}

/* Calls of the program and of the JDK; a notify that woke nobody, and one that woke bob. */
static void act(void)
{
    define_call((call_id){1}, "Lshop/Order;", "Order.f");
    define_call((call_id){2}, "Ljava/util/concurrent/locks/ReentrantLock;", "ReentrantLock.f");
    ADD(&b, 1, ann, 100, call_enter, .call = {1}, .lock = lock, .stack = stack);
    ADD(&b, 1, ann, 110, call_enter, .call = {2}, .lock = lock, .stack = stack);
    does_wait(ann, 120, 150, other_lock);
    ADD(&b, 1, ann, 160, call_exit, .call = {2}, .lock = lock);
    ADD(&b, 1, ann, 200, call_exit, .call = {1}, .lock = lock, .failed = 1);
    ADD(&b, 1, ann, 210, notify, .lock = lock, .stack = other_stack);
    ADD(&b, 2, bob, 215, wait_enter, .lock = lock, .stack = stack);
    ADD(&b, 1, ann, 220, notify_all, .lock = lock, .stack = other_stack);
    ADD(&b, 2, bob, 230, wait_exit, .lock = lock);
    ADD(&b, 3, cat, 240, call, .call = {1}, .lock = lock, .stack = stack);
}

Test(view_json, marks)
{
    act();
    begin_view(1000);
    json_t *j = ask(v, "marks", "");
    NUMBER_IS(j, "n", 3);
    TEXT_IS(j, "marks.0.call", "Order.f");
    NUMBER_IS(j, "marks.0.from", 100);
    NUMBER_IS(j, "marks.0.to", 200);
    TEXT_IS(j, "marks.0.flags.0", "failed");
    TEXT_IS(j, "marks.1.what", "notify");
    NUMBER_IS(j, "marks.2.thread", cat.v);
    TEXT_IS(j, "marks.2.flags.0", "moment");
    json_decref(j);
    cr_assert_eq(number("marks", "from=150&to=160", "n"), 1, "in the middle of a call");
    cr_assert_eq(number("marks", "from=201&to=210", "n"), 0);
    cr_assert_eq(number("marks", "threads=3", "n"), 1);
    cr_assert_eq(number("meta", "", "calls"), 3);
}

Test(view_json, one_mark)
{
    act();
    begin_view(1000);
    json_t *all = ask(v, "marks", "");
    char question[64];
    snprintf(question, sizeof question, "thread=%u&index=%ld", ann.v,
             (long)number_at(all, "marks.0.index"));
    json_t *j = ask(v, "mark", question);
    TEXT_IS(j, "call.class", "shop.Order");
    TEXT_IS(j, "call.method", "f");
    NUMBER_IS(j, "lock.id", lock.v);
    NUMBER_IS(j, "in_waits_ns", 30);
    TEXT_IS(j, "stack.0.method", "submit");
    json_decref(j);
    json_decref(all);
    ask_refused(v, "mark", "thread=1&index=1", -ENOENT, "no such mark"); /* of the JDK */
    ask_refused(v, "mark", "thread=1&index=99", -ENOENT, "no such mark");
    ask_refused(v, "mark", "thread=1", -EINVAL, "index");
}

/* More than there is room for: how many there are. */
Test(view_json, too_many_marks)
{
    for (uint64_t i = 0; i < 2001; i++)
        ADD(&b, 1, ann, 100 + i, notify, .lock = lock);
    begin_view(10000);
    json_t *j = ask(v, "marks", "");
    NUMBER_IS(j, "n", 2001);
    cr_assert_eq(json_array_size(at_path(j, "marks")), 0);
    json_decref(j);
    j = ask(v, "marks", "from=101");
    cr_assert_eq(json_array_size(at_path(j, "marks")), 2000);
    json_decref(j);
}

Test(view_json, a_start_has_its_starter)
{
    ADD(&b, 1, ann, 100, thread_start_called, .target = bob, .stack = stack);
    ADD0(&b, 2, bob, 120, thread_start);
    does_sleep(bob, 200, 300);
    begin_view(1000);
    json_t *j = ask(v, "at", "row=t2&time=150");
    NUMBER_IS(j, "started_by.thread", ann.v);
    NUMBER_IS(j, "started_by.time", 100);
    TEXT_IS(j, "started_by.stack.0.method", "submit");
    json_decref(j);
    j = ask(v, "at", "row=t2&time=400");
    cr_assert(json_is_null(at_path(j, "started_by")), "a later run");
    json_decref(j);
}

/* --- names ------------------------------------------------------------------------------------ */

/* A name comes back as it is, but for bytes that are not UTF-8, and cut where it is very long. */
static void check_name(thread_id who, const char *want)
{
    char path[40];
    json_t *j = ask(v, "meta", "");
    snprintf(path, sizeof path, "threads.name.%u", who.v);
    TEXT_IS(j, path, want);
    json_decref(j);
}

Test(view_json, names)
{
    static const char hard[] = "</script><script>alert('\"\\\")<!--\x01\n\t";
    char *large = malloc(100001);
    memset(large, 'x', 100000);
    large[100000] = '\0';
    thread_id evil = builder_thread(&b, hard), broken = builder_thread(&b, "a\xff"
                                                                           "b\xc3");
    thread_id long_one = builder_thread(&b, large), empty = builder_thread(&b, "");
    does_block(long_one, 100, 300, lock, evil);
    does_block(broken, 400, 500, lock, evil);
    begin_view(1000);
    check_name(evil, hard);
    check_name(broken, "a" UTF8_REPLACEMENT "b" UTF8_REPLACEMENT);
    check_name(empty, "");
    json_decref(ask(v, "wait", "thread=7&index=0"));
    json_decref(ask(v, "report", ""));
    json_t *j = ask(v, "search", "q=</SCRIPT>");
    NUMBER_IS(j, "threads.0", evil.v);
    json_decref(j);
    j = ask(v, "wait", "thread=6&index=0");
    cr_assert(strstr(text_at(j, "chain.0.text"), "</script>"));
    json_decref(j);
    free(large);
}

/* --- refusals --------------------------------------------------------------------------------- */

Test(view_json, what_is_refused)
{
    static const struct {
        const char *answer, *question;
        int rc;
        const char *says;
    } all[] = {
        {"nothing", "", -ENOENT, "there are meta, overview, report"},
        {"meta", "n=1", -EINVAL, "n: no such parameter; there are none"},
        {"locks", "form=1", -EINVAL, "form: no such parameter; there are from, to, threads"},
        {"locks", "top=1&top=2", -EINVAL, "top: it is given twice"},
        {"locks", "top=5001", -EINVAL, "top=5001: expected 0 to 5000"},
        {"locks", "top=", -EINVAL, "top=: expected"},
        {"locks", "top=-1", -EINVAL, "top=-1"},
        {"locks", "top=1x", -EINVAL, "top=1x"},
        {"locks", "top=99999999999999999999999", -EINVAL, "expected"},
        {"locks", "from=5&to=5", -EINVAL, "from=5: it must be less than to=5"},
        {"locks", "from=1e3", -EINVAL, "a time in ns"},
        {"locks", "from=9223372036854775808", -EINVAL, "a time in ns"},
        {"locks", "from=--1", -EINVAL, "a time in ns"},
        {"locks", "threads=5", -EINVAL, "indices of threads"},
        {"locks", "threads=1,", -EINVAL, "indices of threads"},
        {"locks", "threads=3-1", -EINVAL, "indices of threads"},
        {"locks", "threads=1-", -EINVAL, "indices of threads"},
        {"locks", "threads=1,1,1,1,1,1", -EINVAL, "indices of threads"},
        {"overview", "n=0", -EINVAL, "1 to 4096"},
        {"overview", "n=4097", -EINVAL, "1 to 4096"},
        {"report", "sections=threads,path,", -EINVAL, "findings, threads"},
        {"report", "sections=thread", -EINVAL, "findings, threads"},
        {"report", "class=Nowhere", -ENOENT, "class: no monitor is of class 'Nowhere'"},
        {"report", "class=", -EINVAL, "the name of a class"},
        {"report", "lock=4", -ENOENT, "there is no such lock"},
        {"report", "thread=9", -ENOENT, "there is no such thread; they are 1 to 4"},
        {"report", "thread=0", -ENOENT, "there is no such thread"},
        {"wait", "thread=1", -EINVAL, "index: missing"},
        {"wait", "thread=1&index=1", -ENOENT, "thread 1 has 1 waits"},
        {"wait", "thread=2&index=0", -ENOENT, "thread 2 has 0 waits"},
        {"at", "row=x1&time=0", -EINVAL, "t12, l77"},
        {"at", "row=p0&time=0", -EINVAL, "t12, l77"},
        {"at", "row=t&time=0", -EINVAL, "t12, l77"},
        {"at", "row=&time=0", -EINVAL, "t12, l77"},
        {"at", "row=t5&time=0", -ENOENT, "no such thread"},
        {"at", "row=l0&time=0", -ENOENT, "no such lock"},
        {"contexts", "", -EINVAL, "ids: missing"},
        {"contexts", "ids=1;2", -EINVAL, "ids=1;2"},
        {"flame", "by=nobody", -EINVAL, "waiter, owner, waker, cpu"},
        {"flame", "by=waiter,owner", -EINVAL, "waiter, owner, waker, cpu"},
        {"flame", "states=", -EINVAL, "held-up, or blocked"},
        {"flame", "states=blocked,", -EINVAL, "held-up, or blocked"},
        {"search", "q=", -EINVAL, "1 to 256 bytes"},
    };
    does_sleep(ann, 100, 300);
    begin_view(1000);
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        ask_refused(v, all[i].answer, all[i].question, all[i].rc, all[i].says);
}

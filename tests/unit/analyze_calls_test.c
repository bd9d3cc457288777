/* The calls of tracked methods, their times and callers: calls.h. */
#include "analyzed.h"

#include <criterion/criterion.h>
#include <string.h>

static const call_id submit = {1}, inside = {2}, publish = {3}, jdk = {4};

static void define(call_id id, const char *class_name, const char *method, const char *row)
{
    builder_def(&b, &(struct def){.kind = DEF_call,
                                  .call = {.id = id,
                                           .class_name = {class_name, strlen(class_name)},
                                           .method = {method, strlen(method)},
                                           .row = {row, strlen(row)}}});
}

static void begin(void)
{
    analyzed_begin();
    define(submit, "Lshop/Order;", "submit", "shop.Order#submit blocks");
    define(inside, "Lshop/Order;", "check", "shop.Order#check tries");
    define(publish, "Lshop/Bus;", "publish", "shop.Bus#publish calls");
    define(jdk, "Ljava/util/concurrent/locks/ReentrantLock;", "lock",
           "java.util.concurrent.locks.ReentrantLock#lock blocks");
}

TestSuite(calls, .init = begin, .fini = analyzed_end);

static void enters(thread_id who, uint64_t time, call_id call)
{
    ADD(&b, who.v, who, time, call_enter, .call = call, .lock = lock, .stack = stack);
}

static void exits(thread_id who, uint64_t time, call_id call)
{
    ADD(&b, who.v, who, time, call_exit, .call = call, .lock = lock);
}

static const struct called *call_of(thread_id who, uint32_t i)
{
    const struct call_line *l = &a->calls.lines[who.v];
    cr_assert_lt(i, l->n);
    return &l->v[i];
}

static void check(thread_id who, uint32_t i, uint64_t from, uint64_t to, uint32_t flags)
{
    const struct called *c = call_of(who, i);
    cr_assert_eq(since(c->start), from);
    cr_assert_eq(since(c->end), to, "call %u ends at %lu", i, since(c->end));
    cr_assert_eq(c->flags, flags, "call %u has flags %u", i, c->flags);
}

static struct call_tables tables_of(const struct selection *s, uint32_t group)
{
    struct call_tables out;
    const struct call_source from = {t, &a->timeline, &a->locks, &a->calls};
    cr_assert_eq(call_tables_make(&out, &from, s, group, &a->arena), 0);
    return out;
}

static struct call_tables all_tables(void)
{
    const struct selection all = selection_all();
    return tables_of(&all, EVERY_CLASS);
}

static const struct call_sum *sum_of(const struct call_tables *of, call_id call)
{
    for (size_t i = 0; i < of->n_methods; i++)
        if (of->methods[i].call.v == call.v)
            return &of->methods[i];
    return NULL;
}

Test(calls, one_inside_another)
{
    enters(ann, 100, submit);
    enters(ann, 150, inside);
    exits(ann, 180, inside);
    exits(ann, 300, submit);
    analyzed_run(1000);
    check(ann, 0, 100, 300, 0);
    check(ann, 1, 150, 180, 0);
}

Test(calls, recursion_ends_from_the_inside)
{
    enters(ann, 100, submit);
    enters(ann, 110, submit);
    exits(ann, 120, submit);
    exits(ann, 130, submit);
    analyzed_run(1000);
    check(ann, 0, 100, 130, 0);
    check(ann, 1, 110, 120, 0);
}

/* A stack overflow took the exit of the inner one along. */
Test(calls, an_exit_that_is_missing_is_no_time)
{
    enters(ann, 100, submit);
    enters(ann, 150, inside);
    exits(ann, 300, submit);
    analyzed_run(1000);
    check(ann, 0, 100, 300, 0);
    check(ann, 1, 150, 150, CALLED_UNKNOWN);
    struct call_tables all = all_tables();
    const struct call_sum *s = sum_of(&all, inside);
    cr_assert_eq(s->times.count, 1);
    cr_assert_eq(s->times.unknown, 1);
    cr_assert_eq(s->times.ns, 0);
}

Test(calls, one_that_began_before_the_recording)
{
    exits(ann, 100, submit);
    analyzed_run(1000);
    check(ann, 0, 100, 100, CALLED_UNKNOWN);
}

Test(calls, one_that_goes_on_at_the_end)
{
    enters(ann, 900, submit);
    enters(bob, 100, submit);
    ADD0(&b, bob.v, bob, 200, thread_end);
    analyzed_run(1000);
    check(ann, 0, 900, 1000, CALLED_OPEN);
    check(bob, 0, 100, 100, CALLED_UNKNOWN);
    struct call_tables all = all_tables();
    cr_assert_eq(sum_of(&all, submit)->times.open, 1);
    cr_assert_eq(sum_of(&all, submit)->times.ns, 100);
    cr_assert_eq(sum_of(&all, submit)->times.threads, 2);
    cr_assert_eq(sum_of(&all, submit)->times.objects, 1);
}

/* Between 200 and 600 there may have been an exit and another entry. */
Test(calls, across_a_hole_no_time_is_known)
{
    enters(ann, 100, submit);
    does_block(ann, 150, 200, lock, bob);
    builder_gap(&b, ann.v, 64);
    does_block(ann, 600, 700, lock, bob);
    exits(ann, 800, submit);
    enters(ann, 810, submit);
    exits(ann, 820, submit);
    analyzed_run(1000);
    check(ann, 0, 100, 100, CALLED_UNKNOWN);
    check(ann, 1, 810, 820, 0);
}

/* Nor whether it still goes on. */
Test(calls, across_a_hole_to_the_end)
{
    enters(ann, 100, submit);
    does_block(ann, 150, 200, lock, bob);
    builder_gap(&b, ann.v, 64);
    does_block(ann, 600, 700, lock, bob);
    analyzed_run(1000);
    check(ann, 0, 100, 100, CALLED_UNKNOWN);
}

Test(calls, entries_alone_are_moments)
{
    ADD(&b, 1, ann, 100, call, .call = publish, .lock = lock, .stack = other_stack);
    analyzed_run(1000);
    check(ann, 0, 100, 100, CALLED_MOMENT);
    struct call_tables all = all_tables();
    const struct call_sum *s = sum_of(&all, publish);
    cr_assert_eq(s->times.count, 1);
    cr_assert_eq(s->times.unknown, 0);
    cr_assert_eq(s->times.ns, 0);
}

Test(calls, what_of_it_was_waited)
{
    enters(ann, 100, submit);
    does_block(ann, 150, 200, lock, bob);
    does_wait(ann, 250, 280, lock);
    exits(ann, 300, submit);
    analyzed_run(1000);
    struct call_tables all = all_tables();
    cr_assert_eq(sum_of(&all, submit)->times.ns, 200);
    cr_assert_eq(sum_of(&all, submit)->waited, 80);
    const struct selection part = {.from = at(160), .to = at(260)};
    all = tables_of(&part, EVERY_CLASS);
    cr_assert_eq(sum_of(&all, submit)->times.ns, 100);
    cr_assert_eq(sum_of(&all, submit)->waited, 50);
    const struct selection other = {.from = at(300), .to = at(900)};
    all = tables_of(&other, EVERY_CLASS);
    cr_assert_null(sum_of(&all, submit));
}

Test(calls, by_caller)
{
    stack_id elsewhere = builder_stack(&b, "shop.Order.submit:88 shop.Batch.run:7");
    enters(ann, 100, submit);
    exits(ann, 150, submit);
    ADD(&b, ann.v, ann, 200, call_enter, .call = submit, .stack = elsewhere);
    ADD(&b, ann.v, ann, 300, call_exit, .call = submit, .failed = 1);
    analyzed_run(1000);
    struct call_tables all = all_tables();
    cr_assert_eq(all.n_methods, 1);
    cr_assert_eq(all.methods[0].failed, 1);
    cr_assert_eq(all.n_callers, 2);
    const struct call_sum *first = &all.callers[0];
    cr_assert_eq(first->times.ns, 100);
    cr_assert_str_eq(trace_method(t, first->app.method)->name, "run");
    cr_assert_eq(first->app.line, 7);
    cr_assert_str_eq(trace_method(t, all.callers[1].app.method)->name, "main");
}

/* The machinery of a lock is not who called it. */
Test(calls, those_of_the_jdk_come_last)
{
    stack_id locks = builder_stack(&b, "java.util.concurrent.locks.ReentrantLock.lock:10 "
                                       "shop.Stock.take:31");
    ADD(&b, 1, ann, 100, call_enter, .call = jdk, .stack = locks);
    ADD(&b, 1, ann, 500, call_exit, .call = jdk);
    ADD(&b, 1, ann, 600, call, .call = publish, .stack = other_stack);
    analyzed_run(1000);
    struct call_tables all = all_tables();
    cr_assert_eq(all.n_methods, 2);
    cr_assert_eq(all.methods[0].call.v, publish.v);
    cr_assert(all.methods[1].jdk);
    cr_assert_str_eq(trace_method(t, all.callers[1].top.method)->name, "take");
}

#include "analyzed.h"
#include "conclude/resource.h"
#include "conclude/rules.h"

#include <criterion/criterion.h>
#include <string.h>

struct trace_builder b;
thread_id ann, bob, cat, dan;
lock_id lock, other_lock, third_lock;
stack_id stack, other_stack;
struct trace *t;
struct analysis *a;

void analyzed_begin(void)
{
    builder_init(&b);
    ann = builder_thread(&b, "ann");
    bob = builder_thread(&b, "bob");
    cat = builder_thread(&b, "cat");
    dan = builder_thread(&b, "dan");
    class_id order = builder_class(&b, "Lshop/Order;");
    lock = builder_lock(&b, order);
    other_lock = builder_lock(&b, order);
    third_lock = builder_lock(&b, order);
    stack = builder_stack(&b, "shop.Order.submit:88 shop.Main.main:12");
    other_stack = builder_stack(&b, "shop.Stock.take:31 shop.Main.main:14");
    t = NULL;
    a = NULL;
}

void analyzed_end(void)
{
    if (!t)
        t = builder_open(&b, 1); /* takes what the builder holds */
    analysis_free(a);
    trace_close(t);
}

void analyzed_run(uint64_t end)
{
    struct err err = {""};
    t = builder_open(&b, end);
    cr_assert_eq(conclude_run(&a, t, &err), 0, "%s", err.msg);
}

const struct span *span_of(thread_id thread, uint32_t i)
{
    const struct line *l = &a->timeline.lines[thread.v];
    cr_assert_lt(i, l->spans.n);
    return line_span(l, i);
}

const struct context *context_of(thread_id thread, uint32_t i)
{
    return timeline_context(&a->timeline, span_of(thread, i)->context);
}

const struct thread_sums *sums_of(thread_id thread)
{
    return &a->stats.threads[thread.v];
}

const struct rule_finding *finding_of(const char *rule)
{
    struct rule_finding *v;
    size_t n;
    cr_assert_eq(rules_apply(a, &v, &n, NULL, NULL), 0);
    for (size_t i = 0; i < n; i++)
        if (strcmp(v[i].rule, rule) == 0)
            return &v[i];
    return NULL;
}

void does_block(thread_id who, uint64_t from, uint64_t to, lock_id on, thread_id owner)
{
    ADD(&b, who.v, who, from, monitor_contended_enter, .lock = on, .owner = owner, .stack = stack);
    ADD(&b, who.v, who, to, monitor_contended_entered, .lock = on);
}

void does_wait(thread_id who, uint64_t from, uint64_t to, lock_id on)
{
    ADD(&b, who.v, who, from, wait_enter, .lock = on, .stack = stack);
    ADD(&b, who.v, who, to, wait_exit, .lock = on);
}

void does_park(thread_id who, uint64_t from, uint64_t to)
{
    ADD(&b, who.v, who, from, park_enter, .lock = {0}, .stack = stack);
    ADD(&b, who.v, who, to, park_exit, .lock = {0});
}

void does_sleep(thread_id who, uint64_t from, uint64_t to)
{
    ADD(&b, who.v, who, from, sleep_enter, .timeout_ns = 5, .stack = stack);
    ADD0(&b, who.v, who, to, sleep_exit);
}

void does_join(thread_id who, uint64_t from, uint64_t to, thread_id target)
{
    ADD(&b, who.v, who, from, join_enter, .target = target, .stack = stack);
    ADD(&b, who.v, who, to, join_exit, .target = target);
}

void does_look(thread_id who, uint64_t time, const char *frames, uint32_t flags)
{
    struct event e = {.time = at(time), .thread = who, .kind = EV_wall_sample, .size = EVENT_HEAD};
    e.wall_sample = (struct ev_wall_sample){.stack = builder_stack(&b, frames),
                                            .weight = 5000000,
                                            .flags = SAMPLE_LOOK | flags,
                                            .taken = at(time)};
    builder_event(&b, 90, &e);
}

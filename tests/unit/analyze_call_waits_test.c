/* analyze_call_waits_test.c - waits of which only the call is recorded, and that a recording gives
 * the same answers from its trace and from its text. */
#include "analyze/call_waits.h"
#include "analyzed.h"
#include "conclude/resource.h"
#include "orca_files.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { US = 1000, MS = 1000 * US };

static struct err err;

/* The parks of an import: "T:enter" and, where they do not go on, "T:exit" with their times, T the
 * thread's hash. */
static char *parks_of(struct trace *of)
{
    struct buf text = {0};
    struct analysis *x;
    cr_assert_eq(conclude_run(&x, of, &err), 0, "%s", err.msg);
    for (uint32_t i = 1; i < x->timeline.n_lines; i++)
        for (uint32_t k = 0; k < x->timeline.lines[i].spans.n; k++) {
            const struct span *s = line_span(&x->timeline.lines[i], k);
            const struct context *c = timeline_context(&x->timeline, s->context);
            unsigned hash = trace_thread(of, x->threads.v[i].id)->hash;
            if (c->what != STATE_PARKED)
                continue;
            buf_printf(&text, "%X:enter %llu ", hash, (unsigned long long)(s->start / 1000000000));
            if (!(c->flags & INTERVAL_OPEN))
                buf_printf(&text, "%X:exit %llu ", hash,
                           (unsigned long long)(span_end(&x->timeline, s) / 1000000000));
        }
    analysis_free(x);
    buf_str(&text);
    return (char *)text.p;
}

static void parks_are(const char *log, const char *calltable, const char *expected)
{
    struct trace *log_of = files_import_calls(log, "", "", NULL, calltable, &err);
    cr_assert_not_null(log_of, "%s", err.msg);
    char *got = parks_of(log_of);
    cr_assert_str_eq(got, expected);
    free(got);
    trace_close(log_of);
}

Test(call_waits, a_blocking_call_is_a_wait_unless_it_runs_something)
{
    static const char table[] = "shop.Lock#lock blocks this Lock Locked\n"
                                "shop.Lock#held calls this Held\n"
                                "shop.Order#place blocks nests Place Placed\n"
                                "shop.Order#plan blocks none Plan Planned\n"
                                "java.util.concurrent.FutureTask#run blocks Run Ran\n";
    parks_are("1,Lock,0000000A,000000F1,0\n"
              "2,Locked,0000000A,000000F1,0\n"
              "3,Place,0000000A,000000F2,0\n"
              "4,Placed,0000000A,000000F2,0\n"
              "5,Run,0000000A,000000F3,0\n"
              "6,Ran,0000000A,000000F3,0\n"
              "7,Plan,0000000A,00000000,0\n"
              "8,Planned,0000000A,00000000,0\n",
              table, "A:enter 1 A:exit 2 ");
}

/* Contention inside the call is a state of its own; of a call whose end is missing it is not known
 * how long it was. */
Test(call_waits, a_wait_in_a_call_is_without_what_happened_inside)
{
    parks_are("1,SemaphoreAcquire,0000000A,000000F1,0\n"
              "2,MonitorContendedEnter,0000000A,000000F2,0000000B,0\n"
              "3,MonitorContendedEntered,0000000A,000000F2,0\n"
              "4,SemaphoreAcquired,0000000A,000000F1,0\n"
              "5,SemaphoreAcquire,0000000A,000000F1,0\n"
              "6,ObjectNotify,0000000A,000000F2,0\n"
              "7,SemaphoreAcquire,0000000A,000000F1,0\n"
              "8,MonitorContendedEntered,0000000B,000000F2,0\n",
              "", "A:enter 1 A:exit 2 A:enter 3 A:exit 4 A:enter 7 ");
}

/* --- the trace itself ------------------------------------------------------------------------- */

static uint32_t n_calls;

static call_id method(const char *name, const char *signature, const char *of, const char *row)
{
    const call_id id = {++n_calls};
    builder_def(&b, &(struct def){.kind = DEF_call,
                                  .call = {id,
                                           {name, (uint32_t)strlen(name)},
                                           {signature, (uint32_t)strlen(signature)},
                                           {of, (uint32_t)strlen(of)},
                                           {row, (uint32_t)strlen(row)}}});
    return id;
}

static void begin_calls(void)
{
    n_calls = 0;
    analyzed_begin();
}

TestSuite(call_waits, .init = begin_calls, .fini = analyzed_end);

static void does_call(thread_id who, call_id call, uint64_t from, uint64_t to, lock_id on)
{
    ADD(&b, who.v, who, from, call_enter, .call = call, .lock = on, .stack = stack);
    ADD(&b, who.v, who, to, call_exit, .call = call, .lock = on);
}

static call_id place(void)
{
    return method("Order.place", "Lshop/Order;", "place",
                  "shop.Order#place blocks this Place Placed");
}

Test(call_waits, a_method_that_blocks_holds_its_thread_up)
{
    does_call(ann, place(), 1 * MS, 3 * MS, lock);
    analyzed_run(10 * MS);
    const struct wait_stats *s = &a->stats.classes[lock_set_group(&a->locks, lock)].state[HELD_UP];
    cr_assert_eq(s->count, 1);
    cr_assert_eq(s->ns, 2 * MS);
    cr_assert_eq(context_of(ann, 0)->what, STATE_PARKED);
    cr_assert_eq(context_of(ann, 0)->stack.v, stack.v);
}

Test(call_waits, waits_inside_are_their_own)
{
    call_id call = place();
    ADD(&b, 1, ann, 1 * MS, call_enter, .call = call, .lock = lock, .stack = stack);
    does_park(ann, 2 * MS, 4 * MS);
    ADD(&b, 1, ann, 5 * MS, call_exit, .call = call, .lock = lock);
    analyzed_run(10 * MS);
    cr_assert_eq(a->stats.total[STATE_PARKED].count, 3);
    cr_assert_eq(a->stats.total[STATE_PARKED].ns, 4 * MS);
    cr_assert_eq(a->stats.classes[lock_set_group(&a->locks, lock)].state[HELD_UP].ns, 2 * MS);
}

Test(call_waits, who_did_not_have_to_wait_did_not_queue)
{
    does_call(ann, place(), 1 * MS, 1 * MS + CALL_WAIT_LEAST_NS - 1, lock);
    analyzed_run(10 * MS);
    cr_assert_eq(a->stats.total[HELD_UP].count, 0);
}

/* What they wait is a park, which is recorded. */
Test(call_waits, calls_of_locks_are_no_waits_where_parks_are_recorded)
{
    builder_info(&b, "orca.events", "threads+monitors+parks+semaphores+locks");
    call_id call = method("ReentrantLock.lock", "Ljava/util/concurrent/locks/ReentrantLock;",
                          "lock", "java.util.concurrent.locks.ReentrantLock#lock blocks this L LE");
    does_call(ann, call, 1 * MS, 3 * MS, lock);
    ADD(&b, 2, bob, 1 * MS, semaphore_acquire_enter, .lock = other_lock, .stack = stack);
    ADD(&b, 2, bob, 3 * MS, semaphore_acquire_exit, .lock = other_lock);
    analyzed_run(10 * MS);
    cr_assert_eq(a->stats.total[HELD_UP].count, 0);
}

Test(call_waits, calls_of_locks_are_waits_where_parks_are_not_recorded)
{
    builder_info(&b, "orca.events", "threads+semaphores+locks");
    call_id call = method("ReentrantLock.lock", "Ljava/util/concurrent/locks/ReentrantLock;",
                          "lock", "java.util.concurrent.locks.ReentrantLock#lock blocks this L LE");
    does_call(ann, call, 1 * MS, 3 * MS, lock);
    ADD(&b, 2, bob, 1 * MS, semaphore_acquire_enter, .lock = other_lock, .stack = stack);
    ADD(&b, 2, bob, 4 * MS, semaphore_acquire_exit, .lock = other_lock);
    analyzed_run(10 * MS);
    cr_assert_eq(a->stats.total[HELD_UP].count, 2);
    cr_assert_eq(a->stats.total[HELD_UP].ns, 5 * MS);
}

Test(call_waits, a_call_that_goes_on_at_the_end)
{
    call_id call = place();
    ADD(&b, 1, ann, 1 * MS, call_enter, .call = call, .lock = lock, .stack = stack);
    analyzed_run(10 * MS);
    const struct open_wait *w = (const void *)a->decoded.open.p;
    cr_assert_eq(a->decoded.open.len, sizeof *w);
    cr_assert_eq(w->thread, ann.v);
    cr_assert_eq(w->lock.v, lock.v);
    cr_assert(context_of(ann, 0)->flags & INTERVAL_OPEN);
    cr_assert(context_of(ann, 0)->flags & INTERVAL_LIMIT_UNKNOWN);
}

/* Its end is missing, as after a stack overflow: the thread went on. */
Test(call_waits, a_call_whose_end_is_missing_does_not_last)
{
    call_id call = place();
    ADD(&b, 1, ann, 1 * MS, call_enter, .call = call, .lock = lock, .stack = stack);
    ADD(&b, 1, ann, 2 * MS, notify, .lock = lock);
    analyzed_run(10 * MS);
    cr_assert_eq(a->stats.total[HELD_UP].count, 0);
}

Test(call_waits, what_another_thread_did_to_the_object_ended_the_call)
{
    call_id put = method("Order.ship", "Lshop/Order;", "ship", "shop.Order#ship calls this Ship");
    does_call(ann, place(), 1 * MS, 3 * MS, lock);
    ADD(&b, 2, bob, 2 * MS, call, .call = put, .lock = lock, .stack = other_stack);
    analyzed_run(10 * MS);
    cr_assert_eq(span_of(ann, 0)->waker, bob.v);
}

/* --- the same from both files ----------------------------------------------------------------- */

static int most_first(const void *a_, const void *b_)
{
    const struct state_stats *p = a_, *q = b_;
    return (p->ns < q->ns) - (p->ns > q->ns);
}

/* What each lock held threads up, and what they waited on it, in us; of monitors the text has no
 * classes. */
static void sums_text(const struct analysis *x, struct buf *out)
{
    static const unsigned columns[] = {HELD_UP, STATE_WAITING};
    for (size_t k = 0; k < ARRAY_LEN(columns); k++) {
        struct state_stats v[8] = {{0, 0}};
        cr_assert_leq(x->locks.n_objects, ARRAY_LEN(v));
        for (uint32_t i = 0; i < x->locks.n_objects; i++)
            v[i] = x->stats.locks[i].state[columns[k]];
        qsort(v, ARRAY_LEN(v), sizeof *v, most_first);
        for (size_t i = 0; i < ARRAY_LEN(v) && v[i].count; i++)
            buf_printf(out, "%u: %llu, %llu us\n", columns[k], (unsigned long long)v[i].count,
                       (unsigned long long)v[i].ns / US);
    }
}

Test(call_waits, a_recording_gives_the_same_answers_from_trace_and_text)
{
    call_id call = place();
    class_id pool = builder_class(&b, "Lshop/Pool;");
    lock_id permits = builder_lock(&b, pool);
    for (uint64_t i = 0; i < 10; i++) {
        does_call(ann, call, (100 + 300 * i) * MS, (360 + 300 * i) * MS, lock); /* 2.6 s */
        does_call(bob, call, (100 + 300 * i) * MS, (100 + 300 * i) * MS + 500, lock);
        does_block(cat, (110 + 300 * i) * MS, (115 + 300 * i) * MS, other_lock, bob);
        ADD(&b, 4, dan, (120 + 300 * i) * MS, semaphore_acquire_enter, .lock = permits,
            .stack = stack);
        ADD(&b, 4, dan, (120 + 300 * i) * MS + 700, semaphore_acquire_exit, .lock = permits);
        ADD(&b, 4, dan, (130 + 300 * i) * MS, wait_enter, .lock = third_lock, .stack = stack);
        ADD(&b, 3, cat, (140 + 300 * i) * MS, notify, .lock = third_lock);
        ADD(&b, 4, dan, (141 + 300 * i) * MS, wait_exit, .lock = third_lock);
    }
    analyzed_run(4000 * (uint64_t)MS);
    struct orca_files f = files_export(exporter_find("orca"), t);
    struct trace *again = files_import_again(&f);
    struct analysis *of_text;
    struct buf first = {0}, second = {0};
    cr_assert_eq(conclude_run(&of_text, again, &err), 0, "%s", err.msg);
    sums_text(a, &first);
    sums_text(of_text, &second);
    cr_assert_str_eq(buf_str(&second), buf_str(&first));
    cr_assert_str_eq(buf_str(&first), "7: 10, 2600000 us\n"
                                      "7: 10, 50000 us\n"
                                      "7: 10, 10000 us\n"
                                      "1: 10, 100000 us\n");
    for (int i = 0; i < INTERACTION_LIMIT; i++)
        cr_assert_eq(of_text->bindings.sums[i].count, a->bindings.sums[i].count, "%s",
                     interaction_name((enum interaction)i));
    buf_fini(&first);
    buf_fini(&second);
    analysis_free(of_text);
    trace_close(again);
    files_free(&f);
}

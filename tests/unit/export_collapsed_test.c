#include "export/model_export.h"

#include "base/util.h"
#include "conclude/resource.h"
#include "export/waits.h"
#include "format/codec.h"
#include "model_files.h"
#include "orca_files.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define US UINT64_C(1000)

/* --- whose waits, and which ------------------------------------------------------------------- */

struct shop {
    struct trace_builder b;
    thread_id main, a, c;
    lock_id order, lock, queue;
    stack_id buy, sell, park, wait;
};

static void shop_init(struct shop *s)
{
    builder_init(&s->b);
    s->main = builder_thread(&s->b, "main");
    s->a = builder_thread(&s->b, "worker-1");
    s->c = builder_thread(&s->b, "worker-2");
    s->order = builder_lock(&s->b, builder_class(&s->b, "Lshop/Order;"));
    s->lock = builder_lock(
        &s->b, builder_class(&s->b, "Ljava/util/concurrent/locks/ReentrantLock$NonfairSync;"));
    s->queue = builder_lock(&s->b, builder_class(&s->b, "Lshop/Idle;"));
    s->buy = builder_stack(&s->b, "shop.Order.buy:10 shop.Main.main:3");
    s->sell = builder_stack(&s->b, "shop.Order.sell:20 shop.Main.run:4");
    s->park = builder_stack(&s->b, "jdk.internal.misc.Unsafe.park:native shop.Main.run:5");
    s->wait = builder_stack(&s->b, "java.lang.Object.wait0:native shop.Main.run:6");
}

/* One of each state: worker-1 blocks 5 us (owner main, asked), parks 7 us for a lock that main owns
 * and 11 us for work, waits 2 us and takes the monitor again for 3, sleeps 13 us, joins 17 us. */
static struct trace *every_state(void)
{
    struct shop s;
    shop_init(&s);
    ADD(&s.b, 1, s.a, 1 * US, monitor_contended_enter, .lock = s.order, .owner = s.main,
        .stack = s.buy);
    ADD(&s.b, 1, s.a, 2 * US, owner_stack, .lock = s.order, .owner = s.main, .stack = s.sell);
    ADD(&s.b, 1, s.a, 6 * US, monitor_contended_entered, .lock = s.order);
    ADD(&s.b, 1, s.a, 10 * US, park_enter, .lock = s.lock, .owner = s.main, .stack = s.park);
    ADD(&s.b, 1, s.a, 17 * US, park_exit, .lock = s.lock);
    ADD(&s.b, 1, s.a, 20 * US, park_enter, .lock = s.queue, .stack = s.park);
    ADD(&s.b, 1, s.a, 31 * US, park_exit, .lock = s.queue);
    ADD(&s.b, 1, s.a, 40 * US, wait_enter, .lock = s.order, .stack = s.wait);
    ADD(&s.b, 2, s.main, 42 * US, notify, .lock = s.order, .stack = s.sell);
    ADD(&s.b, 1, s.a, 45 * US, wait_exit, .lock = s.order);
    ADD(&s.b, 1, s.a, 50 * US, sleep_enter, .timeout_ns = 13000, .stack = s.wait);
    ADD(&s.b, 1, s.a, 63 * US, sleep_exit);
    ADD(&s.b, 1, s.a, 70 * US, join_enter, .target = s.c, .stack = s.wait);
    ADD0(&s.b, 3, s.c, 80 * US, thread_end);
    ADD(&s.b, 1, s.a, 87 * US, join_exit, .target = s.c);
    return builder_open(&s.b, 100 * US);
}

#define LOCK "java.util.concurrent.locks.ReentrantLock$NonfairSync"
#define PARK "shop.Main.run;jdk.internal.misc.Unsafe.park;"
#define WAIT "shop.Main.run;java.lang.Object.wait0;"
#define BUY "shop.Main.main;shop.Order.buy;"
#define SELL "shop.Main.run;shop.Order.sell;"

Test(export_collapsed, held_up_by_others_is_what_counts)
{
    struct model_options o = model_options();
    model_text_is("collapsed", every_state(), &o,
                  WAIT "[joining] 17\n" PARK "[parked for " LOCK "] 7\n" BUY
                       "[blocked on shop.Order] 5\n" WAIT "[reacquiring shop.Order] 3\n");
}

Test(export_collapsed, every_state_has_its_words)
{
    struct model_options o = model_options();
    o.states = WAITS_ALL;
    model_text_is("collapsed", every_state(), &o,
                  WAIT "[joining] 17\n" WAIT "[sleeping] 13\n" PARK
                       "[parked for shop.Idle] 11\n" PARK "[parked for " LOCK "] 7\n" BUY
                       "[blocked on shop.Order] 5\n" WAIT "[reacquiring shop.Order] 3\n" WAIT
                       "[waiting on shop.Order] 2\n");
}

Test(export_collapsed, states_are_chosen_by_themselves)
{
    static const struct {
        unsigned state;
        const char *expected;
    } t[] = {
        {STATE_BLOCKED, BUY "[blocked on shop.Order] 5\n"},
        {STATE_WAITING, WAIT "[waiting on shop.Order] 2\n"},
        {STATE_PARKED, PARK "[parked for shop.Idle] 11\n" PARK "[parked for " LOCK "] 7\n"},
        {WAITS_LOCKED, PARK "[parked for " LOCK "] 7\n"},
        {STATE_JOINING, WAIT "[joining] 17\n"},
        {STATE_SLEEPING, WAIT "[sleeping] 13\n"},
        {STATE_REACQUIRING, WAIT "[reacquiring shop.Order] 3\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct model_options o = model_options();
        o.states = UINT64_C(1) << t[i].state;
        model_text_is("collapsed", every_state(), &o, t[i].expected);
    }
}

/* worker-1 reads from a peer for 9 us, is ready for 5, stopped for 4 (then ready for 1), off for 2;
 * before and behind that the turns are not known.  The others are stopped for 5. */
static struct trace *every_halt(void)
{
    struct shop s;
    shop_init(&s);
    lock_id peer = builder_lock(&s.b, builder_class(&s.b, "=10.0.0.7:5432"));
    ADD(&s.b, 1, s.a, 20 * US, io, .what = IO_KIND_input, .peer = peer, .stack = s.buy,
        .since = BUILDER_START + 11 * US);
    ADD(&s.b, 2, s.a, 11 * US, turn, .since = BUILDER_START + 10 * US, .end = TURN_WAITS);
    ADD(&s.b, 2, s.a, 30 * US, turn, .since = BUILDER_START + 20 * US, .end = TURN_PREEMPTED);
    ADD(&s.b, 2, s.a, 40 * US, turn, .since = BUILDER_START + 35 * US, .end = TURN_WAITS);
    ADD(&s.b, 2, s.a, 50 * US, turn, .since = BUILDER_START + 45 * US, .end = TURN_WAITS);
    ADD(&s.b, 2, s.a, 60 * US, turn, .since = BUILDER_START + 52 * US, .end = TURN_DIES);
    ADD(&s.b, 3, (thread_id){0}, 44 * US, safepoint, .since = BUILDER_START + 39 * US,
        .reached = BUILDER_START + 41 * US);
    ADD(&s.b, 4, (thread_id){0}, 60 * US, turns_known, .since = BUILDER_START + 10 * US);
    ADD0(&s.b, 2, s.a, 60 * US, thread_end);
    return builder_open(&s.b, 100 * US);
}

Test(export_collapsed, of_who_is_in_no_wait_and_does_not_run)
{
    static const struct {
        const char *name, *expected;
    } t[] = {
        {"io", "worker-1;" BUY "[input 10.0.0.7:5432] 9\n"},
        {"ready", "worker-1;[no stack];[ready] 6\n"},
        {"stopped", "main;[no stack];[stopped] 5\nworker-2;[no stack];[stopped] 5\n"
                    "worker-1;[no stack];[stopped] 4\n"},
        {"off", "main;[no stack];[off] 45\nworker-2;[no stack];[off] 45\n"
                "worker-1;[no stack];[off] 2\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct model_options o = model_options();
        cr_assert_str_eq(waits_names[WAITS_HALTED + i], t[i].name);
        o.states = UINT64_C(1) << (WAITS_HALTED + i);
        o.threads = true;
        model_text_is("collapsed", every_halt(), &o, t[i].expected);
    }
}

Test(export_collapsed, by_the_owner_where_it_was_asked)
{
    struct model_options o = model_options();
    o.by = MODEL_BY_OWNER;
    o.states = WAITS_ALL;
    model_text_is("collapsed", every_state(), &o,
                  "[no owner];[joining] 17\n"
                  "[no owner];[sleeping] 13\n" SELL "[blocked on shop.Order] 5\n" SELL
                  "[reacquiring shop.Order] 3\n"
                  "[no owner];[waiting on shop.Order] 2\n");
}

Test(export_collapsed, by_whoever_ended_the_wait)
{
    struct model_options o = model_options();
    o.by = MODEL_BY_WAKER;
    o.states = WAITS_ALL;
    o.threads = true;
    model_text_is("collapsed", every_state(), &o,
                  "worker-2;[thread ended];[joining] 17\n"
                  "unknown;[timed out];[sleeping] 13\n"
                  "unknown;[waker unknown];[parked for shop.Idle] 11\n"
                  "unknown;[waker unknown];[parked for " LOCK "] 7\n"
                  "main;[last owner seen];[blocked on shop.Order] 5\n"
                  "main;[last owner seen];[reacquiring shop.Order] 3\n"
                  "main;" SELL "[waiting on shop.Order] 2\n");
}

Test(export_collapsed, the_owner_of_a_lock_is_remembered)
{
    struct shop s;
    shop_init(&s);
    ADD(&s.b, 1, s.a, 0, park_enter, .lock = s.lock, .owner = s.main, .stack = s.park);
    ADD(&s.b, 1, s.a, 1 * US, park_exit, .lock = s.lock);
    ADD(&s.b, 1, s.a, 2 * US, park_enter, .lock = s.lock, .stack = s.park); /* just released */
    ADD(&s.b, 1, s.a, 4 * US, park_exit, .lock = s.lock);
    struct model_options o = model_options();
    model_text_is("collapsed", builder_open(&s.b, 10 * US), &o, PARK "[parked for " LOCK "] 3\n");
}

/* --- weights ---------------------------------------------------------------------------------- */

static struct trace *two_blocks(uint64_t first_ns, uint64_t second_ns)
{
    struct shop s;
    shop_init(&s);
    ADD(&s.b, 1, s.a, 0, monitor_contended_enter, .lock = s.order, .stack = s.buy);
    ADD(&s.b, 1, s.a, first_ns, monitor_contended_entered, .lock = s.order);
    ADD(&s.b, 1, s.c, 100000000, monitor_contended_enter, .lock = s.order, .stack = s.buy);
    ADD(&s.b, 1, s.c, 100000000 + second_ns, monitor_contended_entered, .lock = s.order);
    return builder_open(&s.b, 200000000);
}

Test(export_collapsed, weights_are_rounded_once)
{
    static const struct {
        enum model_unit unit;
        const char *expected;
    } t[] = {
        {MODEL_NS, BUY "[blocked on shop.Order] 2500998\n"},
        {MODEL_US, BUY "[blocked on shop.Order] 2501\n"},
        {MODEL_MS, BUY "[blocked on shop.Order] 3\n"},
        {MODEL_COUNT, BUY "[blocked on shop.Order] 2\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct model_options o = model_options();
        o.unit = t[i].unit;
        model_text_is("collapsed", two_blocks(499, 2500499), &o, t[i].expected);
    }
}

Test(export_collapsed, what_is_too_short_is_counted)
{
    struct model_job job = {0};
    struct model_options o = model_options();
    struct trace *t = two_blocks(200, 299);
    struct buf b = model_file("collapsed", t, &o, &job);
    cr_assert_eq(b.len, 0);
    cr_assert_eq(job.written, 0);
    cr_assert_eq(job.left_out, 1);
    buf_fini(&b);
    trace_close(t);
}

Test(export_collapsed, threads_and_lines_are_apart_when_asked_for)
{
    struct model_options o = model_options();
    o.threads = o.lines = true;
    model_text_is("collapsed", two_blocks(1 * US, 2 * US), &o,
                  "worker-2;shop.Main.main:3;shop.Order.buy:10;[blocked on shop.Order] 2\n"
                  "worker-1;shop.Main.main:3;shop.Order.buy:10;[blocked on shop.Order] 1\n");
}

Test(export_collapsed, stacks_that_read_alike_are_one)
{
    struct shop s;
    shop_init(&s);
    stack_id other = builder_stack(&s.b, "shop.Order.buy:11 shop.Main.main:3");
    ADD(&s.b, 1, s.a, 0, monitor_contended_enter, .lock = s.order, .stack = s.buy);
    ADD(&s.b, 1, s.a, 1 * US, monitor_contended_entered, .lock = s.order);
    ADD(&s.b, 1, s.a, 2 * US, monitor_contended_enter, .lock = s.order, .stack = other);
    ADD(&s.b, 1, s.a, 4 * US, monitor_contended_entered, .lock = s.order);
    struct model_options o = model_options();
    model_text_is("collapsed", builder_open(&s.b, 10 * US), &o, BUY "[blocked on shop.Order] 3\n");
}

/* --- the selection ---------------------------------------------------------------------------- */

Test(export_collapsed, waits_are_cut_to_the_selection)
{
    struct model_options o = model_options();
    o.states = WAITS_ALL;
    o.selection.from = BUILDER_START + 41 * US; /* in the wait */
    o.selection.to = BUILDER_START + 55 * US;   /* in the sleep */
    model_text_is("collapsed", every_state(), &o,
                  WAIT "[sleeping] 5\n" WAIT "[reacquiring shop.Order] 3\n" WAIT
                       "[waiting on shop.Order] 1\n");
}

Test(export_collapsed, threads_are_selected)
{
    struct model_options o = model_options();
    const bool chosen[] = {false, false, false, true};
    o.selection.threads = chosen;
    o.selection.n_threads = ARRAY_LEN(chosen);
    model_text_is("collapsed", two_blocks(1 * US, 2 * US), &o, BUY "[blocked on shop.Order] 2\n");
}

/* --- names ------------------------------------------------------------------------------------ */

Test(export_collapsed, no_name_breaks_a_line_or_a_frame)
{
    struct trace_builder b;
    builder_init(&b);
    thread_id t = builder_thread(&b, "a;b\nc\xe2\x80\xa8"
                                     "d\x85\t");
    lock_id lock = builder_lock(&b, builder_class(&b, "La;b/C D;"));
    stack_id s = builder_stack(&b, "x.Y.m;\r1:3");
    ADD(&b, 1, t, 0, monitor_contended_enter, .lock = lock, .stack = s);
    ADD(&b, 1, t, 1 * US, monitor_contended_entered, .lock = lock);
    struct model_options o = model_options();
    o.threads = true;
    model_text_is("collapsed", builder_open(&b, 10 * US), &o,
                  "a_b_c_d\xef\xbf\xbd_;x.Y.m__1;[blocked on a_b.C D] 1\n");
}

Test(export_collapsed, what_is_missing_is_said)
{
    struct trace_builder b;
    builder_init(&b);
    struct buf packed = {0};
    thread_id t = builder_thread(&b, "");
    method_id m = builder_method(&b, builder_class(&b, "Lx/Y;"), "m", 0);
    stack_id cut = {++b.n_stacks};
    packed_put_frame(&packed, m, 1);
    builder_def(&b, &(struct def){.kind = DEF_stack,
                                  .stack = {.id = cut,
                                            .flags = STACK_TRUNCATED,
                                            .frames = {packed.p, packed.len, 1}}});
    buf_fini(&packed);
    ADD(&b, 1, t, 0, monitor_contended_enter, .stack = cut);
    ADD(&b, 1, t, 2 * US, monitor_contended_entered);
    ADD(&b, 1, t, 4 * US, monitor_contended_enter, .stack = {77});
    ADD(&b, 1, t, 5 * US, monitor_contended_entered);
    struct model_options o = model_options();
    model_text_is("collapsed", builder_open(&b, 10 * US), &o,
                  "[cut off];x.Y.m;[blocked on unknown class] 2\n"
                  "[no stack];[blocked on unknown class] 1\n");
}

/* --- files ------------------------------------------------------------------------------------ */

static struct analysis *analysed(struct trace *t)
{
    struct analysis *a;
    cr_assert_eq(conclude_run(&a, t, NULL), 0);
    return a;
}

/* --- allocations ------------------------------------------------------------------------------ */

/* worker-1 allocates 3 objects of 100 bytes at one place, of which one is freed, and one at no
 * known place; worker-2 is sampled (beside what is exact, that is left out). */
static struct trace *heap(void)
{
    struct shop s;
    shop_init(&s);
    class_id text = builder_class(&s.b, "[B");
    for (uint64_t i = 0; i < 3; i++)
        ADD(&s.b, 1, s.a, i * US, object_alloc, .object = i + 1, .class_ = text, .size = 100,
            .stack = s.buy);
    ADD(&s.b, 1, s.a, 5 * US, object_alloc, .object = 4, .class_ = text, .size = 16);
    ADD(&s.b, 2, s.c, 5 * US, object_sample, .object = 5, .class_ = text, .size = 16,
        .weight = 4096, .stack = s.sell);
    ADD(&s.b, 3, s.main, 9 * US, object_free, .object = 2, .class_ = text, .size = 100,
        .stack = s.buy, .since = BUILDER_START + US, .allocated_by = s.a);
    return builder_open(&s.b, 100 * US);
}

static void heap_is(enum model_by by, const char *expected)
{
    struct model_options o = model_options();
    o.by = by;
    model_text_is("collapsed", heap(), &o, expected);
}

Test(export_collapsed, allocations_by_bytes_and_objects)
{
    heap_is(MODEL_BY_ALLOC, BUY "[allocated byte[]] 300\n[no stack];[allocated byte[]] 16\n");
    heap_is(MODEL_BY_ALLOC_OBJECTS, BUY "[allocated byte[]] 3\n[no stack];[allocated byte[]] 1\n");
    heap_is(MODEL_BY_LIVE, BUY "[not freed byte[]] 200\n[no stack];[not freed byte[]] 16\n");
    heap_is(MODEL_BY_LIVE_OBJECTS, BUY "[not freed byte[]] 2\n[no stack];[not freed byte[]] 1\n");
}

Test(export_collapsed, what_a_part_left_behind)
{
    struct model_options o = model_options();
    o.by = MODEL_BY_LIVE;
    o.threads = true;
    o.selection.from = BUILDER_START + US;
    o.selection.to = BUILDER_START + 4 * US;
    model_text_is("collapsed", heap(), &o, "worker-1;" BUY "[not freed byte[]] 200\n");
}

Test(model_export, the_list_of_formats)
{
    size_t n = 0;
    for (; model_exporters[n]; n++)
        cr_assert_eq(model_exporter_find(model_exporters[n]->name), model_exporters[n]);
    cr_assert_eq(n, 3);
    cr_assert_null(model_exporter_find("orca"));
}

Test(model_export, a_failed_export_leaves_nothing)
{
    struct trace *t = every_state();
    struct analysis *a = analysed(t);
    char *folder = folder_make(), prefix[300], taken[400];
    snprintf(prefix, sizeof prefix, "%s/app", folder);
    for (size_t i = 0; model_exporters[i]; i++) {
        struct err err = {""};
        struct model_job job = {.a = a, .prefix = "/nowhere/app", .options = model_options()};
        cr_assert_eq(model_export_run(model_exporters[i], &job, &err), -ENOENT);
        cr_assert_not_null(strstr(err.msg, "/nowhere/app."), "%s", err.msg);
        snprintf(taken, sizeof taken, "%s%s", prefix, model_exporters[i]->suffix);
        cr_assert_eq(mkdir(taken, 0700), 0);
        job.prefix = prefix;
        cr_assert_eq(model_export_run(model_exporters[i], &job, &err), -EISDIR);
        rmdir(taken);
        cr_assert_eq(folder_count(folder), 0);
    }
    folder_remove(folder);
    analysis_free(a);
    trace_close(t);
}

Test(model_export, a_full_disk_is_an_error)
{
    struct trace *t = every_state();
    struct analysis *a = analysed(t);
    int out = dup(STDOUT_FILENO), full = open("/dev/full", O_WRONLY);
    for (size_t i = 0; model_exporters[i]; i++) {
        struct err err = {""};
        struct model_job job = {.a = a, .options = model_options()};
        dup2(full, STDOUT_FILENO);
        int rc = model_export_run(model_exporters[i], &job, &err);
        dup2(out, STDOUT_FILENO);
        cr_assert_eq(rc, -ENOSPC, "%s", err.msg);
        cr_assert_not_null(strstr(err.msg, "standard output: cannot write"), "%s", err.msg);
    }
    close(out);
    close(full);
    analysis_free(a);
    trace_close(t);
}

/* How far the export says that it is. */
struct steps {
    uint64_t last, total, n;
};

static void step(void *ctx, uint64_t done, uint64_t total)
{
    struct steps *s = ctx;
    cr_assert_geq(done, s->last);
    *s = (struct steps){done, total, s->n + 1};
}

Test(model_export, progress_comes_to_an_end)
{
    struct trace *t = every_state();
    struct analysis *a = analysed(t);
    for (size_t i = 0; model_exporters[i]; i++) {
        struct steps s = {0};
        char *folder = folder_make(), prefix[300];
        snprintf(prefix, sizeof prefix, "%s/app", folder);
        struct model_job job = {
            .a = a, .prefix = prefix, .options = model_options(), .progress = step, .ctx = &s};
        cr_assert_eq(model_export_run(model_exporters[i], &job, NULL), 0);
        cr_assert_gt(s.n, 0, "%s", model_exporters[i]->name);
        cr_assert_leq(s.last, s.total, "%s", model_exporters[i]->name);
        cr_assert_geq(s.last * 2, s.total, "%s", model_exporters[i]->name);
        folder_remove(folder);
    }
    analysis_free(a);
    trace_close(t);
}

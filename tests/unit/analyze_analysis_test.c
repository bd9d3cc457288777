/* Whole traces with known facts: windows, open waits, losses, damage, virtual threads, findings. */
#include "analyze/analysis.h"
#include "analyze/labels.h"
#include "conclude/rules.h"
#include "format/writer.h"
#include "trace_builder.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct trace_builder b;
static thread_id ann, bob;
static class_id order;
static lock_id lock, other_lock;
static stack_id stack;
static struct trace *t;
static struct analysis *a;

static void begin(void)
{
    builder_init(&b);
    ann = builder_thread(&b, "ann");
    bob = builder_thread(&b, "bob");
    order = builder_class(&b, "Lshop/Order;");
    lock = builder_lock(&b, order);
    other_lock = builder_lock(&b, builder_class(&b, "Lshop/Stock;"));
    stack = builder_stack(&b, "shop.Order.submit:88 shop.Main.main:12");
    t = NULL;
    a = NULL;
}

static void end(void)
{
    analysis_free(a);
    trace_close(t);
}

TestSuite(analysis, .init = begin, .fini = end);

static void run_trace(void)
{
    struct err err = {""};
    cr_assert_eq(conclude_run(&a, t, &err), 0, "%s", err.msg);
}

static void run(uint64_t end_time)
{
    t = builder_open(&b, end_time);
    run_trace();
}

static const struct thread_stats *stats(thread_id id)
{
    return &a->threads.v[id.v];
}

static const struct thread_sums *sums(thread_id id)
{
    return &a->stats.threads[id.v];
}

static const struct class_stats *class_named(const char *signature)
{
    for (size_t i = 0; i < a->locks.n_groups; i++)
        if (strcmp(a->locks.groups[i].signature, signature) == 0)
            return &a->stats.classes[i];
    cr_assert_fail("no class %s", signature);
    return NULL;
}

static uint32_t *sites;

/* All sites, most blocked time first: there must be as many. */
static void list_sites(size_t want)
{
    size_t n;
    cr_assert_eq(stats_list_sites(&a->stats, &a->sites, EVERY_CLASS, &a->arena, &sites, &n), 0);
    cr_assert_eq(n, want);
}

static const struct site *site(int i)
{
    return &a->sites.v[sites[i]];
}

static const struct wait_stats *blocked_at(int i)
{
    return &a->stats.sites[sites[i]].state[STATE_BLOCKED];
}

static void block(uint32_t stream, thread_id who, uint64_t from, uint64_t to, lock_id on)
{
    ADD(&b, stream, who, from, monitor_contended_enter, .lock = on, .owner = bob, .stack = stack);
    ADD(&b, stream, who, to, monitor_contended_entered, .lock = on);
}

Test(analysis, an_empty_trace)
{
    run(1000);
    cr_assert_eq(a->decoded.events, 0);
    cr_assert_eq(a->window.to - a->window.from, 1000);
    cr_assert_eq(a->stats.total[STATE_BLOCKED].count, 0);
    cr_assert_eq(thread_life(stats(ann)), 1000);
}

Test(analysis, lives)
{
    ADD0(&b, 1, ann, 100, thread_start);
    block(1, ann, 200, 260, lock);
    ADD0(&b, 1, ann, 500, thread_end);
    ADD0(&b, 2, bob, 0, thread_alive);
    run(1000);
    cr_assert(stats(ann)->has_started && stats(ann)->has_ended);
    cr_assert_eq(thread_life(stats(ann)), 400);
    cr_assert_eq(thread_sums_running(sums(ann)), 340);
    cr_assert(!stats(bob)->has_started && !stats(bob)->has_ended);
    cr_assert_eq(thread_life(stats(bob)), 1000);
    cr_assert(!stats(ann)->incomplete);
}

/* HotSpot locks the Thread object after it has said that the thread ends. */
Test(analysis, a_block_after_the_end_lengthens_the_life)
{
    ADD0(&b, 1, ann, 100, thread_start);
    ADD0(&b, 1, ann, 500, thread_end);
    block(1, ann, 510, 530, lock);
    run(1000);
    cr_assert_eq(sums(ann)->state[STATE_BLOCKED].ns, 20);
    cr_assert_eq(thread_life(stats(ann)), 430);
    cr_assert_eq(thread_sums_running(sums(ann)), 410);
}

Test(analysis, a_block_before_the_start_lengthens_the_life)
{
    block(1, ann, 100, 130, lock);
    ADD0(&b, 1, ann, 200, thread_start);
    run(1000);
    cr_assert_eq(thread_life(stats(ann)), 900);
    cr_assert_eq(thread_sums_running(sums(ann)), 870);
}

Test(analysis, averages_leave_out_what_is_not_known)
{
    block(1, ann, 100, 130, lock);
    ADD(&b, 1, ann, 200, monitor_contended_entered, .lock = lock);
    block(1, ann, 300, 310, lock);
    run(1000);
    const struct wait_stats *s = &class_named("Lshop/Order;")->state[STATE_BLOCKED];
    cr_assert_eq(s->count, 3);
    cr_assert_eq(s->unknown, 1);
    cr_assert_eq(wait_stats_avg(s), 20);
    cr_assert_eq(wait_stats_min(s), 10);
    cr_assert_eq(s->objects, 1);
}

Test(analysis, still_open_at_the_end)
{
    ADD(&b, 1, ann, 300, monitor_contended_enter, .lock = lock, .owner = bob, .stack = stack);
    run(1000);
    cr_assert_eq(sums(ann)->state[STATE_BLOCKED].ns, 700);
    cr_assert_eq(sums(ann)->open, 1);
    cr_assert_eq(class_named("Lshop/Order;")->state[STATE_BLOCKED].open, 1);
    cr_assert_eq(class_named("Lshop/Order;")->state[STATE_BLOCKED].max, 700);
    const struct open_wait *w = (const void *)a->decoded.open.p;
    cr_assert_eq(a->decoded.open.len, sizeof *w);
    cr_assert_eq(w->thread, ann.v);
    cr_assert_eq(w->other, bob.v);
    cr_assert_eq(w->lock.v, lock.v);
    cr_assert_eq(w->stack.v, stack.v);
    cr_assert_eq(w->since, BUILDER_START + 300);
}

Test(analysis, an_unfinished_trace_ends_with_its_last_event)
{
    b.header.state = TRACE_RECORDING;
    ADD(&b, 1, ann, 300, monitor_contended_enter, .lock = lock);
    ADD0(&b, 2, bob, 900, thread_start);
    run(0);
    cr_assert_eq(thread_life(stats(ann)), 900);
    cr_assert_eq(sums(ann)->state[STATE_BLOCKED].count, 1);
    cr_assert_eq(sums(ann)->unknown, 1, "its end may be among what was not written");
    cr_assert_eq(sums(ann)->state[STATE_UNKNOWN].ns, 600);
    cr_assert_eq(thread_sums_running(sums(ann)), 300);
}

/* The agent writes wait_open when the recording ends, from whatever thread does that. */
Test(analysis, wait_open_of_a_wait_that_is_known)
{
    ADD(&b, 1, ann, 300, wait_enter, .lock = lock, .stack = stack);
    ADD(&b, 2, ann, 1000, wait_open, .kind = EV_wait_enter, .lock = lock,
        .since = BUILDER_START + 300);
    run(1000);
    cr_assert_eq(sums(ann)->state[STATE_WAITING].count, 1);
    cr_assert_eq(sums(ann)->state[STATE_WAITING].ns, 700);
    cr_assert(!stats(ann)->incomplete);
}

Test(analysis, wait_open_of_a_wait_that_began_before_the_window)
{
    ADD0(&b, 2, bob, 400, thread_start);
    ADD(&b, 2, ann, 1000, wait_open, .kind = EV_wait_enter, .lock = lock,
        .since = BUILDER_START + 100);
    b.header.capacity = WRITER_CAPACITY_MIN;
    t = builder_open(&b, 1000);
    t->header.evicted_events = 77;
    run_trace();
    cr_assert(a->windowed);
    cr_assert_eq(a->window.from, BUILDER_START + 400);
    cr_assert_eq(sums(ann)->state[STATE_WAITING].ns, 600, "only the part in the window");
    cr_assert_eq(thread_life(stats(ann)), 600);
    const struct open_wait *w = (const void *)a->decoded.open.p;
    cr_assert_eq(w->since, BUILDER_START + 100, "but the true beginning is kept");
    cr_assert(!stats(ann)->incomplete);
}

Test(analysis, an_exit_without_enter_is_counted_without_time)
{
    ADD(&b, 1, ann, 300, wait_exit, .lock = lock, .timed_out = 1);
    run(1000);
    cr_assert_eq(sums(ann)->state[STATE_WAITING].count, 1);
    cr_assert_eq(sums(ann)->state[STATE_WAITING].ns, 0);
    cr_assert_eq(sums(ann)->unknown, 1);
    const struct wait_stats *w = &class_named("Lshop/Order;")->state[STATE_WAITING];
    cr_assert_eq(w->unknown, 1);
    cr_assert_eq(class_named("Lshop/Order;")->timed_out, 1);
    cr_assert_eq(wait_stats_min(w), 0);
    cr_assert_eq(wait_stats_avg(w), 0);
}

Test(analysis, joins_and_sleeps)
{
    ADD(&b, 1, ann, 100, join_enter, .target = bob);
    ADD(&b, 1, ann, 110, wait_enter, .lock = lock);
    ADD(&b, 1, ann, 190, wait_exit, .lock = lock);
    ADD(&b, 1, ann, 200, join_exit, .target = bob);
    ADD(&b, 1, ann, 300, sleep_enter, .timeout_ns = 1);
    ADD0(&b, 1, ann, 450, sleep_exit);
    run(1000);
    cr_assert_eq(sums(ann)->state[STATE_JOINING].ns, 100);
    cr_assert_eq(sums(ann)->state[STATE_SLEEPING].ns, 150);
    cr_assert_eq(sums(ann)->state[STATE_WAITING].count, 0);
    cr_assert_eq(thread_sums_running(sums(ann)), 750);
}

Test(analysis, a_virtual_thread_that_changes_carriers)
{
    thread_id v = builder_thread_flags(&b, "v", THREAD_VIRTUAL);
    ADD(&b, 9, v, 100, monitor_contended_enter, .lock = lock, .owner = bob, .stack = stack);
    ADD(&b, 8, v, 180, monitor_contended_entered, .lock = lock);
    ADD(&b, 8, v, 200, wait_enter, .lock = lock);
    ADD(&b, 7, v, 290, monitor_contended_entered, .lock = lock);
    ADD(&b, 7, v, 300, wait_exit, .lock = lock);
    ADD(&b, 9, v, 400, monitor_contended_enter, .lock = lock);
    run(1000);
    cr_assert_eq(sums(v)->state[STATE_BLOCKED].count, 2);
    cr_assert_eq(sums(v)->state[STATE_BLOCKED].ns, 80 + 600);
    cr_assert_eq(sums(v)->state[STATE_WAITING].ns, 100);
    cr_assert_eq(sums(v)->reacquired, 1);
    cr_assert_eq(class_named("Lshop/Order;")->reacquired, 1);
    cr_assert(!stats(v)->incomplete);
}

Test(analysis, what_a_carrier_lost_may_be_of_any_virtual_thread)
{
    thread_id v = builder_thread_flags(&b, "v", THREAD_VIRTUAL);
    thread_id w = builder_thread_flags(&b, "w", THREAD_VIRTUAL);
    ADD(&b, 9, v, 100, monitor_contended_enter, .lock = lock);
    ADD(&b, 8, w, 150, monitor_contended_enter, .lock = lock);
    ADD(&b, 8, w, 200, lost, .cause = LOSS_ring_full, .count = 3);
    ADD(&b, 9, v, 300, monitor_contended_entered, .lock = lock);
    ADD(&b, 9, v, 400, monitor_contended_enter, .lock = lock);
    ADD(&b, 9, v, 430, monitor_contended_entered, .lock = lock);
    run(1000);
    cr_assert_eq(sums(v)->state[STATE_BLOCKED].count, 2);
    cr_assert_eq(sums(v)->unknown, 1);
    cr_assert_eq(sums(v)->state[STATE_BLOCKED].ns, 30);
    cr_assert_eq(a->n_losses, 1);
    cr_assert_eq(a->losses[0].count, 3);
}

Test(analysis, losses_of_several_carriers)
{
    thread_id v = builder_thread_flags(&b, "v", THREAD_VIRTUAL);
    thread_id w = builder_thread_flags(&b, "w", THREAD_VIRTUAL);
    for (uint32_t i = 0; i < 3;
         i++) { /* gaps 500-600, 300-420, 400-520: not in order, and overlapping */
        static const uint64_t from[] = {500, 300, 400}, to[] = {600, 420, 520};
        ADD0(&b, 5 + i, w, from[i], thread_start);
        ADD(&b, 5 + i, w, to[i], lost, .cause = LOSS_ring_full, .count = 1);
    }
    static const uint64_t at[][2] = {{100, 200}, {250, 310}, {430, 450}, {599, 610}, {620, 680}};
    for (int i = 0; i < 5; i++)
        block(9, v, at[i][0], at[i][1], lock);
    run(1000);
    cr_assert_eq(sums(v)->state[STATE_BLOCKED].count, 5);
    cr_assert_eq(sums(v)->unknown, 3);
    cr_assert_eq(sums(v)->state[STATE_BLOCKED].ns, 100 + 60);
}

Test(analysis, the_larger_of_both_loss_counts)
{
    builder_loss(&b, LOSS_ring_full, 2);
    builder_loss(&b, LOSS_write, 8);
    ADD(&b, 1, ann, 200, lost, .cause = LOSS_ring_full, .count = 5);
    run(1000);
    cr_assert_eq(a->n_losses, 2);
    cr_assert_eq(a->losses[0].cause, LOSS_ring_full);
    cr_assert_eq(a->losses[0].count, 5);
    cr_assert_eq(a->losses[1].count, 8);
    cr_assert_eq(stats(ann)->lost, 5);
    cr_assert(stats(ann)->incomplete);
}

Test(analysis, gc_pauses)
{
    ADD0(&b, 3, (thread_id){0}, 100, gc_start);
    ADD0(&b, 3, (thread_id){0}, 130, gc_finish);
    ADD0(&b, 3, (thread_id){0}, 600, gc_start);
    run(1000);
    cr_assert_eq(a->gc_count, 2);
    cr_assert_eq(a->gc_ns, 30 + 400);
    cr_assert_eq(a->gc_max, 400);
}

Test(analysis, threads_without_a_definition)
{
    const thread_id ghost = {60000}, far = {4000000000u};
    block(1, ghost, 100, 150, lock);
    block(2, far, 100, 170, lock);
    run(1000);
    char name[LABEL_MAX];
    uint32_t i = thread_set_index(&a->threads, far);
    cr_assert_eq(a->stats.threads[i].state[STATE_BLOCKED].ns, 70);
    label_thread(&a->threads, t, i, name, sizeof name);
    cr_assert_str_eq(name, "unnamed thread 4000000000");
    cr_assert_eq(a->stats.total[STATE_BLOCKED].ns, 120);
}

Test(analysis, events_of_the_unknown_thread_are_not_paired)
{
    block(1, (thread_id){0}, 100, 150, lock);
    run(1000);
    cr_assert_eq(a->stats.total[STATE_BLOCKED].count, 0);
    cr_assert_eq(a->decoded.nameless, 2);
}

Test(analysis, locks_and_stacks_without_a_definition)
{
    ADD(&b, 1, ann, 100, monitor_contended_enter, .lock = {70000}, .stack = {70000},
        .owner = {70000});
    ADD(&b, 1, ann, 150, monitor_contended_entered, .lock = {70000});
    run(1000);
    cr_assert_eq(a->stats.classes[0].state[STATE_BLOCKED].count, 1);
    cr_assert_eq(a->stats.classes[0].state[STATE_BLOCKED].ns, 50);
    list_sites(1);
    cr_assert_eq(site(0)->app.method.v, 0);
}

Test(analysis, classes_of_one_name_are_one_group)
{
    lock_id twin = builder_lock(&b, builder_class(&b, "Lshop/Order;"));
    block(1, ann, 100, 150, lock);
    block(1, ann, 200, 230, twin);
    run(1000);
    cr_assert_eq(class_named("Lshop/Order;")->state[STATE_BLOCKED].count, 2);
    cr_assert_eq(class_named("Lshop/Order;")->objects, 2);
}

Test(analysis, bytes_missing_between_blocks_are_a_gap)
{
    ADD(&b, 1, ann, 100, monitor_contended_enter, .lock = lock);
    builder_gap(&b, 1, 64);
    ADD(&b, 1, ann, 300, monitor_contended_entered, .lock = lock);
    block(1, ann, 400, 450, lock);
    run(1000);
    cr_assert_eq(sums(ann)->state[STATE_BLOCKED].ns, 50);
    cr_assert_eq(sums(ann)->unknown, 1);
    cr_assert(stats(ann)->incomplete);
}

/* Overwrite a byte in the middle of chunk number `chunk` of events. */
static void damage(int fd, unsigned chunk)
{
    struct trace *probe;
    cr_assert_eq(trace_open_fd(&probe, dup(fd), "probe", NULL), 0);
    for (size_t i = 0; i < probe->n_chunks; i++) {
        const struct trace_chunk *c = &probe->chunks[i];
        if (c->h.type != CHUNK_EVENTS || chunk--)
            continue;
        off_t at = (off_t)(c->offset + CHUNK_HEADER_SIZE + c->h.dir_len + c->h.stored_len / 2);
        uint8_t byte;
        cr_assert_eq(pread(fd, &byte, 1, at), 1);
        byte ^= 0xff;
        cr_assert_eq(pwrite(fd, &byte, 1, at), 1);
    }
    trace_close(probe);
}

/* Without the gap, each thread would seem to wait from its first enter to its last exit. */
Test(analysis, a_damaged_chunk_is_a_gap_in_every_stream_that_it_holds)
{
    b.block_events = 2;
    const thread_id who[] = {ann, bob};
    for (uint32_t i = 0; i < 2; i++) { /* three chunks, two events of each stream in each */
        ADD0(&b, i + 1, who[i], 10, thread_alive);
        ADD(&b, i + 1, who[i], 20, wait_enter, .lock = lock);
        ADD(&b, i + 1, who[i], 100, wait_exit, .lock = lock);
        ADD(&b, i + 1, who[i], 120, wait_enter, .lock = lock);
        ADD(&b, i + 1, who[i], 200, wait_exit, .lock = lock);
        ADD(&b, i + 1, who[i], 220, wait_enter, .lock = lock);
        ADD(&b, i + 1, who[i], 300, wait_exit, .lock = lock);
    }
    int fd = memfd_create("trace", 0);
    builder_write(&b, fd, 1000);
    damage(fd, 1);
    cr_assert_eq(trace_open_fd(&t, fd, "damaged", NULL), 0);
    run_trace();
    cr_assert_geq(t->n_damaged, 1);
    cr_assert_eq(a->decoded.events, 10);
    for (uint32_t i = 0; i < 2; i++) {
        cr_assert(stats(who[i])->incomplete);
        cr_assert_eq(sums(who[i])->state[STATE_WAITING].ns, 80);
        cr_assert_eq(sums(who[i])->unknown, 1, "counts are lower bounds");
    }
}

/* A second analysis meets no new problem: what is damaged is known before. */
Test(analysis, again_gives_the_same)
{
    b.block_events = 1;
    for (uint64_t i = 0; i < 20; i++)
        block(1, ann, 100 + 20 * i, 110 + 20 * i, lock);
    int fd = memfd_create("trace", 0);
    builder_write(&b, fd, 1000);
    damage(fd, 7);
    cr_assert_eq(trace_open_fd(&t, fd, "damaged", NULL), 0);
    run_trace();
    uint64_t ns = sums(ann)->state[STATE_BLOCKED].ns, unknown = sums(ann)->unknown;
    cr_assert_eq(ns, 190);
    cr_assert_eq(unknown, 1);
    analysis_free(a);
    run_trace();
    cr_assert_eq(sums(ann)->state[STATE_BLOCKED].ns, ns);
    cr_assert_eq(sums(ann)->unknown, unknown);
}

Test(analysis, a_wait_open_behind_a_gap_is_not_invented)
{
    b.block_events = 1;
    ADD(&b, 1, ann, 100, monitor_contended_enter, .lock = lock);
    ADD(&b, 1, ann, 200, monitor_contended_entered, .lock = lock);
    int fd = memfd_create("trace", 0);
    builder_write(&b, fd, 1000);
    damage(fd, 1);
    cr_assert_eq(trace_open_fd(&t, fd, "damaged", NULL), 0);
    run_trace();
    cr_assert_eq(sums(ann)->open, 0, "its end may be in the chunk that cannot be read");
    cr_assert_eq(sums(ann)->unknown, 1);
}

/* A chunk with one event of ann's stream, whose block claims `claimed`. */
static void put_block(struct writer *w, const struct event *e, uint64_t pos, uint32_t claimed)
{
    uint8_t raw[EVENT_ENCODED_MAX];
    const uint64_t first = e->time - 50; /* as if an event before it had been read, too */
    struct codec c = {.time = first, .thread = e->thread.v};
    const struct block block = {.stream = 1,
                                .thread = e->thread.v,
                                .pos = pos,
                                .pos_end = pos + 100,
                                .first = first,
                                .last = e->time,
                                .events = claimed,
                                .len = (uint32_t)(codec_put_event(&c, raw, e) - raw)};
    cr_assert_eq(writer_put_events(w, &block, 1, raw, block.len, NULL), 0);
}

Test(analysis, a_block_that_claims_more_events_than_it_has)
{
    struct writer w;
    int fd = memfd_create("trace", 0);
    cr_assert_eq(writer_init(&w, fd, &b.header, NULL), 0);
    cr_assert_eq(
        writer_put_defs(&w, b.defs.p, b.defs.len, b.n_defs, (struct defs_span){0, 0}, NULL), 0);
    struct event e = {.time = BUILDER_START + 100, .thread = ann, .kind = EV_wait_enter};
    e.wait_enter.lock = lock;
    put_block(&w, &e, 0, 3);
    e = (struct event){.time = BUILDER_START + 300, .thread = ann, .kind = EV_wait_exit};
    e.wait_exit.lock = lock;
    put_block(&w, &e, 100, 1);
    cr_assert_eq(writer_close(&w, TRACE_CLOSED, BUILDER_START + 1000, NULL), 0);
    writer_fini(&w);
    cr_assert_eq(trace_open_fd(&t, fd, "short", NULL), 0);
    run_trace();
    cr_assert_eq(t->n_damaged, 1);
    cr_assert_eq(sums(ann)->unknown, 1);
    cr_assert_eq(sums(ann)->state[STATE_WAITING].ns, 0);
}

/* --- sites ------------------------------------------------------------------------------------ */

Test(analysis, the_site_is_the_innermost_frame_outside_the_jdk)
{
    stack_id deep =
        builder_stack(&b, "java.util.Hashtable.put:480 jdk.internal.X.y:3 shop.Main.add:7");
    stack_id twin =
        builder_stack(&b, "java.util.Hashtable.put:480 shop.Main.add:7 shop.Main.main:9");
    stack_id jdk = builder_stack(&b, "java.lang.Object.wait0:native java.lang.Thread.run:840");
    ADD(&b, 1, ann, 100, monitor_contended_enter, .lock = lock, .stack = deep);
    ADD(&b, 1, ann, 150, monitor_contended_entered, .lock = lock);
    ADD(&b, 1, ann, 200, monitor_contended_enter, .lock = lock, .stack = twin);
    ADD(&b, 1, ann, 230, monitor_contended_entered, .lock = lock);
    ADD(&b, 1, ann, 300, monitor_contended_enter, .lock = lock, .stack = jdk);
    ADD(&b, 1, ann, 310, monitor_contended_entered, .lock = lock);
    run(1000);
    char text[LABEL_MAX];
    list_sites(2);
    cr_assert_eq(blocked_at(0)->count, 2);
    cr_assert_eq(blocked_at(0)->ns, 80);
    cr_assert_eq(blocked_at(0)->max, 50);
    label_method(t, site(0)->app.method, text, sizeof text);
    cr_assert_str_eq(text, "shop.Main.add");
    label_line(t, site(0)->app, text, sizeof text);
    cr_assert_str_eq(text, "Main.java:7");
    label_method(t, site(0)->top.method, text, sizeof text);
    cr_assert_str_eq(text, "java.util.Hashtable.put");
    label_method(t, site(1)->app.method, text, sizeof text);
    cr_assert_str_eq(text, "java.lang.Object.wait0");
    label_line(t, site(1)->app, text, sizeof text);
    cr_assert_str_eq(text, "native");
}

Test(analysis, callers_of_the_same_jdk_method_are_different_sites)
{
    block(1, ann, 100, 130, lock);
    stack = builder_stack(&b, "java.util.Hashtable.put:480 shop.Main.add:7");
    block(1, ann, 200, 220, lock);
    stack = builder_stack(&b, "java.util.Hashtable.put:480 shop.Main.sub:8");
    block(1, ann, 300, 310, lock);
    run(1000);
    list_sites(3);
    cr_assert_eq(blocked_at(1)->ns, 20);
    cr_assert_eq(blocked_at(2)->ns, 10);
}

/* --- labels ----------------------------------------------------------------------------------- */

Test(analysis, thread_labels)
{
    thread_id twin = builder_thread(&b, "ann"),
              nameless = builder_thread_flags(&b, "", THREAD_VIRTUAL);
    run(1000);
    char text[LABEL_MAX];
    label_thread(&a->threads, t, ann.v, text, sizeof text);
    cr_assert_str_eq(text, "ann#11");
    label_thread(&a->threads, t, twin.v, text, sizeof text);
    cr_assert_str_eq(text, "ann#13");
    label_thread(&a->threads, t, bob.v, text, sizeof text);
    cr_assert_str_eq(text, "bob");
    label_thread(&a->threads, t, nameless.v, text, sizeof text);
    cr_assert_str_eq(text, "#14");
    label_thread(&a->threads, t, 0, text, sizeof text);
    cr_assert_str_eq(text, "unknown");
}

/* --- findings --------------------------------------------------------------------------------- */

static const struct rule_finding *findings(size_t *n)
{
    struct rule_finding *f;
    cr_assert_eq(rules_apply(a, &f, n, NULL, NULL), 0);
    return f;
}

Test(analysis, a_dominant_lock)
{
    block(1, ann, 1000, 9001000, lock);
    block(1, ann, 9100000, 9101000, other_lock);
    run(10000000);
    size_t n;
    const struct rule_finding *f = findings(&n);
    cr_assert_eq(n, 1);
    cr_assert_str_eq(f->rule, "dominant-lock");
    cr_assert_str_eq(
        f->text,
        "shop.Order; ann waits 9.00 ms once; wait in Order.submit (Order.java:88); held by bob, "
        "100 % of the time in activity that Orca did not record; rerun: with --wall "
        "20ms, or with the group looks: what holders do was not recorded");
    char text[FINDING_TEXT];
    finding_share(f, text, sizeof text);
    cr_assert_str_eq(text, "waits: 90 % of busy time");
    cr_assert_eq(f->n_lines, 5);
    finding_line(f, 3, text);
    cr_assert_eq(f->lines[3].label, CARD_HELD_BY);
    cr_assert_str_eq(text, "bob, 100 % of the time in activity that Orca did not record");
    cr_assert_eq(f->threads.n, 2); /* and who held it */
    cr_assert_eq(f->threads.v[0], ann.v);
    cr_assert_eq(f->locks.v[0], lock.v);
    cr_assert_eq(f->stacks.v[0], stack.v);
    cr_assert_eq(f->from, BUILDER_START + 1000);
    cr_assert_eq(f->to, BUILDER_START + 9001000);
}

Test(analysis, many_owners)
{
    for (uint64_t i = 0; i < 10; i++) {
        bob = builder_thread(&b, "owner");
        block(1, ann, 10000000 * i, 10000000 * i + 8000000, lock);
    }
    run(100000000);
    size_t n;
    const struct rule_finding *f = findings(&n);
    cr_assert(strstr(f->text, "; held by 10 threads of owner, "), "%s", f->text);
}

/* A wait whose owner was asked: it was at a place. */
static void block_asked(uint64_t from, uint64_t to, thread_id owner, stack_id at_place)
{
    ADD(&b, 1, ann, from, monitor_contended_enter, .lock = lock, .owner = owner, .stack = stack);
    ADD(&b, 1, ann, from, owner_stack, .lock = lock, .owner = owner, .stack = at_place);
    ADD(&b, 1, ann, to, monitor_contended_entered, .lock = lock);
}

/* 38 waits of 1 ms find bob at one place, 18 find him at a second one, and one of 500 ms that cat
 * keeps it in a third. */
static thread_id cat;

static void find_38_18_and_1(void)
{
    stack_id often = builder_stack(&b, "shop.Order.often:1"),
             long_ = builder_stack(&b, "shop.Order.longest:2"),
             some = builder_stack(&b, "shop.Order.some:3");
    uint64_t time = 1000000;
    cat = builder_thread(&b, "cat");
    for (int i = 0; i < 56; i++, time += 2000000)
        block_asked(time, time + 1000000, bob, i < 38 ? often : some);
    block_asked(time, time + 500000000, cat, long_);
    run(time + 600000000);
}

/* The time is cat's; on what it did then there is one look, and the finding says so. */
Test(analysis, one_long_wait_says_on_how_little_it_rests)
{
    find_38_18_and_1();
    size_t n;
    const struct rule_finding *f = findings(&n);
    cr_assert_str_eq(f->rule, "dominant-lock");
    cr_assert(strstr(f->text, "; held by cat (89 %), computing in 1 of 57 samples; "
                              "Order.longest (Order.java:2)"),
              "%s", f->text);
    cr_assert(!strstr(f->text, "; try: "), "advice rests on more than one look: %s", f->text);
}

Test(analysis, owner_sites_are_in_the_order_of_what_they_weigh)
{
    find_38_18_and_1();
    uint32_t *v;
    size_t n;
    cr_assert_eq(stats_list_owner_sites(&a->stats, &a->sites, EVERY_CLASS, &a->arena, &v, &n), 0);
    cr_assert_eq(n, 3);
    const uint64_t counts[] = {38, 18, 1};
    const unsigned shares[] = {644, 305, 49};
    for (size_t i = 0; i < n; i++) {
        cr_assert_eq(a->stats.owner_sites[v[i]].count, counts[i]);
        cr_assert_eq(stats_owner_permille(&a->stats, &a->sites, v[i]), shares[i], "%u",
                     stats_owner_permille(&a->stats, &a->sites, v[i]));
    }
}

/* 83 long waits and 661 short ones: who held the lock the longest. */
Test(analysis, the_holder_is_who_held_the_longest)
{
    uint64_t time = 1000000;
    cat = builder_thread(&b, "cat");
    for (int i = 0; i < 744; i++) {
        uint64_t ns = i % 9 == 0 ? 3000000 : 100000;
        block_asked(time, time + ns, i % 9 == 0 ? cat : bob, stack);
        time += ns + 100000;
    }
    run(time);
    size_t n;
    const struct rule_finding *f = findings(&n);
    cr_assert(
        strstr(f->text, "; held by cat (79 %), 100 % of the time computing (744 of 744 samples)"),
        "%s", f->text);
}

Test(analysis, threads_still_blocked)
{
    ADD(&b, 1, ann, 100, monitor_contended_enter, .lock = lock, .owner = bob, .stack = stack);
    run(3000000100);
    size_t n;
    const struct rule_finding *f = findings(&n);
    cr_assert_eq(n, 1); /* one cause, one card */
    cr_assert_str_eq(f->rule, "dominant-lock");
    cr_assert_eq(f->severity, SEVERITY_PROBLEM);
    cr_assert(strstr(f->text, "shop.Order; ann was still blocked when the recording ended, for "
                              "3.00 s; ann waits 3.00 s once; "),
              "%s", f->text);
}

/* Two locks of one class that have nothing to do with each other but that. */
Test(analysis, threads_still_blocked_at_two_locks)
{
    lock_id other = builder_lock(&b, builder_class(&b, "Lshop/Order;"));
    ADD(&b, 1, ann, 100, monitor_contended_enter, .lock = lock, .owner = bob, .stack = stack);
    ADD(&b, 3, builder_thread(&b, "cat"), 200, monitor_contended_enter, .lock = other, .owner = bob,
        .stack = builder_stack(&b, "shop.Basket.empty:7 shop.Main.main:2"));
    run(3000000100);
    size_t n;
    const struct rule_finding *f = findings(&n);
    cr_assert_eq(n, 2, "%s", f->text);
    for (size_t i = 0; i < n; i++) {
        cr_assert(strstr(f[i].text, "was still blocked"), "%s", f[i].text);
        cr_assert_eq(f[i].locks.n, 1);
    }
}

/* A rule has few findings: the lock that a thread never got is among them. */
Test(analysis, a_thread_still_blocked_at_the_least_of_many_locks)
{
    enum { LOCKS = 8 };
    for (unsigned i = 0; i < LOCKS; i++) {
        char at[64], name[16];
        snprintf(name, sizeof name, "worker-%u", i);
        snprintf(at, sizeof at, "shop.Part%u.use:7 shop.Main.main:2", i);
        lock_id part = builder_lock(&b, builder_class(&b, "Lshop/Part;"));
        thread_id who = builder_thread(&b, name);
        stack_id where = builder_stack(&b, at);
        for (uint64_t k = 0; k < 10 && i; k++) {
            ADD(&b, 10 + i, who, k * 100000000, monitor_contended_enter, .lock = part, .owner = bob,
                .stack = where);
            ADD(&b, 10 + i, who, k * 100000000 + 90000000, monitor_contended_entered, .lock = part);
        }
        if (!i)
            ADD(&b, 10 + i, who, 700000000, monitor_contended_enter, .lock = part, .owner = bob,
                .stack = where);
    }
    run(1000000000);
    size_t n, told = 0;
    const struct rule_finding *f = findings(&n);
    for (size_t i = 0; i < n; i++)
        told += strstr(f[i].text, "worker-0 was still blocked") != NULL;
    cr_assert_eq(told, 1);
}

/* An attach found both; of bob no event has told since, so his sleep may be over. */
static const char *text_after_attach(bool returns)
{
    ADD0(&b, 9, builder_thread(&b, "orca"), 1, recording_start);
    ADD(&b, 9, ann, 100, wait_found, .kind = EV_monitor_contended_enter, .lock = lock, .owner = bob,
        .stack = stack, .limit = WAIT_UNLIMITED);
    ADD(&b, 9, bob, 200, wait_found, .kind = EV_sleep_enter,
        .stack = builder_stack(&b, "java.lang.Thread.sleep:1 shop.Main.rest:7"),
        .limit = WAIT_LIMITED);
    if (returns)
        ADD(&b, 2, bob, 2000000000, notify, .lock = other_lock);
    ADD(&b, 9, ann, 3000000000, wait_open, .kind = EV_monitor_contended_enter, .lock = lock,
        .since = BUILDER_START + 100, .limit = WAIT_UNLIMITED);
    run(3000000100);
    size_t n;
    const struct rule_finding *f = findings(&n);
    cr_assert_gt(n, 0);
    return f->text;
}

Test(analysis, an_owner_that_was_asleep_at_the_attach)
{
    const char *text = text_after_attach(false);
    cr_assert(strstr(text, "held by bob"), "%s", text);
    cr_assert(strstr(text, "asleep when Orca attached: Main.rest (Main.java:7)"), "%s", text);
}

Test(analysis, an_owner_that_was_asleep_at_the_attach_and_came_back)
{
    const char *text = text_after_attach(true);
    cr_assert_not(strstr(text, "asleep"), "%s", text);
}

/* The recording has not ended, or goes on in the next file. */
static const char *still_blocked(void)
{
    ADD(&b, 1, ann, 100, monitor_contended_enter, .lock = lock, .owner = bob, .stack = stack);
    ADD(&b, 2, bob, 3000000100, notify, .lock = lock);
    run(3000000100);
    size_t n;
    return findings(&n)->text;
}

Test(analysis, threads_still_blocked_while_it_goes_on)
{
    b.header.state = TRACE_RECORDING;
    const char *text = still_blocked();
    cr_assert_str_eq(
        text, "shop.Order: 1 thread was still blocked at the end of what is recorded so far; "
              "ann for 3.00 s, owner when that wait began: bob");
}

Test(analysis, threads_still_blocked_at_the_end_of_a_file)
{
    builder_info(&b, "orca.next", "next.otrace");
    const char *text = still_blocked();
    cr_assert(strstr(text, "ann was still blocked when the file ended, for 3.00 s"), "%s", text);
}

Test(analysis, any_moment_finds_some_thread_blocked)
{
    ADD(&b, 1, ann, 100, monitor_contended_enter, .lock = lock, .owner = bob, .stack = stack);
    run(3000100);
    size_t n;
    cr_assert_str_eq(findings(&n)->rule, "dominant-lock");
}

Test(analysis, losses_are_the_first_finding)
{
    ADD(&b, 1, ann, 200, lost, .cause = LOSS_ring_full, .count = 5);
    run(1000);
    size_t n;
    const struct rule_finding *f = findings(&n);
    cr_assert_eq(n, 1);
    cr_assert_str_eq(f->rule, "events-lost");
}

Test(analysis, nothing_to_find)
{
    ADD0(&b, 1, ann, 200, thread_start);
    run(1000);
    size_t n;
    findings(&n);
    cr_assert_eq(n, 0);
}

Test(analysis, a_lock_that_hardly_matters_is_no_finding)
{
    block(1, ann, 0, 1000000, lock);
    block(1, ann, 2000000, 2004000, other_lock);
    run(10000000);
    size_t n;
    findings(&n);
    cr_assert_eq(n, 1);
}

/* The condition of a queue has the queue's class, one of the program's own keeps its own. */
Test(analysis, conditions_are_called_by_what_they_are_of)
{
#define LOCKS "java.util.concurrent.locks."
    class_id condition = builder_class(
        &b, "Ljava/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject;");
    lock_id of_queue = builder_lock(&b, condition), own = builder_lock(&b, condition);
    stack_id take = builder_stack(
        &b, LOCKS "LockSupport.park:1 " LOCKS "AbstractQueuedSynchronizer$ConditionObject.await:2 "
                  "java.util.concurrent.ArrayBlockingQueue.take:3 shop.Main.main:4");
    stack_id await = builder_stack(&b, LOCKS "LockSupport.park:1 " LOCKS
                                             "AbstractQueuedSynchronizer$ConditionObject.await:2 "
                                             "shop.Stock.get:3");
    ADD(&b, 1, ann, 100, park_enter, .lock = of_queue, .stack = take);
    ADD(&b, 1, ann, 200, park_exit, .lock = of_queue);
    ADD(&b, 2, bob, 100, park_enter, .lock = own, .stack = await);
    ADD(&b, 2, bob, 200, park_exit, .lock = own);
    run(1000);
    const struct lock_group *g = a->locks.groups;
    cr_assert_str_eq(g[lock_set_group(&a->locks, of_queue)].signature,
                     "Ljava/util/concurrent/ArrayBlockingQueue;");
    cr_assert_str_eq(g[lock_set_group(&a->locks, own)].signature,
                     "Ljava/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject;");
    cr_assert_eq(a->stats.classes[lock_set_group(&a->locks, of_queue)].state[STATE_PARKED].ns, 100);
}

#include "base/map.h"
#include "base/util.h"
#include "export/perfetto_turns.h"
#include "export/waits.h"
#include "model_files.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- a trace as text -------------------------------------------------------------------------- */

enum { TEXTS_MAX = 300 };

/* Interned texts, tracks and flows, by their numbers. */
struct texts {
    uint64_t id[TEXTS_MAX];
    char text[TEXTS_MAX][120];
    size_t n;
};

struct reader {
    struct texts categories, names, args, values, tracks, flows;
    struct buf text; /* of the tracks and the events */
    size_t n_packets, n_interned;
    uint64_t clock;
};

static void remember(struct texts *t, uint64_t id, const void *p, size_t n)
{
    cr_assert_lt(t->n, TEXTS_MAX);
    for (size_t i = 0; i < t->n; i++)
        cr_assert_neq(t->id[i], id, "%d is defined twice", (int)id);
    t->id[t->n] = id;
    snprintf(t->text[t->n++], sizeof t->text[0], "%.*s", (int)n, (const char *)p);
}

static const char *text_of(const struct texts *t, uint64_t id)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->id[i] == id)
            return t->text[i];
    cr_assert_fail("%llx is not defined", (unsigned long long)id);
    return "";
}

static uint64_t number(struct fields f, uint32_t field)
{
    struct field_of v;
    return fields_find(f, field, &v) ? v.value : 0;
}

static struct fields inside(struct fields f, uint32_t field)
{
    struct field_of v;
    return fields_find(f, field, &v) ? fields_of(v.p, v.n) : fields_of(NULL, 0);
}

static void read_interned(struct reader *r, struct fields f)
{
    struct field_of v, text;
    while (fields_next(&f, &v)) {
        struct fields entry = fields_of(v.p, v.n);
        cr_assert(fields_find(entry, 2, &text));
        struct texts *t = v.number == 1   ? &r->categories
                          : v.number == 2 ? &r->names
                          : v.number == 3 ? &r->args
                                          : &r->values;
        cr_assert(v.number <= 3 || v.number == 29);
        remember(t, number(entry, 1), text.p, text.n);
        r->n_interned++;
    }
}

/* Threads and other tracks are found by their names, with their parents' before them. */
static void read_track(struct reader *r, struct fields f)
{
    struct field_of v;
    char name[120] = "process";
    if (fields_find(f, 2, &v))
        snprintf(name, sizeof name, "%.*s", (int)v.n, (const char *)v.p);
    if (fields_find(f, 4, &v)) {
        struct fields thread = fields_of(v.p, v.n);
        struct field_of text;
        cr_assert(fields_find(thread, 5, &text));
        snprintf(name, sizeof name, "%.*s", (int)text.n, (const char *)text.p);
        buf_printf(&r->text, "thread %s pid %d tid %d\n", name, (int)number(thread, 1),
                   (int)number(thread, 2));
    }
    if (number(f, 5) && fields_find(f, 2, &v) &&
        (strcmp(name, "queue") == 0 || strcmp(name, "not running") == 0))
        snprintf(name, sizeof name, "%s %.*s", text_of(&r->tracks, number(f, 5)), (int)v.n,
                 (const char *)v.p);
    remember(&r->tracks, number(f, 1), name, strlen(name));
}

static void put_arg(struct reader *r, struct fields f)
{
    struct field_of v;
    buf_printf(&r->text, " %s", text_of(&r->args, number(f, 1)));
    if (fields_find(f, 3, &v))
        buf_printf(&r->text, "=%d", (int)v.value);
    else if (fields_find(f, 17, &v))
        buf_printf(&r->text, "=%s", text_of(&r->values, v.value));
    else
        cr_assert_eq(number(f, 2), 1);
}

/* Flows are numbered as they come. */
static void put_flow(struct reader *r, const char *arrow, uint64_t id)
{
    size_t i = 0;
    while (i < r->flows.n && r->flows.id[i] != id)
        i++;
    if (i == r->flows.n)
        remember(&r->flows, id, "", 0);
    buf_printf(&r->text, " %s%zu", arrow, i + 1);
}

/* "5 worker-1: begin blocked 'blocked on shop.Order' lock=1"; times are us after the start. */
static void read_event(struct reader *r, uint64_t time, struct fields f)
{
    static const char *const types[] = {"?", "begin", "end", "at", "count"};
    struct field_of v;
    uint64_t type = number(f, 9);
    cr_assert(type >= 1 && type <= 4);
    buf_printf(&r->text, "%d %s: %s", (int)((time - BUILDER_START) / 1000),
               text_of(&r->tracks, number(f, 11)), types[type]);
    if (fields_find(f, 3, &v))
        buf_printf(&r->text, " %s", text_of(&r->categories, v.value));
    if (fields_find(f, 10, &v))
        buf_printf(&r->text, " '%s'", text_of(&r->names, v.value));
    if (fields_find(f, 30, &v))
        buf_printf(&r->text, " %d", (int)v.value);
    while (fields_next(&f, &v)) {
        if (v.number == 4)
            put_arg(r, fields_of(v.p, v.n));
        if (v.number == 47)
            put_flow(r, "->", v.value);
        if (v.number == 48)
            put_flow(r, "<-", v.value);
    }
    buf_putc(&r->text, '\n');
}

static void read_packets(struct reader *r, struct fields all);

static void read_packet(struct reader *r, struct fields f)
{
    struct field_of v;
    r->n_packets++;
    if (fields_find(f, 50, &v)) {
        struct buf packets = inflated(v.p, v.n);
        read_packets(r, fields_of(packets.p, packets.len));
        buf_fini(&packets);
        return;
    }
    cr_assert_eq(number(f, 10), 1);
    if (number(f, 13) & 1)
        r->clock = number(inside(f, 59), 58);
    read_interned(r, inside(f, 12));
    if (fields_find(f, 60, &v))
        read_track(r, fields_of(v.p, v.n));
    if (fields_find(f, 11, &v))
        read_event(r, number(f, 8), fields_of(v.p, v.n));
}

static void read_packets(struct reader *r, struct fields all)
{
    struct field_of v;
    while (fields_next(&all, &v)) {
        cr_assert_eq(v.number, 1);
        read_packet(r, fields_of(v.p, v.n));
    }
}

static struct reader *read_trace(struct trace *t, const struct model_options *o)
{
    struct reader *r = calloc(1, sizeof *r);
    struct buf b = model_file("perfetto", t, o, NULL);
    read_packets(r, fields_of(b.p, b.len));
    cr_assert_eq(r->clock, 3, "times are those of CLOCK_MONOTONIC");
    buf_fini(&b);
    trace_close(t);
    return r;
}

static void reader_free(struct reader *r)
{
    buf_fini(&r->text);
    free(r);
}

/* The lines about `track`, or all of them when it is "". */
static void track_is(const struct reader *r, const char *track, const char *expected)
{
    struct buf b = {0};
    char name[130];
    snprintf(name, sizeof name, " %s: ", track);
    for (const char *p = (const char *)r->text.p, *end; *p; p = end) {
        end = p + strcspn(p, "\n") + 1;
        const char *at = strchr(p, ' ');
        if (strncmp(p, "thread ", 7) != 0 && at && strncmp(at, name, strlen(name)) == 0) {
            buf_printf(&b, "%.*s ", (int)(at - p), p);
            at += strlen(name);
            buf_put(&b, at, (size_t)(end - at));
        }
    }
    cr_assert_str_eq(buf_str(&b), expected, "\ngot\n%s\nexpected\n%s", buf_str(&b), expected);
    buf_fini(&b);
}

static struct reader *read_all(struct trace_builder *b, uint64_t end)
{
    struct model_options o = model_options();
    struct reader *r = read_trace(builder_open(b, end), &o);
    buf_str(&r->text);
    return r;
}

#define US UINT64_C(1000)

/* --- threads ---------------------------------------------------------------------------------- */

static thread_id thread_of(struct trace_builder *b, const char *name, uint32_t os_tid,
                           uint32_t flags)
{
    thread_id id = {++b->n_threads};
    builder_def(b, &(struct def){.kind = DEF_thread,
                                 .thread = {.id = id,
                                            .java_tid = id.v,
                                            .os_tid = os_tid,
                                            .flags = flags,
                                            .name = {name, strlen(name)}}});
    return id;
}

Test(export_perfetto, threads_have_the_kernels_numbers_once)
{
    struct trace_builder b;
    builder_init(&b);
    thread_of(&b, "main", 100, 0);
    thread_of(&b, "v", 0, THREAD_VIRTUAL);
    thread_of(&b, "again", 100, 0);
    thread_of(&b, "over", 101, THREAD_ENDED);
    struct reader *r = read_all(&b, 1000);
    cr_assert_str_eq(buf_str(&r->text), "thread main pid 4711 tid 100\n"
                                        "thread v pid 4711 tid 8388610\n"
                                        "thread again pid 4711 tid 8388611\n");
    reader_free(r);
}

/* --- waits and arrows ------------------------------------------------------------------------- */

struct shop {
    struct trace_builder b;
    thread_id main, a, c;
    lock_id order;
    stack_id buy, sell;
};

static void shop_init(struct shop *s)
{
    builder_init(&s->b);
    s->main = builder_thread(&s->b, "main");
    s->a = builder_thread(&s->b, "a");
    s->c = builder_thread(&s->b, "c");
    s->order = builder_lock(&s->b, builder_class(&s->b, "Lshop/Order;"));
    s->buy = builder_stack(&s->b, "shop.Order.buy:10");
    s->sell = builder_stack(&s->b, "shop.Order.sell:20 shop.Main.main:4");
}

#define CLASS " lock_class=shop.Order lock=1"
#define BUY " stack=shop.Order.buy(Order.java:10)"
#define SELL " stack=shop.Order.sell(Order.java:20)\nshop.Main.main(Main.java:4)"

Test(export_perfetto, a_block_and_who_gave_the_lock_back)
{
    struct shop s;
    shop_init(&s);
    ADD(&s.b, 1, s.a, 1 * US, monitor_contended_enter, .lock = s.order, .owner = s.main,
        .stack = s.buy);
    ADD(&s.b, 1, s.a, 2 * US, owner_stack, .lock = s.order, .owner = s.main, .stack = s.sell);
    ADD(&s.b, 1, s.a, 6 * US, monitor_contended_entered, .lock = s.order);
    struct reader *r = read_all(&s.b, 10 * US);
    /* a stack's second line has no track of its own here */
    cr_assert_not_null(
        strstr(buf_str(&r->text),
               "1 a: begin blocked 'blocked on shop.Order'" CLASS " owner=main" BUY
               " owner_stack=shop.Order.sell(Order.java:20)\n"
               "shop.Main.main(Main.java:4) last_owner_seen=main ended_by=last-owner-seen\n"));
    track_is(r, "main", "6 at act 'last-owner-seen' target=a" CLASS " ->1\n");
    cr_assert_not_null(strstr(buf_str(&r->text), "6 a: end\n"));
    cr_assert_not_null(
        strstr(buf_str(&r->text), "6 a: at wake 'last-owner-seen' last_owner_seen=main <-1\n"));
    track_is(r, "shop.Order #1",
             "1 begin lock 'contended'" CLASS "\n6 end waits=1 longest_queue=1\n");
    track_is(r, "shop.Order #1 queue", "1 count 1\n6 count 0\n");
    reader_free(r);
}

Test(export_perfetto, a_wait_turns_into_a_block_at_its_notify)
{
    struct shop s;
    shop_init(&s);
    ADD(&s.b, 1, s.a, 1 * US, wait_enter, .lock = s.order, .stack = s.buy);
    ADD(&s.b, 2, s.main, 3 * US, notify, .lock = s.order);
    ADD(&s.b, 1, s.a, 5 * US, wait_exit, .lock = s.order);
    struct reader *r = read_all(&s.b, 10 * US);
    track_is(r, "a",
             "1 begin waiting 'waiting on shop.Order'" CLASS BUY " waker=main ended_by=notify\n"
             "3 end\n"
             "3 begin reacquiring 'reacquiring shop.Order'" CLASS " owner=main" BUY "\n"
             "5 end\n"
             "5 at wake 'notify' waker=main <-1\n");
    track_is(r, "main", "3 at act 'notify'" CLASS " woken=1 ->1\n");
    track_is(r, "shop.Order #1 queue", "3 count 1\n5 count 0\n");
    reader_free(r);
}

/* One act with two arrows: a flow of Perfetto's has two ends. */
Test(export_perfetto, an_act_that_woke_several_has_a_moment_for_each)
{
    struct shop s;
    shop_init(&s);
    ADD(&s.b, 1, s.a, 1 * US, wait_enter, .lock = s.order);
    ADD(&s.b, 2, s.c, 2 * US, wait_enter, .lock = s.order);
    ADD(&s.b, 3, s.main, 3 * US, notify_all, .lock = s.order);
    ADD(&s.b, 1, s.a, 5 * US, wait_exit, .lock = s.order);
    ADD(&s.b, 2, s.c, 6 * US, wait_exit, .lock = s.order);
    struct reader *r = read_all(&s.b, 10 * US);
    track_is(r, "main",
             "3 at act 'notify_all'" CLASS " woken=2\n"
             "3 at act 'notify-all' target=a" CLASS " ->1\n"
             "3 at act 'notify-all' target=c" CLASS " ->2\n");
    track_is(r, "shop.Order #1 queue", "3 count 1\n3 count 2\n5 count 1\n6 count 0\n");
    track_is(r, "shop.Order #1",
             "3 begin lock 'contended'" CLASS "\n6 end waits=2 longest_queue=2\n");
    reader_free(r);
}

Test(export_perfetto, starts_joins_parks_sleeps_and_interrupts)
{
    struct shop s;
    shop_init(&s);
    ADD(&s.b, 1, s.main, 1 * US, thread_start_called, .target = s.a);
    ADD0(&s.b, 2, s.a, 2 * US, thread_start);
    ADD(&s.b, 1, s.main, 3 * US, join_enter, .target = s.a);
    ADD(&s.b, 2, s.a, 4 * US, park_enter, .lock = s.order);
    ADD(&s.b, 3, s.c, 5 * US, unpark, .target = s.a);
    ADD(&s.b, 2, s.a, 6 * US, park_exit, .lock = s.order);
    ADD(&s.b, 2, s.a, 7 * US, sleep_enter, .timeout_ns = 1000000);
    ADD(&s.b, 3, s.c, 8 * US, interrupt, .target = s.a);
    ADD0(&s.b, 2, s.a, 9 * US, interrupted);
    ADD0(&s.b, 2, s.a, 10 * US, sleep_exit);
    ADD0(&s.b, 2, s.a, 11 * US, thread_end);
    ADD(&s.b, 1, s.main, 12 * US, join_exit, .target = s.a);
    struct reader *r = read_all(&s.b, 20 * US);
    track_is(r, "main",
             "1 at act 'thread_start_called' target=a woken=1 ->1\n"
             "3 begin joining 'joining' joins=a waker=a ended_by=dead-and-notify-joined\n"
             "12 end\n"
             "12 at wake 'dead-and-notify-joined' waker=a <-4\n");
    track_is(r, "a",
             "2 at wake 'starts-thread' waker=main <-1\n"
             "2 at act 'thread_start'\n"
             "4 begin parked 'parked for shop.Order'" CLASS " waker=c ended_by=unpark\n"
             "6 end\n"
             "6 at wake 'unpark' waker=c <-2\n"
             "7 begin sleeping 'sleeping' waker=c ended_by=interrupt interrupted\n"
             "9 at act 'interrupted'\n"
             "10 end\n"
             "10 at wake 'interrupt' waker=c <-3\n"
             "11 at act 'thread_end' woken=1 ->4\n");
    track_is(r, "shop.Order #1", ""); /* no thread was seen to own it: not a lock */
    reader_free(r);
}

/* The JVM reports nothing of a join; its limit passed, and the thread had not ended. */
Test(export_perfetto, a_join_and_a_park_that_time_out)
{
    struct trace_builder b;
    builder_init(&b);
    thread_id main = builder_thread(&b, "main"), a = builder_thread(&b, "a");
    ADD(&b, 1, main, 1000, join_enter, .target = a, .timeout_ns = 100);
    ADD(&b, 1, main, 1101, join_exit, .target = a);
    ADD(&b, 1, main, 2000, park_enter, .timeout_ns = 100);
    ADD(&b, 1, main, 2101, park_exit);
    ADD(&b, 1, main, 3000, join_enter, .target = a, .timeout_ns = 1000);
    ADD0(&b, 2, a, 3100, thread_end);
    ADD(&b, 1, main, 3101, join_exit, .target = a);
    struct reader *r = read_all(&b, 4000);
    const char *text = buf_str(&r->text);
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, "timed_out")) != NULL; at++)
        n++;
    cr_assert_eq(n, 2, "\n%s", text);
    reader_free(r);
}

Test(export_perfetto, what_goes_on_at_the_end_and_what_is_not_known)
{
    struct shop s;
    shop_init(&s);
    ADD(&s.b, 1, s.a, 2 * US, sleep_exit); /* its beginning is missing */
    ADD(&s.b, 1, s.a, 3 * US, monitor_contended_enter, .lock = s.order);
    struct reader *r = read_all(&s.b, 10 * US);
    track_is(r, "a",
             "2 at sleeping 'sleeping' unknown\n"
             "3 begin blocked 'blocked on shop.Order'" CLASS " open\n10 end\n");
    reader_free(r);
}

/* One slice stands for many waits, and says so. */
Test(export_perfetto, a_sum_of_short_waits)
{
    struct shop s;
    shop_init(&s);
    ADD(&s.b, 1, s.a, 8 * US, wait_sum, .kind = EV_monitor_contended_enter, .lock = s.order,
        .since = BUILDER_START + 2 * US, .until = BUILDER_START + 8 * US, .count = 40,
        .total = 5 * US, .longest = US);
    struct reader *r = read_all(&s.b, 10 * US);
    track_is(r, "a", "2 begin blocked 'blocked on shop.Order'" CLASS " waits=40\n7 end\n");
    reader_free(r);
}

Test(export_perfetto, pauses_of_the_collector)
{
    struct shop s;
    shop_init(&s);
    ADD0(&s.b, 1, s.main, 1 * US, gc_start);
    ADD0(&s.b, 1, s.main, 4 * US, gc_finish);
    struct reader *r = read_all(&s.b, 10 * US);
    track_is(r, "GC pauses", "1 begin gc 'GC pause'\n4 end\n");
    reader_free(r);
}

/* What kept a thread from running is below it; a stop for no collection has a track. */
Test(export_perfetto, who_did_not_run_and_stops)
{
    struct shop s;
    shop_init(&s);
    ADD(&s.b, 1, s.a, 6 * US, io, .what = IO_KIND_input, .bytes = -1,
        .since = BUILDER_START + 2 * US);
    ADD(&s.b, 3, s.a, 7 * US, turn, .since = BUILDER_START, .end = TURN_PREEMPTED);
    ADD(&s.b, 3, s.a, 9 * US, turn, .since = BUILDER_START + 8 * US, .end = TURN_WAITS);
    ADD(&s.b, 4, (thread_id){0}, 9 * US, turns_known, .since = BUILDER_START + 5 * US);
    ADD(&s.b, 5, (thread_id){0}, 5 * US, safepoint, .since = BUILDER_START + 3 * US,
        .reached = BUILDER_START + 4 * US);
    struct reader *r = read_all(&s.b, 9 * US);
    track_is(r, "a not running", "2 begin io 'input'\n6 end\n7 begin ready 'ready'\n8 end\n");
    track_is(r, "Safepoints", "3 begin safepoint '?' reached_ns=1000\n5 end\n");
    reader_free(r);
}

/* --- selections ------------------------------------------------------------------------------- */

static struct trace *notify_and_block(void)
{
    struct shop s;
    shop_init(&s);
    ADD(&s.b, 1, s.a, 1 * US, wait_enter, .lock = s.order);
    ADD(&s.b, 2, s.main, 3 * US, notify, .lock = s.order);
    ADD(&s.b, 1, s.a, 7 * US, wait_exit, .lock = s.order);
    ADD(&s.b, 3, s.c, 2 * US, monitor_contended_enter, .lock = s.order);
    ADD(&s.b, 3, s.c, 8 * US, monitor_contended_entered, .lock = s.order);
    return builder_open(&s.b, 10 * US);
}

Test(export_perfetto, waits_are_cut_and_arrows_from_outside_left_out)
{
    struct model_options o = model_options();
    o.selection.from = BUILDER_START + 4 * US;
    o.selection.to = BUILDER_START + 6 * US;
    struct reader *r = read_trace(notify_and_block(), &o);
    buf_str(&r->text);
    track_is(r, "a", "4 begin reacquiring 'reacquiring shop.Order'" CLASS " owner=main\n6 end\n");
    track_is(r, "c",
             "4 begin blocked 'blocked on shop.Order'" CLASS "\n"
             "6 end\n");
    track_is(r, "main", "");
    track_is(r, "shop.Order #1 queue", "4 count 1\n4 count 2\n6 count 1\n6 count 0\n");
    reader_free(r);
}

Test(export_perfetto, only_the_states_asked_for)
{
    struct model_options o = model_options();
    o.states = 1 << STATE_WAITING;
    struct reader *r = read_trace(notify_and_block(), &o);
    buf_str(&r->text);
    track_is(r, "a",
             "1 begin waiting 'waiting on shop.Order'" CLASS " waker=main ended_by=notify\n"
             "3 end\n"
             "7 at wake 'notify' waker=main <-1\n");
    track_is(r, "shop.Order #1 queue", "");
    reader_free(r);
}

Test(export_perfetto, threads_that_are_not_selected_have_no_part)
{
    static const bool chosen[] = {false, false, true, false}; /* a */
    struct model_options o = model_options();
    o.selection.threads = chosen;
    o.selection.n_threads = ARRAY_LEN(chosen);
    struct reader *r = read_trace(notify_and_block(), &o);
    cr_assert_eq(strncmp(buf_str(&r->text), "thread a", 8), 0);
    track_is(r, "a",
             "1 begin waiting 'waiting on shop.Order'" CLASS " waker=main ended_by=notify\n"
             "3 end\n"
             "3 begin reacquiring 'reacquiring shop.Order'" CLASS " owner=main\n"
             "7 end\n"
             "7 at wake 'notify' waker=main\n");
    track_is(r, "shop.Order #1 queue", "3 count 1\n7 count 0\n");
    reader_free(r);
}

/* --- size ------------------------------------------------------------------------------------- */

Test(export_perfetto, texts_are_explained_once_however_long_the_trace_is)
{
    struct trace_builder b;
    builder_init(&b);
    thread_id t = builder_thread(&b, "t");
    lock_id lock = builder_lock(&b, builder_class(&b, "Lshop/Order;"));
    stack_id buy = builder_stack(&b, "shop.Order.buy:10 shop.Main.main:3");
    uint64_t n = 50000;
    for (uint64_t i = 0; i < n; i++) {
        ADD(&b, 1, t, i * 2 * US, monitor_contended_enter, .lock = lock, .stack = buy);
        ADD(&b, 1, t, i * 2 * US + 1000, monitor_contended_entered, .lock = lock);
    }
    struct model_options o = model_options();
    struct trace *trace = builder_open(&b, 2 * n * US);
    struct buf file = model_file("perfetto", trace, &o, NULL);
    cr_assert_lt(file.len, 40 * n, "%zu bytes", file.len);
    buf_fini(&file);
    struct reader *r = read_trace(trace, &o);
    cr_assert_gt(r->n_packets, 6 * n);
    cr_assert_lt(r->n_interned, 50);
    reader_free(r);
}

/* --- turns ------------------------------------------------------------------------------------ */

Test(perfetto_turns, come_in_the_order_of_time)
{
    struct buf v = {0};
    struct turn t;
    uint64_t seed = 1, last = 0;
    size_t pushed = 0, popped = 0;
    for (uint64_t now = 0; now < 2000; now++) {
        for (unsigned i = 0; i < 3; i++, pushed++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            turns_push(&v, (struct turn){.time = now + (seed >> 33) % 100});
        }
        while (turns_pop(&v, now, &t)) {
            cr_assert(t.time >= last && t.time <= now);
            last = t.time;
            popped++;
        }
    }
    while (turns_pop(&v, UINT64_MAX, &t)) {
        cr_assert_geq(t.time, last);
        last = t.time;
        popped++;
    }
    cr_assert_eq(pushed, popped);
    buf_fini(&v);
}

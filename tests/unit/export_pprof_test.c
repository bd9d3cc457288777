#include "base/util.h"
#include "export/waits.h"
#include "model_files.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* --- a profile as text ------------------------------------------------------------------------ */

enum { STRINGS_MAX = 200, TABLE_MAX = 100 };

/* profile.proto, read as it stands there: tables anywhere. */
struct profile {
    struct buf bytes;
    char *strings[STRINGS_MAX];
    size_t n_strings;
    uint64_t name_of[TABLE_MAX], file_of[TABLE_MAX];     /* of a function: strings */
    uint64_t function_of[TABLE_MAX], line_of[TABLE_MAX]; /* of a location */
};

static uint64_t number(struct fields f, uint32_t field)
{
    struct field_of v;
    return fields_find(f, field, &v) ? v.value : 0;
}

static void read_function(struct profile *p, struct fields f)
{
    uint64_t id = number(f, 1);
    cr_assert(id && id < TABLE_MAX && !p->name_of[id]);
    p->name_of[id] = number(f, 2);
    p->file_of[id] = number(f, 4);
}

static void read_location(struct profile *p, struct fields f)
{
    struct field_of line;
    uint64_t id = number(f, 1);
    cr_assert(id && id < TABLE_MAX && !p->function_of[id]);
    cr_assert(fields_find(f, 4, &line));
    p->function_of[id] = number(fields_of(line.p, line.n), 1);
    p->line_of[id] = number(fields_of(line.p, line.n), 2);
    cr_assert(p->function_of[id]);
}

static void read_tables(struct profile *p, struct buf zipped)
{
    struct field_of f;
    memset(p, 0, sizeof *p);
    p->bytes = inflated(zipped.p, zipped.len);
    buf_fini(&zipped);
    struct fields all = fields_of(p->bytes.p, p->bytes.len);
    while (fields_next(&all, &f)) {
        if (f.number == 6) {
            cr_assert_lt(p->n_strings, STRINGS_MAX);
            p->strings[p->n_strings++] = strndup((const char *)f.p, f.n);
        } else if (f.number == 5) {
            read_function(p, fields_of(f.p, f.n));
        } else if (f.number == 4) {
            read_location(p, fields_of(f.p, f.n));
        }
    }
    cr_assert_str_eq(p->strings[0], "");
}

static const char *string(const struct profile *p, uint64_t i)
{
    cr_assert_lt(i, p->n_strings);
    return p->strings[i];
}

static void put_location(struct buf *b, const struct profile *p, uint64_t id)
{
    cr_assert(id && id < TABLE_MAX && p->function_of[id], "no location %d", (int)id);
    uint64_t function = p->function_of[id];
    buf_printf(b, " %s(%s:%d)", string(p, p->name_of[function]), string(p, p->file_of[function]),
               (int)p->line_of[id]);
}

/* "1 5000 | shop.Order.buy(Order.java:10) ... | thread=worker-1 ..." */
static void put_sample(struct buf *b, const struct profile *p, struct fields f)
{
    struct field_of v;
    struct buf stack = {0}, labels = {0};
    while (fields_next(&f, &v)) {
        struct fields inner = fields_of(v.p, v.n);
        if (v.number == 2)
            while (inner.p < inner.end)
                buf_printf(b, "%d ", (int)fields_varint(&inner));
        else if (v.number == 1)
            while (inner.p < inner.end)
                put_location(&stack, p, fields_varint(&inner));
        else
            buf_printf(&labels, " %s=%s", string(p, number(inner, 1)), string(p, number(inner, 2)));
    }
    buf_printf(b, "|%s |%s\n", buf_str(&stack), buf_str(&labels));
    buf_fini(&stack);
    buf_fini(&labels);
}

/* Sample types, then the samples, a line each. */
static char *text_of(const struct profile *p)
{
    struct buf b = {0};
    struct field_of f;
    struct fields all = fields_of(p->bytes.p, p->bytes.len);
    while (fields_next(&all, &f)) {
        struct fields inner = fields_of(f.p, f.n);
        if (f.number == 1)
            buf_printf(&b, "%s/%s\n", string(p, number(inner, 1)), string(p, number(inner, 2)));
        if (f.number == 2)
            put_sample(&b, p, inner);
    }
    buf_str(&b);
    return (char *)b.p;
}

static void profile_free(struct profile *p)
{
    for (size_t i = 0; i < p->n_strings; i++)
        free(p->strings[i]);
    buf_fini(&p->bytes);
}

static void profile_is(struct trace *t, const struct model_options *o, const char *expected)
{
    struct profile p;
    read_tables(&p, model_file("pprof", t, o, NULL));
    char *text = text_of(&p);
    cr_assert_str_eq(text, expected, "\ngot\n%s\nexpected\n%s", text, expected);
    free(text);
    profile_free(&p);
    trace_close(t);
}

/* --- profiles --------------------------------------------------------------------------------- */

/* Two threads block, one of them twice in one place; main sleeps. */
static void define(struct trace_builder *b)
{
    builder_init(b);
    thread_id main = builder_thread(b, "main"), a = builder_thread(b, "worker-1"),
              c = builder_thread(b, "worker-2");
    lock_id order = builder_lock(b, builder_class(b, "Lshop/Order;"));
    stack_id buy = builder_stack(b, "shop.Order.buy:10 shop.Main.main:3");
    stack_id sell = builder_stack(b, "shop.Order.sell:20 shop.Main.main:4");
    ADD(b, 1, a, 1000, monitor_contended_enter, .lock = order, .owner = main, .stack = buy);
    ADD(b, 1, a, 1100, owner_stack, .lock = order, .owner = main, .stack = sell);
    ADD(b, 1, a, 6000, monitor_contended_entered, .lock = order);
    ADD(b, 1, a, 7000, monitor_contended_enter, .lock = order, .owner = main, .stack = buy);
    ADD(b, 1, a, 9000, monitor_contended_entered, .lock = order);
    ADD(b, 2, c, 2000, monitor_contended_enter, .lock = order, .stack = {99});
    ADD(b, 2, c, 3000, monitor_contended_entered, .lock = order);
    ADD(b, 3, main, 2000, sleep_enter, .stack = sell);
    ADD(b, 3, main, 8000, sleep_exit);
}

static struct trace *blocks(void)
{
    struct trace_builder b;
    define(&b);
    return builder_open(&b, 10000);
}

#define BUY " shop.Order.buy(Order.java:10) shop.Main.main(Main.java:3) |"
#define SELL " shop.Order.sell(Order.java:20) shop.Main.main(Main.java:4) |"
#define TYPES "contentions/count\ndelay/nanoseconds\n"
#define CLASS " lock_class=shop.Order"

Test(export_pprof, stacks_values_and_labels)
{
    struct model_options o = model_options();
    profile_is(blocks(), &o,
               TYPES "2 7000 |" BUY " thread=worker-1" CLASS " state=blocked\n"
                     "1 1000 | [no stack](:0) | thread=worker-2" CLASS " state=blocked\n");
}

Test(export_pprof, states)
{
    struct model_options o = model_options();
    o.states = 1 << STATE_SLEEPING;
    profile_is(blocks(), &o, TYPES "1 6000 |" SELL " thread=main state=sleeping\n");
}

/* Of one it was asked; the other one began while it slept. */
Test(export_pprof, by_the_owner)
{
    struct model_options o = model_options();
    o.by = MODEL_BY_OWNER;
    profile_is(blocks(), &o,
               TYPES "2 7000 |" SELL " thread=worker-1" CLASS " state=blocked owner=main\n");
}

Test(export_pprof, holds_have_values_of_their_own)
{
    struct trace_builder b;
    define(&b);
    thread_id main = {1};
    stack_id sell = {2};
    for (uint64_t i = 0; i < 3; i++)
        ADD(&b, 3, main, 8100 + 100 * i, hold, .lock = {1}, .since = BUILDER_START + 8070 + 100 * i,
            .stack = sell);
    ADD(&b, 3, main, 9000, hold, .lock = {1}, .since = BUILDER_START, .stack = sell, .mode = 2);
    struct model_options o = model_options();
    o.states = 1 << STATE_SLEEPING;
    profile_is(builder_open(&b, 10000), &o,
               TYPES "holds/count\nhold/nanoseconds\n"
                     "1 6000 0 0 |" SELL " thread=main state=sleeping\n"
                     "0 0 3 90 |" SELL " thread=main" CLASS " state=held\n");
}

/* --- allocations ------------------------------------------------------------------------------ */

static void define_heap(struct trace_builder *b, bool counted)
{
    builder_init(b);
    thread_id a = builder_thread(b, "worker-1");
    class_id text = builder_class(b, "[B");
    stack_id buy = builder_stack(b, "shop.Order.buy:10 shop.Main.main:3");
    if (counted) {
        ADD(b, 1, a, 2000, object_allocs, .class_ = text, .stack = buy, .count = 7, .bytes = 700,
            .since = BUILDER_START);
        return;
    }
    for (uint64_t i = 0; i < 3; i++)
        ADD(b, 1, a, i, object_sample, .object = i + 1, .class_ = text, .size = 100, .weight = 1000,
            .stack = buy);
    ADD(b, 1, a, 9, object_free, .object = 1, .class_ = text, .size = 100, .weight = 1000,
        .stack = buy, .since = BUILDER_START, .allocated_by = a);
}

static void allocations_are(bool counted, enum model_by by, const char *expected)
{
    struct trace_builder b;
    struct model_options o = model_options();
    o.by = by;
    define_heap(&b, counted);
    profile_is(builder_open(&b, 10000), &o, expected);
}

Test(export_pprof, allocations_are_as_in_a_heap_profile_of_go)
{
    allocations_are(false, MODEL_BY_LIVE,
                    "alloc_objects/count\nalloc_space/bytes\n"
                    "not_freed_objects/count\nnot_freed_space/bytes\n"
                    "30 3000 20 2000 |" BUY " thread=worker-1 class=byte[]\n");
}

Test(export_pprof, counted_allocations)
{
    allocations_are(true, MODEL_BY_ALLOC,
                    "alloc_objects/count\nalloc_space/bytes\n"
                    "7 700 |" BUY " thread=worker-1 class=byte[]\n");
}

Test(export_pprof, when_and_how_long)
{
    struct profile p;
    struct trace *t = blocks();
    struct model_options o = model_options();
    o.selection.from = BUILDER_START + 4000;
    read_tables(&p, model_file("pprof", t, &o, NULL));
    struct fields all = fields_of(p.bytes.p, p.bytes.len);
    cr_assert_eq(number(all, 9), t->header.start_real + 4000);
    cr_assert_eq(number(all, 10), 6000);
    cr_assert_str_eq(string(&p, number(all, 14)), "delay");
    profile_free(&p);
    trace_close(t);
}

/* More than is compressed at once. */
Test(export_pprof, many_samples)
{
    struct trace_builder b;
    struct model_job job = {0};
    struct model_options o = model_options();
    builder_init(&b);
    lock_id lock = builder_lock(&b, builder_class(&b, "Lshop/Order;"));
    stack_id buy = builder_stack(&b, "shop.Order.buy:10");
    uint64_t n = 20000, sum = 0, count = 0;
    for (uint64_t i = 0; i < n; i++) {
        thread_id t = builder_thread(&b, "w");
        ADD(&b, 1, t, i * 100, monitor_contended_enter, .lock = lock, .stack = buy);
        ADD(&b, 1, t, i * 100 + i % 90, monitor_contended_entered, .lock = lock);
        sum += i % 90;
    }
    struct trace *t = builder_open(&b, n * 100);
    struct buf zipped = model_file("pprof", t, &o, &job), all = inflated(zipped.p, zipped.len);
    struct fields f = fields_of(all.p, all.len);
    struct field_of sample, values;
    while (fields_next(&f, &sample))
        if (sample.number == 2 && fields_find(fields_of(sample.p, sample.n), 2, &values)) {
            struct fields v = fields_of(values.p, values.n);
            count += fields_varint(&v);
            sum -= fields_varint(&v);
        }
    cr_assert_eq(job.written, n);
    cr_assert_eq(count, n);
    cr_assert_eq(sum, 0);
    buf_fini(&zipped);
    buf_fini(&all);
    trace_close(t);
}

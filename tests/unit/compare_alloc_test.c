/* compare_alloc_test.c - what was allocated, in two recordings side by side: made-up programs whose
 * rates are known. */
#include "conclude/compare.h"
#include "conclude/resource.h"
#include "trace_builder.h"

#include <criterion/criterion.h>
#include <string.h>

enum { LENGTH = 16000000, STEP = 1000000, STEPS = LENGTH / STEP, SECOND = 1000000000 };

static struct trace_builder builder;
static thread_id ann;
static class_id class_;
static stack_id stack;
static uint64_t number;
static struct arena arena;
static struct summary a, b;
static struct compare_row *rows;
static size_t n;

static void init(void)
{
    arena_init(&arena, 0);
}

static void release(void)
{
    summary_fini(&a);
    summary_fini(&b);
    arena_fini(&arena);
}

TestSuite(compare_alloc, .init = init, .fini = release);

static void begin(const char *class_name)
{
    builder_init(&builder);
    ann = builder_thread(&builder, "ann");
    class_ = builder_class(&builder, class_name);
    stack = builder_stack(&builder, "shop.Order.submit:88 shop.Main.main:12");
    number = 0;
}

static void end(struct summary *out)
{
    struct analysis *analysis;
    struct err err = {""};
    struct trace *trace = builder_open(&builder, LENGTH);
    cr_assert_eq(conclude_run(&analysis, trace, &err), 0, "%s", err.msg);
    cr_assert_eq(summary_make(out, analysis, &err), 0);
    analysis_free(analysis);
    trace_close(trace);
}

static void compare_both(void)
{
    cr_assert_eq(compare(&a, &b, &arena, &rows, &n), 0);
}

static const struct compare_row *find(enum compare_kind kind, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (rows[i].kind == kind && strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

static const struct compare_row *row(enum compare_kind kind, const char *name)
{
    const struct compare_row *r = find(kind, name);
    cr_assert_not_null(r, "no row %s", name);
    return r;
}

/* Objects of that number of bytes, counted, in every step. */
static void counted(struct summary *out, const char *class_name, uint64_t objects, uint64_t bytes)
{
    begin(class_name);
    for (uint64_t i = 0; i < STEPS; i++)
        ADD(&builder, 1, ann, (i + 1) * STEP - 1, object_allocs, .class_ = class_, .stack = stack,
            .count = objects, .bytes = objects * bytes, .since = BUILDER_START + i * STEP);
    end(out);
}

/* So many samples in all, evenly, each of 512 KiB. */
static void sampled(struct summary *out, uint64_t samples)
{
    begin("Lshop/Order;");
    for (uint64_t i = 0; i < samples; i++)
        ADD(&builder, 1, ann, i * LENGTH / samples, object_sample, .object = ++number,
            .class_ = class_, .stack = stack, .size = 1024, .weight = 512 * 1024);
    end(out);
}

Test(compare_alloc, more_and_less)
{
    counted(&a, "Lshop/Order;", 10, 100);
    counted(&b, "Lshop/Order;", 30, 100);
    compare_both();
    const struct compare_row *r = row(COMPARE_ALLOCATED_CLASS, "shop.Order");
    cr_assert_eq(r->verdict, COMPARE_MORE);
    cr_assert_eq(r->a.count, 10 * STEPS);
    cr_assert_eq(r->a.bytes, 1000 * STEPS);
    cr_assert_eq(r->a.samples, 0, "it is no estimate");
    cr_assert_eq(r->b.count, 30 * STEPS);
    cr_assert_float_eq(r->a.rate, 1000.0 * SECOND / STEP, 1);
    cr_assert_float_eq(r->b.rate, 3000.0 * SECOND / STEP, 1);
    cr_assert_eq(r->a.error, 0);
    for (int i = 0; i < COMPARE_SLICES; i++)
        cr_assert_float_eq(r->b.slice[i], r->b.rate, r->b.rate * 0.01, "part %d", i);
    r = row(COMPARE_ALLOCATED_PLACE, "shop.Order at shop.Order.submit (Order.java:88)");
    cr_assert_eq(r->verdict, COMPARE_MORE);
    cr_assert_null(find(COMPARE_GROWTH_CLASS, "shop.Order"), "counted objects have no ends");
}

Test(compare_alloc, as_before)
{
    counted(&a, "Lshop/Order;", 100, 100);
    counted(&b, "Lshop/Order;", 105, 100);
    compare_both();
    cr_assert_eq(row(COMPARE_ALLOCATED_CLASS, "shop.Order")->verdict, COMPARE_SAME);
}

Test(compare_alloc, new_and_gone)
{
    counted(&a, "Lshop/Order;", 10, 100);
    counted(&b, "Lshop/Stock;", 10, 100);
    compare_both();
    const struct compare_row *r = row(COMPARE_ALLOCATED_CLASS, "shop.Order");
    cr_assert_eq(r->verdict, COMPARE_LESS);
    cr_assert_eq(r->b.count, 0);
    cr_assert_eq(row(COMPARE_ALLOCATED_CLASS, "shop.Stock")->verdict, COMPARE_MORE);
}

/* Half as many again, of so few samples, is what chance does; of many it is not. */
Test(compare_alloc, samples)
{
    sampled(&a, 32);
    sampled(&b, 48);
    compare_both();
    const struct compare_row *r = row(COMPARE_ALLOCATED_CLASS, "shop.Order");
    cr_assert_eq(r->a.samples, 32);
    cr_assert_eq(r->a.bytes, 32 * 512 * 1024);
    cr_assert_float_eq(r->a.error / r->a.rate, 0.1768, 0.0001);
    cr_assert_eq(r->verdict, COMPARE_NOISE, "p %g", r->p);
    summary_fini(&a);
    summary_fini(&b);
    sampled(&a, 640);
    sampled(&b, 960);
    compare_both();
    r = row(COMPARE_ALLOCATED_CLASS, "shop.Order");
    cr_assert_eq(r->verdict, COMPARE_MORE, "p %g", r->p);
}

/* One sample more than none is not a difference. */
Test(compare_alloc, one_sample)
{
    sampled(&a, 640);
    begin("Lshop/Stock;");
    ADD(&builder, 1, ann, 5000, object_sample, .object = 1, .class_ = class_, .stack = stack,
        .size = 1024, .weight = 512 * 1024);
    end(&b);
    compare_both();
    cr_assert_eq(row(COMPARE_ALLOCATED_CLASS, "shop.Stock")->verdict, COMPARE_NOISE);
    cr_assert_eq(row(COMPARE_ALLOCATED_CLASS, "shop.Order")->verdict, COMPARE_LESS);
}

/* What was not recorded is neither new nor gone. */
Test(compare_alloc, recorded_in_one_alone)
{
    counted(&a, "Lshop/Order;", 10, 100);
    begin("Lshop/Order;");
    end(&b);
    compare_both();
    cr_assert(a.has_allocs);
    cr_assert_not(b.has_allocs);
    for (size_t i = 0; i < n; i++)
        cr_assert_not(compare_is_of_allocs(rows[i].kind));
}

/* An object of `size` in every step, found freed `life` steps later (0: never); a collection at the
 * end of each. */
static void living(struct summary *out, uint64_t size, uint64_t life)
{
    begin("Lshop/Order;");
    for (uint64_t i = 0; i < STEPS; i++) {
        uint64_t time = i * STEP;
        ADD(&builder, 1, ann, time + 10, object_alloc, .object = i + 1, .class_ = class_,
            .stack = stack, .size = size);
        ADD0(&builder, 2, (thread_id){0}, time + 20, gc_start);
        ADD0(&builder, 2, (thread_id){0}, time + 30, gc_finish);
        if (life && i >= life)
            ADD(&builder, 2, (thread_id){0}, time + 40, object_free, .object = i - life + 1,
                .class_ = class_, .stack = stack, .size = size,
                .since = BUILDER_START + (i - life) * STEP + 10, .allocated_by = ann);
    }
    end(out);
}

Test(compare_alloc, growth)
{
    enum { SIZE = 65536 };
    living(&a, SIZE, 2);
    living(&b, SIZE, 0);
    compare_both();
    cr_assert(a.has_growth && b.has_growth);
    const struct compare_row *r = row(COMPARE_GROWTH_CLASS, "shop.Order");
    cr_assert_float_eq(r->a.rate, 0, SIZE);
    cr_assert_float_eq(r->b.rate, (double)SIZE * SECOND / STEP, SIZE);
    cr_assert_eq(r->b.count, STEPS);
    cr_assert_eq(r->verdict, COMPARE_WORSE);
    r = row(COMPARE_GROWTH_PLACE, "shop.Order at shop.Order.submit (Order.java:88)");
    cr_assert_eq(r->verdict, COMPARE_WORSE);
    cr_assert_eq(row(COMPARE_ALLOCATED_CLASS, "shop.Order")->verdict, COMPARE_SAME);
    summary_fini(&a);
    living(&a, SIZE, 0);
    compare_both();
    cr_assert_eq(row(COMPARE_GROWTH_CLASS, "shop.Order")->verdict, COMPARE_SAME);
    summary_fini(&b);
    living(&b, SIZE, 3);
    compare_both();
    cr_assert_eq(row(COMPARE_GROWTH_CLASS, "shop.Order")->verdict, COMPARE_BETTER);
}

/* What goes up and down has no direction that is more than noise. */
Test(compare_alloc, growth_that_is_noise)
{
    for (int side = 0; side < 2; side++) {
        begin("Lshop/Order;");
        for (uint64_t i = 0; i < STEPS; i++) {
            uint64_t time = i * STEP, size = 65536 * (1 + (i * (side ? 7 : 5)) % 11);
            ADD(&builder, 1, ann, time + 10, object_alloc, .object = i + 1, .class_ = class_,
                .stack = stack, .size = size);
            ADD0(&builder, 2, (thread_id){0}, time + 20, gc_start);
            ADD0(&builder, 2, (thread_id){0}, time + 30, gc_finish);
            if (i + 1 < STEPS) /* found by the collection after the next */
                ADD(&builder, 2, (thread_id){0}, time + STEP - 1, object_free, .object = i + 1,
                    .class_ = class_, .stack = stack, .size = size,
                    .since = BUILDER_START + time + 10, .allocated_by = ann);
        }
        end(side ? &b : &a);
    }
    compare_both();
    const struct compare_row *r = row(COMPARE_GROWTH_CLASS, "shop.Order");
    cr_assert(r->verdict == COMPARE_NOISE || r->verdict == COMPARE_SAME, "p %g", r->p);
}

/* Searches of a thread's spans by time. */
#include "analyze/timeline.h"
#include "base/util.h"

#include <criterion/criterion.h>

enum { THREAD = 1 };

/* Some begin at one time. */
static void add_spans(struct timeline *t, uint32_t n)
{
    uint64_t time = 10;
    for (uint32_t i = 0; i < n; i++) {
        const struct interval v = {
            .start = time, .end = time, .thread = THREAD, .state = STATE_PARKED};
        cr_assert_eq(timeline_take(t, &v, 1), 0);
        time += i * 7 % 5;
    }
}

/* Each time, by a count from the beginning. */
static void check(const struct line *l)
{
    static const int around[] = {-17, -2, -1, 0, 1, 2, 17};
    uint64_t last = line_span(l, l->spans.n - 1)->start;
    uint32_t begun = 0;
    for (uint64_t time = 0; time <= last + 1; time++) {
        while (begun < l->spans.n && line_span(l, begun)->start <= time)
            begun++;
        cr_assert_eq(line_spans_until(l, time), begun, "%u spans at %u", l->spans.n,
                     (unsigned)time);
        for (size_t i = 0; i < ARRAY_LEN(around); i++)
            cr_assert_eq(line_spans_near(l, time, begun + (uint32_t)around[i]), begun);
    }
}

Test(spans, by_time)
{
    static const uint32_t sizes[] = {1, 15, 16, 17, 31, 32, 33, 500, 5000};
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct timeline t;
        cr_assert_eq(timeline_init(&t), 0);
        add_spans(&t, sizes[i]);
        check(&t.lines[THREAD]);
        cr_assert_eq(timeline_index(&t), 0);
        cr_assert_eq(t.lines[THREAD].starts != NULL, sizes[i] > SPANS_EACH);
        check(&t.lines[THREAD]);
        timeline_fini(&t);
    }
}

Test(spans, by_time_after_numbers_changed)
{
    const struct timeline_piece more = {.from = 1, .to = 2, .context = {.what = STATE_PARKED}};
    struct timeline t;
    cr_assert_eq(timeline_init(&t), 0);
    add_spans(&t, 100);
    cr_assert_eq(timeline_index(&t), 0);
    cr_assert_eq(timeline_put_pieces(&t, THREAD, &more, 1), 0);
    check(&t.lines[THREAD]);
    timeline_fini(&t);
}

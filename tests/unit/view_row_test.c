/* view_row_test.c - tiles of traces made by hand: one small fact each; and the names of rows. */
#include "analyzed.h"
#include "view_read.h"

#include <string.h>

static struct view *v;

static void begin_view(uint64_t end)
{
    struct err err = {""};
    const struct view_about about = {.gen = 7, .name = "test"};
    analyzed_run(end);
    cr_assert_eq(view_new(&v, a, &about, &err), 0, "%s", err.msg);
}

static void end_view(void)
{
    view_free(v);
}

static struct read_row row_of(unsigned level, int64_t i, char kind, uint32_t number,
                              struct buf *answer)
{
    static struct read_tile got;
    buf_clear(answer);
    cr_assert_eq(view_tile(v, level, i, &(struct view_row){kind, number}, 1, answer), 0);
    read_tile(&got, answer);
    return got.rows[0];
}

TestSuite(view_row, .init = analyzed_begin, .fini = end_view);

Test(view_row, a_wait_that_reaches_into_the_tile)
{
    struct buf out = {0};
    does_sleep(ann, 100, 5000);
    begin_view(10000);
    struct read_row row = row_of(0, 2, 't', ann.v, &out); /* 1024 to 1536 */
    cr_assert_eq(row.kind, 0);
    cr_assert_eq(row.n, 1);
    cr_assert_eq(row.start[0], 100);
    cr_assert_eq(row.end[0], 5000);
    cr_assert_eq(row_of(0, 10, 't', ann.v, &out).kind, 4);
    cr_assert_eq(row_of(0, -1, 't', ann.v, &out).kind, 4);
    cr_assert_eq(row_of(0, 0, 't', bob.v, &out).kind, 4, "a thread without waits");
    cr_assert_eq(row_of(VIEW_LEVEL_MAX, 0, 't', ann.v, &out).n, 1);
    buf_fini(&out);
}

Test(view_row, more_waits_than_are_told_one_by_one)
{
    struct buf out = {0};
    for (uint64_t i = 0; i <= VIEW_EXACT_MAX; i++)
        does_sleep(ann, 1000 + i * 10, 1005 + i * 10);
    begin_view(100000);
    struct read_row row = row_of(6, 0, 't', ann.v, &out);
    cr_assert_eq(row.kind, 1);
    cr_assert_eq(row.cells[0].v[6], 255);
    cr_assert_eq(row.cells[0].v[STATE_SLEEPING], 0);
    cr_assert_eq(row.cells[20].v[STATE_SLEEPING], 135, "34 of 64");
    cr_assert_eq(row.cells[20].v[7], 7);
    buf_fini(&out);
}

Test(view_row, a_set_counts_against_those_that_live_at_once)
{
    struct buf out = {0};
    does_sleep(ann, 0, 51200);
    begin_view(51200);
    const struct view_set *groups = view_groups(v);
    cr_assert_eq(groups->n, 1);
    cr_assert_str_eq(groups->names[0], "main");
    cr_assert_eq(groups->peak[0], 4);
    cr_assert_eq(view_pools(v)->n, 4);
    struct read_row row = row_of(6, 0, 'g', 0, &out);
    cr_assert_eq(row.kind, 1);
    cr_assert_eq(row.m, 4);
    cr_assert_eq(row.cells[0].v[STATE_SLEEPING], 64);
    cr_assert_eq(row.cells[0].v[6], 255);
    buf_fini(&out);
}

Test(view_row, tiles_that_do_not_exist)
{
    struct buf out = {0};
    const struct view_row row = {'t', 1};
    begin_view(1000);
    cr_assert_eq(view_tile(v, VIEW_LEVEL_MAX + 1, 0, &row, 1, &out), -EINVAL);
    cr_assert_eq(view_tile(v, VIEW_LEVEL_MAX, INT64_MAX, &row, 1, &out), -EINVAL);
    cr_assert_eq(view_tile(v, 20, INT64_MIN, &row, 1, &out), -EINVAL);
    cr_assert_eq(view_tile(v, VIEW_LEVEL_MAX, 1023, &row, 1, &out), -EINVAL, "its end");
    cr_assert_eq(out.len, 0);
    cr_assert_eq(view_tile(v, VIEW_LEVEL_MAX, -1024, &row, 1, &out), 0);
    cr_assert_eq(view_tile(v, VIEW_LEVEL_MAX, 1022, &row, 1, &out), 0);
    cr_assert_eq(view_gen(v), 7);
    buf_fini(&out);
}

/* In a flight recorder's file, of which the earliest event is older than the beginning that the
 * header tells. */
Test(view_row, a_wait_that_began_before)
{
    struct buf out = {0};
    b.header.capacity = 1 << 20;
    b.header.evicted_events = 5;
    does_sleep(bob, (uint64_t)-600, (uint64_t)-20);
    ADD(&b, 1, ann, 50000, wait_open, .kind = EV_wait_enter, .lock = lock, .since = at(0) - 700,
        .limit = WAIT_UNLIMITED);
    begin_view(60000);
    struct read_row row = row_of(0, -1, 't', ann.v, &out);
    cr_assert_eq(row.kind, 0);
    cr_assert_eq(row.start[0], -600, "where the window begins");
    cr_assert_eq(row.end[0], 60000);
    cr_assert_eq(row.flags[0], INTERVAL_OPEN);
    row = row_of(0, -2, 't', bob.v, &out);
    cr_assert_eq(row.n, 1);
    cr_assert_eq(row.end[0], -20);
    cr_assert_eq(row_of(0, -3, 't', ann.v, &out).kind, 4);
    buf_fini(&out);
}

Test(view_row, nothing_was_recorded)
{
    struct buf out = {0};
    begin_view(0);
    cr_assert_eq(row_of(0, 0, 't', ann.v, &out).kind, 4);
    cr_assert_eq(row_of(0, 0, 'g', 0, &out).kind, 4, "the recording has no length");
    buf_fini(&out);
}

/* --- locks ------------------------------------------------------------------------------------ */

static void check_hold(const struct read_row *row, uint32_t k, thread_id owner, double from,
                       double to)
{
    cr_assert_lt(k, row->m);
    cr_assert_eq(row->owner[k], owner.v);
    cr_assert_eq(row->from[k], from);
    cr_assert_eq(row->to[k], to);
    cr_assert_eq(row->sure[k], 0);
}

Test(view_row, a_lock_handed_on_while_others_wait)
{
    struct buf out = {0};
    does_block(ann, 100, 300, lock, bob);
    does_block(cat, 150, 500, lock, bob);
    begin_view(1000);
    struct read_row row = row_of(1, 0, 'l', lock.v, &out);
    cr_assert_eq(row.kind, 2);
    cr_assert_eq(row.n, 2);
    cr_assert_eq(row.m, 2, "after 500 nothing is known");
    check_hold(&row, 0, bob, 100, 300);
    check_hold(&row, 1, ann, 300, 500);
    cr_assert_eq(row_of(1, 0, 'l', other_lock.v, &out).kind, 4);
    buf_fini(&out);
}

/* Between the waits anybody may have had it. */
Test(view_row, a_lock_without_a_queue)
{
    struct buf out = {0};
    does_block(ann, 100, 200, lock, bob);
    does_block(ann, 300, 400, lock, bob);
    begin_view(1000);
    struct read_row row = row_of(1, 0, 'l', lock.v, &out);
    cr_assert_eq(row.m, 2);
    check_hold(&row, 0, bob, 100, 200);
    check_hold(&row, 1, bob, 300, 400);
    buf_fini(&out);
}

Test(view_row, a_lock_whose_owner_nobody_saw)
{
    struct buf out = {0};
    does_block(ann, 100, 200, lock, (thread_id){0});
    begin_view(1000);
    cr_assert_eq(row_of(1, 0, 'l', lock.v, &out).m, 0);
    buf_fini(&out);
}

Test(view_row, a_lock_that_is_waited_for_at_the_end)
{
    struct buf out = {0};
    ADD(&b, 1, ann, 100, monitor_contended_enter, .lock = lock, .owner = bob, .stack = stack);
    begin_view(1000);
    struct read_row row = row_of(1, 0, 'l', lock.v, &out);
    cr_assert_eq(row.m, 1);
    check_hold(&row, 0, bob, 100, 1000);
    buf_fini(&out);
}

/* bob is seen first, then cat: when one gave it to the other is not known. */
Test(view_row, owners_that_contradict)
{
    struct buf out = {0};
    does_block(ann, 100, 500, lock, bob);
    does_block(dan, 300, 600, lock, cat);
    begin_view(1000);
    struct read_row row = row_of(1, 0, 'l', lock.v, &out);
    cr_assert_eq(row.m, 2);
    check_hold(&row, 0, cat, 300, 500);
    check_hold(&row, 1, ann, 500, 600);
    buf_fini(&out);
}

/* An Object.wait whose notify is known is two: waiting, and reacquiring. */
Test(view_row, a_wait_that_took_its_monitor_again)
{
    struct buf out = {0};
    does_wait(ann, 100, 500, lock);
    ADD(&b, 2, bob, 300, notify, .lock = lock, .stack = stack);
    begin_view(1000);
    struct read_row row = row_of(1, 0, 'l', lock.v, &out);
    cr_assert_eq(row.n, 2);
    cr_assert_eq(row.state[0], STATE_WAITING);
    cr_assert_eq(row.end[0], 300);
    cr_assert_eq(row.state[1], STATE_REACQUIRING);
    cr_assert_eq(row.start[1], 300);
    cr_assert_eq(row.end[1], 500);
    cr_assert_eq(row.index[0], row.index[1]);
    cr_assert_eq(row_of(1, 0, 't', ann.v, &out).n, 1);
    buf_fini(&out);
}

/* --- names of rows ---------------------------------------------------------------------------- */

Test(view_rows, are_parsed)
{
    struct view_row rows[VIEW_ROWS_MAX];
    struct err err;
    cr_assert_eq(view_parse_rows("t1,p0,g3,l4294967295", rows, &err), 4);
    cr_assert_eq(rows[0].kind, 't');
    cr_assert_eq(rows[3].kind, 'l');
    cr_assert_eq(rows[3].number, UINT32_MAX);
}

Test(view_rows, that_are_none)
{
    static const char *const wrong[] = {
        "",    ",",      "t",   "x1",          "t1,",
        ",t1", "t1,,t2", "t-1", "t 1",         "t+1",
        "T1",  "t1;t2",  "t1 ", "t4294967296", "t99999999999999999999999",
        "1",   "tt1"};
    struct view_row rows[VIEW_ROWS_MAX];
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct err err = {""};
        cr_assert_eq(view_parse_rows(wrong[i], rows, &err), -EINVAL, "\"%s\"", wrong[i]);
        cr_assert(strncmp(err.msg, "rows: ", 6) == 0, "%s", err.msg);
    }
}

Test(view_rows, too_many)
{
    char text[(VIEW_ROWS_MAX + 1) * 3 + 1] = "";
    struct view_row rows[VIEW_ROWS_MAX];
    struct err err;
    for (int i = 0; i < VIEW_ROWS_MAX; i++)
        strcat(text, i ? ",t1" : "t1");
    cr_assert_eq(view_parse_rows(text, rows, &err), VIEW_ROWS_MAX);
    strcat(text, ",t1");
    cr_assert_eq(view_parse_rows(text, rows, &err), -EINVAL);
}

Test(view_rows, anything)
{
    static const char some[] = "tpgl0123456789,,, x\x80\xff";
    struct view_row rows[VIEW_ROWS_MAX];
    uint64_t dice = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        char text[24];
        size_t n = 0;
        for (; n < sizeof text - 1; n++) {
            dice = dice * 6364136223846793005u + 1442695040888963407u;
            if ((dice >> 60) == 0)
                break;
            text[n] = some[(dice >> 33) % (sizeof some - 1)];
        }
        text[n] = '\0';
        int got = view_parse_rows(text, rows, NULL);
        cr_assert(got == -EINVAL || (got > 0 && got <= VIEW_ROWS_MAX));
    }
}

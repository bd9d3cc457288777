/* view_arrows_test.c - arrows of tiles against every wait, start and task of the analysis. */
#include "base/util.h"
#include "view/arrows.h"
#include "view_read.h"

#include <stdlib.h>
#include <string.h>

/* --- brute force ------------------------------------------------------------------------------ */

struct all {
    struct arrow *v;
    size_t n;
};

static void add(struct all *s, struct arrow x)
{
    x.from_time = min_u64(x.from_time, x.to_time);
    s->v[s->n++] = x;
}

static void add_waits(struct all *s, const struct analysis *x, uint32_t thread)
{
    const struct timeline *tl = &x->timeline;
    for (uint32_t i = 0; i < tl->lines[thread].spans.n; i++) {
        const struct span *w = line_span(&tl->lines[thread], i);
        if (w->waker && w->waker != thread)
            add(s, (struct arrow){.from_time = span_wake_time(tl, w),
                                  .to_time = span_end(tl, w),
                                  .wait_ns = span_len(tl, w),
                                  .from = w->waker,
                                  .to = thread,
                                  .index = i,
                                  .how = (uint8_t)span_interaction(tl, thread, w)});
    }
}

static void add_start(struct all *s, const struct analysis *x, uint32_t thread)
{
    const struct line *l = &x->timeline.lines[thread];
    if (!l->starter)
        return;
    uint64_t called = x->threads.v[thread].called, started = x->threads.v[thread].started;
    add(s, (struct arrow){.from_time = called,
                          .to_time = started,
                          .wait_ns = started - called,
                          .from = l->starter,
                          .to = thread,
                          .index = UINT32_MAX,
                          .how = INTERACTION_STARTS_THREAD});
}

static struct all list(const struct analysis *x)
{
    const struct handover *h = (const void *)x->bindings.handovers.p;
    size_t tasks = x->bindings.handovers.len / sizeof *h;
    struct all s = {calloc(x->timeline.n_spans + x->threads.n + tasks + 1, sizeof *s.v), 0};
    for (uint32_t i = 1; i < x->timeline.n_lines; i++) {
        add_waits(&s, x, i);
        add_start(&s, x, i);
    }
    for (size_t i = 0; i < tasks; i++)
        add(&s, (struct arrow){.from_time = h[i].from_time,
                               .to_time = h[i].to_time,
                               .wait_ns = h[i].to_time - h[i].from_time,
                               .from = h[i].from,
                               .to = h[i].to,
                               .index = UINT32_MAX,
                               .how = INTERACTION_SUBMIT});
    return s;
}

/* The list is that of the analysis' sums. */
static void check_sums(const struct viewed *w, const struct all *s)
{
    uint64_t count[INTERACTION_LIMIT] = {0};
    for (size_t i = 0; i < s->n; i++)
        count[s->v[i].how]++;
    for (unsigned k = 0; k < INTERACTION_LIMIT; k++)
        CHECK_EQ(count[k], w->a->bindings.sums[k].count, "interaction %u", k);
}

/* --- one by one ------------------------------------------------------------------------------- */

static bool is(const struct viewed *w, const struct read_arrows *got, uint32_t k,
               const struct arrow *x)
{
    return got->from_time[k] == after(w->v, x->from_time) &&
           got->to_time[k] == after(w->v, x->to_time) && got->from[k] == x->from &&
           got->to[k] == x->to && got->index[k] == x->index && got->how[k] == x->how;
}

static void check_few(const struct viewed *w, const struct read_arrows *got, const struct all *s,
                      const struct some_tile *tile)
{
    bool used[VIEW_ARROWS_MAX] = {false};
    for (size_t i = 0; i < s->n; i++) {
        if (s->v[i].to_time < tile->from || s->v[i].to_time >= tile->to)
            continue;
        uint32_t k = 0;
        while (k < got->n && (used[k] || !is(w, got, k, &s->v[i])))
            k++;
        CHECK(k < got->n, "arrow %zu is missing", i);
        used[k] = true;
    }
    for (uint32_t k = 1; k < got->n; k++)
        CHECK(got->to_time[k - 1] <= got->to_time[k], "order of arrow %u", k);
}

/* --- bundles ---------------------------------------------------------------------------------- */

static bool in_bundle(const struct read_arrows *got, uint32_t k, const struct arrow *x,
                      const struct some_tile *tile)
{
    uint64_t slot = (x->to_time - tile->from) / (tile->width * 8);
    return x->to_time >= tile->from && x->to_time < tile->to && slot == got->slot[k] &&
           x->from == got->from[k] && x->to == got->to[k] && x->how == got->how[k];
}

static void check_bundles(const struct read_arrows *got, const struct all *s,
                          const struct some_tile *tile, uint64_t arrows)
{
    uint64_t told = 0;
    for (uint32_t k = 0; k < got->n; k++) {
        uint64_t ns = 0, count = 0;
        for (size_t i = 0; i < s->n; i++)
            if (in_bundle(got, k, &s->v[i], tile)) {
                ns += s->v[i].wait_ns;
                count++;
            }
        CHECK(got->wait_ns[k] == (double)ns, "bundle %u", k);
        CHECK_EQ(got->count[k], count, "bundle %u", k);
        CHECK(k == 0 || got->wait_ns[k - 1] >= got->wait_ns[k], "order of bundle %u", k);
        told += count;
    }
    CHECK_EQ(told + got->left_out, arrows, "bundles");
}

/* No arrow that is left out would make a heavier bundle by itself. */
static void check_left_out(const struct read_arrows *got, const struct all *s,
                           const struct some_tile *tile)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct arrow *x = &s->v[i];
        if (x->to_time < tile->from || x->to_time >= tile->to ||
            (double)x->wait_ns <= got->wait_ns[got->n - 1])
            continue;
        uint32_t k = 0;
        while (k < got->n && !in_bundle(got, k, x, tile))
            k++;
        CHECK(k < got->n, "arrow %zu is heavier than a bundle", i);
    }
}

static uint64_t coarse; /* answers that were sums */

/* --- programs --------------------------------------------------------------------------------- */

static void check_tile(struct viewed *w, const struct all *s, const struct some_tile *tile,
                       struct buf *answer)
{
    struct read_arrows got;
    uint64_t n = 0;
    buf_clear(answer);
    cr_assert_eq(view_arrows(w->v, tile->level, tile->i, answer), 0);
    read_arrows(&got, answer);
    for (size_t i = 0; i < s->n; i++)
        n += s->v[i].to_time >= tile->from && s->v[i].to_time < tile->to;
    CHECK_EQ(got.kind, n > VIEW_ARROWS_MAX, "%" PRIu64 " arrows", n);
    coarse += got.kind;
    if (got.kind) {
        check_bundles(&got, s, tile, n);
        check_left_out(&got, s, tile);
        return;
    }
    CHECK_EQ(got.n, n, "arrows");
    CHECK_EQ(got.left_out, 0, "arrows");
    check_few(w, &got, s, tile);
}

static void check_program(struct viewed *w, int tiles)
{
    struct buf answer = {0};
    struct all s = list(w->a);
    check_sums(w, &s);
    for (int i = 0; i < tiles; i++) {
        const struct some_tile tile = viewed_tile(w);
        check_tile(w, &s, &tile, &answer);
        if (i % 4 == 0) /* what is kept is the same */
            check_tile(w, &s, &tile, &answer);
    }
    free(s.v);
    buf_fini(&answer);
    viewed_end(w);
}

static struct viewed one;

Test(view_arrows, small_programs)
{
    for (uint64_t seed = 1; seed <= 400; seed++) {
        const struct sim_shape shape = sim_shape_of(seed);
        viewed_begin(&one, &shape);
        check_program(&one, 10);
    }
}

Test(view_arrows, many)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        viewed_relay(&one, seed, 1500 * (uint32_t)(seed * seed));
        check_program(&one, 12);
    }
    cr_assert_gt(coarse, 0, "the test has lost its point");
}

/* Where coarse tiles are made from finer ones. */
Test(view_arrows, coarse_tiles)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        viewed_relay(&one, seed, 5000 * (uint32_t)seed);
        one.v->coarse_waits = 700;
        arrows_prepare(one.v);
        check_program(&one, 12);
    }
    cr_assert_gt(coarse, 0, "the test has lost its point");
}

Test(view_arrows, tiles_that_do_not_exist)
{
    struct buf answer = {0};
    const struct sim_shape shape = sim_shape_of(1);
    viewed_begin(&one, &shape);
    cr_assert_eq(view_arrows(one.v, VIEW_LEVEL_MAX + 1, 0, &answer), -EINVAL);
    cr_assert_eq(view_arrows(one.v, 0, INT64_MIN, &answer), -EINVAL);
    cr_assert_eq(answer.len, 0);
    viewed_end(&one);
}

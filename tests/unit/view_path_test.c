/* view_path_test.c - paths and overviews against the analysis' path and tables. */
#include "base/util.h"
#include "cases.h"
#include "view/overview.h"
#include "view_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t coarse; /* answers that were sums */

/* --- paths ------------------------------------------------------------------------------------ */

static void check_segments(const struct viewed *w, const struct read_path *got,
                           const struct path *want, const struct some_tile *tile)
{
    uint32_t k = 0;
    for (size_t i = 0; i < want->n; i++) {
        const struct path_segment *g = &want->v[i];
        if (g->to <= tile->from || g->from >= tile->to)
            continue;
        CHECK(k < got->n, "segment %zu is missing", i);
        CHECK(got->from[k] == after(w->v, g->from), "segment %zu", i);
        CHECK(got->to[k] == after(w->v, g->to), "segment %zu", i);
        CHECK_EQ(got->thread[k], g->thread, "segment %zu", i);
        CHECK_EQ(got->lock[k], g->lock.v, "segment %zu", i);
        CHECK_EQ(got->stack[k], g->stack.v, "segment %zu", i);
        CHECK_EQ(got->kinds[k], g->kind, "segment %zu", i);
        CHECK_EQ(got->state[k], g->state, "segment %zu", i);
        k++;
    }
    CHECK_EQ(got->n, k, "segments");
}

static uint64_t on_thread(const struct path *p, uint32_t thread, int kind, uint64_t from,
                          uint64_t to)
{
    uint64_t ns = 0;
    for (size_t i = 0; i < p->n; i++) {
        const struct path_segment *g = &p->v[i];
        uint64_t start = max_u64(g->from, from), end = min_u64(g->to, to);
        if (start < end && g->thread == thread && (kind < 0 || g->kind == kind))
            ns += end - start;
    }
    return ns;
}

static void check_bucket(const struct viewed *w, const struct read_path *got,
                         const struct path *want, unsigned k, uint64_t from, uint64_t width)
{
    uint64_t most = 0, ns = on_thread(want, got->thread[k], -1, from, from + width);
    for (uint32_t i = 0; i < w->a->threads.n; i++)
        most = max_u64(most, on_thread(want, i, -1, from, from + width));
    CHECK_EQ(ns, most, "bucket %u", k);
    CHECK((got->share[k] > 0) == (most > 0), "bucket %u", k);
    CHECK(fabs(got->share[k] - 255.0 * (double)ns / (double)width) <= 1, "bucket %u", k);
    uint64_t most_kind = 0;
    for (int i = 0; i < PATH_KINDS; i++)
        most_kind = max_u64(most_kind, on_thread(want, got->thread[k], i, from, from + width));
    CHECK_EQ(on_thread(want, got->thread[k], got->kinds[k], from, from + width), most_kind,
             "bucket %u", k);
}

static void check_path_tile(struct viewed *w, const struct some_tile *tile, uint32_t thread,
                            uint64_t to, const struct path *want)
{
    struct buf answer = {0};
    struct read_path got;
    uint64_t n = 0;
    cr_assert_eq(view_path(w->v, tile->level, tile->i, thread, (int64_t)(to - w->v->base), &answer),
                 0);
    read_path(&got, &answer);
    for (size_t i = 0; i < want->n; i++)
        n += want->v[i].to > tile->from && want->v[i].from < tile->to;
    CHECK_EQ(got.kind, n > VIEW_PATH_MAX, "path");
    coarse += got.kind;
    if (!got.kind)
        check_segments(w, &got, want, tile);
    for (unsigned k = 0; got.kind && k < VIEW_BUCKETS; k += 7)
        check_bucket(w, &got, want, k, tile->from + k * tile->width, tile->width);
    buf_fini(&answer);
}

/* To any thread at any time of its life. */
static void check_some_path(struct viewed *w, const struct some_tile *tile)
{
    const struct path_source src = {&w->a->timeline,
                                    &w->a->threads,
                                    &w->a->purposes,
                                    &w->a->halts,
                                    &w->a->processors,
                                    (const void *)w->a->decoded.pauses.p,
                                    w->a->decoded.pauses.len / sizeof(struct pause)};
    uint32_t thread = 1 + (uint32_t)sim_below(&w->s, w->a->threads.n - 1);
    const struct thread_stats *s = &w->a->threads.v[thread];
    uint64_t to = s->from + sim_below(&w->s, s->to - s->from + 1);
    struct path want;
    cr_assert_eq(path_walk(&want, &src, thread, to, w->a->window.from), 0);
    check_path_tile(w, tile, thread, to, &want);
    check_path_tile(w, tile, thread, to, &want); /* what is kept is the same */
    path_fini(&want);
}

/* --- overview --------------------------------------------------------------------------------- */

static void check_part(const struct viewed *w, const struct overview_part *got,
                       const struct selection *sel)
{
    struct stats want;
    double width = (double)(sel->to - sel->from), running = 0, held_up = 0, path[PATH_KINDS] = {0};
    cr_assert_eq(analysis_stats(w->a, sel, &want), 0);
    for (uint32_t i = 1; i < w->a->threads.n; i++) {
        const struct state_stats *s = want.threads[i].state;
        if (!bottle_counts(w->a->trace, &w->a->threads.v[i]))
            continue;
        running += (double)thread_sums_running(&want.threads[i]);
        held_up += (double)s[HELD_UP].ns;
        if (w->owned)
            CHECK_EQ(s[HELD_UP].ns,
                     s[STATE_BLOCKED].ns + s[STATE_REACQUIRING].ns + s[STATE_PARKED].ns, "%u", i);
    }
    for (size_t i = 0; i < w->a->path.n; i++) {
        const struct path_segment *g = &w->a->path.v[i];
        uint64_t from = max_u64(g->from, sel->from), to = min_u64(g->to, sel->to);
        path[g->kind] += from < to ? (double)(to - from) : 0;
    }
    CHECK(fabs(got->running - running / width) < 1e-6, "running");
    CHECK(fabs(got->held_up - held_up / width) < 1e-6, "held up");
    for (unsigned k = 0; k < PATH_KINDS; k++)
        CHECK(fabs(got->path[k] - path[k] / width) < 1e-6, "path, kind %u", k);
    stats_fini(&want);
}

static void check_overview(struct viewed *w)
{
    static struct overview_part got[VIEW_OVERVIEW_MAX];
    unsigned n = 1 + (unsigned)sim_below(&w->s, sim_one_in(&w->s, 2) ? 8 : VIEW_OVERVIEW_MAX);
    const struct decode_window *win = &w->a->window;
    cr_assert_eq(view_overview(w->v, n, got), 0);
    for (int i = 0; i < 8; i++) {
        struct selection sel = selection_all();
        unsigned k = (unsigned)sim_below(&w->s, n);
        sel.from = win->from + (uint64_t)((unsigned __int128)(win->to - win->from) * k / n);
        sel.to = win->from + (uint64_t)((unsigned __int128)(win->to - win->from) * (k + 1) / n);
        if (sel.from < sel.to)
            check_part(w, &got[k], &sel);
    }
}

/* --- programs --------------------------------------------------------------------------------- */

static struct viewed one;

static void check_program(int tiles)
{
    for (int i = 0; i < tiles; i++) {
        const struct some_tile tile = viewed_tile(&one);
        check_path_tile(&one, &tile, 0, 0, &one.a->path);
        check_some_path(&one, &tile);
        check_overview(&one);
    }
    viewed_end(&one);
}

Test(view_path, small_programs)
{
    for (uint64_t seed = 1; seed <= (uint64_t)cases(200); seed++) {
        const struct sim_shape shape = sim_shape_of(seed);
        viewed_begin(&one, &shape);
        check_program(8);
    }
}

Test(view_path, long_ones)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        viewed_relay(&one, seed, 5000 * (uint32_t)seed);
        check_program(10);
    }
    cr_assert_gt(coarse, 0, "the test has lost its point");
}

Test(view_path, what_does_not_exist)
{
    static struct overview_part parts[VIEW_OVERVIEW_MAX + 1];
    struct buf answer = {0};
    const struct sim_shape shape = sim_shape_of(1);
    viewed_begin(&one, &shape);
    cr_assert_eq(view_path(one.v, 0, 0, (uint32_t)one.a->threads.n, 0, &answer), -EINVAL);
    cr_assert_eq(view_path(one.v, VIEW_LEVEL_MAX + 1, 0, 0, 0, &answer), -EINVAL);
    cr_assert_eq(view_path(one.v, 0, 0, 1, INT64_MIN, &answer), 0);
    cr_assert_eq(view_path(one.v, 0, 0, 1, INT64_MAX, &answer), 0);
    cr_assert_eq(view_overview(one.v, 0, parts), -EINVAL);
    cr_assert_eq(view_overview(one.v, VIEW_OVERVIEW_MAX + 1, parts), -EINVAL);
    buf_fini(&answer);
    viewed_end(&one);
}

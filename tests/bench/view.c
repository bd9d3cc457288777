/* view.c - how long the answers of a view take, and the memory that it needs beyond the analysis.
 *
 *   view [EVENTS [THREADS [VIRTUAL]]]     10,000,000 events of 64 threads, 0 of them virtual
 *   view -i FILE                          measure with this trace
 *
 * The trace is that of synthetic.h.  A question is what a window of five tiles needs: at a zoom
 * level that is any between one ns a bucket and the whole recording, anywhere; 64 rows that follow
 * each other.  What is made on demand is in the times; the arrows of coarse tiles are made before
 * they are asked for, as a server does it for a large trace while it answers.  Shown are
 * the times of single answers, of which a question has five, and the longest question. */
#include "synthetic.h"

#include "base/clock.h"
#include "base/human.h"
#include "conclude/resource.h"
#include "view/overview.h"

#include <malloc.h>

enum { QUESTIONS = 1000, TILES = 5, ROWS = 64, LOCK_ROWS = 8 };

static struct view *v;
static struct buf answer;
static unsigned top_level; /* at which the recording fits into the window */

static size_t memory(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

/* --- times ------------------------------------------------------------------------------------ */

static uint64_t times[QUESTIONS * TILES];
static size_t n_times;
static uint64_t began;

static void begin_answer(void)
{
    buf_clear(&answer);
    began = clock_mono_ns();
}

static void end_answer(int rc)
{
    require(rc == 0, "a question is not answered");
    if (n_times < ARRAY_LEN(times))
        times[n_times++] = clock_mono_ns() - began;
}

/* --- questions -------------------------------------------------------------------------------- */

struct window {
    unsigned level;
    int64_t first;
};

static struct window some_window(void)
{
    const struct decode_window *w = &v->a->window;
    struct window x = {.level = (unsigned)random_below(top_level + 1)};
    int64_t ns = (int64_t)(w->from - v->base + random_below(w->to - w->from + 1));
    x.first = ns / (INT64_C(512) << x.level) - 2;
    return x;
}

static size_t some_rows(struct view_row *rows)
{
    uint64_t n = v->a->threads.n - 1, count = min_u64(ROWS, n);
    uint64_t first = 1 + random_below(n - count + 1);
    for (uint64_t i = 0; i < count; i++)
        rows[i] = (struct view_row){'t', (uint32_t)(first + i)};
    return count;
}

static void ask_tiles(const struct window *w, const struct view_row *rows, size_t n)
{
    for (int i = 0; i < TILES; i++) {
        begin_answer();
        end_answer(view_tile(v, w->level, w->first + i, rows, n, &answer));
    }
}

static void ask_threads(const struct window *w)
{
    struct view_row rows[ROWS];
    size_t n = some_rows(rows);
    ask_tiles(w, rows, n);
}

static void ask_sets(const struct window *w)
{
    struct view_row rows[ROWS];
    size_t n = 0;
    for (uint32_t i = 0; i < v->pools.n && n < ROWS / 2; i++)
        rows[n++] = (struct view_row){'p', i};
    for (uint32_t i = 0; i < v->groups.n && n < ROWS; i++)
        rows[n++] = (struct view_row){'g', i};
    ask_tiles(w, rows, n);
}

/* Of the locks that most threads wait for. */
static void ask_locks(const struct window *w)
{
    struct view_row rows[LOCK_ROWS];
    for (uint32_t i = 0; i < LOCK_ROWS; i++)
        rows[i] = (struct view_row){'l', 1 + i};
    ask_tiles(w, rows, LOCK_ROWS);
}

static void ask_arrows(const struct window *w)
{
    for (int i = 0; i < TILES; i++) {
        begin_answer();
        end_answer(view_arrows(v, w->level, w->first + i, &answer));
    }
}

static void ask_path(const struct window *w)
{
    for (int i = 0; i < TILES; i++) {
        begin_answer();
        end_answer(view_path(v, w->level, w->first + i, 1, INT64_MAX, &answer));
    }
}

/* --- measuring -------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void measure(const char *what, void (*ask)(const struct window *))
{
    const struct window whole = {top_level,
                                 (int64_t)(v->a->window.from - v->base) >> (9 + top_level)};
    size_t before = memory();
    uint64_t most = 0, start = clock_mono_ns();
    ask(&whole);
    uint64_t first = clock_mono_ns() - start;
    n_times = 0;
    for (int i = 0; i < QUESTIONS; i++) {
        const struct window w = some_window();
        start = clock_mono_ns();
        ask(&w);
        most = max_u64(most, clock_mono_ns() - start);
    }
    qsort(times, n_times, sizeof *times, ascending);
    printf("%-14s the whole at first %8.2f ms; an answer %7.3f median, %7.3f p99, %7.3f most; a "
           "question %7.3f most; %6.1f MB\n",
           what, (double)first / 1e6, (double)times[n_times / 2] / 1e6,
           (double)times[n_times * 99 / 100] / 1e6, (double)times[n_times - 1] / 1e6,
           (double)most / 1e6, ((double)memory() - (double)before) / 1e6);
}

static void measure_overview(void)
{
    static struct overview_part parts[VIEW_OVERVIEW_MAX];
    uint64_t start = clock_mono_ns();
    require(view_overview(v, 512, parts) == 0, "overview");
    printf("%-16s %8.2f ms\n", "overview", (double)(clock_mono_ns() - start) / 1e6);
}

static void note_findings(void *ctx)
{
    *(uint64_t *)ctx = clock_mono_ns();
}

/* What a server does beside the questions of a large trace. */
static void measure_preparing(void)
{
    uint64_t start = clock_mono_ns(), findings = start;
    require(view_prepare(v, note_findings, &findings, NULL) == 0, "preparing");
    printf("%-14s findings %8.2f ms, arrows of coarse tiles %8.2f ms\n", "beside them",
           (double)(findings - start) / 1e6, (double)(clock_mono_ns() - findings) / 1e6);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct trace *t = synthetic_open(argc, argv);
    struct analysis *a;
    const struct view_about about = {.gen = 1, .name = "synthetic", .later = true};
    uint64_t start = clock_mono_ns();
    require(conclude_run(&a, t, NULL) == 0, "analysis");
    double analysis = (double)(clock_mono_ns() - start) / 1e9;
    size_t before = memory();
    start = clock_mono_ns();
    require(view_new(&v, a, &about, NULL) == 0, "view");
    printf(
        "%s events, %s waits of %s threads; analysis %.2f s, %.0f MB; view_new %.2f ms, %.1f MB\n",
        human_count(t->n_events).text, human_count(a->timeline.n_spans).text,
        human_count(t->n_threads - 1).text, analysis, (double)before / 1e6,
        (double)(clock_mono_ns() - start) / 1e6, (double)(memory() - before) / 1e6);
    while ((UINT64_C(512) * TILES << top_level) < a->window.to - a->window.from)
        top_level++;
    measure("threads", ask_threads);
    measure("pools, groups", ask_sets);
    measure("locks", ask_locks);
    measure_preparing();
    measure("arrows", ask_arrows);
    measure("path", ask_path);
    measure_overview();
    view_free(v);
    buf_fini(&answer);
    return 0;
}

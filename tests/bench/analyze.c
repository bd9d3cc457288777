/* analyze.c - how fast a trace is read and analysed, in events per second on one core.
 *
 *   analyze [EVENTS [THREADS [VIRTUAL]]]     10,000,000 events of 64 threads, 0 of them virtual
 *   analyze -o FILE ...                      keep the trace, to run the commands on it
 *   analyze -i FILE                          measure with this trace
 *
 * The trace is that of synthetic.h.  Each step runs three times; the best and the median are
 * shown. */
#include "synthetic.h"

#include "base/clock.h"
#include "base/human.h"
#include "conclude/rules.h"

#include <sys/resource.h>

enum { RUNS = 3 };
enum { MERGED_MAX = 20000000 }; /* beyond, nobody waits for it */

/* --- what is measured ------------------------------------------------------------------------- */

static void read_blocks(struct trace *t)
{
    struct event e;
    struct trace_iter *it;
    require(trace_iter_open_blocks(&it, t, NULL) == 0, "iter");
    while (trace_iter_next(it, &e, NULL, NULL) > 0)
        ;
    trace_iter_close(it);
}

static void read_merged(struct trace *t)
{
    struct event e;
    struct trace_iter *it;
    require(trace_iter_open(&it, t, NULL) == 0, "iter");
    while (trace_iter_next(it, &e, NULL, NULL) > 0)
        ;
    trace_iter_close(it);
}

/* What each phase of an analysis took; the last run's. */
static struct {
    const char *name;
    uint64_t began, ns;
} phases[8];
static size_t n_phases;

static void enter(void *ctx, const char *phase, uint64_t done, uint64_t total)
{
    uint64_t now = clock_mono_ns();
    UNUSED(ctx);
    UNUSED(done);
    UNUSED(total);
    if (n_phases && strcmp(phases[n_phases - 1].name, phase) == 0)
        return;
    if (n_phases)
        phases[n_phases - 1].ns = now - phases[n_phases - 1].began;
    phases[n_phases].name = phase;
    phases[n_phases++].began = now;
}

static void analyse(struct trace *t)
{
    struct analysis *a;
    struct rule_finding *f;
    size_t n;
    n_phases = 0;
    require(conclude_run_watched(&a, t, &(struct analysis_watch){enter, NULL}, NULL) == 0,
            "analysis");
    require(a->decoded.events == t->n_events, "not all events were read");
    enter(NULL, "rules", 0, 1);
    require(rules_apply(a, &f, &n, NULL, NULL) == 0, "rules");
    enter(NULL, "path, slack", 0, 1);
    require(analysis_follow(a, 1, a->window.to, a->window.from) == 0, "path");
    require(analysis_slack(a) == 0, "slack");
    enter(NULL, "end", 0, 1);
    analysis_free(a);
}

static void print_phases(const struct trace *t)
{
    struct rusage u;
    for (size_t i = 0; i + 1 < n_phases; i++)
        printf("  %-26s %8.1f ns per event, %6.2f s\n", phases[i].name,
               (double)phases[i].ns / (double)t->n_events, (double)phases[i].ns / 1e9);
    getrusage(RUSAGE_SELF, &u);
    printf("  resident at most %.0f MB\n", (double)u.ru_maxrss / 1024);
}

static int ascending(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void measure(const char *what, struct trace *t, void (*run)(struct trace *))
{
    uint64_t ns[RUNS];
    for (int i = 0; i < RUNS; i++) {
        uint64_t start = clock_mono_ns();
        run(t);
        ns[i] = clock_mono_ns() - start;
    }
    qsort(ns, RUNS, sizeof *ns, ascending);
    printf("%-28s %8.1f M events/s best, %8.1f median, %6.1f ns per event\n", what,
           (double)t->n_events * 1e3 / (double)ns[0],
           (double)t->n_events * 1e3 / (double)ns[RUNS / 2],
           (double)ns[RUNS / 2] / (double)t->n_events);
}

int main(int argc, char **argv)
{
    struct trace *t = synthetic_open(argc, argv);
    printf("%s events of %s threads in %zu streams, %s chunks, %.2f bytes per event\n",
           human_count(t->n_events).text, human_count(t->n_threads - 1).text, t->n_streams,
           human_count(t->n_chunks).text,
           (double)lseek(t->fd, 0, SEEK_END) / (double)max_u64(t->n_events, 1));
    measure("block by block", t, read_blocks);
    if (t->n_events <= MERGED_MAX)
        measure("streams, merged", t, read_merged);
    measure("all analyses", t, analyse);
    print_phases(t);
    trace_close(t);
    return 0;
}

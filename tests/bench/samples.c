/* samples.c - how fast samples are read and added up, and what memory they take.
 *
 *   samples [SAMPLES [EVENTS]]     10,000,000 samples beside 2,000,000 events of 64 threads
 *
 * The events are those of synthetic.h.  Each step runs three times; the best is shown. */
#include "synthetic.h"

#include "analyze/hot.h"
#include "base/clock.h"
#include "base/human.h"
#include "conclude/resource.h"

#include <sys/resource.h>

enum { RUNS = 3, SAMPLE_STREAM = 9000, THREADS = 64 };

static void add_samples(struct trace_builder *b, struct names *n, uint64_t samples, uint64_t end)
{
    for (uint64_t i = 0; i < samples; i++) {
        uint64_t time = i * (end / samples);
        ADD(b, SAMPLE_STREAM, n->threads[random_below(THREADS)], time, cpu_sample,
            .stack = n->stack[random_below(STACKS)], .weight = 1000000,
            .taken = BUILDER_START + time);
    }
}

static struct trace *make(uint64_t samples, uint64_t events)
{
    struct trace_builder b;
    struct names n = {.n_threads = THREADS};
    struct trace *t;
    uint64_t end = 0;
    int fd = memfd_create("trace", 0);
    builder_init(&b);
    n.threads = calloc(n.n_threads, sizeof *n.threads);
    n.clock = calloc(n.n_threads + 16, sizeof *n.clock);
    define(&b, &n);
    for (uint64_t i = 0; i < events / 2; i++)
        add_pair(&b, &n, random_below(n.n_threads));
    for (uint64_t i = 0; i < n.n_threads + 16; i++)
        end = max_u64(end, n.clock[i]);
    add_samples(&b, &n, samples, end);
    builder_write(&b, fd, end);
    require(trace_open_fd(&t, fd, "synthetic", NULL) == 0, "open");
    return t;
}

static void sum(const struct analysis *a, bool owners)
{
    const struct sample_query q = {
        .selection = selection_all(), .owners = owners, .by_thread = !owners, .by_lock = owners};
    struct sample_sums s;
    require(sample_sums_make(&s, a, &q) == 0, "sums");
    sample_sums_fini(&s);
}

static void sum_all(const struct analysis *a)
{
    sum(a, false);
}

static void sum_owners(const struct analysis *a)
{
    sum(a, true);
}

static void report(const struct analysis *a)
{
    const struct selection all = selection_all();
    struct arena arena;
    struct hot h;
    arena_init(&arena, 0);
    require(hot_make(&h, a, SAMPLE_CPU, &all, EVERY_CLASS, &arena) == 0, "hot");
    arena_fini(&arena);
}

static void measure(const char *what, const struct analysis *a,
                    void (*run)(const struct analysis *))
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < RUNS; i++) {
        uint64_t start = clock_mono_ns();
        run(a);
        best = min_u64(best, clock_mono_ns() - start);
    }
    printf("%-34s %6.2f s, %6.1f ns a sample\n", what, (double)best / 1e9,
           (double)best / (double)max_u64(a->samples.n[SAMPLE_CPU], 1));
}

static long resident_mb(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss / 1024;
}

int main(int argc, char **argv)
{
    uint64_t samples = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
    uint64_t events = argc > 2 ? strtoull(argv[2], NULL, 10) : 2000000;
    struct trace *t = make(samples, events);
    struct analysis *a;
    printf("%s samples and %s events of %d threads, %.2f bytes each\n", human_count(samples).text,
           human_count(events).text, THREADS,
           (double)lseek(t->fd, 0, SEEK_END) / (double)max_u64(t->n_events, 1));
    uint64_t start = clock_mono_ns();
    require(conclude_run(&a, t, NULL) == 0, "analysis");
    printf("%-34s %6.2f s\n", "reading and analysing all", (double)(clock_mono_ns() - start) / 1e9);
    printf("%-34s %6zu MB\n", "kept samples", a->samples.arena.used >> 20);
    measure("sums by thread and stack", a, sum_all);
    measure("owners while others waited", a, sum_owners);
    measure("tables of the report", a, report);
    printf("resident at most %ld MB, the trace included\n", resident_mb());
    analysis_free(a);
    trace_close(t);
    return 0;
}

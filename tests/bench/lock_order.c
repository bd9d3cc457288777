/* lock_order.c - how long the search for locks in contradicting orders takes, and what it needs.
 *
 *   lock_order [HOLDS [THREADS]]     10,000,000 holds of 16 threads
 *
 * Shapes: every lock alone; two locks always in one order; the same the other way round for every
 * second thread; money moved between any two of 10,000 accounts, with and without one lock around
 * all of it; seven locks within each other; waits alone.  The analysis of the trace is not part of
 * the time. */
#include "../unit/trace_builder.c"

#include "analyze/analysis.h"
#include "analyze/lock_order.h"
#include "base/clock.h"
#include "base/human.h"
#include "conclude/resource.h"

#include <inttypes.h>
#include <sys/resource.h>

enum { ACCOUNTS = 10000, STACKS = 40, NESTED = 7 };

static uint64_t seed = 88172645463325252u;

static uint32_t random_below(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed % n);
}

struct bank {
    struct trace_builder b;
    thread_id *threads;
    uint64_t *clock;
    uint32_t n_threads;
    lock_id account[ACCOUNTS], all;
    stack_id stack[STACKS];
};

static void define(struct bank *k)
{
    char text[100];
    builder_init(&k->b);
    k->threads = calloc(k->n_threads, sizeof *k->threads);
    k->clock = calloc(k->n_threads, sizeof *k->clock);
    class_id account = builder_class(&k->b, "Lbank/Account;");
    for (int i = 0; i < ACCOUNTS; i++)
        k->account[i] = builder_lock(&k->b, account);
    k->all = builder_lock(&k->b, builder_class(&k->b, "Lbank/Bank;"));
    for (int i = 0; i < STACKS; i++) {
        snprintf(text, sizeof text, "bank.Account.move%d:%d bank.Main.run:12", i, i + 1);
        k->stack[i] = builder_stack(&k->b, text);
    }
    for (uint32_t i = 0; i < k->n_threads; i++)
        k->threads[i] = builder_thread(&k->b, "worker");
}

/* A hold that began that number of ns ago and ends now. */
static void hold(struct bank *k, uint32_t thread, lock_id lock, uint64_t ago, int stack)
{
    uint64_t now = k->clock[thread] += 50;
    ADD(&k->b, thread + 1, k->threads[thread], now, hold, .lock = lock,
        .since = BUILDER_START + now - ago, .stack = k->stack[stack]);
}

typedef uint32_t shape(struct bank *k, uint32_t thread);

static uint32_t alone(struct bank *k, uint32_t thread)
{
    k->clock[thread] += 1000;
    hold(k, thread, k->account[random_below(ACCOUNTS)], 300, (int)random_below(STACKS));
    return 1;
}

static uint32_t two(struct bank *k, uint32_t thread, lock_id outer, lock_id inner)
{
    k->clock[thread] += 1000 + random_below(1000);
    hold(k, thread, inner, 200, 0);
    hold(k, thread, outer, 400, 1);
    return 2;
}

static uint32_t one_order(struct bank *k, uint32_t thread)
{
    return two(k, thread, k->account[0], k->account[1]);
}

static uint32_t both_orders(struct bank *k, uint32_t thread)
{
    return two(k, thread, k->account[thread & 1], k->account[!(thread & 1)]);
}

static uint32_t transfers(struct bank *k, uint32_t thread)
{
    uint32_t from = random_below(ACCOUNTS), to = random_below(ACCOUNTS - 1);
    return two(k, thread, k->account[from], k->account[to + (to >= from)]);
}

static uint32_t guarded(struct bank *k, uint32_t thread)
{
    uint32_t n = transfers(k, thread);
    hold(k, thread, k->all, 600, 2);
    return n + 1;
}

static uint32_t nested(struct bank *k, uint32_t thread)
{
    k->clock[thread] += 2000;
    for (int i = NESTED - 1; i >= 0; i--)
        hold(k, thread, k->account[i], 800 - 100 * (uint64_t)i, i);
    return NESTED;
}

/* A wait for a random lock whose owner is a random thread, no hold. */
static uint32_t queue(struct bank *k, uint32_t thread)
{
    lock_id lock = k->account[random_below(100)];
    uint64_t now = k->clock[thread] += 1000;
    ADD(&k->b, thread + 1, k->threads[thread], now, monitor_contended_enter, .lock = lock,
        .owner = k->threads[random_below(k->n_threads)], .stack = k->stack[random_below(STACKS)]);
    now = k->clock[thread] += 100000;
    ADD(&k->b, thread + 1, k->threads[thread], now, monitor_contended_entered, .lock = lock);
    return 1;
}

static void measure(const char *what, shape *make, uint64_t holds, uint32_t n_threads)
{
    static struct bank k;
    struct err err = {""};
    struct analysis *a;
    struct lock_order found;
    struct arena arena;
    uint64_t end = 0;
    k = (struct bank){.n_threads = n_threads};
    define(&k);
    for (uint64_t n = 0; n < holds;)
        n += make(&k, random_below(n_threads));
    for (uint32_t i = 0; i < n_threads; i++)
        end = max_u64(end, k.clock[i]);
    struct trace *t = builder_open(&k.b, end);
    require(conclude_run(&a, t, &err) == 0, err.msg);
    arena_init(&arena, 0);
    uint64_t start = clock_mono_ns();
    require(lock_order_find(&found, a, &arena) == 0, "lock_order_find");
    double s = (double)(clock_mono_ns() - start) / 1e9;
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    printf("%-22s %6.2f s %6.0f ns a hold, %zu findings, gates %" PRIu64 ", edges %" PRIu64
           ", passed over: %" PRIu64 " edges, %" PRIu64 " starts, %" PRIu64 " cycles, %" PRIu64
           " sections, %" PRIu64 " compared; peak %ld MB\n",
           what, s, s * 1e9 / (double)holds, found.n, found.suppressed.gate, found.edges,
           found.passed_over.edges, found.passed_over.starts, found.passed_over.cycles,
           found.passed_over.sections, found.passed_over.compared, u.ru_maxrss >> 10);
    fflush(stdout);
    arena_fini(&arena);
    analysis_free(a);
    trace_close(t);
    free(k.threads);
    free(k.clock);
}

int main(int argc, char **argv)
{
    uint64_t holds = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
    uint32_t threads = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 16;
    measure("alone", alone, holds, threads);
    measure("one order", one_order, holds, threads);
    measure("both orders", both_orders, holds, threads);
    measure("nested", nested, holds, threads);
    measure("transfers", transfers, holds, threads);
    measure("transfers, one gate", guarded, holds, threads);
    measure("waits, no holds", queue, holds, threads);
    return 0;
}

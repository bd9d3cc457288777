/* synthetic.h - the trace that benchmarks run on, made like a recording: threads take turns at
 * random, a chunk holds what all of them wrote in one round of the drain thread, 40 classes, 400
 * locks, 300 stacks, owners known in 9 of 10 cases, one wait to four contentions.
 *
 *   [EVENTS [THREADS [VIRTUAL]]]     10,000,000 events of 64 threads, 0 of them virtual
 *   -o FILE ...                      keep the trace, to run the commands on it
 *   -i FILE                          take this trace */
#ifndef ORCA_BENCH_SYNTHETIC_H
#define ORCA_BENCH_SYNTHETIC_H

#include "../unit/trace_builder.c"

#include "base/util.h"

#include <fcntl.h>

enum { CLASSES = 40, LOCKS = 400, STACKS = 300 };

static uint64_t random_state = 88172645463325252u;

static uint64_t random_below(uint64_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % n;
}

struct names {
    thread_id *threads;
    uint64_t *clock; /* of each thread's stream */
    lock_id lock[LOCKS];
    stack_id stack[STACKS];
    uint64_t n_threads, n_virtual;
};

static void define(struct trace_builder *b, struct names *n)
{
    class_id class_[CLASSES];
    char text[100];
    builder_info(b, "jvm.name", "synthetic");
    for (int i = 0; i < CLASSES; i++) {
        snprintf(text, sizeof text, "Lshop/part%d/Class%d;", i % 7, i);
        class_[i] = builder_class(b, text);
    }
    for (int i = 0; i < LOCKS; i++)
        n->lock[i] = builder_lock(b, class_[i % CLASSES]);
    for (int i = 0; i < STACKS; i++) {
        snprintf(text, sizeof text, "shop.C%d.m%d:%d shop.Main.run:12 java.lang.Thread.run:840",
                 i % 30, i % 60, i + 1);
        n->stack[i] = builder_stack(b, text);
    }
    for (uint64_t i = 0; i < n->n_threads; i++) {
        snprintf(text, sizeof text, "worker-%u", (unsigned)i);
        n->threads[i] = builder_thread_flags(b, text, i < n->n_virtual ? THREAD_VIRTUAL : 0);
    }
}

/* One contention or wait of one thread. */
static void add_pair(struct trace_builder *b, struct names *n, uint64_t i)
{
    /* Virtual threads ride on eight carriers. */
    uint32_t stream = (uint32_t)(i < n->n_virtual ? 1 + random_below(8) : 9 + i);
    uint64_t *now = &n->clock[stream];
    uint64_t l = random_below(8) ? random_below(20) : random_below(LOCKS);
    lock_id lock = n->lock[l];
    stack_id stack = n->stack[(l * 3 + random_below(8) / 5 + random_below(8) / 7) % STACKS];
    *now += 1000 + random_below(20000);
    if (random_below(5) == 0) {
        ADD(b, stream, n->threads[i], *now, wait_enter, .lock = lock, .stack = stack);
        *now += random_below(1000000);
        ADD(b, stream, n->threads[i], *now, wait_exit, .lock = lock);
        return;
    }
    thread_id owner = {0};
    if (random_below(10))
        owner = n->threads[random_below(n->n_threads)];
    ADD(b, stream, n->threads[i], *now, monitor_contended_enter, .lock = lock, .owner = owner,
        .stack = stack);
    *now += random_below(100000);
    ADD(b, stream, n->threads[i], *now, monitor_contended_entered, .lock = lock);
}

static void generate(int fd, uint64_t events, struct names *n)
{
    struct trace_builder b;
    builder_init(&b);
    b.block_events = (uint32_t)max_u64(40000 / n->n_threads, 8);
    n->threads = calloc(n->n_threads, sizeof *n->threads);
    n->clock = calloc(n->n_threads + 16, sizeof *n->clock);
    define(&b, n);
    for (uint64_t i = 0; i < events / 2; i++)
        add_pair(&b, n, random_below(n->n_threads));
    uint64_t end = 0;
    for (uint64_t i = 0; i < n->n_threads + 16; i++)
        end = max_u64(end, n->clock[i]);
    builder_write(&b, fd, end);
}

static inline struct trace *synthetic_open(int argc, char **argv)
{
    bool made = argc > 2 && strcmp(argv[1], "-i") == 0;
    bool keep = argc > 2 && strcmp(argv[1], "-o") == 0;
    int fd = made   ? open(argv[2], O_RDONLY)
             : keep ? open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600)
                    : memfd_create("trace", 0);
    char **arg = argv + (keep ? 3 : 1), **end = argv + argc;
    struct names n = {.n_threads = 64};
    require(fd >= 0, "cannot open the file");
    if (!made) {
        uint64_t events = arg < end ? strtoull(arg[0], NULL, 10) : 10000000;
        n.n_threads = arg + 1 < end ? strtoull(arg[1], NULL, 10) : 64;
        n.n_virtual = arg + 2 < end ? strtoull(arg[2], NULL, 10) : 0;
        generate(fd, events, &n);
    }
    struct trace *t;
    require(trace_open_fd(&t, fd, "synthetic", NULL) == 0, "open");
    return t;
}

#endif

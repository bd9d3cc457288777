#include "heap/workers.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

struct crew {
    workers_fn fn;
    void *ctx;
    uint64_t n;
    /* Relaxed: the pieces do not depend on each other, and joining orders what they did. */
    _Atomic uint64_t next;
    _Atomic int rc;
};

struct worker {
    struct crew *crew;
    unsigned number;
    pthread_t thread;
};

unsigned workers_default(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > WORKERS_MAX ? WORKERS_MAX : (unsigned)n;
}

static void *work(void *arg)
{
    const struct worker *w = arg;
    struct crew *c = w->crew;
    while (atomic_load_explicit(&c->rc, memory_order_relaxed) == 0) {
        uint64_t piece = atomic_fetch_add_explicit(&c->next, 1, memory_order_relaxed);
        if (piece >= c->n)
            break;
        int rc = c->fn(c->ctx, w->number, piece), none = 0;
        if (rc < 0)
            atomic_compare_exchange_strong_explicit(&c->rc, &none, rc, memory_order_relaxed,
                                                    memory_order_relaxed);
    }
    return NULL;
}

int workers_run(unsigned count, uint64_t n, workers_fn fn, void *ctx)
{
    struct crew c = {.fn = fn, .ctx = ctx, .n = n};
    struct worker workers[WORKERS_MAX];
    unsigned made = 1;
    workers[0] = (struct worker){.crew = &c};
    for (; made < count && made < WORKERS_MAX && made < n; made++) {
        workers[made] = (struct worker){.crew = &c, .number = made};
        if (pthread_create(&workers[made].thread, NULL, work, &workers[made]) != 0)
            break;
    }
    work(&workers[0]);
    for (unsigned i = 1; i < made; i++)
        pthread_join(workers[i].thread, NULL);
    return atomic_load_explicit(&c.rc, memory_order_relaxed);
}

#include "cli/side_by_side.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MOST = 64 };

struct work {
    void (*each)(void *ctx, size_t i);
    void *ctx;
    size_t n;
    atomic_size_t next;
};

static void *take(void *arg)
{
    struct work *w = arg;
    size_t i;
    /* relaxed: a number for each; what is done with it is seen by pthread_join. */
    while ((i = atomic_fetch_add_explicit(&w->next, 1, memory_order_relaxed)) < w->n)
        w->each(w->ctx, i);
    return NULL;
}

/* Where no thread can be made, those that there are do it, and this one. */
void side_by_side(size_t n, void (*each)(void *ctx, size_t i), void *ctx)
{
    pthread_t threads[MOST];
    size_t made = 0;
    struct work w = {.each = each, .ctx = ctx, .n = n};
    atomic_init(&w.next, 0);
    while (made + 1 < n && made < MOST && pthread_create(&threads[made], NULL, take, &w) == 0)
        made++;
    take(&w);
    while (made > 0)
        pthread_join(threads[--made], NULL);
}

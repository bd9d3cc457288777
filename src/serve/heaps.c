#include "serve/heaps.h"

#include "view/heap_view.h"

#include <string.h>

int heaps_init(struct heaps *h, void (*changed)(void *ctx), void *ctx, struct err *err)
{
    *h = (struct heaps){.changed = changed, .ctx = ctx};
    int rc = -pthread_mutex_init(&h->lock, NULL);
    return rc < 0 ? err_set(err, rc, "no lock can be made: %s", strerror(-rc)) : 0;
}

bool heaps_fini(struct heaps *h)
{
    bool reads = false;
    for (size_t i = 0; i < h->n; i++)
        reads |= heap_view_end(h->v[i]);
    if (reads)
        return true;
    for (size_t i = 0; i < h->n; i++)
        heap_view_free(h->v[i]);
    pthread_mutex_destroy(&h->lock);
    return false;
}

static uint32_t find(const struct heaps *h, const char *path)
{
    for (size_t i = 0; i < h->n; i++)
        if (strcmp(heap_view_path(h->v[i]), path) == 0)
            return (uint32_t)i + 1;
    return 0;
}

/* With the lock; 0: the view is in the list. */
static int add(struct heaps *h, struct heap_view *view, uint32_t *k, struct err *err)
{
    if (h->n == HEAPS_MAX)
        return err_set(err, -EMFILE,
                       "%d heap dumps are open, the maximum: run another orca "
                       "view",
                       (int)HEAPS_MAX);
    int rc = heap_view_start(view, h->changed, h->ctx, err);
    if (rc < 0)
        return rc;
    h->v[h->n++] = view;
    *k = (uint32_t)h->n;
    return 0;
}

int heaps_add(struct heaps *h, struct heap_view *view, uint32_t *k, struct err *err)
{
    pthread_mutex_lock(&h->lock);
    *k = find(h, heap_view_path(view));
    int rc = *k ? 0 : add(h, view, k, err);
    bool is_ours = *k && h->v[*k - 1] == view;
    pthread_mutex_unlock(&h->lock);
    if (!is_ours)
        heap_view_free(view);
    return rc;
}

struct heap_view *heaps_get(struct heaps *h, uint32_t k)
{
    pthread_mutex_lock(&h->lock);
    struct heap_view *view = k > 0 && k <= h->n ? h->v[k - 1] : NULL;
    pthread_mutex_unlock(&h->lock);
    return view;
}

size_t heaps_count(struct heaps *h)
{
    pthread_mutex_lock(&h->lock);
    size_t n = h->n;
    pthread_mutex_unlock(&h->lock);
    return n;
}

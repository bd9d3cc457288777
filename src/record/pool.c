/* pool.c - ring memory: cut from the region in five sizes, kept in free lists by size.
 *
 * Everything under pool.lock.  No thread holds it while it waits for the JVM, so that even the VM
 * thread at a safepoint may take it. */
#include "base/util.h"
#include "record/recorder_parts.h"

#include <stdlib.h>
#include <string.h>

int pool_init(struct recorder *rec, uint64_t ring_max)
{
    struct pool *p = &rec->pool;
    uint32_t max = rec->region.h->max_rings;
    pthread_mutex_init(&p->lock, NULL);
    p->n_classes = 1;
    while (p->n_classes < RING_CLASSES && class_size(p->n_classes) <= ring_max)
        p->n_classes++;
    p->free_next = calloc(max, sizeof *p->free_next);
    rec->dirty_words = max / 64 + 1;
    rec->dirty = calloc(rec->dirty_words, sizeof *rec->dirty);
    return p->free_next && rec->dirty ? 0 : -ENOMEM;
}

void pool_fini(struct recorder *rec)
{
    pthread_mutex_destroy(&rec->pool.lock);
    free(rec->pool.free_next);
    free(rec->dirty);
}

/* A control block with new memory behind it, or UINT32_MAX. */
static uint32_t carve(struct recorder *rec, uint32_t size)
{
    struct region_header *h = rec->region.h;
    uint32_t i = atomic_load_explicit(&h->used_rings, memory_order_relaxed);
    if (i == h->max_rings ||
        region_reserve_ctl(&rec->region, (uint64_t)(i + 1) * RING_CTL_SIZE) < 0 ||
        region_reserve_data(&rec->region, rec->pool.bump + size) < 0)
        return UINT32_MAX;
    struct ring_ctl *c = region_ctl(h, i);
    c->data = h->data_offset + rec->pool.bump;
    c->size = size;
    rec->pool.bump += size;
    /* release: a recovery that sees the count sees data and size */
    atomic_store_explicit(&h->used_rings, i + 1, memory_order_release);
    return i;
}

uint32_t pool_take(struct recorder *rec, uint32_t size_class, uint32_t stream, uint64_t base)
{
    struct pool *p = &rec->pool;
    if (size_class >= p->n_classes)
        return UINT32_MAX;
    pthread_mutex_lock(&p->lock);
    uint32_t i = p->free_head[size_class];
    if (i)
        p->free_head[size_class] = p->free_next[--i];
    else
        i = carve(rec, class_size(size_class));
    if (i != UINT32_MAX) {
        struct ring_ctl *c = region_ctl(rec->region.h, i);
        c->stream = stream ? stream : ++p->next_stream;
        c->base = base;
        atomic_store_explicit(&c->head, base, memory_order_relaxed);
        atomic_store_explicit(&c->tail, base, memory_order_relaxed);
        /* release: a thread that sees the ring open sees its fields */
        atomic_store_explicit(&c->state, RING_OPEN, memory_order_release);
    }
    pthread_mutex_unlock(&p->lock);
    return i;
}

uint32_t pool_new_stream(struct recorder *rec)
{
    pthread_mutex_lock(&rec->pool.lock);
    uint32_t stream = ++rec->pool.next_stream;
    pthread_mutex_unlock(&rec->pool.lock);
    return stream;
}

void pool_give(struct recorder *rec, uint32_t index)
{
    struct pool *p = &rec->pool;
    struct ring_ctl *c = region_ctl(rec->region.h, index);
    uint32_t size_class = 0;
    while (class_size(size_class) < c->size)
        size_class++;
    pthread_mutex_lock(&p->lock);
    atomic_store_explicit(&c->state, RING_FREE, memory_order_relaxed);
    p->free_next[index] = p->free_head[size_class];
    p->free_head[size_class] = index + 1;
    pthread_mutex_unlock(&p->lock);
}

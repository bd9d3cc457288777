#include "record/ring.h"

#include "base/testpoint.h"
#include "base/util.h"
#include "record/recorder_parts.h"

#include <stdlib.h>

enum { BLOCK_WAIT_NS = 100 * 1000 };

static void use_ring(struct ring *r, uint32_t index, uint32_t size_class)
{
    struct recorder *rec = r->rec;
    struct ring_ctl *c = region_ctl(rec->region.h, index);
    r->ctl = c;
    r->data = (char *)rec->region.h + c->data;
    r->base = r->head = r->tail_seen = c->base;
    r->mask = c->size - 1;
    r->index = index;
    r->size_class = size_class;
    r->dirty_word = &rec->dirty[index / 64];
    r->dirty_bit = (uint64_t)1 << (index % 64);
}

static void leave_ring(struct ring *r)
{
    /* A filler that no event followed: the next ring must begin where this one ends. */
    atomic_store_explicit(&r->ctl->head, r->head, memory_order_release);
    /* release: pairs with the drain's acquire; after CLOSED comes no record */
    atomic_store_explicit(&r->ctl->state, RING_CLOSED, memory_order_release);
    atomic_fetch_or_explicit(r->dirty_word, r->dirty_bit, memory_order_release);
}

struct ring *ring_attach(struct recorder *rec)
{
    struct ring *r = recorder_on(rec) ? calloc(1, sizeof *r) : NULL;
    uint32_t i = r ? pool_take(rec, 0, 0, 0) : UINT32_MAX;
    if (i == UINT32_MAX) {
        if (recorder_on(rec))
            recorder_count_loss(rec, recorder_unwritten(rec) ? LOSS_write : LOSS_no_ring, 1);
        free(r);
        return NULL;
    }
    r->rec = rec;
    use_ring(r, i, 0);
    return r;
}

void ring_detach(struct ring *r)
{
    if (!r)
        return;
    if (r->lost && recorder_on(r->rec))
        ring_note_lost(r, (thread_id){0}, clock_mono_ns());
    leave_ring(r);
    free(r);
}

/* Place a record before the tail last seen; NULL when there is no room. */
static struct event *place(struct ring *r, uint32_t size)
{
    uint64_t at = (r->head - r->base) & r->mask, cap = r->mask + 1;
    INVARIANT(r->data != NULL);
    uint64_t filler = size <= cap - at ? 0 : cap - at;
    if (r->head + filler + size - r->tail_seen > cap)
        return NULL;
    if (filler) {
        struct event *e = (struct event *)(r->data + at);
        e->kind = 0;
        e->size = (uint16_t)filler; /* less than EVENT_MAX */
        r->head += filler;
        at = 0;
    }
    return (struct event *)(r->data + at);
}

static bool grow(struct ring *r)
{
    uint32_t i = pool_take(r->rec, r->size_class + 1, r->ctl->stream, r->head);
    if (i == UINT32_MAX)
        return false;
    TEST_POINT("ring:grown");
    leave_ring(r);
    TEST_POINT("ring:left");
    use_ring(r, i, r->size_class + 1);
    return true;
}

static struct event *place_somehow(struct ring *r, uint32_t size)
{
    for (;;) {
        /* acquire: pairs with the drain's release of tail; it has read what we overwrite */
        r->tail_seen = atomic_load_explicit(&r->ctl->tail, memory_order_acquire);
        struct event *e = place(r, size);
        if (e)
            return e;
        if (grow(r))
            continue;
        if (r->retries || !(r->rec->block || r->patient) || !recorder_on(r->rec) ||
            recorder_unwritten(r->rec))
            return NULL;
        clock_sleep_ns(BLOCK_WAIT_NS);
    }
}

static void count_lost(struct ring *r)
{
    r->lost++;
    r->lost_cause = recorder_unwritten(r->rec) ? LOSS_write : LOSS_ring_full;
    if (r->lost_cause == LOSS_write)
        unwritten_note_lost(r->rec);
    recorder_count_loss(r->rec, r->lost_cause, 1);
}

struct event *ring_reserve_slow(struct ring *r, uint32_t size)
{
    if (!recorder_on(r->rec))
        return NULL;
    struct event *e = place_somehow(r, size);
    if (!e && !r->retries)
        count_lost(r);
    return e;
}

void ring_note_lost(struct ring *r, thread_id thread, uint64_t time)
{
    uint64_t lost = r->lost;
    r->tail_seen = atomic_load_explicit(&r->ctl->tail, memory_order_acquire);
    struct event *e = place(r, event_kinds[EV_lost].size);
    if (!e)
        return;
    e->kind = EV_lost;
    e->size = event_kinds[EV_lost].size;
    e->thread = thread;
    e->time = time;
    e->lost.cause = r->lost_cause;
    e->lost.count = lost;
    r->lost = 0;
    ring_commit(r, e);
}

/* drain.c - the drain thread: empties the rings, writes chunks, ends the recording.
 *
 * It looks at the rings whose dirty bit is set, more often when there is much to do, and leaves a
 * ring alone until it is a quarter full: what is in a ring is as safe as what is in the file, and
 * few large blocks make a smaller trace than many small ones.  Every two seconds it empties all of
 * them and writes the chunk, for those who read the trace while it grows; that also finds the rings
 * whose bit was lost to the race between a commit and the clearing of the bit (ring.h). */
#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "record/recorder_parts.h"

#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { MS = 1000000, PAUSE_MIN_NS = 1 * MS, PAUSE_MAX_NS = 20 * MS };
#define SECOND (1000u * (uint64_t)MS)
#define FLUSH_EVERY_NS (2 * SECOND)

/* Bytes staged, or defined, that make a chunk worth writing. */
enum { FLUSH_RAW = REGION_STAGE_RAW / 4 * 3, FLUSH_DEFS = REGION_DEFS_SIZE / 8 };

/* Whether an open ring can wait: its bit stays set. */
static bool leave_for_later(struct recorder *rec, uint32_t index, const struct ring_ctl *c)
{
    uint64_t used = atomic_load_explicit(&c->head, memory_order_relaxed) -
                    atomic_load_explicit(&c->tail, memory_order_relaxed);
    if (used >= c->size / 4)
        return false;
    if (used)
        atomic_fetch_or_explicit(&rec->dirty[index / 64], (uint64_t)1 << (index % 64),
                                 memory_order_relaxed);
    return true;
}

static int drain_ring(struct recorder *rec, uint32_t index, bool all, struct err *err)
{
    struct ring_ctl *c = region_ctl(rec->region.h, index);
    /* acquire: pairs with leave_ring; a closed ring's head is final */
    uint32_t state = atomic_load_explicit(&c->state, memory_order_acquire);
    if (state == RING_FREE || (!all && state == RING_OPEN && leave_for_later(rec, index, c)))
        return 0;
    while (stage_ring(&rec->stager, c, &rec->result.events) == STAGE_FULL)
        TRY(stage_flush(&rec->stager, &rec->writer, err));
    if (state == RING_CLOSED)
        pool_give(rec, index);
    return 0;
}

/* One look at the rings; `all`: at every one. */
static int drain_pass(struct recorder *rec, bool all, struct err *err)
{
    /* acquire: pairs with carve */
    uint32_t used = atomic_load_explicit(&rec->region.h->used_rings, memory_order_acquire);
    for (uint32_t w = 0; w * 64 < used; w++) {
        uint64_t bits = atomic_load_explicit(&rec->dirty[w], memory_order_relaxed);
        if (bits)
            /* acquire: whoever set a bit committed before */
            bits = atomic_exchange_explicit(&rec->dirty[w], 0, memory_order_acquire);
        for (uint32_t i = 0; i < 64 && w * 64 + i < used; i++)
            if (all || (bits >> i & 1))
                TRY(drain_ring(rec, w * 64 + i, all, err));
    }
    return 0;
}

static int flush_if_due(struct recorder *rec, uint64_t now, bool must, struct err *err)
{
    struct stager *s = &rec->stager;
    const struct defs_ring *d = &s->h->defs;
    uint64_t defs = atomic_load_explicit(&d->head, memory_order_relaxed) -
                    atomic_load_explicit(&d->tail, memory_order_relaxed);
    if (!must && s->raw_len < FLUSH_RAW && defs < FLUSH_DEFS)
        return 0;
    TRY(stage_flush(s, &rec->writer, err));
    if (!must)
        return 0;
    rec->flushed_at = now;
    return stage_write_losses(s, &rec->writer, rec->loss_written, err);
}

/* --- the end ------------------------------------------------------------------------------------
 */

/* The file cannot be written: count what is still on its way, so that nobody takes it for recorded.
 */
static uint64_t discard_rest(struct recorder *rec)
{
    struct region_header *h = rec->region.h;
    uint64_t lost = rec->stager.events, moved = 0;
    uint32_t used = atomic_load_explicit(&h->used_rings, memory_order_acquire);
    for (uint32_t i = 0; i < used; i++) {
        struct ring_ctl *c = region_ctl(h, i);
        if (atomic_load_explicit(&c->state, memory_order_acquire) == RING_FREE)
            continue;
        do {
            atomic_store_explicit(&h->stage.n_blocks, 0, memory_order_relaxed);
            rec->stager.raw_len = 0;
        } while (stage_ring(&rec->stager, c, &moved) == STAGE_FULL);
    }
    rec->result.events -= lost;
    return lost + moved;
}

static void finish(struct recorder *rec, int rc, struct err *err)
{
    struct recorder_result *r = &rec->result;
    uint64_t now = clock_mono_ns();
    atomic_store_explicit(&rec->on, false, memory_order_relaxed);
    if (rc == 0)
        rc = drain_pass(rec, true, err);
    if (rc == 0)
        rc = flush_if_due(rec, now, true, err);
    if (rc == 0)
        rc = writer_close(&rec->writer, TRACE_CLOSED, now, err);
    r->state = TRACE_CLOSED;
    if (rc < 0) {
        log_line("%s: %s: recording stopped; what was recorded until now is in the file", rec->path,
                 err->msg);
        struct err ignored;
        rec->writer.header.unwritten_events = discard_rest(rec);
        writer_close(&rec->writer, TRACE_STOPPED, now, &ignored);
        r->state = TRACE_STOPPED;
    }
    for (int i = 0; i < LOSS_LIMIT; i++)
        if (loss_causes[i].what == LOSS_OF_EVENT)
            r->lost += atomic_load_explicit(&rec->region.h->loss[i], memory_order_relaxed);
    r->lost += rec->writer.header.unwritten_events;
    r->bytes = rec->writer.size;
    r->duration_ns = now - rec->writer.header.start_mono;
    region_unlink(&rec->region);
    close(rec->fd);
}

/* Sleep until the next look, or until somebody wants something.  Returns whether to stop. */
static bool pause_drain(struct recorder *rec, uint64_t ns, uint64_t *flush_ticket)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    uint64_t at = (uint64_t)until.tv_nsec + ns;
    until.tv_sec += (time_t)(at / SECOND);
    until.tv_nsec = (long)(at % SECOND);
    pthread_mutex_lock(&rec->ctl_lock);
    if (!rec->stop && rec->flush_asked == rec->flush_done)
        pthread_cond_timedwait(&rec->wake, &rec->ctl_lock, &until);
    bool stop = rec->stop;
    *flush_ticket = rec->flush_asked;
    pthread_mutex_unlock(&rec->ctl_lock);
    return stop;
}

static void answer_flush(struct recorder *rec, uint64_t ticket)
{
    pthread_mutex_lock(&rec->ctl_lock);
    rec->flush_done = ticket;
    pthread_cond_broadcast(&rec->done);
    pthread_mutex_unlock(&rec->ctl_lock);
}

void *drain_main(void *arg)
{
    struct recorder *rec = arg;
    struct err err = {""};
    uint64_t pause = PAUSE_MIN_NS, ticket = 0;
    int rc = 0;
    prctl(PR_SET_NAME, "orca drain");
    while (rc == 0 && !pause_drain(rec, pause, &ticket)) {
        uint64_t now = clock_mono_ns(), before = rec->result.events;
        bool asked = ticket != rec->flush_done;
        bool all = asked || now - rec->flushed_at >= FLUSH_EVERY_NS;
        rc = drain_pass(rec, all, &err);
        if (rc == 0)
            rc = flush_if_due(rec, now, all, &err);
        if (rc == 0 && asked)
            answer_flush(rec, ticket);
        if (rec->end_after && now >= rec->end_after)
            break;
        /* Busy: look again soon, so that small rings do not fill up. */
        pause = rec->result.events - before > 64 ? PAUSE_MIN_NS : min_u64(pause * 2, PAUSE_MAX_NS);
    }
    finish(rec, rc, &err);
    pthread_mutex_lock(&rec->ctl_lock);
    rec->finished = true;
    pthread_cond_broadcast(&rec->done);
    pthread_mutex_unlock(&rec->ctl_lock);
    return NULL;
}

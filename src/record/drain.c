/* drain.c - the drain thread: empties the rings, writes chunks, ends the recording.
 *
 * It looks at the rings whose dirty bit is set, more often when there is much to do, and leaves a
 * ring alone until it is a quarter full: what is in a ring is as safe as what is in the file, and
 * few large blocks make a smaller trace than many small ones.  Every two seconds it empties all of
 * them and writes the chunk, for those who read the trace while it grows; that also finds the rings
 * whose bit was lost to the race between a commit and the clearing of the bit (ring.h).  Between
 * two writes it copies the file (snapshot.c) or goes on in the next one (rotate.c).  A full disk is
 * waited for (unwritten.c). */
#include "base/clock.h"
#include "base/human.h"
#include "base/log.h"
#include "base/util.h"
#include "record/recorder_parts.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum {
    MS = 1000000,
    PAUSE_MIN_NS = 1 * MS,
    PAUSE_MAX_NS = 20 * MS,
    PAUSE_FULL_NS = 200 * MS /* until a full disk is tried again */
};
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
            /* acquire: a thread that sets a bit has committed before */
            bits = atomic_exchange_explicit(&rec->dirty[w], 0, memory_order_acquire);
        for (uint32_t i = 0; i < 64 && w * 64 + i < used; i++)
            if (all || (bits >> i & 1))
                TRY(drain_ring(rec, w * 64 + i, all, err));
    }
    return 0;
}

static int drain_closed(struct recorder *rec, struct err *err)
{
    /* acquire: pairs with carve */
    uint32_t used = atomic_load_explicit(&rec->region.h->used_rings, memory_order_acquire);
    for (uint32_t i = 0; i < used; i++) {
        const struct ring_ctl *c = region_ctl(rec->region.h, i);
        if (atomic_load_explicit(&c->state, memory_order_relaxed) == RING_CLOSED)
            TRY(drain_ring(rec, i, true, err));
    }
    return 0;
}

/* A thread that goes on in a larger ring during a pass may be met there after its smaller one was
 * looked at: then later events are taken, and earlier ones are not.  Those are in a ring that was
 * closed before, so after a look at the closed rings that finds nothing, what was taken of each
 * stream is its beginning, without a hole.  A look takes microseconds, and a stream moves four
 * times in its life: the limit is for a program that does nothing but end threads, where a hole in
 * this file is filled by the next one. */
static int take_left_behind(struct recorder *rec, struct err *err)
{
    enum { LOOKS_MAX = 1000 };
    uint64_t before = UINT64_MAX;
    for (int i = 0; i < LOOKS_MAX && rec->result.events != before; i++) {
        before = rec->result.events;
        TRY(drain_closed(rec, err));
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
    TRY(stage_write_losses(s, &rec->writer, &rec->losses, err));
    writer_note_flushed(&rec->writer, now);
    for (int i = 0; i < LOSS_LIMIT; i++)
        rec->lost_total[i] = rec->losses.before[i] + rec->losses.written[i];
    return 0;
}

int drain_all(struct recorder *rec, uint64_t now, struct err *err)
{
    TRY(drain_pass(rec, true, err));
    TRY(take_left_behind(rec, err));
    return flush_if_due(rec, now, true, err);
}

uint64_t losses_of_file(const struct recorder *rec)
{
    uint64_t lost = 0;
    for (int i = 0; i < LOSS_LIMIT; i++)
        lost += loss_causes[i].what == LOSS_OF_EVENT ? rec->losses.written[i] : 0;
    return lost;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* The file cannot be written: count what is still on its way, so that no reader takes it for
 * recorded. */
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

/* Events that were counted as lost and are not in the file's definitions of losses. */
static uint64_t losses_unsaid(const struct recorder *rec)
{
    uint64_t n = 0;
    for (int i = 0; i < LOSS_LIMIT; i++)
        if (loss_causes[i].what == LOSS_OF_EVENT)
            n += atomic_load_explicit(&rec->region.h->loss[i], memory_order_relaxed) -
                 rec->losses.before[i] - rec->losses.written[i];
    return n;
}

static void stop_early(struct recorder *rec, uint64_t now, const struct err *why)
{
    struct err ignored;
    struct file_header *h = &rec->writer.header;
    log_line("%s: %s: recording stopped; the file has the events recorded until now", rec->path,
             why->msg);
    uint64_t discarded = discard_rest(rec);
    rec->result.lost = discarded;
    h->unwritten_events = discarded + losses_unsaid(rec);
    h->unwritten_since = recorder_unwritten(rec) ? rec->gap.since : now;
    writer_close(&rec->writer, TRACE_STOPPED, now, &ignored);
    rec->result.state = TRACE_STOPPED;
}

static void finish(struct recorder *rec, int rc, struct err *err)
{
    struct recorder_result *r = &rec->result;
    uint64_t now = clock_mono_ns(),
             ended_at = atomic_load_explicit(&rec->ended_at, memory_order_relaxed),
             end = ended_at ? ended_at : now;
    atomic_store_explicit(&rec->on, false, memory_order_relaxed);
    if (rc == 0 && recorder_unwritten(rec))
        rc = unwritten_end(rec, err);
    if (rc == 0)
        rc = drain_all(rec, now, err);
    if (rc == 0)
        rc = writer_close(&rec->writer, TRACE_CLOSED, end, err);
    r->state = TRACE_CLOSED;
    if (rc < 0)
        stop_early(rec, now, err);
    for (int i = 0; i < LOSS_LIMIT; i++)
        if (loss_causes[i].what == LOSS_OF_EVENT)
            r->lost += atomic_load_explicit(&rec->region.h->loss[i], memory_order_relaxed);
    unwritten_tell(rec, &r->unwritten);
    r->bytes = rec->bytes_before + rec->writer.size;
    r->duration_ns = end - rec->started;
    r->parts = rec->part;
    snprintf(r->path, sizeof r->path, "%s", rec->path);
    region_unlink(&rec->region);
    close(rec->fd);
}

/* Sleep until the next look, or until a request.  Returns whether to stop. */
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

/* Everything up to here is in the file, of each thread without a hole. */
static int settle(struct recorder *rec, struct err *err)
{
    TRY(take_left_behind(rec, err));
    return flush_if_due(rec, rec->flushed_at, true, err);
}

static int end_file(struct recorder *rec, uint64_t at, struct recorder_result *finished,
                    struct err *err)
{
    int rc = settle(rec, err);
    return rc < 0 ? err_prefix(err, rc, "%s", rec->path) : rotate(rec, at, finished, err);
}

/* waiting: the disk of the file is full; that of the copy may be another one. */
static void copy_file(struct recorder *rec, struct errand *e, bool waiting)
{
    *e->result = (struct recorder_result){.events = rec->result.events - rec->events_before,
                                          .lost = losses_of_file(rec)};
    e->rc = snapshot_write(rec, e->copy, waiting, e->err);
}

static void run_errand(struct recorder *rec, struct errand *e, uint64_t at)
{
    if (!e->copy) {
        e->rc = end_file(rec, at, e->result, e->err);
        return;
    }
    e->rc = settle(rec, e->err);
    if (e->rc < 0)
        err_prefix(e->err, e->rc, "%s", rec->path);
    else
        copy_file(rec, e, false);
}

/* rc: of the flush; when it failed, err says why. */
static void answer_flush(struct recorder *rec, uint64_t ticket, uint64_t at, int rc,
                         const struct err *err)
{
    pthread_mutex_lock(&rec->ctl_lock);
    struct errand *e = rec->errand;
    rec->flush_done = ticket;
    rec->flush_rc = rc;
    pthread_cond_broadcast(&rec->done);
    pthread_mutex_unlock(&rec->ctl_lock);
    if (!e || e->done)
        return;
    if (unwritten_passes(rc) && e->copy)
        copy_file(rec, e, true);
    else if (rc < 0)
        e->rc = err_set(e->err, rc, "%s: %s", rec->path, err->msg);
    else
        run_errand(rec, e, at);
    pthread_mutex_lock(&rec->ctl_lock);
    e->done = true;
    pthread_cond_broadcast(&rec->done);
    pthread_mutex_unlock(&rec->ctl_lock);
}

/* The next file is due.  A failure to make it is reported once, and tried again later. */
static void turn(struct recorder *rec, uint64_t at)
{
    struct err err = {""};
    struct recorder_result finished;
    int rc = end_file(rec, at, &finished, &err);
    if (rc < 0 && !rec->turn_failed)
        log_line("%s; the recording continues in %s, and tries a new file every %s", err.msg,
                 rec->path, human_time(rec->every).text);
    rec->turn_failed = rc < 0;
    rec->turn_at = clock_mono_ns() + rec->every;
}

/* For those who ask while it goes on. */
static void tell_status(struct recorder *rec)
{
    struct recorder_status s = {.events = rec->result.events,
                                .bytes = rec->writer.size,
                                .cpu_ns = clock_ns_(CLOCK_THREAD_CPUTIME_ID)};
    for (int i = 0; i < LOSS_LIMIT; i++)
        s.loss[i] = atomic_load_explicit(&rec->region.h->loss[i], memory_order_relaxed);
    unwritten_tell(rec, &s.unwritten);
    pthread_mutex_lock(&rec->ctl_lock);
    rec->status = s;
    pthread_mutex_unlock(&rec->ctl_lock);
}

/* The time is over, and only this thread ends the recording: what it says of waits that go on is
 * all that the file says. */
static int end_alone(struct recorder *rec, uint64_t at, struct err *err)
{
    if (recorder_unwritten(rec))
        return 0;
    TRY(settle(rec, err));
    return rotate_note_waits(rec, at, err);
}

static bool is_over(const struct recorder *rec, uint64_t now)
{
    uint64_t end =
        atomic_load_explicit(&rec->end_after, memory_order_relaxed); /* or the next time */
    return end && now >= end;
}

/* What the rings have goes to the file; `all`: of every ring, and whatever is staged. */
static int work(struct recorder *rec, bool all, uint64_t now, struct err *err)
{
    if (recorder_unwritten(rec))
        return unwritten_end(rec, err);
    TRY(drain_pass(rec, all, err));
    if (all)
        TRY(take_left_behind(rec, err));
    return flush_if_due(rec, now, all, err);
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
        region_note_alive(rec->region.h, now);
        bool asked = ticket != rec->flush_done, due = rec->turn_at && now >= rec->turn_at;
        bool all = asked || due || now - rec->flushed_at >= FLUSH_EVERY_NS;
        rc = work(rec, all, now, &err);
        bool full = unwritten_passes(rc);
        if (full && !recorder_unwritten(rec))
            unwritten_begin(rec, &err, now);
        if (all || full)
            tell_status(rec);
        if (rec->tick)
            rec->tick(now, rec->result.events);
        if (rc == 0 && due)
            turn(rec, now);
        if ((rc == 0 || full) && asked)
            answer_flush(rec, ticket, now, rc, &err);
        rc = full ? 0 : rc;
        if (is_over(rec, now)) {
            rc = end_alone(rec, now, &err);
            break;
        }
        /* Busy: look again soon, so that small rings do not fill up. */
        pause = full                               ? PAUSE_FULL_NS
                : rec->result.events - before > 64 ? PAUSE_MIN_NS
                                                   : min_u64(pause * 2, PAUSE_MAX_NS);
    }
    finish(rec, rc, &err);
    pthread_mutex_lock(&rec->ctl_lock);
    rec->finished = true;
    pthread_cond_broadcast(&rec->done);
    pthread_mutex_unlock(&rec->ctl_lock);
    return NULL;
}

#include "record/recorder.h"

#include "base/fdio.h"
#include "base/own_thread.h"
#include "base/util.h"
#include "record/recorder_parts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFINE_WAIT_NS = 100 * 1000, DRAIN_STACK = 256 * 1024 };

bool recorder_on(const struct recorder *rec)
{
    return atomic_load_explicit(&rec->on, memory_order_relaxed);
}

bool recorder_unwritten(const struct recorder *rec)
{
    return atomic_load_explicit(&rec->unwritten, memory_order_relaxed);
}

void recorder_count_loss(struct recorder *rec, enum loss_cause cause, uint64_t n)
{
    atomic_fetch_add_explicit(&rec->region.h->loss[cause], n, memory_order_relaxed);
}

/* --- opening ---------------------------------------------------------------------------------- */

/* The trace file, with its header, and then the name of the region that the header speaks of. */
static int open_trace(struct recorder *rec, const struct recorder_opts *o,
                      const struct file_header *header, struct err *err)
{
    rec->fd = fdio_open_private(o->path, O_EXCL, err);
    TRY(rec->fd);
    int rc = writer_init(&rec->writer, rec->fd, header, err);
    if (rc < 0) {
        err_prefix(err, rc, "%s", o->path);
    } else {
        rc = region_publish(&rec->region, err);
        if (rc < 0)
            writer_fini(&rec->writer);
    }
    if (rc < 0) {
        close(rec->fd);
        unlink(o->path);
    }
    return rc;
}

static int open_files(struct recorder *rec, const struct recorder_opts *o, struct err *err)
{
    struct file_header header;
    writer_header_init(&header);
    header.capacity = o->maxsize;
    uint64_t mem = o->ring_mem ? o->ring_mem : RING_MEM_DEFAULT;
    TRY(region_create(&rec->region, o->ringdir, o->path, mem, header.id, err));
    snprintf(header.ring_path, sizeof header.ring_path, "%s", rec->region.path);
    int rc = open_trace(rec, o, &header, err);
    if (rc < 0) {
        region_unlink(&rec->region);
        region_close(&rec->region);
    }
    return rc;
}

static void init_sync(struct recorder *rec)
{
    pthread_condattr_t mono;
    pthread_mutex_init(&rec->defs_lock, NULL);
    pthread_mutex_init(&rec->ctl_lock, NULL);
    pthread_condattr_init(&mono);
    pthread_condattr_setclock(&mono, CLOCK_MONOTONIC);
    pthread_cond_init(&rec->wake, &mono);
    pthread_cond_init(&rec->done, &mono);
    pthread_condattr_destroy(&mono);
}

void recorder_free(struct recorder *rec)
{
    pool_fini(rec);
    stager_fini(&rec->stager);
    writer_fini(&rec->writer);
    buf_fini(&rec->defs_scratch);
    buf_fini(&rec->finished_files);
    region_close(&rec->region);
    free(rec);
}

void recorder_end_after(struct recorder *rec, uint64_t duration)
{
    /* relaxed: the drain thread looks at it again and again */
    atomic_store_explicit(&rec->end_after, duration ? rec->started + duration : 0,
                          memory_order_relaxed);
}

static void take_options(struct recorder *rec, const struct recorder_opts *o)
{
    rec->started = rec->writer.header.start_mono;
    rec->started_real = rec->writer.header.start_real;
    rec->part = 1;
    snprintf(rec->path, sizeof rec->path, "%s", o->path);
    snprintf(rec->first_path, sizeof rec->first_path, "%s", o->path);
    rec->block = o->block;
    recorder_end_after(rec, o->duration);
    rec->maxsize = o->maxsize;
    rec->every = o->every;
    rec->turn_at = o->every ? rec->started + o->every : 0;
    rec->keep = o->keep;
    rec->files = o->files;
    rec->tick = o->tick;
}

int recorder_open(struct recorder **out, const struct recorder_opts *o, struct err *err)
{
    *out = NULL;
    struct recorder *rec = calloc(1, sizeof *rec);
    if (!rec)
        return err_set(err, -ENOMEM, "out of memory");
    int rc = open_files(rec, o, err);
    if (rc < 0) {
        free(rec);
        return rc;
    }
    init_sync(rec);
    take_options(rec, o);
    rc = pool_init(rec, o->ring_max ? o->ring_max : RING_MAX_DEFAULT);
    if (rc == 0)
        rc = stager_init(&rec->stager, rec->region.h);
    rec->stager.notes_ends = true;
    atomic_store_explicit(&rec->on, rc == 0, memory_order_relaxed);
    if (rc == 0)
        rc = own_thread_start(&rec->thread, DRAIN_STACK, drain_main, rec);
    if (rc < 0) {
        err_set(err, rc, "%s: cannot start the recorder: %s", o->path, strerror(-rc));
        close(rec->fd);
        unlink(o->path);
        region_unlink(&rec->region);
        recorder_free(rec);
        return rc;
    }
    *out = rec;
    return 0;
}

/* --- definitions ------------------------------------------------------------------------------ */

/* Put one record into the definition ring; false when there is no room. */
static bool put_record(struct defs_ring *d, const void *bytes, size_t len)
{
    uint64_t head = atomic_load_explicit(&d->head, memory_order_relaxed); /* under defs_lock */
    /* acquire: pairs with stage_flush_defs; those bytes were read */
    uint64_t tail = atomic_load_explicit(&d->tail, memory_order_acquire);
    uint64_t size = 8 + ALIGN_UP(len, (size_t)8), at = head % REGION_DEFS_SIZE;
    uint64_t skip = size <= REGION_DEFS_SIZE - at ? 0 : REGION_DEFS_SIZE - at;
    if (head + skip + size - tail > REGION_DEFS_SIZE)
        return false;
    uint32_t mark = UINT32_MAX, len32 = (uint32_t)len;
    if (skip)
        memcpy(d->data + at, &mark, sizeof mark);
    head += skip;
    at = head % REGION_DEFS_SIZE;
    memcpy(d->data + at, &len32, sizeof len32);
    memcpy(d->data + at + 8, bytes, len);
    /* release: pairs with stage_flush_defs' acquire of head */
    atomic_store_explicit(&d->head, head + size, memory_order_release);
    return true;
}

bool recorder_define(struct recorder *rec, const struct def *d)
{
    bool ok = false;
    pthread_mutex_lock(&rec->defs_lock);
    struct buf *b = &rec->defs_scratch;
    buf_clear(b);
    codec_put_def(b, d);
    if (!b->oom && b->len <= WRITER_DEF_MAX)
        while (recorder_on(rec) && !(ok = put_record(&rec->region.h->defs, b->p, b->len)) &&
               rec->block && !recorder_unwritten(rec))
            clock_sleep_ns(DEFINE_WAIT_NS);
    b->oom = false;
    pthread_mutex_unlock(&rec->defs_lock);
    return ok;
}

bool recorder_put_info(struct recorder *rec, const char *key, const char *value)
{
    struct def d = {.kind = DEF_info, .info = {{key, strlen(key)}, {value, strlen(value)}}};
    return recorder_define(rec, &d);
}

/* --- control ---------------------------------------------------------------------------------- */

int recorder_flush(struct recorder *rec)
{
    pthread_mutex_lock(&rec->ctl_lock);
    uint64_t ticket = ++rec->flush_asked;
    pthread_cond_signal(&rec->wake);
    while (!rec->finished && rec->flush_done < ticket)
        pthread_cond_wait(&rec->done, &rec->ctl_lock);
    int rc = rec->flush_done >= ticket ? rec->flush_rc : -ESHUTDOWN;
    pthread_mutex_unlock(&rec->ctl_lock);
    return rc;
}

/* Have the drain thread do something between two of its writes, and wait for it. */
static int run_errand(struct recorder *rec, struct errand *e)
{
    pthread_mutex_lock(&rec->ctl_lock);
    while (rec->errand && !rec->finished)
        pthread_cond_wait(&rec->done, &rec->ctl_lock);
    if (!rec->finished) {
        rec->errand = e;
        rec->flush_asked++;
        pthread_cond_signal(&rec->wake);
        while (!e->done && !rec->finished)
            pthread_cond_wait(&rec->done, &rec->ctl_lock);
        rec->errand = NULL;
    }
    if (!e->done)
        e->rc = err_set(e->err, -ESHUTDOWN, "the recording has ended: its file is %s", rec->path);
    pthread_cond_broadcast(&rec->done);
    pthread_mutex_unlock(&rec->ctl_lock);
    return e->rc;
}

int recorder_snapshot(struct recorder *rec, const char *path, struct recorder_result *result,
                      struct err *err)
{
    struct errand e = {.copy = path, .result = result, .err = err};
    return run_errand(rec, &e);
}

int recorder_rotate(struct recorder *rec, struct recorder_result *finished, struct err *err)
{
    struct errand e = {.result = finished, .err = err};
    return run_errand(rec, &e);
}

void recorder_status(struct recorder *rec, struct recorder_status *status)
{
    pthread_mutex_lock(&rec->ctl_lock);
    *status = rec->status;
    status->part = rec->part;
    snprintf(status->path, sizeof status->path, "%s", rec->path);
    pthread_mutex_unlock(&rec->ctl_lock);
}

void recorder_ends_here(struct recorder *rec)
{
    atomic_store_explicit(&rec->ended_at, clock_mono_ns(), memory_order_relaxed);
}

void recorder_close(struct recorder *rec, struct recorder_result *result)
{
    pthread_mutex_lock(&rec->ctl_lock);
    bool first = !rec->stop;
    rec->stop = true;
    pthread_cond_signal(&rec->wake);
    while (!rec->finished)
        pthread_cond_wait(&rec->done, &rec->ctl_lock);
    if (result)
        *result = rec->result;
    pthread_mutex_unlock(&rec->ctl_lock);
    if (first)
        pthread_join(rec->thread, NULL);
}

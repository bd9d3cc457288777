#include "view/heap_parts.h"

#include "base/clock.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TELL_NS = 100 * 1000 * 1000 };

/* --- what is told ------------------------------------------------------------------------------
 */

static void tell(struct heap_view *h)
{
    if (h->changed)
        h->changed(h->ctx);
}

static void on_phase(void *ctx, const char *what)
{
    struct heap_view *h = ctx;
    pthread_mutex_lock(&h->lock);
    snprintf(h->progress.phase, sizeof h->progress.phase, "%s", what);
    h->progress.step++;
    h->progress.done = h->progress.total = 0;
    h->progress.told = clock_mono_ns();
    pthread_mutex_unlock(&h->lock);
    tell(h);
}

static void on_bytes(void *ctx, uint64_t done, uint64_t total)
{
    struct heap_view *h = ctx;
    uint64_t now = clock_mono_ns();
    pthread_mutex_lock(&h->lock);
    h->progress.done = done;
    h->progress.total = total;
    bool due = now - h->progress.told > TELL_NS;
    if (due)
        h->progress.told = now;
    pthread_mutex_unlock(&h->lock);
    if (due)
        tell(h);
}

static void reach(struct heap_view *h, enum heap_stage stage)
{
    /* release: with what this stage has found; see heap_view_json. */
    atomic_store_explicit(&h->stage, (int)stage, memory_order_release);
    tell(h);
}

static void end(struct heap_view *h, int rc, const struct err *why)
{
    pthread_mutex_lock(&h->lock);
    h->progress.over = true;
    if (rc < 0)
        snprintf(h->progress.error, sizeof h->progress.error, "%s",
                 why->msg[0] ? why->msg : strerror(-rc));
    pthread_mutex_unlock(&h->lock);
    tell(h);
}

/* --- reading -----------------------------------------------------------------------------------
 */

static int read_dump(struct heap_view *h, struct err *err)
{
    const struct dump_options how = {.progress = on_bytes, .progress_ctx = h};
    const struct retained_options keeps = {.classes = true, .phase = on_phase, .ctx = h};
    struct dump *d;
    on_phase(h, "reading the dump");
    TRY(dump_open(&d, h->path, &how, err));
    h->d = d;
    reach(h, HEAP_COUNTED);
    TRY(retained_find(&h->retained, d, &keeps, err));
    TRY(children_find(&h->children, &h->retained, err));
    reach(h, HEAP_SIZED);
    on_phase(h, "finding out who refers to whom");
    TRY(referrers_find(&h->referrers, d, err));
    reach(h, HEAP_READY);
    return 0;
}

void heap_view_read(struct heap_view *h)
{
    struct err why = {""};
    int rc = read_dump(h, &why);
    end(h, rc, &why);
}

static void *run(void *ctx)
{
    heap_view_read(ctx);
    return NULL;
}

/* --- life --------------------------------------------------------------------------------------
 */

static int check_head(const char *path, struct err *err)
{
    struct hprof_file *f;
    struct hprof head;
    TRY(hprof_file_open(&f, path, err));
    int rc = hprof_open(&head, f, err);
    if (rc == 0)
        hprof_close(&head);
    hprof_file_close(f);
    return rc;
}

int heap_view_new(struct heap_view **out, const char *path, struct err *err)
{
    struct heap_view *h = calloc(1, sizeof *h);
    if (!h)
        return err_set(err, -ENOMEM, "out of memory");
    int rc = -pthread_mutex_init(&h->lock, NULL);
    if (rc < 0) {
        free(h);
        return err_set(err, rc, "no lock can be made: %s", strerror(-rc));
    }
    atomic_init(&h->stage, HEAP_READING);
    /* A file that has no name, or none any more, is read by what it was called by. */
    if (!realpath(path, h->path))
        snprintf(h->path, sizeof h->path, "%s", path);
    rc = check_head(h->path, err);
    if (rc < 0) {
        heap_view_free(h);
        return rc;
    }
    *out = h;
    return 0;
}

void heap_view_free(struct heap_view *h)
{
    if (!h)
        return;
    referrers_fini(&h->referrers);
    children_fini(&h->children);
    retained_fini(&h->retained);
    if (h->d)
        dump_close(h->d);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

int heap_view_start(struct heap_view *h, void (*changed)(void *ctx), void *ctx, struct err *err)
{
    h->changed = changed;
    h->ctx = ctx;
    int rc = pthread_create(&h->thread, NULL, run, h);
    if (rc)
        return err_set(err, -rc, "no thread can be started: %s", strerror(rc));
    h->started = true;
    return 0;
}

bool heap_view_end(struct heap_view *h)
{
    pthread_mutex_lock(&h->lock);
    bool over = h->progress.over || !h->started;
    pthread_mutex_unlock(&h->lock);
    if (!over)
        pthread_detach(h->thread);
    else if (h->started)
        pthread_join(h->thread, NULL);
    h->started = false;
    return !over;
}

const char *heap_view_name(const struct heap_view *h)
{
    const char *last = strrchr(h->path, '/');
    return last ? last + 1 : h->path;
}

const char *heap_view_path(const struct heap_view *h)
{
    return h->path;
}

#include "view/heap_parts.h"

#include "base/clock.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TELL_NS = 100 * 1000 * 1000,
    STEPS = 7, /* the dump, four of retained sizes, suspects with threads, who refers to whom */
};

/* --- reports of progress ---------------------------------------------------------------------- */

static void tell(struct heap_view *h)
{
    if (h->changed)
        h->changed(h->ctx);
}

void heap_tell_phase(void *ctx, const char *what)
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

void heap_tell_bytes(void *ctx, uint64_t done, uint64_t total)
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

/* --- reading ---------------------------------------------------------------------------------- */

static int read_dump(struct heap_view *h, struct err *err)
{
    const struct dump_options how = {.progress = heap_tell_bytes, .progress_ctx = h};
    const struct retained_options keeps = {.classes = true, .phase = heap_tell_phase, .ctx = h};
    struct dump *d;
    heap_tell_phase(h, "reading the dump");
    TRY(dump_open(&d, h->path, &how, err));
    h->d = d;
    reach(h, HEAP_COUNTED);
    if (h->base.path[0])
        heap_find(h, HEAP_FIND_DIFF);
    TRY(retained_find(&h->retained, d, &keeps, err));
    TRY(children_find(&h->children, &h->retained, err));
    reach(h, HEAP_SIZED);
    heap_find(h, HEAP_FIND_SUSPECTS);
    heap_find(h, HEAP_FIND_THREADS);
    heap_tell_phase(h, "finding references between objects");
    TRY(referrers_find(&h->referrers, d, err));
    reach(h, HEAP_READY);
    return 0;
}

static int read_whole(struct heap_view *h)
{
    struct err why = {""};
    int rc = read_dump(h, &why);
    end(h, rc, &why);
    return rc;
}

void heap_view_read(struct heap_view *h)
{
    if (read_whole(h) < 0)
        return;
    for (int i = 0; i < HEAP_FINDINGS; i++)
        if (heap_find_is_asked((enum heap_finding)i))
            heap_find(h, (enum heap_finding)i);
    tell(h);
}

/* Requests, one after the other, until the end. */
static void find_what_is_wanted(struct heap_view *h)
{
    pthread_mutex_lock(&h->lock);
    while (!h->ending) {
        enum heap_finding next = heap_find_next(h);
        if (next == HEAP_FINDINGS) {
            pthread_cond_wait(&h->wanted, &h->lock);
            continue;
        }
        h->progress.over = false;
        h->progress.step = 0;
        h->progress.steps = 1;
        pthread_mutex_unlock(&h->lock);
        heap_find(h, next);
        pthread_mutex_lock(&h->lock);
        h->progress.over = true;
        pthread_mutex_unlock(&h->lock);
        tell(h);
        pthread_mutex_lock(&h->lock);
    }
    pthread_mutex_unlock(&h->lock);
}

static void *run(void *ctx)
{
    if (read_whole(ctx) == 0)
        find_what_is_wanted(ctx);
    return NULL;
}

/* --- life ------------------------------------------------------------------------------------- */

static int make_locks(struct heap_view *h, struct err *err)
{
    int rc = -pthread_mutex_init(&h->lock, NULL);
    if (rc == 0 && (rc = -pthread_cond_init(&h->wanted, NULL)) < 0)
        pthread_mutex_destroy(&h->lock);
    return rc < 0 ? err_set(err, rc, "no lock can be made: %s", strerror(-rc)) : 0;
}

/* A file without a name, or that has lost it, is read by the name that was given. */
static void take_path(char out[PATH_MAX], const char *path)
{
    if (!realpath(path, out))
        snprintf(out, PATH_MAX, "%s", path);
}

int heap_view_new(struct heap_view **out, const char *path, const char *base, struct err *err)
{
    struct heap_view *h = calloc(1, sizeof *h);
    if (!h)
        return err_set(err, -ENOMEM, "out of memory");
    int rc = make_locks(h, err);
    if (rc < 0) {
        free(h);
        return rc;
    }
    atomic_init(&h->stage, HEAP_READING);
    for (int i = 0; i < HEAP_FINDINGS; i++)
        atomic_init(&h->finds[i].found, HEAP_NOT_FOUND);
    take_path(h->path, path);
    rc = dump_check(h->path, err);
    if (rc == 0 && base) {
        take_path(h->base.path, base);
        rc = dump_check(h->base.path, err);
    }
    h->progress.steps = STEPS + (base != NULL);
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
    heap_find_fini(h);
    referrers_fini(&h->referrers);
    children_fini(&h->children);
    retained_fini(&h->retained);
    if (h->d)
        dump_close(h->d);
    pthread_cond_destroy(&h->wanted);
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
    h->ending = true;
    pthread_cond_signal(&h->wanted);
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

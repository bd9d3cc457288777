/* heap_found.c - what of a dump is found beside the stages: by the reader's thread, once each.
 *
 *     HEAP_NOT_FOUND -> HEAP_WANTED -> HEAP_FOUND, or HEAP_NEVER with why
 *
 * Suspects, threads and the difference are found as soon as the stages allow it; what takes passes
 * of its own over the dump only when somebody asks for it, behind the last stage. */
#include "view/heap_parts.h"

#include "base/util.h"

#include <stdio.h>
#include <string.h>

static int find_suspects(struct heap_view *h, struct err *err)
{
    const struct suspects_options how = {0};
    return suspects_find(&h->suspects, &h->retained, &how, err);
}

static int find_threads(struct heap_view *h, struct err *err)
{
    struct object_reader reader;
    TRY(object_reader_open(&reader, &h->retained.objects, err));
    int rc = threads_find(&h->threads, h->d, &h->retained, &reader, err);
    object_reader_close(&reader);
    return rc;
}

static int find_diff(struct heap_view *h, struct err *err)
{
    const struct dump_options how = {
        .counts_only = true, .progress = heap_tell_bytes, .progress_ctx = h};
    struct dump *other;
    diff_init(&h->diff);
    TRY(dump_open(&other, h->base.path, &how, err));
    h->base.made_ms = other->time_ms;
    h->base.partial = other->partial;
    int rc = diff_add(&h->diff, other, NULL, false, err);
    if (rc == 0)
        rc = diff_add(&h->diff, h->d, NULL, true, err);
    if (rc == 0)
        diff_order(&h->diff);
    dump_close(other);
    return rc;
}

static int find_strings(struct heap_view *h, struct err *err)
{
    return strings_find(&h->strings, h->d, STRINGS_MOST, err);
}

static int find_collections(struct heap_view *h, struct err *err)
{
    return collections_find(&h->collections, h->d, err);
}

static void fini_suspects(struct heap_view *h)
{
    suspects_fini(&h->suspects);
}

static void fini_threads(struct heap_view *h)
{
    threads_fini(&h->threads);
}

static void fini_diff(struct heap_view *h)
{
    diff_fini(&h->diff);
}

static void fini_strings(struct heap_view *h)
{
    strings_fini(&h->strings);
}

static void fini_collections(struct heap_view *h)
{
    collections_fini(&h->collections);
}

static const struct finding {
    const char *name;
    const char *phase; /* NULL: it belongs to the step before */
    bool asked;        /* found only on request */
    int (*find)(struct heap_view *h, struct err *err);
    void (*fini)(struct heap_view *h); /* of what was found */
} findings[HEAP_FINDINGS] = {
    [HEAP_FIND_SUSPECTS] = {"suspects", "looking for suspects", false, find_suspects,
                            fini_suspects},
    [HEAP_FIND_THREADS] = {"threads", NULL, false, find_threads, fini_threads},
    [HEAP_FIND_DIFF] = {"diff", "reading the earlier dump", false, find_diff, fini_diff},
    [HEAP_FIND_STRINGS] = {"strings", "comparing strings", true, find_strings, fini_strings},
    [HEAP_FIND_COLLECTIONS] = {"collections", "looking into collections", true, find_collections,
                               fini_collections},
};

void heap_find(struct heap_view *h, enum heap_finding which)
{
    struct heap_find *f = &h->finds[which];
    struct err why = {""};
    if (findings[which].phase)
        heap_tell_phase(h, findings[which].phase);
    int rc = findings[which].find(h, &why);
    if (rc < 0) {
        findings[which].fini(h);
        snprintf(f->error, sizeof f->error, "%s", why.msg[0] ? why.msg : strerror(-rc));
    }
    /* release: with what was found, or why not; see heap_find_check. */
    atomic_store_explicit(&f->found, rc < 0 ? HEAP_NEVER : HEAP_FOUND, memory_order_release);
}

static enum heap_found state_of(const struct heap_view *h, enum heap_finding which)
{
    /* acquire: see heap_find. */
    return (enum heap_found)atomic_load_explicit(&h->finds[which].found, memory_order_acquire);
}

bool heap_find_is_asked(enum heap_finding which)
{
    return findings[which].asked;
}

enum heap_finding heap_find_next(const struct heap_view *h)
{
    int i = 0;
    while (i < HEAP_FINDINGS && state_of(h, (enum heap_finding)i) != HEAP_WANTED)
        i++;
    return (enum heap_finding)i;
}

static void want(struct heap_view *h, enum heap_finding which)
{
    int none = HEAP_NOT_FOUND;
    pthread_mutex_lock(&h->lock);
    /* relaxed: the lock orders it for the reader's thread, and nothing was found yet. */
    atomic_compare_exchange_strong_explicit(&h->finds[which].found, &none, HEAP_WANTED,
                                            memory_order_relaxed, memory_order_relaxed);
    pthread_cond_signal(&h->wanted);
    pthread_mutex_unlock(&h->lock);
}

int heap_find_check(struct heap_view *h, enum heap_finding which, struct err *err)
{
    if (which == HEAP_FIND_DIFF && !h->base.path[0])
        return err_set(err, -ENOENT, "there is no other dump: orca view --diff=EARLIER names one");
    enum heap_found found = state_of(h, which);
    if (found == HEAP_NEVER)
        return err_set(err, -EIO, "%s", h->finds[which].error);
    if (found == HEAP_FOUND)
        return 0;
    if (!findings[which].asked)
        return -EAGAIN;
    if (found == HEAP_NOT_FOUND)
        want(h, which);
    return err_set(err, -EINPROGRESS, "%s: ask again after /api/live has news of the dump",
                   findings[which].phase);
}

json_t *heap_find_states(const struct heap_view *h)
{
    static const char *const names[] = {"no", "wanted", "found", "never"};
    json_t *j = json_object();
    for (int i = 0; i < HEAP_FINDINGS; i++)
        if (i != HEAP_FIND_DIFF || h->base.path[0])
            json_object_set_new(j, findings[i].name,
                                json_string(names[state_of(h, (enum heap_finding)i)]));
    return j;
}

void heap_find_fini(struct heap_view *h)
{
    for (int i = 0; i < HEAP_FINDINGS; i++)
        if (state_of(h, (enum heap_finding)i) == HEAP_FOUND)
            findings[i].fini(h);
}

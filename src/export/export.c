#include "export/export.h"

#include <stdlib.h>
#include <string.h>

#define EXPORTER(id, name) extern const struct exporter exporter_##id;
EXPORTERS
#undef EXPORTER

#define EXPORTER(id, name) &exporter_##id,
const struct exporter *const exporters[] = {EXPORTERS NULL};
#undef EXPORTER

#define EXPORTER(id, name) name,
const char *const exporter_names[] = {EXPORTERS NULL};
#undef EXPORTER

/* How often a write error or the progress is looked at, in events. */
enum { CHECK_EVERY = 16384 };

const struct exporter *exporter_find(const char *name)
{
    for (size_t i = 0; exporters[i]; i++)
        if (strcmp(exporters[i]->name, name) == 0)
            return exporters[i];
    return NULL;
}

const char *exporter_clash(const struct exporter *a, const struct exporter *b)
{
    for (size_t i = 0; a->suffixes[i]; i++)
        for (size_t k = 0; b->suffixes[k]; k++)
            if (strcmp(a->suffixes[i], b->suffixes[k]) == 0)
                return a->suffixes[i];
    return NULL;
}

static int open_files(const struct exporter *x, struct export *e, const char *prefix,
                      struct err *err)
{
    for (size_t i = 0; x->suffixes[i]; i++)
        TRY(out_open(&e->files[i], prefix, x->suffixes[i], err));
    return 0;
}

/* A full disk should not cost the time of formatting everything that no longer fits. */
static int failed_write(const struct export *e)
{
    for (size_t i = 0; i < EXPORT_FILES_MAX; i++)
        if (e->files[i].rc < 0)
            return 1;
    return 0;
}

/* Whether an event is part of a contention that is left out.  in_fast: by thread, whether it is in
 * one; a thread is in one contention at a time. */
static bool leave_out_fast(struct export_job *job, uint8_t *in_fast, const struct event *ev)
{
    uint32_t id = ev->thread.v;
    if (!in_fast || id >= job->trace->n_threads)
        return false;
    bool leave = in_fast[id];
    if (ev->kind == EV_monitor_contended_enter) {
        in_fast[id] = ev->monitor_contended_enter.owner_gone != 0;
        job->fast += in_fast[id];
        return in_fast[id];
    }
    if (ev->kind != EV_monitor_contended_entered)
        return false;
    in_fast[id] = 0;
    return leave;
}

static int one_event(const struct exporter *x, struct export *e, struct export_job *job,
                     const struct event *ev, struct err *err)
{
    if (x->has(ev->kind))
        return x->event(e, ev, err);
    if (ev->kind < EV_LIMIT && event_kinds[ev->kind].group != GROUP_meta)
        job->skipped[ev->kind]++;
    return 0;
}

static int all_events(const struct exporter *x, struct export *e, struct export_job *job,
                      struct err *err)
{
    struct trace_iter *it = NULL;
    struct event ev;
    uint64_t done = 0;
    uint8_t *in_fast = job->no_fast ? calloc(job->trace->n_threads + 1, 1) : NULL;
    if (job->no_fast && !in_fast)
        return err_set(err, -ENOMEM, "out of memory");
    int rc = trace_iter_open(&it, job->trace, err);
    while (rc >= 0 && (rc = trace_iter_next(it, &ev, NULL, err)) > 0) {
        if (!leave_out_fast(job, in_fast, &ev))
            rc = one_event(x, e, job, &ev, err);
        if (rc < 0)
            break;
        if (++done % CHECK_EVERY != 0)
            continue;
        if (failed_write(e))
            break;
        if (job->progress)
            job->progress(job->ctx, done, job->trace->n_events);
    }
    trace_iter_close(it);
    free(in_fast);
    return rc < 0 ? rc : 0;
}

/* Close every file before any gets its name; the main one gets it last, so that whoever sees it
 * also finds its companions. */
static int publish(const struct exporter *x, struct export *e, struct export_job *job,
                   struct err *err)
{
    size_t n = 0;
    for (; x->suffixes[n]; n++) {
        job->lines[n] = e->files[n].lines;
        TRY(out_finish(&e->files[n], err));
    }
    while (n-- > 0)
        if (export_has_file(x, job, n))
            TRY(out_publish(&e->files[n], err));
        else
            out_withdraw(&e->files[n]);
    return 0;
}

int export_job_run(const struct exporter *x, struct export_job *job, struct err *err)
{
    struct export e = {.trace = job->trace};
    int rc = open_files(x, &e, job->prefix, err);
    if (rc == 0) {
        rc = x->begin(&e, err);
        if (rc == 0)
            rc = all_events(x, &e, job, err);
        if (rc == 0)
            rc = x->end(&e, err);
        x->fini(&e);
    }
    if (rc == 0)
        rc = publish(x, &e, job, err);
    job->suppressed = e.suppressed;
    for (size_t i = 0; i < EXPORT_FILES_MAX; i++)
        out_discard(&e.files[i]);
    return rc;
}

int export_run(const struct exporter *x, struct trace *t, const char *prefix, struct err *err)
{
    struct export_job job = {.trace = t, .prefix = prefix};
    return export_job_run(x, &job, err);
}

#include "export/export.h"

#include "base/buf.h"
#include "base/util.h"

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

/* --- fast contention -------------------------------------------------------------------------- */

/* Contentions are counted in the order in which they begin; a thread is in one at a time. */
struct fast {
    struct buf leave; /* of each a byte: whether it is left out */
    uint64_t n;       /* how many have begun */
    struct contention {
        uint64_t number, since; /* from 1; 0: the thread is in none */
    } * now;                    /* [n_threads] */
};

/* The contention that an event begins or ends; NULL: not such an event. */
static struct contention *contention_of(const struct export_job *job, struct fast *f,
                                        const struct event *ev)
{
    if (!f->now || ev->thread.v >= job->trace->n_threads)
        return NULL;
    struct contention *c = &f->now[ev->thread.v];
    if (ev->kind == EV_monitor_contended_enter) {
        *c = (struct contention){++f->n, ev->time};
        return c;
    }
    return ev->kind == EV_monitor_contended_entered && c->number ? c : NULL;
}

static int look_at_contentions(const struct export_job *job, struct fast *f, struct err *err)
{
    struct trace_iter *it = NULL;
    struct event ev;
    int rc = trace_iter_open(&it, job->trace, err);
    while (rc >= 0 && (rc = trace_iter_next(it, &ev, NULL, err)) > 0) {
        struct contention *c = contention_of(job, f, &ev);
        if (c && ev.kind == EV_monitor_contended_enter) {
            buf_putc(&f->leave, job->no_fast && ev.monitor_contended_enter.owner_gone);
        } else if (c && !f->leave.oom) {
            if (ev.time - c->since < job->fast_ns)
                f->leave.p[c->number - 1] = true;
            c->number = 0;
        }
    }
    trace_iter_close(it);
    return f->leave.oom ? err_set(err, -ENOMEM, "out of memory") : rc < 0 ? rc : 0;
}

static int fast_find(const struct export_job *job, struct fast *f, struct err *err)
{
    if (!job->no_fast && !job->fast_ns)
        return 0;
    f->now = calloc(job->trace->n_threads + 1, sizeof *f->now);
    if (!f->now)
        return err_set(err, -ENOMEM, "out of memory");
    TRY(look_at_contentions(job, f, err));
    memset(f->now, 0, (job->trace->n_threads + 1) * sizeof *f->now);
    f->n = 0;
    return 0;
}

/* Whether an event is part of a contention that is left out. */
static bool leave_out_fast(struct export_job *job, struct fast *f, const struct event *ev)
{
    struct contention *c = contention_of(job, f, ev);
    if (!c)
        return false;
    bool leave = f->leave.p[c->number - 1];
    job->fast += leave && ev->kind == EV_monitor_contended_enter;
    if (ev->kind == EV_monitor_contended_entered)
        c->number = 0;
    return leave;
}

static void fast_fini(struct fast *f)
{
    buf_fini(&f->leave);
    free(f->now);
}

/* ---------------------------------------------------------------------------------------------- */

/* Looks were not asked for by name: they are for findings. */
static bool is_look(const struct event *e)
{
    return e->kind == EV_wall_sample && e->wall_sample.flags & SAMPLE_LOOK;
}

static int one_event(const struct exporter *x, struct export *e, struct export_job *job,
                     const struct event *ev, struct err *err)
{
    if (x->has(ev->kind))
        return x->event(e, ev, err);
    if (ev->kind == EV_wait_sum) /* the recorder's, but waits of the program */
        job->skipped[EV_wait_sum] += ev->wait_sum.count;
    else if (ev->kind < EV_LIMIT && event_kinds[ev->kind].group != GROUP_meta && !is_look(ev))
        job->skipped[ev->kind]++;
    return 0;
}

static int events_but(const struct exporter *x, struct export *e, struct export_job *job,
                      struct fast *fast, struct err *err)
{
    struct trace_iter *it = NULL;
    struct event ev;
    uint64_t done = 0;
    int rc = trace_iter_open(&it, job->trace, err);
    while (rc >= 0 && (rc = trace_iter_next(it, &ev, NULL, err)) > 0) {
        if (!leave_out_fast(job, fast, &ev))
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
    return rc < 0 ? rc : 0;
}

static int all_events(const struct exporter *x, struct export *e, struct export_job *job,
                      struct err *err)
{
    struct fast fast = {.n = 0};
    int rc = fast_find(job, &fast, err);
    if (rc == 0)
        rc = events_but(x, e, job, &fast, err);
    fast_fini(&fast);
    return rc;
}

/* Close every file before any gets its name; the main one gets it last, so that a reader that sees
 * it also finds its companions. */
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

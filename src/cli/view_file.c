#include "cli/view_file.h"

#include "analyze/analysis.h"
#include "attach/client.h"
#include "base/util.h"
#include "cli/analyse.h"
#include "cli/input.h"
#include "record/recover.h"
#include "view/view.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Of a trace with more events than the first of these, a part with at most the second is shown
 * while the rest is read: there is something to see after a second, and it costs little. */
enum { LARGE_EVENTS = 12 * 1000 * 1000, BEGINNING_EVENTS = 1500 * 1000 };

/* A JVM that does not answer in this time has written what it has written. */
#define FLUSH_NS (UINT64_C(1) * 1000000000)

struct view_file {
    struct serve_source base;
    char path[PATH_MAX], name[256];
    const char *app;
    struct jvm jvm;       /* pid 0: not known */
    struct trace *opened; /* not read yet */
    struct stat seen;     /* the file as it was before it was read last */
    bool live, warned;
    bool looked; /* once, at the beginning at least */
    bool large;  /* that was a part only */
};

static struct view_file *of(struct serve_source *s)
{
    return (struct view_file *)s; /* its first field */
}

/* --- reading ---------------------------------------------------------------------------------- */

static void flush(const struct view_file *f)
{
    struct err ignored;
    if (f->jvm.pid)
        client_ask(&f->jvm, "flush", FLUSH_NS, NULL, &ignored);
}

static bool is_other(const struct view_file *f, const struct stat *now)
{
    return now->st_dev != f->seen.st_dev || now->st_ino != f->seen.st_ino;
}

static int say_other(const struct view_file *f, struct err *err)
{
    return err_set(err, -ESTALE,
                   "%s: the file was replaced; run orca view again to see the new one", f->path);
}

/* What comes into the file from here on is seen by the next look. */
static int open_again(struct view_file *f, struct trace **out, struct err *err)
{
    *out = f->opened;
    f->opened = NULL;
    if (*out)
        return 0;
    struct stat now;
    bool ok = stat(f->path, &now) == 0;
    if (ok && is_other(f, &now))
        return say_other(f, err);
    TRY(input_open(out, f->path, err));
    if (ok)
        f->seen = now;
    return 0;
}

/* The first look at a large trace is at its beginning; where the whole ends, 0: this is all.  What
 * is imported was read for that already. */
static int64_t keep_beginning(struct view_file *f, struct trace *t)
{
    uint64_t start = t->header.start_mono, end = trace_end(t);
    bool first = !f->looked;
    f->looked = true;
    f->base.partial = first && !t->header.capacity && t->n_events > LARGE_EVENTS &&
                      !*trace_info(t, "import.format", "") &&
                      trace_keep_beginning(t, BEGINNING_EVENTS);
    f->large |= f->base.partial;
    return !f->base.partial ? 0 : end > start ? (int64_t)(end - start) : 1;
}

static int make_view(struct view_file *f, struct trace *t, uint32_t gen,
                     const struct serve_progress *p, struct view **out, struct err *err)
{
    const struct analysis_watch watch = {p->step, p->ctx};
    struct analysis *a;
    enum report_ending ending = analyse_ending(t, f->path);
    int64_t partial_to = keep_beginning(f, t);
    t->app = f->app;
    TRY(conclude_run_watched(&a, t, &watch, err));
    f->live = ending == ENDED_LIVE;
    f->base.live_pid = !f->live ? 0 : f->jvm.pid ? (uint32_t)f->jvm.pid : t->header.pid;
    uint64_t end = max_u64(a->window.to, t->header.end_mono);
    f->base.to = end > t->header.start_mono ? (int64_t)(end - t->header.start_mono) : 0;
    const struct view_about about = {
        .gen = gen,
        .name = f->name,
        .path = f->path,
        .ending = report_ending_name(ending),
        .live_pid = f->base.live_pid,
        .partial_to = partial_to,
        .later = f->large && !partial_to && !f->live,
    };
    if (!f->warned && !partial_to)
        input_warn(t);
    f->warned |= !partial_to;
    int rc = view_new(out, a, &about, err);
    if (rc < 0)
        analysis_free(a);
    return rc;
}

static int file_read(struct serve_source *s, uint32_t gen, const struct serve_progress *p,
                     struct view **out, struct err *err)
{
    struct view_file *f = of(s);
    struct trace *t;
    f->base.partial = false;
    TRY(open_again(f, &t, err));
    if (f->live && analyse_ending(t, f->path) == ENDED_CUT) {
        trace_close(t); /* it was closed behind our look at its header: look again */
        TRY(open_again(f, &t, err));
    }
    int rc = make_view(f, t, gen, p, out, err);
    if (rc < 0)
        trace_close(t);
    return rc;
}

/* --- what has happened to it ------------------------------------------------------------------ */

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* A recording of fixed size is written over, so that its size says nothing. */
static int file_look(struct serve_source *s, struct err *err)
{
    struct view_file *f = of(s);
    struct stat now;
    if (f->live)
        flush(f);
    if (stat(f->path, &now) < 0)
        return err_set(err, -errno, "%s: %s: the file is gone; the page keeps what was read of it",
                       f->path, strerror(errno));
    if (is_other(f, &now))
        return say_other(f, err);
    if (!f->live)
        return 0;
    return now.st_size != f->seen.st_size || !same_time(now.st_mtim, f->seen.st_mtim) ||
           recover_probe(f->path, NULL) != RECOVER_LIVE;
}

static void file_close(struct serve_source *s)
{
    struct view_file *f = of(s);
    trace_close(f->opened);
    free(f);
}

/* --- opening ---------------------------------------------------------------------------------- */

static int begin(struct view_file *f, const char *path, struct err *err)
{
    if (!realpath(path, f->path))
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    flush(f);
    if (stat(f->path, &f->seen) < 0)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    return input_open(&f->opened, path, err);
}

int view_file_open(struct serve_source **out, const char *path, const struct jvm *jvm,
                   const char *name, const char *app, struct err *err)
{
    static const struct serve_source_ops ops = {file_read, file_look, file_close};
    struct view_file *f = calloc(1, sizeof *f);
    if (!f)
        return err_set(err, -ENOMEM, "out of memory");
    f->app = app;
    if (jvm)
        f->jvm = *jvm;
    int rc = begin(f, path, err);
    if (rc < 0) {
        file_close(&f->base);
        return rc;
    }
    const char *last = strrchr(f->path, '/');
    snprintf(f->name, sizeof f->name, "%.255s", name ? name : last ? last + 1 : f->path);
    f->base = (struct serve_source){.ops = &ops, .name = f->name, .path = f->path};
    *out = &f->base;
    return 0;
}

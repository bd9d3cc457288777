/* cmd_export.c - writes a trace in another format. */
#include "base/buf.h"
#include "base/human.h"
#include "base/log.h"
#include "base/util.h"
#include "cli/analyse.h"
#include "cli/cmd.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "export/export.h"
#include "export/model_export.h"
#include "export/waits.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct args {
    uint64_t to; /* index into format_names */
    const char *prefix, *thread;
    uint64_t states, by, unit, from, until, fast;
    bool no_fast, threads, lines, kinds;
};

#define NOT_GIVEN UINT64_MAX

/* Those of single events first, then those of the model. */
#define EXPORTER(id, name) name,
#define MODEL_EXPORTER(id, name) name,
static const char *const format_names[] = {EXPORTERS MODEL_EXPORTERS NULL};
#undef EXPORTER
#define EXPORTER(id, name) +1
enum { N_EXPORTERS = 0 EXPORTERS };

static const struct opt opts[] = {
    {"to", 't', OPT_CHOICE, offsetof(struct args, to), "FORMAT", "the format to write, needed",
     format_names, 0, 0},
    {"output", 'o', OPT_STR, offsetof(struct args, prefix), "PREFIX",
     "what the names of the files begin with (default: FILE without its suffix); -: the standard "
     "output, of collapsed, pprof and perfetto",
     NULL, 0, 0},
    {"no-fast", 0, OPT_FLAG, offsetof(struct args, no_fast), NULL,
     "orca, orca-1.1, tptp: leave out fast contention: blocks on a monitor whose owner was gone "
     "when the JVM reported them",
     NULL, 0, 0},
    {"fast", 0, OPT_TIME, offsetof(struct args, fast), "TIME",
     "orca, orca-1.1, tptp: leave out blocks on a monitor shorter than TIME (default: none)", NULL,
     0, 0},
    {"states", 0, OPT_SET, offsetof(struct args, states), "STATE,...",
     "collapsed, pprof, perfetto: which waits; locked: parked, and blocked by others, a "
     "part of parked; io, ready, stopped, off: in no wait, and not running (default: perfetto all, "
     "the others blocked, locked, joining, reacquiring)",
     waits_names, 0, 0},
    {"by", 0, OPT_CHOICE, offsetof(struct args, by), "WHOM",
     "collapsed, pprof: whose stacks have the time: of the thread that waited, of the owner while "
     "it was waited for, of whoever ended the wait; or samples instead of waits: cpu, wall, and "
     "owner-cpu, owner-wall of owners while others wanted their locks; or allocations, by bytes or "
     "objects: alloc, alloc-objects, or of these, what was not freed: live, live-objects (default: "
     "waiter)",
     model_by_names, 0, 0},
    {"unit", 0, OPT_CHOICE, offsetof(struct args, unit), "UNIT",
     "collapsed: what the weights count (default: us)", model_unit_names, 0, 0},
    {"threads", 0, OPT_FLAG, offsetof(struct args, threads), NULL,
     "collapsed: the name of the stack's thread is the outermost frame", NULL, 0, 0},
    {"lines", 0, OPT_FLAG, offsetof(struct args, lines), NULL,
     "collapsed: frames have line numbers", NULL, 0, 0},
    {"kinds", 0, OPT_FLAG, offsetof(struct args, kinds), NULL,
     "collapsed: frames of samples end in how they were executed: _[0] interpreted, _[1] C1, _[j] "
     "C2, _[i] inlined, _[k] kernel",
     NULL, 0, 0},
    {"from", 0, OPT_TIME, offsetof(struct args, from), "TIME",
     "collapsed, pprof, perfetto: only from this time after the beginning of the recording on, "
     "like 1.5s (default: all)",
     NULL, 0, 0},
    {"until", 0, OPT_TIME, offsetof(struct args, until), "TIME",
     "collapsed, pprof, perfetto: only before this time (default: all)", NULL, 0, 0},
    {"thread", 0, OPT_STR, offsetof(struct args, thread), "NAME",
     "collapsed, pprof, perfetto: only waits and samples of threads whose name contains NAME "
     "(default: all)",
     NULL, 0, 0},
};

static int refuse_own_input(const char *const *suffixes, const char *input, const char *prefix,
                            struct err *err)
{
    int rc = 0;
    for (size_t i = 0; suffixes[i] && rc == 0; i++) {
        struct buf path = {0};
        buf_puts(&path, prefix);
        buf_puts(&path, suffixes[i]);
        rc = input_refuse(input, buf_str(&path), err);
        buf_fini(&path);
    }
    return rc;
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void say_files(const struct exporter *x, const struct export_job *job)
{
    for (size_t i = 0; x->suffixes[i]; i++)
        if (export_has_file(x, job, i))
            log_line("%s%s: %s %s%s", job->prefix, x->suffixes[i], human_count(job->lines[i]).text,
                     i == 0 ? "event" : "line", plural(job->lines[i]));
}

static void say_left_out(const struct exporter *x, const struct export_job *job)
{
    struct buf kinds = {0};
    uint64_t n = 0;
    for (unsigned i = 0; i < EV_LIMIT; i++) {
        if (job->skipped[i] == 0)
            continue;
        n += job->skipped[i];
        buf_printf(&kinds, "%s%s %s", kinds.len ? ", " : "", human_count(job->skipped[i]).text,
                   event_kinds[i].name ? event_kinds[i].name : "of a newer Orca");
    }
    if (n)
        log_line("%s cannot hold %s event%s: %s", x->name, human_count(n).text, plural(n),
                 buf_str(&kinds));
    if (job->suppressed)
        log_line("%s leaves out %s event%s: %s", x->name, human_count(job->suppressed).text,
                 plural(job->suppressed), x->leaves_out);
    buf_fini(&kinds);
}

static int export_events(const struct args *o, struct trace *t, const char *prefix, struct err *err)
{
    const struct exporter *x = exporters[o->to];
    struct progress p;
    progress_begin(&p, "writing");
    struct export_job job = {.trace = t,
                             .prefix = prefix,
                             .progress = progress_step,
                             .ctx = &p,
                             .no_fast = o->no_fast,
                             .fast_ns = o->fast};
    int rc = export_job_run(x, &job, err);
    progress_end(&p);
    TRY(rc);
    say_files(x, &job);
    say_left_out(x, &job);
    if (job.fast)
        log_line("%s fast contention%s left out", human_count(job.fast).text, plural(job.fast));
    return 0;
}

/* --- of the model ----------------------------------------------------------------------------- */

/* The threads whose names contain what was given; *out is freed by the caller, NULL: all. */
static int select_threads(const struct analysis *a, const char *name, bool **out, struct err *err)
{
    size_t found = 0;
    *out = NULL;
    if (!name)
        return 0;
    bool *chosen = *out = calloc(a->threads.n + 1, sizeof *chosen);
    if (!chosen)
        return err_set(err, -ENOMEM, "out of memory");
    for (size_t i = 1; i < a->threads.n; i++) {
        const struct trace_thread *t = trace_thread(a->trace, a->threads.v[i].id);
        chosen[i] = t->id.v && strstr(t->name, name);
        found += chosen[i];
    }
    return found ? 0
                 : err_set(err, -ENOENT,
                           "%s: no thread's name contains '%s'; 'orca report --threads' lists them",
                           a->trace->path, name);
}

static uint64_t moment(const struct trace *t, uint64_t after_start, uint64_t otherwise)
{
    uint64_t time;
    if (after_start == NOT_GIVEN)
        return otherwise;
    return __builtin_add_overflow(t->header.start_mono, after_start, &time) ? UINT64_MAX : time;
}

static void say_model(const struct model_exporter *m, const struct model_job *job)
{
    const char *prefix = job->prefix ? job->prefix : "standard output";
    log_line("%s%s: %s %s%s", prefix, job->prefix ? m->suffix : "", human_count(job->written).text,
             m->things, plural(job->written));
    if (job->left_out)
        log_line("%s leaves out %s %s%s: %s", m->name, human_count(job->left_out).text, m->things,
                 plural(job->left_out), m->leaves_out);
    if (job->a->timeline.n_sums)
        log_line("%s waits were recorded as %s sums (cost=): their times are known to a tenth of a "
                 "second",
                 human_count(job->a->timeline.n_summed).text,
                 human_count(job->a->timeline.n_sums).text);
    if (job->base.not_asked)
        log_line("from %s of %s waits: the others have no stack of the owner",
                 human_count(job->base.asked).text,
                 human_count(job->base.asked + job->base.not_asked).text);
}

static int check_allocs(enum model_by by, const struct analysis *a, struct err *err)
{
    if (!allocs_any(&a->allocs))
        return err_set(err, -ENOENT,
                       "%s: no allocations were recorded; record with orca record --alloc "
                       "512k (events=...+sampled-alloc), or with +alloc",
                       a->trace->path);
    if (model_by_what(by) == ALLOC_KEPT && !allocs_have_ends(&a->allocs))
        return err_set(err, -ENOENT,
                       "%s: counted allocations have no ends, so what is freed is unknown; record "
                       "with orca record --alloc 512k (events=...+sampled-alloc), or with "
                       "+alloc+frees",
                       a->trace->path);
    return 0;
}

static int check_samples(const struct args *o, const struct analysis *a, struct err *err)
{
    if (o->by != NOT_GIVEN && model_by_allocs((enum model_by)o->by))
        return check_allocs((enum model_by)o->by, a, err);
    if (o->by == NOT_GIVEN || !model_by_samples((enum model_by)o->by))
        return 0;
    enum sample_kind kind = model_by_kind((enum model_by)o->by);
    if (a->samples.n[kind])
        return 0;
    return err_set(err, -ENOENT,
                   "%s: no %s samples were recorded; record with orca record --%s 10ms",
                   a->trace->path, sample_kind_names[kind], sample_kind_names[kind]);
}

static int run_model(const struct args *o, const struct model_exporter *m, const struct analysis *a,
                     const char *prefix, struct err *err)
{
    struct progress p;
    bool *threads;
    struct model_job job = {
        .a = a,
        .prefix = prefix,
        .progress = progress_step,
        .ctx = &p,
        .options = {.states = o->states != NOT_GIVEN ? o->states : 0,
                    .by = o->by != NOT_GIVEN ? (enum model_by)o->by : MODEL_BY_WAITER,
                    .unit = o->unit != NOT_GIVEN ? (enum model_unit)o->unit : MODEL_US,
                    .threads = o->threads,
                    .lines = o->lines,
                    .kinds = o->kinds}};
    int rc = select_threads(a, o->thread, &threads, err);
    job.options.selection = (struct selection){.from = moment(a->trace, o->from, 0),
                                               .to = moment(a->trace, o->until, UINT64_MAX),
                                               .threads = threads,
                                               .n_threads = a->threads.n};
    if (rc == 0) {
        progress_begin(&p, "writing");
        rc = model_export_run(m, &job, err);
        progress_end(&p);
    }
    if (rc == 0)
        say_model(m, &job);
    free(threads);
    return rc;
}

static int export_model(const struct args *o, const struct model_exporter *m, struct trace *t,
                        const char *prefix, struct err *err)
{
    struct analysis *a;
    TRY(analyse(&a, t, err));
    int rc = check_samples(o, a, err);
    rc = rc ? rc : run_model(o, m, a, prefix, err);
    analysis_free(a);
    return rc;
}

/* --- options ---------------------------------------------------------------------------------- */

/* The formats that take an option: bits of model_exporter.takes, and these. */
enum { TAKES_SELECTION = 1 << 16, TAKES_STDOUT = 1 << 17, TAKES_NO_FAST = 1 << 18 };

static unsigned takes(size_t format)
{
    if (format < N_EXPORTERS)
        return TAKES_NO_FAST;
    return model_exporters[format - N_EXPORTERS]->takes | TAKES_SELECTION | TAKES_STDOUT;
}

static bool is_stdout(const struct args *o)
{
    return o->prefix && strcmp(o->prefix, "-") == 0;
}

/* Every option must have something to say about the format. */
static int check_given(const struct args *o, struct err *err)
{
    const struct {
        const char *option;
        bool given;
        unsigned takes;
    } all[] = {
        {"--no-fast", o->no_fast, TAKES_NO_FAST},
        {"--fast", o->fast != 0, TAKES_NO_FAST},
        {"--states", o->states != NOT_GIVEN, MODEL_TAKES_STATES},
        {"--by", o->by != NOT_GIVEN, MODEL_TAKES_BY},
        {"--unit", o->unit != NOT_GIVEN, MODEL_TAKES_UNIT},
        {"--threads", o->threads, MODEL_TAKES_THREADS},
        {"--lines", o->lines, MODEL_TAKES_LINES},
        {"--kinds", o->kinds, MODEL_TAKES_KINDS},
        {"--from", o->from != NOT_GIVEN, TAKES_SELECTION},
        {"--until", o->until != NOT_GIVEN, TAKES_SELECTION},
        {"--thread", o->thread != NULL, TAKES_SELECTION},
        {"--output=-", is_stdout(o), TAKES_STDOUT},
    };
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (!all[i].given || takes(o->to) & all[i].takes)
            continue;
        struct buf formats = {0};
        for (size_t k = 0; format_names[k]; k++)
            if (takes(k) & all[i].takes)
                buf_printf(&formats, "%s%s", formats.len ? ", " : "", format_names[k]);
        err_set(err, 0, "%s has no meaning for %s; it is for %s", all[i].option,
                format_names[o->to], buf_str(&formats));
        buf_fini(&formats);
        return CMD_USAGE;
    }
    return 0;
}

static int check(const struct args *o, struct err *err)
{
    if (o->to == NOT_GIVEN) {
        err_set(err, 0, "say which format with --to=FORMAT");
        return CMD_USAGE;
    }
    TRY(check_given(o, err));
    if (o->from != NOT_GIVEN && o->from >= o->until) {
        err_set(err, 0, "--from must be before --until");
        return CMD_USAGE;
    }
    if (o->states != NOT_GIVEN && o->by != NOT_GIVEN && !model_by_waits((enum model_by)o->by)) {
        err_set(err, 0, "--states chooses waits; --by=%s has %s", model_by_names[o->by],
                model_by_samples((enum model_by)o->by) ? "samples" : "allocations");
        return CMD_USAGE;
    }
    if (o->states && !(o->states & ~WAITS_ALL_HALTED) && o->by != NOT_GIVEN &&
        o->by != MODEL_BY_WAITER) {
        err_set(err, 0, "--by=%s is of waits; io, ready, stopped and off are of --by=waiter only",
                model_by_names[o->by]);
        return CMD_USAGE;
    }
    if (o->unit != NOT_GIVEN && o->by != NOT_GIVEN && model_by_allocs((enum model_by)o->by)) {
        err_set(err, 0, "--unit is of times; --by=%s counts %s", model_by_names[o->by],
                model_by_objects((enum model_by)o->by) ? "objects" : "bytes");
        return CMD_USAGE;
    }
    if (o->states == 0) {
        err_set(err, 0, "--states leaves no wait; name at least one state");
        return CMD_USAGE;
    }
    if (is_stdout(o) && !model_exporters[o->to - N_EXPORTERS]->is_text && isatty(STDOUT_FILENO)) {
        err_set(err, 0, "%s is not text for a terminal; send it to a file or a pipe",
                format_names[o->to]);
        return CMD_USAGE;
    }
    return 0;
}

static int export_trace(const struct args *o, struct trace *t, const char *prefix, struct err *err)
{
    bool events = o->to < N_EXPORTERS;
    if (events)
        TRY(export_events(o, t, prefix, err));
    else
        TRY(export_model(o, model_exporters[o->to - N_EXPORTERS], t, prefix, err));
    if (trace_lost(t))
        log_line("%s: %s events were lost while recording; the %s does not show where", t->path,
                 human_count(trace_lost(t)).text, events ? "text" : "export");
    return input_warn(t);
}

static int refuse_input(const struct args *o, const char *input, const char *prefix,
                        struct err *err)
{
    if (o->to < N_EXPORTERS)
        return refuse_own_input(exporters[o->to]->suffixes, input, prefix, err);
    const char *const one[] = {model_exporters[o->to - N_EXPORTERS]->suffix, NULL};
    return refuse_own_input(one, input, prefix, err);
}

/* prefix: NULL for the standard output. */
static int open_and_export(const struct args *o, const char *input, const char *prefix,
                           struct err *err)
{
    struct trace *t;
    if (prefix)
        TRY(refuse_input(o, input, prefix, err));
    TRY(input_open(&t, input, err));
    int rc = export_trace(o, t, prefix, err);
    trace_close(t);
    return rc;
}

static int run(int argc, char **argv, struct err *err)
{
    struct args o = {.to = NOT_GIVEN,
                     .states = NOT_GIVEN,
                     .by = NOT_GIVEN,
                     .unit = NOT_GIVEN,
                     .from = NOT_GIVEN,
                     .until = NOT_GIVEN};
    int n = cmd_parse(&cmd_export, argc, argv, &o, err);
    if (n < 0)
        return n;
    if (n != 1) {
        err_set(err, 0, "name one trace");
        return CMD_USAGE;
    }
    TRY(check(&o, err));
    struct buf stem = {0};
    input_stem(&stem, argv[1]);
    const char *prefix = o.prefix ? o.prefix : buf_str(&stem);
    int rc = open_and_export(&o, argv[1], is_stdout(&o) ? NULL : prefix, err);
    buf_fini(&stem);
    return rc;
}

const struct cmd cmd_export = {
    .name = "export",
    .summary = "convert a trace to a format of other tools",
    .args = "FILE",
    .description =
        "Writes a trace in another format. Each file appears under its name when it is "
        "complete, mode 0600, and replaces an older one. The names, and what the format "
        "cannot hold, are printed on the standard error.\n"
        "\n"
        "collapsed: folded stacks for flame graphs, PREFIX.collapsed: time that threads "
        "waited, by stack. pprof: the same as a profile, PREFIX.pb.gz, labelled by thread, "
        "state and class of lock, with how long locks were held where that was recorded. "
        "perfetto: a trace for Perfetto's viewer, PREFIX.perfetto-trace: each thread's waits, "
        "arrows from what ended them, queues for locks, collector pauses. Details: "
        "docs/reference/export-formats.md.\n"
        "\n"
        "orca: the text files of the 2014 Orca back-end, PREFIX.orca (events), PREFIX.methods "
        "and PREFIX.classtable, and PREFIX.calltable when methods of a method table were "
        "called. orca-1.1: their older form, PREFIX.orca and PREFIX.meta. Both: "
        "docs/reference/orca-text.md.\n"
        "\n"
        "tptp: the XML of Eclipse TPTP's thread profiler, PREFIX.trcxml "
        "(docs/reference/tptp.md).",
    .examples =
        "orca export app.otrace --to orca            # app.orca, app.methods, app.classtable\n"
        "orca export app.otrace --to orca-1.1 -o old # old.orca, old.meta\n"
        "orca export app.otrace --to tptp            # app.trcxml\n"
        "orca export app.otrace --to collapsed -o - | flamegraph.pl --countname=us > app.svg\n"
        "orca export app.otrace --to pprof --by owner # app.pb.gz: go tool pprof app.pb.gz\n"
        "orca export app.otrace --to pprof --by live # what was allocated and not freed\n"
        "orca export app.otrace --to perfetto        # app.perfetto-trace: ui.perfetto.dev",
    .opts = OPT_TABLE(opts),
    .run = run,
};

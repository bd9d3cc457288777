/* cmd_export.c - writes a trace in another format. */
#include "base/buf.h"
#include "base/human.h"
#include "base/log.h"
#include "cli/cmd.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "export/export.h"

#include <string.h>
#include <sys/stat.h>

struct args {
    uint64_t to; /* index into exporters; NO_FORMAT: not given */
    const char *prefix;
    bool no_fast;
};

#define NO_FORMAT UINT64_MAX

static const struct opt opts[] = {
    {"to", 't', OPT_CHOICE, offsetof(struct args, to), "FORMAT", "the format to write, needed",
     exporter_names, 0, 0},
    {"output", 'o', OPT_STR, offsetof(struct args, prefix), "PREFIX",
     "what the names of the files begin with (default: FILE without its suffix)", NULL, 0, 0},
    {"no-fast", 0, OPT_FLAG, offsetof(struct args, no_fast), NULL,
     "leave out fast contention: blocks on a monitor that nobody owned any more when its owner was "
     "looked up",
     NULL, 0, 0},
};

/* "dir/app.otrace" -> "dir/app": the suffix of the file's name, not of a folder's. */
static void put_stem(struct buf *b, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    buf_put(b, path, dot && dot > name ? (size_t)(dot - path) : strlen(path));
}

/* The input, perhaps under another name, must not be among the files that are replaced. */
static int refuse_own_input(const struct exporter *x, const char *input, const char *prefix,
                            struct err *err)
{
    struct stat in, out;
    if (stat(input, &in) < 0)
        return 0;
    for (size_t i = 0; x->suffixes[i]; i++) {
        struct buf path = {0};
        buf_puts(&path, prefix);
        buf_puts(&path, x->suffixes[i]);
        int rc = 0;
        if (stat(buf_str(&path), &out) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
            rc = err_set(err, -EEXIST, "%s: this is the input; choose another name with --output",
                         buf_str(&path));
        buf_fini(&path);
        TRY(rc);
    }
    return 0;
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void say_files(const struct exporter *x, const struct export_job *job)
{
    for (size_t i = 0; x->suffixes[i]; i++)
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
        log_line("%s has no form for %s event%s: %s", x->name, human_count(n).text, plural(n),
                 buf_str(&kinds));
    if (job->suppressed)
        log_line("%s leaves out %s event%s: %s", x->name, human_count(job->suppressed).text,
                 plural(job->suppressed), x->leaves_out);
    buf_fini(&kinds);
}

static int export_to(const struct exporter *x, struct trace *t, const char *prefix, bool no_fast,
                     struct err *err)
{
    struct progress p;
    progress_begin(&p, "writing");
    struct export_job job = {
        .trace = t, .prefix = prefix, .progress = progress_step, .ctx = &p, .no_fast = no_fast};
    int rc = export_job_run(x, &job, err);
    progress_end(&p);
    TRY(rc);
    say_files(x, &job);
    say_left_out(x, &job);
    if (job.fast)
        log_line("%s fast contention%s left out", human_count(job.fast).text, plural(job.fast));
    if (trace_lost(t))
        log_line("%s: %s events were lost while recording; the text does not show where", t->path,
                 human_count(trace_lost(t)).text);
    return input_warn(t);
}

static int open_and_export(const struct args *o, const char *input, const char *prefix,
                           struct err *err)
{
    const struct exporter *x = exporters[o->to];
    struct trace *t;
    TRY(refuse_own_input(x, input, prefix, err));
    TRY(input_open(&t, input, err));
    int rc = export_to(x, t, prefix, o->no_fast, err);
    trace_close(t);
    return rc;
}

static int run(int argc, char **argv, struct err *err)
{
    struct args o = {.to = NO_FORMAT};
    int n = cmd_parse(&cmd_export, argc, argv, &o, err);
    if (n < 0)
        return n;
    if (n != 1) {
        err_set(err, 0, "name one trace");
        return CMD_USAGE;
    }
    if (o.to == NO_FORMAT) {
        err_set(err, 0, "say which format with --to=FORMAT");
        return CMD_USAGE;
    }
    struct buf stem = {0};
    put_stem(&stem, argv[1]);
    int rc = open_and_export(&o, argv[1], o.prefix ? o.prefix : buf_str(&stem), err);
    buf_fini(&stem);
    return rc;
}

const struct cmd cmd_export = {
    .name = "export",
    .summary = "write a trace in a format that other tools read",
    .args = "FILE",
    .description =
        "Writes the trace in another format. The files appear under their names when they are "
        "complete, mode 0600, and replace older ones of the same name; their names, and what the "
        "format cannot hold, are printed on the standard error.\n"
        "\n"
        "orca: the text files of Orca's 2014 back-end, PREFIX.orca (events), PREFIX.methods and "
        "PREFIX.classtable. orca-1.1: their older form, PREFIX.orca and PREFIX.meta. Both are "
        "described in docs/orca-text.md.\n"
        "\n"
        "tptp: the XML of Eclipse TPTP's thread profiler, PREFIX.trcxml; docs/tptp.md.",
    .examples =
        "orca export app.otrace --to orca            # app.orca, app.methods, app.classtable\n"
        "orca export app.otrace --to orca-1.1 -o old # old.orca, old.meta\n"
        "orca export app.otrace --to tptp            # app.trcxml",
    .opts = OPT_TABLE(opts),
    .run = run,
};

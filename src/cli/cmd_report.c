/* cmd_report.c - why the threads of a recorded program waited, where, and for whom. */
#include "cli/cmd.h"
#include "cli/input.h"
#include "cli/report.h"
#include "record/recover.h"

#include <stddef.h>

enum { TOP_DEFAULT = 10, TOP_UNSET = UINT32_MAX };

struct args {
    bool threads, monitors, sites, owners, json;
    const char *class_name;
    uint64_t top;
};

static const struct opt opts[] = {
    {"threads", 't', OPT_FLAG, offsetof(struct args, threads), NULL,
     "only the threads: how often and how long each was blocked and waited", NULL, 0, 0},
    {"monitors", 'm', OPT_FLAG, offsetof(struct args, monitors), NULL,
     "only the monitors, by class", NULL, 0, 0},
    {"locks", 0, OPT_FLAG, offsetof(struct args, monitors), NULL, NULL, NULL, 0, 0},
    {"sites", 's', OPT_FLAG, offsetof(struct args, sites), NULL,
     "only the places in the program that blocked and waited", NULL, 0, 0},
    {"owners", 'o', OPT_FLAG, offsetof(struct args, owners), NULL,
     "only the threads that owned what others blocked on, and who blocked on whom", NULL, 0, 0},
    {"class", 'c', OPT_STR, offsetof(struct args, class_name), "NAME",
     "only monitors of this class: shop.Order$Line, Order$Line or Line (default: all)", NULL, 0, 0},
    {"top", 'n', OPT_UINT, offsetof(struct args, top), "N",
     "rows of each table at most, 0 for all (default: 10; with --json all)", NULL, 0,
     TOP_UNSET - 1},
    {"json", 0, OPT_FLAG, offsetof(struct args, json), NULL,
     "one JSON object (schema orca-report-1, docs/report-json.md)", NULL, 0, 0},
};

static unsigned sections_of(const struct args *o)
{
    unsigned s = (o->threads ? REPORT_THREADS : 0) | (o->monitors ? REPORT_MONITORS : 0) |
                 (o->sites ? REPORT_SITES : 0) | (o->owners ? REPORT_OWNERS : 0);
    return s ? s : REPORT_ALL;
}

static enum report_ending ending_of(const struct trace *t, const char *path)
{
    switch (t->header.state) {
    case TRACE_CLOSED:
        return ENDED_CLOSED;
    case TRACE_RECOVERED:
        return ENDED_RECOVERED;
    case TRACE_STOPPED:
        return ENDED_STOPPED;
    default:
        return recover_probe(path, NULL) == RECOVER_LIVE ? ENDED_LIVE : ENDED_CUT;
    }
}

static int show(const struct args *o, struct trace *t, const char *path, struct err *err)
{
    struct report r = {.trace = t, .path = path, .sections = sections_of(o)};
    r.top = o->top != TOP_UNSET ? o->top : o->json ? 0 : TOP_DEFAULT;
    r.ending = ending_of(t, path);
    TRY(analysis_run(&r.a, t, err));
    int rc = report_init(&r, o->class_name, err);
    if (rc == 0)
        rc = o->json ? report_json(&r, err) : report_text(&r, err);
    analysis_free(r.a);
    return rc;
}

static int run(int argc, char **argv, struct err *err)
{
    struct args o = {.top = TOP_UNSET};
    struct trace *t;
    int n = cmd_parse(&cmd_report, argc, argv, &o, err);
    if (n < 0)
        return n;
    if (n != 1) {
        err_set(err, 0, "name one trace");
        return CMD_USAGE;
    }
    TRY(input_open(&t, argv[1], err));
    int rc = show(&o, t, argv[1], err);
    int status = input_warn(t);
    trace_close(t);
    return rc < 0 ? rc : status;
}

const struct cmd cmd_report = {
    .name = "report",
    .summary = "say why the threads of a recorded program waited, where, and for whom",
    .args = "FILE",
    .description =
        "Prints findings in plain words, then tables: the threads, the monitors by class, the "
        "places "
        "in the program, and the owners. FILE is an .otrace, also of a JVM that is still running "
        "or "
        "was killed, or an .orca with its two companions beside it.\n\n"
        "A thread is blocked while another one owns the monitor that it wants, and waits while it "
        "is "
        "in Object.wait. Averages and percentiles include what was still going on at the end of "
        "the "
        "recording, up to there (column open). p99: 99 of 100 were not longer.\n\n"
        "Contention shorter than about 10 us that spinning wins is not reported by the JVM. What "
        "cannot be known, like some owners, is called unknown.\n\n"
        "Exit status: 1 when the file is damaged (what could be read is shown), 0 when it is only "
        "unfinished.",
    .examples =
        "orca report app.otrace\n"
        "orca report --class OrderBook app.otrace  # one class: its threads, places, owners\n"
        "orca report --threads --top 0 app.otrace  # every thread\n"
        "orca report --json app.otrace | jq '.locks[0]'",
    .opts = OPT_TABLE(opts),
    .run = run,
};

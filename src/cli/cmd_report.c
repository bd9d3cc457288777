/* cmd_report.c - why the threads of a recorded program waited, where, and for which threads. */
#include "base/util.h"
#include "cli/analyse.h"
#include "cli/cmd.h"
#include "cli/input.h"
#include "cli/page.h"
#include "export/report_json.h"

#include <stddef.h>

enum { TOP_DEFAULT = 10, TOP_UNSET = UINT32_MAX };

#define TO_UNSET UINT64_MAX

struct args {
    bool findings, threads, monitors, sites, owners, interactions, path, deadlocks, bottles, queues,
        pools, orders, hot, io, gc, alloc, calls, live, all, json;
    const char *class_name, *thread, *follow, *app;
    uint64_t top, from, to, lock, finding;
};

static const struct opt opts[] = {
    {"all", 'a', OPT_FLAG, offsetof(struct args, all), NULL,
     "every section, in full: findings, then all tables", NULL, 0, 0},
    {"finding", 0, OPT_UINT, offsetof(struct args, finding), "N",
     "only this finding, with all its facts and its stacks", NULL, 1, UINT32_MAX},
    {"findings", 0, OPT_FLAG, offsetof(struct args, findings), NULL, "only the findings", NULL, 0,
     0},
    {"threads", 't', OPT_FLAG, offsetof(struct args, threads), NULL,
     "only the threads: how often and how long each was blocked and waited", NULL, 0, 0},
    {"monitors", 'm', OPT_FLAG, offsetof(struct args, monitors), NULL,
     "only the monitors, by class", NULL, 0, 0},
    {"locks", 0, OPT_FLAG, offsetof(struct args, monitors), NULL, NULL, NULL, 0, 0},
    {"queues", 'q', OPT_FLAG, offsetof(struct args, queues), NULL,
     "only the locks one by one: queues over time, hand-offs, share of the path, slack", NULL, 0,
     0},
    {"sites", 's', OPT_FLAG, offsetof(struct args, sites), NULL,
     "only the call sites where threads were blocked and waited", NULL, 0, 0},
    {"owners", 'o', OPT_FLAG, offsetof(struct args, owners), NULL,
     "only the owners of locks that blocked other threads, and who blocked whom", NULL, 0, 0},
    {"interactions", 'i', OPT_FLAG, offsetof(struct args, interactions), NULL,
     "only how threads acted on each other: starts, hand-offs, notifies, unparks, ends", NULL, 0,
     0},
    {"path", 'p', OPT_FLAG, offsetof(struct args, path), NULL,
     "only the critical path: what decided when the program ended", NULL, 0, 0},
    {"follow", 'f', OPT_STR, offsetof(struct args, follow), "THREAD",
     "follow the path back from this thread's end (or from --to) instead of the program's", NULL, 0,
     0},
    {"deadlocks", 'd', OPT_FLAG, offsetof(struct args, deadlocks), NULL,
     "only deadlocks, and waits at the end that no thread can end", NULL, 0, 0},
    {"bottles", 'b', OPT_FLAG, offsetof(struct args, bottles), NULL,
     "only the bottle graph: which threads ran, and how many at once", NULL, 0, 0},
    {"orders", 0, OPT_FLAG, offsetof(struct args, orders), NULL,
     "only lock order inversions: deadlocks that did not happen", NULL, 0, 0},
    {"pools", 0, OPT_FLAG, offsetof(struct args, pools), NULL,
     "only which thread pools wait for each other, and the circles among them", NULL, 0, 0},
    {"hot", 0, OPT_FLAG, offsetof(struct args, hot), NULL,
     "only the samples (groups cpu, wall; else looks): what the threads executed, and the owners of "
     "locks while others waited for them",
     NULL, 0, 0},
    {"io", 0, OPT_FLAG, offsetof(struct args, io), NULL,
     "only the input and output (group io): by peer, file, host name, child process", NULL, 0, 0},
    {"gc", 0, OPT_FLAG, offsetof(struct args, gc), NULL,
     "only the garbage collections and safepoints, by cause and operation", NULL, 0, 0},
    {"alloc", 0, OPT_FLAG, offsetof(struct args, alloc), NULL,
     "only allocations (groups alloc, sampled-alloc): by class, place and thread, and how long the "
     "objects lived",
     NULL, 0, 0},
    {"calls", 0, OPT_FLAG, offsetof(struct args, calls), NULL,
     "only the calls of tracked methods (methods=, group locks): by method and by caller", NULL, 0,
     0},
    {"live", 0, OPT_FLAG, offsetof(struct args, live), NULL,
     "only allocations that were not freed by the end: which were found live, their age, and how "
     "they grew",
     NULL, 0, 0},
    {"thread", 0, OPT_STR, offsetof(struct args, thread), "NAMES",
     "tables of these threads only: names with * and ?, joined by ',' (default: all)", NULL, 0, 0},
    {"lock", 0, OPT_UINT, offsetof(struct args, lock), "ID",
     "tables of this object only, by its number in --queues (default: all)", NULL, 0, UINT32_MAX},
    {"from", 0, OPT_TIME, offsetof(struct args, from), "TIME",
     "tables and path from this time after the beginning on: 1500ms, 2s (default: 0)", NULL, 0, 0},
    {"to", 0, OPT_TIME, offsetof(struct args, to), "TIME",
     "tables and path up to this time after the beginning (default: the end)", NULL, 0, 0},
    INPUT_APP(offsetof(struct args, app)),
    {"class", 'c', OPT_STR, offsetof(struct args, class_name), "NAME",
     "only monitors of this class: shop.Order$Line, Order$Line or Line (default: all)", NULL, 0, 0},
    {"top", 'n', OPT_UINT, offsetof(struct args, top), "N",
     "rows of each table at most, 0 for all (default: 10; with --json all)", NULL, 0,
     TOP_UNSET - 1},
    {"json", 0, OPT_FLAG, offsetof(struct args, json), NULL,
     "one JSON object (schema orca-report-1, docs/reference/json.md)", NULL, 0, 0},
};

static unsigned sections_of(const struct args *o)
{
    unsigned s = (o->findings ? REPORT_FINDINGS : 0) | (o->threads ? REPORT_THREADS : 0) |
                 (o->monitors ? REPORT_MONITORS : 0) | (o->sites ? REPORT_SITES : 0) |
                 (o->owners ? REPORT_OWNERS : 0) | (o->interactions ? REPORT_INTERACTIONS : 0) |
                 (o->path ? REPORT_PATH : 0) | (o->deadlocks ? REPORT_DEADLOCKS : 0) |
                 (o->bottles ? REPORT_BOTTLES : 0) | (o->queues ? REPORT_QUEUES : 0) |
                 (o->pools ? REPORT_POOLS : 0) | (o->orders ? REPORT_ORDERS : 0) |
                 (o->hot ? REPORT_HOT : 0) | (o->gc ? REPORT_GC : 0) | (o->io ? REPORT_IO : 0) |
                 (o->alloc || o->live ? REPORT_ALLOC : 0) | (o->calls ? REPORT_CALLS : 0);
    bool part = o->class_name || o->thread || o->follow || o->lock || o->from ||
                o->to != TO_UNSET || o->top != TOP_UNSET;
    if (s)
        return s;
    if (o->finding)
        return REPORT_FINDINGS;
    return o->all || o->json || part ? REPORT_ALL | REPORT_IO : REPORT_FINDINGS | REPORT_SCREEN;
}

/* A section without the findings beside --finding; NULL: there is none. */
static const char *other_section(const struct args *o)
{
    if (!o->finding || sections_of(o) & REPORT_FINDINGS)
        return NULL;
    for (const struct opt *x = opts; x < opts + ARRAY_LEN(opts); x++)
        if (x->kind == OPT_FLAG && x->offset < offsetof(struct args, all) &&
            *((const bool *)o + x->offset))
            return x->name;
    return NULL;
}

static int print(const struct report *r, const struct args *o, struct err *err)
{
    if (o->finding > report_findings(r))
        return err_set(err, -ENOENT, "--finding: the report has %u finding%s", report_findings(r),
                       report_findings(r) == 1 ? "" : "s");
    if (!o->json)
        return report_text(r, (unsigned)o->finding, err);
    int rc = report_json(r, stdout);
    return rc < 0 ? err_set(err, rc, "cannot write the JSON to stdout") : 0;
}

static int show(const struct args *o, struct trace *t, const char *path, struct err *err)
{
    struct report r = {.trace = t, .path = path, .sections = sections_of(o), .live = o->live};
    r.top = o->top != TOP_UNSET ? o->top : o->json ? 0 : TOP_DEFAULT;
    r.ending = analyse_ending(t, path);
    const struct report_part part = {.from = o->from,
                                     .to = o->to == TO_UNSET ? UINT64_MAX : o->to,
                                     .lock = o->lock,
                                     .threads = o->thread,
                                     .follow = o->follow};
    TRY(analyse(&r.a, t, err));
    int rc = report_select(&r, &part, err);
    if (rc == 0) {
        rc = report_init(&r, o->class_name, err);
        if (rc == -ENOENT)
            err_prefix(err, rc, "--class");
    }
    if (rc == 0)
        rc = print(&r, o, err);
    analysis_free(r.a);
    return rc;
}

static int run(int argc, char **argv, struct err *err)
{
    struct args o = {.top = TOP_UNSET, .to = TO_UNSET};
    struct trace *t;
    int n = cmd_parse(&cmd_report, argc, argv, &o, err);
    if (n < 0)
        return n;
    if (n != 1) {
        err_set(err, 0, "name one trace");
        return CMD_USAGE;
    }
    const char *section = other_section(&o);
    if (section)
        return err_set(err, CMD_USAGE, "--finding and --%s: give one of them", section);
    TRY(input_open(&t, argv[1], err));
    int rc = input_app(t, o.app, err);
    rc = rc ? rc : show(&o, t, argv[1], err);
    int status = input_warn(t);
    trace_close(t);
    return rc < 0 ? rc : status;
}

const struct cmd cmd_report = {
    .name = "report",
    .summary = "say why threads waited, where, and who blocked them",
    .args = "FILE",
    .description =
        "Prints one screen: the findings, most important first, the threads by pool, and what they "
        "wait for. Thresholds of findings: docs/concepts/findings.md.\n\n--all prints every "
        "section: findings, deadlocks, the critical path, tables of threads, locks, call sites and "
        "owners, how threads acted on each other, and how many threads ran at once "
        "(docs/concepts/analysis.md). Each section has an option of its own. --thread, --lock, "
        "--class, --from, --to and --top also print all sections.\n\nFILE is an .otrace (complete, "
        "growing, or of a killed JVM), an .orca with its two companions beside it, or a .trcxml of "
        "Eclipse TPTP.\n\n--thread, --lock, --from and --to select what the tables count; a wait "
        "that overlaps the range counts with the part inside it. Findings, deadlocks, queues, "
        "interactions, pools and the bottle graph always cover the whole recording.\n\nA thread is "
        "blocked while others have what it wants: a monitor or lock, a permit, a slot. It waits "
        "while it is in Object.wait. Waits that were open at the end count up to the end (column "
        "open).\n\nContention shorter than about 10 µs that spinning wins is not reported by the "
        "JVM. Orca calls unknown whatever it cannot know, such as some owners.\n\nExit status: 0, "
        "also for an unfinished file; 1 when the file is damaged (what can be read is shown).",
    .examples =
        "orca report app.otrace\n"
        "orca report --finding 1 app.otrace  # the first finding with its stacks\n"
        "orca report --all app.otrace\n"
        "orca report --class OrderBook app.otrace  # one class: its threads, places, owners\n"
        "orca report --threads --top 0 app.otrace  # every thread\n"
        "orca report --thread 'worker-*' --from 2s --to 3s app.otrace\n"
        "orca report --path --follow worker-3 app.otrace  # what worker-3's end waited for\n"
        "orca report --live --from 60s app.otrace  # allocated since then and not freed\n"
        "orca report --json app.otrace | jq '.locks[0]'",
    .opts = OPT_TABLE(opts),
    .run = run,
};

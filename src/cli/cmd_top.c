/* cmd_top.c - what the threads of a running JVM wait for, live: the command line of orca top.
 *
 *   top_source.c  the JVM, its recording, the report    top_text.c    the pages
 *   top_own.c     a recording for our own sake          top_screen.c  on a terminal
 *   top_asked.c   what the recording has no longer      top_batch.c   without one */
#include "base/clock.h"
#include "base/util.h"
#include "cli/cmd.h"
#include "cli/input.h"
#include "cli/screen.h"
#include "cli/target.h"
#include "cli/top_batch.h"
#include "cli/top_screen.h"

#include <locale.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

struct args {
    bool batch, json;
    uint64_t count, delay, window, rows, timeout;
    const char *app;
};

static const struct opt opts[] = {
    {"delay", 'd', OPT_TIME, offsetof(struct args, delay), "TIME",
     "time between two refreshes (default: 1s)", NULL, SECOND / 10, 3600 * SECOND},
    {"window", 'w', OPT_TIME, offsetof(struct args, window), "TIME",
     "the time that shares and rates cover, at most a minute (default: 10s)", NULL, SECOND,
     60 * SECOND},
    {"batch", 'b', OPT_FLAG, offsetof(struct args, batch), NULL,
     "print tables instead of drawing on the terminal (always so without a terminal)", NULL, 0, 0},
    {"count", 'n', OPT_UINT, offsetof(struct args, count), "COUNT",
     "print COUNT times, then end (default: 0: until interrupted)", NULL, 0, 0},
    {"rows", 0, OPT_UINT, offsetof(struct args, rows), "N",
     "threads printed at most, 0 for all (default: 20; with --json all)", NULL, 0, UINT32_MAX - 1},
    INPUT_APP(offsetof(struct args, app)),
    {"json", 0, OPT_FLAG, offsetof(struct args, json), NULL,
     "print one JSON object a line for each refresh", NULL, 0, 0},
    TARGET_TIMEOUT(offsetof(struct args, timeout), "30s before the first refresh, then 2s"),
};

enum { ROWS_DEFAULT = 20, ROWS_UNSET = UINT32_MAX };

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
    interrupted = sig;
}

/* Whatever ends us, the recording is taken away first. */
static void catch_signals(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction a = {.sa_handler = on_signal};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        sigaction(ends[i], &a, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static void sleep_until(uint64_t at)
{
    for (uint64_t now; !interrupted && (now = clock_mono_ns()) < at;)
        clock_sleep_ns(min_u64(at - now, SECOND / 5));
}

static int print_pictures(const struct args *o, struct top_view *v, uint64_t first, struct err *err)
{
    uint64_t at = clock_mono_ns() + first;
    int rc = 0;
    for (uint64_t i = 0; rc == 0 && (!o->count || i < o->count); i++) {
        sleep_until(max_u64(at, v->source->due)); /* no picture twice */
        at += v->delay;
        if (interrupted)
            break;
        rc = top_source_refresh(v->source, v->window, err);
        if (rc == 0)
            rc = o->json ? top_batch_json(v, err) : top_batch_text(v, err);
        if (v->source->state == TOP_ENDED || v->source->state == TOP_GONE)
            break;
    }
    return rc;
}

static bool has_terminal(const struct args *o)
{
    return !o->batch && !o->json && !o->count && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

static int show(const struct args *o, const struct jvm *jvm, struct err *err)
{
    static struct top_source source; /* large */
    struct top_view v = {
        .source = &source, .utf8 = screen_utf8(), .window = o->window, .delay = o->delay};
    catch_signals();
    source.app = o->app;
    TRY(top_source_open(&source, jvm, err));
    /* A recording that has just begun has nothing to show yet. */
    bool terminal = has_terminal(o);
    v.rows = o->rows != ROWS_UNSET ? o->rows : o->json || terminal ? 0 : ROWS_DEFAULT;
    uint64_t first = source.own.active ? min_u64(o->delay, SECOND) : 0;
    int rc =
        terminal ? top_screen_run(&v, first, &interrupted, err) : print_pictures(o, &v, first, err);
    top_source_close(&source);
    return rc;
}

static int run(int argc, char **argv, struct err *err)
{
    struct args o = {.delay = SECOND, .window = 10 * SECOND, .rows = ROWS_UNSET};
    struct jvm jvm;
    int n = cmd_parse(&cmd_top, argc, argv, &o, err);
    if (n < 0)
        return n;
    setlocale(LC_ALL, "");
    setlocale(LC_NUMERIC, "C");
    TRY(target_find(n, argv, o.timeout, &jvm, err));
    return show(&o, &jvm, err);
}

const struct cmd cmd_top = {
    .name = "top",
    .summary = "watch what the threads of a running JVM wait for",
    .args = "PID",
    .description =
        "Shows the last ten seconds of a running JVM (--window) in the words of orca report: "
        "findings, the threads by pool, what they wait for and who holds it, then each "
        "thread, most blocked first. 1 to 9 opens a finding with its facts and stacks, t "
        "shows only the threads, h lists the keys.\n"
        "\n"
        "Orca reads the recording as it grows: no refresh stops the JVM. The analysis takes a "
        "tenth of a processor at most; a large program is refreshed less often. A JVM that is "
        "not being recorded is attached to, with a trace of 64 MB at most in a private "
        "temporary folder; on exit Orca detaches and removes the trace, even when orca top is "
        "killed. An existing recording stays as it was.\n"
        "\n"
        "A thread that was asleep, or parked with a time limit, when Orca attached is \"asleep "
        "when Orca attached\" or \"parked when Orca attached\" until its next event.\n"
        "\n"
        "Without a terminal, or with --batch or -n, tables are printed.",
    .examples = "orca top 4711\n"
                "orca top 4711 -n 3 --delay 5s      # three times, into a file or pipe\n"
                "orca top 4711 --json -n 1 | jq '.report.findings[0].card'",
    .opts = OPT_TABLE(opts),
    .run = run,
};

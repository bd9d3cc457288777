/* cmd_top.c - what the threads of a running JVM wait for, live: the command line of orca top.
 *
 *   top_source.c  the JVM, its recording, the model   top_rows.c    rows, columns, order
 *   top_own.c     a recording for our own sake        top_names.c   what things are called
 *   top_found.c   waits from before the recording     top_text.c    head, details, help
 *   top_screen.c  on a terminal: keys                 top_draw.c    and pictures
 *   top_batch.c   without a terminal */
#include "base/clock.h"
#include "base/util.h"
#include "cli/cmd.h"
#include "cli/target.h"
#include "cli/top_batch.h"
#include "cli/top_screen.h"

#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

struct args {
    bool batch, json;
    uint64_t count, delay, window, rows, timeout;
};

static const struct opt opts[] = {
    {"delay", 'd', OPT_TIME, offsetof(struct args, delay), "TIME",
     "time between two pictures (default: 1s)", NULL, SECOND / 10, 3600 * SECOND},
    {"window", 'w', OPT_TIME, offsetof(struct args, window), "TIME",
     "shares and rates are of the last so many seconds, at most a minute (default: 10s)", NULL,
     SECOND, 60 * SECOND},
    {"batch", 'b', OPT_FLAG, offsetof(struct args, batch), NULL,
     "print tables instead of drawing on the terminal; without a terminal that is so anyway", NULL,
     0, 0},
    {"count", 'n', OPT_UINT, offsetof(struct args, count), "COUNT",
     "print so many pictures, then end (default: 0, until interrupted)", NULL, 0, 0},
    {"rows", 0, OPT_UINT, offsetof(struct args, rows), "N",
     "rows of each printed table at most, 0 for all (default: 20; with --json all)", NULL, 0,
     UINT32_MAX - 1},
    {"json", 0, OPT_FLAG, offsetof(struct args, json), NULL,
     "print one JSON object a line for each picture", NULL, 0, 0},
    TARGET_TIMEOUT(offsetof(struct args, timeout), "30s before the first picture, then 2s"),
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
    struct top_rows r = {0};
    size_t rows = o->rows != ROWS_UNSET ? o->rows : o->json ? 0 : ROWS_DEFAULT;
    uint64_t at = clock_mono_ns() + first;
    int rc = 0;
    for (uint64_t i = 0; rc == 0 && (!o->count || i < o->count); i++) {
        sleep_until(at);
        at += v->delay;
        if (interrupted)
            break;
        rc = top_source_refresh(v->source, v->window, err);
        if (rc == 0 && top_rows_make(&r, v) < 0)
            rc = err_set(err, -ENOMEM, "out of memory");
        if (rc == 0)
            rc = o->json ? top_batch_json(v, &r, rows, err) : top_batch_text(v, &r, rows, err);
        if (v->source->state == TOP_ENDED || v->source->state == TOP_GONE)
            break;
    }
    top_rows_fini(&r);
    return rc;
}

static bool has_terminal(const struct args *o)
{
    return !o->batch && !o->json && !o->count && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

static int show(const struct args *o, const struct jvm *jvm, struct err *err)
{
    static struct top_source source; /* large */
    struct top_view v = {.source = &source,
                         .utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
                         .sort = {3, 4},
                         .window = min_u64(o->window, LIVE_WINDOW_MAX_NS),
                         .delay = o->delay};
    catch_signals();
    TRY(top_source_open(&source, jvm, err));
    /* A recording that has just begun has nothing to show yet. */
    uint64_t first = source.own.active ? min_u64(o->delay, SECOND) : 0;
    int rc = has_terminal(o) ? top_screen_run(&v, first, &interrupted, err)
                             : print_pictures(o, &v, first, err);
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
        "A live picture: threads by how long they were held up in the last seconds, with what they "
        "wait for, who owns it and where they are; the hottest locks with owner, queue and rates; "
        "deadlocks; what recording costs. Enter shows all about a thread or a lock: stack, owner "
        "and the owner's stack, the last waits. h lists the keys.\n"
        "\n"
        "Held up is a thread that is blocked on a monitor, or parked for a lock or a permit; "
        "waiting in Object.wait, for work, for an answer or for a time is not. Shares are of the "
        "last ten "
        "seconds (--window), and waits that go on count up to now. A thread that slept, or parked "
        "with a time limit, when the recording began is unknown until its next event.\n"
        "\n"
        "What is shown comes from the recording that goes on, read as it grows: no refresh stops "
        "the JVM. A JVM that is not recorded is attached to, as by orca attach, with a trace of 64 "
        "MB at most in a private folder of its temporary folder; at the end it is detached from "
        "and the trace removed, also when orca top is killed. A recording that was there before "
        "is left as it was found.\n"
        "\n"
        "Without a terminal, or with --batch or -n, tables are printed.",
    .examples = "orca top 4711\n"
                "orca top 4711 -n 3 --delay 5s      # three pictures, into a file or pipe\n"
                "orca top 4711 --json -n 1 | jq '.locks[0]'",
    .opts = OPT_TABLE(opts),
    .run = run,
};

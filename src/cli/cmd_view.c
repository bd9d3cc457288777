/* cmd_view.c - the viewer: a server on 127.0.0.1 and the browser in front of it.
 *
 *   view_file.c     a trace, as the server reads it     view_jvms.c    JVMs: list, attach, stop
 *   view_hooks.c    what the server may ask of us       view_recent.c  traces viewed before
 *   view_save.c     copies                              view_browser.c the browser
 *   view_heap.c     heap dumps                         view_traces.c  what the start page offers */
#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "cli/cmd.h"
#include "cli/input.h"
#include "cli/target.h"
#include "cli/view_browser.h"
#include "cli/view_file.h"
#include "cli/view_heap.h"
#include "cli/view_hooks.h"
#include "serve/serve.h"
#include "view/heap_view.h"

#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

/* The longest that a browser takes to start. */
enum { BROWSER_S = 120 };

struct args {
    uint64_t port, idle, timeout, finding;
    bool no_open;
    const char *diff, *app;
};

static const struct opt opts[] = {
    {"port", 'p', OPT_UINT, offsetof(struct args, port), "N",
     "the port of 127.0.0.1 to listen on (default: a free one)", NULL, 0, 65535},
    {"finding", 0, OPT_UINT, offsetof(struct args, finding), "N",
     "begin at this finding of the trace, by its number in orca report", NULL, 1, UINT32_MAX},
    {"no-open", 0, OPT_FLAG, offsetof(struct args, no_open), NULL,
     "open no browser, print the link only", NULL, 0, 0},
    {"diff", 0, OPT_STR, offsetof(struct args, diff), "EARLIER",
     "with a heap dump: an earlier one of the same program, to see what has grown", NULL, 0, 0},
    INPUT_APP(offsetof(struct args, app)),
    {"idle", 0, OPT_TIME, offsetof(struct args, idle), "TIME",
     "end when no page has been open for this time (default: at ^C only)", NULL, 0, 0},
    TARGET_TIMEOUT(offsetof(struct args, timeout), "30s"),
};

/* --- until it ends ---------------------------------------------------------------------------- */

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
    interrupted = sig;
}

/* The second one ends us as if nothing were caught. */
static void catch_signals(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction a = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        sigaction(ends[i], &a, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static void open_browser(struct serve *s, const char *at, struct view_browser *b)
{
    struct buf page;
    buf_init(&page);
    serve_form(s, at, &page);
    view_browser_open(b, &page);
    buf_fini(&page);
}

/* Remove the file once it has served its purpose, or no longer can. */
static void end_browser(struct serve *s, struct view_browser *b)
{
    serve_form_end(s);
    view_browser_close(b);
}

static void wait_for_end(struct serve *s, const struct args *o, struct view_browser *b)
{
    for (unsigned n = 0; !interrupted && (!o->idle || serve_idle_ns(s) < o->idle); n++) {
        clock_sleep_ns(SECOND);
        serve_tick(s);
        if (b->path[0] && (serve_form_used(s) || n == BROWSER_S))
            end_browser(s, b);
    }
}

static int say_link(const char *name, const char *url, const char *at, struct err *err)
{
    if (printf("orca: %s%s%s%s\n", name, *name ? ": " : "", url, at) < 0 || fflush(stdout) != 0)
        return err_set(err, -EIO, "cannot write to stdout");
    return 0;
}

/* ---------------------------------------------------------------------------------------------- */

/* first: what is shown, or nothing. */
static int serve(const struct args *o, struct view_hooks *h, const struct serve_opened *first,
                 struct err *err)
{
    struct serve *s;
    struct serve_source *source = first->source;
    struct view_browser browser = {""};
    struct serve_config config = {.port = (unsigned)o->port, .start = h->start};
    char name[256] = "", at[32] = "";
    if (o->finding)
        snprintf(at, sizeof at, "#finding=%" PRIu64, o->finding);
    view_hooks_fill(h, &config.hooks);
    int rc = serve_open(&s, &config, err);
    if (rc < 0) {
        if (source)
            source->ops->close(source);
        heap_view_free(first->heap);
        return rc;
    }
    if (first->heap)
        snprintf(name, sizeof name, "%s", heap_view_name(first->heap));
    else if (source)
        snprintf(name, sizeof name, "%s", source->name);
    if (first->heap || source)
        rc = serve_add(s, first, err);
    if (rc == 0)
        rc = say_link(name, serve_url(s), at, err);
    if (rc == 0 && !o->no_open)
        open_browser(s, at, &browser);
    if (rc == 0)
        wait_for_end(s, o, &browser);
    view_browser_close(&browser);
    serve_close(s);
    return rc;
}

/* A name of digits only is a process unless there is such a file. */
static bool is_pid(const char *word)
{
    return word[strspn(word, "0123456789")] == 0 && access(word, F_OK) < 0;
}

static int begin(const char *what, const struct args *o, struct view_hooks *h,
                 struct serve_opened *first, struct err *err)
{
    struct jvm jvm;
    h->app = o->app;
    if (o->diff && (!what || is_pid(what) || !view_heap_is(what))) {
        err_set(err, 0, "--diff goes with a heap dump: orca view --diff EARLIER FILE");
        return CMD_USAGE;
    }
    if (!what)
        return view_hooks_init(h, VIEW_START, err);
    if (!is_pid(what)) {
        TRY(view_hooks_init(h, VIEW_FILE, err));
        return view_hooks_open_file(h, what, o->diff, first, err);
    }
    TRY(target_find(1, (char *[]){NULL, (char *)(uintptr_t)what}, o->timeout, &jvm, err));
    TRY(view_hooks_init(h, VIEW_JVM, err));
    return view_hooks_open_jvm(h, &jvm, &first->source, err);
}

static int run(int argc, char **argv, struct err *err)
{
    static struct view_hooks hooks; /* large */
    struct args o = {0};
    struct serve_opened first = {0};
    int n = cmd_parse(&cmd_view, argc, argv, &o, err);
    if (n < 0)
        return n;
    if (n > 1) {
        err_set(err, 0, "name one trace or process, or nothing to open the start page");
        return CMD_USAGE;
    }
    catch_signals();
    int rc = begin(n ? argv[1] : NULL, &o, &hooks, &first, err);
    if (rc == 0)
        rc = serve(&o, &hooks, &first, err);
    view_hooks_fini(&hooks);
    return rc;
}

const struct cmd cmd_view = {
    .name = "view",
    .summary = "explore a recording, a heap dump or a running JVM in the browser",
    .args = "[FILE | PID]",
    .description =
        "Opens the browser with threads over time, what they waited for and what ended each "
        "wait, the critical path, tables and graphs. The server listens on 127.0.0.1 until ^C "
        "and answers only the browser that it starts or that opens the printed link; the link "
        "works once. To start the browser, Orca writes a file orca-view-*.html that only you "
        "can read to your home folder, and removes it once it was read.\n"
        "\n"
        "FILE is an .otrace (complete, growing, or of a killed JVM), an .orca with its two "
        "companions beside it, or a .trcxml of Eclipse TPTP. New events appear while a "
        "recording grows.\n"
        "\n"
        "A heap dump (HPROF, also gzipped) has its own page: leak suspects first, then "
        "classes, biggest objects, what keeps them alive (as a table and an icicle), single "
        "objects, who refers to them and the path from a GC root. Classes appear after one "
        "pass over the file, the rest as it is computed. --diff adds what has grown since an "
        "earlier dump. A truncated or damaged dump is shown as far as it can be read, with a "
        "note of what is missing. Memory: about 0.8 bytes for each byte of the dump. "
        "docs/concepts/heap.md says what counts as a reference, and how sizes are found.\n"
        "\n"
        "PID is a running JVM. Its recording is joined; without one, Orca attaches with a "
        "trace of 64 MB at most, and on exit detaches and removes the trace unless you saved "
        "it.\n"
        "\n"
        "With no argument, opens a start page with your JVMs and recent traces and heap "
        "dumps. JVMs that you attach to from it are detached on exit. The list of files is "
        "kept in ${XDG_STATE_HOME:-~/.local/state}/orca/recent.",
    .examples = "orca view app.otrace\n"
                "orca view --finding 1 app.otrace      # begins at the first finding\n"
                "orca view 4711                        # a running JVM\n"
                "orca view heap.hprof                  # a heap dump\n"
                "orca view --diff earlier.hprof heap.hprof  # and what has grown since\n"
                "orca view                             # choose in the browser\n"
                "orca view --no-open --port 8080 app.otrace  # through ssh -L 8080:127.0.0.1:8080",
    .opts = OPT_TABLE(opts),
    .run = run,
};

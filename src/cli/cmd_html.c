/* cmd_html.c - a trace and its viewer as one file, which a browser opens from the disk. */
#include "base/embed.h"
#include "base/human.h"
#include "base/log.h"
#include "cli/analyse.h"
#include "cli/cmd.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "export/html.h"
#include "view/view.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

EMBED(report_html);

struct args {
    const char *output, *title, *app;
    uint64_t exact;
};

static const struct opt opts[] = {
    {"output", 'o', OPT_STR, offsetof(struct args, output), "FILE",
     "the page (default: FILE without its suffix, and .html)", NULL, 0, 0},
    {"exact", 0, OPT_UINT, offsetof(struct args, exact), "N",
     "keep each wait of a recording of at most N waits, of a longer one only pictures (default: "
     "5000000)",
     NULL, 1, UINT32_MAX},
    {"title", 0, OPT_STR, offsetof(struct args, title), "TITLE",
     "the page's title (default: the file's name)", NULL, 0, 0},
    INPUT_APP(offsetof(struct args, app)),
};

/* The page, and what it holds. */
struct page_file {
    const char *path;
    uint64_t waits;
    bool exact;
};

static void say(const struct page_file *f)
{
    struct stat st;
    uint64_t bytes = stat(f->path, &st) == 0 ? (uint64_t)st.st_size : 0;
    if (f->exact)
        log_line("%s: %s, %s waits exactly; open it in any browser", f->path,
                 human_bytes(bytes).text, human_count(f->waits).text);
    else
        log_line("%s: %s, %s waits as tiles: zoomed in, it shows the share of time that threads "
                 "waited, not each wait; --exact %" PRIu64 " includes each; open it in any "
                 "browser",
                 f->path, human_bytes(bytes).text, human_count(f->waits).text, f->waits);
}

static int write_page(const struct args *o, const char *name, const struct buf *pack,
                      struct out *out, struct err *err)
{
    struct progress p;
    const struct html_page page = {.page = (const char *)embed_report_html,
                                   .page_len = EMBED_BYTES(report_html),
                                   .title = o->title ? o->title : name,
                                   .pack = pack->p,
                                   .pack_len = pack->len,
                                   .progress = progress_step,
                                   .ctx = &p};
    progress_begin(&p, "writing");
    int rc = html_write(&page, out, err);
    progress_end(&p);
    return rc;
}

static int pack_and_write(const struct args *o, struct view *v, const char *name, const char *path,
                          struct err *err)
{
    struct buf pack = {0};
    struct out out;
    TRY(out_open(&out, path, "", err));
    int rc = view_pack(v, &(struct pack_options){.exact_max = o->exact}, &pack, err);
    if (rc == 0)
        rc = write_page(o, name, &pack, &out, err);
    buf_fini(&pack);
    if (rc == 0)
        rc = out_finish(&out, err);
    if (rc == 0)
        rc = out_publish(&out, err);
    out_discard(&out);
    return rc;
}

/* Takes the trace. */
static int make(const struct args *o, struct trace *t, const char *path, struct err *err)
{
    const char *slash = strrchr(t->path, '/'), *name = slash ? slash + 1 : t->path;
    struct view_about about = {.gen = 1,
                               .name = name,
                               .path = t->path,
                               .ending = report_ending_name(analyse_ending(t, t->path))};
    struct analysis *a = NULL;
    struct view *v = NULL;
    int status = 0, rc = input_app(t, o->app, err);
    rc = rc ? rc : analyse(&a, t, err);
    if (rc == 0)
        rc = view_new(&v, a, &about, err);
    if (rc == 0) {
        struct page_file f = {path, timeline_waits(&a->timeline),
                              timeline_waits(&a->timeline) <= o->exact};
        rc = pack_and_write(o, v, name, path, err);
        if (rc == 0)
            say(&f);
        status = input_warn(t);
        view_free(v);
        return rc < 0 ? rc : status;
    }
    analysis_free(a);
    trace_close(t);
    return rc;
}

static int run(int argc, char **argv, struct err *err)
{
    struct args o = {.exact = VIEW_PACK_EXACT};
    int n = cmd_parse(&cmd_html, argc, argv, &o, err);
    if (n < 0)
        return n;
    if (n != 1) {
        err_set(err, 0, "name one trace");
        return CMD_USAGE;
    }
    struct buf path = {0};
    struct trace *t;
    if (o.output)
        buf_puts(&path, o.output);
    else
        input_stem(&path, argv[1]);
    buf_puts(&path, o.output ? "" : ".html");
    int rc = input_refuse(argv[1], buf_str(&path), err);
    if (rc == 0)
        rc = input_open(&t, argv[1], err);
    if (rc == 0)
        rc = make(&o, t, buf_str(&path), err);
    buf_fini(&path);
    return rc;
}

const struct cmd cmd_html = {
    .name = "html",
    .summary = "write a recording and its viewer as one page, to mail or to keep",
    .args = "FILE",
    .description =
        "Writes one HTML file with the viewer and what it shows of the trace: timeline, "
        "findings, tables, flame graphs. Any browser opens it from disk; it needs neither "
        "server nor network.\n"
        "\n"
        "FILE is an .otrace (complete, growing, or of a killed JVM), an .orca with its two "
        "companions beside it, or a .trcxml of Eclipse TPTP.\n"
        "\n"
        "Up to --exact waits, the page has each wait with stacks and causes, and answers "
        "everything that orca view does. A longer recording is stored as tiles (pictures of "
        "each thread at every zoom) and tables of the whole recording: zoomed in, it shows "
        "what share of the time threads waited, not each wait.\n"
        "\n"
        "The page appears under its name when it is complete, mode 0600, and replaces an "
        "older one. Its readers can see the names of classes, methods and threads, and the "
        "program's command line.",
    .examples = "orca html app.otrace                   # app.html\n"
                "orca html app.otrace -o report.html --title 'Friday, 14:00'\n"
                "orca html big.otrace --exact 20000000  # a large page, with every wait",
    .opts = OPT_TABLE(opts),
    .run = run,
};

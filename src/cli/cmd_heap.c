/* cmd_heap.c - what a heap dump of a JVM holds, and what keeps it alive; heap_jvm.c has the running
 * JVM. */
#include "base/clock.h"
#include "base/log.h"
#include "cli/cmd.h"
#include "cli/heap_jvm.h"
#include "cli/heap_parts.h"
#include "cli/progress.h"
#include "cli/screen.h"
#include "heap/missing.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { TOP_DEFAULT = 20, TOP_MOST = 1000000 };

struct args {
    bool classes, biggest, dominators, soft, json, times;
    bool suspects, threads, strings, collections, retained;
    const char *children, *path, *diff;
    uint64_t top, workers;
};

static const struct opt opts[] = {
    {"classes", 'c', OPT_FLAG, offsetof(struct args, classes), NULL,
     "only the classes: instances and bytes (fast)", NULL, 0, 0},
    {"biggest", 'b', OPT_FLAG, offsetof(struct args, biggest), NULL,
     "only the biggest single objects", NULL, 0, 0},
    {"dominators", 'd', OPT_FLAG, offsetof(struct args, dominators), NULL,
     "only the objects that keep most alive: the top of the dominator tree", NULL, 0, 0},
    {"children", 0, OPT_STR, offsetof(struct args, children), "ID",
     "only what this object keeps alive: its children in the dominator tree", NULL, 0, 0},
    {"path", 'p', OPT_STR, offsetof(struct args, path), "ID",
     "only the paths from roots to this object, at most three, without weak references", NULL, 0,
     0},
    {"suspects", 's', OPT_FLAG, offsetof(struct args, suspects), NULL,
     "only leak suspects: where a fifth of the heap or more accumulates", NULL, 0, 0},
    {"threads", 't', OPT_FLAG, offsetof(struct args, threads), NULL,
     "only the threads: their stacks, and the objects that the frames hold", NULL, 0, 0},
    {"strings", 0, OPT_FLAG, offsetof(struct args, strings), NULL,
     "only equal Strings, and the memory that they waste", NULL, 0, 0},
    {"collections", 0, OPT_FLAG, offsetof(struct args, collections), NULL,
     "only the collections: empty or oversized ones, and arrays of only null or 0", NULL, 0, 0},
    {"diff", 0, OPT_STR, offsetof(struct args, diff), "OTHER",
     "only what has grown since OTHER, an earlier dump of the program", NULL, 0, 0},
    {"retained", 0, OPT_FLAG, offsetof(struct args, retained), NULL,
     "with --diff: also the retained sizes of the classes", NULL, 0, 0},
    {"soft", 0, OPT_FLAG, offsetof(struct args, soft), NULL,
     "soft references also keep objects alive (default: they do not)", NULL, 0, 0},
    {"top", 'n', OPT_UINT, offsetof(struct args, top), "N", "rows of each table (default: 20)",
     NULL, 1, TOP_MOST},
    {"workers", 0, OPT_UINT, offsetof(struct args, workers), "N",
     "threads that read (default: one for each processor, at most 16)", NULL, 1, 16},
    {"times", 0, OPT_FLAG, offsetof(struct args, times), NULL, "how long each step took", NULL, 0,
     0},
    {"json", 0, OPT_FLAG, offsetof(struct args, json), NULL, "one JSON object (schema orca-heap-1)",
     NULL, 0, 0},
};

static unsigned sections_of(const struct args *o)
{
    unsigned s = (o->classes ? HEAP_CLASSES : 0) | (o->biggest ? HEAP_BIGGEST : 0) |
                 (o->dominators ? HEAP_DOMINATORS : 0) | (o->children ? HEAP_CHILDREN : 0) |
                 (o->path ? HEAP_PATH : 0) | (o->suspects ? HEAP_SUSPECTS : 0) |
                 (o->threads ? HEAP_THREADS : 0) | (o->strings ? HEAP_STRINGS : 0) |
                 (o->collections ? HEAP_COLLECTIONS : 0) | (o->diff ? HEAP_DIFF : 0);
    return s ? s : HEAP_USUAL;
}

static int parse_id(const char *option, const char *text, uint64_t *id, struct err *err)
{
    char *end;
    errno = 0;
    *id = text ? strtoull(text, &end, 16) : 0;
    if (text && (errno || end == text || *end || *text == '-' || *id == 0)) {
        err_set(err, 0, "--%s: '%s' is not an object's id; ids look like 0x7ff2a310 in the tables",
                option, text);
        return CMD_USAGE;
    }
    return 0;
}

static void begin_phase(void *ctx, const char *what)
{
    progress_phase(ctx, what);
}

/* --- the steps -------------------------------------------------------------------------------- */

static int find_biggest(struct heap_report *h, struct progress *p, struct err *err)
{
    uint64_t began = clock_mono_ns();
    progress_phase(p, "looking for big objects");
    h->biggest = calloc(h->top, sizeof *h->biggest);
    if (!h->biggest)
        return err_set(err, -ENOMEM, "%s: out of memory", h->d->path);
    int64_t n = histogram_biggest(h->d, h->biggest, h->top, err);
    h->n_biggest = n < 0 ? 0 : (size_t)n;
    h->biggest_ns = clock_mono_ns() - began;
    return n < 0 ? (int)n : 0;
}

static int find_below(struct heap_report *h, struct err *err)
{
    uint32_t under = RETAINED_ROOT;
    if (h->sections & HEAP_CHILDREN) {
        under = ids_find(&h->d->ids, h->object);
        if (under == IDS_NONE)
            return err_set(err, -ENOENT, "%s: no object has the id 0x%llx", h->d->path,
                           (unsigned long long)h->object);
    }
    h->below = calloc(h->top, sizeof *h->below);
    if (!h->below)
        return err_set(err, -ENOMEM, "%s: out of memory", h->d->path);
    h->n_below = retained_top(&h->retained, under, h->below, h->top, &h->n_below_all);
    return 0;
}

static int find_retained(struct heap_report *h, const struct args *o, struct progress *p,
                         struct err *err)
{
    uint64_t began = clock_mono_ns();
    const struct retained_options how = {.soft = o->soft,
                                         .path_to = h->sections & HEAP_PATH ? h->object : 0,
                                         .classes = h->sections & HEAP_CLASSES || h->diff_retained,
                                         .phase = begin_phase,
                                         .ctx = p};
    TRY(retained_find(&h->retained, h->d, &how, err));
    h->has_retained = true;
    TRY(object_reader_open(&h->reader, &h->retained.objects, err));
    TRY(find_below(h, err));
    h->retained_ns = clock_mono_ns() - began;
    return 0;
}

/* Sections that need the dominator tree. */
static bool needs_tree(const struct heap_report *h)
{
    return h->diff_retained || h->sections & (HEAP_DOMINATORS | HEAP_CHILDREN | HEAP_PATH |
                                              HEAP_SUSPECTS | HEAP_THREADS);
}

static bool counts_only(const struct heap_report *h)
{
    return (h->sections | HEAP_CLASSES | HEAP_DIFF) == (HEAP_CLASSES | HEAP_DIFF) &&
           !h->diff_retained;
}

static int find_all(struct heap_report *h, const struct args *o, struct progress *p,
                    struct err *err)
{
    h->classes = histogram_classes(h->d, &h->n_classes);
    if (!h->classes)
        return err_set(err, -ENOMEM, "%s: out of memory", h->d->path);
    if (h->sections & HEAP_BIGGEST)
        TRY(find_biggest(h, p, err));
    TRY(heap_parts_find(h, false, p, err));
    if (!needs_tree(h))
        return 0;
    TRY(find_retained(h, o, p, err));
    return heap_parts_find(h, true, p, err);
}

static void release(struct heap_report *h)
{
    heap_parts_release(h);
    free(h->classes);
    free(h->biggest);
    free(h->below);
    if (h->has_retained) {
        object_reader_close(&h->reader);
        retained_fini(&h->retained);
    }
}

/* A line on stderr for each thing that is missing; the exit status for it. */
static int warn(const struct dump *d)
{
    for (size_t i = 0; i < d->n_problems; i++)
        log_line("%s: %s", d->path, d->problems[i].text);
    if (d->more_problems)
        log_line("%s: and %llu more problems", d->path, (unsigned long long)d->more_problems);
    struct missing_lines m = {.n = 0};
    if (d->partial)
        missing_tell(d, &m);
    for (size_t i = 0; i < m.n; i++)
        log_line("%s: missing: %s", d->path, m.v[i]);
    if (d->partial)
        log_line("%s: Orca shows what could be read. %s", d->path, missing_remedy);
    return d->partial ? CMD_FAILED : 0;
}

static int show(struct heap_report *h, const struct args *o, struct progress *p, struct err *err)
{
    int rc = find_all(h, o, p, err);
    progress_end(p);
    if (rc == 0)
        rc = o->json ? heap_json(h, err) : heap_text(h, err);
    int status = rc < 0 || !h->other ? 0 : warn(h->other);
    release(h);
    return rc < 0 ? rc : status;
}

static int run_report(const struct args *o, const char *path, uint64_t object, struct err *err)
{
    struct progress p;
    struct dump *d;
    struct heap_report h = {.sections = sections_of(o),
                            .top = o->top,
                            .object = object,
                            .other_path = o->diff,
                            .diff_retained = o->diff && o->retained,
                            .soft = o->soft};
    const struct dump_options how = {.workers = (unsigned)o->workers,
                                     .counts_only = counts_only(&h),
                                     .progress = progress_step,
                                     .progress_ctx = &p};
    uint64_t began = clock_mono_ns();
    h.utf8 = screen_utf8();
    h.times = o->times;
    progress_begin(&p, "reading the dump");
    int rc = dump_open(&d, path, &how, err);
    if (rc < 0) {
        progress_end(&p);
        return rc;
    }
    h.d = d;
    h.open_ns = clock_mono_ns() - began;
    rc = show(&h, o, &p, err);
    int status = warn(d);
    dump_close(d);
    return rc < 0 ? rc : rc > status ? rc : status;
}

static int run(int argc, char **argv, struct err *err)
{
    struct args o = {.top = TOP_DEFAULT};
    uint64_t child, path;
    const struct cmd *sub = heap_jvm_find(argc, argv);
    if (sub)
        return heap_jvm_run(sub, argc, argv, err);
    int n = cmd_parse(&cmd_heap, argc, argv, &o, err);
    if (n < 0)
        return n;
    if (n != 1 || (o.children && o.path)) {
        err_set(err, 0, n != 1 ? "name one heap dump" : "--children and --path: name one of both");
        return CMD_USAGE;
    }
    if (o.retained && !o.diff) {
        err_set(err, 0, "--retained goes with --diff");
        return CMD_USAGE;
    }
    TRY(parse_id("children", o.children, &child, err));
    TRY(parse_id("path", o.path, &path, err));
    return run_report(&o, argv[1], child ? child : path, err);
}

const struct cmd cmd_heap = {
    .name = "heap",
    .summary = "analyse a heap dump: what fills the heap, and what keeps it alive",
    .args = "FILE | dump PID | live PID",
    .description =
        "Reads a heap dump of a HotSpot JVM, JDK 8 or later (HPROF, or the XML of dump --to tptp). "
        "Prints the classes by the size of their instances (bytes) and by what these keep alive "
        "(retained), the biggest single objects, and the objects that keep most alive. "
        "docs/concepts/heap.md says what counts as a reference, and how sizes are found.\n\ndump "
        "PID makes a dump of a running JVM (orca heap dump --help). live PID shows which recorded "
        "objects are still alive (orca heap live --help).\n\n--suspects, --threads, --strings, "
        "--collections and --diff print what they name instead, and can be combined.\n\nA dump may "
        "be larger than memory: Orca needs about 0.45 bytes for each byte of the dump, and almost "
        "none for --classes.\n\nExit status: 1 when the dump is truncated or damaged: Orca shows "
        "what it can read, and calls what keeps memory alive unknown.",
    .examples = "orca heap dump 4711 -o app.hprof\n"
                "orca heap app.hprof\n"
                "orca heap --classes app.hprof.gz  # as jcmd GC.class_histogram\n"
                "orca heap --path 0x7ff2a310 app.hprof  # why this object is alive\n"
                "orca heap --children 0x7ff2a310 app.hprof  # what it keeps alive\n"
                "orca heap --suspects --strings --collections app.hprof  # where memory goes\n"
                "orca heap --diff earlier.hprof app.hprof  # what has grown",
    .opts = OPT_TABLE(opts),
    .run = run,
};

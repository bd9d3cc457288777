/* heap_text.c - a heap dump as tables. */
#include "base/human.h"
#include "base/options.h"
#include "base/printable.h"
#include "cli/heap_cells.h"
#include "cli/heap_parts.h"
#include "heap/missing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void print_wrapped(const char *text)
{
    struct buf lines = {0};
    opt_wrap(&lines, text, 0, 0);
    printf("%s\n", buf_str(&lines));
    buf_fini(&lines);
}

static void print_missing(const struct dump *d)
{
    struct missing_lines m;
    missing_tell(d, &m);
    printf("\nThe dump is incomplete. Missing:\n");
    for (size_t i = 0; i < m.n; i++)
        printf("  %s\n", m.v[i]);
    print_wrapped(missing_why);
    print_wrapped(missing_remedy);
}

static void print_head(const struct heap_report *h)
{
    const struct dump *d = h->d;
    char date[64] = "";
    time_t s = (time_t)(d->time_ms / 1000);
    struct tm tm;
    if (localtime_r(&s, &tm))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S %z", &tm);
    printable_put(stdout, d->path);
    printf(": heap dump of %s, %s\n", date, human_bytes(d->disk_size).text);
    printf("%s%s objects of %s in the heap", heap_at_least(d, true),
           human_count(d->objects_count).text, human_bytes(d->objects_bytes).text);
    if (d->stated)
        printf("\n");
    else
        printf("; object header %u bytes, references %u bytes\n", d->layout.header,
               d->layout.reference);
    if (!missing_knows_contents(d))
        print_wrapped(missing_contents);
    if (d->partial)
        print_missing(d);
    if (!h->has_retained || !h->retained.known)
        return;
    const struct retained *r = &h->retained;
    printf("%s objects of %s are not reachable from the roots (garbage, or only weakly "
           "reachable)\n",
           human_count(r->n_unreached).text, human_bytes(r->bytes_unreached).text);
}

static void print_classes(const struct heap_report *h)
{
    static const struct table_column columns[] = {{"instances", TABLE_RIGHT, false},
                                                  {"bytes", TABLE_RIGHT, false},
                                                  {"retained", TABLE_RIGHT, false},
                                                  {"class", TABLE_LEFT, true}};
    static const struct table_column plain[] = {{"instances", TABLE_RIGHT, false},
                                                {"bytes", TABLE_RIGHT, false},
                                                {"class", TABLE_LEFT, true}};
    const uint64_t *retained =
        h->has_retained && h->retained.known ? h->retained.class_bytes : NULL;
    size_t n = h->n_classes < h->top ? h->n_classes : h->top;
    struct table t;
    heap_heading(h->d->partial ? "Classes, at least" : "Classes");
    table_init(&t, retained ? columns : plain, retained ? 4 : 3);
    for (size_t i = 0; i < n; i++) {
        const struct dump_class *c = &h->d->classes[h->classes[i]];
        table_put(&t, human_count(c->count).text);
        table_put(&t, human_count(c->bytes).text);
        if (retained)
            table_put(&t, human_count(retained[c->number]).text);
        heap_put_name(h, &t, c->name);
    }
    table_print(&t, stdout);
    table_fini(&t);
    heap_more(h->n_classes, n);
}

static void print_biggest(const struct heap_report *h)
{
    static const struct table_column columns[] = {{"bytes", TABLE_RIGHT, false},
                                                  {"id", TABLE_LEFT, false},
                                                  {"elements", TABLE_RIGHT, false},
                                                  {"class", TABLE_LEFT, true}};
    struct table t;
    heap_heading(h->d->partial ? "Biggest objects that could be read" : "Biggest objects");
    table_init(&t, columns, 4);
    for (size_t i = 0; i < h->n_biggest; i++) {
        const struct big_object *b = &h->biggest[i];
        table_put(&t, human_count(b->bytes).text);
        heap_put_id(&t, b->id);
        table_put(&t, b->n && !h->d->stated ? human_count(b->n).text : "");
        heap_put_name(h, &t,
                      b->class_number == DUMP_NONE ? "?" : h->d->classes[b->class_number].name);
    }
    table_print(&t, stdout);
    table_fini(&t);
}

static void print_below(struct heap_report *h)
{
    static const struct table_column columns[] = {{"retained", TABLE_RIGHT, false},
                                                  {"share", TABLE_RIGHT, false},
                                                  {"id", TABLE_LEFT, false},
                                                  {"object", TABLE_LEFT, true}};
    const struct retained *r = &h->retained;
    struct table t;
    char text[64];
    snprintf(text, sizeof text, "What 0x%" PRIx64 " keeps alive", h->object);
    const char *heading = h->sections & HEAP_CHILDREN ? text : "Objects that keep most alive";
    if (!heap_is_known(h, heading))
        return;
    heap_heading(heading);
    table_init(&t, columns, 4);
    for (size_t i = 0; i < h->n_below; i++) {
        uint64_t bytes = retained_bytes(r, h->below[i]);
        table_put(&t, human_count(bytes).text);
        snprintf(text, sizeof text, "%.1f %%",
                 r->bytes_reached ? 100.0 * (double)bytes / (double)r->bytes_reached : 0.0);
        table_put(&t, text);
        heap_put_object(h, &t, h->below[i]);
    }
    table_print(&t, stdout);
    table_fini(&t);
    heap_more(h->n_below_all, h->n_below);
}

static void print_no_path(const struct heap_report *h)
{
    if (h->retained.known)
        printf("Not reachable from the roots: 0x%" PRIx64
               " is garbage, or only weakly reachable.\n",
               h->object);
    else if (!missing_knows_paths(h->d))
        printf("Unknown: the dump lacks the names by which Orca knows weak references.\n");
    else
        printf("The part that could be read has no path from a root to 0x%" PRIx64
               "; there may be one.\n",
               h->object);
}

static void print_paths(struct heap_report *h)
{
    const struct heap_paths *paths = &h->retained.paths;
    heap_heading("Path from a root");
    if (paths->n == 0)
        print_no_path(h);
    for (size_t i = 0; i < paths->n; i++) {
        if (i)
            heap_heading("Another path");
        heap_put_path(h, &paths->v[i], false);
    }
}

static void print_times(const struct heap_report *h)
{
    const struct retained_times *t = &h->retained.times;
    const struct {
        const char *what;
        uint64_t ns;
    } steps[] = {
        {"reading classes, ids and sizes", h->open_ns},
        {"looking for big objects", h->biggest_ns},
        {"reading references", t->graph},
        {"depth-first search", t->dfs},
        {"reverse references", t->reverse},
        {"dominators", t->semi},
        {"sizes and places", t->sizes},
        {"sums", t->sums},
        {"classes", t->classes},
        {"other sections", h->parts_ns},
    };
    heap_heading("Times");
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        enum { WIDTH = 10 };
        struct human took = human_time(steps[i].ns);
        int pad = WIDTH - (int)printable_width(took.text);
        if (steps[i].ns)
            printf("%*s%s  %s\n", pad > 0 ? pad : 0, "", took.text, steps[i].what);
    }
}

int heap_text(struct heap_report *h, struct err *err)
{
    print_head(h);
    if (h->sections & HEAP_CLASSES)
        print_classes(h);
    if (h->sections & HEAP_BIGGEST)
        print_biggest(h);
    if (h->sections & (HEAP_DOMINATORS | HEAP_CHILDREN))
        print_below(h);
    if (h->sections & HEAP_PATH)
        print_paths(h);
    heap_parts_text(h);
    if (h->times)
        print_times(h);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0
                                                  : err_set(err, -EIO, "cannot write to stdout");
}

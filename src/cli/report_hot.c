/* report_hot.c - `orca report --hot`: where the time of samples went, and what the owners of locks
 * executed while others waited for them. */
#include "cli/page.h"

#include "analyze/labels.h"
#include "base/buf.h"
#include "base/printable.h"
#include "base/util.h"
#include "cli/class_names.h"
#include "cli/page_cells.h"
#include "cli/sample_words.h"

#include <string.h>

enum { OWNER_METHODS = 3, LOCK_CLASS_WIDTH = 26, OWNER_PLACE_WIDTH = 50 };

static const char *const titles[SAMPLE_LISTS] = {"Processor time, by method",
                                                 "Time by method, running or not",
                                                 "Time in no recorded wait, by method (looks)"};

static bool is_whole_report(const struct page *p)
{
    return p->r->sections & REPORT_FINDINGS;
}

/* --- methods ---------------------------------------------------------------------------------- */

static void print_methods(const struct page *p, unsigned kind)
{
    static const struct table_column columns[] = {
        {"self", TABLE_RIGHT, false},    {"of all", TABLE_RIGHT, false},
        {"total", TABLE_RIGHT, false},   {"of all", TABLE_RIGHT, false},
        {"samples", TABLE_RIGHT, false}, {"as", TABLE_LEFT, false},
        {"method", TABLE_LEFT, true}};
    const struct report *r = p->r;
    const struct hot *h = &r->hot[kind];
    struct table t;
    page_list_heading(p, titles[kind], h->n_methods, "most own time first");
    table_init(&t, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < report_rows(r, h->n_methods); i++) {
        const struct hot_method *m = &h->methods[i];
        enum executed as = hot_method_executed(m);
        char name[PAGE_NAME];
        cell_time(&t, m->self.ns, m->self.count);
        cell_percent(&t, m->self.ns, h->sum.ns);
        cell_time(&t, m->total.ns, true);
        cell_percent(&t, m->total.ns, h->sum.ns);
        cell_count(&t, m->self.count);
        table_put(&t, as ? executed_names[as] : "-");
        page_place(p, (struct place){.method = m->method, .line = -1},
                   table_room(&t, page_room(p, PLACE_WIDTH)), name);
        table_put(&t, name);
    }
    page_table(p, &t);
}

/* --- what they are made of -------------------------------------------------------------------- */

static void print_sum(const struct page *p, unsigned kind)
{
    const struct hot *h = &p->r->hot[kind];
    uint64_t failed[SAMPLE_ERRORS];
    struct buf b = {0};
    buf_printf(&b, "%s in %s sample%s of %s thread%s", human_time(h->sum.ns).text,
               human_count(h->sum.count).text, h->sum.count == 1 ? "" : "s",
               human_count(h->n_threads).text, h->n_threads == 1 ? "" : "s");
    if (h->idle.count)
        buf_printf(&b, "; %s of threads that did not run", human_time(h->idle.ns).text);
    for (unsigned i = 0; i < SAMPLE_ERRORS; i++)
        failed[i] = h->failed[i].count;
    put_without_stack(&b, failed);
    buf_putc(&b, '.');
    page_wrapped(p, STYLE_FAINT, "", buf_str(&b), 0);
    buf_fini(&b);
}

/* --- threads ---------------------------------------------------------------------------------- */

static void print_threads(const struct page *p, unsigned kind)
{
    static const struct table_column columns[] = {{"time", TABLE_RIGHT, false},
                                                  {"of all", TABLE_RIGHT, false},
                                                  {"samples", TABLE_RIGHT, false},
                                                  {"failed", TABLE_RIGHT, false},
                                                  {"thread", TABLE_LEFT, true}};
    static const char *const by[SAMPLE_LISTS] = {"Processor time by thread",
                                                 "Sampled time by thread",
                                                 "Time in no recorded wait, by thread"};
    const struct hot *h = &p->r->hot[kind];
    struct table t;
    page_list_heading(p, by[kind], h->n_threads, "most time first");
    table_init(&t, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < report_rows(p->r, h->n_threads); i++) {
        cell_time(&t, h->threads[i].sum.ns, true);
        cell_percent(&t, h->threads[i].sum.ns, h->sum.ns);
        cell_count(&t, h->threads[i].sum.count);
        cell_count(&t, h->threads[i].failed);
        cell_thread(&t, p, h->threads[i].thread);
    }
    page_table(p, &t);
}

/* --- owners ----------------------------------------------------------------------------------- */

static void put_class(struct table *t, const struct page *p, const struct hot_owner *o)
{
    char name[PAGE_NAME];
    page_class(p, p->r->a->locks.groups[o->group].signature, name);
    class_name_fit(name, LOCK_CLASS_WIDTH);
    table_put(t, name);
}

/* A class's first row has its sums, each row a method. */
static void put_owner(struct table *t, const struct page *p, const struct hot_owner *o)
{
    for (size_t i = 0; i == 0 || (i < o->n_methods && i < OWNER_METHODS && o->methods[i].self.ns);
         i++) {
        char name[PAGE_NAME] = "-";
        if (i == 0) {
            cell_time(t, o->waited, true);
            cell_percent(t, o->known, o->waited);
            cell_time(t, o->sum.ns, o->sum.count);
        } else {
            for (int k = 0; k < 3; k++)
                table_put(t, "");
        }
        cell_percent(t, i < o->n_methods ? o->methods[i].self.ns : 0, o->sum.ns);
        if (i == 0)
            put_class(t, p, o);
        else
            table_put(t, "");
        if (i < o->n_methods)
            page_place(p, (struct place){.method = o->methods[i].method, .line = -1},
                       OWNER_PLACE_WIDTH, name);
        table_put(t, name);
    }
}

static void print_owners(const struct page *p, unsigned kind)
{
    static const struct table_column columns[] = {
        {"wanted", TABLE_RIGHT, false},  {"owner known", TABLE_RIGHT, false},
        {"sampled", TABLE_RIGHT, false}, {"self", TABLE_RIGHT, false},
        {"class", TABLE_LEFT, false},    {"what its owners executed", TABLE_LEFT, true}};
    static const char *const what[SAMPLE_LISTS] = {
        "Processor time of owners while others wanted their locks",
        "Time of owners while others wanted their locks",
        "Time of owners, in no recorded wait, while others wanted their locks"};
    const struct hot *h = &p->r->hot[kind];
    struct table t;
    size_t n = 0;
    while (n < h->n_classes && h->classes[n].sum.count)
        n++;
    if (!n)
        return;
    page_list_heading(p, what[kind], n, "most sampled time first");
    table_init(&t, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < report_rows(p->r, n); i++)
        put_owner(&t, p, &h->classes[i]);
    page_table(p, &t);
}

/* --- all of it -------------------------------------------------------------------------------- */

static void print_kind(const struct page *p, unsigned kind)
{
    print_methods(p, kind);
    print_sum(p, kind);
    if (!is_whole_report(p))
        print_threads(p, kind);
    print_owners(p, kind);
}

/* Why a method may look busier than it is. */
static void say_places(const struct page *p)
{
    const char *places = trace_info(p->r->a->trace, "orca.places", "all");
    if (is_whole_report(p) || strcmp(places, "all") == 0)
        return;
    fputc('\n', p->to);
    page_wrapped(
        p, STYLE_FAINT, "",
        "In code compiled before Orca attached, samples between two calls may count inlined "
        "methods as their caller. A recording from the start of the JVM has exact frames.",
        0);
}

/* There are none at all. */
static void say_why(const struct page *p)
{
    const struct trace *t = p->r->a->trace;
    const char *groups = trace_info(t, "orca.events", ""), *why = trace_info(t, "orca.looks", "");
    bool asked = event_groups_list(groups, GROUP_cpu) || event_groups_list(groups, GROUP_wall);
    char line[512] = "There are no samples: record with orca record --cpu 10ms, or --wall 20ms.";
    if (*why)
        snprintf(line, sizeof line, "There are no samples: %s.", why);
    else if (asked)
        snprintf(line, sizeof line,
                 "There are no samples although sampling was on: no thread ran long enough.");
    page_nothing(p, line);
}

void page_hot(const struct page *p)
{
    const struct report *r = p->r;
    bool any = false;
    for (unsigned kind = 0; kind < SAMPLE_LISTS; kind++) {
        bool is_there = r->hot[kind].sum.count > 0;
        if (is_there && !(any && (kind == SAMPLE_LOOKS || is_whole_report(p))))
            print_kind(p, kind);
        any |= is_there;
    }
    if (any)
        say_places(p);
    if (any)
        return;
    if (samples_any(&r->a->samples) || r->a->samples.n[SAMPLE_LOOKS])
        page_nothing(p, "No sample in this part of the recording.");
    else
        say_why(p);
}

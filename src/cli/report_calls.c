/* report_calls.c - `orca report --calls`: the calls of tracked methods, by method and by caller.
 *
 * The whole report shows the program's own methods only: those of the JDK (group locks) are waited
 * in, which its other tables say. */
#include "cli/page.h"

#include "analyze/labels.h"
#include "base/buf.h"
#include "base/printable.h"
#include "cli/page_cells.h"

#include <stdio.h>
#include <string.h>

enum { METHOD_WIDTH = 44, CALLER_WIDTH = 45 };

static void method_text(const struct page *p, call_id call, size_t width, char out[PAGE_NAME])
{
    const struct trace_call *c = trace_call(p->r->trace, call);
    char class[LABEL_MAX], raw[PAGE_NAME];
    label_class(c->class_signature, class, sizeof class);
    snprintf(raw, sizeof raw, "%s.%s", class, c->method);
    printable_text(strlen(raw) > width ? c->name : raw, p->utf8, out, PAGE_NAME);
    printable_cut(out, width);
}

/* What both tables say of calls; the moments of methods of which only the entry is recorded have no
 * times. */
static void put_sum(struct table *t, const struct call_sum *s)
{
    const struct wait_stats *w = &s->times;
    bool timed = w->min != UINT64_MAX;
    cell_count(t, w->count);
    cell_count(t, s->failed);
    cell_time(t, w->ns, timed);
    cell_time(t, s->waited, s->waited);
}

static void put_method(struct table *t, const struct page *p, struct call_sum *s)
{
    char text[PAGE_NAME];
    put_sum(t, s);
    cell_time(t, percentile_get(&s->times.times, 500), s->times.min != UINT64_MAX);
    cell_time(t, s->times.max, s->times.min != UINT64_MAX);
    method_text(p, s->call, METHOD_WIDTH, text);
    table_put(t, text);
}

static void put_caller(struct table *t, const struct page *p, const struct call_sum *s)
{
    char text[PAGE_NAME], line[PAGE_NAME + 16];
    put_sum(t, s);
    cell_time(t, s->times.max, s->times.min != UINT64_MAX);
    method_text(p, s->call, METHOD_WIDTH, text);
    table_put(t, text);
    page_place(p, s->app, CALLER_WIDTH, text);
    snprintf(line, sizeof line, "  from %s", s->app.method.v ? text : "an unknown caller");
    for (int i = 0; i < 5; i++)
        table_put(t, "");
    table_put(t, line);
}

static const struct table_column columns[] = {{"calls", TABLE_RIGHT, false},
                                              {"failed", TABLE_RIGHT, false},
                                              {"total", TABLE_RIGHT, false},
                                              {"in waits", TABLE_RIGHT, false}};
static const struct table_column longest = {"longest", TABLE_RIGHT, false};

static void print_methods(const struct page *p, size_t n)
{
    struct table_column all[7];
    struct table t;
    memcpy(all, columns, sizeof columns);
    all[4] = (struct table_column){"median", TABLE_RIGHT, false};
    all[5] = longest;
    all[6] = (struct table_column){"method", TABLE_LEFT, true};
    table_init(&t, all, 7);
    for (size_t i = 0; i < report_rows(p->r, n); i++)
        put_method(&t, p, &p->r->calls.methods[i]);
    page_list_heading(p, "Calls of tracked methods", n, "most time first");
    page_table(p, &t);
}

static void print_callers(const struct page *p, size_t n)
{
    struct table_column all[6];
    struct table t;
    memcpy(all, columns, sizeof columns);
    all[4] = longest;
    all[5] = (struct table_column){"method, and where it was called", TABLE_LEFT, true};
    table_init(&t, all, 6);
    for (size_t i = 0; i < report_rows(p->r, n); i++)
        put_caller(&t, p, &p->r->calls.callers[i]);
    page_list_heading(p, "Calls by caller", n, "most time first");
    page_table(p, &t);
}

/* How many of a table are shown at all: the program's own come first. */
static size_t shown(const struct page *p, const struct call_sum *v, size_t n)
{
    size_t own = 0;
    while (own < n && !v[own].jdk)
        own++;
    return p->r->sections == REPORT_CALLS ? n : own;
}

static void say_unknown(const struct page *p, size_t n)
{
    uint64_t unknown = 0;
    for (size_t i = 0; i < n; i++)
        unknown += p->r->calls.methods[i].times.unknown;
    if (!unknown)
        return;
    char text[128];
    snprintf(text, sizeof text, "%s call%s without a recorded start or end count%s without a time.",
             human_count(unknown).text, unknown == 1 ? "" : "s", unknown == 1 ? "s" : "");
    page_wrapped(p, STYLE_FAINT, "", text, 0);
}

void page_calls(const struct page *p)
{
    const struct call_tables *t = &p->r->calls;
    size_t n = shown(p, t->methods, t->n_methods);
    if (n == 0) {
        page_nothing(p, "No calls of tracked methods were recorded: -m names methods of the "
                        "program, the group locks those of the JDK's locks and queues.");
        return;
    }
    print_methods(p, n);
    print_callers(p, shown(p, t->callers, t->n_callers));
    say_unknown(p, n);
    page_wrapped(p, STYLE_FAINT, "",
                 "in waits: of the total, in waits that are recorded; the rest ran, or waited for "
                 "what is not recorded. A call inside another one counts in both.",
                 0);
}

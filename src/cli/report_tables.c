/* report_tables.c - the tables of `orca report`: threads, monitors by class, sites, owners. */
#include "cli/page.h"

#include "analyze/labels.h"
#include "base/buf.h"
#include "base/util.h"
#include "cli/class_names.h"
#include "cli/printable.h"
#include "cli/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLASS_WIDTH = 34, THREAD_WIDTH = 30, PLACE_WIDTH = 66 };

static void put_count(struct table *t, uint64_t n)
{
    table_put(t, n ? human_count(n).text : "-");
}

/* A time; "-" where there is none to show. */
static void put_time(struct table *t, const struct page *p, uint64_t ns, bool known)
{
    table_put(t, known ? page_time(p, ns).text : "-");
}

static void put_percent(struct table *t, uint64_t part, uint64_t whole)
{
    char text[32];
    unsigned permille = whole ? (unsigned)((unsigned __int128)part * 1000 / whole) : 0;
    snprintf(text, sizeof text, "%u.%u %%", permille / 10, permille % 10);
    table_put(t, whole ? text : "-");
}

/* "Threads" or "Threads: 10 of 23, most blocked time first" */
static void heading(const struct page *p, const char *what, size_t n, const char *order)
{
    char text[PAGE_WIDTH + 1];
    size_t shown = report_rows(p->r, n);
    if (shown < n)
        snprintf(text, sizeof text, "%s: %s of %s, %s", what, human_count(shown).text,
                 human_count(n).text, order);
    else
        snprintf(text, sizeof text, "%s", what);
    page_heading(p, text);
}

static void print(const struct page *p, struct table *t)
{
    table_print(t, p->to);
    table_fini(t);
}

/* An empty section, where it was asked for: the whole report has said so above. */
static void nothing(const struct page *p, const char *text)
{
    if (!(p->r->sections & REPORT_FINDINGS))
        page_heading(p, text);
}

static const char *kept(const struct page *p, const char *text)
{
    const char *copy = arena_strndup(&p->r->a->arena, text, strlen(text));
    return copy ? copy : "?";
}

/* Names of the classes shown, by group, each at most `width` wide; NULL when memory is out. */
static const char *const *short_classes(const struct page *p, size_t width)
{
    const struct report *r = p->r;
    struct arena *a = &r->a->arena;
    struct class_name *names = arena_alloc(a, r->n_classes * sizeof *names);
    const char **by_group = arena_alloc(a, r->a->locks.n_classes * sizeof *by_group);
    if (!names || !by_group)
        return NULL;
    for (size_t i = 0; i < r->n_classes; i++) {
        char full[PAGE_NAME];
        page_class(p, r->a->locks.classes[r->classes[i]].signature, full);
        names[i].full = kept(p, full);
    }
    if (class_names_shorten(names, r->n_classes, width, a) < 0)
        return NULL;
    for (size_t i = 0; i < r->n_classes; i++)
        by_group[r->classes[i]] = names[i].text;
    return by_group;
}

/* A table whose column that gives way is a class: filled once without names, to see how much room
 * the rest leaves them. */
struct class_table {
    const struct table_column *columns;
    size_t n_columns;
    /* names: by group; NULL: put "" instead */
    void (*fill)(struct table *t, const struct page *p, const char *const *names, bool waited);
    bool waited;
};

static void print_class_table(const struct page *p, const struct class_table *c)
{
    struct table t;
    table_init(&t, c->columns, c->n_columns);
    c->fill(&t, p, NULL, c->waited);
    const char *const *names = short_classes(p, table_room(&t, CLASS_WIDTH));
    table_fini(&t);
    table_init(&t, c->columns, c->n_columns);
    c->fill(&t, p, names, c->waited);
    print(p, &t);
}

/* --- threads ---------------------------------------------------------------------------------- */

enum { MARKS = 4 };
static const char *const mark_texts[MARKS] = {
    "d daemon", "v virtual", "n of the JVM itself",
    "* not all of its waits are known: counts and times are lower bounds"};

static unsigned marks_of(const struct page *p, const struct thread_stats *s)
{
    uint32_t flags = trace_thread(p->r->trace, s->id)->flags;
    return (flags & THREAD_DAEMON ? 1u : 0) | (flags & THREAD_VIRTUAL ? 2u : 0) |
           (flags & THREAD_NATIVE ? 4u : 0) | (s->incomplete ? 8u : 0);
}

static void put_marks(struct table *t, unsigned marks)
{
    char text[MARKS + 1];
    size_t n = 0;
    for (int i = 0; i < MARKS; i++)
        if (marks & 1u << i)
            text[n++] = *mark_texts[i];
    text[n] = 0;
    table_put(t, text);
}

/* What the marks of the threads shown mean. */
static void print_marks(const struct page *p)
{
    const struct report *r = p->r;
    unsigned marks = 0;
    struct buf b = {0};
    if (r->n_threads == 0)
        return;
    for (size_t i = 0; i < report_rows(r, r->n_threads); i++)
        marks |= marks_of(p, &r->a->threads.v[r->threads[i]]);
    for (int i = 0; i < MARKS; i++)
        if (marks & 1u << i)
            buf_printf(&b, "%s%s", b.len ? ", " : "", mark_texts[i]);
    if (marks)
        page_wrapped(p, STYLE_FAINT, "", buf_str(&b), 0);
    page_wrapped(p, STYLE_FAINT, "",
                 "rest: running, ready to run, or in a wait that was not recorded (such as I/O)",
                 0);
    buf_fini(&b);
}

static const struct table_column thread_columns[] = {
    {"thread", TABLE_LEFT, true},        {"", TABLE_LEFT, false},
    {"life", TABLE_RIGHT, false},        {"blocked", TABLE_RIGHT, false},
    {"blocked for", TABLE_RIGHT, false}, {"waited", TABLE_RIGHT, false},
    {"waited for", TABLE_RIGHT, false},  {"park, join, sleep", TABLE_RIGHT, false},
    {"rest", TABLE_RIGHT, false},
};

/* Times that only some traces have get no column where they are nothing. */
static bool has_others(const struct analysis *a)
{
    return a->total[STATE_JOINING].count || a->total[STATE_SLEEPING].count ||
           a->total[STATE_PARKED].count;
}

static void put_thread(struct table *t, const struct page *p, uint32_t i, bool others)
{
    const struct thread_stats *s = &p->r->a->threads.v[i];
    const struct state_stats *b = &s->state[STATE_BLOCKED], *w = &s->state[STATE_WAITING];
    char name[PAGE_NAME];
    page_thread(p, i, name);
    table_put(t, name);
    put_marks(t, marks_of(p, s));
    put_time(t, p, thread_life(s), 1);
    put_count(t, b->count);
    put_time(t, p, b->ns, b->ns);
    put_count(t, w->count);
    put_time(t, p, w->ns, w->ns);
    if (others) {
        uint64_t ns = thread_life(s) - thread_running(s) - b->ns - w->ns;
        put_time(t, p, ns, ns);
    }
    put_time(t, p, thread_running(s), 1);
}

static void print_all_threads(const struct page *p)
{
    const struct report *r = p->r;
    bool others = has_others(r->a);
    struct table_column columns[ARRAY_LEN(thread_columns)];
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(thread_columns); i++)
        if (others || i != 7)
            columns[n++] = thread_columns[i];
    heading(p, "Threads", r->n_threads, "most blocked time first");
    struct table t;
    table_init(&t, columns, n);
    for (size_t i = 0; i < report_rows(r, r->n_threads); i++)
        put_thread(&t, p, r->threads[i], others);
    print(p, &t);
    print_marks(p);
}

/* With --class: only what the threads did on its monitors. */
static void print_class_threads(const struct page *p)
{
    static const struct table_column columns[] = {
        {"thread", TABLE_LEFT, true},        {"blocked", TABLE_RIGHT, false},
        {"blocked for", TABLE_RIGHT, false}, {"longest", TABLE_RIGHT, false},
        {"waited", TABLE_RIGHT, false},      {"waited for", TABLE_RIGHT, false},
        {"longest", TABLE_RIGHT, false}};
    const struct report *r = p->r;
    heading(p, "Threads that blocked or waited on this class", r->n_waiters,
            "most blocked time first");
    struct table t;
    table_init(&t, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < report_rows(r, r->n_waiters); i++) {
        const struct blame *w = &r->waiters[i];
        char name[PAGE_NAME];
        page_thread(p, w->waiter, name);
        table_put(&t, name);
        put_count(&t, w->blocked.count);
        put_time(&t, p, w->blocked.ns, w->blocked.ns);
        put_time(&t, p, w->blocked.max, w->blocked.ns);
        put_count(&t, w->waited.count);
        put_time(&t, p, w->waited.ns, w->waited.ns);
        put_time(&t, p, w->waited.max, w->waited.ns);
    }
    print(p, &t);
}

void page_threads(const struct page *p)
{
    if (p->r->group != EVERY_CLASS)
        print_class_threads(p);
    else if (p->r->n_threads)
        print_all_threads(p);
    else
        nothing(p, "No thread was recorded.");
}

/* --- monitors by class ------------------------------------------------------------------------ */

/* The last two only where there is something to show. */
static const struct table_column monitor_columns[] = {
    {"class", TABLE_LEFT, true},       {"objects", TABLE_RIGHT, false},
    {"threads", TABLE_RIGHT, false},   {"times", TABLE_RIGHT, false},
    {"total", TABLE_RIGHT, false},     {"min", TABLE_RIGHT, false},
    {"avg", TABLE_RIGHT, false},       {"p99", TABLE_RIGHT, false},
    {"max", TABLE_RIGHT, false},       {"open", TABLE_RIGHT, false},
    {"timed out", TABLE_RIGHT, false},
};

static const struct wait_stats *stats_of(const struct report *r, uint32_t group, bool waited)
{
    const struct lock_class *c = &r->a->locks.classes[group];
    return waited ? &c->waited : &c->blocked;
}

static int by_waited(const void *a, const void *b, void *classes)
{
    const struct lock_class *all = classes;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct wait_stats *x = &all[i].waited, *y = &all[k].waited;
    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return (i > k) - (i < k);
}

/* The classes with something to show, most time first; NULL when memory is out. */
static uint32_t *classes_in_order(const struct report *r, bool waited, size_t *n)
{
    uint32_t *v = arena_alloc(&r->a->arena, r->n_classes * sizeof *v);
    *n = 0;
    for (size_t i = 0; i < r->n_classes && v; i++)
        if (stats_of(r, r->classes[i], waited)->count)
            v[(*n)++] = r->classes[i];
    if (v && waited)
        qsort_r(v, *n, sizeof *v, by_waited, r->a->locks.classes);
    return v;
}

static bool any_open(const struct report *r, bool waited)
{
    bool any = false;
    for (size_t i = 0; i < r->n_classes; i++)
        any |= stats_of(r, r->classes[i], waited)->open > 0;
    return any;
}

static bool any_timed_out(const struct report *r, bool waited)
{
    bool any = false;
    for (size_t i = 0; i < r->n_classes && waited; i++)
        any |= r->a->locks.classes[r->classes[i]].timed_out > 0;
    return any;
}

static void put_class(struct table *t, const struct page *p, uint32_t group, bool waited)
{
    struct lock_class *c = &p->r->a->locks.classes[group];
    struct wait_stats *s = waited ? &c->waited : &c->blocked;
    uint64_t known = s->count - s->unknown;
    put_count(t, s->objects);
    const struct class_threads *threads = &p->r->class_threads[group];
    put_count(t, waited ? threads->waited : threads->blocked);
    put_count(t, s->count);
    put_time(t, p, s->total, known);
    put_time(t, p, wait_stats_min(s), known);
    put_time(t, p, wait_stats_avg(s), known);
    put_time(t, p, percentile_get(&s->times, 990), known);
    put_time(t, p, s->max, known);
    if (any_open(p->r, waited))
        put_count(t, s->open);
    if (any_timed_out(p->r, waited))
        put_count(t, c->timed_out);
}

static void fill_classes(struct table *t, const struct page *p, const char *const *names,
                         bool waited)
{
    size_t n;
    const uint32_t *v = classes_in_order(p->r, waited, &n);
    for (size_t i = 0; i < report_rows(p->r, n) && v; i++) {
        table_put(t, names ? names[v[i]] : "");
        put_class(t, p, v[i], waited);
    }
}

static void print_classes(const struct page *p, bool waited)
{
    size_t n;
    struct table_column columns[ARRAY_LEN(monitor_columns)];
    struct class_table c = {columns, 0, fill_classes, waited};
    if (!classes_in_order(p->r, waited, &n) || n == 0)
        return;
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        if (i < 9 || (i == 9 && any_open(p->r, waited)) || (i == 10 && any_timed_out(p->r, waited)))
            columns[c.n_columns++] = monitor_columns[i];
    heading(p, waited ? "Object.wait, by class" : "Contended monitors, by class", n,
            "most time first");
    print_class_table(p, &c);
}

static bool waited_for_initialization(const struct report *r)
{
    for (size_t i = 0; i < r->n_classes; i++) {
        const struct lock_class *c = &r->a->locks.classes[r->classes[i]];
        if (strcmp(c->signature, "[I") == 0 && c->waited.unknown)
            return true;
    }
    return false;
}

/* What the columns cannot say. */
static void print_monitor_notes(const struct page *p)
{
    uint64_t unknown = 0, reacquired = 0;
    struct buf b = {0};
    for (size_t i = 0; i < p->r->n_classes; i++) {
        const struct lock_class *c = &p->r->a->locks.classes[p->r->classes[i]];
        unknown += c->blocked.unknown + c->waited.unknown;
        reacquired += c->reacquired;
    }
    if (unknown)
        buf_printf(&b, "Beginning or end of %s of these waits is missing: counted, with no time. ",
                   human_count(unknown).text);
    uint64_t gone = p->r->a->decoded.owner_gone;
    if (gone)
        buf_printf(&b, "%s time%s the owner had gone before it could be named (fast contention). ",
                   human_count(gone).text, gone == 1 ? "" : "s");
    if (waited_for_initialization(p->r))
        buf_puts(&b, "Where a thread waits for another one to initialize a class, HotSpot reports "
                     "the end alone, and an int[] as the object. ");
    if (reacquired)
        buf_printf(&b,
                   "%s time%s a virtual thread took a monitor again after a wait: the JVM does "
                   "not say how long that took.",
                   human_count(reacquired).text, reacquired == 1 ? "" : "s");
    if (b.len)
        page_wrapped(p, STYLE_FAINT, "", buf_str(&b), 0);
    buf_fini(&b);
}

void page_monitors(const struct page *p)
{
    if (p->r->n_classes == 0)
        nothing(p, "No monitor was contended, and no thread was in Object.wait.");
    print_classes(p, false);
    print_classes(p, true);
    print_monitor_notes(p);
}

/* --- sites ------------------------------------------------------------------------------------ */

/* "orderbook.OrderBook.rebalance (OrderBook.java:88)", at most `width` wide: packages give way
 * first. */
static void place_text(const struct page *p, struct place at, size_t width, char out[PAGE_NAME])
{
    const struct trace_method *m = trace_method(p->r->trace, at.method);
    char raw[2 * LABEL_MAX], rest[2 * LABEL_MAX], line[LABEL_MAX];
    if (!m->id.v) {
        snprintf(out, PAGE_NAME, "unknown");
        return;
    }
    label_line(p->r->trace, at, line, sizeof line);
    snprintf(raw, sizeof raw, *line ? ".%s (%s)" : ".%s", m->name, line);
    printable_text(raw, p->utf8, rest, sizeof rest);
    size_t rest_width = printable_width(rest);
    page_class(p, trace_class(p->r->trace, m->class_)->signature, out);
    class_name_fit(out, width > rest_width + 8 ? width - rest_width : 8);
    size_t len = strlen(out);
    snprintf(out + len, PAGE_NAME - len, "%s", rest);
    printable_cut(out, width);
}

static const struct table_column site_columns[] = {
    {"times", TABLE_RIGHT, false},
    {"total", TABLE_RIGHT, false},
    {"longest", TABLE_RIGHT, false},
    {"where", TABLE_LEFT, true},
};

/* A line below a site. */
static void put_detail(struct table *t, const char *word, const char *text)
{
    char line[PAGE_NAME + 16];
    for (int i = 0; i < 3; i++)
        table_put(t, "");
    snprintf(line, sizeof line, "  %s %s", word, text);
    table_put(t, line);
}

/* Every wait's innermost frame: not worth a line. */
static bool is_object_wait(const struct page *p, struct place at)
{
    const struct trace_method *m = trace_method(p->r->trace, at.method);
    return strcmp(trace_class(p->r->trace, m->class_)->signature, "Ljava/lang/Object;") == 0;
}

static void put_site(struct table *t, const struct page *p, const struct site *s, bool waited)
{
    const struct site_stats *n = waited ? &s->waited : &s->blocked;
    char text[PAGE_NAME];
    put_count(t, n->count);
    put_time(t, p, n->ns, n->ns);
    put_time(t, p, n->max, n->ns);
    place_text(p, s->app, PLACE_WIDTH, text);
    table_put(t, text);
    if (memcmp(&s->app, &s->top, sizeof s->app) != 0 && !(waited && is_object_wait(p, s->top))) {
        place_text(p, s->top, PLACE_WIDTH - 5, text);
        put_detail(t, "in", text);
    }
    page_class(p, p->r->a->locks.classes[s->group].signature, text);
    class_name_fit(text, PLACE_WIDTH - 5);
    put_detail(t, "on", text);
}

static const struct site_stats *site_stats_of(const struct site *s, bool waited)
{
    return waited ? &s->waited : &s->blocked;
}

static int by_site_waited(const void *a, const void *b)
{
    const struct site *const *x = a, *const *y = b;
    if ((*x)->waited.ns != (*y)->waited.ns)
        return (*x)->waited.ns < (*y)->waited.ns ? 1 : -1;
    return (*x > *y) - (*x < *y);
}

static void print_sites(const struct page *p, bool waited)
{
    const struct report *r = p->r;
    const struct site **v = arena_alloc(&r->a->arena, r->n_sites * sizeof *v);
    size_t n = 0;
    for (size_t i = 0; i < r->n_sites && v; i++)
        if (site_stats_of(&r->sites[i], waited)->count)
            v[n++] = &r->sites[i];
    if (n == 0)
        return;
    if (waited)
        qsort(v, n, sizeof *v, by_site_waited);
    heading(p, waited ? "Where threads waited" : "Where threads blocked", n, "most time first");
    struct table t;
    table_init(&t, site_columns, ARRAY_LEN(site_columns));
    for (size_t i = 0; i < report_rows(r, n); i++)
        put_site(&t, p, v[i], waited);
    print(p, &t);
}

void page_sites(const struct page *p)
{
    if (p->r->n_sites == 0)
        nothing(p, "No place blocked or waited.");
    print_sites(p, false);
    print_sites(p, true);
}

/* --- owners ----------------------------------------------------------------------------------- */

static void put_name(struct table *t, const struct page *p, uint32_t thread)
{
    char name[PAGE_NAME];
    page_thread(p, thread, name);
    printable_cut(name, THREAD_WIDTH);
    table_put(t, name);
}

static void fill_owners(struct table *t, const struct page *p, const char *const *names,
                        bool waited)
{
    const struct report *r = p->r;
    UNUSED(waited);
    for (size_t i = 0; i < report_rows(r, r->n_owners); i++) {
        const struct blame *b = &r->owners[i];
        put_name(t, p, b->owner);
        put_count(t, b->blocked.count);
        put_time(t, p, b->blocked.ns, b->blocked.ns);
        put_percent(t, b->blocked.ns, r->a->locks.classes[b->group].blocked.total);
        put_time(t, p, b->blocked.max, b->blocked.ns);
        table_put(t, names ? names[b->group] : "");
    }
}

static void print_owners(const struct page *p)
{
    static const struct table_column columns[] = {
        {"owner", TABLE_LEFT, false},    {"times", TABLE_RIGHT, false},
        {"total", TABLE_RIGHT, false},   {"of the class", TABLE_RIGHT, false},
        {"longest", TABLE_RIGHT, false}, {"class", TABLE_LEFT, true}};
    const struct class_table c = {columns, ARRAY_LEN(columns), fill_owners, false};
    heading(p, "Owners when a thread was about to block", p->r->n_owners, "most time first");
    print_class_table(p, &c);
}

static void print_pairs(const struct page *p)
{
    static const struct table_column columns[] = {{"times", TABLE_RIGHT, false},
                                                  {"total", TABLE_RIGHT, false},
                                                  {"longest", TABLE_RIGHT, false},
                                                  {"thread", TABLE_LEFT, false},
                                                  {"waited for", TABLE_LEFT, true}};
    const struct report *r = p->r;
    heading(p, "Who blocked on whom", r->n_pairs, "most time first");
    struct table t;
    table_init(&t, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < report_rows(r, r->n_pairs); i++) {
        const struct blame *b = &r->pairs[i];
        put_count(&t, b->blocked.count);
        put_time(&t, p, b->blocked.ns, b->blocked.ns);
        put_time(&t, p, b->blocked.max, b->blocked.ns);
        put_name(&t, p, b->waiter);
        put_name(&t, p, b->owner);
    }
    print(p, &t);
}

void page_owners(const struct page *p)
{
    if (p->r->n_owners == 0) {
        nothing(p, "No thread blocked on a monitor, so that none owned one that was wanted.");
        return;
    }
    print_owners(p);
    print_pairs(p);
}

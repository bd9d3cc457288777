/* report_tables.c - the tables of `orca report`: threads, monitors by class, sites, owners. */
#include "cli/page.h"

#include "analyze/labels.h"
#include "base/buf.h"
#include "base/printable.h"
#include "base/util.h"
#include "cli/class_names.h"
#include "cli/page_cells.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLASS_WIDTH = 34 };

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
    const char **by_group = arena_alloc(a, r->a->locks.n_groups * sizeof *by_group);
    if (!names || !by_group)
        return NULL;
    for (size_t i = 0; i < r->n_classes; i++) {
        char full[PAGE_NAME];
        page_class(p, r->a->locks.groups[r->classes[i]].signature, full);
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
    void (*fill)(struct table *t, const struct page *p, const char *const *names, unsigned state);
    unsigned state;
};

static void print_class_table(const struct page *p, const struct class_table *c)
{
    struct table t;
    table_init(&t, c->columns, c->n_columns);
    c->fill(&t, p, NULL, c->state);
    const char *const *names = short_classes(p, table_room(&t, CLASS_WIDTH));
    table_fini(&t);
    table_init(&t, c->columns, c->n_columns);
    c->fill(&t, p, names, c->state);
    page_table(p, &t);
}

/* --- threads ---------------------------------------------------------------------------------- */

enum { MARKS = 4 };
static const char *const mark_texts[MARKS] = {"d daemon", "v virtual", "n of the JVM itself",
                                              "* lost events: counts and times are lower bounds"};

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
                 r->a->processors.n_turns
                     ? "rest: on a processor, or not known"
                     : "rest: running, ready to run, or in a wait that was not recorded",
                 0);
    buf_fini(&b);
}

enum thread_column {
    THREAD_NAME,
    THREAD_MARKS,
    THREAD_LIFE,
    THREAD_BLOCKED,
    THREAD_BLOCKED_FOR,
    THREAD_REACQUIRING,
    THREAD_WAITED,
    THREAD_WAITED_FOR,
    THREAD_OTHERS,
    THREAD_HALTED,
    THREAD_UNKNOWN = THREAD_HALTED + HALTED_KINDS,
    THREAD_REST,
    THREAD_COLUMNS
};

static const struct table_column thread_columns[THREAD_COLUMNS] = {
    [THREAD_NAME] = {"thread", TABLE_LEFT, true},
    [THREAD_MARKS] = {"", TABLE_LEFT, false},
    [THREAD_LIFE] = {"life", TABLE_RIGHT, false},
    [THREAD_BLOCKED] = {"blocked", TABLE_RIGHT, false},
    [THREAD_BLOCKED_FOR] = {"blocked for", TABLE_RIGHT, false},
    [THREAD_REACQUIRING] = {"reacquiring", TABLE_RIGHT, false},
    [THREAD_WAITED] = {"waited", TABLE_RIGHT, false},
    [THREAD_WAITED_FOR] = {"waited for", TABLE_RIGHT, false},
    [THREAD_OTHERS] = {"park, join, sleep", TABLE_RIGHT, false},
    [THREAD_HALTED + HALTED_IO] = {"I/O", TABLE_RIGHT, false},
    [THREAD_HALTED + HALTED_READY] = {"ready", TABLE_RIGHT, false},
    [THREAD_HALTED + HALTED_STOPPED] = {"stopped", TABLE_RIGHT, false},
    [THREAD_HALTED + HALTED_OFF] = {"off cpu", TABLE_RIGHT, false},
    [THREAD_UNKNOWN] = {"unknown", TABLE_RIGHT, false},
    [THREAD_REST] = {"rest", TABLE_RIGHT, false},
};

/* Parked, in a join, asleep, and not known to be HELD_UP; ns. */
static uint64_t at_leisure(const struct state_stats *v)
{
    uint64_t held_up = v[HELD_UP].ns - v[STATE_BLOCKED].ns - v[STATE_REACQUIRING].ns;
    return v[STATE_PARKED].ns + v[STATE_JOINING].ns + v[STATE_SLEEPING].ns - held_up;
}

/* Times that only some traces have get no column where they are nothing. */
static bool has_others(const struct analysis *a)
{
    const struct state_stats *v = a->stats.total;
    return v[STATE_JOINING].count || v[STATE_SLEEPING].count || at_leisure(v);
}

/* Which of the columns are there. */
struct shown {
    bool column[THREAD_COLUMNS];
    uint64_t looks; /* behind what stands for I/O */
};

static struct shown shown_of(const struct report *r)
{
    struct shown s;
    memset(s.column, 1, sizeof s.column);
    memset(&s.column[THREAD_HALTED], 0, HALTED_KINDS);
    s.column[THREAD_OTHERS] = has_others(r->a);
    s.column[THREAD_REACQUIRING] = r->a->stats.total[STATE_REACQUIRING].ns > 0;
    s.column[THREAD_UNKNOWN] = false;
    s.looks = 0;
    for (size_t i = 0; i < r->n_threads; i++) {
        const struct thread_sums *sums = &r->a->stats.threads[r->threads[i]];
        s.column[THREAD_UNKNOWN] |= sums->state[STATE_UNKNOWN].ns > 0;
        s.looks += sums->looks;
        for (int k = 0; k < HALTED_KINDS; k++)
            s.column[THREAD_HALTED + k] |= sums->halted[k] > 0;
    }
    return s;
}

static void put_thread(struct table *t, const struct page *p, uint32_t i, const struct shown *shown)
{
    const struct thread_stats *s = &p->r->a->threads.v[i];
    const struct thread_sums *sums = &p->r->a->stats.threads[i];
    const struct state_stats *v = sums->state, *h = &v[HELD_UP], *w = &v[STATE_WAITING];
    uint64_t ns[THREAD_COLUMNS] = {[THREAD_BLOCKED_FOR] = h->ns,
                                   [THREAD_REACQUIRING] = v[STATE_REACQUIRING].ns,
                                   [THREAD_WAITED_FOR] = w->ns,
                                   [THREAD_OTHERS] = at_leisure(v),
                                   [THREAD_UNKNOWN] = v[STATE_UNKNOWN].ns,
                                   [THREAD_REST] = thread_sums_running(sums)};
    char name[PAGE_NAME];
    memcpy(&ns[THREAD_HALTED], sums->halted, sizeof sums->halted);
    page_thread(p, i, name);
    table_put(t, name);
    put_marks(t, marks_of(p, s));
    cell_time(t, sums->life, 1);
    for (int k = THREAD_BLOCKED; k < THREAD_COLUMNS; k++)
        if (k == THREAD_BLOCKED || k == THREAD_WAITED)
            cell_count(t, k == THREAD_BLOCKED ? h->count : w->count);
        else if (shown->column[k])
            cell_time(t, ns[k], k == THREAD_REST ? 1 : ns[k]);
}

static void print_shown(const struct page *p, const struct shown *shown, bool others)
{
    const bool *has = shown->column;
    char text[128];
    if (has[THREAD_REACQUIRING])
        page_wrapped(p, STYLE_FAINT, "",
                     "reacquiring: part of the time blocked, to get the monitor back at the end of "
                     "Object.wait",
                     0);
    if (others)
        page_wrapped(p, STYLE_FAINT, "",
                     "other waits: parked, in a join or asleep, without a known holder", 0);
    if (has[THREAD_HALTED + HALTED_IO]) {
        snprintf(text, sizeof text,
                 shown->looks ? "I/O: in input or output, as recorded or sampled (%s looks)"
                              : "I/O: in input or output, as recorded",
                 human_count(shown->looks).text);
        page_wrapped(p, STYLE_FAINT, "", text, 0);
    }
    if (has[THREAD_HALTED + HALTED_STOPPED])
        page_wrapped(p, STYLE_FAINT, "",
                     "stopped: by the JVM, for a collection or another safepoint", 0);
    if (has[THREAD_UNKNOWN])
        page_wrapped(
            p, STYLE_FAINT, "",
            "unknown: events are missing, or the thread is virtual (known around its events only) "
            "or one of the JVM's own (these wait in native code)",
            0);
}

static void print_all_threads(const struct page *p)
{
    const struct report *r = p->r;
    const struct shown shown = shown_of(r);
    struct table_column columns[THREAD_COLUMNS];
    bool narrow = shown.column[THREAD_UNKNOWN]; /* names need the room */
    size_t n = 0;
    for (int i = 0; i < HALTED_KINDS; i++)
        narrow |= shown.column[THREAD_HALTED + i];
    narrow &= shown.column[THREAD_OTHERS];
    for (size_t i = 0; i < THREAD_COLUMNS; i++) {
        if (!shown.column[i])
            continue;
        columns[n] = thread_columns[i];
        if (narrow && i == THREAD_OTHERS)
            columns[n].title = "other waits";
        n++;
    }
    page_list_heading(p, "Threads", r->n_threads, "most time blocked first");
    struct table t;
    table_init(&t, columns, n);
    for (size_t i = 0; i < report_rows(r, r->n_threads); i++)
        put_thread(&t, p, r->threads[i], &shown);
    page_table(p, &t);
    print_marks(p);
    print_shown(p, &shown, narrow);
}

/* --- processors ------------------------------------------------------------------------------- */

struct processor_row {
    uint32_t thread;
    uint64_t life, ns[CPU_STATES];
};

static int by_processor_time(const void *a, const void *b)
{
    const struct processor_row *x = a, *y = b;
    if (x->ns[CPU_ON] != y->ns[CPU_ON])
        return x->ns[CPU_ON] < y->ns[CPU_ON] ? 1 : -1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

/* Threads of the selection, also of the JVM's own, that were on a processor. */
static size_t processor_rows(const struct analysis *a, struct processor_row *v)
{
    size_t n = 0;
    for (uint32_t i = 1; i < a->threads.n; i++) {
        uint64_t from = a->threads.v[i].from, to = a->threads.v[i].to;
        if (!selection_has(&a->stats.selection, i) ||
            !selection_clip(&a->stats.selection, &from, &to))
            continue;
        v[n] = (struct processor_row){.thread = i, .life = to - from};
        processors_sum(&a->processors, &a->timeline, i, from, to, v[n].ns);
        n += v[n].ns[CPU_ON] > 0;
    }
    qsort(v, n, sizeof *v, by_processor_time);
    return n;
}

static void print_processors(const struct page *p)
{
    static const struct table_column columns[] = {
        {"thread", TABLE_LEFT, true},    {"life", TABLE_RIGHT, false},
        {"on cpu", TABLE_RIGHT, false},  {"ready", TABLE_RIGHT, false},
        {"waits", TABLE_RIGHT, false},   {"I/O", TABLE_RIGHT, false},
        {"stopped", TABLE_RIGHT, false}, {"other", TABLE_RIGHT, false},
        {"unknown", TABLE_RIGHT, false}};
    struct processor_row *v = calloc(p->r->a->threads.n + 1, sizeof *v);
    size_t n = v ? processor_rows(p->r->a, v) : 0;
    fputc('\n', p->to);
    page_list_heading(p, "Threads on processors", n, "most processor time first");
    struct table t;
    table_init(&t, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < report_rows(p->r, n); i++) {
        cell_thread(&t, p, v[i].thread);
        cell_time(&t, v[i].life, 1);
        for (unsigned k = 0; k < CPU_STATES; k++)
            cell_time(&t, v[i].ns[k], v[i].ns[k]);
    }
    page_table(p, &t);
    page_wrapped(p, STYLE_FAINT, "",
                 "ready: waiting for a processor; stopped: by the JVM, at a safepoint; other: off "
                 "the processor for a cause that is not recorded",
                 0);
    if (!p->r->a->processors.n_turns)
        page_wrapped(p, STYLE_FAINT, "",
                     "by the kernel's counters, once a second: shares, not instants", 0);
    free(v);
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
    page_list_heading(p, "Threads that were blocked or waited on objects of this class",
                      r->n_waiters, "most time blocked first");
    struct table t;
    table_init(&t, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < report_rows(r, r->n_waiters); i++) {
        const struct blame *w = &r->waiters[i];
        char name[PAGE_NAME];
        page_thread(p, w->waiter, name);
        table_put(&t, name);
        cell_count(&t, w->held_up.count);
        cell_time(&t, w->held_up.ns, w->held_up.ns);
        cell_time(&t, w->held_up.max, w->held_up.ns);
        cell_count(&t, w->waited.count);
        cell_time(&t, w->waited.ns, w->waited.ns);
        cell_time(&t, w->waited.max, w->waited.ns);
    }
    page_table(p, &t);
}

void page_threads(const struct page *p)
{
    if (p->r->group != EVERY_CLASS)
        print_class_threads(p);
    else if (p->r->n_threads)
        print_all_threads(p);
    else
        page_nothing(p, "No thread was recorded.");
    if (p->r->group == EVERY_CLASS && processors_any(&p->r->a->processors))
        print_processors(p);
}

/* --- monitors by class ------------------------------------------------------------------------ */

/* The last three only where there is something to show. */
static const struct table_column monitor_columns[] = {
    {"class", TABLE_LEFT, true},       {"objects", TABLE_RIGHT, false},
    {"threads", TABLE_RIGHT, false},   {"times", TABLE_RIGHT, false},
    {"total", TABLE_RIGHT, false},     {"min", TABLE_RIGHT, false},
    {"avg", TABLE_RIGHT, false},       {"p99", TABLE_RIGHT, false},
    {"max", TABLE_RIGHT, false},       {"open", TABLE_RIGHT, false},
    {"timed out", TABLE_RIGHT, false}, {"reacquiring", TABLE_RIGHT, false},
};

/* Whether all parks are listed already, as blocked. */
static bool is_told(const struct wait_stats *state)
{
    return state[HELD_UP].count ==
           state[STATE_BLOCKED].count + state[STATE_REACQUIRING].count + state[STATE_PARKED].count;
}

static const struct wait_stats *stats_of(const struct report *r, uint32_t group, unsigned state)
{
    return &r->a->stats.classes[group].state[state];
}

struct class_order {
    const struct report *r;
    unsigned state;
};

static int by_state_time(const void *a, const void *b, void *order)
{
    const struct class_order *o = order;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct wait_stats *x = stats_of(o->r, i, o->state), *y = stats_of(o->r, k, o->state);
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return (i > k) - (i < k);
}

/* The classes with something to show, most time first; NULL when memory is out. */
static uint32_t *classes_in_order(const struct report *r, unsigned state, size_t *n)
{
    uint32_t *v = arena_alloc(&r->a->arena, r->n_classes * sizeof *v);
    *n = 0;
    for (size_t i = 0; i < r->n_classes && v; i++)
        if (stats_of(r, r->classes[i], state)->count &&
            (state != STATE_PARKED || !is_told(r->a->stats.classes[r->classes[i]].state)))
            v[(*n)++] = r->classes[i];
    if (v && state != HELD_UP)
        qsort_r(v, *n, sizeof *v, by_state_time, &(struct class_order){r, state});
    return v;
}

static bool any_open(const struct report *r, unsigned state)
{
    bool any = false;
    for (size_t i = 0; i < r->n_classes; i++)
        any |= stats_of(r, r->classes[i], state)->open > 0;
    return any;
}

static bool any_timed_out(const struct report *r, unsigned state)
{
    bool any = false;
    for (size_t i = 0; i < r->n_classes && state == STATE_WAITING; i++)
        any |= r->a->stats.classes[r->classes[i]].timed_out > 0;
    return any;
}

static bool any_retaking(const struct report *r, unsigned state)
{
    return state == HELD_UP && r->a->stats.total[STATE_REACQUIRING].ns;
}

static void put_class(struct table *t, const struct page *p, uint32_t group, unsigned state)
{
    struct class_stats *c = &p->r->a->stats.classes[group];
    struct wait_stats *s = &c->state[state];
    uint64_t known = s->count - s->unknown;
    cell_count(t, s->objects);
    cell_count(t, s->threads);
    cell_count(t, s->count);
    cell_time(t, s->ns, known);
    cell_time(t, wait_stats_min(s), known);
    cell_time(t, wait_stats_avg(s), known);
    cell_time(t, percentile_get(&s->times, 990), known);
    cell_time(t, s->max, known);
    if (any_open(p->r, state))
        cell_count(t, s->open);
    if (any_timed_out(p->r, state))
        cell_count(t, c->timed_out);
    const struct wait_stats *again = &c->state[STATE_REACQUIRING];
    if (any_retaking(p->r, state))
        cell_time(t, again->ns, again->count - again->unknown);
}

static void fill_classes(struct table *t, const struct page *p, const char *const *names,
                         unsigned state)
{
    size_t n;
    const uint32_t *v = classes_in_order(p->r, state, &n);
    for (size_t i = 0; i < report_rows(p->r, n) && v; i++) {
        table_put(t, names ? names[v[i]] : "");
        put_class(t, p, v[i], state);
    }
}

static void print_classes(const struct page *p, unsigned state)
{
    static const char *const titles[STATS_COLUMNS] = {[HELD_UP] = "Blocked, by class",
                                                      [STATE_WAITING] = "Object.wait, by class",
                                                      [STATE_PARKED] = "Parked, by blocker class"};
    size_t n;
    struct table_column columns[ARRAY_LEN(monitor_columns)];
    struct class_table c = {columns, 0, fill_classes, state};
    if (!classes_in_order(p->r, state, &n) || n == 0)
        return;
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        if (i < 9 || (i == 9 && any_open(p->r, state)) || (i == 10 && any_timed_out(p->r, state)) ||
            (i == 11 && any_retaking(p->r, state)))
            columns[c.n_columns++] = monitor_columns[i];
    page_list_heading(p, titles[state], n, "most time first");
    print_class_table(p, &c);
}

static bool waited_for_initialization(const struct report *r)
{
    for (size_t i = 0; i < r->n_classes; i++) {
        uint32_t group = r->classes[i];
        if (strcmp(r->a->locks.groups[group].signature, "[I") == 0 &&
            r->a->stats.classes[group].state[STATE_WAITING].unknown)
            return true;
    }
    return false;
}

/* What the columns cannot say. */
static void print_monitor_notes(const struct page *p)
{
    uint64_t unknown = 0, reacquired = 0, summed = 0;
    struct buf b = {0};
    for (size_t i = 0; i < p->r->n_classes; i++) {
        const struct class_stats *c = &p->r->a->stats.classes[p->r->classes[i]];
        unknown += c->state[STATE_BLOCKED].unknown + c->state[STATE_WAITING].unknown;
        reacquired += c->reacquired;
        for (int s = 0; s < STATE_LIMIT; s++)
            summed += c->state[s].summed;
    }
    if (unknown)
        buf_printf(&b, "%s of these waits lack a start or end: they are counted without a time. ",
                   human_count(unknown).text);
    if (summed)
        buf_printf(&b,
                   "%s of these waits were recorded as sums (SUMMED above): shortest times and "
                   "percentiles have their averages. ",
                   human_count(summed).text);
    uint64_t gone = p->r->a->decoded.owner_gone;
    if (gone)
        buf_printf(&b,
                   "%s time%s the owner was gone before Orca could name the thread (fast "
                   "contention). ",
                   human_count(gone).text, gone == 1 ? "" : "s");
    if (waited_for_initialization(p->r))
        buf_puts(&b, "For a wait until another thread has initialized a class, HotSpot reports "
                     "only the end, with an int[] as the object. ");
    if (reacquired)
        buf_printf(&b,
                   "%s time%s a virtual thread reacquired a monitor after Object.wait: the JVM "
                   "does not report how long that took.",
                   human_count(reacquired).text, reacquired == 1 ? "" : "s");
    if (b.len)
        page_wrapped(p, STYLE_FAINT, "", buf_str(&b), 0);
    buf_fini(&b);
}

void page_monitors(const struct page *p)
{
    if (p->r->n_classes == 0)
        page_nothing(p, "No thread was blocked, in Object.wait or parked.");
    print_classes(p, HELD_UP);
    print_classes(p, STATE_WAITING);
    print_classes(p, STATE_PARKED);
    print_monitor_notes(p);
}

/* --- sites ------------------------------------------------------------------------------------ */

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
    for (size_t i = 1; i < t->n_columns; i++)
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

static void put_site(struct table *t, const struct page *p, uint32_t site,
                     const struct wait_stats *n, unsigned state)
{
    const struct site *s = &p->r->a->sites.v[site];
    char text[PAGE_NAME];
    cell_count(t, n->count);
    cell_time(t, n->ns, n->ns);
    cell_time(t, n->max, n->ns);
    page_place(p, s->app, page_room(p, PLACE_WIDTH), text);
    table_put(t, text);
    if (memcmp(&s->app, &s->top, sizeof s->app) != 0 &&
        !(state == STATE_WAITING && is_object_wait(p, s->top))) {
        page_place(p, s->top, page_room(p, PLACE_WIDTH) - 5, text);
        put_detail(t, "in", text);
    }
    if (n->summed) {
        snprintf(text, sizeof text, "%s as sums", human_count(n->summed).text);
        put_detail(t, "of them", text);
    }
    if (s->group == 0 && state != HELD_UP && state != STATE_WAITING)
        return; /* nothing to name */
    page_class(p, p->r->a->locks.groups[s->group].signature, text);
    class_name_fit(text, page_room(p, PLACE_WIDTH) - 5);
    put_detail(t, "on", text);
}

static const struct wait_stats *site_stats_of(const struct report *r, uint32_t site, unsigned state)
{
    return &r->a->stats.sites[site].state[state];
}

struct site_order {
    const struct report *r;
    unsigned state;
};

static int by_site_time(const void *a, const void *b, void *order)
{
    const struct site_order *o = order;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct wait_stats *x = site_stats_of(o->r, i, o->state);
    const struct wait_stats *y = site_stats_of(o->r, k, o->state);
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return (i > k) - (i < k);
}

static void print_sites(const struct page *p, unsigned state)
{
    static const char *const titles[STATS_COLUMNS] = {[HELD_UP] = "Where threads were blocked",
                                                      [STATE_WAITING] = "Where threads waited",
                                                      [STATE_PARKED] = "Where threads parked",
                                                      [STATE_JOINING] = "Where threads joined",
                                                      [STATE_SLEEPING] = "Where threads slept"};
    const struct report *r = p->r;
    uint32_t *v = arena_alloc(&r->a->arena, r->n_sites * sizeof *v);
    size_t n = 0;
    for (size_t i = 0; i < r->n_sites && v; i++)
        if (site_stats_of(r, r->sites[i], state)->count &&
            (state != STATE_PARKED || !is_told(r->a->stats.sites[r->sites[i]].state)))
            v[n++] = r->sites[i];
    if (n == 0)
        return;
    if (state != HELD_UP)
        qsort_r(v, n, sizeof *v, by_site_time, &(struct site_order){r, state});
    page_list_heading(p, titles[state], n, "most time first");
    struct table t;
    table_init(&t, site_columns, ARRAY_LEN(site_columns));
    for (size_t i = 0; i < report_rows(r, n); i++)
        put_site(&t, p, v[i], site_stats_of(r, v[i], state), state);
    page_table(p, &t);
}

void page_sites(const struct page *p)
{
    if (p->r->n_sites == 0)
        page_nothing(p, "No call site blocked or waited.");
    print_sites(p, HELD_UP);
    for (unsigned state = STATE_WAITING; state < STATE_REACQUIRING; state++)
        print_sites(p, state);
}

/* --- owners ----------------------------------------------------------------------------------- */

static void fill_owners(struct table *t, const struct page *p, const char *const *names,
                        unsigned state)
{
    const struct report *r = p->r;
    UNUSED(state);
    for (size_t i = 0; i < report_rows(r, r->n_owners); i++) {
        const struct blame *b = &r->owners[i];
        cell_thread(t, p, b->owner);
        cell_count(t, b->held_up.count);
        cell_time(t, b->held_up.ns, b->held_up.ns);
        cell_percent(t, b->held_up.ns, r->a->stats.classes[b->group].state[HELD_UP].ns);
        cell_time(t, b->held_up.max, b->held_up.ns);
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
    page_list_heading(p, "Owners when a thread began to wait", p->r->n_owners, "most time first");
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
    page_list_heading(p, "Who blocked whom", r->n_pairs, "most time first");
    struct table t;
    table_init(&t, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < report_rows(r, r->n_pairs); i++) {
        const struct blame *b = &r->pairs[i];
        cell_count(&t, b->held_up.count);
        cell_time(&t, b->held_up.ns, b->held_up.ns);
        cell_time(&t, b->held_up.max, b->held_up.ns);
        cell_thread(&t, p, b->waiter);
        cell_thread(&t, p, b->owner);
    }
    page_table(p, &t);
}

static void print_owner_sites(const struct page *p)
{
    const struct report *r = p->r;
    if (r->n_owner_sites == 0)
        return;
    static const struct table_column columns[] = {{"share", TABLE_RIGHT, false},
                                                  {"times", TABLE_RIGHT, false},
                                                  {"total", TABLE_RIGHT, false},
                                                  {"longest", TABLE_RIGHT, false},
                                                  {"where", TABLE_LEFT, true}};
    page_list_heading(p, "What owners executed when sampled", r->n_owner_sites,
                      "weighted by waiting time, at most 5 % of the class each");
    struct table t;
    table_init(&t, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < report_rows(r, r->n_owner_sites); i++) {
        uint32_t site = r->owner_sites[i];
        cell_percent(&t, stats_owner_permille(&r->a->stats, &r->a->sites, site), 1000);
        put_site(&t, p, site, &r->a->stats.owner_sites[site], HELD_UP);
    }
    page_table(p, &t);
}

void page_owners(const struct page *p)
{
    if (p->r->n_owners == 0)
        page_nothing(p, "No thread was blocked by a lock with a known owner.");
    else
        print_owners(p);
    print_owner_sites(p);
    if (p->r->n_owners)
        print_pairs(p);
}
